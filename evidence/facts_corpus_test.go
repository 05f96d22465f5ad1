package evidence_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// factsFolder is where the cases of bundles of facts are: a part of its own, for verifiers
// that know of them.
const factsFolder = "../golden/verify-facts"

var factPolicies = map[policy.ID]facts.Policy{
	"few@1":  {Direction: knowledge.Both, MaxHops: 8, MaxResults: 3, MinConfidence: 600_000},
	"out@1":  {Direction: knowledge.Outgoing, MaxHops: 1, MaxResults: 1000},
	"back@1": {Direction: knowledge.Incoming, MaxHops: 2, MaxResults: 7},
	// Their order is that of their bytes; that of their halves in UTF-16 is the other.
	"wide@1": {Predicates: facts.Following("﨎-of", "\U0001F600-of", "named"), Direction: knowledge.Both, MaxHops: 3, MaxResults: 9},
}

// at is a time at which every fact of the world holds.
var at = must(dag.ParseTime("2026-03-01T00:00:00.000000Z"))

// learn returns the kernel facts: ties, two names of one thing, a cycle, evidence, an end, names
// that are hard to compare, and more than the policies let in.
func (c *corpus) learn() {
	spring := c.slice(1).Slice.Provenance.SliceID
	fact := func(subject, predicate, object string, confidence dag.PPM, turn int, more ...func(*knowledge.Act)) knowledge.Act {
		f := must(knowledge.NewFact(subject, predicate, object, "user"))
		f.Confidence, f.Rule = confidence, normalize.V1
		if turn > 0 {
			f.Turn = c.turns[turn]
		}
		act := knowledge.Act{Kind: knowledge.Assert, Fact: f}
		for _, change := range more {
			change(&act)
		}
		return act
	}
	wrong := fact("Pump 4", "stands in", "Room 9", 1_000_000, 0)
	acts := []knowledge.Act{
		wrong,
		fact("Pump 4", "stands in", "Room 4", 900_000, 1, func(a *knowledge.Act) { a.Supersedes = []knowledge.ID{wrong.Fact.ID()} }),
		fact("Wasserpumpe", "is fed by", "Tank B", 800_000, 5),
		fact("Room 4", "is part of", "Hall/East", 900_000, 1, func(a *knowledge.Act) { a.Fact.Source = "extract/1" }),
		fact("Controller 7", "switches", "Pump 4", 900_000, 0),
		fact("Controller 7", "speaks", "Modbus-TCP", 1_000_000, 3, func(a *knowledge.Act) { a.Fact.Source = "llm:helper~2" }),
		fact("Room 4", "is wired for", "Modbus TCP", 700_000, 1),
		fact("Tank B", "is filled from", "Well 2", 1_000_000, 0, func(a *knowledge.Act) {
			a.Fact.From, a.Fact.Until = must(dag.ParseTime("2026-01-01T00:00:00.000000Z")), must(dag.ParseTime("2026-03-01T00:00:00.000001Z"))
		}),
		fact("Spülstraße №\u00a09", "is served by", "PUMP  4", 500_000, 4, func(a *knowledge.Act) { a.Fact.Slice = string(spring) }),
		fact("Controller 7", "hangs on", "Bus C++", 600_000, 0),
		fact("\U0001F600", "named", "Valve", 0, 2),
		fact("﨎", "named", "Valve", 0, 2),
		fact("\U0001F600", "\U0001F600 of", "Ⅷ", 300_000, 0),
		fact("﨎", "﨎 of", "ΐ", 1, 0),
		{Kind: knowledge.Alias, Alias: "wasserpumpe", Canonical: "pump-4"},
		{Kind: knowledge.Alias, Alias: "\U0001F600", Canonical: "smiley"},
		{Kind: knowledge.Alias, Alias: "﨎", Canonical: "ideograph"},
	}
	for i := range acts {
		for _, o := range must(c.kernel.Facts().Learn(c.ctx(), tenant, acts[i:i+1])) {
			if o.Seq == 0 {
				panic(fmt.Sprintf("act %d: %+v", i, o))
			}
		}
	}
	for _, id := range []policy.ID{"few@1", "out@1", "back@1", "wide@1"} {
		if err := c.kernel.Policies().Register(c.ctx(), tenant, must(policy.Bind(id, factPolicies[id]))); err != nil {
			panic(err)
		}
	}
}

func (c *corpus) facts(id policy.ID, validAt *dag.Time, start ...string) *kernel.IssuedFacts {
	return must(c.kernel.Facts().Slice(c.ctx(), tenant, api.FactSliceRequest{Start: start, Policy: id, ValidAt: validAt}))
}

