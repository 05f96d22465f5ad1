package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// replay is Replay for a context. The outcome is Erased if texts of its view were erased since and everything else is unchanged.
func (k Contexts) replay(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Replay, error) {
	b, err := contexts.Parse(bundle)
	if err != nil {
		return nil, err
	}
	digest := dag.Digest(sha256.Sum256(bundle))
	of, err := k.claimedFrom(ctx, tenant, b, digest)
	if err != nil {
		return nil, err
	}
	r, err := k.slices().replayAsked(ctx, tenant, b, bundle, func(c *cache) ([]byte, error) {
		return assemblerEpoch{c}.again(ctx, tenant, assemble.Claim{Request: b.Request, Policy: b.Provenance.PolicyID, From: of}, b.Seal)
	})
	if err != nil || r.Outcome != Erased {
		return r, err
	}
	wrong, err := k.unexplained(ctx, tenant, b, digest, of)
	if err == nil && wrong != "" {
		r.judgeAnew()
		r.differ(nil, wrong)
	}
	return r, err
}

// unexplained returns the first difference of a replayed context that erasures cannot explain, or "" if there is none. of is the vantage of the replay.
func (k Contexts) unexplained(ctx context.Context, tenant dag.Tenant, b *contexts.Bundle, digest dag.Digest, of issued.Vantage) (string, error) {
	record, err := k.recordOf(ctx, tenant, b.Provenance.SliceID, digest)
	if err != nil || record == nil {
		return "", err
	}
	gone, err := k.erasedSince(ctx, tenant, record)
	if err != nil {
		return "", err
	}
	return steady(k.engine, func(c *cache) (string, error) {
		return assemble.Unexplained(ctx, assemblerEpoch{c}, tenant, b, of, gone)
	})
}

// account implements remaker. It adds to the replay which texts were erased since the context was handed out: those of
// turns that it showed, and those of other turns of its view, which counted in the statistics of its search.
func (k Contexts) account(ctx context.Context, tenant dag.Tenant, r *Replay, i *issued.Record) error {
	gone, err := k.erasedSince(ctx, tenant, i)
	if err != nil || len(gone) == 0 {
		return err
	}
	shown := i.Shown.Unpack()
	for _, turn := range gone {
		if slices.Contains(shown, turn) {
			r.Erased = append(r.Erased, turn)
		}
	}
	r.judgeAnew()
	reason := fmt.Sprintf("%d of the turns that it showed were erased since, so the bytes cannot be compared", len(r.Erased))
	if len(r.Erased) == 0 {
		reason = fmt.Sprintf("%d turns of its view were erased since, which counted in the statistics of its search", len(gone))
	}
	r.agree(Erased, reason)
	return nil
}

// erasedSince returns the turns of the view of recorded evidence that were erased after the evidence was made. It compares numbers, or ledger leaves for a
// record without a head, and never times, since the clocks of two processes may differ.
func (k *engine) erasedSince(ctx context.Context, tenant dag.Tenant, i *issued.Record) (gone []dag.TurnID, err error) {
	for after := i.AsOf; ; {
		page, err := k.erasures().After(ctx, tenant, after, 256)
		if err != nil || len(page) == 0 {
			return gone, err
		}
		turns := make([]dag.TurnID, len(page))
		for e := range page {
			after, turns[e] = page[e].Seq, page[e].Turn
		}
		logged, err := k.erasures().LoggedAmong(ctx, tenant, turns)
		if err != nil {
			return nil, err
		}
		var later store.IDs
		for e, turn := range turns {
			if i.Head != 0 && page[e].Seq > i.Head || i.Head == 0 && logged[turn] > dag.Seq(i.Leaf)+1 {
				later = append(later, turn)
			}
		}
		records, err := k.store.Turns(ctx, tenant, later)
		if err != nil {
			return nil, err
		}
		for n := range records {
			if records[n].Seq <= i.AsOf {
				gone = append(gone, records[n].Turn.ID)
			}
		}
	}
}

// instead implements remaker.
func (k Contexts) instead(ctx context.Context, tenant dag.Tenant, i *issued.Record, err error) ([]byte, error) {
	if e, err := k.taskErased(ctx, tenant, i); err != nil {
		return nil, err
	} else if e != nil {
		return nil, fmt.Errorf("%w: %s", erasedSince(tenant, i), taskGone(e))
	}
	gone, wrong := k.erasedSince(ctx, tenant, i)
	return nil, notRemade(tenant, i, wrong == nil && len(gone) > 0, cmp.Or(wrong, err))
}

// remake implements remaker.
func (k Contexts) remake(ctx context.Context, c *cache, tenant dag.Tenant, i *issued.Record, seal slice.Seal) ([]byte, error) {
	r, err := contexts.ParseRequest(i.Question)
	if err != nil {
		return nil, damagedQuestion(i, err)
	}
	return assemblerEpoch{c}.again(ctx, tenant, assemble.Claim{Request: r, Policy: i.Provenance.PolicyID, From: i.Vantage()}, seal)
}

// again makes the bundle of a claim again, with the given seal.
func (c assemblerEpoch) again(ctx context.Context, tenant dag.Tenant, claim assemble.Claim, seal slice.Seal) ([]byte, error) {
	if err := known(claim.From.AsOf); err != nil {
		return nil, err
	}
	b, err := assemble.Again(ctx, c, tenant, claim)
	if err != nil {
		return nil, err
	}
	b.Seal = seal
	return b.Append(nil), nil
}
