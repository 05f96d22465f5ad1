package llm

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// A History holds what one model was asked about one conversation, as the ledger records it. It shows which turns need not be
// asked about again.
type History struct {
	model   Model
	prompts map[dag.TurnID]*kept
	shown   map[dag.TurnID]bool
}

// A kept prompt is a prompt in the ledger.
type kept struct {
	turns   []dag.TurnID // the turns that it shows; none if its text was erased, or if it is another model's prompt
	forged  bool         // it differs from the prompts of Question.draft
	answers map[dag.TurnID]answered
}

// answered identifies an answer: its text and the ceiling of its facts. It is empty for an erased answer.
type answered struct {
	text    [sha256.Size]byte
	ceiling string
}

// NewHistory returns an empty history.
func NewHistory(m Model) *History {
	return &History{model: m, prompts: map[dag.TurnID]*kept{}, shown: map[dag.TurnID]bool{}}
}

// Shown reports whether a turn was shown to the model in a question that was answered. If both turns of an exchange are erased,
// Shown returns false.
func (h *History) Shown(id dag.TurnID) bool { return h.shown[id] }

// Add adds a turn of the conversation that ConversationOf returns; a prompt must come before its responses. body is nil if it
// is erased. Add returns the facts of a response by the model, with the response as their evidence, and what was refused; read
// reports whether the turn is such a response.
func (h *History) Add(t *dag.Turn, body *dag.Body, parents []dag.Parent) (facts []knowledge.Fact, refused Refusals, read bool) {
	switch t.Role {
	case dag.RoleUser:
		h.addPrompt(t.ID, body)
	case dag.RoleAssistant:
		return h.addResponse(t.ID, body, parents)
	}
	return nil, nil, false
}

// AddDraft is Add for a turn that was just admitted.
func (h *History) AddDraft(d *dag.Draft) (facts []knowledge.Fact, refused Refusals, read bool) {
	t := dag.Turn{ID: d.ID, Conversation: d.Conversation, Role: d.Role, CreatedAt: d.CreatedAt}
	return h.Add(&t, &dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}, d.Parents)
}

func (h *History) addPrompt(id dag.TurnID, body *dag.Body) {
	k := &kept{answers: map[dag.TurnID]answered{}}
	if body != nil {
		turns, err := TurnsOf(body)
		if err != nil || body.Attrs[AttrExchange] != Asked {
			return
		}
		if h.mine(body) {
			k.turns = turns
			k.forged = body.Author != Author || !strings.HasPrefix(body.Content, Instructions)
		}
	}
	h.prompts[id] = k
}

// mine reports whether an exchange is by the history's model and under the current Prompt.
func (h *History) mine(b *dag.Body) bool {
	return b.Attrs[AttrModel] == string(h.model) && b.Attrs[AttrPrompt] == Prompt
}

func (h *History) addResponse(id dag.TurnID, body *dag.Body, parents []dag.Parent) (facts []knowledge.Fact, refused Refusals, read bool) {
	var k *kept
	for _, p := range parents {
		if p.Kind == dag.Reply && h.prompts[p.ID] != nil {
			k = h.prompts[p.ID]
		}
	}
	if k == nil {
		return nil, nil, false
	}
	k.answers[id] = answered{} // reserves the id
	if body == nil {
		h.cover(k.turns)
		return nil, nil, false
	}
	if body.Attrs[AttrExchange] != Answered || !h.mine(body) {
		return nil, nil, false
	}
	turns, err := TurnsOf(body)
	ceiling, wrong := dag.ParsePPM(body.Attrs[AttrCeiling])
	if err != nil || wrong != nil || body.Author != h.model.Author() || k.forged || k.turns != nil && !slices.Equal(turns, k.turns) {
		return nil, Refusals{Forged: 1}, true
	}
	h.cover(turns)
	k.answers[id] = answered{sha256.Sum256([]byte(body.Content)), body.Attrs[AttrCeiling]}
	facts, refused = Read(body.Content, len(turns), h.model, ceiling)
	for i := range facts {
		facts[i].Turn = id
	}
	return facts, refused, true
}

func (h *History) cover(turns []dag.TurnID) {
	for _, id := range turns {
		h.shown[id] = true
	}
}

// Keep returns the turns to admit together for an answer to a question: the prompt, unless it is in the ledger, and the
// response, unless the prompt already has the same answer. After the admission, call Add with the admitted turns.
func (h *History) Keep(q *Question, a *Answer, ceiling dag.PPM, asked, came dag.Time) []dag.Draft {
	prompt := q.ID()
	var drafts []dag.Draft
	k := h.prompts[prompt]
	if k == nil {
		drafts = append(drafts, q.draft(asked))
		k = &kept{}
	}
	is := answered{sha256.Sum256([]byte(a.Text)), ceiling.String()}
	for _, was := range k.answers {
		if was == is {
			return drafts
		}
	}
	d := dag.Draft{
		ID: answerID(prompt, len(k.answers)+1), Conversation: ConversationOf(q.conversation), Role: dag.RoleAssistant,
		Phase: dag.Exploration, HasSalience: true, CreatedAt: came,
		Parents: []dag.Parent{{ID: prompt, Kind: dag.Reply}},
		Author:  q.model.Author(), Content: a.Text,
		Attrs: map[string]string{
			AttrExchange: Answered, AttrModel: string(q.model), AttrPrompt: Prompt,
			AttrTurns: formatTurns(q.turns), AttrCeiling: is.ceiling, AttrURL: a.URL,
		},
	}
	if a.Served != "" {
		d.Attrs[AttrServed] = a.Served
	}
	if a.Finish != "" {
		d.Attrs[AttrFinish] = a.Finish
	}
	return append(drafts, d)
}
