package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// two opens two stores on one database, as two processes would.
func two(t *testing.T) [2]*postgres.Store {
	t.Helper()
	url := pgstore.URL(t)
	var stores [2]*postgres.Store
	for i := range stores {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 8})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		stores[i] = s
	}
	return stores
}

// TestNoGap lets writers append to one tenant through two stores while readers look: who
// saw a head sees every number up to it, at once and ever after.
func TestNoGap(t *testing.T) {
	t.Parallel()
	stores := two(t)
	ctx := t.Context()
	const writers, appends, readers, conversations = 6, 40, 4, 3
	done := make(chan struct{})
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range appends {
				n := 1 + 3*(w*appends+i)
				if _, err := stores[w%2].Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(n, 1+i%3, w%conversations)}); err != nil {
					t.Error(err)
				}
				if i%7 == 6 {
					if _, err := storetest.Erase(ctx, stores[w%2], storetest.Tenant, storetest.Erasure(n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	looks := make([]int, readers)
	for r := range readers {
		reading.Go(func() {
			s := stores[r%2]
			var seen []dag.TurnID // by number less one; zero is an event
			for last := false; !last; looks[r]++ {
				select {
				case <-done:
					last = true
				default:
				}
				head, err := s.Head(ctx, storetest.Tenant)
				if err != nil {
					t.Error(err)
					return
				}
				now := make([]dag.TurnID, head)
				note := func(seq dag.Seq, id dag.TurnID) {
					if seq <= head {
						now[seq-1] = id
					}
				}
				if r < readers/2 {
					err = s.Scan(ctx, storetest.Tenant, 0, nil, func(r *store.Record) error { note(r.Seq, r.Turn.ID); return nil })
				} else {
					var parts []store.Part
					for c := range conversations {
						parts = append(parts, store.Part{Conversation: storetest.ConversationID(c)})
					}
					var seg store.Segment
					if seg, err = s.Segment(ctx, storetest.Tenant, parts); err == nil && seg.Head < head {
						err = fmt.Errorf("a segment of the head %d after the head %d", seg.Head, head)
					}
					for _, sk := range seg.Turns {
						note(sk.Seq, sk.ID)
					}
				}
				events, eventsErr := storetest.Events(ctx, s, storetest.Tenant, 0, 10_000)
				if err := errors.Join(err, eventsErr); err != nil {
					t.Error(err)
					return
				}
				taken := map[dag.Seq]bool{}
				for _, e := range events {
					taken[e.Seq] = true
				}
				for i, id := range now {
					if (id == dag.TurnID{}) != taken[dag.Seq(i+1)] {
						t.Errorf("at head %d number %d is turn %s, and an event: %v", head, i+1, id, taken[dag.Seq(i+1)])
						return
					}
				}
				if len(now) < len(seen) {
					t.Errorf("the head went from %d to %d", len(seen), len(now))
					return
				}
				for i, id := range seen {
					if now[i] != id {
						t.Errorf("number %d was turn %s and is %s", i+1, id, now[i])
						return
					}
				}
				seen = now
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for r, n := range looks {
		if n < 3 {
			t.Errorf("reader %d looked only %d times", r, n)
		}
	}
	if err := storetest.Check(ctx, stores[0], storetest.Tenant); err != nil {
		t.Error(err)
	}
}

// TestFirstWriters lets many make the same first writes of a tenant at once: one admits
// the turns, and for the others they exist.
func TestFirstWriters(t *testing.T) {
	t.Parallel()
	stores := two(t)
	const writers = 8
	chain := storetest.Chain(1, 5, 0)
	for round := range often(20) {
		tenant := dag.Tenant(fmt.Sprintf("tenant%d", round))
		start := make(chan struct{})
		var all sync.WaitGroup
		var mu sync.Mutex
		admitted := 0
		for w := range writers {
			all.Go(func() {
				<-start
				r, err := stores[w%2].Append(t.Context(), tenant, []store.Batch{chain})
				if err != nil || r.Admitted+r.Existing != len(chain) || r.Head != dag.Seq(len(chain)) {
					t.Errorf("%+v, %v", r, err)
				}
				mu.Lock()
				defer mu.Unlock()
				admitted += r.Admitted
			})
		}
		close(start)
		all.Wait()
		if admitted != len(chain) {
			t.Errorf("%d turns were admitted, want %d", admitted, len(chain))
		}
	}
}

// TestEraseAdopted erases a turn whose body was erased before it came here: the event
// that came with it is there.
func TestEraseAdopted(t *testing.T) {
	t.Parallel()
	s := pgstore.Open(t)
	want := storetest.Erased(3, 2)
	stretch := storetest.Stretch{Records: storetest.Records(1, nil, storetest.Chain(1, 2, 0)), Events: []erasures.Erasure{want}}
	if err := storetest.Adopt(t.Context(), s, storetest.Tenant, stretch); err != nil {
		t.Fatal(err)
	}
	again := storetest.Erasure(2)
	again.At++
	if got, err := storetest.Erase(t.Context(), s, storetest.Tenant, again); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// TestLine lets many write to one tenant whose row somebody else holds. They wait in line
// and not for connections: who reads, and who writes to another tenant, is not held up.
func TestLine(t *testing.T) {
	t.Parallel()
	url := pgstore.URL(t)
	s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 4, Timeout: 8 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 3, 0)}); err != nil {
		t.Fatal(err)
	}
	holder, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM tenants WHERE tenant = $1 FOR UPDATE`, string(storetest.Tenant)); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	busy, waiting := atomic.Int64{}, make(chan struct{}, 16)
	for i := range 16 {
		writers.Go(func() {
			waiting <- struct{}{}
			_, err := s.Append(t.Context(), storetest.Tenant, []store.Batch{{storetest.Arrival(10+i, 0, "late", 3)}})
			if errors.Is(err, store.ErrBusy) {
				busy.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	for range 16 {
		<-waiting
	}
	for i := range 50 {
		began := time.Now()
		if _, err := s.Head(t.Context(), "other"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), "other", []store.Batch{storetest.Chain(1, i+1, 0)}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 3*time.Second { // those who wait give up after four
			t.Fatalf("another tenant was held up for %s", took)
		}
	}
	writers.Wait()
	if busy.Load() != 16 {
		t.Errorf("%d of 16 writers heard that the store is busy", busy.Load())
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), storetest.Tenant, []store.Batch{{storetest.Arrival(30, 0, "late", 3)}}); err != nil {
		t.Errorf("after the row was free: %v", err)
	}
}
