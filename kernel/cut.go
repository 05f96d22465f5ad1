package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// A Request asks for a slice.
type Request struct {
	Anchor dag.TurnID
	Policy policy.ID // "" is policy.DefaultID
	AsOf   dag.Seq   // 0: the anchor's number under a policy with direction past, else the present
}

// An Issued slice is the answer to a Request. Its contents may be shared
// with other callers and must not be changed.
type Issued struct {
	Slice  *slice.Slice
	Seal   slice.Seal
	Bundle []byte // canonical bytes, the evidence to hand on
	Record issued.Record

	redacted []dag.TurnID // by ascending id
}

// Head implements [slice.Outline].
func (i *Issued) Head() slice.Head { return i.Slice.Head(i.Seal) }

// Redacted implements [slice.Outline].
func (i *Issued) Redacted() []dag.TurnID { return i.redacted }

// Cut cuts, signs and records a slice. The same request on the same view returns
// the same bytes (INV-001) unless a turn was erased or the signing key changed
// in between.
func (k Slices) Cut(ctx context.Context, tenant dag.Tenant, r Request) (_ *Issued, err error) {
	ctx, observed := k.observe(ctx, "slice")
	defer func() { observed(err) }()
	return steady(k.engine, func(c *cache) (*Issued, error) {
		return again(ctx, func() (*Issued, error) { return c.issue(ctx, tenant, r) })
	})
}

// again makes evidence, and repeats that as long as turns on which the evidence rests are erased meanwhile. Each time the evidence rests on fewer turns.
func again[T any](ctx context.Context, make func() (T, error)) (T, error) {
	for {
		made, err := make()
		if !issued.ErasedMeanwhile(err) || ctx.Err() != nil {
			return made, err
		}
	}
}

func (c *cache) issue(ctx context.Context, tenant dag.Tenant, r Request) (*Issued, error) {
	if err := c.k.notary.MayIssue(tenant); err != nil {
		return nil, err
	}
	p, err := c.policy(ctx, tenant, r.Policy)
	if err != nil {
		return nil, err
	}
	cut, s, texts, head, err := c.cut(ctx, tenant, r.Anchor, p, issued.Vantage{AsOf: r.AsOf, Reading: dag.ReadNow})
	if err != nil {
		return nil, err
	}
	if gone := lostAmong(s.Turns, texts); len(gone) > 0 {
		return nil, fmt.Errorf("%w: the text of turn %s is gone, and no erasure is on record", store.ErrDamaged, gone[0])
	}
	var seal slice.Seal
	var bundle []byte
	err = c.k.turnstile.Pass(ctx, func() (err error) {
		if seal, err = c.k.authority.Seal(tenant, s); err == nil {
			bundle = cut.Bundle(s.AsOf, seal, texts)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower max_nodes", slice.ErrTooLarge, len(bundle), slice.MaxBundle)
	}
	record, err := c.record(ctx, s, seal, texts, bundle, head)
	if err != nil {
		return nil, err
	}
	issued := &Issued{Slice: s, Seal: seal, Bundle: bundle, Record: record}
	for i := range texts {
		if texts[i].State != projection.TextShown {
			issued.redacted = append(issued.redacted, s.Turns[i].ID)
		}
	}
	return issued, nil
}

// cut selects the turns of a slice and fetches their texts. It also returns the head at the time.
func (c *cache) cut(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, of issued.Vantage) (*projection.Cut, *slice.Slice, []projection.Text, dag.Seq, error) {
	cut, s, head, err := c.cuts.Select(ctx, tenant, anchor, p, of.AsOf, of.Reading)
	if err != nil {
		return nil, nil, nil, 0, err
	}
	texts, err := c.tenants.Of(tenant).Texts.OfCut(ctx, head, cut)
	return cut, s, texts, head, err
}

// lostAmong returns the turns whose text is lost, by ascending id.
func lostAmong(turns []slice.Selected, texts []projection.Text) (gone []dag.TurnID) {
	for i := range texts {
		if texts[i].State == projection.TextLost {
			gone = append(gone, turns[i].ID)
		}
	}
	return gone
}

// sealed signs a bundle that answers a question, and returns its canonical bytes.
func (k *engine) sealed(ctx context.Context, tenant dag.Tenant, p *slice.Provenance, seal *slice.Seal, encode func([]byte) []byte) (bundle []byte, err error) {
	err = k.turnstile.Pass(ctx, func() (err error) {
		if *seal, err = k.authority.SealProvenance(tenant, p); err == nil {
			bundle = encode(nil)
		}
		return err
	})
	return bundle, err
}

// A handout identifies a bundle by the values that determine its bytes: the token determines the slice
// and its tenant, and only the set of turns without text can change.
type handout struct {
	keyID, token string
	asOf         dag.Seq
	withheld     dag.Digest // the digest of the indexes of turns without text; zero if there are none
}

func handoutOf(s *slice.Slice, seal slice.Seal, texts []projection.Text) handout {
	h := handout{keyID: seal.KeyID, token: seal.Token, asOf: s.AsOf}
	var without []byte
	for i := range texts {
		if texts[i].State != projection.TextShown {
			without = binary.AppendUvarint(without, uint64(i))
		}
	}
	if without != nil {
		h.withheld = sha256.Sum256(without)
	}
	return h
}

// record records that a bundle was handed out, before it is handed out. The same bundle
// is recorded once.
func (c *cache) record(ctx context.Context, s *slice.Slice, seal slice.Seal, texts []projection.Text, bundle []byte, head dag.Seq) (issued.Record, error) {
	on := resting{as: head}
	for i := range texts {
		if texts[i].State == projection.TextShown {
			on.turns = append(on.turns, s.Turns[i].ID)
		}
	}
	return c.recordAs(ctx, seal.Tenant, handoutOf(s, seal, texts), s.Policy, on, func(at dag.Time) issued.Record {
		return issued.Record{Provenance: s.Provenance, AsOf: s.AsOf, KeyID: seal.KeyID, Token: seal.Token, Bundle: sha256.Sum256(bundle), At: at, Reading: dag.ReadNow, Head: head}
	})
}

// resting names the turns on which a bundle rests, and the head at which they had their texts.
type resting struct {
	turns []dag.TurnID
	as    dag.Seq
	words []dag.TurnID // turns whose words are in the question
}

// recordAs writes a record, unless it is on record already. record makes the record for the time at which the bundle is
// handed out; recordAs adds the caller in ctx. If a turn on which the bundle rests was erased meanwhile, the error is an issued.ErasedError.
func (c *cache) recordAs(ctx context.Context, tenant dag.Tenant, handed handout, p policy.Registered, on resting, record func(at dag.Time) issued.Record) (issued.Record, error) {
	if r, ok := c.recorded.Get(handed); ok {
		return r, nil
	}
	if _, err := c.announced.Announce(ctx, tenant); err != nil {
		return issued.Record{}, err
	}
	if err := c.policies.Write(ctx, tenant, p); err != nil {
		return issued.Record{}, err
	}
	now, err := c.k.now()
	if err != nil {
		return issued.Record{}, err
	}
	named := record(now)
	named.By = access.CallerIn(ctx)
	r, err := c.issuing.put(ctx, tenant, issued.Handing{Record: named, Turns: on.turns, As: on.as, Words: on.words})
	if err != nil {
		return issued.Record{}, err
	}
	c.recorded.Put(handed, r, 1)
	c.k.changes.tell(tenant)
	return r, nil
}
