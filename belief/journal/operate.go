package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Errors of operations.
var (
	// ErrSpace is wrapped if a space was not made.
	ErrSpace = errors.New("no such space")
	// ErrMoved is wrapped if the policy of the space is another one than that which the caller read. Read it again.
	ErrMoved = errors.New("the policy of the space was changed meanwhile")
	// ErrDeprecated is wrapped if an item that is deprecated would change.
	ErrDeprecated = errors.New("the item is deprecated; restore it first")
	// ErrNoItem is wrapped if an item or a revision is not there.
	ErrNoItem = errors.New("no such item or revision")
	// ErrNoText is wrapped if a turn that statements are to rest on is not there, or has no text any more.
	ErrNoText = errors.New("the turn is not there, or its text was erased")
	// ErrTooWide is wrapped if an operation touches more than can be decided at once.
	ErrTooWide = errors.New("too many elements are connected with it")
)

// MaxNeighbours bounds the revisions that one operation looks at.
const MaxNeighbours = 20_000

// An Operator is one of package belief's.
type Operator string

// The operators.
const (
	Revise   Operator = "revise"
	Contract Operator = "contract"
	Expand   Operator = "expand"
	Propose  Operator = "propose"
)

// A Request asks for an operation on the base of a space.
type Request struct {
	Operator   Operator
	Space      belief.Space
	Item       belief.Item // "": the one that holds a conflicting or an equal statement, else a new one
	Kind       string      // of a new item that has no name
	Statements []belief.Literal
	Premises   []belief.Literal // from which the statements follow, ascending; nil: they are stated
	Span       belief.Span
	Turns      []dag.TurnID // that they rest on
	Rank       Rank         // of the statements, by who wrote; its Event is 0
	Revision   Revision     // title, summary, keywords, topics, confidence, source and reason; the rest is set
	By         string
	At         dag.Time
	Salt       dag.Salt   // from which those of the entries are made
	Key        dag.Digest // of the request: one with the same key is answered from the record; zero: none
	Dry        bool       // decide, and record nothing

	// What the caller read before: the policy of the space, and the constraints that it has.
	Policy      string
	Constraints *belief.Constraints
}

// Outcomes of operations.
const (
	Changed   = "changed"
	Unchanged = "unchanged"
	Refused   = "refused"
)

// A Part is an element of a revision.
type Part struct {
	Revision *Revision
	At       int // in Revision.Statements
}

// Stated returns the element.
func (p Part) Stated() *Stated { return &p.Revision.Statements[p.At] }

// A Loss is an element that gave way, or would have.
type Loss struct {
	Part
	Conflict []Stated // a smallest set that cannot be left together, this element included; those of the request have no rank of an event
	Until    dag.Time // at which it ends to hold, if it began before; else 0
}

// An Outcome says what an operation did.
type Outcome struct {
	Result   string
	Seq      dag.Seq // of the first entry; 0: none was added
	Item     belief.Item
	Revision int
	Kept     int // elements that the operator looked at and kept
	GaveWay  []Loss
	Fell     []belief.Conclusion // of rules, which follow no longer
	Review   []string            // addresses of revisions that link to what gave way as what they depend on
	Protects bool                // it was refused since something that would give way is protected
	Again    bool                // the request was answered before, and this is only where
}

// An exploring asks, round by round, for the elements that rules connect with some slots, and for what is known of their items.
type exploring struct {
	space  belief.Space
	asked  map[belief.Slot]bool // slots whose elements were asked for
	of     map[belief.Item]bool // items whose state was
	linked map[string]bool      // revisions whose links were
	turns  map[dag.TurnID]bool  // turns whose state was
}

func (x *exploring) begin(space belief.Space) {
	*x = exploring{space, map[belief.Slot]bool{}, map[belief.Item]bool{}, map[string]bool{}, map[dag.TurnID]bool{}}
}

