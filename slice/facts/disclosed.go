package facts

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// DisclosureVersion is the version of disclosures of facts.
const DisclosureVersion = "gkd/2"

// maxCount is the upper bound of the counts in a disclosure. It is above the limits of a policy: the facts of
// knowledge.MaxResults paths of knowledge.MaxHops steps each, and the names in these facts.
const maxCount = 1 << 14

// Disclosures is the form of disclosures of facts. A disclosure can show every leaf.
var Disclosures = &slice.DisclosureForm{
	Version: DisclosureVersion, Schema: SchemaVersion, Policy: policy.Forms{PolicyForm}, CountsIn: "counts", ShownIn: "shown",
	Counts: []slice.CountForm{
		{Name: "aliases", Key: "aliases", Most: maxCount}, {Name: "evidence", Key: "evidence", Most: maxCount},
		{Name: "facts", Key: "facts", Most: maxCount}, {Name: "reached", Key: "reached", Most: maxCount},
	},
	MaxIndex: 2*maxCount + 2,
	Sections: []slice.Section{
		{Member: "fact", Count: "facts", Read: readShownFact}, {Member: "evidence", Count: "evidence", Read: readShownTurn},
		{Member: "aliases", Read: readShownAliases}, {Member: "question", Read: readShownQuestion}, {Member: "reached", Read: readShownReached},
	},
	Check: checkShown,
}

// The contents of the leaves of a slice of facts.
type (
	ShownFact     struct{ knowledge.Act }
	ShownTurn     struct{ Turn }
	ShownAliases  struct{ Aliases []Alias }
	ShownQuestion struct{ Question }
	ShownReached  struct {
		Cut     knowledge.Cut
		Reached []Reached
	}
)

// Member returns the name of the section, see [slice.Leaf].
func (*ShownFact) Member() string     { return "fact" }
func (*ShownTurn) Member() string     { return "evidence" }
func (*ShownAliases) Member() string  { return "aliases" }
func (*ShownQuestion) Member() string { return "question" }
func (*ShownReached) Member() string  { return "reached" }

// ID returns the statement or the turn; "" for leaves of which there is only one.
func (f *ShownFact) ID() string   { return f.Fact.ID().String() }
func (t *ShownTurn) ID() string   { return t.Turn.ID.String() }
func (*ShownAliases) ID() string  { return "" }
func (*ShownQuestion) ID() string { return "" }
func (*ShownReached) ID() string  { return "" }

// Hash returns the hash of the leaf.
func (f *ShownFact) Hash() dag.Digest     { return f.Leaf() }
func (t *ShownTurn) Hash() dag.Digest     { return evidenceLeaf(&t.Turn) }
func (a *ShownAliases) Hash() dag.Digest  { return aliasesLeaf(a.Aliases) }
func (q *ShownQuestion) Hash() dag.Digest { return sha256.Sum256(q.leaf()) }
func (r *ShownReached) Hash() dag.Digest  { return reachedLeaf(r.Cut, r.Reached) }

// Write writes the leaf in the form that it has in a bundle.
func (f *ShownFact) Write(w *canon.Writer)     { w.Raw(f.Append(nil)) }
func (t *ShownTurn) Write(w *canon.Writer)     { t.write(w, "") }
func (a *ShownAliases) Write(w *canon.Writer)  { writeAliases(w, a.Aliases) }
func (q *ShownQuestion) Write(w *canon.Writer) { q.write(w, "") }

// Write writes the entities and, if the list was cut, the reason.
func (r *ShownReached) Write(w *canon.Writer) {
	w.BeginObject()
	if r.Cut != knowledge.Whole {
		w.Key("cut")
		w.String(string(r.Cut))
	}
	w.Key("reached")
	writeReached(w, r.Reached)
	w.EndObject()
}

func readShownFact(c *canon.Cursor) slice.Leaf     { return &ShownFact{readFact(c)} }
func readShownTurn(c *canon.Cursor) slice.Leaf     { return &ShownTurn{readTurn(c)} }
func readShownAliases(c *canon.Cursor) slice.Leaf  { return &ShownAliases{readAliases(c)} }
func readShownQuestion(c *canon.Cursor) slice.Leaf { return &ShownQuestion{readQuestion(c)} }

func readShownReached(c *canon.Cursor) slice.Leaf {
	r := &ShownReached{Cut: readCut(c), Reached: readReachedList(c.Field("reached"))}
	c.Close()
	return r
}

// A Choice lists the parts of a bundle that a disclosure shows.
type Choice struct {
	Facts                      []knowledge.ID
	Evidence                   []dag.TurnID
	Aliases, Question, Reached bool
}

