package cli

import (
	"context"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
)

// indexEach is how long a command that admits turns goes on making the index of search for each of them, and indexLeast how long at least. It takes
// a fifth of that. The session's clock is asked after each segment, so one segment is made however late it is.
const (
	indexEach  = 600 * time.Microsecond
	indexLeast = time.Second
)

// BesideIndex makes the index of search while turns are admitted to a store, until stop is called. A service makes its own.
func (s *Session) BesideIndex(ctx context.Context) (stop func()) {
	if s.Kernel == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var making sync.WaitGroup
	making.Go(func() {
		s.Kernel.Turns().KeepIndex(ctx, []dag.Tenant{s.Tenant}, false, func(dag.Tenant, error) {}) // what fails is tried again by FinishIndex
	})
	return func() { cancel(); making.Wait() }
}

// FinishIndex makes what a store lacks of the index of search after so many turns were admitted: for as long as they may take, or with wait until
// there is all of it. It reports whether there is. A service makes its own, and is only waited for. What is left is made by the next command that admits, or by a service.
func (s *Session) FinishIndex(ctx context.Context, admitted int, wait bool, progress func(done, of int64)) (whole bool, err error) {
	if s.Kernel == nil {
		if wait {
			err = s.awaitIndex(ctx)
		}
		return err == nil, err
	}
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	until := s.clock().Add(max(indexLeast, time.Duration(admitted)*indexEach))
	done, err := s.Kernel.Turns().MakeIndex(bounded, s.Tenant, projection.Indexing{Check: wait, Progress: func(reached, of dag.Seq) {
		progress(int64(reached), int64(of)) //nolint:gosec // numbers are small
		if last := of / segments.Least * segments.Least; !wait && reached < last && !s.clock().Before(until) {
			stop()
		}
	}})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	return err == nil && done.Lacking == 0, err
}

// RemakeIndex makes the segments of the index of search that erasures dropped. What fails, or would take longer than a command may, is left to the next one.
func (s *Session) RemakeIndex(ctx context.Context, erased int) {
	_, _ = s.FinishIndex(ctx, erased*segments.TextsOfRequest, false, func(_, _ int64) {})
}

// lookAtIndex is how often a service is asked whether its index is whole.
const lookAtIndex = 500 * time.Millisecond

// awaitIndex waits until a search of a service looks at every turn.
func (s *Session) awaitIndex(ctx context.Context) error {
	tick := time.NewTicker(lookAtIndex)
	defer tick.Stop()
	for {
		found, err := Do(ctx, s, api.SearchTurns, api.Search{Query: "index", Limit: 1, Policy: retrieval.FindPolicyID})
		if err != nil || found.NotIndexed == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
