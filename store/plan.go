package store

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
)

// Known contains what a back end has stored about the turns in the batches of a
// Prepared, or in a PreparedStretch, all read within the transaction that will write.
type Known struct {
	Head    dag.Seq
	Stored  map[dag.TurnID]*Record            // the stored turns of Prepared.Arriving; Body need only say whether there is one
	Parents map[dag.TurnID]dag.ConversationID // the stored turns of Beyond
	Unless  [][]history.Term                  // the terms of Prepared.Unless, in its order; nil: no range has a term
}

// Plan decides what Append does. It returns the records to insert, in order and complete, and the receipt. The error is a *ConflictError,
// *ParentError or *CycleError, wraps ErrOvertaken, or says that sequence numbers have run out; then nothing may be inserted.
//
// Plan is pure. Its cost is O(n log n) in the number of turns and edges. The records share the bodies of the batches.
func (p *Prepared) Plan(k Known) ([]Record, Receipt, error) {
	w := planner{
		stored:        k.Stored,
		conversations: k.Parents,
		admitted:      make(map[dag.TurnID]int, len(p.ids)),
		records:       make([]Record, 0, len(p.ids)),
		receipt:       Receipt{Head: k.Head},
	}
	for i, terms := range k.Unless {
		if len(terms) > 0 {
			w.unknown = append(w.unknown, overtaking{p.unless[i], terms[0].Since})
		}
	}
	for _, b := range p.batches {
		if err := w.batch(b); err != nil {
			return nil, Receipt{}, err
		}
	}
	return w.records, w.receipt, nil
}

type planner struct {
	stored        map[dag.TurnID]*Record
	conversations map[dag.TurnID]dag.ConversationID
	admitted      map[dag.TurnID]int // index into records
	records       []Record
	receipt       Receipt
	unknown       []overtaking
}

// An overtaking is a range of Arrival.Unless that has a term, and the number of its first term.
type overtaking struct {
	unless *history.Range
	since  dag.Seq
}

func (w *planner) batch(b []candidate) error {
	fresh, err := w.fresh(b)
	if err != nil {
		return err
	}
	if room := dag.MaxSeq - min(w.receipt.Head, dag.MaxSeq); dag.Seq(len(fresh)) > room {
		return fmt.Errorf("there is no room for %d turns after sequence number %d, because the last possible number is %d", len(fresh), w.receipt.Head, dag.MaxSeq)
	}
	order, err := w.order(fresh)
	if err != nil {
		return err
	}
	for _, c := range order {
		w.admit(c)
	}
	return nil
}

// fresh returns the candidates that are not stored yet, and counts the others.
func (w *planner) fresh(b []candidate) ([]*candidate, error) {
	fresh := make([]*candidate, 0, len(b))
	for i := range b {
		c := &b[i]
		was := w.stored[c.Turn.ID]
		if at, ok := w.admitted[c.Turn.ID]; ok {
			was = &w.records[at]
		}
		if was == nil {
			for _, o := range w.unknown {
				if o.unless == c.Unless {
					return nil, fmt.Errorf("%sturn %s: %w: number %d", place(c.Place), c.Turn.ID, ErrOvertaken, o.since)
				}
			}
			fresh = append(fresh, c)
			continue
		}
		if err := conflict(was.known(), c.Arrival); err != nil {
			return nil, err
		}
		w.receipt.Existing++
	}
	return fresh, nil
}

// order sorts the new turns of a batch: parents first, and of the turns that are ready the one with the smallest (CreatedAt, ID).
func (w *planner) order(fresh []*candidate) ([]*candidate, error) {
	at := make(map[dag.TurnID]int, len(fresh))
	for i, c := range fresh {
		at[c.Turn.ID] = i
	}
	waits := make([]int, len(fresh)) // parents in the batch that have no number yet
	children := make([][]int, len(fresh))
	for i, c := range fresh {
		for _, p := range c.Parents {
			if parent, ok := at[p.ID]; ok {
				waits[i]++
				children[parent] = append(children[parent], i)
			} else if _, ok := w.conversation(p.ID); !ok {
				return nil, &ParentError{Child: c.Turn.ID, Parent: p.ID, Place: c.Place}
			}
		}
	}
	ready := &readyHeap{turns: fresh}
	for i, n := range waits {
		if n == 0 {
			ready.queue = append(ready.queue, i)
		}
	}
	heap.Init(ready)
	order := make([]*candidate, 0, len(fresh))
	for len(ready.queue) > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, fresh[i])
		for _, child := range children[i] {
			if waits[child]--; waits[child] == 0 {
				heap.Push(ready, child)
			}
		}
	}
	if len(order) < len(fresh) {
		c := fresh[smallestOnCycle(fresh, children)]
		return nil, &CycleError{ID: c.Turn.ID, Place: c.Place}
	}
	return order, nil
}

