// Package beliefs owns the commands of what is held to be true.
package beliefs

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command { return []*cobra.Command{beliefCommand(a)} }

func beliefCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "belief",
		Short: "Say what is held to be true, and change it",
		Long: `A space holds what agents and people believe, and never contradicts itself. Without a command it lists
the spaces. docs/belief.md says how what gives way is chosen.`,
		Example: `  graphkernel belief space acme/support
  graphkernel belief revise acme/support customer-7 prefers e-mail --reason "said so"
  graphkernel belief base acme/support`,
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return asked(a, c, view.ListSpaces, struct{}{}, func(w io.Writer, s *api.Spaces) {
				if len(s.Spaces) == 0 {
					fmt.Fprintln(w, `there is no space yet; make one with "graphkernel belief space PROJECT/NAME"`)
					return
				}
				t := cli.NewTable(w, "space", "policy")
				for _, one := range s.Spaces {
					t.AppendRow([]any{one.Space, one.Policy})
				}
				t.Render()
			})
		},
	}
	c.AddCommand(
		spaceCommand(a),
		operatorCommand(a, view.ReviseBeliefs, "revise", "Believe a statement, and give up what contradicts it", "What contradicts it gives way, the least entrenched first. It stays in the history."),
		operatorCommand(a, view.ContractBeliefs, "contract", "Give up a statement", "Of what it follows from as much as needed is given up, the least entrenched first."),
		operatorCommand(a, view.ExpandBeliefs, "expand", "Believe a statement that contradicts nothing", "If it contradicts what is believed nothing changes, and the exit code is 1."),
		operatorCommand(a, view.ProposeBeliefs, "propose", "Believe a statement if what contradicts it is less certain", "Else nothing changes but that a conflict is recorded, and the exit code is 1."),
		baseCommand(a), whyCommand(a), impactCommand(a), showCommand(a), diffCommand(a), itemsCommand(a), conflictsCommand(a),
		tagCommand(a), deprecateCommand(a, view.DeprecateItem, "deprecate", "Take an item out of what is believed", "Nothing is lost: restore puts it back."),
		deprecateCommand(a, view.RestoreItem, "restore", "Believe a deprecated item again", "If that contradicts what is believed nothing changes, and the exit code is 1."),
		linkCommand(a),
	)
	return c
}

// timeOf reads the value of a flag.
func timeOf(flag, text string) (dag.Time, error) {
	t, err := knowledge.ReadTime(text)
	if err != nil {
		return 0, cli.Usagef("--%s: %w", flag, err)
	}
	return t, nil
}

// asked asks for an operation and prints its answer.
func asked[In, Out any](a *cli.App, c *cobra.Command, op view.Operation[In, Out], in In, text func(io.Writer, *Out)) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		out, err := cli.Do(c.Context(), s, op, in)
		if err != nil {
			return err
		}
		return a.IO.Print(out, func(w io.Writer) { text(w, &out) })
	})
}

// changed asks for an operation that changes something, prints its answer, and fails if it was refused.
func changed[In, Out any](a *cli.App, c *cobra.Command, op view.Operation[In, Out], in In, outcome func(*Out) string, text func(io.Writer, *Out)) error {
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		out, err := cli.Do(c.Context(), s, op, in)
		if err != nil {
			return err
		}
		if err := a.IO.Print(out, func(w io.Writer) { text(w, &out) }); err != nil {
			return err
		}
		if outcome(&out) == "refused" {
			return fmt.Errorf("refused: %w", api.CodeBelief)
		}
		return nil
	})
}

// line is a statement in one line.
func line(s api.BeliefStatement) string {
	l := belief.Literal{Subject: s.Subject, Predicate: s.Predicate, Object: s.Object, Not: s.Not}
	return render.OneLine(l.String(), 120)
}

func lines(list []api.BeliefStatement) (all []string) {
	for _, s := range list {
		all = append(all, line(s))
	}
	return all
}

