// Package cli owns what the commands of the program have in common: flags that all of them
// have, the exit codes, reading and writing files, what a person sees, and opening a store. It
// is the only place that names a storage back end. What a command does it asks of package kernel.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/identity"
)

// An App is one run of the program: where it reads and writes, and the flags
// that every command has.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string // all of it, as NAME=VALUE
	Clock          func() time.Time
	Rand           io.Reader                   // draws salts and API keys; nil is the system's randomness
	Commands       func(*App) []*cobra.Command // all that the program has
	Hangup         <-chan os.Signal            // a terminal that is gone: ends the program, except for serve
	OnHangup       *atomic.Pointer[func()]

	started    bool // the command line was understood
	StoreFlag  string
	ServerFlag string
	TenantFlag string
	KeysFlag   string

	IdentityFlag string
	devIdentity  identity.Identity // with --dev, once it was asked for
	Output       string
	Dev          bool
}

const about = `graphkernel decides, deterministically and under a policy, which turns of a
conversation may influence an agent's next step, hands them out as a signed
evidence bundle, and lets anyone verify it and any auditor replay it.`

// FirstSteps shows a new user what to do first.
const FirstSteps = `  graphkernel demo                          see all of it at work, in a temporary folder
  graphkernel keys init                     make the key that signs
  graphkernel import ~/.claude/projects     admit your own transcripts
  graphkernel show                          list the conversations
  graphkernel slice TURN -o slice.json      cut and sign what may influence a turn
  graphkernel verify slice.json
  graphkernel replay slice.json`

// ErrInterrupted is what a person reads who ended the program.
var ErrInterrupted = errors.New("interrupted")

// Run runs the program with arguments and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.OnHangup = &atomic.Pointer[func()]{}
	go a.endOnHangup(ctx, cancel)
	out := &watched{Writer: a.Stdout}
	a.Stdout = out
	root := a.Root()
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	command, err := root.ExecuteContextC(ctx)
	code := ExitOK
	var done *finished
	switch {
	case errors.As(err, &done): // the verdict has been printed
		code, err = done.code, nil
	case err != nil && !a.started:
		code = ExitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		code, err = ExitInternal, ErrInterrupted
	case err != nil:
		code = ExitCode(err)
	}
	if err == nil && out.err != nil {
		err = fmt.Errorf("the result could not be written: %w", out.err)
		if code == ExitOK {
			code = ExitInternal
		}
	}
	if err == nil {
		return code
	}
	if !out.wrote && (a.Output == "json" || WantsJSON(args)) {
		_ = a.PrintJSON(map[string]any{"error": err.Error(), "exit_code": code}) // standard output is gone; the code remains
	}
	a.Note("graphkernel: %v", err)
	if code == ExitUsage {
		a.Note("Run '%s --help' for how to use it.", command.CommandPath())
	}
	return code
}

// endOnHangup ends a run whose terminal is gone, unless a command has something
// better to do then.
func (a *App) endOnHangup(ctx context.Context, end func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.Hangup:
			if instead := a.OnHangup.Load(); instead != nil {
				(*instead)()
				continue
			}
			end()
		}
	}
}

// WantsJSON reports whether a command line asks for JSON, even one that could
// not be understood.
func WantsJSON(args []string) bool {
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--output=json", arg == "--output" && i+1 < len(args) && args[i+1] == "json":
			return true
		}
	}
	return false
}

// Root makes the command that all others are below.
func (a *App) Root() *cobra.Command {
	root := &cobra.Command{
		Use:           "graphkernel",
		Short:         "The provenance kernel for AI agents",
		Long:          about,
		Example:       FirstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          KnownCommand,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if a.Output != "text" && a.Output != "json" {
				return Usagef("--output is %q, want text or json", a.Output)
			}
			if a.Output == "json" && c.HasParent() && c.Parent().Name() == "completion" {
				return Usagef("%s writes a script for a shell; leave out --output json", c.CommandPath())
			}
			if err := a.checkServer(c); err != nil {
				return err
			}
			a.started = true
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.StoreFlag, "store", "", "where turns are kept, sqlite:PATH or postgres://… ($GRAPHKERNEL_STORE; default sqlite:"+a.Abbreviate(a.defaultStore())+")")
	f.StringVar(&a.ServerFlag, "server", "", "ask the service at this URL in place of a store, with the API key in GRAPHKERNEL_KEY ($GRAPHKERNEL_SERVER)")
	f.StringVar(&a.TenantFlag, "tenant", "", "whose graph it is ($GRAPHKERNEL_TENANT; default \"default\")")
	f.StringVar(&a.KeysFlag, "keys", "", "the keyring's file ($GRAPHKERNEL_KEYS; default "+a.Abbreviate(a.DefaultKeys())+")")
	f.StringVar(&a.IdentityFlag, "identity", "", "the file of the keys that sign for third parties ($GRAPHKERNEL_IDENTITY; default "+a.Abbreviate(a.DefaultIdentity())+")")
	f.StringVar(&a.Output, "output", "text", "text for people, json for programs: one object on standard output")
	f.BoolVar(&a.Dev, "dev", false, "sign with a random key that is gone after this run")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	NoFiles(root, "tenant", "server")
	root.AddCommand(a.Commands(a)...)
	a.helps(root)
	return root
}

// helps makes help an error for commands that do not exist, and one object under
// --output json.
func (a *App) helps(root *cobra.Command) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if a.Output != "json" {
			plain(c, args)
			return
		}
		var text strings.Builder
		c.SetOut(&text)
		plain(c, args)
		_ = a.PrintJSON(map[string]string{"help": text.String()}) // run reports it
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = KnownCommand
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return Usagef("there is no command %q", strings.Join(args, " "))
				}
				return found.Help()
			}
		}
	}
}

// Tenant returns the tenant that the flags and the environment name.
func (a *App) Tenant() (dag.Tenant, error) {
	name := a.TenantFlag
	if name == "" {
		name = a.Getenv("GRAPHKERNEL_TENANT")
	}
	if name == "" {
		return dag.DefaultTenant, nil
	}
	t, err := dag.ParseTenant(name)
	if err != nil {
		return "", Usage(err)
	}
	return t, nil
}

// DataFolder returns a folder of the user's for a purpose that XDG has a variable
// for, or "" if the environment names no home.
func (a *App) DataFolder(xdg, below string) string {
	if dir := a.Getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "graphkernel")
	}
	home := a.Getenv("HOME")
	switch runtime.GOOS {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		home, below = a.Getenv("LocalAppData"), ""
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, below, "graphkernel")
}

func (a *App) defaultStore() string {
	return Below(a.DataFolder("XDG_DATA_HOME", filepath.Join(".local", "share")), "graphkernel.db")
}

// DefaultKeys returns where the keyring is kept if nothing says otherwise, or "".
func (a *App) DefaultKeys() string {
	return Below(a.DataFolder("XDG_CONFIG_HOME", ".config"), "keys.json")
}

// Below joins a folder and a name; "" without a folder.
func Below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

// Abbreviate shows a path below the home folder with a tilde, so that help texts
// are the same for everybody.
func (a *App) Abbreviate(path string) string {
	if home := a.Getenv("HOME"); home != "" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}
