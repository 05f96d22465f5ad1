package turns

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/retention"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

func policyCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Register, list and show policies",
		Long: `The type of a policy says what it decides:

  slice_policy_v1 to slice_policy_v3  how far, how much and by what weights a slice of turns is cut
  fact_policy_v1                      which facts may be collected around entities
  retrieval_policy_v1                 how turns are found
  context_policy_v2                   how the content of a context is chosen; context_policy_v1 has no calls
  deny_rules_v1                       which tool calls are denied
  retention_v1                        how long turns keep their text
  kind_policy_v1                      which beliefs of a space contradict each other
  promotion_policy_v1                 when beliefs are promoted
  standing_policy_v1                  whose words count

The id of a policy, NAME@VERSION, is bound to its parameters for ever: other parameters need the next version.
These policies are built in: default@1 to default@3 for turns, facts@1 for facts, recall@1, recall-dense@1, find@1
and find@2 for searches, and context@1, context@2 and others for contexts. graphkernel policy list shows all.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	add := &cobra.Command{
		Use:   "add FILE",
		Short: "Register a policy",
		Long: `Reads {"policy_id":"NAME@V","policy":{"type":"slice_policy_v1", …}}, or a policy of any other type, from a file or,
for -, from standard input. A parameter that is left out has its default. Fractions have at most six
decimal places, such as 0.35 or 1e-06; any other number is refused.`,
		Example: `  echo '{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":32,"distance_decay":0.7}}' |
    graphkernel policy add -
  echo '{"policy_id":"owners@1","policy":{"type":"fact_policy_v1","predicates":["owned by"],"max_hops":2}}' |
    graphkernel policy add -
  echo '{"policy_id":"deny@1","policy":{"type":"deny_rules_v1","rules":[
    {"tool":"Bash","argument":"\\brm\\s+-[a-z]*r","reason":"deletes folders; ask a person"}]}}' |
    graphkernel policy add -
  echo '{"policy_id":"keep@1","policy":{"type":"retention_v1","rules":[{"cwd":"/src/shop","days":90},{"days":365}]}}' |
    graphkernel policy add -`,
		Args: cli.OneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return addPolicy(a, c, args[0]) },
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the policies",
		Args:  cli.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return listPolicies(a, c) },
	}
	show := &cobra.Command{
		Use:               "show ID",
		Short:             "Show a policy's parameters and hash",
		Args:              cli.OneArg("ID"),
		ValidArgsFunction: a.Stores.CompletePolicies(),
		RunE:              func(c *cobra.Command, args []string) error { return showPolicy(a, c, args[0]) },
	}
	c.AddCommand(add, list, show)
	return c
}

func addPolicy(a *cli.App, c *cobra.Command, path string) error {
	const largest = 1 << 20
	data, err := a.IO.ReadFile(c.Context(), path, largest)
	if err != nil {
		return err
	}
	p, err := standard.Forms().ParseRegistration(bom.Trim(data))
	if err != nil {
		return fmt.Errorf("%s: %w", cli.InputName(path), err)
	}
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.Policies.Register(c.Context(), p); err != nil {
			return err
		}
		return a.IO.Print(api.PolicyOf(p), func(w io.Writer) { fmt.Fprintf(w, "%s is registered, hash %s\n", p.ID(), p.Hash()) })
	})
}

func listPolicies(a *cli.App, c *cobra.Command) error {
	registry, err := a.Stores.Registry(c.Context())
	if err != nil {
		return err
	}
	return a.IO.Print(api.PoliciesOf(registry), func(w io.Writer) {
		t := cli.NewTable(w, "policy", "selects", "at most", "hash")
		for _, p := range registry.All() {
			selects, most := policyLimits(p)
			t.AppendRow(table.Row{p.ID(), selects, most, p.Hash()})
		}
		t.Render()
		fmt.Fprintf(w, "registry fingerprint %s\n", registry.Fingerprint())
	})
}

// policyLimits describes in short what a policy selects, and how much of it.
func policyLimits(p policy.Registered) (selects, most string) {
	switch params := p.Params().(type) {
	case policy.SlicePolicyV1:
		siblings := 0
		if params.IncludeSiblings {
			siblings = params.MaxSiblings
		}
		return "turns", fmt.Sprintf("%d nodes, radius %d, %d siblings", params.MaxNodes, params.MaxRadius, siblings)
	case policy.SlicePolicyV2, policy.SlicePolicyV3:
		walk := params.(policy.SlicePolicy).Walk()
		return "turns", fmt.Sprintf("%d nodes, cost %d, radius %d, %d siblings", walk.MaxNodes, walk.MaxCost, walk.MaxRadius, walk.MaxSiblings)
	case facts.Policy:
		return "facts", fmt.Sprintf("%d results, %d hops, %s", params.MaxResults, params.MaxHops, params.Direction)
	case retrieval.Policy:
		most := fmt.Sprintf("%d hits, reach %d, %s", params.MaxHits, params.Reach, params.Analyzer)
		if params.Dense.Embedder != retrieval.NoEmbedder {
			most += ", " + params.Dense.Embedder
		}
		return "hits", most
	case guard.DenyRules:
		return "tool calls that are denied", cli.Count(len(params.Rules()), "rule")
	case retention.Rules:
		return "how long turns keep their text", cli.Count(len(params.List()), "rule")
	case kinds.Policy:
		c := params.Constraints()
		return "beliefs", fmt.Sprintf("%d functional, %d exclusive, %s", len(c.Functional), len(c.Exclusive), cli.Count(len(params.Kinds()), "kind"))
	case rules.Policy:
		return "promoted", cli.Count(len(params.Steps()), "step")
	case standing.Policy:
		return "whose words count", cli.Count(len(params.Rules()), "rule")
	case contexts.Policy:
		return "contexts", fmt.Sprintf("%d tokens", params.Budget)
	default:
		return params.Type(), ""
	}
}

func showPolicy(a *cli.App, c *cobra.Command, id string) error {
	registry, err := a.Stores.Registry(c.Context())
	if err != nil {
		return err
	}
	p, err := registry.Get(policy.ID(id))
	if err != nil {
		return cli.UnknownPolicy(err)
	}
	return a.IO.PrintJSON(api.PolicyOf(p))
}
