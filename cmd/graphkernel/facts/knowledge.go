package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

const namesHelp = `A name is as somebody would write it: "Ada Lovelace", "ada lovelace" and ADA-LOVELACE are
one entity, ada-lovelace. A path such as /src/a.go, a URL, and TYPE:VALUE such as pkg:npm:left-pad
or cmd:ls are compared byte by byte. Aliases join names that this form keeps apart.`

func knowledgeCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "knowledge",
		Short: "Learn facts about entities, ask what leads where, and what was believed when",
		Long: `A fact says that a subject has a relation to an object: with a confidence, a source,
the turn or the slice that it was learned from, and the time for which it holds. Nothing is
overwritten: what is believed no longer is still there for those who ask as of an earlier
number.

` + namesHelp,
		Example: `  graphkernel knowledge add "Ada Lovelace" wrote "Note G" --source user
  graphkernel knowledge traverse "ada lovelace" --hops 2
  graphkernel knowledge extract                 facts out of the transcripts that were imported`,
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		knowledgeAddCommand(a), knowledgeImportCommand(a), knowledgeExtractCommand(a),
		knowledgeListCommand(a), knowledgeTraverseCommand(a), knowledgePathCommand(a), knowledgeSliceCommand(a),
		knowledgeHistoryCommand(a), knowledgeChangesCommand(a), knowledgeRetractCommand(a), aliasesCommand(a),
	)
	return c
}

// confidenceOf reads the confidence that a flag gives.
func confidenceOf(flag, text string) (dag.PPM, error) {
	p, err := dag.ReadPPM(text)
	if err != nil {
		return 0, cli.Usagef("--%s: %w", flag, err)
	}
	return p, nil
}

// timeOf reads the time that a flag gives.
func timeOf(flag, text string) (dag.Time, error) {
	t, err := knowledge.ReadTime(text)
	if err != nil {
		return 0, cli.Usagef("--%s: %w", flag, err)
	}
	return t, nil
}

// statementOf reads the name of a statement.
func statementOf(what, text string) (knowledge.ID, error) {
	id, err := dag.AnyCase(dag.ParseDigest)(text)
	if err != nil {
		return id, cli.Usagef("%s: %w; a statement is named by 64 hex digits, see: graphkernel knowledge list", what, err)
	}
	return id, nil
}

// statementNamed finds the statement that a person names by its id, or by a beginning of at least 4 digits that no other
// shares: for a beginning, every act is looked at.
func statementNamed(ctx context.Context, s *cli.Session, what, text string) (id knowledge.ID, err error) {
	begin := strings.ToLower(text)
	if len(begin) < 4 || len(begin) >= 2*len(id) || strings.Trim(begin, "0123456789abcdef") != "" {
		return statementOf(what, text)
	}
	all, err := s.Acts(ctx, 0, 0)
	if err != nil {
		return id, err
	}
	var found []string
	for i := range all.Acts {
		if named := all.Acts[i].Statement; named != (dag.Digest{}) && strings.HasPrefix(named.String(), begin) && !slices.Contains(found, named.String()) {
			found = append(found, named.String())
		}
	}
	switch len(found) {
	case 0:
		return id, fmt.Errorf("%s: no statement of tenant %s begins with %s: %w; see: graphkernel knowledge list", what, s.Tenant, begin, store.ErrNotFound)
	case 1:
		return statementOf(what, found[0])
	}
	return id, cli.Usagef("%s: %q begins several statements (%s); give more of it", what, begin, strings.Join(found[:min(len(found), 3)], ", "))
}

// An addFlags says what is learned beside the triple.
type addFlags struct {
	confidence, source, turn, slice, from, until string

	supersedes []string
	replace    bool
}

func knowledgeAddCommand(a *cli.App) *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add SUBJECT PREDICATE OBJECT",
		Short: "Learn one fact",
		Long: `Records that a subject has a relation to an object. The same fact once more changes
nothing; the same statement with another confidence, source or evidence is added to the
evidence, and counts with the highest confidence.

--supersedes ends the belief in the statements that it names, --replace in all with the same
subject and predicate. They stay in the history.

` + namesHelp + ` The result, as JSON:

  {"result","seq","statement","subject","predicate","object","confidence","superseded":[STATEMENT],…}

result is asserted, confirmed (it was believed already, the evidence was added) or existing
(nothing changed, and there is no seq).`,
		Example: `  graphkernel knowledge add "Ada Lovelace" wrote "Note G" --confidence 0.9 --turn 42fec86c
  graphkernel knowledge add checkout runs-on "pool 7" --from 2026-03-14 --replace`,
		Args: manyArgs("SUBJECT PREDICATE OBJECT"),
		RunE: func(c *cobra.Command, args []string) error { return addFact(a, c, args, &f) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.StringVar(&f.confidence, "confidence", "1", "how sure it is, from 0 to 1")
	flags.StringVar(&f.source, "source", "user", "who says so, such as user or llm:MODEL")
	flags.StringVar(&f.turn, "turn", "", "the turn that says so, as elsewhere")
	flags.StringVar(&f.slice, "slice", "", "the slice that it was learned from (an id)")
	flags.StringVar(&f.from, "from", "", "since when it holds, a date or a time; 1970 if absent")
	flags.StringVar(&f.until, "until", "", "before when it holds; without an end if absent")
	flags.StringSliceVar(&f.supersedes, "supersedes", nil, "statements that end with it")
	flags.BoolVar(&f.replace, "replace", false, "it supersedes all with the same subject and predicate")
	cli.NoFiles(c, "confidence", "source", "turn", "slice", "from", "until", "supersedes")
	return c
}

