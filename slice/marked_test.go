package slice_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// marked is a small world in which every way of gkp/2 occurs. Turns 1 and 4 are a person's; 2 touched a, 5 both
// a and b, 8 (the anchor) a; 9 came later; 3 is not selected.
//
//	1 ── 2 ── 3 ── 4 ── 5 ── 6 ── 8 ── 9
//	                     \─ 7
func marked() (*world, dag.TurnID, policy.SlicePolicyV2) {
	w := &world{}
	id := func(n int) dag.TurnID { return dag.TurnID{0: byte(0x90 - 0x10*n%0x90), 6: 0x40, 8: 0x80, 15: byte(n)} }
	add := func(n int, voice dag.Voice, role dag.Role, content string, things string, parent int) {
		turn := dag.Turn{ID: id(n), Conversation: dag.ConversationID{0: 1, 8: 0x80}, Role: role, Phase: dag.Phases[n%5], Salience: 500_000, CreatedAt: dag.Time(1_772_614_800_000_000 + int64(n)*1_000_000)}
		var parents []dag.Parent
		if parent > 0 {
			parents = []dag.Parent{{ID: id(parent), Kind: dag.Reply}}
		}
		w.add(turn, dag.Body{Author: "x:y", Content: content, Salt: dag.Salt{0: byte(n), 15: 0xff}}, parents...)
		m := &w.marks[n-1]
		m.Voice = voice
		for _, name := range things {
			m.Things = append(m.Things, dag.Thing{0: byte(name), 15: 0xee})
		}
	}
	add(1, dag.VoicePerson, dag.RoleUser, "Begin with a.", "", 0)
	add(2, dag.VoiceAgent, dag.RoleAssistant, "[edit a]", "a", 1)
	add(3, dag.VoiceHarness, dag.RoleSystem, strings.Repeat("noise ", 60), "", 2)
	add(4, dag.VoicePerson, dag.RoleUser, "Now b ☕", "", 3)
	add(5, dag.VoiceAgent, dag.RoleAssistant, "[edit a and b]", "ab", 4)
	add(6, dag.VoiceTool, dag.RoleTool, "done", "", 5)
	add(7, dag.VoiceTool, dag.RoleTool, "also done", "", 5)
	add(8, dag.VoiceAgent, dag.RoleAssistant, "[edit a]", "a", 6)
	add(9, dag.VoicePerson, dag.RoleUser, "Later.", "", 8)
	p := policy.SlicePolicyV2{Direction: policy.Past, Spine: true, Weights: policy.DefaultV1().Weights, SalienceWeight: 300_000, DistanceDecay: 950_000}
	p.MaxNodes, p.MaxRadius, p.MaxSiblings, p.MaxTouching, p.MaxCost = 7, 4, 2, 1, 60
	p.Voices = policy.VoiceTable{dag.VoicePerson: 1_000_000, dag.VoiceAgent: 900_000, dag.VoiceTool: 800_000, dag.VoiceHarness: 100_000}
	return w, id(8), p
}

func markedBundle(t *testing.T, redacted ...dag.TurnID) (*slice.Slice, []byte, *token.Authority) {
	t.Helper()
	w, anchor, p := marked()
	a := authority(t)
	s, data := w.bundle(t, anchor, bind(t, "marked@1", p), a, redacted...)
	return s, data, a
}

// TestMarked holds what the small world gives: which way leads to which turn.
func TestMarked(t *testing.T) {
	s, data, _ := markedBundle(t)
	ways := map[byte]string{}
	for _, turn := range s.Turns {
		from := byte(0)
		if turn.Admission.Via != slice.ViaAnchor {
			from = turn.Admission.From[15]
		}
		ways[turn.ID[15]] = turn.Admission.Via.String() + string('0'+from)
	}
	want := map[byte]string{8: "anchor0", 6: "parent8", 4: "prompt8", 5: "touch8", 7: "sibling6", 1: "parent2", 2: "touch5"}
	if !reflect.DeepEqual(ways, want) {
		t.Errorf("got %v, want %v", ways, want)
	}
	if s.Provenance.SchemaVersion != "gkp/2" || s.AsOf != 9 || !strings.Contains(string(data), `"schema_version":"gkp/2"`) {
		t.Errorf("%+v as of %d", s.Provenance, s.AsOf)
	}
}

