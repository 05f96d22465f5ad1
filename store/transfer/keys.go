package transfer

import (
	"context"

	"github.com/graphkernel/graphkernel/access"
)

// revocations revokes what the target has as live and the source as revoked.
func (c *copying) revocations() error {
	live, err := c.liveKeys()
	if err != nil || len(live) == 0 {
		return err
	}
	here, err := c.from.Keys(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	if err := c.leaves(); err != nil {
		return err
	}
	for _, k := range here {
		if k.RevokedAt == 0 || !live[k.ID] {
			continue
		}
		if _, err := c.to.RevokeKey(c.ctx, c.tenant, k.ID, k.RevokedAt); err != nil {
			return err
		}
	}
	return nil
}

// liveKeys gives the keys that the target has: true for those that are not revoked.
func (c *copying) liveKeys() (map[string]bool, error) {
	there, err := c.to.Keys(c.ctx, c.tenant)
	live := make(map[string]bool, len(there))
	for _, k := range there {
		live[k.ID] = k.RevokedAt == 0
	}
	return live, err
}

// keys copies API keys, once more with the revocations of those that were there: some
// may have come while history was copied.
func (c *copying) keys() error {
	if err := c.revocations(); err != nil {
		return err
	}
	here, err := c.from.Keys(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	there, err := c.liveKeys()
	if err != nil {
		return err
	}
	if err := c.leaves(); err != nil {
		return err
	}
	for _, k := range here {
		if _, known := there[k.ID]; known {
			c.report.Keys.Existing++
			continue
		}
		if err := c.key(k); err != nil {
			return err
		}
		c.report.Keys.Copied++
	}
	return nil
}

// key puts a key, and revokes it at once if it is revoked: a caller who gives up ends
// neither, and comes too late or before both.
func (c *copying) key(k access.Key) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	ctx, revoked := context.WithoutCancel(c.ctx), k.RevokedAt
	k.RevokedAt = 0
	if err := c.to.PutKey(ctx, k); err != nil || revoked == 0 {
		return err
	}
	_, err := c.to.RevokeKey(ctx, c.tenant, k.ID, revoked)
	return err
}
