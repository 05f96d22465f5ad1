package audit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
	"github.com/graphkernel/graphkernel/token"
)

// A verifyFlags says how evidence is judged.
type verifyFlags struct {
	trust, attestation, proof string
	policy                    string
	full                      bool
	leaves                    bool // a proof by itself is enough
	text                      bool
	who                       bool
	maxAge                    time.Duration
}

func verifyCommand(a *cli.App) *cobra.Command {
	var flags verifyFlags
	c := &cobra.Command{
		Use:   "verify EVIDENCE",
		Short: "Check a bundle: its form, digests, reasons, token, signatures and ledger",
		Long: `Recomputes from a bundle's body everything that its header claims, then checks who
signed it. It needs no store and no network.

EVIDENCE is a bundle, a disclosure or a checkpoint (- for standard input), or a folder that graphkernel
attest wrote. (graphkernel log verify checks a proof by itself.) Without --trust the token is checked, with
the keys. With --trust no secret is needed: the attestation, the ledger's checkpoint, the proof of inclusion
and the witnesses are checked, and the token only if --keys, GRAPHKERNEL_KEYS or GRAPHKERNEL_SECRET names a
key. A key that comes with the evidence decides nothing.

A trust file that names a log requires the proof; one that names only signers requires the attestation.
Checks that were not made are shown as skipped. docs/glossary.md explains the names of the checks:
"admissions" are the reasons why turns were selected, "canonical_order" means that each part is listed once
and by id, "snapshot" is the hash over turns, edges and reasons, and "signer_time" means that the signing
key had not ended.

With --text, the content of the evidence is printed after the verdict: turns, facts, or the prompt of a
context. It is printed if every digest in the evidence holds. If the key is unknown, the output says that
nobody's signature was verified. No text is printed of any other evidence, such as tampered evidence. With
--output json it is the member "text".

With --who, three lines replace the list of checks: the person who wrote the turn that the anchor is, or
that it goes back to among the turns of the bundle; what the agent saw (for a context) or what may have
influenced it (for other evidence); and the verdict. With --output json they are the member "who".

Exit codes: 0 verified, 10 tampered, 11 key unknown, 12 key retired, 13 not in the
log, 14 log inconsistent, 15 quorum not met, 16 text is missing under --require-full, 20
malformed, 21 unknown version; 1 internal, 2 usage.`,
		Example: `  graphkernel verify slice.json
  graphkernel verify slice.json --text
  graphkernel verify slice.json --who
  graphkernel verify evidence --trust trust.policy
  graphkernel verify part.json --trust trust.policy --attestation attestation.json --proof slice.tlog-proof`,
		Args: cli.OneArg("EVIDENCE"),
		RunE: func(c *cobra.Command, args []string) error { return verify(a, c.Context(), args[0], &flags) },
	}
	c.Flags().StringVar(&flags.trust, "trust", "", "the trust file, which says whose signatures count")
	c.Flags().StringVar(&flags.attestation, "attestation", "", "the attestation, if it is not in the folder")
	c.Flags().StringVar(&flags.proof, "proof", "", "the proof of inclusion, if it is not in the folder")
	c.Flags().StringVar(&flags.policy, "policy", "", "the policy under which it must have been cut, POLICY-ID or POLICY-ID=HASH; evidence under another policy counts as tampered")
	c.Flags().BoolVar(&flags.full, "require-full", false, "do not accept evidence from which texts were left out")
	c.Flags().BoolVar(&flags.text, "text", false, "print the content of the evidence, if it is intact")
	c.Flags().BoolVar(&flags.who, "who", false, "say in three lines who asked, what the agent saw or may have been influenced by, and whether the evidence is genuine")
	c.Flags().DurationVar(&flags.maxAge, "max-age", 0, "do not count cosignatures that are older than this, such as 1h; 0 is any age")
	cli.NoFiles(c, "policy", "max-age")
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
	Facts      int             `json:"facts,omitempty"`
	Redacted   []string        `json:"redacted"`
	Withheld   []withheldJSON  `json:"withheld,omitempty"`
	Dropped    int             `json:"dropped,omitempty"`
	Ledger     *inclusionJSON  `json:"ledger,omitempty"`
	Provenance *api.Provenance `json:"provenance,omitempty"`
	Checks     []api.Check     `json:"checks"`
	Bundle     string          `json:"bundle_sha256,omitempty"`
	Text       *string         `json:"text,omitempty"`
	Who        *whoJSON        `json:"who,omitempty"`
	Notes      []string        `json:"notes,omitempty"` // facts that a good verdict does not cover
	doubt      string          // about the text
	unproved   bool            // the evidence came without a proof of inclusion
	late       string          // when the evidence was issued, if that was long after its newest turn
}

