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

// The policy default@3, as docs/protocol.md prints it.
const (
	defaultV3Canonical = `{"direction":"past","distance_decay_ppm":950000,"max_cost":32000,"max_nodes":256,"max_radius":64,"max_siblings":5,"max_touching":2,"phase_weights_ppm":{"consolidation":800000,"debugging":800000,"exploration":800000,"planning":900000,"synthesis":1000000},"salience_weight_ppm":300000,"spine":true,"standing_weights_ppm":{"agent":700000,"guest":300000,"member":1000000,"outside":300000,"owner":1000000,"system":1000000},"type":"slice_policy_v3"}`
	defaultV3Hash      = "07251c1cceabf02214d52ea831255c0610c3f7b0c65bbfe800fe706315bb8f52"
)

func TestPinnedV3(t *testing.T) {
	p := policy.DefaultV3()
	if got := string(p.Canonical()); got != defaultV3Canonical {
		t.Errorf("got  %s\nwant %s", got, defaultV3Canonical)
	}
	if got := p.Hash().String(); got != defaultV3Hash {
		t.Errorf("got %s, want %s", got, defaultV3Hash)
	}
	want := strings.NewReplacer("_ppm", "", "950000", "0.95", "800000", "0.8", "900000", "0.9", "1000000", "1", "300000", "0.3", "700000", "0.7").Replace(defaultV3Canonical)
	if got := wire(p); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRoundTripV3 writes and reads policies in both notations.
func TestRoundTripV3(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := policy.SlicePolicyV3{Base: someParamsV2.Draw(t, "base")}
		p.Base.Voices = policy.VoiceTable{}
		for _, s := range dag.Standings {
			p.Standings[s] = dag.PPM(rapid.Uint32Range(0, 1_000_000).Draw(t, s.String()))
		}
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
		w := p.Walk()
		if s, err := bound.Slice(); err != nil || s != policy.SlicePolicy(p) || w.SlicePolicyV2 != p.Base || *w.Standings != p.Standings {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

// TestScoreOfStandings makes sure that the weight of a standing multiplies the weight of the phase, rounded down.
func TestScoreOfStandings(t *testing.T) {
	p := policy.DefaultV3()
	p.Base.Weights[dag.Debugging], p.Standings[dag.StandingGuest], p.Base.DistanceDecay = 333_333, 333_333, 870_000
	w := p.Walk()
	for _, tc := range []struct {
		of   dag.Standing
		want [3]policy.Score
	}{
		{dag.StandingOwner, [3]policy.Score{333_333_000, 289_999_710, 252_299_747}},
		{dag.StandingGuest, [3]policy.Score{111_110_000, 96_665_700, 84_099_159}},
	} {
		for d, want := range tc.want {
			if got := w.Scorer().ScoreOf(tc.of, dag.Debugging, dag.One, d); got != want {
				t.Errorf("%s at %d: got %d, want %d", tc.of, d, got, want)
			}
		}
	}
}

func TestRegistrationRefusesV3(t *testing.T) {
	for member, word := range map[string]string{
		`"direction":"future"`: "direction", `"max_nodes":0`: "max_nodes", `"standing_weights":{"owner":1.1}`: "standing_weights.owner", `"standing_weights":{"nobody":1}`: "standing_weights",
		`"standing_weights":1`: "standing_weights", `"voice_weights":{"person":1}`: "voice_weights",
	} {
		_, err := standard.Forms().ParseRegistration(registration(`{"type":"slice_policy_v3",` + member + `}`))
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: got %v, want a refusal that names %s", member, err, word)
		}
	}
	for name, change := range map[string]func(*policy.SlicePolicyV3){
		"no standing": func(p *policy.SlicePolicyV3) { p.Standings[0] = 1 }, "a voice": func(p *policy.SlicePolicyV3) { p.Base.Voices[dag.VoiceTool] = 1 },
		"no phase": func(p *policy.SlicePolicyV3) { p.Base.Weights[0] = 1 }, "too much": func(p *policy.SlicePolicyV3) { p.Standings[dag.StandingOwner] = dag.One + 1 },
		"max_nodes": func(p *policy.SlicePolicyV3) { p.Base.MaxNodes = 0 },
	} {
		p := policy.DefaultV3()
		change(&p)
		if _, err := policy.Bind("p@1", p); !errors.Is(err, policy.ErrRange) {
			t.Errorf("%s: got %v, want ErrRange", name, err)
		}
	}
}
