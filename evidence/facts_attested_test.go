package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// attestedFacts are bundles of facts beside attestations, and attestations beside bundles of another kind.
func (c *corpus) attestedFacts(issued, second *kernel.IssuedFacts) {
	e := c.attested(issued.Bundle, 0, 1)
	files := map[string][]byte{bundleFile: issued.Bundle, attestFile: e.Envelope, proofFile: e.Proof}
	signed := with(files, proofFile, nil)
	payload := c.payload(e.Envelope)
	c.add("attestation_alone", evidence.Verified, "A trusted signer attested it; the trust file names no log.", signed, c.trustSigner(), "")
	c.add("attestation_everything", evidence.Verified, "Token, attestation, log and two of three witnesses.", files, c.trustAll(), c.secret)
	c.add("attestation_full", evidence.Verified, "The whole is asked for, and facts have no texts that could be missing.", signed, c.trustSigner(), "", "--require-full")
	c.add("attestation_of_another_fail", evidence.Tampered, "A good attestation, of another slice of facts.", with(signed, attestFile, c.attested(second.Bundle).Envelope), c.trustSigner(), "")
	turns := c.slice(7)
	c.add("attestation_of_facts_fail", evidence.Tampered, "A bundle of turns with a good attestation of a slice of facts.", with(signed, bundleFile, turns.Bundle), c.trustSigner(), "")
	c.add("attestation_of_facts_unjudged", evidence.Verified, "An attestation of a slice of facts beside a bundle of turns, and the trust file names no signer: nobody judges it.",
		with(files, bundleFile, turns.Bundle, proofFile, c.attest(turns).Proof), c.trustLog(), "")
	c.add("attestation_as_of_fail", evidence.Tampered, "as_of is outside the token, not outside the attestation.", with(signed, bundleFile, c.forged(issued.Bundle, func(b *facts.Bundle) { b.AsOf++ })), c.trustSigner(), c.secret)
	stranger, strangerKey := c.stranger()
	c.add("attestation_stranger_fail", evidence.KeyUnknown, "Signed by a key that the trust file does not list.", with(signed, attestFile, must(attest.Seal(payload, stranger))), c.trustSigner(), "")
	c.add("attestation_unsigned_fail", evidence.KeyUnknown, "An envelope without signatures.", with(signed, attestFile, must(attest.Seal(payload))), c.trustSigner(), "")
	c.add("attestation_wrong_keyid_fail", evidence.Tampered, "A stranger's signature under a trusted signer's key id.", with(signed, attestFile, once(must(attest.Seal(payload, stranger)), strangerKey.HexID(), c.signerKey().HexID())), c.trustSigner(), "")
	c.add("attestation_other_payload_fail", evidence.Tampered, "The payload was changed under the signature.", with(signed, attestFile, c.swapPayload(e.Envelope, once(payload, `"facts":8`, `"facts":7`))), c.trustSigner(), "")
	rotated := must(c.id.Rotate(c.random, c.time()))
	by := must(rotated.Attestor(tenant))
	c.add("attestation_rotated", evidence.Verified, "Two keys are trusted, and the newer one signed.", with(signed, attestFile, must(attest.Seal(payload, by))), fmt.Sprintf("signer %s\nsigner %s\nquorum none\n", c.signerKey(), by.Key()), "")
	c.factStatements(files, payload)
	c.factSigners(files, payload, issued)
}

