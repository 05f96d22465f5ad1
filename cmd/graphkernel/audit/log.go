package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/internal/userdir"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

func logCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "log",
		Short: "Prove what is in the ledger, and check that it is not rewritten",
		Long: `Every slice that was issued, and every policy, key and erasure, is a leaf of the tenant's ledger, an
append-only Merkle tree. A checkpoint is the ledger's size and root, signed. A proof shows where a leaf is
under a checkpoint.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	c.AddCommand(logCheckpointCommand(a), logListCommand(a), logProveCommand(a), logVerifyCommand(a), logMonitorCommand(a))
	return c
}

func logCheckpointCommand(a *cli.App) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "checkpoint",
		Short: "Sign the current state of the ledger",
		Long:  "Writes a checkpoint (C2SP tlog-checkpoint): the origin, size and root of the ledger, signed with the log's key.",
		Args:  cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.Signing.NeedsIdentity(); err != nil {
				return err
			}
			said := map[string]any{}
			return a.IO.WriteSaying(out, "checkpoint", said, func() ([]byte, error) {
				return signedCheckpoint(a, c.Context(), said)
			})
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	return c
}

func signedCheckpoint(a *cli.App, ctx context.Context, said map[string]any) (text []byte, err error) {
	err = a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		text, err = s.Ledger.Checkpoint(ctx)
		if err != nil {
			return err
		}
		now, err := ledger.ReadCheckpoint(text)
		said["origin"], said["size"], said["root"] = now.Origin, now.Size, now.Hash.String()
		return err
	})
	return text, err
}

func logProveCommand(a *cli.App) *cobra.Command {
	var out, since string
	c := &cobra.Command{
		Use:   "prove BUNDLE|ID|INDEX",
		Short: "Prove that a slice, or any leaf, is in the ledger",
		Long: `Writes a proof (C2SP tlog-proof) for a bundle that was issued from this store, or for the leaf at an index;
the first index is 0. (Write ./7 for a bundle in a file whose name is a number.) A slice or a context may be
named by its id, or by a beginning of at least 4 characters that no other id shares and that is not a number.

With --since CHECKPOINT and no argument it writes a folder which proves that the ledger still begins with
the leaves of that checkpoint; graphkernel verify and graphkernel log verify read the folder.`,
		Example: `  graphkernel log prove slice.json -o slice.tlog-proof
  graphkernel log prove 012a7e264c1e98bd
  graphkernel log prove 0
  graphkernel log prove --since checkpoint.old -o history`,
		Args: cli.AtMostOneArg("BUNDLE, ID or INDEX"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case since != "" && len(args) == 0:
				return proveConsistency(a, c.Context(), since, out)
			case since == "" && len(args) == 1:
				return proveInclusion(a, c.Context(), args[0], out)
			}
			return cli.Usagef("log prove takes a BUNDLE, an ID, an INDEX, or --since CHECKPOINT")
		},
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		ids, _ := a.Stores.CompleteIssued("")(c, args, begin)
		return ids, cobra.ShellCompDirectiveDefault // or a file
	}
	c.Flags().StringVar(&since, "since", "", "an older checkpoint of this ledger")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write, or the folder with --since")
	return c
}

func proveInclusion(a *cli.App, ctx context.Context, what, out string) error {
	if err := a.Signing.NeedsIdentity(); err != nil {
		return err
	}
	index, err := strconv.ParseUint(what, 10, 64)
	byIndex := err == nil && len(what) < 16 // a whole id is not a number
	byID := !byIndex && isID(what)
	var data []byte
	switch {
	case byID:
	case !byIndex:
		if data, err = a.IO.ReadBundle(ctx, what); err != nil {
			return err
		}
	case index >= ledger.MaxSize:
		return cli.Usagef("INDEX is %d, a ledger has at most %d leaves", index, uint64(ledger.MaxSize))
	}
	said := map[string]any{}
	return a.IO.WriteSaying(out, "proof", said, func() (text []byte, err error) {
		err = a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
			switch {
			case byID:
				issued, err := cli.Issued(ctx, s, what)
				if err != nil {
					return err
				}
				index = issued.Leaf
			case !byIndex:
				if index, err = s.Ledger.Located(ctx, data); err != nil {
					return err
				}
			}
			proof, err := s.Ledger.Prove(ctx, index)
			if err != nil {
				return err
			}
			text = proof.Append(nil)
			checkpoint, err := ledger.ReadCheckpoint(proof.Checkpoint)
			said["origin"], said["index"], said["leaf"] = checkpoint.Origin, index, string(proof.Leaf)
			return err
		})
		return text, err
	})
}

func proveConsistency(a *cli.App, ctx context.Context, since, out string) error {
	if out == "" {
		return cli.Usagef("log prove --since needs -o FOLDER")
	}
	old, err := a.IO.ReadText(ctx, since, longestText)
	if err != nil {
		return err
	}
	before, err := ledger.ReadCheckpoint(old)
	if err != nil {
		return fmt.Errorf("%s: %w", since, err)
	}
	if err := a.Signing.NeedsIdentity(); err != nil {
		return err
	}
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		note, err := s.Ledger.Checkpoint(ctx)
		if err != nil {
			return err
		}
		now, err := ledger.ReadCheckpoint(note)
		if err != nil {
			return err
		}
		if before.Origin != now.Origin {
			return cli.Usagef("%s is a checkpoint of %s, this ledger is %s", since, before.Origin, now.Origin)
		}
		proof, err := s.Ledger.Consistency(ctx, before.Size, now.Root)
		if err == nil {
			err = now.CheckConsistency(before.Root, proof) // a log with another history at the old size cannot prove consistency
		}
		if err != nil {
			return err
		}
		if err := cli.WriteFolder(out, map[string][]byte{
			evidence.FileCheckpoint: note, evidence.FileOldCheckpoint: old, evidence.FileConsistency: ledger.FormatHashes(proof),
		}); err != nil {
			return err
		}
		return a.IO.Print(map[string]any{"folder": out, "old_size": before.Size, "size": now.Size}, func(w io.Writer) {
			fmt.Fprintf(w, "the ledger of %s begins with the %s of %s; the proof is in %s\n", cli.Count(now.Size, "leaf"), cli.Count(before.Size, "leaf"), since, out)
		})
	})
}

func logVerifyCommand(a *cli.App) *cobra.Command {
	flags := verifyFlags{}
	c := &cobra.Command{
		Use:   "verify FILE|FOLDER --trust FILE",
		Short: "Check a checkpoint, a proof, or a step from one checkpoint to another",
		Long: `Checks a checkpoint, a proof of inclusion with the leaf in it, or a folder that graphkernel log prove --since
