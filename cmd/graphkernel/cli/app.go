// Package cli owns the parts that the commands of the program share: common flags, the exit codes, reading and writing files, the output for people, and
// opening a store. It is the only package that names a storage back end. Commands ask package kernel to do their work.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/spf13/cobra"
)

// A Config is the configuration of an App.
type Config struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        func() []string // the whole environment, as NAME=VALUE; nil if it cannot be listed
	Clock          func() time.Time
	Rand           io.Reader                     // draws salts and API keys; nil is the system's randomness
	Commands       func(*App) []*cobra.Command   // all commands of the program
	Places         func(*Settings, string) error // sets FileStore, FileKeys and FileIdentity from the file of settings at a path; nil: such files are not heeded
	Hangup         <-chan os.Signal              // signals that the terminal is gone; that ends the program, except for serve
	HookWait       time.Duration                 // how long a hook waits for a lock or another process; 0 is HookWait

	Screen func(stream any) (Screen, bool)                                          // nil is ScreenOf
	Page   func(command string, text []byte, stdout, stderr io.Writer) (shown bool) // nil is RunPager
}

// HookWait is how long a hook waits for a lock or another process, by default.
const HookWait = 50 * time.Millisecond

// An App is one run of the program.
type App struct {
	IO       *Streams
	Settings *Settings
	Signing  *Signing
	Stores   *Stores
	Clock    func() time.Time
	HookWait time.Duration          // how long a hook waits for a lock or another process
	OnHangup atomic.Pointer[func()] // called instead of ending the program when the terminal is gone

	commands func(*App) []*cobra.Command
	places   func(*Settings, string) error
	hangup   <-chan os.Signal
	started  bool // the command line was understood
}

// New makes an App for one run of the program.
func New(c Config) *App {
	a := &App{
		IO:       &Streams{Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Color: ColourAuto, Getenv: c.Getenv, Environ: c.Environ, Screen: c.Screen, Page: c.Page},
		Settings: &Settings{Getenv: c.Getenv, Environ: c.Environ},
		Clock:    c.Clock, HookWait: cmp.Or(c.HookWait, HookWait), commands: c.Commands, places: c.Places, hangup: c.Hangup,
	}
	if a.IO.Screen == nil {
		a.IO.Screen = ScreenOf
	}
	if a.IO.Page == nil {
		a.IO.Page = RunPager
	}
	a.Signing = &Signing{io: a.IO, settings: a.Settings, clock: c.Clock}
	a.Stores = &Stores{files: files{io: a.IO, settings: a.Settings, rand: c.Rand}, signing: a.Signing, clock: c.Clock}
	return a
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

// ErrInterrupted is the error of a program that a person interrupted.
var ErrInterrupted = errors.New("interrupted")

// Run runs the program with arguments and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	ctx, cancel := context.WithCancel(access.As(ctx, access.Identity{Subject: access.Local, Role: access.Admin}))
	defer cancel()
	go a.endOnHangup(ctx, cancel)
	out := &watched{Writer: a.IO.Stdout}
	a.IO.Stdout = out
	root := a.Root()
	root.SetArgs(args)
	root.SetIn(a.IO.Stdin)
	root.SetOut(a.IO.Stdout)
	root.SetErr(a.IO.Stderr)
	command, err := root.ExecuteContextC(ctx)
	code := api.ExitOK
	var done *finished
	switch {
	case errors.As(err, &done): // the verdict has been printed
		code, err = done.code, nil
	case err != nil && !a.started:
		code = api.ExitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		code, err = api.ExitInternal, ErrInterrupted
	case errors.Is(err, syscall.EPIPE) && errors.Is(out.err, syscall.EPIPE):
		code = api.ExitOK
	case err != nil:
		code = ExitCode(err)
	}
	if errors.Is(out.err, syscall.EPIPE) && (err == nil || errors.Is(err, syscall.EPIPE)) {
		return code // the reader of the result has read enough, as head does
	}
	if err == nil && out.err != nil {
		err = fmt.Errorf("the result could not be written: %w", out.err)
		if code == api.ExitOK {
			code = api.ExitInternal
		}
	}
	if err == nil {
		return code
	}
	if !out.wrote && (a.IO.Output == "json" || WantsJSON(args)) {
		_ = a.IO.PrintJSON(map[string]any{"error": err.Error(), "exit_code": code}) // standard output is gone; the code remains
	}
	a.IO.Warn("%s", signed(err))
	if code == api.ExitUsage {
		a.IO.Warn("Run '%s --help' for how to use it.", command.CommandPath())
	}
	return code
}

