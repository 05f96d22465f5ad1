//go:build unix

package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestKill ends a process with SIGKILL at every step of every write. Whatever it had
// sent up to then, the database holds all of the write or nothing.
func TestKill(t *testing.T) {
	t.Parallel()
	if race.Enabled {
		t.Skip("starts a process for each step, which is not watched")
	}
	for i, w := range storetest.Writes() {
		t.Run(w.Name, func(t *testing.T) {
			steps, err := storetest.Steps(harness(pgstore.URL(t)), w)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, n := range storetest.Sampled(t, len(steps)) {
				t.Run(fmt.Sprintf("%d %s", n, steps[n]), func(t *testing.T) { // gives its database back
					url := pgstore.URL(t)
					storetest.KillAt(t, url, i, n)
					if storetest.Reopened(t, harness(url), w, steps[n]) {
						kept++
					}
				})
			}
			if !testing.Short() && (kept == 0 || kept == len(steps)) {
				t.Errorf("of %d killed processes %d had finished their write; want some on each side of the commit", len(steps), kept)
			}
		})
	}
}

// child does what this process was started for by a test. It reports false in the parent.
func child() bool {
	if storetest.Killed(harness) {
		return true
	}
	return storetest.Hired(func(url string) (s store.Store, err error) {
		// The server may be killed while a child is about to open, and then refuses at once
		// until it has been started again.
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if s, err = harness(url).Open(nil); !errors.Is(err, store.ErrLost) || time.Now().After(deadline) {
				return s, err
			}
		}
	})
}

// TestKillAnywhere kills, at any moment, two processes that write to one server, or
// the server below them, which they survive. What any was told to be kept is there, and
// nothing is half there.
func TestKillAnywhere(t *testing.T) {
	t.Parallel()
	server := pgtest.Run(t, pgtest.Options{})
	if err := server.CreateDatabase(t.Context(), "kernel", ""); err != nil {
		t.Fatal(err)
	}
	url := server.URL("kernel")
	if _, err := postgres.Migrate(t.Context(), url, false); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := often(50)
	acknowledged, afterwards, recoveries := 0, 0, 0
	for round := range rounds {
		tenant := dag.Tenant(fmt.Sprintf("round%d", round))
		crews := []*storetest.Crew{storetest.Hire(t, url, tenant, 0, r.Uint64()), storetest.Hire(t, url, tenant, 1, r.Uint64())}
		ofServer := round%2 > 0
		if ofServer || round%5 > 0 { // else perhaps before there is anything
			crews[0].Begun()
		}
		if ofServer { // a process survives its server, but does not begin without it
			crews[1].Begun()
		}
		pause := func() { time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond) }
		pause()
		if ofServer {
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			before := crews[0].Acknowledged()
			pause()
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			recoveries++
			for end := time.Now().Add(8 * time.Second); crews[0].Acknowledged() == before && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			afterwards += min(crews[0].Acknowledged()-before, 1)
		}
		var lines []string
		for _, c := range crews {
			lines = append(lines, c.Kill(t)...)
		}
		acknowledged += len(lines)
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := storetest.Audit(t.Context(), s, tenant, lines); err != nil {
			t.Error(err)
		}
		if round == rounds-1 {
			report, err := fsck.Store(t.Context(), s, fsck.Options{})
			if err != nil || !report.OK() {
				t.Errorf("at the end: %v, %v", err, report.Err())
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, seed)
		}
	}
	if n := strings.Count(server.Log(), "automatic recovery in progress"); n != recoveries || n == 0 {
		t.Errorf("the server recovered %d times, and was killed %d times", n, recoveries)
	}
	if acknowledged < rounds || afterwards < recoveries {
		t.Errorf("in %d rounds %d writes were acknowledged; after %d of %d restarts processes went on", rounds, acknowledged, afterwards, recoveries)
	}
	t.Logf("%d writes were acknowledged", acknowledged)
}
