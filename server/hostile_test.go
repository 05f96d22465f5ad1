package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/server"
)

// dial opens a connection and writes to it.
func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSlowBodiesHoldNoPlace fills a service with requests whose bodies do not come,
// and with streams of lines that say nothing. Others are served meanwhile.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	s := start(t, limits(server.Limits{Concurrent: 2, Queue: 1, QueueWait: time.Millisecond, Timeout: time.Minute}))
	addr, stop := s.serve(t, nil)
	head := " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + s.keys[tenantB][access.Agent] + "\r\nContent-Length: 1000000\r\nContent-Type: application/"
	var slow []net.Conn
	for range 8 {
		slow = append(slow, dial(t, addr, "POST /api/turns"+head+"x-ndjson\r\n\r\n\n"), dial(t, addr, "POST /api/verify_bundle"+head+"json\r\n\r\nhalf"))
	}
	for range 50 {
		s.expect(200, question{op: "listPolicies", key: s.admin()})
	}
	for s.opened() < 8 { // the streams are open, and hold no place
	}
	s.expect(200, question{op: "listPolicies", key: s.admin()})
	for _, c := range slow {
		_ = c.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// opened counts open streams.
func (s *service) opened() (n int) {
	s.t.Helper()
	for line := range strings.Lines(string(s.ask(question{op: "metrics"}).body)) {
		if _, err := fmt.Sscanf(line, "graphkernel_open_streams %d", &n); err == nil {
			return n
		}
	}
	s.t.Fatal("no count of streams")
	return 0
}

// TestBodiesBudget holds more bytes of bodies than there is room for.
func TestBodiesBudget(t *testing.T) {
	s := start(t, limits(server.Limits{BodiesBytes: 1_200_000}))
	addr, stop := s.serve(t, nil)
	head := "POST /api/verify_bundle HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + s.admin() + "\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
	a := dial(t, addr, head+strings.Repeat(" ", 230_000))
	b := dial(t, addr, head+strings.Repeat(" ", 230_000))
	// One of the two is refused, whichever came second.
	answers := make(chan int, 2)
	for _, c := range []net.Conn{a, b} {
		go func() {
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				answers <- 0
				return
			}
			answers <- r.StatusCode // its body is not closed, which would wait for the connection's end
		}()
	}
	if got := <-answers; got != http.StatusServiceUnavailable {
		t.Errorf("got %d", got)
	}
	s.expect(200, question{op: "verifyBundle", key: s.admin(), body: strings.Repeat(" ", 50_000)})
	s.expect(200, question{op: "verifyBundle", key: s.keys[tenantB][access.Verifier], body: strings.Repeat(" ", 290_000)}) // another key's share is its own
	_ = a.Close()
	_ = b.Close()
	<-answers
	for { // what was held is given back
		if got := s.ask(question{op: "verifyBundle", key: s.admin(), body: strings.Repeat(" ", 290_000)}).status; got == 200 {
			break
		}
	}
	_ = stop()
}

// TestLinesBudget streams lines that are longer than a key's share, and more of short
// ones than it.
func TestLinesBudget(t *testing.T) {
	s := start(t, limits(server.Limits{BodiesBytes: 1_200_000}))
	const media = "application/x-ndjson"
	long := turn(1)
	long["content"] = strings.Repeat("x", 400_000)
	p := s.refused(503, "overloaded", question{op: "admitTurns", key: s.admin(), media: media, body: mustJSON(t, long)})
	if p.Admitted == nil || *p.Admitted != 0 {
		t.Errorf("got %+v", p)
	}
	var lines bytes.Buffer
	for n := range 4_000 {
		lines.Write(mustJSON(t, turn(n+1)))
		lines.WriteByte('\n')
	}
	if lines.Len() < 900_000 {
		t.Fatalf("only %d bytes", lines.Len())
	}
	s.expect(200, question{op: "admitTurns", key: s.admin(), media: media, body: lines.Bytes()})
}

// TestWithheldTurns admits turns without text: to restore is an admin's.
func TestWithheldTurns(t *testing.T) {
	s := start(t)
	d := map[string]any{
		"id": turnID(1), "conversation": conversationID(1), "role": "user", "created_at": "2026-01-01T00:00:00Z",
		"redacted": true, "body_digest": strings.Repeat("ab", 32), "phase": "synthesis", "salience": 1,
	}
	q := question{op: "admitTurns", key: s.keys[tenantA][access.Agent], body: map[string]any{"turns": []any{d}}}
	s.refused(403, "forbidden", q)
	line := q
	line.body, line.media = mustJSON(t, d), "application/x-ndjson"
	s.refused(403, "forbidden", line)
	q.key = s.admin()
	s.expect(200, q)
}

