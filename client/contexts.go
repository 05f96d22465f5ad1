package client

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A Context is a context as the service returned it. It matches the request and is consistent in itself, but its
// signature has not been verified.
type Context struct {
	Bytes  []byte           // to be passed on and verified exactly as they are
	SHA256 dag.Digest       // of Bytes
	Claim  *contexts.Bundle // the parsed Bytes; its Render is the prompt
}

// Assemble asks for a context, assembled and signed. The answer is always the bundle; a format in the request becomes
// the format of its prompt.
func (c Contexts) Assemble(ctx context.Context, r api.ContextRequest) (Context, error) {
	if r.Format != api.FormatBundle {
		r.Format, r.Prompt = api.FormatBundle, r.Format
	}
	r.Spaces = slices.Compact(slices.Sorted(slices.Values(r.Spaces)))
	q, err := asking(&api.AssembleContext.Spec, r)
	if err != nil {
		return Context{}, err
	}
	return handed(ctx, c.conn, q, func(data []byte, digest, id string) (Context, error) { return contextOf(&r, data, digest, id) })
}

// contextOf makes every check of an answer that needs no key. The spaces of the request must be ascending, each once.
// The anchor is compared if the request names it by its id.
func contextOf(r *api.ContextRequest, data []byte, digest, id string) (Context, error) {
	b := Context{Bytes: data, SHA256: sha256.Sum256(data)}
	if digest != b.SHA256.String() {
		return Context{}, fmt.Errorf("the bundle was announced with SHA-256 %.80q, but its SHA-256 is %s", digest, b.SHA256)
	}
	var err error
	if b.Claim, err = consistent(contexts.Parse, data); err != nil {
		return Context{}, err
	}
	p, asked := &b.Claim.Provenance, &b.Claim.Request
	want := r.Policy
	if want == "" {
		want = contexts.DefaultID
	}
	switch {
	case id != string(p.SliceID):
		return Context{}, fmt.Errorf("the bundle was announced as slice %.80q, but is slice %s", id, p.SliceID)
	case asked.Task != r.Task || (asked.Anchor == nil) != (r.Anchor == "") || asked.Anchor != nil && isTurnID(r.Anchor) && asked.Anchor.String() != r.Anchor:
		return Context{}, fmt.Errorf("the context is of another task or anchor than was requested")
	case !slices.EqualFunc(asked.Spaces, r.Spaces, func(name string, s belief.Space) bool { return name == string(s) }):
		return Context{}, fmt.Errorf("the context is of the spaces %q, but %q were requested", asked.Spaces, r.Spaces)
	case r.Budget != 0 && asked.Budget != r.Budget && (r.Fit == 0 || asked.Budget > r.Budget):
		return Context{}, fmt.Errorf("the budget is %d, but %d was requested", asked.Budget, r.Budget)
	case r.Fit != 0 && len(b.Claim.Render()) > r.Fit:
		return Context{}, fmt.Errorf("the prompt has %d bytes, but at most %d were requested", len(b.Claim.Render()), r.Fit)
	case p.PolicyID != want:
		return Context{}, fmt.Errorf("the policy of the bundle is %s, but %s was requested", p.PolicyID, want)
	case r.RulesAsOf == 0 && asked.Past != (r.AsOf != 0) || r.RulesAsOf != 0 && asked.RulesAsOf != r.RulesAsOf:
		return Context{}, fmt.Errorf("the rules of the context are as of %d, which is not what was requested", asked.RulesAsOf)
	case r.AsOf != 0 && b.Claim.AsOf != r.AsOf:
		return Context{}, fmt.Errorf("the bundle is as of %d, but %d was requested", b.Claim.AsOf, r.AsOf)
	}
	return b, nil
}

// isTurnID reports whether a name is the id of a turn, rather than another kind of turn name.
func isTurnID(name string) bool {
	_, err := dag.ParseTurnID(name)
	return err == nil
}

// EraseTask deletes the text of a context's task for good, from every record of the context. Erasing again returns
// the first erasure.
func (c Contexts) EraseTask(ctx context.Context, id slice.SliceID, reason string) (api.TaskErased, error) {
	return call(ctx, c.conn, api.EraseTask, api.TaskErasing{SliceID: id, Body: api.ErasureRequest{Reason: reason}})
}

// Verify is like [Slices.Verify], for a context.
func (c Contexts) Verify(ctx context.Context, bundle []byte) (VerifiedContext, api.BundleVerdict, error) {
	return verified(ctx, c.conn, contexts.Bundles, contexts.Parse, bundle, func(b *contexts.Bundle, data []byte) VerifiedContext { return VerifiedContext{contexts.Seal(b, data)} })
}
