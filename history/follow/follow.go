// Package follow owns how a process keeps what it derives from a tenant's history up to date. A
// [Follower] reads the entries that are new, each once, and hands them to its projections, such as a
// table of aliases or a cache of texts that an erasure empties.
//
//	f := follow.New(source)
//	aliases := f.Add(table)
//	err := aliases.Reach(ctx, head) // now table has every entry up to head
//
// A follower lives as long as the history that it reads is one and the same. Whoever hands it the
// source makes a new one, with new projections, when that may be another, as after a failover.
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Projection is derived from entries. Its follower calls it from one goroutine at a time; what
// others read of it is for the projection to guard. It bounds what it holds.
type Projection interface {
	// Begin forgets what the projection holds and makes it one of all entries up to a number, by
	// whatever means is faster than reading them all. It returns the number, which is to or any
	// other that the history has reached; from there on entries are applied. It is called before
	// the first entry, and again when so many are new that this is faster. If there is an error it
	// is called again before anything else.
	Begin(ctx context.Context, to dag.Seq) (dag.Seq, error)

	// Apply takes in the next entry, which it may keep and must not change. Turns are no entries, so there are
	// gaps between the numbers. An entry that takes something away, such as an erasure, comes like any
	// other, and what it takes away is to be forgotten. After an error Begin is called before anything else.
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
	mostPages = 16      // after so many it is faster to begin again
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
	begun    bool          // guarded by reading, as is err
	err      error         // of the projection, for whoever asks next
	upTo     atomic.Uint64 // written inside reading
}

// New returns a follower of a source. It reads nothing yet.
func New(source Source) *Follower { return &Follower{source: source, reading: make(chan struct{}, 1)} }

// Add adds a projection. All are added before the first call of Reach. A projection that nobody
// asks for is never begun.
func (f *Follower) Add(p Projection) *Member {
	m := &Member{follower: f, of: p}
	f.members = append(f.members, m)
	return m
}

// UpTo returns the number up to which the projection has every entry, 0 if it has not begun.
func (m *Member) UpTo() dag.Seq { return dag.Seq(m.upTo.Load()) }

// Reach returns when the projection has every entry up to a number, which the history has
// reached. It costs nothing if it has them already. One of those who wait reads, as far as any of them wants; if its
// context ends, the next one reads on. All projections that have begun get what is read. If one of
// them fails, the others go on, and whoever asks for that one next gets the error.
func (m *Member) Reach(ctx context.Context, to dag.Seq) error {
	if m.UpTo() >= to {
		return nil
	}
	f := m.follower
	f.want(to)
	select {
	case f.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.reading }()
	if err := m.failed(); err != nil || m.UpTo() >= to {
		return err
	}
	if !m.begun {
		if err := m.begin(ctx); err != nil {
			return err
		}
	}
	if err := f.read(ctx, to); err != nil {
		return err
	}
	return m.failed()
}

func (f *Follower) want(to dag.Seq) {
	for {
		was := f.wanted.Load()
		if was >= uint64(to) || f.wanted.CompareAndSwap(was, uint64(to)) {
			return
		}
	}
}

// failed returns the error of the last Apply or Begin, once.
func (m *Member) failed() error {
	err := m.err
	m.err = nil
	return err
}

func (m *Member) begin(ctx context.Context) error {
	m.end()
	upTo, err := m.of.Begin(ctx, dag.Seq(m.follower.wanted.Load()))
	if err != nil {
		return err
	}
	m.begun = true
	m.upTo.Store(uint64(upTo))
	return nil
}

// end makes a member one that has not begun.
func (m *Member) end() {
	m.begun = false
	m.upTo.Store(0)
}

// read brings all members that have begun up to a number, and further if others want that.
func (f *Follower) read(ctx context.Context, least dag.Seq) error {
	limit := firstPage
	for pages := 1; ; pages++ {
		after := f.least(least)
		if after >= least {
			return nil
		}
		to := dag.Seq(f.wanted.Load()) // before the source is read: a short page lacks nothing up to it
		page, err := f.source(ctx, after, limit)
		if err != nil {
			return err
		}
		largest, err := check(page, after, limit)
		if err != nil {
			return err
		}
		if len(page) == limit {
			to = 0 // more may follow
		}
		for _, m := range f.members {
			if m.begun {
				m.apply(page, to)
			}
		}
		limit = max(1, min(mostPage, pageBytes/max(1, largest)))
		if pages == mostPages {
			if err := f.beginAgain(ctx); err != nil {
				return err
			}
		}
	}
}

// apply hands a page to a projection; if to is not 0, nothing else comes up to that number.
func (m *Member) apply(page []history.Entry, to dag.Seq) {
	for i := range page {
		if e := &page[i]; e.Seq > m.UpTo() {
			if m.err = m.of.Apply(e); m.err != nil {
				m.end()
				return
			}
			m.upTo.Store(uint64(e.Seq))
		}
	}
	m.upTo.Store(uint64(max(m.UpTo(), to)))
}

// beginAgain lets projections that lack much begin again.
func (f *Follower) beginAgain(ctx context.Context) error {
	for _, m := range f.members {
		if m.begun && uint64(m.UpTo()) < f.wanted.Load() {
			m.err = m.begin(ctx)
		}
		if ctx.Err() != nil { // which is the reader's own
			m.err = nil
			return ctx.Err()
		}
	}
	return nil
}

// least returns the smallest number that a begun member is at, or to.
func (f *Follower) least(to dag.Seq) dag.Seq {
	for _, m := range f.members {
		if m.begun {
			to = min(to, m.UpTo())
		}
	}
	return to
}

// check refuses what is no page of a history, and returns the size of its largest entry in bytes.
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
