package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const whoHeader = "X-Who" // TENANT ROLE SUBJECT: what a server around would have found

func identify(r *http.Request) (access.Identity, bool) {
	var who access.Identity
	_, err := fmt.Sscanf(r.Header.Get(whoHeader), "%s %s %s", &who.Tenant, &who.Role, &who.Subject)
	return who, err == nil
}

// serve opens a web server over a server.
func serve(t *testing.T, s *Server) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(s.Handler(identify))
	t.Cleanup(func() {
		s.Close()
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return web
}

// An as adds who asks to each request.
type as struct {
	who  string
	base http.RoundTripper
}

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(whoHeader, a.who)
	return a.base.RoundTrip(r)
}

func connect(t *testing.T, web *httptest.Server, who string) (*sdk.ClientSession, error) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: web.URL, HTTPClient: &http.Client{Transport: as{who, web.Client().Transport}}, MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func connected(t *testing.T, web *httptest.Server, who string) *sdk.ClientSession {
	t.Helper()
	c, err := connect(t, web, who)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// post sends a message and returns the status and the body.
func post(t *testing.T, web *httptest.Server, who, session, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	return send(t, web, http.MethodPost, who, session, body, header...)
}

func send(t *testing.T, web *httptest.Server, method, who, session, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, web.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if who != "" {
		r.Header.Set(whoHeader, who)
	}
	if session != "" {
		r.Header.Set(sessionHeader, session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := web.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data), resp.Header
}

// TestSessionIsItsOpeners tries to use a session as somebody else.
func TestSessionIsItsOpeners(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	web := serve(t, s)
	const mine = "acme agent k1"
	status, body, header := post(t, web, mine, "", initialize)
	session := header.Get(sessionHeader)
	if status != http.StatusOK || session == "" {
		t.Fatalf("%d %s", status, body)
	}
	if status, body, _ := post(t, web, mine, session, listTools); status != http.StatusOK || !strings.Contains(body, "cut_slice") {
		t.Errorf("the opener's own call: %d %s", status, body)
	}
	_, unknown, _ := post(t, web, mine, "no-such-session", listTools)
	for _, who := range []string{"acme agent k2", "acme admin k1", "other agent k1"} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			if status, body, _ := send(t, web, method, who, session, listTools); status != http.StatusNotFound || body != unknown {
				t.Errorf("%s %s: %d %s; want what a session that is not there gives", who, method, status, body)
			}
		}
	}
	if status, body, _ := post(t, web, "", session, listTools); status != http.StatusUnauthorized {
		t.Errorf("nobody: %d %s", status, body)
	}
	for _, who := range []string{"acme root k1", "acme Agent k1"} {
		if status, body, _ := post(t, web, who, "", initialize); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", who, status, body)
		}
	}
	if status, body, _ := post(t, web, mine, session, listTools); status != http.StatusOK {
		t.Errorf("the opener's call afterwards: %d %s", status, body)
	}
	if status, _, _ := send(t, web, http.MethodDelete, mine, session, ""); status != http.StatusNoContent {
		t.Errorf("DELETE: %d", status)
	}
	waitFor(t, func() bool {
		return !s.sessions.belongs(session, access.Identity{Tenant: "acme", Role: access.Agent, Subject: "k1"})
	})
	if status, _, _ := post(t, web, mine, session, listTools); status != http.StatusNotFound {
		t.Errorf("after DELETE: %d", status)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not happen")
}

func (t *sessions) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.owner)
}

// TestIdentityOfCalls makes sure that each of several sessions acts for its own
// tenant and role.
func TestIdentityOfCalls(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	s := New(k, Options{})
	web := serve(t, s)
	a, b := connected(t, web, "one admin k1"), connected(t, web, "two agent k1")
	must(t, a, "admit_turns", chain(3))
	must(t, b, "admit_turns", chain(2))
	for tenant, want := range map[dag.Tenant]dag.Seq{"one": 3, "two": 2, "default": 0} {
		if head, err := k.Turns().Head(t.Context(), tenant); err != nil || head != want {
			t.Errorf("tenant %s has head %d, want %d (%v)", tenant, head, want, err)
		}
	}
	bundle, _ := must(t, a, "cut_slice", map[string]any{"anchor": "ext-3"})
	if _, v := must(t, b, "verify_bundle", map[string]any{"bundle": bundle}); v["admissible"] != false {
		t.Errorf("another tenant's bundle: %v", v)
	}
	list, err := b.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 9 {
		t.Errorf("an agent sees %d tools, %v", len(list.Tools), err)
	}
	for c, want := range map[*sdk.ClientSession]string{a: `{"prompts":{},"resources":{},"tools":{}}`, b: `{"prompts":{},"resources":{},"tools":{}}`} {
		r := c.InitializeResult()
		if got, err := json.Marshal(r.Capabilities); err != nil || string(got) != want || r.Instructions == "" || r.ProtocolVersion != "2025-11-25" {
			t.Errorf("initialized with %s, %+v, %v; want %s", got, r, err, want)
		}
	}
}

