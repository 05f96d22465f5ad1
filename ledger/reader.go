package ledger

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// A Reader returns hashes of a log: n hashes of a level, from an index on, in order. See Node. Hashes returns an error
// for a hash that does not exist (yet). A Reader need not be trusted: its users check the hashes against a root that
// they already have.
type Reader interface {
	Hashes(ctx context.Context, level int, from uint64, n int) ([]Hash, error)
}

// tiles reads whole tiles for package tlog, which checks them against the root.
type tiles struct {
	ctx    context.Context
	from   Reader
	failed error // the error of reading a tile; errors that tlog finds in the tiles are not kept here
}

// tileHeight is the height of a tile in C2SP tlog-tiles: 256 hashes.
const tileHeight = 8

func (t *tiles) Height() int                         { return tileHeight }
func (t *tiles) SaveTiles(_ []tlog.Tile, _ [][]byte) {}
func (t *tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(want))
	for i, tile := range want {
		hashes, err := t.from.Hashes(t.ctx, tile.L, uint64(tile.N)<<tileHeight, tile.W)
		if err == nil && len(hashes) != tile.W {
			err = fmt.Errorf("%w: got %d hashes of tile %s, want %d", ErrForm, len(hashes), tile.Path(), tile.W)
		}
		if err != nil {
			t.failed = err
			return nil, err
		}
		data[i] = make([]byte, 0, tile.W*tlog.HashSize)
		for _, h := range hashes {
			data[i] = append(data[i], h[:]...)
		}
	}
	return data, nil
}

// prove computes a proof with hashes from a Reader that are checked against r.
func (r Root) prove(ctx context.Context, from Reader, what string, prove func(tlog.HashReader) ([]Hash, error)) ([]Hash, error) {
	t := &tiles{ctx: ctx, from: from}
	proof, err := prove(tlog.TileHashReader(tlog.Tree{N: int64(r.Size), Hash: r.Hash}, t))
	switch {
	case err == nil:
		return proof, nil
	case t.failed != nil:
		return nil, fmt.Errorf("ledger: proving %s: %w", what, t.failed)
	}
	return nil, fmt.Errorf("%w: proving %s: the hashes of %d leaves do not lead to their root %s: %w", ErrInconsistent, what, r.Size, r.Hash, err)
}

// A Root is the root of a log at one size.
type Root struct {
	Size uint64
	Hash Hash
}

func (r Root) check() error {
	if r.Size > MaxSize {
		return fmt.Errorf("%w: a log of %d leaves, at most %d", ErrForm, r.Size, uint64(MaxSize))
	}
	if r.Size == 0 && r.Hash != EmptyRoot() {
		return fmt.Errorf("%w: %w: the root %s is not the root of an empty log", ErrForm, ErrEmptyRoot, r.Hash)
	}
	return nil
}

// ProveInclusion returns the audit path of the leaf at an index (RFC 6962, section 2.1.1). It checks every tile against
// the root; the error for a tile that does not lead to the root is ErrInconsistent. It reads one tile per level for the
// leaf, and one per level for the right edge.
func (r Root) ProveInclusion(ctx context.Context, index uint64, from Reader) ([]Hash, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if index >= r.Size {
		return nil, fmt.Errorf("%w: index %d in a log of %d leaves", ErrNotIncluded, index, r.Size)
	}
	return r.prove(ctx, from, fmt.Sprintf("leaf %d in %d", index, r.Size), func(h tlog.HashReader) ([]Hash, error) {
		return tlog.ProveRecord(int64(r.Size), int64(index), h)
	})
}

// CheckInclusion returns ErrNotIncluded unless path leads from the leaf at an index to the root.
func (r Root) CheckInclusion(index uint64, leaf Hash, path []Hash) error {
	if err := r.check(); err != nil {
		return err
	}
	if index >= r.Size {
		return fmt.Errorf("%w: index %d in a log of %d leaves", ErrNotIncluded, index, r.Size)
	}
	if err := tlog.CheckRecord(path, int64(r.Size), r.Hash, int64(index), leaf); err != nil {
		return fmt.Errorf("%w: the path from leaf %d does not lead to the root of %d leaves", ErrNotIncluded, index, r.Size)
	}
	return nil
}

// ProveConsistency proves that the log at r begins with the first old leaves of itself (RFC 6962, section 2.1.2). The
// proof from an empty log, and from the same size, is empty.
func (r Root) ProveConsistency(ctx context.Context, old uint64, from Reader) ([]Hash, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if old > r.Size {
		return nil, fmt.Errorf("%w: it has %d leaves, which is fewer than %d", ErrInconsistent, r.Size, old)
	}
	if old == 0 || old == r.Size {
		return nil, nil
	}
	return r.prove(ctx, from, fmt.Sprintf("%d leaves in %d", old, r.Size), func(h tlog.HashReader) ([]Hash, error) {
		return tlog.ProveTree(int64(r.Size), int64(old), h)
	})
}

// CheckConsistency returns ErrInconsistent unless proof proves that the log at r begins with the log at old.
func (r Root) CheckConsistency(old Root, proof []Hash) error {
	for _, root := range []Root{old, r} {
		if err := root.check(); err != nil {
			return err
		}
	}
	switch {
	case old.Size > r.Size:
		return fmt.Errorf("%w: it had %d leaves before and has only %d now", ErrInconsistent, old.Size, r.Size)
	case old.Size == r.Size && old.Hash != r.Hash:
		return fmt.Errorf("%w: it shows two different roots for %d leaves, %s and %s", ErrInconsistent, r.Size, old.Hash, r.Hash)
	case old.Size == 0 || old.Size == r.Size:
		if len(proof) > 0 {
			return fmt.Errorf("%w: %d hashes prove the step from %d to %d leaves, want no hashes", ErrInconsistent, len(proof), old.Size, r.Size)
		}
		return nil
	}
	if err := tlog.CheckTree(proof, int64(r.Size), r.Hash, int64(old.Size), old.Hash); err != nil {
		return fmt.Errorf("%w: its %d leaves do not continue the %d leaves with the root %s", ErrInconsistent, r.Size, old.Size, old.Hash)
	}
	return nil
}
