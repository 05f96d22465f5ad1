package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/loopback"
)

const (
	pause     = 10 * time.Second // minimum time between two fetches, for all callers together
	fetchTime = 10 * time.Second // maximum duration of a fetch
	maxSet    = 1 << 20          // bytes of a key set
)

// A source returns the bytes of a key set.
type source func(ctx context.Context) ([]byte, error)

// open returns the source of a key set, and reports whether it is a file.
func open(where string, client *http.Client) (from source, local bool, err error) {
	if path, ok := strings.CutPrefix(where, "file:"); ok && path != "" {
		return func(context.Context) ([]byte, error) { return readFile(path) }, true, nil
	}
	u, err := url.Parse(where)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && loopback.Is(u.Hostname())) {
		return nil, false, errors.New("oidc: the URL of the key set must be https://HOST/PATH or file:PATH, without a password; http:// is allowed only for loopback")
	}
	own := http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
	}}
	if client != nil {
		own = *client
	}
	own.Jar = nil
	// A server that may redirect us may also send us to plain HTTP, or into our own network.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context) ([]byte, error) { return get(ctx, &own, u.String()) }, false, nil
}

func get(ctx context.Context, client *http.Client, where string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := client.Do(r)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) { // its text contains the URL, and a query may be a secret
			err = inner.Err
		}
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // only read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answered %d, want 200; redirects are not followed", answer.StatusCode)
	}
	return readAtMost(answer.Body)
}

func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return readAtMost(f)
}

func readAtMost(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSet+1))
	if err == nil && len(text) > maxSet {
		err = fmt.Errorf("the key set has more than %d bytes", maxSet)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// key returns the key with a kid. If the kid is unknown or the set is too old, the keys are fetched, unless they were
// fetched during the last pause: invented kids cannot make us ask the issuer more often than that.
func (i *Issuer) key(ctx context.Context, kid string) (key, error) {
	set := i.set.Load()
	if set.fresh(i.config.Clock(), i.config.MaxStale) {
		if k, ok := set.keys[kid]; ok {
			return k, nil
		}
	}
	if err := i.wait(ctx, set); err != nil {
		return key{}, err
	}
	if set = i.set.Load(); !set.fresh(i.config.Clock(), i.config.MaxStale) {
		return key{}, fmt.Errorf("oidc: %w", ErrUnavailable)
	}
	k, ok := set.keys[kid]
	if !ok {
		return key{}, refuse("kid names no key of the issuer's")
	}
	return k, nil
}

// wait waits for the running fetch. If there is none and the last one is long enough ago, it begins one. It returns at
// once if the keys are no longer those that the caller has seen, because a fetch has ended since.
func (i *Issuer) wait(ctx context.Context, seen *keySet) error {
	now := i.config.Clock()
	i.mu.Lock()
	if i.flight == nil && i.set.Load() == seen && i.rested(now) {
		i.beginLocked(now)
		i.wanted <- struct{}{} // never blocks: there is at most one fetch at a time
	}
	flight := i.flight
	i.mu.Unlock()
	if flight == nil {
		return nil
	}
	select {
	case <-flight:
		return nil
	case <-i.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rested reports whether the last fetch is long enough ago. The caller holds mu. A clock that was set back does not
// delay fetches.
func (i *Issuer) rested(now time.Time) bool {
	ago := now.Sub(i.tried)
	return ago < 0 || ago >= pause
}

func (i *Issuer) begin(now time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.beginLocked(now)
}

func (i *Issuer) beginLocked(now time.Time) { i.tried, i.flight = now, make(chan struct{}) }

// beginIfDue begins a fetch if none is running and the keys are old or missing.
func (i *Issuer) beginIfDue(now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	set := i.set.Load()
	due := set == nil || now.Before(set.at) || now.Sub(set.at) >= i.config.Refresh
	if i.flight != nil || !due || !i.rested(now) {
		return false
	}
	i.beginLocked(now)
	return true
}

// keepFresh runs all fetches except the first, one at a time, until ctx ends.
func (i *Issuer) keepFresh(ctx context.Context) {
	defer close(i.ended)
	ticks := i.config.Ticks
	if ticks == nil {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if !i.beginIfDue(i.config.Clock()) {
				continue
			}
		case <-i.wanted:
		}
		_ = i.fetch(ctx) // logged there
	}
}

// fetch runs the fetch that was begun. After an error the last set stays in use. An error is logged when it first
// occurs and when it ends.
func (i *Issuer) fetch(ctx context.Context) error {
	at := i.config.Clock()
	set, err := i.load(ctx, at)
	if err == nil {
		i.set.Store(set)
	}
	i.mu.Lock()
	before := i.failing
	i.failing = err != nil
	close(i.flight)
	i.flight = nil
	i.mu.Unlock()
	switch {
	case err != nil && !before && ctx.Err() == nil:
		i.config.Log.WarnContext(ctx, "the issuer's keys cannot be fetched; the previous keys stay valid for a while", "issuer", i.config.Issuer, "max_stale", i.config.MaxStale, "error", err)
	case err == nil && before:
		i.config.Log.InfoContext(ctx, "the issuer's keys can be fetched again", "issuer", i.config.Issuer, "keys", len(set.keys))
	}
	return err
}

func (i *Issuer) load(ctx context.Context, at time.Time) (*keySet, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	text, err := i.source(ctx)
	if err != nil {
		return nil, err
	}
	return readKeys(text, at)
}