// proofOf proves that a slice of facts was handed out, under a checkpoint that witnesses cosigned.
func (c *corpus) proofOf(i *kernel.IssuedFacts, witnesses ...int) []byte {
	p := must(c.kernel.Ledger().Prove(c.ctx(), tenant, i.Record.Leaf))
	p.Checkpoint = c.cosign(p.Checkpoint, c.now, witnesses...)
	return p.Append(nil)
}

// forged changes a bundle and signs it, as somebody could who has the key.
func (c *corpus) forged(data []byte, change func(*facts.Bundle)) []byte {
	b := must(facts.Parse(data))
	change(b)
	b.Seal = c.sealed(&b.Provenance)
	return b.Append(nil)
}

// agree makes the header agree with the body.
func agree(b *facts.Bundle) { agreeHeader(b.Check, &b.Provenance, facts.CheckQuestion) }

// unknownFacts is a bundle of facts of a version that nobody knows, for those who know none of
// facts at all.
func unknownFacts(t testing.TB) []byte {
	c := &corpus{world: newWorld(t)}
	c.learn()
	return once(c.facts("out@1", nil, "pump 4").Bundle, `"gkf/2"`, `"gkf/3"`)
}

// makeFactsCorpus makes every case of a bundle of facts. It is the same each time.
func makeFactsCorpus(t testing.TB) []corpusCase {
	c := &corpus{world: newWorld(t)}
	c.learn()
	issued := c.facts("", &at, "Wasserpumpe")
	b := issued.Facts
	if len(b.Facts) != 8 || len(b.Reached) != 8 || len(b.Evidence) != 4 || len(b.Aliases) != 1 {
		t.Fatalf("the sample has %d facts, %d entities, %d turns and %d aliases", len(b.Facts), len(b.Reached), len(b.Evidence), len(b.Aliases))
	}
	second := c.facts("few@1", nil, "room 4", "tank b")
	c.grow(60)
	c.goodFacts(issued)
	c.forgedFacts(issued.Bundle)
	c.factHeaders(issued.Bundle)
	c.factForms(issued.Bundle)
	c.factVersions(issued)
	c.loggedFacts(issued, second)
	c.attestedFacts(issued, second)
	c.disclosedFacts(issued)
	c.deepFacts(issued)
	c.cases = append(c.cases, namedFacts(t)...)
	for i := range c.cases {
		c.cases[i].namesFails(t)
	}
	return c.cases
}

// namesFails writes down which checks of a tampered bundle and its token fail. A case that was
// forged with a header that agrees is named after the one that has to.
func (c *corpusCase) namesFails(t testing.TB) {
	if c.verdict != string(evidence.Tampered) {
		return
	}
	for _, check := range c.judge(t).Checks {
		if check.Status == slice.StatusFail && (check.ID == slice.CheckToken || check.ID == slice.CheckInclusion || slices.Contains(facts.Checks[:], check.ID)) {
			c.fails = append(c.fails, string(check.ID))
		}
	}
	subject := strings.Split(c.name, "_")[0]
	id, named := map[string]slice.CheckID{
		"order": slice.CheckCanonicalOrder, "facts": facts.CheckFacts, "aliases": facts.CheckAliases,
		"evidence": facts.CheckEvidence, "reached": facts.CheckReached,
	}[subject]
	if !named {
		return
	}
	if c.name == "aliases_none_fail" { // nothing is wrong with no aliases but what they did
		id = facts.CheckReached
	}
	for _, header := range []slice.CheckID{facts.CheckQuestion, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID, slice.CheckToken} {
		if slices.Contains(c.fails, string(header)) || !slices.Contains(c.fails, string(id)) {
			t.Errorf("%s: %q fail, want %s and nothing of the header", c.name, c.fails, id)
		}
	}
}

