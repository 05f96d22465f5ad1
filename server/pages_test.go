package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/server"
)

// failing are pages that fail.
type failing struct{}

func (failing) ServePage(w http.ResponseWriter, r *http.Request) error {
	switch r.URL.Path {
	case "/pages/failed":
		w.WriteHeader(http.StatusInternalServerError)
		return errors.New("cause 17")
	case "/pages/begun":
		_, _ = io.WriteString(w, "half a page")
	}
	panic("cause 17")
}

// TestPageFaults has pages fail and panic: each is answered, and the log has the cause, as for operations.
func TestPageFaults(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Pages = func(http.Handler) ([]string, server.Pages, error) { return []string{"/pages/"}, failing{}, nil }
	})
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/pages/failed": {500, ""}, "/pages/panic": {500, "This page could not be made.\n"}, "/pages/begun": {200, "half a page"},
	} {
		resp, err := s.Client().Get(s.URL + path) //nolint:noctx // a test's
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != want.status || string(body) != want.body {
			t.Errorf("%s: %v, %d, %q", path, err, resp.StatusCode, body)
		}
		id := resp.Header.Get("X-Request-Id")
		found := 0
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, `"request_id":"`+id+`"`) {
				if found++; !strings.Contains(line, `"level":"ERROR"`) || !strings.Contains(line, "cause 17") || !strings.Contains(line, `"status":500`) {
					t.Errorf("%s: the log says %s", path, line)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: request %q is in %d lines of the log\n%s", path, id, found, s.log.String())
		}
	}
}
