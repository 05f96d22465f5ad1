package capture

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

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
changes. Claude Code 2.1.160 and newer gets a plugin instead: a folder with the hooks, the tools of
graphkernel mcp, and a skill that says when to use these. With --settings the hooks go into that file in any
case. A hook takes a few milliseconds and notes that a session has grown. The turns come from the agent's
own transcript, by the same importer as with graphkernel import.

When a session starts, a hook also tells the agent the brief of the project (graphkernel brief): your rules, what
you told it to remember, and how the last sessions ended. It is signed, and stands between marks that have its id. With --guard, a hook judges each tool call
before it runs. It blocks calls that it cannot judge. If the hook itself cannot be started, Claude Code
blocks the call from version 2.1.295 on; older versions, Codex and Gemini run it. Codex runs new hooks only
after a person has trusted them (/hooks).

The sessions are stored in the store, or by the service, that the flags and the environment of this command
name. As JSON:

  {"settings","plugin","changed","content"}  settings is the file with the hooks; content with --print alone`,
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
	c.Flags().BoolVar(&f.print, "print", false, "print the settings, or the files of the plugin, as they would be, and change nothing")
	c.Flags().BoolVar(&f.undo, "undo", false, "remove the hooks and the plugin that setup added")
	c.Flags().BoolVar(&f.yes, "yes", false, "change the settings without asking")
	c.Flags().StringVar(&f.settings, "settings", "", "the file of settings into which the hooks go (default: the plugin, or the user's settings)")
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
	t, err := targetOf(a, agent, f.settings)
	if err != nil {
		return err
	}
	was, err := t.guard()
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if f.guard == "" && was != "" && !f.undo {
		return cli.Usagef("tool calls are judged by %s; give --guard %s to keep that, or --guard %s to remove the guard", was, was, noContext)
	}
	if f.guard == noContext {
		f.guard = ""
	}
	p, err := planOf(ctx, a, &t, f)
	if err != nil {
		return err
	}
	out := setupJSON{Settings: t.settings}
	if p.plugin {
		out.Settings, out.Plugin = t.hooks(), t.plugin
	}
	if f.print {
		out.Content = string(p.of(out.Settings).after)
		return a.IO.Print(out, p.print)
	}
	change, where := p.diff()
	if change == "" {
		a.IO.Note("%s %s; nothing was changed", out.Settings, map[bool]string{false: "already has these hooks", true: "has none of these hooks"}[f.undo])
		return a.IO.Print(out, func(io.Writer) {})
	}
	if err := agree(a, change, where, f.yes); err != nil {
		return err
	}
	if err := p.apply(t.plugin); err != nil {
		return err
	}
	out.Changed = true
	return a.IO.Print(out, func(w io.Writer) {
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
		if p.plugin {
			fmt.Fprintf(w, "the plugin %s has the hooks, the tools of graphkernel mcp, and a skill that says when to use these\n", t.plugin)
		} else if t.plugin != "" {
			fmt.Fprintf(w, "the agent gets the tools of graphkernel mcp, which find what was said, with: claude mcp add --scope user graphkernel -- %s\n", capture.CommandLine(p.server...))
		}
	})
}

// A plan says what setup changes.
type plan struct {
	edits
	plugin bool     // the hooks are in the plugin
	server []string // the command line of the MCP server
}

// planOf returns the changes that the flags ask for.
func planOf(ctx context.Context, a *cli.App, t *target, f *setupFlags) (p plan, err error) {
	if f.undo {
		p.edits, err = t.remove()
		return p, err
	}
	if err := checkPolicies(ctx, a, f); err != nil {
		return p, err
	}
	hooks, server, err := hooksFor(a, t.agent, f)
	if err != nil {
		return p, err
	}
	p.plugin, p.server = t.takesPlugin(ctx, a), server
	p.edits, err = t.install(p.plugin, hooks, server)
	return p, err
}

type setupJSON struct {
	Settings string `json:"settings"` // the file with the hooks
	Plugin   string `json:"plugin,omitempty"`
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

// hooksFor returns the hooks for an agent, and the command line of the MCP server. Hooks run graphkernel-hook if it is next to this program, and otherwise this program.
func hooksFor(a *cli.App, agent capture.Agent, f *setupFlags) (hooks []capture.Hook, server []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	spool, err := a.Settings.Spool()
	if err != nil {
		return nil, nil, err
	}
	flags, err := a.Settings.Flags()
	if err != nil {
		return nil, nil, err
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
	return hooks, slices.Concat([]string{self, "mcp"}, flags), nil
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
