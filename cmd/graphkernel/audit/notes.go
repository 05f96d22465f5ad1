package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	attestation "github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// lateAfter is the time after the newest turn from which evidence counts as issued late.
const lateAfter = 24 * time.Hour

// note adds to a verdict what it does not say. For a good verdict: texts are missing, the evidence was issued late, or nobody outside the issuer confirmed
// the log. For a changed text: why the checks of the digests still hold. For a token that alone does not hold: another kernel may have signed it. For a known
// version in another spelling: the version is not the fault.
func (v *verdictJSON) note(f *evidence.Files, verdict *evidence.Verdict, trust *ledger.Trust) {
	v.Notes = append(v.Notes, v.ofAnother(f, trust)...)
	if v.failed(slice.CheckBodies) {
		v.Notes = append(v.Notes, "a text was changed and its digest was not. Checks of digests alone, such as snapshot, slice_id and token, can be ok all the same: they speak of the text that was signed, not of this one")
	}
	if v.ExitCode != api.ExitOK {
		return
	}
	if missing := v.missing(); missing != "" {
		v.Notes = append(v.Notes, "not whole: "+missing+". What is here is genuine, so the exit code is 0; with --require-full it is 16")
	}
	if trust == nil {
		return
	}
	if i, newest := verdict.Inclusion, newestTurn(f); i != nil && newest != 0 && i.Issued != 0 {
		if after := time.Duration(i.Issued-newest) * time.Microsecond; after > lateAfter {
			v.late = fmt.Sprintf("at %s, %s after the newest turn in it", i.Issued, cli.Count(int(after/lateAfter), "day"))
			v.Notes = append(v.Notes, fmt.Sprintf("issued late: %s (%s). It says what the store held by then; ask the operator for evidence that was issued at the time (graphkernel contexts lists it)", v.late, newest))
		}
	}
	if !trust.Quorum() {
		v.Notes = append(v.Notes, "the trust file says quorum none: nobody outside the issuer has confirmed the log, which the issuer can have written anew. Ask the operator for a trust file with witnesses and a quorum, or for a checkpoint that an outsider kept, and compare")
	}
}

// ofAnother returns the notes about evidence that may be genuine, though its verdict says otherwise: of another kernel, or formatted by another program.
func (v *verdictJSON) ofAnother(f *evidence.Files, trust *ledger.Trust) []string {
	switch {
	case v.ExitCode == api.ExitMalformed && isEnvelope(f.Bundle):
		return []string{"this is an attestation, which is verified together with its bundle: give the folder of both, or the bundle, with --attestation FILE"}
	case v.ExitCode == api.ExitUnknownVersion && respelled(f.Bundle):
		return []string{"this program knows the version: it is the spelling of the bytes that is not canonical, as if another program had formatted the JSON. Only the bytes that a kernel wrote can be checked; ask for them"}
	case v.ExitCode == api.ExitKeyRetired || !v.failed(slice.CheckToken) || slices.ContainsFunc(v.Checks, func(c api.Check) bool { return c.Status == slice.StatusFail && c.ID != slice.CheckToken }):
		return nil
	case trust != nil:
		return []string{"only the token does not hold. With --trust no secret is needed: if --keys, GRAPHKERNEL_KEYS or GRAPHKERNEL_SECRET names the keys of another kernel, leave it out, and the token is not checked"}
	}
	of := "it may be evidence of another kernel"
	if v.ExitCode == api.ExitTampered {
		of = "either its header was changed, or it is evidence of another kernel whose key has the same id as one here"
	}
	ask := "Ask the operator of that kernel for the trust file, by another way than the evidence"
	if f.Attestation != nil || f.Proof != nil {
		ask = "No trust file was named, so the attestation and the proof were not looked at. " + ask
	}
	return []string{"everything but the token holds: " + of + ". " + ask + ", and give it with --trust FILE"}
}

// isEnvelope reports whether the file of a bundle is an attestation.
func isEnvelope(bundle []byte) bool {
	_, err := attestation.ParseEnvelope(bundle)
	return bundle != nil && err == nil
}

// respelled reports whether the version of a bundle is unknown only because the bytes are not in canonical spelling: a kind of bundle is told by its beginning.
func respelled(bundle []byte) bool {
	var b struct {
		Provenance struct {
			Version string `json:"schema_version"`
		} `json:"provenance"`
	}
	_, err := kinds.Parse(bundle)
	return errors.Is(err, slice.ErrVersion) && json.Unmarshal(bundle, &b) == nil && b.Provenance.Version != "" && kinds.Known(b.Provenance.Version) == nil
}

// newestTurn returns the time of the newest turn in the evidence, or 0 if it has no turns. The evidence was verified before.
func newestTurn(f *evidence.Files) (newest dag.Time) {
	see := func(t *dag.Turn) { newest = max(newest, t.CreatedAt) }
	if f.Bundle == nil && f.Disclosure != nil {
		d, err := kinds.ParseDisclosure(f.Disclosure)
		if err != nil {
			return 0
		}
		for i := range d.Shown {
			switch l := d.Shown[i].Leaf.(type) {
			case *slice.ShownTurn:
				see(&l.Turn)
			case *contexts.ShownTurn:
				see(&l.Turn)
			}
		}
		return newest
	}
	body, _ := kinds.Parse(f.Bundle)
	switch b := body.(type) {
	case *contexts.Bundle:
		for i := range b.Turns {
			see(&b.Turns[i].Turn)
		}
	case *slice.Bundle:
		for i := range b.Turns {
			see(&b.Turns[i].Turn)
		}
	}
	return newest
}

// whyMissing says where the text of a turn is if the evidence does not have it.
func whyMissing(why string) string {
	switch evidence.Why(why) {
	case evidence.WhyErased:
		return "erased"
	case evidence.WhyWithheld:
		return "its text never came"
	case evidence.WhyDisclosed:
		return "left out by the sender"
	}
	return "not in this file"
}

// noText is printed instead of the text of a turn if the evidence does not have it.
func noText(why string) string { return "(the text of this turn: " + whyMissing(why) + ")" }

// why returns the reason in the verdict why a turn has no text.
func (v *verdictJSON) why(turn string) string {
	for _, w := range v.Withheld {
		if w.Turn == turn {
			return w.Why
		}
	}
	return ""
}

// missing counts the parts that the evidence lacks, in words; "" if it is whole.
func (v *verdictJSON) missing() string {
	var parts []string
	for _, why := range []evidence.Why{evidence.WhyErased, evidence.WhyWithheld, evidence.WhyDisclosed, evidence.WhyUnknown} {
		n := 0
		for _, w := range v.Withheld {
			if w.Why == string(why) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s redacted (%s)", cli.Count(n, "text"), whyMissing(string(why))))
		}
	}
	if v.Dropped > 0 {
		of := "turn"
		if p := v.Provenance; p != nil && p.SchemaVersion == slice.FactsVersion {
			of = "leaf"
		}
		parts = append(parts, cli.Count(v.Dropped, of)+" left out by the sender")
	}
	return strings.Join(parts, ", ")
}
