package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// half is the weight of evidence whose lineage contains the candidate.
const half = dag.One / 2

// A Source is evidence for a candidate, or against it.
type Source struct {
	ID         string // such as the address of a revision; of two sources with the same id only the weaker counts
	Kind       string
	By         string   // the agent who recorded it
	At         dag.Time // the time of the turns or revisions that it rests on
	Similarity dag.PPM  // to the candidate
	Lineage    []string // the ids from which it was derived, over any number of steps
	Against    bool
}

// A Use is one use of a procedure.
type Use struct {
	ID      string
	By      string
	At      dag.Time
	Success bool
}

// A Candidate is a belief that may be promoted.
type Candidate struct {
	ID         string
	Kind       string
	Confidence dag.PPM
	Severity   Severity
	Trigger    bool
	Steps      bool
	Tags       []string // the tags that it has
	From       []string // the ids from which it was promoted, over any number of steps
	Sources    []Source
	Uses       []Use
}

// A Promotion says that a candidate should become an item of another kind, or get a tag.
type Promotion struct {
	ID        string // of the candidate
	Step      Step
	Support   uint64   // the summed weight of the sources, in millionths
	Threshold uint64   // the required weight, in millionths
	Sources   []string // the ids that counted, ascending
	Reason    string
}

// Promote returns the promotions of candidates: for each at most one to a kind, by the first step that applies, and all to tags that it
// does not have. Sources and uses later than now do not count. A source whose lineage contains the candidate counts half. A candidate is
// promoted only if at least one source is independent. The candidate may be one of its own sources, unless the step counts only others, but
// is not independent. The cost is the candidates times the steps times their sources.
func Promote(p Policy, list []Candidate, now dag.Time) (all []Promotion) {
	steps := p.Steps()
	for i := range list {
		c := &list[i]
		taken := false
		for _, s := range steps {
			if s.To != "" && taken || s.Tag != "" && slices.Contains(c.Tags, s.Tag) {
				continue
			}
			if promotion, ok := c.meets(s, now); ok {
				all = append(all, promotion)
				taken = taken || s.To != ""
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Promotion) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// A vote is a source or a use that counts for a step.
type vote struct {
	id, by string
	at     dag.Time
	weight dag.PPM
	own    bool // it is the candidate, or derived from it
}

// meets reports whether a candidate meets the conditions of a step.
func (c *Candidate) meets(s Step, now dag.Time) (Promotion, bool) {
	p := Promotion{ID: c.ID, Step: s, Threshold: uint64(s.Threshold) * uint64(dag.One)}
	if s.From != "" && s.From != c.Kind || c.Kind == s.To || c.Confidence < s.Confidence || c.Severity < s.Severity || s.Trigger && !c.Trigger || s.Steps && !c.Steps {
		return p, false
	}
	if s.NoneAgainst && slices.ContainsFunc(c.Sources, func(e Source) bool { return e.Against && e.At <= now }) {
		return p, false
	}
	votes := c.votes(s, now)
	independent := 0
	byAgent := map[string]dag.PPM{}
	first, last := dag.MaxTime, dag.Time(0)
	for _, v := range votes {
		p.Sources = append(p.Sources, v.id)
		first, last = min(first, v.at), max(last, v.at)
		byAgent[v.by] = max(byAgent[v.by], v.weight)
		if s.Counts != Agents {
			p.Support += uint64(v.weight)
		}
		if !v.own {
			independent++
		}
	}
	if s.Counts == Agents {
		for _, weight := range byAgent {
			p.Support += uint64(weight)
		}
	}
	if independent == 0 || p.Support < p.Threshold || int64(last-first) < s.Seconds*1_000_000 {
		return p, false
	}
	p.Reason = s.reason(c, p.Support, int64(last-first)/1_000_000)
	return p, true
}

// votes returns the sources or uses that count for a step, each once, by ascending id.
func (c *Candidate) votes(s Step, now dag.Time) (list []vote) {
	if s.Counts == Uses {
		for _, u := range c.Uses {
			if u.Success && u.At <= now {
				list = append(list, vote{u.ID, u.By, u.At, dag.One, false})
			}
		}
	} else {
		for _, e := range c.Sources {
			if e.Against || e.At > now || e.Similarity < s.Similarity || s.Sources != "" && e.Kind != s.Sources || s.Others && (e.ID == c.ID || slices.Contains(c.From, e.ID)) {
				continue
			}
			v := vote{e.ID, e.By, e.At, dag.One, e.ID == c.ID}
			if slices.Contains(e.Lineage, c.ID) {
				v.own, v.weight = true, half
			}
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b vote) int {
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.weight, b.weight), cmp.Compare(a.at, b.at), strings.Compare(a.by, b.by))
	})
	return slices.CompactFunc(list, func(a, b vote) bool { return a.id == b.id })
}

// reason returns the reason for which a candidate is promoted, with the threshold.
func (s *Step) reason(c *Candidate, support uint64, seconds int64) string {
	micros := func(n uint64) string {
		if n%uint64(dag.One) == 0 {
			return fmt.Sprint(n / uint64(dag.One))
		}
		return fmt.Sprintf("%d%s", n/uint64(dag.One), strings.TrimPrefix(dag.PPM(n%uint64(dag.One)).String(), "0"))
	}
	text := fmt.Sprintf("%s %s, %d wanted", micros(support), map[Count]string{Evidence: "supporting sources", Uses: "successful uses", Agents: "agents"}[s.Counts], s.Threshold)
	if s.Sources != "" {
		text += "; each of the kind " + s.Sources
	}
	if s.Similarity > 0 {
		text += fmt.Sprintf("; each at least %s similar", s.Similarity)
	}
	if s.Seconds > 0 {
		text += fmt.Sprintf("; over %d s, %d wanted", seconds, s.Seconds)
	}
	if s.NoneAgainst {
		text += "; none against"
	}
	if s.Confidence > 0 {
		text += fmt.Sprintf("; confidence %s, %s wanted", c.Confidence, s.Confidence)
	}
	if s.Severity > None {
		text += fmt.Sprintf("; severity %s, %s wanted", c.Severity, s.Severity)
	}
	return text
}
