package facts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

const extractJSON = `  {"turns","findings","asserted","confirmed","existing","retracted",
   "predicates":{PREDICATE:n},"skipped":{REASON:n},"head"}

"skipped" counts texts that looked like evidence and yielded no fact. "retracted" counts the facts that were
learned from the same turns before and are no longer believed; they stay retracted.`

func knowledgeExtractCommand(a *cli.App) *cobra.Command {
	var conversation string
	var after uint64
	var model llmFlags
	c := &cobra.Command{
		Use:   "extract",
		Short: "Learn facts from the turns: files, commands, tests, packages, commits",
		Long: `Reads the turns and learns, by the rules ` + extract.Rules + ` (docs/extraction.md) and without a model, what agents'
programs recorded in a fixed form: which files were read and written, which commands ran, which tests passed,
which packages were added, which commits were made. Each fact names the turn that is its evidence, and has
the source ` + extract.Rules + `.

Facts are learned in batches; each batch is learned whole or not at all. Extracting again learns new facts
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
	c.Flags().StringVar(&conversation, "conversation", "", "only the turns of the conversation with this id")
	c.Flags().Uint64Var(&after, "after", 0, "only turns with a later sequence number")
	cli.NoFiles(c, "conversation", "after")
	model.define(c)
	return c
}

// onlyConversation reads the conversation that a flag names; nil means all conversations.
func onlyConversation(text string) (*dag.ConversationID, error) {
	if text == "" {
		return nil, nil
	}
	id, err := dag.AnyCase(dag.ParseConversationID)(text)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return &id, nil
}

// An ExtractedJSON is the result of an extraction, as --output json prints it.
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
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(ctx); err != nil {
			return err
		}
		result, err := Extract(a, ctx, s, only, after)
		if err != nil {
			if done := result.Asserted + result.Confirmed; done > 0 {
				a.IO.Note("%s learned before this; extracting again continues from there", cli.Was(done, "fact"))
			}
			return err
		}
		if only != nil && result.Turns == 0 && after == 0 {
			return fmt.Errorf("conversation %s of tenant %s: %w; see: graphkernel show", only, s.Tenant, store.ErrNotFound)
		}
		return a.IO.Print(result, func(w io.Writer) { PrintExtracted(w, result) })
	})
}

// PrintExtracted prints the result of an extraction.
func PrintExtracted(w io.Writer, r *ExtractedJSON) {
	fmt.Fprintf(w, "%s, %s: %s; head %d\n", cli.Count(r.Turns, "turn"), cli.Count(r.Findings, "finding"), &r.outcomeJSON, r.Head)
	cli.PrintCounts(w, "found  ", r.Predicates)
	cli.PrintCounts(w, "skipped", r.Skipped)
	if r.Retracted > 0 {
		fmt.Fprintf(w, "  %d were retracted or superseded before, and stay so\n", r.Retracted)
	}
}

// Extract learns the findings in turns with a number above after.
func Extract(a *cli.App, ctx context.Context, s *cli.Session, only *dag.ConversationID, after dag.Seq) (*ExtractedJSON, error) {
	x := &extraction{Session: s, result: &ExtractedJSON{Predicates: map[string]int{}, Skipped: map[string]int{}}}
	x.learner = learner{Session: s, counts: &x.result.outcomeJSON, after: func() {}}
	x.learner.place = func(i int) string { return "turn " + x.learner.acts[i].Fact.Turn.String() }
	head, err := s.Head(ctx)
	if err != nil {
		return x.result, err
	}
	bar := a.IO.Counting("extracting")
	defer bar.Stop()
	if x.ended, err = readEnded(s, ctx); err != nil {
		return x.result, err
	}
	q := api.TurnQuery{Conversation: only, Paging: api.Paging{Limit: 1000}}
	if after != 0 {
		q.After = strconv.FormatUint(uint64(after), 10)
	}
	for more := true; more; more = q.After != "" {
		var some []cli.Turn
		if some, q.After, err = s.ListTurns(ctx, q); err != nil {
			return x.result, err
		}
		if err := x.turns(ctx, some); err != nil {
			return x.result, err
		}
		if len(some) > 0 {
			after = some[len(some)-1].Seq
			bar.Update(int64(after), int64(max(head, after)))
		}
	}
	if err := x.learner.flush(ctx); err != nil {
		return x.result, err
	}
	head, err = s.Head(ctx)
	x.result.Head = uint64(head)
	return x.result, err
}

// An extraction is one run of the rules over a store.
type extraction struct {
	*cli.Session
	learner learner
	result  *ExtractedJSON
	ended   map[knowledge.ID]bool // statements that were believed and are not now
}

// readEnded returns the statements that were retracted or superseded, so that they are not learned again.
func readEnded(s *cli.Session, ctx context.Context) (map[knowledge.ID]bool, error) {
	ended := map[knowledge.ID]bool{}
	err := eachAct(s, ctx, func(a *api.KnowledgeAct) {
		id, _ := dag.ParseDigest(a.Statement.String()) // the statement of a learned fact is valid
		switch knowledge.Kind(a.Kind) {
		case knowledge.Assert:
			if len(ended) > 0 {
				delete(ended, id)
			}
			for _, text := range a.Supersedes {
				if id, err := dag.ParseDigest(text.String()); err == nil {
					ended[id] = true
				}
			}
		case knowledge.Retract:
			ended[id] = true
		}
	})
	return ended, err
}

// eachAct calls fn with every act of the tenant, by its number.
func eachAct(s *cli.Session, ctx context.Context, fn func(*api.KnowledgeAct)) error {
	const page = 1000
	for after := dag.Seq(0); ; {
		some, err := s.Acts(ctx, after, page)
		if err != nil {
			return err
		}
		for i := range some.Acts {
			fn(&some.Acts[i])
			after = some.Acts[i].Seq
		}
		if some.Next == "" {
			return nil
		}
	}
}

// turns applies the rules to some turns. Their other parents are read in one request.
func (x *extraction) turns(ctx context.Context, some []cli.Turn) error {
	here := make(map[dag.TurnID]*cli.Turn, len(some))
	for i := range some {
		here[some[i].ID] = &some[i]
	}
	var missing []dag.TurnID
	asked := map[dag.TurnID]bool{}
	for i := range some {
		for _, p := range some[i].Parents {
			if _, ok := here[p.ID]; !ok && !asked[p.ID] {
				asked[p.ID] = true
				missing = append(missing, p.ID)
			}
		}
	}
	if len(missing) > 0 {
		parents, err := x.LookUp(ctx, missing)
		if err != nil {
			return err
		}
		for i := range parents {
			here[parents[i].ID] = &parents[i]
		}
	}
	for i := range some {
		if err := x.turn(ctx, &some[i], here); err != nil {
			return err
		}
	}
	return nil
}

func (x *extraction) turn(ctx context.Context, t *cli.Turn, here map[dag.TurnID]*cli.Turn) error {
	x.result.Turns++
	parents := make([]dag.TurnID, len(t.Parents))
	for i := range t.Parents {
		parents[i] = t.Parents[i].ID
	}
	found, skipped := extract.OfCounted(t.Node(), t.Body(), parents, func(id dag.TurnID) (*dag.Turn, *dag.Body) {
		if parent := here[id]; parent != nil {
			return parent.Node(), parent.Body()
		}
		return nil, nil
	})
	x.skip(&skipped)
	for i := range found {
		act, err := actOfFinding(&found[i])
		if errors.Is(err, knowledge.ErrForm) {
			x.result.Skipped["unnamed_object"]++ // for example a name of punctuation only
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
