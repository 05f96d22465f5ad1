package policy_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// The policy default@2, as docs/protocol.md prints it.
const (
	defaultV2Canonical = `{"direction":"past","distance_decay_ppm":950000,"max_cost":32000,"max_nodes":256,"max_radius":64,"max_siblings":5,"max_touching":2,"phase_weights_ppm":{"consolidation":800000,"debugging":800000,"exploration":800000,"planning":900000,"synthesis":1000000},"salience_weight_ppm":300000,"spine":true,"type":"slice_policy_v2","voice_weights_ppm":{"agent":700000,"harness":200000,"person":1000000,"tool":300000}}`
	defaultV2Hash      = "b8446d7b123f1b2e51c568718fd5937765f5167a45ae0d8a822ef3d8c7027086"
)

func TestPinnedV2(t *testing.T) {
	p := policy.DefaultV2()
	if got := string(p.Canonical()); got != defaultV2Canonical {
		t.Errorf("got  %s\nwant %s", got, defaultV2Canonical)
	}
	if got := p.Hash().String(); got != defaultV2Hash {
		t.Errorf("got %s, want %s", got, defaultV2Hash)
	}
	want := strings.NewReplacer("_ppm", "", "950000", "0.95", "800000", "0.8", "900000", "0.9", "1000000", "1", "300000", "0.3", "700000", "0.7", "200000", "0.2").Replace(defaultV2Canonical)
	if got := wire(p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

var someParamsV2 = rapid.Custom(func(t *rapid.T) policy.SlicePolicyV2 {
	v1 := someParams.Draw(t, "both")
	fraction := rapid.Uint32Range(0, 1_000_000)
	p := policy.SlicePolicyV2{
		MaxNodes: v1.MaxNodes, MaxRadius: v1.MaxRadius, MaxSiblings: v1.MaxSiblings, Weights: v1.Weights, SalienceWeight: v1.SalienceWeight, DistanceDecay: v1.DistanceDecay,
		MaxCost: rapid.IntRange(0, policy.LimitCost).Draw(t, "max_cost"), MaxTouching: rapid.IntRange(0, policy.LimitTouching).Draw(t, "max_touching"),
		Spine: rapid.Bool().Draw(t, "spine"), Direction: rapid.SampledFrom([]policy.Direction{policy.Past, policy.Both}).Draw(t, "direction"),
	}
	for _, v := range dag.Voices {
		p.Voices[v] = dag.PPM(fraction.Draw(t, v.String()))
	}
	return p
})

// TestFormsV2 holds that each form is read back as the same parameters, and that a policy of the one type is none
// of the other.
func TestFormsV2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someParamsV2.Draw(t, "params")
		bound, err := policy.Bind("p@1", p)
		if err != nil {
			t.Fatal(err)
		}
		hash := bound.Hash()
		if again, err := standard.Forms().Restore("p@1", hash[:], p.Canonical()); err != nil || again != bound {
			t.Errorf("canonical: got %+v, %v, want %+v", again, err, bound)
		}
		if r, err := standard.Forms().ParseRegistration(registration(wire(p))); err != nil || r != bound {
			t.Errorf("wire: got %+v, %v, want %+v", r, err, bound)
		}
		if _, err := policy.ParseCanonical(p.Canonical()); !errors.Is(err, policy.ErrType) {
			t.Errorf("as the first type: %v", err)
		}
		if s, err := bound.Slice(); err != nil || s != policy.SlicePolicy(p) || s.Walk() != (policy.Walk{SlicePolicyV2: p}) {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

// TestWalk holds that the first type is a case of the second: the same scores, whatever the voice.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someParams.Draw(t, "params")
		w := p.Walk()
		if !p.IncludeSiblings {
			p.MaxSiblings = 0
		}
		if w.MaxNodes != p.MaxNodes || w.MaxRadius != p.MaxRadius || w.MaxSiblings != p.MaxSiblings || w.Direction != policy.Both || w.Spine || w.MaxTouching != 0 || w.MaxCost != 0 {
			t.Errorf("got %+v of %+v", w, p)
		}
		phase := rapid.SampledFrom(dag.Phases[:]).Draw(t, "phase")
		for voice := range dag.VoiceHarness + 1 {
			if got, want := w.Scorer().Score(voice, phase, 123_456, 7), bigScore(&p, phase, 123_456, 7); uint64(got) != want {
				t.Errorf("voice %d: got %d, want %d", voice, got, want)
			}
		}
	})
}

// TestScoreOfVoices pins what a voice's weight does: it multiplies that of the phase, rounded down.
func TestScoreOfVoices(t *testing.T) {
	p := policy.DefaultV2()
	p.Weights[dag.Debugging], p.Voices[dag.VoiceTool], p.DistanceDecay = 333_333, 333_333, 870_000
	for _, tc := range []struct {
		voice dag.Voice
		want  [3]policy.Score
	}{
		{dag.VoicePerson, [3]policy.Score{333_333_000, 289_999_710, 252_299_747}},
		{dag.VoiceTool, [3]policy.Score{111_110_000, 96_665_700, 84_099_159}},
	} {
		for d, want := range tc.want {
			w := p.Walk()
			if got := w.Scorer().Score(tc.voice, dag.Debugging, dag.One, d); got != want {
				t.Errorf("%s at %d: got %d, want %d", tc.voice, d, got, want)
			}
		}
	}
}

func TestRegistrationRefusesV2(t *testing.T) {
	for member, word := range map[string]string{
		`"direction":"future"`: "direction", `"direction":1`: "direction", `"spine":1`: "spine", `"max_cost":-1`: "max_cost", `"max_cost":1073741825`: "max_cost",
		`"max_touching":101`: "max_touching", `"voice_weights":{"person":1.1}`: "voice_weights.person", `"voice_weights":{"nobody":1}`: "voice_weights", `"voice_weights":1`: "voice_weights",
		`"include_siblings":true`: "include_siblings", `"max_nodes":0`: "max_nodes", `"max_radius":65`: "max_radius", `"max_siblings":101`: "max_siblings",
		`"phase_weights":{"planning":2}`: "phase_weights.planning", `"salience_weight":2`: "salience_weight", `"distance_decay":2`: "distance_decay",
	} {
		_, err := standard.Forms().ParseRegistration(registration(`{"type":"slice_policy_v2",` + member + `}`))
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: got %v, want a refusal that names %s", member, err, word)
		}
	}
	for name, change := range map[string]func(*policy.SlicePolicyV2){
		"no phase": func(p *policy.SlicePolicyV2) { p.Weights[0] = 1 }, "no voice": func(p *policy.SlicePolicyV2) { p.Voices[0] = 1 },
		"no direction": func(p *policy.SlicePolicyV2) { p.Direction = "" }, "voice": func(p *policy.SlicePolicyV2) { p.Voices[dag.VoiceTool] = dag.One + 1 },
	} {
		p := policy.DefaultV2()
		if change(&p); !errors.Is(p.Check(), policy.ErrRange) {
			t.Errorf("%s: got %v, want ErrRange", name, p.Check())
		}
	}
}