func (c *corpus) goodFacts(issued *kernel.IssuedFacts) {
	good := func(name, why string, data []byte) {
		c.add("good_"+name, evidence.Verified, why, map[string][]byte{bundleFile: data}, "", c.secret)
	}
	good("sample", "Eight facts around one name that is an alias, three hops far, at a time.", issued.Bundle)
	good("line_feed", "The file ends with a line feed, which is no part of the bundle.", append(bytes.Clone(issued.Bundle), '\n'))
	good("cut", "Two starts, no time, and more can be reached than the policy gives.", c.facts("few@1", nil, "room 4", "tank b").Bundle)
	good("cut_work", "It says that more would have been looked at than may be: nobody can say otherwise without the graph.", c.forged(issued.Bundle, func(b *facts.Bundle) {
		b.Cut = knowledge.CutWork
		agree(b)
	}))
	good("outgoing", "Along the direction of the facts, one hop.", c.facts("out@1", nil, "controller 7", "wasserpumpe").Bundle)
	good("incoming", "Against the direction of the facts, two hops.", c.facts("back@1", nil, "modbus tcp").Bundle)
	good("names", "Names beyond ASCII, and beyond U+FFFF, whose order is that of their UTF-8; another spelling that only folding finds; confidences of 0 and of 0.000001.", c.facts("wide@1", nil, "valve", "8").Bundle)
	good("nothing", "A name of which nothing is known: no facts, which is an answer.", c.facts("", nil, "boiler").Bundle)
	good("alias_both_asked", "A name and its alias are asked for: they are one place to start from.", c.facts("", nil, "wasserpumpe", "pump 4").Bundle)
	good("as_of", "as_of is outside the token, which is all that is checked here.", c.forged(issued.Bundle, func(b *facts.Bundle) { b.AsOf++ }))
	c.add("good_full", evidence.Verified, "The whole is asked for, and facts have no texts that could be missing.", map[string][]byte{bundleFile: issued.Bundle}, "", c.secret, "--require-full")
	c.add("nothing_to_check_fail", evidence.WellFormed, "Neither a secret nor a trust file.", map[string][]byte{bundleFile: issued.Bundle}, "", "")
	c.add("token_other_key_fail", evidence.KeyUnknown, "The secret given is of another key.", map[string][]byte{bundleFile: issued.Bundle}, "", "k2"+strings.TrimPrefix(c.secret, "k1"))
	c.add("token_other_secret_fail", evidence.Tampered, "The key's id is the same and the secret another.", map[string][]byte{bundleFile: issued.Bundle}, "", "k1 "+strings.Repeat("5c", 32))
}

func byStatement(x, y knowledge.Act) int {
	i, j := x.Fact.ID(), y.Fact.ID()
	return bytes.Compare(i[:], j[:])
}

