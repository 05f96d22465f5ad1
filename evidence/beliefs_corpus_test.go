package evidence_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
)

const deskSpace belief.Space = "acme/desk"

// believe returns the kernel beliefs: a rule over what is stated and over what that excludes, times, and turns that they rest on.
func (c *corpus) believe() {
	p := must(policy.Bind("desk@1", kinds.New(belief.Constraints{
		Functional: []string{"state", "﨎-of"}, Exclusive: []belief.Exclusion{{Predicate: "mood", Objects: []string{"calm", "cross", "\U0001F600"}}},
	}, []kinds.Kind{{Name: "fact", Level: 2, Entrenched: kinds.ByEvidence, HalfLife: 30, Exports: true}, {Name: "hard_rule", Level: 3, Always: true, Hard: true, Entrenched: kinds.ByEvent}})))
	if err := c.kernel.Policies().Register(c.ctx(), tenant, p); err != nil {
		panic(err)
	}
	must(c.kernel.Beliefs().SetSpace(c.ctx(), tenant, api.NewSpace{Space: deskSpace, Policy: "desk@1"}))
	from := must(dag.ParseTime("2026-01-01T00:00:00.000000Z"))
	until := must(dag.ParseTime("2026-06-01T00:00:00.000000Z"))
	for _, x := range []struct {
		item               string
		of                 belief.Literal
		premises           []belief.Literal
		span               belief.Span
		turns              []int
		title, by, summary string
	}{
		{item: "order.fact", of: belief.Literal{Subject: "order", Predicate: "state", Object: "open"}, span: belief.Span{From: from, Until: until}, turns: []int{1, 5}, title: "The order is open", summary: "\x1b[2J \"quoted\" \U0001F600"},
		{item: "stock.fact", of: belief.Literal{Subject: "shop", Predicate: "has", Object: "stock"}, span: belief.Always, turns: []int{3}},
		{item: "ship.hard_rule", of: belief.Literal{Subject: "agent", Predicate: "may", Object: "ship"}, span: belief.Span{From: from, Until: dag.MaxTime},
			premises: []belief.Literal{{Subject: "order", Predicate: "state", Object: "closed", Not: true}, {Subject: "shop", Predicate: "has", Object: "stock"}}},
		{item: "mood.fact", of: belief.Literal{Subject: "Spülstraße №\u00a09", Predicate: "mood", Object: "\U0001F600"}, span: belief.Always},
	} {
		r := api.BeliefRequest{Space: deskSpace, Item: belief.Item("kref://acme/desk/" + x.item), Statements: []belief.Literal{x.of}, Premises: x.premises, Title: x.title, Summary: x.summary}
		r.ValidFrom, r.ValidUntil = x.span.Bounds()
		for _, t := range x.turns {
			r.Turns = append(r.Turns, c.turns[t])
		}
		must(c.kernel.Beliefs().Revise(c.ctx(), tenant, r))
	}
}

func (c *corpus) proved(of belief.Literal, validAt *dag.Time) *kernel.IssuedBelief {
	return must(c.kernel.Beliefs().Prove(c.ctx(), tenant, api.BeliefProofRequest{Space: deskSpace, BeliefStatement: of, ValidAt: validAt}))
}

// forgedBelief changes evidence and signs it, as somebody could who has the key.
func (c *corpus) forgedBelief(data []byte, change func(*beliefs.Bundle)) []byte {
	b := must(beliefs.Parse(data))
	change(b)
	b.Seal = c.sealed(&b.Provenance)
	return b.Append(nil)
}

// agreeBelief makes the header agree with the body.
func agreeBelief(b *beliefs.Bundle) { agreeHeader(b.Check, &b.Provenance, beliefs.CheckQuestion) }

// beliefsFolder is where the cases of evidence of beliefs are.
const beliefsFolder = "../golden/verify-beliefs"

