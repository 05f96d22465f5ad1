package store

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// PreparedStretch is the part of Adopt that depends on nothing stored: everything
// that a stretch says of itself, checked. Like Prepared it is made before the write
// lock is taken, and refers to the stretch, which must not change meanwhile.
type PreparedStretch struct {
	stretch Stretch
	ids     []dag.TurnID            // of the records
	records map[dag.TurnID]*Record  // those looked at so far; in the end all
	beyond  []dag.TurnID            // parents and erased turns that are no records of it, each once
	seen    map[dag.TurnID]struct{} // those of beyond
	erased  map[dag.TurnID]dag.Seq  // by the number of the event in the stretch
	erasing []dag.TurnID            // erased turns that are no records of it
}

// PrepareStretch checks what can be checked of a stretch alone: that its numbers are
// consecutive, and that each record is what its digests say. Its cost is that of
// Prepare, and a parsing and one SHA-256 of each body.
func PrepareStretch(s Stretch) (*PreparedStretch, error) {
	if err := s.checkNumbers(); err != nil {
		return nil, err
	}
	p := &PreparedStretch{
		stretch: s,
		ids:     make([]dag.TurnID, 0, len(s.Records)),
		records: make(map[dag.TurnID]*Record, len(s.Records)),
		seen:    map[dag.TurnID]struct{}{},
		erased:  make(map[dag.TurnID]dag.Seq, len(s.Events)),
	}
	for records, events := s.Records, s.Events; len(records)+len(events) > 0; {
		var err error
		if len(events) == 0 || len(records) > 0 && records[0].Seq < events[0].Seq {
			err = p.admit(&records[0])
			records = records[1:]
		} else {
			err = p.erase(&events[0])
			events = events[1:]
		}
		if err != nil {
			return nil, err
		}
	}
	if (len(s.Entries) > 0) != (s.Change != nil) {
		return nil, fmt.Errorf("%w: a stretch with %d entries, and a change: %t", dag.ErrForm, len(s.Entries), s.Change != nil)
	}
	for _, id := range p.beyond {
		if r := p.records[id]; r != nil {
			return nil, fmt.Errorf("%w: number %d admits turn %s, which it or a smaller number names as a parent or erases", dag.ErrForm, r.Seq, id)
		}
	}
	return p, nil
}

// admit takes in the record that comes next.
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

// erase takes in the event that comes next.
func (p *PreparedStretch) erase(e *Event) error {
	if err := CheckEvent(e); err != nil {
		return fmt.Errorf("number %d: %w", e.Seq, err)
	}
	if first, ok := p.erased[e.Turn]; ok {
		return erasedAgain(e, fmt.Sprintf("number %d", first))
	}
	p.erased[e.Turn] = e.Seq
	if p.records[e.Turn] == nil {
		p.outside(e.Turn)
		p.erasing = append(p.erasing, e.Turn)
	}
	return nil
}

func (p *PreparedStretch) outside(id dag.TurnID) {
	if _, ok := p.seen[id]; !ok {
		p.seen[id] = struct{}{}
		p.beyond = append(p.beyond, id)
	}
}

