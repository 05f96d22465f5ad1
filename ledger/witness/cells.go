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

// prefix is the prefix of the names of cells with cosigned roots; the origin of the log follows it.
const prefix = "cosigned/"

// MaxOrigin is the maximum length of a log's origin, in bytes.
const MaxOrigin = 255

// checkOrigin returns an error for a text that cannot name a log.
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

// Roots stores the roots of other logs that each tenant, as a witness, cosigned last.
type Roots struct{ history.Cells }

// Last returns the root of a log that was cosigned last; the root of an empty log if none was.
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

// Replace replaces the root of a log that was cosigned last. If it is not old any more, the error is the one that the
// cells' Swap returns.
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

// appendRoot returns a root in the form of a cell: the size, big-endian, and the hash. For an empty log, which may also
// be a zero Root, it returns no value.
func appendRoot(r ledger.Root) ([]byte, error) {
	if r == (ledger.Root{}) || r == (ledger.Root{Hash: ledger.EmptyRoot()}) {
		return nil, nil
	}
	if r.Size == 0 || r.Size > ledger.MaxSize {
		return nil, fmt.Errorf("%w: a log cannot have %d leaves with the root %s", dag.ErrForm, r.Size, r.Hash)
	}
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, rootSize), r.Size), r.Hash[:]...), nil
}

func parseRoot(c *history.Cell) (r ledger.Root, err error) {
	if len(c.Value) == rootSize {
		r.Size = binary.BigEndian.Uint64(c.Value)
		copy(r.Hash[:], c.Value[8:])
	}
	if r.Size == 0 || r.Size > ledger.MaxSize {
		return ledger.Root{}, fmt.Errorf("%w: the cell %q is damaged: %d bytes are not a cosigned root", dag.ErrForm, c.Name, len(c.Value))
	}
	return r, nil
}

// CellCodec is the codec of the cells with cosigned roots.
type CellCodec struct{}

// Prefix returns the prefix of the cells' names.
func (CellCodec) Prefix() string { return prefix }

// Check returns an error for a cell that is not a root of a log that can be cosigned.
func (CellCodec) Check(c *history.Cell) error {
	if err := checkOrigin(strings.TrimPrefix(c.Name, prefix)); err != nil {
		return err
	}
	_, err := parseRoot(c)
	return err
}

// Follows returns an error if next has fewer leaves than old, or as many with another root. It cannot check from the
// roots whether the larger log begins with the smaller one; the witness has checked that.
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
	return fmt.Errorf("%d leaves of %q were cosigned with the root %s, but the other store has %d with %s; a witness that continues from the other store could cosign a fork",
		before.Size, strings.TrimPrefix(old.Name, prefix), before.Hash, after.Size, after.Hash)
}
