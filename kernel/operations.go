package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// Operations lists the operations that the facets of a kernel answer.
func (k *Kernel) Operations() []api.Answer {
	var all []api.Answer
	for _, of := range [...][]api.Answer{
		k.Turns().Operations(), k.Slices().Operations(), k.Policies().Operations(), k.Facts().Operations(), k.Contexts().Operations(),
		k.Keys().Operations(), k.Atlas().Operations(), k.Beliefs().Operations(), k.Working().Operations(), k.Standings().Operations(),
	} {
		all = append(all, of...)
	}
	return all
}

// Answer returns the api.Answer of the operation with an id, and whether a facet answers it.
func (k *Kernel) Answer(id string) (api.Answer, bool) {
	a, found := k.answers[id]
	return a, found
}

// Ask runs an operation on a kernel. Its results and errors are the same as those of the service.
//
//	w, err := kernel.Ask(ctx, k, tenant, api.FindPaths, api.PathQuery{From: "Ada Lovelace", To: "Bernoulli numbers"})
func Ask[In, Out any](ctx context.Context, k *Kernel, tenant dag.Tenant, op api.Operation[In, Out], in In) (out Out, err error) {
	a, found := k.Answer(op.ID)
	if !found {
		return out, fmt.Errorf("kernel: no facet answers %s", op.ID)
	}
	answer, err := a.Ask(ctx, tenant, in)
	out, _ = answer.(Out)
	return out, err
}

// answering fills k.answers, the answers of a kernel by the ids of their operations.
func (k *Kernel) answering() {
	k.answers = map[string]api.Answer{}
	for _, a := range k.Operations() {
		ask := a.Ask
		a.Ask = func(ctx context.Context, tenant dag.Tenant, in any) (any, error) {
			out, err := ask(ctx, tenant, in)
			return out, k.spaceAdvice(ctx, tenant, err)
		}
		k.answers[a.ID] = a
	}
}

// mostSpaces is the largest number of spaces that an error names.
const mostSpaces = 8

// spaceAdvice adds to an error about an unknown space the names of the existing spaces, and who can make a space and how. It leaves errors of
// callers who vouch unchanged.
func (k *Kernel) spaceAdvice(ctx context.Context, tenant dag.Tenant, err error) error {
	if !errors.Is(err, journal.ErrSpace) || access.Asking(ctx).Vouches() {
		return err
	}
	all, failed := k.Beliefs().Spaces(ctx, tenant, api.SpacesQuery{})
	if failed != nil {
		return err
	}
	there := "there is none yet"
	if n := len(all.Spaces); n > 0 {
		more := ""
		if n > mostSpaces {
			more = fmt.Sprintf(" and %d more", n-mostSpaces)
		}
		var names []string
		for _, s := range all.Spaces[:min(n, mostSpaces)] {
			names = append(names, string(s.Space))
		}
		there = "there are " + strings.Join(names, ", ") + more
	}
	return fmt.Errorf("%w; %s. A person makes a space, not an agent: ask for graphkernel belief space PROJECT/NAME (over HTTP, POST /api/spaces with a key that may revise)", err, there)
}