// forgedFacts changes what a bundle says, with a header and a token that agree: only one check
// is left to find it.
func (c *corpus) forgedFacts(data []byte) {
	other := knowledge.Act{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("boiler", "heats", "room 5", "user"))}
	other.Fact.Rule = normalize.V1
	reached := func(b *facts.Bundle, entity string) *facts.Reached {
		return &b.Reached[slices.IndexFunc(b.Reached, func(r facts.Reached) bool { return r.Entity == entity })]
	}
	for _, x := range []struct {
		name, why string
		change    func(b *facts.Bundle)
	}{
		{"order_facts", "Two facts changed places.", func(b *facts.Bundle) { b.Facts[0], b.Facts[1] = b.Facts[1], b.Facts[0] }},
		{"order_fact_twice", "A fact stands twice.", func(b *facts.Bundle) { b.Facts = slices.Insert(b.Facts, 0, b.Facts[0]) }},
		{"order_evidence", "Two turns of the evidence changed places.", func(b *facts.Bundle) { b.Evidence[0], b.Evidence[1] = b.Evidence[1], b.Evidence[0] }},
		{"order_evidence_twice", "A turn of the evidence stands twice.", func(b *facts.Bundle) { b.Evidence = slices.Insert(b.Evidence, 0, b.Evidence[0]) }},
		{"order_alias_twice", "An alias stands twice.", func(b *facts.Bundle) { b.Aliases = append(b.Aliases, b.Aliases[0]) }},
		{"facts_unused", "A fact that no path leads along.", func(b *facts.Bundle) {
			b.Facts = append(b.Facts, other)
			slices.SortFunc(b.Facts, byStatement)
		}},
		{"facts_confidence", "The policy wants more confidence than a fact has.", func(b *facts.Bundle) { b.Policy.MinConfidence = 600_000 }},
		{"facts_predicate", "The policy follows one predicate, and the facts have others.", func(b *facts.Bundle) { b.Policy.Predicates = "stands-in" }},
		{"facts_before", "A fact does not hold yet at the time that was asked for.", func(b *facts.Bundle) {
			before := must(dag.ParseTime("2025-12-31T23:59:59.999999Z"))
			b.Question.ValidAt = &before
		}},
		{"facts_after", "A fact holds no longer at the time that was asked for: its end does not belong to it.", func(b *facts.Bundle) {
			after := at + 1
			b.Question.ValidAt = &after
		}},
		{"aliases_none", "The alias is missing, by which a path begins.", func(b *facts.Bundle) { b.Aliases = nil }},
		{"aliases_of_nothing", "An alias of a name that occurs nowhere.", func(b *facts.Bundle) { b.Aliases = append(b.Aliases, facts.Alias{Alias: "zz", Canonical: "z"}) }},
		{"aliases_itself", "A name stands for itself.", func(b *facts.Bundle) {
			b.Aliases = slices.Insert(b.Aliases, 0, facts.Alias{Alias: "tank-b", Canonical: "tank-b"})
		}},
		{"aliases_chain", "A name stands for one that stands for another.", func(b *facts.Bundle) {
			b.Aliases = slices.Insert(b.Aliases, 0, facts.Alias{Alias: "tank-b", Canonical: "wasserpumpe"})
		}},
		{"evidence_of_nothing", "A turn that no fact names.", func(b *facts.Bundle) { b.Evidence[3].ID[0] = 0xff }},
		{"evidence_left_out", "A turn that a fact names is missing.", func(b *facts.Bundle) { b.Evidence = b.Evidence[1:] }},
		{"reached_fact_left_out", "A fact that a path leads along is missing.", func(b *facts.Bundle) { b.Facts = b.Facts[1:] }},
		{"reached_hops", "A path is longer than max_hops.", func(b *facts.Bundle) { b.Policy.MaxHops = 1 }},
		{"reached_results", "More entities than max_results.", func(b *facts.Bundle) { b.Policy.MaxResults = 6 }},
		{"reached_cut", "It says that it was cut for results, and max_results was not reached.", func(b *facts.Bundle) { b.Cut = knowledge.CutResults }},
		{"reached_outgoing", "The policy goes along the facts, and a step goes against one.", func(b *facts.Bundle) { b.Policy.Direction = knowledge.Outgoing }},
		{"reached_incoming", "The policy goes against the facts, and a step goes along one.", func(b *facts.Bundle) { b.Policy.Direction = knowledge.Incoming }},
		{"reached_order_hops", "An entity with more hops stands before one with fewer.", func(b *facts.Bundle) { b.Reached[3], b.Reached[4] = b.Reached[4], b.Reached[3] }},
		{"reached_order_confidence", "Two entities changed places that differ in their least confidence.", func(b *facts.Bundle) { b.Reached[6], b.Reached[7] = b.Reached[7], b.Reached[6] }},
		{"reached_order_parent", "Two entities changed places that differ in what they go on from.", func(b *facts.Bundle) { b.Reached[4], b.Reached[5] = b.Reached[5], b.Reached[4] }},
		{"reached_order_edge", "Two entities changed places that differ in their edge.", func(b *facts.Bundle) { b.Reached[0], b.Reached[1] = b.Reached[1], b.Reached[0] }},
		{"reached_second_way", "An entity is there by a second way.", func(b *facts.Bundle) {
			act := knowledge.Act{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("room 4", "is wired for", "modbus tcp", "user"))}
			act.Fact.Rule = normalize.V1
			act.Fact.Confidence = 700_000
			b.Facts = append(b.Facts, act)
			slices.SortFunc(b.Facts, byStatement)
			way := append(slices.Clone(reached(b, "room-4").Path), facts.Step{Fact: act.Fact.ID(), Entity: "modbus-tcp"})
			b.Reached = slices.Insert(b.Reached, 7, facts.Reached{Entity: "modbus-tcp", From: "pump-4", MinConfidence: 700_000, Path: way})
		}},
		{"reached_twice", "An entity stands twice.", func(b *facts.Bundle) { b.Reached = slices.Insert(b.Reached, 1, b.Reached[0]) }},
		{"reached_start", "The entity that was asked for is said to have been reached, on a circle.", func(b *facts.Bundle) {
			step := reached(b, "room-4").Path[0]
			back := facts.Step{Fact: step.Fact, Incoming: !step.Incoming, Entity: "pump-4"}
			b.Reached = slices.Insert(b.Reached, 4, facts.Reached{Entity: "pump-4", From: "pump-4", MinConfidence: 900_000, Path: []facts.Step{step, back}})
		}},
		{"reached_from", "A path is said to begin elsewhere.", func(b *facts.Bundle) { b.Reached[0].From = "tank-b" }},
		{"reached_from_long", "A path of two steps is said to begin elsewhere.", func(b *facts.Bundle) { b.Reached[6].From = "tank-b" }},
		{"reached_confidence", "A least confidence is not that of the path.", func(b *facts.Bundle) { b.Reached[0].MinConfidence++ }},
		{"reached_entity", "A path ends elsewhere than the fact.", func(b *facts.Bundle) {
			b.Reached[6].Entity, b.Reached[6].Path[1].Entity = "boiler", "boiler"
		}},
		{"reached_end", "A path ends elsewhere than is said.", func(b *facts.Bundle) { b.Reached[6].Entity = "boiler" }},
		{"reached_last_step", "The last step of a path leads elsewhere than is said.", func(b *facts.Bundle) { b.Reached[7].Path[1].Entity = "boiler" }},
		{"reached_other_way", "A step goes along its fact in the other direction.", func(b *facts.Bundle) { s := &b.Reached[0].Path[0]; s.Incoming = !s.Incoming }},
		{"reached_not_the_best", "A path goes on from another way than the one by which that entity was reached.", func(b *facts.Bundle) {
			b.Reached[6].Path[0].Fact = b.Facts[0].Fact.ID()
			b.Reached[6].Path[0].Incoming = true
		}},
		{"reached_jump", "A path goes on from an entity that was not reached.", func(b *facts.Bundle) { b.Reached[6].Path[0].Entity = "boiler" }},
	} {
		c.add(x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.forged(data, func(b *facts.Bundle) {
			x.change(b)
			agree(b)
		})}, "", c.secret)
	}
}

