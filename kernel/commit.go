package kernel

import (
	"context"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// issuing writes the records that arrive during a commit together, in the next transaction: a commit
// of one record costs the same as a commit of a hundred.
// No record waits for others to arrive. None is acknowledged before its
// transaction is durable.
type issuing struct {
	store projection.Store

	mu    sync.Mutex
	lines map[dag.Tenant]*issuingLine // guarded by mu; the tenants whose records are being written
}

// issuingLine is the queue of records that wait while a transaction of the tenant commits.
type issuingLine struct{ waiting []*toIssue }

type toIssue struct {
	handing issued.Handing
	record  issued.Record
	err     error
	done    chan struct{} // closed when record or err is set
}

// mostTogether is the maximum number of records of a transaction.
const mostTogether = 256

// put writes a record and returns the record of the bundle, which an earlier call may have written. If ctx ends first, the record may be
// written all the same. If a turn of the bundle was erased meanwhile, nothing is recorded and the error is an issued.ErasedError.
func (q *issuing) put(ctx context.Context, tenant dag.Tenant, handing issued.Handing) (issued.Record, error) {
	if err := ctx.Err(); err != nil {
		return issued.Record{}, err
	}
	p := &toIssue{handing: handing, done: make(chan struct{})}
	q.mu.Lock()
	line, busy := q.lines[tenant]
	if !busy {
		line = &issuingLine{}
		q.lines[tenant] = line
	}
	line.waiting = append(line.waiting, p)
	q.mu.Unlock()
	if !busy {
		go q.run(context.WithoutCancel(ctx), tenant, line)
	}
	select {
	case <-p.done:
		return p.record, p.err
	case <-ctx.Done():
		return issued.Record{}, ctx.Err()
	}
}

// run writes the queued records until the queue is empty.
func (q *issuing) run(ctx context.Context, tenant dag.Tenant, line *issuingLine) {
	for {
		q.mu.Lock()
		together := line.waiting
		if len(together) == 0 {
			delete(q.lines, tenant)
			q.mu.Unlock()
			return
		}
		together = together[:min(len(together), mostTogether)]
		line.waiting = line.waiting[len(together):]
		q.mu.Unlock()
		q.write(ctx, tenant, together)
	}
}

func (q *issuing) write(ctx context.Context, tenant dag.Tenant, together []*toIssue) {
	handings := make([]issued.Handing, len(together))
	for i, p := range together {
		handings[i] = p.handing
	}
	recorded, erased, err := issued.Base{History: q.store}.Hand(ctx, tenant, handings)
	for i, p := range together {
		switch p.err = err; {
		case err != nil:
		case len(erased[i]) > 0:
			p.err = &issued.ErasedError{Turns: erased[i]}
		default:
			p.record = recorded[i]
		}
		close(p.done)
	}
}
