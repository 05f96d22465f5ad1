package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A Request asks for a slice.
type Request struct {
	Anchor dag.TurnID
	Policy policy.ID // "" is default@1
	AsOf   dag.Seq   // 0 is the present
}

// An Issued slice is what a request is answered with. What it points to may be shared
// with others and must not be changed.
type Issued struct {
	Slice  *slice.Slice
	Seal   slice.Seal
	Bundle []byte // canonical bytes, the evidence to hand on
	Record store.Issued
}

// ErrTooLarge is wrapped when a bundle would be larger than verifiers read.
var ErrTooLarge = errors.New("slice is too large")

// Slice cuts, signs and records a slice. The same request on the same view gives
// the same bytes (INV-001) unless a turn was erased or the signing key changed
// in between.
func (k *Kernel) Slice(ctx context.Context, tenant dag.Tenant, r Request) (_ *Issued, err error) {
	ctx, observed := k.observe(ctx, "slice")
	defer func() { observed(err) }()
	p, err := k.Policy(ctx, tenant, r.Policy)
	if err != nil {
		return nil, err
	}
	c, s, texts, err := k.cut(ctx, tenant, r.Anchor, p, r.AsOf)
	if err != nil {
		return nil, err
	}
	var seal slice.Seal
	var bundle []byte
	err = k.turnstile.pass(ctx, func() (err error) {
		if seal, err = k.authority.Seal(tenant, s); err == nil {
			bundle = c.bundle(s.AsOf, seal, texts)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower max_nodes", ErrTooLarge, len(bundle), slice.MaxBundle)
	}
	record, err := k.record(ctx, s, seal, texts, bundle)
	if err != nil {
		return nil, err
	}
	return &Issued{Slice: s, Seal: seal, Bundle: bundle, Record: record}, nil
}

// cut selects and fetches the text.
func (k *Kernel) cut(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq) (*cutting, *slice.Slice, []text, error) {
	c, s, head, err := k.selected(ctx, tenant, anchor, p, asOf)
	if err != nil {
		return nil, nil, nil, err
	}
	texts, err := k.texts.encoded(ctx, tenant, head, s.Turns, c.places)
	return c, s, texts, err
}

// selected selects, and gives the head at the time.
func (k *Kernel) selected(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq) (c *cutting, s *slice.Slice, head dag.Seq, err error) {
	conversation, err := k.conversation(ctx, tenant, anchor)
	if err != nil {
		return nil, nil, 0, err
	}
	var at dag.Seq
	head, err = k.graphs.view(ctx, tenant, conversation, asOf, nil, func(v dag.View, settled dag.Seq) (err error) {
		at = v.Seq()
		c, err = k.cuts.cut(ctx, k.turnstile, v, settled, tenant, anchor, p)
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	own := *c.slice
	own.AsOf = at
	return c, &own, head, nil
}

// bundle writes the bundle of a cut.
func (c *cutting) bundle(asOf dag.Seq, seal slice.Seal, texts []text) []byte {
	f := c.framed()
	size := f.Size() + len(seal.KeyID) + len(seal.Tenant) + len(seal.Token) + 64
	for i := range texts {
		size += len(texts[i].encoded)
	}
	return f.AppendBundle(make([]byte, 0, size), asOf, seal, func(i int) slice.EncodedTurn { return texts[i].encoded })
}

// conversation finds a turn's conversation.
func (k *Kernel) conversation(ctx context.Context, tenant dag.Tenant, id dag.TurnID) (dag.ConversationID, error) {
	key := turnKey{tenant, id}
	if c, ok := k.places.Get(key); ok {
		return c, nil
	}
	records, err := k.store.Turns(ctx, tenant, []dag.TurnID{id})
	if err != nil {
		return dag.ConversationID{}, err
	}
	if len(records) == 0 {
		return dag.ConversationID{}, fmt.Errorf("turn %s of tenant %s: %w", id, tenant, store.ErrNotFound)
	}
	c := records[0].Turn.Conversation
	k.places.Add(key, c)
	return c, nil
}

// A handout names a bundle by what decides its bytes: the token stands for the slice
// and its tenant, and the turns that have no text for the only thing that can change.
type handout struct {
	keyID, token string
	asOf         dag.Seq
	withheld     dag.Digest // of the indexes of turns without text; zero if there are none
}

func handoutOf(s *slice.Slice, seal slice.Seal, texts []text) handout {
	h := handout{keyID: seal.KeyID, token: seal.Token, asOf: s.AsOf}
	var without []byte
	for i := range texts {
		if texts[i].withheld {
			without = binary.AppendUvarint(without, uint64(i))
		}
	}
	if without != nil {
		h.withheld = sha256.Sum256(without)
	}
	return h
}

// record writes down that a bundle was handed out, before it is. The same bundle
// is recorded once.
func (k *Kernel) record(ctx context.Context, s *slice.Slice, seal slice.Seal, texts []text, bundle []byte) (store.Issued, error) {
	tenant, handed := seal.Tenant, handoutOf(s, seal, texts)
	if r, ok := k.recorded.Get(handed); ok {
		return r, nil
	}
	if err := k.policies.write(ctx, tenant, s.Policy); err != nil {
		return store.Issued{}, err
	}
	now, err := k.now()
	if err != nil {
		return store.Issued{}, err
	}
	r, err := k.store.PutIssued(ctx, tenant, store.Issued{
		Provenance: s.Provenance, AsOf: s.AsOf, KeyID: seal.KeyID, Token: seal.Token, Bundle: sha256.Sum256(bundle), At: now,
	})
	if err != nil {
		return store.Issued{}, err
	}
	k.recorded.Add(handed, r)
	k.changes.tell(tenant)
	return r, nil
}

// Preview cuts a slice without its text and signs and records nothing. It is no
// evidence; it shows what Slice would select.
func (k *Kernel) Preview(ctx context.Context, tenant dag.Tenant, r Request) (*slice.Slice, error) {
	p, err := k.Policy(ctx, tenant, r.Policy)
	if err != nil {
		return nil, err
	}
	_, s, _, err := k.selected(ctx, tenant, r.Anchor, p, r.AsOf)
	return s, err
}