// factHeaders changes a part of a bundle alone.
func (c *corpus) factHeaders(data []byte) {
	for _, x := range []struct {
		name, why string
		change    func(b *facts.Bundle)
	}{
		{"question", "The anchor is not that of the question.", func(b *facts.Bundle) { b.Provenance.Anchor[0]++ }},
		{"question_asked", "Another name was asked for.", func(b *facts.Bundle) { b.Question.Start = []string{"pump-4"} }},
		{"policy_hash", "The policy's hash is another.", func(b *facts.Bundle) { b.Provenance.PolicyParamsHash[0]++ }},
		{"policy", "A parameter is another, which lets in the same.", func(b *facts.Bundle) { b.Policy.MaxResults = 99 }},
		{"snapshot", "The snapshot's hash is another.", func(b *facts.Bundle) { b.Provenance.GraphSnapshotHash[0]++ }},
		{"snapshot_source", "Somebody else is said to have said it.", func(b *facts.Bundle) { b.Facts[0].Fact.Source = "admin" }},
		{"snapshot_leaf", "The leaf of a turn is another.", func(b *facts.Bundle) { b.Evidence[0].Leaf[31] ^= 1 }},
		{"snapshot_alias", "A name stands for another.", func(b *facts.Bundle) { b.Aliases[0].Canonical = "pump-5" }},
		{"snapshot_cut", "It says that more would have been looked at than may be.", func(b *facts.Bundle) { b.Cut = knowledge.CutWork }},
		{"slice_id", "The slice's id is another.", func(b *facts.Bundle) { b.Provenance.SliceID = "0123456789abcdef" }},
	} {
		c.add("header_"+x.name+"_fail", evidence.Tampered, x.why, map[string][]byte{bundleFile: c.forged(data, x.change)}, "", c.secret)
	}
	b := must(facts.Parse(data))
	c.add("header_unsigned_fail", evidence.Tampered, "All agrees but the token.", map[string][]byte{bundleFile: once(data, b.Seal.Token, "00112233445566778899aabbccddeeff")}, "", c.secret)
	c.add("header_tenant_fail", evidence.Tampered, "It is said to be another tenant's.", map[string][]byte{bundleFile: once(data, `"tenant":"default"`, `"tenant":"other"`)}, "", c.secret)
	c.add("header_policy_id_fail", evidence.Tampered, "Another policy is named.", map[string][]byte{bundleFile: once(data, `"policy_id":"facts@1"`, `"policy_id":"facts@2"`)}, "", c.secret)
}

