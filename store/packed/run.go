package packed

import (
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// A Run is a row of the table runs: the packed skeletons of consecutive turns of a conversation. A
// row costs the same whatever its length, so few long rows are read faster than many short ones.
//
// Runs grow like a binary counter. New turns absorb the last runs, as long as a run is no longer than
// what was absorbed so far, up to MaxRun turns. So a conversation that grows turn by turn has few short
// runs, and each turn is written again some nine times in its life, not once for every turn after it.
type Run struct {
	Conversation dag.ConversationID
	Last         dag.Seq
	Turns        int
	Packed       []byte
}

// MaxRun bounds the turns of a run. A run of this length takes some 70 KiB.
const MaxRun = 512

// A NewTurn is a turn that is to be added to a run.
type NewTurn struct {
	Seq      dag.Seq
	Skeleton []byte // packed
}

// runPrefix precedes each skeleton in a run: its sequence number and its size.
const runPrefix = 8 + 4

// Extend returns the runs that contain the turns of r followed by the new turns.
func (r Run) Extend(fresh []NewTurn) []Run {
	var full []Run
	for _, t := range fresh {
		if r.Turns >= MaxRun {
			full = append(full, r)
			r = Run{Conversation: r.Conversation}
		}
		r.Packed = binary.BigEndian.AppendUint64(r.Packed, uint64(t.Seq))
		r.Packed = binary.BigEndian.AppendUint32(r.Packed, uint32(len(t.Skeleton)))
		r.Packed = append(r.Packed, t.Skeleton...)
		r.Last = t.Seq
		r.Turns++
	}
	return append(full, r)
}

// EachSkeleton calls fn with the skeletons of a packed run that are numbered
// above after, without their conversation.
func EachSkeleton(packed []byte, after dag.Seq, fn func(dag.Skeleton) error) error {
	lists := room{parents: make([]dag.SkeletonParent, 0, len(packed)/(runPrefix+skeletonSize))} // shared by all turns: one allocation per turn would take most of the time
	for len(packed) > 0 {
		seq, skeleton, rest, err := next(packed)
		if err != nil {
			return err
		}
		if s := (dag.Skeleton{Seq: seq}); seq > after {
			if err := readSkeleton(&s, skeleton, &lists); err != nil {
				return err
			}
			if err := fn(s); err != nil {
				return err
			}
		}
		packed = rest
	}
	return nil
}

// Read returns the skeletons of a packed run of a conversation that are numbered
// above after and up to most.
func Read(packed []byte, conversation dag.ConversationID, after, most dag.Seq) ([]dag.Skeleton, error) {
	run := make([]dag.Skeleton, 0, len(packed)/(runPrefix+skeletonSize+parentSize)+1)
	err := EachSkeleton(packed, after, func(t dag.Skeleton) error {
		if t.Seq <= most {
			t.Conversation = conversation
			run = append(run, t)
		}
		return nil
	})
	return run, err
}

// Taken returns how many of the last runs of a conversation the new turns absorb, given the lengths of those runs, the last first.
func Taken(fresh int, lengths []int) int {
	total, room := fresh, MaxRun
	for i, n := range lengths {
		if n > min(total, room-1) {
			return i
		}
		total += n
		room -= n
	}
	return len(lengths)
}

// Join returns one run made of several, which are given the last first.
func Join(conversation dag.ConversationID, runs []Run) Run {
	joined := Run{Conversation: conversation}
	for i := len(runs) - 1; i >= 0; i-- {
		joined.Packed = append(joined.Packed, runs[i].Packed...)
		joined.Turns += runs[i].Turns
		joined.Last = runs[i].Last
	}
	return joined
}

// Until returns the part of a run up to a number.
func Until(r Run, most dag.Seq) (Run, error) {
	kept := Run{Conversation: r.Conversation}
	rest := r.Packed
	for len(rest) > 0 {
		seq, _, after, err := next(rest)
		if err != nil {
			return Run{}, err
		}
		if seq > most {
			break
		}
		kept.Turns++
		kept.Last = seq
		rest = after
	}
	kept.Packed = r.Packed[:len(r.Packed)-len(rest)]
	return kept, nil
}

// next splits the first skeleton off a packed run.
func next(packed []byte) (seq dag.Seq, skeleton, rest []byte, err error) {
	if len(packed) < runPrefix {
		return 0, nil, nil, fmt.Errorf("%w: a run of skeletons ends with %d bytes that are too few for a skeleton", store.ErrDamaged, len(packed))
	}
	seq = dag.Seq(binary.BigEndian.Uint64(packed))
	size := int(binary.BigEndian.Uint32(packed[8:]))
	packed = packed[runPrefix:]
	if size < 0 || len(packed) < size {
		return 0, nil, nil, fmt.Errorf("%w: the skeleton of turn %d is cut short", store.ErrDamaged, seq)
	}
	return seq, packed[:size], packed[size:], nil
}