// ask adds the elements of slots and the states of items, if they were not asked for.
func (x *exploring) ask(n *history.Needs, slots []belief.Slot, items []belief.Item) {
	for _, s := range slots {
		if !x.asked[s] {
			x.asked[s] = true
			n.Ranges = append(n.Ranges, history.Range{Index: indexElements, Prefix: slotPrefix(x.space, s), AsOf: history.Forever - 1})
		}
	}
	for _, item := range items {
		if !x.of[item] {
			x.of[item] = true
			n.Newest = append(n.Newest, keysOf(item, Published)...)
		}
	}
}

// more asks for what follows from what is known. What is damaged is found by planning.
func (x *exploring) more(k *history.State) (n history.Needs) {
	if _, err := near(k, func(seq dag.Seq) { n.Entries = append(n.Entries, seq) }); err != nil || len(n.Entries) > 0 {
		return n
	}
	parts, err := near(k, nil)
	if err != nil || len(parts) > MaxNeighbours {
		return n
	}
	for _, p := range parts {
		x.ask(&n, p.Stated().slots(), []belief.Item{p.Revision.Item})
		x.know(&n, p.Revision)
		if address := p.Revision.address(); !x.linked[address] {
			x.linked[address] = true
			n.Ranges = append(n.Ranges, history.Range{Index: indexLinked, Prefix: linkKey(address)})
		}
	}
	want := map[dag.Seq]bool{}
	for _, seq := range x.current(k) {
		want[seq] = true
	}
	for _, t := range termsOf(k, indexLinked) {
		want[t.Since] = true
	}
	for seq := range want {
		if _, ok := k.Entries[seq]; !ok {
			n.Entries = append(n.Entries, seq)
		}
	}
	slices.Sort(n.Entries)
	for _, seq := range x.current(k) {
		if e, ok := k.Entries[seq]; ok {
			if r, err := ReadRevision(&e); err == nil {
				x.know(&n, r)
			}
		}
	}
	return n
}

// current are the numbers of the revisions that are current of the items.
func (x *exploring) current(k *history.State) (list []dag.Seq) {
	for item := range x.of {
		if seq, err := currentOf(k, item); err == nil && seq != 0 {
			list = append(list, seq)
		}
	}
	slices.Sort(list)
	return list
}

// slots returns those that the statement connects.
func (s *Stated) slots() []belief.Slot {
	list := []belief.Slot{s.Slot()}
	for _, p := range s.Premises {
		list = append(list, p.Slot())
	}
	return list
}

// operation is a request on its way into the history.
type operation struct {
	Request
	exploring
	outcome *Outcome
}

func (o *operation) requestKey() history.Key {
	return history.Key{Index: indexRequests, Key: string(o.Key[:])}
}

// answered returns the term of the request if it was answered before.
func (o *operation) answered(k *history.State) (history.Term, bool) {
	t, ok := k.Newest[o.requestKey()]
	return t, ok && o.Key != (dag.Digest{})
}

// Needs asks for the elements of the statements' slots, and on through rules; then for the items.
func (o *operation) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		o.begin(o.Space)
		n.Newest = append(n.Newest, history.Key{Index: indexSpaces, Key: string(o.Space)}, o.requestKey())
		var slots []belief.Slot
		for _, l := range slices.Concat(o.Statements, o.Premises) {
			slots = append(slots, l.Slot())
		}
		var items []belief.Item
		if o.Item != "" {
			items = append(items, o.Item)
		}
		o.ask(&n, slots, items)
		o.know(&n, &Revision{Statements: []Stated{{Turns: o.Turns}}})
		return n
	}
	if t, ok := o.answered(k); ok {
		if _, there := k.Entries[t.Since]; !there && k.Round == 1 {
			n.Entries = []dag.Seq{t.Since}
		}
		return n
	}
	return o.more(k)
}

func termsOf(k *history.State, index history.Index) (list []history.Term) {
	for _, some := range k.Ranges {
		for i := range some {
			if some[i].Index == index {
				list = append(list, some[i])
			}
		}
	}
	return list
}

