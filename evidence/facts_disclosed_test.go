package evidence_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

func parseFacts(data []byte) *slice.Disclosure {
	return must(slice.ParseDisclosure(data, facts.Disclosures))
}

// choice shows the facts at some places of a bundle, and some turns of its evidence.
func choice(b *facts.Bundle, known, turns []int) (c facts.Choice) {
	for _, i := range known {
		c.Facts = append(c.Facts, b.Facts[i].Fact.ID())
	}
	for _, i := range turns {
		c.Evidence = append(c.Evidence, b.Evidence[i].ID)
	}
	return c
}

// everyLeaf shows all of a bundle.
func everyLeaf(b *facts.Bundle) facts.Choice {
	c := facts.Choice{Aliases: true, Question: true, Reached: true}
	for i := range b.Facts {
		c.Facts = append(c.Facts, b.Facts[i].Fact.ID())
	}
	for i := range b.Evidence {
		c.Evidence = append(c.Evidence, b.Evidence[i].ID)
	}
	return c
}

// disclosedFacts are parts of bundles of facts, honest and not.
func (c *corpus) disclosedFacts(issued *kernel.IssuedFacts) {
	b := must(facts.Parse(issued.Bundle))
	e := c.attested(issued.Bundle, 0, 1)
	whole := map[string][]byte{bundleFile: issued.Bundle, attestFile: e.Envelope, proofFile: e.Proof}
	part := func(show facts.Choice) []byte { return must(b.Disclose(sum(issued.Bundle), show)).Append(nil) }
	of := func(show facts.Choice) map[string][]byte { return with(whole, bundleFile, nil, partFile, part(show)) }
	some := choice(b, []int{1, 4}, []int{2})
	some.Question = true
	every := everyLeaf(b)
	files := of(some)
	c.add("dropped", evidence.Verified, "Two facts, a turn of the evidence and the question; of the rest nothing is left but hashes.", files, c.trustAll(), c.secret)
	c.add("dropped_token", evidence.Verified, "A disclosure, and the secret of its token.", map[string][]byte{partFile: files[partFile]}, "", c.secret)
	c.add("dropped_line_feed", evidence.Verified, "The file ends with a line feed, which is no part of the disclosure.", with(files, partFile, append(bytes.Clone(files[partFile]), '\n')), c.trustAll(), "")
	c.add("dropped_log_only", evidence.Verified, "A disclosure names the digest of the whole, which the leaf has.", with(files, attestFile, nil), c.trustLog(), "")
	c.add("dropped_nothing_to_check_fail", evidence.WellFormed, "Neither a secret nor a trust file.", map[string][]byte{partFile: files[partFile]}, "", "")
	c.add("dropped_every_leaf", evidence.Verified, "All that there is, in the form of a disclosure, and the whole is asked for.", of(every), c.trustAll(), c.secret, "--require-full")
	c.add("dropped_one_fact", evidence.Verified, "A fact alone.", of(choice(b, []int{0}, nil)), c.trustAll(), "")
	c.add("dropped_one_turn", evidence.Verified, "A turn of the evidence alone, with its leaf.", of(choice(b, nil, []int{0})), c.trustAll(), "")
	c.add("dropped_aliases", evidence.Verified, "The aliases alone.", of(facts.Choice{Aliases: true}), c.trustAll(), "")
	c.add("dropped_question", evidence.Verified, "The question alone, which the anchor is of.", of(facts.Choice{Question: true}), c.trustAll(), "")
	c.add("dropped_reached", evidence.Verified, "What was reached, and by which paths, without the facts.", of(facts.Choice{Reached: true}), c.trustAll(), "")
	c.add("dropped_full_fail", evidence.Redacted, "Leaves were dropped, and the whole was asked for.", files, c.trustAll(), "", "--require-full")
	c.add("dropped_unattested_fail", evidence.KeyUnknown, "A disclosure without the attestation, which alone says how much there is; the trust file names a signer.", with(files, attestFile, nil), c.trustAll(), "")
	c.add("dropped_every_leaf_unattested_fail", evidence.Redacted, "All leaves, but nobody who says that these are all, and the whole was asked for.", with(of(every), attestFile, nil), c.trustLog(), "", "--require-full")
	c.add("dropped_beside_bundle_fail", evidence.Malformed, "A bundle and a disclosure in one folder.", with(files, bundleFile, issued.Bundle), c.trustAll(), "")
	for _, other := range []struct {
		name, why string
		issued    *kernel.IssuedFacts
		show      facts.Choice
	}{
		{"cut", "What was reached, of a slice that was cut.", c.facts("few@1", nil, "room 4", "tank b"), facts.Choice{Reached: true}},
		{"names", "The aliases and what was reached, with names beyond U+FFFF.", c.facts("wide@1", nil, "valve", "8"), facts.Choice{Aliases: true, Reached: true}},
		{"nothing", "The question of a slice without facts: three leaves.", c.facts("", nil, "boiler"), facts.Choice{Question: true}},
	} {
		e := c.attested(other.issued.Bundle, 0, 1)
		d := must(other.issued.Facts.Disclose(sum(other.issued.Bundle), other.show))
		c.add("dropped_"+other.name, evidence.Verified, other.why, map[string][]byte{partFile: d.Append(nil), attestFile: e.Envelope, proofFile: e.Proof}, c.trustAll(), c.secret)
	}
	c.disclosedCounts(files, part(every))
	c.disclosedPlaces(files, part(every))
	c.disclosedLeaves(files, part(every))
	c.disclosedHeads(files, e)
	c.disclosedForged(issued.Bundle)
	c.disclosedForms(files, part(every))
}