// makeBeliefsCorpus makes every case of evidence of a belief. It is the same each time.
func makeBeliefsCorpus(t testing.TB) []corpusCase {
	c := &corpus{world: newWorld(t)}
	c.believe()
	ship := belief.Literal{Subject: "agent", Predicate: "may", Object: "ship"}
	first := c.proved(ship, nil)
	if b := first.Belief; len(b.Steps) != 3 || len(b.Revisions) != 3 || len(b.Evidence) != 3 {
		t.Fatalf("the sample has %d steps of %d revisions, and %d turns", len(b.Steps), len(b.Revisions), len(b.Evidence))
	}
	second := c.proved(belief.Literal{Subject: "shop", Predicate: "has", Object: "stock"}, nil)
	c.grow(60)
	c.goodBeliefs(first.Bundle, ship)
	c.forgedBeliefs(first.Bundle)
	c.beliefForms(first.Bundle)
	c.loggedBeliefs(first, second)
	for i := range c.cases {
		c.cases[i].namesBeliefFails(t)
	}
	return c.cases
}

// namesBeliefFails writes down which checks of tampered evidence fail, and of its token. A case that was forged with a header that agrees is named after the one that
// has to.
func (c *corpusCase) namesBeliefFails(t testing.TB) {
	if c.verdict != string(evidence.Tampered) {
		return
	}
	for _, check := range c.judge(t).Checks {
		if check.Status == slice.StatusFail && (check.ID == slice.CheckToken || slices.Contains(beliefs.Checks[:], check.ID)) {
			c.fails = append(c.fails, string(check.ID))
		}
	}
	name := strings.Split(c.name, "_")[0]
	id, named := map[string]slice.CheckID{"order": slice.CheckCanonicalOrder, "revisions": beliefs.CheckBeliefs, "steps": beliefs.CheckSteps, "evidence": beliefs.CheckEvidence}[name]
	if named && !slices.Contains(c.fails, string(id)) || named && slices.Contains(c.fails, string(slice.CheckSnapshot)) {
		t.Errorf("%s: %q fail, want %s and nothing of the header", c.name, c.fails, id)
	}
}

func (c *corpus) goodBeliefs(data []byte, ship belief.Literal) {
	good := func(name, why string, data []byte) {
		c.add("good_"+name, evidence.Verified, why, map[string][]byte{bundleFile: data}, "", c.secret)
	}
	good("rule", "A rule over what is stated, and over what that excludes.", data)
	good("line_feed", "The file ends with a line feed, which is no part of the bundle.", append(bytes.Clone(data), '\n'))
	good("time", "At a time at which all of it holds.", c.proved(ship, &at).Bundle)
	good("excluded", "A negation that follows by a functional predicate.", c.proved(belief.Literal{Subject: "order", Predicate: "state", Object: "closed", Not: true}, nil).Bundle)
	good("excluded_set", "A negation that follows by an exclusive set, of names beyond ASCII.", c.proved(belief.Literal{Subject: "Spülstraße №\u00a09", Predicate: "mood", Object: "calm", Not: true}, nil).Bundle)
	good("stated", "One statement, which rests on its author's word.", c.proved(belief.Literal{Subject: "Spülstraße №\u00a09", Predicate: "mood", Object: "\U0001F600"}, nil).Bundle)
	good("as_of", "as_of is outside the token, which is all that is checked here.", c.forgedBelief(data, func(b *beliefs.Bundle) { b.AsOf++ }))
	c.add("good_full", evidence.Verified, "The whole is asked for, and evidence of a belief has no texts of turns that could be missing.", map[string][]byte{bundleFile: data}, "", c.secret, "--require-full")
	c.add("nothing_to_check_fail", evidence.WellFormed, "Neither a secret nor a trust file.", map[string][]byte{bundleFile: data}, "", "")
	c.add("token_other_secret_fail", evidence.Tampered, "The key's id is the same and the secret another.", map[string][]byte{bundleFile: data}, "", "k1 "+strings.Repeat("5c", 32))
}

