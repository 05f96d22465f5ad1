package policy

import "github.com/graphkernel/graphkernel/dag"

// A Score is a number of thousand-millionths, 0 to 10^9: equation 1 times 10^9,
// in integers only.
type Score uint64

// MaxScore is the score 1.
const MaxScore Score = 1_000_000_000

// A Scorer holds what of equation 1 does not depend on the turn.
//
//	F(s)  = (10^12 − α·10^6 + α·s) div 10^3
//	D(0)  = 10^9,  D(d+1) = D(d)·β div 10^6
//	score = ((W·F div 10^6)·D) div 10^9
//
// Every product fits in 63 bits: W·F ≤ 10^15, (W·F div 10^6)·D ≤ 10^18.
type Scorer struct {
	weights PhaseTable
	alpha   uint64
	decay   [LimitRadius + 1]uint64
}

// Scorer prepares the scores of a policy.
func (p *SlicePolicyV1) Scorer() *Scorer {
	s := &Scorer{weights: p.Weights, alpha: uint64(p.SalienceWeight)}
	d := uint64(MaxScore)
	for i := range s.decay {
		s.decay[i] = d
		d = d * uint64(p.DistanceDecay) / uint64(dag.One)
	}
	return s
}

// Score returns a turn's score at a distance from 0 to LimitRadius.
func (s *Scorer) Score(phase dag.Phase, salience dag.PPM, distance int) Score {
	const one = uint64(dag.One)
	factor := (one*one - s.alpha*one + s.alpha*uint64(salience)) / 1000
	base := uint64(s.weights[phase]) * factor / one
	return Score(base * s.decay[distance] / uint64(MaxScore))
}