// changedParts adds cases of disclosures that were changed after they were made, all tampered.
// deepFacts are bundles, parts and statements that nest deep.
func (c *corpus) deepFacts(issued *kernel.IssuedFacts) {
	none := map[string][]byte{}
	c.deepFile("", bundleFile, none, issued.Bundle, `"gkf/2"`, `"gkf/9"`, "", c.secret)
	c.deepFile("part_", partFile, none, must(must(facts.Parse(issued.Bundle)).Disclose(sum(issued.Bundle), facts.Choice{Question: true})).Append(nil), `"gkd/2"`, `"gkd/9"`, "", c.secret)
	c.deepStatement(map[string][]byte{bundleFile: issued.Bundle, attestFile: c.attested(issued.Bundle).Envelope}, c.trustSigner())
}

func (c *corpus) changedParts(files map[string][]byte, data []byte, list []changedPart) {
	for _, x := range list {
		d := parseFacts(data)
		x.change(d)
		c.add("dropped_"+x.name+"_fail", evidence.Tampered, x.why, with(files, partFile, d.Append(nil)), c.trustAll(), c.secret)
	}
}

type changedPart struct {
	name, why string
	change    func(d *slice.Disclosure)
}

func (c *corpus) disclosedCounts(files map[string][]byte, data []byte) {
	count := func(d *slice.Disclosure, name string, by int) {
		for i := range d.Counts {
			if d.Counts[i].Name == name {
				d.Counts[i].N += uint64(by)
			}
		}
	}
	last := func(d *slice.Disclosure) { d.Shown = d.Shown[:1] } // the first fact, whose path is the same in other trees
	for _, name := range []string{"aliases", "evidence", "facts", "reached"} {
		c.changedParts(files, data, []changedPart{{"count_" + name, "The slice is said to have more " + name + "; the attestation knows.", func(d *slice.Disclosure) {
			last(d)
			count(d, name, 1)
		}}})
	}
	c.changedParts(files, data, []changedPart{
		{"count_aliases_shown", "The aliases are shown, and the counts say another number.", func(d *slice.Disclosure) { count(d, "aliases", 1) }},
		{"count_reached_shown", "What was reached is shown, and the counts say another number.", func(d *slice.Disclosure) { count(d, "reached", -1) }},
		{"count_less", "A fact less and a turn more: the last fact is where a turn should be.", func(d *slice.Disclosure) { count(d, "facts", -1); count(d, "evidence", 1) }},
	})
	d := parseFacts(data)
	last(d)
	count(d, "facts", -1)
	count(d, "evidence", 1)
	c.add("dropped_count_unattested", evidence.Verified, "The counts are other ones, with the same number of leaves: without an attestation they are claims, and said to be.", with(files, partFile, d.Append(nil), attestFile, nil), c.trustLog(), "")
}

