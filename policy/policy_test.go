package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// The default policy as GKP/1, section 3.2, prints it.
const (
	defaultCanonical = `{"distance_decay_ppm":900000,"include_siblings":true,"max_nodes":256,"max_radius":10,"max_siblings":5,"phase_weights_ppm":{"consolidation":600000,"debugging":500000,"exploration":300000,"planning":900000,"synthesis":1000000},"salience_weight_ppm":300000,"type":"slice_policy_v1"}`
	defaultHash      = "9e8faff5ecefe4e8da8969955e8e79d5cff489c67d3be43e41de14d6c2f125de"
	defaultWire      = `{"distance_decay":0.9,"include_siblings":true,"max_nodes":256,"max_radius":10,"max_siblings":5,"phase_weights":{"consolidation":0.6,"debugging":0.5,"exploration":0.3,"planning":0.9,"synthesis":1},"salience_weight":0.3,"type":"slice_policy_v1"}`
)

// The policy of GKP/1, appendix A.2.
const (
	meetingCanonical = `{"distance_decay_ppm":870000,"include_siblings":true,"max_nodes":3,"max_radius":2,"max_siblings":1,"phase_weights_ppm":{"consolidation":600000,"debugging":333333,"exploration":350000,"planning":900000,"synthesis":1000000},"salience_weight_ppm":300000,"type":"slice_policy_v1"}`
	meetingHash      = "cd3dee7994f066d2ae453cc74d6fba2c963d8873b76042befb0c1a6bdc79ee83"
)

func meeting() policy.SlicePolicyV1 {
	p := policy.DefaultV1()
	p.MaxNodes, p.MaxRadius, p.MaxSiblings, p.DistanceDecay = 3, 2, 1, 870_000
	p.Weights[dag.Debugging], p.Weights[dag.Exploration] = 333_333, 350_000
	return p
}

func wire(p policy.Parameters) string {
	w := canon.NewWriter(nil)
	p.AppendWire(w)
	return string(w.Bytes)
}

func registration(params string) []byte {
	return []byte(`{"policy_id":"p@1","policy":` + params + `}`)
}

func TestPinned(t *testing.T) {
	for _, tc := range []struct {
		params          policy.SlicePolicyV1
		canonical, hash string
	}{
		{policy.DefaultV1(), defaultCanonical, defaultHash},
		{meeting(), meetingCanonical, meetingHash},
	} {
		if got := string(tc.params.Canonical()); got != tc.canonical {
			t.Errorf("got  %s\nwant %s", got, tc.canonical)
		}
		if got := tc.params.Hash().String(); got != tc.hash {
			t.Errorf("got %s, want %s", got, tc.hash)
		}
		if got, err := policy.ParseCanonical([]byte(tc.canonical)); err != nil || got != tc.params {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if got := wire(policy.DefaultV1()); got != defaultWire {
		t.Errorf("got  %s\nwant %s", got, defaultWire)
	}
}

var someParams = rapid.Custom(func(t *rapid.T) policy.SlicePolicyV1 {
	ppm := rapid.OneOf(rapid.Uint32Range(0, 1_000_000), rapid.SampledFrom([]uint32{0, 1, 100_000, 999_999, 1_000_000}))
	fraction := func(name string) dag.PPM { return dag.PPM(ppm.Draw(t, name)) }
	p := policy.SlicePolicyV1{
		MaxNodes: rapid.IntRange(1, policy.LimitNodes).Draw(t, "max_nodes"), MaxRadius: rapid.IntRange(0, policy.LimitRadius).Draw(t, "max_radius"),
		MaxSiblings: rapid.IntRange(0, policy.LimitSiblings).Draw(t, "max_siblings"), IncludeSiblings: rapid.Bool().Draw(t, "include_siblings"),
		SalienceWeight: fraction("alpha"), DistanceDecay: fraction("beta"),
	}
	for _, ph := range dag.Phases {
		p.Weights[ph] = fraction("weight")
	}
	return p
})

// TestForms holds that each form is read back as the same parameters, and that
// different parameters never share a canonical form.
func TestForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someParams.Draw(t, "params")
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if got, err := policy.ParseCanonical(p.Canonical()); err != nil || got != p {
			t.Errorf("canonical: got %+v, %v, want %+v", got, err, p)
		}
		r, err := standard.Forms().ParseRegistration(registration(wire(p)))
		if err != nil || r.Params() != p || r.Hash() != p.Hash() || r.ID() != "p@1" {
			t.Errorf("wire: got %+v, %v, want %+v", r, err, p)
		}
		q := someParams.Draw(t, "others")
		if rapid.Bool().Draw(t, "near") {
			q = p
			q.Weights[dag.Planning] ^= 1
		}
		if (string(p.Canonical()) == string(q.Canonical())) != (p == q) || (p.Hash() == q.Hash()) != (p == q) {
			t.Errorf("%+v and %+v share a form, or one has two", p, q)
		}
	})
}

