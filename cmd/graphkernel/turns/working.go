package turns

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/working"
)

func workingCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "working",
		Short: "Keep messages of a session for a while, in no history until they are consolidated",
		Long: `Working memory holds the messages of sessions that go on: of each the newest 50 or 256 KiB, and each for an
hour. What is consolidated becomes turns; the rest expires, drops out or is cleared, and leaves no trace.

Without a command, lists the sessions. The result, as JSON:

  {"sessions":[{"session","owner","messages","bytes","expires_at"}]}

On a store of this machine, sessions are kept in the store. A service on SQLite keeps its own in its process
(working.keep), so ask it with --server.`,
		Example: `  graphkernel working put run-42 "Is it safe to ship?" --author human:ada
  graphkernel working list run-42
  graphkernel working consolidate run-42`,
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				out, err := cli.Do(c.Context(), s, view.ListWorking, struct{}{})
				if err != nil {
					return err
				}
				return a.IO.Print(out, func(w io.Writer) {
					for _, e := range out.Sessions {
						fmt.Fprintf(w, "%s  of %s, %s, %d bytes, until %s\n", e.Session, ownerOf(e.Owner), cli.Count(e.Messages, "message"), e.Bytes, e.ExpiresAt)
					}
					fmt.Fprintln(w, cli.Count(len(out.Sessions), "session"))
				})
			})
		},
	}
	c.AddCommand(workingPut(a), workingList(a), workingConsolidate(a), workingClear(a))
	return c
}

func ownerOf(name string) string {
	if name == "" {
		return "nobody in particular"
	}
	return render.OneLine(name, len(name))
}

// sessionArg takes a session's name, and what follows it.
func sessionArg(least, most int, takes string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return cli.Usagef("%s takes %s, got %d arguments", c.CommandPath(), takes, len(args))
		}
		if err := (working.Name{Session: args[0]}).Check(); err != nil {
			return cli.Usage(err)
		}
		return nil
	}
}

func workingPut(a *cli.App) *cobra.Command {
	var m api.NewMessage
	c := &cobra.Command{
		Use:   "put SESSION [TEXT]",
		Short: "Put a message into a session",
		Long: `Puts a message into a session, which begins with it. TEXT is read from the standard input if it is left out. It is screened for secrets
as what others bring (--admitted-secrets). The oldest messages drop out if there are too many, and the answer counts them.
The same --key is the same message, so that repeating the command is safe. The result, as JSON:

  {"session","messages":[{"id","expires_at","existing","turn"}],"held","bytes","dropped","expired"}`,
		Example: `  graphkernel working put run-42 "Is it safe to ship?" --author human:ada
  tail -1 log.txt | graphkernel working put run-42 --role tool --author tool:ci --key build-7`,
		Args: sessionArg(1, 2, "SESSION and perhaps TEXT"),
		RunE: func(c *cobra.Command, args []string) error {
			if m.Author == "" {
				return cli.Usagef("--author is required: who said it, such as human:ada")
			}
			if _, err := dag.ParseRole(m.Role); err != nil {
				return cli.Usagef("--role: %w", err)
			}
			if len(args) == 2 {
				m.Content = args[1]
			} else {
				text, err := io.ReadAll(io.LimitReader(a.IO.Stdin, dag.MaxContent+1))
				if err != nil {
					return err
				}
				m.Content = strings.TrimSuffix(string(text), "\n")
			}
			return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				out, err := cli.Do(c.Context(), s, view.PutWorking, api.WorkingPut{Session: args[0], Messages: []api.NewMessage{m}})
				if err != nil {
					return err
				}
				return a.IO.Print(out, func(w io.Writer) { printPut(w, &out) })
			})
		},
	}
	c.Flags().StringVar(&m.Role, "role", "user", "user, assistant, tool or system")
	c.Flags().StringVar(&m.Author, "author", "", "who said it, such as human:ada (required)")
	c.Flags().StringVar(&m.Key, "key", "", "the same key in a session is the same message")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"user", "assistant", "tool", "system"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	cli.NoFiles(c, "author", "key")
	return c
}

func printPut(w io.Writer, out *api.WorkingOutcome) {
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
}

