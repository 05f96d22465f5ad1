package server_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A foreign is a log of somebody else's, in memory: what it holds, and who signs for it.
type foreign struct {
	t     testing.TB
	id    identity.Identity
	nodes map[int][]ledger.Hash
	roots []ledger.Root // by size
}

const foreignTenant = "other"

func newForeign(t testing.TB, leaves int, changed int) *foreign {
	t.Helper()
	id, err := identity.New(rand.NewChaCha8([32]byte{9}), "log.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{t: t, id: id, nodes: map[int][]ledger.Hash{}}
	var tree ledger.Tree
	f.roots = append(f.roots, ledger.Root{Hash: tree.Root()})
	for n := range leaves {
		text := fmt.Sprint("leaf ", n)
		if n == changed {
			text = "another leaf"
		}
		nodes, err := tree.Append(ledger.LeafHash([]byte(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range nodes {
			f.nodes[node.Level] = append(f.nodes[node.Level], node.Hash)
		}
		f.roots = append(f.roots, ledger.Root{Size: tree.Size(), Hash: tree.Root()})
	}
	return f
}

func (f *foreign) Hashes(_ context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	all := f.nodes[level]
	return all[from:min(from+uint64(n), uint64(len(all)))], nil
}

// note signs the log at a size.
func (f *foreign) note(size uint64) []byte {
	f.t.Helper()
	return f.signed(ledger.Checkpoint{Origin: string(f.id.Origin(foreignTenant)), Root: f.roots[size]}.Text())
}

// signed signs whatever text, also one that no log would sign.
func (f *foreign) signed(text string) []byte {
	f.t.Helper()
	signer, _, err := f.id.Log(foreignTenant)
	if err != nil {
		f.t.Fatal(err)
	}
	sig, err := signer.Sign([]byte(text))
	if err != nil {
		f.t.Fatal(err)
	}
	h := signer.KeyHash()
	line := append([]byte{byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)}, sig...)
	return fmt.Appendf(nil, "%s\n— %s %s\n", text, signer.Name(), base64.StdEncoding.EncodeToString(line))
}

// request asks to cosign the log at a size, from an old one.
func (f *foreign) request(old, size uint64) []byte {
	f.t.Helper()
	proof, err := f.roots[size].ProveConsistency(f.t.Context(), min(old, size), f)
	if err != nil {
		f.t.Fatal(err)
	}
	a := ledger.AddCheckpoint{Old: old, Proof: proof, Checkpoint: f.note(size)}
	return a.Append(nil)
}

func trustOf(t testing.TB, text string) *ledger.Trust {
	t.Helper()
	trust, err := ledger.ParseTrust([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

// witnessing makes the service a witness of a log, whose state is in the store.
func witnessing(t testing.TB, backing store.Store, log *foreign) (func(*server.Config), ledger.Key) {
	t.Helper()
	_, key, err := log.id.Log(foreignTenant)
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.New(rand.NewChaCha8([32]byte{5}), "witness.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	hand, err := id.Witness()
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.New(witness.Config{
		State: backing, Moved: store.ErrMoved, Tenant: dag.DefaultTenant, Cosigner: hand, Logs: trustOf(t, "log "+key.String()+"\nquorum none\n"), Clock: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *server.Config) { c.Witness = w }, hand.Key()
}

// cosign asks the witness.
func (s *service) cosign(request []byte) *answer {
	s.t.Helper()
	a := s.ask(question{op: "addCheckpoint", body: request, media: "application/octet-stream"})
	if media := a.header.Get("Content-Type"); a.status == 409 && media != "text/x.tlog.size" || a.status != 409 && media != "text/plain; charset=utf-8" {
		s.t.Errorf("%d of type %q", a.status, media)
	}
	return a
}

// TestWitness asks for cosignatures in every way that the protocol has an answer for.
func TestWitness(t *testing.T) {
	log, fork := newForeign(t, 300, -1), newForeign(t, 300, 0)
	backing := inmem.Open(&inmem.Disk{}, inmem.Options{})
	be, key := witnessing(t, backing, log)
	s := startOver(t, backing, be)
	stands := uint64(0)
	for _, tc := range []struct {
		name    string
		request []byte
		status  int
		body    string
		next    uint64 // where the witness is afterwards; 0: where it stood
	}{
		{"nothing", []byte("x"), 400, "", 0},
		{"no empty line", []byte("old 0\n"), 400, "", 0},
		{"an old size with a zero in front", []byte(strings.Replace(string(log.request(0, 2)), "old 0", "old 00", 1)), 400, "", 0},
		{"a size that no log has", []byte("old 0\n\n" + string(log.signed("other.log.example\n4611686018427387905\n"+base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"))), 400, "", 0},
		{"too much", []byte("old 0\n\n" + strings.Repeat("x", witness.MaxRequest)), 413, "", 0},
		{"an empty log with another root", []byte("old 0\n\n" + string(log.signed("other.log.example\n0\n"+base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"))), 422, "", 0},
		{"an empty log", log.request(0, 0), 200, "", 0},
		{"an old size that is not where it stands", log.request(1, 2), 409, "0\n", 0},
		{"nothing but the proof", (&ledger.AddCheckpoint{Old: 0, Proof: make([]ledger.Hash, 1), Checkpoint: log.note(2)}).Append(nil), 422, "", 0},
		{"from the beginning", log.request(0, 3), 200, "", 3},
		{"the same again", log.request(3, 3), 200, "", 3},
		{"the same from 0", log.request(0, 3), 409, "3\n", 0},
		{"the same size, another root", fork.request(3, 3), 409, "3\n", 0},
		{"an older one", log.request(2, 2), 409, "3\n", 0},
		{"an old size above the new one", log.request(3, 2), 400, "", 0},
		{"another history", fork.request(3, 300), 422, "", 0},
		{"a step", log.request(3, 256), 200, "", 256},
		{"a proof too short", (&ledger.AddCheckpoint{Old: 256, Checkpoint: log.note(300)}).Append(nil), 422, "", 0},
		{"an unknown log", []byte(strings.ReplaceAll(string(log.request(256, 300)), "other.log.example", "unknown.log.example")), 404, "", 0},
		{"a forged signature", []byte(strings.Replace(string(log.request(256, 300)), "\n300\n", "\n299\n", 1)), 403, "", 0},
		{"nobody's signature", []byte(strings.Replace(string(log.request(256, 300)), "— other.log.example ", "— other.log.example A", 1)), 400, "", 0},
		{"another key's signature", (&ledger.AddCheckpoint{Old: 256, Checkpoint: resigned(t, log)}).Append(nil), 403, "", 0},
		{"a forged line of this witness", forged(log.request(256, 300), key), 200, "", 300},
		{"and then the true state", log.request(300, 300), 200, "", 300},
	} {
		a := s.cosign(tc.request)
		if a.status != tc.status || tc.body != "" && string(a.body) != tc.body {
			t.Errorf("%s: got %d %q, want %d %q", tc.name, a.status, a.body, tc.status, tc.body)
		}
		if tc.next != 0 {
			stands = tc.next
		}
		if root, err := (witness.Roots{Cells: backing}).Last(t.Context(), dag.DefaultTenant, "other.log.example"); err != nil || root.Size != stands {
			t.Errorf("%s: the witness stands at %d, want %d: %v", tc.name, root.Size, stands, err)
		}
		if a.status == 200 {
			size := stands
			signed, added, err := ledger.AddSignatures(log.note(size), a.body, []ledger.Key{key})
			if err != nil || len(added) != 1 || strings.Count(string(a.body), "\n") != 1 {
				t.Errorf("%s: the lines %q are not one cosignature: %v", tc.name, a.body, err)
			}
			_ = signed
		}
	}
}

// resigned is a checkpoint that somebody else signed in the log's name.
func resigned(t testing.TB, log *foreign) []byte {
	id, err := identity.New(rand.NewChaCha8([32]byte{11}), "log.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	other := *log
	other.id = id
	return other.note(300)
}

// forged adds a line of the witness to a request that it never made.
func forged(request []byte, key ledger.Key) []byte {
	h := key.Hash()
	line := append([]byte{byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)}, make([]byte, 72)...)
	return fmt.Appendf(request, "— %s %s\n", key.Name, base64.StdEncoding.EncodeToString(line))
}

// TestWitnessRaces lets two histories race for the same witness, many times: of each pair
// exactly one is cosigned.
func TestWitnessRaces(t *testing.T) {
	log, fork := newForeign(t, 60, -1), newForeign(t, 60, 0)
	rounds := 20
	if testing.Short() {
		rounds = 6
	}
	for round := range rounds {
		backing := inmem.Open(&inmem.Disk{}, inmem.Options{})
		be, _ := witnessing(t, backing, log)
		s := startOver(t, backing, be, limits(server.Limits{Rate: -1}))
		var ready, done sync.WaitGroup
		statuses := make([]int, 8)
		ready.Add(len(statuses))
		for i := range statuses {
			history := []*foreign{log, fork}[i%2]
			request := history.request(0, uint64(10+round))
			done.Go(func() {
				ready.Done()
				ready.Wait()
				statuses[i] = s.cosign(request).status
			})
		}
		done.Wait()
		var cosigned [2]int
		for i, status := range statuses {
			if status == http.StatusOK {
				cosigned[i%2]++
			} else if status != http.StatusConflict {
				t.Errorf("got %d", status)
			}
		}
		if (cosigned[0] > 0) == (cosigned[1] > 0) {
			t.Fatalf("round %d: %d cosignatures of one history and %d of the other", round, cosigned[0], cosigned[1])
		}
		root, err := witness.Roots{Cells: backing}.Last(t.Context(), dag.DefaultTenant, "other.log.example")
		if want := map[bool]*foreign{true: log, false: fork}[cosigned[0] > 0].roots[10+round]; err != nil || root != want {
			t.Errorf("it keeps another history than it cosigned: %v", err)
		}
	}
}

// TestCosigned lets one service ask another to cosign, over HTTP on both sides, and what
// is out of reach is counted and logged once.
func TestCosigned(t *testing.T) {
	// The witness must know the log before there is a server of it: its key is its own.
	logID, err := identity.New(rand.NewChaCha8([32]byte{1}), "kernel.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, logKey, err := logID.Log(tenantA)
	if err != nil {
		t.Fatal(err)
	}
	witnessID, err := identity.New(rand.NewChaCha8([32]byte{5}), "witness.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	hand, err := witnessID.Witness()
	if err != nil {
		t.Fatal(err)
	}
	state := inmem.Open(&inmem.Disk{}, inmem.Options{})
	w, err := witness.New(witness.Config{State: state, Moved: store.ErrMoved, Tenant: dag.DefaultTenant, Cosigner: hand, Logs: trustOf(t, "log "+logKey.String()+"\nquorum none\n"), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	there := startOver(t, state, func(c *server.Config) { c.Witness = w })
	gone := startOver(t, inmem.Open(&inmem.Disk{}, inmem.Options{})) // it is no witness

	goneID, err := identity.New(rand.NewChaCha8([32]byte{6}), "gone.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	goneHand, err := goneID.Witness()
	if err != nil {
		t.Fatal(err)
	}
	trust := trustOf(t, fmt.Sprintf("log %s\nwitness one %s %s/witness\nwitness two %s %s/witness\ngroup any any one two\nquorum any\n", logKey, hand.Key(), there.URL, goneHand.Key(), gone.URL))
	backing := inmem.Open(&inmem.Disk{}, inmem.Options{})
	s := startOver(t, backing, func(c *server.Config) {
		k, err := kernel.Open(kernel.Config{
			Store: backing, Authority: token.NewAuthority(ringOf(t, "k1", 1)), Clock: time.Now, Identity: logID,
			Witnesses: witness.NewAsker(http.DefaultClient, trust.Witnesses), CheckpointEvery: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Kernel, c.Asked = k, 2
	})
	q := question{op: "getCheckpoint", key: s.admin()}
	first := s.expect(200, q)
	o, err := trust.Open(first.body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Quorum(time.Time{}); err != nil || len(o.Cosigned) != 1 || o.Cosigned[0].Witness != "one" {
		t.Errorf("got %+v, %v", o.Cosigned, err)
	}
	if again := s.expect(200, q); string(again.body) != string(first.body) {
		t.Error("the witnesses were asked again")
	}
	s.chain(s.admin(), 2)
	bundle, _ := s.cut(s.admin(), 2)
	var e api.Evidence // its leaf is newer than the checkpoint: they are asked again
	s.expect(200, question{op: "attestBundle", key: s.admin(), body: bundle}).decode(t, &e)
	p, err := ledger.ParseProof([]byte(e.Proof))
	if err != nil {
		t.Fatal(err)
	}
	if o, err := trust.Open(p.Checkpoint); err != nil || len(o.Cosigned) != 1 {
		t.Errorf("got %v", err)
	}
	metrics := string(s.expect(200, question{op: "metrics"}).body)
	for _, want := range []string{"graphkernel_checkpoints_total 2", `graphkernel_cosignatures_total{result="cosigned"} 2`, `graphkernel_cosignatures_total{result="refused"} 2`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if n := strings.Count(s.log.String(), `"msg":"a witness did not cosign","witness":"two"`); n != 2 || !strings.Contains(s.log.String(), "this kernel is no witness") {
		t.Errorf("said %d times that a witness refused", n)
	}
}
