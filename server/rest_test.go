package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/server/mcp"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// withMCP mounts the tools of agents.
func withMCP(c *server.Config) {
	tools := mcp.New(c.Kernel, mcp.Options{})
	c.MCP, c.OnStop = tools.Handler, tools.Close
}

// mcpAsk posts a message to /mcp.
func (s *service) mcpAsk(key, session, message string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader(message))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	a, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = a.Body.Close() })
	return a
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// TestMCP reaches the tools through the service: nobody without a key does, a key's
// role and rate count, bodies are bounded, and a stop ends what is standing.
func TestMCP(t *testing.T) {
	s := start(t, withMCP, limits(server.Limits{BodyBytes: 10_000}))
	for _, key := range []string{"", "gk1.acme.0000000000000000." + strings.Repeat("0", 64)} {
		if a := s.mcpAsk(key, "", initialize); a.StatusCode != 401 || a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("without a key that stands: got %d", a.StatusCode)
		}
	}
	a := s.mcpAsk(s.keys[tenantA][access.Verifier], "", initialize)
	session := a.Header.Get("Mcp-Session-Id")
	if a.StatusCode != 200 || session == "" {
		t.Fatalf("got %d", a.StatusCode)
	}
	const ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	if a := s.mcpAsk(s.keys[tenantA][access.Verifier], session, ready); a.StatusCode != 202 {
		t.Errorf("got %d", a.StatusCode)
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	tools, err := io.ReadAll(s.mcpAsk(s.keys[tenantA][access.Verifier], session, list).Body)
	if err != nil || !bytes.Contains(tools, []byte("verify_bundle")) || bytes.Contains(tools, []byte("admit_turns")) {
		t.Errorf("a verifier's tools: %s, %v", tools, err)
	}
	if a := s.mcpAsk(s.keys[tenantB][access.Admin], session, list); a.StatusCode != 404 {
		t.Errorf("another tenant in the session: got %d", a.StatusCode)
	}
	if a := s.mcpAsk(s.admin(), "", strings.Repeat(" ", 20_000)+initialize); a.StatusCode < 400 || a.StatusCode >= 500 {
		t.Errorf("a large body: got %d", a.StatusCode)
	}
	// A standing stream ends when the service stops.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.keys[tenantA][access.Verifier])
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", session)
	standing, err := s.Client().Do(r)
	if err != nil || standing.StatusCode != 200 {
		t.Fatalf("%v, %v", standing, err)
	}
	s.server.Stop()
	_, _ = io.Copy(io.Discard, standing.Body) // until it ends
	_ = standing.Body.Close()

	slow := start(t, withMCP, limits(server.Limits{Rate: 1e-9, Burst: 2}))
	for n, want := range []int{200, 200, 429} {
		if a := slow.mcpAsk(slow.admin(), "", initialize); a.StatusCode != want {
			t.Errorf("request %d: got %d, want %d", n, a.StatusCode, want)
		}
	}
	if a := start(t).mcpAsk("", "", initialize); a.StatusCode != 404 {
		t.Errorf("where there are no tools: got %d", a.StatusCode)
	}
}

// A faulty store fails where it is told to.
type faulty struct {
	store.Store
	key, head atomic.Pointer[error]
	appending func(ctx context.Context) error
	between   func()
}

func (f *faulty) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	if err := f.key.Load(); err != nil && len(ranges) == 1 && access.CheckID(string(ranges[0].Prefix)) == nil {
		return nil, *err
	}
	if f.between != nil && len(ranges) == 1 && ranges[0].After != nil { // erasures, which are asked for after the turns
		f.between()
	}
	return f.Store.Terms(ctx, tenant, ranges)
}

func (f *faulty) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	if err := f.head.Load(); err != nil {
		return 0, *err
	}
	return f.Store.Head(ctx, tenant)
}

