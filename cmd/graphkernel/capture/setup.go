package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/capture/hook"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A setupFlags says what setup does.
type setupFlags struct {
	print, undo, yes, eachPrompt bool
	settings, context, guard     string
}

// noContext is the value of --context for no contexts.
const noContext = "none"

func setupCommand(a *cli.App) *cobra.Command {
	var f setupFlags
	c := &cobra.Command{
		Use:   "setup AGENT",
		Short: "Capture an agent's sessions automatically",
		Long: `Adds hooks to the settings of an agent (claude-code, codex, gemini), so that its sessions are captured while
they are written. The difference is shown before anything is changed, and nothing else in the settings
changes. A hook takes a few milliseconds and notes that a session has grown. The turns come from the agent's
own transcript, by the same importer as with graphkernel import.

When a session starts, a hook also tells the agent the brief of the project (graphkernel brief): your rules, what
you told it to remember, and how the last sessions ended. It is signed, and stands between marks that have its id. With --guard, a hook judges each tool call
before it runs. It blocks calls that it cannot judge. If the hook itself cannot be started, Claude Code
blocks the call from version 2.1.295 on; older versions, Codex and Gemini run it. Codex runs new hooks only
after a person has trusted them (/hooks).

The sessions are stored in the store, or by the service, that the flags and the environment of this command
name. As JSON:

  {"settings","changed","content"} (content with --print alone)`,
		Example: `  graphkernel setup claude-code
  graphkernel setup codex
  graphkernel setup claude-code --guard deny@1 --each-prompt
  graphkernel setup claude-code --print     show the settings, and change nothing
  graphkernel setup claude-code --undo      take the hooks out again`,
		Args:              cli.OneArg("AGENT"),
		ValidArgsFunction: cobra.FixedCompletions(agentNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			agent, err := agentOf(args[0])
			if err != nil {
				return err
			}
			if f.context != hook.DefaultPolicy && f.context != noContext && !f.eachPrompt {
				return cli.Usagef("--context %s chooses what fits a prompt, and prompts get nothing: give --each-prompt, too, or leave it out; a session begins with a brief in any case", f.context)
			}
			return setup(c.Context(), a, agent, &f)
		},
	}
	c.Flags().BoolVar(&f.print, "print", false, "print the settings as they would be, and change nothing")
	c.Flags().BoolVar(&f.undo, "undo", false, "remove the hooks that setup added")
	c.Flags().BoolVar(&f.yes, "yes", false, "change the settings without asking")
	c.Flags().StringVar(&f.settings, "settings", "", "the file of the agent's settings (default: the user's settings)")
	c.Flags().StringVar(&f.context, "context", hook.DefaultPolicy, "the policy that chooses what fits a prompt, with --each-prompt; default is the kernel's; none leaves out the brief at the start of a session, too")
	c.Flags().BoolVar(&f.eachPrompt, "each-prompt", false, "also tell the agent what fits each prompt")
	c.Flags().StringVar(&f.guard, "guard", "", "refuse the tool calls that this policy (deny_rules_v1) denies, and all calls while they cannot be judged; none removes the guard")
	_ = c.RegisterFlagCompletionFunc("context", a.Stores.CompletePolicies(contexts.PolicyTypes...)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("guard", a.Stores.CompletePolicies(guard.RulesType))           // the flag exists
	c.MarkFlagsMutuallyExclusive("print", "yes")
	for _, flag := range []string{"context", "each-prompt", "guard"} {
		c.MarkFlagsMutuallyExclusive("undo", flag)
	}
	return c
}

func setup(ctx context.Context, a *cli.App, agent capture.Agent, f *setupFlags) error {
	path, err := settingsOf(a, agent, f.settings)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var after []byte
	was, err := guardOf(agent, before)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if f.guard == "" && was != "" && !f.undo {
		return cli.Usagef("tool calls are judged by %s; give --guard %s to keep that, or --guard %s to remove the guard", was, was, noContext)
	}
	if f.guard == noContext {
		f.guard = ""
	}
	if f.undo {
		after, err = capture.WithoutHooks(before)
	} else {
		if err := checkPolicies(ctx, a, f); err != nil {
			return err
		}
		var hooks []capture.Hook
		if hooks, err = hooksFor(a, agent, f); err == nil {
			after, err = capture.WithHooks(agent, before, hooks)
		}
	}
	if errors.Is(err, capture.ErrSettings) {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if err != nil {
		return err
	}
	if f.print {
		return a.IO.Print(setupJSON{Settings: path, Content: string(after)}, func(w io.Writer) { _, _ = w.Write(after) }) // the program reports a write error
	}
	change := diff.Diff(path, before, path, after)
	if change == nil || f.undo && before == nil {
		a.IO.Note("%s %s; nothing was changed", path, map[bool]string{false: "already has these hooks", true: "has none of these hooks"}[f.undo])
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
			fmt.Fprintf(w, "sessions of %s are no longer captured; captured turns stay, and so do the keys that signed contexts; the process that answers hooks ends %g minutes after the last hook\n", agent, idle.Minutes())
		}
		switch {
		case was != "" && (f.undo || f.guard == ""):
			fmt.Fprintf(w, "the guard %s is removed: tool calls are no longer judged\n", was)
		case f.guard != "" && !f.undo:
			fmt.Fprintf(w, "tool calls are judged by %s\n", f.guard)
		}
		if f.undo {
			return
		}
		if _, err := a.Signing.RingToSign(); err != nil && f.context != noContext && !a.Settings.AsksService() {
			fmt.Fprintln(w, "there is no signing key yet, so no session is given a context; make one with: graphkernel keys init")
		}
		fmt.Fprintf(w, "sessions of %s that begin now are captured; graphkernel show lists them, and graphkernel setup %s --undo ends it\n", agent, agent)
		if agent == capture.Codex {
			fmt.Fprintln(w, "codex runs these hooks once you have trusted them: type /hooks in a session")
		}
	})
}

