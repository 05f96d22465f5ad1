package erasures

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Keeping is a change that writes snapshots derived from texts, unless one of these texts may have been erased meanwhile.
type Keeping struct {
	Snapshots []history.Snapshot
	Known     dag.Seq // the snapshots contain nothing of texts that were erased under a number up to this one

	// Still is called after the history was read, and fails if the snapshots may have been derived from another history; nil: that cannot happen.
	Still func() error

	Kept bool // whether the last plan wrote the snapshots
}

// Needs asks for the first erasure above Known.
func (c *Keeping) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Ranges = []history.Range{{Index: indexNumber, After: &history.Place{Key: numberKey(c.Known), Since: dag.MaxSeq}, Limit: 1}}
	}
	return n
}

// Plan writes the snapshots if there is no erasure above Known.
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
