package packed

import (
	"bytes"
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
	*knowledge.Version
	Incoming bool // the name is the object
}

// Name gives the end's own name.
func (e *End) Name() string {
	if e.Incoming {
		return e.Object
	}
	return e.Subject
}

// Other gives the name at the far end.
func (e *End) Other() string {
	if e.Incoming {
		return e.Subject
	}
	return e.Object
}

// Ends gives both ends of versions, which they share, in the order of the edges' keys.
func Ends(versions []knowledge.Version) []End {
	ends := make([]End, 0, 2*len(versions))
	for i := range versions {
		ends = append(ends, End{&versions[i], false}, End{&versions[i], true})
	}
	slices.SortFunc(ends, func(a, b End) int {
		if c := strings.Compare(a.Name(), b.Name()); c != 0 {
			return c
		}
		if a.Incoming != b.Incoming {
			if b.Incoming {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), bytes.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.Since, b.Since))
	})
	return ends
}

// Began gives the versions that planned acts began.
func Began(p *knowledge.Prepared, planned *knowledge.Planned) []knowledge.Version {
	began := make([]knowledge.Version, 0, len(planned.Recorded))
	for i := range planned.Recorded {
		if v, ok := p.Version(planned.Which[i], &planned.Recorded[i]); ok {
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
