package console

import (
	"bytes"
	"io"
	"net/http"

	"github.com/graphkernel/graphkernel/client"
)

// A doorway sends requests to the service in this process, on behalf of a browser.
type doorway struct {
	service http.Handler
	browser *http.Request
}

// address is the base URL for requests to the service. It is never resolved.
const address = "http://localhost"

// RoundTrip implements http.RoundTripper. The whole answer is kept in memory.
func (d doorway) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := d.carry(r.Clone(r.Context()))
	held := &held{header: http.Header{}}
	d.service.ServeHTTP(held, asked)
	return &http.Response{
		StatusCode: held.code(), Status: http.StatusText(held.code()), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: held.header, Body: io.NopCloser(&held.body), ContentLength: int64(held.body.Len()), Request: r,
	}, nil
}

// carry makes a request look as if the browser had sent it, so the limits of the browser's address apply.
func (d doorway) carry(r *http.Request) *http.Request {
	r.RemoteAddr, r.RequestURI, r.Host, r.TLS = d.browser.RemoteAddr, r.URL.RequestURI(), d.browser.Host, d.browser.TLS
	if forwarded := d.browser.Header.Values("X-Forwarded-For"); len(forwarded) > 0 {
		r.Header["X-Forwarded-For"] = forwarded
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	return r
}

// A held is an answer that is kept in memory until it is complete.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header { return h.header }

func (h *held) WriteHeader(status int) {
	if h.status == 0 && status >= http.StatusOK {
		h.status = status
	}
}

func (h *held) Write(p []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.body.Write(p)
}

func (h *held) code() int {
	if h.status == 0 {
		return http.StatusOK
	}
	return h.status
}

// An asker asks the service with the key of a visit.
type asker struct {
	exchange
	service http.Handler
	client  *client.Client
	bearer  string
}

// use creates the visit's client with a key. It sends nothing.
func (a *asker) use(bearer string) (err error) {
	a.bearer = bearer
	a.client, err = client.New(address, bearer, client.Options{Transport: doorway{a.service, a.r}, Attempts: 1})
	return err
}

// request returns a request to the service whose answer no client reads.
func (a *asker) request(path string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(a.ctx(), http.MethodGet, address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+a.bearer)
	return doorway{a.service, a.r}.carry(r), nil
}

// bytes returns an answer that is not JSON, or whose bytes must not change.
func (a *asker) bytes(path string) ([]byte, error) {
	r, err := a.request(path)
	if err != nil {
		return nil, err
	}
	h := &held{header: http.Header{}}
	a.service.ServeHTTP(h, r)
	if h.code() != http.StatusOK {
		return nil, a.problem(h)
	}
	return h.body.Bytes(), nil
}

// problem returns the error in an answer.
func (a *asker) problem(h *held) error {
	return client.ProblemOf(&http.Response{StatusCode: h.code(), Header: h.header, Body: io.NopCloser(&h.body)})
}

// passOn passes on an answer of the service as it arrives, such as a stream of events.
func (a *asker) passOn(path string) error {
	r, err := a.request(path)
	if err != nil {
		return err
	}
	if id := a.r.Header.Get("Last-Event-ID"); id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	a.service.ServeHTTP(a.w, r)
	return nil
}
