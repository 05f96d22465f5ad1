package contexts

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
)

// The versions of disclosures of contexts.
const (
	DisclosureVersion   = "gkd/4" // of gkc/1
	DisclosureVersionV2 = "gkd/6" // of gkc/2
)

// maxCount returns the upper bound of the counts in a disclosure: no policy allows more candidates.
func maxCount(counted bool) uint64 {
	of := 0
	for _, name := range sources {
		if counted || since(name) == 1 {
			of++
		}
	}
	return uint64(of) * LimitQuota
}

// Disclosures are the forms of disclosures of contexts, of gkc/1 and of gkc/2. They do not show overlaps, settings and statistics.
var Disclosures = []*slice.DisclosureForm{disclosures(DisclosureVersion, SchemaVersion), disclosures(DisclosureVersionV2, SchemaVersionV2)}

func disclosures(version, schema string) *slice.DisclosureForm {
	counted := schema == SchemaVersionV2
	most := maxCount(counted)
	f := &slice.DisclosureForm{
		Version: version, Schema: schema, Policy: formsOf(schema), CountsIn: "counts", ShownIn: "shown",
		Counts: []slice.CountForm{
			{Name: "beliefs", Key: "beliefs", Most: most}, {Name: "candidates", Key: "candidates", Most: most}, {Name: "facts", Key: "facts", Most: most}, {Name: "turns", Key: "turns", Most: most},
		},
		MaxIndex: 4*most + 3,
		Sections: []slice.Section{
			{Member: "turn", Count: "turns", Read: readShownTurn}, {Member: "fact", Count: "facts", Read: readShownFact}, {Member: "belief", Count: "beliefs", Read: readShownBelief},
			{Member: "candidate", Count: "candidates", Read: func(c *canon.Cursor) slice.Leaf { return &ShownCandidate{readCandidate(c, counted)} }}, {Member: "overlaps"},
		},
		Check: checkShown,
	}
	if counted {
		f.Sections, f.MaxIndex = append(f.Sections, slice.Section{Member: "standings"}), f.MaxIndex+1
	}
	f.Sections = append(f.Sections, slice.Section{Member: "request", Read: readShownRequest(counted)}, slice.Section{Member: "prompt", Read: readShownPrompt}, slice.Section{Member: "statistics"})
	return f
}

// The contents of the leaves of a context.
type (
	ShownTurn      struct{ ChosenTurn }
	ShownFact      struct{ knowledge.Act }
	ShownBelief    struct{ journal.Revision }
	ShownCandidate struct{ Candidate }
	ShownPrompt    struct{ Prompt }
	ShownRequest   struct {
		Request
		AsOf dag.Seq // the number of the bundle's view
	}
	hidden struct {
		member string
		hash   dag.Digest
	}
)

// Member returns the name of the section, see [slice.Leaf].
func (*ShownTurn) Member() string      { return "turn" }
func (*ShownFact) Member() string      { return "fact" }
func (*ShownBelief) Member() string    { return "belief" }
func (*ShownCandidate) Member() string { return "candidate" }
func (*ShownPrompt) Member() string    { return "prompt" }
func (*ShownRequest) Member() string   { return "request" }
func (h *hidden) Member() string       { return h.member }

// ID returns the turn's id, the fact's statement, the belief's address, or the candidate's kind and id; "" for other
// leaves.
func (t *ShownTurn) ID() string      { return t.Turn.ID.String() }
func (f *ShownFact) ID() string      { return f.Fact.ID().String() }
func (r *ShownBelief) ID() string    { return r.Address().String() }
func (c *ShownCandidate) ID() string { return string(c.Kind) + " " + c.Candidate.ID }
func (*ShownPrompt) ID() string      { return "" }
func (*ShownRequest) ID() string     { return "" }
func (*hidden) ID() string           { return "" }

// Hash returns the hash of the leaf.
func (t *ShownTurn) Hash() dag.Digest      { return slice.TurnLeaf(&t.Turn) }
func (f *ShownFact) Hash() dag.Digest      { return f.Leaf() }
func (r *ShownBelief) Hash() dag.Digest    { return r.Leaf() }
func (c *ShownCandidate) Hash() dag.Digest { return c.hash() }
func (p *ShownPrompt) Hash() dag.Digest    { return p.hash() }
func (r *ShownRequest) Hash() dag.Digest   { return sha256.Sum256(r.leaf(r.AsOf)) }
func (h *hidden) Hash() dag.Digest         { return h.hash }

