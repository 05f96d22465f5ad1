package erasures

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Keeping is a change that writes snapshots of what was derived from texts, unless one of them may have been erased meanwhile.
type Keeping struct {
	Snapshots []history.Snapshot
	Known     dag.Seq // the snapshots have nothing of texts that were erased under a number up to this

	// Still is called after the history was read, and fails if that may be another one than the snapshots were derived from; nil: it cannot be.
	Still func() error

	Kept bool // whether the last plan wrote them
}

// Needs asks for the first erasure that the snapshots do not know.
func (c *Keeping) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Ranges = []history.Range{{Index: indexNumber, After: &history.Place{Key: numberKey(c.Known), Since: dag.MaxSeq}, Limit: 1}}
	}
	return n
}

// Plan writes the snapshots, if there is no such erasure.
func (c *Keeping) Plan(k *history.State) (*history.Plan, error) {
	c.Kept = false
	if c.Still != nil {
		if err := c.Still(); err != nil {
			return nil, err
		}
	}
	if len(k.Ranges[0]) > 0 {
		return &history.Plan{}, nil
	}
	c.Kept = true
	return &history.Plan{Snapshots: c.Snapshots}, nil
}
