package beliefs

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// An operator is an operator of package belief, as a command.
type operator struct {
	name, did   string // did: the outcome of a request that changed something
	op          api.Operation[api.BeliefRequest, api.BeliefOutcome]
	short, long string
	example     string
	states      bool // the statements are believed afterwards
}

var operators = []operator{
	{
		name: "revise", did: "revised", op: api.ReviseBeliefs, states: true,
		short: "Believe statements, and give up those that contradict them",
		long: `Believes the statements. The other beliefs of the space are examined, the most entrenched first, and each
that contradicts the statements or a belief already kept gives way: it is listed with what it gave way to.
A belief that began to hold before the statements do holds until they begin. With --because, the statements
follow from the premises: they are believed as long as all of these are.`,
		example: `  graphkernel belief revise acme/support customer-7 prefers e-mail --kind preference
  graphkernel belief revise acme/support "Ada Lovelace" lives-in London --from 2026-03-01 --turn 42fec86c
  graphkernel belief revise acme/support ada-lovelace speaks english --because "ada-lovelace lives-in london"
  graphkernel belief revise acme/support customer-7 uses linux --not --dry-run
  graphkernel belief revise acme/billing customer-7 pays yearly --new-space --tag reviewed --link created_from=turn:42fec86c`,
	},
	{
		name: "contract", did: "contracted", op: api.ContractBeliefs,
		short: "Give up statements",
		long: `Gives up each of the statements, and as much as is needed of what they follow from, the least entrenched
first. An item that states more keeps the rest in a new revision. With --not, the denial of the statements
is given up; to deny a statement, use graphkernel belief revise --not.`,
		example: `  graphkernel belief contract acme/support customer-7 prefers phone --reason "it was about another customer"`,
	},
	{
		name: "expand", did: "expanded", op: api.ExpandBeliefs, states: true,
		short:   "Believe statements that contradict nothing",
		long:    "Believes the statements. If they contradict a belief, the command is refused and nothing changes.",
		example: `  graphkernel belief expand acme/support customer-7 lives-in oslo`,
	},
	{
		name: "propose", did: "took the proposal", op: api.ProposeBeliefs, states: true,
		short: "Propose statements from a source that may be wrong",
		long: `Revises, if everything that would give way is less entrenched and not protected. Otherwise nothing
changes, and the proposal is recorded as a conflict for somebody to decide; graphkernel belief conflicts
lists it.`,
		example: `  graphkernel belief propose acme/support customer-7 uses linux --turn 42fec86c`,
	},
}

const attachedHelp = `--link, --tag and --new-space are recorded in the same change as the revision; if it is refused, nothing is
recorded. Each TO has the form of graphkernel belief link, and must exist.`

// A stating is a request with the flags from which parts of it are read.
type stating struct {
	api.BeliefRequest
	not                              bool // the statements are denied
	because, turns, artifacts, links []string
	from, until, confidence          string
}

func operatorCommands(a *cli.App) (list []*cobra.Command) {
	for i := range operators {
		list = append(list, operatorCommand(a, &operators[i]))
	}
	return list
}

