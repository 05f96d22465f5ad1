package evidence_test

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// logContext puts the leaf of a context into the ledger, and returns what a kernel would hand out about it.
func (c *corpus) logContext(data []byte, witnesses ...int) (envelope, proof []byte) {
	b := must(contexts.Parse(data))
	p := &b.Provenance
	leaf := (&issued.AskedLeaf{
		Kind: "context", Tenant: tenant, PolicyID: p.PolicyID, PolicyParamsHash: p.PolicyParamsHash, AsOf: b.AsOf, KeyID: b.Seal.KeyID, Bundle: sha256.Sum256(data), At: c.time(),
	}).Append(nil)
	at := must(storetest.Raw().Put(c.ctx(), c.store, tenant, [][]byte{leaf}))
	proved := must(c.kernel.Ledger().Prove(c.ctx(), tenant, at[0]))
	proved.Checkpoint = c.cosign(proved.Checkpoint, c.now, witnesses...)
	s := attest.NewStatement(b, sum(data), c.time(), proved.Index, origin, nil)
	return must(attest.Seal(s.Append(nil), must(c.kernel.Ledger().Identity().Attestor(tenant)))), proved.Append(nil)
}

// loggedContexts are contexts beside what third parties go by, and parts of them.
func (c *corpus) loggedContexts(first, second []byte) {
	envelope, proof := c.logContext(first, 0, 1)
	otherEnvelope, otherProof := c.logContext(second, 0, 1)
	turns := c.slice(7)
	e := c.attest(turns, 0, 1)
	files := map[string][]byte{bundleFile: first, attestFile: envelope, proofFile: proof}
	c.add("everything", evidence.Verified, "Token, attestation, log and two of three witnesses.", files, c.trustAll(), c.secret)
	c.add("attestation", evidence.Verified, "A trusted signer attested it; the trust file names no log.", with(files, proofFile, nil), c.trustSigner(), "")
	c.add("attestation_of_another_fail", evidence.Tampered, "A good attestation, of another context.", with(files, attestFile, otherEnvelope), c.trustBoth(), "")
	c.add("attestation_of_turns_fail", evidence.Tampered, "A good attestation, of a slice of turns.", with(files, attestFile, e.Envelope), c.trustBoth(), "")
	c.add("attestation_beside_turns_fail", evidence.Tampered, "A slice of turns with the attestation of a context.", map[string][]byte{bundleFile: turns.Bundle, attestFile: envelope}, c.trustSigner(), "")
	c.add("attestation_none_fail", evidence.KeyUnknown, "The trust file names a signer and no log, and there is no attestation.", map[string][]byte{bundleFile: first}, c.trustSigner(), c.secret)
	c.add("attestation_unjudged", evidence.Verified, "An attestation of another context, and the trust file names no signer: nobody judges it.", with(files, attestFile, otherEnvelope), c.trustLog(), "")
	c.add("attestation_full", evidence.Verified, "The whole is asked for, and it is the whole.", files, c.trustAll(), "", "--require-full")
	c.contextStatements(with(files, proofFile, nil), envelope)
	c.add("log", evidence.Verified, "It is in a trusted log.", with(files, attestFile, nil), c.trustLog(), "")
	c.add("log_one_witness_fail", evidence.QuorumNotMet, "One of three witnesses cosigned, two are needed.", with(files, proofFile, proofWith(proof, func(p *ledger.Proof) {
		p.Checkpoint = c.cosign(p.Checkpoint[:bytes.Index(p.Checkpoint, []byte("— w"))], c.now, 2)
	}), attestFile, nil), c.trustAll(), "")
	c.add("log_no_proof_fail", evidence.NotInLog, "The trust file names a log, and there is no proof.", with(files, proofFile, nil), c.trustLog(), c.secret)
	c.add("log_bent_fail", evidence.NotInLog, "A hash of the path was changed.", with(files, proofFile, proofWith(proof, func(p *ledger.Proof) { p.Path[1][5] ^= 1 }), attestFile, nil), c.trustLog(), "")
	c.add("log_of_another_fail", evidence.NotInLog, "A good proof, of another context.", with(files, proofFile, otherProof, attestFile, nil), c.trustLog(), "")
	c.add("log_of_turns_fail", evidence.NotInLog, "A good proof, of a slice of turns.", with(files, proofFile, e.Proof, attestFile, nil), c.trustLog(), "")
	c.add("log_turns_fail", evidence.NotInLog, "A slice of turns with the proof of a context.", map[string][]byte{bundleFile: turns.Bundle, proofFile: proof}, c.trustLog(), "")
	leaf := must(ledger.ParseProof(proof)).Leaf
	alone := func(old, next string) []byte {
		signer, _, err := c.id.Log(tenant)
		changed := once(leaf, old, next)
		note := must(ledger.Checkpoint{Origin: origin, Root: ledger.Root{Size: 1, Hash: ledger.LeafHash(changed)}}.Sign(must(signer, err)))
		return (&ledger.Proof{Leaf: changed, Checkpoint: note}).Append(nil)
	}
	for _, x := range []struct {
		name, why, old, next string
		outcome              evidence.Outcome
	}{
		{"log_leaf_facts", "A leaf of facts, with all that the leaf of the context has.", `"type":"context"`, `"type":"facts"`, evidence.NotInLog},
		{"log_leaf_other", "A leaf of a type that nobody knows, likewise.", `"type":"context"`, `"type":"other"`, evidence.NotInLog},
		{"log_leaf_as_of", "A leaf of another number.", `"as_of":40`, `"as_of":41`, evidence.NotInLog},
		{"log_leaf_key", "A leaf of another key.", `"key_id":"k1"`, `"key_id":"k2"`, evidence.NotInLog},
		{"log_leaf_policy", "A leaf of another policy.", `"corpus@1"`, `"corpus@2"`, evidence.NotInLog},
		{"log_leaf_tenant", "A leaf of another tenant.", `"tenant":"default"`, `"tenant":"other"`, evidence.NotInLog},
		{"malformed_leaf_slice", "A leaf of the type slice, of a context.", `"type":"context"`, `"type":"slice"`, evidence.Malformed},
		{"malformed_leaf_member", "A leaf that has not all of its members.", `"key_id":"k1",`, ``, evidence.Malformed},
		{"malformed_leaf_more", "A leaf that tells of the request.", `,"bundle":`, `,"budget":160,"bundle":`, evidence.Malformed},
		{"version_leaf", "A leaf of another version.", `"gkl/1"`, `"gkl/2"`, evidence.UnknownVersion},
	} {
		c.add(x.name+"_fail", x.outcome, x.why, with(files, proofFile, alone(x.old, x.next), attestFile, nil), c.trustLog(), "")
	}
	c.disclosedContexts(files, first)
}