// near returns the elements that are known, in the order of their revisions. It calls missing for entries that are not.
func near(k *history.State, missing func(dag.Seq)) ([]Part, error) {
	revisions := map[dag.Seq]*Revision{}
	seen := map[Part]bool{}
	var list []Part
	for _, t := range termsOf(k, indexElements) {
		if len(t.Value) != 8 || len(t.Key) < 2 {
			return nil, fmt.Errorf("the element that number %d began is damaged", t.Since)
		}
		seq := dag.Seq(binary.BigEndian.Uint64(t.Value))
		r, ok := revisions[seq]
		if !ok {
			e, there := k.Entries[seq]
			switch {
			case !there && missing != nil:
				missing(seq)
			case !there:
				return nil, fmt.Errorf("number %d is a revision that is believed, and is not there; the store is damaged", seq)
			default:
				var err error
				if r, err = ReadRevision(&e); err != nil {
					return nil, err
				}
			}
			revisions[seq] = r
		}
		if r == nil {
			continue
		}
		p := Part{r, int(binary.BigEndian.Uint16(t.Key[len(t.Key)-2:]))}
		if p.At >= len(r.Statements) || r.Erased {
			return nil, fmt.Errorf("an element of number %d is damaged", seq)
		}
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Part) int {
		if a.Revision.Seq != b.Revision.Seq {
			return cmp.Compare(a.Revision.Seq, b.Revision.Seq)
		}
		return a.At - b.At
	})
	return list, nil
}

func (r *Revision) address() string {
	return belief.Address{Item: r.Item, Revision: r.Number}.String()
}

// element is a part as package belief has it.
func (p Part) element(guarded bool) belief.Element {
	if p.Revision.prepared != nil {
		e := p.Revision.prepared[p.At]
		e.Guarded = guarded
		return e
	}
	s := p.Stated()
	e := belief.Element{Literal: s.Literal, Premises: s.Premises, Span: s.Span, Guarded: guarded, Rank: belief.Rank{Class: s.Rank.Class, Criterion: s.Rank.Criterion, Event: s.Rank.Event, ID: s.id(p.Revision.Item)}}
	if e.Rank.Event == 0 {
		e.Rank.Event = p.Revision.Seq
	}
	return e
}

// prepare makes the elements of a revision that many may read from now on.
func (r *Revision) prepare() {
	list := make([]belief.Element, len(r.Statements))
	for i := range list {
		list[i] = Part{r, i}.element(false)
	}
	r.prepared = list
}

// A base is elements with where they are from.
type base struct {
	elements belief.Base
	from     map[dag.Digest]Part // by the rank's id
}

// Plan decides.
func (o *operation) Plan(k *history.State) (*history.Plan, error) {
	o.outcome = &Outcome{Result: Unchanged}
	if t, ok := o.answered(k); ok {
		return &history.Plan{}, o.again(k, t.Since)
	}
	t, ok := k.Newest[history.Key{Index: indexSpaces, Key: string(o.Space)}]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %s", ErrSpace, o.Space)
	case string(t.Value) != o.Policy:
		return nil, fmt.Errorf("%w: %s is under %.80q", ErrMoved, o.Space, t.Value)
	}
	for _, turn := range o.Turns {
		if at := k.Turns[turn]; !at.Body && !at.Withheld {
			return nil, fmt.Errorf("%w: turn %s", ErrNoText, turn)
		}
	}
	p := &history.Plan{}
	w := &writing{operation: o, k: k, folding: newFolding(p), head: k.Head}
	b, err := w.explored(k, &o.exploring)
	if err != nil {
		return nil, err
	}
	d, err := o.decide(k, b)
	var refused *belief.ConflictError
	switch {
	case errors.As(err, &refused) && !errors.Is(err, belief.ErrInput):
		return w.refuse(b, refused)
	case err != nil:
		return nil, err
	}
	if err := w.take(b, d); err != nil {
		return nil, err
	}
	if o.Dry {
		o.outcome.Seq = 0 // nothing is recorded
		return &history.Plan{}, nil
	}
	return p, nil
}

