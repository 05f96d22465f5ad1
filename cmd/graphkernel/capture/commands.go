// Package capture owns the commands that capture sessions automatically: setup, which makes an agent call hooks; hook, which an agent calls; capture,
// which shows the sessions that are not imported yet and the folders that are left out; and brief, which shows what a session is told. Package capture of the module does the work.
package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
)

// Commands makes the commands of this package.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{setupCommand(a), hookCommand(a), watchCommand(a), captureCommand(a), briefCommand(a)}
}

// agentNames returns the names of the agents, for completion.
func agentNames() (names []string) {
	for _, agent := range capture.Agents {
		names = append(names, string(agent))
	}
	return names
}

func agentOf(name string) (capture.Agent, error) {
	agent, err := capture.ParseAgent(name)
	if err != nil {
		return "", cli.Usagef("there are no hooks for an agent %q; known agents: %s", name, strings.Join(agentNames(), ", "))
	}
	return agent, nil
}

func captureCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "capture",
		Short: "Show which captured sessions are not imported yet, and leave some out",
		Long: `Lists the sessions that have grown, according to hooks, and that were not imported since. Any command that
opens the store imports them; so does a service while it runs. The list also shows which events hooks could
not read since the last one that they read.

  {"spool","paused","unread":[{"agent","hook","count","since","last","error"}],"leave_out":[FOLDER],"sessions":[{"session","agent","transcript","folder","since","event"}]}`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return status(a) },
	}
	set := func(use, short string, args cobra.PositionalArgs, change func(*capture.Settings, []string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: args,
			RunE: func(c *cobra.Command, args []string) error {
				spool, err := a.Settings.Spool()
				if err != nil {
					return err
				}
				settings, err := spool.Settings()
				if err != nil {
					return err
				}
				if err := change(&settings, args); err != nil {
					return err
				}
				if err := spool.Set(settings); err != nil {
					return err
				}
				if err := status(a); err != nil || !strings.HasPrefix(use, "leave-out") {
					return err
				}
				folder, err := filepath.Abs(args[0])
				if err == nil {
					noteStored(a, c.Context(), folder)
				}
				return err
			},
		}
	}
	c.AddCommand(
		set("off", "Capture nothing until capture on", cli.NoArgs, func(s *capture.Settings, _ []string) error { s.Paused = true; return nil }),
		set("on", "Capture again", cli.NoArgs, func(s *capture.Settings, _ []string) error { s.Paused = false; return nil }),
		set("leave-out FOLDER", "Capture no session that works in a folder or below it", cli.OneArg("FOLDER"), func(s *capture.Settings, args []string) error {
			folder, err := filepath.Abs(args[0])
			if err == nil && !slices.Contains(s.LeaveOut, folder) {
				s.LeaveOut = append(s.LeaveOut, folder)
			}
			return err
		}),
		set("take-again FOLDER", "Capture the sessions of a folder that was left out", cli.OneArg("FOLDER"), func(s *capture.Settings, args []string) error {
			folder, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if !slices.Contains(s.LeaveOut, folder) {
				return cli.Usagef("%s is not left out; the folders that are left out: %q", folder, s.LeaveOut)
			}
			s.LeaveOut = slices.DeleteFunc(s.LeaveOut, func(out string) bool { return out == folder })
			return nil
		}),
	)
	return c
}

// noteStored notes the limits of leaving a folder out: it affects only future sessions, and the folder may not exist.
func noteStored(a *cli.App, ctx context.Context, folder string) {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		a.IO.Note("graphkernel: there is no folder %s yet; its sessions will be left out anyway", folder)
	}
	stored := 0
	_ = a.Stores.WithoutTakingIn(ctx, func(s *cli.Session) error { // conversations that cannot be read are not counted
		list, err := cli.Do(ctx, s, api.ListFolders, api.FolderQuery{})
		for _, f := range list.Folders {
			if f.Folder == folder || strings.HasPrefix(f.Folder, folder+string(filepath.Separator)) {
				stored += f.Conversations
			}
		}
		return err
	})
	if stored > 0 {
		a.IO.Note("graphkernel: %s of this folder %s stored; graphkernel show lists conversations, and graphkernel erase --conversation ID deletes the texts of one", cli.Count(stored, "conversation"), map[bool]string{true: "stays", false: "stay"}[stored == 1])
	}
}

type waitingJSON struct {
	Session    string `json:"session"`
	Agent      string `json:"agent"`
	Transcript string `json:"transcript"`
	Folder     string `json:"folder"`
	Since      string `json:"since"`
	Event      string `json:"event"`
}

// UnreadLine says which events the hooks of an agent could not read, for a person.
func UnreadLine(u *capture.Unread) string {
	what := "events that could not be read by"
	if u.Hook == capture.HookContext {
		what = "sessions and prompts that went on without a context, by"
	}
	return fmt.Sprintf("%s the %s hook of %s: %d since %s; the last one at %s: %s",
		what, u.Hook, u.Agent, u.Count, u.Since.Format(time.RFC3339), u.Last.Format(time.RFC3339), render.OneLine(render.Visible(u.Error), 300))
}

type statusJSON struct {
	Spool    string           `json:"spool"`
	Paused   bool             `json:"paused"`
	Unread   []capture.Unread `json:"unread"`
	LeaveOut []string         `json:"leave_out"`
	Sessions []waitingJSON    `json:"sessions"`
}

// status prints the waiting sessions and the folders that are left out.
func status(a *cli.App) error {
	spool, err := a.Settings.Spool()
	if err != nil {
		return err
	}
	settings, err := spool.Settings()
	if err != nil {
		return err
	}
	pending, err := spool.Pending()
	if err != nil {
		a.IO.Warn("graphkernel: %v", err)
	}
	unread, err := spool.Unread()
	if err != nil {
		a.IO.Warn("graphkernel: %v", err)
	}
	s := statusJSON{Spool: spool.Folder(), Paused: settings.Paused, Unread: append([]capture.Unread{}, unread...), LeaveOut: append([]string{}, settings.LeaveOut...), Sessions: []waitingJSON{}}
	for _, p := range pending {
		s.Sessions = append(s.Sessions, waitingJSON{p.Name, string(p.Agent), p.Transcript, p.Folder, p.Since.Format("2006-01-02T15:04:05Z07:00"), p.Last})
	}
	return a.IO.Print(s, func(w io.Writer) {
		if s.Paused {
			fmt.Fprintln(w, "capture is off; turn it on with: graphkernel capture on")
		}
		for i := range s.Unread {
			fmt.Fprintln(w, UnreadLine(&s.Unread[i]))
		}
		for _, folder := range s.LeaveOut {
			fmt.Fprintf(w, "left out: %s\n", render.Visible(folder))
		}
		for i := range s.Sessions {
			p := &s.Sessions[i]
			fmt.Fprintf(w, "%s  %s  %s  %s\n", p.Since, render.Visible(p.Session), render.Visible(p.Event), render.Visible(p.Transcript))
		}
		fmt.Fprintf(w, "%s to be imported\n", cli.Count(len(s.Sessions), "session"))
	})
}