// manyArgs wants as many arguments as there are words in names.
func manyArgs(names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != len(strings.Fields(names)) {
			return cli.Usagef("%s takes %s, got %s", c.CommandPath(), names, cli.Count(len(args), "argument"))
		}
		return nil
	}
}

// act returns what is to be learned, except for the turn, which only the store knows.
func (f *addFlags) act(args []string) (act knowledge.Act, err error) {
	if f.replace && len(f.supersedes) > 0 {
		return act, cli.Usagef("--replace supersedes what it finds; leave out --supersedes")
	}
	act.Kind = knowledge.Assert
	if act.Fact, err = knowledge.NewFact(args[0], args[1], args[2], f.source); err != nil {
		return act, cli.Usage(err)
	}
	fact := &act.Fact
	fact.Slice = strings.ToLower(f.slice)
	if fact.Confidence, err = confidenceOf("confidence", f.confidence); err != nil {
		return act, err
	}
	if f.from != "" {
		if fact.From, err = timeOf("from", f.from); err != nil {
			return act, err
		}
	}
	if f.until != "" {
		if fact.Until, err = timeOf("until", f.until); err != nil {
			return act, err
		}
	}
	for _, text := range f.supersedes {
		id, err := statementOf("--supersedes", text)
		if err != nil {
			return act, err
		}
		act.Supersedes = append(act.Supersedes, id)
	}
	act.Supersedes = knowledge.SortIDs(act.Supersedes)
	if err := act.Check(); err != nil {
		return act, cli.Usage(err)
	}
	return act, nil
}

type addedJSON struct {
	Result string `json:"result"`
	Seq    uint64 `json:"seq,omitempty"`
	statementJSON
	Confidence json.Number `json:"confidence"`
	Superseded []string    `json:"superseded,omitempty"`
}

func addFact(a *cli.App, c *cobra.Command, args []string, f *addFlags) error {
	act, err := f.act(args)
	if err != nil {
		return err
	}
	return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if f.turn != "" {
			if act.Fact.Turn, err = cli.Resolve(a, c, s, f.turn); err != nil {
				return err
			}
		}
		outcome, err := learnOne(s, c.Context(), &act, f.replace)
		if cli.Is(err, api.CodeNotBelieved) {
			return fmt.Errorf("%w; see: graphkernel knowledge history STATEMENT", err)
		} else if err != nil {
			return err
		}
		result := addedJSON{
			Result: string(outcome.Result), Seq: uint64(outcome.Seq),
			statementJSON: statementOfFact(&act.Fact), Confidence: decimal(act.Fact.Confidence),
		}
		if outcome.Seq != 0 {
			result.Superseded = cli.Texts(act.Supersedes)
		}
		return a.IO.Print(result, func(w io.Writer) {
			fmt.Fprintf(w, "%s %s\n", result.Result, arrow(act.Fact.Subject, act.Fact.Predicate, act.Fact.Object))
			if outcome.Seq == 0 {
				fmt.Fprintf(w, "  nothing changed; statement %s\n", result.Statement)
				return
			}
			fmt.Fprintf(w, "  number %d, statement %s\n", outcome.Seq, result.Statement)
			for _, id := range result.Superseded {
				fmt.Fprintf(w, "  supersedes %s\n", id)
			}
		})
	})
}

// learnOne learns a fact. With replace it supersedes what is believed with the same subject
// and predicate, anyone who changes that meanwhile.
func learnOne(s *cli.Session, ctx context.Context, act *knowledge.Act, replace bool) (knowledge.Outcome, error) {
	const tries = 8
	for try := 1; ; try++ {
		if replace {
			others, known, err := rivals(s, ctx, &act.Fact)
			if err != nil {
				return knowledge.Outcome{}, err
			}
			if known && len(others) == 0 {
				return knowledge.Outcome{Result: knowledge.Existing, Statement: act.Fact.ID()}, nil
			}
			act.Supersedes = others
		}
		outcomes, err := s.Facts.Learn(ctx, []knowledge.Act{*act})
		switch {
		case err == nil:
			return outcomes[0], nil
		case !replace || try == tries || !cli.Is(err, api.CodeNotBelieved):
			return knowledge.Outcome{}, err
		}
	}
}

// rivals returns the statements that are believed with the subject and the predicate of a
// fact, and whether just this fact is among what counts already.
func rivals(s *cli.Session, ctx context.Context, fact *knowledge.Fact) (others []knowledge.ID, known bool, err error) {
	own := fact.ID()
	for q := (api.FactQuery{FactFilter: api.FactFilter{Subject: fact.Subject, Predicate: fact.Predicate}, Paging: api.Paging{Limit: kernel.MaxFacts}}); ; {
		page, err := cli.Do(ctx, s, view.ListFacts, q)
		if err != nil {
			return nil, false, err
		}
		for i := range page.Facts {
			f := &page.Facts[i]
			if f.Statement.String() == own.String() {
				known = slices.ContainsFunc(f.Evidence, func(e api.FactEvidence) bool { return says(&e, fact) })
				continue
			}
			id := f.Statement
			others = append(others, id)
		}
		if q.After = page.Next; page.Next == "" {
			return knowledge.SortIDs(others), known, nil
		}
	}
}

// says reports whether an assertion of a fact's statement is that very fact.
func says(e *api.FactEvidence, f *knowledge.Fact) bool {
	return e.Source == f.Source && e.Confidence == f.Confidence && e.Turn == f.Turn && string(e.Slice) == f.Slice && f.Written == e.Written
}