// TestParseCanonicalMangled puts every byte in every place, takes each out and
// doubles it. What is still accepted is the canonical form of what it says.
func TestParseCanonicalMangled(t *testing.T) {
	accepted, refused := 0, 0
	look := func(text []byte) {
		p, err := policy.ParseCanonical(text)
		if err != nil {
			refused++
			if p != (policy.SlicePolicyV1{}) {
				t.Errorf("%s: an error and parameters", text)
			}
			return
		}
		accepted++
		if string(p.Canonical()) != string(text) {
			t.Errorf("accepted: %s", text)
		}
		if err := p.Check(); err != nil {
			t.Errorf("accepted: %s: %v", text, err)
		}
	}
	for i := range len(meetingCanonical) {
		look([]byte(meetingCanonical[:i] + meetingCanonical[i+1:]))
		look([]byte(meetingCanonical[:i] + meetingCanonical[i:i+1] + meetingCanonical[i:]))
		text := []byte(meetingCanonical)
		for b := range 256 {
			text[i] = byte(b)
			look(text)
		}
	}
	// Only digits can change into digits.
	if accepted < 100 || refused < 70_000 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

func TestParseCanonicalRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           ``,
		"white space":       " " + defaultCanonical,
		"a line end":        defaultCanonical + "\n",
		"wire form":         defaultWire,
		"a missing member":  strings.Replace(defaultCanonical, `"max_nodes":256,`, ``, 1),
		"an unknown member": strings.Replace(defaultCanonical, `"max_nodes"`, `"max_modes":1,"max_nodes"`, 1),
		"a repeated member": strings.Replace(defaultCanonical, `"max_nodes"`, `"max_nodes":256,"max_nodes"`, 1),
		"another order":     strings.Replace(defaultCanonical, `"max_nodes":256,"max_radius":10`, `"max_radius":10,"max_nodes":256`, 1),
		"a decimal":         strings.Replace(defaultCanonical, `900000`, `900000.0`, 1),
		"an exponent":       strings.Replace(defaultCanonical, `900000`, `9e5`, 1),
		"a leading zero":    strings.Replace(defaultCanonical, `900000`, `0900000`, 1),
		"an escape":         strings.Replace(defaultCanonical, `"type"`, `"\u0074ype"`, 1),
		"above 1":           strings.Replace(defaultCanonical, `1000000`, `1000001`, 1),
		"another type":      strings.Replace(defaultCanonical, `_v1`, `_v2`, 1),
		"a string":          strings.Replace(defaultCanonical, `256`, `"256"`, 1),
		"null":              strings.Replace(defaultCanonical, `true`, `null`, 1),
		"no phase":          strings.Replace(defaultCanonical, `"consolidation":600000,`, ``, 1),
		"a sixth phase":     strings.Replace(defaultCanonical, `"synthesis"`, `"sleeping":1,"synthesis"`, 1),
		"an array":          "[" + defaultCanonical + "]",
	} {
		if text == defaultCanonical {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := policy.ParseCanonical([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestRegistrationRefuses hands in every kind of bad parameter. The refusal
// names the field.
func TestRegistrationRefuses(t *testing.T) {
	fractions := []string{"salience_weight", "distance_decay", "phase_weights.synthesis", "phase_weights.planning", "phase_weights.consolidation", "phase_weights.debugging", "phase_weights.exploration"}
	integers := []struct {
		field string
		bad   []string
	}{
		{"max_nodes", []string{"0", "10001"}},
		{"max_radius", []string{"65"}},
		{"max_siblings", []string{"101"}},
	}
	ran := 0
	refuse := func(field, value string) {
		member := `"` + field + `":` + value
		if in, of, found := strings.Cut(field, "."); found {
			member = `"` + in + `":{"` + of + `":` + value + `}`
		}
		_, err := standard.Forms().ParseRegistration(registration(`{"type":"slice_policy_v1",` + member + `}`))
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s %s: got %v, want a refusal that names the field", field, value, err)
		}
		ran++
	}
	for _, field := range fractions {
		for _, value := range []string{
			"0.1234567", "0.9000001", "1.0000001", "1.000001", "1.1", "2", "10", "9e-7", "1e1", "0.5E1", "5e-7", "-0", "-0.5", "-1", `"0.5"`, "null", "true", "[]", "{}",
			"0.30000000000000004",
		} {
			refuse(field, value)
		}
	}
	for _, n := range integers {
		for _, value := range append(n.bad, "-1", "-0", "1.0", "1e1", "99999999999999999999", `"1"`, "null", "true") {
			refuse(n.field, value)
		}
	}
	for _, value := range []string{"0", "1", `"true"`, "null", "[]"} {
		refuse("include_siblings", value)
	}
	for _, value := range []string{"0", "[]", "null", `"x"`, `{"sleeping":1}`, `{"Planning":1}`} {
		refuse("phase_weights", value)
	}
	if ran != 7*20+10+9+9+5+6 {
		t.Errorf("%d cases", ran)
	}
}

// TestRegistrationBounds hands in each parameter at its bounds.
func TestRegistrationBounds(t *testing.T) {
	for _, member := range []string{
		`"max_nodes":1`, `"max_nodes":10000`, `"max_radius":0`, `"max_radius":64`, `"max_siblings":0`, `"max_siblings":100`, `"include_siblings":false`,
		`"salience_weight":0`, `"salience_weight":1`, `"salience_weight":1.000000`, `"distance_decay":0.000001`, `"phase_weights":{}`, `"phase_weights":{"planning":0.10}`,
	} {
		if _, err := standard.Forms().ParseRegistration(registration(`{"type":"slice_policy_v1",` + member + `}`)); err != nil {
			t.Errorf("%s: %v", member, err)
		}
	}
	r, err := standard.Forms().ParseRegistration(registration(`{"phase_weights":{"planning":0.25},"type":"slice_policy_v1","max_nodes":32}`))
	want := policy.DefaultV1()
	want.MaxNodes, want.Weights[dag.Planning] = 32, 250_000
	if err != nil || r.Params() != want {
		t.Errorf("got %+v, %v, want what is absent to have its default: %+v", r, err, want)
	}
}

func TestRegistrationDocuments(t *testing.T) {
	const params = `{"type":"slice_policy_v1"}`
	for _, tc := range []struct {
		text string
		word string
		want error
	}{
		{`{"policy":` + params + `}`, "policy_id", nil},
		{`{"policy_id":"p@1"}`, "policy", nil},
		{`{"policy_id":"p","policy":` + params + `}`, "policy_id", dag.ErrForm},
		{`{"policy_id":5,"policy":` + params + `}`, "policy_id", nil},
		{`{"policy_id":"p@1","policy":` + params + `,"x":1}`, `"x"`, nil},
		{`{"policy_id":"p@1","policy":` + params + `,"policy":` + params + `}`, "repeated", canon.ErrSyntax},
		{`{"policy_id":"p@1","policy":{"type":"slice_policy_v1","type":"slice_policy_v1"}}`, "repeated", canon.ErrSyntax},
		{`{"policy_id":"p@1","policy":{"type":"slice_policy_v1","phase_weights":{"planning":1,"planning":1}}}`, "repeated", canon.ErrSyntax},
		{`{"policy_id":"p@1","policy":{}}`, "type", nil},
		{`{"policy_id":"p@1","policy":{"type":"slice_policy_v9"}}`, "policy.type", policy.ErrType},
		{`{"policy_id":"p@1","policy":{"type":1}}`, "policy.type", nil},
		{`{"policy_id":"p@1","policy":{"type":"slice_policy_v1","max_modes":1}}`, "max_modes", nil},
		{`{"policy_id":"p@1","policy":{"type":"slice_policy_v1","max_nodes":0}}`, "max_nodes", policy.ErrRange},
		{`{"policy_id":"p@1","policy":{"type":"slice_policy_v1","distance_decay":2}}`, "policy.distance_decay", dag.ErrForm},
		{`[]`, "object", nil}, {``, "", canon.ErrSyntax}, {`{"policy_id":"p@1","policy":` + params + `} x`, "after", canon.ErrSyntax},
	} {
		r, err := standard.Forms().ParseRegistration([]byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.word) || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v naming %q", tc.text, err, tc.want, tc.word)
		}
		if r != (policy.Registered{}) {
			t.Errorf("%s: an error and a policy", tc.text)
		}
	}
}

// TestCheck is just beyond each bound that a Go program can set.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		field  string
		change func(*policy.SlicePolicyV1)
	}{
		{"max_nodes", func(p *policy.SlicePolicyV1) { p.MaxNodes = 0 }},
		{"max_nodes", func(p *policy.SlicePolicyV1) { p.MaxNodes = -1 }},
		{"max_nodes", func(p *policy.SlicePolicyV1) { p.MaxNodes = 10_001 }},
		{"max_radius", func(p *policy.SlicePolicyV1) { p.MaxRadius = -1 }},
		{"max_radius", func(p *policy.SlicePolicyV1) { p.MaxRadius = 65 }},
		{"max_siblings", func(p *policy.SlicePolicyV1) { p.MaxSiblings = -1 }},
		{"max_siblings", func(p *policy.SlicePolicyV1) { p.MaxSiblings = 101 }},
		{"salience_weight", func(p *policy.SlicePolicyV1) { p.SalienceWeight = 1_000_001 }},
		{"distance_decay", func(p *policy.SlicePolicyV1) { p.DistanceDecay = 1_000_001 }},
		{"no phase", func(p *policy.SlicePolicyV1) { p.Weights[0] = 1 }},
		{"synthesis", func(p *policy.SlicePolicyV1) { p.Weights[dag.Synthesis] = 1_000_001 }},
		{"planning", func(p *policy.SlicePolicyV1) { p.Weights[dag.Planning] = 1_000_001 }},
		{"consolidation", func(p *policy.SlicePolicyV1) { p.Weights[dag.Consolidation] = 1_000_001 }},
		{"debugging", func(p *policy.SlicePolicyV1) { p.Weights[dag.Debugging] = 1_000_001 }},
		{"exploration", func(p *policy.SlicePolicyV1) { p.Weights[dag.Exploration] = 1_000_001 }},
	} {
		p := policy.DefaultV1()
		tc.change(&p)
		if err := p.Check(); !errors.Is(err, policy.ErrRange) || !strings.Contains(err.Error(), tc.field) {
			t.Errorf("got %v, want ErrRange naming %s", err, tc.field)
		}
		if r, err := policy.Bind("p@1", p); !errors.Is(err, policy.ErrRange) || r != (policy.Registered{}) {
			t.Errorf("Bind: got %v, want ErrRange", err)
		}
	}
	var zero policy.SlicePolicyV1
	if err := zero.Check(); !errors.Is(err, policy.ErrRange) {
		t.Errorf("the zero value: got %v", err)
	}
}

