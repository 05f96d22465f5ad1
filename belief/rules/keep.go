package rules

import "github.com/graphkernel/graphkernel/dag"

// Specific is the lowest specificity at which an abstraction replaces its original.
const Specific dag.PPM = 700_000

// AbstractedTo is the type of the link from an original to its abstraction.
const AbstractedTo = "abstracted_to"

// KeepsOriginal reports whether an original stays believed in addition to an abstraction of this specificity. Otherwise the original is
// deprecated; it is never deleted.
func KeepsOriginal(specificity dag.PPM) bool { return specificity < Specific }

// DecayedFrom is the type of the link from a revision that decay made to the last revision that decay did not make. Decay computes from the
// confidence and time of the latter, so it does not matter how often decay runs.
const DecayedFrom = "decayed_from"

// A Record counts the uses of a procedure.
type Record struct {
	Uses, Successes int
	Rate            dag.PPM // share of successes in uses, rounded down; 0 without a use
}

// Rate counts uses, each id once. If uses with the same id disagree, the failure counts.
func Rate(uses []Use) (r Record) {
	success := map[string]bool{}
	for _, u := range uses {
		was, seen := success[u.ID]
		success[u.ID] = u.Success && (!seen || was)
	}
	for _, ok := range success {
		if r.Uses++; ok {
			r.Successes++
		}
	}
	if r.Uses > 0 {
		r.Rate = dag.PPM(uint64(r.Successes) * uint64(dag.One) / uint64(r.Uses))
	}
	return r
}

// ArchiveDays is how many days an item must have been unused to be archived.
const ArchiveDays = 90

// Archives reports whether a revision should be archived: it has been unused for ArchiveDays, its confidence is below InvalidBelow, and
// it is superseded.
func Archives(lastUsed dag.Time, c dag.PPM, superseded bool, now dag.Time) bool {
	return superseded && c < InvalidBelow && now-lastUsed >= ArchiveDays*86_400_000_000
}