// conversation returns the conversation of a turn that exists outside the batch.
func (w *planner) conversation(id dag.TurnID) (dag.ConversationID, bool) {
	if i, ok := w.admitted[id]; ok {
		return w.records[i].Turn.Conversation, true
	}
	if r := w.stored[id]; r != nil {
		return r.Turn.Conversation, true
	}
	c, ok := w.conversations[id]
	return c, ok
}

func (w *planner) admit(c *candidate) {
	r := Record{Seq: w.receipt.Head + 1, Turn: c.Turn, Leaf: c.leaf, Body: c.Body, Salt: c.Salt, External: c.External, Withheld: c.Body == nil, Key: c.Key, Marks: c.Marks}
	if len(c.Parents) > 0 {
		r.Parents = make([]dag.SkeletonParent, len(c.Parents))
	}
	for i, p := range c.Parents {
		conversation, ok := w.conversation(p.ID)
		if !ok {
			panic("store: a parent comes after its child in the order of admission")
		}
		r.Parents[i] = dag.SkeletonParent{ID: p.ID, Conversation: conversation, Kind: p.Kind, Leaf: c.edges[i]}
	}
	w.admitted[c.Turn.ID] = len(w.records)
	w.records = append(w.records, r)
	w.receipt.Head++
	w.receipt.Admitted++
	w.receipt.Edges += len(c.Parents)
}

// readyHeap contains the indexes of turns whose parents all have a number.
type readyHeap struct {
	turns []*candidate
	queue []int
}

func (h *readyHeap) Len() int      { return len(h.queue) }
func (h *readyHeap) Swap(i, j int) { h.queue[i], h.queue[j] = h.queue[j], h.queue[i] }
func (h *readyHeap) Push(x any)    { h.queue = append(h.queue, x.(int)) }
func (h *readyHeap) Less(i, j int) bool {
	a, b := &h.turns[h.queue[i]].Turn, &h.turns[h.queue[j]].Turn
	return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), a.ID.Compare(b.ID)) < 0
}

func (h *readyHeap) Pop() any {
	last := h.queue[len(h.queue)-1]
	h.queue = h.queue[:len(h.queue)-1]
	return last
}

// A standIn is compared with an arrival by conflict: it is a stored record, or another arrival of the same turn.
type standIn struct {
	turn    *dag.Turn
	parents []dag.Parent
	body    []byte
	salt    dag.Salt
}

func (r *Record) known() standIn {
	parents := make([]dag.Parent, len(r.Parents))
	for i, p := range r.Parents {
		parents[i] = dag.Parent{ID: p.ID, Kind: p.Kind}
	}
	return standIn{turn: &r.Turn, parents: parents, body: r.Body, salt: r.Salt}
}

func (a *Arrival) known() standIn {
	return standIn{turn: &a.Turn, parents: a.Parents, body: a.Body, salt: a.Salt}
}

// conflict returns an error that names the field in which an arrival differs from the existing turn, or
// nil. A salt that was drawn for the arrival is ignored: its body is digested again with the existing
// salt. If that salt is gone with its body, the bodies cannot be compared, and count as the same.
func conflict(was standIn, a *Arrival) error {
	arriving := a.Turn.BodyDigest
	if a.SaltDrawn {
		if was.body == nil {
			arriving = was.turn.BodyDigest
		} else {
			arriving = slice.DigestBody(a.Body, was.salt)
		}
	}
	field := ""
	switch {
	case arriving != was.turn.BodyDigest:
		field = "body"
	case !sameParents(was.parents, a.Parents):
		field = "parents"
	case a.Turn.Conversation != was.turn.Conversation:
		field = "conversation"
	case a.Turn.Role != was.turn.Role:
		field = "role"
	case a.Turn.Phase != was.turn.Phase:
		field = "phase"
	case a.Turn.Salience != was.turn.Salience:
		field = "salience"
	case a.Turn.CreatedAt != was.turn.CreatedAt:
		field = "created_at"
	default:
		return nil
	}
	return &ConflictError{ID: a.Turn.ID, Place: a.Place, Field: field, Stored: was.turn.BodyDigest, Arriving: arriving}
}

// sameParents compares parents as sets: their order is stored but has no meaning. Neither side names a parent twice.
func sameParents(a, b []dag.Parent) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
	}
	byID := func(x, y dag.Parent) int { return bytes.Compare(x.ID[:], y.ID[:]) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), byID), slices.SortedFunc(slices.Values(b), byID))
}