// explored returns the elements that an exploring has found, and takes note of its items.
func (f *folding) explored(k *history.State, x *exploring) (*base, error) {
	parts, err := near(k, nil)
	if err != nil {
		return nil, err
	}
	if len(parts) > MaxNeighbours {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrTooWide, len(parts), MaxNeighbours)
	}
	for item := range x.of {
		if err := f.know(k, item, Published); err != nil {
			return nil, err
		}
	}
	b := &base{from: map[dag.Digest]Part{}}
	for _, p := range parts {
		e := p.element(f.guards(p.Revision))
		b.elements, b.from[e.Rank.ID] = append(b.elements, e), p
	}
	return b, nil
}

// again answers a request that was answered before.
func (o *operation) again(k *history.State, seq dag.Seq) error {
	e, ok := k.Entries[seq]
	if !ok {
		return fmt.Errorf("number %d, which answered the request, is not there; the store is damaged", seq)
	}
	o.outcome = &Outcome{Result: Changed, Seq: seq, Again: true}
	r, err := readEntry(&e)
	if err != nil {
		return err
	}
	switch r := r.(type) {
	case *Revision:
		o.outcome.Item, o.outcome.Revision = r.Item, r.Number
	case *Tag:
		o.outcome.Item = r.Item
	}
	return nil
}

// input are the statements as elements of an item.
func (o *operation) input(item belief.Item, event dag.Seq) []belief.Element {
	var list []belief.Element
	for _, l := range o.Statements {
		s := Stated{Literal: l, Premises: o.Premises, Span: o.Span}
		list = append(list, belief.Element{Literal: l, Premises: o.Premises, Span: o.Span, Rank: belief.Rank{Class: o.Rank.Class, Criterion: o.Rank.Criterion, Event: event, ID: s.id(item)}})
	}
	return list
}

// decide calls the operator. The statements count as those of the item that the request names, so that restating what an item states takes its
// place.
func (o *operation) decide(k *history.State, b *base) (*belief.Decision, error) {
	input := o.input("", k.Head+1)
	switch o.Operator {
	case Revise:
		return belief.Revise(o.Constraints, b.elements, input)
	case Expand:
		return belief.Expand(o.Constraints, b.elements, input)
	case Propose:
		return belief.Propose(o.Constraints, b.elements, input)
	case Contract:
		return belief.Contract(o.Constraints, b.elements, o.Statements, o.Span)
	}
	return nil, fmt.Errorf("%w: the operator %.20q, want revise, contract, expand or propose", belief.ErrForm, o.Operator)
}

// A writing is a decision on its way into entries.
type writing struct {
	*operation
	*folding
	k    *history.State
	head dag.Seq
	made int // entries
}

func (f *folding) guards(r *Revision) bool {
	t := f.items[r.Item].tags[Published]
	if t == nil || t.Until != history.Forever {
		return false
	}
	p, err := readPlace(t)
	return err != nil || p.number == r.Number
}

func (w *writing) salt() dag.Salt {
	w.made++
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(slices.Clone(w.Salt[:]), uint32(w.made)))
	return dag.Salt(digest[:len(dag.Salt{})])
}

// losses brings what the operator says into the terms of revisions.
func (w *writing) losses(b *base, lost []belief.Loss) (list []Loss) {
	for i := range lost {
		l := Loss{Part: b.from[lost[i].Element.Rank.ID], Until: lost[i].Until}
		for _, e := range lost[i].Conflict {
			if part, ok := b.from[e.Rank.ID]; ok {
				l.Conflict = append(l.Conflict, *part.Stated())
			} else {
				l.Conflict = append(l.Conflict, Stated{Literal: e.Literal, Premises: e.Premises, Span: e.Span})
			}
		}
		list = append(list, l)
	}
	return list
}

