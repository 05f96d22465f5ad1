package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// Slices are a kernel's slices of turns.
type Slices struct {
	Records
	Replays
	Verification
	*engine
}

func (k *engine) slices() Slices {
	return Slices{k.records, Replays{k}, Verification{k.verifier}, k}
}

// Operations lists the operations of the facet.
func (k Slices) Operations() []api.Answer {
	return []api.Answer{
		api.PreviewSlice.By(k.preview), api.ExplainCut.By(k.explain), api.ListSlices.By(k.List), api.GetSlice.By(k.Get), api.TurnHolding.By(k.Holding), api.ExplainTurn.By(k.explainTurn),
	}
}

// mostRecords is the maximum number of records that one listing reads to find those of a kind.
const mostRecords = 1000

// List returns a page of the records of bundles that were handed out.
func (k Slices) List(ctx context.Context, tenant dag.Tenant, in api.SliceQuery) (w api.Slices, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	limit := in.Size()
	look := limit
	if in.Kind != "" {
		look = mostRecords
	}
	var list []issued.Record
	switch {
	case in.Begins != "":
		list, err = k.Begin(ctx, tenant, strings.ToLower(in.Begins), limit)
	case in.Newest:
		list, err = k.Before(ctx, tenant, after, look+1)
	default:
		list, err = k.After(ctx, tenant, after, look+1)
	}
	if err != nil {
		return w, err
	}
	var page []issued.Record
	for i := range list {
		if len(page) == limit || i == look {
			w.Next = api.Next(list[i-1].Number)
			break
		}
		if in.Kind == "" || in.Kind == kindOf(&list[i]).Name {
			page = append(page, list[i])
		}
	}
	w.Slices = records(page)
	for i := range page {
		if in.Counted && page[i].OfTurns() {
			s, err := k.Recorded(ctx, tenant, &page[i])
			if err != nil {
				return w, err
			}
			w.Slices[i].Holds = len(s.Turns)
		}
	}
	return w, nil
}

// Get lists the records of a bundle by its id.
func (k Slices) Get(ctx context.Context, tenant dag.Tenant, in api.SliceByID) (api.SliceRecord, error) {
	list, err := k.Issued(ctx, tenant, in.SliceID)
	return api.SliceRecord{SliceID: in.SliceID, Issued: records(list)}, err
}

// Recorded cuts a recorded slice of turns again, without its text.
func (k Slices) Recorded(ctx context.Context, tenant dag.Tenant, i *issued.Record) (*slice.Slice, error) {
	return steady(k.engine, func(c *cache) (*slice.Slice, error) {
		p, err := c.policy(ctx, tenant, i.Provenance.PolicyID)
		if err != nil {
			return nil, err
		}
		_, s, _, err := c.cuts.Select(ctx, tenant, i.Provenance.Anchor, p, i.AsOf, i.Reading)
		return s, err
	})
}

// mostHolding is how many of the newest records Holding searches for slices that contain a turn.
const mostHolding = 1000

// Holding lists the contexts that showed a turn, and the slices of turns that contain it. Contexts are found by an index. There is
// no index from turns to slices: Holding cuts the slices among the newest 1000 records again if they can contain the turn.
func (k Slices) Holding(ctx context.Context, tenant dag.Tenant, in api.TurnByID) (h api.Holding, err error) {
	t, err := k.turns().Get(ctx, tenant, in.ID)
	if err != nil {
		return h, err
	}
	showing, err := k.contexts().Showing(ctx, tenant, in.ID)
	if err != nil {
		return h, err
	}
	slices.Reverse(showing)
	h.Contexts, h.Slices = records(showing), []api.Issued{}
	newest, err := k.Before(ctx, tenant, 0, mostHolding)
	if err != nil || len(newest) == 0 {
		return h, err
	}
	h.Looked, h.Older = len(newest), newest[len(newest)-1].Number-1
	var held []issued.Record
	for i := range newest {
		r := &newest[i]
		if !r.OfTurns() || r.AsOf < t.Seq {
			continue
		}
		s, err := k.Recorded(ctx, tenant, r)
		if err != nil {
			return h, err
		}
		if slices.ContainsFunc(s.Turns, func(of slice.Selected) bool { return of.ID == in.ID }) {
			held = append(held, *r)
		}
	}
	h.Slices = records(held)
	return h, nil
}

