package signing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
)

func identityCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "identity",
		Short: "Make and show the keys that sign for third parties",
		Long: `A token convinces only those who share its secret. An identity convinces everybody: it has a name and private
keys, in a file of mode 0600, which sign checkpoints of the ledger and attestations of bundles. A verifier
needs a trust file with the public keys, which graphkernel identity trust writes.

The name is permanent: each tenant's ledger is called TENANT.NAME. The log's key does not rotate, because it
is the log's identity; the attestation key does.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	var name, url, out string
	initialise := &cobra.Command{
		Use:     "init",
		Short:   "Make an identity with random keys",
		Example: "  graphkernel identity init --name kernel.example",
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return changeIdentity(a, func(id identity.Identity, exists bool, now dag.Time) (identity.Identity, error) {
				if exists {
					return id, fs.ErrExist
				}
				given := name
				if given == "" {
					var err error
					if given, err = cli.DrawName("kernel-"); err != nil {
						return id, err
					}
				}
				return identity.New(nil, given, now)
			})
		},
	}
	initialise.Flags().StringVar(&name, "name", "", "the kernel's name, a host name that you own (default: a random name that ends in .invalid)")
	rotate := &cobra.Command{
		Use:   "rotate",
		Short: "Make a new attestation key and stop signing with the old one",
		Long: `Makes a new attestation key, and destroys the private half of the old one. Attestations that the old key
signed can still be verified: hand out the trust file again, which lists both keys with the times in which
they sign.`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return changeIdentity(a, func(id identity.Identity, exists bool, now dag.Time) (identity.Identity, error) {
				if !exists {
					return id, fs.ErrNotExist
				}
				return id.Rotate(nil, now)
			}, takesOver, "Auditors need the trust file that lists the new key: graphkernel identity trust")
		},
	}
	show := &cobra.Command{
		Use:   "show",
		Short: "Show the name and the public keys",
		Args:  cli.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return showIdentity(a) },
	}
	trust := &cobra.Command{
		Use:   "trust",
		Short: "Write the trust file for a tenant's evidence",
		Long: `Writes the file that verifiers need: the tenant's log and the attestation keys. Give it to them by another
way than the evidence. Add witnesses and a quorum to it with lines in the form of C2SP tlog-policy:

  witness NAME VKEY [URL]
  group NAME any|all|K NAME…
  quorum NAME`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if url != "" && (!cli.IsURL(url) || strings.ContainsFunc(url, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })) {
				return cli.Usagef("--url is %q, want http://… or https://…", url)
			}
			id, tenant, err := somebodyFor(a)
			if err != nil {
				return err
			}
			return a.IO.WriteSaying(out, "trust", map[string]any{}, func() ([]byte, error) { return id.Trust(tenant, url) })
		},
	}
	adopt := &cobra.Command{
		Use:   "adopt",
		Short: "Accept this store's history as the one that the identity continues",
		Long: `An identity is bound to the history that it signed: each tenant's ledger may only grow. A store that does not
continue this history is refused. So is a store if a witness reports that it has cosigned another history:
that means a second store under the same identity, or a store that was restored from an older backup.