// Disclose returns a disclosure of the chosen parts of the bundle, which must have passed its own Check. issued is the
// SHA-256 of its bytes. Errors are those of [slice.Disclose]. The shown parts are shared with the bundle.
//
// The leaf of a fact is salted: without the fact, nobody can find out what it says. The other leaves are not salted:
// anyone can check a guess against their hashes on the paths.
func (b *Bundle) Disclose(issued dag.Digest, show Choice) (*slice.Disclosure, error) {
	var leaves []slice.Leaf
	for i := range b.Facts {
		leaves = append(leaves, &ShownFact{b.Facts[i]})
	}
	for i := range b.Evidence {
		leaves = append(leaves, &ShownTurn{b.Evidence[i]})
	}
	leaves = append(leaves, &ShownAliases{b.Aliases}, &ShownQuestion{b.Question}, &ShownReached{b.Cut, b.Reached})
	var chosen []slice.Place
	for _, id := range show.Facts {
		chosen = append(chosen, slice.Place{Member: "fact", ID: id.String()})
	}
	for _, id := range show.Evidence {
		chosen = append(chosen, slice.Place{Member: "evidence", ID: id.String()})
	}
	for member, wanted := range map[string]bool{"aliases": show.Aliases, "question": show.Question, "reached": show.Reached} {
		if wanted {
			chosen = append(chosen, slice.Place{Member: member})
		}
	}
	return slice.Disclose(Disclosures, b.Head(), issued, leaves, chosen)
}

// A part is the part of a bundle that a disclosure shows; the rest of the Bundle is empty.
type part struct {
	Bundle
	has map[string]bool // the sections with at least one shown leaf
}

func partOf(d *slice.Disclosure) *part {
	p := &part{has: map[string]bool{}}
	p.Policy, _ = d.Policy.(Policy) // Disclosures reads only policies of this type
	for i := range d.Shown {
		p.has[d.Shown[i].Leaf.Member()] = true
		switch l := d.Shown[i].Leaf.(type) {
		case *ShownFact:
			p.Facts = append(p.Facts, l.Act)
		case *ShownTurn:
			p.Evidence = append(p.Evidence, l.Turn)
		case *ShownAliases:
			p.Aliases = l.Aliases
		case *ShownQuestion:
			p.Question = l.Question
		case *ShownReached:
			p.Cut, p.Reached = l.Cut, l.Reached
		}
	}
	return p
}

// checkShown makes the checks of Bundle.Check for which the disclosure shows enough.
func checkShown(d *slice.Disclosure) []slice.Check {
	p := partOf(d)
	return []slice.Check{
		p.order(d), p.facts(), p.aliases(),
		slice.Skipped(CheckEvidence, "only the facts name the turns, and a disclosure does not show all facts"),
		slice.Skipped(CheckReached, "the paths follow the facts, and a disclosure does not show all facts"),
		p.question(d), d.CheckPolicy(), d.CheckPaths(),
		slice.Skipped(slice.CheckSliceID, "slice_id is computed from all facts, and a disclosure does not show all facts"),
	}
}

// order checks the order of the leaves, the order of the aliases if they are shown, and the lengths of the lists that
// are single leaves.
func (p *part) order(d *slice.Disclosure) slice.Check {
	if c := d.CheckOrder(); c.Status == slice.StatusFail {
		return c
	}
	if c := p.checkCanonicalOrder(); c.Status == slice.StatusFail {
		return c
	}
	for _, list := range [...]struct {
		name string
		n    int
	}{{"aliases", len(p.Aliases)}, {"reached", len(p.Reached)}} {
		if said := d.Count(list.name); p.has[list.name] && uint64(list.n) != said {
			return slice.Failed(slice.CheckCanonicalOrder, fmt.Sprint(said), fmt.Sprint(list.n), "the number of %s differs from the one in counts", list.name)
		}
	}
	return d.CheckOrder()
}

// facts checks that the policy admits every shown fact and, if the question is shown, that the fact holds at its time.
func (p *part) facts() slice.Check {
	if !p.has["fact"] {
		return slice.Skipped(CheckFacts, "no fact is shown")
	}
	follows := p.Policy.Follows()
	for i := range p.Facts {
		if wrong := p.keptOut(&p.Facts[i].Fact, follows); wrong != "" {
			return slice.Failed(CheckFacts, "", "", "statement %s: %s", p.Facts[i].Fact.ID(), wrong)
		}
	}
	return slice.Passed(CheckFacts, "%d shown", len(p.Facts))
}

// aliases checks, if the aliases are shown, that none leads to another alias.
func (p *part) aliases() slice.Check {
	if !p.has["aliases"] {
		return slice.Skipped(CheckAliases, "the aliases are not shown")
	}
	for i, a := range p.Aliases {
		if wrong := p.chained(a); wrong != "" {
			return slice.Failed(CheckAliases, "", "", "aliases[%d], %.80q: %s", i, a.Alias, wrong)
		}
	}
	return slice.Passed(CheckAliases, "%d", len(p.Aliases))
}

// question checks the anchor; if the question is shown, the anchor must be the question's.
func (p *part) question(d *slice.Disclosure) slice.Check {
	switch got := d.Provenance.Anchor; {
	case d.Anchor != got:
		return slice.Failed(CheckQuestion, got.String(), d.Anchor.String(), "anchor differs from provenance.anchor_turn_id")
	case !p.has["question"]:
		return slice.Skipped(CheckQuestion, "the question is not shown")
	default:
		return slice.Compared(CheckQuestion, p.Question.anchor(), got)
	}
}