func workingList(a *cli.App) *cobra.Command {
	var in api.WorkingQuery
	c := &cobra.Command{
		Use:   "list SESSION",
		Short: "List the messages of a session, the oldest first",
		Long: `Lists the messages of a session that have not expired, the oldest first. The result, as JSON:

  {"session","owner","messages":[{"id","role","author","content","at","expires_at"}]}`,
		Example: `  graphkernel working list run-42`,
		Args:    sessionArg(1, 1, "SESSION"),
		RunE: func(c *cobra.Command, args []string) error {
			in.Session = args[0]
			return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				out, err := cli.Do(c.Context(), s, view.GetWorking, in)
				if err != nil {
					return err
				}
				return a.IO.Print(out, func(w io.Writer) {
					for _, m := range out.Messages {
						fmt.Fprintf(w, "%s  %s %s, until %s\n    %s\n", m.ID, m.Role, render.OneLine(m.Author, len(m.Author)), m.ExpiresAt, render.OneLine(m.Content, 200))
					}
					fmt.Fprintln(w, cli.Count(len(out.Messages), "message"))
				})
			})
		},
	}
	ownerFlag(c, &in)
	return c
}

func ownerFlag(c *cobra.Command, in *api.WorkingQuery) {
	c.Flags().StringVar(&in.Owner, "owner", "", "whose session it is, as graphkernel working lists it (default: the caller's own)")
	cli.NoFiles(c, "owner")
}

func workingConsolidate(a *cli.App) *cobra.Command {
	var conversation string
	c := &cobra.Command{
		Use:   "consolidate SESSION [MESSAGE]…",
		Short: "Make turns of the messages of a session",
		Long: `Admits the messages of a session as turns, all of them unless some are named by their ids, in one batch, each a reply to the one
before it, and takes them out of the session. If anything fails, the session is what it was. Repeating
the command is safe: what is a turn already is not admitted again. The result, as JSON:

  {"session","conversation","turns":[ID],"admitted","existing","held","head"}`,
		Example: `  graphkernel working consolidate run-42
  graphkernel working consolidate run-42 42fec86c-0dc0-4a11-8ca1-000000000001`,
		Args: sessionArg(1, 1+working.MaxMessages, "SESSION and perhaps ids of messages"),
		RunE: func(c *cobra.Command, args []string) error {
			in := api.Consolidating{Session: args[0]}
			for _, text := range args[1:] {
				id, err := dag.ParseTurnID(strings.ToLower(text))
				if err != nil {
					return cli.Usagef("MESSAGE: %w", err)
				}
				in.Messages = append(in.Messages, id)
			}
			if conversation != "" {
				id, err := dag.ParseConversationID(strings.ToLower(conversation))
				if err != nil {
					return cli.Usagef("--conversation: %w", err)
				}
				in.Conversation = &id
			}
			return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				out, err := cli.Do(c.Context(), s, view.ConsolidateWorking, in)
				if err != nil {
					return err
				}
				return a.IO.Print(out, func(w io.Writer) {
					for _, id := range out.Turns {
						fmt.Fprintln(w, id)
					}
					fmt.Fprintf(w, "%d admitted, %d there already, in conversation %s; %s left in the session\n", out.Admitted, out.Existing, out.Conversation, cli.Count(out.Held, "message"))
				})
			})
		},
	}
	c.Flags().StringVar(&conversation, "conversation", "", "the conversation that the turns are of (default: the session's own)")
	cli.NoFiles(c, "conversation")
	return c
}

func workingClear(a *cli.App) *cobra.Command {
	var in api.WorkingQuery
	c := &cobra.Command{
		Use:   "clear SESSION",
		Short: "Take away the messages of a session",
		Long: `Takes the messages of a session away, beyond recovery from the store. Nothing is recorded of it. (PostgreSQL forgets the bytes
themselves only with time: docs/scaling.md.) The result, as JSON:

  {"session","owner","cleared"}`,
		Example: `  graphkernel working clear run-42`,
		Args:    sessionArg(1, 1, "SESSION"),
		RunE: func(c *cobra.Command, args []string) error {
			in.Session = args[0]
			return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				out, err := cli.Do(c.Context(), s, view.ClearWorking, in)
				if err != nil {
					return err
				}
				return a.IO.Print(out, func(w io.Writer) { fmt.Fprintf(w, "%s cleared\n", cli.Count(out.Cleared, "message")) })
			})
		},
	}
	ownerFlag(c, &in)
	return c
}
