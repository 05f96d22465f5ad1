package facts

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

const extractJSON = `  {"turns","findings","asserted","confirmed","existing","retracted",
   "predicates":{PREDICATE:n},"skipped":{REASON:n},"head"}

skipped counts what looked like evidence and gave no fact, retracted the facts that were
learned from the same turns before and are not believed any more, and which stay that way.`

func knowledgeExtractCommand(a *cli.App) *cobra.Command {
	var conversation string
	var after uint64
	var model llmFlags
	c := &cobra.Command{
		Use:   "extract",
		Short: "Learn facts from the turns: files, commands, tests, packages, commits",
		Long: `Reads the turns and learns what agents' programs wrote down in a fixed form, by the rules
` + extract.Rules + ` (docs/extraction.md), without a model: which files were read and written, which
commands ran, which tests passed, which packages were added, which commits were made. Each
fact names the turn that is its evidence, and has the source ` + extract.Rules + `.

Facts are learned in batches, each whole or not at all. Extracting again learns what is new
and changes nothing else. The result, as JSON:

` + extractJSON + `

` + llmHelp,
		Example: `  graphkernel import ~/.claude/projects && graphkernel knowledge extract
  graphkernel knowledge list --predicate edited-file
  graphkernel knowledge extract --llm-url http://localhost:11434/v1 --llm-model qwen3 --llm-max-requests 5`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			only, err := onlyConversation(conversation)
			if err != nil {
				return err
			}
			if asked, err := model.given(c); err != nil {
				return err
			} else if asked {
				return askForFacts(a, c.Context(), &model, only, dag.Seq(after))
			}
			return extractFacts(a, c.Context(), only, dag.Seq(after))
		},
	}
	c.Flags().StringVar(&conversation, "conversation", "", "only the turns of this conversation (an id)")
	c.Flags().Uint64Var(&after, "after", 0, "only turns with a later sequence number")
	cli.NoFiles(c, "conversation", "after")
	model.define(c)
	return c
}

// onlyConversation reads the conversation that a flag names; nil: all of them.
func onlyConversation(text string) (*dag.ConversationID, error) {
	if text == "" {
		return nil, nil
	}
	id, err := dag.ParseConversationID(text)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return &id, nil
}

// An ExtractedJSON says what was extracted, as --output json prints it.
type ExtractedJSON struct {
	Turns    int `json:"turns"`
	Findings int `json:"findings"`
	outcomeJSON
	Retracted  int            `json:"retracted"`
	Predicates map[string]int `json:"predicates"`
	Skipped    map[string]int `json:"skipped"`
	Head       uint64         `json:"head"`
}

func extractFacts(a *cli.App, ctx context.Context, only *dag.ConversationID, after dag.Seq) error {
	return a.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(ctx); err != nil {
			return err
		}
		result, err := Extract(a, ctx, s, only, after)
		if err != nil {
			if done := result.Asserted + result.Confirmed; done > 0 {
				a.Note("%d facts were learned before this; extracting again goes on from there", done)
			}
			return err
		}
		if only != nil && result.Turns == 0 && after == 0 {
			return fmt.Errorf("conversation %s of tenant %s: %w; see: graphkernel show", only, s.Tenant, store.ErrNotFound)
		}
		return a.Print(result, func(w io.Writer) { PrintExtracted(w, result) })
	})
}

// PrintExtracted prints what was extracted.
func PrintExtracted(w io.Writer, r *ExtractedJSON) {
	fmt.Fprintf(w, "%d turns, %d findings: %s; head %d\n", r.Turns, r.Findings, &r.outcomeJSON, r.Head)
	cli.PrintCounts(w, "found  ", r.Predicates)
	cli.PrintCounts(w, "skipped", r.Skipped)
	if r.Retracted > 0 {
		fmt.Fprintf(w, "  %d were retracted or superseded before, and stay so\n", r.Retracted)
	}
}

// Extract learns the findings of turns with a number above after.
func Extract(a *cli.App, ctx context.Context, s *cli.Session, only *dag.ConversationID, after dag.Seq) (*ExtractedJSON, error) {
	x := &extraction{Session: s, result: &ExtractedJSON{Predicates: map[string]int{}, Skipped: map[string]int{}}}
	x.learner = learner{Session: s, counts: &x.result.outcomeJSON, after: func() {}}
	x.learner.place = func(i int) string { return "turn " + x.learner.acts[i].Fact.Turn.String() }
	head, err := s.Turns().Head(ctx, s.Tenant)
	if err != nil {
		return x.result, err
	}
	bar := a.Counting("extracting")
	defer bar.Stop()
	if x.ended, err = readEnded(s, ctx); err != nil {
		return x.result, err
	}
	const page, bytes = 1000, 16 << 20
	for more := true; more; {
		var records []store.Record
		if records, more, err = s.Turns().After(ctx, s.Tenant, after, only, page, bytes); err != nil {
			return x.result, err
		}
		if err := x.turns(ctx, records); err != nil {
			return x.result, err
		}
		if len(records) > 0 {
			after = records[len(records)-1].Seq
			bar.Update(int64(after), int64(max(head, after)))
		}
	}
	if err := x.learner.flush(ctx); err != nil {
		return x.result, err
	}
	head, err = s.Turns().Head(ctx, s.Tenant)
	x.result.Head = uint64(head)
	return x.result, err
}

