package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// An event is one message of a stream.
type event struct{ id, name, data string }

// events reads n messages of a stream.
func events(t *testing.T, in *bufio.Scanner, n int) []event {
	t.Helper()
	var list []event
	var e event
	for len(list) < n && in.Scan() {
		field, value, _ := strings.Cut(in.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				list = append(list, e)
			}
			e = event{}
		}
	}
	if len(list) < n {
		t.Fatalf("the stream ended after %d of %d events: %v", len(list), n, in.Err())
	}
	return list
}

func TestEvents(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	present := s.stream(ctx, s.admin(), "")
	all := s.stream(ctx, s.keys[tenantA][access.Auditor], "0")
	if got := present.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %q", got)
	}
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(3, 2)}}})
	s.cut(s.admin(), 3)
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(1)}, body: api.ErasureRequest{Reason: "asked for"}})
	s.chain(s.keys[tenantB][access.Admin], 5) // somebody else's

	fresh := events(t, bufio.NewScanner(present.Body), 3)
	whole := events(t, bufio.NewScanner(all.Body), 5)
	names := map[string]int{}
	for _, e := range whole {
		names[e.name]++
		if strings.Contains(e.data, "turn 1") {
			t.Errorf("an event holds text: %s", e.data)
		}
	}
	if names["turn"] != 3 || names["slice"] != 1 || names["erasure"] != 1 {
		t.Errorf("got %v", names)
	}
	var erased api.Event
	var admitted api.TurnEvent
	for _, e := range fresh {
		switch e.name {
		case "erasure":
			if err := json.Unmarshal([]byte(e.data), &erased); err != nil {
				t.Fatal(err)
			}
		case "turn":
			if err := json.Unmarshal([]byte(e.data), &admitted); err != nil {
				t.Fatal(err)
			}
		}
	}
	if erased.Turn.String() != turnID(1) || erased.Seq != 4 || admitted.ID != turnID(3) || admitted.Seq != 3 {
		t.Errorf("got %+v and %+v", erased, admitted)
	}
	// From every place the rest comes, once and in order.
	for i := range whole {
		r := s.stream(ctx, s.admin(), whole[i].id)
		for j, e := range events(t, bufio.NewScanner(r.Body), len(whole)-i-1) {
			if e.name == whole[i+1+j].name && e.data != whole[i+1+j].data && e.name != "slice" {
				t.Errorf("behind %s: got %+v, want %+v", whole[i].id, e, whole[i+1+j])
			}
		}
		_ = r.Body.Close()
	}
	for _, bad := range []string{"x", "-1", "1-", "1-2-3", "99999999999999999", "1 2", "99"} {
		r := s.stream(ctx, s.admin(), bad)
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("Last-Event-ID %q: got %d", bad, r.StatusCode)
		}
		_ = r.Body.Close()
	}
}

// TestEventsWhole asks what is believed as of the number that each event names: it is what the operation made, whole. As of the number of an event
// itself it is that or what there was before.
func TestEventsWhole(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 2)
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/s"}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := s.stream(ctx, s.admin(), "3-0")
	defer r.Body.Close()
	base := func(asOf uint64) (list []string) {
		t.Helper()
		var b api.BeliefBase
		s.expect(200, question{op: "getBeliefBase", key: s.admin(), query: values("space", "acme/s", "as_of", fmt.Sprint(asOf))}).decode(t, &b)
		for _, h := range b.Statements {
			list = append(list, h.Subject+" "+h.Object)
		}
		slices.Sort(list)
		return append(list, fmt.Sprint(b.AsOf))
	}
	states := [][]string{base(0)}
	for _, object := range []string{"b", "c"} {
		var o api.BeliefOutcome
		said := []api.BeliefStatement{{Subject: "api", Predicate: "port", Object: object}, {Subject: "db", Predicate: "port", Object: object}}
		s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{Space: "acme/s", Item: "kref://acme/s/ports.fact", Statements: said}}).decode(t, &o)
		states = append(states, base(uint64(o.Seq)))
		if now := base(0); !slices.Equal(now, states[len(states)-1]) {
			t.Errorf("as of %d, which the answer says: %q, and now %q", o.Seq, states[len(states)-1], now)
		}
	}
	var erased api.ErasedTurn
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(1)}, body: api.ErasureRequest{Reason: "asked for"}}).decode(t, &erased)
	several := 0
	for _, e := range events(t, bufio.NewScanner(r.Body), int(erased.Seq)-3) {
		var told struct {
			Seq  uint64 `json:"seq"`
			AsOf uint64 `json:"as_of"`
		}
		if err := json.Unmarshal([]byte(e.data), &told); err != nil || told.AsOf < told.Seq {
			t.Fatalf("%+v: %v", e, err)
		}
		if e.name == api.EventErasure {
			if told.AsOf != uint64(erased.AsOf) {
				t.Errorf("the event says %+v, and the answer %+v", told, erased)
			}
			continue
		}
		if got := base(told.AsOf); !slices.ContainsFunc(states[1:], func(state []string) bool { return slices.Equal(got, state) }) || got[len(got)-1] != fmt.Sprint(told.AsOf) {
			t.Errorf("event %s: as of %d %q is believed, after the operations %q", e.id, told.AsOf, got, states[1:])
		}
		if got := base(told.Seq); !slices.ContainsFunc(states, func(state []string) bool { return slices.Equal(got, state) }) {
			t.Errorf("event %s: as of %d %q is believed, and there were %q", e.id, told.Seq, got, states)
		}
		if told.AsOf > told.Seq {
			several++
		}
	}
	if several < 4 {
		t.Errorf("only %d events are inside of a change: this shows less than it should", several)
	}
}

