package facts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/llm"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

const llmHelp = `With --llm-url a model is asked instead, at any endpoint that is compatible with OpenAI's chat completions.
The text of the turns is then sent to that address, and to no other. Question and answer are admitted as
turns, in a conversation of their own; each fact has the answer as its evidence and the source llm:MODEL.

The confidence of these facts is at most --llm-confidence, whatever the model claims. An answer that does not
have the requested form is refused and counted, never repaired. A turn is shown to a model once; --llm-again
shows all turns again. With --llm-max-requests 0 nothing is asked, and "questions_left" says how many
questions there would be.

The result, as JSON:

  {"source","turns","requests","retries","unusable","shown","cut","questions_left","answers",
   "asserted","confirmed","existing","retracted","refused":{REASON:n},"skipped":{REASON:n},"head"}`

// DefaultLLMKey is the default environment variable with the endpoint's key.
const DefaultLLMKey = "GRAPHKERNEL_LLM_KEY"

// llmFlags say which model is asked, and how.
type llmFlags struct {
	url, model, keyEnv, confidence string

	most            int
	timeout         time.Duration
	again, insecure bool
	keyNamed        bool // keyEnv was given, so the variable must be set
}

func (f *llmFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.url, "llm-url", "", "ask a model at this address, such as https://HOST/v1")
	flags.StringVar(&f.model, "llm-model", "", "the model's name there")
	flags.StringVar(&f.keyEnv, "llm-key-env", DefaultLLMKey, "the environment variable that holds the key, if a key is needed")
	flags.StringVar(&f.confidence, "llm-confidence", llm.DefaultCeiling.String(), "the highest confidence of the model's facts, from 0 to 1")
	flags.IntVar(&f.most, "llm-max-requests", 100, "the most questions to ask")
	flags.DurationVar(&f.timeout, "llm-timeout", llm.TryTimeout, "how long to wait for an answer")
	flags.BoolVar(&f.again, "llm-again", false, "also ask about turns that were asked about before")
	flags.BoolVar(&f.insecure, "llm-insecure", false, "let text and key be sent unencrypted, over http:// to another host")
	cli.NoFiles(c, "llm-url", "llm-model", "llm-key-env", "llm-confidence", "llm-max-requests", "llm-timeout")
}

// llmFlagNames are the flags that are only valid with --llm-url.
var llmFlagNames = [...]string{"llm-model", "llm-key-env", "llm-confidence", "llm-max-requests", "llm-timeout", "llm-again", "llm-insecure"}

// given reports whether a model should be asked.
func (f *llmFlags) given(c *cobra.Command) (bool, error) {
	f.keyNamed = c.Flags().Changed("llm-key-env")
	if !c.Flags().Changed("llm-url") {
		for _, name := range llmFlagNames {
			if c.Flags().Changed(name) {
				return false, cli.Usagef("--%s applies only if a model is asked; give its URL with --llm-url", name)
			}
		}
		return false, nil
	}
	switch {
	case f.model == "":
		return false, cli.Usagef("--llm-url needs --llm-model, the model's name at that address")
	case f.most < 0:
		return false, cli.Usagef("--llm-max-requests is %d, want 0 or more", f.most)
	case f.timeout <= 0:
		return false, cli.Usagef("--llm-timeout is %s, want a duration above zero, such as 5m", f.timeout)
	}
	return true, nil
}

// extractor returns the extractor that asks the model.
func (f *llmFlags) extractor(a *cli.App) (*llm.Extractor, error) {
	key := a.Settings.Getenv(f.keyEnv)
	if key == "" && f.keyNamed {
		return nil, cli.Usagef("--llm-key-env names the variable %.80q, which is not set; set it to the endpoint's key", f.keyEnv)
	}
	x, err := llm.New(llm.Config{
		Access: llm.Access{URL: f.url, Key: key, AllowPlaintext: f.insecure, Timeout: f.timeout, Clock: a.Clock, Client: cli.ModelClient()},
		Model:  llm.Model(f.model),
	})
	switch {
	case errors.Is(err, llm.ErrPlaintext):
		return nil, cli.Usagef("--llm-url: %w; give an https:// address, or --llm-insecure if the network is safe without encryption", err)
	case errors.Is(err, llm.ErrModel):
		return nil, cli.Usagef("--llm-model: %w", err)
	case err != nil:
		return nil, cli.Usagef("--llm-url: %w", err)
	}
	return x, nil
}

type askedJSON struct {
	Source   string `json:"source"`
	Turns    int    `json:"turns"`    // turns that were examined
	Requests int    `json:"requests"` // questions that were asked
	Retries  int    `json:"retries"`
	Unusable int    `json:"unusable"` // questions without a usable answer
	Shown    int    `json:"shown"`    // turns, in questions that were answered
	Cut      int    `json:"cut"`      // shown turns of which only a part was shown
	Left     int    `json:"questions_left"`
	Answers  int    `json:"answers"` // answers that were read, including those of earlier runs
	outcomeJSON
	Retracted int            `json:"retracted"`
	Refused   map[string]int `json:"refused"`
	Skipped   map[string]int `json:"skipped"`
	Head      uint64         `json:"head"`
}

