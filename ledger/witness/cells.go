package witness

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// prefix is that of the names of cells with cosigned roots; the origin of the log follows.
const prefix = "cosigned/"

// MaxOrigin bounds the bytes of a log's origin.
const MaxOrigin = 255

// checkOrigin reports what cannot name a log.
func checkOrigin(origin string) error {
	ok := origin != "" && len(origin) <= MaxOrigin && utf8.ValidString(origin)
	for _, r := range origin {
		ok = ok && unicode.IsPrint(r)
	}
	if !ok {
		return fmt.Errorf("%w: the origin %.300q, want 1 to %d bytes of printable text", dag.ErrForm, origin, MaxOrigin)
	}
	return nil
}

// Roots are the roots that each tenant, as a witness, cosigned last of other logs.
type Roots struct{ history.Cells }

// Last returns the root that was cosigned last of the log of an origin; that of an empty log if
// none was.
func (r Roots) Last(ctx context.Context, tenant dag.Tenant, origin string) (ledger.Root, error) {
	if err := checkOrigin(origin); err != nil {
		return ledger.Root{}, err
	}
	list, err := r.Cells.Cells(ctx, tenant, prefix+origin)
	if err != nil {
		return ledger.Root{}, err
	}
	at := slices.IndexFunc(list, func(c history.Cell) bool { return c.Name == prefix+origin })
	if at < 0 {
		return ledger.Root{Hash: ledger.EmptyRoot()}, nil
	}
	return parseRoot(&list[at])
}

// Replace replaces the root that was cosigned last. If that is not old any more the error is the
// one that Swap of the cells returns.
func (r Roots) Replace(ctx context.Context, tenant dag.Tenant, origin string, old, next ledger.Root) error {
	if err := checkOrigin(origin); err != nil {
		return err
	}
	before, err := appendRoot(old)
	if err != nil {
		return err
	}
	after, err := appendRoot(next)
	if err != nil {
		return err
	}
	return r.Swap(ctx, tenant, prefix+origin, before, after)
}

const rootSize = 8 + len(ledger.Hash{})

// appendRoot writes a root as a cell has it: the size, big-endian, and the hash. That of an empty
// log, which may come as a zero Root, is no value.
func appendRoot(r ledger.Root) ([]byte, error) {
	if r == (ledger.Root{}) || r == (ledger.Root{Hash: ledger.EmptyRoot()}) {
		return nil, nil
	}
	if r.Size == 0 || r.Size > ledger.MaxSize {
		return nil, fmt.Errorf("%w: a log of %d leaves with the root %s", dag.ErrForm, r.Size, r.Hash)
	}
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, rootSize), r.Size), r.Hash[:]...), nil
}

func parseRoot(c *history.Cell) (r ledger.Root, err error) {
	if len(c.Value) == rootSize {
		r.Size = binary.BigEndian.Uint64(c.Value)
		copy(r.Hash[:], c.Value[8:])
	}
	if r.Size == 0 || r.Size > ledger.MaxSize {
		return ledger.Root{}, fmt.Errorf("%w: the cell %q is damaged: %d bytes are no cosigned root", dag.ErrForm, c.Name, len(c.Value))
	}
	return r, nil
}

// CellCodec is the codec of the cells that hold cosigned roots.
type CellCodec struct{}

// Prefix is that of the names.
func (CellCodec) Prefix() string { return prefix }

// Check refuses what is no root of a log that can be cosigned.
func (CellCodec) Check(c *history.Cell) error {
	if err := checkOrigin(strings.TrimPrefix(c.Name, prefix)); err != nil {
		return err
	}
	_, err := parseRoot(c)
	return err
}

// Follows refuses a root with at most as many leaves as an older one, unless they are the same. Whether
// the larger log begins with the smaller is not to be seen from the roots; the witness judged that.
func (CellCodec) Follows(old, next *history.Cell) error {
	if old == nil {
		return nil
	}
	before, err := parseRoot(old)
	if err != nil {
		return err
	}
	var after ledger.Root
	if next != nil {
		if after, err = parseRoot(next); err != nil {
			return err
		}
	}
	if before == after || before.Size < after.Size {
		return nil
	}
	return fmt.Errorf("%d leaves of %q were cosigned with the root %s, and in the other store %d with %s; to go on from the latter could cosign a fork",
		before.Size, strings.TrimPrefix(old.Name, prefix), before.Hash, after.Size, after.Hash)
}
