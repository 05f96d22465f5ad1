// Package follow owns how a process keeps what it derives from a tenant's history up to date. A
// [Follower] reads the entries that are new, each once, and hands them to its projections, such as a
// table of aliases, or a cache of texts that forgets those that are erased.
//
//	f := follow.New(source)
//	aliases := f.Add(table)
//	err := aliases.Reach(ctx, head) // now table has every entry up to head
//
// A follower is of one history. When that may be another, as after a failover, its owner makes a new
// one with new projections.
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Projection is derived from entries, and bounds what it holds. Its follower calls it from one
// goroutine at a time; what others read of it is for the projection to guard.
type Projection interface {
	// Begin makes the projection one of all entries up to a number, whatever it held, by other means than
	// reading them all. It returns the number, which is to or another one that the history has reached.
	// It is called before the first Apply, after an error, and when too many entries are new.
	Begin(ctx context.Context, to dag.Seq) (dag.Seq, error)

	// Apply takes in the next entry, which it may keep and must not change. Turns are no entries, so
	// there are gaps between the numbers. What an entry takes away, as an erasure does, Apply forgets.
	Apply(e *history.Entry) error
}

// A Source returns up to limit entries of one stream of one tenant numbered above after,
// ascending; fewer are all that there are.
type Source func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error)

// ErrSource is wrapped when a source returns entries that it was not asked for, or out of order.
var ErrSource = errors.New("the history's entries do not follow each other")

// Bounds of a catch-up.
const (
	firstPage = 64      // entries of the first page; most catch-ups have no second one
	mostPage  = 256     // entries of any
	pageBytes = 4 << 20 // aimed at, by the largest entry of the page before
	mostPages = 16      // after which a projection begins again
)

// A Follower reads what is new in a tenant's history on behalf of all who wait for it.
type Follower struct {
	source  Source
	members []*Member
	reading chan struct{} // of one: inside it the source is read, and projections change
	wanted  atomic.Uint64 // the greatest number that anyone asked for
}

// A Member is a projection in its place with a follower.
type Member struct {
	follower *Follower
	of       Projection
	begun    bool          // guarded by reading
	upTo     atomic.Uint64 // written inside reading; 0 unless begun
}

// New returns a follower of a source. It reads nothing yet.
func New(source Source) *Follower { return &Follower{source: source, reading: make(chan struct{}, 1)} }

// Add adds a projection. All are added before the first call of Reach. A projection that nobody
// asks for never begins.
func (f *Follower) Add(p Projection) *Member {
	m := &Member{follower: f, of: p}
	f.members = append(f.members, m)
	return m
}

// UpTo returns the number up to which the projection has every entry, 0 if it has not begun.
func (m *Member) UpTo() dag.Seq { return dag.Seq(m.upTo.Load()) }

// Reach returns when the projection has every entry up to a number, which the history has
// reached. If it has them already that costs nothing. Else one of those who wait reads on behalf of
// all; if its context ends, the next one reads on. What is read all projections get that have begun. If
// another one than this fails, it begins again when it is asked for.
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

// end makes a member one that has not begun.
func (m *Member) end() {
	m.begun = false
	m.upTo.Store(0)
}

// read reads a page, from where the last of the projections is. It returns the size of the page's
// largest entry in bytes, and the error of this projection or of the source.
func (m *Member) read(ctx context.Context, limit int) (largest int, err error) {
	f := m.follower
	to := dag.Seq(f.wanted.Load()) // before the source is read: a short page lacks nothing up to it
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

// check refuses what is no page of a history, and returns the size of its largest entry.
func check(page []history.Entry, after dag.Seq, limit int) (largest int, err error) {
	if len(page) > limit {
		return 0, fmt.Errorf("%w: %d of them, asked for were %d", ErrSource, len(page), limit)
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

// apply hands a page to a projection that has begun. Up to the number to nothing else comes.
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
