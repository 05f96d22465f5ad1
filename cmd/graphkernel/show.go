package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/list"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) showCommand() *cobra.Command {
	var anchor, key string
	var flags cutFlags
	c := &cobra.Command{
		Use:   "show [CONVERSATION|TURN]",
		Short: "List the conversations, or show one as a tree",
		Long: `Without an argument, lists the conversations. With a conversation's id, or a turn in
it, shows its turns as a tree: each under its first parent, further parents named
behind it, and the first one too where another turn stands between. A line of
replies is not indented. With --slice, the turns that the slice of that anchor
selects are marked and say why.

With --key, lists the turns that an API key brought, in the order of admission, of all
conversations or of the one that is named. KEY is the id of an API key, or jwt: and the
subject of a JWT.

` + anchorHelp,
		Args: atMostOneArg("CONVERSATION or TURN"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("key") && anchor != "":
				return usagef("--key lists the turns that a key brought, and --slice marks a tree; give one of them")
			case anchor == "" && (c.Flags().Changed("policy") || c.Flags().Changed("as-of")):
				return usagef("--policy and --as-of say which slice is meant; give its anchor with --slice")
			case c.Flags().Changed("key"):
				return a.showBrought(c, key, args)
			case len(args) == 1:
				return a.showTree(c, args[0], anchor, flags)
			case anchor != "":
				return a.showTree(c, anchor, anchor, flags)
			}
			return a.listConversations(c)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&anchor, "slice", "", "mark what the slice of this turn selects")
	flags.register(a, c)
	c.Flags().StringVar(&key, "key", "", "list the turns that the API key with this id brought")
	noFiles(c, "slice")
	noFiles(c, "key")
	return c
}

type conversationJSON struct {
	ID     string `json:"id"`
	Turns  int    `json:"turns"`
	First  uint64 `json:"first_seq"`
	Last   uint64 `json:"last_seq"`
	Begins string `json:"first_created_at"`
	Ends   string `json:"last_created_at"`
}

func (a *app) listConversations(c *cobra.Command) error {
	return a.withReadKernel(c.Context(), token.Keyring{}, func(s *session) error {
		if err := s.holdsTurns(c.Context()); err != nil {
			return err
		}
		lines := []conversationJSON{}
		var after dag.ConversationID
		const page = 500
		for {
			some, err := s.Conversations(c.Context(), s.tenant, after, page)
			if err != nil {
				return err
			}
			for _, v := range some {
				lines = append(lines, conversationJSON{v.ID.String(), v.Turns, uint64(v.First), uint64(v.Last), v.FirstAt.String(), v.LastAt.String()})
				after = v.ID
			}
			if len(some) < page {
				break
			}
		}
		head, err := s.Head(c.Context(), s.tenant)
		if err != nil {
			return err
		}
		return a.print(map[string]any{"conversations": lines, "head": uint64(head)}, func(w io.Writer) {
			t := newTable(w, "conversation", "turns", "sequence", "from", "to")
			for _, l := range lines {
				t.AppendRow(table.Row{l.ID, l.Turns, fmt.Sprintf("%d–%d", l.First, l.Last), l.Begins, l.Ends})
			}
			t.Render()
			fmt.Fprintf(w, "%d conversations, head %d\n", len(lines), head)
		})
	})
}

