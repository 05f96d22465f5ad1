package audit

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// An atlasFlags says of what an atlas is.
type atlasFlags struct {
	asOf, issued uint64
	limit        int
}

func (f *atlasFlags) view() api.AtlasView { return api.AtlasView{AsOf: f.asOf, Issued: f.issued} }

func (f *atlasFlags) query() api.AtlasQuery {
	return api.AtlasQuery{AtlasView: f.view(), Limit: f.limit}
}

// What lists are sorted by, and what belongs together.
var (
	influenceBy   = []string{"weight", "rank", "betweenness"}
	communitiesOf = []string{"turns", "facts"}
)

// atlasCommand makes the commands of the graph of what was used.
func atlasCommand(a *cli.App) *cobra.Command {
	var f atlasFlags
	c := &cobra.Command{
		Use:   "atlas",
		Short: "Say what was used, what overlaps, and what belongs together",
		Long: `Counts and compares turns and what was handed out of them: slices and contexts. All numbers are
integers and follow from what is stored as of a number, so they can be made again by anybody.
docs/atlas.md says what each of them means.`,
		Example: `  graphkernel atlas
  graphkernel atlas influence --by betweenness
  graphkernel atlas blame d93a7abe`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return asked(a, c, view.AtlasSnapshot, f.view(), printSnapshot)
		},
	}
	c.PersistentFlags().Uint64Var(&f.asOf, "as-of", 0, "the turns as they were at this sequence number; 0 is the present")
	c.PersistentFlags().Uint64Var(&f.issued, "issued", 0, "what was handed out up to the record with this number; 0 is the present")
	listed := func(c *cobra.Command) *cobra.Command {
		c.Flags().IntVarP(&f.limit, "limit", "n", 20, "list at most so many, up to 1000")
		return c
	}
	var by, of, policy string
	influence := listed(&cobra.Command{
		Use: "influence", Short: "List the turns that were used most", Args: cobra.NoArgs,
		Long: "Lists turns with the slices and contexts that held them, and with where they are in the graph.",
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(influenceBy, by) {
				return cli.Usagef("--by is %q, want one of %q", by, influenceBy)
			}
			return asked(a, c, view.AtlasInfluence, api.InfluenceQuery{AtlasQuery: f.query(), By: by}, printInfluence)
		},
	})
	influence.Flags().StringVar(&by, "by", "weight", "sort by weight, rank or betweenness")
	communities := listed(&cobra.Command{
		Use: "communities", Short: "List what belongs together", Args: cobra.NoArgs,
		Long: "Parts turns by their edges, or the names of facts by the facts, into communities: parts with more edges within than chance would have.",
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(communitiesOf, of) {
				return cli.Usagef("--of is %q, want one of %q", of, communitiesOf)
			}
			return asked(a, c, view.AtlasCommunities, api.CommunityQuery{AtlasQuery: f.query(), Of: of}, printCommunities)
		},
	})
	communities.Flags().StringVar(&of, "of", "turns", "of turns or of facts")
	blame := &cobra.Command{
		Use: "blame TURN", Short: "Say what may have led to a turn", Args: cli.OneArg("TURN"),
		Long: `Lists what was handed out for a turn, the turns that all of that held, and those on which the choice of the others hung:
the slice is cut again without each.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				id, err := cli.Resolve(a, c, s, args[0])
				if err != nil {
					return err
				}
				b, err := cli.Do(c.Context(), s, view.BlameTurn, api.BlameQuery{AtlasView: f.view(), ID: id, Policy: policy})
				if err != nil {
					return err
				}
				return a.IO.Print(b, func(w io.Writer) { printBlame(w, &b) })
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	blame.Flags().StringVar(&policy, "policy", "", "cut slices again under this policy (default: default@2)")
	for _, one := range []struct {
		of     *cobra.Command
		flag   string
		values []string
	}{{influence, "by", influenceBy}, {communities, "of", communitiesOf}} {
		_ = one.of.RegisterFlagCompletionFunc(one.flag, cobra.FixedCompletions(one.values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	}
	c.AddCommand(
		listed(&cobra.Command{
			Use: "overlap", Short: "List slices and contexts that share most", Args: cobra.NoArgs, Long: "Compares what was handed out by the turns that it held.",
			RunE: func(c *cobra.Command, _ []string) error {
				return asked(a, c, view.AtlasOverlap, f.query(), printOverlap)
			},
		}),
		influence, communities, blame, manifestCommand(a, &f), replayAtlasCommand(a, &f), verifyAtlasCommand(a, &f),
	)
	return c
}

// asked asks for an operation and prints its answer.
func asked[In, Out any](a *cli.App, c *cobra.Command, op view.Operation[In, Out], in In, text func(io.Writer, *Out)) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		out, err := cli.Do(c.Context(), s, op, in)
		if err != nil {
			return err
		}
		return a.IO.Print(out, func(w io.Writer) { text(w, &out) })
	})
}

func printOf(w io.Writer, of *api.AtlasOf) {
	fmt.Fprintf(w, "as of %d, with %s and %s up to record %d", of.AsOf, cli.Count(of.Slices, "slice"), cli.Count(of.Handed, "context"), of.Issued)
	if of.Unknown > 0 {
		fmt.Fprintf(w, "; %d older records were not looked at", of.Unknown)
	}
	fmt.Fprintln(w)
}

func printSnapshot(w io.Writer, s *api.Snapshot) {
	fmt.Fprintf(w, "%s, %s, %s\n", cli.Count(s.Turns, "turn"), cli.Count(s.Edges, "edge"), cli.Count(s.Conversations, "conversation"))
	fmt.Fprintf(w, "%d begin, %d end, at %d it branches, %d merge; at most %s deep\n", s.Roots, s.Leaves, s.Branches, s.Merges, cli.Count(s.Depth, "edge"))
	for _, list := range []struct {
		name string
		of   []api.NameShare
	}{{"edges", s.Kinds}, {"roles", s.Roles}, {"phases", s.Phases}, {"authors", s.Authors}, {"depths", s.Depths}} {
		fmt.Fprintf(w, "%-8s", list.name)
		for _, n := range list.of[:min(len(list.of), 8)] {
			fmt.Fprintf(w, "  %s %d", render.OneLine(n.Name, 40), n.Count)
		}
		fmt.Fprintln(w)
	}
	printOf(w, &s.AtlasOf)
}

func printOverlap(w io.Writer, o *api.Overlap) {
	t := cli.NewTable(w, "A", "B", "shared", "Jaccard")
	for _, p := range o.Pairs {
		t.AppendRow([]any{p.A, p.B, p.Shared, millionths(p.Jaccard)})
	}
	t.Render()
	if o.Sampled {
		fmt.Fprintln(w, "there are more than 10 000, so some pairs may be missing")
	}
	printOf(w, &o.AtlasOf)
}

func millionths(n int) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 3, 64) }

func printInfluence(w io.Writer, in *api.Influence) {
	t := cli.NewTable(w, "turn", "slices", "contexts", "weight", "degree", "rank/M", "between", "")
	for _, n := range in.Turns {
		cut := ""
		if n.Cut {
			cut = "cut"
		}
		t.AppendRow([]any{n.Turn, n.Slices, n.Contexts, millionths(int(n.Weight)), n.Degree, n.Rank / 1_000_000, n.Betweenness / 1000, cut})
	}
	t.Render()
	fmt.Fprintf(w, "%s would fall apart at %s and %s\n", "the graph", cli.Count(in.Cuts, "turn"), cli.Count(in.Bridges, "edge"))
	printOf(w, &in.AtlasOf)
}

func printCommunities(w io.Writer, c *api.Communities) {
	t := cli.NewTable(w, "size", "central", "first")
	for _, one := range c.List {
		t.AppendRow([]any{one.Size, render.OneLine(one.Central, 40), render.OneLine(one.Members[0], 40)})
	}
	t.Render()
	fmt.Fprintf(w, "%s, modularity %s\n", cli.Count(c.Total, "community"), millionths(c.Modularity))
	printOf(w, &c.AtlasOf)
}

// mostPrinted bounds a list that is for people.
const mostPrinted = 12

func printBlame(w io.Writer, b *api.Blame) {
	fmt.Fprintf(w, "turn %s\n", b.Turn)
	for i := range b.For {
		fmt.Fprintf(w, "  was handed  %s, %s, %s\n", b.For[i].SliceID, cli.KindOf(&b.For[i]), render.OneLine(b.For[i].Asked, 80))
	}
	if len(b.For) == 0 {
		fmt.Fprintln(w, "  nothing was handed out for it here")
	}
	for _, id := range b.InAll[:min(len(b.InAll), mostPrinted)] {
		fmt.Fprintf(w, "  all held    %s\n", id)
	}
	if more := len(b.InAll) - mostPrinted; more > 0 {
		fmt.Fprintf(w, "  all held    %d more\n", more)
	}
	fmt.Fprintf(w, "%s selects %s around the turn that it follows; cut %d times\n", b.Policy, cli.Count(b.Selected, "turn"), b.Tried)
	for _, p := range b.Pivots {
		fmt.Fprintf(w, "  without     %s  %d others are lost, %d others come\n", p.Turn, p.Dropped, p.Added)
	}
	if len(b.Minimal) == 0 {
		fmt.Fprintln(w, "  without any of them the others are selected as they were")
	}
}