// forgedBeliefs changes what evidence says, with a header and a token that agree, and then a part of the header alone.
func (c *corpus) forgedBeliefs(data []byte) {
	before := must(dag.ParseTime("2025-12-31T23:59:59.999999Z"))
	after := must(dag.ParseTime("2026-06-01T00:00:00.000000Z"))
	for _, x := range []struct {
		name, why string
		change    func(b *beliefs.Bundle)
	}{
		{"order_revisions", "Two revisions changed places, and the steps know.", func(b *beliefs.Bundle) {
			b.Revisions[0], b.Revisions[1] = b.Revisions[1], b.Revisions[0]
			for i := range b.Steps {
				if s := &b.Steps[i]; s.Revision < 2 {
					s.Revision = 1 - s.Revision
				}
			}
		}},
		{"order_evidence", "Two turns of the evidence changed places.", func(b *beliefs.Bundle) { b.Evidence[0], b.Evidence[1] = b.Evidence[1], b.Evidence[0] }},
		{"revisions_space", "It is said to be believed in another space.", func(b *beliefs.Bundle) { b.Question.Space = "acme/desk/x" }},
		{"revisions_unused", "A revision that no step takes a statement of.", func(b *beliefs.Bundle) {
			r := b.Revisions[2]
			r.Number = 9
			b.Revisions = append(b.Revisions, r)
		}},
		{"steps_none", "No step.", func(b *beliefs.Bundle) { b.Steps, b.Revisions, b.Evidence = nil, nil, nil }},
		{"steps_missing", "The last step is missing.", func(b *beliefs.Bundle) { b.Steps = b.Steps[:2] }},
		{"steps_premise", "A step before what it follows from.", func(b *beliefs.Bundle) { b.Steps[1], b.Steps[2] = b.Steps[2], b.Steps[1] }},
		{"steps_twice", "A step twice.", func(b *beliefs.Bundle) { b.Steps = slices.Insert(b.Steps, 0, b.Steps[0]) }},
		{"steps_beyond", "A step after the one from which the statement follows.", func(b *beliefs.Bundle) {
			b.Revisions[1].Statements = append(b.Revisions[1].Statements, journal.Stated{Literal: belief.Literal{Subject: "a", Predicate: "b", Object: "c"}, Span: belief.Always, Rank: journal.Rank{Class: belief.Human}})
			b.Steps = append(b.Steps, beliefs.Step{Revision: 1, Statement: len(b.Revisions[1].Statements) - 1})
		}},
		{"steps_again", "A step after the one from which the statement follows, from which it follows again.", func(b *beliefs.Bundle) {
			b.Revisions[1].Statements = append(b.Revisions[1].Statements, journal.Stated{Literal: b.Question.Literal, Span: belief.Always, Rank: journal.Rank{Class: belief.Human}})
			b.Steps = append(b.Steps, beliefs.Step{Revision: 1, Statement: len(b.Revisions[1].Statements) - 1})
		}},
		{"steps_question", "The opposite was asked for.", func(b *beliefs.Bundle) { b.Question.Literal.Not = true }},
		{"steps_object", "Something else was asked for.", func(b *beliefs.Bundle) { b.Question.Literal.Object = "sell" }},
		{"steps_policy", "Nothing excludes another under the policy that is said.", func(b *beliefs.Bundle) { b.Policy = kinds.DefaultV1() }},
		{"steps_before", "It does not hold yet at the time that was asked for.", func(b *beliefs.Bundle) { b.Question.ValidAt = &before }},
		{"steps_after", "It holds no longer at the time that was asked for: its end does not belong to it.", func(b *beliefs.Bundle) { b.Question.ValidAt = &after }},
		{"steps_apart", "Two statements that never hold together.", func(b *beliefs.Bundle) {
			for i := range b.Revisions {
				if s := &b.Revisions[i].Statements[0]; s.Object == "stock" {
					s.Span.From = after
				}
			}
		}},
		{"steps_apart_before", "Two statements that never hold together, the other way round.", func(b *beliefs.Bundle) {
			for i := range b.Revisions {
				if s := &b.Revisions[i].Statements[0]; s.Object == "stock" {
					s.Span.Until = before
				}
			}
		}},
		{"evidence_left_out", "A turn that a statement rests on is missing.", func(b *beliefs.Bundle) { b.Evidence = b.Evidence[1:] }},
		{"evidence_of_nothing", "A turn that no statement rests on.", func(b *beliefs.Bundle) { b.Evidence[2].ID[0] = 0xff }},
	} {
		c.add(""+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.forgedBelief(data, func(b *beliefs.Bundle) {
			x.change(b)
			agreeBelief(b)
		})}, "", c.secret)
	}
	for _, x := range []struct {
		name, why string
		change    func(b *beliefs.Bundle)
	}{
		{"question", "The anchor is not that of the question.", func(b *beliefs.Bundle) { b.Provenance.Anchor[0]++ }},
		{"policy_hash", "The policy's hash is another.", func(b *beliefs.Bundle) { b.Provenance.PolicyParamsHash[0]++ }},
		{"snapshot", "The snapshot's hash is another.", func(b *beliefs.Bundle) { b.Provenance.GraphSnapshotHash[0]++ }},
		{"snapshot_leaf", "The leaf of a turn is another.", func(b *beliefs.Bundle) { b.Evidence[0].Leaf[31] ^= 1 }},
		{"snapshot_text", "A revision has a text, with the digest of that.", func(b *beliefs.Bundle) { b.Revisions[0].Text = "said" }},
		{"snapshot_title", "A revision has another title, with the digest of that.", func(b *beliefs.Bundle) { b.Revisions[0].Title += "!" }},
		{"slice_id", "The slice's id is another.", func(b *beliefs.Bundle) { b.Provenance.SliceID = "0123456789abcdef" }},
	} {
		c.add("header_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.forgedBelief(data, x.change)}, "", c.secret)
	}
}

