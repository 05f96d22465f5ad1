package kernel

import (
	"context"
	"crypto/sha256"
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

// An Issued slice is what a request is answered with.
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
	s, encoded, err := k.cut(ctx, tenant, r.Anchor, p, r.AsOf)
	if err != nil {
		return nil, err
	}
	seal, err := k.authority.Seal(tenant, s)
	if err != nil {
		return nil, err
	}
	bundle := appendBundle(s, seal, encoded)
	if len(bundle) > slice.MaxBundle {
		return nil, fmt.Errorf("%w: the bundle would have %d bytes, at most %d; lower max_nodes", ErrTooLarge, len(bundle), slice.MaxBundle)
	}
	record, err := k.record(ctx, tenant, s, seal, bundle)
	if err != nil {
		return nil, err
	}
	return &Issued{Slice: s, Seal: seal, Bundle: bundle, Record: record}, nil
}

// cut selects and fetches the text.
func (k *Kernel) cut(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq) (*slice.Slice, []slice.EncodedTurn, error) {
	s, head, err := k.selected(ctx, tenant, anchor, p, asOf)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := k.texts.encoded(ctx, tenant, head, s.Turns)
	if err != nil {
		return nil, nil, err
	}
	return s, encoded, nil
}

// selected selects, and gives the head at the time.
func (k *Kernel) selected(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, p policy.Registered, asOf dag.Seq) (s *slice.Slice, head dag.Seq, err error) {
	conversation, err := k.conversation(ctx, tenant, anchor)
	if err != nil {
		return nil, 0, err
	}
	head, err = k.graphs.view(ctx, tenant, conversation, asOf, nil, func(v dag.View) (err error) {
		s, err = slice.Cut(v, anchor, p)
		return err
	})
	return s, head, err
}

func appendBundle(s *slice.Slice, seal slice.Seal, encoded []slice.EncodedTurn) []byte {
	size := 1024
	for i := range encoded {
		size += len(encoded[i]) + 200
	}
	size += 160 * len(s.Edges)
	return slice.AppendBundle(make([]byte, 0, size), s, seal, func(i int) slice.EncodedTurn { return encoded[i] })
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

// record writes down that a bundle was handed out, before it is. The same bundle
// is recorded once.
func (k *Kernel) record(ctx context.Context, tenant dag.Tenant, s *slice.Slice, seal slice.Seal, bundle []byte) (store.Issued, error) {
	// The tenant stands in the bundle, so the digest alone names the record.
	digest := dag.Digest(sha256.Sum256(bundle))
	if r, ok := k.recorded.Get(digest); ok {
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
		Provenance: s.Provenance, AsOf: s.AsOf, KeyID: seal.KeyID, Token: seal.Token, Bundle: digest, At: now,
	})
	if err != nil {
		return store.Issued{}, err
	}
	k.recorded.Add(digest, r)
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
	s, _, err := k.selected(ctx, tenant, r.Anchor, p, r.AsOf)
	return s, err
}
