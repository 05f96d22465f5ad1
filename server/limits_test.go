package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// A gate is a store whose look-ups of policies wait until they are let through.
type gate struct {
	store.Store
	entered chan struct{}
	open    chan struct{}
}

func newGate() *gate {
	return &gate{inmem.Open(&inmem.Disk{}, inmem.Options{}), make(chan struct{}, 100), make(chan struct{})}
}

func (g *gate) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]store.Conversation, error) {
	g.entered <- struct{}{}
	select {
	case <-g.open:
		return g.Store.Conversations(ctx, tenant, after, limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func limits(l server.Limits) func(*server.Config) {
	return func(c *server.Config) {
		if l.Rate == 0 {
			l.Rate = -1
		}
		if l.AuthFailures == 0 {
			l.AuthFailures = -1
		}
		c.Limits = l
	}
}

func TestLimitBody(t *testing.T) {
	s := start(t, limits(server.Limits{BodyBytes: 5_000, LineBytes: 2_000, BatchTurns: 3}))
	long := turn(1)
	long["content"] = strings.Repeat("x", 6_000)
	s.refused(413, "too_large", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{long}}})
	// Without a length it is noticed on the way.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/verify_bundle", io.MultiReader(strings.NewReader(strings.Repeat(" ", 6_000))))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin())
	r.Header.Set("Content-Type", "application/json")
	a, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if a.StatusCode != 413 {
		t.Errorf("got %d", a.StatusCode)
	}
	if p := s.refused(413, "too_large", question{op: "admitTurns", key: s.admin(), media: "application/x-ndjson", body: strings.Repeat("y", 2_001)}); p.Place != "line 1" {
		t.Errorf("got %+v", p)
	}
	s.refused(413, "too_large", question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(1), turn(2), turn(3), turn(4)}}})
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(1), turn(2), turn(3)}}})
}

func TestLimitRate(t *testing.T) {
	now := time.Unix(1_767_000_000, 0)
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	s := start(t, func(c *server.Config) {
		c.Clock = clock
		c.Limits = server.Limits{Rate: 2, Burst: 3, AuthFailures: 1, Keys: 100}
	})
	q := question{op: "listPolicies", key: s.admin()}
	for range 3 {
		s.expect(200, q)
	}
	a := s.expect(429, q)
	if p := a.problem(t); p.Code != "rate_limited" || a.header.Get("Retry-After") != "1" {
		t.Errorf("got %+v, Retry-After %q", p, a.header.Get("Retry-After"))
	}
	s.expect(200, question{op: "listPolicies", key: s.keys[tenantA][access.Agent]}) // another key's rate is its own
	mu.Lock()
	now = now.Add(time.Second)
	mu.Unlock()
	s.expect(200, q)
	s.expect(200, q)
	s.expect(429, q)
	// Failures are limited by address, and never are in the way of a key that holds.
	bad := question{op: "listPolicies", key: "gk1.acme.0000000000000000." + strings.Repeat("0", 64)}
	s.expect(401, bad)
	s.expect(401, bad)
	s.expect(429, bad)
	s.expect(200, question{op: "listPolicies", key: s.keys[tenantB][access.Agent]})
}

// TestLimitConcurrent fills every place and the queue.
func TestLimitConcurrent(t *testing.T) {
	g := newGate()
	s := startOver(t, g, limits(server.Limits{Concurrent: 2, Queue: 1, QueueWait: time.Hour}))
	q := question{op: "listConversations", key: s.admin()}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { s.expect(200, q) })
	}
	<-g.entered
	<-g.entered
	wg.Go(func() { s.expect(200, q) }) // waits in the queue
	for !strings.Contains(string(s.ask(question{op: "metrics"}).body), "graphkernel_queue_length 1") {
	}
	a := s.expect(503, q)
	if p := a.problem(t); p.Code != "overloaded" || a.header.Get("Retry-After") == "" {
		t.Errorf("got %+v", p)
	}
	s.expect(200, question{op: "live"}) // health needs no place
	close(g.open)
	wg.Wait()
	s.expect(200, q)
}

