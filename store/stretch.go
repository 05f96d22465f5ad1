package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// PreparedStretch is the part of Adopt that does not depend on stored data: a checked stretch. Like Prepared
// it is made before the write lock is taken, and refers to the stretch, which must not change meanwhile.
type PreparedStretch struct {
	stretch Stretch
	ids     []dag.TurnID            // of the records
	records map[dag.TurnID]*Record  // the records checked so far; all of them in the end
	beyond  []dag.TurnID            // parents that are not records of the stretch, without duplicates
	seen    map[dag.TurnID]struct{} // the set of beyond
	rest    *PreparedStretch        // of Stretch.Rest; nil without one
}

// PrepareStretch checks a stretch on its own: that its numbers are consecutive, and that each record
// matches its digests. Its cost is that of Prepare, plus parsing and one SHA-256 of each body.
func PrepareStretch(s Stretch) (*PreparedStretch, error) {
	if err := s.checkParts(); err != nil {
		return nil, err
	}
	return prepareStretch(s)
}

// Rest returns the stretch to be adopted after this one, in the same transaction; nil without one.
func (p *PreparedStretch) Rest() *PreparedStretch { return p.rest }

func prepareStretch(s Stretch) (_ *PreparedStretch, err error) {
	if err := s.checkNumbers(); err != nil {
		return nil, err
	}
	p := &PreparedStretch{
		stretch: s,
		ids:     make([]dag.TurnID, 0, len(s.Records)),
		records: make(map[dag.TurnID]*Record, len(s.Records)),
		seen:    map[dag.TurnID]struct{}{},
	}
	for i := range s.Records {
		if err := p.admit(&s.Records[i]); err != nil {
			return nil, err
		}
	}
	if (len(s.Entries) > 0) != (s.Change != nil) {
		return nil, fmt.Errorf("%w: a stretch has %d entries, and a change: %t; want both or neither", dag.ErrForm, len(s.Entries), s.Change != nil)
	}
	for _, id := range p.beyond {
		if r := p.records[id]; r != nil {
			return nil, fmt.Errorf("%w: number %d admits turn %s, but an earlier turn, or the turn itself, names it as a parent", dag.ErrForm, r.Seq, id)
		}
	}
	if s.Rest != nil {
		if p.rest, err = prepareStretch(*s.Rest); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// admit checks the next record and adds it.
func (p *PreparedStretch) admit(r *Record) error {
	if twin := p.records[r.Turn.ID]; twin != nil {
		return admittedAgain(r, twin)
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("number %d: %w", r.Seq, err)
	}
	for i := range r.Parents {
		parent := &r.Parents[i]
		if before := p.records[parent.ID]; before == nil {
			p.outside(parent.ID)
		} else if before.Turn.Conversation != parent.Conversation {
			return otherConversation(r, parent, before.Turn.Conversation)
		}
	}
	p.records[r.Turn.ID] = r
	p.ids = append(p.ids, r.Turn.ID)
	return nil
}

func (p *PreparedStretch) outside(id dag.TurnID) {
	if _, ok := p.seen[id]; !ok {
		p.seen[id] = struct{}{}
		p.beyond = append(p.beyond, id)
	}
}

// checkParts checks that changes are whole in a stretch and its rest: their parts run from 1 on, with consecutive numbers.
func (s *Stretch) checkParts() error {
	var before history.Entry // the previous entry
	for ; s != nil; s = s.Rest {
		for i := range s.Entries {
			e := &s.Entries[i]
			if before.Part == before.Parts {
				if e.Part > 1 {
					return fmt.Errorf("%w: number %d is part %d of %d of its change, but the first part is not before it in the stretch", dag.ErrForm, e.Seq, e.Part, e.Parts)
				}
			} else if !e.Continues(&before) {
				return fmt.Errorf("%w: number %d is part %d of %d of its change, but the next one, number %d, is part %d of %d", dag.ErrForm, before.Seq, before.Part, before.Parts, e.Seq, e.Part, e.Parts)
			}
			before = *e
		}
	}
	if before.Part != before.Parts {
		return fmt.Errorf("%w: the stretch ends with number %d, which is part %d of %d of its change; want all parts", dag.ErrForm, before.Seq, before.Part, before.Parts)
	}
	return nil
}

// checkNumbers checks that records and entries together have consecutive numbers.
func (s *Stretch) checkNumbers() error {
	records, entries := s.Records, s.Entries
	for next := s.first(); len(records)+len(entries) > 0; next++ {
		switch {
		case next == 0:
			return fmt.Errorf("%w: the stretch begins with number 0; the first one is 1", dag.ErrForm)
		case next > dag.MaxSeq:
			return fmt.Errorf("%w: the stretch continues after %d, which is the last possible number", dag.ErrForm, dag.MaxSeq)
		case len(records) > 0 && records[0].Seq == next:
			records = records[1:]
		case len(entries) > 0 && entries[0].Seq == next:
			entries = entries[1:]
		default:
			rest := Stretch{Records: records, Entries: entries}
			return fmt.Errorf("%w: the stretch has number %d where number %d must be; want consecutive numbers, each once", dag.ErrForm, rest.first(), next)
		}
	}
	return nil
}

// first returns the smallest number of a stretch that is in order, 0 if it is empty.
func (s *Stretch) first() dag.Seq {
	var first dag.Seq
	least := func(seq dag.Seq) {
		if first == 0 || seq < first {
			first = seq
		}
	}
	if len(s.Records) > 0 {
		least(s.Records[0].Seq)
	}
	if len(s.Entries) > 0 {
		least(s.Entries[0].Seq)
	}
	return first
}

// len returns how many numbers a stretch uses.
func (s *Stretch) len() int { return len(s.Records) + len(s.Entries) }

// check refuses a record that does not match its digests.
func (r *Record) check() error {
	a := Arrival{Turn: r.Turn, Parents: r.known().parents, Body: r.Body, Salt: r.Salt, External: r.External, Key: r.Key, Marks: r.Marks}
	if err := a.check(); err != nil {
		return err
	}
	c := candidate{Arrival: &a}
	c.hash()
	if c.leaf != r.Leaf {
		return fmt.Errorf("%w: turn %s has the leaf %s, but the leaf computed from its fields is %s", dag.ErrForm, r.Turn.ID, r.Leaf, c.leaf)
	}
	for i := range r.Parents {
		if p := &r.Parents[i]; p.Leaf != c.edges[i] {
			return fmt.Errorf("%w: turn %s has an edge from %s with the leaf %s, but the leaf computed from its fields is %s", dag.ErrForm, r.Turn.ID, p.ID, p.Leaf, c.edges[i])
		}
	}
	if r.Body == nil {
		return nil
	}
	if r.Withheld {
		return fmt.Errorf("%w: turn %s is marked as withheld but has a body", dag.ErrForm, r.Turn.ID)
	}
	if d := slice.DigestBody(r.Body, r.Salt); d != r.Turn.BodyDigest {
		return fmt.Errorf("%w: turn %s has the body digest %s, but the digest of its body and salt is %s", dag.ErrForm, r.Turn.ID, r.Turn.BodyDigest, d)
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return fmt.Errorf("%w: the body of turn %s: %w", dag.ErrForm, r.Turn.ID, err)
	}
	if name := body.Attrs[dag.AttrExternalID]; name != r.External {
		return fmt.Errorf("%w: turn %s has the external id %q, but its body has %q", dag.ErrForm, r.Turn.ID, r.External, name)
	}
	return nil
}

func admittedAgain(r, first *Record) error {
	return fmt.Errorf("%w: number %d is turn %s, and so is number %d; a turn is admitted once", dag.ErrForm, r.Seq, r.Turn.ID, first.Seq)
}

func otherConversation(r *Record, p *dag.SkeletonParent, of dag.ConversationID) error {
	return fmt.Errorf("%w: number %d: turn %s says that its parent %s is in conversation %s, but that turn is in %s", dag.ErrForm, r.Seq, r.Turn.ID, p.ID, p.Conversation, of)
}

// Arriving returns the ids of the stretch's records. None may be stored.
func (p *PreparedStretch) Arriving() []dag.TurnID { return p.ids }

// Beyond returns the ids of the parents that are not records of the stretch, each once. They must be stored already.
func (p *PreparedStretch) Beyond() []dag.TurnID { return p.beyond }

// Change returns the change that plans the stretch's entries, and fails if it plans others. It is nil if the stretch has no entries.
func (p *PreparedStretch) Change() history.Change {
	if p.stretch.Change == nil {
		return nil
	}
	return arriving{history.Exactly(p.stretch.Change, history.Known, p.stretch.Entries), p.records}
}

// An arriving is a change that also knows the turns that arrive with it.
type arriving struct {
	history.Change
	records map[dag.TurnID]*Record
}

func (a arriving) Plan(k *history.State) (*history.Plan, error) {
	all := *k
	all.Turns = maps.Clone(k.Turns)
	for id, r := range a.records {
		all.Turns[id] = history.Admitted{Seq: r.Seq, Body: r.Body != nil, Withheld: r.Withheld}
	}
	return a.Change.Plan(&all)
}

// Last returns the stretch's last number, which becomes the tenant's head. It is 0 if the stretch is empty: then Adopt does nothing.
func (p *PreparedStretch) Last() dag.Seq {
	first := p.stretch.first()
	if first == 0 {
		return 0
	}
	return first + dag.Seq(p.stretch.len()) - 1
}

// Follows returns an error that wraps ErrGap unless the stretch is empty or continues a history with this head.
func (p *PreparedStretch) Follows(head dag.Seq) error {
	if first := p.stretch.first(); first != 0 && first != head+1 {
		return fmt.Errorf("%w: it begins with number %d, but the head is %d", ErrGap, first, head)
	}
	return nil
}

// Plan decides what Adopt does with the records. It returns the records to insert, complete but without the bodies
// that the change removes, and the ids of the stored turns whose bodies it removes. bodies is history.Plan.Bodies
// of Change, if there is one. The error wraps ErrGap or dag.ErrForm; then nothing may be inserted.
//
// Plan is pure. The records share the bodies of the stretch.
func (p *PreparedStretch) Plan(k Known, bodies []dag.TurnID) ([]Record, []dag.TurnID, error) {
	if err := p.Follows(k.Head); err != nil || p.Last() == 0 {
		return nil, nil, err
	}
	erased := make(map[dag.TurnID]bool, len(bodies))
	var stored []dag.TurnID
	for _, id := range bodies {
		if erased[id] = true; p.records[id] == nil {
			stored = append(stored, id)
		}
	}
	records := slices.Clone(p.stretch.Records)
	for i := range records {
		r := &records[i]
		if was := k.Stored[r.Turn.ID]; was != nil {
			return nil, nil, admittedAgain(r, was)
		}
		if err := p.checkParents(r, k); err != nil {
			return nil, nil, err
		}
		if erased[r.Turn.ID] {
			r.Body, r.Salt, r.External, r.Withheld = nil, dag.Salt{}, "", false
		}
	}
	return records, stored, nil
}

func (p *PreparedStretch) checkParents(r *Record, k Known) error {
	for i := range r.Parents {
		parent := &r.Parents[i]
		of, stored := k.Parents[parent.ID]
		switch {
		case !stored && p.records[parent.ID] == nil:
			return fmt.Errorf("%w: number %d: turn %s names the parent %s, but no earlier number admits it", dag.ErrForm, r.Seq, r.Turn.ID, parent.ID)
		case stored && of != parent.Conversation:
			return otherConversation(r, parent, of)
		}
	}
	return nil
}
