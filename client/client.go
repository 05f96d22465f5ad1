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

// Options configure a client. The comment on each field gives the default, which its zero value means.
type Options struct {
	// AllowPlaintext permits http to other hosts than this one. The key and all text are then readable by everyone on
	// the network path.
	AllowPlaintext bool

	// Transport sends the requests. nil: a transport of the client's own, which uses the proxy named by the
	// environment.
	Transport http.RoundTripper

	// Headers may add headers to each request, such as the traceparent of W3C Trace Context or an X-Request-Id. It
	// does not see the key.
	Headers func(ctx context.Context, h http.Header)

	Attempts    int                                              // to send one request: 4
	Sleep       func(ctx context.Context, d time.Duration) error // between attempts: a timer
	Jitter      func() float64                                   // from 0 up to 1, spreads out attempts: math/rand/v2
	BodyBytes   int64                                            // limit of a request's body: 64 MiB; a stream of lines has no limit
	AnswerBytes int64                                            // limit of an answer: 64 MiB
	Silence     time.Duration                                    // after which a stream of events counts as broken: 45 s
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

// A Client sends requests to one service with one key. It is safe for use by many goroutines. Printing, logging or
// encoding it does not reveal the key.
//
// Its operations are grouped in facets, which are named like those of kernel.Kernel and cost nothing to make: Turns,
// Slices, Policies, Facts, Contexts, Beliefs and Ledger. A facet has the operations whose answer the client checks,
// that read all pages, or that take and return the types of the kernel. Do calls any other operation, such as
// [api.CreateKey].
type Client struct{ *conn }

// The facets of a client. A zero facet cannot be used.
type (
	Turns    struct{ *conn } // conversations: admitting, reading, erasing
	Slices   struct{ *conn } // slices of turns: cutting, verifying, replaying, explaining
	Policies struct{ *conn } // the policies for slices of turns and of facts
	Facts    struct{ *conn } // believed facts, and slices of them
	Contexts struct{ *conn } // the contexts of agents for their tasks
	Beliefs  struct{ *conn } // evidence of beliefs
	Ledger   struct{ *conn } // evidence for third parties, and the log that contains it
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

// Beliefs returns the operations that return and verify evidence of beliefs.
func (c *Client) Beliefs() Beliefs { return Beliefs{c.conn} }

// Ledger returns the operations on the ledger.
func (c *Client) Ledger() Ledger { return Ledger{c.conn} }

// A conn sends requests to the service.
type conn struct {
	base    string        // without a trailing slash
	key     func() string // a function, because package fmt prints the values of fields
	http    *http.Client
	options Options
}

// New makes a client. The URL must be https, or http to this host; its path is kept. New sends nothing.
func New(baseURL, key string, o Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, errors.New("client: the URL cannot be read") // a url.Error would show the URL, and a password in it
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return nil, errors.New("client: the URL may have only a scheme, a host and a path; pass the key separately")
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("client: URL %q, want https://HOST", u.Redacted())
	case u.Scheme == "http" && !o.AllowPlaintext && !loopback.Is(u.Hostname()):
		return nil, fmt.Errorf("client: %s would send the key unencrypted; use https, or set AllowPlaintext", u.Redacted())
	}
	if key == "" || strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return nil, errors.New("client: the key is empty, or has spaces or characters other than printable ASCII")
	}
	o.fill()
	return &Client{&conn{
		base: strings.TrimRight(u.String(), "/"),
		key:  func() string { return key },
		http: &http.Client{
			Transport: o.Transport,
			// The service never redirects. Another host must not get the request.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		options: o,
	}}, nil
}

// String, GoString and LogValue return the service's URL without the key, for the client and for its facets.
func (c *conn) String() string       { return "client of " + c.base }
func (c *conn) GoString() string     { return c.String() }
func (c *conn) LogValue() slog.Value { return slog.StringValue(c.String()) }
