package packed

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

// DigestPrefix is the first 8 bytes of a digest, by which rows are found. What is found so is
// compared whole.
func DigestPrefix(d dag.Digest) int64 { return int64(binary.BigEndian.Uint64(d[:8])) }

// Act reads a stored act. What is kept of its leaf must be of its text.
func Act(seq, at, opened, until, leaf int64, text []byte) (knowledge.Recorded, error) {
	act, err := knowledge.Parse(text)
	if err != nil {
		return knowledge.Recorded{}, fmt.Errorf("number %d, an act, is damaged: %v", seq, err)
	}
	r := knowledge.Recorded{Seq: dag.Seq(seq), At: dag.Time(at), Act: act, Leaf: act.Leaf(), Until: dag.Seq(until), Opened: dag.Seq(opened)}
	if DigestPrefix(r.Leaf) != leaf {
		return knowledge.Recorded{}, fmt.Errorf("number %d, an act, is damaged: its text gives the leaf %s, and another is kept", seq, r.Leaf)
	}
	return r, nil
}

// About keeps those of acts that are about a statement: they were found by a part of its digest.
func About(acts []knowledge.Recorded, id knowledge.ID) []knowledge.Recorded {
	return slices.DeleteFunc(acts, func(r knowledge.Recorded) bool { own, ok := r.Act.About(); return !ok || own != id })
}

// A Recall gathers what knowledge.Prepared.Plan must know.
type Recall struct {
	knowledge.Known
	touched  map[knowledge.ID]bool
	versions map[knowledge.ID]knowledge.Version // of Believed
}

// NewRecall is for what prepared acts touch.
func NewRecall(p *knowledge.Prepared, head dag.Seq) *Recall {
	r := &Recall{Known: knowledge.Known{Head: head, Believed: map[knowledge.ID]knowledge.Belief{}, Recorded: map[dag.Digest]dag.Seq{}}, touched: map[knowledge.ID]bool{}, versions: map[knowledge.ID]knowledge.Version{}}
	for _, id := range p.Touched() {
		r.touched[id] = true
	}
	return r
}

// Add takes in an assertion that may be of one of the statements.
func (r *Recall) Add(a *knowledge.Recorded) {
	id, _ := a.Act.About()
	if a.Act.Kind != knowledge.Assert || !r.touched[id] {
		return
	}
	r.Recorded[a.Leaf] = max(r.Recorded[a.Leaf], a.Seq)
	if a.Until == dag.MaxSeq {
		r.Believed[id] = knowledge.Belief{Since: a.Seq, Opened: a.Opened, Confidence: a.Act.Fact.Confidence}
		r.versions[id], _ = a.Version()
	}
}

// Ended gives the stored versions that a plan ends, as they are to be.
func (r *Recall) Ended(list []knowledge.Ending) ([]knowledge.Version, error) {
	ended := make([]knowledge.Version, len(list))
	for i, e := range list {
		v, ok := r.versions[e.Statement]
		if !ok || v.Since != e.Since {
			return nil, fmt.Errorf("statement %s has no version that began with number %d; the store is damaged", e.Statement, e.Since)
		}
		v.Until = e.Until
		ended[i] = v
	}
	return ended, nil
}

// An End is a version as one of its two names has it.
type End struct {
	knowledge.Edge
	Name string
}

// Ends gives both ends of versions, those of a name together and in their order.
func Ends(versions []knowledge.Version) []End {
	ends := make([]End, 0, 2*len(versions))
	for _, v := range versions {
		ends = append(ends, End{knowledge.Edge{Version: v}, v.Subject}, End{knowledge.Edge{Version: v, Incoming: true}, v.Object})
	}
	slices.SortFunc(ends, func(a, b End) int { return cmp.Or(strings.Compare(a.Name, b.Name), a.Compare(&b.Edge)) })
	return ends
}

// Began gives the versions that acts began.
func Began(recorded []knowledge.Recorded) []knowledge.Version {
	var began []knowledge.Version
	for i := range recorded {
		if v, ok := recorded[i].Version(); ok {
			began = append(began, v)
		}
	}
	return began
}

// NameList writes names as a statement takes them: a JSON array of strings.
func NameList(names []string) string {
	b := []byte{'['}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = canon.AppendString(b, name)
	}
	return string(append(b, ']'))
}