// guardOf returns the policy by which a hook in the settings judges tool calls; "" if there is none.
func guardOf(agent capture.Agent, settings []byte) (string, error) {
	hooks, lines, err := capture.Installed(agent, settings)
	if err != nil {
		return "", err
	}
	for i, h := range hooks {
		if at := slices.Index(lines[i], "--guard"); h.Event == capture.PreToolUse && at >= 0 && at+1 < len(lines[i]) {
			return lines[i][at+1], nil
		}
	}
	return "", nil
}

type setupJSON struct {
	Settings string `json:"settings"`
	Changed  bool   `json:"changed"`
	Content  string `json:"content,omitempty"`
}

// agree shows a change and asks whether to make it.
func agree(a *cli.App, change, path string, yes bool) error {
	fmt.Fprint(a.IO.Stderr, change)
	if yes {
		return nil
	}
	if !a.IO.IsTerminal(a.IO.Stdin) {
		return cli.Usagef("standard input is no terminal to ask on; give --yes to change %s as shown", path)
	}
	return a.IO.Agree(fmt.Sprintf("Change %s as shown?", path), "nothing was changed")
}

// settingsOf returns the file of the agent's settings, with links resolved.
func settingsOf(a *cli.App, agent capture.Agent, named string) (string, error) {
	path := cli.First(named, agent.SettingsFile(a.Settings.Getenv))
	if path == "" {
		return "", cli.Usagef("no home folder to look for the settings of %s in; give --settings", agent)
	}
	if behind, err := filepath.EvalSymlinks(path); err == nil {
		return behind, nil
	}
	return path, nil
}

// writeSettings replaces the settings atomically and keeps their mode.
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

// hooksFor returns the hooks for an agent. They run graphkernel-hook if it is next to this program, and otherwise this program.
func hooksFor(a *cli.App, agent capture.Agent, f *setupFlags) ([]capture.Hook, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	spool, err := a.Settings.Spool()
	if err != nil {
		return nil, err
	}
	flags, err := a.Settings.Flags()
	if err != nil {
		return nil, err
	}
	program := []string{self, "hook"}
	small := filepath.Join(filepath.Dir(self), "graphkernel-hook")
	if runtime.GOOS == "windows" {
		small += ".exe"
	}
	if _, err := os.Stat(small); err == nil {
		program = []string{small}
	}
	command := func(more ...string) string {
		return capture.CommandLine(slices.Concat(program, []string{string(agent), spool.Folder()}, more)...)
	}
	captures := command()
	var hooks []capture.Hook
	if f.guard != "" {
		hooks = append(hooks, capture.Hook{Event: capture.PreToolUse, Command: command(append([]string{"--guard", f.guard}, flags...)...), Blocks: true})
	}
	for _, event := range agent.Events() {
		h := capture.Hook{Event: event, Command: captures}
		if f.context != noContext && (event == capture.SessionStart || event == capture.UserPromptSubmit && f.eachPrompt) {
			h.Command = command(append([]string{"--context", f.context}, flags...)...)
		}
		hooks = append(hooks, h)
	}
	return hooks, nil
}

// prepareBy adds a policy by which contexts are prepared for hooks.
func prepareBy(spool *capture.Spool, id string) error {
	in, err := spool.ReadyIn()
	if err != nil || slices.Contains(in.Policies, id) {
		return err
	}
	in.Policies = append(in.Policies, id)
	return spool.SetReadyIn(in)
}

// checkPolicies checks that the policies are registered: an agent whose guard has no policy could call no tool.
func checkPolicies(ctx context.Context, a *cli.App, f *setupFlags) error {
	spool, err := a.Settings.Spool()
	if err != nil {
		return err
	}
	if f.context != noContext {
		if err := prepareBy(spool, string(ContextPolicy(f.context))); err != nil {
			return err
		}
	}
	if f.guard == "" && (f.context == noContext || f.context == hook.DefaultPolicy) {
		return nil
	}
	return a.Stores.WithoutTakingIn(ctx, func(s *cli.Session) error {
		if f.guard != "" {
			rules, err := cli.PolicyFor[guard.DenyRules](ctx, s, f.guard, guard.RulesType)
			if err == nil {
				err = hook.KeepRules(spool, f.guard, rules)
			}
			if err != nil {
				return err
			}
		}
		if f.context == noContext || f.context == hook.DefaultPolicy {
			return nil
		}
		_, err := cli.PolicyFor[contexts.Policy](ctx, s, f.context, contexts.PolicyTypes...)
		return err
	})
}