func TestLimitQueueWait(t *testing.T) {
	g := newGate()
	s := startOver(t, g, limits(server.Limits{Concurrent: 1, Queue: 10, QueueWait: time.Millisecond}))
	q := question{op: "listConversations", key: s.admin()}
	var wg sync.WaitGroup
	wg.Go(func() { s.expect(200, q) })
	<-g.entered
	s.refused(503, "overloaded", q)
	close(g.open)
	wg.Wait()
}

func TestLimitTimeout(t *testing.T) {
	g := newGate()
	s := startOver(t, g, limits(server.Limits{Timeout: 20 * time.Millisecond}))
	s.refused(504, "timeout", question{op: "listConversations", key: s.admin()})
	close(g.open)
	s.expect(200, question{op: "listConversations", key: s.admin()})
}

func TestLimitStreams(t *testing.T) {
	s := start(t, limits(server.Limits{Streams: 2, StreamsTotal: 3}))
	ctx, cancel := context.WithCancel(t.Context())
	var open []*http.Response
	for range 2 {
		open = append(open, s.stream(ctx, s.admin(), ""))
	}
	if r := s.stream(ctx, s.admin(), ""); r.StatusCode != 429 {
		t.Errorf("a third stream: got %d", r.StatusCode)
	}
	open = append(open, s.stream(ctx, s.keys[tenantA][access.Auditor], ""))
	if r := s.stream(ctx, s.keys[tenantB][access.Auditor], ""); r.StatusCode != 429 {
		t.Errorf("one too many in all: got %d", r.StatusCode)
	}
	cancel()
	for _, r := range open {
		if r.StatusCode != 200 {
			t.Errorf("got %d", r.StatusCode)
		}
		_ = r.Body.Close()
	}
	for !strings.Contains(string(s.ask(question{op: "metrics"}).body), "graphkernel_open_streams 0") {
	}
	if r := s.stream(t.Context(), s.admin(), ""); r.StatusCode != 200 {
		t.Errorf("after the others were closed: got %d", r.StatusCode)
	}
}

// serve runs the server itself on a listener, with its own deadlines.
func (s *service) serve(t *testing.T, secure *tls.Config) (addr string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(ctx, l, secure, server.Stopping{Grace: 10 * time.Second}) }()
	return l.Addr().String(), sync.OnceValue(func() error { cancel(); return <-ended })
}

