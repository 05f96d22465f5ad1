package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/render"
)

func conformanceCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "conformance",
		Short: "Try a verifier, yours or this one, on good and bad evidence",
		Args:  cli.KnownCommand,
		RunE:  cli.ShowHelp,
	}
	var only string
	parts := [...]struct {
		flag, what string
		part       golden.Part
		given      bool
	}{
		{flag: "facts", what: "bundles of facts", part: golden.Facts},
		{flag: "contexts", what: "contexts", part: golden.Contexts},
		{flag: "beliefs", what: "evidence of beliefs", part: golden.Beliefs},
	}
	part := func() (golden.Part, error) {
		of := golden.Turns
		for _, p := range parts {
			if p.given && of != golden.Turns {
				return "", cli.Usagef("--facts, --contexts and --beliefs exclude each other; give only one")
			}
			if p.given {
				of = p.part
			}
		}
		return of, nil
	}
	run := &cobra.Command{
		Use:   "run [--facts|--contexts|--beliefs] [--only PATTERN] COMMAND [ARGUMENT…]",
		Short: "Run a verifier on every case and compare its exit codes",
		Long: `Calls the verifier once for each case:

  COMMAND ARGUMENT… [--trust FILE] [--require-full] FOLDER

The secret of the token is in GRAPHKERNEL_SECRET, and the id of its key in GRAPHKERNEL_KEY_ID, for the
cases that have them. Each case names the exit code that is expected. docs/conformance.md has the rules,
docs/evidence.md what a verifier checks. The exit code is 1 if any case differs.

With --facts the cases are bundles of facts, GKF/2 (docs/knowledge.md), with --contexts contexts, GKC/1
(docs/contexts.md), and with --beliefs evidence of beliefs, GKB/1 (docs/belief.md). A verifier need not
support these to be complete.`,
		Example: `  graphkernel conformance run python3 verifiers/python/gkverify.py
  graphkernel conformance run graphkernel verify
  graphkernel conformance run --facts node verifiers/js/cli.mjs
  graphkernel conformance run --contexts python3 verifiers/python/gkverify.py
  graphkernel conformance run --only 'proof_*' ./my-verifier --strict`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes a COMMAND", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			p, err := part()
			if err != nil {
				return err
			}
			return conform(a, c.Context(), p, only, args)
		},
	}
	run.Flags().SetInterspersed(false)
	run.Flags().StringVar(&only, "only", "*", "run only the cases whose names match this pattern")
	cli.NoFiles(run, "only")
	write := &cobra.Command{
		Use:   "write [--facts|--contexts|--beliefs] FOLDER",
		Short: "Write the cases to a folder",
		Args:  cli.OneArg("FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := part()
			if err != nil {
				return err
			}
			cases, err := golden.EvidenceCases(p)
			if err != nil {
				return err
			}
			for i := range cases {
				if _, err := writeCase(args[0], &cases[i]); err != nil {
					return err
				}
			}
			return a.IO.Print(map[string]any{"folder": args[0], "cases": len(cases)}, func(w io.Writer) {
				fmt.Fprintf(w, "%d cases are in %s\n", len(cases), args[0])
			})
		},
	}
	for _, of := range []*cobra.Command{run, write} {
		for i := range parts {
			of.Flags().BoolVar(&parts[i].given, parts[i].flag, false, "the cases of "+parts[i].what+", instead of those of turns")
		}
	}
	c.AddCommand(run, write)
	return c
}

// caseTime is the longest time of one call of a verifier.
const caseTime = 30 * time.Second

type conformityJSON struct {
	Command []string        `json:"command"`
	Cases   int             `json:"cases"`
	Differ  []differingJSON `json:"differ"`
}

type differingJSON struct {
	Name     string `json:"name"`
	Why      string `json:"why"`
	Expected int    `json:"expected"`
	Found    int    `json:"found"` // -1: the verifier did not end by itself
	Said     string `json:"said,omitempty"`
}

func conform(a *cli.App, ctx context.Context, part golden.Part, only string, command []string) (err error) {
	all, err := golden.EvidenceCases(part)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "graphkernel-conformance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	result := conformityJSON{Command: command, Differ: []differingJSON{}}
	for i := range all {
		c := &all[i]
		if ok, err := path.Match(only, c.Name); err != nil {
			return cli.Usagef("--only is %q: %v", only, err)
		} else if !ok {
			continue
		}
		result.Cases++
		differs, err := tryCase(a, ctx, folder, command, c)
		if err != nil {
			return err
		}
		if differs != nil {
			result.Differ = append(result.Differ, *differs)
		}
	}
	if result.Cases == 0 {
		return cli.Usagef("no case matches %q", only)
	}
	err = a.IO.Print(result, func(w io.Writer) {
		for _, d := range result.Differ {
			fmt.Fprintf(w, "%-32s exit code %d, want %d: %s\n", d.Name, d.Found, d.Expected, d.Why)
			if d.Said != "" {
				fmt.Fprintf(w, "%-32s %s\n", "", render.OneLine(d.Said, 160))
			}
		}
		fmt.Fprintf(w, "%d of %d cases as expected\n", result.Cases-len(result.Differ), result.Cases)
	})
	if err == nil && len(result.Differ) > 0 {
		return cli.Finish(api.ExitInternal)
	}
	return err
}

// tryCase calls the verifier on a case and returns the difference, or nil if there is none.
func tryCase(a *cli.App, ctx context.Context, folder string, command []string, c *golden.EvidenceCase) (*differingJSON, error) {
	at, err := writeCase(folder, c)
	if err != nil {
		return nil, err
	}
	args := slices.Clone(command[1:])
	if c.Trust != nil {
		args = append(args, "--trust", filepath.Join(at, "trust"))
	}
	args = append(append(args, c.Args...), filepath.Join(at, "evidence"))
	limited, cancel := context.WithTimeout(ctx, caseTime)
	defer cancel()
	verifier := exec.CommandContext(limited, command[0], args...)
	verifier.WaitDelay = time.Second // processes that it started may keep its output open
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GRAPHKERNEL_") {
			verifier.Env = append(verifier.Env, v)
		}
	}
	if c.Secret != "" {
		verifier.Env = append(verifier.Env, "GRAPHKERNEL_SECRET="+c.Secret, "GRAPHKERNEL_KEY_ID="+c.KeyID)
	} else {
		verifier.Env = append(verifier.Env, "XDG_CONFIG_HOME="+at) // keeps the verifier from using the user's own keys
	}
	said, err := verifier.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case verifier.ProcessState == nil:
		return nil, cli.Usagef("%s cannot be run: %v", command[0], err)
	}
	if code := verifier.ProcessState.ExitCode(); code != c.ExitCode {
		last := strings.TrimSpace(string(said))
		return &differingJSON{c.Name, c.Why, c.ExitCode, code, last[strings.LastIndexByte(last, '\n')+1:]}, nil
	}
	return nil, nil
}

// writeCase writes a case as a folder.
func writeCase(folder string, c *golden.EvidenceCase) (string, error) {
	at := filepath.Join(folder, c.Name)
	if err := os.MkdirAll(filepath.Join(at, "evidence"), 0o755); err != nil { // even if there is no file in it
		return "", err
	}
	for name, data := range c.Files {
		to := filepath.Join(at, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644)); err != nil {
			return "", err
		}
	}
	return at, nil
}