func reason(n byte, do func(*slice.Admission)) func(*slice.Bundle) {
	return func(b *slice.Bundle) { do(&turnOf(b, n).Admission) }
}

func ruled(do func(*policy.SlicePolicyV2)) func(*slice.Bundle) {
	return func(b *slice.Bundle) {
		p := b.Policy.(policy.SlicePolicyV2)
		do(&p)
		b.Policy = p
	}
}

// markedChanges change what gkp/2 adds, one at a time.
var markedChanges = []change{
	{"as_of", func(b *slice.Bundle) { b.AsOf = 10 }, checks(snapshot)},
	{"as_of, before the anchor", func(b *slice.Bundle) { b.AsOf = 7 }, checks(reasons, snapshot)},
	{"number, in order", reason(4, func(a *slice.Admission) { a.Number = 3 }), checks(snapshot)},
	{"number of another", reason(7, func(a *slice.Admission) { a.Number = 6 }), checks(reasons, snapshot)},
	{"number above the anchor's", reason(7, func(a *slice.Admission) { a.Number = 9 }), checks(reasons, snapshot)},
	{"number below a parent's", reason(7, func(a *slice.Admission) { a.Number = 3 }), checks(reasons, snapshot)},
	{"number of the anchor, beyond as_of", reason(8, func(a *slice.Admission) { a.Number = 10 }), checks(reasons, snapshot)},
	{"voice, of a turn that is a prompt", reason(4, func(a *slice.Admission) { a.Voice = dag.VoiceAgent }), checks(reasons, snapshot)},
	{"voice and score, of a turn that is a prompt", func(b *slice.Bundle) {
		x := turnOf(b, 4)
		x.Admission.Voice = dag.VoiceAgent
		x.Admission.Score = scoreOf(b, x)
	}, checks(reasons, snapshot)},
	{"voice and score, of a nearer turn", func(b *slice.Bundle) {
		x := turnOf(b, 5)
		x.Admission.Voice = dag.VoicePerson
		x.Admission.Score = scoreOf(b, x)
	}, checks(reasons, snapshot)},
	{"voice and score, of a turn that is nobody's prompt", func(b *slice.Bundle) {
		x := turnOf(b, 7)
		x.Admission.Voice = dag.VoiceHarness
		x.Admission.Score = scoreOf(b, x)
	}, checks(snapshot)},
	{"cost", reason(6, func(a *slice.Admission) { a.Cost++ }), checks(reasons, snapshot)},
	{"cost of what is redacted", func(b *slice.Bundle) { turnOf(b, 6).Body = nil; turnOf(b, 6).Admission.Cost++ }, checks(snapshot)},
	{"cost of what is redacted, too much", func(b *slice.Bundle) { turnOf(b, 6).Body = nil; turnOf(b, 6).Admission.Cost = 60 }, checks(reasons, snapshot)},
	{"things, one more", reason(7, func(a *slice.Admission) { a.Things = []dag.Thing{{1}} }), checks(snapshot)},
	{"things, of a turn that was touched", reason(2, func(a *slice.Admission) { a.Things = nil }), checks(reasons, snapshot)},
	{"things, of the turn it was reached from", reason(8, func(a *slice.Admission) { a.Things = []dag.Thing{{1}} }), checks(reasons, snapshot)},
	{"things, of a turn between", reason(6, func(a *slice.Admission) { a.Things = turnThing('a') }), checks(reasons, snapshot)},
	{"thing", reason(5, func(a *slice.Admission) { a.Thing = turnThing('b')[0] }), checks(reasons, snapshot)},
	{"via prompt, touched", reason(2, func(a *slice.Admission) { a.Via, a.Thing = slice.ViaPrompt, dag.Thing{} }), checks(reasons, snapshot)},
	{"via prompt, of a farther one", reason(1, func(a *slice.Admission) { a.From, a.Distance = turnID(8), 1 }), checks(reasons, snapshot)},
	{"via touch, from a later turn", func(b *slice.Bundle) {
		x := turnOf(b, 2)
		x.Admission.From, x.Admission.Distance = turnID(8), 1
		x.Admission.Score = scoreOf(b, x)
	}, checks(reasons, snapshot)},
	{"via touch, of another conversation", func(b *slice.Bundle) { turnOf(b, 2).Conversation[0] = 9 }, checks(reasons, snapshot)},
	{"via prompt, from an earlier turn", func(b *slice.Bundle) {
		x := turnOf(b, 4)
		x.Admission.From, x.Admission.Distance = turnID(2), turnOf(b, 2).Admission.Distance+1
		x.Admission.Score = scoreOf(b, x)
	}, checks(reasons, snapshot)},
	{"via child, under a policy that looks at the past", func(b *slice.Bundle) {
		x := turnOf(b, 7)
		x.Admission.Via, x.Admission.From, x.Admission.Distance = slice.ViaChild, turnID(5), turnOf(b, 5).Admission.Distance+1
		x.Admission.Score = scoreOf(b, x)
	}, checks(reasons, snapshot)},
	{"via child", reason(6, func(a *slice.Admission) { a.Via, a.From, a.Distance = slice.ViaChild, turnID(5), 2 }), checks(reasons, snapshot)},
	{"a step too few", reason(1, func(a *slice.Admission) { a.Distance = 1 }), checks(reasons, snapshot)},
	{"direction", ruled(func(p *policy.SlicePolicyV2) { p.Direction = policy.Both }), checks(params)},
	{"spine", ruled(func(p *policy.SlicePolicyV2) { p.Spine = false }), checks(reasons, params)},
	{"max_touching", ruled(func(p *policy.SlicePolicyV2) { p.MaxTouching = 0 }), checks(reasons, params)},
	{"max_touching, more", ruled(func(p *policy.SlicePolicyV2) { p.MaxTouching = 2 }), checks(params)},
	{"max_siblings", ruled(func(p *policy.SlicePolicyV2) { p.MaxSiblings = 0 }), checks(reasons, params)},
	{"max_cost", ruled(func(p *policy.SlicePolicyV2) { p.MaxCost = 10 }), checks(reasons, params)},
	{"max_cost, none", ruled(func(p *policy.SlicePolicyV2) { p.MaxCost = 0 }), checks(params)},
	{"voice_weights", ruled(func(p *policy.SlicePolicyV2) { p.Voices[dag.VoiceTool]-- }), checks(reasons, params)},
	{"everything, and the header", func(b *slice.Bundle) { b.AsOf = 10; headed(b) }, checks(signed)},
}

