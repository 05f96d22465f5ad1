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

// errDropped says that an index was dropped while it was filled.
var errDropped = errors.New("the index was dropped meanwhile")

// A held is an index in memory, and what is known of its segments in the store. Whoever fills it names the index that they began to fill: it may have been
// dropped meanwhile, and another one begun.
type held struct {
	form
	graphOver int // vectors that every search compares with its query; a graph is walked of more

	mu      sync.RWMutex            // guards everything below, and is not held while the store is read
	index   *retrieval.Index        // of the turns up to filled
	filled  dag.Seq                 // 0: of none
	gone    map[dag.TurnID]bool     // turns that were erased before they came into the index
	kept    map[segments.Range]bool // that are in the store, as far as is known
	again   dag.Seq                 // keeping segments failed: it is tried again when the index is filled so far
	damaged map[dag.Seq]bool        // numbers of turns that are not in the index, since they could not be read
}

// clear drops the index, which is filled again when it is asked.
func (h *held) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.empty()
}

// empty is clear with the lock held.
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

// A glimpse is what is known of an index when it was looked at.
type glimpse struct {
	read   bool    // fn was called
	filled dag.Seq // the number up to which it had every turn
	size   int     // if it was read
	links  bool    // likewise: it wants links
}

// read calls fn if the index reaches a head, or anyway.
func (h *held) read(head dag.Seq, anyway bool, fn func(x *retrieval.Index, reached dag.Seq)) glimpse {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.filled < head && !anyway {
		return glimpse{filled: h.filled}
	}
	fn(h.index, min(h.filled, head))
	return glimpse{true, h.filled, h.index.Size(), h.index.WantsLinks()}
}

// add adds turns with their vectors, after which the index has every turn up to a number. It leaves out the texts of those that were erased after they were read.
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

// load adds segments of those up to head, without the texts that were erased after they were read.
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

// forget takes the text of an erased turn out, now or when the turn comes.
func (h *held) forget(id dag.TurnID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.erase(id) {
		if len(h.damaged) > 0 { // it may be one of them, which is no longer damaged then
			h.empty()
		}
		h.gone[id] = true
	}
}

// erase takes a turn's text out of the index, and reports whether it has the turn. The store has no segment with it any more. It is called with the lock held.
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

// leaveOut notes the numbers of turns that could not be read, without those that are of entries.
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

// missing lists up to mostKept segments that are not known to be kept.
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

// lacks reports whether a turn of a segment could not be read. Such a segment is not kept: it would lack the turn where the store is mended. It
// is called with the lock held.
func (h *held) lacks(r segments.Range) bool {
	for n := range h.damaged {
		if n > r.After && n <= r.UpTo {
			return true
		}
	}
	return false
}

// isKept notes that the store keeps a segment.
func (h *held) isKept(of *retrieval.Index, r segments.Range) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.index == of {
		h.kept[r] = true
	}
}

// keepLater has segments kept after some more turns.
func (h *held) keepLater() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.again = h.filled + segments.Most
}

// segment returns the bytes of a segment of a series, unless the index was dropped.
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

// link extends the graph of vectors of the index, beside whatever else is asked, since that may take minutes. Half of the processors do it. It ends
// when all vectors are linked, or when the index is dropped.
func (h *held) link(ctx context.Context, observe Observe) {
	h.mu.Lock()
	defer h.mu.Unlock()
	into := h.index
	if !into.WantsLinks() {
		return // another search was faster
	}
	into.BeginLinks(max(1, runtime.GOMAXPROCS(0)/2))
	_, observed := observe(context.WithoutCancel(ctx), "link")
	go func() {
		for more := true; more; {
			h.mu.RLock() // nothing is changed meanwhile, and searches go on
			more = into.Link() && h.index == into
			h.mu.RUnlock()
		}
		h.mu.Lock()
		into.EndLinks()
		h.mu.Unlock()
		observed(nil)
	}()
}
