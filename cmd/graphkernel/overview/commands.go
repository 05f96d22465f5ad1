// Package overview owns the commands that show the overall state: status, which the program also shows without a command, and doctor, which diagnoses
// problems and suggests fixes.
package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	hooks "github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/token"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{statusCommand(a), doctorCommand(a)}
}

func statusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the state of the store, and suggest what to do next",
		Long: `Shows the store or the service, the newest conversations, the key that signs, the captured sessions that are not
imported yet, and the events that hooks could not read. The program without a command shows the same.

  {"store","server","head","conversations","turns","newest":[{"id","title","turns","last_at","first_prompt"}],"key_id",
   "waiting","paused","unread":[{"agent","hook","count","since","last","error"}],"next":[COMMAND]}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return status(c.Context(), a) },
	}
}

// newestShown is the number of conversations that status lists.
const newestShown = 5

type newestJSON struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Turns  int    `json:"turns"`
	LastAt string `json:"last_at"`
	Prompt string `json:"first_prompt"`
}

type statusJSON struct {
	Store         string           `json:"store"`
	Server        string           `json:"server,omitempty"`
	Head          uint64           `json:"head"`
	Conversations int              `json:"conversations"`
	Turns         int              `json:"turns"`
	Newest        []newestJSON     `json:"newest"`
	KeyID         string           `json:"key_id,omitempty"`
	Waiting       int              `json:"waiting"`
	Paused        bool             `json:"paused"`
	Unread        []capture.Unread `json:"unread"`
	Next          []string         `json:"next"`
	newest        string           // the name of the newest conversation, for a command
}

func status(ctx context.Context, a *cli.App) error {
	s := statusJSON{Newest: []newestJSON{}, Unread: []capture.Unread{}, Next: []string{}}
	var err error
	if s.Server, err = a.Settings.Server(); err != nil {
		return err
	}
	s.Server = cli.WithoutPassword(s.Server)
	if s.Server == "" {
		s.Store = cli.WithoutPassword(a.Settings.StoreName())
	}
	err = a.Stores.WithReadKernel(ctx, token.Keyring{}, func(session *cli.Session) error { return s.look(ctx, session) })
	absent := errors.Is(err, cli.ErrNoStore)
	if err != nil && !absent {
		return err
	}
	if ring, err := a.Signing.RingToSign(); err == nil && s.Server == "" {
		id, err := ring.Signer()
		if err != nil {
			return err
		}
		s.KeyID = string(id)
	}
	if spool, err := a.Settings.Spool(); err == nil {
		pending, _ := spool.Pending() // doctor reports errors in the spool
		s.Waiting = len(pending)
		unread, _ := spool.Unread()
		s.Unread = append(s.Unread, unread...)
		settings, _ := spool.Settings()
		s.Paused = settings.Paused
	}
	s.next()
	return a.IO.Print(s, func(w io.Writer) { s.print(w, absent) })
}

// look reads the counts and the newest conversations of a store.
func (s *statusJSON) look(ctx context.Context, session *cli.Session) error {
	head, err := session.Head(ctx)
	if err != nil {
		return err
	}
	list, err := session.Conversations(ctx)
	if err != nil {
		return err
	}
	s.Head, s.Conversations = uint64(head), len(list)
	for i := range list {
		s.Turns += list[i].Turns
	}
	cli.ByLast(list)
	for _, c := range list[:min(len(list), newestShown)] {
		prompt, err := cli.FirstOfUser(ctx, session, c.ID.String())
		if err != nil {
			return err
		}
		s.Newest = append(s.Newest, newestJSON{c.ID.String(), c.Title, c.Turns, c.LastAt.String(), prompt})
	}
	return s.name(ctx, session, list)
}

// name sets the name of the newest conversation: a beginning of its id, unless another conversation or a turn begins so.
func (s *statusJSON) name(ctx context.Context, session *cli.Session, list []api.Conversation) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID.String()
	}
	whole := s.Newest[0].ID
	s.newest = whole[:cli.Apart(ids)]
	if _, err := cli.Do(ctx, session, api.ResolveTurn, api.TurnNamed{Name: s.newest}); !cli.Is(err, api.CodeNotFound) {
		s.newest = whole
	}
	return nil
}

// next sets the commands that are suggested next.
func (s *statusJSON) next() {
	if s.Turns == 0 {
		if s.KeyID == "" && s.Server == "" {
			s.Next = append(s.Next, "graphkernel keys init")
		}
		s.Next = append(s.Next, "graphkernel import ~/.claude/projects", "graphkernel setup claude-code", "graphkernel demo")
		return
	}
	if s.KeyID == "" && s.Server == "" {
		s.Next = append(s.Next, "graphkernel keys init")
	}
	s.Next = append(s.Next, "graphkernel search WORDS", "graphkernel show "+s.newest, "graphkernel context TASK")
}

func (s *statusJSON) print(w io.Writer, absent bool) {
	fmt.Fprintf(w, "%-8s %s\n", map[bool]string{true: "service", false: "store"}[s.Server != ""], cmp.Or(s.Server, s.Store))
	switch {
	case absent:
		fmt.Fprintln(w, "         there is none yet")
	default:
		fmt.Fprintf(w, "         %s in %s, head %d\n", cli.Count(s.Turns, "turn"), cli.Count(s.Conversations, "conversation"), s.Head)
	}
	if s.Server == "" {
		fmt.Fprintf(w, "key      %s\n", cmp.Or(s.KeyID, "none yet; nothing can be signed"))
	}
	if s.Waiting > 0 {
		fmt.Fprintf(w, "spool    %s to be imported; see: graphkernel capture\n", cli.Count(s.Waiting, "session"))
	}
	if s.Paused {
		fmt.Fprintln(w, "spool    capture is off; turn it on with: graphkernel capture on")
	}
	for i := range s.Unread {
		fmt.Fprintf(w, "hooks    %s\n", hooks.UnreadLine(&s.Unread[i]))
	}
	if len(s.Newest) > 0 {
		fmt.Fprintln(w)
		t := cli.NewTable(w, "conversation", "turns", "last", "title or first prompt")
		for _, n := range s.Newest {
			t.AppendRow(table.Row{cli.ID.Paint(w, n.ID), n.Turns, n.LastAt[:16], cmp.Or(cli.Title(n.Title), n.Prompt)})
		}
		t.Render()
	}
	fmt.Fprintln(w, "\nnext")
	for _, command := range s.Next {
		fmt.Fprintf(w, "  %s\n", command)
	}
	fmt.Fprintln(w, "  graphkernel --help")
}