// contextStatements are statements that differ from the context in one member each, and some that are not in their form.
func (c *corpus) contextStatements(files map[string][]byte, envelope []byte) {
	says := func(name, why string, change func(s *attest.Statement)) {
		c.add("statement_"+name+"_fail", evidence.Tampered, why, with(files, attestFile, c.reseal(envelope, change)), c.trustSigner(), "")
	}
	says("as_of", "Another number.", func(s *attest.Statement) { s.AsOf++ })
	says("anchor", "Another request.", func(s *attest.Statement) { s.Provenance.Anchor[0] ^= 1 })
	says("snapshot", "Another tree.", func(s *attest.Statement) { s.Provenance.GraphSnapshotHash[0] ^= 1 })
	says("policy_id", "Another policy's id.", func(s *attest.Statement) { s.Provenance.PolicyID = "corpus@2" })
	says("policy_hash", "Another policy's hash.", func(s *attest.Statement) { s.Provenance.PolicyParamsHash[0] ^= 1 })
	says("policy", "Another weight.", func(s *attest.Statement) {
		p := s.Policy.(contexts.Policy)
		p.Weights[contexts.FeatureTask]++
		s.Policy = p
	})
	says("slice_id", "Another id.", func(s *attest.Statement) { s.Provenance.SliceID = "0123456789abcdef" })
	says("key", "Another key of the token.", func(s *attest.Statement) { s.TokenKeyID = "k2" })
	says("subject", "Another digest.", func(s *attest.Statement) { s.Subject[0] ^= 1 })
	for i, name := range []string{"beliefs", "candidates", "facts", "turns"} {
		says("count_"+name, "One more of its "+name+".", func(s *attest.Statement) {
			s.Counts = slices.Clone(s.Counts)
			s.Counts[i].N++
		})
	}
	text := func(name, why string, o evidence.Outcome, old, next string) {
		c.add(name, o, why, with(files, attestFile, c.sealText(once(c.payload(envelope), old, next))), c.trustSigner(), "")
	}
	text("statement_member", "A member that is not known, with a decimal above 1, as weights are.", evidence.Verified, `"tokenKeyId":`, `"tier":{"a":[9.999999]},"tokenKeyId":`)
	text("malformed_statement_decimal_fail", "A member that is not known, with a decimal above 10, which nothing has.", evidence.Malformed, `"tokenKeyId":`, `"tier":10.5,"tokenKeyId":`)
	text("malformed_statement_count_fail", "A count is missing.", evidence.Malformed, `"candidates":15,`, ``)
	text("malformed_statement_policy_fail", "A weight is missing: a verifier fills in no default.", evidence.Malformed, `"evidence":0.3,`, ``)
	text("malformed_statement_weight_fail", "A weight above 10.", evidence.Malformed, `"recent":10,`, `"recent":11,`)
	text("version_statement_schema_fail", "Another schema version than that of the predicate type.", evidence.UnknownVersion, `"gkc/1"`, `"gkp/1"`)
	text("version_statement_policy_fail", "Another type of policy.", evidence.UnknownVersion, `"context_policy_v1"`, `"context_policy_v2"`)
	text("version_statement_predicate_fail", "A later predicate type.", evidence.UnknownVersion, `attestation/context/v1`, `attestation/context/v2`)
	text("version_statement_turns_fail", "The predicate type of a slice of turns.", evidence.UnknownVersion, `attestation/context/v1`, `attestation/slice/v1`)
}

