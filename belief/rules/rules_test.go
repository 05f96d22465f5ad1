package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
)

const (
	second dag.Time = 1_000_000
	hour            = 3600 * second
	day             = 24 * hour
	now             = 20_000 * day
)

func source() *rand.Rand { return rand.New(rand.NewPCG(4, 4)) }

func shuffled[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func TestPolicyForm(t *testing.T) {
	p, err := policy.Bind("promotion@2", Default())
	if err != nil {
		t.Fatal(err)
	}
	forms := policy.Forms{Form}
	hash := p.Hash()
	if again, err := forms.Restore(p.ID(), hash[:], p.Params().Canonical()); err != nil || again != p {
		t.Errorf("the canonical form: %v, %v", again, err)
	}
	w := canon.NewWriter(nil)
	Default().AppendWire(w)
	if !strings.Contains(string(w.Bytes), `"similarity":0.85`) {
		t.Errorf("wire %s", w.Bytes)
	}
	if again, err := forms.ParseRegistration([]byte(`{"policy_id":"promotion@2","policy":` + string(w.Bytes) + `}`)); err != nil || again != p {
		t.Errorf("the wire form: %v, %v", again, err)
	}
	if again, err := forms.ParseRegistration([]byte(`{"policy_id":"promotion@2","policy":{"type":"promotion_policy_v1"}}`)); err != nil || again != p {
		t.Errorf("without steps: %v, %v", again, err)
	}
	if h := DefaultV1().Hash(); h.String() != "baffbea47ef51fefdd596f5185c7ea4b725e9929c5e9c9cf533dc69e5d66b8cc" {
		t.Errorf("promotion@1 is another policy: %s", h)
	}
	for step, want := range map[string]string{
		`{"to":"fact","threshold":0}`:                     "threshold: 0, want 1 to 1000",
		`{"threshold":1}`:                                 "want exactly one of them",
		`{"to":"fact","tag":"shared","threshold":1}`:      "want exactly one of them",
		`{"to":"hard_rule","threshold":1}`:                "only a person can state a hard_rule",
		`{"tag":"current","threshold":1}`:                 "only a person can move current",
		`{"from":"fact","to":"fact","threshold":1}`:       "is also the kind in from",
		`{"to":"fact","threshold":1,"counts":"votes"}`:    "want evidence, uses or agents",
		`{"to":"fact","threshold":1,"severity":"severe"}`: "want none, low, medium, high or critical",
		`{"to":"Fact","threshold":1}`:                     "to:",
		`{"to":"fact","threshold":1,"confidence":1.5}`:    "confidence",
	} {
		if _, err := forms.ParseRegistration([]byte(`{"policy_id":"p@1","policy":{"type":"promotion_policy_v1","steps":[` + step + `]}}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", step, err, want)
		}
	}
}

func sources(n int, apart dag.Time, also ...func(i int, s *Source)) (list []Source) {
	for i := range n {
		s := Source{ID: fmt.Sprintf("s%d", i), Kind: "observation", By: fmt.Sprintf("agent-%d", i), At: now - day*30 + dag.Time(i)*apart, Similarity: 900_000}
		for _, fn := range also {
			fn(i, &s)
		}
		list = append(list, s)
	}
	return list
}

// TestSteps holds the table of the default policy, just above and just below each bound.
func TestSteps(t *testing.T) {
	own := func(i int, s *Source) { s.Lineage = []string{"x", "c"} }
	itself := func(i int, s *Source) {
		if i == 0 {
			s.ID = "c"
		}
	}
	uses := []Use{{"u1", "a", now - 9, true}, {"u2", "a", now - 8, true}}
	for _, c := range []struct {
		name string
		of   Candidate
		want string // kinds and tags
	}{
		{"two similar episodes", Candidate{Kind: "episodic", Sources: sources(2, hour)}, "observation"},
		{"too close in time", Candidate{Kind: "episodic", Sources: sources(2, hour-second)}, ""},
		{"not similar", Candidate{Kind: "episodic", Sources: sources(2, hour, func(_ int, s *Source) { s.Similarity = 849_999 })}, ""},
		{"three observations", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(3, 1)}, "fact"},
		{"two observations", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(2, 1)}, ""},
		{"little confidence", Candidate{Kind: "observation", Confidence: 699_999, Sources: sources(3, 1)}, ""},
		{"one against", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(4, 1, func(i int, s *Source) { s.Against = i == 3 })}, ""},
		{"derived ones count half", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(3, 1, func(i int, s *Source) {
			if i == 0 {
				own(i, s)
			}
		})}, ""},
		{"two halves are one", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(4, 1, func(i int, s *Source) {
			if i < 2 {
				own(i, s)
			}
		})}, "fact"},
		{"three of which it is one", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(3, 1, itself)}, ""},
		{"three beside it", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(4, 1, itself)}, "fact"},
		{"three derived, one that is not, and itself", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(5, 1, itself, func(i int, s *Source) {
			if i > 1 {
				own(i, s)
			}
		})}, ""},
		{"what it was promoted from", Candidate{Kind: "observation", Confidence: 700_000, From: []string{"s1"}, Sources: sources(3, 1)}, ""},
		{"three beside what it was promoted from", Candidate{Kind: "observation", Confidence: 700_000, From: []string{"s1"}, Sources: sources(4, 1)}, "fact"},
		{"episodes are no observations", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(4, 1, func(i int, s *Source) {
			if i > 1 {
				s.Kind = "episodic"
			}
		})}, ""},
		{"one of two episodes is the candidate", Candidate{Kind: "episodic", Sources: sources(2, hour, itself)}, "observation"},
		{"a hundred derived ones", Candidate{Kind: "observation", Confidence: dag.One, Sources: sources(100, 1, own)}, ""},
		{"one source many times", Candidate{Kind: "observation", Confidence: dag.One, Sources: sources(9, 0, func(_ int, s *Source) { s.ID = "s" })}, ""},
		{"a severe fact", Candidate{Kind: "fact", Confidence: 900_000, Severity: Medium, Sources: sources(1, 1)}, "policy"},
		{"a light one", Candidate{Kind: "fact", Confidence: 900_000, Severity: Low, Sources: sources(1, 1)}, ""},
		{"a procedure", Candidate{Kind: "action", Trigger: true, Steps: true, Uses: uses}, "procedure"},
		{"without steps", Candidate{Kind: "action", Trigger: true, Uses: uses}, ""},
		{"a failed use", Candidate{Kind: "action", Trigger: true, Steps: true, Uses: []Use{uses[0], {"u2", "a", now, false}}}, ""},
		{"three agents", Candidate{Kind: "practice", Sources: sources(3, 12*hour)}, "#shared"},
		{"three agents within a day", Candidate{Kind: "practice", Sources: sources(3, 12*hour-second)}, ""},
		{"one agent", Candidate{Kind: "practice", Sources: sources(3, 12*hour, func(_ int, s *Source) { s.By = "a" })}, ""},
		{"shared before", Candidate{Kind: "practice", Tags: []string{Shared}, Sources: sources(3, 12*hour)}, ""},
		{"a fact that three agents saw", Candidate{Kind: "observation", Confidence: 700_000, Sources: sources(3, 12*hour)}, "fact #shared"},
		{"from the future", Candidate{Kind: "observation", Confidence: dag.One, Sources: sources(3, 40*day)}, ""},
	} {
		c.of.ID = "c"
		var got []string
		for _, p := range Promote(Default(), []Candidate{c.of}, now) {
			if p.Step.Tag != "" {
				got = append(got, "#"+p.Step.Tag)
			} else {
				got = append(got, p.Step.To)
			}
			if p.Reason == "" || !strings.Contains(p.Reason, "wanted") || p.Support < p.Threshold || len(p.Sources) == 0 {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func randomStep(r *rand.Rand) Step {
	s := Step{To: pick(r, "fact", "policy"), Counts: pick(r, Evidence, Evidence, Agents, Uses), Threshold: 1 + r.IntN(4), NoneAgainst: r.IntN(3) == 0}
	if r.IntN(4) == 0 {
		s.To, s.Tag = "", Shared
	}
	if r.IntN(2) == 0 {
		s.Similarity = 500_000
	}
	if r.IntN(3) == 0 {
		s.Seconds = 5
	}
	if s.Others = r.IntN(3) == 0; r.IntN(3) == 0 {
		s.Sources = "observation"
	}
	return s
}

// TestPromotionLaws: evidence that the candidate led to does not promote it, however much there is; more evidence for it never hinders; the order is no matter.
func TestPromotionLaws(t *testing.T) {
	r := source()
	promoted, kept := 0, 0
	for range 20_000 {
		steps := make([]Step, 1+r.IntN(3))
		for i := range steps {
			steps[i] = randomStep(r)
		}
		p := New(steps)
		var list []Candidate
		for n := range 1 + r.IntN(3) {
			c := Candidate{ID: fmt.Sprint("c", n), Kind: "observation", Confidence: dag.One}
			for range r.IntN(8) {
				s := Source{ID: fmt.Sprint("s", r.IntN(9)), By: pick(r, "a", "b", "c"), Kind: pick(r, "observation", "episodic"), At: dag.Time(r.IntN(9)) * second, Similarity: dag.PPM(r.IntN(1_000_001)), Against: r.IntN(9) == 0}
				if r.IntN(2) == 0 {
					s.Lineage = []string{"c0", "c1", "c2"}
				}
				if r.IntN(5) == 0 {
					s.ID = c.ID
				}
				c.Sources = append(c.Sources, s)
			}
			list = append(list, c)
		}
		got := Promote(p, list, now)
		promoted += len(got)
		kindsOf := map[string]int{}
		for _, g := range got {
			if g.Step.To != "" {
				if kindsOf[g.ID]++; kindsOf[g.ID] > 1 {
					t.Fatalf("%s is promoted to two kinds: %+v", g.ID, got)
				}
			}
		}
		mixed := shuffled(r, list)
		for i := range mixed {
			mixed[i].Sources = shuffled(r, mixed[i].Sources)
		}
		if again := Promote(p, mixed, now); !reflect.DeepEqual(got, again) {
			t.Fatalf("in another order: %v, then %v", got, again)
		}
		for i := range list {
			alone := list[i]
			alone.Sources = slices.Clone(alone.Sources)
			for k := range alone.Sources {
				if alone.Sources[k].ID != alone.ID {
					alone.Sources[k].Lineage = append([]string{"y"}, alone.ID)
				}
			}
			if bad := Promote(p, []Candidate{alone}, now); len(bad) > 0 {
				t.Fatalf("%+v\nis promoted by what is derived from it: %+v", alone, bad)
			}
		}
		for _, g := range got {
			more := list[slices.IndexFunc(list, func(c Candidate) bool { return c.ID == g.ID })]
			more.Sources = append(slices.Clone(more.Sources), Source{ID: "new", By: "d", At: 9 * second, Similarity: dag.One})
			if !slices.ContainsFunc(Promote(p, []Candidate{more}, now), func(x Promotion) bool { return (x.Step.To == "") == (g.Step.To == "") }) {
				t.Fatalf("%+v\nis not promoted with more evidence", more)
			}
			kept++
		}
	}
	if promoted < 1000 || kept < 1000 {
		t.Errorf("%d promotions only", promoted)
	}
}

// TestCascadeLaws: a cascade ends on any graph, lowers only what lost evidence, deletes nothing, does nothing the second time, and is the same in any order. A
// reference that looks at all nodes again and again finds the same.
func TestCascadeLaws(t *testing.T) {
	r := source()
	lowered, invalid, circles, kept := 0, 0, 0, 0
	for range 30_000 {
		var nodes []Node
		for i := range 2 + r.IntN(7) {
			nodes = append(nodes, Node{fmt.Sprint("n", i), pick(r, 0, dag.PPM(r.IntN(1_000_001)), dag.PPM(r.IntN(1_000_001))), r.IntN(5) == 0, r.IntN(8) == 0})
		}
		var rests []Rest
		for range r.IntN(14) {
			rests = append(rests, Rest{pick(r, nodes...).ID, pick(r, nodes...).ID})
		}
		before := slices.Clone(nodes)
		got := Cascade(nodes, rests)
		if !slices.Equal(before, nodes) {
			t.Fatal("the input changed")
		}
		if again := Cascade(shuffled(r, nodes), shuffled(r, rests)); !reflect.DeepEqual(got, again) {
			t.Fatalf("in another order: %v, then %v", got, again)
		}
		if want := slowCascade(nodes, rests); !maps.Equal(want, brief(got)) {
			t.Fatalf("%v %v\ngot %v\nwant %v", nodes, rests, brief(got), want)
		}
		state := map[string]*Node{}
		for i := range nodes {
			state[nodes[i].ID] = &nodes[i]
		}
		for _, l := range got {
			n := state[l.ID]
			if l.Kept {
				if !n.Kept || l.Invalid || l.After != l.Before || len(l.Fell) == 0 {
					t.Fatalf("%v %v: %+v", nodes, rests, l)
				}
				kept++
				continue
			}
			if n.Kept || l.After > l.Before || l.Before != n.Confidence || n.Fell || len(l.Fell) == 0 && !l.Invalid || !l.Invalid && (l.After < InvalidBelow || l.After == l.Before) {
				t.Fatalf("%v %v: %+v", nodes, rests, l)
			}
			lowered++
			if l.Invalid {
				invalid++
				if l.After >= InvalidBelow {
					circles++
				}
			}
		}
		// What is done is done: with the new confidences and without the links to what fell, nothing falls.
		for _, l := range got {
			state[l.ID].Fell, state[l.ID].Confidence = l.Invalid, l.After
		}
		var left []Rest
		for _, x := range rests {
			if !state[x.Evidence].Fell {
				left = append(left, x)
			}
		}
		if again := Cascade(nodes, left); len(again) > 0 {
			t.Fatalf("%v %v: the second time %v", before, rests, again)
		}
	}
	if lowered < 5000 || invalid < 1000 || circles < 100 || kept < 500 {
		t.Errorf("%d lowered, %d invalid, %d in circles, %d kept", lowered, invalid, circles, kept)
	}
}

func brief(list []Lowering) map[string]string {
	m := map[string]string{}
	for _, l := range list {
		m[l.ID] = fmt.Sprint(l.After, l.Invalid, l.Kept)
	}
	return m
}

// slowCascade is Cascade by its words.
func slowCascade(nodes []Node, rests []Rest) map[string]string {
	rests = slices.Clone(rests)
	slices.SortFunc(rests, func(a, b Rest) int { return strings.Compare(a.Belief+" "+a.Evidence, b.Belief+" "+b.Evidence) })
	rests = slices.Compact(rests)
	c, fell, was := map[string]dag.PPM{}, map[string]bool{}, map[string]bool{}
	for _, n := range nodes {
		c[n.ID], fell[n.ID], was[n.ID] = n.Confidence, n.Fell, n.Fell
	}
	anew := func(id string) (dag.PPM, int) {
		all, left, lost := uint64(0), uint64(0), 0
		for _, x := range rests {
			if x.Belief == id {
				all += uint64(c[x.Evidence])
				if fell[x.Evidence] {
					lost++
				} else {
					left += uint64(c[x.Evidence])
				}
			}
		}
		if all == 0 {
			return c[id], lost
		}
		return dag.PPM(uint64(c[id]) * left / all), lost
	}
	hasEvidence := func(id string) bool { return slices.ContainsFunc(rests, func(x Rest) bool { return x.Belief == id }) }
	founded := func(fell map[string]bool) map[string]bool {
		ok := map[string]bool{}
		for range nodes {
			for _, n := range nodes {
				if !fell[n.ID] && (!hasEvidence(n.ID) || n.Kept || slices.ContainsFunc(rests, func(x Rest) bool { return x.Belief == n.ID && ok[x.Evidence] })) {
					ok[n.ID] = true
				}
			}
		}
		return ok
	}
	began := founded(nil)
	for range len(nodes) + 1 {
		for range nodes {
			for _, n := range nodes {
				if v, _ := anew(n.ID); !fell[n.ID] && !n.Kept && v < InvalidBelow && v < n.Confidence {
					fell[n.ID] = true
				}
			}
		}
		ok := founded(fell)
		for _, n := range nodes {
			if began[n.ID] && !ok[n.ID] {
				fell[n.ID] = true
			}
		}
	}
	m := map[string]string{}
	for _, n := range nodes {
		v, lost := anew(n.ID)
		switch {
		case was[n.ID]:
		case n.Kept && lost > 0:
			m[n.ID] = fmt.Sprint(n.Confidence, false, true)
		case !n.Kept && (fell[n.ID] || lost > 0 && v < n.Confidence):
			m[n.ID] = fmt.Sprint(v, fell[n.ID], false)
		}
	}
	return m
}

// TestCascadeIsLinear makes sure that a long chain of beliefs is looked at once.
func TestCascadeIsLinear(t *testing.T) {
	const n = 100_000
	nodes := []Node{{"n0", dag.One, true, false}}
	var rests []Rest
	for i := 1; i < n; i++ {
		nodes = append(nodes, Node{fmt.Sprint("n", i), dag.One, false, false})
		rests = append(rests, Rest{nodes[i].ID, nodes[i-1].ID})
	}
	got := Cascade(nodes, rests)
	if len(got) != n-1 || !got[0].Invalid {
		t.Errorf("%d of %d fell", len(got), n-1)
	}
}

func TestJudge(t *testing.T) {
	r := source()
	for _, c := range []struct {
		proposed, believed Side
		want               Advice
	}{
		{Side{"a", now, dag.One}, Side{"b", now, 1}, AskPerson},
		{Side{"a", now, 900_000}, Side{"a", now, 700_001}, AskPerson},
		{Side{"a", now, 900_000}, Side{"a", now, 700_000}, PreferNew},
		{Side{"a", now, 500_000}, Side{"a", now, 700_000}, PreferOld},
		{Side{"a", now, 900_000}, Side{"a", now - 30*day, 900_000}, PreferNew}, // half as old, half as much
		{Side{"a", now - 30*day, 900_000}, Side{"a", now - 30*day, 600_000}, AskPerson},
	} {
		if v := Judge(c.proposed, c.believed, false, now); v.Advice != c.want || v.Reason == "" {
			t.Errorf("%v against %v: %+v, want %s", c.proposed, c.believed, v, c.want)
		}
	}
	opposite := map[Advice]Advice{KeepBoth: KeepBoth, AskPerson: AskPerson, PreferNew: PreferOld, PreferOld: PreferNew}
	side := func() Side {
		return Side{pick(r, "a", "b"), now - dag.Time(r.Int64N(int64(400*day))), dag.PPM(r.IntN(1_000_001))}
	}
	seen := map[Advice]int{}
	for range 35_000 {
		a, b := side(), side()
		together := r.IntN(2) == 0
		v, back := Judge(a, b, together, now), Judge(b, a, together, now)
		if back.Advice != opposite[v.Advice] || v.New > a.Confidence || v.Old > b.Confidence || (v.Advice == KeepBoth) != (a.By != b.By && together) || a.By != b.By && !together && v.Advice != AskPerson {
			t.Fatalf("%v against %v: %+v, and back %+v", a, b, v, back)
		}
		seen[v.Advice]++
	}
	if len(seen) != 4 {
		t.Errorf("only %v", seen)
	}
}

// TestDecay: confidence halves after each half-life, and only falls.
func TestDecay(t *testing.T) {
	r := source()
	for range 10_000 {
		c, days, age := dag.PPM(r.IntN(1_000_001)), r.IntN(400), dag.Time(r.Int64N(int64(3000*day)))
		now, later := Decay(c, age, days), Decay(c, age+dag.Time(r.Int64N(int64(day))), days)
		if now > c || later > now || days == 0 && now != c {
			t.Fatalf("%s after %d with %d days: %s, then %s", c, age, days, now, later)
		}
		if days > 0 && Decay(c, dag.Time(days)*day, days) != c/2 || Decay(c, 0, days) != c {
			t.Fatalf("%s after a half-life of %d days: %s", c, days, Decay(c, dag.Time(days)*day, days))
		}
	}
}

func TestKeep(t *testing.T) {
	if !KeepsOriginal(699_999) || KeepsOriginal(700_000) {
		t.Error("specificity")
	}
	uses := []Use{{ID: "1", Success: true}, {ID: "2"}, {ID: "3", Success: true}, {ID: "3"}, {ID: "1", Success: true}}
	r := source()
	for range 100 {
		if got := Rate(shuffled(r, uses)); got != (Record{3, 1, 333_333}) {
			t.Fatalf("%+v", got)
		}
	}
	if got := Rate(nil); got != (Record{}) {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		at         dag.Time
		c          dag.PPM
		superseded bool
		want       bool
	}{{now - 90*day, 299_999, true, true}, {now - 90*day + 1, 299_999, true, false}, {now - 90*day, 300_000, true, false}, {now - 90*day, 0, false, false}} {
		if got := Archives(c.at, c.c, c.superseded, now); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

var names = []string{"Ada Lovelace", "Grace", "Bo", "İpek Şahin", "O'Brien", "Straße"}

// TestPersonaLaws: the bytes of an export hold no name that the table covers, however it is spelled, and no episode; what is left out is listed.
func TestPersonaLaws(t *testing.T) {
	r := source()
	var every []string
	open := kinds.Default().Kinds() // a policy that would let everything leave
	for i := range open {
		open[i].Exports = true
		every = append(every, open[i].Name)
	}
	policies := []kinds.Policy{kinds.Default(), kinds.New(belief.Constraints{}, open)}
	spelled := func(s string) string {
		switch r.IntN(5) {
		case 0:
			return strings.ToUpper(s)
		case 1:
			return strings.ReplaceAll(s, " ", "_")
		case 2:
			return strings.ReplaceAll(s, " ", "\u00a0 ")
		case 3:
			return s + pick(r, "s", "bella", "'s") // all but the last are parts of a longer word
		}
		return s
	}
	text := func() string {
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(pick(r, spelled(pick(r, names...)), "met", "Zed", "tomorrow", "7") + pick(r, " ", ", ", "-", "\n"))
		}
		return b.String()
	}
	name := func() string {
		for {
			if n, err := normalize.Name(text() + pick(r, "x", "w")); err == nil {
				return n
			}
		}
	}
	taken, left, links := 0, 0, 0
	for range 5_000 {
		p := pick(r, policies...)
		table := map[string]string{}
		for i, n := range names {
			if r.IntN(3) > 0 {
				table[n] = fmt.Sprint("p", i)
			}
		}
		var items []PersonaItem
		for i := range 1 + r.IntN(4) {
			item := PersonaItem{ID: fmt.Sprintf("kref://a/b/%d.%s", i, "k"), Kind: pick(r, every...), Shared: r.IntN(3) == 0, Texts: []string{text(), text()}}
			for range r.IntN(3) {
				item.Statements = append(item.Statements, PersonaStatement{Literal: belief.Literal{Subject: name(), Predicate: name(), Object: name()}, Span: belief.Always})
			}
			items = append(items, item)
		}
		var all []PersonaLink
		for range r.IntN(4) {
			all = append(all, PersonaLink{pick(r, items...).ID, "depends_on", pick(r, items...).ID})
		}
		got, err := Export(p, items, all, table, []string{"Zed"})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Export(p, shuffled(r, items), shuffled(r, all), maps.Clone(table), []string{"Zed"}); err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("in another order: %+v, then %+v, %v", got, again, err)
		}
		data, err := json.Marshal([]any{got.Items, got.Links})
		if err != nil {
			t.Fatal(err)
		}
		folded := strings.ToLower(string(data))
		for n := range table {
			for _, s := range []string{n, strings.ReplaceAll(n, " ", "-"), strings.Join(aliasOf(n).words, "-")} {
				if strings.Contains(folded, strings.ToLower(s)) {
					t.Fatalf("%q is in %s", s, data)
				}
			}
		}
		in := map[string]bool{}
		for _, id := range got.From {
			in[id] = true
		}
		for _, item := range got.Items {
			taken++
			if slices.Contains([]string{"episodic", "conversation", "user", "relationship"}, item.Kind) || slices.Contains([]string{"self", "observation", "reflection"}, item.Kind) && !item.Shared {
				t.Fatalf("%+v left", item)
			}
			zed := slices.ContainsFunc(item.Texts, func(s string) bool { return strings.Contains(s, "Zed") })
			if zed && !slices.ContainsFunc(got.Left, func(l LeftOut) bool { return l.ID == got.From[item.ID] && l.Name == "zed" && l.Taken }) {
				t.Fatalf("Zed is in %+v, and not listed: %+v", item, got.Left)
			}
		}
		for _, item := range items {
			if !in[item.ID] {
				left++
				if !slices.ContainsFunc(got.Left, func(l LeftOut) bool { return l.ID == item.ID && !l.Taken && l.Reason != "" }) {
					t.Fatalf("%+v is left out, and not listed", item)
				}
			}
		}
		for _, l := range got.Links {
			links++
			if got.From[l.From] == "" || got.From[l.To] == "" {
				t.Fatalf("%+v leads out", l)
			}
		}
	}
	if taken < 1000 || left < 1000 || links < 300 {
		t.Errorf("%d taken, %d left out, %d links", taken, left, links)
	}
}

func TestAliases(t *testing.T) {
	for _, c := range []struct {
		table map[string]string
		want  string
	}{
		{map[string]string{"--": "x"}, "no letter and no digit"},
		{map[string]string{"ada": ""}, "the alias of"},
		{map[string]string{"ada": "bo", "bo": "cy"}, "contains the name"},
		{map[string]string{"ada": "ada"}, "contains the name"},
		{map[string]string{"Ada": "x", "ada": "y"}, "two aliases"},
	} {
		if _, err := newAliases(c.table); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.table, err, c.want)
		}
	}
	table, err := newAliases(map[string]string{"New York": "city-1", "York": "city-2", "New": "fresh"})
	if got := table.replace("from York to new-york, Yorkshire"); err != nil || got != "from city-2 to city-1, Yorkshire" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSuspects: words that look like names are listed with the item that leaves; what the table or the list of people has is not listed as well.
func TestSuspects(t *testing.T) {
	for text, want := range map[string]string{
		"Ask before it is shut. Then shut it.": "",
		"Ask Bob before it is shut":            "Ask Bob",
		"Bob Stone says so":                    "Bob Stone",
		"we asked Mary  and Jo":                "Jo|Mary",
		"the API of NASA, (Maybe) O'Neil's":    "Maybe|Neil",
		"a list:\n\u201cSome thing":            "",
		"İpek asked Şule":                      "Şule",
		"by Grace and Zed, for Person-1":       "",
	} {
		got, err := Export(kinds.Default(), []PersonaItem{{ID: "kref://a/b/1.fact", Kind: "fact", Texts: []string{text}}}, nil, map[string]string{"Grace": "Person-1"}, []string{"Zed"})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, l := range got.Left {
			if l.Name != "zed" {
				list = append(list, l.Name)
			}
			if !l.Taken || l.ID != "kref://a/b/1.fact" {
				t.Errorf("%q: %+v", text, l)
			}
		}
		if strings.Join(list, "|") != want {
			t.Errorf("%q: %q, want %q", text, list, want)
		}
	}
	for text, want := range map[string]string{"acme/support": "", "acme/ada-desk": "ada", "ADA": "ada"} {
		if got, err := Covered(map[string]string{"Ada": "p1"}, "fine", text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := Covered(map[string]string{"ada": "ada"}); err == nil {
		t.Error("a table that cannot be used is taken")
	}
}
