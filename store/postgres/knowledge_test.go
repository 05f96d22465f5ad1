package postgres_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// now sees what is believed.
var now = knowledge.Filter{AsOf: dag.MaxSeq - 1}

// TestLongNames records a fact of the longest names, which no compression makes shorter: each
// is in an entry of an index.
func TestLongNames(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := harness(pgstore.URL(t)).Open(nil)
	must(t, err)
	defer s.Close()
	tenant := dag.Tenant(strings.Repeat("t", 63))
	r := rand.New(rand.NewPCG(1, 2))
	long := func() string {
		var b strings.Builder
		for b.Len()+3 <= normalize.MaxName {
			b.WriteRune(rune(0x4e00 + r.IntN(0x5000))) // an ideograph
		}
		return b.String()
	}
	f, err := knowledge.NewFact(long(), long(), long(), strings.Repeat("s", knowledge.MaxSource))
	must(t, err)
	f.Written.Subject = strings.Repeat("\x00", normalize.MaxName-len(f.Subject)) + f.Subject
	_, err = storetest.Facts(s).Learn(ctx, tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: f}}, 1)
	must(t, err)
	retraction := knowledge.Act{Kind: knowledge.Retract, Statement: f.ID(), Reason: strings.Repeat("\x00", knowledge.MaxReason)}
	_, err = storetest.Facts(s).Learn(ctx, tenant, []knowledge.Act{retraction}, 1)
	must(t, err)
	must(t, storetest.SameKnowledge(ctx, s, tenant))
	list, total, err := storetest.Facts(s).Versions(ctx, tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: 1, Predicates: []string{f.Predicate}}, Limit: 2})
	if err != nil || total != 1 || len(list) != 1 || list[0].Act.Fact != f {
		t.Errorf("%d of %d versions were found, %v", len(list), total, err)
	}
}

// TestNoName asks for names that nothing has and no column can hold. They do not spoil what
// is asked beside them.
func TestNoName(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := harness(pgstore.URL(t)).Open(nil)
	must(t, err)
	defer s.Close()
	_, err = storetest.Facts(s).Learn(ctx, storetest.Tenant, []knowledge.Act{storetest.Assertion(1, 1, 2, 500_000, "user")}, 1)
	must(t, err)
	for _, name := range []string{"", "e\x001", "e\xff"} {
		lists, err := storetest.Facts(s).Edges(ctx, storetest.Tenant, []knowledge.Ask{{Name: name, Limit: 3}, {Name: "e1", Limit: 3}, {Name: name, Incoming: true, Limit: 3}})
		if err != nil || len(lists) != 3 || len(lists[0]) != 0 || len(lists[1]) != 1 || len(lists[2]) != 0 {
			t.Errorf("%q: %+v, %v", name, lists, err)
		}
		for want, finds := range [][]knowledge.Find{
			{{Subjects: []string{name}}, {Objects: []string{name}}, {Either: []string{name}}, {Filter: knowledge.Filter{Predicates: []string{name}}}, {Source: name + "\x00"}},
			{{Subjects: []string{name, "e1"}}, {Objects: []string{"e2", name, "e2"}}, {Either: []string{name, "e1", "e2"}}, {Filter: knowledge.Filter{Predicates: []string{name, "p1"}}}},
		} {
			for _, f := range finds {
				f.AsOf, f.Limit = now.AsOf, 3
				if list, total, err := storetest.Facts(s).Versions(ctx, storetest.Tenant, f); err != nil || total != want || len(list) != want {
					t.Errorf("%+v: %d of %d, %v, want %d", f, len(list), total, err, want)
				}
			}
		}
	}
}

// TestDamagedKnowledge takes rows away that others lead to. What leads there is an error, and
// changes nothing.
func TestDamagedKnowledge(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := pgstore.URL(t)
	s, err := harness(url).Open(nil)
	must(t, err)
	defer s.Close()
	one, two := storetest.Assertion(1, 1, 2, 500_000, "user"), storetest.Assertion(3, 1, 4, 500_000, "user")
	_, err = storetest.Facts(s).Learn(ctx, storetest.Tenant, []knowledge.Act{one, two}, 1)
	must(t, err)
	conn, err := pgx.Connect(ctx, url)
	must(t, err)
	defer conn.Close(context.Background())
	key := knowledge.KeyOf("e2")
	deleted, err := conn.Exec(ctx, `DELETE FROM terms WHERE position($1::bytea in key) = 1`, key[:])
	must(t, err)
	if deleted.RowsAffected() != 1 {
		t.Fatalf("%s", deleted)
	}
	_, err = conn.Exec(ctx, `DELETE FROM entries WHERE seq = 2`)
	must(t, err)
	_, err = storetest.Facts(s).Learn(ctx, storetest.Tenant, []knowledge.Act{{Kind: knowledge.Retract, Statement: one.Fact.ID()}}, 1)
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("ending a version that has no edge: %v", err)
	}
	if _, _, err := storetest.Facts(s).Versions(ctx, storetest.Tenant, knowledge.Find{Filter: now, Limit: 9}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("listing a version that has no act: %v", err)
	}
	if head, err := s.Head(ctx, storetest.Tenant); err != nil || head != 2 {
		t.Errorf("the head is %d, %v", head, err)
	}
	acts, err := storetest.Acts(ctx, s, storetest.Tenant, 0, 9)
	if err != nil || len(acts) != 1 || acts[0].Until != dag.MaxSeq {
		t.Errorf("the acts are %+v, %v", acts, err)
	}
	_, err = conn.Exec(ctx, `UPDATE entries SET public = public || ' '`)
	must(t, err)
	if _, err := storetest.Acts(ctx, s, storetest.Tenant, 0, 9); err == nil || !strings.Contains(err.Error(), "damaged") || errors.Is(err, knowledge.ErrForm) {
		t.Errorf("an act that is spelled otherwise, which is not the caller's fault: %v", err)
	}
}