// A withheldJSON says why a turn has no text: who withheld or erased it.
type withheldJSON struct {
	Turn string `json:"turn"`
	Why  string `json:"why"`
}

type inclusionJSON struct {
	Origin string `json:"origin"`
	Index  uint64 `json:"index"`
	Size   uint64 `json:"size"`
}

var outcomeCodes = map[evidence.Outcome]int{
	evidence.Verified:        api.ExitOK,
	evidence.WellFormed:      api.ExitKeyUnknown,
	evidence.Tampered:        api.ExitTampered,
	evidence.KeyUnknown:      api.ExitKeyUnknown,
	evidence.KeyRetired:      api.ExitKeyRetired,
	evidence.NotInLog:        api.ExitNotInLog,
	evidence.LogInconsistent: api.ExitInconsistent,
	evidence.QuorumNotMet:    api.ExitQuorumNotMet,
	evidence.Redacted:        api.ExitRedacted,
	evidence.Malformed:       api.ExitMalformed,
	evidence.UnknownVersion:  api.ExitUnknownVersion,
}

func verify(a *cli.App, ctx context.Context, path string, flags *verifyFlags) error {
	tenant, err := a.Settings.Tenant()
	if err != nil {
		return err
	}
	judge, err := judge(a, ctx, path, flags)
	if err != nil {
		return err
	}
	files, err := readEvidence(a, ctx, path, flags)
	if err != nil {
		return err
	}
	ofSlice := files.Bundle != nil || files.Disclosure != nil
	if flags.text && !ofSlice {
		return cli.Usagef("--text prints the content of a bundle or a disclosure, but %s is neither", path)
	}
	if flags.who && !ofSlice {
		return cli.Usagef("--who applies to a bundle or a disclosure, but %s is neither", path)
	}
	if (flags.policy != "" || flags.full) && !ofSlice {
		return cli.Usagef("--policy and --require-full apply to a slice, but %s is none", path)
	}
	verdict := evidence.Verdict{}
	switch alone := files.Checkpoint == nil && !ofSlice; {
	case alone && (!flags.leaves || files.Proof == nil || files.Attestation != nil || files.OldCheckpoint != nil || files.Consistency != nil):
		return cli.Usagef("%s holds neither bundle.json, nor disclosure.json, nor checkpoint, so there is nothing to judge; to verify a proof alone, use graphkernel log verify", path)
	case alone:
		verdict = judge.JudgeProof(files.Proof)
	default:
		verdict = judge.Judge(files)
	}
	v := verdictJSON{
		Verdict:  string(verdict.Outcome),
		Reason:   verdict.Reason,
		ExitCode: outcomeCodes[verdict.Outcome],
		Tenant:   string(verdict.Claim.Tenant),
		KeyID:    verdict.Claim.KeyID,
		AsOf:     uint64(verdict.Claim.AsOf),
		Turns:    verdict.Claim.Turns,
		Facts:    verdict.Claim.Facts,
		Redacted: []string{}, Dropped: verdict.Dropped,
		Provenance: cli.ProvenanceOf(&verdict.Claim.Provenance),
		Checks:     append([]api.Check{}, verdict.Checks...),
	}
	v.unproved = files.Proof == nil
	if files.Bundle != nil {
		v.Bundle = dag.Digest(sha256.Sum256(files.Bundle)).String()
	}
	for _, r := range verdict.Redacted {
		v.Redacted = append(v.Redacted, r.Turn.String())
		v.Withheld = append(v.Withheld, withheldJSON{r.Turn.String(), string(r.Why)})
	}
	if i := verdict.Inclusion; i != nil {
		v.Ledger = &inclusionJSON{i.Origin, i.Index, i.Size}
	}
	if v.ExitCode == api.ExitOK && a.Settings.NamesTenant() {
		if of := tenantOf(files, &verdict); of != tenant {
			v.refuse(checkTenant, fmt.Sprintf("the evidence is of tenant %q, not of %q", of, tenant))
		}
	}
	if v.ExitCode == api.ExitOK && !flags.asked(&verdict.Claim.Provenance) {
		p := &verdict.Claim.Provenance
		v.refuse(checkPolicy, fmt.Sprintf("%s under %s=%s, not under %s", made(p), p.PolicyID, p.PolicyParamsHash, flags.policy))
	}
	v.Admissible = v.ExitCode == api.ExitOK && (files.Bundle != nil || files.Disclosure != nil)
	if info, err := os.Stat(path); path == "-" || err == nil && !info.IsDir() {
		v.nameFile(path)
	}
	v.note(&files, &verdict, judge.Trust)
	if flags.text {
		if err := v.readText(&files, path); err != nil {
			return err
		}
	}
	if flags.who {
		if err := v.readWho(&files, path); err != nil {
			return err
		}
	}
	if err := a.IO.Print(v, func(w io.Writer) {
		if v.Who != nil {
			v.printWho(w)
		} else {
			printVerdict(w, &v)
		}
		v.printText(w, flags.text)
	}); err != nil {
		return err
	}
	return cli.Finish(v.ExitCode)
}