func parseContext(data []byte) *slice.Disclosure {
	return must(slice.ParseDisclosure(data, contexts.Disclosures[0], contexts.Disclosures[1]))
}

// contextPart shows some of a context: turns and facts by their places.
func contextPart(b *contexts.Bundle, turns, facts []int, more contexts.Part) contexts.Part {
	for _, i := range turns {
		more.Turns = append(more.Turns, b.Turns[i].ID)
	}
	for _, i := range facts {
		more.Facts = append(more.Facts, b.Facts[i].Fact.ID())
	}
	return more
}

func addresses(b *contexts.Bundle) (list []belief.Address) {
	for i := range b.Beliefs {
		list = append(list, b.Beliefs[i].Address())
	}
	return list
}

// disclosedContexts are parts of a context, honest and not.
func (c *corpus) disclosedContexts(files map[string][]byte, data []byte) {
	b := must(contexts.Parse(data))
	show := func(p contexts.Part) []byte { return must(b.Disclose(sum(data), p)).Append(nil) }
	every := show(contextPart(b, []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1}, contexts.Part{Beliefs: addresses(b), Candidates: true, Request: true, Prompt: true}))
	files = with(files, bundleFile, nil, partFile, every)
	for _, x := range []struct {
		name, why string
		part      contexts.Part
	}{
		{"every", "All that can be shown: turns, facts, beliefs, candidates, the request and the prompt.", contextPart(b, []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1}, contexts.Part{Beliefs: addresses(b), Candidates: true, Request: true, Prompt: true})},
		{"turn", "One turn.", contextPart(b, []int{3}, nil, contexts.Part{})},
		{"fact", "One fact.", contextPart(b, nil, []int{1}, contexts.Part{})},
		{"candidates", "All candidates, and no text.", contexts.Part{Candidates: true}},
		{"belief", "One belief.", contexts.Part{Beliefs: []belief.Address{b.Beliefs[0].Address()}}},
		{"belief_and_candidates", "A belief and all candidates: leaves and costs can be compared.", contexts.Part{Beliefs: []belief.Address{b.Beliefs[1].Address()}, Candidates: true}},
		{"turn_and_candidates", "A turn, a fact, and all candidates: leaves and costs can be compared.", contextPart(b, []int{2}, []int{0}, contexts.Part{Candidates: true})},
		{"request", "The request with its salt, and nothing else.", contexts.Part{Request: true}},
		{"prompt", "What is said of the prompt.", contexts.Part{Prompt: true}},
	} {
		c.add("dropped_"+x.name, evidence.Verified, x.why, with(files, partFile, show(x.part)), c.trustAll(), c.secret)
	}
	c.add("dropped_token", evidence.Verified, "A part, and the secret of its token.", map[string][]byte{partFile: every}, "", c.secret)
	c.add("dropped_log_only", evidence.Verified, "A part names the digest of the whole, which the leaf has.", with(files, attestFile, nil), c.trustLog(), "")
	c.add("dropped_unattested_fail", evidence.KeyUnknown, "A part without the attestation, which alone says how much there is; the trust file names a signer.", with(files, attestFile, nil), c.trustAll(), "")
	c.add("dropped_full_fail", evidence.Redacted, "Two leaves are never shown, and the whole was asked for.", files, c.trustAll(), "", "--require-full")
	c.add("dropped_line_feed", evidence.Verified, "The file ends with a line feed, which is no part of it.", with(files, partFile, append(bytes.Clone(every), '\n')), c.trustAll(), "")
	c.changedContextParts(files, every)
	c.forgedContextParts(data)
	c.contextPartForms(files, every)
}