// TestManyValues sends a body of more values than any honest one has.
func TestManyValues(t *testing.T) {
	s := start(t)
	operations := []string{"verifyToken", "admitTurns", "cutSlices"}
	if race.Enabled {
		operations = operations[1:2]
	}
	for _, op := range operations {
		s.refused(413, "too_large", question{op: op, key: s.admin(), body: `{"a":[` + strings.Repeat("0,", 1_100_000) + "0]}"})
	}
	s.refused(413, "too_large", question{op: "admitTurns", key: s.admin(), media: "application/x-ndjson", body: `{"a":[` + strings.Repeat("0,", 40_000) + "0]}"})
}

// TestSliceBatchBytes asks for more in one batch than one answer may hold.
func TestSliceBatchBytes(t *testing.T) {
	s := start(t, limits(server.Limits{BatchBytes: 100_000}))
	long := turn(1)
	long["content"] = strings.Repeat("x", 30_000)
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{long}}})
	var r api.BatchResults
	requests := api.SliceRequests{}
	for range 10 {
		requests.Requests = append(requests.Requests, api.SliceRequest{Anchor: turnID(1)})
	}
	a := s.expect(200, question{op: "cutSlices", key: s.admin(), body: requests})
	a.decode(t, &r)
	whole := 0
	for _, result := range r.Results {
		switch {
		case result.Bundle != nil:
			whole++
		case result.Status != 413 || result.Problem.Code != "too_large":
			t.Errorf("got %+v", result)
		}
	}
	if whole != 3 || len(a.body) > 120_000 {
		t.Errorf("%d bundles, %d bytes", whole, len(a.body))
	}
}

// TestRateCountsRefusals makes sure that a role's limits are no way around the rate.
func TestRateCountsRefusals(t *testing.T) {
	s := start(t, limits(server.Limits{Rate: 1e-9, Burst: 3}))
	statuses := map[int]int{}
	for range 10 {
		statuses[s.ask(question{op: "listConversations", key: s.keys[tenantA][access.Verifier]}).status]++
	}
	if statuses[403] != 3 || statuses[429] != 7 {
		t.Errorf("got %v", statuses)
	}
}

