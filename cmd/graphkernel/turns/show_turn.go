package turns

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
)

// A shownOne is one turn in full.
type shownOne struct {
	Conversation string        `json:"conversation"`
	Turn         *ShownTurn    `json:"turn"`
	Children     []shownParent `json:"children"` // in the same conversation
	Held         api.Holding   `json:"held"`
	Standing     string        `json:"standing"` // how much its words count

	why string // it has the standing

	here map[string]*ShownTurn
}

// oneOf finds a turn among those of its conversation.
func oneOf(conversation dag.ConversationID, turns []ShownTurn, id dag.TurnID) *shownOne {
	one := &shownOne{Conversation: conversation.String(), Children: []shownParent{}, here: map[string]*ShownTurn{}}
	for i := range turns {
		t := &turns[i]
		one.here[t.ID] = t
		if t.ID == id.String() {
			one.Turn = t
		}
		for _, p := range t.Parents {
			if p.ID == id.String() {
				one.Children = append(one.Children, shownParent{t.ID, p.Kind})
			}
		}
	}
	return one
}

// print prints a turn: its properties, the turns around it, and its text.
func (one *shownOne) print(w io.Writer) {
	t := one.Turn
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-12s  %s\n", what, fmt.Sprintf(format, args...))
	}
	line("turn", "%s", cli.ID.Paint(w, t.ID))
	line("conversation", "%s", one.Conversation)
	line("number", "%d, created %s", t.Seq, t.CreatedAt)
	if t.Redacted {
		line("role", "%s", t.Role)
	} else {
		line("role", "%s, by %s", t.Role, render.Visible(t.Author))
	}
	line("standing", "%s: %s", one.Standing, one.why)
	line("phase", "%s, salience %s", t.Phase, t.Salience)
	if t.Key != "" {
		line("brought by", "%s", render.Visible(t.Key))
	}
	for _, p := range t.Parents {
		line("parent", "%s", one.around(p))
	}
	for _, c := range one.Children {
		line("child", "%s", one.around(c))
	}
	one.printHeld(line, func(id string) string { return cli.ID.Paint(w, id) })
	for _, name := range slices.Sorted(maps.Keys(t.Attrs)) {
		line(render.Visible(name), "%s", render.OneLine(render.Visible(t.Attrs[name]), 200))
	}
	fmt.Fprintln(w)
	if t.Redacted {
		fmt.Fprintln(w, render.NoText)
		return
	}
	for text := range strings.SplitSeq(strings.TrimSuffix(t.Content, "\n"), "\n") {
		fmt.Fprintln(w, render.Visible(text))
	}
}

// printHeld prints in a few lines which contexts and slices contained the turn.
func (one *shownOne) printHeld(line func(what, format string, args ...any), id func(string) string) {
	const most = 5 // of each kind
	for _, of := range []struct {
		what string
		list []api.Issued
	}{{"in context", one.Held.Contexts}, {"in slice", one.Held.Slices}} {
		for i, r := range of.list {
			if i == most {
				line(of.what, "and %d more; --output json has all", len(of.list)-most)
				break
			}
			asked := ""
			if r.Asked != "" {
				asked = ": " + render.OneLine(render.Visible(r.Asked), 60)
			}
			line(of.what, "%s, %.16s, %s%s", id(string(r.SliceID)), r.IssuedAt, r.PolicyID, asked)
		}
	}
	if n := one.Held.Older; n > 0 {
		line("in slice", "not looked at: %s that were handed out before the newest %d", cli.Count(int(n), "older one"), one.Held.Looked)
	}
}

// around describes a neighbouring turn in a line.
func (one *shownOne) around(p shownParent) string {
	t := one.here[p.ID]
	if t == nil {
		return fmt.Sprintf("%s, %s, in another conversation", p.ID, p.Kind)
	}
	said := render.OneLine(render.Visible(t.Content), 60)
	if t.Redacted {
		said = render.NoText
	}
	return fmt.Sprintf("%s, %s, %s: %s", p.ID, p.Kind, t.Role, said)
}

// conversationNamed finds the conversation whose id begins with name, which must have at least four characters.
func conversationNamed(c *cobra.Command, s *cli.Session, name string) (id dag.ConversationID, found bool, err error) {
	const least = 4
	prefix := strings.ToLower(name)
	if len(prefix) < least || strings.Trim(prefix, "0123456789abcdef-") != "" {
		return id, false, nil
	}
	all, err := s.Conversations(c.Context())
	if err != nil {
		return id, false, err
	}
	var names []string
	for i := range all {
		if strings.HasPrefix(all[i].ID.String(), prefix) {
			names = append(names, all[i].ID.String())
		}
	}
	if len(names) > 1 {
		return id, false, cli.Usagef("%q fits several conversations (%s); give more of the id", name, strings.Join(names[:min(len(names), 5)], ", "))
	}
	if len(names) == 0 {
		return id, false, nil
	}
	id, err = dag.ParseConversationID(names[0])
	return id, err == nil, err
}
