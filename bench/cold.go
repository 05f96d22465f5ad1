package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/observed"
)

// A tally writes down the calls of a store.
type tally struct {
	mu    sync.Mutex // guards calls
	calls []string
}

func (t *tally) hook(ctx context.Context, call string) (context.Context, func(error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, call)
	return ctx, func(error) {}
}

// take returns the calls since it was called last.
func (t *tally) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := t.calls
	t.calls = nil
	return calls
}

// queries are the calls that a cold slice costs. Writing down that it was handed out is
// none: it costs the same whether the slice is cold or not.
func queries(calls []string) int {
	n := 0
	for _, c := range calls {
		if c != "put_issued" && c != "put_policy" {
			n++
		}
	}
	return n
}

// A chill makes cold slices: of kernels that know nothing, and of conversations that
// a kernel has not been asked about.
type chill struct {
	*stand
	tally   tally
	watched store.Store
	kernel  *kernel.Kernel
	firsts  []dag.TurnID // an anchor of each conversation

	process, conversation         *candidate
	processMost, conversationMost []string // the most calls seen
}

func newChill(s *stand) *chill {
	c := &chill{stand: s}
	c.watched = observed.New(s.store, c.tally.hook)
	c.firsts = s.anchors[:min(len(s.anchors), anchored)] // conversations come in turn, see choose
	cut := func(ctx context.Context, anchor dag.TurnID) error {
		_, err := c.kernel.Slices().Cut(ctx, s.tenant, s.request(anchor))
		return err
	}
	c.process = &candidate{
		name:    s.kind + ", first slice of a kernel",
		prepare: func(context.Context, int) error { return c.reopen() },
		run:     func(ctx context.Context, i int) error { return cut(ctx, c.firsts[i%len(c.firsts)]) },
		check:   func(context.Context, int) error { return longest(&c.processMost, c.tally.take()) },
	}
	c.conversation = &candidate{
		name: s.kind + ", first slice of a conversation",
		prepare: func(ctx context.Context, i int) error {
			if err := c.reopen(); err != nil {
				return err
			}
			// Any other conversation makes the tenant known.
			_, err := c.kernel.Slices().Cut(ctx, s.tenant, s.request(c.firsts[(i+1)%len(c.firsts)]))
			c.tally.take()
			return err
		},
		run:   func(ctx context.Context, i int) error { return cut(ctx, c.firsts[i%len(c.firsts)]) },
		check: func(context.Context, int) error { return longest(&c.conversationMost, c.tally.take()) },
	}
	return c
}

func (c *chill) reopen() (err error) {
	c.kernel, err = newKernel(c.watched, c.authority, 0)
	return err
}

func longest(most *[]string, calls []string) error {
	if len(calls) == 0 {
		return fmt.Errorf("no call of the store was seen")
	}
	if len(calls) > len(*most) {
		*most = calls
	}
	return nil
}

// cold measures first slices beside the queries for each turn, which know nothing either.
// Where nothing is bounded these are not run again: for a hub they take half a minute.
func cold(ctx context.Context, r *report, title string, rounds int, stands []*stand, bounded bool) error {
	var chills []*chill
	var all []*candidate
	for _, s := range stands {
		c := newChill(s)
		chills = append(chills, c)
		all = append(all, c.process)
		if bounded { // the others may have one conversation alone
			s.perTurn.sample, s.perTurn.runs = nil, 0
			all = append(all, c.conversation, s.perTurn)
		}
	}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	var rows []row
	for _, c := range chills {
		for _, f := range []struct {
			*candidate
			calls []string
		}{{c.process, c.processMost}, {c.conversation, c.conversationMost}} {
			if len(f.sample) == 0 {
				continue
			}
			row := rowOf(f.candidate, c.perTurn)
			row.to = "queries for each turn"
			row.name += ": " + tell(f.calls)
			if bounded {
				row.bounds = []bound{
					{fmt.Sprintf("≤ %d queries", boundColdAsks), queries(f.calls) <= boundColdAsks},
					faster(f.sample, c.perTurn.sample, boundCold),
				}
			}
			rows = append(rows, row)
		}
		if bounded {
			rows = append(rows, rowOf(c.perTurn, nil))
		}
	}
	r.table(title, rows)
	return nil
}

// tell names calls, those that repeat once with their number.
func tell(calls []string) string {
	var names []string
	count := map[string]int{}
	for _, c := range calls {
		if count[c]++; count[c] == 1 {
			names = append(names, c)
		}
	}
	for i, c := range names {
		if count[c] > 1 {
			names[i] = fmt.Sprintf("%d × %s", count[c], c)
		}
	}
	return strings.Join(names, ", ")
}