// failed reports whether the check with this name failed.
func (v *verdictJSON) failed(check slice.CheckID) bool {
	return slices.ContainsFunc(v.Checks, func(c api.Check) bool { return c.ID == check && c.Status == slice.StatusFail })
}

// Checks that the caller asks for by flags. A verdict lists them only if they fail.
const (
	checkTenant slice.CheckID = "tenant"
	checkPolicy slice.CheckID = "policy"
)

// refuse sets the verdict on evidence that is not what the caller asked for: tampered, with the check that failed.
func (v *verdictJSON) refuse(check slice.CheckID, reason string) {
	v.Verdict, v.ExitCode, v.Reason = string(evidence.Tampered), outcomeCodes[evidence.Tampered], reason
	v.Checks = append(v.Checks, api.Check{ID: check, Status: slice.StatusFail, Detail: reason})
}

// made returns the beginning of a sentence about how evidence of a kind was made.
func made(p *slice.Provenance) string {
	switch p.SchemaVersion {
	case slice.ContextVersion, slice.ContextVersionV2:
		return "the context was assembled"
	case slice.BeliefVersion:
		return "the evidence of a belief was derived"
	}
	return "the slice was cut"
}

// tenantOf returns the tenant of verified evidence.
func tenantOf(f evidence.Files, v *evidence.Verdict) dag.Tenant {
	switch {
	case v.Claim.Tenant != "":
		return v.Claim.Tenant
	case v.Inclusion != nil:
		return ledger.Origin(v.Inclusion.Origin).Tenant()
	}
	c, err := ledger.ReadCheckpoint(f.Checkpoint)
	if err != nil {
		panic("graphkernel: a checkpoint was verified that cannot be read: " + err.Error())
	}
	return ledger.Origin(c.Origin).Tenant()
}

// checkPolicy refuses a value of --policy under which no slice can have been cut.
func (f *verifyFlags) checkPolicy() error {
	if f.policy == "" {
		return nil
	}
	id, hash, hashed := strings.Cut(f.policy, "=")
	_, err := policy.ParseID(id)
	if err == nil && hashed {
		_, err = dag.ParseDigest(hash)
	}
	if err != nil {
		return cli.Usagef("--policy: %w", err)
	}
	return nil
}

// asked reports whether a slice was cut under the requested policy.
func (f *verifyFlags) asked(p *slice.Provenance) bool {
	id, hash, hashed := strings.Cut(f.policy, "=")
	return f.policy == "" || id == string(p.PolicyID) && (!hashed || hash == p.PolicyParamsHash.String())
}

