package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// Append admits batches; see store.Store. It hashes before it takes the write lock.
// The look-ups and inserts are a constant number of statements for each 64 turns.
func (s *Store) Append(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (receipt store.Receipt, err error) {
	prepared, err := store.Prepare(batches)
	if err != nil {
		return store.Receipt{}, failed("append", err)
	}
	err = s.while(ctx, "append", func() error {
		return s.write(ctx, tenant, func(t *tx) (err error) {
			receipt, err = t.append(prepared)
			return err
		})
	})
	return intact(receipt, err)
}

func (t *tx) append(p *store.Prepared) (store.Receipt, error) {
	known, err := t.known(p.Arriving(), p.Beyond())
	if err != nil {
		return store.Receipt{}, err
	}
	if unless := p.Unless(); len(unless) > 0 && t.tenant != 0 {
		if known.Unless, err = readRanges(t.ctx, t.termsIn, t.tenant, unless); err != nil {
			return store.Receipt{}, err
		}
	}
	records, receipt, err := p.Plan(known)
	if err != nil || len(records) == 0 {
		return receipt, err
	}
	if err := t.own(); err != nil {
		return store.Receipt{}, err
	}
	if err := t.admit(records); err != nil {
		return store.Receipt{}, err
	}
	return receipt, t.exec("head", t.writer.head, int64(receipt.Head), t.tenant)
}

// known reads the stored data that Plan needs, without bodies: a request with a thousand ids must not make the program load a thousand stored texts.
func (t *tx) known(arriving, beyond []dag.TurnID) (store.Known, error) {
	k := store.Known{Head: t.head, Stored: map[dag.TurnID]*store.Record{}, Parents: map[dag.TurnID]dag.ConversationID{}}
	if t.tenant == 0 {
		return k, nil
	}
	for ids := range slices.Chunk(slices.SortedFunc(slices.Values(arriving), dag.TurnID.Compare), lookupIDs) {
		rows, err := t.stored.QueryContext(t.ctx, idList(ids), t.tenant)
		if err != nil {
			return k, err
		}
		err = eachRecord(rows, func(r *store.Record) error {
			stored := *r
			k.Stored[r.Turn.ID] = &stored
			return nil
		})
		if err != nil {
			return k, err
		}
		if err := t.ended(); err != nil {
			return k, err
		}
	}
	for ids := range slices.Chunk(beyond, lookupIDs) {
		rows, err := t.parents.QueryContext(t.ctx, idList(ids), t.tenant)
		if err != nil {
			return k, err
		}
		var id, conversation sql.RawBytes
		err = each(rows, func() error {
			var parent dag.TurnID
			var of dag.ConversationID
			if err := packed.Fill(parent[:], id, "a turn's id"); err != nil {
				return err
			}
			if err := packed.Fill(of[:], conversation, "a conversation's id"); err != nil {
				return err
			}
			k.Parents[parent] = of
			return nil
		}, &id, &conversation)
		if err != nil {
			return k, err
		}
	}
	return k, nil
}

// lookupIDs bounds the list of ids in one statement.
const lookupIDs = 4096

// admit inserts new records, and does not move the head.
func (t *tx) admit(records []store.Record) error {
	if len(records) == 0 {
		return nil
	}
	var last int64
	if err := t.lastTurn.QueryRowContext(t.ctx).Scan(&last); err != nil {
		return err
	}
	kept := make([][]byte, len(records))
	for i := range records {
		kept[i] = packed.Kept(&records[i])
	}
	err := t.insert("turns", &t.turns, len(records), func(args []any, i int) []any {
		r := &records[i]
		args = append(args, last+1+int64(i), t.tenant, int64(r.Seq), kept[i])
		if r.Body == nil {
			return append(args, nil, packed.Salt(r), nil, nil, packed.Key(r))
		}
		if r.External == "" {
			return append(args, nil, r.Salt[:], nil, r.Body, packed.Key(r))
		}
		key := store.KeyOf(r.External)
		return append(args, key[:], r.Salt[:], []byte(r.External), r.Body, packed.Key(r))
	})
	if err != nil {
		return err
	}
	// By ascending id: neighbours share pages of this index, the only index that grows everywhere.
	byID := make([]int, len(records))
	for i := range byID {
		byID[i] = i
	}
	slices.SortFunc(byID, func(a, b int) int { return records[a].Turn.ID.Compare(records[b].Turn.ID) })
	err = t.insert("ids", &t.ids, len(records), func(args []any, i int) []any {
		return append(args, t.tenant, records[byID[i]].Turn.ID[:], last+1+int64(byID[i]))
	})
	if err != nil {
		return err
	}
	links := packed.Links(records)
	err = t.insert("links", &t.links, len(links), func(args []any, i int) []any {
		l := &links[i]
		return append(args, t.tenant, l.From[:], int64(l.Seq), packed.Link(&l.Link))
	})
	if err != nil {
		return err
	}
	return t.admitConversations(records, kept)
}

// admitConversations counts the new turns of each conversation, and adds their
// skeletons to its runs.
func (t *tx) admitConversations(records []store.Record, kept [][]byte) error {
	if err := t.begin("conversations"); err != nil {
		return err
	}
	var runs []packed.Run
	for _, g := range packed.Grow(records, kept) {
		var turns int
		err := t.conversation.QueryRowContext(t.ctx, t.tenant, g.ID[:], g.Turns, int64(g.First), int64(g.Last), int64(g.FirstAt), int64(g.LastAt)).Scan(&turns)
		if err != nil {
			return err
		}
		tail := packed.Run{Conversation: g.ID}
		if turns > g.Turns {
			if tail, err = t.takeTail(g.ID, g.Turns); err != nil {
				return err
			}
		}
		runs = append(runs, tail.Extend(g.Fresh)...)
	}
	return t.insert("runs", &t.runs, len(runs), func(args []any, i int) []any {
		r := &runs[i]
		return append(args, t.tenant, r.Conversation[:], int64(r.Last), r.Turns, r.Packed)
	})
}