wrote. It needs no store and no network.

Exit codes: 0 verified, 10 tampered, 11 key unknown, 13 not in the log, 14 log
inconsistent, 15 quorum not met, 20 malformed, 21 unknown version; 1 internal, 2 usage.`,
		Args: cli.OneArg("FILE or FOLDER"),
		RunE: func(c *cobra.Command, args []string) error {
			if flags.trust == "" {
				return cli.Usagef("log verify needs --trust FILE; graphkernel identity trust writes one")
			}
			flags.leaves = true
			return verify(a, c.Context(), args[0], &flags)
		},
	}
	c.Flags().StringVar(&flags.trust, "trust", "", "the trust file, which says whose signatures count")
	c.Flags().DurationVar(&flags.maxAge, "max-age", 0, "do not count cosignatures that are older than this, such as 1h; 0 is any age")
	cli.NoFiles(c, "max-age")
	return c
}

// A monitorFlags says how a log is watched.
type monitorFlags struct {
	trust, state string
	origin       string
	also         []string
	every        time.Duration
	maxAge       time.Duration
}

func logMonitorCommand(a *cli.App) *cobra.Command {
	var flags monitorFlags
	c := &cobra.Command{
		Use:   "monitor [URL] --trust FILE",
		Short: "Watch a log from outside: keep its checkpoint, and prove that it only grows",
		Long: `Asks for the log's checkpoint, checks who signed it, and proves with the log's own tiles that it continues
the checkpoint that was kept last. Then it keeps the new one. If the log shows another history than before,
or fewer leaves, the command says so loudly, keeps both checkpoints, and the exit code is 14. Fewer leaves,
as after a backup was put back, are no proof of two histories.

URL is where the log is served (…/log for a kernel; any C2SP tlog-tiles log will do). Without it the
ledger of the store is watched. GRAPHKERNEL_KEY holds an API key for a log that is not public. With
--every it looks again until it is stopped or finds something; otherwise it looks once, so that a timer
can run it.

--also compares with checkpoints or proofs that others got: if they were shown another history than you,
they hold the other half of the evidence.

Exit codes: 0 it continues, 10 tampered, 11 key unknown, 14 log inconsistent, 15 quorum
not met, 20 malformed, 1 not reachable, 2 usage.

