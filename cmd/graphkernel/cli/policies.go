package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/token"
)

// Registry returns the tenant's policies. If there is no store yet, it returns the built-in policies; it makes no store.
func (st *Stores) Registry(ctx context.Context) (r policy.Registry, err error) {
	err = st.WithKernel(ctx, token.Keyring{}, func(s *Session) error {
		r, err = s.Policies.All(ctx)
		return err
	})
	if !errors.Is(err, ErrNoStore) {
		return r, err
	}
	return standard.Registry()
}

// UnknownPolicy makes the error for a policy id that is mistyped, or whose policy has another type, a usage error.
func UnknownPolicy(err error) error {
	if Is(err, api.CodePolicyUnknown) || Is(err, api.CodeMismatch) {
		return Usagef("%v; see: graphkernel policy list; graphkernel policy add registers another", err)
	}
	return err
}

// PolicyFor finds a policy by its id and returns its parameters, which must be of type P.
func PolicyFor[P policy.Parameters](ctx context.Context, s *Session, id string, want ...string) (parameters P, err error) {
	if _, err := policy.ParseID(id); err != nil {
		return parameters, Usage(err)
	}
	p, err := s.Policies.Get(ctx, policy.ID(id))
	if err == nil {
		parameters, err = policy.ParametersOf[P](p, strings.Join(want, " or "))
	}
	return parameters, UnknownPolicy(err)
}

// CompletePolicies completes the ids of the policies of some types, or of all types if none is given.
func (st *Stores) CompletePolicies(types ...string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if registry, err := st.Registry(c.Context()); err == nil { // on an error there are no completions
			for _, p := range registry.All() {
				if len(types) == 0 || slices.Contains(types, p.Params().Type()) {
					ids = append(ids, string(p.ID()))
				}
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
