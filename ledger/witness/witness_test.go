package witness_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	entries "github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
)

const origin = "default.kernel.example"

var errMoved = errors.New("moved")

// A state keeps cells, as a store does.
type state struct {
	mu    sync.Mutex
	cells map[string][]byte
	fail  error // of Swap
}

func (s *state) Cells(_ context.Context, _ dag.Tenant, prefix string) (list []entries.Cell, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, value := range s.cells {
		if strings.HasPrefix(name, prefix) {
			list = append(list, entries.Cell{Name: name, Value: bytes.Clone(value)})
		}
	}
	return list, nil
}

func (s *state) Swap(_ context.Context, _ dag.Tenant, name string, old, next []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if !bytes.Equal(s.cells[name], old) {
		return errMoved
	}
	if s.cells[name] = bytes.Clone(next); len(next) == 0 {
		delete(s.cells, name)
	}
	return nil
}

// last is what was cosigned last of the log.
func (s *state) last() ledger.Root {
	return must(witness.Roots{Cells: s}.Last(context.Background(), "", origin))
}

// A history is a log of leaves of a kind.
type history struct {
	tree  ledger.Tree
	nodes map[int][]ledger.Hash
	roots []ledger.Root
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func grown(n, fork int) *history {
	h := &history{nodes: map[int][]ledger.Hash{}, roots: []ledger.Root{{Hash: ledger.EmptyRoot()}}}
	for i := range n {
		kind := "leaf"
		if i >= fork {
			kind = "other"
		}
		for _, node := range must(h.tree.Append(ledger.LeafHash(fmt.Appendf(nil, "%s %d", kind, i)), nil)) {
			h.nodes[node.Level] = append(h.nodes[node.Level], node.Hash)
		}
		h.roots = append(h.roots, ledger.Root{Size: h.tree.Size(), Hash: h.tree.Root()})
	}
	return h
}

func (h *history) Hashes(_ context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return h.nodes[level][from : from+uint64(n)], nil
}

func key(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func (h *history) note(size int, by byte) []byte {
	signer, _, err := ledger.NewLogSigner(origin, key(by))
	return must(ledger.Checkpoint{Origin: origin, Root: h.roots[size]}.Sign(must(signer, err)))
}

func (h *history) request(old, size int, by byte) []byte {
	a := ledger.AddCheckpoint{Old: uint64(old), Checkpoint: h.note(size, by)}
	if old <= size {
		a.Proof = must(h.roots[size].ProveConsistency(context.Background(), uint64(old), h))
	}
	return a.Append(nil)
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newWitness(t *testing.T) (*witness.Witness, *ledger.Cosigner, *state) {
	t.Helper()
	_, logKey, err := ledger.NewLogSigner(origin, key(1))
	trust := must(ledger.ParseTrust(fmt.Appendf(nil, "log %s\nquorum none\n", must(logKey, err))))
	c := must(ledger.NewCosigner("w.example", key(9)))
	s := &state{cells: map[string][]byte{}}
	return must(witness.New(witness.Config{State: s, Moved: errMoved, Tenant: "default", Cosigner: c, Logs: trust, Clock: func() time.Time { return noon }})), c, s
}

// TestAdd goes through what a witness may be asked, in one order; whatever it refuses must
// leave it where it was.
func TestAdd(t *testing.T) {
	w, cosigner, s := newWitness(t)
	h, fork := grown(40, 99), grown(40, 10)
	wrongRoot := bytes.Replace(h.note(0, 1), []byte("47DEQpj8"), []byte("57DEQpj8"), 1)
	stale := func(size uint64, fork bool) func(error) bool {
		return func(err error) bool {
			var e *witness.StaleError
			return errors.As(err, &e) && e.Size == size && e.Fork == fork
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for i, c := range []struct {
		what    string
		request []byte
		want    func(error) bool // nil: cosigned
		size    uint64           // afterwards
	}{
		{"not a request", []byte("hello"), is(witness.ErrRequest), 0},
		{"too long", make([]byte, witness.MaxRequest+1), is(witness.ErrRequest), 0},
		{"an unknown log", bytes.ReplaceAll(h.request(0, 5, 1), []byte("default.kernel"), []byte("another.kernel")), is(witness.ErrUnknownLog), 0},
		{"a stranger's signature", h.request(0, 5, 2), is(witness.ErrUnsigned), 0},
		{"an empty log with another root", append([]byte("old 0\n\n"), wrongRoot...), is(witness.ErrProof), 0},
		{"an old size above the new one", h.request(9, 5, 1), is(witness.ErrRequest), 0},
		{"an old size that it never cosigned", h.request(3, 5, 1), stale(0, false), 0},
		{"a proof from nothing", append([]byte("old 0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n"), h.note(5, 1)...), is(witness.ErrProof), 0},
		{"the empty log", h.request(0, 0, 1), nil, 0},
		{"the first leaves", h.request(0, 5, 1), nil, 5},
		{"the same again", h.request(5, 5, 1), nil, 5},
		{"from nothing again", h.request(0, 5, 1), stale(5, false), 5},
		{"more leaves", h.request(5, 20, 1), nil, 20},
		{"fewer", h.request(5, 12, 1), stale(20, false), 20},
		{"another history of the same size", fork.request(20, 20, 1), stale(20, true), 20},
		{"another history that is longer", fork.request(20, 30, 1), is(witness.ErrProof), 20},
		{"a proof that is bent", bytes.Replace(h.request(20, 30, 1), []byte("\n\n"), []byte("\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n"), 1), is(witness.ErrProof), 20},
		{"more leaves again", h.request(20, 40, 1), nil, 40},
	} {
		lines, err := w.Add(t.Context(), c.request)
		if c.want != nil {
			if !c.want(err) || lines != nil {
				t.Errorf("%d, %s: %q, %v", i, c.what, lines, err)
			}
		} else {
			a := must(ledger.ParseAddCheckpoint(c.request))
			_, added, adding := ledger.AddSignatures(a.Checkpoint, lines, []ledger.Key{cosigner.Key()})
			if err != nil || adding != nil || len(added) != 1 {
				t.Errorf("%d, %s: %q, %v, %v", i, c.what, lines, err, adding)
			}
		}
		if now := s.last(); now.Size != c.size {
			t.Fatalf("%d, %s: it stands at %d, want %d", i, c.what, now.Size, c.size)
		}
	}
	s.fail = errors.New("the disk is full")
	if lines, err := w.Add(t.Context(), grown(50, 99).request(40, 50, 1)); !errors.Is(err, s.fail) || lines != nil {
		t.Errorf("what could not be kept was cosigned: %q, %v", lines, err)
	}
}

// TestRace lets many ask for two histories at once: one is cosigned, at each step.
func TestRace(t *testing.T) {
	w, _, s := newWitness(t)
	h, fork := grown(40, 99), grown(40, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	cosigned := map[*history]int{}
	for i := range 16 {
		wg.Go(func() {
			of := []*history{h, fork}[i%2]
			if _, err := w.Add(t.Context(), of.request(0, 7, 1)); err == nil {
				mu.Lock()
				defer mu.Unlock()
				cosigned[of]++
			}
		})
	}
	wg.Wait()
	now := s.last()
	if len(cosigned) != 1 || now != h.roots[7] && now != fork.roots[7] {
		t.Errorf("cosigned %v", cosigned)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve is the protocol's table from errors to statuses.
func serve(w *witness.Witness) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		body := must(io.ReadAll(r.Body))
		lines, err := w.Add(r.Context(), body)
		var stale *witness.StaleError
		switch {
		case err == nil:
			_, _ = out.Write(lines)
		case errors.As(err, &stale):
			out.WriteHeader(http.StatusConflict)
			fmt.Fprintf(out, "%d\n", stale.Size)
		default:
			http.Error(out, err.Error(), http.StatusUnprocessableEntity)
		}
	}
}

// TestCollect asks three witnesses, of which one is new, one is elsewhere, and one answers
// with somebody else's signature.
func TestCollect(t *testing.T) {
	h := grown(40, 99)
	first, cosigner, s := newWitness(t)
	check(t, witness.Roots{Cells: s}.Replace(t.Context(), "", origin, ledger.Root{}, h.roots[11]))
	var asked int
	good := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/w/add-checkpoint" {
			http.NotFound(out, r)
			return
		}
		asked++
		serve(first)(out, r)
	}))
	defer good.Close()
	other := must(ledger.NewCosigner("other.example", key(8)))
	another, _, _ := newWitness(t) // with the same key, which is not the one that is listed
	liar := httptest.NewServer(serve(another))
	defer liar.Close()
	ahead, third, t3 := newWitness(t)
	check(t, witness.Roots{Cells: t3}.Replace(t.Context(), "", origin, ledger.Root{}, grown(60, 99).roots[60]))
	far := httptest.NewServer(serve(ahead))
	defer far.Close()
	a := witness.NewAsker(http.DefaultClient, []ledger.TrustedWitness{
		{Name: "good", Key: cosigner.Key(), URL: good.URL + "/w/"}, {Name: "liar", Key: other.Key(), URL: liar.URL},
		{Name: "far", Key: third.Key(), URL: far.URL}, {Name: "silent", Key: other.Key()},
	})
	prove := func(size int) func(context.Context, uint64) ([]ledger.Hash, error) {
		return func(ctx context.Context, old uint64) ([]ledger.Hash, error) {
			return h.roots[size].ProveConsistency(ctx, old, h)
		}
	}
	note, refusals, err := a.Collect(t.Context(), h.note(20, 1), prove(20))
	if err != nil || len(refusals) != 2 || refusals[0].Witness != "liar" || refusals[1].Witness != "far" {
		t.Fatalf("%v, %v", refusals, err)
	}
	_, logKey, err := ledger.NewLogSigner(origin, key(1))
	trust := must(ledger.ParseTrust(fmt.Appendf(nil, "log %s\nwitness w %s\nquorum w\n", must(logKey, err), cosigner.Key())))
	if at, err := must(trust.Open(note)).Quorum(time.Time{}); err != nil || !at.Equal(noon) {
		t.Errorf("quorum at %v, %v", at, err)
	}
	before := asked
	if _, _, err := a.Collect(t.Context(), h.note(30, 1), prove(30)); err != nil || asked != before+1 {
		t.Errorf("a witness whose place is known was asked %d times, %v", asked-before, err)
	}
}