// judge returns the judge that the flags and the environment configure.
func judge(a *cli.App, ctx context.Context, path string, flags *verifyFlags) (evidence.Judge, error) {
	judge := evidence.Judge{RequireFull: flags.full}
	if err := flags.checkPolicy(); err != nil {
		return judge, err
	}
	judge.Since = since(a, flags.maxAge)
	if flags.trust != "" {
		trust, err := a.IO.ReadTrust(ctx, flags.trust)
		if err != nil {
			return judge, err
		}
		judge.Trust = trust
	}
	if err := checkMaxAge(flags.maxAge, judge.Trust); err != nil {
		return judge, err
	}
	if !namesKeys(a) && (judge.Trust != nil || a.Settings.DefaultKeys() == "") {
		return judge, nil
	}
	ring, err := a.Signing.Keyring()
	if errors.Is(err, cli.ErrNoSecret) && judge.Trust == nil { // the form and the digests can still be checked
		a.IO.Warn("graphkernel: the signer cannot be verified: no trust file was named, and there is no keyring here.\n%s", cmp.Or(trustBeside(path), cli.AskForTrust))
		return judge, nil
	}
	if err != nil {
		return judge, err
	}
	judge.Keys = token.NewAuthority(ring)
	return judge, nil
}

// trustBeside says how to use a trust file in a folder of evidence, or beside a file of it; "" if there is none. It is never used automatically, because the
// maker of the evidence may have made it, too.
func trustBeside(path string) string {
	for _, folder := range []string{path, filepath.Dir(path)} {
		file := filepath.Join(folder, "trust.policy")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && path != "-" {
			return fmt.Sprintf("  %s is in the same folder. A trust file that comes with the evidence proves nothing; if the operator gave you this file in another way: graphkernel verify %s --trust %s", file, path, file)
		}
	}
	return ""
}

// checkMaxAge refuses --max-age if no cosignatures are required, because it would have no effect.
func checkMaxAge(maxAge time.Duration, trust *ledger.Trust) error {
	if maxAge < 0 {
		return cli.Usagef("--max-age is %s, want a duration from 0 on", maxAge)
	}
	if maxAge > 0 && (trust == nil || !trust.Quorum()) {
		return cli.Usagef("--max-age limits the age of witnesses' cosignatures, but no trust file asks for any")
	}
	return nil
}

// namesKeys reports whether the user named keys.
func namesKeys(a *cli.App) bool {
	return a.Settings.Dev || a.Settings.KeysFlag != "" || a.Settings.Getenv("GRAPHKERNEL_KEYS") != "" || a.Settings.FileKeys != "" || a.Settings.Getenv("GRAPHKERNEL_SECRET") != ""
}

// longestText is the most bytes of a file of evidence that is not a bundle.
const longestText = 16 << 20

// readEvidence reads a file or a folder of evidence, and the files that flags name.
func readEvidence(a *cli.App, ctx context.Context, path string, flags *verifyFlags) (f evidence.Files, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if f, err = readFolder(a, ctx, path); err != nil {
			return f, err
		}
	} else if f, err = readOne(a, ctx, path); err != nil {
		return f, err
	}
	for _, named := range []struct {
		path string
		into *[]byte
	}{{flags.attestation, &f.Attestation}, {flags.proof, &f.Proof}} {
		if named.path == "" {
			continue
		}
		if *named.into, err = a.IO.ReadText(ctx, named.path, longestText); err != nil {
			return f, err
		}
	}
	if f.Attestation != nil {
		f.Attestation = cli.WithoutLineFeed(f.Attestation)
	}
	return f, nil
}

// readFolder reads the files of a folder of evidence.
func readFolder(a *cli.App, ctx context.Context, folder string) (f evidence.Files, err error) {
	found := 0
	for _, file := range []struct {
		name string
		into *[]byte
	}{
		{evidence.FileBundle, &f.Bundle}, {evidence.FileDisclosure, &f.Disclosure}, {evidence.FileAttestation, &f.Attestation},
		{evidence.FileProof, &f.Proof}, {evidence.FileCheckpoint, &f.Checkpoint}, {evidence.FileOldCheckpoint, &f.OldCheckpoint},
		{evidence.FileConsistency, &f.Consistency},
	} {
		path := filepath.Join(folder, file.name)
		var data []byte
		if file.into == &f.Bundle || file.into == &f.Disclosure {
			data, err = a.IO.ReadFile(ctx, path, slice.MaxBundle)
		} else {
			data, err = a.IO.ReadText(ctx, path, longestText)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return f, err
		}
		found++
		*file.into = append([]byte{}, data...) // an empty file counts as present
	}
	if found == 0 {
		return f, cli.Usagef("the folder %s holds no evidence; want bundle.json, disclosure.json or checkpoint in it", folder)
	}
	return f, nil
}

