package kernel_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// TestBeforeParts opens a store of a schema before there were parts. As of a number inside of one of its changes the answer is what it was, evidence of such a
// number replays as identical, here and in a copy, and new changes are whole.
func TestBeforeParts(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "old.db")
	a := token.NewAuthority(ring(t, "k1"))
	opened := func() (*sqlite.Store, *kernel.Kernel) {
		t.Helper()
		s := must(sqlite.Open(ctx, path, sqlite.Options{}))
		return s, over(t, s, a)
	}
	must(struct{}{}, must(sqlite.Create(ctx, path, sqlite.Options{})).Close())
	s, k := opened()
	chain(t, k, 3)
	believing(t, k, "port")
	for _, object := range []string{"b", "c"} {
		in := asking(journal.Revise, "api", "port", object)
		in.Statements = append(in.Statements, belief.Literal{Subject: "db", Predicate: "port", Object: object})
		must(k.Beliefs().Operate(ctx, tenant, in))
	}
	c := must(k.Contexts().Assemble(ctx, tenant, kernel.ContextRequest{Task: "the port of db", Budget: 500, Delivery: issued.Delivery{Recipient: issued.Recipient{Agent: "a", Session: "s", Event: "SessionStart"}}}))
	must(k.Contexts().NotGiven(ctx, tenant, c.Context.Provenance.SliceID, c.Record.Bundle, "the pipe was closed"))
	head := must(s.Head(ctx, tenant))
	must(struct{}{}, s.Close())
	db := must(sql.Open("sqlite", "file:"+path+"?vfs="+sqlite.VFS))
	if n := must(must(db.ExecContext(ctx, `UPDATE terms SET indx = 143 WHERE indx = 124`)).RowsAffected()); n != 1 {
		t.Fatalf("%d terms are of contexts that were not given", n)
	}
	for _, do := range []string{`ALTER TABLE entries DROP COLUMN part`, `ALTER TABLE entries DROP COLUMN parts`, `PRAGMA user_version = 14`} {
		must(db.ExecContext(ctx, do))
	}
	must(struct{}{}, db.Close())

	s, k = opened()
	var bundles [][]byte
	for n := dag.Seq(4); n <= head; n++ {
		if at := must(k.Turns().AsOf(ctx, tenant, n)); at != n {
			t.Errorf("as of %d: %d", n, at)
		}
		f := must(k.Facts().Slice(ctx, tenant, kernel.FactRequest{Start: []string{"api"}, AsOf: n}))
		c := must(k.Contexts().Assemble(ctx, tenant, kernel.ContextRequest{Task: "the port of api", Budget: 500, AsOf: n}))
		bundles = append(bundles, f.Bundle, c.Bundle)
		if f.Facts.AsOf != n || c.Context.AsOf != n {
			t.Errorf("as of %d: %d and %d", n, f.Facts.AsOf, c.Context.AsOf)
		}
		for _, object := range []string{"b", "c"} {
			if p, err := k.Beliefs().Prove(ctx, tenant, kernel.ProofRequest{Space: beliefSpace, Literal: belief.Literal{Subject: "db", Predicate: "port", Object: object}, AsOf: n}); err == nil {
				bundles = append(bundles, p.Bundle)
			}
		}
	}
	if len(bundles) < 3*int(head-4) {
		t.Fatalf("%d bundles as of %d numbers", len(bundles), head-3)
	}
	must(k.Beliefs().Operate(ctx, tenant, asking(journal.Revise, "api", "port", "d")))
	if at := must(k.Turns().AsOf(ctx, tenant, head+1)); at != head {
		t.Errorf("as of %d, in a new change: %d, want %d", head+1, at, head)
	}
	must(struct{}{}, s.Close())

	s, k = opened()
	defer s.Close()
	soundly(t, s)
	for i, e := range must(s.Entries(ctx, tenant, history.Page{Limit: 99})) {
		if e.Seq <= head && e.Parts != 0 || e.Seq > head && e.Parts == 0 {
			t.Errorf("entry %d: number %d is part %d of %d", i, e.Seq, e.Part, e.Parts)
		}
	}
	copied := inmem.Open(&inmem.Disk{}, inmem.Options{})
	must(transfer.Copy(ctx, copied, s, transfer.Options{Stretch: 2}))
	soundly(t, copied)
	for _, k := range []*kernel.Kernel{k, over(t, copied, a)} {
		for i, bundle := range bundles {
			if r := must(k.Slices().Replay(ctx, tenant, bundle)); r.Outcome != kernel.Identical {
				t.Errorf("bundle %d, as of %d: %s, %s", i, r.AsOf, r.Outcome, r.Reason)
			}
		}
	}
}
