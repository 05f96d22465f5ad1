package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	manifests "github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/token"
)

// longestManifest is the most bytes of a manifest.
const longestManifest = 64 << 20

// manifestCommand makes the command that writes the whole atlas as one signed document.
func manifestCommand(a *cli.App) *cobra.Command {
	var out string
	var in api.ManifestQuery
	c := &cobra.Command{
		Use: "manifest", Short: "Write the atlas as one signed document", Args: cobra.NoArgs,
		Long: `Writes {"document","envelope","sha256"} in canonical JSON. "document" holds all parts of the atlas,
"sha256" is its digest, and "envelope" is an in-toto statement that names the digest, signed by the
attestation key. Without an identity there is no envelope. With one, the key is recorded in the ledger,
as graphkernel attest does.`,
		Example: "  graphkernel atlas manifest -o atlas.json && graphkernel atlas replay atlas.json && graphkernel atlas verify atlas.json --trust trust.policy",
		RunE: func(c *cobra.Command, _ []string) error {
			with := a.Stores.WithReadKernel
			if id, err := a.Signing.Identity(); err != nil {
				return err
			} else if id.Name() != "" && !a.Settings.AsksService() { // its key is written into the ledger
				with = a.Stores.WithKernel
			}
			return with(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				w, err := cli.Do(c.Context(), s, api.AtlasManifest, in)
				if err != nil {
					return err
				}
				m := manifests.Manifest{Document: w.Document, Envelope: w.Envelope}
				m.SHA256 = m.Digest()
				text := append(m.Append(nil), '\n')
				if out == "" {
					_, err = a.IO.Stdout.Write(text)
					return err
				}
				if err := os.WriteFile(out, text, 0o600); err != nil {
					return err
				}
				return a.IO.Print(map[string]string{"file": out, "sha256": w.SHA256.String()}, func(to io.Writer) { fmt.Fprintf(to, "%s: atlas %s\n", out, w.SHA256) })
			})
		},
	}
	c.Flags().Uint64Var((*uint64)(&in.AsOf), "as-of", 0, "the turns as of this sequence number; 0 is the present")
	c.Flags().Uint64Var(&in.Issued, "issued", 0, "the records of what was handed out up to this number; 0 is the present")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	return c
}

// readManifest reads the file of a manifest, without its line feed.
func readManifest(a *cli.App, ctx context.Context, path string) ([]byte, error) {
	data, err := a.IO.ReadText(ctx, path, longestManifest)
	return cli.WithoutLineFeed(data), err
}

// replayAtlasCommand makes the command that computes an atlas again and compares it.
func replayAtlasCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "replay FILE", Short: "Compute the atlas of a manifest again and compare it byte for byte", Args: cli.OneArg("FILE"),
		Long: `Computes the document again as of the numbers in it. Exit codes: 0 the same, 17 different, 10 if the
digest of the document is not the one that the file names. graphkernel atlas verify checks who signed it.`,
		RunE: func(c *cobra.Command, args []string) error {
			data, err := readManifest(a, c.Context(), args[0])
			if err != nil {
				return err
			}
			m, err := manifests.ParseManifest(data)
			if err != nil {
				return cli.Usagef("%s is no manifest: %v", args[0], err)
			}
			if m.Digest() != m.SHA256 {
				a.IO.Warn("graphkernel: %s: the SHA-256 of the document differs from the one that the file names", args[0])
				return cli.Finish(api.ExitTampered)
			}
			return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
				again, err := cli.Do(c.Context(), s, api.AtlasManifest, api.ManifestQuery{AtlasView: api.AtlasView{AsOf: m.AsOf, Issued: m.Issued}, Unsigned: true})
				if err != nil {
					return err
				}
				same := bytes.Equal(again.Document, m.Document)
				outcome := map[bool]string{true: "identical", false: "different"}[same]
				if err := a.IO.Print(map[string]string{"outcome": outcome, "sha256": again.SHA256.String()}, func(w io.Writer) { fmt.Fprintf(w, "%s  as of %d\n", outcome, m.AsOf) }); err != nil || same {
					return err
				}
				return cli.Finish(api.ExitReplayDiffers)
			})
		},
	}
}

