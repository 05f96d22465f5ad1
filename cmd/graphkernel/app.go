package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// An app is one run of the program: where it reads and writes, and the flags
// that every command has.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        func() []string // all of it, as NAME=VALUE
	clock          func() time.Time
	hangup         <-chan os.Signal // a terminal that is gone: ends the program, but for serve
	onHangup       *atomic.Pointer[func()]

	started    bool // the command line was understood
	storeFlag  string
	tenantFlag string
	keysFlag   string

	identityFlag string
	devIdentity  identity.Identity // with --dev, once it was asked for
	output       string
	dev          bool
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

// errInterrupted is what a person reads who ended the program.
var errInterrupted = errors.New("interrupted")

func (a *app) run(ctx context.Context, args []string) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.onHangup = &atomic.Pointer[func()]{}
	go a.endOnHangup(ctx, cancel)
	out := &watched{Writer: a.stdout}
	a.stdout = out
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	command, err := root.ExecuteContextC(ctx)
	code := exitOK
	var done *finished
	switch {
	case errors.As(err, &done): // the verdict has been printed
		code, err = done.code, nil
	case err != nil && !a.started:
		code = exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		code, err = exitInternal, errInterrupted
	case err != nil:
		code = exitCode(err)
	}
	if err == nil && out.err != nil {
		err = fmt.Errorf("the result could not be written: %w", out.err)
		if code == exitOK {
			code = exitInternal
		}
	}
	if err == nil {
		return code
	}
	if !out.wrote && (a.output == "json" || wantsJSON(args)) {
		_ = a.printJSON(map[string]any{"error": err.Error(), "exit_code": code}) // standard output is gone; the code remains
	}
	a.note("graphkernel: %v", err)
	if code == exitUsage {
		a.note("Run '%s --help' for how to use it.", command.CommandPath())
	}
	return code
}

// endOnHangup ends a run whose terminal is gone, unless a command has something
// better to do then.
func (a *app) endOnHangup(ctx context.Context, end func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangup:
			if instead := a.onHangup.Load(); instead != nil {
				(*instead)()
				continue
			}
			end()
		}
	}
}

// wantsJSON reports whether a command line asks for JSON, even one that could
// not be understood.
func wantsJSON(args []string) bool {
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

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "graphkernel",
		Short:         "The provenance kernel for AI agents",
		Long:          about,
		Example:       firstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if a.output != "text" && a.output != "json" {
				return usagef("--output is %q, want text or json", a.output)
			}
			if a.output == "json" && c.HasParent() && c.Parent().Name() == "completion" {
				return usagef("%s writes a script for a shell; leave out --output json", c.CommandPath())
			}
			a.started = true
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.storeFlag, "store", "", "where turns are kept, sqlite:PATH or postgres://… ($GRAPHKERNEL_STORE; default sqlite:"+a.abbreviate(a.defaultStore())+")")
	f.StringVar(&a.tenantFlag, "tenant", "", "whose graph it is ($GRAPHKERNEL_TENANT; default \"default\")")
	f.StringVar(&a.keysFlag, "keys", "", "the keyring's file ($GRAPHKERNEL_KEYS; default "+a.abbreviate(a.defaultKeys())+")")
	f.StringVar(&a.identityFlag, "identity", "", "the file of the keys that sign for third parties ($GRAPHKERNEL_IDENTITY; default "+a.abbreviate(a.defaultIdentity())+")")
	f.StringVar(&a.output, "output", "text", "text for people, json for programs: one object on standard output")
	f.BoolVar(&a.dev, "dev", false, "sign with a random key that is gone after this run")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	noFiles(root, "tenant")
	root.AddCommand(
		a.initCommand(), a.importCommand(), a.exportCommand(), a.showCommand(),
		a.sliceCommand(), a.verifyCommand(), a.replayCommand(), a.explainCommand(),
		a.knowledgeCommand(), a.policyCommand(), a.eraseCommand(), a.attestCommand(), a.convertCommand(), a.discloseCommand(), a.logCommand(), a.fetchCommand(), a.identityCommand(), a.conformanceCommand(),
		a.keysCommand(), a.apikeyCommand(), a.serveCommand(), a.mcpCommand(), a.configCommand(),
		a.fsckCommand(), a.copyCommand(), a.backupCommand(), a.restoreCommand(), a.migrateCommand(), a.demoCommand(), a.versionCommand(),
	)
	a.helps(root)
	return root
}

// helps makes help an error for commands that do not exist, and one object under
// --output json.
func (a *app) helps(root *cobra.Command) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if a.output != "json" {
			plain(c, args)
			return
		}
		var text strings.Builder
		c.SetOut(&text)
		plain(c, args)
		_ = a.printJSON(map[string]string{"help": text.String()}) // run reports it
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = knownCommand
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return usagef("there is no command %q", strings.Join(args, " "))
				}
				return found.Help()
			}
		}
	}
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