func (c *corpus) beliefForms(data []byte) {
	for _, x := range []struct{ name, why, old, next string }{
		{"space", "A space that canonical JSON does not have.", `"steps":[`, `"steps": [`},
		{"member", "A member that nobody knows.", `,"key_id"`, `,"kept":1,"key_id"`},
		{"step_three", "A step of three numbers.", `"steps":[[`, `"steps":[[0,`},
		{"step_revision", "A step of a revision that there is not.", `"steps":[[`, `"steps":[[3,0],[`},
		{"step_statement", "A step of a statement that there is not.", `"steps":[[`, `"steps":[[0,1],[`},
		{"question_space", "A space in capitals.", `"space":"acme/desk"`, `"space":"Acme/desk"`},
		{"question_not", "A question that says that it is not denied.", `"question":{"object"`, `"question":{"not":false,"object"`},
		{"question_name", "A name that is not in its form.", `"question":{"object":"ship"`, `"question":{"object":"Ship"`},
		{"revision_digest", "A revision whose digest is not that of what it says.", `"title":"The order`, `"title":"An order`},
		{"revision_text", "A revision whose text is empty.", `"title":"The order`, `"text":"","title":"The order`},
		{"revision_half", "A revision without what it says.", `{"private":`, `{"says":`},
		{"revision_premises", "Premises that do not ascend.", `"not":true,"object":"closed"`, `"not":true,"object":"clozed"`},
		{"policy_order", "Functional predicates that do not ascend.", `"functional":["state","`, `"functional":["￿","state","`},
		{"policy_exclusive", "An exclusive set of one.", `"objects":["calm","cross","😀"]`, `"objects":["calm"]`},
		{"policy_kind", "A kind that is entrenched by nothing.", `"entrenched_by":"evidence"`, `"entrenched_by":"nothing"`},
		{"evidence_leaf", "A leaf in capitals.", `"leaf":"`, `"leaf":"A`},
		{"key", "The id of a key in capitals.", `"key_id":"k1"`, `"key_id":"K1"`},
	} {
		c.add("malformed_"+x.name+"_fail", evidence.Malformed, x.why, map[string][]byte{bundleFile: firstOf(data, x.old, x.next)}, "", c.secret)
	}
	for _, x := range []struct{ name, why, old, next string }{
		{"later", "A later version.", `"gkb/1"`, `"gkb/2"`}, {"of_contexts", "The version of a context.", `"gkb/1"`, `"gkc/1"`}, {"policy", "A later policy.", `"kind_policy_v1"`, `"kind_policy_v2"`},
	} {
		c.add("version_"+x.name+"_fail", evidence.UnknownVersion, x.why, map[string][]byte{bundleFile: once(data, x.old, x.next)}, "", c.secret)
	}
}