func (c *corpus) disclosedPlaces(files map[string][]byte, data []byte) {
	at := func(member string, change func(s *slice.Shown)) func(*slice.Disclosure) {
		return func(d *slice.Disclosure) {
			change(&d.Shown[slices.IndexFunc(d.Shown, func(s slice.Shown) bool { return s.Leaf.Member() == member })])
		}
	}
	for _, member := range []string{"fact", "evidence", "aliases", "question", "reached"} {
		c.changedParts(files, data, []changedPart{
			{"path_" + member, "A hash of the path from a leaf of this sort was changed: " + member + ".", at(member, func(s *slice.Shown) { s.Path[1][7] ^= 1 })},
			{"index_" + member, "A leaf of this sort is at an index where another is: " + member + ".", func(d *slice.Disclosure) {
				d.Shown = slices.DeleteFunc(d.Shown, func(s slice.Shown) bool { return s.Leaf.Member() != member })
				d.Shown = d.Shown[:1]
				d.Shown[0].Index = map[string]int{"fact": 8, "evidence": 7, "aliases": 13, "question": 14, "reached": 12}[member]
			}},
		})
	}
	c.changedParts(files, data, []changedPart{
		{"path_short", "A hash of a path is missing.", at("fact", func(s *slice.Shown) { s.Path = s.Path[1:] })},
		{"path_long", "A path has one hash more.", at("fact", func(s *slice.Shown) { s.Path = append(s.Path, dag.Digest{}) })},
		{"path_none", "A path has no hashes.", at("question", func(s *slice.Shown) { s.Path = nil })},
		{"path_swapped", "Two facts have each other's paths.", func(d *slice.Disclosure) {
			d.Shown[0].Path, d.Shown[1].Path = d.Shown[1].Path, d.Shown[0].Path
		}},
		{"index_next", "A fact is said to be the next one.", func(d *slice.Disclosure) {
			d.Shown = d.Shown[:1]
			d.Shown[0].Index++
		}},
		{"index_outside", "An index is behind the tree.", func(d *slice.Disclosure) { d.Shown[len(d.Shown)-1].Index = d.Size() }},
		{"index_most", "The largest index that there may be.", func(d *slice.Disclosure) { d.Shown[len(d.Shown)-1].Index = 32770 }},
		{"order", "Two facts changed places.", func(d *slice.Disclosure) { d.Shown[0], d.Shown[1] = d.Shown[1], d.Shown[0] }},
		{"order_leaves", "Two facts changed places, and kept their indexes.", func(d *slice.Disclosure) {
			d.Shown[0].Leaf, d.Shown[1].Leaf = d.Shown[1].Leaf, d.Shown[0].Leaf
		}},
		{"twice", "A fact is shown twice.", func(d *slice.Disclosure) { d.Shown = slices.Insert(d.Shown, 0, d.Shown[0]) }},
	})
}

func leafOf[L slice.Leaf](d *slice.Disclosure) L {
	for i := range d.Shown {
		if l, ok := d.Shown[i].Leaf.(L); ok {
			return l
		}
	}
	panic("no such leaf")
}

