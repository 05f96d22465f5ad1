package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store/packed"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestStatementPrefix lets statements be found whose digests only begin as another's do, as
// somebody who can make such facts would.
func TestStatementPrefix(t *testing.T) {
	ctx := t.Context()
	s, err := Create(ctx, filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one, two, three := storetest.Assertion(1, 1, 1, 500_000, "user"), storetest.Assertion(2, 1, 1, 500_000, "user"), storetest.Assertion(3, 1, 1, 500_000, "user")
	if _, err := s.PutActs(ctx, storetest.Tenant, []knowledge.Act{two, two, one, three, two}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.conn.ExecContext(ctx, `UPDATE acts SET statement = ?`, packed.DigestPrefix(one.Fact.ID())); err != nil {
		t.Fatal(err)
	}
	id := one.Fact.ID()
	for limit := range 4 {
		acts, err := s.ActsOf(ctx, storetest.Tenant, id, 0, limit)
		if err != nil || len(acts) != min(limit, 1) || limit > 0 && acts[0].Seq != 2 {
			t.Errorf("%d acts about the statement: %+v, %v", limit, acts, err)
		}
	}
	if lists, err := s.ActsIn(ctx, storetest.Tenant, []knowledge.Span{{Statement: id, UpTo: dag.MaxSeq}}); err != nil || len(lists) != 1 || len(lists[0]) != 1 || lists[0][0].Seq != 2 {
		t.Errorf("acts about the statement: %+v, %v", lists, err)
	}
	surer := one
	surer.Fact.Confidence = 600_000
	outcomes, err := s.PutActs(ctx, storetest.Tenant, []knowledge.Act{one, surer, one, {Kind: knowledge.Retract, Statement: id}}, 1)
	want := []knowledge.Outcome{{Result: knowledge.Existing, Statement: id}, {Result: knowledge.Confirmed, Seq: 4, Statement: id}, {Result: knowledge.Existing, Statement: id}, {Result: knowledge.Retracted, Seq: 5, Statement: id}}
	if err != nil || !slices.Equal(outcomes, want) {
		t.Errorf("%+v, %v, want %+v", outcomes, err, want)
	}
	if err := storetest.SameKnowledge(ctx, s, storetest.Tenant); err != nil {
		t.Error(err)
	}
}
