package storage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/transfer"
)

func backupCommand(a *cli.App) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the whole store into one new file, and check it",
		Long: `Writes a consistent copy of all tenants into a new SQLite file, while others go on writing to the store, checks
it as fsck does, and prints its SHA-256 and the head of each tenant. The file has mode 0600, appears when it is
complete, and can be used as a store. It holds all texts, and hashes of the API keys. The keyring is not in it.
A text that is erased later stays in it.

--force replaces an existing file, unless it is the store itself or somebody has it open as a store.`,
		Example: `  graphkernel backup monday.db
  graphkernel --store postgres: backup monday.db --force`,
		Args: cli.OneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return backup(a, c.Context(), args[0], force) },
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return c
}

func restoreCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Copy a backup back into an empty store, and check it",
		Long: `Checks a file that graphkernel backup wrote, copies all of it into the store, which must be empty or hold a
part of the same data, checks the store, and compares the heads and the counts of both. To continue an
interrupted restore, run it again; it first reads and compares the data that is there.

Afterwards the store is as it was at the backup. Texts that were erased after the backup are back: erase them
again. API keys that were revoked after it are valid again: revoke them before the service runs on the store.

The ledger is as it was, too. If slices were issued after the backup and their checkpoints were handed out,
the next issued slice makes a second history under the same name, and monitors and witnesses will report that,
for good. The same happens with a service that keeps running on the old store: stop it first, or try the
restored store with other files for --identity and --keys.

Then restore a newer copy, or give the restored kernel a new identity (graphkernel identity init with another
name). The checkpoints that the store has cosigned as a witness are as old as well: give a witness a new
identity.`,
		Example: `  graphkernel --store sqlite:new.db restore monday.db
  graphkernel --store postgres://localhost/graphkernel restore monday.db`,
		Args: cli.OneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return restore(a, c.Context(), args[0]) },
	}
}

// A BackupJSON describes a backup, as --output json prints it.
type BackupJSON struct {
	File    string       `json:"file"`
	SHA256  string       `json:"sha256"`
	Bytes   int64        `json:"bytes"`
	Tenants []tenantJSON `json:"tenants"`
	Check   *fsckJSON    `json:"check"`
}

// wholeStore refuses --tenant for a command that works on a whole store.
func wholeStore(a *cli.App, command string) error {
	if a.Settings.TenantFlag != "" {
		return cli.Usagef("%s copies all tenants; for a single tenant use: graphkernel copy --tenant %s", command, a.Settings.TenantFlag)
	}
	return nil
}

func backup(a *cli.App, ctx context.Context, path string, force bool) (err error) {
	if err := wholeStore(a, "backup"); err != nil {
		return err
	}
	target, err := backupTarget(a, ctx, path, force)
	if err != nil {
		return err
	}
	from, err := a.Stores.OpenStore(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	defer cli.CloseStore(from, &err)
	if damaged := fsck.Database(ctx, from, fsck.Options{}); !damaged.OK() { // a copy of the readable part would look complete
		err = a.IO.Print(BackupJSON{File: path, Tenants: []tenantJSON{}, Check: fsckResult(&damaged)}, func(w io.Writer) { printReport(w, &damaged) })
		if err == nil {
			a.IO.Warn("the store is damaged and was not copied; check it with graphkernel fsck, and restore an older backup to get intact data back")
			err = cli.Finish(api.ExitDamaged)
		}
		return err
	}
	folder := filepath.Dir(target)
	sqlite.RemoveDead(ctx, folder) // files of backups that were killed
	beside := sqlite.Temporary(folder)
	defer func() { // after a success, the file has another name
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(beside + suffix)
		}
	}()
	to, err := sqlite.Create(ctx, beside, sqlite.Options{})
	if err != nil {
		return cli.CannotWrite(path, err)
	}
	reports, report, err := backupInto(a, ctx, to, from)
	if err != nil {
		return err
	}
	result := BackupJSON{File: path, Tenants: tenantsResult(reports), Check: fsckResult(&report)}
	if report.OK() {
		if result.SHA256, result.Bytes, err = settle(beside); err != nil {
			return cli.CannotWrite(path, err)
		}
		if err := TakePlace(ctx, beside, target, force); err != nil {
			return cli.CannotWrite(path, err)
		}
	}
	err = a.IO.Print(result, func(w io.Writer) {
		printReport(w, &report)
		if !report.OK() {
			return
		}
		for _, r := range reports {
			fmt.Fprintf(w, "tenant %s: head %d, issued slices %d\n", r.Name, r.Head, r.Record[issued.Kind].Copied)
		}
		fmt.Fprintf(w, "%s  %s\n", result.SHA256, path)
	})
	if err == nil {
		warnIfEmpty(a, reports)
	}
	if err == nil && !report.OK() {
		a.IO.Warn("the copy is damaged and was not kept; check the store itself with graphkernel fsck")
		err = cli.Finish(api.ExitDamaged)
	}
	return err
}

