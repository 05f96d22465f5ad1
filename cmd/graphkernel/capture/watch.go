package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

// transcriptFolders are the folders below the home folder in which agents keep their transcripts.
var transcriptFolders = []string{".claude/projects", ".codex/sessions", ".gemini/tmp"}

func watchCommand(a *cli.App) *cobra.Command {
	var every time.Duration
	var once bool
	c := &cobra.Command{
		Use:   "watch [FOLDER...]",
		Short: "Import transcripts as they grow",
		Long: `Imports the transcripts in folders, and imports a transcript again whenever it grows, until the command is
interrupted. It is for agents without hooks. The command checks the names, sizes and times of files every two
seconds (--every). It uses the same importer as graphkernel import: no turn is imported twice, and a run that
was killed continues where it was. Sessions of folders that capture leaves out are left out. The default
FOLDERs are those of Claude Code, Codex CLI and Gemini CLI that exist. At the end, as JSON:

  {"turns","transcripts"} (how many turns were admitted, of how many files)`,
		Example: `  graphkernel watch
  graphkernel watch ~/.codex/sessions --every 10s`,
		RunE: func(c *cobra.Command, folders []string) error {
			if every < 100*time.Millisecond {
				return cli.Usagef("--every is %s, want 100ms or more", every)
			}
			folders, err := watched(a, folders)
			if err != nil {
				return err
			}
			policy, err := a.Settings.Secrets()
			if err != nil {
				return err
			}
			tick := time.NewTicker(every)
			defer tick.Stop()
			return a.Stores.WithNewKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				opts := ingest.Options{Secrets: a.Stores.Screen(policy, s.Tenant, false)}
				w := &watching{io: a.IO, told: map[string]string{}, from: map[string]bool{}, watcher: capture.NewWatcher(folders...), read: func(ctx context.Context, path string) (int, error) {
					left, err := a.Settings.LeavingOut(nil, false) // read each time, because the list may have changed
					if err != nil {
						return 0, err
					}
					opts.LeaveOut = left.Reason
					report, err := s.Turns.Import(ctx, []string{path}, opts)
					return report.Admitted, errors.Join(err, left.Learn(ctx))
				}}
				stop := s.BesideIndex(c.Context())
				err := w.look(c.Context())
				if !once && err == nil {
					err = w.run(c.Context(), tick.C)
				}
				stop()
				_, _ = s.FinishIndex(c.Context(), w.turns, false, func(_, _ int64) {}) // the next command continues
				if err != nil && !errors.Is(err, context.Canceled) {                   // cancellation is the usual end
					return err
				}
				return a.IO.Print(map[string]int{"turns": w.turns, "transcripts": len(w.from)}, func(io.Writer) {})
			})
		},
	}
	c.Flags().DurationVar(&every, "every", 2*time.Second, "how long to wait between checks")
	a.Settings.RegisterSecrets(c)
	c.Flags().BoolVar(&once, "once", false, "check once, and end")
	return c
}

// watched returns the folders to watch.
func watched(a *cli.App, folders []string) ([]string, error) {
	for _, folder := range folders {
		if _, err := os.Stat(folder); err != nil {
			return nil, cli.Usagef("%s cannot be watched: %w", folder, err)
		}
	}
	if len(folders) > 0 {
		return folders, nil
	}
	home := cli.First(a.Settings.Getenv("HOME"), a.Settings.Getenv("USERPROFILE"))
	for _, below := range transcriptFolders {
		folder := filepath.Join(home, filepath.FromSlash(below))
		if _, err := os.Stat(folder); err == nil && home != "" {
			folders = append(folders, folder)
		}
	}
	if len(folders) == 0 {
		return nil, cli.Usagef("found no transcripts of a known agent (looked for %q in the home folder); give a FOLDER", transcriptFolders)
	}
	return folders, nil
}

// A watching imports transcripts as a watcher finds them.
type watching struct {
	io      *cli.Streams
	watcher *capture.Watcher
	read    func(ctx context.Context, path string) (admitted int, err error)

	told  map[string]string // by transcript, the last message about it
	from  map[string]bool   // transcripts from which turns were admitted
	turns int
}

// run looks at each tick, until ctx ends.
func (w *watching) run(ctx context.Context, tick <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			if err := w.look(ctx); err != nil {
				return err
			}
		}
	}
}

// look imports the changed transcripts. If a transcript cannot be imported, this is reported once, and it is tried again with each look.
func (w *watching) look(ctx context.Context) error {
	changed, err := w.watcher.Look()
	if err != nil {
		w.tell("", err)
	}
	for _, path := range changed {
		admitted, err := w.read(ctx, path)
		if admitted > 0 {
			w.turns += admitted
			w.from[path] = true
			if w.io.Output != "json" {
				fmt.Fprintf(w.io.Stdout, "%s of %s\n", cli.Count(admitted, "turn"), render.Visible(path))
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ingest.ErrFormat): // folders of agents also hold other files
		case err != nil:
			w.watcher.Forget(path)
			w.tell(path, err)
		default:
			delete(w.told, path)
		}
	}
	return nil
}

func (w *watching) tell(path string, err error) {
	if text := err.Error(); w.told[path] != text {
		w.told[path] = text
		w.io.Note("graphkernel: %s: %s", cmp.Or(path, "looking"), text)
	}
}