// TestConnections opens one connection more than the limit: it is closed at once, and there is
// room again when another ends.
func TestConnections(t *testing.T) {
	s := start(t, limits(server.Limits{Connections: 2}))
	addr, stop := s.serve(t, nil)
	open := func() (net.Conn, error) {
		t.Helper()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n") // the answer tells
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && r.StatusCode != http.StatusOK {
			t.Errorf("got %s", r.Status)
		}
		return c, err
	}
	first, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); err == nil {
		t.Error("a third connection was answered")
	}
	_ = first.Close()
	for { // until the server has seen it
		if _, err := open(); err == nil {
			break
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestSlowClients sends headers and bodies a little at a time.
func TestSlowClients(t *testing.T) {
	s := start(t, limits(server.Limits{HeaderTimeout: 500 * time.Millisecond, Timeout: 50 * time.Millisecond})) // headers that were sent arrive in time on a busy machine
	addr, stop := s.serve(t, nil)
	begin := func(text string) *bufio.Reader {
		t.Helper()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(c)
	}
	// Headers that never end: the connection is closed.
	if text, err := io.ReadAll(begin("GET /health/live HTTP/1.1\r\nHost: a\r\n")); err != nil || strings.Contains(string(text), "200 OK") {
		t.Errorf("got %q, %v", text, err)
	}
	head := "POST /api/verify_bundle HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + s.admin() + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\nhalf"
	r, err := http.ReadResponse(begin(head), nil)
	if err != nil || r.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("a body that does not come: got %v, %v", r, err)
	}
	_ = r.Body.Close()
	// A stream of lines has as long for each line, and what came whole stays.
	line := strings.ReplaceAll(string(mustJSON(t, turn(1))), "\n", "") + "\n"
	head = "POST /api/turns HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + s.admin() + "\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n" + line
	if r, err = http.ReadResponse(begin(head), nil); err != nil || r.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("a stream that stops: got %v, %v", r, err)
	}
	_ = r.Body.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestHostileHeaders sends what no client sends, and looks for a server that goes on
// serving, one answer each, and nothing of it in the log.
func TestHostileHeaders(t *testing.T) {
	s := start(t)
	addr, stop := s.serve(t, nil)
	tried := 0
	for _, headers := range []string{
		"Host: a\r\nHost: b\r\n", "Host: \x00\r\n", "Host: a\r\nX: " + strings.Repeat("y", 100<<10) + "\r\n", "Host: a\r\n" + strings.Repeat("A: b\r\n", 20_000),
		"Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n", "Host: a\r\nContent-Length: -1\r\n", "Host: a\r\nContent-Length: 99999999999999999999\r\n",
		"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n", "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", "Host: a\r\nExpect: 200-maybe\r\n",
		"Host: a\r\n folded: yes\r\n", "Host: a\r\nA b: c\r\n", "Host: a\r\nX: a\rb\r\n", "Host: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n",
		"Host: a\r\nX-Request-Id: a\"b{}\r\n", "Host: a\r\nX-Request-Id: " + strings.Repeat("i", 65) + "\r\n", "Host: a\r\nTraceparent: 00-zz-zz-zz\r\n", "Host: a\r\nX-Forwarded-For: 1.2.3.4, evil\r\n",
		"Host: a\r\nLast-Event-ID: -1\r\n", "Host: a\r\nContent-Type: application/json; charset=utf-7\r\n", "Host: a\r\nAccept-Encoding: gzip;q=x\r\n", "",
	} {
		for _, line := range []string{"GET /health/live", "POST /api/slice", "GET /api/events", "DELETE /api/turns/%00", "GET /api/turns/%2e%2e%2f", "GET //evil", "GET http://other/", "BREW /api/slice", "GET /api/turns/" + strings.Repeat("a", 20_000)} {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			_, _ = fmt.Fprintf(c, "%s HTTP/1.1\r\nConnection: close\r\n%s\r\n", line, headers) // the server may have enough of it
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err == nil {
				tried++
				if r.StatusCode >= 500 && r.StatusCode != http.StatusNotImplemented { // RFC 9112, section 6.1: of an unknown transfer coding
					t.Errorf("%.40q with %.40q: got %d", line, headers, r.StatusCode)
				}
				_ = r.Body.Close()
			}
			_ = c.Close()
		}
	}
	if tried < 150 {
		t.Errorf("only %d answers", tried)
	}
	s.expect(200, question{op: "live"})
	if log := s.log.String(); strings.Contains(log, "panic") || strings.Contains(log, `a\"b{}`) || strings.Contains(log, strings.Repeat("i", 65)) {
		t.Error("the log holds a panic, or what a caller put into it")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestProxies(t *testing.T) {
	forwarded := map[string]string{"X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.8"}
	s := start(t)
	s.expect(200, question{op: "listPolicies", key: s.admin(), header: forwarded})
	if strings.Contains(s.log.String(), "203.0.113") {
		t.Error("a forwarded address was believed though no proxy is trusted")
	}
	s = start(t, func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	s.expect(200, question{op: "listPolicies", key: s.admin(), header: forwarded})
	if !strings.Contains(s.log.String(), `"remote":"203.0.113.9"`) {
		t.Error("the trusted proxy's word was not taken")
	}
	s = start(t, func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	s.expect(200, question{op: "listPolicies", key: s.admin(), header: forwarded})
	if strings.Contains(s.log.String(), "203.0.113") {
		t.Error("an address that is no trusted proxy was believed")
	}
}

func TestCORS(t *testing.T) {
	preflight := func(s *service) http.Header {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.URL+"/api/slice", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		a, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a.Header
	}
	if h := preflight(start(t)); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("CORS is on by itself: %v", h)
	}
	on := start(t, func(c *server.Config) { c.CORS = []string{"https://app.example"} })
	if h := preflight(on); h.Get("Access-Control-Allow-Origin") != "https://app.example" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("got %v", h)
	}
	other := start(t, func(c *server.Config) { c.CORS = []string{"https://other.example"} })
	if h := preflight(other); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("got %v", h)
	}
}

// TestBodies tries what is no body.
func TestBodies(t *testing.T) {
	s := start(t)
	q := question{op: "cutSlice", key: s.admin(), body: `{"anchor":"x"}`}
	for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "multipart/form-data; boundary=x", "application/jsonx"} {
		q.media = media
		s.refused(415, "unsupported_media_type", q)
	}
	for _, media := range []string{"application/json", "Application/JSON; Charset=UTF-8", "application/json;charset=utf-8"} {
		q.media = media
		s.refused(404, "not_found", q)
	}
	q.media = ""
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, body := range []string{
		"", "{", "nul", `{"anchor":"x"} {}`, `{"anchor":"x","anchor":"x"}`, `{"anchor":"\ud800"}`, "{\"anchor\":\"\xff\"}", `{"anchor":01}`, `{'anchor':'x'}`, "\ufeff{}", `{"anchor":"x",}`, `{"anchor":NaN}`, deep,
	} {
		q.body = body
		s.refused(400, "malformed_json", q)
	}
	for _, body := range []string{"[]", "5", `"x"`, "null", "{}", `{"anchor":5}`, `{"anchor":""}`, `{"anchor":null}`, `{"Anchor":"x"}`, `{"anchor":"x","policy":""}`, `{"anchor":"x","as_of":1e99}`, `{"anchor":"x","as_of":9007199254740992}`} {
		q.body = body
		s.refused(400, "invalid_request", q)
	}
	for _, op := range []string{"admitTurns", "cutSlices", "verifyToken", "registerPolicy"} {
		for _, body := range []string{"", "{", deep} {
			s.refused(400, "malformed_json", question{op: op, key: s.admin(), body: body})
		}
	}
}

// TestShutdown stops the server while requests are at work: none is cut off, and the
// streams end.
func TestShutdown(t *testing.T) {
	g := newGate()
	s := startOver(t, g)
	addr, stop := s.serve(t, nil)
	s.URL = "http://" + addr
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.expect(200, question{op: "listConversations", key: s.admin()}) })
	}
	for range 4 {
		<-g.entered
	}
	stream := s.stream(t.Context(), s.admin(), "")
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	if _, err := io.Copy(io.Discard, stream.Body); err != nil { // the stream ends first
		t.Errorf("the stream was cut off: %v", err)
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped with requests at work: %v", err)
	default:
	}
	if log := s.log.String(); !strings.Contains(log, `"in_flight":5`) {
		t.Errorf("the log does not count four requests and a stream:\n%s", log)
	}
	close(g.open)
	wg.Wait()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("it still listens")
	}
}

