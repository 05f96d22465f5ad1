// Package follow owns how a process keeps data that it derives from a tenant's history up to date. A [Follower] reads each
// new entry once and hands it to its projections, such as a table of aliases, or a cache of texts that drops erased texts.
//
//	f := follow.New(source)
//	aliases := f.Add(table)
//	err := aliases.Reach(ctx, head) // now table has every entry up to head
//
// A follower belongs to one history. When the history may have become another
// one, as after a failover, the owner makes a new follower with new projections.
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Projection is derived from entries, and bounds its own size. Its follower calls it from
// one goroutine at a time; the projection itself guards the data that other goroutines read.
type Projection interface {
	// Begin brings the projection to the state of all entries up to a number, whatever it contained before,
	// without reading every entry. It returns that number, which is to or another number that the history has
	// reached. It is called before the first Apply, after an error, and when there are too many new entries.
	Begin(ctx context.Context, to dag.Seq) (dag.Seq, error)

	// Apply adds the next entry, which it may keep and must not change. Turns are not entries, so the numbers
	// have gaps. If the entry removes something, as an erasure does, Apply drops that from the projection.
	Apply(e *history.Entry) error
}

// A Source returns up to limit entries of one stream of one tenant numbered above after, ascending. If it returns fewer, there are no more.
type Source func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error)

// ErrSource is wrapped when a source returns entries that it was not asked for, or out of order.
var ErrSource = errors.New("the history's entries do not follow each other")

// Bounds of a catch-up.
const (
	firstPage = 64      // entries of the first page; most catch-ups have no second one
	mostPage  = 256     // most entries of a page
	pageBytes = 4 << 20 // intended size of a page, estimated from the largest entry of the page before
	mostPages = 16      // pages of one catch-up after which projections begin again
)

// A Follower reads the new entries of a tenant's history on behalf of all waiting callers.
type Follower struct {
	source  Source
	members []*Member
	reading chan struct{} // a lock of capacity 1: only its holder reads the source and changes projections
	wanted  atomic.Uint64 // the greatest number that any caller asked for
}

// A Member is a projection that was added to a follower.
type Member struct {
	follower *Follower
	of       Projection
	begun    bool          // guarded by reading
	upTo     atomic.Uint64 // written while reading is locked; 0 unless begun
}

// New returns a follower of a source. It reads nothing yet.
func New(source Source) *Follower { return &Follower{source: source, reading: make(chan struct{}, 1)} }

// Add adds a projection. All projections are added before the first call of Reach. A projection begins with the first call of its Reach.
func (f *Follower) Add(p Projection) *Member {
	m := &Member{follower: f, of: p}
	f.members = append(f.members, m)
	return m
}

// UpTo returns the number up to which the projection has every entry, 0 if it has not begun.
func (m *Member) UpTo() dag.Seq { return dag.Seq(m.upTo.Load()) }

// Reach returns when the projection has every entry up to a number that the history has reached. It costs nothing if the projection has
// them already. Otherwise one of the waiting callers reads on behalf of all; if its context ends, the next one reads on. Every projection
// that has begun receives the entries that are read. If another projection fails, it begins again with the next call of its own Reach.
func (m *Member) Reach(ctx context.Context, to dag.Seq) error {
	if m.UpTo() >= to {
		return nil
	}
	f := m.follower
	for was := f.wanted.Load(); was < uint64(to) && !f.wanted.CompareAndSwap(was, uint64(to)); was = f.wanted.Load() {
	}
	select {
	case f.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.reading }()
	limit := firstPage
	for pages := 0; m.UpTo() < to; pages++ {
		if pages == mostPages {
			for _, each := range f.members {
				each.end()
			}
		}
		if !m.begun {
			if err := m.begin(ctx); err != nil {
				return err
			}
			continue
		}
		largest, err := m.read(ctx, limit)
		if err != nil {
			return err
		}
		limit = max(1, min(mostPage, pageBytes/max(1, largest)))
	}
	return nil
}

func (m *Member) begin(ctx context.Context) error {
	upTo, err := m.of.Begin(ctx, dag.Seq(m.follower.wanted.Load()))
	if err == nil {
		m.begun = true
		m.upTo.Store(uint64(upTo))
	}
	return err
}

// end returns a member to the state before it began.
func (m *Member) end() {
	m.begun = false
	m.upTo.Store(0)
}

// read reads a page, starting after the projection that is furthest behind. It returns the size
// of the page's largest entry in bytes, and the error of this projection or of the source.
func (m *Member) read(ctx context.Context, limit int) (largest int, err error) {
	f := m.follower
	to := dag.Seq(f.wanted.Load()) // loaded before the source is read: a short page is complete up to it
	after := m.UpTo()
	for _, each := range f.members {
		if each.begun {
			after = min(after, each.UpTo())
		}
	}
	page, err := f.source(ctx, after, limit)
	if err != nil {
		return 0, err
	}
	if largest, err = check(page, after, limit); err != nil {
		return 0, err
	}
	if len(page) == limit {
		to = 0 // more may follow
	}
	for _, each := range f.members {
		if failed := each.apply(page, to); failed != nil && each == m {
			err = failed
		}
	}
	return largest, err
}

// check refuses a page that breaks the contract of Source, and returns the size of its largest entry.
func check(page []history.Entry, after dag.Seq, limit int) (largest int, err error) {
	if len(page) > limit {
		return 0, fmt.Errorf("%w: the source returned %d entries, at most %d were requested", ErrSource, len(page), limit)
	}
	for i := range page {
		e := &page[i]
		if e.Seq <= after {
			return 0, fmt.Errorf("%w: number %d comes after %d", ErrSource, e.Seq, after)
		}
		after = e.Seq
		largest = max(largest, len(e.Public)+len(e.Detail)+len(e.Private))
	}
	return largest, nil
}

// apply hands a page to a projection that has begun. After the page, there are no more entries up to the number to.
func (m *Member) apply(page []history.Entry, to dag.Seq) error {
	if !m.begun {
		return nil
	}
	for i := range page {
		if e := &page[i]; e.Seq > m.UpTo() {
			if err := m.of.Apply(e); err != nil {
				m.end()
				return err
			}
			m.upTo.Store(uint64(e.Seq))
		}
	}
	m.upTo.Store(max(m.upTo.Load(), uint64(to)))
	return nil
}
