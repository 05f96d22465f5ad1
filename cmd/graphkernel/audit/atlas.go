package audit

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
)

// atlasCommand makes the command atlas and its subcommands.
func atlasCommand(a *cli.App) *cobra.Command {
	c := cli.Op(a, api.AtlasSnapshot, cli.Command[api.AtlasView, api.Snapshot]{
		Use:   "atlas",
		Short: "Show which turns were used, what overlaps, and what belongs together",
		Long: `Counts and compares turns, and the slices and contexts that were handed out. All numbers are
integers, and are computed from the stored data as of a sequence number, so anybody can compute them
again. docs/atlas.md defines each of them.`,
		Example: `  graphkernel atlas
  graphkernel atlas influence --by betweenness
  graphkernel atlas blame d93a7abe`,
		Holds: true, Print: printSnapshot,
	})
	c.AddCommand(
		cli.Op(a, api.AtlasOverlap, cli.Command[api.AtlasQuery, api.Overlap]{
			Use: "overlap", Short: "List the slices and contexts that share the most turns",
			Long:  "Compares slices and contexts by the turns that both contain.",
			Holds: true, Letters: limited, Print: printOverlap,
		}),
		cli.Op(a, api.AtlasInfluence, cli.Command[api.InfluenceQuery, api.Influence]{
			Use: "influence", Short: "List the turns that were used most",
			Long:  "Lists turns with the slices and contexts that contained them, and with their position in the graph.",
			Holds: true, Letters: limited, Print: printInfluence,
		}),
		cli.Op(a, api.AtlasCommunities, cli.Command[api.CommunityQuery, api.Communities]{
			Use: "communities", Short: "List communities of turns, or of the names in facts",
			Long:  "Divides turns by their edges, or names by the facts between them, into communities: groups with more edges inside than chance would give.",
			Holds: true, Letters: limited, Print: printCommunities,
		}),
		cli.Op(a, api.BlameTurn, cli.Command[api.BlameQuery, api.Blame]{
			Use: "blame TURN", Short: "Show what may have led to a turn",
			Long: `Lists the slices and contexts that were handed out for a turn, the turns that all of them contained, and
the turns whose absence would have changed which others were selected: the slice is cut again without each.`,
			Args: []string{"id"}, Print: printBlame,
		}),
		manifestCommand(a), replayAtlasCommand(a), verifyAtlasCommand(a),
	)
	return c
}

var limited = map[string]string{"limit": "n"}

func printOf(w io.Writer, of *api.AtlasOf) {
	fmt.Fprintf(w, "as of %d, with %s and %s up to record %d", of.AsOf, cli.Count(of.Slices, "slice"), cli.Count(of.Handed, "context"), of.Issued)
	if of.Unknown > 0 {
		fmt.Fprintf(w, "; %d older records were not looked at", of.Unknown)
	}
	fmt.Fprintln(w)
}

func printSnapshot(w io.Writer, _ *api.AtlasView, s *api.Snapshot) {
	fmt.Fprintf(w, "%s, %s, %s\n", cli.Count(s.Turns, "turn"), cli.Count(s.Edges, "edge"), cli.Count(s.Conversations, "conversation"))
	fmt.Fprintf(w, "roots %d, leaves %d, branching turns %d, merging turns %d; at most %s deep\n", s.Roots, s.Leaves, s.Branches, s.Merges, cli.Count(s.Depth, "edge"))
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

func printOverlap(w io.Writer, _ *api.AtlasQuery, o *api.Overlap) {
	t := cli.NewTable(w, "A", "B", "shared", "Jaccard")
	for _, p := range o.Pairs {
		t.AppendRow([]any{p.A, p.B, p.Shared, millionths(p.Jaccard)})
	}
	t.Render()
	if o.Sampled {
		fmt.Fprintln(w, "there are more than 10 000 slices and contexts, so some pairs may be missing")
	}
	printOf(w, &o.AtlasOf)
}

func millionths(n int) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 3, 64) }

func printInfluence(w io.Writer, _ *api.InfluenceQuery, in *api.Influence) {
	t := cli.NewTable(w, "turn", "slices", "contexts", "weight", "degree", "rank/M", "between", "")
	for _, n := range in.Turns {
		cut := ""
		if n.Cut {
			cut = "cut"
		}
		t.AppendRow([]any{n.Turn, n.Slices, n.Contexts, millionths(int(n.Weight)), n.Degree, n.Rank / 1_000_000, n.Betweenness / 1000, cut})
	}
	t.Render()
	fmt.Fprintf(w, "%s would fall apart without any one of %s or %s\n", "the graph", cli.Count(in.Cuts, "turn"), cli.Count(in.Bridges, "edge"))
	printOf(w, &in.AtlasOf)
}

func printCommunities(w io.Writer, _ *api.CommunityQuery, c *api.Communities) {
	t := cli.NewTable(w, "size", "central", "first")
	for _, one := range c.List {
		t.AppendRow([]any{one.Size, render.OneLine(one.Central, 40), render.OneLine(one.Members[0], 40)})
	}
	t.Render()
	fmt.Fprintf(w, "%s, modularity %s\n", cli.Count(c.Total, "community"), millionths(c.Modularity))
	printOf(w, &c.AtlasOf)
}

// mostPrinted is the most rows of a list for people.
const mostPrinted = 12

func printBlame(w io.Writer, _ *api.BlameQuery, b *api.Blame) {
	fmt.Fprintf(w, "turn %s\n", b.Turn)
	for i := range b.For {
		fmt.Fprintf(w, "  was handed  %s, %s, %s\n", b.For[i].SliceID, cli.KindOf(&b.For[i]), render.OneLine(b.For[i].Asked, 80))
	}
	if len(b.For) == 0 {
		fmt.Fprintln(w, "  no slice or context was handed out for this turn here")
	}
	for _, id := range b.InAll[:min(len(b.InAll), mostPrinted)] {
		fmt.Fprintf(w, "  all held    %s\n", id)
	}
	if more := len(b.InAll) - mostPrinted; more > 0 {
		fmt.Fprintf(w, "  all held    %d more\n", more)
	}
	fmt.Fprintf(w, "%s selects %s around the turn before this one; the slice was cut %d times\n", b.Policy, cli.Count(b.Selected, "turn"), b.Tried)
	for _, p := range b.Pivots {
		fmt.Fprintf(w, "  without     %s  %d others are lost, %d others come\n", p.Turn, p.Dropped, p.Added)
	}
	if len(b.Minimal) == 0 {
		fmt.Fprintln(w, "  without any one of these turns the same other turns are selected")
	}
}