func askForFacts(a *cli.App, ctx context.Context, f *llmFlags, only *dag.ConversationID, after dag.Seq) error {
	ceiling, err := confidenceOf("llm-confidence", f.confidence)
	if err != nil {
		return err
	}
	extractor, err := f.extractor(a)
	if err != nil {
		return err
	}
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(ctx); err != nil {
			return err
		}
		model := llm.Model(f.model)
		x := &asking{
			Session: s, extractor: extractor, model: model, ceiling: ceiling, most: f.most, again: f.again, clock: a.Clock, note: a.IO.Note,
			result: &askedJSON{Source: model.Source(), Refused: map[string]int{}, Skipped: map[string]int{}},
		}
		x.learner = learner{Session: s, counts: &x.result.outcomeJSON, after: func() {}}
		x.learner.place = func(i int) string { return "answer " + x.learner.acts[i].Fact.Turn.String() }
		bar := a.IO.Counting("asking")
		err := x.run(ctx, only, after, bar)
		bar.Stop()
		if err != nil {
			if x.result.Answers > 0 {
				a.IO.Note("%s kept and %s learned before this; extracting again continues from there", cli.Was(x.result.Answers, "answer"), cli.Was(x.result.Asserted+x.result.Confirmed, "fact"))
			}
			return err
		}
		if only != nil && x.result.Turns == 0 && after == 0 {
			return fmt.Errorf("conversation %s of tenant %s: %w; see: graphkernel show", only, s.Tenant, store.ErrNotFound)
		}
		return a.IO.Print(x.result, func(w io.Writer) { printAsked(w, x.result) })
	})
}

func printAsked(w io.Writer, r *askedJSON) {
	fmt.Fprintf(w, "%s, %s to %s showed %d of them; %s: %s; head %d\n",
		cli.Count(r.Turns, "turn"), cli.Count(r.Requests, "request"), r.Source, r.Shown, cli.Count(r.Answers, "answer"), &r.outcomeJSON, r.Head)
	cli.PrintCounts(w, "refused", r.Refused)
	cli.PrintCounts(w, "skipped", r.Skipped)
	for _, line := range [...]struct {
		n    int
		text string
	}{
		{r.Cut, "turns were too long and were shown to the model cut off"},
		{r.Retries, "requests were repeated"},
		{r.Unusable, "questions got no usable answer; extracting again asks them again"},
		{r.Left, "questions are left, since --llm-max-requests is reached; extracting again asks them"},
		{r.Retracted, "facts were retracted or superseded before, and stay so"},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, "  %d %s\n", line.n, line.text)
		}
	}
}

// An asking is one run of questions to a model over a store.
type asking struct {
	*cli.Session
	extractor *llm.Extractor
	model     llm.Model
	ceiling   dag.PPM
	most      int
	again     bool
	clock     func() time.Time
	note      func(format string, args ...any)
	learner   learner
	result    *askedJSON
	ended     map[knowledge.ID]bool // statements that were believed and are not now
	unusable  int                   // consecutive questions without a usable answer

	history  *llm.History // of the current conversation
	question *llm.Question
}

func (x *asking) run(ctx context.Context, only *dag.ConversationID, after dag.Seq, bar *cli.Bar) (err error) {
	if x.ended, err = readEnded(x.Session, ctx); err != nil {
		return err
	}
	if only != nil {
		err = x.conversation(ctx, *only, after)
	} else {
		err = x.eachConversation(ctx, func(id dag.ConversationID, done int) error {
			bar.Update(int64(done), 0)
			return x.conversation(ctx, id, after)
		})
	}
	if err != nil {
		return err
	}
	head, err := x.Head(ctx)
	x.result.Head = uint64(head)
	return err
}

