package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// The media types of the contract.
const (
	typeJSON     = "application/json"
	typeLines    = "application/x-ndjson"
	typeMarkdown = "text/markdown"
	typeEvents   = "text/event-stream"
	typeText     = "text/plain"
	typeBinary   = "application/octet-stream"
)

// A request is a request to the service. It can be repeated unless it has a stream.
type request struct {
	method string
	path   string // escaped
	query  url.Values
	body   []byte    // JSON, or nil
	stream io.Reader // lines, or nil
	header http.Header
	want   string // the answer's media type
	alone  bool   // sent only once
	health bool   // sent without the key, and status 503 is an answer
}

type answer struct {
	header http.Header
	body   []byte
}

// A brokenError means that no complete answer arrived. Repeating the request may help.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// do sends a request and reads the answer. It repeats the request if that is safe and may help.
func (c *conn) do(ctx context.Context, r *request) (*answer, error) {
	if int64(len(r.body)) > c.options.BodyBytes {
		return nil, fmt.Errorf("client: %w: the body has %d bytes, want at most %d", ErrTooLarge, len(r.body), c.options.BodyBytes)
	}
	for attempt := 1; ; attempt++ {
		a, err := c.once(ctx, r)
		if err == nil {
			return a, nil
		}
		wait, again := c.again(err, attempt)
		if !again || attempt >= c.options.Attempts || r.stream != nil || r.alone || r.health || ctx.Err() != nil {
			return nil, err
		}
		if stopped := c.options.Sleep(ctx, wait); stopped != nil {
			return nil, fmt.Errorf("%w; it was not tried again: %w", err, stopped)
		}
	}
}

// longest limits the time between attempts. If the service asks for a longer wait, the caller gets the problem, which
// has the time.
const longest = 30 * time.Second

// again reports whether a failed request is worth another attempt, and after what time.
func (c *conn) again(err error, attempt int) (time.Duration, bool) {
	var p *Problem
	var broken brokenError
	switch {
	case errors.As(err, &p):
		refused := p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable
		wait := p.RetryAfter + time.Duration(float64(p.RetryAfter)/4*c.options.Jitter())
		return wait, refused && p.RetryAfter > 0 && p.RetryAfter <= longest
	case errors.As(err, &broken):
		return c.backoff(attempt), true
	}
	return 0, false
}

// backoff returns a random time between one half and all of a limit, which doubles from 100 ms up to 5 s.
func (c *conn) backoff(failures int) time.Duration {
	d := 5 * time.Second
	if failures < 7 {
		d = min(d, 100*time.Millisecond<<max(0, failures-1))
	}
	return d/2 + time.Duration(float64(d/2)*c.options.Jitter())
}

// once sends a request once and reads the answer.
func (c *conn) once(ctx context.Context, r *request) (*answer, error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	most := c.options.AnswerBytes
	if resp.ContentLength > most {
		return nil, fmt.Errorf("client: %s: %w: the answer has %d bytes, want at most %d", r, ErrAnswer, resp.ContentLength, most)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, brokenError{fmt.Errorf("client: %s: the answer was cut off after %d bytes: %w", r, len(body), err)}
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("client: %s: %w: the answer has more than %d bytes", r, ErrAnswer, most)
	}
	return &answer{resp.Header, body}, nil
}

// send sends a request once and checks the status and the media type of the answer. The caller closes the answer's
// body.
func (c *conn) send(ctx context.Context, r *request) (_ *http.Response, err error) {
	body := r.stream
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("client: %s: %w", r, err)
	}
	c.options.Headers(ctx, req.Header)
	req.Header.Set("User-Agent", "graphkernel-client")
	req.Header.Set("Accept", r.want)
	req.Header.Set("Accept-Encoding", "identity") // digests are over the uncompressed bytes
	for name, values := range r.header {
		req.Header[name] = values
	}
	switch {
	case r.stream != nil:
		req.Header.Set("Content-Type", typeLines)
		req.Header.Set("Expect", "100-continue") // a refused request does not send its body
	case r.body != nil:
		req.Header.Set("Content-Type", typeJSON)
	}
	req.Header.Del("Authorization")
	if !r.health {
		req.Header.Set("Authorization", "Bearer "+c.key())
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, brokenError{fmt.Errorf("client: %w", err)} // a url.Error contains method and address
	}
	defer func() {
		if err != nil {
			_ = resp.Body.Close()
		}
	}()
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusOK, r.health && resp.StatusCode == http.StatusServiceUnavailable && media == r.want:
	case resp.StatusCode >= 400:
		return nil, ProblemOf(resp)
	case resp.StatusCode >= 300:
		return nil, fmt.Errorf("client: %s: %w: the answer redirects to %.200q", r, ErrAnswer, resp.Header.Get("Location"))
	default:
		return nil, fmt.Errorf("client: %s: %w: status %d", r, ErrAnswer, resp.StatusCode)
	}
	if media != r.want {
		return nil, fmt.Errorf("client: %s: %w: the media type is %.80q, want %s", r, ErrAnswer, media, r.want)
	}
	return resp, nil
}

func (r *request) String() string { return r.method + " " + r.path }

// get sends a request and decodes the answer.
func get[T any](ctx context.Context, c *conn, r *request) (T, error) {
	var value, zero T
	r.want = typeJSON
	a, err := c.do(ctx, r)
	if err != nil {
		return zero, err
	}
	// Every answer is an object. null would decode into any type.
	if !bytes.HasPrefix(bytes.TrimLeft(a.body, " \t\r\n"), []byte("{")) {
		return zero, fmt.Errorf("client: %s: %w: the answer is not an object", r, ErrAnswer)
	}
	if err := json.Unmarshal(a.body, &value); err != nil {
		return zero, fmt.Errorf("client: %s: %w: %w", r, ErrAnswer, err)
	}
	return value, nil
}

// encode returns the JSON of a body. Its types can always be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("client: encoding a body: " + err.Error())
	}
	return b.Bytes()
}
