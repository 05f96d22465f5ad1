package monitor_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
)

const origin = "default.kernel.example"

// A served log is one that is served as tiles, by hand.
type served struct {
	leaves [][]byte
	tree   ledger.Tree
	nodes  map[int][]ledger.Hash
	key    ed25519.PrivateKey
	bend   string // the path of a resource of which a byte is changed
	full   bool   // partial tiles are gone where the full one is there
	auth   string
}

func newLog(seed byte) *served {
	return &served{nodes: map[int][]ledger.Hash{}, key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (s *served) grow(n int, kind string) {
	for range n {
		leaf := fmt.Appendf(nil, "%s %d", kind, len(s.leaves))
		s.leaves = append(s.leaves, leaf)
		for _, node := range must(s.tree.Append(ledger.LeafHash(leaf), nil)) {
			s.nodes[node.Level] = append(s.nodes[node.Level], node.Hash)
		}
	}
}

func (s *served) note() []byte {
	signer, _, err := ledger.NewLogSigner(origin, s.key)
	return must(ledger.Checkpoint{Origin: origin, Root: ledger.Root{Size: s.tree.Size(), Hash: s.tree.Root()}}.Sign(must(signer, err)))
}

func (s *served) trust() *ledger.Trust {
	_, key, err := ledger.NewLogSigner(origin, s.key)
	return must(ledger.ParseTrust(fmt.Appendf(nil, "log %s\nquorum none\n", must(key, err))))
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.auth != "" && r.Header.Get("Authorization") != "Bearer "+s.auth {
		http.Error(w, "who is there?", http.StatusUnauthorized)
		return
	}
	data := s.resource(r.URL.Path)
	if data == nil {
		http.NotFound(w, r)
		return
	}
	if r.URL.Path == s.bend {
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
	}
	_, _ = w.Write(data)
}

func (s *served) resource(path string) []byte {
	if path == "/checkpoint" {
		return s.note()
	}
	for level, hashes := range s.nodes {
		for tile := 0; tile*256 < len(hashes); tile++ {
			name := fmt.Sprintf("/tile/%d/%s", level, monitor.TileIndex(uint64(tile)))
			part := hashes[tile*256 : min(len(hashes), tile*256+256)]
			for width := 1; width <= len(part); width++ {
				partial := fmt.Sprintf("%s.p/%d", name, width)
				if width == 256 {
					partial = name
				} else if s.full && len(part) == 256 {
					continue
				}
				if path != partial {
					continue
				}
				var data []byte
				for _, h := range part[:width] {
					data = append(data, h[:]...)
				}
				return data
			}
		}
	}
	if rest, ok := strings.CutPrefix(path, "/tile/entries/"); ok {
		for tile := 0; tile*256 < len(s.leaves); tile++ {
			part := s.leaves[tile*256 : min(len(s.leaves), tile*256+256)]
			name := monitor.TileIndex(uint64(tile))
			if rest != name && rest != fmt.Sprintf("%s.p/%d", name, len(part)) || rest == name && len(part) < 256 {
				continue
			}
			var data []byte
			for _, leaf := range part {
				data = append(binary.BigEndian.AppendUint16(data, uint16(len(leaf))), leaf...)
			}
			return data
		}
	}
	return nil
}

func watch(t *testing.T, s *served, key string) *monitor.HTTP {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return monitor.NewHTTP(web.Client(), web.URL+"/", key)
}

func TestFollow(t *testing.T) {
	ctx := t.Context()
	s := newLog(1)
	h := watch(t, s, "")
	var kept []byte
	for _, n := range []int{0, 1, 0, 1, 253, 1, 1, 300, 0, 700} {
		s.grow(n, "leaf")
		step, err := monitor.Follow(ctx, h, s.trust(), kept)
		if err != nil {
			t.Fatalf("at %d leaves: %v", len(s.leaves), err)
		}
		if step.New.Size != uint64(len(s.leaves)) || step.Origin != origin {
			t.Fatalf("got %+v", step)
		}
		kept = step.Note
	}
	// Another history, longer and shorter and just as long, and an older checkpoint.
	for _, size := range []int{len(s.leaves) + 40, len(s.leaves), len(s.leaves) - 40, 1} {
		fork := newLog(1)
		fork.grow(100, "leaf")
		fork.grow(max(0, size-100), "other")
		if size < 100 {
			fork = newLog(1)
			fork.grow(size, "leaf")
		}
		step, err := monitor.Follow(ctx, watch(t, fork, ""), s.trust(), kept)
		var split *monitor.Split
		if !errors.As(err, &split) || !errors.Is(err, ledger.ErrInconsistent) || !bytes.Equal(split.Old, kept) || !bytes.Equal(split.New, fork.note()) {
			t.Errorf("another history of %d leaves: %+v, %v", size, step, err)
		}
		if back := size < len(s.leaves); errors.Is(err, monitor.ErrBack) != back {
			t.Errorf("%d leaves of %d: %v, went back: %t", size, len(s.leaves), err, back)
		}
	}
	// As it was before, by a log that has the rest.
	late := newLog(1)
	late.grow(40, "leaf")
	note := late.note()
	late.grow(len(s.leaves)-40, "leaf")
	if _, err := monitor.Compare(ctx, watch(t, late, ""), s.trust(), kept, note); !errors.Is(err, monitor.ErrStale) || !errors.Is(err, ledger.ErrInconsistent) {
		t.Errorf("an older checkpoint: %v", err)
	}
	// Another key.
	if _, err := monitor.Follow(ctx, watch(t, newLog(2), ""), s.trust(), kept); !errors.Is(err, ledger.ErrOrigin) {
		t.Errorf("another key: %v", err)
	}
	if _, err := monitor.Follow(ctx, h, s.trust(), []byte("not a note")); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("what was kept is no note: %v", err)
	}
}

// TestFollowBent changes a byte of each resource that a step reads.
func TestFollowBent(t *testing.T) {
	ctx := t.Context()
	s := newLog(1)
	s.grow(300, "leaf")
	kept := s.note()
	s.grow(400, "leaf")
	var read []string
	h := watch(t, s, "")
	seen := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read = append(read, r.URL.Path)
		s.ServeHTTP(w, r)
	}))
	defer seen.Close()
	if _, err := monitor.Follow(ctx, monitor.NewHTTP(seen.Client(), seen.URL, ""), s.trust(), kept); err != nil || len(read) < 3 {
		t.Fatalf("read %q, %v", read, err)
	}
	for _, path := range read {
		s.bend = path
		if step, err := monitor.Follow(ctx, h, s.trust(), kept); err == nil {
			t.Errorf("with a byte of %s changed: %+v", path, step)
		}
	}
}

