package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) policyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Register, list and show policies",
		Long: `A policy says how far, how much and by what weights a slice of turns is cut
(slice_policy_v1), or which facts may be gathered around entities (fact_policy_v1).
Its id, NAME@VERSION, is bound to its parameters for ever: another set of parameters
needs the next version. default@1, for turns, and facts@1 are there from the start.`,
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	add := &cobra.Command{
		Use:   "add FILE",
		Short: "Register a policy",
		Long: `Reads {"policy_id":"NAME@V","policy":{"type":"slice_policy_v1", …}}, or with the type
fact_policy_v1, from a file or, for -, from standard input. A parameter that is left out has its default. Fractions are
whole numbers of millionths, such as 0.35 or 1e-06; any other is refused.`,
		Example: `  echo '{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":32,"distance_decay":0.7}}' |
    graphkernel policy add -
  echo '{"policy_id":"owners@1","policy":{"type":"fact_policy_v1","predicates":["owned by"],"max_hops":2}}' |
    graphkernel policy add -`,
		Args: oneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.addPolicy(c, args[0]) },
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the policies",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.listPolicies(c) },
	}
	show := &cobra.Command{
		Use:               "show ID",
		Short:             "Show a policy's parameters and hash",
		Args:              oneArg("ID"),
		ValidArgsFunction: a.completePolicies(),
		RunE:              func(c *cobra.Command, args []string) error { return a.showPolicy(c, args[0]) },
	}
	c.AddCommand(add, list, show)
	return c
}

type policyJSON struct {
	ID         string    `json:"policy_id"`
	Hash       string    `json:"policy_params_hash"`
	Parameters rawObject `json:"policy"`
}

// rawObject is JSON that is ready to be printed.
type rawObject []byte

func (r rawObject) MarshalJSON() ([]byte, error) { return r, nil }

func policyOf(p policy.Registered) policyJSON {
	params := p.Params()
	w := canon.NewWriter(nil)
	params.AppendWire(w)
	return policyJSON{string(p.ID()), p.Hash().String(), w.Bytes}
}

func (a *app) addPolicy(c *cobra.Command, path string) error {
	const largest = 1 << 20
	data, err := a.readFile(c.Context(), path, largest)
	if err != nil {
		return err
	}
	p, err := policy.ParseRegistration(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return a.withNewKernel(c.Context(), token.Keyring{}, func(s *session) error {
		if err := s.RegisterPolicy(c.Context(), s.tenant, p); err != nil {
			return err
		}
		return a.print(policyOf(p), func(w io.Writer) { fmt.Fprintf(w, "%s is registered, hash %s\n", p.ID(), p.Hash()) })
	})
}

// registry gives the tenant's policies. Where there is no store yet, that is
// default@1 and facts@1; looking makes no store.
func (a *app) registry(ctx context.Context) (r policy.Registry, err error) {
	err = a.withKernel(ctx, token.Keyring{}, func(s *session) error {
		r, err = s.Policies(ctx, s.tenant)
		return err
	})
	if !errors.Is(err, errNoStore) {
		return r, err
	}
	return policy.Standard()
}

func (a *app) listPolicies(c *cobra.Command) error {
	registry, err := a.registry(c.Context())
	if err != nil {
		return err
	}
	lines := []policyJSON{}
	for _, p := range registry.All() {
		lines = append(lines, policyOf(p))
	}
	return a.print(map[string]any{"policies": lines, "registry_fingerprint": registry.Fingerprint()}, func(w io.Writer) {
		t := newTable(w, "policy", "selects", "at most", "hash")
		for _, p := range registry.All() {
			selects, most := policyLimits(p)
			t.AppendRow(table.Row{p.ID(), selects, most, p.Hash()})
		}
		t.Render()
		fmt.Fprintf(w, "registry fingerprint %s\n", registry.Fingerprint())
	})
}

// policyLimits says in short what a policy selects, and how much of it.
func policyLimits(p policy.Registered) (selects, most string) {
	switch params := p.Params().(type) {
	case policy.SlicePolicyV1:
		siblings := 0
		if params.IncludeSiblings {
			siblings = params.MaxSiblings
		}
		return "turns", fmt.Sprintf("%d nodes, radius %d, %d siblings", params.MaxNodes, params.MaxRadius, siblings)
	case policy.FactPolicyV1:
		return "facts", fmt.Sprintf("%d results, %d hops, %s", params.MaxResults, params.MaxHops, params.Direction)
	default:
		return params.Type(), ""
	}
}

func (a *app) showPolicy(c *cobra.Command, id string) error {
	registry, err := a.registry(c.Context())
	if err != nil {
		return err
	}
	p, err := registry.Get(policy.ID(id))
	if err != nil {
		return unknownPolicy(err)
	}
	return a.printJSON(policyOf(p))
}

// unknownPolicy makes an id that is mistyped, or of a policy for something else, a fault of the
// command line.
func unknownPolicy(err error) error {
	if errors.Is(err, policy.ErrUnknown) || errors.Is(err, policy.ErrMismatch) {
		return usagef("%v; see: graphkernel policy list", err)
	}
	return err
}

// completePolicies completes the ids of the policies of some types, of all if none is given.
func (a *app) completePolicies(types ...string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if registry, err := a.registry(c.Context()); err == nil { // what cannot be read completes nothing
			for _, p := range registry.All() {
				if len(types) == 0 || slices.Contains(types, p.Params().Type()) {
					ids = append(ids, string(p.ID()))
				}
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