func TestParseID(t *testing.T) {
	for _, s := range []string{"default@1", "a@1", "0@999999", "a.b_c-d@10", "a..@1", strings.Repeat("z", 63) + "@1"} {
		if id, err := policy.ParseID(s); err != nil || string(id) != s {
			t.Errorf("%q: got %q, %v", s, id, err)
		}
	}
	for _, s := range []string{
		"", "@", "a", "a@", "@1", "a@0", "a@01", "a@1000000", "a@-1", "a@+1", "a@1.0", "a@1 ", " a@1", "a@1@1", "a@@1", "A@1", "aB@1", "-a@1", ".a@1", "_a@1", "a b@1", "a|b@1", "é@1", "a@١",
		"a@1\n", "a\n@1", strings.Repeat("z", 64) + "@1", "a@x", "a@99999999999999999999", "a/b@1", "a@ 1",
	} {
		if id, err := policy.ParseID(s); !errors.Is(err, dag.ErrForm) || id != "" {
			t.Errorf("%q: got %q, %v, want ErrForm", s, id, err)
		}
		if _, err := policy.Bind(policy.ID(s), policy.DefaultV1()); !errors.Is(err, dag.ErrForm) {
			t.Errorf("Bind %q: got %v, want ErrForm", s, err)
		}
	}
}