With --output json, each look prints one object: {"origin","old_size","size","root","kept"}`,
		Example: `  graphkernel log monitor https://kernel.example/log --trust trust.policy --every 1m
  graphkernel log monitor --trust trust.policy --also slice.tlog-proof`,
		Args: cli.AtMostOneArg("URL"),
		RunE: func(c *cobra.Command, args []string) error {
			if flags.trust == "" {
				return cli.Usagef("log monitor needs --trust FILE; graphkernel identity trust writes one")
			}
			url := ""
			if len(args) == 1 {
				url = args[0]
			}
			return runMonitor(a, c.Context(), url, &flags)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&flags.trust, "trust", "", "the trust file, which says whose signatures count")
	c.Flags().StringVar(&flags.state, "state", "", "the folder in which the checkpoint is kept (default "+a.Settings.Abbreviate(monitorFolder(a))+")")
	c.Flags().StringVar(&flags.origin, "origin", "", "the log of the trust file that is watched (default: the tenant's)")
	c.Flags().StringSliceVar(&flags.also, "also", nil, "checkpoints or proofs that others got, to compare with")
	c.Flags().DurationVar(&flags.every, "every", 0, "look again after this time, such as 1m; 0 looks once")
	c.Flags().DurationVar(&flags.maxAge, "max-age", 0, "the oldest age at which cosignatures of the quorum are accepted, such as 1h; 0 is any age")
	_ = c.MarkFlagDirname("state") // the flag exists
	cli.NoFiles(c, "every", "max-age", "origin")
	return c
}

// keptFolder returns the folder in which checkpoints are kept: the named one, or else the user's own.
func keptFolder(a *cli.App, named string) string { return cli.First(named, monitorFolder(a)) }

func monitorFolder(a *cli.App) string {
	return cli.Below(a.Settings.Folder(userdir.State), "monitor")
}

func runMonitor(a *cli.App, ctx context.Context, url string, flags *monitorFlags) error {
	trust, err := a.IO.ReadTrust(ctx, flags.trust)
	if err != nil {
		return err
	}
	if len(trust.Logs) == 0 {
		return cli.Usagef("%s names no log", flags.trust)
	}
	if flags.every < 0 {
		return cli.Usagef("--every is %s, want a duration from 0 on", flags.every)
	}
	if err := checkMaxAge(flags.maxAge, trust); err != nil {
		return err
	}
	origin, err := originOf(a, trust, flags.trust, flags.origin)
	if err != nil {
		return err
	}
	folder := keptFolder(a, flags.state)
	if folder == "" {
		return cli.Usagef("no home folder to keep the checkpoint in; give --state")
	}
	watch := func(s monitor.Source) error { return watchLog(a, ctx, s, trust, origin, folder, flags) }
	if url != "" {
		if !cli.IsURL(url) {
			return cli.Usagef("URL is %q, want http://… or https://…", cli.WithoutPassword(url))
		}
		return watch(monitor.NewHTTP(&http.Client{Timeout: time.Minute}, url, a.Settings.Getenv("GRAPHKERNEL_KEY")))
	}
	if err := a.Signing.NeedsIdentity(); err != nil {
		return err
	}
	return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error { return watch(s.Ledger) })
}

// watchLog looks at the log once or, with an interval, repeatedly.
func watchLog(a *cli.App, ctx context.Context, s monitor.Source, trust *ledger.Trust, origin, folder string, flags *monitorFlags) error {
	for {
		err := lookAtLog(a, ctx, s, trust, origin, folder, flags)
		var split *monitor.Split
		found := errors.As(err, &split) || errors.Is(err, ledger.ErrInconsistent) && !errors.Is(err, monitor.ErrStale) || errors.Is(err, ledger.ErrSignature) || errors.Is(err, ledger.ErrOrigin)
		if err != nil && (flags.every == 0 || found) {
			return err
		}
		if flags.every == 0 {
			return nil
		}
		if err != nil { // unreachable, or too few witnesses: this may be temporary
			a.IO.Warn("graphkernel: %v", err)
		}
		timer := time.NewTimer(flags.every)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil // interruption is the usual end
		}
	}
}

// lookAtLog looks at the log once. If another program that shares the folder kept a checkpoint first, it looks again.
func lookAtLog(a *cli.App, ctx context.Context, s monitor.Source, trust *ledger.Trust, origin, folder string, flags *monitorFlags) error {
	for moves := 0; ; moves++ {
		err := compareLog(a, ctx, s, trust, origin, folder, flags)
		if !errors.Is(err, errKeptMoved) || moves == mostMoves {
			return err
		}
	}
}

func compareLog(a *cli.App, ctx context.Context, s monitor.Source, trust *ledger.Trust, origin, folder string, flags *monitorFlags) error {
	note, err := s.Checkpoint(ctx)
	if err != nil {
		return err
	}
	now, err := trust.Open(note)
	if err != nil {
		return err
	}
	if now.Origin != origin {
		return fmt.Errorf("%w: the log that is shown is %s, but the log to watch is %s", ledger.ErrOrigin, now.Origin, origin)
	}
	file := keptIn(folder, origin)
	kept, err := file.load()
	if err != nil {
		return err
	}
	step, err := monitor.Compare(ctx, s, trust, kept, note)
	if err != nil {
		return shout(a, file.path, withNotes(err, kept, note))
	}
	for _, other := range flags.also {
		if err := compareOther(a, ctx, s, trust, other, step, file.path); err != nil {
			return err
		}
	}
	if _, err := now.Quorum(since(a, flags.maxAge)); err != nil {
		return err // not kept: without a quorum, the log may have shown this checkpoint only to us
	}
	if err := file.replace(kept, note); err != nil {
		return err
	}
	return a.IO.Print(map[string]any{
		"origin": step.Origin, "old_size": step.Old.Size, "size": step.New.Size, "root": step.New.Hash.String(), "kept": file.path,
	}, func(w io.Writer) {
		if kept == nil {
			fmt.Fprintf(w, "%s has %s, root %s; kept in %s\n", step.Origin, cli.Count(step.New.Size, "leaf"), step.New.Hash, file.path)
			return
		}
		fmt.Fprintf(w, "%s has %s, which continue the %s seen before\n", step.Origin, cli.Count(step.New.Size, "leaf"), cli.Count(step.Old.Size, "leaf"))
	})
}

// since returns the time from which cosignatures count; the zero time means any.
func since(a *cli.App, maxAge time.Duration) time.Time {
	if maxAge == 0 {
		return time.Time{}
	}
	return a.Clock().Add(-maxAge)
}

// compareOther compares a checkpoint that somebody else got with the log.
func compareOther(a *cli.App, ctx context.Context, s monitor.Source, trust *ledger.Trust, file string, step *monitor.Step, path string) error {
	data, err := a.IO.ReadText(ctx, file, longestText)
	if err != nil {
		return err
	}
	if proof, err := ledger.ParseProof(data); err == nil {
		data = proof.Checkpoint
	}
	other, err := trust.Open(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	old, next := data, step.Note
	ahead := other.Size > step.New.Size // the log may have shown us an older checkpoint
	if ahead {
		old, next = step.Note, data
	}
	_, err = monitor.Compare(ctx, s, trust, old, next)
	if err != nil {
		return shout(a, path, withNotes(fmt.Errorf("%s: %w", file, err), old, next))
	}
	return nil
}

// withNotes adds two notes to the error of a log that does not show what it signed. They are kept as evidence, because their signer has to explain them.
func withNotes(err error, old, next []byte) error {
	if errors.Is(err, ledger.ErrInconsistent) && errors.Is(err, monitor.ErrAbsent) {
		return &monitor.Split{Old: old, New: next, Err: err}
	}
	return err
}

// between says how many leaves the two notes of a log have.
func between(split *monitor.Split) string {
	old, err := ledger.ReadCheckpoint(split.Old)
	now, newErr := ledger.ReadCheckpoint(split.New)
	if err != nil || newErr != nil {
		return ""
	}
	return fmt.Sprintf(" from %s to %d", cli.Count(old.Size, "leaf"), now.Size)
}

// shout keeps both checkpoints of a log that shows two histories, went back, or does not show leaves that it has signed, and returns an error that names them.
func shout(a *cli.App, path string, err error) error {
	var split *monitor.Split
	if !errors.As(err, &split) {
		return err
	}
	what := "THE LOG SHOWS TWO HISTORIES"
	switch {
	case errors.Is(err, monitor.ErrBack):
		what = "THE LOG WENT BACK" + between(split) + "; that proves two histories only if they do not continue each other"
	case errors.Is(err, monitor.ErrAbsent):
		what = "THE LOG DOES NOT SHOW LEAVES THAT IT HAS SIGNED"
	}
	stamp := a.Clock().UTC().Format("20060102T150405Z")
	for _, half := range []struct {
		name string
		note []byte
	}{{"old", split.Old}, {"new", split.New}} {
		file := fmt.Sprintf("%s.split-%s.%s", strings.TrimSuffix(path, ".checkpoint"), stamp, half.name)
		if failed := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), cli.ReplaceFile(file, half.note)); failed != nil {
			return errors.Join(err, failed)
		}
		a.IO.Warn("graphkernel: %s; kept as evidence: %s", what, render.Visible(file))
	}
	return err
}
