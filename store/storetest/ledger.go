package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// Leaves returns n leaves about signing keys, from number first on of a fixed sequence without duplicates.
func Leaves(first, n int) [][]byte { return LeavesOf(Tenant, first, n) }

// LeavesOf is like Leaves, for any tenant.
func LeavesOf(tenant dag.Tenant, first, n int) [][]byte {
	leaves := make([][]byte, n)
	for i := range leaves {
		at := first + i
		l := ledger.KeyLeaf{Tenant: tenant, Purpose: ledger.PurposeToken, Event: ledger.KeyCreated, KeyID: fmt.Sprint("of leaf ", at), At: dag.Time(at)}
		if at%2 == 1 {
			l.Event = ledger.KeyRetired
		}
		if at%4 > 1 {
			l.Purpose, l.KeyID, l.PublicKey = ledger.PurposeAttestation, fmt.Sprintf("%064x", at), make([]byte, 32)
		}
		leaves[i] = l.Append(nil)
	}
	return leaves
}

// A logReader reads a store's ledger for proofs.
type logReader struct {
	s      store.Store
	tenant dag.Tenant
}

func (r logReader) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return r.s.LogHashes(ctx, r.tenant, level, from, n)
}

// Extends checks that a tenant's ledger extends an earlier one with the root old.
func Extends(ctx context.Context, s store.Store, tenant dag.Tenant, old ledger.Root) error {
	tree, err := s.Log(ctx, tenant)
	if err != nil {
		return err
	}
	now := ledger.Root{Size: tree.Size(), Hash: tree.Root()}
	if now.Size < old.Size {
		return fmt.Errorf("the ledger had %d leaves and has %d", old.Size, now.Size)
	}
	proof, err := now.ProveConsistency(ctx, old.Size, logReader{s, tenant})
	if err != nil {
		return err
	}
	return now.CheckConsistency(old, proof)
}

// A reference is a ledger as golang.org/x/mod/sumdb/tlog computes it.
type reference struct {
	leaves [][]byte
	hashes []tlog.Hash // stored hashes
}

func (r *reference) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		hashes[i] = r.hashes[at]
	}
	return hashes, nil
}

func (r *reference) add(t testing.TB, leaves ...[]byte) {
	t.Helper()
	for _, leaf := range leaves {
		hashes, err := tlog.StoredHashes(int64(len(r.leaves)), leaf, r)
		if err != nil {
			t.Fatal(err)
		}
		r.leaves = append(r.leaves, leaf)
		r.hashes = append(r.hashes, hashes...)
	}
}

func (r *reference) root(t testing.TB) ledger.Root {
	t.Helper()
	if len(r.leaves) == 0 {
		return ledger.Root{Hash: ledger.EmptyRoot()}
	}
	hash, err := tlog.TreeHash(int64(len(r.leaves)), r)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Root{Size: uint64(len(r.leaves)), Hash: hash}
}

func mustLog(t testing.TB, s store.Store, tenant dag.Tenant) ledger.Root {
	t.Helper()
	tree, err := s.Log(context.Background(), tenant)
	if err != nil {
		t.Fatalf("Log: %v", err)
	}
	return ledger.Root{Size: tree.Size(), Hash: tree.Root()}
}

// same compares the size, the root and the last leaves of a ledger, and the indexes of these leaves, with the reference.
func (r *reference) same(t testing.TB, s store.Store, from int) {
	t.Helper()
	ctx := context.Background()
	if got, want := mustLog(t, s, Tenant), r.root(t); got != want {
		t.Fatalf("the ledger has %d leaves with the root %s, want %d with %s", got.Size, got.Hash, want.Size, want.Hash)
	}
	got, err := history.Leaves(ctx, s, Tenant, uint64(from), len(r.leaves)+1)
	if err != nil || len(got) != len(r.leaves)-from {
		t.Fatalf("LogLeaves(%d) gave %d leaves, %v, want %d", from, len(got), err, len(r.leaves)-from)
	}
	for i, leaf := range got {
		if string(leaf) != string(r.leaves[from+i]) {
			t.Fatalf("leaf %d is %s, want %s", from+i, leaf, r.leaves[from+i])
		}
		record, err := s.Entries(ctx, Tenant, history.Page{Stream: history.Record, At: []dag.Seq{dag.Seq(from + i + 1)}})
		if err != nil || len(record) != 1 || !bytes.Equal(record[0].Public, leaf) {
			t.Fatalf("leaf %d as an entry of the record: %+v, %v", from+i, record, err)
		}
		if record[0].Kind != identity.Announced().Kind {
			continue // LeafIndex finds only leaves of announced keys
		}
		if at, err := LeafIndex(ctx, s, Tenant, leaf); err != nil || at != uint64(from+i) {
			t.Fatalf("LogIndex of leaf %d gave %d, %v", from+i, at, err)
		}
	}
}