// An extraction is one run of the rules over a store.
type extraction struct {
	*cli.Session
	learner learner
	result  *ExtractedJSON
	ended   map[knowledge.ID]bool // statements that were believed once and are not
}

// readEnded finds out what was retracted or superseded, so that it is not learned anew.
func readEnded(s *cli.Session, ctx context.Context) (map[knowledge.ID]bool, error) {
	ended := map[knowledge.ID]bool{}
	err := eachAct(s, ctx, func(r *knowledge.Recorded) {
		switch r.Act.Kind {
		case knowledge.Assert:
			if len(ended) > 0 {
				delete(ended, r.Act.Fact.ID())
			}
			for _, id := range r.Act.Supersedes {
				ended[id] = true
			}
		case knowledge.Retract:
			ended[r.Act.Statement] = true
		}
	})
	return ended, err
}

// eachAct calls fn with every act of the tenant, by its number.
func eachAct(s *cli.Session, ctx context.Context, fn func(*knowledge.Recorded)) error {
	const page = 1000
	for after := dag.Seq(0); ; {
		acts, err := s.Facts().Acts(ctx, s.Tenant, after, page)
		if err != nil {
			return err
		}
		for i := range acts {
			fn(&acts[i])
			after = acts[i].Seq
		}
		if len(acts) < page {
			return nil
		}
	}
}

// A told turn is one with its text.
type told struct {
	turn *dag.Turn
	body *dag.Body
}

// turns applies the rules to some turns. Parents that are not among them are read at once.
func (x *extraction) turns(ctx context.Context, records []store.Record) error {
	here := make(map[dag.TurnID]told, len(records))
	if err := tell(here, records); err != nil {
		return err
	}
	var missing []dag.TurnID
	asked := map[dag.TurnID]bool{}
	for i := range records {
		for _, p := range records[i].Parents {
			if _, ok := here[p.ID]; !ok && !asked[p.ID] {
				asked[p.ID] = true
				missing = append(missing, p.ID)
			}
		}
	}
	if len(missing) > 0 {
		parents, err := x.Store.Turns(ctx, x.Tenant, missing)
		if err != nil {
			return err
		}
		if err := tell(here, parents); err != nil {
			return err
		}
	}
	for i := range records {
		if err := x.turn(ctx, &records[i], here); err != nil {
			return err
		}
	}
	return nil
}

func tell(here map[dag.TurnID]told, records []store.Record) error {
	for i := range records {
		r := &records[i]
		t := told{turn: &r.Turn}
		if r.Body != nil {
			body, err := slice.ParseBody(r.Body)
			if err != nil {
				return fmt.Errorf("stored turn %s: %w", r.Turn.ID, err)
			}
			t.body = &body
		}
		here[r.Turn.ID] = t
	}
	return nil
}

func (x *extraction) turn(ctx context.Context, r *store.Record, here map[dag.TurnID]told) error {
	x.result.Turns++
	parents := make([]dag.TurnID, len(r.Parents))
	for i := range r.Parents {
		parents[i] = r.Parents[i].ID
	}
	own := here[r.Turn.ID]
	found, skipped := extract.OfCounted(own.turn, own.body, parents, func(id dag.TurnID) (*dag.Turn, *dag.Body) { return here[id].turn, here[id].body })
	x.skip(&skipped)
	for i := range found {
		act, err := actOfFinding(&found[i])
		if errors.Is(err, knowledge.ErrForm) {
			x.result.Skipped["unnamed_object"]++ // of nothing but signs, say
			continue
		} else if err != nil {
			return err
		}
		x.result.Findings++
		x.result.Predicates[found[i].Predicate]++
		if x.ended[act.Fact.ID()] {
			x.result.Retracted++
			continue
		}
		if len(x.learner.acts) == knowledge.MaxActs {
			if err := x.learner.flush(ctx); err != nil {
				return err
			}
		}
		x.learner.acts = append(x.learner.acts, act)
	}
	return nil
}

func actOfFinding(f *extract.Finding) (knowledge.Act, error) {
	fact, err := knowledge.NewFact(f.Subject, f.Predicate, f.Object, extract.Rules)
	fact.Confidence, fact.Turn = f.Confidence, f.Turn
	return knowledge.Act{Kind: knowledge.Assert, Fact: fact}, err
}

func (x *extraction) skip(s *extract.Skipped) {
	for reason, n := range map[string]int{
		"long_object": s.LongObject, "unnamed_object": s.UnnamedObject, "missing_call": s.MissingCall, "unclear_call": s.UnclearCall,
		"unclear_result": s.UnclearResult, "unclear_command": s.UnclearCommand, "model_exchange": s.ModelExchange,
	} {
		if n > 0 {
			x.result.Skipped[reason] += n
		}
	}
}
