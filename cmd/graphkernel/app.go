package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// An app is one run of the program: where it reads and writes, and the flags
// that every command has.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	clock          func() time.Time

	storeFlag  string
	tenantFlag string
	keysFlag   string
	output     string
	dev        bool
}

const about = `graphkernel decides, deterministically and under a policy, which turns of a
conversation may influence an agent's next step, hands them out as a signed
evidence bundle, and lets anyone verify it and any auditor replay it.`

const firstSteps = `  graphkernel demo                          see all of it at work, in a temporary folder
  graphkernel keys init                     make the key that signs
  graphkernel import ~/.claude/projects     admit your own transcripts
  graphkernel show                          list the conversations
  graphkernel slice TURN -o slice.json      cut and sign what may influence a turn
  graphkernel verify slice.json
  graphkernel replay slice.json`

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var done *finished
	if errors.As(err, &done) { // the verdict has been printed
		return done.code
	}
	code := exitCode(err)
	if a.output == "json" {
		_ = a.printJSON(map[string]any{"error": err.Error(), "exit_code": code}) // stdout is gone; the code remains
	}
	fmt.Fprintf(a.stderr, "graphkernel: %v\n", err)
	if code == exitUsage {
		fmt.Fprintln(a.stderr, "Run 'graphkernel help' or 'graphkernel COMMAND --help' for how to use it.")
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "graphkernel",
		Short:         "The provenance kernel for AI agents",
		Long:          about,
		Example:       firstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if a.output != "text" && a.output != "json" {
				return usagef("--output is %q, want text or json", a.output)
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.storeFlag, "store", "", "where turns are kept, sqlite:PATH ($GRAPHKERNEL_STORE; default sqlite:"+abbreviate(defaultStore(a.getenv))+")")
	f.StringVar(&a.tenantFlag, "tenant", "", "whose graph it is ($GRAPHKERNEL_TENANT; default \"default\")")
	f.StringVar(&a.keysFlag, "keys", "", "the keyring's file ($GRAPHKERNEL_KEYS; default "+abbreviate(defaultKeys(a.getenv))+")")
	f.StringVar(&a.output, "output", "text", "text for people, json for programs: one object on standard output")
	f.BoolVar(&a.dev, "dev", false, "sign with a random key that is gone after this run")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	root.AddCommand(
		a.importCommand(), a.exportCommand(), a.showCommand(),
		a.sliceCommand(), a.verifyCommand(), a.replayCommand(), a.explainCommand(),
		a.policyCommand(), a.eraseCommand(), a.keysCommand(), a.demoCommand(), a.versionCommand(),
	)
	return root
}

// tenant gives the tenant that the flags and the environment name.
func (a *app) tenant() (dag.Tenant, error) {
	name := a.tenantFlag
	if name == "" {
		name = a.getenv("GRAPHKERNEL_TENANT")
	}
	if name == "" {
		return dag.DefaultTenant, nil
	}
	t, err := dag.ParseTenant(name)
	if err != nil {
		return "", &usageError{err}
	}
	return t, nil
}

// A session is an open store with a kernel over it.
type session struct {
	*kernel.Kernel
	tenant dag.Tenant
	store  store.Store
}

// withKernel opens the store, which must be there, calls fn, and closes it.
func (a *app) withKernel(ctx context.Context, ring token.Keyring, fn func(*session) error) error {
	return a.withStore(ctx, ring, false, fn)
}

// withNewKernel is withKernel, but makes the store if there is none.
func (a *app) withNewKernel(ctx context.Context, ring token.Keyring, fn func(*session) error) error {
	return a.withStore(ctx, ring, true, fn)
}

func (a *app) withStore(ctx context.Context, ring token.Keyring, create bool, fn func(*session) error) (err error) {
	tenant, err := a.tenant()
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx, create)
	if err != nil {
		return err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: a.clock})
	if err != nil {
		return err
	}
	return fn(&session{Kernel: k, tenant: tenant, store: s})
}

func (a *app) openStore(ctx context.Context, create bool) (store.Store, error) {
	name := a.storeName()
	scheme, path, _ := strings.Cut(name, ":")
	if scheme != "sqlite" || path == "" {
		return nil, usagef("store %q: want sqlite:PATH", name)
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	if !create {
		return nil, fmt.Errorf("there is no store at %s; graphkernel import makes one", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if s, err = sqlite.Create(ctx, path, sqlite.Options{}); errors.Is(err, fs.ErrExist) { // another process was faster
		return sqlite.Open(ctx, path, sqlite.Options{})
	}
	return s, err
}

func (a *app) storeName() string {
	for _, name := range []string{a.storeFlag, a.getenv("GRAPHKERNEL_STORE")} {
		if name != "" {
			return name
		}
	}
	return "sqlite:" + defaultStore(a.getenv)
}

// dataFolder gives a folder of the user's for a purpose that XDG has a variable
// for.
func dataFolder(getenv func(string) string, xdg, below string) string {
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "graphkernel")
	}
	home := getenv("HOME")
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "graphkernel")
	case "windows":
		return filepath.Join(getenv("LocalAppData"), "graphkernel")
	}
	return filepath.Join(home, below, "graphkernel")
}

func defaultStore(getenv func(string) string) string {
	return filepath.Join(dataFolder(getenv, "XDG_DATA_HOME", filepath.Join(".local", "share")), "graphkernel.db")
}

func defaultKeys(getenv func(string) string) string {
	return filepath.Join(dataFolder(getenv, "XDG_CONFIG_HOME", ".config"), "keys.json")
}

// abbreviate shows a path below the home folder with a tilde, so that help texts
// are the same for everybody.
func abbreviate(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}

// printJSON writes the one object that --output json promises.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// print writes v as JSON, or calls text.
func (a *app) print(v any, text func(w io.Writer)) error {
	if a.output == "json" {
		return a.printJSON(v)
	}
	text(a.stdout)
	return nil
}

// note tells a person something beside the result.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.stderr, format+"\n", args...)
}