// refuse records a proposal that was not taken.
func (w *writing) refuse(b *base, err *belief.ConflictError) (*history.Plan, error) {
	w.outcome.Result, w.outcome.GaveWay, w.outcome.Protects = Refused, w.losses(b, err.Lost), errors.Is(err, belief.ErrProtected)
	if w.Operator != Propose || w.Dry {
		return &history.Plan{}, nil
	}
	c := &Conflict{Space: w.Space, By: w.By, Turns: w.Turns, Statements: w.Statements, Span: w.Span, Reason: w.Revision.Reason, Salt: w.salt(), Seq: w.head + 1, At: w.At}
	for _, l := range w.outcome.GaveWay {
		a := belief.Address{Item: l.Revision.Item, Revision: l.Revision.Number}
		if !slices.Contains(c.With, a) {
			c.With = append(c.With, a)
		}
	}
	w.outcome.Seq = c.Seq
	return w.plan, w.add(c, c.entry())
}

// add adds an entry and folds it.
func (w *writing) add(r record, e history.Entry) error {
	w.head++
	w.plan.Entries = append(w.plan.Entries, e)
	if w.outcome.Seq == 0 {
		w.outcome.Seq = e.Seq
	}
	return w.fold(w.k, nil, r)
}

// replace records what is believed of an item next, nil is nothing: it ends assertions, adds what record makes of the number that comes then, and
// projects the statements.
func (w *writing) replace(item belief.Item, next *Revision, make func(seq dag.Seq) (record, history.Entry)) (err error) {
	s, salt := w.items[item], w.salt()
	if next != nil {
		s.keep(next)
	}
	if w.head, err = w.retract(s.ending(next), salt, w.Revision.Reason, w.head, w.At); err != nil {
		return err
	}
	if err := w.add(make(w.head + 1)); err != nil {
		return err
	}
	w.head, err = w.assert(w.k, s, salt, w.head, w.At)
	return err
}

// revise records a revision that is believed from now on.
func (w *writing) revise(r *Revision) error {
	return w.replace(r.Item, r, func(seq dag.Seq) (record, history.Entry) {
		r.Seq = seq
		return r, r.entry()
	})
}

// take records what the operator decided.
func (w *writing) take(b *base, d *belief.Decision) error {
	out := w.outcome
	out.Kept, out.GaveWay = len(d.Kept), w.losses(b, d.Lost)
	out.Fell = belief.Fallen(w.Constraints, b.elements, d.After())
	for _, l := range out.GaveWay {
		out.Review = append(out.Review, w.dependents(l.Revision)...)
	}
	slices.Sort(out.Review)
	out.Review = slices.Compact(out.Review)
	if w.Operator == Contract && len(d.Lost) == 0 {
		return nil
	}
	out.Result = Changed
	item, err := w.target(b, out.GaveWay)
	if err != nil {
		return err
	}
	lost := map[belief.Item]map[int]dag.Time{}
	var order []belief.Item
	for _, l := range out.GaveWay {
		of := l.Revision.Item
		if lost[of] == nil {
			lost[of] = map[int]dag.Time{}
			order = append(order, of)
		}
		lost[of][l.At] = l.Until
	}
	slices.Sort(order)
	key := w.Key
	if item != "" { // first, so that the event that overrode has the number that its rank says
		if err := w.state(item, d.Input, lost[item], key); err != nil {
			return err
		}
		key = dag.Digest{}
	}
	for _, of := range order {
		if of == item {
			continue
		}
		if err := w.reduce(of, lost[of], key); err != nil {
			return err
		}
		key = dag.Digest{}
	}
	return nil
}

// dependents are the revisions that link to one as what they depend on.
func (w *writing) dependents(r *Revision) (list []string) {
	for _, t := range termsOf(w.k, indexLinked) {
		if e, ok := w.k.Entries[t.Since]; ok && e.Kind == KindLink {
			if l, err := ReadLink(&e); err == nil && l.To == r.address() && l.Type == "depends_on" {
				list = append(list, l.From.String())
			}
		}
	}
	return list
}