func turnID(n int) dag.TurnID {
	return dag.TurnID{0: byte(0x90 - 0x10*n%0x90), 6: 0x40, 8: 0x80, 15: byte(n)}
}

func turnThing(name byte) []dag.Thing { return []dag.Thing{{0: name, 15: 0xee}} }

// TestMarkedChanges says which checks notice a change of what gkp/2 adds.
func TestMarkedChanges(t *testing.T) {
	_, data, a := markedBundle(t)
	noticed := applied(t, a, data, markedChanges)
	if noticed[reasons] < 20 || noticed[snapshot] < 20 {
		t.Errorf("noticed %v", noticed)
	}
}

// TestMarkedMangled turns every bit around: here none makes no difference, not even in as_of.
func TestMarkedMangled(t *testing.T) {
	s, data, a := markedBundle(t)
	if n := mangle(t, a, data)[token.Verified]; n != 0 {
		t.Errorf("%d mangled bundles were verified", n)
	}
	_, data, a = markedBundle(t, s.Turns[0].ID, s.Turns[3].ID)
	mangle(t, a, data)
}

// refused parses a bundle with each text in the place of another, and expects an error.
func refused(t *testing.T, data []byte, want error, changes [][2]string) {
	t.Helper()
	for _, c := range changes {
		if !strings.Contains(string(data), c[0]) {
			t.Fatalf("%s is not there", c[0])
		}
		if _, err := slice.ParseBundle([]byte(strings.Replace(string(data), c[0], c[1], 1))); !errors.Is(err, want) {
			t.Errorf("%s for %s: got %v, want %v", c[1], c[0], err, want)
		}
	}
}

