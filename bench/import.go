package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
)

// imports measures the import of JSONL and the first slice after opening, for conversations
// of a common length and for a single large one.
func imports(ctx context.Context, r *report, y *yard, turns, length int) error {
	for _, length := range []int{length, turns} {
		path := filepath.Join(y.folder, fmt.Sprintf("turns-%d.jsonl", length))
		anchor, err := writeTurns(path, turns, length)
		if err != nil {
			return err
		}
		beds, err := y.beds(ctx, turns)
		if err != nil {
			return err
		}
		var rows []row
		for _, b := range beds {
			some, importErr := importInto(ctx, b, path, anchor)
			rows = append(rows, some...)
			err = errors.Join(err, importErr)
		}
		for _, b := range beds {
			err = errors.Join(err, b.close())
		}
		if err != nil {
			return err
		}
		r.table(fmt.Sprintf("Import of %d turns in conversations of %d", turns, length), rows)
	}
	return nil
}

// writeTurns writes a file and returns the turn in its middle.
func writeTurns(path string, turns, length int) (anchor dag.TurnID, err error) {
	return writeTurnsFrom(path, turns, length, 2)
}

// writeTurnsFrom is writeTurns with turns of another seed.
func writeTurnsFrom(path string, turns, length int, seed uint64) (anchor dag.TurnID, err error) {
	f, err := os.Create(path)
	if err != nil {
		return anchor, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	g := newGenerator(shape{seed: seed, length: length})
	var line []byte
	for i := range turns {
		d := g.next()
		if i == turns/2 {
			anchor = d.ID
		}
		if line, err = ingest.AppendLine(line[:0], &d); err != nil {
			return anchor, err
		}
		if _, err := w.Write(line); err != nil {
			return anchor, err
		}
	}
	return anchor, w.Flush()
}

func importInto(ctx context.Context, b *bed, path string, anchor dag.TurnID) ([]row, error) {
	took, peak, err := b.importing(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := b.settle(ctx); err != nil {
		return nil, err
	}
	rate := float64(b.turns) / took.Seconds()
	first, again := b.firstSlice(anchor)
	if err := inTurn(ctx, 15, []*candidate{first, again}); err != nil {
		return nil, err
	}
	to := rowOf(first, again, atMost(first.sample.p50(), firstSliceBound))
	to.to = "the same again"
	return []row{
		{name: fmt.Sprintf("%s, import, with at most %d MiB of heap", b.kind, peak>>20), rate: rate, unit: "turns", bounds: []bound{rateAtLeast(rate, 20_000)}},
		to, rowOf(again, nil),
	}, nil
}

// importing returns the time and the largest heap seen.
func (b *bed) importing(ctx context.Context, path string) (time.Duration, uint64, error) {
	a, err := newAuthority()
	if err != nil {
		return 0, 0, err
	}
	k, err := newKernel(b.store, a, 0)
	if err != nil {
		return 0, 0, err
	}
	runtime.GC()
	debug.FreeOSMemory()
	peak, stop := watchHeap()
	began := time.Now()
	report, err := k.Turns().Import(ctx, dag.DefaultTenant, path, ingest.Options{})
	took := time.Since(began)
	stop()
	if err == nil && report.Admitted != b.turns {
		err = fmt.Errorf("%d turns admitted, want %d", report.Admitted, b.turns)
	}
	return took, peak.Load(), err
}

func watchHeap() (*atomic.Uint64, func()) {
	var peak atomic.Uint64
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}
	}()
	return &peak, func() { close(done) }
}

// firstSlice opens the store and cuts a slice; again cuts the same one warm.
func (b *bed) firstSlice(anchor dag.TurnID) (first, again *candidate) {
	var k *kernel.Kernel
	var close func() error
	cut := func(ctx context.Context) error {
		_, err := k.Slices().Cut(ctx, dag.DefaultTenant, kernel.Request{Anchor: anchor})
		return err
	}
	first = &candidate{name: b.kind + ", open and cut the first slice", run: func(ctx context.Context, _ int) error {
		s, err := b.open(ctx)
		if err != nil {
			return err
		}
		close = s.Close
		a, err := newAuthority()
		if err != nil {
			return err
		}
		if k, err = newKernel(s, a, 0); err != nil {
			return err
		}
		return cut(ctx)
	}}
	const times = 10
	again = &candidate{name: b.kind + ", the same slice again", burst: times,
		run: func(ctx context.Context, _ int) error { return cut(ctx) },
		check: func(_ context.Context, i int) error {
			if (i+1)%times > 0 {
				return nil
			}
			return close()
		},
	}
	return first, again
}