// TestHalfALine lets a stream of lines fall silent in the middle of one.
func TestHalfALine(t *testing.T) {
	s := start(t, limits(server.Limits{Timeout: 50 * time.Millisecond}))
	addr, stop := s.serve(t, nil)
	c := dial(t, addr, "POST /api/turns HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+s.admin()+"\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n"+`{"id":"0b5e`)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body) // what came is enough for the message
	_ = r.Body.Close()
	if r.StatusCode != http.StatusRequestTimeout || !bytes.Contains(body, []byte("slow_client")) {
		t.Errorf("got %d %s", r.StatusCode, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// busyStream admits much and opens a stream of it from the beginning, which nobody
// reads.
func busyStream(t *testing.T, s *service, addr, key string) net.Conn {
	t.Helper()
	for i := range 12 {
		var turns []any
		for j := range 1000 {
			turns = append(turns, turn(1+1000*i+j))
		}
		s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": turns}})
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // a hint
	if _, err := io.WriteString(c, "GET /api/events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 0\r\nAuthorization: Bearer "+key+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for s.opened() == 0 {
	}
	return c
}

// TestStopPassesSlowReaders stops a service whose events somebody does not read.
func TestStopPassesSlowReaders(t *testing.T) {
	s := start(t)
	addr, stop := s.serve(t, nil) // with a grace of ten seconds
	busyStream(t, s, addr, s.admin())
	started := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestBusyStreamsEnd revokes the key of a stream that always has something to send.
func TestBusyStreamsEnd(t *testing.T) {
	s := start(t)
	text, key, err := s.kernel.Keys().Create(t.Context(), tenantA, access.Auditor, "")
	if err != nil {
		t.Fatal(err)
	}
	s.chain(s.admin(), 2)
	r := s.stream(t.Context(), text, "0")
	defer func() { _ = r.Body.Close() }()
	writing, enough := context.WithCancel(t.Context())
	defer enough()
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 10; writing.Err() == nil; n++ {
			s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(n, 1)}}})
		}
	})
	if _, err := s.kernel.Keys().Revoke(t.Context(), tenantA, key.ID); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, r.Body); ended <- err }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the stream of a revoked key goes on")
	}
	enough()
	wg.Wait()
}

// TestDrainEnds stops a service while strangers open connections without end.
func TestDrainEnds(t *testing.T) {
	s := start(t)
	addr, stop := s.serve(t, nil)
	loading, enough := context.WithCancel(t.Context())
	defer enough()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for loading.Err() == nil {
				if c, err := net.Dial("tcp", addr); err == nil {
					_ = c.(*net.TCPConn).SetLinger(0)
					_ = c.Close()
				}
			}
		})
	}
	for !strings.Contains(string(s.ask(question{op: "live"}).body), "ok") {
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it still takes connections")
	}
	enough()
	wg.Wait()
}

// TestSpellings tries other spellings of the same request.
func TestSpellings(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 2)
	_, id := s.cut(s.admin(), 2)
	anchor := `{"anchor":"` + turnID(2) + `"}`
	for _, tc := range []struct {
		method, path, body string
		media              []string
		want               int
	}{
		{"GET", "/api/policies/default@1", "", nil, 200},
		{"GET", "/api/policies/default%401", "", nil, 200},
		{"GET", "/api/turns/%30b5e0000-0000-4000-8000-000000000001", "", nil, 200},
		{"GET", "/api/turns/" + turnID(1) + "%2f", "", nil, 400},
		{"GET", "/api/policies/", "", nil, 404},
		{"HEAD", "/health/live", "", nil, 200},
		{"HEAD", "/api/turns/" + turnID(1), "", nil, 200},
		{"HEAD", "/api/slice", "", nil, 405},
		{"POST", "/api/slices/" + id + "/replay", "", nil, 200},
		{"POST", "/api/slices/" + id + "/replay", " ", nil, 415},
		{"POST", "/api/slice", anchor, []string{`application/json; charset="utf-8"`}, 200},
		{"POST", "/api/slice", anchor, []string{"application/json;"}, 200},
		{"POST", "/api/slice", anchor, []string{"application/json", "application/x-ndjson"}, 415},
		{"POST", "/api/slice", anchor, []string{"application/json, application/json"}, 415},
		{"POST", "/api/slice", anchor, nil, 415},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, s.URL+tc.path, io.MultiReader(strings.NewReader(tc.body))) // of no length
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.admin())
		r.Header["Content-Type"] = tc.media
		a, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body) // shown if it is wrong
		_ = a.Body.Close()
		if a.StatusCode != tc.want || tc.method == "HEAD" && len(text) > 0 {
			t.Errorf("%s %s %q: got %d, want %d: %.300s", tc.method, tc.path, tc.media, a.StatusCode, tc.want, text)
		}
	}
}

// TestSlowReadersHoldNoPlace asks for long answers and does not read them.
func TestSlowReadersHoldNoPlace(t *testing.T) {
	s := start(t, limits(server.Limits{Concurrent: 2, Queue: 1, QueueWait: time.Millisecond, Timeout: time.Minute, BodiesBytes: 80 << 20}))
	addr, stop := s.serve(t, nil)
	long := turn(1)
	long["content"] = strings.Repeat("x", 8<<20)
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{long}}})
	body := mustJSON(t, api.SliceRequest{Anchor: turnID(1), Policy: "default@1"}) // which has no max_cost
	request := fmt.Sprintf("POST /api/slice HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.admin(), len(body), body)
	var slow []net.Conn
	for range 2 { // of more than 8 MiB each; a third passes the key's share of 20 MiB
		c := dial(t, addr, request)
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(c, status); err != nil || string(status) != "HTTP/1.1 200" {
			t.Fatalf("got %q, %v", status, err)
		}
		slow = append(slow, c)
	}
	for range 50 {
		s.expect(200, question{op: "listPolicies", key: s.keys[tenantB][access.Agent]})
	}
	if got := s.ask(question{op: "cutSlice", key: s.admin(), body: body}); got.status != 503 {
		t.Errorf("beyond the key's share: got %d", got.status)
	}
	for _, c := range slow {
		_ = c.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