// eachConversation calls fn with each conversation and the number of conversations before it.
func (x *asking) eachConversation(ctx context.Context, fn func(id dag.ConversationID, done int) error) error {
	list, err := x.Conversations(ctx)
	if err != nil {
		return err
	}
	for done, c := range list {
		id, err := dag.ParseConversationID(c.ID.String())
		if err == nil {
			err = fn(id, done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// conversation learns the existing answers about one conversation, and asks about the rest.
func (x *asking) conversation(ctx context.Context, id dag.ConversationID, after dag.Seq) error {
	x.history = llm.NewHistory(x.model)
	exchanges := llm.ConversationOf(id)
	if err := x.EachTurn(ctx, api.TurnQuery{Conversation: &exchanges}, func(t *cli.Turn) error {
		facts, refused, read := x.history.Add(t.Node(), t.Body(), t.Parents)
		return x.read(ctx, facts, refused, read)
	}); err != nil {
		return err
	}
	if err := x.learner.flush(ctx); err != nil {
		return err
	}
	x.question = llm.NewQuestion(x.model, id)
	rest := api.TurnQuery{Conversation: &id, Paging: api.Paging{After: strconv.FormatUint(uint64(after), 10)}}
	if err := x.EachTurn(ctx, rest, func(t *cli.Turn) error { return x.turn(ctx, t) }); err != nil {
		return err
	}
	return x.ask(ctx, id)
}

// turn adds a turn to the question. If the question is full, it is asked first.
func (x *asking) turn(ctx context.Context, t *cli.Turn) error {
	x.result.Turns++
	body := t.Body()
	switch {
	case body == nil:
		x.result.Skipped["erased"]++
		return nil
	case llm.IsExchange(body):
		x.result.Skipped["model_exchange"]++
		return nil
	case strings.TrimSpace(body.Content) == "":
		x.result.Skipped["blank"]++
		return nil
	case !x.again && x.history.Shown(t.ID):
		x.result.Skipped["shown_before"]++
		return nil
	}
	if x.question.Add(t.ID, t.Role, body.Content) {
		return nil
	}
	if err := x.ask(ctx, t.Conversation); err != nil {
		return err
	}
	x.question.Add(t.ID, t.Role, body.Content) // the first always fits
	return nil
}

// ask asks the question unless it is empty, stores the answer, learns from it, and begins the next question.
func (x *asking) ask(ctx context.Context, id dag.ConversationID) error {
	turns := x.question.Turns()
	x.question = llm.NewQuestion(x.model, id)
	if len(turns) == 0 {
		return nil
	}
	if x.result.Requests >= x.most {
		x.result.Left++
		return nil
	}
	q, err := x.anew(ctx, id, turns)
	if err != nil || len(q.Turns()) == 0 {
		return err
	}
	asked, err := dag.TimeOf(x.clock())
	if err != nil {
		return err
	}
	x.result.Requests++
	answer, err := x.extractor.Ask(ctx, q)
	if err != nil {
		return x.failed(err)
	}
	x.unusable = 0
	x.result.Retries += answer.Tries - 1
	if now, err := x.anew(ctx, id, q.Turns()); err != nil {
		return err
	} else if len(now.Turns()) < len(q.Turns()) { // the prompt would contain the erased text again
		x.result.Unusable++
		x.note("a turn was erased while the model answered about it: neither the prompt nor the answer is kept; run this again to ask about the others")
		return nil
	}
	came, err := dag.TimeOf(x.clock())
	if err != nil {
		return err
	}
	drafts := x.history.Keep(q, answer, x.ceiling, asked, came)
	if len(drafts) > 0 {
		if _, err := x.Turns.Admit(ctx, drafts); err != nil {
			return err
		}
	}
	x.result.Shown += len(q.Turns())
	x.result.Cut += q.Cut()
	for i := range drafts {
		facts, refused, read := x.history.AddDraft(&drafts[i])
		if err := x.read(ctx, facts, refused, read); err != nil {
			return err
		}
	}
	return x.learner.flush(ctx)
}

// anew makes a question of the present state of turns: a turn may have been erased while a question was being answered, and its text must not be shown or
// stored any more.
func (x *asking) anew(ctx context.Context, id dag.ConversationID, turns []dag.TurnID) (*llm.Question, error) {
	found, err := x.LookUp(ctx, turns)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b cli.Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	q := llm.NewQuestion(x.model, id)
	for i := range found {
		if body := found[i].Body(); body != nil {
			q.Add(found[i].ID, found[i].Role, body.Content) // it fitted before, and labels have only become shorter
		}
	}
	return q, nil
}

// failed skips a question without a usable answer, unless this endpoint never seems to give one.
func (x *asking) failed(err error) error {
	const most = 3
	var unusable *llm.UnusableError
	if !errors.As(err, &unusable) {
		return err
	}
	x.result.Unusable++
	if x.unusable++; x.unusable >= most {
		return fmt.Errorf("%d questions in a row got no usable answer, the last of them: %w", most, err)
	}
	if x.result.Unusable == 1 {
		x.note("a question got no usable answer: %v", err)
	}
	return nil
}

// read learns the facts of an answer.
func (x *asking) read(ctx context.Context, facts []knowledge.Fact, refused llm.Refusals, read bool) error {
	if read {
		x.result.Answers++
	}
	for why, n := range refused {
		x.result.Refused[string(why)] += n
	}
	for i := range facts {
		if x.ended[facts[i].ID()] {
			x.result.Retracted++
			continue
		}
		if len(x.learner.acts) == knowledge.MaxActs {
			if err := x.learner.flush(ctx); err != nil {
				return err
			}
		}
		x.learner.acts = append(x.learner.acts, knowledge.Act{Kind: knowledge.Assert, Fact: facts[i]})
	}
	return nil
}
