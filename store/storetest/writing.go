package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

func testErase(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	b := Chain(1, 3, 0)
	b[1] = Named(b[1], "a name")
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, b)
	before := mustTurn(t, s, 2)

	want := Erasure(2)
	want.Seq = 4
	got, err := Erase(ctx, s, Tenant, Erasure(2))
	if err != nil || got != want {
		t.Fatalf("got %+v, %v, want %+v", got, err, want)
	}
	r := mustTurn(t, s, 2)
	if r.Body != nil || r.Salt != (dag.Salt{}) || r.External != "" {
		t.Errorf("after the erasure there is %+v", r)
	}
	if r.Turn != before.Turn || r.Leaf != before.Leaf || r.Seq != before.Seq || len(r.Parents) != 1 || r.Parents[0] != before.Parents[0] {
		t.Errorf("the erasure changed more than the body: %+v, was %+v", r, before)
	}
	if ids, err := s.Find(ctx, Tenant, store.External("a name"), 9); err != nil || len(ids) != 0 {
		t.Errorf("the external id still leads to %v, %v", ids, err)
	}
	later := Erasure(2)
	later.At, later.Reason = later.At+1, "again"
	if got, err := Erase(ctx, s, Tenant, later); err != nil || got != want {
		t.Errorf("a second time: got %+v, %v, want the event that was there, %+v", got, err, want)
	}
	// The turn arrives again in every form, and stays erased.
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 4}, store.Batch{b[1]})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 4}, store.Batch{Withheld(b[1])})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 4}, store.Batch{Drawn(b[1], 50)})
	if r := mustTurn(t, s, 2); r.Body != nil {
		t.Errorf("the erased turn came back")
	}
	var conflict *store.ConflictError
	if err := refused(t, s, store.Batch{Arrival(2, 0, "another text", 1)}); !errors.As(err, &conflict) {
		t.Errorf("another text: got %v, want a ConflictError", err)
	}
	if _, err := Erase(ctx, s, Tenant, Erasure(99)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown turn: got %v, want ErrNotFound", err)
	}
	if _, err := Erase(ctx, s, "nobody", Erasure(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown tenant: got %v, want ErrNotFound", err)
	}
	if _, err := Erase(ctx, s, Tenant, erasures.Erasure{Turn: TurnID(1), At: -1}); !errors.Is(err, dag.ErrForm) {
		t.Errorf("no time: got %v, want dag.ErrForm", err)
	}
	// Numbers go on after the event.
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 1, Head: 5}, store.Batch{Arrival(4, 0, "from the erased one", 2)})
}