// checkNumbers makes sure that all together have consecutive numbers.
func (s *Stretch) checkNumbers() error {
	records, events, entries := s.Records, s.Events, s.Entries
	for next := s.first(); len(records)+len(events)+len(entries) > 0; next++ {
		switch {
		case next == 0:
			return fmt.Errorf("%w: the stretch begins with number 0; the first one is 1", dag.ErrForm)
		case next > dag.MaxSeq:
			return fmt.Errorf("%w: the stretch goes on after %d, the last possible number", dag.ErrForm, dag.MaxSeq)
		case len(records) > 0 && records[0].Seq == next:
			records = records[1:]
		case len(events) > 0 && events[0].Seq == next:
			events = events[1:]
		case len(entries) > 0 && entries[0].Seq == next:
			entries = entries[1:]
		default:
			rest := Stretch{Records: records, Events: events, Entries: entries}
			return fmt.Errorf("%w: number %d comes where the stretch must have %d; its numbers are consecutive, and each is used once", dag.ErrForm, rest.first(), next)
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
	if len(s.Events) > 0 {
		least(s.Events[0].Seq)
	}
	if len(s.Entries) > 0 {
		least(s.Entries[0].Seq)
	}
	return first
}

// len is how many numbers a stretch uses.
func (s *Stretch) len() int { return len(s.Records) + len(s.Events) + len(s.Entries) }

// check refuses a record that is not what its digests say.
func (r *Record) check() error {
	a := Arrival{Turn: r.Turn, Parents: r.known().parents, Body: r.Body, Salt: r.Salt, External: r.External, Key: r.Key}
	if err := a.check(); err != nil {
		return err
	}
	c := candidate{Arrival: &a}
	c.hash()
	if c.leaf != r.Leaf {
		return fmt.Errorf("%w: turn %s has the leaf %s, and its fields give %s", dag.ErrForm, r.Turn.ID, r.Leaf, c.leaf)
	}
	for i := range r.Parents {
		if p := &r.Parents[i]; p.Leaf != c.edges[i] {
			return fmt.Errorf("%w: turn %s has an edge from %s with the leaf %s, and its fields give %s", dag.ErrForm, r.Turn.ID, p.ID, p.Leaf, c.edges[i])
		}
	}
	if r.Body == nil {
		return nil
	}
	if r.Withheld {
		return fmt.Errorf("%w: turn %s is said to be withheld, and has a body", dag.ErrForm, r.Turn.ID)
	}
	if d := slice.DigestBody(r.Body, r.Salt); d != r.Turn.BodyDigest {
		return fmt.Errorf("%w: turn %s has the body digest %s, and its body and salt give %s", dag.ErrForm, r.Turn.ID, r.Turn.BodyDigest, d)
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return fmt.Errorf("%w: the body of turn %s: %w", dag.ErrForm, r.Turn.ID, err)
	}
	if name := body.Attrs[dag.AttrExternalID]; name != r.External {
		return fmt.Errorf("%w: turn %s has the external id %q, and its body has %q", dag.ErrForm, r.Turn.ID, r.External, name)
	}
	return nil
}

func admittedAgain(r, first *Record) error {
	return fmt.Errorf("%w: number %d is turn %s, and so is number %d; a turn is admitted once", dag.ErrForm, r.Seq, r.Turn.ID, first.Seq)
}

func erasedAgain(e *Event, first string) error {
	return fmt.Errorf("%w: number %d erases turn %s, as does %s; a turn is erased once", dag.ErrForm, e.Seq, e.Turn, first)
}

func otherConversation(r *Record, p *dag.SkeletonParent, of dag.ConversationID) error {
	return fmt.Errorf("%w: number %d: turn %s has its parent %s in conversation %s, and that turn is of %s", dag.ErrForm, r.Seq, r.Turn.ID, p.ID, p.Conversation, of)
}

// Arriving returns the ids of the stretch's records. None may be stored.
func (p *PreparedStretch) Arriving() []dag.TurnID { return p.ids }

// Beyond returns the ids of the turns that must be stored already: the parents and the
// erased turns that are no records of the stretch, each once.
func (p *PreparedStretch) Beyond() []dag.TurnID { return p.beyond }

// Erasing returns the ids of those of Beyond that events of the stretch erase. Whatever
// of them is stored with a body loses it when the stretch is adopted.
func (p *PreparedStretch) Erasing() []dag.TurnID { return p.erasing }

// Change returns the change that plans the stretch's entries, and fails if it plans others. It is
// nil if the stretch has none.
func (p *PreparedStretch) Change() history.Change {
	if p.stretch.Change == nil {
		return nil
	}
	return history.Exactly(p.stretch.Change, history.Known, p.stretch.Entries)
}

// Last returns the stretch's last number, which becomes the tenant's head. It is 0
// if the stretch is empty, and nothing is to be done.
func (p *PreparedStretch) Last() dag.Seq {
	first := p.stretch.first()
	if first == 0 {
		return 0
	}
	return first + dag.Seq(p.stretch.len()) - 1
}

// Plan decides what Adopt does: the records to insert, complete and without the
// bodies that the stretch erases, and the events. Known.Erased must be filled. The
// error wraps ErrGap or dag.ErrForm; then nothing is to be inserted.
//
// Plan is pure. Bodies are those of the stretch, not copies.
func (p *PreparedStretch) Plan(k Known) ([]Record, []Event, error) {
	first := p.stretch.first()
	if p.Last() == 0 {
		return nil, nil, nil
	}
	if first != k.Head+1 {
		return nil, nil, fmt.Errorf("%w: it begins with number %d, and the head is %d", ErrGap, first, k.Head)
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
		if _, erased := p.erased[r.Turn.ID]; erased {
			r.Body, r.Salt, r.External, r.Withheld = nil, dag.Salt{}, "", false
		}
	}
	if err := p.checkErasing(k); err != nil {
		return nil, nil, err
	}
	return records, p.stretch.Events, nil
}

func (p *PreparedStretch) checkParents(r *Record, k Known) error {
	for i := range r.Parents {
		parent := &r.Parents[i]
		of, stored := k.Parents[parent.ID]
		switch {
		case !stored && p.records[parent.ID] == nil:
			return fmt.Errorf("%w: number %d: turn %s names the parent %s, which is admitted under no smaller number", dag.ErrForm, r.Seq, r.Turn.ID, parent.ID)
		case stored && of != parent.Conversation:
			return otherConversation(r, parent, of)
		}
	}
	return nil
}

func (p *PreparedStretch) checkErasing(k Known) error {
	for i := range p.stretch.Events {
		e := &p.stretch.Events[i]
		_, stored := k.Parents[e.Turn]
		switch {
		case !stored && p.records[e.Turn] == nil:
			return fmt.Errorf("%w: number %d erases turn %s, which is admitted under no smaller number", dag.ErrForm, e.Seq, e.Turn)
		case k.Erased[e.Turn]:
			return erasedAgain(e, "a stored event")
		}
	}
	return nil
}
