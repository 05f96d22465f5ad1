package slice

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Exchanges joins the turns of one conversation with the prompts before them, for readers. It is about what was asked and answered, and not about whose words
// count: a prompt is a turn of role user in the voice of a person or of another agent, such as the one that called a sub-agent, whatever its standing. The
// results of tools, what the program around an agent puts in between, and a turn in the name of a person for whom its credential does not speak are no prompts.
//
// A turn leads to all its parents in the conversation. Exchanges looks at each ancestor of the turns that it is asked about once, and for the answers at every
// turn of the graph. It is valid as long as its view.
type Exchanges struct {
	view         dag.View
	conversation dag.ConversationID
	spine        spine
	answers      map[dag.Node][]dag.Node // by prompt: the agent's turns, by descending number; nil until somebody asks
}

// ExchangesIn returns the exchanges of a conversation in a view.
func ExchangesIn(v dag.View, conversation dag.ConversationID) *Exchanges {
	return &Exchanges{view: v.Under(dag.ReadNow), conversation: conversation, spine: spine{known: map[dag.Node]dag.Node{}}}
}

// IsPrompt reports whether a turn is a prompt.
func (x *Exchanges) IsPrompt(n dag.Node) bool {
	voice := x.view.Voice(n)
	return x.view.Role(n) == dag.RoleUser && (voice == dag.VoicePerson || voice == dag.VoiceAgent)
}

// Question returns the nearest prompt before a turn: of the first prompts on all paths of its parents, the one with the greatest number. It returns false if
// there is none.
func (x *Exchanges) Question(n dag.Node) (dag.Node, bool) {
	prompt := x.spine.prompt(x.view, x, n)
	return prompt, prompt != noNode
}

// Answers returns the turns of the agent whose question is a prompt, the newest first, without those that have no text. The list must not be changed.
func (x *Exchanges) Answers(prompt dag.Node) []dag.Node {
	if x.answers == nil {
		x.answers = map[dag.Node][]dag.Node{}
		for n := range x.turns {
			if x.view.Role(n) != dag.RoleAssistant || x.view.Cost(n) == 0 {
				continue
			}
			if asked, ok := x.Question(n); ok {
				x.answers[asked] = append(x.answers[asked], n)
			}
		}
		for _, list := range x.answers {
			slices.SortFunc(list, func(a, b dag.Node) int { return cmp.Compare(x.view.Admitted(b), x.view.Admitted(a)) })
		}
	}
	return x.answers[prompt]
}

// First returns the first turn of the conversation for which fits returns true; false if there is none.
func (x *Exchanges) First(fits func(dag.Node) bool) (dag.Node, bool) {
	first := noNode
	for n := range x.turns {
		if (first == noNode || x.view.Admitted(n) < x.view.Admitted(first)) && fits(n) {
			first = n
		}
	}
	return first, first != noNode
}

// turns yields the turns of the conversation that the view shows, in no particular order.
func (x *Exchanges) turns(yield func(dag.Node) bool) {
	for i := range x.view.Len() {
		if n := dag.Node(i); x.shows(n) && !yield(n) {
			return
		}
	}
}

func (x *Exchanges) shows(n dag.Node) bool {
	return x.view.Conversation(n) == x.conversation && x.view.Present(n) && x.view.Admitted(n) <= x.view.Seq()
}

// saysWhat implements [lineage].
func (x *Exchanges) saysWhat(n dag.Node) bool { return x.IsPrompt(n) }

// appendLeads implements [lineage].
func (x *Exchanges) appendLeads(dst []dag.Node, n dag.Node) []dag.Node {
	for i := range x.view.ParentCount(n) {
		if parent, _, _ := x.view.Parent(n, i); x.shows(parent) {
			dst = append(dst, parent)
		}
	}
	return dst
}
