package turns

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
)

func workingCommand(a *cli.App) *cobra.Command {
	c := cli.Op(a, api.ListWorking, cli.Command[struct{}, api.WorkingSessions]{
		Use:   "working",
		Short: "Keep messages of a session for a while, outside the history",
		Long: `Working memory holds the messages of running sessions: the newest 50 messages or 256 KiB of each session, and each
message for an hour. Messages that are consolidated become turns. The others expire, are dropped or are cleared,
and leave no trace.

Sessions of a store on this machine are kept in the store. A service on SQLite keeps its sessions in its process
(working.keep); use --server to see them.

Without a command, lists the sessions.`,
		Example: `  graphkernel working put run-42 "Is it safe to ship?" --author human:ada
  graphkernel working list run-42
  graphkernel working consolidate run-42`,
		Print: func(w io.Writer, _ *struct{}, out *api.WorkingSessions) {
			for _, e := range out.Sessions {
				fmt.Fprintf(w, "%s  of %s, %s, %d bytes, until %s\n", e.Session, ownerOf(e.Owner), cli.Count(e.Messages, "message"), e.Bytes, e.ExpiresAt)
			}
			fmt.Fprintln(w, cli.Count(len(out.Sessions), "session"))
		},
	})
	c.AddCommand(workingPut(a), workingList(a), workingConsolidate(a), workingClear(a))
	return c
}

func ownerOf(name string) string {
	if name == "" {
		return "nobody in particular"
	}
	return render.OneLine(name, len(name))
}

// A workingMessage is a message of a session.
type workingMessage struct {
	Session string `json:"session" is:"SessionName"`
	api.NewMessage
}

func workingPut(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[workingMessage, api.WorkingOutcome]{
		Use:   "put SESSION [TEXT]",
		Short: "Put a message into a session",
		Long: `Puts a message into a session; the first message makes the session. If TEXT is left out, it is read from standard
input. The message is screened for secrets like other admitted text (--admitted-secrets). If there are too many
messages, the oldest are dropped, and the answer counts them. Messages with the same --key are the same message, so
repeating the command is safe.`,
		Example: `  graphkernel working put run-42 "Is it safe to ship?" --author human:ada
  tail -1 log.txt | graphkernel working put run-42 --role tool --author tool:ci --key build-7`,
		Args: []string{"session", "content"}, Stdin: "content", Defaults: map[string]string{"role": "user"}, Opens: cli.ToMake,
		Ask: func(ctx context.Context, s *cli.Session, m workingMessage) (api.WorkingOutcome, error) {
			return cli.Do(ctx, s, api.PutWorking, api.WorkingPut{Session: m.Session, Messages: []api.NewMessage{m.NewMessage}})
		},
		Print: func(w io.Writer, _ *workingMessage, out *api.WorkingOutcome) {
			for _, m := range out.Messages {
				switch {
				case m.Turn:
					fmt.Fprintf(w, "%s  is a turn already\n", m.ID)
				case m.Existing:
					fmt.Fprintf(w, "%s  was there already, until %s\n", m.ID, m.ExpiresAt)
				default:
					fmt.Fprintf(w, "%s  until %s\n", m.ID, m.ExpiresAt)
				}
			}
			fmt.Fprintf(w, "%s of %d bytes held, %d dropped out, %d expired\n", cli.Count(out.Held, "message"), out.Bytes, out.Dropped, out.Expired)
		},
	})
}

func workingList(a *cli.App) *cobra.Command {
	return cli.Op(a, api.GetWorking, cli.Command[api.WorkingQuery, api.WorkingMessages]{
		Use:     "list SESSION",
		Short:   "List the messages of a session, the oldest first",
		Long:    `Lists the messages of a session that have not expired, the oldest first.`,
		Example: `  graphkernel working list run-42`,
		Args:    []string{"session"},
		Print: func(w io.Writer, _ *api.WorkingQuery, out *api.WorkingMessages) {
			for _, m := range out.Messages {
				fmt.Fprintf(w, "%s  %s %s, until %s\n    %s\n", m.ID, m.Role, render.OneLine(m.Author, len(m.Author)), m.ExpiresAt, render.OneLine(m.Content, 200))
			}
			fmt.Fprintln(w, cli.Count(len(out.Messages), "message"))
		},
	})
}

func workingConsolidate(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ConsolidateWorking, cli.Command[api.Consolidating, api.Consolidated]{
		Use:   "consolidate SESSION [MESSAGE]…",
		Short: "Turn messages of a session into turns",
		Long: `Admits the messages of a session as turns, in one batch, each as a reply to the one before it, and removes them from
the session. Without MESSAGE ids, all messages are admitted. If anything fails, the session stays as it was. Repeating
the command is safe: a message that is already a turn is not admitted again.`,
		Example: `  graphkernel working consolidate run-42
  graphkernel working consolidate run-42 42fec86c-0dc0-4a11-8ca1-000000000001`,
		Args: []string{"session", "messages"}, Opens: cli.ToWrite,
		Print: func(w io.Writer, _ *api.Consolidating, out *api.Consolidated) {
			for _, id := range out.Turns {
				fmt.Fprintln(w, id)
			}
			fmt.Fprintf(w, "%d admitted, %d there already, in conversation %s; %s left in the session\n", out.Admitted, out.Existing, out.Conversation, cli.Count(out.Held, "message"))
		},
	})
}

func workingClear(a *cli.App) *cobra.Command {
	return cli.Op(a, api.ClearWorking, cli.Command[api.WorkingQuery, api.WorkingCleared]{
		Use:   "clear SESSION",
		Short: "Clear the messages of a session",
		Long: `Removes the messages of a session, beyond recovery from the store. No record of this is made. (PostgreSQL removes the
bytes themselves only with time: docs/scaling.md.)`,
		Example: `  graphkernel working clear run-42`,
		Args:    []string{"session"}, Opens: cli.ToWrite,
		Print: func(w io.Writer, _ *api.WorkingQuery, out *api.WorkingCleared) {
			fmt.Fprintf(w, "%s cleared\n", cli.Count(out.Cleared, "message"))
		},
	})
}
