package sqlite

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// A run is a row of runs: the skeletons of consecutive turns of a conversation,
// packed. A row costs the same however much it holds, so few long rows are read
// faster than many short ones.
//
// Runs grow like a binary counter. New turns take in the runs at the end that
// are not longer than what is there already, up to maxRun turns. So a
// conversation that grows turn by turn has few short runs, and each turn is
// written again some nine times in its life, not once for every turn after it.
type run struct {
	conversation dag.ConversationID
	last         dag.Seq
	turns        int
	packed       []byte
}

// maxRun bounds the turns of a run. A run of so many takes some 70 KiB.
const maxRun = 512

// A newTurn is a turn on its way into a run.
type newTurn struct {
	seq      dag.Seq
	skeleton []byte // packed
}

// runPrefix stands before each skeleton in a run: its sequence number and its size.
const runPrefix = 8 + 4

// extend gives the runs that hold what r holds and then the new turns.
func (r run) extend(fresh []newTurn) []run {
	var full []run
	for _, t := range fresh {
		if r.turns >= maxRun {
			full = append(full, r)
			r = run{conversation: r.conversation}
		}
		r.packed = binary.BigEndian.AppendUint64(r.packed, uint64(t.seq))
		r.packed = binary.BigEndian.AppendUint32(r.packed, uint32(len(t.skeleton)))
		r.packed = append(r.packed, t.skeleton...)
		r.last = t.seq
		r.turns++
	}
	return append(full, r)
}

// eachSkeleton calls fn with the skeletons of a packed run that are numbered
// above after, without their conversation.
func eachSkeleton(packed []byte, after dag.Seq, fn func(dag.Skeleton) error) error {
	parents := make([]dag.SkeletonParent, 0, len(packed)/(runPrefix+skeletonSize)) // for all: an allocation a turn is most of the time
	for len(packed) > 0 {
		if len(packed) < runPrefix {
			return fmt.Errorf("a run of skeletons ends with %d bytes; the file is damaged", len(packed))
		}
		s := dag.Skeleton{Seq: dag.Seq(binary.BigEndian.Uint64(packed))}
		size := int(binary.BigEndian.Uint32(packed[8:]))
		packed = packed[runPrefix:]
		if size < 0 || len(packed) < size {
			return fmt.Errorf("the skeleton of turn %d is cut short; the file is damaged", s.Seq)
		}
		if s.Seq > after {
			if err := unpackSkeleton(&s, packed[:size], &parents); err != nil {
				return err
			}
			if err := fn(s); err != nil {
				return err
			}
		}
		packed = packed[size:]
	}
	return nil
}

// takeTail takes away the runs at a conversation's end that the new turns take
// in, and gives them as one.
func (t *tx) takeTail(conversation dag.ConversationID, fresh int) (run, error) {
	var taken []run
	total, room := fresh, maxRun
	for before := dag.MaxSeq; ; before = taken[len(taken)-1].last {
		r := run{conversation: conversation}
		found, err := t.lastRun(&r, before, min(total, room-1))
		if err != nil {
			return run{}, err
		}
		if !found {
			break
		}
		if _, err := t.dropRun.ExecContext(t.ctx, t.tenant, conversation[:], int64(r.last)); err != nil {
			return run{}, err
		}
		taken = append(taken, r)
		total += r.turns
		room -= r.turns
	}
	tail := run{conversation: conversation}
	for i := len(taken) - 1; i >= 0; i-- {
		tail.packed = append(tail.packed, taken[i].packed...)
		tail.turns += taken[i].turns
		tail.last = taken[i].last
	}
	return tail, nil
}

// lastRun reads the last run that ends before a number, unless it has more than
// most turns.
func (t *tx) lastRun(r *run, before dag.Seq, most int) (bool, error) {
	var last int64
	err := t.tailRun.QueryRowContext(t.ctx, most, t.tenant, r.conversation[:], int64(before)).Scan(&last, &r.turns, &r.packed)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	r.last = dag.Seq(last)
	return r.packed != nil, err
}
