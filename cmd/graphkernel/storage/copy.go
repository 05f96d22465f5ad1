package storage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/transfer"
)

func copyCommand(a *cli.App) *cobra.Command {
	var to string
	var unchecked bool
	c := &cobra.Command{
		Use:   "copy --to STORE",
		Short: "Copy a store into another, under the same numbers",
		Long: `Copies everything that the store holds, of every tenant unless --tenant names one: turns, erasures and acts of
knowledge under the same numbers, policies, the record of issued slices, and hashes of API keys. Every slice
that was issued can be replayed from the copy. The copy is then checked as fsck does.

Others may write to the store meanwhile; the copy ends where each tenant was when the command began. Copying
again adds what is new, and continues an interrupted copy. The data that the copy already holds must be the
same, otherwise nothing is written; so all of it is read first, in the store and in the copy. Nobody else may
write to the copy meanwhile.`,
		Example: `  graphkernel copy --to postgres://localhost/graphkernel
  graphkernel copy --store postgres: --to sqlite:copy.db --tenant acme`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return copyTo(a, c.Context(), to, !unchecked) },
	}
	c.Flags().StringVar(&to, "to", "", "the store to copy into, as for --store (required); it is made if there is none")
	c.Flags().BoolVar(&unchecked, "no-check", false, "do not check the copy")
	cli.NoFiles(c, "to")
	return c
}

type copyJSON struct {
	Tenants  []tenantJSON `json:"tenants"`
	Check    *fsckJSON    `json:"check,omitempty"`
	Error    string       `json:"error,omitempty"`
	ExitCode int          `json:"exit_code,omitempty"`
}

type tenantJSON struct {
	Tenant   string        `json:"tenant"`
	Head     uint64        `json:"head"`
	Turns    copyCountJSON `json:"turns"`
	Events   copyCountJSON `json:"events"`
	Entries  copyCountJSON `json:"entries"`
	Policies copyCountJSON `json:"policies"`
	Issued   copyCountJSON `json:"issued"`
	Keys     copyCountJSON `json:"keys"`
}

type copyCountJSON struct {
	Copied   int `json:"copied"`
	Existing int `json:"existing"`
}

func tenantsResult(reports []transfer.Tenant) []tenantJSON {
	list := make([]tenantJSON, len(reports))
	for i := range reports {
		r := &reports[i]
		list[i] = tenantJSON{
			string(r.Name), uint64(r.Head), copyCountJSON(r.Turns), copyCountJSON(r.Events), copyCountJSON(r.Entries),
			copyCountJSON(r.Record[registry.Kind]), copyCountJSON(r.Record[issued.Kind]), copyCountJSON(r.Record[apikeys.Created]),
		}
	}
	return list
}

func copyTo(a *cli.App, ctx context.Context, to string, check bool) (err error) {
	switch {
	case to == "":
		return cli.Usagef("copy needs --to STORE")
	case cli.SameStore(to, a.Settings.StoreName()):
		return cli.Usagef("--to is the store itself, %s", cli.WithoutPassword(to))
	}
	from, err := a.Stores.OpenStore(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	defer cli.CloseStore(from, &err)
	tenants, err := chosenTenants(a, ctx, from)
	if err != nil {
		return err
	}
	target, err := a.Stores.OpenNamed(ctx, to, cli.ToMake)
	if err != nil {
		return fmt.Errorf("the store to copy into: %w", err)
	}
	defer cli.CloseStore(target, &err)
	reports, err := copyAll(a, ctx, target, from, tenants)
	result := copyJSON{Tenants: tenantsResult(reports)}
	if err != nil {
		return cutShort(a, result, reports, err)
	}
	var report *fsck.Report
	if check {
		r, err := checkStore(a, ctx, target, tenants, fsck.DefaultFindings)
		if err != nil {
			return fmt.Errorf("everything is copied, but could not be checked: %w", err)
		}
		report, result.Check = &r, fsckResult(&r)
		result.ExitCode = result.Check.ExitCode
	}
	err = a.IO.Print(result, func(w io.Writer) {
		printCopied(w, reports)
		if report != nil {
			printReport(w, report)
		}
	})
	if err != nil {
		return err
	}
	warnIfEmpty(a, reports)
	return cli.Finish(result.ExitCode)
}

// warnIfEmpty warns of a store without turns that was copied: it may be another than the one that was meant.
func warnIfEmpty(a *cli.App, reports []transfer.Tenant) {
	turns := 0
	for i := range reports {
		turns += reports[i].Turns.Copied + reports[i].Turns.Existing
	}
	if turns == 0 {
		a.IO.Warn("graphkernel: the store that was copied, %s, has no turns; if another was meant, name it with --store, or with GRAPHKERNEL_STORE", cli.WithoutPassword(a.Settings.StoreName()))
	}
}

// copyAll copies a store and shows a progress bar.
func copyAll(a *cli.App, ctx context.Context, to, from store.Store, tenants []dag.Tenant) ([]transfer.Tenant, error) {
	bar := a.IO.Counting("copying")
	defer bar.Stop()
	says := func(doing string) func(dag.Tenant, dag.Seq, dag.Seq) {
		return func(tenant dag.Tenant, done, total dag.Seq) {
			bar.Say(doing + " " + string(tenant))
			bar.Update(int64(done), int64(total))
		}
	}
	return transfer.Copy(ctx, to, from, transfer.Options{Tenants: tenants, Progress: says("copying"), Compared: says("comparing")})
}

// cutShort reports a copy that failed. The data that was copied before stays; the counts are printed with the error, as import does.
func cutShort(a *cli.App, result copyJSON, reports []transfer.Tenant, err error) error {
	turns, entries := 0, 0
	for i := range reports {
		turns += reports[i].Turns.Copied
		entries += reports[i].Entries.Copied
	}
	if turns+entries == 0 {
		return err
	}
	if a.IO.Output != "json" {
		a.IO.Note("%s and %s copied before this; copying again continues from there", cli.Count(turns, "turn"), cli.Was(entries, "entry"))
		return err
	}
	result.Error, result.ExitCode = err.Error(), cli.ExitCode(err)
	if errors.Is(err, context.Canceled) {
		result.Error, result.ExitCode = cli.ErrInterrupted.Error(), api.ExitInternal
	}
	if err := a.IO.PrintJSON(result); err != nil {
		return err
	}
	a.IO.Warn("graphkernel: %s", result.Error)
	return cli.Finish(result.ExitCode)
}

func printCopied(w io.Writer, reports []transfer.Tenant) {
	for i := range reports {
		r := &reports[i]
		fmt.Fprintf(w, "tenant %s: copied turns %d, events %d, entries %d, policies %d, issued slices %d, API keys %d; there already: turns %d, events %d, entries %d, issued slices %d; head %d\n",
			r.Name, r.Turns.Copied, r.Events.Copied, r.Entries.Copied, r.Record[registry.Kind].Copied, r.Record[issued.Kind].Copied, r.Record[apikeys.Created].Copied,
			r.Turns.Existing, r.Events.Existing, r.Entries.Existing, r.Record[issued.Kind].Existing, r.Head)
	}
}