func (c *corpus) disclosedLeaves(files map[string][]byte, data []byte) {
	c.changedParts(files, data, []changedPart{
		{"fact_source", "Somebody else is said to have said it.", func(d *slice.Disclosure) { leafOf[*facts.ShownFact](d).Fact.Source = "admin" }},
		{"fact_salt", "The salt of a fact is another.", func(d *slice.Disclosure) { leafOf[*facts.ShownFact](d).Salt[0] ^= 1 }},
		{"fact_confidence", "A fact is more certain than it was.", func(d *slice.Disclosure) { leafOf[*facts.ShownFact](d).Fact.Confidence = 123_456 }},
		{"evidence_leaf", "The leaf of a turn is another.", func(d *slice.Disclosure) { leafOf[*facts.ShownTurn](d).Leaf[31] ^= 1 }},
		{"evidence_turn", "A turn is another.", func(d *slice.Disclosure) { leafOf[*facts.ShownTurn](d).Turn.ID[15] ^= 1 }},
		{"alias", "A name stands for another.", func(d *slice.Disclosure) { leafOf[*facts.ShownAliases](d).Aliases[0].Canonical = "pump-5" }},
		{"question_asked", "Another name was asked for.", func(d *slice.Disclosure) { leafOf[*facts.ShownQuestion](d).Start = []string{"pump-4"} }},
		{"question_time", "It was asked for another time.", func(d *slice.Disclosure) { leafOf[*facts.ShownQuestion](d).ValidAt = nil }},
		{"reached_entity", "A path ends elsewhere.", func(d *slice.Disclosure) { leafOf[*facts.ShownReached](d).Reached[0].Entity = "boiler" }},
		{"reached_step", "A step goes the other way.", func(d *slice.Disclosure) {
			s := &leafOf[*facts.ShownReached](d).Reached[0].Path[0]
			s.Incoming = !s.Incoming
		}},
		{"reached_cut", "It says that more would have been looked at than may be.", func(d *slice.Disclosure) { leafOf[*facts.ShownReached](d).Cut = knowledge.CutWork }},
	})
}

func (c *corpus) disclosedHeads(files map[string][]byte, e *notary.Evidence) {
	c.changedParts(files, files[partFile], []changedPart{
		{"as_of", "as_of was changed.", func(d *slice.Disclosure) { d.AsOf++ }},
		{"digest", "It is said to be a part of another bundle.", func(d *slice.Disclosure) { d.Bundle[0] ^= 1 }},
		{"anchor", "anchor is not that of the provenance.", func(d *slice.Disclosure) { d.Anchor[0] ^= 1 }},
		{"anchors", "Both anchors are another one, and the question is shown.", func(d *slice.Disclosure) { d.Anchor[0] ^= 1; d.Provenance.Anchor = d.Anchor }},
		{"policy", "Another policy is shown.", func(d *slice.Disclosure) { d.Policy = factPolicies["out@1"] }},
		{"policy_hash", "The policy's hash is another.", func(d *slice.Disclosure) { d.Provenance.PolicyParamsHash[0] ^= 1 }},
		{"policy_id", "Another policy is named.", func(d *slice.Disclosure) { d.Provenance.PolicyID = "facts@2" }},
		{"snapshot", "The snapshot's hash is another.", func(d *slice.Disclosure) { d.Provenance.GraphSnapshotHash[0] ^= 1 }},
		{"slice_id", "The slice's id is another.", func(d *slice.Disclosure) { d.Provenance.SliceID = "0123456789abcdef" }},
		{"tenant", "It is said to be another tenant's.", func(d *slice.Disclosure) { d.Seal.Tenant = "other" }},
		{"token_other", "The token is another.", func(d *slice.Disclosure) { d.Seal.Token = "00112233445566778899aabbccddeeff" }},
	})
	d := parseFacts(files[partFile])
	d.Seal.KeyID = "k2"
	c.add("dropped_key_id_fail", evidence.KeyUnknown, "Another key is named.", map[string][]byte{partFile: d.Append(nil)}, "", c.secret)
	turns := c.slice(7)
	t := c.attest(turns, 0, 1)
	c.add("dropped_attestation_of_turns_fail", evidence.Tampered, "The attestation of a slice of turns.", with(files, attestFile, t.Envelope), c.trustBoth(), "")
	c.add("dropped_proof_of_turns_fail", evidence.NotInLog, "The proof of a slice of turns.", with(files, attestFile, nil, proofFile, t.Proof), c.trustLog(), "")
	other := must(parsed(turns.Bundle).Disclose(sum(turns.Bundle), []dag.TurnID{c.turns[7]})).Append(nil)
	c.add("dropped_turns_fail", evidence.Tampered, "A disclosure of turns with the attestation of a slice of facts.", with(files, partFile, other), c.trustBoth(), "")
	c.add("dropped_statement_digest_fail", evidence.Tampered, "A signed statement about another bundle with the same head.", with(files, attestFile, c.reseal(e.Envelope, func(s *attest.Statement) { s.Subject[0] ^= 1 })), c.trustBoth(), "")
	for _, x := range []struct{ name, why, old, next string }{
		{"later", "A later version.", `"gkd/2"`, `"gkd/3"`}, {"of_turns", "The version of a disclosure of turns.", `"gkd/2"`, `"gkd/1"`},
		{"none", "No version: it is read as the first one, which has another schema version.", `,"version":"gkd/2"`, ``}, {"number", "A version that is a number, likewise.", `"version":"gkd/2"`, `"version":2`},
		{"schema", "The schema version of a slice of turns.", `"gkf/2"`, `"gkp/1"`}, {"policy", "A policy of turns.", `"fact_policy_v1"`, `"slice_policy_v1"`},
	} {
		c.add("version_disclosure_"+x.name+"_fail", evidence.UnknownVersion, x.why, with(files, partFile, once(files[partFile], x.old, x.next)), c.trustAll(), "")
	}
	c.add("version_disclosure_turns_fail", evidence.UnknownVersion, "A disclosure of turns with the version of one of facts.", map[string][]byte{partFile: once(other, `"gkd/1"`, `"gkd/2"`)}, "", c.secret)
}

