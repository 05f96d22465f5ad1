package knowledge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// ErrHeld is wrapped if an act would assert or end a fact that only a space of beliefs may assert or end.
var ErrHeld = errors.New("the fact comes from a space of beliefs; revise or contract it there")

// heldPrefix begins the sources of the assertions that project beliefs.
const heldPrefix = "belief:"

// HeldSource returns the source of the assertions that a revision of an item makes: the item's name without
// a scheme, and the number of the revision. A name that is too long for a source is replaced by its SHA-256.
func HeldSource(item string, revision int) string {
	number := fmt.Sprintf("?r=%d", revision)
	if len(heldPrefix)+len(item)+len(number) > MaxSource {
		item = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(item)))
	}
	return heldPrefix + item + number
}

// Held reports whether the fact is a projection of a belief.
func (f *Fact) Held() bool { return strings.HasPrefix(f.Source, heldPrefix) }

// HolderOf is the inverse of HeldSource. It returns the item of a source, or the item's digest, and false for any other source.
func HolderOf(source string) (item string, held bool) {
	rest, held := strings.CutPrefix(source, heldPrefix)
	item, _, _ = strings.Cut(rest, "?")
	return item, held
}

// Chain returns the digest that connects the versions of the fact: the digest of its statement or, if it projects a belief, of the
// statement and the item. So no other assertion confirms what an item asserts, and when the item gives it up, no other assertion ends.
func (f *Fact) Chain() ID {
	id := f.Statement.ID()
	if !f.Held() {
		return id
	}
	item, _ := HolderOf(f.Source)
	return sha256.Sum256(append(append(id[:], 0), heldPrefix+item...))
}

// refuseHeld refuses acts that project beliefs, which callers may not make.
func refuseHeld(acts []Act) error {
	for i := range acts {
		if f := &acts[i].Fact; acts[i].Kind == Assert && f.Held() {
			return &ActError{i, len(acts), fmt.Errorf("%w: the source %q", ErrHeld, f.Source)}
		}
	}
	return nil
}

// A Holding is a fact that an item of beliefs asserts.
type Holding struct {
	Since dag.Seq // the number of the assertion
	Fact  Fact
}

// Assertions returns the plan that begins holdings, with entries numbered after head.
func Assertions(list []Holding, salts []dag.Salt, head dag.Seq, at dag.Time) (*history.Plan, error) {
	acts := make([]Act, len(list))
	for i := range list {
		acts[i] = Act{Kind: Assert, Salt: salts[i], Fact: list[i].Fact}
	}
	return holding(acts, nil, head, at)
}

// Retractions returns the plan that ends holdings, with entries numbered after head.
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
