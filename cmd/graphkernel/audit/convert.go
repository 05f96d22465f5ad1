package audit

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/token"
)

// conversions lists the formats that a bundle can be converted to.
var conversions = []string{"prov", "openlineage", "sigstore"}

func convertCommand(a *cli.App) *cobra.Command {
	var to, out string
	c := &cobra.Command{
		Use:   "convert BUNDLE --to FORMAT",
		Short: "Write an issued bundle in a format that other tools read",
		Long: `Formats:

  prov         W3C PROV-JSON: turns and the slice as entities, the cut as an activity, the
               policy as its plan, authors and the kernel as agents, edges as derivation,
               erasure as invalidation. It holds no text.
  openlineage  an OpenLineage event of the cut, for a catalogue. No text, no authors.
  sigstore     a folder with a Sigstore bundle, a trusted root and a public key, which
               cosign verifies with the ledger's proof of inclusion and no network:

  cosign verify-blob-attestation --key cosign.pub --bundle bundle.sigstore.json \
    --trusted-root trusted_root.json --type TYPE bundle.json

TYPE is https://github.com/graphkernel/graphkernel/attestation/slice/v1. For a slice of facts, which only
sigstore supports, it ends in facts/v1. The bundle must have been issued from this store.`,
		Example: `  graphkernel convert slice.json --to prov -o slice.prov.json
  graphkernel convert slice.json --to sigstore -o sigstore`,
		Args: cli.OneArg("BUNDLE"),
		RunE: func(c *cobra.Command, args []string) error { return convert(a, c.Context(), args[0], to, out) },
	}
	c.Flags().StringVar(&to, "to", "", "prov, openlineage or sigstore")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write, or the folder for sigstore (default: standard output)")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(conversions, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func convert(a *cli.App, ctx context.Context, path, to, out string) error {
	if !slices.Contains(conversions, to) {
		return cli.Usagef("--to is %q, want prov, openlineage or sigstore", to)
	}
	if to == "sigstore" && cli.ToStdout(out) {
		return cli.Usagef("--to sigstore writes several files and needs -o FOLDER")
	}
	data, err := a.IO.ReadBundle(ctx, path)
	if err != nil {
		return err
	}
	if err := a.Signing.NeedsIdentity(); err != nil {
		return err
	}
	if to == "sigstore" {
		return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error { return toSigstore(a, ctx, s, data, out) })
	}
	if err := a.IO.ForPrograms(out, "a bundle in another form"); err != nil {
		return err
	}
	err = a.IO.WriteTo(out, func(w io.Writer) error {
		return a.Stores.WithKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
			made, err := s.Ledger.Convert(ctx, data, to)
			if err != nil {
				return cli.OfTenant(err)
			}
			return a.IO.WriteDocument(w, []byte(made.Files[to+".json"]))
		})
	})
	if err != nil || a.IO.Output != "json" || cli.ToStdout(out) {
		return err
	}
	return a.IO.PrintJSON(map[string]string{"file": out, "format": to})
}

func toSigstore(a *cli.App, ctx context.Context, s *cli.Session, data []byte, out string) error {
	made, err := s.Ledger.Convert(ctx, data, "sigstore")
	if err != nil {
		return cli.OfTenant(err)
	}
	files := map[string][]byte{"bundle.json": data}
	for name, text := range made.Files {
		files[filepath.Base(name)] = []byte(text)
	}
	if err := cli.WriteFolder(out, files); err != nil {
		return err
	}
	return a.IO.Print(map[string]string{"folder": out, "format": "sigstore"}, func(w io.Writer) {
		fmt.Fprintf(w, "the files are in %s; send trusted_root.json and cosign.pub over another channel than the others\n", out)
	})
}