func testEvents(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	mustAppend(t, s, store.Receipt{Admitted: 5, Edges: 4, Head: 5}, Chain(1, 5, 0))
	var want []erasures.Erasure
	for _, n := range []int{4, 1, 5} {
		e, err := Erase(ctx, s, Tenant, Erasure(n))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	for _, c := range []struct {
		after dag.Seq
		limit int
		want  []erasures.Erasure
	}{{0, 9, want}, {0, 2, want[:2]}, {6, 9, want[1:]}, {8, 9, nil}, {dag.MaxSeq, 9, nil}, {0, 0, nil}, {0, -1, nil}} {
		got, err := Events(ctx, s, Tenant, c.after, c.limit)
		if err != nil || !sameList(got, c.want) {
			t.Errorf("Events(%d, %d) gave %v, %v, want %v", c.after, c.limit, got, err, c.want)
		}
	}
}

func testPolicies(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	if r, err := (registry.Base{History: s}).All(ctx, Tenant); err != nil || len(r.All()) != 0 {
		t.Errorf("of an empty store: %v, %v", r.All(), err)
	}
	for _, p := range []policy.Registered{Policy("zeta@1", 1), Policy("alpha@2", 2), Policy("alpha@1", 3), Policy("alpha@2", 2), FactPolicy("facts@1")} {
		if err := (registry.Base{History: s}).Put(ctx, Tenant, p); err != nil {
			t.Fatalf("PutPolicy(%s): %v", p.ID(), err)
		}
	}
	if err := (registry.Base{History: s}).Put(ctx, Tenant, Policy("alpha@1", 4)); !errors.Is(err, policy.ErrConflict) {
		t.Errorf("other parameters: got %v, want policy.ErrConflict", err)
	}
	if err := (registry.Base{History: s}).Put(ctx, Tenant, policy.Registered{}); err == nil {
		t.Errorf("no policy at all was registered")
	}
	r, err := registry.Base{History: s}.All(ctx, Tenant)
	if err != nil || len(r.All()) != 4 {
		t.Fatalf("got %v, %v, want four", r.All(), err)
	}
	if p, err := r.Get("facts@1"); err != nil || p != FactPolicy("facts@1") {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := r.Get("alpha@1"); err != nil || p != Policy("alpha@1", 3) {
		t.Errorf("alpha@1 is %+v, %v, want the first one", p, err)
	}
}

func testIssued(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	var want []issued.Record
	for n := range 10 {
		i := Issued(n, n%3)
		i.Number, i.Leaf = 77, 88 // the store sets these
		got, err := PutIssued(ctx, s, Tenant, i)
		i.Number, i.Leaf = uint64(n+1), uint64(n)
		if err != nil || got != i {
			t.Fatalf("got %+v, %v, want %+v", got, err, i)
		}
		want = append(want, got)
	}
	again := Issued(4, 1)
	again.At, again.Token = again.At+1, "another"
	if got, err := PutIssued(ctx, s, Tenant, again); err != nil || got != want[4] {
		t.Errorf("the same bundle: got %+v, %v, want the first record %+v", got, err, want[4])
	}
	for _, c := range []struct {
		after uint64
		limit int
		want  []issued.Record
	}{{0, 99, want}, {0, 4, want[:4]}, {8, 4, want[8:]}, {10, 4, nil}, {1<<64 - 1, 4, nil}, {0, 0, nil}} {
		got, err := Bundles(s).After(ctx, Tenant, c.after, c.limit)
		if err != nil || !sameList(got, c.want) {
			t.Errorf("IssuedAfter(%d, %d) gave %d records, %v, want %d", c.after, c.limit, len(got), err, len(c.want))
		}
	}
	if got, err := Bundles(s).ByID(ctx, Tenant, want[0].Provenance.SliceID); err != nil || len(got) != 4 || got[3] != want[9] {
		t.Errorf("IssuedByID gave %v, %v", got, err)
	}
	if got, err := Bundles(s).ByID(ctx, Tenant, "ffffffffffffffff"); err != nil || len(got) != 0 {
		t.Errorf("an unknown slice: %v, %v", got, err)
	}
	malformed := Issued(50, 0)
	malformed.Provenance.SliceID = ""
	if _, err := PutIssued(ctx, s, Tenant, malformed); err == nil {
		t.Errorf("a record without a slice id was kept")
	}
	if head := mustHead(t, s); head != 0 {
		t.Errorf("issuing moved the head to %d", head)
	}
}

func testKeys(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	if got, err := (apikeys.Base{History: s}).All(ctx, Tenant); err != nil || len(got) != 0 {
		t.Errorf("of an empty store: %v, %v", got, err)
	}
	var want []access.Key
	for n := range 12 {
		if err := (apikeys.Base{History: s}).Put(ctx, Key(n)); err != nil {
			t.Fatalf("PutKey: %v", err)
		}
		want = append(want, Key(n))
	}
	slices.SortFunc(want, apikeys.Compare)
	listed := func() {
		t.Helper()
		if got, err := (apikeys.Base{History: s}).All(ctx, Tenant); err != nil || !sameList(got, want) {
			t.Errorf("Keys gave %+v, %v, want %+v", got, err, want)
		}
		for _, k := range want {
			if got, err := (apikeys.Base{History: s}).Get(ctx, Tenant, k.ID); err != nil || got != k {
				t.Errorf("Key(%s) gave %+v, %v, want %+v", k.ID, got, err, k)
			}
		}
	}
	listed()

	// The same key again changes nothing; another key with its id is refused.
	if err := (apikeys.Base{History: s}).Put(ctx, Key(3)); err != nil {
		t.Errorf("the same key again: %v", err)
	}
	for field, change := range map[string]func(*access.Key){
		"role":       func(k *access.Key) { k.Role = access.Agent },
		"scope":      func(k *access.Key) { k.Admits.Authors = "*" },
		"roles":      func(k *access.Key) { k.Admits.Roles = "" },
		"note":       func(k *access.Key) { k.Note = "" },
		"hash":       func(k *access.Key) { k.Hash[31] ^= 1 },
		"created_at": func(k *access.Key) { k.CreatedAt++ },
	} {
		k := Key(3)
		change(&k)
		if err := (apikeys.Base{History: s}).Put(ctx, k); !errors.Is(err, apikeys.ErrExists) {
			t.Errorf("another %s: got %v, want ErrExists", field, err)
		}
	}
	for name, spoil := range map[string]func(*access.Key){
		"revoked":   func(k *access.Key) { k.RevokedAt = 1 },
		"no tenant": func(k *access.Key) { k.Tenant = "" },
		"no role":   func(k *access.Key) { k.Role = "" },
		"no id":     func(k *access.Key) { k.ID = "" },
		"no hash":   func(k *access.Key) { k.Hash = [32]byte{} },
		"long note": func(k *access.Key) { k.Note = strings.Repeat("x", access.MaxNote+1) },
	} {
		k := Key(90)
		spoil(&k)
		if err := (apikeys.Base{History: s}).Put(ctx, k); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: got %v, want dag.ErrForm", name, err)
		}
	}
	plain := Key(91)
	plain.Note, plain.CreatedAt = "", 0 // the zero of both is allowed
	if err := (apikeys.Base{History: s}).Put(ctx, plain); err != nil {
		t.Error(err)
	}
	want = slices.Insert(want, 0, plain)
	listed()

	testRevoking(t, s, want)
	listed()
	if head := mustHead(t, s); head != 0 {
		t.Errorf("keys moved the head to %d", head)
	}
}

// testRevoking revokes the fifth of the keys, and tries to revoke keys that do not exist.
func testRevoking(t *testing.T, s store.Store, keys []access.Key) {
	ctx := context.Background()
	k := &keys[4]
	stored := *k
	for _, at := range []dag.Time{0, -1, dag.MaxTime + 1} {
		if got, err := (apikeys.Base{History: s}).Revoke(ctx, Tenant, k.ID, at); !errors.Is(err, dag.ErrForm) || got != (access.Key{}) {
			t.Errorf("revoked at %d: %+v, %v, want dag.ErrForm", at, got, err)
		}
	}
	k.RevokedAt = RevokedAt(4)
	for i := range 3 { // the first time counts
		if got, err := (apikeys.Base{History: s}).Revoke(ctx, Tenant, k.ID, RevokedAt(4)+dag.Time(i)); err != nil || got != *k {
			t.Errorf("RevokeKey, time %d: %+v, %v, want %+v", i, got, err, *k)
		}
	}
	if err := (apikeys.Base{History: s}).Put(ctx, stored); err != nil {
		t.Errorf("a revoked key that arrives again: %v", err)
	}
	if got, err := (apikeys.Base{History: s}).Get(ctx, Tenant, k.ID); err != nil || got != *k {
		t.Errorf("after it arrived again: %+v, %v, want it revoked", got, err)
	}
	for _, c := range []struct {
		tenant dag.Tenant
		id     string
	}{{Tenant, Key(99).ID}, {Tenant, ""}, {Tenant, strings.ToUpper(k.ID)}, {Tenant, k.ID + "\x00"}, {"nobody", k.ID}} {
		if got, err := (apikeys.Base{History: s}).Get(ctx, c.tenant, c.id); !errors.Is(err, store.ErrNotFound) || got != (access.Key{}) {
			t.Errorf("Key(%s, %q) gave %+v, %v, want ErrNotFound", c.tenant, c.id, got, err)
		}
		if got, err := (apikeys.Base{History: s}).Revoke(ctx, c.tenant, c.id, 1); !errors.Is(err, store.ErrNotFound) || got != (access.Key{}) {
			t.Errorf("RevokeKey(%s, %q) gave %+v, %v, want ErrNotFound", c.tenant, c.id, got, err)
		}
	}
}

// testKeysConcurrent puts and revokes the same keys from several goroutines:
// each key is stored once, and all of them get the same time of revocation.
func testKeysConcurrent(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	const sides, keys = 4, 8
	var told [sides][keys]access.Key
	var all sync.WaitGroup
	for side := range sides {
		all.Go(func() {
			for n := range keys {
				n := (n + side) % keys
				if err := (apikeys.Base{History: s}).Put(ctx, Key(n)); err != nil {
					t.Errorf("PutKey: %v", err)
					return
				}
				k, err := apikeys.Base{History: s}.Revoke(ctx, Tenant, Key(n).ID, RevokedAt(100*n+side))
				if err != nil {
					t.Errorf("RevokeKey: %v", err)
					return
				}
				told[side][n] = k
				if got, err := (apikeys.Base{History: s}).Get(ctx, Tenant, k.ID); err != nil || got != k {
					t.Errorf("after RevokeKey gave %+v there is %+v, %v", k, got, err)
				}
				if list, err := (apikeys.Base{History: s}).All(ctx, Tenant); err != nil || !slices.Contains(list, k) {
					t.Errorf("after RevokeKey gave %+v the list is %+v, %v", k, list, err)
				}
			}
		})
	}
	all.Wait()
	for side := range sides {
		if told[side] != told[0] {
			t.Errorf("side %d was told %+v, side 0 %+v", side, told[side], told[0])
		}
	}
	if list, err := (apikeys.Base{History: s}).All(ctx, Tenant); err != nil || len(list) != keys {
		t.Errorf("%d keys, %v, want %d", len(list), err, keys)
	}
}

// keyOf returns keys with the same id that differ in everything else.
func keyOf(tenant dag.Tenant, n int) access.Key {
	k := Key(n)
	k.Tenant, k.ID = tenant, Key(0).ID
	return k
}

// testTenants writes to several tenants different content under the same ids.
func testTenants(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	tenants := []dag.Tenant{Tenant, "other", "a"}
	for i, tenant := range tenants {
		a := Named(Arrival(1, 0, fmt.Sprintf("of tenant %d", i)), "name")
		link := Arrival(2, 1, "linked", 1)
		if got, err := s.Append(ctx, tenant, []store.Batch{{a, link}}); err != nil || got != (store.Receipt{Admitted: 2, Edges: 1, Head: 2}) {
			t.Fatalf("%s: %+v, %v", tenant, got, err)
		}
		if err := (registry.Base{History: s}).Put(ctx, tenant, Policy("p@1", i)); err != nil {
			t.Fatal(err)
		}
		if got, err := PutIssued(ctx, s, tenant, Issued(1, 1)); err != nil || got.Number != 1 {
			t.Fatalf("%s: issued %+v, %v", tenant, got, err)
		}
		if err := (apikeys.Base{History: s}).Put(ctx, keyOf(tenant, i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Erase(ctx, s, Tenant, Erasure(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := (apikeys.Base{History: s}).Revoke(ctx, Tenant, Key(0).ID, RevokedAt(0)); err != nil {
		t.Fatal(err)
	}
	for i, tenant := range tenants {
		if err := Check(ctx, s, tenant); err != nil {
			t.Errorf("%s: %v", tenant, err)
		}
		head, err := s.Head(ctx, tenant)
		if want := dag.Seq(2 + len(tenants[:1-min(i, 1)])); err != nil || head != want {
			t.Errorf("%s: head %d, %v, want %d", tenant, head, err, want)
		}
		records, err := s.Turns(ctx, tenant, store.IDs{TurnID(1)})
		if err != nil || len(records) != 1 || (records[0].Body == nil) != (i == 0) {
			t.Fatalf("%s: %v, %v", tenant, records, err)
		}
		want := Named(Arrival(1, 0, fmt.Sprintf("of tenant %d", i)), "name")
		if records[0].Turn.BodyDigest != want.Turn.BodyDigest || i > 0 && string(records[0].Body) != string(want.Body) {
			t.Errorf("%s has another tenant's turn", tenant)
		}
		if r, err := (registry.Base{History: s}).All(ctx, tenant); err != nil || len(r.All()) != 1 || r.All()[0] != Policy("p@1", i) {
			t.Errorf("%s: policies %v, %v", tenant, r.All(), err)
		}
		if ids, err := s.Find(ctx, tenant, store.External("name"), 9); err != nil || (len(ids) == 0) != (i == 0) {
			t.Errorf("%s: external %v, %v", tenant, ids, err)
		}
		key := keyOf(tenant, i)
		if i == 0 {
			key.RevokedAt = RevokedAt(0)
		}
		if list, err := (apikeys.Base{History: s}).All(ctx, tenant); err != nil || !sameList(list, []access.Key{key}) {
			t.Errorf("%s: keys %+v, %v, want %+v", tenant, list, err, key)
		}
	}
	adopted := Stretch{Records: Records(4, nil, store.Batch{Arrival(3, 0, "adopted")})}
	if err := Adopt(ctx, s, Tenant, adopted); err != nil {
		t.Errorf("Adopt: %v", err)
	}
	for _, tenant := range tenants[1:] {
		if err := Adopt(ctx, s, tenant, adopted); !errors.Is(err, store.ErrGap) {
			t.Errorf("%s: adopting behind another tenant's head gave %v, want ErrGap", tenant, err)
		}
	}
	if k, err := (apikeys.Base{History: s}).Get(ctx, "fresh", Key(0).ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key of another tenant: %+v, %v, want ErrNotFound", k, err)
	}
	var unknown *store.ParentError
	_, err := s.Append(ctx, "fresh", []store.Batch{{Arrival(3, 0, "from another tenant's turn", 1)}})
	if !errors.As(err, &unknown) {
		t.Errorf("a parent of another tenant: got %v, want a ParentError", err)
	}
	err = Adopt(ctx, s, "fresh", Stretch{Records: Records(1, store.Batch{Arrival(1, 0, "")}, store.Batch{Arrival(3, 0, "from another tenant's turn", 1)})})
	if !errors.Is(err, dag.ErrForm) {
		t.Errorf("adopting a parent of another tenant: got %v, want dag.ErrForm", err)
	}
	if err := s.Adopt(ctx, "fresh", Stretch{Events: []erasures.Erasure{Erased(1, 2)}}.Store()); !errors.Is(err, dag.ErrForm) {
		t.Errorf("adopting the erasure of another tenant's turn: got %v, want dag.ErrForm", err)
	}
	if records, err := s.Turns(ctx, "fresh", store.Places{{Conversation: ConversationID(0), Seq: 1}}); err != nil || len(records) != 0 {
		t.Errorf("another tenant's place: %v, %v", records, err)
	}
	if err := Check(ctx, s, "fresh"); err != nil {
		t.Errorf("a tenant that has nothing: %v", err)
	}
	slices.Sort(tenants)
	if got, err := s.Tenants(ctx, "", 9); err != nil || !sameList(got, tenants) {
		t.Errorf("Tenants gave %q, %v, want %q", got, err, tenants)
	}
}