// factForms are bundles of facts that are not in their form.
func (c *corpus) factForms(b []byte) {
	text := func(name, why string, changed []byte) {
		c.add("malformed_"+name+"_fail", evidence.Malformed, why, map[string][]byte{bundleFile: changed}, "", c.secret)
	}
	swap := func(old, next string) []byte { return firstOf(b, old, next) }
	text("space", "A space that canonical JSON does not have.", once(b, `,"anchor":`, `, "anchor":`))
	text("key_twice", "A key that stands twice.", once(b, `"as_of":`, `"as_of":1,"as_of":`))
	text("null", "A null.", swap(`"aliases":[`, `"aliases":[null,`))
	text("escape", "A character that needs no escape, escaped.", swap(`"pump-4"`, `"\u0070ump-4"`))
	text("trailing", "Something behind the end.", append(bytes.Clone(b), ' '))
	text("end", "The end is missing.", b[:len(b)-1])
	text("unknown_member", "A member that nobody knows.", once(b, `"question":{`, `"question":{"limit":1,`))
	text("no_token", "A member is missing.", once(b, `,"token":"`+must(facts.Parse(b)).Seal.Token+`"`, ``))
	text("anchor", "The anchor is not that of the provenance.", once(b, `"anchor":"`, `"anchor":"00000000-0000-4000-8000-000000000000","x":"`))
	text("anchors_differ", "The anchor is not that of the provenance, and nothing else is wrong.", once(b, `"anchor":"`+must(facts.Parse(b)).Provenance.Anchor.String(), `"anchor":"00000000-0000-4000-8000-000000000000`))
	text("cut", "Cut for another reason.", once(b, `,"evidence":[`, `,"cut":"whole","evidence":[`))
	text("incoming_false", "A step that is not incoming says so.", swap(`,"fact":`, `,"incoming":false,"fact":`))
	text("incoming_spelled", "A step that is not incoming says so, in its place.", swap(`"incoming":true`, `"incoming":false`))
	text("decimal", "A decimal with a trailing zero.", swap(`"min_confidence":0.8,`, `"min_confidence":0.80,`))
	text("above_one", "A confidence above 1.", swap(`"confidence":0.8,`, `"confidence":1.1,`))
	text("hops", "hops is not the number of steps.", swap(`"hops":2`, `"hops":3`))
	text("no_hops", "No hops, and no steps.", slices.Concat(b[:bytes.Index(b, []byte(`"hops":1,`))], []byte(`"hops":0,"min_confidence":0.9,"path":[]}],"tenant"`), b[bytes.Index(b, []byte(`"tenant"`))+len(`"tenant"`):]))
	text("no_start", "Nothing is asked.", once(b, `"start":["wasserpumpe"]`, `"start":[]`))
	text("start_twice", "A name is asked for twice.", once(b, `"start":["wasserpumpe"]`, `"start":["wasserpumpe","wasserpumpe"]`))
	text("many_starts", "65 names are asked for.", once(b, `"start":["wasserpumpe"]`, fmt.Sprintf(`"start":["%s"]`, strings.Join(numbered(65), `","`))))
	for _, x := range []struct{ name, why, text string }{
		{"capital", "a capital", "Wasserpumpe"}, {"space", "a space", "wasser pumpe"}, {"dash", "a dash at its end", "wasserpumpe-"},
		{"dashes", "two dashes", "wasser--pumpe"}, {"sharp_s", "a letter that folding changes", "wasserstraße"}, {"wide", "a letter of full width", "ｗasserpumpe"},
		{"parts", "a letter in two parts that has a whole", "wasserpu\u0308mpe"}, {"soft", "a soft hyphen", "wasser\u00adpumpe"}, {"mark", "a mark with nothing to stand on", "wasser-\u0301pumpe"},
		{"plus", "a plus where a word begins", "wasser-+pumpe"}, {"nothing", "nothing", ""}, {"long", "2049 bytes", strings.Repeat("w", 2049)},
	} {
		text("name_"+x.name, "A name that is none: "+x.why+".", once(b, `"start":["wasserpumpe"]`, `"start":["`+x.text+`"]`))
	}
	text("max_hops", "A policy of nine hops.", once(b, `"max_hops":3`, `"max_hops":9`))
	text("max_results", "A policy of no results.", once(b, `"max_results":100`, `"max_results":0`))
	text("direction", "A policy of no direction.", once(b, `"direction":"both"`, `"direction":"up"`))
	text("parameter", "A parameter is missing.", once(b, `"max_hops":3,`, ``))
	text("predicates_order", "The predicates of a policy do not ascend.", once(b, `"predicates":[]`, `"predicates":["b","a"]`))
	text("predicates_utf16", "The predicates of a policy ascend by UTF-16, and not by UTF-8.", once(b, `"predicates":[]`, `"predicates":["`+"\U0001F600"+`","﨎"]`))
	text("predicates_many", "A policy of 65 predicates.", once(b, `"predicates":[]`, fmt.Sprintf(`"predicates":["%s"]`, strings.Join(numbered(65), `","`))))
	text("fact_type", "A fact of a type that is not known.", swap(`"type":"fact/2"`, `"type":"fact/3"`))
	text("fact_retracted", "An act that is no assertion.", once(b, `"facts":[`, `"facts":[{"alias":"a","canonical":"b","salt":"00000000000000000000000000000000","type":"alias/2"},`))
	text("fact_source", "A source with a space.", swap(`"source":"extract/1"`, `"source":"extract 1"`))
	text("fact_turn", "A turn that is the nil UUID.", swap(`"turn":"`+c.turns[3].String(), `"turn":"00000000-0000-0000-0000-000000000000`))
	text("fact_supersedes_order", "What a fact supersedes does not ascend.", once(b, `"supersedes":["`, `"supersedes":["`+strings.Repeat("f", 64)+`","`))
	text("fact_supersedes_none", "A fact that supersedes nothing says so.", swap(`"source":"extract/1",`, `"source":"extract/1","subject":"room-4","supersedes":[],"x":`))
	data := must(facts.Parse(b))
	own := slices.IndexFunc(data.Facts, func(a knowledge.Act) bool { return len(a.Supersedes) > 0 })
	itself := data.Facts[own].Fact.ID().String()
	text("fact_supersedes_itself", "A fact supersedes its own statement.", once(b, `"supersedes":["`+data.Facts[own].Supersedes[0].String(), `"supersedes":["`+itself))
	text("fact_written_same", "A name is said to be written as it is.", once(b, `"written":{"object":"Room 4"`, `"written":{"object":"room-4"`))
	text("fact_written_other", "A name is said to be written as another.", once(b, `"written":{"object":"Room 4"`, `"written":{"object":"Room 5"`))
	text("fact_written_folded", "A name beyond ASCII is said to be written as another.", once(b, `Spülstraße`, `Spulstraße`))
	text("fact_written_nothing", "A name is said to be written as nothing.", once(b, `"written":{"object":"Room 4"`, `"written":{"object":""`))
	text("fact_from_1970", "It holds from 1970 on, and says so.", once(b, `"valid_from":"2026-01-01T`, `"valid_from":"1970-01-01T`))
	text("fact_until_forever", "It holds until the end of the year 9999, and says so.", once(b, `"valid_until":"2026-03-01T00:00:00.000001Z"`, `"valid_until":"9999-12-31T23:59:59.999999Z"`))
	text("fact_never", "It ends when it begins.", once(b, `"valid_until":"2026-03-01T00:00:00.000001Z"`, `"valid_until":"2026-01-01T00:00:00.000000Z"`))
	text("valid_at", "A time without its six digits.", once(b, `"valid_at":"2026-03-01T00:00:00.000000Z"`, `"valid_at":"2026-03-01T00:00:00Z"`))
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("n%03d", i))
	}
	return names
}

