package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/server"
)

// TestRefusedBodies sends bodies that are refused, with a client that writes all of one before it
// reads: the answer arrives, whole, and the connection is not reset.
func TestRefusedBodies(t *testing.T) {
	s := start(t, limits(server.Limits{BodyBytes: 1 << 20, LineBytes: 1 << 20, BodiesBytes: 16 << 20}))
	addr, stop := s.serve(t, nil)
	full := start(t, limits(server.Limits{BodiesBytes: 1 << 20})) // holds few bytes of bodies
	fullAddr, stopFull := full.serve(t, nil)
	const size = 24 << 20 // more than the system's buffers hold
	announced := fmt.Sprintf("Content-Length: %d\r\n", size)
	plain := func(w io.Writer) error {
		_, err := io.CopyN(w, spaces{}, size)
		return err
	}
	chunked := func(w io.Writer) error {
		chunk := append(append([]byte("10000\r\n"), bytes.Repeat([]byte(" "), 1<<16)...), "\r\n"...)
		for range size >> 16 {
			if _, err := w.Write(chunk); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, "0\r\n\r\n")
		return err
	}
	for name, c := range map[string]struct {
		addr, path, key, media, length string
		body                           func(io.Writer) error
		status                         int
		code                           string
	}{
		"announced":          {addr, "/api/turns", s.admin(), "application/json", announced, plain, 413, "too_large"},
		"in chunks":          {addr, "/api/turns", s.admin(), "application/json", "Transfer-Encoding: chunked\r\n", chunked, 413, "too_large"},
		"a line":             {addr, "/api/turns", s.admin(), "application/x-ndjson", announced, plain, 413, "too_large"},
		"a line in chunks":   {addr, "/api/turns", s.admin(), "application/x-ndjson", "Transfer-Encoding: chunked\r\n", chunked, 413, "too_large"},
		"of who may not":     {addr, "/api/turns", s.keys[tenantA][access.Verifier], "application/json", announced, plain, 403, "forbidden"},
		"of an unknown type": {addr, "/api/turns", s.admin(), "text/html", announced, plain, 415, "unsupported_media_type"},
		"beyond the budget":  {fullAddr, "/api/turns", full.admin(), "application/json", announced, plain, 503, "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", c.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			head := "POST " + c.path + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + c.key + "\r\nContent-Type: " + c.media + "\r\n" + c.length + "\r\n"
			if _, err := io.WriteString(conn, head); err != nil {
				t.Fatal(err)
			}
			if err := c.body(conn); err != nil {
				t.Fatalf("the body cannot be sent: %v", err)
			}
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("there is no answer: %v", err)
			}
			var p api.Problem
			data, err := io.ReadAll(r.Body)
			if err == nil {
				err = json.Unmarshal(data, &p)
			}
			if err != nil || r.StatusCode != c.status || p.Code != c.code || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
				t.Errorf("got %d, %v\n%s", r.StatusCode, err, data)
			}
		})
	}
	_, _ = stop(), stopFull()
}

// spaces is an endless reader of them.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