// A shownTurn is a line of a tree.
type shownTurn struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`

	Conversation string `json:"conversation,omitempty"` // where turns of several are listed

	Parents   []shownParent `json:"parents"`
	Role      string        `json:"role"`
	Phase     string        `json:"phase"`
	Salience  json.Number   `json:"salience"`
	CreatedAt string        `json:"created_at"`
	Author    string        `json:"author,omitempty"`
	Content   string        `json:"content,omitempty"`

	Attrs map[string]string `json:"attrs,omitempty"`

	Key string `json:"key,omitempty"` // the credential that brought it

	Redacted bool           `json:"redacted,omitempty"`
	Selected *admissionJSON `json:"selected,omitempty"`

	why string
}

type shownParent struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

func (a *app) showTree(c *cobra.Command, name, anchor string, flags cutFlags) error {
	return a.withReadKernel(c.Context(), token.Keyring{}, func(s *session) error {
		conversation, turns, err := conversationOf(c, s, name)
		if err != nil {
			return err
		}
		if anchor != "" {
			if err := markSelected(c, s, turns, anchor, flags); err != nil {
				return err
			}
		}
		return a.print(map[string]any{"conversation": conversation.String(), "turns": turns}, func(w io.Writer) {
			fmt.Fprintf(w, "conversation %s, %d turns\n", conversation, len(turns))
			printTree(w, turns)
		})
	})
}

// showBrought lists the turns that a credential brought.
func (a *app) showBrought(c *cobra.Command, key string, args []string) error {
	if err := access.CheckCredential(key); err != nil {
		return usagef("--key: %v", err)
	}
	return a.withReadKernel(c.Context(), token.Keyring{}, func(s *session) error {
		var within *dag.ConversationID
		if len(args) == 1 {
			id, _, err := conversationOf(c, s, args[0])
			if err != nil {
				return err
			}
			within = &id
		}
		turns, err := readTurns(c.Context(), s, within, key)
		if err != nil {
			return err
		}
		return a.print(map[string]any{"key": key, "turns": turns}, func(w io.Writer) {
			t := newTable(w, "seq", "turn", "conversation", "role", "created")
			for i := range turns {
				t.AppendRow(table.Row{turns[i].Seq, turns[i].ID, turns[i].Conversation, turns[i].Role, turns[i].CreatedAt})
			}
			t.Render()
			fmt.Fprintf(w, "%d turns brought by %s\n", len(turns), key)
		})
	})
}

// conversationOf reads the conversation that a person names, itself or by one of
// its turns.
func conversationOf(c *cobra.Command, s *session, name string) (dag.ConversationID, []shownTurn, error) {
	if id, err := dag.ParseConversationID(name); err == nil {
		if turns, err := readTurns(c.Context(), s, &id, ""); err != nil || len(turns) > 0 {
			return id, turns, err
		}
	}
	turn, err := resolve(c, s, name)
	if err != nil {
		return dag.ConversationID{}, nil, err
	}
	records, err := s.store.Turns(c.Context(), s.tenant, []dag.TurnID{turn})
	if err != nil {
		return dag.ConversationID{}, nil, err
	}
	if len(records) == 0 {
		return dag.ConversationID{}, nil, fmt.Errorf("turn %s: %w", turn, store.ErrNotFound)
	}
	id := records[0].Turn.Conversation
	turns, err := readTurns(c.Context(), s, &id, "")
	return id, turns, err
}

// readTurns reads the turns of a conversation, or of all if id is nil. If key is not empty,
// those that it brought.
func readTurns(ctx context.Context, s *session, id *dag.ConversationID, key string) ([]shownTurn, error) {
	turns := []shownTurn{}
	err := s.eachTurn(ctx, id, 0, func(r *store.Record, body *dag.Body) error {
		if key != "" && r.Key != key {
			return nil
		}
		t := shownTurn{
			ID: r.Turn.ID.String(), Seq: uint64(r.Seq), Parents: []shownParent{}, Role: r.Turn.Role.String(), Phase: r.Turn.Phase.String(),
			Salience: json.Number(r.Turn.Salience.String()), CreatedAt: r.Turn.CreatedAt.String(), Key: r.Key, Redacted: body == nil,
		}
		if body != nil {
			t.Author, t.Content, t.Attrs = body.Author, body.Content, body.Attrs
		}
		if key != "" {
			t.Conversation = r.Turn.Conversation.String()
		}
		for _, p := range r.Parents {
			t.Parents = append(t.Parents, shownParent{p.ID.String(), p.Kind.String()})
		}
		turns = append(turns, t)
		return nil
	})
	return turns, err
}

// markSelected explains each turn with regard to an anchor's slice.
func markSelected(c *cobra.Command, s *session, turns []shownTurn, anchor string, flags cutFlags) error {
	request, err := flags.request(c, s, anchor)
	if err != nil {
		return err
	}
	cut, err := s.Preview(c.Context(), s.tenant, request)
	if err != nil {
		return err
	}
	chosen := map[string]*slice.Admission{}
	for i := range cut.Turns {
		chosen[cut.Turns[i].ID.String()] = &cut.Turns[i].Admission
	}
	for i := range turns {
		if ad := chosen[turns[i].ID]; ad != nil {
			turns[i].Selected = admissionJSONOf(ad)
			turns[i].why = fmt.Sprintf("score %s, %s", render.Score(ad.Score), render.Reason(ad))
		}
	}
	return nil
}

// printTree prints each turn under its first parent. Where a turn was reached by
// one reply after the other, the line is not indented further: a conversation of
// thousands of turns would leave the screen.
func printTree(w io.Writer, turns []shownTurn) {
	here := map[string]int{}
	for i := range turns {
		here[turns[i].ID] = i
	}
	children := make([][]int, len(turns))
	var roots []int
	for i := range turns {
		if len(turns[i].Parents) > 0 {
			if at, ok := here[turns[i].Parents[0].ID]; ok {
				children[at] = append(children[at], i)
				continue
			}
		}
		roots = append(roots, i)
	}
	l := list.NewWriter()
	l.SetStyle(list.StyleConnectedLight)
	l.SetOutputMirror(w)
	// A stack of its own: a chain of a hundred thousand replies is no recursion.
	type step struct{ turn, depth int }
	stack := make([]step, 0, len(roots))
	push := func(turns []int, depth int) {
		for i := len(turns) - 1; i >= 0; i-- {
			stack = append(stack, step{turns[i], depth})
		}
	}
	push(roots, 0)
	depth, above := 0, ""
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for ; depth < at.depth; depth++ {
			l.Indent()
		}
		for ; depth > at.depth; depth-- {
			l.UnIndent()
		}
		l.AppendItem(treeLine(&turns[at.turn], here, above))
		above = turns[at.turn].ID
		next := at.depth
		if len(children[at.turn]) > 1 {
			next++
		}
		push(children[at.turn], next)
	}
	l.Render()
}

// treeLine writes a turn; above is the id of the turn in the line before.
func treeLine(t *shownTurn, here map[string]int, above string) string {
	mark := " "
	if t.Selected != nil {
		mark = "●"
	}
	said := render.OneLine(t.Content, 60)
	if t.Redacted {
		said = render.NoText
	}
	line := fmt.Sprintf("%s %s %s %s: %s", mark, t.ID[:8], t.Role, t.Phase, said)
	for i, p := range t.Parents {
		_, inside := here[p.ID]
		switch {
		case i > 0 || inside && (p.Kind != dag.Reply.String() || p.ID != above):
			line += fmt.Sprintf(" [%s of %s]", p.Kind, p.ID[:8])
		case !inside:
			line += fmt.Sprintf(" [%s of %s, in another conversation]", p.Kind, p.ID[:8])
		}
	}
	if t.why != "" {
		line += "  ← " + t.why
	}
	return line
}