func (c *corpus) factVersions(issued *kernel.IssuedFacts) {
	b := issued.Bundle
	proof := c.proofOf(issued)
	version := func(name, why string, data, proof []byte) {
		c.add("version_"+name+"_fail", evidence.UnknownVersion, why, map[string][]byte{bundleFile: data, proofFile: proof}, c.trustLog(), c.secret)
	}
	version("later", "A later version.", once(b, `"gkf/2"`, `"gkf/3"`), proof)
	version("of_turns", "The version of a bundle of turns.", once(b, `"gkf/2"`, `"gkp/1"`), proof)
	version("policy", "A later policy.", once(b, `"fact_policy_v1"`, `"fact_policy_v2"`), proof)
	version("policy_of_turns", "A policy of turns.", once(b, `"fact_policy_v1"`, `"slice_policy_v1"`), proof)
	version("first_bytes", "It begins in another way, so it is a bundle of turns, and of an unknown version.", slices.Concat([]byte(" "), b), proof)
	version("leaf", "A leaf of another version.", b, proofWith(proof, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, `"gkl/1"`, `"gkl/2"`) }))
}

// loggedFacts are bundles of facts beside what third parties go by.
// onlyLeaf is the proof of a leaf in a log that has no other.
func (c *corpus) onlyLeaf(leaf []byte) []byte {
	signer, _, err := c.id.Log(tenant)
	note := must(ledger.Checkpoint{Origin: origin, Root: ledger.Root{Size: 1, Hash: ledger.LeafHash(leaf)}}.Sign(must(signer, err)))
	return (&ledger.Proof{Leaf: leaf, Checkpoint: note}).Append(nil)
}