// TestMarkedForms hands in bundles whose reasons do not have their form, and those that mix the two versions.
func TestMarkedForms(t *testing.T) {
	_, data, _ := markedBundle(t)
	refused(t, data, slice.ErrMalformed, [][2]string{
		{`"number":1,`, `"number":0,`}, {`"number":1,`, ``}, {`"number":1,`, `"number":"1",`}, {`"cost":4,`, ``}, {`"cost":4,`, `"cost":2097153,`},
		{`"voice":"tool"`, `"voice":"nobody"`}, {`,"voice":"person"`, ``}, {`"things":[],`, ``}, {`"via":"prompt"`, `"via":"touch"`}, {`"via":"touch"`, `"via":"prompt"`},
		{`"things":["61`, `"things":["6161`}, {`["610000000000000000000000000000ee","620000000000000000000000000000ee"]`, `["620000000000000000000000000000ee","610000000000000000000000000000ee"]`},
		{`["610000000000000000000000000000ee","620000000000000000000000000000ee"]`, `["610000000000000000000000000000ee","610000000000000000000000000000ee"]`},
		{`"direction":"past"`, `"direction":"back"`}, {`"direction":"past",`, ``}, {`"spine":true,`, ``}, {`"person":1,`, ``},
	})
	refused(t, data, slice.ErrVersion, [][2]string{
		{`"gkp/2"`, `"gkp/1"`}, {`"gkp/2"`, `"gkp/3"`}, {`"gkp/2"`, `"gkp/9"`}, {`"slice_policy_v2"`, `"slice_policy_v1"`}, {`"slice_policy_v2"`, `"slice_policy_v3"`},
	})
	w, anchor, p := rigged()
	_, old := w.bundle(t, anchor, bind(t, "rigged@1", p), authority(t))
	for _, via := range []string{"prompt", "touch"} {
		if _, err := slice.ParseBundle([]byte(strings.Replace(string(old), `"via":"sibling"`, `"via":"`+via+`"`, 1))); !errors.Is(err, slice.ErrMalformed) {
			t.Errorf("gkp/1 via %s: got %v, want ErrMalformed", via, err)
		}
	}
}

// TestAnchorTooCostly holds that an anchor which does not fit is an error, and that it makes no difference as of when
// the past is looked at, except that the slice says so.
func TestAnchorTooCostly(t *testing.T) {
	w, anchor, p := marked()
	p.MaxCost = int(w.marks[7].Cost) - 1
	if _, err := slice.Select(w.view(t), anchor, p, nil); !errors.Is(err, slice.ErrCost) {
		t.Errorf("got %v, want ErrCost", err)
	}
	p.MaxCost++
	picks, err := slice.Select(w.view(t), anchor, p, nil)
	if err != nil || len(picks) != 1 {
		t.Errorf("got %d picks, %v, want the anchor alone", len(picks), err)
	}
	_, _, p = marked()
	late, err := slice.Cut(w.view(t), anchor, bind(t, "p@1", p), nil)
	if err != nil {
		t.Fatal(err)
	}
	early, err := slice.Cut(w.view(t).Until(8), anchor, bind(t, "p@1", p), nil)
	if err != nil || !reflect.DeepEqual(early.Turns, late.Turns) || early.Provenance.SliceID != late.Provenance.SliceID || early.Provenance.GraphSnapshotHash == late.Provenance.GraphSnapshotHash {
		t.Errorf("as of 8 %+v, %v, as of 9 %+v", early, err, late)
	}
}

// TestMarkedDisclosed shows a part of a bundle of gkp/2.
func TestMarkedDisclosed(t *testing.T) {
	_, data, _ := markedBundle(t)
	b, err := slice.ParseBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Disclose(dag.Digest{1}, []dag.TurnID{turnID(4), turnID(8)})
	if err != nil {
		t.Fatal(err)
	}
	text := d.Append(nil)
	again, err := slice.ParseDisclosure(text, slice.TurnDisclosures...)
	if err != nil || string(again.Append(nil)) != string(text) || !strings.Contains(string(text), `"version":"gkd/3"`) {
		t.Fatalf("%v, %s", err, text)
	}
	for _, c := range again.Check() {
		if c.Status == slice.StatusFail {
			t.Errorf("%+v", c)
		}
	}
	for _, tc := range []struct{ old, next string }{{`"gkd/3"`, `"gkd/1"`}, {`"gkp/2"`, `"gkp/1"`}, {`"slice_policy_v2"`, `"slice_policy_v1"`}} {
		if _, err := slice.ParseDisclosure([]byte(strings.Replace(string(text), tc.old, tc.next, 1)), slice.TurnDisclosures...); !errors.Is(err, slice.ErrVersion) {
			t.Errorf("%s for %s: got %v, want ErrVersion", tc.next, tc.old, err)
		}
	}
	if _, err := slice.ParseDisclosure(text, slice.TurnDisclosures[0]); !errors.Is(err, slice.ErrVersion) {
		t.Errorf("a program that does not know it: %v", err)
	}
}