// TestPanic makes a handler panic.
func TestPanic(t *testing.T) {
	g := &panicking{inmem.Open(&inmem.Disk{}, inmem.Options{})}
	s := startOver(t, g)
	p := s.refused(500, "internal", question{op: "listConversations", key: s.admin()})
	if strings.Contains(fmt.Sprint(p), "secret cause") {
		t.Error("internals were sent")
	}
	if log := s.log.String(); !strings.Contains(log, "secret cause") || !strings.Contains(log, p.RequestID) {
		t.Error("the cause is not in the log")
	}
	s.expect(200, question{op: "listPolicies", key: s.admin()})
}

type panicking struct{ store.Store }

func (*panicking) Conversations(context.Context, dag.Tenant, dag.ConversationID, int) ([]store.Conversation, error) {
	panic("secret cause")
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(text)
}

func TestRequestID(t *testing.T) {
	s := start(t)
	a := s.expect(200, question{op: "live", header: map[string]string{"X-Request-Id": "job-7.a_B"}})
	if got := a.header.Get("X-Request-Id"); got != "job-7.a_B" {
		t.Errorf("got %q", got)
	}
	seen := map[string]bool{}
	for range 100 {
		seen[s.ask(question{op: "live", header: map[string]string{"X-Request-Id": "not harmless"}}).header.Get("X-Request-Id")] = true
	}
	if len(seen) != 100 || seen["not harmless"] {
		t.Errorf("%d ids", len(seen))
	}
}
