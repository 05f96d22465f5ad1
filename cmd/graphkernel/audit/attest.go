package audit

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/token"
)

func attestCommand(a *cli.App) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "attest BUNDLE -o FOLDER",
		Short: "Sign a bundle for third parties, with a proof that it is in the ledger",
		Long: `Writes a folder of evidence, which can be verified without a secret, a store or a network:

  bundle.json        the bundle, as it was issued
  attestation.json   a DSSE envelope with an in-toto statement, signed by the kernel
  slice.tlog-proof   the proof that the slice is in the ledger, under a signed checkpoint

The bundle must have been issued from this store. A verifier needs a trust file (graphkernel identity
trust), and must get it by another way than the evidence:

  graphkernel verify FOLDER --trust trust.policy

With --output json: {"folder","origin","index","key_id","bundle_sha256","issued_at"}`,
		Example: "  graphkernel attest slice.json -o evidence",
		Args:    cli.OneArg("BUNDLE"),
		RunE:    func(c *cobra.Command, args []string) error { return attest(a, c, args[0], out) },
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the folder to write; it is made if there is none")
	_ = c.MarkFlagDirname("out") // the flag exists
	return c
}

type attestedJSON struct {
	Folder   string `json:"folder"`
	Origin   string `json:"origin"`
	Index    uint64 `json:"index"`
	KeyID    string `json:"key_id"`
	Bundle   string `json:"bundle_sha256"`
	IssuedAt string `json:"issued_at"`
}

func attest(a *cli.App, c *cobra.Command, path, out string) error {
	if out == "" {
		return cli.Usagef("attest needs -o FOLDER")
	}
	data, err := a.IO.ReadBundle(c.Context(), path)
	if err != nil {
		return err
	}
	if err := a.Signing.NeedsIdentity(); err != nil {
		return err
	}
	// The ledger shows that the bundle was issued, so no secret is needed.
	var e client.Evidence
	err = a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		e, err = s.Ledger.Attest(c.Context(), data)
		return cli.OfTenant(err)
	})
	if err != nil {
		return err
	}
	if err := cli.WriteFolder(out, map[string][]byte{
		evidence.FileBundle: data, evidence.FileAttestation: e.Attestation, evidence.FileProof: e.Proof,
	}); err != nil {
		return err
	}
	said := attestedJSON{Folder: out, Origin: e.Origin, Index: e.Index, KeyID: e.KeyID, Bundle: e.SHA256.String(), IssuedAt: e.IssuedAt}
	return a.IO.Print(said, func(w io.Writer) {
		fmt.Fprintf(w, "slice %s is leaf %d of %s; the evidence is in %s\n", e.SliceID, said.Index, said.Origin, out)
	})
}