func spaceCommand(a *cli.App) *cobra.Command {
	var policy string
	c := &cobra.Command{
		Use: "space SPACE", Short: "Make a space, or put it under another policy", Args: cli.OneArg("SPACE"), ValidArgsFunction: cobra.NoFileCompletions,
		Long: `A space is a project and names in it, such as acme/support. Its policy, of the type kind_policy_v1, says which predicates have one object
for each subject. A policy under which what is believed contradicts itself is refused.`,
		RunE: func(c *cobra.Command, args []string) error {
			return changed(a, c, view.SetSpace, api.NewSpace{Space: args[0], Policy: policy}, func(*api.Space) string { return "" }, func(w io.Writer, s *api.Space) {
				fmt.Fprintf(w, "%s is under %s since number %d\n", s.Space, s.Policy, s.Seq)
			})
		},
	}
	c.Flags().StringVar(&policy, "policy", "", "a registered policy of kinds; a new space is under beliefs@1 without it")
	cli.NoFiles(c, "policy")
	return c
}

func operatorCommand(a *cli.App, op view.Operation[api.BeliefRequest, api.BeliefOutcome], name, short, more string) *cobra.Command {
	var in api.BeliefRequest
	var from, until string
	var turns []string
	var not bool
	c := &cobra.Command{
		Use: name + " SPACE SUBJECT PREDICATE OBJECT", Short: short, ValidArgsFunction: cobra.NoFileCompletions,
		Long: short + ". " + more + ` Prints what was kept, what gave way and to what, which
conclusions fell, and what somebody should review. --dry-run says it and changes nothing.`,
		Example: "  graphkernel belief " + name + " acme/support customer-7 prefers e-mail",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 4 {
				return cli.Usagef("%s takes SPACE SUBJECT PREDICATE OBJECT, got %d arguments; put words that belong together into quotes", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			in.Space, in.Statements = args[0], []api.BeliefStatement{{Subject: args[1], Predicate: args[2], Object: args[3], Not: not}}
			for _, t := range []struct {
				flag, text string
				to         **dag.Time
			}{{"from", from, &in.ValidFrom}, {"until", until, &in.ValidUntil}} {
				if t.text == "" {
					continue
				}
				at, err := timeOf(t.flag, t.text)
				if err != nil {
					return err
				}
				*t.to = &at
			}
			for _, text := range turns {
				id, err := dag.ParseTurnID(text)
				if err != nil {
					return cli.Usagef("--turn %q: want the whole id of a turn", text)
				}
				in.Turns = append(in.Turns, id)
			}
			return changed(a, c, op, in, func(o *api.BeliefOutcome) string { return o.Outcome }, printOutcome)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&not, "not", false, "the negation is meant")
	flags.StringVar(&in.Reason, "reason", "", "why")
	flags.StringVar(&from, "from", "", "since when it holds, a date or a time")
	flags.StringVar(&until, "until", "", "before when it holds")
	flags.StringVar(&in.Key, "key", "", "names the request, so that repeating it changes nothing")
	flags.BoolVar(&in.DryRun, "dry-run", false, "say what would happen, and change nothing")
	free := []string{"reason", "from", "until", "key"}
	if name != "contract" {
		flags.StringVar(&in.Item, "item", "", "the address of the item that it belongs to")
		flags.StringVar(&in.Kind, "kind", "", "of a new item, such as fact or preference (default: fact)")
		flags.StringVar(&in.Title, "title", "", "of the revision")
		flags.StringSliceVar(&turns, "turn", nil, "turns that it rests on")
		free = append(free, "item", "kind", "title", "turn")
	}
	cli.NoFiles(c, free...)
	return c
}

func printOutcome(w io.Writer, o *api.BeliefOutcome) {
	fmt.Fprint(w, o.Outcome)
	if o.Reason != "" {
		fmt.Fprintf(w, " (%s)", o.Reason)
	}
	if o.Item != "" {
		fmt.Fprintf(w, ": %s", o.Item)
		if o.Revision > 0 {
			fmt.Fprintf(w, "?r=%d", o.Revision)
		}
	}
	if o.Seq > 0 {
		fmt.Fprintf(w, ", number %d", o.Seq)
	}
	fmt.Fprintf(w, "; %d kept\n", o.Kept)
	for _, l := range o.GaveWay {
		word := "gave way: "
		if o.Outcome == "refused" {
			word = "in the way: "
		}
		fmt.Fprintf(w, "%s%s (%s?r=%d)\n", word, line(l.Statement), l.Item, l.Revision)
		for _, s := range l.Conflict {
			if s != l.Statement {
				fmt.Fprintf(w, "  beside: %s\n", line(s))
			}
		}
		if l.Until != nil {
			fmt.Fprintf(w, "  it holds until %s\n", l.Until)
		}
	}
	for _, s := range lines(o.Fell) {
		fmt.Fprintf(w, "fell: %s\n", s)
	}
	for _, r := range o.Review {
		fmt.Fprintf(w, "to be reviewed: %s\n", r)
	}
}

func baseCommand(a *cli.App) *cobra.Command {
	var in api.BaseQuery
	var at string
	c := &cobra.Command{
		Use: "base SPACE", Short: "List what is believed in a space", Args: cli.OneArg("SPACE"), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Lists what is stated, and what follows by rules, as of any number.",
		RunE: func(c *cobra.Command, args []string) error {
			in.Space = args[0]
			if at != "" {
				instant, err := timeOf("valid-at", at)
				if err != nil {
					return err
				}
				in.ValidAt = &instant
			}
			return asked(a, c, view.GetBeliefBase, in, func(w io.Writer, b *api.BeliefBase) {
				printHeld(w, b.Statements)
				fmt.Fprintf(w, "%s as of %d, under %s\n", cli.Count(len(b.Statements), "statement"), b.AsOf, b.Policy)
			})
		},
	}
	c.Flags().Uint64Var(&in.AsOf, "as-of", 0, "as it was at this sequence number; 0 is the present")
	c.Flags().StringVar(&at, "valid-at", "", "only what holds then, a date or a time")
	c.Flags().StringVar(&in.Subject, "subject", "", "only statements about this")
	cli.NoFiles(c, "valid-at", "subject")
	return c
}

func printHeld(w io.Writer, list []api.HeldStatement) {
	t := cli.NewTable(w, "statement", "item", "")
	for _, h := range list {
		note := ""
		if h.Derived {
			note = "follows"
		}
		if h.ValidFrom != nil {
			note += " from " + h.ValidFrom.String()
		}
		if h.ValidUntil != nil {
			note += " until " + h.ValidUntil.String()
		}
		t.AppendRow([]any{line(h.BeliefStatement), fmt.Sprintf("%s?r=%d", h.Item, h.Revision), note})
	}
	t.Render()
}

func whyCommand(a *cli.App) *cobra.Command {
	var in api.WhyQuery
	c := &cobra.Command{
		Use: "why SPACE SUBJECT PREDICATE OBJECT", Short: "Say why a statement is believed, or why not any more", Args: cobra.ExactArgs(4), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Lists what it follows from, with the turns that this rests on, and who ended it before, and why.",
		RunE: func(c *cobra.Command, args []string) error {
			in.Space, in.Subject, in.Predicate, in.Object = args[0], args[1], args[2], args[3]
			return asked(a, c, view.ExplainBelief, in, func(w io.Writer, y *api.Why) {
				if !y.Believed {
					fmt.Fprintln(w, "it is not believed")
				}
				for _, s := range y.Support {
					fmt.Fprintf(w, "%s (%s?r=%d, %s, since number %d)\n", line(s.Statement), s.Item, s.Revision, s.Class, s.Since)
					for _, p := range lines(s.Premises) {
						fmt.Fprintf(w, "  if: %s\n", p)
					}
					for _, t := range s.Turns {
						fmt.Fprintf(w, "  turn %s\n", t)
					}
				}
				for _, e := range y.Ended {
					fmt.Fprintf(w, "believed from number %d until %d (%s?r=%d)", e.Since, e.Until, e.Item, e.Revision)
					if e.Reason != "" {
						fmt.Fprintf(w, ": %s", render.OneLine(e.Reason, 200))
					}
					fmt.Fprintln(w)
				}
			})
		},
	}
	c.Flags().BoolVar(&in.Not, "not", false, "its negation is meant")
	c.Flags().Uint64Var(&in.AsOf, "as-of", 0, "as it was at this sequence number; 0 is the present")
	return c
}

func impactCommand(a *cli.App) *cobra.Command {
	var depth int
	c := &cobra.Command{
		Use: "impact ADDRESS", Short: "Say what depends on an item", Args: cli.OneArg("ADDRESS"), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Lists conclusions that would no longer follow without it, and revisions that link to it.",
		RunE: func(c *cobra.Command, args []string) error {
			return asked(a, c, view.BeliefImpact, api.ImpactQuery{Ref: args[0], Depth: depth}, func(w io.Writer, i *api.Impact) {
				for _, s := range lines(i.Falls) {
					fmt.Fprintf(w, "would fall: %s\n", s)
				}
				for _, l := range i.Links {
					fmt.Fprintf(w, "%s %s %s\n", l.Ref, l.Type, l.To)
				}
				fmt.Fprintf(w, "%s and %s depend on %s\n", cli.Count(len(i.Falls), "conclusion"), cli.Count(len(i.Links), "link"), i.Ref)
			})
		},
	}
	c.Flags().IntVar(&depth, "depth", 10, "how many links to follow, up to 20")
	return c
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show ADDRESS", Short: "Show an item: its revision, and its tags in time", Args: cli.OneArg("ADDRESS"), ValidArgsFunction: cobra.NoFileCompletions,
		Long:    "Follows an address: with ?r=3 to a revision, with ?t=published by a tag, and with seq=812 or at=TIME to how it was then.",
		Example: "  graphkernel belief show 'kref://acme/support/tone.preference?t=published'",
		RunE: func(c *cobra.Command, args []string) error {
			return asked(a, c, view.ResolveKref, api.KrefQuery{Ref: args[0]}, printKref)
		},
	}
}

func printKref(w io.Writer, k *api.ResolvedKref) {
	fmt.Fprintf(w, "%s, %s", k.Item, cli.Count(k.Revisions, "revision"))
	if k.Deprecated {
		fmt.Fprint(w, ", deprecated")
	}
	fmt.Fprintln(w)
	if r := k.Revision; r == nil {
		fmt.Fprintln(w, "the tag points to no revision")
	} else {
		fmt.Fprintf(w, "revision %d, number %d, %s", r.Revision, r.Seq, r.At)
		if r.By != "" {
			fmt.Fprintf(w, ", by %s", r.By)
		}
		fmt.Fprintln(w)
		if r.Erased {
			fmt.Fprintln(w, "  what it said was erased")
		}
		for _, s := range r.Statements {
			fmt.Fprintf(w, "  %s (%s)\n", line(s.BeliefStatement), s.Class)
			for _, p := range lines(s.Premises) {
				fmt.Fprintf(w, "    if: %s\n", p)
			}
		}
		for _, text := range []string{r.Title, r.Summary, r.Reason} {
			if text != "" {
				fmt.Fprintf(w, "  %s\n", render.OneLine(text, 200))
			}
		}
	}
	for _, t := range k.Tags {
		until := "now"
		if t.Until != 0 {
			until = strconv.FormatUint(t.Until, 10)
		}
		fmt.Fprintf(w, "tag %s: revision %d, from number %d until %s\n", t.Tag, t.Revision, t.Since, until)
	}
}

func diffCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "diff SPACE FROM [TO]", Short: "Compare what is believed as of two numbers", Args: cobra.RangeArgs(2, 3), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Lists what came and what went. Without TO it compares with the present.",
		RunE: func(c *cobra.Command, args []string) error {
			in := api.BaseDiffQuery{Space: args[0]}
			for i, to := range []*uint64{&in.From, &in.To} {
				if len(args) < i+2 {
					break
				}
				n, err := strconv.ParseUint(args[i+1], 10, 53)
				if err != nil {
					return cli.Usagef("%q is no sequence number", args[i+1])
				}
				*to = n
			}
			return asked(a, c, view.DiffBeliefs, in, func(w io.Writer, d *api.BaseDiff) {
				for _, h := range d.Removed {
					fmt.Fprintf(w, "- %s\n", line(h.BeliefStatement))
				}
				for _, h := range d.Added {
					fmt.Fprintf(w, "+ %s\n", line(h.BeliefStatement))
				}
				fmt.Fprintf(w, "from %d to %d: %d came, %d went\n", d.From, d.To, len(d.Added), len(d.Removed))
			})
		},
	}
}

