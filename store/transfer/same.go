package transfer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// prepare notes how far the copy goes, and compares what the target has already.
func (c *copying) prepare() error {
	var err error
	if c.issued, err = c.lastIssued(c.from); err != nil {
		return err
	}
	if c.head, err = c.from.Head(c.ctx, c.tenant); err != nil {
		return err
	}
	if c.report.Head, err = c.to.Head(c.ctx, c.tenant); err != nil {
		return err
	}
	if c.report.Head > c.head {
		return fmt.Errorf("%w: its head is %d, and the source's %d", ErrDiffers, c.report.Head, c.head)
	}
	for _, compare := range []func() error{c.sameEvents, c.sameTurns, c.samePolicies, c.sameIssued, c.sameKeys} {
		if err := compare(); err != nil {
			return err
		}
	}
	return nil
}

// lastIssued finds the number of the newest issued slice. They are consecutive.
func (c *copying) lastIssued(s store.Store) (uint64, error) {
	has := func(n uint64) (bool, error) { // a number above n
		list, err := s.IssuedAfter(c.ctx, c.tenant, n, 1)
		return len(list) > 0, err
	}
	low, high := uint64(0), uint64(1) // low is there, or 0
	for {
		above, err := has(high - 1)
		if err != nil {
			return 0, err
		}
		if !above {
			break
		}
		low, high = high, 2*high
	}
	for low+1 < high {
		middle := low + (high-low)/2
		there, err := has(middle - 1)
		if err != nil {
			return 0, err
		}
		if there {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// sameEvents compares every event that the target has.
func (c *copying) sameEvents() error {
	if c.report.Head == 0 {
		return nil
	}
	there := eventReader{ctx: c.ctx, s: c.to, tenant: c.tenant, last: c.report.Head}
	here := eventReader{ctx: c.ctx, s: c.from, tenant: c.tenant, last: c.report.Head}
	for {
		got, err := there.peek()
		if err != nil {
			return err
		}
		want, err := here.peek()
		if err != nil {
			return err
		}
		switch {
		case got == nil && want == nil:
			c.report.Turns.Existing = int(c.report.Head) - c.report.Events.Existing
			return nil
		case got == nil:
			return fmt.Errorf("%w: number %d of the source erases turn %s, and of the target does not", ErrDiffers, want.Seq, want.Turn)
		case want == nil || *got != *want:
			return fmt.Errorf("%w: number %d of the target erases turn %s, and of the source does not, or otherwise", ErrDiffers, got.Seq, got.Turn)
		}
		c.report.Events.Existing++
		there.skip()
		here.skip()
	}
}

// samples is how many turns of the target are compared, beside the last ones. Other
// histories differ in nearly all.
const samples = 64

// sameTurns compares the last turns that the target has, and some before them.
func (c *copying) sameTurns() error {
	head := c.report.Head
	if head == 0 {
		return nil
	}
	var found []store.Record
	take := func(after dag.Seq, most int) error {
		n := 0
		err := c.to.Scan(c.ctx, c.tenant, after, nil, func(r *store.Record) error {
			if n == most || r.Seq > head {
				return errEnough
			}
			n++
			kept := *r
			kept.Body = nil
			found = append(found, kept)
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	}
	for i := range dag.Seq(samples) {
		if err := take(head/samples*i, 1); err != nil {
			return err
		}
	}
	// The last turn stands behind any number of events.
	for back := dag.Seq(16); ; back *= 16 {
		before := len(found)
		if err := take(head-min(back, head), int(back)); err != nil {
			return err
		}
		if len(found) > before || back >= head {
			break
		}
	}
	return c.compareTurns(found)
}

func (c *copying) compareTurns(found []store.Record) error {
	for part := range slices.Chunk(found, page) {
		places := make([]store.Place, len(part))
		for i := range part {
			places[i] = store.Place{Conversation: part[i].Turn.Conversation, Seq: part[i].Seq}
		}
		records, err := c.from.Placed(c.ctx, c.tenant, places)
		if err != nil {
			return err
		}
		here := map[dag.Seq]*store.Record{}
		for i := range records {
			here[records[i].Seq] = &records[i]
		}
		for i := range part {
			got, want := &part[i], here[part[i].Seq]
			if want == nil || got.Turn != want.Turn || got.Leaf != want.Leaf || !slices.Equal(got.Parents, want.Parents) {
				return fmt.Errorf("%w: number %d of the target is turn %s with the leaf %s, and of the source it is another", ErrDiffers, got.Seq, got.Turn.ID, got.Leaf)
			}
		}
	}
	return nil
}

// samePolicies compares the target's policies by value.
func (c *copying) samePolicies() error {
	there, err := c.to.Policies(c.ctx, c.tenant)
	if err != nil || len(there.All()) == 0 {
		return err
	}
	here, err := c.from.Policies(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	for _, p := range there.All() {
		if same, err := here.Get(p.ID()); err != nil || same != p {
			return fmt.Errorf("%w: the target's policy %s with hash %s is not the source's", ErrDiffers, p.ID(), p.Hash())
		}
	}
	return nil
}

// sameIssued compares the target's record of issued slices by value.
func (c *copying) sameIssued() error {
	for after := uint64(0); ; {
		there, err := c.to.IssuedAfter(c.ctx, c.tenant, after, page)
		if err != nil {
			return err
		}
		if len(there) == 0 {
			c.report.Issued.Existing = int(after)
			return nil
		}
		here, err := c.from.IssuedAfter(c.ctx, c.tenant, after, len(there))
		if err != nil {
			return err
		}
		for i := range there {
			if i >= len(here) || here[i] != there[i] || there[i].Number > c.issued {
				return fmt.Errorf("%w: the target's issued slice %d, %s, is not the source's", ErrDiffers, there[i].Number, there[i].Provenance.SliceID)
			}
		}
		after = there[len(there)-1].Number
	}
}

// sameKeys compares the target's API keys. A revocation that the source has and the
// target has not is one that the copy brings.
func (c *copying) sameKeys() error {
	there, err := c.to.Keys(c.ctx, c.tenant)
	if err != nil || len(there) == 0 {
		return err
	}
	list, err := c.from.Keys(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	here := map[string]access.Key{}
	for _, k := range list {
		here[k.ID] = k
	}
	for _, k := range there {
		want, ok := here[k.ID]
		if k.RevokedAt == 0 {
			want.RevokedAt = 0
		}
		if !ok || k != want {
			return fmt.Errorf("%w: the target's API key %s is not the source's, or was revoked there", ErrDiffers, k.ID)
		}
	}
	return nil
}
