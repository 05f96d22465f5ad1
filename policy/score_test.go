package policy_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// bigScore is section 4 of GKP/1 in integers of any size.
func bigScore(p *policy.SlicePolicyV1, phase dag.Phase, salience dag.PPM, distance int) uint64 {
	n := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	mul := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	div := func(a *big.Int, b uint64) *big.Int { return new(big.Int).Quo(a, n(b)) }
	alpha, s, beta, weight := n(uint64(p.SalienceWeight)), n(uint64(salience)), n(uint64(p.DistanceDecay)), n(uint64(p.Weights[phase]))

	f := n(1_000_000_000_000)
	f.Sub(f, mul(alpha, n(1_000_000)))
	f.Add(f, mul(alpha, s))
	f = div(f, 1000)
	d := n(1_000_000_000)
	for range distance {
		d = div(mul(d, beta), 1_000_000)
	}
	return div(mul(div(mul(weight, f), 1_000_000), d), 1_000_000_000).Uint64()
}

// equation1 is the paper's equation 1, in floating point.
func equation1(p *policy.SlicePolicyV1, phase dag.Phase, salience dag.PPM, distance int) float64 {
	alpha := float64(p.SalienceWeight) / 1e6
	return float64(p.Weights[phase]) / 1e6 * (1 - alpha + alpha*float64(salience)/1e6) * math.Pow(float64(p.DistanceDecay)/1e6, float64(distance))
}

func TestScoreWorkedExample(t *testing.T) {
	// GKP/1, section 4.
	p := policy.DefaultV1()
	p.Weights[dag.Debugging], p.SalienceWeight, p.DistanceDecay = 333_333, 300_000, 870_001
	if got := p.Scorer().Score(0, dag.Debugging, 100_001, 6); got != 105_516_373 {
		t.Errorf("got %d, want 105516373", got)
	}
	// Appendix A.3.
	p = meeting()
	for _, tc := range []struct {
		phase    dag.Phase
		salience dag.PPM
		want     [2]policy.Score
	}{
		{dag.Planning, 800_000, [2]policy.Score{846_000_000, 736_020_000}},
		{dag.Synthesis, 654_321, [2]policy.Score{896_296_300, 779_777_781}},
		{dag.Exploration, 123_457, [2]policy.Score{257_962_985, 224_427_796}},
		{dag.Debugging, 100_000, [2]policy.Score{243_333_090, 211_699_788}},
	} {
		for d, want := range tc.want {
			if got := p.Scorer().Score(dag.VoiceTool, tc.phase, tc.salience, d); got != want {
				t.Errorf("%s at %d: got %d, want %d", tc.phase, d, got, want)
			}
		}
	}
}

// TestScoreAgainstBig compares with integers of any size, at all corners of the
// parameters and at random values.
func TestScoreAgainstBig(t *testing.T) {
	corners := []dag.PPM{0, 1, 999_999, 1_000_000}
	ran := 0
	p := policy.DefaultV1()
	for _, p.Weights[dag.Planning] = range corners {
		for _, p.SalienceWeight = range corners {
			for _, p.DistanceDecay = range corners {
				scorer := p.Scorer()
				for _, s := range corners {
					for _, d := range []int{0, 1, 2, 63, 64} {
						ran++
						got, want := uint64(scorer.Score(dag.VoicePerson, dag.Planning, s, d)), bigScore(&p, dag.Planning, s, d)
						if got != want {
							t.Fatalf("%+v, salience %d, distance %d: got %d, want %d", p, uint32(s), d, got, want)
						}
					}
				}
			}
		}
	}
	if ran != 4*4*4*4*5 {
		t.Errorf("%d cases", ran)
	}
	positive := 0
	rapid.Check(t, func(t *rapid.T) {
		p := someParams.Draw(t, "params")
		scorer := p.Scorer()
		ppm := rapid.Uint32Range(0, 1_000_000)
		for range 20 {
			phase := rapid.SampledFrom(dag.Phases[:]).Draw(t, "phase")
			s, d := dag.PPM(ppm.Draw(t, "salience")), rapid.IntRange(0, policy.LimitRadius).Draw(t, "distance")
			got := scorer.Score(dag.VoiceAgent, phase, s, d)
			if want := bigScore(&p, phase, s, d); uint64(got) != want {
				t.Fatalf("%+v, %s, salience %d, distance %d: got %d, want %d", p, phase, uint32(s), d, got, want)
			}
			if got > policy.MaxScore {
				t.Fatalf("%d is above 1", got)
			}
			// Each of the divisions takes less than one nano-unit away.
			if want := 1e9 * equation1(&p, phase, s, d); float64(got) > want+1e-3 || float64(got) < want-float64(d)-3 {
				t.Fatalf("%+v, %s, salience %d, distance %d: got %d, equation 1 gives %f", p, phase, uint32(s), d, got, want)
			}
			if got > 0 {
				positive++
			}
		}
	})
	if positive == 0 {
		t.Error("all scores were 0")
	}
}

// TestScoreMonotone holds that a score never falls with salience and never rises
// with distance.
func TestScoreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someParams.Draw(t, "params")
		scorer := p.Scorer()
		ppm := rapid.Uint32Range(0, 1_000_000)
		phase := rapid.SampledFrom(dag.Phases[:]).Draw(t, "phase")
		low, high := dag.PPM(ppm.Draw(t, "low")), dag.PPM(ppm.Draw(t, "high"))
		if low > high {
			low, high = high, low
		}
		for d := range policy.LimitRadius + 1 {
			if scorer.Score(dag.VoiceAgent, phase, low, d) > scorer.Score(dag.VoiceAgent, phase, high, d) {
				t.Fatalf("at %d salience %d scores above %d", d, uint32(low), uint32(high))
			}
			if d > 0 && scorer.Score(dag.VoiceAgent, phase, low, d) > scorer.Score(dag.VoiceAgent, phase, low, d-1) {
				t.Fatalf("the score rises from distance %d to %d", d-1, d)
			}
		}
	})
}
