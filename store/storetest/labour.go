package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// labourers is the number of goroutines with which Labour writes.
const labourers = 3

// Labour writes to a tenant, and by Adopt to a tenant of its own, until ctx ends or a write fails in a way that repeating does not help.
// It is for processes that are killed: for each acknowledged write it adds a line to acks, which Acknowledged checks. Processes that
// labour at once need different numbers, below 1000; the seed determines what is written. A write with an unknown outcome is repeated.
func Labour(ctx context.Context, s store.Store, tenant dag.Tenant, number int, seed uint64, acks io.Writer) error {
	if err := (registry.Base{History: s}).Put(ctx, tenant, Policy("labour@1", 20)); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	say := func(format string, args ...any) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := fmt.Fprintf(acks, format+"\n", args...)
		return err
	}
	var all sync.WaitGroup
	for i := range labourers + 1 {
		l := &labourer{
			ctx: ctx, s: s, tenant: tenant, say: say, rand: rand.New(rand.NewPCG(seed, uint64(i))),
			next: (number*(labourers+1) + i) * 100_000,
		}
		act := l.write
		if i == labourers {
			l.tenant = dag.Tenant(fmt.Sprintf("%s-copy%d", tenant, number))
			act = l.adopt
		}
		all.Go(func() {
			for ctx.Err() == nil {
				if err := act(); err != nil {
					stop(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// A labourer is one goroutine of Labour.
type labourer struct {
	ctx    context.Context
	s      store.Store
	tenant dag.Tenant
	say    func(format string, args ...any) error
	rand   *rand.Rand
	next   int   // the number of the next turn, see Chain
	bare   []int // turns with a body
	head   dag.Seq
}

// insist repeats a write until its outcome is known.
func (l *labourer) insist(do func() error) error {
	for {
		err := do()
		if err == nil || l.ctx.Err() != nil ||
			!errors.Is(err, store.ErrUncertain) && !errors.Is(err, store.ErrLost) && !errors.Is(err, store.ErrBusy) && !errors.Is(err, store.ErrUnwritable) {
			return err
		}
	}
}

func (l *labourer) write() error {
	first, n := l.next, 1+l.rand.IntN(4)
	if l.rand.IntN(8) == 0 {
		n = 60 // enough for COPY
	}
	switch l.rand.IntN(4) {
	case 0:
		if len(l.bare) == 0 {
			return nil
		}
		at := l.rand.IntN(len(l.bare))
		turn := l.bare[at]
		l.bare = append(l.bare[:at], l.bare[at+1:]...)
		var e erasures.Erasure
		err := l.insist(func() (err error) {
			e, err = Erase(l.ctx, l.s, l.tenant, Erasure(turn))
			return err
		})
		if err != nil {
			return err
		}
		return l.say("erase %s %d %d", l.tenant, turn, e.Seq)
	case 1:
		if len(l.bare) == 0 {
			return nil
		}
		turn := l.bare[l.rand.IntN(len(l.bare))]
		if err := l.insist(func() error { return Issue(l.ctx, l.s, l.tenant, TurnID(turn), "labour@1") }); err != nil {
			return err
		}
		if err := l.say("issue %s %d 0", l.tenant, turn); err != nil || l.rand.IntN(4) > 0 {
			return err
		}
		var tree ledger.Tree
		err := l.insist(func() (err error) {
			tree, err = l.s.Log(l.ctx, l.tenant)
			return err
		})
		if err != nil {
			return err
		}
		return l.say("ledger %s %d %s", l.tenant, tree.Size(), tree.Root())
	}
	l.next += n
	chain := Chain(first, n, first/100_000+l.rand.IntN(3))
	if len(l.bare) > 0 { // an edge from another conversation, perhaps
		chain[0].Parents = []dag.Parent{{ID: TurnID(l.bare[0]), Kind: dag.Reply}}
	}
	err := l.insist(func() error {
		r, err := l.s.Append(l.ctx, l.tenant, []store.Batch{chain})
		if err == nil && r.Admitted+r.Existing != n {
			err = fmt.Errorf("of %d turns %d were admitted and %d there", n, r.Admitted, r.Existing)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range n {
		l.bare = append(l.bare, first+i)
	}
	return l.say("append %s %d %d", l.tenant, first, n)
}

// adopt adopts three turns and the erasure of the second.
func (l *labourer) adopt() error {
	first := l.next
	l.next += 3
	stretch := Stretch{
		Records: Records(l.head+1, nil, Chain(first, 3, first/30)),
		Events:  []erasures.Erasure{Erased(l.head+4, first+1)},
	}
	err := l.insist(func() error {
		err := Adopt(l.ctx, l.s, l.tenant, stretch)
		if errors.Is(err, store.ErrGap) { // it was kept before, and not acknowledged
			var head dag.Seq
			if head, err = l.s.Head(l.ctx, l.tenant); err == nil && head != l.head+4 {
				err = fmt.Errorf("the head is %d, and %d was adopted", head, l.head)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	l.head += 4
	return l.say("adopt %s %d %d", l.tenant, first, l.head)
}

// ledgerThere checks that a ledger extends the one that a line names.
func ledgerThere(ctx context.Context, s store.Store, line string) error {
	var tenant dag.Tenant
	var old ledger.Root
	var hash string
	_, err := fmt.Sscanf(line, "ledger %s %d %s", &tenant, &old.Size, &hash)
	if err == nil {
		old.Hash, err = tlog.ParseHash(hash)
	}
	if err == nil {
		err = Extends(ctx, s, tenant, old)
	}
	if err != nil {
		return fmt.Errorf("%q was read: %w", line, err)
	}
	return nil
}

// Acknowledged checks that the write in a line of Labour is stored.
func Acknowledged(ctx context.Context, s store.Store, line string) error {
	var act string
	var tenant dag.Tenant
	var turn int
	var number uint64
	if strings.HasPrefix(line, "ledger ") {
		return ledgerThere(ctx, s, line)
	}
	if _, err := fmt.Sscanf(line, "%s %s %d %d", &act, &tenant, &turn, &number); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	ids := []dag.TurnID{TurnID(turn)}
	switch act {
	case "append":
		for n := 1; n < int(number); n++ {
			ids = append(ids, TurnID(turn+n))
		}
	case "adopt":
		ids = append(ids, TurnID(turn+1), TurnID(turn+2))
	case "issue":
		for after := uint64(0); ; {
			page, err := Bundles(s).After(ctx, tenant, after, 100)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				return fmt.Errorf("%q was acknowledged, and there is no such record", line)
			}
			for _, i := range page {
				after = i.Number
				if i.Provenance.Anchor == TurnID(turn) {
					leaves, err := history.Leaves(ctx, s, tenant, i.Leaf, 1)
					if err != nil || len(leaves) != 1 || string(leaves[0]) != string(issued.Leaf(tenant, &i)) {
						return fmt.Errorf("%q was acknowledged, and its leaf is %q: %w", line, leaves, err)
					}
					return nil
				}
			}
		}
	}
	records, err := s.Turns(ctx, tenant, store.IDs(ids))
	if err != nil {
		return err
	}
	if len(records) != len(ids) {
		return fmt.Errorf("%q was acknowledged, and %d of %d turns are there", line, len(records), len(ids))
	}
	erased := map[string]dag.TurnID{"erase": TurnID(turn), "adopt": TurnID(turn + 1)}
	id, some := erased[act]
	if !some {
		return nil
	}
	events, err := Events(ctx, s, tenant, dag.Seq(number)-1, 1)
	if err != nil {
		return err
	}
	if len(events) != 1 || events[0].Seq != dag.Seq(number) || events[0].Turn != id {
		return fmt.Errorf("%q was acknowledged, and the event is %v", line, events)
	}
	for _, r := range records {
		if r.Turn.ID == id && r.Body != nil {
			return fmt.Errorf("%q was acknowledged, and the body of %s is there", line, id)
		}
	}
	return nil
}
