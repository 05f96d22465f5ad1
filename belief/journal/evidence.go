package journal

import (
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
)

// Address returns the address of the revision: its item with its number.
func (r *Revision) Address() belief.Address { return belief.Address{Item: r.Item, Revision: r.Number} }

// Leaf returns the leaf hash of a revision's public half (RFC 6962, section 2.1). It binds the private half by a salted digest, so it reveals
// nothing about the content once the private half is erased.
func (r *Revision) Leaf() dag.Digest {
	e := r.entry()
	return e.Leaf()
}

// WriteEvidence writes both halves of a revision that is not erased as bundles contain them, {"private":{…},"public":{…}}, without the wording.
func (r *Revision) WriteEvidence(w *canon.Writer) {
	e := r.entry()
	w.BeginObject()
	w.Key("private")
	w.Raw(r.private())
	w.Key("public")
	w.Raw(e.Public)
	w.EndObject()
}

// ReadEvidence reads the output of WriteEvidence and fails the cursor on anything else. The revision lacks the number and the time of its entry.
func ReadEvidence(c *canon.Cursor) *Revision {
	half := func(key string) []byte { return canon.AppendValue(nil, c.Field(key).Value()) }
	e := history.Entry{Kind: KindRevision, Private: half("private"), Public: half("public")}
	c.Close()
	if c.Err() != nil {
		return &Revision{}
	}
	read, err := check(&e)
	r, ok := read.(*Revision)
	if err == nil && (!ok || r.Erased) {
		err = fmt.Errorf("%w: it is not a revision with its private half", belief.ErrForm)
	}
	if err != nil {
		c.Fail(err)
		return &Revision{}
	}
	return r
}

// Inferred reports whether the revision has a statement of the class belief.Inferred, for which nobody vouches.
func (r *Revision) Inferred() bool {
	for i := range r.Statements {
		if r.Statements[i].Rank.Class == belief.Inferred {
			return true
		}
	}
	return false
}

// RestsOn returns the turns that the revision's statements rest on, each once, in the order of the statements.
func (r *Revision) RestsOn() (turns []dag.TurnID) {
	seen := map[dag.TurnID]bool{}
	for i := range r.Statements {
		for _, t := range r.Statements[i].Turns {
			if !seen[t] {
				seen[t] = true
				turns = append(turns, t)
			}
		}
	}
	return turns
}

// Chain returns the chain of the assertion that projects a statement of the revision, see [knowledge.Fact.Chain]; false if the statement
// is not projected.
func (r *Revision) Chain(at int) (knowledge.ID, bool) {
	if !r.Statements[at].projects() {
		return knowledge.ID{}, false
	}
	f := r.fact(at, dag.TurnID{})
	return f.Chain(), true
}
