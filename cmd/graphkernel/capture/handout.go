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
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// errLate is wrapped if a context cannot be given in time.
var errLate = errors.New("no context could be recorded in time")

// A handout is a context that is given to a recipient.
type handout struct {
	claim    *contexts.Bundle
	digest   dag.Digest
	recorded func() error // waits until the context is on record
}

// soon is how long record waits before a mark stands for the record.
const soon = 3 * time.Millisecond

// triesErased is how often a context is made whose turns are erased meanwhile.
const triesErased = 3

// handOut makes a context for a recipient and records it. A kernel of this process chooses the context without a lock. If another process writes, the record may take long: then a mark
// stands for the record, as for a prepared context, unless the history has an entry that is newer than the context.
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
		if errors.Is(err, kernel.ErrErasedSince) && tries < triesErased {
			continue
		}
		if err != nil {
			return nil, err
		}
		return h, nil
	}
}

// choose makes a context. If the index of search is behind, the context is one as of the number that the index reaches, unless the history has an entry after that number. So the context lacks the newest turns, and no rule.
func (t *teller) choose(ctx context.Context, r api.ContextRequest, n *note) (*kernel.PreparedContext, error) {
	prepared, err := t.session.Kernel.Contexts().Prepare(ctx, t.session.Tenant, r)
	var behind *projection.IndexingError
	if !errors.As(err, &behind) || n.err != nil || behind.Reached == 0 || n.last > uint64(behind.Reached) {
		return prepared, err
	}
	r.AsOf, r.Anchor = behind.Reached, "" // the anchor may be newer
	return t.session.Kernel.Contexts().Prepare(ctx, t.session.Tenant, r)
}

// A note holds the number of the last entry before a context was chosen.
type note struct {
	folder ready.Folder
	last   uint64
	err    error // why the number is not known
}

// good reports whether no entry has come since.
func (n *note) good() bool {
	now, err := n.folder.Last()
	return n.err == nil && err == nil && now == n.last
}

// The states of a record.
const (
	onItsWay  int32 = iota
	ended           // it is there, or failed
	abandoned       // the recipient did not get the context
	marked          // a mark stands for it
)

// record records a context. It returns a function that waits for the record: a mark may stand for the record until then.
func (t *teller) record(ctx context.Context, prepared *kernel.PreparedContext, claim *contexts.Bundle, n *note, to issued.Recipient) (recorded func() error, err error) {
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
		case state.CompareAndSwap(onItsWay, ended) || err != nil: // a mark that stays is tried again with the next look at the spool
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