// backupTarget returns the path of a backup's file: path itself, or the target of the link at path if that file may be replaced. An error is reported before
// the work begins.
func backupTarget(a *cli.App, ctx context.Context, path string, force bool) (target string, _ error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = noLog(path)
	}
	switch {
	case err != nil:
		return "", cli.CannotWrite(path, err)
	case info == nil:
		return path, nil
	case !info.Mode().IsRegular():
		return "", cli.Usagef("%s is no regular file", path)
	case cli.SameStore("sqlite:"+path, a.Settings.StoreName()):
		return "", cli.Usagef("%s is the store itself", path)
	case !force:
		return "", cli.Usagef("%s is there already; --force replaces it", path)
	}
	hold, err := sqlite.HoldFile(ctx, path, time.Second)
	if err == nil {
		err = hold.Release() // a backup can take hours, and others may read the file meanwhile
	}
	if err == nil {
		target, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", cli.CannotWrite(path, inUse(err))
	}
	return target, nil
}

// noLog refuses a path if a log beside it would be applied by SQLite to a new file.
func noLog(path string) error {
	for _, suffix := range []string{"-wal", "-journal"} {
		if log, err := os.Stat(path + suffix); err == nil && log.Size() > 0 {
			return fmt.Errorf("%s%s is left over from a store that is gone; remove it", path, suffix)
		}
	}
	return nil
}

func inUse(err error) error {
	if errors.Is(err, store.ErrBusy) {
		return fmt.Errorf("the file is in use as a store: %w", err)
	}
	return err
}

// replaceWait is how long a finished backup waits for readers of the file that it replaces.
const replaceWait = 10 * time.Second