func (f *faulty) Append(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (store.Receipt, error) {
	if f.appending != nil {
		if err := f.appending(ctx); err != nil {
			return store.Receipt{}, err
		}
	}
	return f.Store.Append(ctx, tenant, batches)
}

func newFaulty() *faulty { return &faulty{Store: inmem.Open(&inmem.Disk{}, inmem.Options{})} }

// TestStoreFaults makes sure that a fault of the store is never taken for the caller's.
func TestStoreFaults(t *testing.T) {
	f := newFaulty()
	s := startOver(t, f)
	s.expect(200, question{op: "startup"})
	fault := errors.New("disk on fire")
	f.key.Store(&fault)
	if p := s.refused(500, "internal", question{op: "listPolicies", key: s.admin()}); strings.Contains(p.Detail, "fire") {
		t.Error("internals were sent")
	}
	busy := store.ErrBusy
	f.key.Store(&busy)
	if a := s.ask(question{op: "listPolicies", key: s.admin()}); a.status != 503 || a.header.Get("Retry-After") != "1" {
		t.Errorf("got %d", a.status)
	}
	for fault, says := range map[error]string{store.ErrUnwritable: "nothing was changed", store.ErrLost: "nothing was changed", store.ErrUncertain: "repeating it is safe", projection.ErrWentBack: "restart the service"} {
		fault = fmt.Errorf("secret: %w", fault)
		f.key.Store(&fault)
		if p := s.refused(503, "store_unavailable", question{op: "listPolicies", key: s.admin()}); !strings.Contains(p.Detail, says) || strings.Contains(p.Detail, "secret") {
			t.Errorf("%v is told as %q", fault, p.Detail)
		}
		s.expect(200, question{op: "live"}) // a restart would not help, or is a person's to decide
	}
	gone := access.ErrUnavailable
	f.key.Store(&gone)
	s.refused(503, "keys_unavailable", question{op: "listPolicies", key: s.admin()})
	f.key.Store(nil)
	f.head.Store(&fault)
	s.expect(503, question{op: "ready"})
	s.expect(200, question{op: "startup"}) // it has started once
	s.expect(200, question{op: "live"})
	broken := store.ErrBroken
	f.key.Store(&broken)
	s.refused(503, "store_unavailable", question{op: "listPolicies", key: s.admin()})
	s.expect(503, question{op: "live"}) // only a restart helps
	if log := s.log.String(); !strings.Contains(log, "disk on fire") {
		t.Error("the cause is not in the log")
	}
}

// TestReadyForWrites makes sure that a store whose disk is full makes the service not ready,
// and asks for no restart, and that one that broke does.
func TestReadyForWrites(t *testing.T) {
	var refusal atomic.Pointer[error]
	s := start(t, func(c *server.Config) {
		c.Writable = func(context.Context) error {
			if err := refusal.Load(); err != nil {
				return *err
			}
			return nil
		}
	})
	for _, c := range []struct {
		err         error
		ready, live int
	}{
		{nil, 200, 200}, {store.ErrUnwritable, 503, 200}, {store.ErrBusy, 200, 200}, {nil, 200, 200}, {store.ErrBroken, 503, 503},
	} {
		refusal.Store(&c.err)
		a := s.expect(c.ready, question{op: "ready"})
		if says := strings.Contains(string(a.body), `"store":"takes no writes"`); says != (c.ready == 503) {
			t.Errorf("%v: /health/ready says %s", c.err, a.body)
		}
		s.expect(c.live, question{op: "live"})
	}
}

// TestAuthorizationTwice sends two keys, and looks for what a refused one claims.
func TestAuthorizationTwice(t *testing.T) {
	s := start(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/policies", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Authorization"] = []string{"Bearer " + s.admin(), "Bearer " + s.admin()}
	a, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if a.StatusCode != 401 {
		t.Errorf("got %d", a.StatusCode)
	}
	s.refused(401, "unauthenticated", question{op: "listPolicies", key: "gk1.acme.00000000000000aa." + strings.Repeat("0", 64)})
	if log := s.log.String(); !strings.Contains(log, `"claimed":"acme/00000000000000aa"`) || !strings.Contains(log, "no such API key") {
		t.Error("the log does not say which key was refused, and why")
	}
}

// TestAdmissionTimeouts lets the store take longer than a request may.
func TestAdmissionTimeouts(t *testing.T) {
	f := newFaulty()
	f.appending = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	s := startOver(t, f, limits(server.Limits{Timeout: 200 * time.Millisecond}))
	s.refused(504, "timeout", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(1)}}})
	p := s.refused(504, "timeout", question{op: "admitTurns", key: s.admin(), media: "application/x-ndjson", body: mustJSON(t, turn(1))})
	if p.Place != "lines 1 to 1" || p.Admitted == nil || *p.Admitted != 0 {
		t.Errorf("got %+v", p)
	}
}