// loggedBeliefs are evidence beside proofs and attestations, their own and others'.
func (c *corpus) loggedBeliefs(first, second *kernel.IssuedBelief) {
	proof := func(leaf uint64) []byte {
		p := must(c.kernel.Ledger().Prove(c.ctx(), tenant, leaf))
		p.Checkpoint = c.cosign(p.Checkpoint, c.now, 0, 1)
		return p.Append(nil)
	}
	e, other, turns := c.attested(first.Bundle, 0, 1), c.attested(second.Bundle), c.slice(7)
	files := map[string][]byte{bundleFile: first.Bundle, attestFile: e.Envelope, proofFile: proof(first.Record.Leaf)}
	c.add("log", evidence.Verified, "It is in a trusted log.", with(files, attestFile, nil), c.trustLog(), "")
	c.add("everything", evidence.Verified, "Token, attestation, log and two of three witnesses.", files, c.trustAll(), c.secret)
	c.add("log_of_another_fail", evidence.NotInLog, "A good proof, of other evidence.", with(files, attestFile, nil, proofFile, proof(second.Record.Leaf)), c.trustLog(), "")
	c.add("log_of_turns_fail", evidence.NotInLog, "A good proof, of a slice of turns.", with(files, attestFile, nil, proofFile, c.attest(turns).Proof), c.trustLog(), "")
	c.add("log_type_fail", evidence.NotInLog, "The leaf of a slice of facts, with all else as it should be.", with(files, attestFile, nil, proofFile, c.onlyLeaf(once(must(ledger.ParseProof(files[proofFile])).Leaf, `"type":"belief"`, `"type":"facts"`))), c.trustLog(), "")
	c.add("log_turns_fail", evidence.NotInLog, "A bundle of turns with the proof of evidence of a belief.", with(files, attestFile, nil, bundleFile, turns.Bundle), c.trustLog(), "")
	c.add("log_as_of_fail", evidence.NotInLog, "as_of is outside the token, not outside the leaf.", with(files, attestFile, nil, bundleFile, c.forgedBelief(first.Bundle, func(b *beliefs.Bundle) { b.AsOf++ })), c.trustLog(), c.secret)
	signed := with(files, proofFile, nil)
	c.add("attestation_of_another_fail", evidence.Tampered, "A good attestation, of other evidence.", with(signed, attestFile, other.Envelope), c.trustSigner(), "")
	c.add("attestation_of_turns_fail", evidence.Tampered, "A good attestation, of a slice of turns.", with(signed, attestFile, c.attest(turns).Envelope), c.trustSigner(), "")
	payload := c.payload(e.Envelope)
	for _, name := range []string{"evidence", "revisions", "steps"} {
		c.add("statement_"+name+"_fail", evidence.Tampered, "A trusted signer signed a statement with another count of "+name+".", with(signed, attestFile, c.sealText(once(payload, `"`+name+`":3`, `"`+name+`":4`))), c.trustSigner(), "")
	}
	for _, m := range []struct {
		name   string
		change func(*attest.Statement)
	}{
		{"as_of", func(s *attest.Statement) { s.AsOf++ }},
		{"anchor", func(s *attest.Statement) { s.Provenance.Anchor[0] ^= 1 }},
		{"snapshot", func(s *attest.Statement) { s.Provenance.GraphSnapshotHash[0] ^= 1 }},
		{"policy_id", func(s *attest.Statement) { s.Provenance.PolicyID = "other@1" }},
		{"policy_hash", func(s *attest.Statement) { s.Provenance.PolicyParamsHash[0] ^= 1 }},
		{"policy", func(s *attest.Statement) { s.Policy = kinds.DefaultV1() }},
		{"slice_id", func(s *attest.Statement) { s.Provenance.SliceID = "0123456789abcdef" }},
		{"token_key", func(s *attest.Statement) { s.TokenKeyID = "k2" }},
		{"digest", func(s *attest.Statement) { s.Subject[0] ^= 1 }},
	} {
		c.add("statement_"+m.name+"_fail", evidence.Tampered, "A trusted signer signed a statement whose "+m.name+" is not that of the evidence.", with(signed, attestFile, c.reseal(e.Envelope, m.change)), c.trustSigner(), "")
	}
	c.add("log_one_witness_fail", evidence.QuorumNotMet, "One of three witnesses cosigned, two are needed.", with(files, proofFile, proofWith(files[proofFile], func(p *ledger.Proof) {
		p.Checkpoint = c.cosign(p.Checkpoint[:bytes.Index(p.Checkpoint, []byte("— w"))], c.now, 2)
	})), c.trustAll(), "")
	c.add("attestation_none_fail", evidence.KeyUnknown, "The trust file names a signer and no log, and there is no attestation.", map[string][]byte{bundleFile: first.Bundle}, c.trustSigner(), c.secret)
	// The policy of a statement is in the order in which it is in a bundle.
	for _, x := range []struct{ name, why, old, next string }{
		{"functional", "The functional predicates of the policy do not ascend.", `["state","﨎-of"]`, `["﨎-of","state"]`},
		{"functional_twice", "A functional predicate of the policy stands twice.", `["state","﨎-of"]`, `["state","state","﨎-of"]`},
		{"objects", "The objects of an exclusive set of the policy do not ascend.", `["calm","cross","😀"]`, `["cross","calm","😀"]`},
		{"sets", "The exclusive sets of the policy do not ascend.", `"exclusive":[`, `"exclusive":[{"objects":["a","b"],"predicate":"tone"},`},
		{"sets_twice", "An exclusive set of the policy stands twice.", `"exclusive":[`, `"exclusive":[{"objects":["calm","cross","😀"],"predicate":"mood"},`},
		{"kinds", "The kinds of the policy do not ascend.", `"kinds":[`, `"kinds":[{"entrenched_by":"event","level":1,"name":"self"},`},
		{"name", "A name in the policy is not in its form.", `"functional":["state"`, `"functional":["State"`},
	} {
		c.add("malformed_statement_"+x.name+"_fail", evidence.Malformed, x.why, with(signed, attestFile, c.sealText(once(payload, x.old, x.next))), c.trustSigner(), "")
		c.add("malformed_policy_"+x.name+"_fail", evidence.Malformed, x.why, map[string][]byte{bundleFile: once(first.Bundle, x.old, x.next)}, "", c.secret)
	}
	c.deepFile("", bundleFile, map[string][]byte{}, first.Bundle, `"gkb/1"`, `"gkb/9"`, "", c.secret)
	c.deepStatement(signed, c.trustSigner())
	c.add("malformed_leaf_beside_turns_fail", evidence.Malformed, "A bundle of turns beside a leaf of evidence of a belief that is not in its form.", with(files, attestFile, nil, bundleFile, turns.Bundle,
		proofFile, c.onlyLeaf(once(must(ledger.ParseProof(files[proofFile])).Leaf, `"key_id":"k1",`, ``))), c.trustLog(), "")
	c.add("malformed_statement_fail", evidence.Malformed, "The predicate lacks a count.", with(signed, attestFile, c.sealText(once(payload, `"steps":3,`, ``))), c.trustSigner(), "")
	c.add("version_statement_fail", evidence.UnknownVersion, "A later predicate type.", with(signed, attestFile, c.sealText(once(payload, "belief/v1", "belief/v2"))), c.trustSigner(), "")
}
