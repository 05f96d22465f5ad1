package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/server"
)

func TestNew(t *testing.T) {
	for _, tc := range []struct {
		url, key string
		plain    bool
		ok       bool
	}{
		{"https://kernel.example", "k", false, true},
		{"https://kernel.example/behind/a/path/", "k", false, true},
		{"http://localhost:8080", "k", false, true},
		{"http://127.0.0.1:8080", "k", false, true},
		{"http://[::1]:8080", "k", false, true},
		{"http://kernel.example", "k", false, false},
		{"http://kernel.example", "k", true, true},
		{"http://127.0.0.1.kernel.example", "k", false, false},
		{"http://localhost.kernel.example", "k", false, false},
		{"http://0.0.0.0:8080", "k", false, false},
		{"ftp://kernel.example", "k", true, false},
		{"kernel.example", "k", true, false},
		{"https://", "k", false, false},
		{"https://a:secret@kernel.example", "k", false, false},
		{"https://kernel.example?key=secret", "k", false, false},
		{"https://kernel.example#secret", "k", false, false},
		{"https://a:secret@kernel.example:%%", "k", false, false},
		{"https://kernel.example", "", false, false},
		{"https://kernel.example", "a\r\nHost: b", false, false},
		{"https://kernel.example", "secret\n", false, false},
	} {
		c, err := client.New(tc.url, tc.key, client.Options{AllowPlaintext: tc.plain})
		if (err == nil) != tc.ok || (c == nil) == tc.ok {
			t.Errorf("%s, %q: got %v", tc.url, tc.key, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q shows a secret", err)
		}
	}
}

// TestKeyHidden prints a client in every way.
func TestKeyHidden(t *testing.T) {
	const secret = "gk1.default.0123456789abcdef.feedfacefeedface"
	c := must(client.New("https://kernel.example", secret, client.Options{}))
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "client", c)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "client", c, "copied", *c)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, shown := range []any{c, *c, struct{ C *client.Client }{c}, []client.Client{*c}} {
			fmt.Fprintf(&log, verb+"\n", shown)
		}
	}
	text, err := json.Marshal([]any{c, *c})
	log.Write(text)
	if err != nil || !strings.Contains(log.String(), "client of https://kernel.example") {
		t.Fatalf("got %s, %v", log.String(), err)
	}
	for _, form := range []string{secret, "feedface", fmt.Sprintf("%x", secret), fmt.Sprint([]byte(secret))} {
		if strings.Contains(log.String(), form) {
			t.Errorf("%s is shown:\n%s", form, log.String())
		}
	}
	// Neither do errors.
	_, err = must(client.New("http://127.0.0.1:1", secret, awake(client.Options{}))).Turns().Get(t.Context(), ids[0])
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "feedface") {
		t.Errorf("got %v", err)
	}
}

// TestLight holds that a program with a client gets no database and no web framework.
func TestLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "net/http") {
		t.Fatal("go list does not give what is linked")
	}
	for _, d := range deps {
		own, ours := strings.CutPrefix(d, "github.com/graphkernel/graphkernel/")
		if d == "database/sql" || strings.HasPrefix(d, "github.com/labstack") || strings.HasPrefix(d, "modernc.org") ||
			ours && !slices.Contains([]string{"client", "api", "belief", "belief/journal", "belief/kinds", "belief/rules", "belief/said", "dag", "guard", "retention", "standing", "history", "history/erasures", "internal/bom", "internal/loopback", "policy", "policy/registry", "policy/standard", "slice", "slice/issued", "token", "internal/canon", "internal/cursor", "access", "ledger/attest", "evidence", "internal/mac", "internal/secretfile", "ledger", "ledger/monitor", "slice/facts", "slice/beliefs", "slice/contexts", "slice/kinds", "render", "retrieval", "retrieval/analysis", "retrieval/bm25", "retrieval/embed", "retrieval/vector", "knowledge", "normalize"}, own) {
			t.Errorf("a client links %s", d)
		}
	}
}

// TestHeaders holds that the hook is called for each attempt and cannot change whose
// request it is.
func TestHeaders(t *testing.T) {
	s := serve(t, server.Limits{})
	seen := &recorder{next: http.DefaultTransport}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	c := s.client(t, "default", access.Agent, client.Options{Transport: seen, Headers: func(_ context.Context, h http.Header) {
		if h.Get("Authorization") != "" {
			t.Error("the hook sees the key")
		}
		h.Set("traceparent", parent)
		h.Set("X-Request-Id", "mine")
		h.Set("Authorization", "Bearer other")
	}})
	_, err := c.Turns().Get(t.Context(), ids[0])
	var p *client.Problem
	if !errors.As(err, &p) || p.Code != "not_found" && p.Code != "forbidden" || p.RequestID != "mine" {
		t.Errorf("got %v", err)
	}
	if got := seen.seen[0].Header.Get("Traceparent"); got != parent {
		t.Errorf("got %q", got)
	}
}