// testLedger checks that each act appends its leaf, in order, and that an act that changes nothing appends none.
func testLedger(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var r reference
	r.same(t, s, 0)
	at := func(i issued.Record, number uint64) issued.Record { i.Number = number; return i }
	retired := Key(1)
	retired.RevokedAt = RevokedAt(1)
	later := Issued(2, 1)
	later.At++
	erased := func(seq dag.Seq, n int) []byte { e := Erased(seq, n); return e.Leaf(Tenant) }
	put := func(list ...issued.Record) func() error {
		return func() error { _, err := Bundles(s).Put(ctx, Tenant, list); return err }
	}
	leafOf := func(i issued.Record) []byte { return issued.Leaf(Tenant, &i) }
	revoke := func() error {
		_, err := apikeys.Base{History: s}.Revoke(ctx, Tenant, Key(1).ID, RevokedAt(1))
		return err
	}
	erase := func(n int) func() error {
		return func() error { _, err := Erase(ctx, s, Tenant, Erasure(n)); return err }
	}
	for _, act := range []struct {
		name   string
		do     func() error
		leaves [][]byte
	}{
		{"Append", func() error { _, err := s.Append(ctx, Tenant, []store.Batch{Chain(1, 5, 0)}); return err }, nil},
		{"PutIssued", put(Issued(1, 1)), [][]byte{leafOf(at(Issued(1, 1), 1))}},
		{"PutIssued again", put(Issued(1, 1)), nil},
		{"PutIssued of facts", put(IssuedFacts(1, 1)), [][]byte{leafOf(at(IssuedFacts(1, 1), 2))}},
		{"PutIssued of many", put(Issued(2, 1), Issued(1, 1), Issued(3, 2), later, Issued(4, 1)), [][]byte{leafOf(Issued(2, 1)), leafOf(Issued(3, 2)), leafOf(Issued(4, 1))}},
		{"PutIssued of none", put(), nil},
		{"PutPolicy", func() error { return registry.Base{History: s}.Put(ctx, Tenant, Policy("p@1", 1)) }, [][]byte{policyLeaf(Tenant, Policy("p@1", 1))}},
		{"PutPolicy again", func() error { return registry.Base{History: s}.Put(ctx, Tenant, Policy("p@1", 1)) }, nil},
		{"Erase", erase(2), [][]byte{erased(6, 2)}},
		{"Erase again", erase(2), nil},
		{"PutKey", func() error { return apikeys.Base{History: s}.Put(ctx, Key(1)) }, apikeys.Leaves(new(Key(1)))},
		{"PutKey again", func() error { return apikeys.Base{History: s}.Put(ctx, Key(1)) }, nil},
		{"RevokeKey", revoke, apikeys.Leaves(&retired)[1:]},
		{"RevokeKey again", revoke, nil},
		{"PutKey of a revoked one", func() error { return apikeys.Base{History: s}.Put(ctx, Key(1)) }, nil},
		{"Adopt", func() error {
			return Adopt(ctx, s, Tenant, Stretch{Records: Records(7, nil, Chain(20, 3, 1)), Events: []erasures.Erasure{Erased(10, 21), Erased(11, 3)}})
		}, [][]byte{erased(10, 21), erased(11, 3)}},
		{"Adopt without events", func() error { return Adopt(ctx, s, Tenant, Stretch{Records: Records(12, nil, Chain(30, 3, 2))}) }, nil},
		{"Adopt of an event alone", func() error { return Adopt(ctx, s, Tenant, Stretch{Events: []erasures.Erasure{Erased(15, 4)}}) }, [][]byte{erased(15, 4)}},
	} {
		if err := act.do(); err != nil {
			t.Fatalf("%s: %v", act.name, err)
		}
		r.add(t, act.leaves...)
		if got := mustLog(t, s, Tenant); got != r.root(t) {
			leaves, err := history.Leaves(ctx, s, Tenant, 0, 99)
			t.Fatalf("after %s the ledger is\n%s, %v, want\n%s", act.name, bytes.Join(leaves, []byte("\n")), err, bytes.Join(r.leaves, []byte("\n")))
		}
		r.same(t, s, 0)
	}
	asked, unasked := Issued(51, 1), IssuedFacts(52, 2)
	asked.Question, unasked.Question = unasked.Question, ""
	// A refused act appends no leaf.
	for name, err := range map[string]error{
		"a policy that differs":          registry.Base{History: s}.Put(ctx, Tenant, Policy("p@1", 2)),
		"turns with a question":          put(asked)(),
		"facts without one":              put(unasked)(),
		"a list with a malformed record": put(Issued(50, 1), issued.Record{})(),
		"an unknown turn":                erase(99)(),
		"a second erasure":               s.Adopt(ctx, Tenant, Stretch{Events: []erasures.Erasure{Erased(16, 3)}}.Store()),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	r.same(t, s, 0)
}

// testLedgerTree appends lists of random sizes across the first full tile and the first
// full tile of tiles, and compares everything with the reference.
func testLedgerTree(t *testing.T, h Harness) {
	s, err := h.Open(nil) // without Check, which reads each leaf
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ctx := context.Background()
	random := rand.New(rand.NewPCG(1, 2))
	var r reference
	sizes := []int{1, 1, 2, 63, 64, 65, 8, 9}
	for n := 0; n < 90; n++ {
		sizes = append(sizes, 1+random.IntN(12))
	}
	const most = 256*256 + 300
	var roots []ledger.Root
	for n := 0; len(r.leaves) < most; n++ {
		size := 900 + random.IntN(300)
		if n < len(sizes) {
			size = sizes[n]
		}
		first := len(r.leaves)
		fresh := Leaves(first, size)
		list, want := make([][]byte, 0, size+2), []uint64(nil)
		for i, leaf := range fresh { // with one that is stored already or comes twice
			list, want = append(list, leaf), append(want, uint64(first+i))
			if i == size/2 {
				old := random.IntN(first + i + 1)
				list, want = append(list, Leaves(old, 1)[0]), append(want, uint64(old))
			}
		}
		at, err := PutLeaves(ctx, s, Tenant, list)
		if err != nil || !sameList(at, want) {
			t.Fatalf("PutLeaves of %d leaves behind %d gave %v, %v, want %v", len(list), first, at, err, want)
		}
		r.add(t, fresh...)
		roots = append(roots, r.root(t))
		if n < len(sizes) {
			r.same(t, s, max(first-1, 0))
		} else if got := mustLog(t, s, Tenant); got != r.root(t) {
			t.Fatalf("behind %d leaves the ledger is %+v, want %+v", first, got, r.root(t))
		}
	}
	r.tiles(t, s)
	for i := 0; i < len(roots); i += 7 {
		if err := Extends(ctx, s, Tenant, roots[i]); err != nil {
			t.Errorf("from %d leaves: %v", roots[i].Size, err)
		}
	}
	if again, err := PutLeaves(ctx, s, Tenant, r.leaves[:3000]); err != nil || again[0] != 0 || again[2999] != 2999 {
		t.Errorf("leaves that are there: %v", err)
	}
	if got := mustLog(t, s, Tenant); got != r.root(t) {
		t.Errorf("leaves that are there changed the ledger to %+v", got)
	}
}

// tiles compares all hashes with the reference's tiles.
func (r *reference) tiles(t testing.TB, s store.Store) {
	t.Helper()
	ctx := context.Background()
	levels := 0
	for level, size := 0, uint64(len(r.leaves)); size > 0; level, size = level+1, size>>8 {
		levels++
		for first := uint64(0); first < size; first += ledger.TileWidth {
			width := int(min(size-first, ledger.TileWidth))
			want, err := tlog.ReadTileData(tlog.Tile{H: 8, L: level, N: int64(first >> 8), W: width}, r)
			if err != nil {
				t.Fatal(err)
			}
			hashes, err := s.LogHashes(ctx, Tenant, level, first, ledger.TileWidth)
			if err != nil || len(hashes) != width {
				t.Fatalf("LogHashes(%d, %d) gave %d hashes, %v, want %d", level, first, len(hashes), err, width)
			}
			for i, hash := range hashes {
				if string(hash[:]) != string(want[i*tlog.HashSize:][:tlog.HashSize]) {
					t.Fatalf("hash %d of level %d is %s", first+uint64(i), level, hash)
				}
			}
		}
	}
	if levels != 3 {
		t.Errorf("%d levels, want 3", levels)
	}
	for _, c := range []struct {
		level int
		from  uint64
		n     int
		want  int
	}{
		{0, 0, 0, 0}, {0, 0, -1, 0}, {0, 5, 1, 1}, {0, 250, 600, 600}, {0, 0, 1 << 20, 4096}, {0, 1 << 40, 5, 0}, {0, 1<<64 - 1, 5, 0},
		{1, 255, 5, len(r.leaves)>>8 - 255}, {1, 3, 1, 1}, {2, 0, 5, 1}, {2, 1, 5, 0}, {3, 0, 5, 0}, {6, 0, 5, 0},
	} {
		if got, err := s.LogHashes(ctx, Tenant, c.level, c.from, c.n); err != nil || len(got) != c.want {
			t.Errorf("LogHashes(%d, %d, %d) gave %d hashes, %v, want %d", c.level, c.from, c.n, len(got), err, c.want)
		}
	}
	for _, level := range []int{-1, 7, math.MaxInt} {
		if got, err := s.LogHashes(ctx, Tenant, level, 0, 1); !errors.Is(err, dag.ErrForm) || len(got) > 0 {
			t.Errorf("level %d: %d hashes, %v, want dag.ErrForm", level, len(got), err)
		}
	}
}

// testLeaves reads leaves beyond every bound, and appends malformed ones.
func testLeaves(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	for _, tenant := range []dag.Tenant{Tenant, "nobody"} {
		if got := mustLog(t, s, tenant); got != (ledger.Root{Hash: ledger.EmptyRoot()}) {
			t.Errorf("%s: an empty ledger is %+v", tenant, got)
		}
		if at, err := LeafIndex(ctx, s, tenant, Leaves(0, 1)[0]); !errors.Is(err, store.ErrNotFound) || at != 0 {
			t.Errorf("%s: LogIndex in an empty ledger gave %d, %v", tenant, at, err)
		}
		if got, err := s.LogHashes(ctx, tenant, 0, 0, 5); err != nil || len(got) > 0 {
			t.Errorf("%s: LogHashes in an empty ledger gave %v, %v", tenant, got, err)
		}
		if got, err := PutLeaves(ctx, s, tenant, nil); err != nil || len(got) > 0 {
			t.Errorf("%s: PutLeaves of none gave %v, %v", tenant, got, err)
		}
	}
	long := func(bytes int) []byte {
		object := func(n int) []byte {
			text, err := json.Marshal(map[string]string{"kind": string(ledger.KindSigstore), "pad": strings.Repeat("x", n)})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		return object(bytes - len(object(0)))
	}
	leaves := append(Leaves(0, 10), long(ledger.MaxLeaf))
	given := make([][]byte, len(leaves))
	for i := range leaves {
		given[i] = slices.Clone(leaves[i])
	}
	twice := slices.Concat(given[:4], given[2:10])
	want := []uint64{0, 1, 2, 3, 2, 3, 4, 5, 6, 7, 8, 9}
	if at, err := PutLeaves(ctx, s, Tenant, twice); err != nil || !sameList(at, want) {
		t.Errorf("with some twice: %v, %v, want %v", at, err, want)
	}
	if at, err := attest.Recorded().Put(ctx, s, Tenant, given[10:]); err != nil || !sameList(at, []uint64{10}) {
		t.Errorf("the longest one: %v, %v", at, err)
	}
	for _, leaf := range given {
		clear(leaf)
	}
	var r reference
	r.add(t, leaves...)
	r.same(t, s, 0)
	for _, c := range []struct {
		from  uint64
		limit int
		want  [][]byte
	}{
		{0, 3, leaves[:3]}, {4, 2, leaves[4:6]}, {9, 9, leaves[9:]}, {11, 1, nil}, {1 << 60, 5, nil}, {1<<64 - 1, 5, nil}, {0, 0, nil}, {0, -1, nil},
	} {
		got, err := history.Leaves(ctx, s, Tenant, c.from, c.limit)
		if err != nil || !slices.EqualFunc(got, c.want, bytes.Equal) {
			t.Errorf("LogLeaves(%d, %d) gave %q, %v, want %q", c.from, c.limit, got, err, c.want)
		}
		for _, leaf := range got {
			clear(leaf) // it is the caller's
		}
	}
	for name, leaf := range map[string][]byte{
		"nothing": {}, "no JSON": []byte("leaf"), "a space": append([]byte(" "), leaves[1]...),
		"a byte too long": long(ledger.MaxLeaf + 1),
		"another field":   bytes.Replace(leaves[1], []byte(`"at"`), []byte(`"aa"`), 1),
	} {
		if at, err := PutLeaves(ctx, s, Tenant, append(Leaves(50, 2), leaf)); err == nil || len(at) > 0 {
			t.Errorf("%s: %v, %v, want a refusal", name, at, err)
		}
	}
	if _, err := PutLeaves(ctx, s, "No Tenant", Leaves(0, 1)); !errors.Is(err, dag.ErrForm) {
		t.Errorf("no tenant: %v, want dag.ErrForm", err)
	}
	for i := range leaves { // with one bit changed it is another
		leaf := slices.Clone(leaves[i])
		leaf[len(leaf)/2] ^= 1
		if at, err := LeafIndex(ctx, s, Tenant, leaf); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s is leaf %d, %v", leaf, at, err)
		}
	}
	r.same(t, s, 0)
	if at, err := PutLeaves(ctx, s, "other", leaves[3:5]); !errors.Is(err, dag.ErrForm) || len(at) > 0 {
		t.Errorf("of another tenant: %v, %v, want dag.ErrForm", at, err)
	}
	if at, err := attest.Recorded().Put(ctx, s, "other", leaves[10:]); err != nil || !sameList(at, []uint64{0}) {
		t.Errorf("of another tenant, which the leaf does not say: %v, %v", at, err)
	}
	if _, err := LeafIndex(ctx, s, "other", leaves[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another tenant has a leaf of this one: %v", err)
	}
	r.same(t, s, 0)
}

// testLedgerConcurrent runs goroutines that append at once, by all kinds of acts.
// Every ledger that one of them saw must be the beginning of the final ledger.
func testLedgerConcurrent(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	if _, err := s.Append(ctx, Tenant, []store.Batch{Chain(1, 40, 0)}); err != nil {
		t.Fatal(err)
	}
	const sides, acts = 5, 8
	var seen [sides][]ledger.Root
	var all sync.WaitGroup
	for side := range sides {
		all.Go(func() {
			for n := range acts {
				both := n                  // by all sides at once
				own := 1000*(side+1) + 8*n // by this side only
				list := make([]issued.Record, 0, 5)
				for k := range 4 {
					list = append(list, Issued(own+k, k))
				}
				_, recorded := Bundles(s).Put(ctx, Tenant, append(list, Issued(both, 1)))
				at, put := PutLeaves(ctx, s, Tenant, append(Leaves(own, 3), Leaves(both, 1)...))
				_, erased := Erase(ctx, s, Tenant, Erasure(1+(side*acts+n)/2))
				registered := registry.Base{History: s}.Put(ctx, Tenant, Policy("p@1", 1))
				if err := errors.Join(recorded, put, erased, registered); err != nil {
					t.Errorf("side %d: %v", side, err)
					return
				}
				leaves, err := history.Leaves(ctx, s, Tenant, at[0], 1)
				if err != nil || len(leaves) != 1 || string(leaves[0]) != string(Leaves(own, 1)[0]) {
					t.Errorf("side %d: leaf %d is %q, %v", side, at[0], leaves, err)
				}
				tree, err := s.Log(ctx, Tenant)
				if err != nil {
					t.Errorf("side %d: %v", side, err)
					return
				}
				seen[side] = append(seen[side], ledger.Root{Size: tree.Size(), Hash: tree.Root()})
			}
		})
	}
	all.Wait()
	want := uint64(sides*acts*(4+3) + 2*acts + sides*acts/2 + 1)
	if got := mustLog(t, s, Tenant); got.Size != want {
		t.Errorf("the ledger has %d leaves, want %d", got.Size, want)
	}
	checked := 0
	for side := range sides {
		for _, root := range seen[side] {
			if err := Extends(ctx, s, Tenant, root); err != nil {
				t.Errorf("what side %d saw of %d leaves: %v", side, root.Size, err)
			}
			checked++
		}
	}
	if checked != sides*acts {
		t.Errorf("%d roots were seen, want %d", checked, sides*acts)
	}
}
