package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) attestCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "attest BUNDLE -o FOLDER",
		Short: "Sign a bundle for third parties, with proof that it is in the ledger",
		Long: `Writes a folder of evidence that verifies without a secret, a store or a network:

  bundle.json        the bundle, as it was issued
  attestation.json   a DSSE envelope with an in-toto statement, signed by the kernel
  slice.tlog-proof   where the slice stands in the ledger, under a signed checkpoint

The bundle must have been issued from this store. Whoever verifies needs a trust file
(graphkernel identity trust), which they get by another way than the evidence:

  graphkernel verify FOLDER --trust trust.policy

With --output json: {"folder","origin","index","key_id","bundle_sha256","issued_at"}`,
		Example: "  graphkernel attest slice.json -o evidence",
		Args:    oneArg("BUNDLE"),
		RunE:    func(c *cobra.Command, args []string) error { return a.attest(c, args[0], out) },
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the folder to write, which is made if it is absent")
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

func (a *app) attest(c *cobra.Command, path, out string) error {
	if out == "" {
		return usagef("attest needs -o FOLDER")
	}
	data, err := a.readFile(c.Context(), path, slice.MaxBundle)
	if err != nil {
		return err
	}
	id, err := a.somebody()
	if err != nil {
		return err
	}
	// What is attested was issued, and the ledger says so; no secret is needed.
	var e *kernel.Evidence
	err = a.withKernel(c.Context(), token.Keyring{}, func(s *session) error {
		e, err = s.Attest(c.Context(), s.tenant, data)
		return ofTenant(err)
	})
	if err != nil {
		return err
	}
	if err := writeFolder(out, map[string][]byte{
		evidence.FileBundle: data, evidence.FileAttestation: e.Envelope, evidence.FileProof: e.Proof,
	}); err != nil {
		return err
	}
	signer, err := id.Attestor(e.Statement.Tenant)
	if err != nil {
		return err
	}
	said := attestedJSON{
		Folder: out, Origin: e.Statement.Origin, Index: e.Statement.Index, KeyID: signer.KeyID(),
		Bundle: e.Record.Bundle.String(), IssuedAt: e.Record.At.String(),
	}
	return a.print(said, func(w io.Writer) {
		fmt.Fprintf(w, "slice %s is leaf %d of %s; the evidence is in %s\n", e.Statement.Provenance.SliceID, said.Index, said.Origin, out)
	})
}

// ofTenant says what to do about a bundle of another tenant.
func ofTenant(err error) error {
	if errors.Is(err, kernel.ErrTenant) {
		return usagef("%v; name the bundle's tenant with --tenant", err)
	}
	return err
}

// writeFolder writes the files of a folder, each whole or not at all. Files of other names
// stay; those of evidence that are not among them would be taken for its part, so they
// are in the way.
func writeFolder(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, name := range evidenceFiles {
		if _, ours := files[name]; ours {
			continue
		}
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			return fmt.Errorf("%s holds %s of other evidence; name another folder", folder, name)
		}
	}
	for name, data := range files {
		if err := replaceFile(filepath.Join(folder, name), data); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file, mode 0600 as for -o: whether others may read the texts in it
// is for the user to say.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".graphkernel-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error at hand matters more
	}
	return err
}

// evidenceFiles are the names that verify knows in a folder.
var evidenceFiles = []string{
	evidence.FileBundle, evidence.FileDisclosure, evidence.FileAttestation, evidence.FileProof,
	evidence.FileCheckpoint, evidence.FileOldCheckpoint, evidence.FileConsistency,
}
