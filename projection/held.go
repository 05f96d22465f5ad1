package projection

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
)

// errDropped means that an index was dropped while it was filled.
var errDropped = errors.New("the index was dropped meanwhile")

// A held is an index in memory, with the known state of its segments in the store. Most methods take the index that the caller began to fill, and have
// no effect if that index was replaced meanwhile; those that add to the index return errDropped then.
type held struct {
	form
	graphOver int // see IndexOptions

	mu      sync.RWMutex            // guards everything below, and is not held while the store is read
	index   *retrieval.Index        // has the turns up to filled
	filled  dag.Seq                 // 0: the index is empty
	gone    map[dag.TurnID]bool     // turns that were erased before they were added to the index
	kept    map[segments.Range]bool // segments that are known to be in the store
	again   dag.Seq                 // set when storing segments failed: the number at which it is tried again
	damaged map[dag.Seq]bool        // numbers of turns that could not be read and are not in the index
}

// clear drops the index; the next request fills it again.
func (h *held) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.empty()
}

// empty is clear; the caller holds mu.
func (h *held) empty() {
	h.index, h.filled, h.gone = h.form.index(), 0, map[dag.TurnID]bool{}
	h.index.GraphOver(h.graphOver)
	h.kept, h.again, h.damaged = map[segments.Range]bool{}, 0, map[dag.Seq]bool{}
}

// now returns the index, and the number up to which it has every turn.
func (h *held) now() (*retrieval.Index, dag.Seq) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.index, h.filled
}

// A glimpse is the state of an index when read was called.
type glimpse struct {
	read   bool    // fn was called
	filled dag.Seq // the number up to which it had every turn
	size   int     // in bytes, if fn was called
	links  bool    // the index wants links, if fn was called
}

// read calls fn if the index reaches head or anyway is true.
func (h *held) read(head dag.Seq, anyway bool, fn func(x *retrieval.Index, reached dag.Seq)) glimpse {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.filled < head && !anyway {
		return glimpse{filled: h.filled}
	}
	fn(h.index, min(h.filled, head))
	return glimpse{true, h.filled, h.index.Size(), h.index.WantsLinks()}
}

// add adds turns with their vectors; then the index has every turn up to filled. It leaves out texts that were erased after they were read.
func (h *held) add(into *retrieval.Index, batch []retrieval.Turn, vectors [][]int8, filled dag.Seq) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index != into {
		return errDropped
	}
	for i := range batch {
		t := &batch[i]
		if h.gone[t.ID] {
			delete(h.gone, t.ID)
			t.Author, t.Labels, t.Content, t.Withheld = "", "", "", true
		}
	}
	if err := h.index.Add(batch, vectors); err != nil {
		return err
	}
	h.filled = filled
	return nil
}

// load adds segments, without the texts that were erased after they were read. head is the number to which the caller fills the index.
func (h *held) load(into *retrieval.Index, list []*retrieval.Segment, head dag.Seq) error {
	if len(list) == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index != into {
		return errDropped
	}
	if err := into.Load(list, head); err != nil {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	for _, s := range list {
		after, upTo := s.Covers()
		h.kept[segments.Range{After: after, UpTo: upTo}], h.filled = true, upTo
	}
	for id := range h.gone {
		if h.erase(id) {
			delete(h.gone, id)
		}
	}
	return nil
}

// forget removes the text of an erased turn from the index, now or when the turn is added.
func (h *held) forget(id dag.TurnID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.erase(id) {
		if len(h.damaged) > 0 { // the turn may be one of the damaged ones, and an erased turn can be read again
			h.empty()
		}
		h.gone[id] = true
	}
}

// erase removes a turn's text from the index, and reports whether the index has the turn. The erasure has deleted the stored segments with the turn. The caller
// holds mu.
func (h *held) erase(id dag.TurnID) bool {
	t, ok := h.index.Turn(id)
	if !ok {
		return false
	}
	for _, r := range segments.Of(t.Seq) {
		delete(h.kept, r)
	}
	return h.index.Erase(id)
}

// leaveOut records the numbers of turns that could not be read, except the numbers of entries.
func (h *held) leaveOut(into *retrieval.Index, damaged []dag.Seq, entries []history.Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index != into {
		return errDropped
	}
	for _, n := range damaged {
		h.damaged[n] = true
	}
	for i := range entries {
		delete(h.damaged, entries[i].Seq)
	}
	return nil
}

// leftOut counts the turns up to a number that could not be read.
func (h *held) leftOut(asOf dag.Seq) (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for seq := range h.damaged {
		if seq <= asOf {
			n++
		}
	}
	return n
}

// missing lists up to mostKept complete segments that are not known to be in the store.
func (h *held) missing() (list []segments.Range) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.filled < h.again {
		return nil
	}
	for _, r := range segments.Within(h.filled) {
		if !h.kept[r] && len(list) < mostKept && !h.lacks(r) {
			list = append(list, r)
		}
	}
	return list
}

// lacks reports whether a turn of a segment could not be read. Such a segment is not stored: it would still lack the turn after the store is repaired. The
// caller holds mu.
func (h *held) lacks(r segments.Range) bool {
	for n := range h.damaged {
		if n > r.After && n <= r.UpTo {
			return true
		}
	}
	return false
}

// isKept records that the store has a segment.
func (h *held) isKept(of *retrieval.Index, r segments.Range) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index == of {
		h.kept[r] = true
	}
}

// keepLater delays storing segments until the index has more turns.
func (h *held) keepLater() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.again = h.filled + segments.Most
}

// segment returns the bytes of a segment in a series; false if the index was dropped.
func (h *held) segment(of *retrieval.Index, series segments.Series, r segments.Range) ([]byte, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.index != of {
		return nil, false
	}
	if series == h.words() {
		return of.AppendSegment(nil, r.After, r.UpTo), true
	}
	return of.AppendVectors(nil, h.model, r.After, r.UpTo), true
}

// link extends the index's graph of vectors in the background, since that may take minutes. It uses half of the processors. It ends
// when all vectors are linked, or when the index is dropped.
func (h *held) link(ctx context.Context, observe Observe) {
	h.mu.Lock()
	defer h.mu.Unlock()
	into := h.index
	if !into.WantsLinks() {
		return // another search has begun to link
	}
	into.BeginLinks(max(1, runtime.GOMAXPROCS(0)/2))
	_, observed := observe(context.WithoutCancel(ctx), "link")
	go func() {
		for more := true; more; {
			h.mu.RLock() // the index does not change meanwhile, and searches continue
			more = into.Link() && h.index == into
			h.mu.RUnlock()
		}
		h.mu.Lock()
		into.EndLinks()
		h.mu.Unlock()
		observed(nil)
	}()
}