// readOne reads a single file and detects its kind from its beginning.
func readOne(a *cli.App, ctx context.Context, path string) (f evidence.Files, err error) {
	data, err := a.IO.ReadText(ctx, path, slice.MaxBundle+1)
	if err != nil {
		return f, err
	}
	switch {
	case bytes.HasPrefix(data, []byte("c2sp.org/tlog-proof@")):
		f.Proof = data
	case !bytes.HasPrefix(data, []byte("{")) && bytes.Contains(data[:min(len(data), ledger.MaxCheckpoint)], []byte("\n\n— ")):
		f.Checkpoint = data
	case bytes.Contains(data[max(0, len(data)-64):], []byte(`"type":"disclosure"`)): // a disclosure ends with its type and version
		f.Disclosure = cli.WithoutLineFeed(data)
	default:
		f.Bundle = cli.WithoutLineFeed(data)
	}
	return f, nil
}

// nameFile replaces the name that the file of a bundle or disclosure has in a folder, which the judge uses, by the file's path.
func (v *verdictJSON) nameFile(path string) {
	path = cli.InputName(path)
	named := func(text string) string {
		for _, name := range []string{evidence.FileBundle, evidence.FileDisclosure} {
			if rest, ok := strings.CutPrefix(text, name+": "); ok {
				return path + ": " + rest
			}
		}
		return text
	}
	for i := range v.Checks {
		v.Checks[i].Detail = named(v.Checks[i].Detail)
	}
	if id, detail, ok := strings.Cut(v.Reason, ": "); ok {
		v.Reason = id + ": " + named(detail)
	}
}

func printVerdict(w io.Writer, v *verdictJSON) {
	fmt.Fprint(w, cli.Verdict(v.Verdict).Paint(w, strings.ToUpper(strings.ReplaceAll(v.Verdict, "_", " "))))
	if v.Provenance != nil {
		kind := cli.KindSlice
		if slice.IsContext(v.Provenance.SchemaVersion) {
			kind = cli.KindContext
		}
		fmt.Fprintf(w, "  %s %s, ", kind, v.Provenance.SliceID)
		of, _ := kinds.OfSchema(v.Provenance.SchemaVersion)
		switch {
		case of == nil || slices.Contains(of.Counts, "turns"):
			fmt.Fprint(w, cli.Count(v.Turns, "turn"))
		case slices.Contains(of.Counts, "facts"):
			fmt.Fprint(w, cli.Count(v.Facts, "fact"))
		default:
			fmt.Fprint(w, of.Noun)
		}
		if len(v.Redacted) > 0 {
			fmt.Fprintf(w, " (%d redacted)", len(v.Redacted))
		}
	}
	fmt.Fprintln(w)
	cli.PrintChecks(w, v.Checks)
	for _, r := range v.Withheld {
		why := ""
		if r.Why != string(evidence.WhyUnknown) {
			why = ", " + whyMissing(r.Why)
		}
		fmt.Fprintf(w, "  %-8s turn %s%s\n", "redacted", r.Turn, why)
	}
	if v.Dropped > 0 {
		of := "turn"
		if v.Provenance.SchemaVersion == slice.FactsVersion {
			of = "leaf"
		}
		fmt.Fprintf(w, "  %-8s %s, left out by the sender\n", "dropped", cli.Count(v.Dropped, of))
	}
	if v.Reason != "" {
		fmt.Fprintln(w, render.Visible(v.Reason))
	}
	for _, n := range v.Notes {
		fmt.Fprintf(w, "  %-8s %s\n", "note", n)
	}
}