func itemsCommand(a *cli.App) *cobra.Command {
	in := api.ItemsQuery{}
	c := &cobra.Command{
		Use: "items SPACE", Short: "List the items of a space", Args: cli.OneArg("SPACE"), ValidArgsFunction: cobra.NoFileCompletions, Long: "Lists addresses by ascending name, deprecated ones too.",
		RunE: func(c *cobra.Command, args []string) error {
			in.Space = args[0]
			return asked(a, c, view.ListItems, in, func(w io.Writer, l *api.Items) {
				for _, item := range l.Items {
					fmt.Fprintln(w, item)
				}
				if l.Next != "" {
					fmt.Fprintf(w, "there are more: --after %s\n", l.Next)
				}
			})
		},
	}
	c.Flags().IntVarP(&in.Limit, "limit", "n", 100, "list at most so many, up to 1000")
	c.Flags().StringVar(&in.After, "after", "", "list those after this name")
	cli.NoFiles(c, "after")
	return c
}

func conflictsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "conflicts SPACE", Short: "List proposals that were not taken", Args: cli.OneArg("SPACE"), ValidArgsFunction: cobra.NoFileCompletions, Long: "Lists them with what they contradict, for somebody to decide.",
		RunE: func(c *cobra.Command, args []string) error {
			return asked(a, c, view.BeliefConflicts, api.ConflictsQuery{Space: args[0]}, func(w io.Writer, l *api.Conflicts) {
				for _, x := range l.Conflicts {
					fmt.Fprintf(w, "number %d, %s", x.Seq, x.At)
					if x.By != "" {
						fmt.Fprintf(w, ", by %s", x.By)
					}
					fmt.Fprintln(w)
					for _, s := range lines(x.Statements) {
						fmt.Fprintf(w, "  proposed: %s\n", s)
					}
					for _, with := range x.With {
						fmt.Fprintf(w, "  against: %s\n", with)
					}
				}
				fmt.Fprintln(w, cli.Count(len(l.Conflicts), "conflict"))
			})
		},
	}
}