// A manifestJSON is the verdict on a manifest.
type manifestJSON struct {
	Verdict  string       `json:"verdict"`
	Reason   string       `json:"reason,omitempty"`
	ExitCode int          `json:"exit_code"`
	Tenant   string       `json:"tenant,omitempty"`
	AsOf     uint64       `json:"as_of,omitempty"`
	Issued   uint64       `json:"issued,omitempty"`
	SHA256   string       `json:"sha256,omitempty"`
	Signers  []signerJSON `json:"signers"`
	Checks   []api.Check  `json:"checks"`
}

// A signerJSON is a trusted key that signed.
type signerJSON struct {
	Name  string `json:"name"`
	KeyID string `json:"key_id"`
}

// verifyAtlasCommand makes the command that checks who signed a manifest.
func verifyAtlasCommand(a *cli.App) *cobra.Command {
	var trust string
	c := &cobra.Command{
		Use: "verify FILE", Short: "Check a manifest: its digest, and who signed it", Args: cli.OneArg("FILE"),
		Long: `Checks that the digest of the document is the one that the manifest names and that was signed, and with
--trust who signed it. It needs no store, no secret and no network. FILE is a manifest, or - for standard
input. It does not check that the numbers are right: graphkernel atlas replay computes them again.

Without --trust the signer is unknown, and the exit code is 11 at best. A key that has an end in the trust
file does not count, because nothing proves when a manifest was signed.

Exit codes: 0 verified, 10 tampered, 11 key unknown, 12 key retired, 20 malformed, 21 unknown version; 1 internal, 2 usage.

With --output json: {"verdict","reason","exit_code","tenant","as_of","issued","sha256","signers":[{"name","key_id"}],"checks"}`,
		Example: "  graphkernel atlas verify atlas.json --trust trust.policy",
		RunE: func(c *cobra.Command, args []string) error {
			return verifyAtlas(a, c.Context(), args[0], trust)
		},
	}
	c.Flags().StringVar(&trust, "trust", "", "the trust file, which says whose signatures count")
	return c
}

func verifyAtlas(a *cli.App, ctx context.Context, path, trust string) error {
	tenant, err := a.Settings.Tenant()
	if err != nil {
		return err
	}
	var judge evidence.Judge
	if trust != "" {
		if judge.Trust, err = a.IO.ReadTrust(ctx, trust); err != nil {
			return err
		}
	}
	data, err := readManifest(a, ctx, path)
	if err != nil {
		return err
	}
	verdict := judge.JudgeManifest(data)
	if a.Settings.NamesTenant() && verdict.Outcome == evidence.Verified && verdict.Claim.Tenant != tenant {
		verdict.Outcome, verdict.Reason = evidence.Tampered, fmt.Sprintf("the manifest is of tenant %q, not of %q", verdict.Claim.Tenant, tenant)
	}
	v := manifestJSON{
		Verdict: string(verdict.Outcome), Reason: verdict.Reason, ExitCode: outcomeCodes[verdict.Outcome], Tenant: string(verdict.Claim.Tenant), AsOf: uint64(verdict.Claim.AsOf),
		Signers: []signerJSON{}, Checks: append([]api.Check{}, verdict.Checks...),
	}
	if m := verdict.Manifest; m != nil {
		v.Issued, v.SHA256 = m.Issued, dag.Digest(m.Digest()).String()
	}
	for _, s := range verdict.Signers {
		v.Signers = append(v.Signers, signerJSON{s.Name, s.HexID()})
	}
	err = a.IO.Print(v, func(w io.Writer) {
		fmt.Fprint(w, cli.Verdict(v.Verdict).Paint(w, strings.ToUpper(strings.ReplaceAll(v.Verdict, "_", " "))))
		if v.SHA256 != "" {
			fmt.Fprintf(w, "  atlas of tenant %s as of %d, record %d", v.Tenant, v.AsOf, v.Issued)
		}
		fmt.Fprintln(w)
		cli.PrintChecks(w, v.Checks)
		if v.Reason != "" {
			fmt.Fprintln(w, render.Visible(v.Reason))
		}
	})
	if err != nil {
		return err
	}
	return cli.Finish(v.ExitCode)
}
