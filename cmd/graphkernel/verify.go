package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) verifyCommand() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a bundle: every form, every digest, every reason, the token",
		Long: `Recomputes from the bundle's body everything that its header claims, then checks
the token. It needs the keys and nothing else: no store, no network. FILE is - for
standard input.

Exit codes: 0 verified, 10 tampered, 11 key unknown, 12 key retired, 16 text is
missing under --require-full, 20 malformed, 21 unknown version; 1 internal, 2 usage.`,
		Args: oneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.verify(c.Context(), args[0], full) },
	}
	c.Flags().BoolVar(&full, "require-full", false, "do not accept a bundle with redacted turns")
	return c
}

type verdictJSON struct {
	Verdict    string          `json:"verdict"`
	Admissible bool            `json:"admissible"`
	Reason     string          `json:"reason,omitempty"`
	ExitCode   int             `json:"exit_code"`
	Tenant     string          `json:"tenant,omitempty"`
	KeyID      string          `json:"key_id,omitempty"`
	AsOf       uint64          `json:"as_of,omitempty"`
	Turns      int             `json:"turns"`
	Redacted   []string        `json:"redacted"`
	Provenance *provenanceJSON `json:"provenance,omitempty"`
	Checks     []checkLine     `json:"checks"`
	Bundle     string          `json:"bundle_sha256"`
}

var outcomeCodes = map[token.Outcome]int{
	token.Verified:       exitOK,
	token.Tampered:       exitTampered,
	token.KeyUnknown:     exitKeyUnknown,
	token.KeyRetired:     exitKeyRetired,
	token.Malformed:      exitMalformed,
	token.UnknownVersion: exitUnknownVersion,
}

func (a *app) verify(ctx context.Context, path string, full bool) error {
	tenant, err := a.tenant()
	if err != nil {
		return err
	}
	ring, err := a.keyring()
	if err != nil {
		return err
	}
	data, err := a.readFile(ctx, path, slice.MaxBundle)
	if err != nil {
		return err
	}
	evidence, verdict := token.NewVerifier(token.NewAuthority(ring)).Verify(data)
	v := verdictJSON{
		Verdict:    string(verdict.Outcome),
		Admissible: evidence.OK(),
		Reason:     verdict.Reason,
		ExitCode:   outcomeCodes[verdict.Outcome],
		Tenant:     string(verdict.Claim.Seal.Tenant),
		KeyID:      verdict.Claim.Seal.KeyID,
		AsOf:       uint64(verdict.Claim.AsOf),
		Turns:      verdict.Claim.Turns,
		Redacted:   texts(verdict.Redacted),
		Provenance: provenanceOf(&verdict.Claim.Provenance),
		Checks:     checkLines(verdict.Checks),
		Bundle:     dag.Digest(sha256.Sum256(data)).String(),
	}
	if v.ExitCode == exitOK && a.namesTenant() && verdict.Claim.Seal.Tenant != tenant {
		v.Verdict, v.Admissible, v.ExitCode = string(token.Tampered), false, exitTampered
		v.Reason = fmt.Sprintf("the evidence is of tenant %q, not of %q", verdict.Claim.Seal.Tenant, tenant)
	}
	if v.ExitCode == exitOK && full && len(v.Redacted) > 0 {
		v.Verdict, v.Admissible, v.ExitCode = "redacted", false, exitRedacted
		v.Reason = fmt.Sprintf("%d of %d turns have no text, and --require-full was given", len(v.Redacted), v.Turns)
	}
	if err := a.print(v, func(w io.Writer) { printVerdict(w, &v, verdict.Checks) }); err != nil {
		return err
	}
	return finish(v.ExitCode)
}

// namesTenant reports whether the user named a tenant. If none was named, the
// tenant that a bundle itself names is the one whose key counts.
func (a *app) namesTenant() bool { return a.tenantFlag != "" || a.getenv("GRAPHKERNEL_TENANT") != "" }

func printVerdict(w io.Writer, v *verdictJSON, checks []slice.Check) {
	fmt.Fprint(w, strings.ToUpper(strings.ReplaceAll(v.Verdict, "_", " ")))
	if v.Provenance != nil {
		fmt.Fprintf(w, "  slice %s, %d turns", v.Provenance.SliceID, v.Turns)
		if len(v.Redacted) > 0 {
			fmt.Fprintf(w, " (%d redacted)", len(v.Redacted))
		}
	}
	fmt.Fprintln(w)
	printChecks(w, checks)
	for _, id := range v.Redacted {
		fmt.Fprintf(w, "  %-8s turn %s\n", "redacted", id)
	}
	if v.Reason != "" {
		fmt.Fprintln(w, render.Visible(v.Reason))
	}
}
