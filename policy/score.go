package policy

import "github.com/graphkernel/graphkernel/dag"

// A Score is a number of thousand-millionths, 0 to 10^9: the value of equation 1 times 10^9, computed in integers only.
type Score uint64

// MaxScore is the score 1.
const MaxScore Score = 1_000_000_000

// A Scorer stores the parts of equation 1 that do not depend on the turn.
//
//	U     = W·V div 10^6               the weights of the turn's phase, and of its voice or its standing
//	F(s)  = (10^12 − α·10^6 + α·s) div 10^3
//	D(0)  = 10^9,  D(d+1) = D(d)·β div 10^6
//	score = ((U·F div 10^6)·D) div 10^9
//
// Under a SlicePolicyV1, V is 10^6. Every product fits in 63 bits: U·F ≤ 10^15, (U·F div 10^6)·D ≤ 10^18.
type Scorer struct {
	weights [len(dag.Standings) + 1]PhaseTable // U, by voice or by standing
	alpha   uint64
	decay   [LimitRadius + 1]uint64
}

// Scorer returns the Scorer of the policy.
func (p SlicePolicyV1) Scorer() *Scorer {
	w := p.Walk()
	return w.Scorer()
}

// Scorer returns the Scorer of the parameters.
func (p *Walk) Scorer() *Scorer {
	s := &Scorer{alpha: uint64(p.SalienceWeight)}
	factors := p.Voices[:]
	if p.Standings != nil {
		factors = p.Standings[:]
	}
	for of, v := range factors {
		for phase, w := range p.Weights {
			s.weights[of][phase] = dag.PPM(uint64(w) * uint64(v) / uint64(dag.One))
		}
	}
	d := uint64(MaxScore)
	for i := range s.decay {
		s.decay[i] = d
		d = d * uint64(p.DistanceDecay) / uint64(dag.One)
	}
	return s
}

// Score returns a turn's score at a distance from 0 to LimitRadius. Under a SlicePolicyV1 the voice makes no difference
// and may be 0.
func (s *Scorer) Score(voice dag.Voice, phase dag.Phase, salience dag.PPM, distance int) Score {
	return s.score(uint8(voice), phase, salience, distance)
}

// ScoreOf returns a turn's score under a SlicePolicyV3.
func (s *Scorer) ScoreOf(standing dag.Standing, phase dag.Phase, salience dag.PPM, distance int) Score {
	return s.score(uint8(standing), phase, salience, distance)
}

func (s *Scorer) score(of uint8, phase dag.Phase, salience dag.PPM, distance int) Score {
	const one = uint64(dag.One)
	factor := (one*one - s.alpha*one + s.alpha*uint64(salience)) / 1000
	base := uint64(s.weights[of][phase]) * factor / one
	return Score(base * s.decay[distance] / uint64(MaxScore))
}
