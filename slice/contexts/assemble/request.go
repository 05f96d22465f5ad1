package assemble

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// MaxFit is the maximum of [api.ContextRequest].Fit, in bytes.
const MaxFit = 64 << 20

// An order is a parsed request for a context.
type order struct {
	in    *api.ContextRequest
	asked contexts.Request // the spaces are ascending and distinct; the salt is not set
	to    issued.Delivery
}

// order parses a request for a context, and resolves its anchor.
func (k Contexts) order(ctx context.Context, tenant dag.Tenant, in *api.ContextRequest) (r order, err error) {
	r = order{in: in, asked: contexts.Request{Task: in.Task, Budget: in.Budget, Format: contexts.Format(in.Format)}}
	switch {
	case in.Format == api.FormatBundle:
		r.asked.Format = contexts.Format(in.Prompt)
	case in.Prompt != "":
		return r, fmt.Errorf("%w: prompt is %s, which has a meaning only with format bundle; leave it out with format %s", contexts.ErrRequest, in.Prompt, cmp.Or(in.Format, string(contexts.Markdown)))
	}
	r.asked.Format = cmp.Or(r.asked.Format, contexts.Markdown)
	switch {
	case in.RulesAsOf != 0 && in.Format != api.FormatBundle:
		return r, fmt.Errorf("%w: rules_as_of is %d, which is for the bundle of a context that was handed out; ask with format %s", contexts.ErrRequest, in.RulesAsOf, api.FormatBundle)
	case in.Present && in.AsOf != 0:
		return r, fmt.Errorf("%w: as_of is %d, and present asks for another number; leave one out", contexts.ErrRequest, in.AsOf)
	}
	for _, s := range in.Spaces {
		r.asked.Spaces = append(r.asked.Spaces, string(s))
	}
	slices.Sort(r.asked.Spaces)
	r.asked.Spaces = slices.Compact(r.asked.Spaces)
	if in.Recipient != nil {
		if r.to.Recipient = *in.Recipient; r.to.Recipient == (issued.Recipient{}) {
			return r, &api.Fault{Place: "recipient", Err: fmt.Errorf("%w: it is empty; name the agent, the session or the event", dag.ErrForm)}
		}
	}
	r.to.Folders, r.to.Except = issued.PackFolders(in.Folders...), issued.PackConversations(in.Except...)
	r.to.TaskOf = issued.PackTurns(slices.Compact(slices.SortedFunc(slices.Values(in.TaskOf), dag.TurnID.Compare)))
	if in.Fit < 0 || in.Fit > MaxFit {
		return r, fmt.Errorf("%w: fit is %d, want 1 to %d bytes, or 0 for no limit", contexts.ErrRequest, in.Fit, MaxFit)
	}
	if err := r.to.Check(); err != nil {
		return r, fmt.Errorf("%w: %w", contexts.ErrRequest, err)
	}
	if in.Anchor != "" {
		id, err := k.kernel.Resolve(ctx, tenant, in.Anchor)
		if err != nil {
			return r, err
		}
		r.asked.Anchor = &id
	}
	return r, nil
}

// making calls do with the maker of a request. It returns an error if the request is malformed, its task is refused by Screen, or the kernel must not issue
// contexts of the tenant.
func making[T any](ctx context.Context, k Contexts, tenant dag.Tenant, in *api.ContextRequest, do func(*maker) (T, error)) (T, error) {
	var none T
	r, err := k.order(ctx, tenant, in)
	if err != nil {
		return none, err
	}
	if err := k.kernel.Screen(ctx, tenant, func() []dag.Text { return []dag.Text{{In: "task", Text: in.Task}} }); err != nil {
		return none, err
	}
	return read(k.kernel, func(e Epoch) (T, error) {
		if err := k.kernel.MayIssue(tenant); err != nil {
			return none, err
		}
		m, err := k.maker(ctx, e, tenant, r)
		if err != nil {
			return none, err
		}
		return do(m)
	})
}

// maker returns the maker of a request, under its policy.
func (k Contexts) maker(ctx context.Context, e Epoch, tenant dag.Tenant, r order) (*maker, error) {
	p, err := e.Policy(ctx, tenant, cmp.Or(r.in.Policy, contexts.DefaultID))
	return &maker{k.kernel, e, tenant, p, k.reading, r}, err
}
