package beliefs

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/token"
)

// A spaceJSON is a space with the number of its beliefs and conflicts.
type spaceJSON struct {
	Space     string `json:"space"`
	Policy    string `json:"policy"`
	Believed  int    `json:"believed"`
	Conflicts int    `json:"conflicts"`
}

func listSpaces(a *cli.App, c *cobra.Command) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		all, err := cli.Do(c.Context(), s, api.ListSpaces, api.SpacesQuery{})
		if err != nil {
			return err
		}
		list := []spaceJSON{}
		for _, one := range all.Spaces {
			base, err := cli.Do(c.Context(), s, api.GetBeliefBase, api.BaseQuery{Space: one.Space})
			if err != nil {
				return err
			}
			conflicts, err := cli.Do(c.Context(), s, api.BeliefConflicts, api.ConflictsQuery{Space: one.Space})
			if err != nil {
				return err
			}
			list = append(list, spaceJSON{string(one.Space), string(one.Policy), len(base.Statements), len(conflicts.Conflicts)})
		}
		return a.IO.Print(map[string]any{"spaces": list}, func(w io.Writer) { printSpaces(w, list) })
	})
}

func printSpaces(w io.Writer, list []spaceJSON) {
	if len(list) == 0 {
		fmt.Fprintln(w, "there is no space of beliefs yet; make one with: graphkernel belief space PROJECT/NAME")
		return
	}
	t := cli.NewTable(w, "space", "policy", "believed", "conflicts")
	waits := ""
	for _, s := range list {
		t.AppendRow([]any{oneLine(s.Space, len(s.Space)), oneLine(s.Policy, widestName), s.Believed, s.Conflicts})
		if s.Conflicts > 0 && waits == "" {
			waits = s.Space
		}
	}
	t.Render()
	if waits != "" {
		fmt.Fprintf(w, "see the waiting proposals with: graphkernel belief conflicts %s\n", oneLine(waits, len(waits)))
	}
}

func spaceCommand(a *cli.App) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "space SPACE",
		Short: "Make a space, or put it under another policy",
		Long: `Makes a space. Within a space, no beliefs contradict each other. Its policy says which predicates have only
one object, which objects exclude each other, and what the kinds of items mean; graphkernel policy add
registers a policy of the type kind_policy_v1. A new space is under beliefs@1, which limits no predicate. An
existing space keeps its policy unless --policy names another one. The change is refused if the space's
beliefs would contradict each other under the new policy.

` + spaceHelp + ` The result, as JSON:

  {"space","policy","seq"}

"seq" is the number since which the space has this policy.`,
		Example: `  graphkernel belief space acme/support
  graphkernel belief space acme/support --policy support-kinds@1`,
		Args: spaceAnd(""),
		RunE: func(c *cobra.Command, args []string) error {
			return setSpace(a, c, belief.Space(args[0]), policy.ID(name))
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().StringVar(&name, "policy", "", "the policy of the space (default: its present policy, or beliefs@1 for a new space)")
	_ = c.RegisterFlagCompletionFunc("policy", a.Stores.CompletePolicies(kinds.Type)) // the flag exists
	return c
}

func setSpace(a *cli.App, c *cobra.Command, space belief.Space, under policy.ID) error {
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if under != "" {
			if _, err := cli.PolicyFor[kinds.Policy](c.Context(), s, string(under), kinds.Type); err != nil {
				return err
			}
		}
		all, err := cli.Do(c.Context(), s, api.ListSpaces, api.SpacesQuery{})
		if err != nil {
			return err
		}
		did := "made"
		if at := slices.IndexFunc(all.Spaces, func(o api.Space) bool { return o.Space == space }); at >= 0 {
			did = "unchanged"
			if was := all.Spaces[at].Policy; under == "" {
				under = was
			} else if under != was {
				did = "changed"
			}
		}
		set, err := cli.Do(c.Context(), s, api.SetSpace, api.NewSpace{Space: space, Policy: under})
		if err != nil {
			return err
		}
		return a.IO.Print(set, func(w io.Writer) {
			fmt.Fprintf(w, "%s space %s, under %s since number %d\n", did, oneLine(string(set.Space), len(set.Space)), oneLine(string(set.Policy), widestName), set.Seq)
		})
	})
}

func itemsCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ListItems, cli.Command[api.ItemsQuery, api.Items]{
		Use:   "items SPACE",
		Short: "List the items of a space",
		Long: `Lists the items of a space, by name, with the current revision of each. Deprecated items are left out unless
--deprecated is given.

Statements have the same form as in graphkernel belief show; an item without a revision is not believed.
"left_out" counts the deprecated items that are not listed. If there are more items, pass "next" as --after
to get the next page.`,
		Example: `  graphkernel belief items acme/support --limit 20`,
		Args:    inSpace, Completes: a.Stores.CompleteSpaces(),
		Hint:  func(in *api.ItemsQuery) string { return spaceHint(string(in.Space), uint64(in.AsOf)) },
		Print: func(w io.Writer, _ *api.ItemsQuery, out *api.Items) { printItems(w, out) },
	})
}

func printItems(w io.Writer, list *api.Items) {
	cut := false
	for i := range list.Items {
		item := &list.Items[i]
		state := ""
		if item.Deprecated {
			state = "  deprecated: not believed"
		}
		fmt.Fprintf(w, "%s%s\n", visibleLine(string(item.Item)), state)
		switch {
		case item.Erased:
			fmt.Fprintf(w, "    %s\n", erased)
		case item.Revision == 0:
			fmt.Fprintln(w, "    none of its statements is believed")
		}
		for n := range item.Statements {
			s := &item.Statements[n]
			cut = cut || isCut(s.WrittenStatement)
			fmt.Fprintf(w, "    %s%s\n", said(s.WrittenStatement), because(s.Premises))
		}
	}
	cutHint(w, cut)
	fmt.Fprintln(w, cli.Count(len(list.Items), "item"))
	if list.LeftOut > 0 {
		is, them := "is", "it"
		if list.LeftOut > 1 {
			is, them = "are", "them"
		}
		fmt.Fprintf(w, "%s %s not listed; see %s with: --deprecated\n", cli.Count(list.LeftOut, "deprecated item"), is, them)
	}
	if list.Next != "" {
		fmt.Fprintf(w, "the next page: --after %s\n", visibleLine(list.Next))
	}
}

const mostItems = 1000

func conflictsCommand(a *cli.App) *cobra.Command {
	return cli.Op(a, api.BeliefConflicts, cli.Command[api.ConflictsQuery, api.Conflicts]{
		Use:   "conflicts SPACE",
		Short: "List the proposals that were not taken",
		Long: `Lists the proposals that were not taken because they contradict something that is protected or more entrenched,
and that nobody has decided yet. graphkernel belief resolve takes a proposal, drops it or defers it; then it is
no longer listed. "with" lists the revisions that would have given way.`,
		Example: `  graphkernel belief conflicts acme/support`,
		Args:    inSpace, Completes: a.Stores.CompleteSpaces(),
		Hint: func(in *api.ConflictsQuery) string { return spaceHint(string(in.Space), 0) },
		Print: func(w io.Writer, in *api.ConflictsQuery, out *api.Conflicts) {
			printConflicts(w, string(in.Space), out.Conflicts)
		},
	})
}

func printConflicts(w io.Writer, space string, list []api.Conflict) {
	for i := range list {
		one := &list[i]
		fmt.Fprintf(w, "%d  %s%s%s\n", one.Seq, one.At, by(one.By), reason(one.Reason))
		if one.Erased {
			fmt.Fprintf(w, "    %s\n", erased)
		}
		for _, s := range one.Statements {
			fmt.Fprintf(w, "    %s\n", whole(s, "    "))
		}
		for _, p := range one.Premises {
			fmt.Fprintf(w, "    because %s\n", whole(p, "    "))
		}
		for _, ref := range one.With {
			fmt.Fprintf(w, "    against %s\n", oneLine(ref, len(ref)))
		}
		for _, turn := range one.Turns {
			fmt.Fprintf(w, "    turn %s\n", oneLine(turn.String(), widestName))
		}
	}
	fmt.Fprintln(w, cli.Count(len(list), "proposal")+" not taken")
	if len(list) > 0 {
		fmt.Fprintf(w, "decide with: graphkernel belief resolve %s NUMBER taken|dropped|deferred\n", space)
	}
}