// deepContexts are contexts, parts and statements that nest deep.
func (c *corpus) deepContexts(data []byte) {
	none := map[string][]byte{}
	c.deepFile("", bundleFile, none, data, `"gkc/1"`, `"gkc/9"`, "", c.secret)
	c.deepFile("part_", partFile, none, must(must(contexts.Parse(data)).Disclose(sum(data), contexts.Part{Prompt: true})).Append(nil), `"gkd/4"`, `"gkd/9"`, "", c.secret)
	envelope, _ := c.logContext(data)
	c.deepStatement(map[string][]byte{bundleFile: data, attestFile: envelope}, c.trustSigner())
}

func (c *corpus) changedContextParts(files map[string][]byte, every []byte) {
	count := func(name string, by int) func(d *slice.Disclosure) {
		return func(d *slice.Disclosure) {
			d.Shown = d.Shown[:1] // whose path is the same in other trees
			for i := range d.Counts {
				if d.Counts[i].Name == name {
					d.Counts[i].N += uint64(by)
				}
			}
		}
	}
	at := func(member string, nth int) func(d *slice.Disclosure) *slice.Shown {
		return func(d *slice.Disclosure) *slice.Shown {
			for i := range d.Shown {
				if d.Shown[i].Leaf.Member() == member {
					if nth == 0 {
						return &d.Shown[i]
					}
					nth--
				}
			}
			panic(member)
		}
	}
	for _, x := range []changedPart{
		{"text", "A text was changed.", func(d *slice.Disclosure) { at("turn", 1)(d).Leaf.(*contexts.ShownTurn).Body.Content += "!" }},
		{"role", "A role was changed: the leaf is another.", func(d *slice.Disclosure) { at("turn", 1)(d).Leaf.(*contexts.ShownTurn).Role = dag.RoleSystem }},
		{"fact_salt", "A fact has another salt: the leaf is another.", func(d *slice.Disclosure) { at("fact", 0)(d).Leaf.(*contexts.ShownFact).Salt[0] ^= 1 }},
		{"belief_salt", "A belief has another salt: the leaf is another.", func(d *slice.Disclosure) { at("belief", 0)(d).Leaf.(*contexts.ShownBelief).Salt[0] ^= 1 }},
		{"feature", "A feature was changed: the leaf is another.", func(d *slice.Disclosure) {
			at("candidate", 3)(d).Leaf.(*contexts.ShownCandidate).Features[contexts.FeatureRecency]++
		}},
		{"task", "Another task.", func(d *slice.Disclosure) { at("request", 0)(d).Leaf.(*contexts.ShownRequest).Task = "obey" }},
		{"request_as_of", "The request is of another number than the part.", func(d *slice.Disclosure) { at("request", 0)(d).Leaf.(*contexts.ShownRequest).AsOf++ }},
		{"as_of", "as_of was changed, and the request is shown.", func(d *slice.Disclosure) { d.AsOf++ }},
		{"prompt_cost", "The prompt is said to have another cost.", func(d *slice.Disclosure) { at("prompt", 0)(d).Leaf.(*contexts.ShownPrompt).Cost++ }},
		{"anchor", "anchor is not anchor_turn_id.", func(d *slice.Disclosure) { d.Anchor[0] ^= 1 }},
		{"path", "A hash of a path was changed.", func(d *slice.Disclosure) { d.Shown[0].Path[0][0] ^= 1 }},
		{"path_short", "A path lacks a hash.", func(d *slice.Disclosure) { d.Shown[0].Path = d.Shown[0].Path[1:] }},
		{"path_swapped", "Two turns have each other's paths.", func(d *slice.Disclosure) { d.Shown[0].Path, d.Shown[1].Path = d.Shown[1].Path, d.Shown[0].Path }},
		{"order", "Two leaves changed places.", func(d *slice.Disclosure) { d.Shown[0], d.Shown[1] = d.Shown[1], d.Shown[0] }},
		{"index", "A leaf is said to be where another is.", func(d *slice.Disclosure) { at("prompt", 0)(d).Index++ }},
		{"index_outside", "An index outside the tree.", func(d *slice.Disclosure) { at("prompt", 0)(d).Index = 100 }},
		{"policy", "Another policy is shown.", func(d *slice.Disclosure) {
			p := d.Policy.(contexts.Policy)
			p.HalfLife++
			d.Policy = p
		}},
		{"digest", "It is said to be a part of another bundle.", func(d *slice.Disclosure) { d.Bundle[0] ^= 1 }},
		{"candidate_left_out", "The candidate of a turn that is shown is left out, and others are shown.", func(d *slice.Disclosure) {
			id := at("turn", 0)(d).Leaf.ID()
			d.Shown = slices.DeleteFunc(d.Shown, func(s slice.Shown) bool { return s.Leaf.Member() == "candidate" && s.Leaf.ID() == "turn "+id })
		}},
		{"count_candidates", "There is said to be a candidate more; the attestation knows.", count("candidates", 1)},
		{"count_beliefs", "There is said to be a belief more; the attestation knows.", count("beliefs", 1)},
		{"count_facts", "There is said to be a fact more; the attestation knows.", count("facts", 1)},
		{"count_turns", "There is said to be a turn more; the attestation knows.", count("turns", 1)},
	} {
		d := parseContext(every)
		x.change(d)
		c.add("dropped_"+x.name+"_fail", evidence.Tampered, x.why, with(files, partFile, d.Append(nil)), c.trustAll(), c.secret)
	}
	d := parseContext(every)
	count("candidates", 1)(d)
	c.add("dropped_count_unattested", evidence.Verified, "There is said to be a candidate more: without an attestation the counts are claims, and said to be.", with(files, partFile, d.Append(nil), attestFile, nil), c.trustLog(), "")
}

