package rules

import "github.com/graphkernel/graphkernel/dag"

// Specific is the specificity from which on an abstraction takes the place of its original.
const Specific dag.PPM = 700_000

// AbstractedTo is the type of the link from an original to its abstraction.
const AbstractedTo = "abstracted_to"

// KeepsOriginal reports whether an original stays believed beside an abstraction that is so specific. Else it is deprecated; it is never
// deleted.
func KeepsOriginal(specificity dag.PPM) bool { return specificity < Specific }

// DecayedFrom is the type of the link from a revision that decay made to the one from whose confidence and time it is computed: the last one that something else than decay made. So
// how often decay runs is no matter.
const DecayedFrom = "decayed_from"

// A Record is how often a procedure was used.
type Record struct {
	Uses, Successes int
	Rate            dag.PPM // successes in uses, rounded down; 0 without a use
}

// Rate counts uses, each id once; of two with one id the failure counts.
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

// ArchiveDays is for how many days an item must be unused.
const ArchiveDays = 90

// Archives reports whether a revision is to be archived: unused for ArchiveDays, of little confidence, and superseded.
func Archives(lastUsed dag.Time, c dag.PPM, superseded bool, now dag.Time) bool {
	return superseded && c < InvalidBelow && now-lastUsed >= ArchiveDays*86_400_000_000
}
