// Package endpoint owns the asking of a model over HTTP: where and with which key, for how long, how often again, and how much is read of an
// answer.
package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/loopback"
)

// Bounds of asking.
const (
	MaxURL     = 1024            // bytes
	MaxTries   = 5               // of one question, in all
	MaxWait    = time.Minute     // between two tries; an endpoint that wants more ends the asking
	FirstWait  = time.Second     // before the second try, twice as long before each further one
	TryTimeout = 2 * time.Minute // of one try, unless somebody says otherwise
)

// ErrPlaintext is wrapped if turns and key would travel in the clear.
var ErrPlaintext = errors.New("turns and key would travel in the clear")

// ErrEndpoint is wrapped by errors about what cannot be an endpoint's address or key.
var ErrEndpoint = errors.New("not an endpoint")

// An UnusableError says that the endpoint answered one question with what is no answer: too
// long, no chat completion, or a refusal of this question. Another question may fare better.
type UnusableError struct{ Why string }

func (e *UnusableError) Error() string { return e.Why }

// An Access is how an endpoint is reached.
type Access struct {
	// URL is an address below which the endpoint has its paths, such as https://HOST/v1, or that of the path itself. The scheme is https, or http if
	// the host is this machine.
	URL string
	Key string // sent as a bearer token; "": none

	AllowPlaintext bool          // http to any host
	Client         *http.Client  // nil: one of its own. Redirects are refused whatever it says
	Timeout        time.Duration // of one try; 0: TryTimeout

	Clock func() time.Time                           // nil: the system's; for a Retry-After that is a date
	Sleep func(context.Context, time.Duration) error // nil: sleeps, and wakes up if the context ends
}

// A Config says which model to ask, and where.
type Config struct {
	Access
	Path  string // such as /chat/completions
	Model string // for errors
	Most  int    // bytes of an answer
}

// An Endpoint asks one model. It shows the key to no printer and no error.
type Endpoint struct {
	url, model string
	most       int
	key        func() string // a function, because package fmt prints what fields hold
	http       *http.Client
	timeout    time.Duration
	clock      func() time.Time
	sleep      func(context.Context, time.Duration) error
}

// New makes an endpoint. Nothing is sent yet.
func New(c Config) (*Endpoint, error) {
	address, err := addressOf(c.URL, c.Path, c.AllowPlaintext)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the key holds what no key holds, such as a space or the end of a line", ErrEndpoint)
	}
	own := http.Client{}
	if c.Client != nil {
		own = *c.Client
	}
	own.Jar = nil
	// Anyone who redirects is not to decide who else reads the turns.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	x := &Endpoint{url: address, model: c.Model, most: c.Most, key: func() string { return c.Key }, http: &own, timeout: c.Timeout, clock: c.Clock, sleep: c.Sleep}
	if x.timeout == 0 {
		x.timeout = TryTimeout
	}
	if x.clock == nil {
		x.clock = time.Now
	}
	if x.sleep == nil {
		x.sleep = sleep
	}
	return x, nil
}

// URL returns the address that is asked.
func (x *Endpoint) URL() string { return x.url }

// String names the endpoint and hides the key.
func (x *Endpoint) String() string { return x.model + " at " + x.url }

// GoString is String.
func (x *Endpoint) GoString() string { return x.String() }

func addressOf(text, path string, plaintext bool) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%w: the URL cannot be read", ErrEndpoint) // url.Error would show it, and a password in it
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return "", fmt.Errorf("%w: the URL holds more than scheme, host and path; a key is given apart", ErrEndpoint)
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", fmt.Errorf("%w: URL %.200q, want https://HOST/PATH", ErrEndpoint, text)
	case u.Scheme == "http" && !plaintext && !loopback.Is(u.Hostname()):
		return "", fmt.Errorf("%w to %s", ErrPlaintext, u.Host)
	}
	address := strings.TrimRight(u.String(), "/")
	if !strings.HasSuffix(address, path) {
		address += path
	}
	if len(address) > MaxURL {
		return "", fmt.Errorf("%w: the URL has %d bytes, at most %d", ErrEndpoint, len(address), MaxURL)
	}
	return address, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Post sends a request and returns the body of the answer, and how often it asked. On 429 and 5xx it asks again, MaxTries times in all,
// after the time that the endpoint names, or one that doubles. An *UnusableError is about this request; any other error is about the
// endpoint, or the context's.
func (x *Endpoint) Post(ctx context.Context, request []byte) (text []byte, tries int, err error) {
	for try := 1; ; try++ {
		status, header, text, err := x.post(ctx, request)
		if err != nil {
			return nil, try, fmt.Errorf("asking %s: %w", x.url, err)
		}
		if status == http.StatusOK {
			return text, try, nil
		}
		failed := x.refusal(status, text)
		if status != http.StatusTooManyRequests && status < 500 {
			return nil, try, failed
		}
		if try == MaxTries {
			return nil, try, fmt.Errorf("%w; asked %d times", failed, try)
		}
		wait := x.wait(header, try)
		if wait > MaxWait {
			return nil, try, fmt.Errorf("%w; it wants to be left alone for %s, which is more than %s: ask again then", failed, wait.Round(time.Second), MaxWait)
		}
		if err := x.sleep(ctx, wait); err != nil {
			return nil, try, err
		}
	}
}

// post sends the request once. Of an answer that is too long it returns the beginning, if the
// status is one of failure, where no more is wanted.
func (x *Endpoint) post(ctx context.Context, request []byte) (status int, header http.Header, text []byte, err error) {
	trying, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() == nil && trying.Err() != nil {
			err = fmt.Errorf("no answer within %s", x.timeout)
		}
	}()
	r, err := http.NewRequestWithContext(trying, http.MethodPost, x.url, bytes.NewReader(request))
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "graphkernel")
	if key := x.key(); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := x.http.Do(r)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) { // its text says what the caller says
			err = inner.Err
		}
		return 0, nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }() // only read
	text, err = io.ReadAll(io.LimitReader(answer.Body, int64(x.most)+1))
	if err != nil {
		return 0, nil, nil, err
	}
	if len(text) > x.most && answer.StatusCode == http.StatusOK {
		return 0, nil, nil, &UnusableError{fmt.Sprintf("the answer has more than %d bytes", x.most)}
	}
	return answer.StatusCode, answer.Header, text, nil
}

// refusal is the error of a status. The key is taken out of what the endpoint says, since
// some repeat it.
func (x *Endpoint) refusal(status int, text []byte) error {
	said := strings.ToValidUTF8(string(text), "\uFFFD")
	if key := x.key(); key != "" {
		said = strings.ReplaceAll(said, key, "[the key]")
	}
	why := fmt.Sprintf("%s answers %d: %.300q", x.url, status, said)
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &UnusableError{why}
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s; is it the right key?", why)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return fmt.Errorf("%s; is it the right URL, and does it know the model %s?", why, x.model)
	}
	if status >= 300 && status < 400 {
		return fmt.Errorf("%s; redirects are not followed, since the turns would go elsewhere: give the address that it redirects to, if you trust it", why)
	}
	return errors.New(why)
}

// wait says how long to wait before the next try: never less than the endpoint asks for.
func (x *Endpoint) wait(header http.Header, try int) time.Duration {
	wait := FirstWait << (try - 1)
	after := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(after, 10, 31); err == nil {
		return max(wait, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(wait, at.Sub(x.clock()))
	}
	return wait
}
