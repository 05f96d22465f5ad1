package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Errors of operations.
var (
	// ErrSpace is wrapped if a space does not exist.
	ErrSpace = errors.New("no such space")
	// ErrMoved is wrapped if the policy of the space is not the one that the caller read. The caller should read it again.
	ErrMoved = errors.New("the policy of the space was changed meanwhile")
	// ErrDeprecated is wrapped if a deprecated item would change.
	ErrDeprecated = errors.New("the item is deprecated; restore it first")
	// ErrNoItem is wrapped if an item or a revision does not exist.
	ErrNoItem = errors.New("no such item or revision")
	// ErrNoText is wrapped if statements would rest on a turn that does not exist or whose text was erased.
	ErrNoText = errors.New("the turn does not exist, or its text was erased")
	// ErrTooWide is wrapped if an operation touches more than MaxNeighbours elements.
	ErrTooWide = errors.New("the operation touches too many elements")
)

// MaxNeighbours bounds the elements that one operation examines.
const MaxNeighbours = 20_000

// An Operator names an operator of package belief.
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
	NewSpace   bool                    // make the space, under Policy, if it does not exist
	Item       belief.Item             // "": the item of an equal or a conflicting statement, or else a new item
	Adds       bool                    // what the named item states stays beside the statements; otherwise they are in its place
	Kind       string                  // of a new item that has no name
	Allow      func(kind string) error // refuses kinds that a new item may not have; nil: all kinds are allowed
	Statements []belief.Literal
	Premises   []belief.Literal // from which the statements follow, ascending; nil: they are stated
	Wording    Wording          // of the statements and premises
	Span       belief.Span
	Turns      []dag.TurnID // the turns that they rest on
	Rank       Rank         // of the statements, by the writer; its Event is 0
	Revision   Revision     // title, summary, keywords, topics, artifacts, confidence, source and reason; the rest is set by the operation
	Links      []Link       // from the new revision: Type and To
	Incoming   []Link       // to the new revision: From and Type
	Tags       []string     // tags that then point to the new revision
	By         string
	At         dag.Time
	Salt       dag.Salt   // the salts of the entries are made from it
	Key        dag.Digest // of the request: another request with the same key is answered from the record; zero: none
	Dry        bool       // decide, and record nothing
	Limits     Limits     // on the constraints of the space
	Waiting    int        // how many proposals by By may wait; 0: any number

	// The policy of the space that the caller read before, and the constraints of that policy.
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

// Stated returns the statement of the element.
func (p Part) Stated() *Stated { return &p.Revision.Statements[p.At] }

// A Loss is an element that gave way, or would have.
type Loss struct {
	Part
	Conflict []Stated // a minimal set, including this element, that cannot be kept together; the elements of the request have no rank
	Until    dag.Time // the new end of its span, if the span began before the request's; otherwise 0
}

// An Outcome is the result of an operation.
type Outcome struct {
	Result   string
	Seq      dag.Seq // the number of the operation's last entry; 0: the operation added no entry
	Item     belief.Item
	Revision int
	Kept     int // number of elements that the operator examined and kept
	GaveWay  []Loss
	Fell     []belief.Conclusion // conclusions of rules that no longer follow
	Review   []string            // addresses of revisions that depend, by a link, on a revision that gave way
	Protects bool                // the operation was refused because a protected element would give way
	Vouched  bool                // the operation was refused because it would change an item that a person vouches for
	Again    bool                // the request was answered before, and Seq is the number of that answer
	Wording  Wording             // how the literals in the outcome were written
}

// in sets Seq to the number of the last entry of the change. If the change recorded nothing, whole is 0 and Seq stays as it is.
func (o *Outcome) in(whole dag.Seq) *Outcome {
	if whole != 0 {
		o.Seq = whole
	}
	return o
}

// operation is the change that decides a request and records the decision.
type operation struct {
	Request
	exploring
	bound   limiting
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

// Needs asks for the elements connected with the statements and for the waiting proposals; then for the constraints of the space, if the
// request may add one.
func (o *operation) Needs(k *history.State) history.Needs {
	if k.Round == 0 {
		o.bound = limiting{Limits: o.Limits}
	}
	n := o.explore(k)
	if o.Waiting > 0 {
		n = join(n, waiting(k, o.Space))
	}
	if n.None() && o.Operator != Contract && o.Rank.Class >= belief.Human && o.bound.may(o.of, o.Kind) {
		n = o.bound.needs(k, o.Space)
	}
	return n
}

// explore asks for the elements of the statements' slots and, round by round, for the elements that rules connect with them, and for
// their items.
func (o *operation) explore(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		o.begin(o.Space, o.Tags...)
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
		for _, l := range o.allLinks() {
			n.Newest = append(n.Newest, l.newest()...)
		}
		return n
	}
	if t, ok := o.answered(k); ok {
		if _, there := k.Entries[t.Since]; !there && k.Round == 1 {
			n.Entries = []dag.Seq{t.Since}
		}
		return n
	}
	n = o.more(k)
	for _, s := range o.replaced(k) { // what follows from the statements may fall
		o.ask(&n, s.slots(), nil)
	}
	return n
}

