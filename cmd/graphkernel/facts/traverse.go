package facts

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/token"
)

// A walkFlags says which facts are followed.
type walkFlags struct {
	predicates []string
	direction  string
	hops       int
	least      string
	validAt    string
	asOf       uint64
}

func (f *walkFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.predicates, "predicate", nil, "follow facts with this predicate alone; may come several times")
	flags.StringVar(&f.direction, "direction", string(knowledge.Both), "outgoing (from subjects to objects), incoming or both")
	flags.IntVar(&f.hops, "hops", 3, fmt.Sprintf("how far to go, 1 to %d", knowledge.MaxHops))
	flags.StringVar(&f.least, "min-confidence", "0", "follow facts at least this sure, from 0 to 1")
	flags.StringVar(&f.validAt, "valid-at", "", "follow facts that hold at this date or time; whenever they hold if absent")
	asOfFlag(c, &f.asOf)
	cli.NoFiles(c, "predicate", "hops", "min-confidence", "valid-at")
	directions := []string{string(knowledge.Both), string(knowledge.Outgoing), string(knowledge.Incoming)}
	_ = c.RegisterFlagCompletionFunc("direction", cobra.FixedCompletions(directions, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// traversal returns what is asked, except for the entities.
func (f *walkFlags) traversal() (t kernel.Traversal, err error) {
	t = kernel.Traversal{Predicates: f.predicates, Direction: knowledge.Direction(f.direction), MaxHops: f.hops, AsOf: dag.Seq(f.asOf)}
	if f.hops == 0 || f.direction == "" { // the kernel would take another for it
		return t, cli.Usagef("--hops is %d and --direction is %q, want 1 to %d and outgoing, incoming or both", f.hops, f.direction, knowledge.MaxHops)
	}
	if t.MinConfidence, err = confidenceOf("min-confidence", f.least); err != nil {
		return t, err
	}
	if f.validAt != "" {
		at, err := timeOf("valid-at", f.validAt)
		if err != nil {
			return t, err
		}
		t.ValidAt = &at
	}
	return t, nil
}

const walkJSON = `  {"as_of","cut","reached":[{"entity","from","hops","min_confidence",
    "path":[{"from","predicate","to","direction","statement","confidence","source","turn","since",
      "valid_from","valid_until","asserted":{…},"written":{…}}]}]}

direction is incoming where the statement's subject is to, and not from. asserted holds the names that
the statement has itself, where aliases give others, and written how its names were spelled.`

func knowledgeTraverseCommand(a *cli.App) *cobra.Command {
	var f walkFlags
	var results int
	c := &cobra.Command{
		Use:   "traverse ENTITY…",
		Short: "Tell which entities can be reached from others, each with its best path",
		Long: `Follows facts from one or more entities and lists what can be reached, each entity once and
by its best path: the fewest hops, of these the surest. A path is as sure as the least sure
of its facts.

` + namesHelp + ` The result, as JSON:

` + walkJSON + ` cut is results if more can be reached than --results
lets through, work if the search was ended because it had looked at too many facts, and absent
if this is all.`,
		Example: `  graphkernel knowledge traverse "Ada Lovelace" --hops 2
  graphkernel knowledge traverse src/redact.go --predicate edited-file --direction incoming`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes one ENTITY or more, got none", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return traverse(a, c, args, &f, results) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.register(c)
	c.Flags().IntVar(&results, "results", 100, fmt.Sprintf("how many entities at most, 1 to %d", knowledge.MaxResults))
	cli.NoFiles(c, "results")
	return c
}

func traverse(a *cli.App, c *cobra.Command, names []string, f *walkFlags, results int) error {
	t, err := f.traversal()
	if err != nil {
		return err
	}
	if results == 0 {
		return cli.Usagef("--results is 0, want 1 to %d", knowledge.MaxResults)
	}
	t.Start, t.MaxResults = names, results
	return a.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		answer, err := s.Facts().Traverse(c.Context(), s.Tenant, t)
		if err != nil {
			return err
		}
		if len(answer.Reached) == 0 {
			if err := noteUnknown(a, c.Context(), s, answer.AsOf, names...); err != nil {
				return err
			}
		}
		written, err := s.Facts().Written(c.Context(), s.Tenant, answer)
		if err != nil {
			return err
		}
		return a.Print(walked(answer, written), func(w io.Writer) {
			if len(answer.Reached) > 0 {
				tab := cli.NewTable(w, "entity", "hops", "confidence", "path")
				for i := range answer.Reached {
					r := &answer.Reached[i]
					tab.AppendRow(table.Row{shown(r.Entity, ""), r.Hops, r.MinConfidence, drawn(answer, r, written)})
				}
				tab.Render()
			}
			fmt.Fprintf(w, "%d entities, as of %d\n", len(answer.Reached), answer.AsOf)
			printCut(w, answer.Cut, "--results")
		})
	})
}

// noteUnknown tells of entities that no fact is about: a mistyped name must not look like
// one without relations.
func noteUnknown(a *cli.App, ctx context.Context, s *cli.Session, asOf dag.Seq, names ...string) error {
	if asOf == 0 {
		a.Note("nothing is known of anything: no fact was ever learned here")
		return nil
	}
	for _, name := range names {
		page, err := s.Facts().List(ctx, s.Tenant, kernel.FactQuery{Entity: name, AsOf: asOf, Limit: 1})
		if err != nil {
			return err
		}
		if page.Total == 0 {
			a.Note("nothing is known of %.80q, as of %d; see: graphkernel knowledge list", name, asOf)
		}
	}
	return nil
}

func printCut(w io.Writer, cut knowledge.Cut, flag string) {
	switch cut {
	case knowledge.CutResults:
		fmt.Fprintf(w, "there are more: %s\n", flag)
	case knowledge.CutWork:
		fmt.Fprintf(w, "there may be more: the search ended at %d facts; go fewer --hops, or follow a --predicate\n", knowledge.MaxWork)
	}
}

func knowledgePathCommand(a *cli.App) *cobra.Command {
	var f walkFlags
	var count int
	c := &cobra.Command{
		Use:   "path FROM TO",
		Short: "Tell how one entity is connected with another",
		Long: `Gives the best ways from one entity to another in which no entity comes twice: the fewest
hops, of these the surest. A path is as sure as the least sure of its facts.

` + namesHelp + ` The result, as JSON:

` + walkJSON + ` cut is results if there are more paths than --count
lets through, work if the search was ended because it had looked at too many facts, and absent
if this is all.`,
		Example: `  graphkernel knowledge path "Ada Lovelace" "Bernoulli numbers" -k 3`,
		Args:    manyArgs("FROM TO"),
		RunE:    func(c *cobra.Command, args []string) error { return paths(a, c, args[0], args[1], &f, count) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.register(c)
	c.Flags().IntVarP(&count, "count", "k", 1, fmt.Sprintf("how many paths at most, 1 to %d", knowledge.MaxPaths))
	cli.NoFiles(c, "count")
	return c
}

func paths(a *cli.App, c *cobra.Command, from, to string, f *walkFlags, count int) error {
	t, err := f.traversal()
	if err != nil {
		return err
	}
	if count < 1 || count > knowledge.MaxPaths {
		return cli.Usagef("--count is %d, want 1 to %d", count, knowledge.MaxPaths)
	}
	q := kernel.PathQuery{
		From: from, To: to, Count: count, Predicates: t.Predicates, Direction: t.Direction, MaxHops: t.MaxHops,
		MinConfidence: t.MinConfidence, AsOf: t.AsOf, ValidAt: t.ValidAt,
	}
	return a.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		answer, err := s.Facts().Paths(c.Context(), s.Tenant, q)
		if err != nil {
			return err
		}
		if len(answer.Reached) == 0 {
			if err := noteUnknown(a, c.Context(), s, answer.AsOf, from, to); err != nil {
				return err
			}
		}
		written, err := s.Facts().Written(c.Context(), s.Tenant, answer)
		if err != nil {
			return err
		}
		return a.Print(walked(answer, written), func(w io.Writer) {
			for i := range answer.Reached {
				r := &answer.Reached[i]
				fmt.Fprintf(w, "%d. %s (%d hops, confidence %s)\n", i+1, drawn(answer, r, written), r.Hops, r.MinConfidence)
			}
			if len(answer.Reached) == 0 {
				fmt.Fprintf(w, "no path within %d hops, as of %d\n", f.hops, answer.AsOf)
			}
			printCut(w, answer.Cut, "--count")
		})
	})
}

type walkedJSON struct {
	AsOf    uint64        `json:"as_of"`
	Cut     string        `json:"cut,omitempty"`
	Reached []reachedJSON `json:"reached"`
}

type reachedJSON struct {
	Entity     string     `json:"entity"`
	From       string     `json:"from"`
	Hops       int        `json:"hops"`
	Confidence decimal    `json:"min_confidence"`
	Path       []stepJSON `json:"path"`
}

type stepJSON struct {
	From       string       `json:"from"`
	Predicate  string       `json:"predicate"`
	To         string       `json:"to"`
	Direction  string       `json:"direction"`
	Statement  string       `json:"statement"`
	Confidence decimal      `json:"confidence"`
	Source     string       `json:"source"`
	Turn       string       `json:"turn,omitempty"`
	Since      uint64       `json:"since"`
	ValidFrom  string       `json:"valid_from,omitempty"`
	ValidUntil string       `json:"valid_until,omitempty"`
	Asserted   *spelledJSON `json:"asserted,omitempty"`
	Written    *spelledJSON `json:"written,omitempty"`
}

func walked(t *kernel.Traversed, written map[dag.Seq]knowledge.Written) walkedJSON {
	j := walkedJSON{AsOf: uint64(t.AsOf), Cut: string(t.Cut), Reached: []reachedJSON{}}
	for i := range t.Reached {
		r := &t.Reached[i]
		line := reachedJSON{Entity: r.Entity, From: r.From, Hops: r.Hops, Confidence: decimal(r.MinConfidence), Path: []stepJSON{}}
		for _, e := range r.Path {
			subject, object := t.Aliases.Resolve(e.Subject), t.Aliases.Resolve(e.Object)
			s := statementLine(&e.Statement, e.ID, subject, object)
			step := stepJSON{
				From: subject, Predicate: e.Predicate, To: object, Direction: string(e.Direction()), Statement: s.Statement, Confidence: decimal(e.Confidence),
				Source: e.Source, Turn: turnText(e.Turn), Since: uint64(e.Since), ValidFrom: s.ValidFrom, ValidUntil: s.ValidUntil,
				Asserted: asserted(&e.Statement, subject, object), Written: writtenAs(written[e.Since]),
			}
			if e.Incoming {
				step.From, step.To = object, subject
			}
			line.Path = append(line.Path, step)
		}
		j.Reached = append(j.Reached, line)
	}
	return j
}

// drawn draws a path with names as they were written. Where a fact names an entity by an alias,
// that follows the canonical name.
func drawn(t *kernel.Traversed, r *knowledge.Reached, written map[dag.Seq]knowledge.Written) string {
	// ends returns how the near and the far end of an edge were asserted and written.
	ends := func(e *knowledge.Edge) (near, far [2]string) {
		f := knowledge.Fact{Statement: e.Statement, Written: written[e.Since]}
		subject, _, object := f.Spelled()
		near, far = [2]string{e.Subject, subject}, [2]string{e.Object, object}
		if e.Incoming {
			near, far = far, near
		}
		return near, far
	}
	var b strings.Builder
	name, before := r.From, [2]string{}
	for _, e := range r.Path {
		near, far := ends(e)
		b.WriteString(entityNamed(name, before, near))
		predicate := clipped(cmp.Or(written[e.Since].Predicate, e.Predicate))
		if e.Incoming {
			b.WriteString(" ←" + predicate + "— ")
		} else {
			b.WriteString(" —" + predicate + "→ ")
		}
		name, before = t.Aliases.Resolve(e.Other()), far
	}
	b.WriteString(entityNamed(name, before))
	return b.String()
}

// writtenAs returns nil if names were written as they are.
func writtenAs(w knowledge.Written) *spelledJSON { return spelled(w.Subject, w.Predicate, w.Object) }

// entityNamed returns an entity's name as one of the facts beside it writes it, and after it the
// aliases by which facts name it. Each is given as it was asserted and as it was written.
func entityNamed(name string, named ...[2]string) string {
	text := ""
	var others []string
	for _, n := range named {
		switch asserted, written := n[0], n[1]; {
		case asserted == name && text == "":
			text = clipped(written)
		case asserted != "" && asserted != name && !slices.Contains(others, clipped(written)):
			others = append(others, clipped(written))
		}
	}
	if text == "" {
		text = clipped(name)
	}
	for _, other := range others {
		text += " (" + other + ")"
	}
	return text
}
