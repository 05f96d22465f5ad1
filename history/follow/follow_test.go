package follow_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/follow"
)

const (
	note    history.Kind = "note/1"
	erasure history.Kind = "erasure/1" // Public is the number of a note, whose private half goes
)

// A past is a tenant's history: numbers are of entries or of turns, which are not seen.
type past struct {
	head      dag.Seq
	entries   []history.Entry
	erased    map[dag.Seq]bool
	reads     int
	most      int                   // the largest limit that was asked for
	meanwhile func(limit int) error // called when a page was read, before it is returned
	lie       func(page []history.Entry) []history.Entry
}

func (p *past) note(text string) {
	p.head++
	p.entries = append(p.entries, history.Entry{Seq: p.head, Kind: note, Public: []byte("p"), Private: []byte(text)})
}

func (p *past) notes(n int) {
	for range n {
		p.note(fmt.Sprint("text ", p.head+1))
	}
}

func (p *past) erase(i int) {
	e := &p.entries[i]
	if e.Kind != note || p.erased[e.Seq] {
		return
	}
	if p.erased == nil {
		p.erased = map[dag.Seq]bool{}
	}
	p.erased[e.Seq] = true
	e.Private = nil
	of := e.Seq
	p.head++
	p.entries = append(p.entries, history.Entry{Seq: p.head, Kind: erasure, Public: binary.BigEndian.AppendUint64(nil, uint64(of))})
}

func (p *past) read(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error) {
	p.reads++
	p.most = max(p.most, limit)
	from, _ := slices.BinarySearchFunc(p.entries, after+1, func(e history.Entry, seq dag.Seq) int { return int(e.Seq) - int(seq) })
	page := slices.Clone(p.entries[from:min(len(p.entries), from+limit)])
	if p.lie != nil {
		page = p.lie(page)
	}
	if p.meanwhile != nil {
		if err := p.meanwhile(limit); err != nil {
			return nil, err
		}
	}
	return page, ctx.Err()
}

// A table holds the notes up to a number that are not erased.
type table struct {
	of    *past
	begin func(to dag.Seq) dag.Seq // the number that it begins with
	fail  error                    // of the next Apply

	begun int
	notes map[dag.Seq]string
	last  dag.Seq
}

func (t *table) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	t.begun++
	t.notes = map[dag.Seq]string{}
	if t.begin != nil {
		to = t.begin(to)
	}
	for _, e := range t.of.entries {
		if e.Seq <= to {
			t.take(&e)
		}
	}
	t.last = to
	return to, nil
}

func (t *table) Apply(e *history.Entry) error {
	if err := t.fail; err != nil {
		t.fail = nil
		t.notes = nil // what it holds then is nothing to rely on
		return err
	}
	if e.Seq <= t.last {
		return fmt.Errorf("number %d was applied after %d", e.Seq, t.last)
	}
	t.last = e.Seq
	t.take(e)
	return nil
}

func (t *table) take(e *history.Entry) {
	switch {
	case e.Kind == erasure:
		delete(t.notes, dag.Seq(binary.BigEndian.Uint64(e.Public)))
	case e.Private != nil:
		t.notes[e.Seq] = string(e.Private)
	}
}

// differs compares with a fold from the beginning up to a number. A note that is erased later may be there or not.
func (t *table) differs(upTo dag.Seq) string {
	fresh := &table{of: t.of}
	_, _ = fresh.Begin(context.Background(), upTo)
	held := maps.Clone(t.notes)
	if upTo < t.of.head {
		maps.DeleteFunc(held, func(seq dag.Seq, _ string) bool { return t.of.erased[seq] })
	}
	if !maps.Equal(held, fresh.notes) {
		return fmt.Sprintf("as of %d it has %v, want %v", upTo, held, fresh.notes)
	}
	return ""
}

var errFault = errors.New("a fault")

