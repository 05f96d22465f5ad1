package facts

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

func suggestAliasesCommand(a *cli.App) *cobra.Command {
	var reasons []string
	var limit int
	var asOf uint64
	known := make([]string, 0, len(normalize.Reasons()))
	for _, r := range normalize.Reasons() {
		known = append(known, string(r))
	}
	c := &cobra.Command{
		Use:   "suggest",
		Short: "Look for names that may stand for one entity",
		Long: `Examines the names of entities in the facts that are believed, and lists names that may stand for one entity,
so that a person can decide. Nothing is changed. It also shows the fragmentation, the average number of nodes per
entity, twice: as if every spelling were a node, and with the present rule and aliases. 1 means no fragmentation.

  punctuation         the names differ in hyphens alone
  inverted            the last word of one is the first of the other
  initials            one is the initials of the other, and of no other
  spelling            one or two letters differ
  ambiguous_initials  one is the initials of several others

The result, as JSON:

  {"suggestions":[{"name","others":[…],"reason"}],"total",
   "fragmentation":{"spellings","names","entities","before","after_rule"},"as_of"}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return suggestAliases(a, c.Context(), reasons, known, limit, dag.Seq(asOf))
		},
	}
	c.Flags().StringSliceVar(&reasons, "reason", nil, fmt.Sprintf("look only for these reasons, of %v", known))
	c.Flags().IntVar(&limit, "limit", 50, "the most suggestions, the likeliest first; 0 is all")
	asOfFlag(c, &asOf)
	_ = c.RegisterFlagCompletionFunc("reason", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	cli.NoFiles(c, "limit")
	return c
}

type suggestionJSON struct {
	Name   string   `json:"name"`
	Others []string `json:"others"`
	Reason string   `json:"reason"`
}

type fragmentationJSON struct {
	Spellings int   `json:"spellings"`
	Names     int   `json:"names"`
	Entities  int   `json:"entities"`
	Before    ratio `json:"before"`
	AfterRule ratio `json:"after_rule"`
}

// A ratio is a number that is printed with three decimal places.
type ratio float64

func (r ratio) String() string { return strconv.FormatFloat(float64(r), 'f', 3, 64) }

func (r ratio) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

func suggestAliases(a *cli.App, ctx context.Context, reasons, known []string, limit int, asOf dag.Seq) error {
	var of []normalize.Reason
	for _, r := range reasons {
		if !slices.Contains(known, r) {
			return cli.Usagef("--reason is %q, want one of %v", r, known)
		}
		of = append(of, normalize.Reason(r))
	}
	if limit < 0 {
		return cli.Usagef("--limit is %d, want 0 or more", limit)
	}
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(ctx); err != nil {
			return err
		}
		asOf, err := s.AsOf(ctx, asOf)
		if err != nil {
			return err
		}
		bar := a.IO.Counting("reading facts")
		defer bar.Stop()
		names, written, err := namesAsOf(s, ctx, asOf, bar)
		if err != nil {
			return err
		}
		t, err := s.Aliases(ctx, asOf)
		if err != nil {
			return err
		}
		bar.Say("comparing names")
		all := normalize.Suggest(names, t, normalize.SuggestOptions{Reasons: of})
		m := normalize.Fragmentation(written, t)
		bar.Stop()
		list := all
		if limit > 0 && len(all) > limit {
			list = all[:limit]
		}
		lines := []suggestionJSON{}
		for _, g := range list {
			lines = append(lines, suggestionJSON{g.Name, g.Others, string(g.Reason)})
		}
		f := fragmentationJSON{m.Spellings, m.Names, m.Entities, ratio(m.Before()), ratio(m.AfterRule())}
		result := map[string]any{"suggestions": lines, "total": len(all), "fragmentation": f, "as_of": uint64(asOf)}
		return a.IO.Print(result, func(w io.Writer) { printSuggestions(w, lines, len(all), &f) })
	})
}

func printSuggestions(w io.Writer, lines []suggestionJSON, total int, f *fragmentationJSON) {
	if len(lines) > 0 {
		tab := cli.NewTable(w, "name", "may be", "reason")
		for _, l := range lines {
			tab.AppendRow(table.Row{clipped(l.Name), render.OneLine(strings.Join(l.Others, ", "), 2*widestName), l.Reason})
		}
		tab.Render()
	}
	fmt.Fprintf(w, "%d of %s; where one is right: graphkernel knowledge aliases add ALIAS CANONICAL\n", len(lines), cli.Count(total, "suggestion"))
	fmt.Fprintf(w, "%s, %s, %s; fragmentation %s as written, %s as named\n", cli.Count(f.Spellings, "spelling"), cli.Count(f.Names, "name"), cli.Count(f.Entities, "entity"), f.Before, f.AfterRule)
}

// namesAsOf returns the names of entities in the facts that were believed as of a number, in canonical form and as they were written.
func namesAsOf(s *cli.Session, ctx context.Context, asOf dag.Seq, bar *cli.Bar) (names, written []string, err error) {
	forms, spelt := map[string]bool{}, map[string]bool{}
	err = eachAct(s, ctx, func(a *api.KnowledgeAct) {
		bar.Update(int64(a.Seq), int64(max(asOf, a.Seq)))
		if !a.Version || a.Seq > asOf || a.Until != 0 && a.Until <= asOf {
			return
		}
		w := a.Written
		forms[a.Subject], forms[a.Object] = true, true
		spelt[firstOf(w.Subject, a.Subject)], spelt[firstOf(w.Object, a.Object)] = true, true
	})
	for name := range forms {
		names = append(names, name)
	}
	for name := range spelt {
		written = append(written, name)
	}
	return names, written, err
}
