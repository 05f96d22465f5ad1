// Package endpoint owns requests to a model over HTTP: the address and the key, the timeout, the retries, and the size limit of
// answers.
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

// Limits of requests.
const (
	MaxURL     = 1024            // bytes
	MaxTries   = 5               // total tries of one request
	MaxWait    = time.Minute     // between two tries; if an endpoint asks for more, Post fails
	FirstWait  = time.Second     // before the second try, twice as long before each further try
	TryTimeout = 2 * time.Minute // of one try, unless the caller sets another
)

// ErrPlaintext is wrapped if turns and key would be sent unencrypted.
var ErrPlaintext = errors.New("turns and key would be sent unencrypted")

// ErrEndpoint is wrapped by errors about an invalid address or key.
var ErrEndpoint = errors.New("not an endpoint")

// An UnusableError says that the endpoint's answer to one request is unusable: it is too long, it is not a chat completion, or
// it refuses this request. Another request may succeed.
type UnusableError struct{ Why string }

func (e *UnusableError) Error() string { return e.Why }

// An Access says how to reach an endpoint.
type Access struct {
	// URL is an address below which the endpoint has its paths, such as https://HOST/v1, or the full address including the
	// path. The scheme is https, or http if the host is this machine.
	URL string
	Key string // sent as a bearer token; "" sends none

	AllowPlaintext bool          // allows http to any host
	Client         *http.Client  // nil: a new client. Redirects are refused in any case
	Timeout        time.Duration // of one try; 0 means TryTimeout

	Clock func() time.Time                           // nil: the system's clock; used if Retry-After is a date
	Sleep func(context.Context, time.Duration) error // nil: a sleep that ends early if the context ends
}

// A Config says which model to ask, and where.
type Config struct {
	Access
	Path  string // such as /chat/completions
	Model string // used in errors
	Most  int    // largest answer, in bytes
}

// An Endpoint sends requests to one model. Its key appears in no printed value and in no error.
type Endpoint struct {
	url, model string
	most       int
	key        func() string // a function, because package fmt prints the values of fields
	http       *http.Client
	timeout    time.Duration
	clock      func() time.Time
	sleep      func(context.Context, time.Duration) error
}

// New makes an endpoint. It sends nothing.
func New(c Config) (*Endpoint, error) {
	address, err := addressOf(c.URL, c.Path, c.AllowPlaintext)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%w: the key holds a character that no key may have, such as a space or the end of a line", ErrEndpoint)
	}
	own := http.Client{}
	if c.Client != nil {
		own = *c.Client
	}
	own.Jar = nil
	// A server that redirects must not decide who else reads the turns.
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

// URL returns the full address of the endpoint.
func (x *Endpoint) URL() string { return x.url }

// String returns the model and the address, without the key.
func (x *Endpoint) String() string { return x.model + " at " + x.url }

// GoString returns the same as String.
func (x *Endpoint) GoString() string { return x.String() }

func addressOf(text, path string, plaintext bool) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%w: the URL cannot be read", ErrEndpoint) // url.Error would show the URL, with a password in it
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return "", fmt.Errorf("%w: the URL may have only a scheme, a host and a path; give the key separately", ErrEndpoint)
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

// Post sends a request, and returns the body of the answer and the number of tries. On status 429 and 5xx it tries again, up to
// MaxTries times in all, after the time that the endpoint names or a time that doubles with each try, whichever is longer. An
// *UnusableError concerns this request only; any other error concerns the endpoint or is the context's.
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
			return nil, try, fmt.Errorf("%w; the endpoint asks to wait for %s, which is more than %s: ask again then", failed, wait.Round(time.Second), MaxWait)
		}
		if err := x.sleep(ctx, wait); err != nil {
			return nil, try, err
		}
	}
}

// post sends the request once. If an answer is too long and has a status of failure, it returns the beginning, which is enough
// for the error.
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
		if errors.As(err, &inner) { // its text repeats the address, which the caller adds
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

// refusal returns the error for a status. It removes the key from the endpoint's text, since some endpoints repeat it.
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

// wait returns how long to wait before the next try: never less than the endpoint asks for.
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