// cutting returns the Request of an api.Cutting.
func (k Slices) cutting(ctx context.Context, tenant dag.Tenant, in *api.Cutting) (r Request, err error) {
	r.Policy, r.AsOf = in.Policy, in.AsOf
	r.Anchor, err = k.turns().Resolve(ctx, tenant, in.Anchor)
	return r, err
}

// preview selects the turns of a slice. Nothing is signed or recorded.
func (k Slices) preview(ctx context.Context, tenant dag.Tenant, in api.Cutting) (w api.Preview, err error) {
	r, err := k.cutting(ctx, tenant, &in)
	if err != nil {
		return w, err
	}
	cut, err := k.Preview(ctx, tenant, r)
	if err != nil {
		return w, err
	}
	w = api.Preview{AsOf: cut.AsOf, Turns: make([]api.Rival, len(cut.Turns))}
	for i := range cut.Turns {
		w.Turns[i] = api.Rival{ID: cut.Turns[i].ID, Admission: api.AdmissionOf(&cut.Turns[i].Admission)}
	}
	return w, nil
}

// Preview returns the slice that Cut would select, without texts. It signs and records nothing, so its result is no
// evidence.
func (k Slices) Preview(ctx context.Context, tenant dag.Tenant, r Request) (*slice.Slice, error) {
	return steady(k.engine, func(c *cache) (*slice.Slice, error) {
		p, err := c.policy(ctx, tenant, r.Policy)
		if err != nil {
			return nil, err
		}
		_, s, _, err := c.cuts.Select(ctx, tenant, r.Anchor, p, r.AsOf, dag.ReadNow)
		return s, err
	})
}

// explain explains why a turn would be in a slice, or would not.
func (k Slices) explain(ctx context.Context, tenant dag.Tenant, in api.ExplainCutting) (w api.Explanation, err error) {
	r, err := k.cutting(ctx, tenant, &in.Cutting)
	if err != nil {
		return w, err
	}
	turn, err := k.turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, err
	}
	seen, err := k.turns().AsOf(ctx, tenant, r.AsOf) // so that the answer states the number of its view
	if err != nil {
		return w, err
	}
	e, err := k.Explain(ctx, tenant, r, turn)
	if err != nil {
		return w, err
	}
	r.AsOf = seen
	return Explained(turn, &r, &e), nil
}

// explainTurn explains why a turn is in an issued slice, or is not.
func (k Slices) explainTurn(ctx context.Context, tenant dag.Tenant, in api.ExplainRequest) (w api.Explanation, err error) {
	list, err := k.Issued(ctx, tenant, in.SliceID)
	if err != nil {
		return w, err
	}
	newest := &list[len(list)-1]
	turn, err := k.turns().Resolve(ctx, tenant, in.Turn)
	if err != nil {
		return w, &api.Fault{Place: "turn", Err: err}
	}
	p := &newest.Provenance
	request := Request{Anchor: p.Anchor, Policy: p.PolicyID, AsOf: newest.AsOf}
	e, err := k.Explain(ctx, tenant, request, turn)
	if err != nil {
		return w, err
	}
	w = Explained(turn, &request, &e)
	w.SliceID = in.SliceID
	if in.Without {
		lost, instead, err := k.atlas().WithoutTurn(ctx, tenant, request.Anchor, request.Policy, request.AsOf, turn)
		if err != nil {
			return w, err
		}
		w.Lost, w.Instead = listed(lost), listed(instead)
	}
	return w, nil
}

// Explain returns the reason why a turn is in the slice of a request, or why it is not. It
// issues nothing.
func (k Slices) Explain(ctx context.Context, tenant dag.Tenant, r Request, turn dag.TurnID) (_ slice.Explanation, err error) {
	ctx, observed := k.observe(ctx, "explain")
	defer func() { observed(err) }()
	return steady(k.engine, func(c *cache) (slice.Explanation, error) { return c.explain(ctx, tenant, r, turn) })
}