// factStatements are statements that differ from the bundle in one member, lack one, or have one more.
func (c *corpus) factStatements(files map[string][]byte, payload []byte) {
	signed := with(files, proofFile, nil)
	count := func(name string) func(*attest.Statement) {
		return func(s *attest.Statement) {
			for i := range s.Counts {
				if s.Counts[i].Name == name {
					s.Counts[i].N++
				}
			}
		}
	}
	for _, m := range []struct {
		name   string
		change func(*attest.Statement)
	}{
		{"aliases", count("aliases")}, {"evidence", count("evidence")}, {"facts", count("facts")}, {"reached", count("reached")},
		{"as_of", func(s *attest.Statement) { s.AsOf++ }},
		{"policy_id", func(s *attest.Statement) { s.Provenance.PolicyID = "other@1" }},
		{"policy", func(s *attest.Statement) { s.Policy = factPolicies["out@1"] }},
		{"policy_hash", func(s *attest.Statement) { s.Provenance.PolicyParamsHash[0] ^= 1 }},
		{"snapshot", func(s *attest.Statement) { s.Provenance.GraphSnapshotHash[0] ^= 1 }},
		{"anchor", func(s *attest.Statement) { s.Provenance.Anchor = c.turns[0] }},
		{"slice_id", func(s *attest.Statement) { s.Provenance.SliceID = "0123456789abcdef" }},
		{"token_key", func(s *attest.Statement) { s.TokenKeyID = "k2" }},
		{"digest", func(s *attest.Statement) { s.Subject[0] ^= 1 }},
	} {
		c.add("statement_"+m.name+"_fail", evidence.Tampered, "A trusted signer signed a statement whose "+m.name+" is not the bundle's.", with(signed, attestFile, c.reseal(files[attestFile], m.change)), c.trustSigner(), "")
	}
	c.add("statement_index_fail", evidence.NotInLog, "The statement names another leaf than the proof.", with(files, attestFile, c.reseal(files[attestFile], func(s *attest.Statement) { s.Index++ })), c.trustBoth(), "")
	sealed := func(name string, o evidence.Outcome, why string, changed []byte) {
		c.add(name, o, why, with(signed, attestFile, c.sealText(changed)), c.trustSigner(), "")
	}
	for _, key := range []string{"aliases", "anchorTurnId", "asOf", "evidence", "facts", "graphSnapshotHash", "issuedAt", "ledger", "policy", "policyId", "policyParamsHash", "reached", "schemaVersion", "sliceId", "tenant", "tokenKeyId"} {
		sealed("malformed_statement_"+key+"_fail", evidence.Malformed, "The predicate lacks "+key+".", firstOf(payload, `"`+key+`":`, `"`+key+`Absent":`))
	}
	sealed("statement_more", evidence.Verified, "A member of the predicate that a later version may have added.", once(payload, `"tokenKeyId":"k1"}`, `"tokenKeyId":"k1","zone":"later"}`))
	sealed("statement_redacted", evidence.Verified, "redacted is no member of a statement of facts, so it is passed over, whatever it says.", once(payload, `,"schemaVersion":`, `,"redacted":[7],"schemaVersion":`))
	sealed("malformed_statement_parameter_fail", evidence.Malformed, "The policy lacks a parameter, and the default would be the right one.", once(payload, `"max_hops":3,`, ``))
	sealed("malformed_statement_count_fail", evidence.Malformed, "A count that is a text.", once(payload, `"reached":8`, `"reached":"8"`))
	sealed("malformed_statement_name_fail", evidence.Malformed, "The subject is named after another slice.", once(payload, `"name":"slice-`, `"name":"facts-`))
	sealed("version_statement_fail", evidence.UnknownVersion, "A later predicate type.", once(payload, "facts/v1", "facts/v2"))
	sealed("version_statement_of_turns_fail", evidence.UnknownVersion, "The predicate type of a slice of turns over a predicate of facts, whose schemaVersion it does not have.", once(payload, "facts/v1", "slice/v1"))
	sealed("version_statement_schema_fail", evidence.UnknownVersion, "The schema version of a slice of turns.", once(payload, `"schemaVersion":"gkf/2"`, `"schemaVersion":"gkp/1"`))
	sealed("version_statement_policy_fail", evidence.UnknownVersion, "A policy of turns.", once(payload, `"fact_policy_v1"`, `"slice_policy_v1"`))
	ordered := c.reseal(files[attestFile], func(s *attest.Statement) { s.Policy = factPolicies["wide@1"] })
	names := strings.Split(factPolicies["wide@1"].Predicates, " ")
	slices.Reverse(names)
	swapped := once(c.payload(ordered), `"`+strings.Join(strings.Split(factPolicies["wide@1"].Predicates, " "), `","`)+`"`, `"`+strings.Join(names, `","`)+`"`)
	sealed("malformed_statement_predicates_fail", evidence.Malformed, "The predicates of the policy do not ascend.", swapped)
}

// factSigners are signers of another tenant or name, and ends of keys.
func (c *corpus) factSigners(files map[string][]byte, payload []byte, issued *kernel.IssuedFacts) {
	signed := with(files, proofFile, nil)
	s := must(attest.ParseStatement(payload))
	by := func(name, at string) (map[string][]byte, string) {
		signer, key, err := attest.NewSigner(name, c.private(44))
		if err != nil {
			panic(err)
		}
		st := *s
		st.Origin = at
		return with(files, attestFile, must(attest.Seal(st.Append(nil), signer))), fmt.Sprintf("signer %s\n", key)
	}
	other, trust := by("acme.kernel.example", "acme.kernel.example")
	c.add("signer_of_another_tenant_fail", evidence.KeyUnknown, "Another tenant's signer states, in its own name, something of this tenant.", with(other, proofFile, nil), trust+"quorum none\n", "")
	other, trust = by("default.elsewhere.example", origin)
	c.add("signer_of_another_name_fail", evidence.KeyUnknown, "A listed signer whose name is not the statement's origin.", with(other, proofFile, nil), trust+"quorum none\n", "")
	other, trust = by("default.elsewhere.example", "default.elsewhere.example")
	c.add("statement_origin_fail", evidence.NotInLog, "The statement is of another log than the proof; both are trusted.", other, trust+c.trustLog(), "")
	c.add("statement_tenant_fail", evidence.KeyUnknown, "The statement is about another tenant, of which its signer states nothing.", with(signed, attestFile, c.reseal(files[attestFile], func(s *attest.Statement) { s.Tenant = "acme" })), c.trustSigner(), "")
	until := func(at dag.Time) string { return fmt.Sprintf("signer %s %s\nquorum none\n", c.signerKey(), at) }
	c.add("signer_in_time", evidence.Verified, "The key's end is the very time at which the slice was issued.", signed, until(s.IssuedAt), "")
	c.add("signer_retired_fail", evidence.KeyRetired, "The slice was issued after its signer's end.", signed, until(s.IssuedAt-1), "")
	late := proofWith(c.proofOf(issued), func(p *ledger.Proof) { p.Checkpoint = c.cosign(p.Checkpoint, c.now.Add(time.Hour), 0, 1) })
	witnessed := strings.Replace(c.trustAll(), fmt.Sprintf("signer %s\n", c.signerKey()), fmt.Sprintf("signer %s %s\n", c.signerKey(), s.IssuedAt), 1)
	c.add("signer_witnessed_late_fail", evidence.KeyRetired, "The key's end is the time that the signer claims, and by the witnesses' clocks it was later.", with(files, proofFile, late), witnessed, "")
}