func TestHTTP(t *testing.T) {
	ctx := t.Context()
	s := newLog(1)
	s.grow(600, "leaf")
	s.full = true
	s.auth = "secret"
	h := watch(t, s, "secret")
	for level, want := range s.nodes {
		for from := 0; from < len(want); from += 256 {
			for _, n := range []int{1, min(100, len(want)-from), min(256, len(want)-from)} {
				got, err := h.Hashes(ctx, level, uint64(from), n)
				if err != nil || len(got) != n || got[n-1] != want[from+n-1] {
					t.Fatalf("level %d, %d from %d on: %d, %v", level, n, from, len(got), err)
				}
			}
		}
	}
	for _, c := range []struct{ from, n int }{{0, 256}, {256, 256}, {512, 88}} {
		leaves, err := h.Leaves(ctx, uint64(c.from), c.n)
		if err != nil || len(leaves) != c.n || !bytes.Equal(leaves[c.n-1], s.leaves[c.from+c.n-1]) {
			t.Fatalf("leaves from %d on: %d, %v", c.from, len(leaves), err)
		}
	}
	if _, err := h.Hashes(ctx, 0, 1, 1); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("what is no tile: %v", err)
	}
	if _, err := h.Hashes(ctx, 0, 1<<20, 1); err == nil {
		t.Error("a tile that is not there was read")
	}
	if _, err := watch(t, s, "wrong").Checkpoint(ctx); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without the key: %v", err)
	}
	big := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }))
	defer big.Close()
	if _, err := monitor.NewHTTP(big.Client(), big.URL, "").Checkpoint(ctx); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("a checkpoint of a mebibyte: %v", err)
	}
}

func TestTileIndex(t *testing.T) {
	for n, want := range map[uint64]string{0: "000", 7: "007", 999: "999", 1000: "x001/000", 1234067: "x001/x234/067"} {
		if got := monitor.TileIndex(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func ExampleFollow() {
	s := newLog(1)
	web := httptest.NewServer(s)
	defer web.Close()
	log := monitor.NewHTTP(web.Client(), web.URL, "")
	s.grow(3, "leaf")
	first := must(monitor.Follow(context.Background(), log, s.trust(), nil))
	s.grow(4, "leaf")
	next := must(monitor.Follow(context.Background(), log, s.trust(), first.Note))
	fmt.Println(next.Old.Size, next.New.Size, len(next.Proof))
	// Output: 3 7 4
}