func printChange(w io.Writer, k *api.KrefChange) {
	fmt.Fprint(w, k.Outcome)
	if k.Seq > 0 {
		fmt.Fprintf(w, ", number %d", k.Seq)
	}
	fmt.Fprintln(w)
	for _, s := range lines(k.Conflict) {
		fmt.Fprintf(w, "  against: %s\n", s)
	}
}

func outcomeOf(k *api.KrefChange) string { return k.Outcome }

func tagCommand(a *cli.App) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "tag ITEM TAG REVISION|none", Short: "Point a tag of an item to a revision", Args: cobra.ExactArgs(3), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "The tag current is what is believed, and published protects a revision. Moving current is refused where it would contradict what is believed.",
		RunE: func(c *cobra.Command, args []string) error {
			in := api.NewTag{Ref: args[0], Tag: args[1], Reason: reason}
			if args[2] != "none" {
				n, err := strconv.ParseUint(args[2], 10, 31)
				if err != nil || n == 0 {
					return cli.Usagef("%q is no revision; want 1, 2, … or none", args[2])
				}
				in.Revision = int(n)
			}
			return changed(a, c, view.TagKref, in, outcomeOf, printChange)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why")
	cli.NoFiles(c, "reason")
	return c
}

func deprecateCommand(a *cli.App, op view.Operation[api.Deprecation, api.KrefChange], name, short, long string) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: name + " ITEM", Short: short, Long: long, Args: cli.OneArg("ITEM"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return changed(a, c, op, api.Deprecation{Ref: args[0], Reason: reason}, outcomeOf, printChange)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why")
	cli.NoFiles(c, "reason")
	return c
}

func linkCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "link FROM TYPE TO", Short: "Link a revision to another, to a turn or to a slice", Args: cobra.ExactArgs(3), ValidArgsFunction: cobra.NoFileCompletions,
		Long:    "FROM is the address of a revision. TYPE is depends_on, derived_from, supersedes, referenced, contains, created_from or another word. TO is such an address, turn:ID or slice:ID.",
		Example: "  graphkernel belief link 'kref://acme/support/tone.preference?r=1' derived_from turn:42fec86c-0000-4000-8000-000000000001",
		RunE: func(c *cobra.Command, args []string) error {
			return changed(a, c, view.LinkKref, api.NewLink{From: args[0], Type: args[1], To: args[2]}, outcomeOf, printChange)
		},
	}
}