// replaced returns the believed statements of the item that the request names, in whose place those of the request are: a revision is all that
// its item says.
func (o *operation) replaced(k *history.State) []Stated {
	if !o.replaces() {
		return nil
	}
	seq, err := currentOf(k, o.Item)
	if err != nil || seq == 0 {
		return nil
	}
	e, ok := k.Entries[seq]
	if !ok {
		return nil
	}
	r, err := readOnce(o.revisions, &e)
	if err != nil {
		return nil
	}
	return r.Statements
}

// element returns the part as an element of package belief.
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

// prepare makes the elements of a revision before the revision is shared between goroutines.
func (r *Revision) prepare() {
	list := make([]belief.Element, len(r.Statements))
	for i := range list {
		list[i] = Part{r, i}.element(false)
	}
	r.prepared = list
}

// Plan decides the request and plans the entries of the decision.
func (o *operation) Plan(k *history.State) (*history.Plan, error) {
	o.outcome = &Outcome{Result: Unchanged}
	if t, ok := o.answered(k); ok {
		return &history.Plan{}, o.again(k, t.Since)
	}
	t, ok := k.Newest[history.Key{Index: indexSpaces, Key: string(o.Space)}]
	switch {
	case !ok && !o.NewSpace:
		return nil, fmt.Errorf("%w: %s", ErrSpace, o.Space)
	case ok && string(t.Value) != o.Policy:
		return nil, fmt.Errorf("%w: %s now has the policy %.80q", ErrMoved, o.Space, t.Value)
	}
	for _, turn := range o.Turns {
		if at := k.Turns[turn]; !at.Body && !at.Withheld {
			return nil, fmt.Errorf("%w: turn %s", ErrNoText, turn)
		}
	}
	for _, l := range o.allLinks() {
		if err := l.connects(k); err != nil {
			return nil, err
		}
	}
	p := &history.Plan{}
	w := &writing{operation: o, k: k, folding: newFolding(p), head: k.Head}
	if !ok {
		if err := w.space(); err != nil {
			return nil, err
		}
	}
	b, err := w.explored(k, &o.exploring)
	if err != nil {
		return nil, err
	}
	if err := w.allowed(); err != nil {
		return nil, err
	}
	if w.repeats(b) {
		return &history.Plan{}, nil
	}
	own, protects := w.setAside(b)
	d, err := o.decide(k, b)
	var refused *belief.ConflictError
	if err = cmp.Or(err, protects); err == nil && o.Rank.Class < belief.Human && o.Operator != Contract {
		err = w.unvouched(b, d)
	}
	switch {
	case errors.As(err, &refused) && !errors.Is(err, belief.ErrInput):
		return w.refuse(b, refused, own)
	case err != nil:
		return nil, err
	}
	if err := w.take(b, d, own); err != nil {
		return nil, err
	}
	if err := o.bound.check(k, o.Space, p); err != nil {
		return nil, err
	}
	if o.Dry {
		o.outcome.Seq = 0 // a dry operation records nothing
		return &history.Plan{}, nil
	}
	return p, nil
}

// again sets the outcome of a request that was answered before.
func (o *operation) again(k *history.State, seq dag.Seq) error {
	e, ok := k.Entries[seq]
	if !ok {
		return fmt.Errorf("%w: number %d, which answered the request, is missing", history.ErrDamaged, seq)
	}
	o.outcome = &Outcome{Result: Changed, Seq: e.Whole(), Again: true}
	r, err := readEntry(&e)
	if err != nil {
		return err
	}
	switch r := r.(type) {
	case *Revision:
		o.outcome.Item, o.outcome.Revision = r.Item, r.Number
	case *Tag:
		o.outcome.Item = r.Item
	case *Conflict:
		o.outcome.Result, o.outcome.Item = Refused, r.Item
	}
	return nil
}

// input returns the statements of the request as elements of an item.
func (o *operation) input(item belief.Item, event dag.Seq) []belief.Element {
	var list []belief.Element
	for _, l := range o.Statements {
		s := Stated{Literal: l, Premises: o.Premises, Span: o.Span}
		list = append(list, belief.Element{Literal: l, Premises: o.Premises, Span: o.Span, Rank: belief.Rank{Class: o.Rank.Class, Criterion: o.Rank.Criterion, Event: event, ID: s.id(item)}})
	}
	return list
}

// decide calls the operator with the statements of the request. Their ids name no item; state merges them later with equal statements of
// their item.
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
