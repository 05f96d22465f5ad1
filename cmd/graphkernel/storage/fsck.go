package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/transfer"
)

func fsckCommand(a *cli.App) *cobra.Command {
	var most int
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check a store: recompute everything in it that can be derived",
		Long: `Reads everything that a store holds, of every tenant unless --tenant names one, and recomputes what can be
derived: the digest of every text, the leaf of every turn and edge, sequence numbers without a gap,
conversations, links, external ids, the effect of every act of knowledge and both edges of each fact, the
hashes of policies, and the whole tree of the ledger, in which every issued slice, policy, erasure and API key
must have its leaf.

Every slice that was issued is cut again, and its six provenance fields are compared. The check needs no keys,
changes nothing, and may run while others write.

Exit codes: 0 all is in order, 18 something does not fit; 1 internal, 2 usage.`,
		Example: `  graphkernel fsck
  graphkernel fsck --store sqlite:copy.db --tenant acme`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runFsck(a, c.Context(), most) },
	}
	c.Flags().IntVar(&most, "findings", fsck.DefaultFindings, "the most findings to list; further ones are counted")
	cli.NoFiles(c, "findings")
	return c
}

type fsckJSON struct {
	OK bool `json:"ok"`
	*fsck.Report
	ExitCode int `json:"exit_code,omitempty"`
}

func fsckResult(r *fsck.Report) *fsckJSON {
	shown := *r
	shown.Findings = append([]fsck.Finding{}, r.Findings...)
	j := &fsckJSON{OK: r.OK(), Report: &shown}
	if shown.Heads == nil {
		shown.Heads = map[dag.Tenant]dag.Seq{}
	}
	if !j.OK {
		j.ExitCode = api.ExitDamaged
	}
	return j
}

func runFsck(a *cli.App, ctx context.Context, most int) (err error) {
	if most < 1 {
		return cli.Usagef("--findings is %d, want at least 1", most)
	}
	s, err := a.Stores.OpenStore(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	defer cli.CloseStore(s, &err)
	tenants, err := chosenTenants(a, ctx, s)
	if err != nil {
		return err
	}
	report, err := checkStore(a, ctx, s, tenants, most)
	if err != nil {
		return err
	}
	if err := checkHistory(a, ctx, s, &report, most); err != nil {
		return err
	}
	if err := a.IO.Print(fsckResult(&report), func(w io.Writer) { printReport(w, &report) }); err != nil {
		return err
	}
	if !report.OK() {
		return cli.Finish(api.ExitDamaged)
	}
	return nil
}

// checkHistory adds a finding for each tenant whose ledger is not the history that the identity has signed. For the chosen tenant it also adds one if the
// store has no ledger at all, as happens if a file is copied without its log.
func checkHistory(a *cli.App, ctx context.Context, s store.Store, r *fsck.Report, most int) error {
	id, err := a.Signing.Identity()
	if err != nil {
		return err
	}
	h := a.Signing.History(id)
	if h == nil {
		return nil
	}
	tenants := slices.Sorted(maps.Keys(r.Heads))
	if chosen, err := a.Settings.Tenant(); err == nil && !slices.Contains(tenants, chosen) {
		tenants = append(tenants, chosen)
	}
	for _, tenant := range tenants {
		last, ok, err := h.Last(id.Origin(tenant))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		err = notary.Continues(ctx, s, tenant, last)
		if errors.Is(err, notary.ErrForked) {
			if r.Found++; len(r.Findings) < most {
				r.Findings = append(r.Findings, fsck.Finding{Tenant: tenant, Where: "ledger", Rule: "history", Detail: err.Error()})
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// chosenTenants returns the tenant that --tenant names, which must exist in the store, or nil for all tenants. The environment variable is ignored here:
// commands about a store apply to all of it unless a part is requested explicitly.
func chosenTenants(a *cli.App, ctx context.Context, s store.Store) ([]dag.Tenant, error) {
	if a.Settings.TenantFlag == "" {
		return nil, nil
	}
	tenant, err := a.Settings.Tenant()
	if err != nil {
		return nil, err
	}
	all, err := transfer.Tenants(ctx, s)
	if err == nil && !slices.Contains(all, tenant) {
		err = fmt.Errorf("tenant %s: %w: this store has nothing of this tenant", tenant, store.ErrNotFound)
	}
	return []dag.Tenant{tenant}, err
}

// checkStore runs the checker over some tenants, nil for all.
func checkStore(a *cli.App, ctx context.Context, s store.Store, tenants []dag.Tenant, most int) (fsck.Report, error) {
	bar := a.IO.Counting("checking")
	defer bar.Stop()
	o := fsck.Options{Findings: most, Progress: func(p fsck.Progress) {
		bar.Say(fmt.Sprintf("checking %s: %s", p.Tenant, p.Stage))
		bar.Update(p.Done, p.Total)
	}}
	if tenants == nil {
		return fsck.Store(ctx, s, o)
	}
	return fsck.Tenant(ctx, s, tenants[0], o)
}

func printReport(w io.Writer, r *fsck.Report) {
	if len(r.Findings) > 0 {
		t := cli.NewTable(w, "tenant", "where", "rule", "finding")
		for _, f := range r.Findings {
			t.AppendRow([]any{f.Tenant, render.OneLine(f.Where, 80), f.Rule, render.OneLine(f.Detail, 300)})
		}
		t.Render()
	}
	c := &r.Counts
	fmt.Fprintf(w, "checked: turns %d, edges %d, conversations %d, texts %d, events %d, entries %d, policies %d, issued slices %d (cut again %d), API keys %d, ledger leaves %d, tenants %d\n",
		c.Turns, c.Edges, c.Conversations, c.Bodies, c.Events, c.Entries, c.Policies, c.Issued, c.Recut, c.Keys, c.Leaves, c.Tenants)
	switch {
	case r.OK() && c.Tenants == 0:
		fmt.Fprintln(w, "the store is empty. If it is a copy of a file that was in use, the data is in the other file, whose name ends with -wal; copy both files, or run graphkernel backup")
	case r.OK():
		fmt.Fprintln(w, "all is in order")
	case r.Found > len(r.Findings):
		fmt.Fprintf(w, "%d findings; the first %d are listed\n", r.Found, len(r.Findings))
	default:
		fmt.Fprintln(w, cli.Count(r.Found, "finding"))
	}
}
