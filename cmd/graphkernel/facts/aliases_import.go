package facts

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

var aliasFormats = []string{string(normalize.CSV), string(normalize.JSON), string(normalize.Wikidata)}

func importAliasesCommand(a *cli.App) *cobra.Command {
	var format string
	var dry bool
	c := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Add the aliases of a list",
		Long: `Reads a list of aliases from a file or, for -, from standard input:

  csv       records of alias and canonical name
  json      {"alias":"canonical name"}, or [{"alias","canonical"}]
  wikidata  {ID:{"label","alternatives":[…]}}: the id is the canonical name

Entries that are ambiguous in the list itself are left out and reported, never decided: a name that several
entities claim, an id that has the same form as another, a chain. If anything else contradicts the existing
aliases, nothing is added. The result, as JSON:

  {"format","entries","aliased","existing","same","repeated",
   "ambiguous":[{"name","claims":[…]}],"collided":[{"name","ids":[…],"entries"}],
   "chained":[{"alias","canonical"}],"skipped":[{"place","why"}],"dry_run","head"}

"entries" is the sum of "aliased", "existing", "same", "repeated", the claims, the entries of "collided",
"chained" and "skipped".`,
		Example: `  graphkernel knowledge aliases import aliases.csv
  graphkernel knowledge aliases import entity2wikidata.json --dry-run`,
		Args: cli.OneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			return importAliases(a, c.Context(), args[0], format, dry)
		},
	}
	c.Flags().StringVar(&format, "format", "", fmt.Sprintf("one of %v (default: detected from the content)", aliasFormats))
	c.Flags().BoolVar(&dry, "dry-run", false, "change nothing; show what would be added")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(aliasFormats, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

type aliasesJSON struct {
	Format    string                `json:"format"`
	Entries   int                   `json:"entries"`
	Aliased   int                   `json:"aliased"`
	Existing  int                   `json:"existing"`
	Same      int                   `json:"same"`
	Repeated  int                   `json:"repeated"`
	Ambiguous []normalize.Ambiguity `json:"ambiguous"`
	Collided  []normalize.Collision `json:"collided"`
	Chained   []api.Alias           `json:"chained"`
	Skipped   []api.AliasSkip       `json:"skipped"`
	DryRun    bool                  `json:"dry_run"`
	Head      uint64                `json:"head"`
}

func aliasesResult(l *normalize.List, dry bool) *aliasesJSON {
	j := &aliasesJSON{
		Format: string(l.Format), Entries: l.Entries, Same: l.Same, Repeated: l.Repeated, DryRun: dry,
		Ambiguous: append([]normalize.Ambiguity{}, l.Ambiguous...), Collided: append([]normalize.Collision{}, l.Collided...), Chained: []api.Alias{}, Skipped: []api.AliasSkip{},
	}
	for _, m := range l.Chained {
		j.Chained = append(j.Chained, api.Alias{Alias: m.Alias, Canonical: m.Canonical})
	}
	for _, m := range l.Skipped {
		j.Skipped = append(j.Skipped, api.AliasSkip{Place: m.Place, Why: m.Err.Error()})
	}
	return j
}

func importAliases(a *cli.App, ctx context.Context, path, format string, dry bool) error {
	const largest = 1 << 30
	if format != "" && !slices.Contains(aliasFormats, format) {
		return cli.Usagef("--format is %q, want one of %v", format, aliasFormats)
	}
	data, err := a.IO.ReadText(ctx, path, largest)
	if err != nil {
		return err
	}
	form := normalize.Format(format)
	if format == "" {
		if form, err = normalize.Detect(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	list, err := normalize.ReadAliases(data, form)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	result := aliasesResult(list, dry)
	open := a.Stores.WithNewKernel
	if dry {
		open = a.Stores.WithKernel
	}
	return open(ctx, token.Keyring{}, func(s *cli.Session) error {
		bar := a.IO.Counting("adding aliases")
		err := addAliases(ctx, s, list.Changes, result, bar)
		bar.Stop()
		if err != nil {
			return err
		}
		return a.IO.Print(result, func(w io.Writer) { printAliases(w, result) })
	})
}

// addAliases adds aliases in batches, after a check that the present table accepts all of them.
func addAliases(ctx context.Context, s *cli.Session, changes []normalize.Change, r *aliasesJSON, bar *cli.Bar) error {
	t, err := s.Aliases(ctx, 0)
	if err != nil {
		return err
	}
	_, outcomes, err := t.With(changes...)
	if err != nil {
		return fmt.Errorf("nothing was added: %w", err)
	}
	acts := make([]knowledge.Act, 0, len(changes))
	for i := range changes {
		if outcomes[i] == normalize.Existing {
			r.Existing++
			continue
		}
		act, err := actOfAlias(knowledge.Alias, changes[i])
		if err != nil {
			return err
		}
		acts = append(acts, act)
	}
	for done := 0; done < len(acts) && !r.DryRun; {
		some := acts[done:min(done+knowledge.MaxActs, len(acts))]
		learned, err := s.Facts.Learn(ctx, some)
		if err != nil {
			return fmt.Errorf("%s added before this: %w", cli.Was(r.Aliased, "alias"), err)
		}
		for _, o := range learned {
			if o.Result == knowledge.Existing {
				r.Existing++
			} else {
				r.Aliased++
			}
		}
		done += len(some)
		bar.Update(int64(done), int64(len(acts)))
	}
	if r.DryRun {
		r.Aliased = len(acts)
	}
	head, err := s.Head(ctx)
	r.Head = uint64(head)
	return err
}

func printAliases(w io.Writer, r *aliasesJSON) {
	did := "added"
	if r.DryRun {
		did = "would add"
	}
	fmt.Fprintf(w, "%s %s of %s; %s; head %d\n", did, cli.Count(r.Aliased, "alias"), cli.Count(r.Entries, "entry"), cli.There(r.Existing), r.Head)
	claims, collided := 0, 0
	for _, m := range r.Ambiguous {
		claims += len(m.Claims)
	}
	for _, m := range r.Collided {
		collided += m.Entries
	}
	counts := map[string]int{
		"same_form": r.Same, "repeated": r.Repeated, "ambiguous": claims, "colliding_ids": collided, "chained": len(r.Chained), "no_name": len(r.Skipped),
	}
	for reason, n := range counts {
		if n == 0 {
			delete(counts, reason)
		}
	}
	cli.PrintCounts(w, "left out", counts)
	const most = 3 // of each kind; all are in the JSON
	for _, m := range r.Ambiguous[:min(most, len(r.Ambiguous))] {
		fmt.Fprintf(w, "  ambiguous: %s could stand for %s\n", shown(m.Name, ""), render.OneLine(strings.Join(m.Claims, ", "), 200))
	}
	for _, m := range r.Collided[:min(most, len(r.Collided))] {
		fmt.Fprintf(w, "  colliding: %s is the form of %s\n", shown(m.Name, ""), render.OneLine(strings.Join(m.IDs, ", "), 200))
	}
	for _, m := range r.Chained[:min(most, len(r.Chained))] {
		fmt.Fprintf(w, "  chained: %s for %s\n", shown(m.Alias, ""), shown(m.Canonical, ""))
	}
	for _, m := range r.Skipped[:min(most, len(r.Skipped))] {
		fmt.Fprintf(w, "  no name: %s: %s\n", render.OneLine(m.Place, 100), render.OneLine(m.Why, 200))
	}
}