// target returns the item whose revision the statements become; "" for a contraction.
func (w *writing) target(b *base, lost []Loss) (belief.Item, error) {
	if w.Operator == Contract {
		return "", nil
	}
	item := w.Item
	if item == "" {
		for _, p := range b.from { // one that states the same
			if s := p.Stated(); w.Premises == nil && s.Premises == nil && slices.Contains(w.Statements, s.Literal) && (item == "" || p.Revision.Item < item) {
				item = p.Revision.Item
			}
		}
		if item == "" && len(lost) > 0 {
			item = lost[0].Revision.Item
		}
		if item == "" {
			digest := sha256.Sum256(append([]byte("item"), w.Salt[:]...))
			var err error
			if item, err = belief.NewItem(w.Space, hex.EncodeToString(digest[:10])+"."+w.Kind); err != nil {
				return "", err
			}
			w.items[item] = &itemState{tags: map[string]*history.Term{}}
		}
	}
	if s := w.items[item]; s.lapsed != nil && s.lapsed.Until == history.Forever {
		return "", fmt.Errorf("%w: %s", ErrDeprecated, item)
	}
	return item, nil
}

// remaining are the statements of what is current of an item without those that gave way.
func (w *writing) remaining(item belief.Item, lost map[int]dag.Time) (list []Stated, was *Revision) {
	s := w.items[item]
	if s.live() == 0 {
		return nil, s.current
	}
	for i, stated := range s.current.Statements {
		until, gone := lost[i]
		if gone && until == 0 {
			continue
		}
		if gone {
			stated.Span.Until = until
		}
		if stated.Rank.Event == 0 {
			stated.Rank.Event = s.current.Seq
		}
		list = append(list, stated)
	}
	return list, s.current
}

// state records the revision of an item that has the statements.
func (w *writing) state(item belief.Item, input []belief.Element, lost map[int]dag.Time, key dag.Digest) error {
	kept, was := w.remaining(item, lost)
	r := w.Revision
	r.Item, r.Number, r.Current, r.By, r.Key = item, w.items[item].newest+1, true, w.By, key
	r.Salt, r.At = w.salt(), w.At
	if was != nil {
		r.Supersedes = was.Number
	}
	for _, e := range input {
		s := Stated{Literal: e.Literal, Premises: e.Premises, Span: e.Span, Turns: w.Turns, Rank: Rank{Class: e.Rank.Class, Criterion: e.Rank.Criterion}}
		kept = slices.DeleteFunc(kept, func(old Stated) bool { return s.continues(&old) })
		r.Statements = append(r.Statements, s)
	}
	r.Statements = append(r.Statements, kept...)
	if err := r.Check(); err != nil {
		return err
	}
	w.outcome.Item, w.outcome.Revision = item, r.Number
	return w.revise(&r)
}

// continues reports whether a statement says the same as an older one, at times that overlap, and takes over what is unbroken of it.
func (s *Stated) continues(old *Stated) bool {
	if old.Literal != s.Literal || !slices.Equal(old.Premises, s.Premises) || !old.Span.Overlaps(s.Span) {
		return false
	}
	s.Span = belief.Span{From: min(old.Span.From, s.Span.From), Until: max(old.Span.Until, s.Span.Until)}
	if old.Rank.Class > s.Rank.Class || old.Rank.Class == s.Rank.Class && old.Rank.Criterion >= s.Rank.Criterion {
		s.Rank = old.Rank
	}
	return true
}

// reduce records the revision of an item without what gave way, or that nothing of it is believed.
func (w *writing) reduce(item belief.Item, lost map[int]dag.Time, key dag.Digest) error {
	kept, was := w.remaining(item, lost)
	if w.outcome.Item == "" {
		w.outcome.Item = item
	}
	if len(kept) == 0 {
		return w.replace(item, nil, func(seq dag.Seq) (record, history.Entry) {
			t := &Tag{Item: item, Name: Current, By: w.By, Reason: w.Revision.Reason, Key: key, Seq: seq, At: w.At}
			return t, t.entry()
		})
	}
	r := *was
	r.Number, r.Supersedes, r.Current, r.Withheld, r.By, r.Key = w.items[item].newest+1, was.Number, true, true, w.By, key
	r.Statements, r.Reason, r.Salt, r.At = kept, w.Revision.Reason, w.salt(), w.At
	if w.outcome.Item == item {
		w.outcome.Revision = r.Number
	}
	return w.revise(&r)
}
