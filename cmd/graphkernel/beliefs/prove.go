package beliefs

import (
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// A proofJSON describes evidence that was written to a file.
type proofJSON struct {
	SliceID   string `json:"slice_id"`
	File      string `json:"file"`
	Revisions int    `json:"revisions"`
	Steps     int    `json:"steps"`
	Turns     int    `json:"turns"`
	AsOf      uint64 `json:"as_of"`
	PolicyID  string `json:"policy_id"`
	KeyID     string `json:"key_id"`
	Token     string `json:"token"`
	Bundle    string `json:"bundle_sha256"`
}

func proveCommand(a *cli.App) *cobra.Command {
	var r api.BeliefProofRequest
	var not bool
	var validAt, out string
	c := &cobra.Command{
		Use:   "prove SPACE SUBJECT PREDICATE OBJECT",
		Short: "Hand out signed evidence that a statement is believed",
		Long: `Writes a bundle, canonical JSON, with a minimal set of revisions from which the statement follows, the steps
by which it follows, and the leaf hashes of the turns that they rest on. The bundle is signed and recorded.
Anybody can check it with graphkernel verify, without the store; graphkernel replay computes it again as of
the same number. docs/belief.md defines its form.

With --output json and -o, the result on standard output is:

  {"slice_id","file","revisions","steps","turns","as_of","policy_id","key_id","token","bundle_sha256"}`,
		Example: `  graphkernel belief prove acme/support customer-7 prefers e-mail -o belief.json && graphkernel verify belief.json
  graphkernel belief prove acme/support customer-7 prefers e-mail --as-of 120 --valid-at 2026-03-14`,
		Args: spaceAnd("SUBJECT PREDICATE OBJECT"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			r.Space = belief.Space(args[0])
			if r.BeliefStatement, err = statementOf("", args[1:], not); err != nil {
				return err
			}
			if r.ValidAt, err = timeOf("valid-at", validAt); err != nil {
				return err
			}
			return prove(a, c, r, out)
		},
		ValidArgsFunction: a.Stores.CompleteSpaces(),
	}
	c.Flags().Uint64Var((*uint64)(&r.AsOf), "as-of", 0, "the beliefs as of this sequence number; 0 is the present")
	c.Flags().BoolVar(&not, "not", false, "prove that the statement is denied")
	c.Flags().StringVar(&validAt, "valid-at", "", "prove that it holds at this date or time (default: at any time)")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	cli.NoFiles(c, "as-of", "valid-at")
	return c
}

func prove(a *cli.App, c *cobra.Command, r api.BeliefProofRequest, out string) error {
	if err := a.IO.ForPrograms(out, "a bundle"); err != nil {
		return err
	}
	var issued client.BeliefProof
	err := a.Issue(c.Context(), out, func(s *cli.Session) (_ []byte, err error) {
		if issued, err = s.Beliefs.Prove(c.Context(), r); err != nil {
			return nil, hinted(err, "; see: graphkernel belief")
		}
		return issued.Bytes, nil
	})
	if err != nil {
		return err
	}
	b := issued.Claim
	p := &b.Provenance
	a.IO.Note("slice %s: %s, %s, %s of evidence, as of %d, key %s", p.SliceID, cli.Count(len(b.Revisions), "revision"), cli.Count(len(b.Steps), "step"), cli.Count(len(b.Evidence), "turn"), b.AsOf, b.Seal.KeyID)
	if a.IO.Output != "json" || cli.ToStdout(out) {
		return nil
	}
	return a.IO.PrintJSON(proofJSON{
		SliceID: string(p.SliceID), File: out, Revisions: len(b.Revisions), Steps: len(b.Steps), Turns: len(b.Evidence),
		AsOf: uint64(b.AsOf), PolicyID: string(p.PolicyID), KeyID: b.Seal.KeyID, Token: b.Seal.Token, Bundle: issued.SHA256.String(),
	})
}
