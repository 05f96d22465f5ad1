package store

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
)

// A SkeletonReader is a Store that reads the turns of conversations one after the other, without a list of them in memory.
type SkeletonReader interface {
	// EachSkeleton calls fn with the turns that Segment returns for the same parts, those of one conversation by ascending number, and returns Segment's head.
	// fn may use the skeleton until it returns, and must not call the store. An error of fn ends the reading and is returned.
	EachSkeleton(ctx context.Context, tenant dag.Tenant, parts []Part, fn func(*dag.Skeleton) error) (dag.Seq, error)
}

// EachSkeleton calls fn with the turns that a reader lacks of some conversations, as [SkeletonReader] says. A store that is none reads a segment.
func EachSkeleton(ctx context.Context, s Store, tenant dag.Tenant, parts []Part, fn func(*dag.Skeleton) error) (dag.Seq, error) {
	if each, ok := s.(SkeletonReader); ok {
		return each.EachSkeleton(ctx, tenant, parts, fn)
	}
	seg, err := s.Segment(ctx, tenant, parts)
	for i := range seg.Turns {
		if err == nil {
			err = fn(&seg.Turns[i])
		}
	}
	if err != nil {
		return 0, err
	}
	return seg.Head, nil
}