func (c *cache) explain(ctx context.Context, tenant dag.Tenant, r Request, turn dag.TurnID) (slice.Explanation, error) {
	p, err := c.policy(ctx, tenant, r.Policy)
	if err != nil {
		return slice.Explanation{}, err
	}
	conversation, err := c.graphs.Conversation(ctx, tenant, r.Anchor)
	if err != nil {
		return slice.Explanation{}, err
	}
	// The turn's own conversation is looked at even if no selected turn leads there.
	of, err := c.graphs.Conversation(ctx, tenant, turn)
	if err != nil {
		return slice.Explanation{}, err
	}
	return c.cuts.Explain(ctx, tenant, r.Anchor, p, r.AsOf, turn, [2]dag.ConversationID{conversation, of})
}

// ErrKind is wrapped if a slice id belongs to evidence of another kind than the operation is for. It wraps store.ErrNotFound.
var ErrKind = fmt.Errorf("%w: evidence of another kind", store.ErrNotFound)

// Explained returns an explanation in the form of package api.
func Explained(turn dag.TurnID, r *Request, e *slice.Explanation) api.Explanation {
	id := cmp.Or(r.Policy, policy.DefaultID)
	w := api.Explanation{
		Turn: turn, Anchor: r.Anchor, PolicyID: id, AsOf: r.AsOf,
		Selected: e.Outcome == slice.Chosen, Outcome: string(e.Outcome), Rank: e.Rank, TurnsInSlice: e.Selected, EdgesAway: e.Edges,
		Explanation: render.Explanation(e, id, r.AsOf),
	}
	if e.Setting != nil {
		w.CountsBy = e.Setting.Policy
	}
	if e.Admission.Via != 0 {
		a := api.AdmissionOf(&e.Admission)
		w.Admission = &a
	}
	if e.BeatenBy != nil {
		w.BeatenBy = &api.Rival{ID: e.BeatenBy.ID, Admission: api.AdmissionOf(&e.BeatenBy.Admission)}
	}
	return w
}

// CanSign reports whether the keyring has a signing key. Without a signing key nothing can be sliced.
func (k Slices) CanSign() bool {
	_, err := k.authority.Keyring().Signer()
	return err == nil
}

// Verification judges the bytes of bundles.
type Verification struct{ verifier *token.Verifier }

// Verify runs every check on the bytes of a bundle. See [token.Verifier.Verify].
func (k Verification) Verify(bundle []byte) (token.Admissible, token.Verdict) {
	return k.verifier.Verify(bundle)
}

// VerifyFor is Verify for one tenant: it treats the key of another tenant's bundle as
// unknown, whatever the token.
func (k Verification) VerifyFor(tenant dag.Tenant, bundle []byte) (token.Admissible, token.Verdict) {
	return k.verifier.VerifyFor(tenant, bundle)
}

// Judge returns the verdict on the bytes of a bundle of any kind for one tenant; see VerifyFor.
func (k Verification) Judge(tenant dag.Tenant, bundle []byte) api.BundleVerdict {
	v := k.verifier.JudgeFor(tenant, bundle)
	return api.BundleVerdict{
		Admissible: v.Outcome == token.Verified, Outcome: string(v.Outcome), KeyID: v.Claim.Seal.KeyID, Reason: v.Reason,
		SliceID: string(v.Claim.Provenance.SliceID), BundleSHA256: dag.Digest(sha256.Sum256(bundle)),
		Redacted: listed(v.Redacted), Checks: listed(v.Checks),
	}
}

// VerifyToken verifies a token without its bundle. See [token.Verifier.VerifyToken].
func (k Verification) VerifyToken(tenant dag.Tenant, p *slice.Provenance, key, tok string) token.TokenVerdict {
	return k.verifier.VerifyToken(tenant, p, key, tok)
}

// Boundary verifies a bundle of any kind, and returns the boundary that limits a question to the bundle. A bundle that is not admissible for
// the tenant is token.ErrNotAdmissible.
func (k Verification) Boundary(tenant dag.Tenant, bundle []byte) (*token.Boundary, error) {
	b, verdict := k.verifier.BoundaryFor(tenant, bundle)
	if !b.OK() {
		return nil, fmt.Errorf("%w: %s, %s", token.ErrNotAdmissible, verdict.Outcome, verdict.Reason)
	}
	return &b, nil
}