// disclosedForged are parts of bundles that were forged with a header, a snapshot and a token that agree.
func (c *corpus) disclosedForged(data []byte) {
	for _, x := range []struct {
		name, why string
		show      facts.Choice
		change    func(b *facts.Bundle)
	}{
		{"kept_out", "The policy wants more confidence than a fact has that is shown.", facts.Choice{}, func(b *facts.Bundle) { b.Policy.MinConfidence = 950_000 }},
		{"not_followed", "The policy follows one predicate, and a fact that is shown has another.", facts.Choice{}, func(b *facts.Bundle) { b.Policy.Predicates = "no-such" }},
		{"not_yet", "A fact that is shown does not hold at the time that was asked for.", facts.Choice{Question: true}, func(b *facts.Bundle) {
			before := must(dag.ParseTime("2025-12-31T23:59:59.999999Z"))
			b.Question.ValidAt = &before
		}},
		{"alias_itself", "A name stands for itself.", facts.Choice{Aliases: true}, func(b *facts.Bundle) { b.Aliases = []facts.Alias{{Alias: "tank-b", Canonical: "tank-b"}} }},
		{"alias_chain", "A name stands for one that stands for another.", facts.Choice{Aliases: true}, func(b *facts.Bundle) {
			b.Aliases = slices.Insert(b.Aliases, 0, facts.Alias{Alias: "tank-b", Canonical: "wasserpumpe"})
		}},
		{"alias_twice", "An alias stands twice.", facts.Choice{Aliases: true}, func(b *facts.Bundle) { b.Aliases = append(b.Aliases, b.Aliases[0]) }},
		{"facts_order", "The facts do not ascend by statement in the bundle itself.", facts.Choice{}, func(b *facts.Bundle) { slices.Reverse(b.Facts) }},
	} {
		forged := c.forged(data, func(b *facts.Bundle) {
			x.change(b)
			agree(b)
		})
		b := must(facts.Parse(forged))
		x.show.Facts = everyLeaf(b).Facts
		d := must(b.Disclose(sum(forged), x.show))
		c.add("dropped_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{partFile: d.Append(nil)}, "", c.secret)
	}
}

// disclosedForms are disclosures that are not in their form.
func (c *corpus) disclosedForms(files map[string][]byte, every []byte) {
	text := func(name, why string, changed []byte) {
		c.add("malformed_part_"+name+"_fail", evidence.Malformed, why, with(files, partFile, changed), c.trustAll(), c.secret)
	}
	hash := `"` + strings.Repeat("0", 64) + `",`
	for _, x := range []struct{ name, why, old, next string }{
		{"space", "A space that canonical JSON does not have.", `"counts":{`, `"counts": {`},
		{"type", "Another type.", `"type":"disclosure"`, `"type":"slice"`},
		{"no_counts", "No counts.", `"counts":{"aliases":1,"evidence":4,"facts":8,"reached":8},`, ``},
		{"count_missing", "A count is missing.", `"aliases":1,"evidence":4`, `"evidence":4`},
		{"count_more", "A count that nobody knows.", `"evidence":4,"facts"`, `"evidence":4,"fact":1,"facts"`},
		{"count_most", "More facts than there may be.", `"facts":8,"reached":8`, `"facts":16385,"reached":8`},
		{"count_text", "A count that is a text.", `"facts":8,"reached":8`, `"facts":"8","reached":8`},
		{"turn_count", "A member of a disclosure of turns.", `,"type":"disclosure"`, `,"turn_count":1,"type":"disclosure"`},
		{"member", "A member that nobody knows.", `"key_id":"k1"`, `"key":1,"key_id":"k1"`},
		{"no_bundle", "The bundle's digest is missing.", `"bundle":"`, `"bundel":"`},
		{"index_text", "An index that is a text.", `"index":0`, `"index":"0"`},
		{"index_most", "An index that there may not be.", `"index":14`, `"index":32771`},
		{"index_missing", "An index is missing.", `"index":14,`, ``},
		{"path_many", "A path of 64 hashes.", `"path":["`, `"path":[` + strings.Repeat(hash, 60) + `"`},
		{"path_hash", "A hash that is too short.", `"path":["0`, `"path":["`},
		{"path_missing", "A path is missing.", `"path":[`, `"paths":[`},
		{"nothing_at", "A leaf of no sort.", `"question":{"start"`, `"questions":{"start"`},
		{"two_at", "Two leaves at one index.", `"question":{"start":["wasserpumpe"]`, `"evidence":{},"question":{"start":["wasserpumpe"]`},
		{"fact_type", "An act that is no assertion.", `"type":"fact/2"`, `"type":"retract/2"`},
		{"fact_name", "A fact with a name that is none.", `"object":"room-4"`, `"object":"Room 4"`},
		{"evidence_member", "A turn of the evidence that says more.", `"evidence":{"leaf"`, `"evidence":{"body":1,"leaf"`},
		{"alias_name", "An alias that is no name.", `"alias":"wasserpumpe"`, `"alias":"Wasserpumpe"`},
		{"question_start", "A question about nothing.", `"start":["wasserpumpe"]`, `"start":[]`},
		{"question_type", "A question as it is in its leaf.", `"start":["wasserpumpe"],`, `"start":["wasserpumpe"],"type":"question",`},
		{"reached_cut", "Cut for another reason.", `"reached":{"reached":[`, `"reached":{"cut":"whole","reached":[`},
		{"reached_list", "What was reached, without what says whether it was cut.", `"reached":{"reached":[`, `"reached":[[`},
		{"reached_hops", "hops is not the number of steps.", `"hops":2`, `"hops":3`},
		{"parameter", "A parameter of the policy is missing.", `"max_hops":3,`, ``},
	} {
		old := x.old
		if x.name == "path_hash" { // whatever the first digit is
			at := bytes.Index(every, []byte(`"path":["`)) + len(`"path":["`)
			old = fmt.Sprintf(`"path":["%c`, every[at])
		}
		text(x.name, x.why, firstOf(every, old, x.next))
	}
	empty := parseFacts(every)
	empty.Shown = nil
	text("empty", "A disclosure that shows nothing.", empty.Append(nil))
	text("predicates", "The predicates of the policy do not ascend.", once(every, `"predicates":[]`, `"predicates":["b","a"]`))
}