// TakePlace gives a finished file its name. An existing file with this name must not be in use, because later writes of its user would be lost: TakePlace
// holds its lock until the file is replaced.
func TakePlace(ctx context.Context, from, to string, force bool) error {
	switch _, err := os.Stat(to); {
	case err == nil && !force:
		return fmt.Errorf("the file was made meanwhile: %w", fs.ErrExist)
	case err == nil:
		hold, err := sqlite.HoldFile(ctx, to, replaceWait)
		if err != nil {
			return inUse(err)
		}
		if err := errors.Join(hold.Replace(ctx, from), hold.Release()); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if err := noLog(to); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	if folder, err := os.Open(filepath.Dir(to)); err == nil { // on systems where folders cannot be synced, the file system does it
		_ = folder.Sync()
		_ = folder.Close()
	}
	return nil
}

// backupInto copies a store into a new one, checks the copy and closes it.
func backupInto(a *cli.App, ctx context.Context, to, from store.Store) (reports []transfer.Tenant, report fsck.Report, err error) {
	defer cli.CloseStore(to, &err)
	if reports, err = copyAll(a, ctx, to, from, nil); err != nil {
		return nil, report, err
	}
	report, err = checkStore(a, ctx, to, nil, fsck.DefaultFindings)
	return reports, report, err
}

// settle makes a finished file durable, and computes its digest.
func settle(path string) (sum string, size int64, err error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return "", 0, fmt.Errorf("its write-ahead log was not emptied")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", 0, err
	}
	digest := sha256.New()
	size, err = io.Copy(digest, f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return dag.Digest(digest.Sum(nil)).String(), size, err
}

func restore(a *cli.App, ctx context.Context, path string) (err error) {
	if err := wholeStore(a, "restore"); err != nil {
		return err
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return cli.Usagef("%s is no file; restore takes one that backup wrote", path)
	}
	if cli.SameStore("sqlite:"+path, a.Settings.StoreName()) {
		return cli.Usagef("%s is the store itself", path)
	}
	from, err := a.Stores.OpenNamed(ctx, "sqlite:"+path, cli.ToRead)
	if err != nil {
		return err
	}
	defer cli.CloseStore(from, &err)
	before, err := checkStore(a, ctx, from, nil, fsck.DefaultFindings)
	if err != nil {
		return err
	}
	if !before.OK() {
		if err := a.IO.Print(fsckResult(&before), func(w io.Writer) { printReport(w, &before) }); err != nil {
			return err
		}
		a.IO.Warn("%s is damaged, and nothing was restored", path)
		return cli.Finish(api.ExitDamaged)
	}
	to, err := a.Stores.OpenStore(ctx, cli.ToMake)
	if err != nil {
		return err
	}
	defer cli.CloseStore(to, &err)
	if err := onlyTenants(ctx, to, before.Heads); err != nil {
		return err
	}
	reports, err := copyAll(a, ctx, to, from, nil)
	result := copyJSON{Tenants: tenantsResult(reports)}
	if err != nil {
		return cutShort(a, result, reports, err)
	}
	after, err := checkStore(a, ctx, to, nil, fsck.DefaultFindings)
	if err != nil {
		return fmt.Errorf("everything is restored, but could not be checked: %w", err)
	}
	if after.OK() && (after.Counts != before.Counts || !maps.Equal(after.Heads, before.Heads)) {
		return fmt.Errorf("the store has %+v at heads %v, but the file has %+v at heads %v; another program writes to the store", after.Counts, after.Heads, before.Counts, before.Heads)
	}
	result.Check = fsckResult(&after)
	result.ExitCode = result.Check.ExitCode
	err = a.IO.Print(result, func(w io.Writer) {
		printCopied(w, reports)
		printReport(w, &after)
		if after.OK() {
			fmt.Fprintln(w, "heads and counts are the same as in the file")
		}
	})
	if err != nil {
		return err
	}
	a.IO.Warn("the store is as it was at the backup: API keys that were revoked after it are live again, and texts that were erased after it are back. " +
		"Revoke them (graphkernel apikey list, apikey revoke) before the service runs on the store, and erase them again (graphkernel erase).")
	a.IO.Warn("The ledger is also as it was at the backup: if the store that was backed up is still in use, or signed anything since, this store signs a second history under the same name, which witnesses and monitors report. " +
		"Stop the service on the other store before this one signs. To try it beside a live service, give every command other --identity and --keys files (graphkernel identity init --identity FILE).")
	return cli.Finish(result.ExitCode)
}

// onlyTenants refuses a store with tenants that a backup does not contain.
func onlyTenants(ctx context.Context, s store.Store, known map[dag.Tenant]dag.Seq) error {
	names, err := transfer.Tenants(ctx, s)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(names, func(name dag.Tenant) bool { _, ok := known[name]; return !ok })
	if at >= 0 {
		return fmt.Errorf("%w: the store has tenant %s, but the backup does not; restore wants an empty store", transfer.ErrDiffers, names[at])
	}
	return nil
}
