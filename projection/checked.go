package projection

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A Checked is a store that compares records with their digests when it reads them: if a text, a record or an edge does not
// match, it returns an error that wraps store.ErrDamaged. The embedded Store returns records unchecked.
type Checked struct{ store.Store }

// Turns implements store.Store.
func (s Checked) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	records, err := s.Store.Turns(ctx, tenant, of)
	if err != nil {
		return nil, err
	}
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	return records, nil
}

// checkedAlone is the number of records below which one processor checks all of them; each record takes 2 µs.
const checkedAlone = 64

// checkRecords checks records on every processor, and returns the error of the first damaged record.
func checkRecords(records []store.Record) error {
	parts := min(runtime.GOMAXPROCS(0), len(records)/checkedAlone+1)
	errs := make([]error, parts)
	check := func(part int) {
		for i := part * len(records) / parts; i < (part+1)*len(records)/parts && errs[part] == nil; i++ {
			errs[part] = checkRecord(&records[i])
		}
	}
	var others sync.WaitGroup
	for part := 1; part < parts; part++ {
		others.Go(func() { check(part) })
	}
	check(0)
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Scan implements store.Store.
func (s Checked) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	return s.Store.Scan(ctx, tenant, after, conversation, func(r *store.Record) error {
		if err := checkRecord(r); err != nil {
			return err
		}
		return fn(r)
	})
}

// HeadWhile implements store.HeadWhiler, whether or not the embedded Store does.
func (s Checked) HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error) {
	return store.HeadWhile(ctx, s.Store, tenant, work)
}

// EachSkeleton implements store.SkeletonReader, whether or not the embedded Store does. It checks nothing, as Segment.
func (s Checked) EachSkeleton(ctx context.Context, tenant dag.Tenant, parts []store.Part, fn func(*dag.Skeleton) error) (dag.Seq, error) {
	return store.EachSkeleton(ctx, s.Store, tenant, parts, fn)
}

// checkRecord reports store.ErrDamaged if a record does not match its digests.
func checkRecord(r *store.Record) error {
	damaged := func(what string) error {
		return fmt.Errorf("%w: %s of turn %s does not match its digest", store.ErrDamaged, what, r.Turn.ID)
	}
	if r.Body != nil && slice.DigestBody(r.Body, r.Salt) != r.Turn.BodyDigest {
		return damaged("the text")
	}
	if slice.TurnLeaf(&r.Turn) != r.Leaf {
		return damaged("the record")
	}
	for i := range r.Parents {
		if p := &r.Parents[i]; slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: r.Turn.ID, Kind: p.Kind}) != p.Leaf {
			return damaged("an edge")
		}
	}
	return nil
}
