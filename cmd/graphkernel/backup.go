package main

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

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/transfer"
)

func (a *app) backupCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the whole store into one new file, and check it",
		Long: `Writes a consistent copy of all tenants into a new SQLite file, while others go on
writing to the store, checks it as fsck does, and prints its SHA-256 and the head of
each tenant. The file has mode 0600 and appears when it is complete; it can be used as
a store. It holds all texts, and hashes of the API keys. The keyring is not in it.`,
		Example: `  graphkernel backup monday.db
  graphkernel --store postgres: backup monday.db --force`,
		Args: oneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.backup(c.Context(), args[0], force) },
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it is there")
	return c
}

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Bring a backup back into an empty store, and check it",
		Long: `Checks a file that backup wrote, copies all of it into the store, which must be empty
or hold a part of the same, checks the store, and compares the heads and the counts of
both. A restore that was cut short is taken up by running it again. Texts that were
erased after the backup are in the file, and so come back: erase them again.`,
		Example: `  graphkernel --store sqlite:new.db restore monday.db
  graphkernel --store postgres://localhost/graphkernel restore monday.db`,
		Args: oneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.restore(c.Context(), args[0]) },
	}
}

type backupJSON struct {
	File    string       `json:"file"`
	SHA256  string       `json:"sha256"`
	Bytes   int64        `json:"bytes"`
	Tenants []tenantJSON `json:"tenants"`
	Check   *fsckJSON    `json:"check"`
}

// wholeStore refuses --tenant for what is done with a whole store.
func (a *app) wholeStore(command string) error {
	if a.tenantFlag != "" {
		return usagef("%s takes all tenants; for one there is: graphkernel copy --tenant %s", command, a.tenantFlag)
	}
	return nil
}

func (a *app) backup(ctx context.Context, path string, force bool) (err error) {
	if err := a.wholeStore("backup"); err != nil {
		return err
	}
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return usagef("%s is no regular file", path)
	case err == nil && !force:
		return usagef("%s is there already; --force replaces it", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return cannotWrite(path, err)
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 { // SQLite would apply it to the new file
		return fmt.Errorf("cannot write %s: it is in use as a store, or its process was killed: there is %s-wal", path, path)
	}
	from, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer closeStore(from, &err)
	beside, err := os.CreateTemp(filepath.Dir(path), ".graphkernel-*.db") // mode 0600; an empty file is a new store
	if err != nil {
		return cannotWrite(path, err)
	}
	defer func() { // when all went well it has another name
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(beside.Name() + suffix)
		}
	}()
	if err := beside.Close(); err != nil {
		return cannotWrite(path, err)
	}
	reports, report, err := a.backupInto(ctx, beside.Name(), from)
	if err != nil {
		return err
	}
	result := backupJSON{File: path, Tenants: tenantsResult(reports), Check: fsckResult(&report)}
	if report.OK() {
		if result.SHA256, result.Bytes, err = settle(beside.Name(), path); err != nil {
			return cannotWrite(path, err)
		}
	}
	err = a.print(result, func(w io.Writer) {
		printReport(w, &report)
		if !report.OK() {
			return
		}
		for _, r := range reports {
			fmt.Fprintf(w, "tenant %s: head %d, issued slices %d\n", r.Name, r.Head, r.Issued.Copied)
		}
		fmt.Fprintf(w, "%s  %s\n", result.SHA256, path)
	})
	if err == nil && !report.OK() {
		a.note("the copy is not in order, and was not kept; graphkernel fsck looks at the store itself")
		err = finish(exitDamaged)
	}
	return err
}

// backupInto copies a store into an empty file and checks it.
func (a *app) backupInto(ctx context.Context, path string, from store.Store) (reports []transfer.Tenant, report fsck.Report, err error) {
	to, err := openNamed(ctx, "sqlite:"+path, false)
	if err != nil {
		return nil, report, err
	}
	defer closeStore(to, &err)
	if reports, err = a.transfer(ctx, to, from, nil); err != nil {
		return nil, report, err
	}
	report, err = a.check(ctx, to, nil, fsck.DefaultFindings)
	return reports, report, err
}

// settle makes a finished file durable under its name, and digests it.
func settle(from, to string) (sum string, size int64, err error) {
	if info, err := os.Stat(from + "-wal"); err == nil && info.Size() > 0 {
		return "", 0, fmt.Errorf("its log was not emptied")
	}
	f, err := os.OpenFile(from, os.O_RDWR, 0)
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
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		return "", 0, err
	}
	if folder, err := os.Open(filepath.Dir(to)); err == nil { // where folders cannot be synced the file system does
		_ = folder.Sync()
		_ = folder.Close()
	}
	return dag.Digest(digest.Sum(nil)).String(), size, nil
}

func (a *app) restore(ctx context.Context, path string) (err error) {
	if err := a.wholeStore("restore"); err != nil {
		return err
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return usagef("%s is no file; restore takes one that backup wrote", path)
	}
	if "sqlite:"+path == a.storeName() {
		return usagef("%s is the store itself", path)
	}
	from, err := openNamed(ctx, "sqlite:"+path, false)
	if err != nil {
		return err
	}
	defer closeStore(from, &err)
	before, err := a.check(ctx, from, nil, fsck.DefaultFindings)
	if err != nil {
		return err
	}
	if !before.OK() {
		if err := a.print(fsckResult(&before), func(w io.Writer) { printReport(w, &before) }); err != nil {
			return err
		}
		a.note("%s is not in order, and nothing was restored", path)
		return finish(exitDamaged)
	}
	to, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	defer closeStore(to, &err)
	if err := onlyTenants(ctx, to, before.Heads); err != nil {
		return err
	}
	reports, err := a.transfer(ctx, to, from, nil)
	result := copyJSON{Tenants: tenantsResult(reports)}
	if err != nil {
		return a.cutShort(result, reports, err)
	}
	after, err := a.check(ctx, to, nil, fsck.DefaultFindings)
	if err != nil {
		return fmt.Errorf("all is restored, and could not be checked: %w", err)
	}
	if after.OK() && (after.Counts != before.Counts || !maps.Equal(after.Heads, before.Heads)) {
		return fmt.Errorf("the store has %+v at heads %v, and the file %+v at heads %v; somebody else writes to the store", after.Counts, after.Heads, before.Counts, before.Heads)
	}
	result.Check = fsckResult(&after)
	result.ExitCode = result.Check.ExitCode
	err = a.print(result, func(w io.Writer) {
		printCopied(w, reports)
		printReport(w, &after)
		if after.OK() {
			fmt.Fprintln(w, "heads and counts are those of the file")
		}
	})
	if err != nil {
		return err
	}
	return finish(result.ExitCode)
}

// onlyTenants refuses a store that holds tenants which a backup does not have.
func onlyTenants(ctx context.Context, s store.Store, known map[dag.Tenant]dag.Seq) error {
	names, err := transfer.Tenants(ctx, s)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(names, func(name dag.Tenant) bool { _, ok := known[name]; return !ok })
	if at >= 0 {
		return fmt.Errorf("%w: it has tenant %s, and the backup has not; restore wants an empty store", transfer.ErrDiffers, names[at])
	}
	return nil
}