// endOnHangup ends a run whose terminal is gone, unless the command has set OnHangup.
func (a *App) endOnHangup(ctx context.Context, end func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangup:
			if instead := a.OnHangup.Load(); instead != nil {
				(*instead)()
				continue
			}
			end()
		}
	}
}

// WantsJSON reports whether a command line asks for JSON, even if the command line is invalid.
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

// Root makes the root command with all other commands below it.
func (a *App) Root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "graphkernel",
		Short:         "The provenance kernel for AI agents",
		Long:          about,
		Example:       FirstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          KnownCommand,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if a.IO.Output != "text" && a.IO.Output != "json" {
				return Usagef("--output is %q, want text or json", a.IO.Output)
			}
			switch a.IO.Color {
			case ColourAuto, ColourAlways, ColourNever:
			default:
				return Usagef("--color is %q, want %s, %s or %s", a.IO.Color, ColourAuto, ColourAlways, ColourNever)
			}
			if a.IO.Output == "json" && c.HasParent() && c.Parent().Name() == "completion" {
				return Usagef("%s writes a script for a shell; leave out --output json", c.CommandPath())
			}
			if err := groupError(c.ValidateFlagGroups()); err != nil {
				return err
			}
			if err := a.Settings.checkServer(c); err != nil {
				return err
			}
			if err := a.readPlaces(c); err != nil {
				return err
			}
			a.started = true
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return a.VersionCommand().RunE(c, nil)
			}
			status, _, err := c.Find([]string{"status"})
			if err != nil {
				return err
			}
			status.SetContext(c.Context())
			return status.RunE(status, nil)
		},
	}
	root.Flags().BoolVarP(&version, "version", "v", false, "version for graphkernel") // cobra writes its own with a template, which makes the linker keep every exported method
	a.Settings.register(root)
	root.PersistentFlags().StringVar(&a.IO.Output, "output", "text", "text for people, json for programs: one object on standard output")
	root.PersistentFlags().StringVar((*string)(&a.IO.Color), "color", string(ColourAuto), "colours: auto (only on a terminal, and without NO_COLOR), always or never")
	root.PersistentFlags().BoolVarP(&a.IO.Quiet, "quiet", "q", false, "print nothing but the result and errors")
	_ = root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{string(ColourAuto), string(ColourAlways), string(ColourNever)}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))                                               // the flag exists
	root.AddCommand(a.commands(a)...)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	a.helps(root)
	return root
}

// readPlaces reads the store, the keyring and the identity that the file of GRAPHKERNEL_CONFIG names.
func (a *App) readPlaces(c *cobra.Command) error {
	path := a.Settings.Getenv("GRAPHKERNEL_CONFIG")
	if path == "" || a.places == nil || !needsPlaces(c) {
		return nil
	}
	err := a.places(a.Settings, path)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("GRAPHKERNEL_CONFIG: %w", err)
	switch name := c.CommandPath(); {
	case strings.HasPrefix(c.Name(), "__complete"):
		return nil
	case name == "graphkernel hook" || strings.HasPrefix(name, "graphkernel hook "): // it must not stop the agent, and setup has named its store
		a.IO.Warn("%s", signed(err))
		return nil
	}
	return err
}

// needsPlaces reports whether a command may use a store, a keyring or an identity. Those with a flag --config read the file themselves.
func needsPlaces(c *cobra.Command) bool {
	if c.Flags().Lookup("config") != nil {
		return false
	}
	switch name, _, _ := strings.Cut(strings.TrimPrefix(c.CommandPath(), "graphkernel "), " "); name {
	case "help", "completion", "version", "man", "demo", "conformance", "fetch":
		return false
	}
	return true
}

// helps makes help for a command that does not exist an error, and prints help as one JSON object under --output json.
func (a *App) helps(root *cobra.Command) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasParent() && c.Long != "" { // the summary, the examples and the details, in this order
			begin := c.Short + ".\n\n"
			if c.Example != "" {
				begin += "Examples:\n" + c.Example + "\n\n"
			}
			c.Long, c.Example = begin+c.Long, ""
		}
		if a.IO.Output != "json" {
			plain(c, args)
			return
		}
		var text strings.Builder
		c.SetOut(&text)
		plain(c, args)
		_ = a.IO.PrintJSON(map[string]string{"help": text.String()}) // Run reports a write error
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = KnownCommand
			c.RunE = ShowHelp
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

// signed returns the text of an error with the program's name before it, unless the text already begins with a command. The prefix "client: " is removed.
func signed(err error) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "graphkernel: "), "client: ")
	if strings.HasPrefix(text, "graphkernel ") {
		return text
	}
	return "graphkernel: " + text
}