// TestZeroRegistered holds that the zero value is of no policy.
func TestZeroRegistered(t *testing.T) {
	var r policy.Registered
	if r.ID() != "" || r.Hash() != (dag.Digest{}) || r.Params() != nil {
		t.Errorf("got %+v", r)
	}
}

func FuzzRegistration(f *testing.F) {
	f.Add(registration(defaultWire))
	f.Add(registration(wire(meeting())))
	f.Add(registration(`{"type":"slice_policy_v1"}`))
	f.Add(registration(`{"type":"fact_policy_v1","predicates":["Owned by","a"],"direction":"incoming","min_confidence":0.5}`))
	f.Add(registration(`{"type":"slice_policy_v1","max_nodes":0,"salience_weight":0.1234567}`))
	f.Add(registration(`{"type":"slice_policy_v1","phase_weights":{"planning":1.0}}`))
	f.Add([]byte(`{"policy_id":"a@01","policy":null}`))
	f.Add([]byte(defaultCanonical))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := policy.ParseCanonical(data); err == nil && string(p.Canonical()) != string(data) {
			t.Errorf("%q is accepted as canonical", data)
		}
		r, err := standard.Forms().ParseRegistration(data)
		if err != nil {
			if r != (policy.Registered{}) || len(err.Error()) > 1000 {
				t.Errorf("%q: a policy beside the error, or a long one: %v", data, err)
			}
			return
		}
		params := r.Params()
		if err := params.Check(); err != nil || r.Hash() != params.Hash() {
			t.Errorf("%q gives %+v: %v", data, params, err)
		}
		again, err := standard.Forms().ParseRegistration([]byte(fmt.Sprintf(`{"policy":%s,"policy_id":"%s"}`, wire(params), r.ID())))
		if err != nil || again != r {
			t.Errorf("%q gives %+v, which is read as %+v, %v", data, r, again, err)
		}
	})
}

// TestFractionsOfPeopleAndOfEvidence reads the same numbers as a registration,
// which takes any spelling, and as evidence, which takes one without an exponent.
func TestFractionsOfPeopleAndOfEvidence(t *testing.T) {
	for _, tc := range []struct {
		value    string
		want     dag.PPM
		evidence bool
	}{
		{"0.9", 900_000, true}, {"0.90", 900_000, true}, {"9e-1", 900_000, false}, {"0.9000000", 900_000, false}, {"1e0", dag.One, false}, {"1e-06", 1, false},
	} {
		text := `{"type":"slice_policy_v1","salience_weight":` + tc.value + `}`
		p, err := standard.Forms().ParseRegistration(registration(text))
		if err != nil {
			t.Errorf("%s: %v", tc.value, err)
			continue
		}
		if s, err := p.Slice(); err != nil || s.Walk().SalienceWeight != tc.want {
			t.Errorf("%s: got %+v, %v, want %s", tc.value, s, err, tc.want)
		}
		doc, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c := canon.Open(doc)
		if policy.SliceForm.Read(c, policy.Wire); (c.Err() == nil) != tc.evidence {
			t.Errorf("%s as evidence: %v", tc.value, c.Err())
		}
	}
}
