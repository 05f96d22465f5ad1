package sqlite

import (
	"database/sql"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store/packed"
)

// takeTail removes the runs at a conversation's end that the new turns absorb, and returns them as one.
func (t *tx) takeTail(conversation dag.ConversationID, fresh int) (packed.Run, error) {
	var taken []packed.Run
	var lengths []int
	for before := dag.MaxSeq; ; before = taken[len(taken)-1].Last {
		r := packed.Run{Conversation: conversation}
		found, err := t.lastRun(&r, before)
		if err != nil {
			return packed.Run{}, err
		}
		if lengths = append(lengths, r.Turns); !found || packed.Taken(fresh, lengths) < len(lengths) {
			return packed.Join(conversation, taken), nil
		}
		if _, err := t.dropRun.ExecContext(t.ctx, t.tenant, conversation[:], int64(r.Last)); err != nil {
			return packed.Run{}, err
		}
		taken = append(taken, r)
	}
}

// lastRun reads the last run that ends before a number. A full run is read without its bytes, since it is never absorbed.
func (t *tx) lastRun(r *packed.Run, before dag.Seq) (bool, error) {
	var last int64
	err := t.tailRun.QueryRowContext(t.ctx, packed.MaxRun-1, t.tenant, r.Conversation[:], int64(before)).Scan(&last, &r.Turns, &r.Packed)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	r.Last = dag.Seq(last)
	return true, err
}