// Write writes the leaf in the form that it has in a bundle.
func (t *ShownTurn) Write(w *canon.Writer)      { slice.WriteTurn(w, &t.Turn, &t.Body) }
func (f *ShownFact) Write(w *canon.Writer)      { w.Raw(f.Append(nil)) }
func (r *ShownBelief) Write(w *canon.Writer)    { r.WriteEvidence(w) }
func (c *ShownCandidate) Write(w *canon.Writer) { c.write(w, "") }
func (p *ShownPrompt) Write(w *canon.Writer)    { p.write(w, "") }
func (*hidden) Write(*canon.Writer)             {}

// Write writes the request with the number of the view, which is a part of its leaf.
func (r *ShownRequest) Write(w *canon.Writer) {
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(r.AsOf))
	w.Key("request")
	r.write(w, false, 0)
	w.EndObject()
}

func readShownTurn(c *canon.Cursor) slice.Leaf   { return &ShownTurn{readChosen(c)} }
func readShownFact(c *canon.Cursor) slice.Leaf   { return &ShownFact{readFact(c)} }
func readShownBelief(c *canon.Cursor) slice.Leaf { return &ShownBelief{*journal.ReadEvidence(c)} }
func readShownPrompt(c *canon.Cursor) slice.Leaf { return &ShownPrompt{readPrompt(c)} }

// readShownRequest returns a reader of requests of gkc/2, or of gkc/1.
func readShownRequest(counted bool) func(*canon.Cursor) slice.Leaf {
	return func(c *canon.Cursor) slice.Leaf {
		r := &ShownRequest{readRequest(c.Field("request")), dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq)))}
		if r.Counted() != counted && c.Err() == nil {
			c.Failf("request.rules_as_of is there if and only if the version is %s", SchemaVersionV2)
		}
		c.Close()
		return r
	}
}

// A Part lists the parts of a context that a disclosure shows.
type Part struct {
	Turns               []dag.TurnID
	Facts               []knowledge.ID
	Beliefs             []belief.Address // each with a revision
	Candidates, Request bool             // all candidates; the task with its salt
	Prompt              bool             // the cost and the HMAC of the prompt
}

// Disclose returns a disclosure of a part of the context, which must have passed its own Check. issued is the SHA-256
// of its bytes. Errors are those of [slice.Disclose]. The shown parts are shared with the bundle.
//
// The leaves of turns, facts, beliefs, the request, the prompt and the statistics are salted. The leaves of candidates
// are not: anyone can check a guess of all features of a candidate against its hash on the paths.
func (b *Bundle) Disclose(issued dag.Digest, show Part) (*slice.Disclosure, error) {
	var leaves []slice.Leaf
	var chosen []slice.Place
	for i := range b.Turns {
		leaves = append(leaves, &ShownTurn{b.Turns[i]})
	}
	for i := range b.Facts {
		leaves = append(leaves, &ShownFact{b.Facts[i]})
	}
	for i := range b.Beliefs {
		leaves = append(leaves, &ShownBelief{b.Beliefs[i]})
	}
	for i := range b.Candidates {
		c := &ShownCandidate{b.Candidates[i]}
		if leaves = append(leaves, c); show.Candidates {
			chosen = append(chosen, slice.Place{Member: c.Member(), ID: c.ID()})
		}
	}
	rest := b.leaves(b.candidateLeaves())[len(leaves):]
	form := Disclosures[0]
	leaves = append(leaves, &hidden{"overlaps", rest[0]})
	if b.Request.Counted() {
		form, leaves = Disclosures[1], append(leaves, &hidden{"standings", rest[1]})
	}
	leaves = append(leaves, &ShownRequest{b.Request, b.AsOf}, &ShownPrompt{b.Prompt}, &hidden{"statistics", rest[len(rest)-1]})
	for _, id := range show.Turns {
		chosen = append(chosen, slice.Place{Member: "turn", ID: id.String()})
	}
	for _, id := range show.Facts {
		chosen = append(chosen, slice.Place{Member: "fact", ID: id.String()})
	}
	for _, a := range show.Beliefs {
		chosen = append(chosen, slice.Place{Member: "belief", ID: a.String()})
	}
	if show.Request {
		chosen = append(chosen, slice.Place{Member: "request"})
	}
	if show.Prompt {
		chosen = append(chosen, slice.Place{Member: "prompt"})
	}
	return slice.Disclose(form, b.Head(), issued, leaves, chosen)
}

