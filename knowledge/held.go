package knowledge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// ErrHeld is wrapped if an act would assert or end what only a space of beliefs may.
var ErrHeld = errors.New("the fact is what a space of beliefs holds to be true; revise or contract it there")

// heldPrefix begins the sources of assertions by which beliefs are projected.
const heldPrefix = "belief:"

// HeldSource returns the source of assertions that a revision of an item makes: the item's name, without a scheme, and the number of the
// revision. A name that is too long for a source is replaced by its SHA-256.
func HeldSource(item string, revision int) string {
	number := fmt.Sprintf("?r=%d", revision)
	if len(heldPrefix)+len(item)+len(number) > MaxSource {
		item = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(item)))
	}
	return heldPrefix + item + number
}

// Held reports whether the fact is a projection of a belief.
func (f *Fact) Held() bool { return strings.HasPrefix(f.Source, heldPrefix) }

// HolderOf returns the item that HeldSource made a source of, or its digest, and reports whether it made it at all.
func HolderOf(source string) (item string, held bool) {
	rest, held := strings.CutPrefix(source, heldPrefix)
	item, _, _ = strings.Cut(rest, "?")
	return item, held
}

// Chain is the digest under which versions of the fact follow each other: that of its statement, or, of a belief, one of the statement and the item. So
// nobody else's assertion confirms what an item holds, and when that gives way, nobody else's assertion ends.
func (f *Fact) Chain() ID {
	id := f.Statement.ID()
	if !f.Held() {
		return id
	}
	item, _ := HolderOf(f.Source)
	return sha256.Sum256(append(append(id[:], 0), heldPrefix+item...))
}

// refuseHeld refuses acts that callers may not make: those by which beliefs are projected.
func refuseHeld(acts []Act) error {
	for i := range acts {
		if f := &acts[i].Fact; acts[i].Kind == Assert && f.Held() {
			return &ActError{i, len(acts), fmt.Errorf("%w: the source %q", ErrHeld, f.Source)}
		}
	}
	return nil
}

// A Holding is what an item of beliefs asserts at a number.
type Holding struct {
	Since dag.Seq // the number of the assertion
	Fact  Fact
}

// Assertions are the entries and terms of holdings that begin, under the numbers after head.
func Assertions(list []Holding, salts []dag.Salt, head dag.Seq, at dag.Time) (*history.Plan, error) {
	acts := make([]Act, len(list))
	for i := range list {
		acts[i] = Act{Kind: Assert, Salt: salts[i], Fact: list[i].Fact}
	}
	return holding(acts, nil, head, at)
}

// Retractions are the entries and terms by which holdings end, under the numbers after head.
func Retractions(list []Holding, salts []dag.Salt, reason string, head dag.Seq, at dag.Time) (*history.Plan, error) {
	acts := make([]Act, len(list))
	for i := range list {
		acts[i] = Act{Kind: Retract, Salt: salts[i], Statement: list[i].Fact.Chain(), Reason: reason}
	}
	return holding(acts, list, head, at)
}

func holding(acts []Act, ends []Holding, head dag.Seq, at dag.Time) (*history.Plan, error) {
	p, err := Prepare(acts)
	if err != nil {
		return nil, err
	}
	known := Known{Head: head, Believed: map[ID]Belief{}, Versions: map[dag.Seq]*Fact{}}
	for i := range ends {
		h := &ends[i]
		known.Believed[h.Fact.Chain()] = Belief{Since: h.Since, Opened: h.Since, Confidence: h.Fact.Confidence}
		known.Versions[h.Since] = &h.Fact
	}
	planned, err := p.Plan(known, at)
	if err != nil {
		return nil, err
	}
	c := &change{Prepared: p, at: at}
	plan := c.plan(planned)
	plan.End, err = c.endings(known, planned.Ended)
	return plan, err
}
