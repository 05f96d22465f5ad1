package transfer

import (
	"fmt"

	"github.com/graphkernel/graphkernel/ledger"
)

// sameWitnessed makes sure that the target cosigned nothing, of any log, that the source did
// not: a witness that is moved must not forget.
func (c *copying) sameWitnessed() error {
	origins, err := c.to.Origins(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	for _, origin := range origins {
		here, there, err := c.roots(origin)
		if err != nil {
			return err
		}
		if err := continues(origin, here, there); err != nil {
			return err
		}
	}
	return nil
}

// witnessed copies what the source cosigned last, by now.
func (c *copying) witnessed() error {
	origins, err := c.from.Origins(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	for _, origin := range origins {
		here, there, err := c.roots(origin)
		if err != nil {
			return err
		}
		if here == there {
			c.report.Witnessed.Existing++
			continue
		}
		if err := continues(origin, here, there); err != nil {
			return err
		}
		if err := c.to.PutWitnessed(c.ctx, c.tenant, origin, there, here); err != nil {
			return err
		}
		c.report.Witnessed.Copied++
	}
	return nil
}

// roots gives what the source cosigned last of a log, and the target.
func (c *copying) roots(origin string) (here, there ledger.Root, err error) {
	if here, err = c.from.Witnessed(c.ctx, c.tenant, origin); err != nil {
		return here, there, err
	}
	there, err = c.to.Witnessed(c.ctx, c.tenant, origin)
	return here, there, err
}

// continues reports ErrDiffers unless the target's root of a log can become the source's: it
// is the same, or that of fewer leaves. Whether the larger log begins with the smaller is for
// the witness to judge, who saw the proofs, and not to be seen from the roots.
func continues(origin string, here, there ledger.Root) error {
	if here == there || there.Size < here.Size {
		return nil
	}
	return fmt.Errorf("%w: as a witness, the target cosigned %d leaves of %q with the root %s, and the source %d with %s; to go on from the latter could cosign a fork",
		ErrDiffers, there.Size, origin, there.Hash, here.Size, here.Hash)
}