This command makes the store's ledger, as it is, the history that the identity continues. Anyone who kept a
checkpoint of the other one will see two histories under one name, and can prove it. If you do not want that,
restore the store that was signed, or make an identity for this store: graphkernel identity init --identity
FILE.`,
		Example: "  graphkernel identity adopt --store sqlite:restored.db",
		Args:    cli.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return adoptHistory(a, c.Context()) },
	}
	trust.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	trust.Flags().StringVar(&url, "url", "", "the URL of the log, for those who monitor it")
	cli.NoFiles(initialise, "name")
	cli.NoFiles(trust, "url")
	c.AddCommand(initialise, show, rotate, trust, adopt)
	return c
}

func somebodyFor(a *cli.App) (identity.Identity, dag.Tenant, error) {
	id, err := a.Signing.Somebody()
	if err != nil {
		return id, "", err
	}
	tenant, err := a.Settings.Tenant()
	return id, tenant, err
}

type rootJSON struct {
	Size   uint64 `json:"size"`
	Root   string `json:"root"`
	Forked string `json:"forked,omitempty"`
}

func rootOf(r ledger.Root) rootJSON { return rootJSON{Size: r.Size, Root: dag.Digest(r.Hash).String()} }

func adoptHistory(a *cli.App, ctx context.Context) (err error) {
	if a.Settings.Dev {
		return cli.Usagef("--dev uses an identity of this run only, which is bound to no history; leave out --dev")
	}
	id, tenant, err := somebodyFor(a)
	if err != nil {
		return err
	}
	s, err := a.Stores.OpenStore(ctx, cli.ToWrite)
	if err != nil {
		return err
	}
	defer cli.CloseStore(s, &err)
	was, now, err := notary.AdoptHistory(ctx, s, a.Signing.History(id), id, tenant)
	if err != nil {
		return err
	}
	result := struct {
		Origin string    `json:"origin"`
		Was    *rootJSON `json:"was,omitempty"`
		Now    rootJSON  `json:"now"`
	}{Origin: string(id.Origin(tenant)), Now: rootOf(now)}
	if was != nil {
		root := rootOf(was.Root)
		root.Forked = was.Forked
		result.Was = &root
	}
	return a.IO.Print(result, func(w io.Writer) {
		if was != nil {
			fmt.Fprintf(w, "%s had signed %s, root %s\n", result.Origin, cli.Count(was.Root.Size, "leaf"), result.Was.Root)
		}
		fmt.Fprintf(w, "%s goes on from %s, root %s\n", result.Origin, cli.Count(now.Size, "leaf"), result.Now.Root)
	})
}

func changeIdentity(a *cli.App, change func(identity.Identity, bool, dag.Time) (identity.Identity, error), follows ...string) error {
	if a.Settings.Dev {
		return cli.Usagef("--dev uses an identity of its own, which is in no file; leave out --dev")
	}
	path, err := a.Settings.IdentityPath()
	if err != nil {
		return err
	}
	_, err = identity.Change(path, func(id identity.Identity, exists bool) (identity.Identity, error) {
		now, err := dag.TimeOf(a.Clock())
		if err != nil {
			return id, err
		}
		return change(id, exists, now)
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is an identity at %s already; it was left as it is", path)
	case errors.Is(err, fs.ErrNotExist):
		return cli.NoIdentity(path)
	case errors.Is(err, ledger.ErrForm) && !errors.Is(err, identity.ErrFile):
		return cli.Usage(err)
	case err != nil:
		return err
	}
	err = showIdentity(a)
	for _, note := range follows {
		a.IO.Note("%s", note)
	}
	return err
}

// An IdentityJSON is an identity without its secrets.
type IdentityJSON struct {
	Name         string            `json:"name"`
	Tenant       string            `json:"tenant"`
	Origin       string            `json:"origin"`
	Log          string            `json:"log"`
	Witness      string            `json:"witness"`
	Attestations []attestationJSON `json:"attestation"`
}

type attestationJSON struct {
	Key       string `json:"key"`
	KeyID     string `json:"key_id"`
	CreatedAt string `json:"created_at"`
	RetiredAt string `json:"retired_at,omitempty"`
}

func showIdentity(a *cli.App) error {
	id, tenant, err := somebodyFor(a)
	if err != nil {
		return err
	}
	_, log, err := id.Log(tenant)
	if err != nil {
		return err
	}
	witness, err := id.Witness()
	if err != nil {
		return err
	}
	shown := IdentityJSON{Name: id.Name(), Tenant: string(tenant), Origin: string(id.Origin(tenant)), Log: log.String(), Witness: witness.Key().String()}
	for _, k := range id.Attestations(tenant) {
		line := attestationJSON{Key: k.Key.String(), KeyID: k.Key.HexID(), CreatedAt: k.CreatedAt.String()}
		if k.RetiredAt != nil {
			line.RetiredAt = k.RetiredAt.String()
		}
		shown.Attestations = append(shown.Attestations, line)
	}
	return a.IO.Print(shown, func(w io.Writer) {
		fmt.Fprintf(w, "%s, for tenant %s %s\n", shown.Name, shown.Tenant, shown.Origin)
		t := cli.NewTable(w, "role", "public key", "created", "retired")
		for _, k := range shown.Attestations {
			t.AppendRow(table.Row{"attestation", k.Key, k.CreatedAt, k.RetiredAt})
		}
		t.AppendRow(table.Row{"log", shown.Log, "", ""})
		t.AppendRow(table.Row{"witness", shown.Witness, "", ""})
		t.Render()
	})
}