// TestSessionBounds opens as many sessions as there may be, and one more.
func TestSessionBounds(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{MaxSessions: 3, MaxEach: 2})
	web := serve(t, s)
	first := connected(t, web, "a agent k1")
	connected(t, web, "a agent k1")
	if _, err := connect(t, web, "a agent k1"); err == nil || !strings.Contains(err.Error(), "Too Many Requests") {
		t.Errorf("a third session of one identity: %v", err)
	}
	connected(t, web, "a agent k2")
	if _, err := connect(t, web, "a agent k3"); err == nil || !strings.Contains(err.Error(), "Service Unavailable") {
		t.Errorf("a fourth session: %v", err)
	}
	if got := s.sessions.count(); got != 3 {
		t.Errorf("%d sessions, want 3", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return s.sessions.count() == 2 })
	connected(t, web, "a agent k3")

	// What opens no session keeps none.
	for range 5 {
		post(t, web, "a agent k9", "", ping)
		post(t, web, "a agent k9", "", listTools)
		post(t, web, "a agent k9", "", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28")
	}
	waitFor(t, func() bool {
		kept := 0
		for _, server := range s.roles {
			kept += len(slices.Collect(server.Sessions()))
		}
		return kept == 3
	})
	s.Close()
	waitFor(t, func() bool { return s.sessions.count() == 0 })
	if _, err := connect(t, web, "a agent k1"); err == nil {
		t.Error("a closed server opened a session")
	}
}

// TestRefusedSessions opens many more sessions at once than there may be: each is open and
// works, or is refused with a time after which to ask again and without an id.
func TestRefusedSessions(t *testing.T) {
	t.Parallel()
	const most, asked = 64, 100
	s := New(testKernel(t), Options{Tools: every(t)})
	web := serve(t, s)
	var wait sync.WaitGroup
	var mu sync.Mutex
	open := 0
	for range asked {
		wait.Go(func() {
			status, _, header := post(t, web, "a agent k1", "", initialize)
			session := header.Get(sessionHeader)
			if status == http.StatusTooManyRequests {
				if session != "" || header.Get("Retry-After") != "60" {
					t.Errorf("a refusal has session %q, Retry-After %q", session, header.Get("Retry-After"))
				}
				return
			}
			if status != http.StatusOK || session == "" {
				t.Errorf("initialize answers %d with session %q", status, session)
				return
			}
			if status, body, _ := post(t, web, "a agent k1", session, ping); status != http.StatusOK {
				t.Errorf("a session that was opened answers %d: %s", status, body)
			}
			mu.Lock()
			open++
			mu.Unlock()
		})
	}
	wait.Wait()
	if open != most {
		t.Errorf("%d sessions are open, want %d", open, most)
	}
	if status, _, _ := post(t, web, "a agent k2", "", initialize); status != http.StatusOK {
		t.Errorf("another key's session: %d", status)
	}
}

// TestIdle leaves a session alone until it ends.
func TestIdle(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Idle: 50 * time.Millisecond})
	web := serve(t, s)
	_, _, header := post(t, web, "a agent k1", "", initialize)
	session := header.Get(sessionHeader)
	if s.sessions.count() != 1 {
		t.Fatal("there is no session")
	}
	// A stream that the client keeps open does not keep the session.
	got := make(chan int, 1)
	go func() {
		status, _, _ := send(t, web, http.MethodGet, "a agent k1", session, "")
		got <- status
	}()
	waitFor(t, func() bool { return s.sessions.count() == 0 })
	<-got
	if status, _, _ := post(t, web, "a agent k1", session, listTools); status != http.StatusNotFound {
		t.Errorf("an idle session answers %d", status)
	}
}

