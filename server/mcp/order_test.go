package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/store"
)

// randomCalls are calls of tools on few entities, so that almost every one depends on those before it.
func randomCalls(r *rand.Rand, n int) []string {
	name := func() string { return fmt.Sprintf(`"e%d"`, r.IntN(3)) }
	word := func() string { return fmt.Sprintf(`"w%d"`, r.IntN(3)) }
	list := make([]string, n)
	for i := range list {
		var tool, arguments string
		switch r.IntN(8) {
		case 0, 1:
			tool, arguments = "create_entities", `{"entities":[{"name":`+name()+`,"entityType":`+word()+`,"observations":[`+word()+`]}]}`
		case 2:
			tool, arguments = "add_observations", `{"observations":[{"entityName":`+name()+`,"contents":[`+word()+`,`+word()+`]}]}`
		case 3:
			tool, arguments = "create_relations", `{"relations":[{"from":`+name()+`,"to":`+name()+`,"relationType":`+word()+`}]}`
		case 4:
			tool, arguments = "delete_entities", `{"entityNames":[`+name()+`]}`
		case 5:
			tool, arguments = "delete_observations", `{"deletions":[{"entityName":`+name()+`,"observations":[`+word()+`]}]}`
		case 6:
			tool, arguments = "delete_relations", `{"relations":[{"from":`+name()+`,"to":`+name()+`,"relationType":`+word()+`}]}`
		case 7:
			tool, arguments = "read_graph", `{}`
		}
		list[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, i, tool, arguments)
	}
	return append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_graph","arguments":{}}}`, n))
}

// answersOf reads one answer for each call, in any order, and returns them by their ids.
func answersOf(t *testing.T, calls int, read func() rpc) []string {
	t.Helper()
	list := make([]string, calls)
	for range calls {
		m := read()
		n, ok := m.ID.(float64)
		if !ok || list[int(n)] != "" {
			t.Fatalf("an answer to %v, once more or to none", m.ID)
		}
		list[int(n)] = fmt.Sprint(string(m.Result), m.Error)
	}
	return list
}

