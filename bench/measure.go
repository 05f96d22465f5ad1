package main

import (
	"context"
	"fmt"
	"math"
	"runtime/pprof"
	"slices"
	"sync"
	"time"
)

// A candidate is one of the works that a group compares. The group runs its candidates
// in turn, round after round, so that what else the machine does falls on all of them
// alike.
type candidate struct {
	name string

	// burst is how often it runs in a round, 0 being once. A work of some microseconds
	// has to follow on itself, or it is measured with the caches that the work before it,
	// a thousand times as long, has left behind.
	burst int

	run func(ctx context.Context, i int) error // the i-th time

	// prepare and check run before and after run and are not timed. Both may be nil.
	prepare, check func(ctx context.Context, i int) error

	sample sample
	runs   int
}

// inTurn runs the candidates for so many rounds, and fills in their samples.
func inTurn(ctx context.Context, rounds int, candidates []*candidate) error {
	for range rounds {
		for _, c := range candidates {
			for range max(1, c.burst) {
				if err := c.once(ctx); err != nil {
					return err
				}
			}
		}
	}
	for _, c := range candidates {
		slices.Sort(c.sample)
	}
	return nil
}

func (c *candidate) once(ctx context.Context) (err error) {
	i := c.runs
	c.runs++
	pprof.Do(ctx, pprof.Labels("work", c.name), func(ctx context.Context) { // so that a profile can tell them apart
		if c.prepare != nil {
			if err = c.prepare(ctx, i); err != nil {
				return
			}
		}
		began := time.Now()
		err = c.run(ctx, i)
		c.sample = append(c.sample, time.Since(began))
		if err == nil && c.check != nil {
			err = c.check(ctx, i)
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// warm runs a candidate n times and forgets the times.
func (c *candidate) warm(ctx context.Context, n int) error {
	for range n {
		if err := c.once(ctx); err != nil {
			return err
		}
	}
	c.sample, c.runs = nil, 0
	return nil
}

// A crowd is a candidate that many clients run at once.
type crowd struct {
	*candidate
	clients int
	ran     time.Duration
	sample  sample
}

// together lets the clients run for some time. Their numbers do not meet.
func (c *crowd) together(ctx context.Context, each time.Duration) error {
	return c.from(ctx, 0, each, math.MaxInt)
}

// from is together with numbers from first on, most of them at most.
func (c *crowd) from(ctx context.Context, first int, each time.Duration, most int) error {
	var wg sync.WaitGroup
	samples, errs := make([]sample, c.clients), make([]error, c.clients)
	began := time.Now()
	for client := range c.clients {
		wg.Go(func() {
			pprof.Do(ctx, pprof.Labels("work", c.name), func(ctx context.Context) {
				for i := client; i < most && time.Since(began) < each && errs[client] == nil; i += c.clients {
					at := time.Now()
					errs[client] = c.run(ctx, first+i)
					samples[client] = append(samples[client], time.Since(at))
				}
			})
		})
	}
	wg.Wait()
	c.ran += time.Since(began)
	for client := range samples {
		if errs[client] != nil {
			return fmt.Errorf("%s, %d clients: %w", c.name, c.clients, errs[client])
		}
		c.sample = append(c.sample, samples[client]...)
	}
	slices.Sort(c.sample)
	return nil
}

// A sample is sorted durations.
type sample []time.Duration

func (s sample) p50() time.Duration { return s[len(s)/2] }
func (s sample) p99() time.Duration { return s[len(s)*99/100] }

// times tells how many times as long a sample is as another.
func (s sample) times(other sample) float64 { return float64(s.p50()) / float64(other.p50()) }