// TestAnyInterleaving writes, erases, asks, lets reads and projections fail and epochs end, in any order. What
// a projection holds is what a fold from the beginning gives.
func TestAnyInterleaving(t *testing.T) {
	asked, failed, epochs := 0, 0, 0
	interleaved := func(t *rapid.T) {
		p := &past{}
		var tables []*table
		var members []*follow.Member
		epoch := func() {
			f := follow.New(p.read)
			tables, members = nil, nil
			for n := range 3 {
				tables = append(tables, &table{of: p})
				members = append(members, f.Add(tables[n]))
			}
			tables[1].begin = func(dag.Seq) dag.Seq { return p.head }    // more than was asked for
			tables[2].begin = func(to dag.Seq) dag.Seq { return to / 2 } // as from a snapshot
		}
		epoch()
		t.Repeat(map[string]func(*rapid.T){
			"turns": func(t *rapid.T) { p.head += dag.Seq(rapid.IntRange(1, 9).Draw(t, "turns")) },
			"notes": func(t *rapid.T) { p.notes(rapid.SampledFrom([]int{1, 2, 63, 64, 65, 500, 5000}).Draw(t, "notes")) },
			"erase": func(t *rapid.T) {
				if len(p.entries) > 0 {
					p.erase(rapid.IntRange(0, len(p.entries)-1).Draw(t, "note"))
				}
			},
			"ask": func(t *rapid.T) {
				n, to := rapid.IntRange(0, 2).Draw(t, "which"), dag.Seq(rapid.Uint64Range(0, uint64(p.head)).Draw(t, "to"))
				if rapid.Bool().Draw(t, "head") {
					to = p.head
				}
				faultAt := rapid.IntRange(0, 30).Draw(t, "the read that fails")
				p.meanwhile = func(int) error {
					if faultAt--; faultAt == 0 {
						return errFault
					}
					return nil
				}
				if rapid.IntRange(0, 9).Draw(t, "a projection fails") == 0 {
					tables[rapid.IntRange(0, 2).Draw(t, "which fails")].fail = errFault
				}
				err := members[n].Reach(context.Background(), to)
				p.meanwhile = nil
				for i, m := range members {
					if upTo := m.UpTo(); upTo > p.head {
						t.Fatalf("table %d is at %d, the head is %d", i, upTo, p.head)
					} else if upTo > 0 {
						if d := tables[i].differs(upTo); d != "" {
							t.Fatalf("table %d: %s", i, d)
						}
					}
				}
				switch asked++; {
				case errors.Is(err, errFault):
					failed++
				case err != nil:
					t.Fatal(err)
				case members[n].UpTo() < to:
					t.Fatalf("it is at %d, asked for was %d", members[n].UpTo(), to)
				}
			},
			"epoch": func(t *rapid.T) { // another server takes over, which lacks the newest
				epochs++
				p.entries = p.entries[:rapid.IntRange(0, len(p.entries)).Draw(t, "left")]
				if p.head = 0; len(p.entries) > 0 {
					p.head = p.entries[len(p.entries)-1].Seq
				}
				maps.DeleteFunc(p.erased, func(seq dag.Seq, _ bool) bool { return seq > p.head })
				epoch()
			},
		})
	}
	for range 15 { // rapid makes few runs with -short
		rapid.Check(t, interleaved)
	}
	if asked < 100 || failed < 10 || epochs < 10 {
		t.Errorf("asked %d times, failed %d times, %d epochs", asked, failed, epochs)
	}
}