// forgedContextParts are parts of contexts that were forged with a header and a token that agree.
func (c *corpus) forgedContextParts(data []byte) {
	for _, x := range []struct {
		name, why string
		turns     []int
		change    func(b *contexts.Bundle)
	}{
		{"above", "A candidate is numbered above the view.", nil, func(b *contexts.Bundle) { b.Candidates[3].Seq = 41 }},
		{"quota", "More candidates of the search than its quota.", nil, func(b *contexts.Bundle) { b.Policy.Quotas[contexts.FromSearch] = 6 }},
		{"leaf", "A turn that is shown has another leaf than its candidate.", []int{0}, func(b *contexts.Bundle) { candidateOf(b, b.Turns[0].ID).Leaf[0] ^= 1 }},
		{"cost", "A turn that is shown has another cost than its candidate.", []int{0}, func(b *contexts.Bundle) { candidateOf(b, b.Turns[0].ID).Cost++ }},
		{"belief_cost", "A belief that is shown has another cost than its candidate.", nil, func(b *contexts.Bundle) { b.Candidates[1].Cost++ }},
		{"turns_order", "The turns do not ascend in the context itself.", []int{0, 1}, func(b *contexts.Bundle) { b.Turns[0], b.Turns[1] = b.Turns[1], b.Turns[0] }},
	} {
		b := must(contexts.Parse(data))
		x.change(b)
		agreeContext(b)
		forged := c.seal(b)
		d := must(b.Disclose(sum(forged), contextPart(b, x.turns, nil, contexts.Part{Candidates: true, Beliefs: addresses(b)})))
		c.add("dropped_forged_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{partFile: d.Append(nil)}, "", c.secret)
	}
}

// contextPartForms are parts of a context that are not in their form, or of versions that nobody knows.
func (c *corpus) contextPartForms(files map[string][]byte, every []byte) {
	for _, x := range []struct{ name, why, old, next string }{
		{"space", "A space that canonical JSON does not have.", `"counts":{`, `"counts": {`},
		{"type", "Another type.", `"type":"disclosure"`, `"type":"slice"`},
		{"count_missing", "A count is missing.", `"candidates":15,`, ``},
		{"count_more", "A count that nobody knows.", `"candidates":15,`, `"aliases":1,"candidates":15,`},
		{"count_most", "More candidates than there may be.", `"candidates":15,`, `"candidates":14001,`},
		{"index_most", "An index that there may not be.", `"index":28`, `"index":56004`},
		{"nothing_at", "A leaf of no sort.", `"prompt":{"cost"`, `"promise":{"cost"`},
		{"overlaps_at", "A leaf of a sort that is not shown.", `"prompt":{"cost"`, `"overlaps":{"cost"`},
		{"two_at", "Two leaves at one index.", `"request":{"as_of"`, `"prompt":{},"request":{"as_of"`},
		{"request_bare", "The request without the number that its leaf has.", `"request":{"as_of":40,"request":`, `"request":{"request":`},
		{"belief_half", "A belief without what it says.", `"belief":{"private":`, `"belief":{"says":`},
		{"fact_type", "An act that is no assertion.", `"type":"fact/2"`, `"type":"alias/2"`},
		{"parameter", "A parameter of the policy is missing.", `"half_life_hours":48,`, ``},
		{"no_anchor", "anchor is missing.", `{"anchor":"`, `{"anchors":"`},
	} {
		c.add("malformed_part_"+x.name+"_fail", evidence.Malformed, x.why, with(files, partFile, firstOf(every, x.old, x.next)), c.trustAll(), c.secret)
	}
	c.add("malformed_part_turn_redacted_fail", evidence.Malformed, "A turn without its text.", with(files, partFile, redactOne(every)), c.trustAll(), c.secret)
	empty := parseContext(every)
	empty.Shown = nil
	c.add("malformed_part_empty_fail", evidence.Malformed, "A part that shows nothing.", with(files, partFile, empty.Append(nil)), c.trustAll(), c.secret)
	for _, x := range []struct{ name, why, old, next string }{
		{"later", "A later version.", `"gkd/4"`, `"gkd/6"`}, {"of_turns", "The version of a part of a slice of turns.", `"gkd/4"`, `"gkd/1"`}, {"of_facts", "The version of a part of a slice of facts.", `"gkd/4"`, `"gkd/2"`},
		{"none", "No version: it is read as the first one, which has another schema version.", `,"version":"gkd/4"`, ``}, {"number", "A version that is a number, likewise.", `"version":"gkd/4"`, `"version":4`},
		{"schema", "The schema version of a slice of turns.", `"gkc/1"`, `"gkp/1"`}, {"policy", "A policy of turns.", `"context_policy_v1"`, `"slice_policy_v1"`},
	} {
		c.add("version_part_"+x.name+"_fail", evidence.UnknownVersion, x.why, with(files, partFile, once(every, x.old, x.next)), c.trustAll(), "")
	}
}
