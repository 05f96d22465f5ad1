package capture

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// errLate is wrapped if a context cannot be given in time.
var errLate = errors.New("no context could be recorded in time")

// A handout is a context that a recipient is given.
type handout struct {
	claim    *contexts.Bundle
	digest   dag.Digest
	recorded func() error // waits until the context is recorded
}

// soon is how long record waits before it leaves a mark instead.
const soon = 3 * time.Millisecond

// triesErased is how many times a context is made again because its turns were erased meanwhile.
const triesErased = 3

// handOut makes a context for a recipient and records it. A kernel in this process chooses the context without a lock. If another process writes, recording
// may take long; then a mark replaces the record, as for a prepared context, unless the history has an entry that is newer than the context.
func (t *teller) handOut(ctx context.Context, r *api.ContextRequest, to issued.Recipient) (*handout, error) {
	if t.session.Kernel == nil {
		r.Recipient = &to
		c, err := t.session.Contexts.Assemble(ctx, *r)
		if err != nil {
			return nil, err
		}
		return &handout{c.Claim, c.SHA256, func() error { return nil }}, nil
	}
	in, err := t.spool.ReadyIn()
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		n := note{folder: ready.At(in.Folder)}
		n.last, n.err = n.folder.Last()
		prepared, err := t.choose(ctx, *r, &n)
		if err != nil {
			return nil, err
		}
		claim, err := contexts.Parse(prepared.Bundle)
		if err != nil {
			return nil, err
		}
		h := &handout{claim: claim, digest: sha256.Sum256(prepared.Bundle)}
		h.recorded, err = t.record(ctx, prepared, claim, &n, to)
		if errors.Is(err, issued.ErrErasedSince) && tries < triesErased {
			continue
		}
		if err != nil {
			return nil, err
		}
		return h, nil
	}
}

// choose makes a context. If the search index is behind, the context is as of the number that the index has reached, unless the history has an entry after
// that number. So the context may lack the newest turns, but no rule.
func (t *teller) choose(ctx context.Context, r api.ContextRequest, n *note) (*assemble.Prepared, error) {
	prepared, err := t.session.Kernel.Contexts().Prepare(ctx, t.session.Tenant, r)
	var behind *projection.IndexingError
	if !errors.As(err, &behind) || n.err != nil || behind.Reached == 0 || n.last > uint64(behind.Reached) {
		return prepared, err
	}
	r.AsOf, r.Present = behind.Reached, false
	if prepared, err = t.session.Kernel.Contexts().Prepare(ctx, t.session.Tenant, r); errors.Is(err, slice.ErrAnchor) { // it is newer
		r.Anchor = ""
		prepared, err = t.session.Kernel.Contexts().Prepare(ctx, t.session.Tenant, r)
	}
	return prepared, err
}

// A note holds the number of the last entry before a context was chosen.
type note struct {
	folder ready.Folder
	last   uint64
	err    error // why the number is unknown
}

// good reports whether no entry was added since.
func (n *note) good() bool {
	now, err := n.folder.Last()
	return n.err == nil && err == nil && now == n.last
}

// The states of a record.
const (
	onItsWay  int32 = iota
	ended           // it was recorded, or recording failed
	abandoned       // the recipient did not get the context
	marked          // a mark replaces it
)

// record records a context. It returns a function that waits for the record; until then, a mark may replace the record.
func (t *teller) record(ctx context.Context, prepared *assemble.Prepared, claim *contexts.Bundle, n *note, to issued.Recipient) (recorded func() error, err error) {
	k, tenant := t.session.Kernel.Contexts(), t.session.Tenant
	if t.wait == 0 {
		_, err := k.HandOut(ctx, tenant, prepared, to)
		return func() error { return nil }, busyIsLate(err)
	}
	var state atomic.Int32
	var failed error
	mark := &capture.Given{Agent: capture.Agent(to.Agent), Session: to.Session, Event: to.Event, At: t.now().UTC()}
	done := make(chan struct{})
	t.late.Go(func() {
		defer close(done)
		background := context.WithoutCancel(ctx)
		record, err := k.HandOut(background, tenant, prepared, to)
		failed = busyIsLate(err)
		switch {
		case state.CompareAndSwap(onItsWay, ended) || err != nil: // a mark that could not be removed is retried with the next look at the spool
		case state.Load() == marked:
			failed = mark.Done()
		default:
			_, failed = k.NotGiven(background, tenant, record.Provenance.SliceID, record.Bundle, "nobody waited for it any more")
		}
	})
	wait := func() error { <-done; return failed }
	within := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-done:
			return true
		case <-timer.C:
			return false
		}
	}
	if within(soon) {
		return wait, wait()
	}
	if n.err == nil {
		text, err := cli.PreparedFile(prepared, framed(claim), capture.KeyFile{})
		if err == nil {
			mark.File, err = n.folder.Hold(text)
		}
		if err == nil {
			err = t.spool.Give(mark)
		}
		if err != nil {
			return nil, err
		}
		if n.good() && state.CompareAndSwap(onItsWay, marked) {
			return wait, nil
		}
		if err := mark.Done(); err != nil {
			return nil, err
		}
	}
	if within(t.wait-soon) || !state.CompareAndSwap(onItsWay, abandoned) {
		return wait, wait()
	}
	return nil, fmt.Errorf("%w: the store was busy for %s", errLate, t.wait)
}

func busyIsLate(err error) error {
	if errors.Is(err, store.ErrBusy) {
		return fmt.Errorf("%w: %w", errLate, err)
	}
	return err
}
