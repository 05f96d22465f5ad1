package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// onDisk measures the import of JSONL into SQLite and the first slice after
// opening, for conversations of a common length and for a single large one.
func onDisk(ctx context.Context, out io.Writer, turns int) error {
	folder, err := os.MkdirTemp("", "graphkernel-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what is left there is only a copy
	for _, length := range []int{1_000, turns} {
		b := &diskBench{folder: folder, turns: turns, length: length}
		if err := b.run(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

type diskBench struct {
	folder        string
	turns, length int
	anchor        dag.TurnID
}

func (b *diskBench) run(ctx context.Context, out io.Writer) error {
	path := filepath.Join(b.folder, fmt.Sprintf("turns-%d.jsonl", b.length))
	if err := b.write(path); err != nil {
		return err
	}
	db := filepath.Join(b.folder, fmt.Sprintf("%d.db", b.length))
	imported, peak, err := b.load(ctx, db, path)
	if err != nil {
		return err
	}
	rate := float64(b.turns) / imported.Seconds()
	rows := []row{
		{name: "import JSONL, durable", p50: imported, p99: imported, rate: rate, unit: "turns", bound: "≥ 20000 turns/s", within: rate >= 20_000},
	}
	opened, warm, err := b.open(ctx, db)
	if err != nil {
		return err
	}
	first := row{name: "open and cut the first slice", p50: opened.p50(), p99: opened.p99(), ratio: float64(opened.p50()) / float64(warm.p50()), to: "warm"}
	first.bound, first.within = "≤ 50ms", opened.p50() <= 50*time.Millisecond
	rows = append(rows, first, row{name: "warm slice of the same anchor", p50: warm.p50(), p99: warm.p99(), ratio: 1, to: "warm"})
	printRows(out, fmt.Sprintf("SQLite, %d turns in conversations of %d; heap at most %d MiB during the import", b.turns, b.length, peak>>20), rows)
	return nil
}

func (b *diskBench) write(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	g := newGenerator(2, b.length)
	var line []byte
	for i := range b.turns {
		d := g.next()
		if i == b.turns/2 {
			b.anchor = d.ID
		}
		if line, err = ingest.AppendLine(line[:0], &d); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// load imports and gives the time and the largest heap seen.
func (b *diskBench) load(ctx context.Context, db, path string) (time.Duration, uint64, error) {
	s, err := sqlite.Create(ctx, db, sqlite.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = s.Close() }() // everything acknowledged is durable
	k, err := newKernel(s)
	if err != nil {
		return 0, 0, err
	}
	runtime.GC()
	debug.FreeOSMemory()
	peak, stop := watchHeap()
	began := time.Now()
	r, err := k.Import(ctx, dag.DefaultTenant, path, ingest.Options{})
	took := time.Since(began)
	stop()
	if err != nil {
		return 0, 0, err
	}
	if r.Admitted != b.turns {
		return 0, 0, fmt.Errorf("%d turns admitted, want %d", r.Admitted, b.turns)
	}
	return took, peak.Load(), nil
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

func newKernel(s *sqlite.Store) (*kernel.Kernel, error) {
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return nil, err
	}
	ring, err := token.Keyring{}.Import("bench", secret, 0)
	if err != nil {
		return nil, err
	}
	return kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now})
}

// open opens the store and cuts a slice, again and again, and then cuts it warm.
func (b *diskBench) open(ctx context.Context, db string) (first, warm sample, err error) {
	const rounds = 15
	cut := func(k *kernel.Kernel) {
		if _, cutErr := k.Slice(ctx, dag.DefaultTenant, kernel.Request{Anchor: b.anchor}); cutErr != nil && err == nil {
			err = cutErr
		}
	}
	var last *kernel.Kernel
	var stores []*sqlite.Store
	defer func() {
		for _, s := range stores {
			_ = s.Close() // only read
		}
	}()
	first = interleaved(rounds, func() {
		s, openErr := sqlite.Open(ctx, db, sqlite.Options{})
		if openErr != nil {
			err = openErr
			return
		}
		stores = append(stores, s)
		if last, openErr = newKernel(s); openErr != nil {
			err = openErr
			return
		}
		cut(last)
	})[0]
	if err != nil {
		return nil, nil, err
	}
	warm = interleaved(200, func() { cut(last) })[0]
	return first, warm, err
}
