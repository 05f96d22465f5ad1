package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// A setupFlags says what setup does.
type setupFlags struct {
	print, undo, yes bool
	settings         string
}

func setupCommand(a *cli.App) *cobra.Command {
	var f setupFlags
	c := &cobra.Command{
		Use:   "setup AGENT",
		Short: "Have an agent's sessions come by themselves",
		Long: `Adds hooks to the settings of an agent (claude-code), so that its sessions are captured while they
are written. The difference is shown before anything is changed, and nothing else in the settings
changes. A hook takes a few milliseconds and notes that a session has more; its turns come from
the agent's own transcript, by the same importer as import.

What is captured goes to the store, or the service, that this command names by its flags and the
environment. As JSON:

  {"settings","changed","content"} (content with --print alone)`,
		Example: `  graphkernel setup claude-code
  graphkernel setup claude-code --print     show the settings, and change nothing
  graphkernel setup claude-code --undo      take the hooks out again`,
		Args:              cli.OneArg("AGENT"),
		ValidArgsFunction: cobra.FixedCompletions(withHooks, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := agentOf(args[0])
			if err != nil {
				return err
			}
			return setup(a, agent, &f)
		},
	}
	c.Flags().BoolVar(&f.print, "print", false, "print the settings as they would be, and change nothing")
	c.Flags().BoolVar(&f.undo, "undo", false, "take out the hooks that setup added")
	c.Flags().BoolVar(&f.yes, "yes", false, "change the settings without a question")
	c.Flags().StringVar(&f.settings, "settings", "", "the agent's settings (default: those of the user)")
	c.MarkFlagsMutuallyExclusive("print", "yes")
	return c
}

func setup(a *cli.App, agent capture.Agent, f *setupFlags) error {
	path, err := settingsOf(a, f.settings)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var after []byte
	if f.undo {
		after, err = capture.WithoutHooks(before)
	} else {
		var command string
		if command, err = hookLine(a, agent); err == nil {
			after, err = capture.WithHooks(before, command)
		}
	}
	if errors.Is(err, capture.ErrSettings) {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if err != nil {
		return err
	}
	if f.print {
		return a.IO.Print(setupJSON{Settings: path, Content: string(after)}, func(w io.Writer) { _, _ = w.Write(after) }) // the program reports it
	}
	change := diff.Diff(path, before, path, after)
	if change == nil || f.undo && before == nil {
		a.IO.Note("%s is as it is to be; nothing was changed", path)
		return a.IO.Print(setupJSON{Settings: path}, func(io.Writer) {})
	}
	if err := agree(a, string(change), path, f.yes); err != nil {
		return err
	}
	if err := writeSettings(path, after); err != nil {
		return err
	}
	return a.IO.Print(setupJSON{Settings: path, Changed: true}, func(w io.Writer) {
		if f.undo {
			fmt.Fprintf(w, "sessions of %s are no longer captured; what was captured stays\n", agent)
			return
		}
		fmt.Fprintf(w, "sessions of %s that begin now are captured; graphkernel show lists them, and graphkernel setup %s --undo ends it\n", agent, agent)
	})
}

type setupJSON struct {
	Settings string `json:"settings"`
	Changed  bool   `json:"changed"`
	Content  string `json:"content,omitempty"`
}

// agree shows a change and asks whether it is to be made.
func agree(a *cli.App, change, path string, yes bool) error {
	fmt.Fprint(a.IO.Stderr, change)
	if yes {
		return nil
	}
	if !cli.IsTerminal(a.IO.Stdin) {
		return cli.Usagef("standard input is no terminal to ask on; give --yes to change %s as shown", path)
	}
	fmt.Fprintf(a.IO.Stderr, "Change %s so? [y/N] ", path)
	answer, err := bufio.NewReader(a.IO.Stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// settingsOf returns the file of the agent's settings, behind any links.
func settingsOf(a *cli.App, named string) (string, error) {
	path := named
	if path == "" {
		folder := a.Settings.Getenv("CLAUDE_CONFIG_DIR")
		if folder == "" {
			home := cli.First(a.Settings.Getenv("HOME"), a.Settings.Getenv("USERPROFILE"))
			if home == "" {
				return "", cli.Usagef("no home folder to look for the agent's settings in; give --settings")
			}
			folder = filepath.Join(home, ".claude")
		}
		path = filepath.Join(folder, "settings.json")
	}
	if behind, err := filepath.EvalSymlinks(path); err == nil {
		return behind, nil
	}
	return path, nil
}

// writeSettings replaces the settings, whole or not at all, and leaves their mode as it is.
func writeSettings(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := cli.ReplaceFile(path, data); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// hookLine returns the line that the agent's shell runs. The small program is beside this one; where it is not, this one does.
func hookLine(a *cli.App, agent capture.Agent) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	spool, err := a.Settings.Spool()
	if err != nil {
		return "", err
	}
	small := filepath.Join(filepath.Dir(self), "graphkernel-hook")
	if runtime.GOOS == "windows" {
		small += ".exe"
	}
	if _, err := os.Stat(small); err == nil {
		return capture.CommandLine(small, string(agent), spool.Folder()), nil
	}
	return capture.CommandLine(self, "hook", string(agent), spool.Folder()), nil
}
