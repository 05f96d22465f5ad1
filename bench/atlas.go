package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
)

// Bounds of an atlas of 100 000 turns and 10 000 slices of 150.
const (
	boundAtlasMemory = 500 << 20
	boundAtlasAgain  = 10 * time.Millisecond
	atlasNodes       = 150 // turns of a slice
	atlasSlices      = 10_000
)

// atlases measures what the first question of an atlas costs, the same one again, and one after one more turn and one more slice, with what is held in memory meanwhile.
func atlases(ctx context.Context, r *report, y *yard, turns, length int) (err error) {
	s, a, err := y.keyed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	open := func() (*kernel.Kernel, error) {
		return kernel.Open(kernel.Config{Store: s, Authority: a, Clock: time.Now})
	}
	k, err := open()
	if err != nil {
		return err
	}
	p, err := sized(atlasNodes)
	if err != nil {
		return err
	}
	if err := k.Policies().Register(ctx, dag.DefaultTenant, p); err != nil {
		return err
	}
	g := newGenerator(shape{seed: 1, length: length})
	var ids []dag.TurnID
	admit := func(n int) error {
		drafts := make([]dag.Draft, n)
		for i := range drafts {
			drafts[i] = g.next()
			ids = append(ids, drafts[i].ID)
		}
		_, err := k.Turns().Admit(ctx, dag.DefaultTenant, drafts)
		return err
	}
	for len(ids) < turns {
		if err := admit(min(1000, turns-len(ids))); err != nil {
			return err
		}
	}
	handed := min(atlasSlices, turns/10)
	cut := func(i int) error {
		_, err := k.Slices().Cut(ctx, dag.DefaultTenant, kernel.Request{Anchor: ids[i], Policy: p.ID()})
		return err
	}
	for i := range handed {
		if err := cut(i * (turns / handed)); err != nil {
			return err
		}
	}
	questions := []struct {
		name string
		ask  func(v *survey.View) error
	}{
		{"the view", func(*survey.View) error { return nil }},
		{"counts and authors", func(v *survey.View) error {
			_, err := v.Snapshot(ctx)
			_, failed := v.Authors(ctx)
			return errors.Join(err, failed)
		}},
		{"overlap", func(v *survey.View) error {
			_, _, err := v.Overlaps(ctx, 20)
			return err
		}},
		{"influence", func(v *survey.View) error {
			_, err := v.Influence(ctx)
			return err
		}},
		{"communities", func(v *survey.View) error {
			_, err := v.Communities(ctx)
			return err
		}},
	}
	if k, err = open(); err != nil { // as a process that begins
		return err
	}
	held := watchMemory()
	defer held.stop()
	round := func() (took []time.Duration, err error) {
		for _, q := range questions {
			begun := time.Now()
			v, err := k.Atlas().View(ctx, dag.DefaultTenant, 0, 0)
			if err == nil {
				err = q.ask(v)
			}
			if err != nil {
				return nil, err
			}
			took = append(took, time.Since(begun))
		}
		return took, nil
	}
	first, err := round()
	if err != nil {
		return err
	}
	again, err := round()
	if err != nil {
		return err
	}
	if err := admit(1); err != nil {
		return err
	}
	if err := cut(len(ids) - 1); err != nil {
		return err
	}
	more, err := round()
	if err != nil {
		return err
	}
	peak := held.stop()
	rows := make([]row, len(questions), len(questions)+1)
	for i, q := range questions {
		rows[i] = row{
			name:   fmt.Sprintf("%s: first %s, unchanged %s, after one more turn and slice %s", q.name, digits(first[i]), digits(again[i]), digits(more[i])),
			bounds: []bound{{"unchanged ≤ " + boundAtlasAgain.String(), again[i] <= boundAtlasAgain}},
		}
	}
	kept := live()
	rows = append(rows, row{
		name:   fmt.Sprintf("memory: at most %d MB held more than before, %d MB of it in the end", (peak-held.before)>>20, (max(kept, held.before)-held.before)>>20),
		bounds: []bound{{fmt.Sprintf("≤ %d MB", boundAtlasMemory>>20), peak-held.before <= boundAtlasMemory}},
	})
	r.table(fmt.Sprintf("An atlas of %d turns and %d slices of %d in SQLite", turns, handed, atlasNodes), rows)
	runtime.KeepAlive(k)
	return nil
}

// live is the heap after a collection.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A memoryWatch samples the heap, with what waits to be collected.
type memoryWatch struct {
	before, most uint64
	end          chan struct{}
	ended        sync.WaitGroup
	once         sync.Once
}

func watchMemory() *memoryWatch {
	w := &memoryWatch{before: live(), end: make(chan struct{})}
	w.ended.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			w.most = max(w.most, m.HeapAlloc)
			select {
			case <-tick.C:
			case <-w.end:
				return
			}
		}
	})
	return w
}

// stop ends the watch, and returns the most that was seen.
func (w *memoryWatch) stop() uint64 {
	w.once.Do(func() { close(w.end) })
	w.ended.Wait()
	return w.most
}
