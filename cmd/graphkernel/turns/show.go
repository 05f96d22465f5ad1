package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/list"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/beliefs"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// turnRoles are the roles that --role accepts.
var turnRoles = []string{dag.RoleUser.String(), dag.RoleAssistant.String(), dag.RoleSystem.String(), dag.RoleTool.String()}

func showCommand(a *cli.App) *cobra.Command {
	var anchor, key, role, find string
	var flags cutFlags
	var list listFlags
	c := &cobra.Command{
		Use:   "show [CONVERSATION|TURN|KREF]",
		Short: "List the conversations, show one as a tree, or show a turn or a belief",
		Long: `Without an argument, lists the conversations, those in which something was said last first.

With a turn, shows all that is known of it: the time, the author, how much its words count, its parents and children,
the contexts that showed it, the slices of turns that held it, and its text. There is no index from turns to slices: of the slices that were
handed out, the newest 1000 are cut again, and older ones are counted.

With a conversation's id, or a beginning of it that no other shares, shows its turns as a tree. Each turn is below
its first parent, and further parents are named after it, as is the first one if another turn is between them. A
chain of replies is not indented.

With --slice, shows the conversation of the turn, and marks the turns that the slice of that anchor selects, with
the reasons.

With --key, lists the turns that an API key brought, in the order of admission, of all conversations or of the one
that is named. KEY is the id of an API key, or jwt: and the subject of a JWT. With --role, lists the turns of that
role; with both, the turns that fit both.

With the address of a belief, kref://PROJECT/SPACE/NAME.KIND, shows it as graphkernel belief show does.

` + cli.AnchorHelp,
		Args: cli.AtMostOneArg("CONVERSATION, TURN or KREF"),
		RunE: func(c *cobra.Command, args []string) error {
			listed := c.Flags().Changed("key") || c.Flags().Changed("role")
			switch {
			case listed && anchor != "":
				return cli.Usagef("--key and --role list turns, and --slice marks a tree; give one or the other")
			case (listed || anchor != "" || find != "" || len(args) == 1) && (c.Flags().Changed("limit") || c.Flags().Changed("since")):
				return cli.Usagef("--limit and --since are for the list of conversations; leave out the other arguments and flags")
			case anchor == "" && (c.Flags().Changed("policy") || c.Flags().Changed("as-of")):
				return cli.Usagef("--policy and --as-of say which slice is meant; give its anchor with --slice")
			case find != "" && (listed || len(args) == 1):
				return cli.Usagef("--find looks for the turn that is shown; give it alone, or name the turn")
			case find != "":
				return showTree(a, c, "", find, anchor, flags)
			case listed:
				return showListed(a, c, key, role, args)
			case len(args) == 1 && anchor == "" && belief.IsAddress(args[0]):
				return beliefs.ShowItem(a, c, args[0])
			case len(args) == 1:
				return showTree(a, c, args[0], "", anchor, flags)
			case anchor != "":
				return showTree(a, c, anchor, "", anchor, flags)
			}
			return listConversations(a, c, &list)
		},
		ValidArgsFunction: a.Stores.CompleteTurns(true),
	}
	c.Flags().StringVar(&anchor, "slice", "", "mark the turns that the slice of this turn selects")
	flags.register(a, c)
	list.register(c)
	cli.FindFlag(c, &find)
	c.Flags().StringVar(&key, "key", "", "list the turns that the API key with this id brought")
	cli.NoFiles(c, "slice")
	cli.NoFiles(c, "key")
	c.Flags().StringVar(&role, "role", "", "list the turns of this role: "+strings.Join(turnRoles, ", "))
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(turnRoles, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

// A ShownTurn is a turn in a tree.
type ShownTurn struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`

	Conversation string `json:"conversation,omitempty"` // set if turns of several conversations are listed

	Parents   []shownParent `json:"parents"`
	Role      string        `json:"role"`
	Phase     string        `json:"phase"`
	Salience  json.Number   `json:"salience"`
	CreatedAt string        `json:"created_at"`
	Author    string        `json:"author,omitempty"`
	Content   string        `json:"content,omitempty"`

	Attrs map[string]string `json:"attrs,omitempty"`

	Key string `json:"key,omitempty"` // the API key that brought the turn

	Redacted bool           `json:"redacted,omitempty"`
	Selected *api.Admission `json:"selected,omitempty"`

	Why string
}

type shownParent struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

func showTree(a *cli.App, c *cobra.Command, name, find, anchor string, flags cutFlags) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if find != "" {
			id, err := cli.Find(a, c, s, find, 0)
			if err != nil {
				return err
			}
			name = id.String()
		}
		conversation, turns, turn, err := conversationOf(a, c, s, name)
		if err != nil {
			return err
		}
		if turn != nil && anchor == "" {
			one := oneOf(conversation, turns, *turn)
			if one.Held, err = cli.Do(c.Context(), s, api.TurnHolding, api.TurnByID{ID: *turn}); err != nil {
				return err
			}
			found, err := cli.Do(c.Context(), s, api.ListStandings, api.StandingsQuery{Turn: turn})
			if err != nil {
				return err
			}
			for i := range found.Turns {
				one.Standing, one.why = found.Turns[i].Standing, found.Turns[i].Reason
			}
			return a.IO.Print(one, one.print)
		}
		if anchor != "" {
			if err := markSelected(a, c, s, turns, anchor, flags); err != nil {
				return err
			}
		}
		return a.IO.Print(map[string]any{"conversation": conversation.String(), "turns": turns}, func(w io.Writer) {
			fmt.Fprintf(w, "conversation %s, %s", conversation, cli.Count(len(turns), "turn"))
			var titles ingest.Titles
			for i := range turns {
				titles.Add(turns[i].Attrs)
			}
			if title := titles.Title(); title != "" {
				fmt.Fprintf(w, ": %s", cli.Title(title))
			}
			fmt.Fprintln(w)
			PrintTree(w, turns, "in another conversation")
		})
	})
}

// showListed lists the turns that an API key brought, the turns of a role, or the turns that fit both.
func showListed(a *cli.App, c *cobra.Command, key, role string, args []string) error {
	q, object, which := api.TurnQuery{Key: key, Role: role}, map[string]any{}, ""
	if c.Flags().Changed("role") {
		if _, err := dag.ParseRole(role); err != nil {
			return cli.Usagef("--role: %v", err)
		}
		object["role"], which = role, " of role "+role
	}
	if c.Flags().Changed("key") {
		if err := access.CheckCredential(key); err != nil {
			return cli.Usagef("--key: %v", err)
		}
		object["key"], which = key, which+" brought by "+key
	}
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if len(args) == 1 {
			id, _, _, err := conversationOf(a, c, s, args[0])
			if err != nil {
				return err
			}
			q.Conversation = &id
		}
		turns, err := readTurns(c.Context(), s, q)
		if err != nil {
			return err
		}
		object["turns"] = turns
		return a.IO.Print(object, func(w io.Writer) {
			t := cli.NewTable(w, "seq", "turn", "conversation", "role", "created")
			for i := range turns {
				t.AppendRow(table.Row{turns[i].Seq, turns[i].ID, turns[i].Conversation, turns[i].Role, turns[i].CreatedAt})
			}
			t.Render()
			fmt.Fprintf(w, "%s%s\n", cli.Count(len(turns), "turn"), which)
		})
	})
}

// conversationOf reads the conversation that a person names: by its id or a beginning of it, or by one of its turns. It also returns the conversation's turns
// and, if a turn was named, that turn.
func conversationOf(a *cli.App, c *cobra.Command, s *cli.Session, name string) (id dag.ConversationID, turns []ShownTurn, turn *dag.TurnID, err error) {
	if id, err := dag.AnyCase(dag.ParseConversationID)(name); err == nil {
		if turns, err := ReadConversation(c.Context(), s, id); err != nil || len(turns) > 0 {
			return id, turns, nil, err
		}
	}
	of, unknown := cli.Resolve(a, c, s, name)
	if unknown != nil && !cli.Is(unknown, api.CodeNotFound) {
		return id, nil, nil, unknown
	}
	if unknown != nil {
		id, found, err := conversationNamed(c, s, name)
		if err != nil || !found {
			return id, nil, nil, cmp.Or(err, unknown)
		}
		turns, err := ReadConversation(c.Context(), s, id)
		return id, turns, nil, err
	}
	found, err := s.LookUp(c.Context(), []dag.TurnID{of})
	if err != nil {
		return id, nil, nil, err
	}
	if len(found) == 0 {
		return id, nil, nil, fmt.Errorf("turn %s: %w", of, store.ErrNotFound)
	}
	id = found[0].Conversation
	turns, err = ReadConversation(c.Context(), s, id)
	return id, turns, &of, err
}

// ReadConversation reads the turns of a conversation.
func ReadConversation(ctx context.Context, s *cli.Session, id dag.ConversationID) ([]ShownTurn, error) {
	return readTurns(ctx, s, api.TurnQuery{Conversation: &id})
}

// readTurns reads the turns of a query. If the query has a key or a role, each turn names its conversation.
func readTurns(ctx context.Context, s *cli.Session, q api.TurnQuery) ([]ShownTurn, error) {
	turns := []ShownTurn{}
	err := s.EachTurn(ctx, q, func(r *cli.Turn) error {
		t := ShownTurn{
			ID: r.ID.String(), Seq: uint64(r.Seq), Parents: []shownParent{}, Role: r.Role.String(), Phase: r.Phase.String(),
			Salience: json.Number(r.Salience.String()), CreatedAt: r.CreatedAt.String(), Key: r.Key, Redacted: r.Redacted,
			Author: r.Author, Content: r.Content, Attrs: r.Attrs,
		}
		if q.Key != "" || q.Role != "" {
			t.Conversation = r.Conversation.String()
		}
		for _, p := range r.Parents {
			t.Parents = append(t.Parents, shownParent{p.ID.String(), p.Kind.String()})
		}
		turns = append(turns, t)
		return nil
	})
	return turns, err
}

// markSelected adds to each turn why it is in the slice of an anchor, or why not.
func markSelected(a *cli.App, c *cobra.Command, s *cli.Session, turns []ShownTurn, anchor string, flags cutFlags) error {
	request, err := flags.cutting(a, c, s, anchor)
	if err != nil {
		return err
	}
	cut, err := cli.Do(c.Context(), s, api.PreviewSlice, request)
	if err != nil {
		return err
	}
	chosen := map[string]*api.Admission{}
	for i := range cut.Turns {
		chosen[cut.Turns[i].ID.String()] = &cut.Turns[i].Admission
	}
	for i := range turns {
		if ad := chosen[turns[i].ID]; ad != nil {
			why, err := admissionOf(ad)
			if err != nil {
				return err
			}
			turns[i].Selected = ad
			turns[i].Why = fmt.Sprintf("score %s, %s", render.Score(why.Score), render.Reason(why))
		}
	}
	return nil
}

// admissionOf reads the reason why a turn was selected.
func admissionOf(ad *api.Admission) (*slice.Admission, error) {
	via, err := slice.ParseVia(ad.Via)
	why := &slice.Admission{Score: policy.Score(ad.ScoreNano), Distance: ad.Distance, Via: via}
	if err == nil && ad.From != (dag.TurnID{}) {
		why.From, err = dag.ParseTurnID(ad.From.String())
	}
	return why, err
}

// PrintTree prints each turn below its first parent. A chain of replies is not indented further, because a conversation with thousands of turns would leave
// the screen. elsewhere says where a parent is that is not among the turns.
func PrintTree(w io.Writer, turns []ShownTurn, elsewhere string) {
	here := map[string]int{}
	ids := make([]string, len(turns))
	for i := range turns {
		here[turns[i].ID] = i
		ids[i] = turns[i].ID
	}
	width := cli.Apart(ids)
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
	// It uses its own stack: a chain of a hundred thousand replies must not be a recursion.
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
		l.AppendItem(treeLine(w, &turns[at.turn], here, above, elsewhere, width))
		above = turns[at.turn].ID
		next := at.depth
		if len(children[at.turn]) > 1 {
			next++
		}
		push(children[at.turn], next)
	}
	l.Render()
}

// treeLine writes a turn; above is the id of the turn in the line before, elsewhere says where other parents are, and width is how many characters of an id
// tell these turns apart.
func treeLine(w io.Writer, t *ShownTurn, here map[string]int, above, elsewhere string, width int) string {
	mark := " "
	if t.Selected != nil {
		mark = "●"
	}
	said := render.OneLine(render.Visible(t.Content), max(40, cli.Width(w, 100)-40))
	if t.Redacted {
		said = render.NoText
	}
	line := fmt.Sprintf("%s %s %s %s: %s", mark, cli.ID.Paint(w, t.ID[:width]), cli.Role.Paint(w, t.Role), t.Phase, said)
	for i, p := range t.Parents {
		_, inside := here[p.ID]
		switch {
		case i > 0 || inside && (p.Kind != dag.Reply.String() || p.ID != above):
			line += fmt.Sprintf(" [%s of %s]", p.Kind, p.ID[:width])
		case !inside:
			line += fmt.Sprintf(" [%s of %s, %s]", p.Kind, p.ID[:width], elsewhere)
		}
	}
	if t.Why != "" {
		line += "  ← " + t.Why
	}
	return line
}
