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
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/store"
)

const namesHelp = `Names may be written in any usual spelling: "Ada Lovelace", "ada lovelace" and ADA-LOVELACE are one
entity, ada-lovelace. A path such as /src/a.go, a URL, and TYPE:VALUE such as pkg:npm:left-pad or cmd:ls are
compared byte by byte. Aliases join names that have different forms.`

func knowledgeCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "knowledge",
		Short: "Learn facts about entities, find connections, and see past beliefs",
		Long: `A fact says that a subject has a relation to an object, with a confidence, a source, the turn or the slice
that it was learned from, and the time in which it holds. Nothing is overwritten: a fact that is no longer
believed is still found by questions as of an earlier number.

` + namesHelp,
		Example: `  graphkernel knowledge add "Ada Lovelace" wrote "Note G" --source user
  graphkernel knowledge traverse "ada lovelace" --hops 2
  graphkernel knowledge extract                 facts out of the transcripts that were imported`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	c.AddCommand(
		knowledgeAddCommand(a), knowledgeImportCommand(a), knowledgeExtractCommand(a),
		knowledgeListCommand(a), knowledgeTraverseCommand(a), knowledgePathCommand(a), knowledgeSliceCommand(a),
		knowledgeHistoryCommand(a), knowledgeChangesCommand(a), knowledgeRetractCommand(a), aliasesCommand(a),
	)
	return c
}

// confidenceOf reads a confidence from a flag.
func confidenceOf(flag, text string) (dag.PPM, error) {
	p, err := dag.ReadPPM(text)
	if err != nil {
		return 0, cli.Usagef("--%s: %w", flag, err)
	}
	return p, nil
}

// statementOf reads the id of a statement, in upper or lower case.
func statementOf(text string) (string, error) {
	id, err := dag.AnyCase(dag.ParseDigest)(text)
	if err != nil {
		return "", fmt.Errorf("%w; a statement is named by 64 hex digits, see: graphkernel knowledge list", err)
	}
	return id.String(), nil
}