// TestWaitersLeave lets clients go away while they wait for a place.
func TestWaitersLeave(t *testing.T) {
	g := newGate()
	s := startOver(t, g, limits(server.Limits{Concurrent: 1, Queue: 10, QueueWait: time.Hour}))
	q := question{op: "listConversations", key: s.admin()}
	var wg sync.WaitGroup
	wg.Go(func() { s.expect(200, q) })
	<-g.entered
	ctx, leave := context.WithCancel(t.Context())
	for range 5 {
		wg.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/policies", nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+s.admin())
			if a, err := s.Client().Do(r); err == nil {
				_ = a.Body.Close()
				t.Errorf("got %d", a.StatusCode)
			}
		})
	}
	waiting := func(n int) {
		for !strings.Contains(string(s.ask(question{op: "metrics"}).body), "graphkernel_queue_length "+strconv.Itoa(n)+"\n") {
		}
	}
	waiting(5)
	leave()
	waiting(0)
	close(g.open)
	wg.Wait()
}

// TestRetryAfter says how long a slow rate takes.
func TestRetryAfter(t *testing.T) {
	now := time.Unix(1_767_000_000, 0)
	s := start(t, limits(server.Limits{Rate: 0.1, Burst: 1}), func(c *server.Config) { c.Clock = func() time.Time { return now } })
	q := question{op: "listPolicies", key: s.admin()}
	s.expect(200, q)
	if a := s.expect(429, q); a.header.Get("Retry-After") != "10" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
}

// TestLengths announces too much, and sends too little.
func TestLengths(t *testing.T) {
	s := start(t, limits(server.Limits{BodyBytes: 100_000}))
	addr, stop := s.serve(t, nil)
	head := "POST /api/verify_bundle HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer " + s.admin() + "\r\nContent-Type: application/json\r\nContent-Length: "
	r, err := http.ReadResponse(bufio.NewReader(dial(t, addr, head+"100001\r\n\r\n")), nil) // nothing of it is sent
	if err != nil || r.StatusCode != 413 {
		t.Fatalf("got %v, %v", r, err)
	}
	for _, sent := range []int{10, 80_000} {
		c := dial(t, addr, head+"90000\r\n\r\n"+strings.Repeat(" ", sent))
		if half, ok := c.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
			t.Fatal("no half close")
		}
		if r, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			if r.StatusCode == 200 {
				t.Errorf("%d of 90000 bytes were judged", sent)
			}
			_ = r.Body.Close()
		}
	}
	began := time.Now() // the first body is waited for, but not by a service that stops
	if err := stop(); err != nil || time.Since(began) > 15*time.Second {
		t.Errorf("the stop took %s, %v", time.Since(began), err)
	}
}