// TestTaskEvent makes sure that the erasure of a task is an event, and that those after it come, too.
func TestTaskEvent(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 2)
	var made api.Context
	s.expect(200, question{op: "assembleContext", key: s.admin(), body: api.ContextRequest{Task: "secret words"}}).decode(t, &made)
	var erased, told api.TaskErased
	s.expect(200, question{op: "eraseTask", key: s.admin(), path: map[string]string{"slice_id": string(made.ContextID)}, body: api.ErasureRequest{Reason: "asked for"}}).decode(t, &erased)
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(3, 2)}}})
	r := s.stream(t.Context(), s.admin(), "0")
	defer r.Body.Close()
	names := map[string]int{}
	for _, e := range events(t, bufio.NewScanner(r.Body), 5) {
		if names[e.name]++; e.name == api.EventTask {
			if err := json.Unmarshal([]byte(e.data), &told); err != nil {
				t.Fatal(err)
			}
		}
	}
	if names["turn"] != 3 || names["slice"] != 1 || erased.Seq != 3 || told != erased {
		t.Errorf("got %v, and of the task %+v, want %+v", names, told, erased)
	}
}

// TestEventsWithoutLoss follows a stream that breaks off again and again while turns,
// slices and erasures come from many sides: every one arrives, and none twice.
func TestEventsWithoutLoss(t *testing.T) {
	s := start(t)
	const writers, each = 4, 60
	s.chain(s.admin(), 1)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := 100 + w*each + i
				s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(n, 1)}}})
				switch i % 3 {
				case 0:
					s.cut(s.admin(), n)
				case 1:
					s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(n)}, body: api.ErasureRequest{Reason: "x"}})
				}
			}
		})
	}
	want := 1 + writers*each + writers*each/3*2
	seen := map[string]int{}
	last, streams := "0", 0
	for total := 0; total < want; streams++ {
		ctx, cancel := context.WithCancel(t.Context())
		r := s.stream(ctx, s.admin(), last)
		in := bufio.NewScanner(r.Body)
		in.Buffer(nil, 1<<20)
		for range min(7+streams%5, want-total) {
			e := events(t, in, 1)[0]
			var numbered struct{ Seq, Number int }
			if err := json.Unmarshal([]byte(e.data), &numbered); err != nil {
				t.Fatal(err)
			}
			kind := "seq"
			if e.name == "slice" {
				kind = "slice"
			}
			seen[fmt.Sprint(kind, numbered.Seq, "/", numbered.Number)]++
			last = e.id
			total++
		}
		cancel()
		_ = r.Body.Close()
	}
	wg.Wait()
	if len(seen) != want || streams < 20 {
		t.Errorf("%d different events in %d streams, want %d", len(seen), streams, want)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", name, n)
		}
	}
}

// TestEventsRevoked revokes the key of an open stream.
func TestEventsRevoked(t *testing.T) {
	s := start(t)
	text, key, err := s.kernel.Keys().Create(t.Context(), tenantA, access.Auditor, "")
	if err != nil {
		t.Fatal(err)
	}
	r := s.stream(t.Context(), text, "")
	if _, err := s.kernel.Keys().Revoke(t.Context(), tenantA, key.ID); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(r.Body)
	for in.Scan() { // until the stream ends
	}
	_ = r.Body.Close()
}