// TestSourceLies hands over pages that are none. Nothing of them is applied, and what is then read in order is.
func TestSourceLies(t *testing.T) {
	for what, lie := range map[string]func([]history.Entry) []history.Entry{
		"repeats what it gave":  func(p []history.Entry) []history.Entry { return append([]history.Entry{{Seq: 10}}, p...) },
		"gives a number twice":  func(p []history.Entry) []history.Entry { return append(p, p[len(p)-1]) },
		"gives them descending": func(p []history.Entry) []history.Entry { slices.Reverse(p); return p },
		"gives too many": func(p []history.Entry) []history.Entry {
			for n := range 64 {
				p = append(p, history.Entry{Seq: dag.Seq(20 + n), Kind: note})
			}
			return p
		},
	} {
		p := &past{}
		p.notes(10)
		one := &table{of: p}
		m := follow.New(p.read).Add(one)
		if err := m.Reach(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		p.notes(9)
		p.lie = lie
		for range 2 {
			if err := m.Reach(t.Context(), 19); !errors.Is(err, follow.ErrSource) || m.UpTo() != 10 || one.differs(10) != "" {
				t.Errorf("a source that %s: %v, and the table is at %d: %s", what, err, m.UpTo(), one.differs(10))
			}
		}
		p.lie = nil
		if err := m.Reach(t.Context(), 19); err != nil || one.differs(19) != "" || one.begun != 1 {
			t.Errorf("a source that %s, and then does not: %v, %s, begun %d times", what, err, one.differs(19), one.begun)
		}
	}
}

// TestFailureIsOnesOwn lets one of two projections fail, when the other one reads and when it is asked for
// itself. The other does not notice; the one that failed begins again.
func TestFailureIsOnesOwn(t *testing.T) {
	p := &past{}
	f, sound, broken := follow.New(p.read), &table{of: p}, &table{of: p}
	reads, fails := f.Add(sound), f.Add(broken)
	reach := func(m *follow.Member, of *table, want error) {
		t.Helper()
		if err := m.Reach(t.Context(), p.head); !errors.Is(err, want) || err == nil && of.differs(p.head) != "" || err != nil && m.UpTo() != 0 {
			t.Errorf("%v, want %v, at %d: %s", err, want, m.UpTo(), of.differs(p.head))
		}
	}
	p.notes(3)
	reach(reads, sound, nil)
	reach(fails, broken, nil)
	p.notes(3)
	broken.fail = errFault
	reach(reads, sound, nil)
	if broken.fail != nil || fails.UpTo() != 0 {
		t.Errorf("it did not fail: it is at %d", fails.UpTo())
	}
	reach(fails, broken, nil)
	p.notes(3)
	broken.fail = errFault
	reach(fails, broken, errFault)
	reach(reads, sound, nil)
	reach(fails, broken, nil)
	if sound.begun != 1 || broken.begun != 3 {
		t.Errorf("begun %d and %d times", sound.begun, broken.begun)
	}
}

// TestPages lets a table lack much, or large entries: it begins again rather than read on for long, and no page
// is larger than it must be. A projection that nobody asked for is not begun.
func TestPages(t *testing.T) {
	p := &past{}
	p.note("first")
	f, one, beside, idle := follow.New(p.read), &table{of: p}, &table{of: p}, &table{of: p}
	m, other := f.Add(one), f.Add(beside)
	f.Add(idle)
	if err := other.Reach(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	reach := func(what string, reads, begun int) {
		t.Helper()
		p.reads = 0
		if err := m.Reach(t.Context(), p.head); err != nil || one.differs(p.head) != "" {
			t.Fatalf("%s: %v, %s", what, err, one.differs(p.head))
		}
		if p.reads != reads || one.begun != begun || idle.begun != 0 {
			t.Errorf("%s: %d reads, begun %d times, and the idle one %d times; want %d, %d, 0", what, p.reads, one.begun, idle.begun, reads, begun)
		}
	}
	reach("the first time", 0, 1)
	reach("again", 0, 1)
	p.notes(63)
	reach("a page", 1, 1)
	p.head += 100_000
	reach("many turns", 1, 1)
	p.notes(64 + 256)
	reach("two pages", 2, 1)
	p.notes(5000)
	reach("much", 16, 2)
	p.notes(1)
	reach("one more, with the other one far away", 1, 2)
	if p.most != 256 {
		t.Errorf("a page of %d entries was asked for", p.most)
	}
	for range 70 {
		p.note(string(make([]byte, 1<<20)))
	}
	var limits []int
	p.meanwhile = func(limit int) error { limits = append(limits, limit); return nil }
	reach("large entries", 3, 2)
	if !slices.Equal(limits, []int{64, 3, 3}) {
		t.Errorf("pages of %d large entries were asked for", limits)
	}
}

// TestOneReads lets many wait while the source is slow. The first one's read is good for those who want no
// more; those who came later share one more; anyone who leaves leaves at once, the reader too.
func TestOneReads(t *testing.T) {
	for _, readerLeaves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := &past{}
			p.notes(1)
			one := &table{of: p}
			m := follow.New(func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error) {
				return p.read(ctx, after, limit)
			}).Add(one)
			if err := m.Reach(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			slow := make(chan struct{})
			p.meanwhile = func(int) error {
				select {
				case <-slow:
					return nil
				case <-ctx.Done():
					if p.reads == 1 {
						return ctx.Err()
					}
				}
				<-slow
				return nil
			}
			p.notes(1)
			p.reads = 0
			var all sync.WaitGroup
			reach := func(ctx context.Context, to dag.Seq, want error) {
				all.Go(func() {
					if err := m.Reach(ctx, to); !errors.Is(err, want) || err == nil && m.UpTo() < to {
						t.Errorf("up to %d: %v, want %v, and it is at %d", to, err, want, m.UpTo())
					}
				})
			}
			var first error
			if readerLeaves {
				first = context.Canceled
			}
			reach(ctx, 2, first)
			synctest.Wait() // it has read up to 2
			p.notes(1)
			p.head += 49
			for range 9 {
				reach(t.Context(), 2, nil)
			}
			for n := range 50 {
				reach(t.Context(), dag.Seq(3+n), nil)
			}
			gone, leaveToo := context.WithCancel(t.Context())
			reach(gone, 2, context.Canceled)
			synctest.Wait() // they wait
			leaveToo()
			if readerLeaves {
				leave()
			}
			synctest.Wait()
			close(slow)
			all.Wait()
			if p.reads != 2 {
				t.Errorf("60 who wait had %d reads", p.reads)
			}
			if d := one.differs(52); d != "" {
				t.Error(d)
			}
		})
	}
}
