package rules

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval"
)

// Close is the least difference between the scores of two sides for Judge to prefer one.
const Close dag.PPM = 200_000

// RecencyDays is the half-life of the recency weight of a side of a conflict.
const RecencyDays = 30

// A Side is one side of a conflict.
type Side struct {
	By         string // the agent who recorded it
	At         dag.Time
	Confidence dag.PPM
}

// An Advice says what to do about a conflict.
type Advice string

// The kinds of advice.
const (
	KeepBoth  Advice = "keep_both"  // different agents, and a space can contain both
	AskPerson Advice = "ask_person" // the scores are close, or different agents contradict each other
	PreferNew Advice = "prefer_new" // propose the rejected statement again
	PreferOld Advice = "prefer_old" // drop the rejected statement
)

// A Verdict is the advice on a conflict, with the scores. It only says whether to call an operator; entrenchment decides.
type Verdict struct {
	Advice   Advice
	New, Old dag.PPM // scores: confidence, weighted by recency
	Reason   string
}

// Judge advises on a conflict between a proposal and a belief. together says whether a space can contain both.
func Judge(proposed, believed Side, together bool, now dag.Time) Verdict {
	v := Verdict{New: proposed.score(now), Old: believed.score(now)}
	apart := max(v.New, v.Old) - min(v.New, v.Old)
	switch {
	case proposed.By != believed.By && together:
		v.Advice, v.Reason = KeepBoth, fmt.Sprintf("different agents: %q and %q", proposed.By, believed.By)
	case proposed.By != believed.By:
		v.Advice, v.Reason = AskPerson, fmt.Sprintf("different agents, %q and %q, contradict each other, so a space holds one of the two", proposed.By, believed.By)
	case apart < Close:
		v.Advice, v.Reason = AskPerson, fmt.Sprintf("the scores %s and %s are closer than %s", v.New, v.Old, Close)
	case v.New > v.Old:
		v.Advice, v.Reason = PreferNew, fmt.Sprintf("the score %s of the proposal is above %s", v.New, v.Old)
	default:
		v.Advice, v.Reason = PreferOld, fmt.Sprintf("the score %s of the proposal is below %s", v.New, v.Old)
	}
	return v
}

func (s *Side) score(now dag.Time) dag.PPM { return Decay(s.Confidence, now-s.At, RecencyDays) }

// Decay returns the confidence c after an age, for a half-life in days, rounded down. A half-life of 0 is no decay. The result is never above c.
func Decay(c dag.PPM, age dag.Time, halfLifeDays int) dag.PPM {
	if halfLifeDays <= 0 {
		return c
	}
	return dag.PPM(uint64(c) * uint64(retrieval.Halved(int64(age), 24*halfLifeDays)) / uint64(dag.One))
}
