package cluster

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/kernel"
)

// TestFailover kills the primary and all its backends under load, promotes the
// standby that every commit waited for, and restarts no graphkernel. What was acknowledged
// is there, what was handed out verifies and replays, and the history, with the
// failover in it, is one that a single process could have given.
func TestFailover(t *testing.T) {
	primary := pgtest.Run(t, pgtest.Options{})
	if err := primary.CreateDatabase(t.Context(), "kernel", ""); err != nil {
		t.Fatal(err)
	}
	standby := primary.RunStandby(t, pgtest.Options{})
	if err := primary.Synchronous(t.Context(), standby.Name()); err != nil {
		t.Fatal(err)
	}
	both := (&url.URL{
		Scheme: "postgres", User: url.User("postgres"), Path: "/kernel",
		Host:     fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d", primary.Port(), standby.Port()),
		RawQuery: "sslmode=disable&target_session_attrs=read-write",
	}).String()
	h := newHouse(t, both)
	var services []*client.Client
	for range processes {
		services = append(services, h.serve())
	}
	l := newLoad(t, services)
	half := scaled(500)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { l.run(2*half, stop) })
	defer func() {
		select {
		case <-stop:
		default:
			close(stop) // the test ends early
		}
		wg.Wait()
	}()
	for l.admitted.Load()+l.cut.Load() < half {
		if t.Failed() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	handed := l.handed()

	killed := time.Now()
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	gone := time.Since(killed)
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	promoted := time.Since(killed)
	recovered := l.recovery(killed)
	wg.Wait()
	t.Logf("the primary was gone after %v, the standby promoted after %v; the processes acknowledged turns again after %v",
		gone.Round(time.Millisecond), promoted.Round(time.Millisecond), recovered)
	l.check(2 * half)
	l.lost(services[0])
	l.replay(handed)
	checkStore(t, both)
}

// handed returns the bundles that were handed out up to now.
func (l *load) handed() []client.Bundle {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bundles[:len(l.bundles):len(l.bundles)]
}

// recovery admits a turn through each process, beside the load, and says how
// long after a moment each was acknowledged.
func (l *load) recovery(since time.Time) (after []time.Duration) {
	l.t.Helper()
	after = make([]time.Duration, len(l.processes))
	var wg sync.WaitGroup
	for p, process := range l.processes {
		wg.Go(func() {
			d := dag.Draft{
				ID: dag.ExternalTurnID("recovery", fmt.Sprint(p)), Conversation: dag.ExternalConversationID("recovery", "0"),
				Role: dag.RoleUser, CreatedAt: 1, Author: "human:guest", Content: "are you there?",
			}
			from := l.now()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				receipt, err := process.Turns().Admit(l.t.Context(), []dag.Draft{d})
				if err == nil {
					after[p] = time.Since(since).Round(time.Millisecond)
					a := answer{seq: dag.Seq(receipt.Head)}
					if receipt.Admitted == 0 {
						a.seq = l.number(process, d.ID)
					}
					l.record(len(l.processes)*clients+p, call{conversations, p}, a, from, l.now())
					return
				}
				if !passes(err) || time.Now().After(deadline) {
					l.t.Errorf("process %d has not recovered: %v", p, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return after
}

// lost looks for turns that were acknowledged and slices that were handed out, and are
// not there.
func (l *load) lost(process *client.Client) {
	l.t.Helper()
	turns := 0
	for _, o := range l.history {
		c, a := o.Input.(call), o.Output.(answer)
		if c.turn == noTurn || c.conversation == conversations {
			continue
		}
		turns++
		stored, err := process.Turns().Get(l.t.Context(), turnID(c.conversation, c.turn))
		if err != nil || dag.Seq(stored.Seq) != a.seq {
			l.t.Errorf("turn %d of conversation %d was acknowledged as number %d and is now %d, %v", c.turn, c.conversation, a.seq, stored.Seq, err)
		}
	}
	recorded := map[string]bool{}
	for issued, err := range process.Slices().All(l.t.Context()) {
		if err != nil {
			l.t.Fatal(err)
		}
		recorded[issued.BundleSHA256.String()] = true
	}
	for _, b := range l.bundles {
		if !recorded[b.SHA256.String()] {
			l.t.Errorf("slice %s was handed out and is not on record", b.Claim.Provenance.SliceID)
		}
	}
	if turns == 0 || len(l.bundles) == 0 {
		l.t.Errorf("looked for %d turns and %d slices", turns, len(l.bundles))
	}
}

// replay verifies each bundle and replays it, through each process.
func (l *load) replay(bundles []client.Bundle) {
	l.t.Helper()
	type job struct {
		bundle  client.Bundle
		process int
	}
	var jobs []job
	known := map[dag.Digest]bool{}
	for _, b := range bundles {
		if known[b.SHA256] {
			continue
		}
		known[b.SHA256] = true
		for p := range l.processes {
			jobs = append(jobs, job{b, p})
		}
	}
	var identical atomic.Int64
	each(l.t.Context(), jobs, func(ctx context.Context, j job) {
		process := l.processes[j.process]
		verified, verdict, err := process.Slices().Verify(ctx, j.bundle.Bytes)
		if err != nil || !verified.OK() {
			l.t.Errorf("process %d: slice %s does not verify: %v, %s", j.process, j.bundle.Claim.Provenance.SliceID, err, verdict.Reason)
			return
		}
		replay, err := process.Slices().Replay(ctx, j.bundle.Bytes)
		if err != nil || replay.Outcome != string(kernel.Identical) {
			l.t.Errorf("process %d: slice %s as of %d replays as %q: %v, %s", j.process, j.bundle.Claim.Provenance.SliceID, j.bundle.Claim.AsOf, replay.Outcome, err, replay.Reason)
			return
		}
		identical.Add(1)
	})
	l.t.Logf("%d bundles of before verified and gave the same bytes, through each of %d processes", identical.Load()/int64(len(l.processes)), len(l.processes))
	if identical.Load() == 0 {
		l.t.Error("no bundle was replayed")
	}
}