// TestEventsBetween admits turns between the two look-ups of a stream: no event is
// jumped over. And erases more than is read at once.
func TestEventsBetween(t *testing.T) {
	f := newFaulty()
	s := startOver(t, f)
	s.chain(s.admin(), 1)
	var turns []any
	for n := 2; n <= 450; n++ {
		turns = append(turns, turn(n, 1))
	}
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": turns}})
	for n := 2; n <= 451-1; n++ {
		if _, err := s.kernel.Turns().Erase(t.Context(), tenantA, mustTurn(t, n), "asked for"); err != nil {
			t.Fatal(err)
		}
	}
	admitted, busy := atomic.Int64{}, atomic.Bool{}
	f.between = func() { // a turn, and an erasure after it, which asks for what comes after a place itself
		if !busy.CompareAndSwap(false, true) {
			return
		}
		defer busy.Store(false)
		n := int(admitted.Add(1)) + 1000
		if n > 1030 {
			return
		}
		if _, err := s.kernel.Turns().Admit(context.Background(), tenantA, []dag.Draft{{
			ID: mustTurn(t, n), Conversation: dag.ConversationID{9}, Role: dag.RoleUser, Author: "human:guest", Content: fmt.Sprint("x ", n), CreatedAt: dag.Time(n),
		}}); err != nil {
			t.Error(err)
		}
		if _, err := s.kernel.Turns().Erase(context.Background(), tenantA, mustTurn(t, n), "asked for"); err != nil {
			t.Error(err)
		}
	}
	const want = 450 + 449 + 2*30
	r := s.stream(t.Context(), s.admin(), "0")
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 1<<20)
	last, of := 0, map[string]int{}
	for i, e := range events(t, in, want) {
		of[e.name]++
		seq, _, _ := strings.Cut(e.id, "-")
		n, err := strconv.Atoi(seq)
		if err != nil || n <= last {
			t.Fatalf("event %d has id %s, after number %d", i+1, e.id, last)
		}
		for number := last + 1; number < n; number++ { // of which no event is told
			quiet, err := s.kernel.Turns().Numbered(t.Context(), tenantA, dag.Seq(number)-1, 1)
			if err != nil || len(quiet) != 1 || quiet[0].Seq != dag.Seq(number) || !quiet[0].Quiet {
				t.Fatalf("event %d has id %s, after number %d: number %d was jumped over, %v, %v", i+1, e.id, last, number, quiet, err)
			}
		}
		last = n
	}
	if of[api.EventTurn] != 450+30 || of[api.EventErasure] != 449+30 {
		t.Errorf("events %v", of)
	}
	_ = r.Body.Close()
}

func mustDigest(t *testing.T, text string) dag.Digest {
	t.Helper()
	d, err := dag.ParseDigest(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustTurn(t testing.TB, n int) dag.TurnID {
	t.Helper()
	id, err := dag.ParseTurnID(turnID(n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestPagesByBytes reads turns whose text passes what one answer holds, and streams a
// batch of lines that does.
func TestPagesByBytes(t *testing.T) {
	if race.Enabled {
		t.Skip("much text and one goroutine: nothing for the race detector")
	}
	s := start(t, limits(server.Limits{PageBytes: 100_000}))
	var lines bytes.Buffer
	for n := 1; n <= 12; n++ {
		one := turn(n)
		one["content"] = strings.Repeat("x", 1_000_000)
		lines.Write(mustJSON(t, one))
		lines.WriteByte('\n')
	}
	var receipt api.Receipt
	s.expect(200, question{op: "admitTurns", key: s.admin(), media: "application/x-ndjson", body: lines.Bytes()}).decode(t, &receipt)
	if receipt.Admitted != 12 {
		t.Errorf("got %+v", receipt)
	}
	seen, cursor := 0, url.Values{}
	for pages := 0; ; pages++ {
		var page api.ConversationTurns
		s.expect(200, question{op: "getConversation", key: s.admin(), path: map[string]string{"id": conversationID(1)}, query: cursor}).decode(t, &page)
		seen += len(page.Turns)
		if page.Next == "" {
			if seen != 12 || pages < 11 {
				t.Errorf("%d turns in %d pages", seen, pages+1)
			}
			return
		}
		if len(page.Turns) > 2 {
			t.Fatalf("%d turns in one page", len(page.Turns))
		}
		cursor.Set("after", page.Next)
	}
}