// A part is the part of a bundle that a disclosure shows; the rest of the Bundle is empty.
type part struct {
	Bundle
	request *ShownRequest // nil if it is not shown
}

func partOf(d *slice.Disclosure) *part {
	p := &part{}
	if d.Provenance.SchemaVersion == SchemaVersionV2 {
		p.Request.RulesAsOf = dag.MaxSeq // no bound, unless the request is shown
	}
	p.AsOf = d.AsOf
	p.Policy, _ = d.Policy.(Policy) // Disclosures reads only policies of this type
	for i := range d.Shown {
		switch l := d.Shown[i].Leaf.(type) {
		case *ShownTurn:
			p.Turns = append(p.Turns, l.ChosenTurn)
		case *ShownFact:
			p.Facts = append(p.Facts, l.Act)
		case *ShownBelief:
			p.Beliefs = append(p.Beliefs, l.Revision)
		case *ShownCandidate:
			p.Candidates = append(p.Candidates, l.Candidate)
		case *ShownRequest:
			p.request, p.Request = l, l.Request
		}
	}
	return p
}

// checkShown makes the checks of Bundle.Check for which the disclosure shows enough.
func checkShown(d *slice.Disclosure) []slice.Check {
	p := partOf(d)
	return []slice.Check{
		d.CheckOrder(), p.shownCandidates(), p.shownTexts(),
		slice.Skipped(CheckSelection, "a disclosure does not show all candidates and everything that was chosen"),
		slice.Skipped(CheckPrompt, "a disclosure does not show all texts of the prompt"),
		p.shownRequest(d), d.CheckPolicy(), d.CheckPaths(),
		slice.Skipped(slice.CheckSliceID, "slice_id is computed from all turns, facts and beliefs, and a disclosure does not show all of them"),
	}
}

func (p *part) shownCandidates() slice.Check {
	if len(p.Candidates) == 0 {
		return slice.Skipped(CheckCandidates, "no candidate is shown")
	}
	return judge{&p.Bundle}.checkCandidates(false)
}

// shownTexts checks that the leaves bind the shown texts and, if the candidates are shown too, that the texts have the
// candidates' leaves and costs.
func (p *part) shownTexts() slice.Check {
	if len(p.Turns)+len(p.Facts)+len(p.Beliefs) == 0 {
		return slice.Skipped(CheckTexts, "no turn, no fact and no belief is shown")
	}
	for i := range p.Turns {
		if t := &p.Turns[i]; !t.bound() {
			return slice.Failed(CheckTexts, "", "", "turn %s: %s", t.ID, notBound)
		}
	}
	if len(p.Candidates) > 0 {
		return judge{&p.Bundle}.checkTexts()
	}
	return slice.Passed(CheckTexts, "%d turns, %d facts, %d beliefs", len(p.Turns), len(p.Facts), len(p.Beliefs))
}

// shownRequest checks the anchor; if the request is shown, the anchor must be the request's.
func (p *part) shownRequest(d *slice.Disclosure) slice.Check {
	switch got := d.Provenance.Anchor; {
	case d.Anchor != got:
		return slice.Failed(CheckRequest, got.String(), d.Anchor.String(), "anchor differs from provenance.anchor_turn_id")
	case p.request == nil:
		return slice.Skipped(CheckRequest, "the request is not shown")
	case p.request.AsOf != d.AsOf:
		return slice.Failed(CheckRequest, fmt.Sprint(d.AsOf), fmt.Sprint(p.request.AsOf), "the request has a different sequence number than the disclosure")
	case p.misdated(d.AsOf) != "":
		return slice.Failed(CheckRequest, "", "", "%s", p.misdated(d.AsOf))
	default:
		return slice.Compared(CheckRequest, p.request.anchor(d.AsOf), got)
	}
}