func operatorCommand(a *cli.App, o *operator) *cobra.Command {
	var f stating
	attached := ""
	if o.states {
		attached = "\n" + attachedHelp
	}
	c := &cobra.Command{
		Use:   o.name + " SPACE SUBJECT PREDICATE OBJECT…",
		Short: o.short,
		Long: o.long + `

` + namesHelp + ` More than
three names are several statements, three names each. If the request is refused, the exit code is ` + strconv.Itoa(refusedExit) + `,
with --dry-run too.` + attached + `
The result, as JSON:

  {"seq","outcome","item","revision","kept","gave_way":[{"statement":{"subject","predicate","object","not"},
    "premises","item","revision","conflict":[…],"until"}],"fell":[…],"review":[ADDRESS],"reason","repeated"}

"outcome" is changed, unchanged or refused. "reason" is why it was refused: conflict, protected or vouched.
"repeated" means that the request was answered before, or that the same caller proposed the same before.
"kept" counts the elements that are connected with the statements and stay, "fell" are conclusions that no
longer follow, and "review" are revisions that depend on what gave way by a link and not by a rule.`,
		Example: o.example,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes SPACE and statements, got no argument", c.CommandPath())
			}
			return spaceOf(args[0])
		},
		RunE:              func(c *cobra.Command, args []string) error { return change(a, c, o, args, &f) },
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	flags := c.Flags()
	flags.BoolVar(&f.not, "not", false, "deny the statements")
	flags.StringVar(&f.from, "from", "", "the date or time from which they hold (default: 1970)")
	flags.StringVar(&f.until, "until", "", "the date or time at which they stop holding (default: never)")
	flags.StringVar(&f.Reason, "reason", "", "the reason, for the record")
	flags.StringVar(&f.Key, "key", "", "a name for the request: a request with the same key is carried out once")
	flags.BoolVar(&f.DryRun, "dry-run", false, "change nothing; show what would happen")
	cli.NoFiles(c, "from", "until", "reason", "key")
	if !o.states {
		return c
	}
	flags.StringArrayVar(&f.because, "because", nil, `a premise from which they follow: "SUBJECT PREDICATE OBJECT"; may be repeated`)
	flags.StringVar((*string)(&f.Item), "item", "", "the item whose revision this becomes (default: the one that states or contradicts the same, or a new one)")
	flags.BoolVar(&f.Beside, "beside", false, "what the item of --item states stays beside the statements, which otherwise take its place")
	flags.StringVar(&f.Kind, "kind", "fact", "the kind of a new item")
	flags.StringSliceVar(&f.turns, "turn", nil, "the id of a turn that says so, or a beginning of it; may be repeated")
	flags.StringArrayVar(&f.artifacts, "artifact", nil, "a file or a URI that the revision points to: "+artifactForm+"; may be repeated")
	flags.StringVar(&f.Title, "title", "", "the title of the revision")
	flags.StringVar(&f.Summary, "summary", "", "the text of the revision")
	flags.StringSliceVar(&f.Keywords, "keywords", nil, "words by which contexts find it, separated by commas; may be repeated")
	flags.StringSliceVar(&f.Topics, "topics", nil, "the topics that it is about, separated by commas; may be repeated")
	flags.StringVar(&f.confidence, "confidence", "", "how certain they are, from 0 to 1 (default: 1)")
	flags.StringArrayVar(&f.links, "link", nil, "a link from the revision: TYPE=TO, as in graphkernel belief link; may be repeated")
	flags.StringSliceVar(&f.Tags, "tag", nil, "a tag to point to the revision; may be repeated")
	flags.BoolVar(&f.NewSpace, "new-space", false, "make the space, under beliefs@2, if there is none")
	cli.NoFiles(c, "because", "item", "turn", "title", "summary", "keywords", "topics", "confidence")
	_ = c.RegisterFlagCompletionFunc("link", completeLink) // both flags exist
	_ = c.RegisterFlagCompletionFunc("tag", cobra.FixedCompletions([]string{"published"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(usualKinds(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

// usualKinds returns the names of the kinds in the policy of a new space.
func usualKinds() (names []string) {
	for _, k := range kinds.Default().Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// read completes the request, except for the turns, which must be looked up in the store.
func (f *stating) read(c *cobra.Command, args []string) (err error) {
	r := &f.BeliefRequest
	r.Space = belief.Space(args[0])
	if r.Statements, err = statementsOf(c, args[1:], f.not); err != nil {
		return err
	}
	for _, text := range f.because {
		premise, err := premiseOf(text)
		if err != nil {
			return err
		}
		r.Premises = append(r.Premises, premise)
	}
	for _, text := range f.links {
		one, err := linkOf(text)
		if err != nil {
			return err
		}
		r.Links = append(r.Links, one)
	}
	for _, name := range f.Tags {
		if !belief.IsTag(name) {
			return cli.Usagef("--tag is %.80q, want [a-z][a-z0-9_-]{0,31}", name)
		}
	}
	for _, text := range f.artifacts {
		one, err := artifactOf(text)
		if err != nil {
			return err
		}
		r.Artifacts = append(r.Artifacts, one)
	}
	if r.Confidence, err = ppmOf("confidence", f.confidence); err != nil {
		return err
	}
	if r.ValidFrom, err = timeOf("from", f.from); err != nil {
		return err
	}
	if r.ValidUntil, err = timeOf("until", f.until); err != nil {
		return err
	}
	if f.Item != "" {
		if c.Flags().Changed("kind") {
			return cli.Usagef("--kind is only for a new item without a name; leave it out, since the address in --item has the kind")
		}
		item, err := belief.ParseItem(string(f.Item))
		if err != nil {
			return cli.Usagef("--item: %w", err)
		}
		if string(item.Space()) != string(r.Space) {
			return cli.Usagef("--item: %s is in the space %s, but SPACE is %s", item, item.Space(), r.Space)
		}
	}
	return nil
}

func change(a *cli.App, c *cobra.Command, o *operator, args []string, f *stating) error {
	r := &f.BeliefRequest
	err := f.read(c, args)
	if err != nil {
		return err
	}
	with := a.Stores.WithKernel
	if f.NewSpace && !f.DryRun {
		with = a.Stores.WithNewKernel
	}
	return with(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		for i := range r.Links {
			if r.Links[i].To, err = targetOf(a, c, s, r.Links[i].To); err != nil {
				return err
			}
		}
		for _, name := range f.turns {
			id, err := cli.Resolve(a, c, s, name)
			if err != nil {
				return err
			}
			if !slices.Contains(r.Turns, id) {
				r.Turns = append(r.Turns, id)
			}
		}
		slices.SortFunc(r.Turns, dag.TurnID.Compare)
		out, err := cli.Do(c.Context(), s, o.op, *r)
		if err != nil {
			return hinted(err, spaceHint(string(r.Space), 0))
		}
		if err := a.IO.Print(out, func(w io.Writer) { printOutcome(w, o, r, &out) }); err != nil {
			return err
		}
		if out.Outcome == "refused" {
			return cli.Finish(refusedExit)
		}
		return nil
	})
}

func printOutcome(w io.Writer, o *operator, r *api.BeliefRequest, out *api.BeliefOutcome) {
	refused := out.Outcome == "refused"
	switch {
	case refused:
		printRefusal(w, o, r, out)
	case out.Repeated && out.Outcome == "unchanged":
		fmt.Fprintf(w, "unchanged: already believed%s\n", became(r, out))
		return
	case out.Repeated:
		fmt.Fprintf(w, "answered before%s\n", became(r, out))
		return
	case out.Outcome == "unchanged":
		fmt.Fprintln(w, "unchanged"+would(!o.states, "", ": none of these statements is believed"))
		return
	case r.DryRun:
		fmt.Fprintf(w, "%s would change%s\n", r.Space, became(r, out))
	default:
		fmt.Fprintf(w, "%s%s\n", o.did, became(r, out))
	}
	for i := range out.GaveWay {
		l := &out.GaveWay[i]
		fmt.Fprintf(w, "  %-14s %s%s\n", would(refused || r.DryRun, "gave way", "would give way"), said(l.Statement), because(l.Premises))
		fmt.Fprintf(w, "  %-14s %s\n", "", address(string(l.Item), l.Revision))
		fmt.Fprintf(w, "  %-14s %s\n", "", conflictOf(o, l))
		if l.Until != nil {
			fmt.Fprintf(w, "  %-14s it holds until %s\n", "", l.Until)
		}
	}
	for _, s := range out.Fell {
		fmt.Fprintf(w, "  %-14s %s\n", would(r.DryRun, "fell", "would fall"), said(s))
	}
	if refused && len(r.Links)+len(r.Tags) > 0 {
		fmt.Fprintln(w, "  no link and no tag was recorded")
	}
	for _, ref := range out.Review {
		fmt.Fprintf(w, "  %-14s %s\n", "to review", oneLine(ref, len(ref)))
	}
	if !refused && out.Kept > 0 {
		fmt.Fprintf(w, "  %-14s %s\n", "kept", cli.Count(out.Kept, "connected statement"))
	}
}

func would(might bool, did, would string) string {
	if might {
		return would
	}
	return did
}

// became says where the result of a request is recorded.
func became(r *api.BeliefRequest, out *api.BeliefOutcome) string {
	var parts []string
	switch {
	case out.Item == "":
	case out.Revision == 0:
		parts = append(parts, oneLine(string(out.Item), len(out.Item))+" (none of its statements is believed now)")
	case r.DryRun && out.Revision == 1 && r.Item == "": // its name will be drawn at random
		parts = append(parts, "a new item")
	default:
		parts = append(parts, address(string(out.Item), out.Revision))
	}
	if out.Seq != 0 && !r.DryRun {
		parts = append(parts, fmt.Sprintf("number %d", out.Seq))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

func printRefusal(w io.Writer, o *operator, r *api.BeliefRequest, out *api.BeliefOutcome) {
	why := "it contradicts other beliefs"
	if out.Reason == "protected" {
		why = "a belief that would give way is protected by the tag published"
	} else if o.name == "propose" {
		why = "it contradicts a more entrenched belief"
	}
	fmt.Fprintf(w, "refused, and no belief has changed: %s\n", why)
	if out.Reason == "protected" && len(out.GaveWay) > 0 {
		item := out.GaveWay[0].Item
		fmt.Fprintf(w, "remove the protection with: graphkernel belief tag %s published none\n", oneLine(string(item), len(item)))
	}
	if out.Seq != 0 && !r.DryRun {
		is := "is"
		if out.Repeated {
			is = "was made before and is"
		}
		fmt.Fprintf(w, "the proposal "+is+" waiting as conflict %d; see: graphkernel belief conflicts %s\n", out.Seq, r.Space)
	}
}

// conflictOf says in words what a statement gave way to.
func conflictOf(o *operator, l *api.BeliefLoss) string {
	var others []api.WrittenStatement
	own := false
	for _, s := range l.Conflict {
		if s.BeliefStatement == l.Statement.BeliefStatement && !own {
			own = true
			continue
		}
		others = append(others, s)
	}
	if !o.states {
		if len(others) == 0 {
			return "since it is a statement to give up, or such a statement follows from it"
		}
		return "since a statement to give up would follow from it together with " + saidAll(others, " and ")
	}
	if len(others) == 1 {
		other := others[0]
		sameSlot := other.Subject == l.Statement.Subject && other.Predicate == l.Statement.Predicate
		switch {
		case sameSlot && other.Object == l.Statement.Object && other.Not != l.Statement.Not:
			return "since it is the opposite of " + said(other)
		case sameSlot && !other.Not && !l.Statement.Not:
			return "since only one of two statements can hold, this one or " + said(other)
		}
	}
	if len(others) == 0 {
		return "since its item says something else now"
	}
	return "since it cannot be believed together with " + saidAll(others, " and ")
}