func (c *corpus) loggedFacts(issued, second *kernel.IssuedFacts) {
	b := issued.Bundle
	proof := c.proofOf(issued, 0, 1)
	files := map[string][]byte{bundleFile: b, proofFile: proof}
	turns := c.slice(7)
	e := c.attest(turns, 0, 1)
	c.add("log", evidence.Verified, "It is in a trusted log.", files, c.trustLog(), "")
	c.add("log_all", evidence.Verified, "Token, log, and two of three witnesses; signers are listed, and the attestation was left out.", files, c.trustAll(), c.secret)
	c.add("log_one_witness_fail", evidence.QuorumNotMet, "One of three witnesses cosigned, two are needed.", with(files, proofFile, c.proofOf(issued, 2)), c.trustAll(), "")
	c.add("log_no_proof_fail", evidence.NotInLog, "The trust file names a log, and there is no proof.", with(files, proofFile, nil), c.trustLog(), c.secret)
	c.add("log_bent_fail", evidence.NotInLog, "A hash of the path was changed.", with(files, proofFile, proofWith(proof, func(p *ledger.Proof) { p.Path[1][5] ^= 1 })), c.trustLog(), "")
	c.add("log_of_another_fail", evidence.NotInLog, "A good proof, of another slice of facts.", with(files, proofFile, c.proofOf(second)), c.trustLog(), "")
	c.add("log_of_turns_fail", evidence.NotInLog, "A good proof, of a slice of turns.", with(files, proofFile, e.Proof), c.trustLog(), "")
	c.add("log_turns_fail", evidence.NotInLog, "A bundle of turns with the proof of a slice of facts.", with(files, bundleFile, turns.Bundle), c.trustLog(), "")
	c.add("log_as_of_fail", evidence.NotInLog, "as_of is outside the token, not outside the leaf.", with(files, bundleFile, c.forged(b, func(b *facts.Bundle) { b.AsOf++ })), c.trustLog(), c.secret)
	alone := once(must(ledger.ParseProof(proof)).Leaf, `"type":"facts"`, `"type":"other"`)
	c.add("log_other_type_fail", evidence.NotInLog, "A leaf of a type that nobody knows, with all that a leaf of facts has.", with(files, proofFile, c.onlyLeaf(alone)), c.trustLog(), "")
	leaf := func(name, why, old, next string) {
		c.add("malformed_leaf_"+name+"_fail", evidence.Malformed, why, with(files, proofFile, proofWith(proof, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, old, next) })), c.trustLog(), "")
	}
	leaf("type", "A leaf of the type slice, of facts.", `"type":"facts"`, `"type":"slice"`)
	leaf("policy", "A leaf of facts whose policy's id has no version.", `@1",`, `",`)
	leaf("name", "A leaf of facts that names the question.", `,"bundle":`, `,"anchor_turn_id":"00000000-0000-4000-8000-000000000000","bundle":`)
	c.add("version_leaf_schema_fail", evidence.UnknownVersion, "A leaf of a slice, with the schema version of facts.", map[string][]byte{bundleFile: turns.Bundle,
		proofFile: proofWith(e.Proof, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, `"gkp/1"`, `"gkf/2"`) })}, c.trustLog(), "")
	leaf("member", "A leaf of facts that has not all of its members.", `"key_id":"k1",`, ``)
	c.add("malformed_leaf_beside_turns_fail", evidence.Malformed, "A bundle of turns beside a leaf of facts that is not in its form.", map[string][]byte{bundleFile: turns.Bundle,
		proofFile: proofWith(proof, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, `"key_id":"k1",`, ``) })}, c.trustLog(), "")
	c.add("attestation_none_fail", evidence.KeyUnknown, "The trust file names a signer and no log, and there is no attestation.", with(files, proofFile, nil), c.trustSigner(), c.secret)
	c.add("attestation_of_turns_fail", evidence.Tampered, "A good attestation, of a slice of turns.", with(files, attestFile, e.Envelope), c.trustBoth(), "")
	c.add("attestation_unjudged", evidence.Verified, "An attestation of a slice of turns, and the trust file names no signer: nobody judges it.", with(files, attestFile, e.Envelope), c.trustLog(), "")
	lying := c.reseal(e.Envelope, func(s *attest.Statement) {
		s.Subject, s.Provenance.SliceID, s.AsOf = sum(b), issued.Facts.Provenance.SliceID, issued.Facts.AsOf
	})
	c.add("attestation_digest_fail", evidence.Tampered, "A signed statement of turns, with the digest of the bundle of facts.", with(files, attestFile, lying), c.trustBoth(), "")
}
