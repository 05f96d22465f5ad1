package standing

import "github.com/graphkernel/graphkernel/dag"

// Words are the turns that a view shows, with what each counts for under a course. Who takes part in a conversation is found once. The view must not change
// meanwhile.
type Words struct {
	view   dag.View
	asked  *dag.View // the view of the nodes that are asked for; nil: view
	course Course
	people map[dag.ConversationID]*Conversation
	last   dag.ConversationID // most turns are of the conversation of the turn before
	in     *Conversation      // who takes part in last
	near   []dag.Node
	kept   []ruled // by node modulo its length
}

// A ruled is a cached ruling about a node.
type ruled struct {
	node    dag.Node // plus one; 0: none
	setting int
	of      Ruling
}

// mostRuled is the number of cached rulings. Selection asks for the same turns again within a few hundred others.
const mostRuled = 512

// WordsOf returns the words of a view under the settings of a course up to the number of the view. An empty course is that of a tenant for which no policy was set.
func WordsOf(v dag.View, c Course) *Words {
	c = c.Until(v.Seq())
	if len(c) == 0 {
		c = Course{unset()}
	}
	return &Words{view: v, course: c, people: map[dag.ConversationID]*Conversation{}, kept: make([]ruled, mostRuled)}
}

// In returns the same words for the nodes of another view, whose turns the view of w shows, too. A turn counts for what it counts for in the view of w.
func (w *Words) In(v dag.View) *Words {
	other := *w
	other.asked, other.people, other.in, other.kept = &v, map[dag.ConversationID]*Conversation{}, nil, make([]ruled, mostRuled)
	return &other
}

// Course returns the settings by which the words count.
func (w *Words) Course() Course { return w.course }

// Of returns the ruling about a turn that the graph has, and the index of the setting that decides.
func (w *Words) Of(n dag.Node) (Ruling, int) {
	k := &w.kept[int(n)%mostRuled]
	if k.node != n+1 {
		k.node = n + 1
		k.of, k.setting = w.rule(n)
	}
	return k.of, k.setting
}

func (w *Words) rule(n dag.Node) (Ruling, int) {
	if w.asked != nil {
		n, _ = w.view.Find(w.asked.ID(n))
	}
	t := turnAt(w.view, n)
	if w.in == nil || t.Conversation != w.last {
		w.last, w.in = t.Conversation, w.peopleOf(n, t.Conversation)
	}
	return w.course.Of(t.Seq, &t, w.in)
}

// peopleOf returns who takes part in the conversation of a turn.
func (w *Words) peopleOf(n dag.Node, conversation dag.ConversationID) *Conversation {
	in := w.people[conversation]
	if in == nil {
		in = &Conversation{}
		w.near = w.view.AppendOpenings(w.near[:0], n)
		for _, o := range w.near {
			first := turnAt(w.view, o)
			in.Add(&first)
		}
		w.people[conversation] = in
	}
	return in
}

func turnAt(v dag.View, n dag.Node) Turn {
	return Turn{
		Role: v.Role(n), Voice: v.Voice(n), Cost: uint32(v.Cost(n)), Conversation: v.Conversation(n), Origin: v.Origin(n), Root: v.ParentCount(n) == 0,
		Seq: v.Admitted(n),
	}
}