// waitedFor makes calls one by one, each when the one before it is answered: what the order means.
func waitedFor(t *testing.T, calls []string) []string {
	t.Helper()
	in, out, end := raw(t, New(testKernel(t), Options{Tools: every(t)}))
	list := make([]string, len(calls))
	for i, c := range calls {
		fmt.Fprintln(in, c)
		m := next(t, out)
		list[i] = fmt.Sprint(string(m.Result), m.Error)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	return list
}

// asOneByOne sends random calls of many sessions at once. Every answer is that of the same calls one by one.
func asOneByOne(t *testing.T, sessions, short, calls int, atOnce func(*testing.T, *Server, []string) []string) {
	t.Helper()
	if testing.Short() {
		sessions = short
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for n := range sessions {
		calls := randomCalls(rand.New(rand.NewPCG(seed, uint64(n))), calls)
		got := atOnce(t, New(testKernel(t), Options{Tools: every(t)}), calls)
		if want := waitedFor(t, calls); !slices.Equal(got, want) {
			t.Fatalf("session %d: the answers to\n%s\nare\n%s\nand one by one\n%s", n, strings.Join(calls, "\n"), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestOrderOfLines sends calls over stdio without waiting for an answer.
func TestOrderOfLines(t *testing.T) {
	t.Parallel()
	asOneByOne(t, 1000, 15, 12, func(t *testing.T, s *Server, calls []string) []string {
		in, out, end := raw(t, s)
		go fmt.Fprintln(in, strings.Join(calls, "\n"))
		got := answersOf(t, len(calls), func() rpc { return next(t, out) })
		if err := end(); err != nil {
			t.Fatal(err)
		}
		return got
	})
}

// An httpSession sends messages to a handler as requests of one session, and knows when each has arrived.
type httpSession struct {
	t       *testing.T
	s       *Server
	handler http.Handler
	id      string
}

func openHTTP(t *testing.T, s *Server) *httpSession {
	t.Helper()
	h := &httpSession{t: t, s: s, handler: s.Handler(identify)}
	w := h.send(t.Context(), initialize)
	if h.id = w.Header().Get(sessionHeader); h.id == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	h.send(t.Context(), initialized)
	return h
}

func (h *httpSession) send(ctx context.Context, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set(whoHeader, "default agent k1")
	r.Header.Set(ticketHeader, "1") // somebody else's
	if h.id != "" {
		r.Header.Set(sessionHeader, h.id)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w
}

// arrive sends a message, and returns when it has its place in the order.
func (h *httpSession) arrive(ctx context.Context, body string, answers chan<- rpc) {
	q := h.s.sessions.queueOf(h.id)
	given := func() <-chan struct{} {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.last
	}
	before := given()
	go func() {
		w := h.send(ctx, body)
		var m rpc
		for line := range bytes.Lines(w.Body.Bytes()) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && json.Unmarshal(data, &m) == nil && m.ID != nil {
				break
			}
		}
		answers <- m
	}()
	for given() == before {
		runtime.Gosched()
	}
}

// TestOrderOfRequests sends calls over HTTP, where the order is that in which requests arrive within a session.
func TestOrderOfRequests(t *testing.T) {
	t.Parallel()
	asOneByOne(t, 1000, 8, 8, func(t *testing.T, s *Server, calls []string) []string {
		h := openHTTP(t, s)
		defer s.Close()
		answers := make(chan rpc, len(calls))
		for _, c := range calls {
			h.arrive(t.Context(), c, answers)
		}
		return answersOf(t, len(calls), func() rpc { return <-answers })
	})
}

// TestBesideASlowCall answers a ping while a call is at work, takes a call back that waits for it, and makes the next one wait for both.
func TestBesideASlowCall(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	f := &faulty{Store: memoryStore(t), fail: func() error {
		entered <- struct{}{}
		<-leave
		return store.ErrNotFound
	}}
	in, out, end := raw(t, New(kernelOver(t, f), Options{Tools: every(t)}))
	call := func(id, tool, arguments string) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
	}
	call("slow", "cut_slice", `{"anchor":"`+turnID(1)+`"}`)
	<-entered
	call("cancelled", "create_entities", `{"entities":[{"name":"gone","entityType":"x","observations":[]}]}`)
	call("last", "read_graph", `{}`)
	fmt.Fprintln(in, ping)
	if m := next(t, out); m.ID != "ping" {
		t.Fatalf("beside a slow call the first answer is to %v", m.ID)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"cancelled"}}`)
	if m := next(t, out); m.ID != "cancelled" || m.Error == nil && !strings.Contains(string(m.Result), `"isError":true`) {
		t.Fatalf("after a cancellation the answer is to %v: %s", m.ID, m.Result)
	}
	close(leave)
	for range 2 { // an answer may be written before that of the call before
		if m := next(t, out); m.ID != "slow" && (m.ID != "last" || m.Error != nil || strings.Contains(string(m.Result), "gone")) {
			t.Errorf("the answer is to %v: %s, %+v", m.ID, m.Result, m.Error)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestTooManyQueued refuses calls beyond the bound, and takes calls again when others are answered.
func TestTooManyQueued(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	f := &faulty{Store: memoryStore(t), fail: func() error {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-leave
		return store.ErrNotFound
	}}
	in, out, end := raw(t, New(kernelOver(t, f), Options{Tools: every(t)}))
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"cut_slice","arguments":{"anchor":"`+turnID(1)+`"}}}`)
	<-entered
	list := func(id int) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_policies","arguments":{}}}`+"\n", id)
	}
	for n := range MaxQueued {
		list(n + 1)
	}
	if m := next(t, out); m.ID != float64(MaxQueued) || m.Error == nil || !strings.Contains(m.Error.Message, "1000 calls") {
		t.Fatalf("the first answer is to %v: %+v", m.ID, m.Error)
	}
	close(leave)
	answersOf(t, MaxQueued, func() rpc { return next(t, out) })
	list(7)
	if m := next(t, out); m.ID != 7.0 || m.Error != nil {
		t.Errorf("the answer is to %v: %+v", m.ID, m.Error)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestQueue lets tickets wait, be given up while they wait, and be done, in any order: turns come one after the other, in the order of the tickets.
func TestQueue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var q queue
		const all = 12
		turns := make(chan int, all)
		step := make(chan struct{})
		var want []int
		ended := make(chan struct{}, all)
		tickets := make([]*ticket, all)
		for n := range all {
			tickets[n] = q.enter()
			ticket := tickets[n]
			ctx, cancel := context.WithCancel(t.Context())
			if n > 0 && r.IntN(3) == 0 {
				cancel()
			} else {
				want = append(want, n)
			}
			go func() {
				defer func() { cancel(); ended <- struct{}{} }()
				defer ticket.done()
				if ticket.wait(ctx) == nil {
					turns <- n
					<-step
				}
			}()
		}
		for range all - len(want) { // those that are given up
			<-ended
		}
		for i, n := range want {
			if got := <-turns; got != n {
				t.Fatalf("turn %d is that of ticket %d, want %d", i, got, n)
			}
			for _, later := range tickets[n+1:] {
				select {
				case <-later.before:
					t.Fatalf("a ticket behind %d has its turn beside it", n)
				default:
				}
			}
			step <- struct{}{}
		}
		for range want {
			<-ended
		}
		if q.size != 0 {
			t.Fatalf("%d tickets are left", q.size)
		}
	}
}

// TestTicketsAreDropped leaves nothing behind of calls that no handler took: unknown methods, tools and bodies that are no messages.
func TestTicketsAreDropped(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: selected(t, "facts")})
	h := openHTTP(t, s)
	defer s.Close()
	for _, body := range []string{`{`, ping, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no_such_tool"}}`, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"read_graph"}}`} {
		h.send(t.Context(), body)
	}
	in, out, end := raw(t, s)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no_such_tool"}}`)
	next(t, out)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	s.tickets.all.Range(func(id, _ any) bool {
		t.Errorf("ticket %v is left", id)
		return true
	})
	if q := s.sessions.queueOf(h.id); q.size != 0 {
		t.Errorf("%d tickets are in the queue", q.size)
	}
}
