package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/internal/loopback"
)

// Options say what else a client works with. The zero of each field is the default
// that is beside it.
type Options struct {
	// AllowPlaintext permits http to other hosts than this one. The key and all
	// text then cross the network for everyone on the way to read.
	AllowPlaintext bool

	// Transport carries the requests; nil is one of the client's own, which uses
	// the proxy that the environment names.
	Transport http.RoundTripper

	// Headers may add to the headers of each request, such as the traceparent of
	// W3C Trace Context or an X-Request-Id. It does not get to see the key.
	Headers func(ctx context.Context, h http.Header)

	Attempts    int                                              // to send one request: 4
	Sleep       func(ctx context.Context, d time.Duration) error // between attempts: a timer
	Jitter      func() float64                                   // from 0 up to 1, spreads attempts out: math/rand/v2
	BodyBytes   int64                                            // of a request's body: 64 MiB; a stream of lines has no such bound
	AnswerBytes int64                                            // of an answer: 64 MiB
	Silence     time.Duration                                    // after which a stream of events counts as cut: 45 s
}

func (o *Options) fill() {
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ExpectContinueTimeout: 5 * time.Second,
			ResponseHeaderTimeout: 90 * time.Second, // the service's own limit is 30 s
			IdleConnTimeout:       90 * time.Second,
			MaxIdleConnsPerHost:   16,
			ForceAttemptHTTP2:     true,
		}
	}
	if o.Headers == nil {
		o.Headers = func(context.Context, http.Header) {}
	}
	if o.Attempts == 0 {
		o.Attempts = 4
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.BodyBytes == 0 {
		o.BodyBytes = 64 << 20
	}
	if o.AnswerBytes == 0 {
		o.AnswerBytes = 64 << 20
	}
	if o.Silence == 0 {
		o.Silence = 45 * time.Second
	}
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

// A Client speaks to one service with one key. It is safe for use by many goroutines.
// It shows the key to no printer, logger or encoder.
//
// Its operations are in facets, which are named as those of kernel.Kernel and cost nothing to
// make: Turns, Slices, Policies, Facts and Ledger. They have the operations of which they check the answer,
// read all pages, or take and return the nouns of the kernel. Do asks for any other, such as [api.CreateKey].
type Client struct{ *conn }

// The facets of a client. A zero facet is of no use.
type (
	Turns    struct{ *conn } // conversations: admitting, reading, erasing
	Slices   struct{ *conn } // slices of turns: cutting, verifying, replaying, explaining
	Policies struct{ *conn } // what slices of turns and of facts are cut under
	Facts    struct{ *conn } // what is believed, and slices of it
	Contexts struct{ *conn } // what agents are given for their tasks
	Beliefs  struct{ *conn } // evidence of what is believed
	Ledger   struct{ *conn } // evidence for third parties, and the log that it is in
)

// Turns returns the operations on turns.
func (c *Client) Turns() Turns { return Turns{c.conn} }

// Slices returns the operations on slices of turns.
func (c *Client) Slices() Slices { return Slices{c.conn} }

// Policies returns the operations on policies.
func (c *Client) Policies() Policies { return Policies{c.conn} }

// Facts returns the operations on facts.
func (c *Client) Facts() Facts { return Facts{c.conn} }

// Contexts returns the operations on contexts.
func (c *Client) Contexts() Contexts { return Contexts{c.conn} }

// Beliefs returns the operations that hand out and verify evidence of beliefs.
func (c *Client) Beliefs() Beliefs { return Beliefs{c.conn} }

// Ledger returns the operations on the ledger.
func (c *Client) Ledger() Ledger { return Ledger{c.conn} }

// A conn sends requests to the service.
type conn struct {
	base    string        // without a slash at its end
	key     func() string // a function, because package fmt prints what fields hold
	http    *http.Client
	options Options
}

// New makes a client. The URL is https, or http to this very host; a path in it is
// kept. Nothing is sent yet.
func New(baseURL, key string, o Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, errors.New("client: the URL cannot be read") // url.Error would show it, and a password in it
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return nil, errors.New("client: the URL holds more than scheme, host and path; the key is given apart")
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("client: URL %q, want https://HOST", u.Redacted())
	case u.Scheme == "http" && !o.AllowPlaintext && !loopback.Is(u.Hostname()):
		return nil, fmt.Errorf("client: %s would send the key in the clear; use https, or set AllowPlaintext", u.Redacted())
	}
	if key == "" || strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return nil, errors.New("client: the key is empty, or holds what no key holds")
	}
	o.fill()
	return &Client{&conn{
		base: strings.TrimRight(u.String(), "/"),
		key:  func() string { return key },
		http: &http.Client{
			Transport: o.Transport,
			// The service never redirects. Anyone who does is not to get the request.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		options: o,
	}}, nil
}

// String, GoString and LogValue name the service and hide the key, of the client and of its facets.
func (c *conn) String() string       { return "client of " + c.base }
func (c *conn) GoString() string     { return c.String() }
func (c *conn) LogValue() slog.Value { return slog.StringValue(c.String()) }