// holdsTurns refuses a tenant that nothing was ever admitted for: a mistyped name
// must not look like an empty graph. The default tenant may be empty.
func (s *session) holdsTurns(ctx context.Context) error {
	head, err := s.Head(ctx, s.tenant)
	if err == nil && head == 0 && s.tenant != dag.DefaultTenant {
		return fmt.Errorf("tenant %s: %w: nothing was ever admitted for it in this store", s.tenant, store.ErrNotFound)
	}
	return err
}

// withKernel opens the store, which must be there, calls fn, and closes it.
func (a *app) withKernel(ctx context.Context, ring token.Keyring, fn func(*session) error) error {
	return a.withStore(ctx, ring, toWrite, fn)
}

// withReadKernel is withKernel for what only reads: the store may be one that cannot be
// written to, and is not migrated.
func (a *app) withReadKernel(ctx context.Context, ring token.Keyring, fn func(*session) error) error {
	return a.withStore(ctx, ring, toRead, fn)
}

// withNewKernel is withKernel, but makes the store if there is none.
func (a *app) withNewKernel(ctx context.Context, ring token.Keyring, fn func(*session) error) error {
	return a.withStore(ctx, ring, toMake, fn)
}

func (a *app) withStore(ctx context.Context, ring token.Keyring, why purpose, fn func(*session) error) (err error) {
	tenant, err := a.tenant()
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx, why)
	if err != nil {
		return err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	id, err := a.identity()
	if err != nil {
		return err
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: a.clock, Identity: id, History: a.history(id), Fleeting: a.dev})
	if err != nil {
		return err
	}
	return fn(&session{Kernel: k, tenant: tenant, store: s})
}

// errNoStore is wrapped when nothing was ever stored.
var errNoStore = errors.New("there is no store")

// A purpose is what a store is opened for.
type purpose int

const (
	toRead  purpose = iota // nothing is changed, and the disk may be read-only or full
	toWrite                // the store must be there
	toMake                 // the store is made where there is none
)

// openStore opens the store that the flags and the environment name. The folder of the
// default one is made with it.
func (a *app) openStore(ctx context.Context, why purpose) (store.Store, error) {
	name := a.storeName()
	if path := a.defaultStore(); why == toMake && path != "" && name == "sqlite:"+path {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	return a.openNamed(ctx, name, why)
}

// isPostgres reports whether a store's name is for PostgreSQL: a URL, or "postgres:"
// alone, which leaves everything to libpq's variables.
func isPostgres(name string) bool {
	return name == "postgres:" || strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// openNamed opens the store that a name stands for, and to make one says so where there
// was none. A PostgreSQL database must be there; its tables are made. Folders are not.
func (a *app) openNamed(ctx context.Context, name string, why purpose) (store.Store, error) {
	if isPostgres(name) {
		s, err := postgres.Open(ctx, postgresURL(name), postgres.Options{ReadOnly: why == toRead})
		if err != nil {
			return nil, withoutName(name, err)
		}
		return s, nil
	}
	path, err := sqlitePath(name)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: why == toRead})
	switch {
	case err == nil:
		return s, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case why != toMake:
		return nil, fmt.Errorf("%w at %s; graphkernel init makes one, and so does import", errNoStore, shownPath(name))
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s to make the store in", filepath.Dir(shownPath(name)))
	}
	s, err = sqlite.Create(ctx, path, sqlite.Options{})
	if errors.Is(err, fs.ErrExist) { // another process was faster
		s, err = sqlite.Open(ctx, path, sqlite.Options{})
	} else if err == nil {
		a.note("graphkernel: made a new store at %s", shownPath(name))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (a *app) storeName() string {
	for _, name := range []string{a.storeFlag, a.getenv("GRAPHKERNEL_STORE")} {
		if name != "" {
			return name
		}
	}
	if path := a.defaultStore(); path != "" {
		return "sqlite:" + path
	}
	return ""
}

// dataFolder gives a folder of the user's for a purpose that XDG has a variable
// for, or "" if the environment names no home.
func (a *app) dataFolder(xdg, below string) string {
	if dir := a.getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "graphkernel")
	}
	home := a.getenv("HOME")
	switch runtime.GOOS {
	case "darwin":
		below = filepath.Join("Library", "Application Support")
	case "windows":
		home, below = a.getenv("LocalAppData"), ""
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, below, "graphkernel")
}

func (a *app) defaultStore() string {
	return below(a.dataFolder("XDG_DATA_HOME", filepath.Join(".local", "share")), "graphkernel.db")
}

func (a *app) defaultKeys() string {
	return below(a.dataFolder("XDG_CONFIG_HOME", ".config"), "keys.json")
}

func below(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}

// abbreviate shows a path below the home folder with a tilde, so that help texts
// are the same for everybody.
func (a *app) abbreviate(path string) string {
	if home := a.getenv("HOME"); home != "" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}