// TestPages asks as a page in a browser would.
func TestPages(t *testing.T) {
	t.Parallel()
	web := serve(t, New(testKernel(t), Options{Origins: []string{"https://agents.example"}}))
	_, port, _ := strings.Cut(strings.TrimPrefix(web.URL, "http://"), ":")
	for _, test := range []struct {
		host    string
		origins []string
		want    int
	}{
		{"", nil, http.StatusOK},
		{"localhost:" + port, []string{"http://localhost:" + port}, http.StatusOK},
		{"127.0.0.1", []string{"http://127.0.0.1:3000"}, http.StatusOK},
		{"[::1]:80", []string{"http://[::1]"}, http.StatusOK},
		{"", []string{"https://agents.example"}, http.StatusOK},
		{"evil.example", nil, http.StatusForbidden},
		{"evil.example", []string{"http://evil.example"}, http.StatusForbidden},
		{"evil.example", []string{"https://agents.example"}, http.StatusForbidden},
		{"", []string{"http://evil.example"}, http.StatusForbidden},
		{"", []string{"http://agents.example"}, http.StatusForbidden},
		{"", []string{"https://agents.example.evil.example"}, http.StatusForbidden},
		{"", []string{"http://localhost.evil.example"}, http.StatusForbidden},
		{"", []string{"http://localhost@evil.example"}, http.StatusForbidden},
		{"", []string{"null"}, http.StatusForbidden},
		{"", []string{""}, http.StatusForbidden},
		{"", []string{"https://agents.example", "http://evil.example"}, http.StatusForbidden},
	} {
		var header []string
		if test.host != "" {
			header = append(header, "Host", test.host)
		}
		for _, o := range test.origins {
			header = append(header, "Origin", o)
		}
		if status, body, _ := post(t, web, "a agent k1", "", initialize, header...); status != test.want {
			t.Errorf("Host %q, Origin %q: %d %s; want %d", test.host, test.origins, status, body, test.want)
		}
	}
	open := serve(t, New(testKernel(t), Options{Origins: []string{"*"}}))
	if status, _, _ := post(t, open, "a agent k1", "", initialize, "Origin", "http://other.example"); status != http.StatusOK {
		t.Errorf("any origin: %d", status)
	}
	// A page on the reader's own machine is not one on this machine.
	s := New(testKernel(t), Options{Tools: every(t)})
	for _, at := range []net.Addr{nil, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}} {
		w := httptest.NewRecorder()
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, at)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(initialize))
		r.Header.Set(whoHeader, "a agent k1")
		r.Header.Set("Origin", "http://localhost")
		if s.Handler(identify).ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("a page of some machine, at %v: %d", at, w.Code)
		}
	}
}

// TestHostilePosts sends what no client should. The session goes on.
func TestHostilePosts(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	s := New(testKernel(t), Options{MaxMessage: most})
	web := serve(t, s)
	const who = "a agent k1"
	_, _, header := post(t, web, who, "", initialize)
	session := header.Get(sessionHeader)
	post(t, web, who, session, initialized)
	alive := func(after string) {
		t.Helper()
		if status, body, _ := post(t, web, who, session, ping); status != http.StatusOK || !strings.Contains(body, `"id":"ping"`) {
			t.Fatalf("after %.100q: %d %s", after, status, body)
		}
	}
	for _, h := range hostile {
		status, body, _ := post(t, web, who, session, h.text)
		answered := h.code == 0 || h.code == anAnswer || strings.Contains(body, `"error"`) || strings.Contains(h.text, "} {") // the SDK passes over what follows a message
		if status == http.StatusOK && !answered || status >= 500 {
			t.Errorf("%.100q: %d %.200s", h.text, status, body)
		}
		alive(h.text)
	}
	if status, _, _ := post(t, web, who, session, strings.Repeat("x", most+1)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: %d", status)
	}
	alive("a long body")
	for _, bad := range [][]string{
		{"Content-Type", "text/plain"}, {"Accept", "text/html"}, {"Mcp-Protocol-Version", "1999-01-01"}, {"Last-Event-ID", "x"},
	} {
		if status, _, _ := post(t, web, who, session, ping, bad...); status >= 500 {
			t.Errorf("%v: %d", bad, status)
		}
		alive(bad[0])
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodHead, http.MethodOptions} {
		if status, _, _ := send(t, web, method, who, session, ""); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, status)
		}
		alive(method)
	}
	if got := s.sessions.count(); got != 1 {
		t.Errorf("%d sessions, want 1", got)
	}
}

// TestBrought admits over HTTP with a key and with a JWT, and over stdio, where there is none.
func TestBrought(t *testing.T) {
	k := kernelOver(t, inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 1}))
	s := New(k, Options{Tools: every(t)})
	web := serve(t, s)
	for n, c := range []struct {
		session *sdk.ClientSession
		want    string
	}{
		{connected(t, web, "default agent 0123456789abcdef"), "0123456789abcdef"},
		{connected(t, web, "default agent jwt:ci"), "jwt:ci"},
		{over(t, s, access.Identity{Tenant: dag.DefaultTenant, Role: access.Agent, Subject: "stdio"}), ""},
	} {
		must(t, c.session, "admit_turns", map[string]any{"turns": []any{said(n+1, "a turn")}})
		records, _, err := k.Turns().After(t.Context(), dag.DefaultTenant, 0, nil, 10, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if newest := records[len(records)-1]; newest.Key != c.want {
			t.Errorf("the turn was brought by %q, want %q", newest.Key, c.want)
		}
	}
}