// statementNamed finds a statement by its id, or by a beginning of at least 4 digits that no other id shares. For a beginning it reads every act.
func statementNamed(ctx context.Context, s *cli.Session, what, text string) (string, error) {
	begin := strings.ToLower(text)
	if len(begin) < 4 || len(begin) >= 2*len(dag.Digest{}) || strings.Trim(begin, "0123456789abcdef") != "" {
		id, err := statementOf(text)
		if err != nil {
			err = cli.Usagef("%s: %w", what, err)
		}
		return id, err
	}
	all, err := s.Acts(ctx, 0, 0)
	if err != nil {
		return "", err
	}
	var found []string
	for i := range all.Acts {
		if named := all.Acts[i].Statement; named != (dag.Digest{}) && strings.HasPrefix(named.String(), begin) && !slices.Contains(found, named.String()) {
			found = append(found, named.String())
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: no statement of tenant %s begins with %s: %w; see: graphkernel knowledge list", what, s.Tenant, begin, store.ErrNotFound)
	case 1:
		return found[0], nil
	}
	return "", cli.Usagef("%s: %q begins several statements (%s); give more digits", what, begin, strings.Join(found[:min(len(found), 3)], ", "))
}

// A factAdded is a fact to be learned.
type factAdded struct {
	api.NewFact
	Replace bool `json:"replace,omitempty" doc:"Supersede all facts with the same subject and predicate."`
}

// An addedJSON is the outcome of learning a fact.
type addedJSON struct {
	Result     knowledge.Result `json:"result"`
	Seq        dag.Seq          `json:"seq,omitempty"`
	Statement  dag.Digest       `json:"statement"`
	Subject    string           `json:"subject"`
	Predicate  string           `json:"predicate"`
	Object     string           `json:"object"`
	ValidFrom  dag.Time         `json:"valid_from,omitzero"`
	ValidUntil dag.Time         `json:"valid_until,omitzero"`
	Confidence dag.PPM          `json:"confidence"`
	Superseded []dag.Digest     `json:"superseded,omitempty"`
}

func knowledgeAddCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[factAdded, addedJSON]{
		Use:   "add SUBJECT PREDICATE OBJECT",
		Short: "Learn one fact",
		Long: `Records that a subject has a relation to an object. Recording the same fact again changes nothing. The same
statement with another confidence, source or evidence is added to its evidence; the highest confidence counts.

--supersedes ends the belief in the statements that it names, and --replace in all statements with the same
subject and predicate. They stay in the history.

` + namesHelp + `

"result" is asserted, confirmed (the fact was believed already, and evidence was added) or existing (nothing
changed, and there is no "seq").`,
		Example: `  graphkernel knowledge add "Ada Lovelace" wrote "Note G" --confidence 0.9 --turn 42fec86c
  graphkernel knowledge add checkout runs-on "pool 7" --from 2026-03-14 --replace`,
		Args: []string{"subject", "predicate", "object"}, Defaults: map[string]string{"confidence": "1", "source": "user"},
		Means: map[string]func(string) (string, error){"supersedes": statementOf}, Opens: cli.ToMake,
		Check: func(in *factAdded) error {
			if in.Replace && len(in.Supersedes) > 0 {
				return cli.Usagef("--replace supersedes the facts that it finds; leave out --supersedes")
			}
			_, err := in.Act("")
			return err
		},
		Ask: addFact,
		Print: func(w io.Writer, _ *factAdded, out *addedJSON) {
			fmt.Fprintf(w, "%s %s\n", out.Result, arrow(out.Subject, out.Predicate, out.Object))
			if out.Seq == 0 {
				fmt.Fprintf(w, "  nothing changed; statement %s\n", out.Statement)
				return
			}
			fmt.Fprintf(w, "  number %d, statement %s\n", out.Seq, out.Statement)
			for _, id := range out.Superseded {
				fmt.Fprintf(w, "  supersedes %s\n", id)
			}
		},
	})
}

func addFact(ctx context.Context, s *cli.Session, in factAdded) (out addedJSON, err error) {
	act, err := in.Act("")
	if err == nil && in.Turn != "" {
		err = act.Fact.Turn.UnmarshalText([]byte(in.Turn)) // the name was resolved to an id before
	}
	if err != nil {
		return out, err
	}
	outcome, err := learnOne(s, ctx, &act, in.Replace)
	if cli.Is(err, api.CodeNotBelieved) {
		err = fmt.Errorf("%w; see: graphkernel knowledge history STATEMENT", err)
	}
	f := &act.Fact
	out = addedJSON{Result: outcome.Result, Seq: outcome.Seq, Statement: f.ID(), Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, ValidFrom: f.From, Confidence: f.Confidence}
	if f.Until != knowledge.Forever {
		out.ValidUntil = f.Until
	}
	if outcome.Seq != 0 {
		out.Superseded = act.Supersedes
	}
	return out, err
}

// learnOne learns a fact. With replace it supersedes all believed statements with the same subject and predicate, even if others change them meanwhile.
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

// rivals returns the believed statements with the subject and the predicate of a fact, and whether exactly this fact is already known.
func rivals(s *cli.Session, ctx context.Context, fact *knowledge.Fact) (others []knowledge.ID, known bool, err error) {
	own := fact.ID()
	for q := (api.FactQuery{FactFilter: api.FactFilter{Subject: fact.Subject, Predicate: fact.Predicate}, Paging: api.Paging{Limit: query.MaxFacts}}); ; {
		page, err := cli.Do(ctx, s, api.ListFacts, q)
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

// says reports whether an assertion of a fact's statement is exactly this fact.
func says(e *api.FactEvidence, f *knowledge.Fact) bool {
	return e.Source == f.Source && e.Confidence == f.Confidence && e.Turn == f.Turn && string(e.Slice) == f.Slice && f.Written == e.Written
}
