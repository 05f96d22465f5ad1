package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
)

// Look-ups within a write.
const (
	queryParents = `SELECT a.id, i.conversation FROM (SELECT DISTINCT unnest($2::uuid[]) AS id) a
		CROSS JOIN LATERAL (SELECT conversation FROM ids WHERE tenant = $1 AND id = a.id OFFSET 0) i`

	// The last runs of conversations, without their bytes. Runs grow like a binary counter, so new turns never absorb more than these.
	queryTails = `SELECT c.conversation, r.last, r.turns FROM unnest($2::uuid[]) c (conversation)
		CROSS JOIN LATERAL (SELECT last, turns FROM runs WHERE tenant = $1 AND conversation = c.conversation ORDER BY last DESC LIMIT 12) r`

	queryTakeRun = `DELETE FROM runs WHERE tenant = $1 AND conversation = $2 AND last = $3 RETURNING run`

	queryGrow = `INSERT INTO conversations (tenant, conversation, turns, first, last, first_at, last_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (tenant, conversation) DO UPDATE SET turns = conversations.turns + excluded.turns, last = excluded.last,
			first_at = least(conversations.first_at, excluded.first_at), last_at = greatest(conversations.last_at, excluded.last_at)
		RETURNING turns`

	queryMove = `UPDATE tenants SET head = $2, writer = $3 WHERE tenant = $1`
)

// Append admits batches; see store.Store. It hashes before it locks the tenant's row. Then it takes six round trips, however
// many turns there are, and two more if partitions are on other servers. More than a few rows are inserted with COPY.
func (s *Store) Append(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (store.Receipt, error) {
	prepared, err := store.Prepare(batches)
	if err != nil {
		return store.Receipt{}, fmt.Errorf("postgres: append: %w", err)
	}
	var receipt, planned store.Receipt
	err = s.write(ctx, "append", tenant, func(t *tx) (err error) {
		if t.mine { // all was admitted, only the answer was lost
			receipt = planned
			return nil
		}
		receipt, err = t.append(prepared)
		planned = receipt
		return err
	})
	return intact(receipt, err)
}

func (t *tx) append(p *store.Prepared) (store.Receipt, error) {
	known, err := t.known(p.Arriving(), p.Beyond(), p.Unless())
	if err != nil {
		return store.Receipt{}, err
	}
	records, receipt, err := p.Plan(known)
	if err != nil || len(records) == 0 {
		return receipt, err
	}
	if err := t.sweep(); err != nil {
		return receipt, err
	}
	return receipt, t.admit(records, receipt.Head)
}

// lookupIDs bounds the list of ids in one statement.
const lookupIDs = 8192

// known reads the stored data that Plan needs, without bodies: a request with a thousand ids must not make the program load a thousand stored texts.
func (t *tx) known(arriving, beyond []dag.TurnID, unless []history.Range) (store.Known, error) {
	k := store.Known{Head: t.head, Stored: map[dag.TurnID]*store.Record{}, Parents: map[dag.TurnID]dag.ConversationID{}}
	if t.fresh {
		return k, nil
	}
	b := &pgx.Batch{}
	for ids := range slices.Chunk(arriving, lookupIDs) {
		b.Queue(queryStored, string(t.name), uuids(ids)).Query(func(rows pgx.Rows) error {
			return eachRecord(rows, func(r *store.Record) { stored := *r; k.Stored[r.Turn.ID] = &stored })
		})
	}
	for ids := range slices.Chunk(beyond, lookupIDs) {
		b.Queue(queryParents, string(t.name), uuids(ids)).Query(func(rows pgx.Rows) error {
			var id, of [16]byte
			_, err := pgx.ForEachRow(rows, []any{&id, &of}, func() error {
				k.Parents[id] = of
				return nil
			})
			return err
		})
	}
	if len(unless) > 0 {
		k.Unless = make([][]history.Term, len(unless))
		b.Queue(rangesQuery(unless), rangeArrays(t.name, unless)...).Query(func(rows pgx.Rows) error { return readRanges(rows, unless, k.Unless) })
	}
	return k, t.SendBatch(t.ctx, b).Close()
}

// uuids returns ids in the type that the driver accepts.
func uuids[T ~[16]byte](ids []T) [][16]byte {
	list := make([][16]byte, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	return list
}

// admit inserts planned records and moves the head. The caller has called sweep.
func (t *tx) admit(records []store.Record, head dag.Seq) error {
	kept := make([][]byte, len(records))
	for i := range records {
		kept[i] = packed.Kept(&records[i])
	}
	err := t.insert("turns", []string{"tenant", "conversation", "seq", "kept", "name", "salt", "external", "body", "key"}, len(records), func(i int) []any {
		r := &records[i]
		var name, external []byte
		if r.External != "" {
			key := store.KeyOf(r.External)
			name, external = key[:], []byte(r.External)
		}
		return []any{string(t.name), uuid(r.Turn.Conversation), int64(r.Seq), kept[i], name, packed.Salt(r), external, r.Body, packed.Key(r)}
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
	err = t.insert("ids", []string{"tenant", "id", "conversation", "seq"}, len(records), func(i int) []any {
		r := &records[byID[i]]
		return []any{string(t.name), uuid(r.Turn.ID), uuid(r.Turn.Conversation), int64(r.Seq)}
	})
	if err != nil {
		return err
	}
	links := packed.Links(records)
	err = t.insert("links", []string{"tenant", "parent_conversation", "seq", "link"}, len(links), func(i int) []any {
		l := &links[i]
		return []any{string(t.name), uuid(l.From), int64(l.Seq), packed.Link(&l.Link)}
	})
	if err != nil {
		return err
	}
	if err := t.admitConversations(records, kept); err != nil {
		return err
	}
	return t.exec("head", queryMove, string(t.name), int64(head), t.writer)
}

func uuid[T ~[16]byte](id T) [16]byte { return id }

// copied is the number of rows from which COPY pays.
const copied = 48

// insert is a write step that inserts n rows.
func (t *steps) insert(table string, columns []string, n int, row func(i int) []any) error {
	if n == 0 {
		return nil
	}
	if err := t.begin(table); err != nil {
		return err
	}
	if n >= copied {
		rows, err := t.CopyFrom(t.ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil }))
		if err == nil && rows != int64(n) {
			err = fmt.Errorf("%d of %d rows were copied into %s", rows, n, table)
		}
		return err
	}
	sql := insertInto(table, columns)
	b := &pgx.Batch{}
	for i := range n {
		b.Queue(sql, row(i)...)
	}
	return t.SendBatch(t.ctx, b).Close()
}

func insertInto(table string, columns []string) string {
	names, values := "", ""
	for i, c := range columns {
		if i > 0 {
			names, values = names+", ", values+", "
		}
		names += c
		values += fmt.Sprintf("$%d", i+1)
	}
	return "INSERT INTO " + table + " (" + names + ") VALUES (" + values + ")"
}

// admitConversations counts the new turns of each conversation, and adds their
// skeletons to its runs.
func (t *tx) admitConversations(records []store.Record, kept [][]byte) error {
	if err := t.begin("conversations"); err != nil {
		return err
	}
	grown := packed.Grow(records, kept)
	taken, err := t.growConversations(grown)
	if err != nil {
		return err
	}
	var runs []packed.Run
	for _, g := range grown {
		runs = append(runs, packed.Join(g.ID, taken[g.ID]).Extend(g.Fresh)...)
	}
	return t.insert("runs", []string{"tenant", "conversation", "last", "turns", "run"}, len(runs), func(i int) []any {
		r := &runs[i]
		return []any{string(t.name), uuid(r.Conversation), int64(r.Last), r.Turns, r.Packed}
	})
}

// growConversations updates the counts of conversations. It removes and returns the runs at their ends that the new turns absorb, the last first.
func (t *tx) growConversations(grown []*packed.Growth) (map[dag.ConversationID][]packed.Run, error) {
	// Conversations are updated in one order everywhere: two writers of one tenant wait for each
	// other anyway, but other statements that change these rows must not deadlock with them.
	slices.SortFunc(grown, func(a, b *packed.Growth) int { return cmp.Compare(a.First, b.First) })
	b := &pgx.Batch{}
	var older [][16]byte
	fresh := map[dag.ConversationID]int{}
	for _, g := range grown {
		b.Queue(queryGrow, string(t.name), uuid(g.ID), g.Turns, int64(g.First), int64(g.Last), int64(g.FirstAt), int64(g.LastAt)).QueryRow(func(row pgx.Row) error {
			var turns int
			if err := row.Scan(&turns); err != nil {
				return err
			}
			if turns > g.Turns {
				older = append(older, uuid(g.ID))
				fresh[g.ID] = g.Turns
			}
			return nil
		})
	}
	if err := t.SendBatch(t.ctx, b).Close(); err != nil || len(older) == 0 {
		return nil, err
	}
	tails, err := t.tails(older)
	if err != nil {
		return nil, err
	}
	taken := map[dag.ConversationID][]packed.Run{}
	b = &pgx.Batch{}
	for id, tail := range tails {
		lengths := make([]int, len(tail))
		for i, r := range tail {
			lengths[i] = r.Turns
		}
		tail = tail[:packed.Taken(fresh[id], lengths)]
		taken[id] = tail
		for i := range tail {
			b.Queue(queryTakeRun, string(t.name), uuid(id), int64(tail[i].Last)).QueryRow(func(row pgx.Row) error { return row.Scan(&tail[i].Packed) })
		}
	}
	if b.Len() == 0 {
		return taken, nil
	}
	return taken, t.SendBatch(t.ctx, b).Close()
}

// tails returns the last runs of conversations, the last first, without their bytes.
func (t *tx) tails(conversations [][16]byte) (map[dag.ConversationID][]packed.Run, error) {
	rows, err := t.Query(t.ctx, queryTails, string(t.name), conversations)
	if err != nil {
		return nil, err
	}
	tails := map[dag.ConversationID][]packed.Run{}
	var id [16]byte
	var last int64
	var turns int
	_, err = pgx.ForEachRow(rows, []any{&id, &last, &turns}, func() error {
		tails[id] = append(tails[id], packed.Run{Conversation: id, Last: dag.Seq(last), Turns: turns})
		return nil
	})
	for _, runs := range tails {
		slices.SortFunc(runs, func(a, b packed.Run) int { return cmp.Compare(b.Last, a.Last) })
	}
	return tails, err
}

// If partitions are on other servers, a commit is not atomic: those servers commit first, and the server with
// the head commits last. A write that was never completed may leave rows that are numbered above the head.
// Readers skip these rows, and the next write removes them before it uses the same numbers for other turns.
//
// For that, the next write must see them. A commit can go on over there after the primary has given it up (it waits for that server's standby,
// say), and its rows are visible to nobody until it ends. So each server has a row for each tenant, its guard, which every write changes.
//
//   - postgres_fdw does everything that one transaction does on one server in one transaction over there, at
//     REPEATABLE READ: with the snapshot of the first statement. It asks for a commit when all other statements
//     were answered. So every transaction that can still commit over there has changed the guard, and has it
//     locked.
//   - If such a transaction commits before that snapshot, the sweep sees its rows. If it is under way, the
//     change of the guard waits for its end; and if it then commits, or committed since the snapshot, the change
//     fails with 40001, and the write begins anew with a new snapshot. So after the guard was changed, the
//     snapshot misses nothing, and it does not matter which statement took it: the look-ups of known and of
//     Erase may come before.
//   - If the end does not come, that server's lock_timeout or this one's statement_timeout ends the wait for the
//     guard, and the write fails with store.ErrBusy.
//   - The first write of a tenant over there finds no guard, and inserts it. If the guard of another first write
//     is there and not visible yet, the insertion waits for it as a change would, and fails with 40001 as well,
//     ON CONFLICT DO NOTHING or not.
//
// A lock (FOR UPDATE, an advisory one) would wait, too, but continue with its old snapshot.
const (
	// The servers of partitions, and whether they have guards. It is asked under the tenant's lock: partitions are moved only while no write has one.
	queryGuarded = `SELECT DISTINCT s.srvname::text, EXISTS (SELECT FROM pg_inherits g JOIN pg_foreign_table o ON o.ftrelid = g.inhrelid
			WHERE g.inhparent = 'guards'::regclass AND o.ftserver = s.oid)
		FROM pg_inherits i JOIN pg_foreign_table f ON f.ftrelid = i.inhrelid JOIN pg_foreign_server s ON s.oid = f.ftserver
		WHERE i.inhparent IN ('turns'::regclass, 'runs'::regclass)`

	queryGuard      = `UPDATE guards SET writes = writes + 1 WHERE tenant = $1 RETURNING server`
	queryFirstGuard = `INSERT INTO guards (tenant, server, writes) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING`
	querySweepTurns = `DELETE FROM turns WHERE tenant = $1 AND seq > $2`
	queryTornRuns   = `DELETE FROM runs WHERE tenant = $1 AND last > $2 RETURNING conversation, run`
)

// sweep removes the rows that torn writes left, and makes sure that none come later.
func (t *tx) sweep() error {
	if !t.spread {
		return nil
	}
	if err := t.guard(); err != nil {
		return err
	}
	var mended []packed.Run
	b := &pgx.Batch{}
	b.Queue(querySweepTurns, string(t.name), int64(t.head))
	b.Queue(queryTornRuns, string(t.name), int64(t.head)).Query(func(rows pgx.Rows) error {
		var id [16]byte
		var run pgtype.DriverBytes
		_, err := pgx.ForEachRow(rows, []any{&id, &run}, func() error {
			whole, err := packed.Until(packed.Run{Conversation: id, Packed: slices.Clone([]byte(run))}, t.head)
			if err == nil && whole.Turns > 0 {
				mended = append(mended, whole)
			}
			return err
		})
		return err
	})
	if err := t.SendBatch(t.ctx, b).Close(); err != nil {
		return err
	}
	for _, r := range mended {
		if _, err := t.Exec(t.ctx, insertInto("runs", []string{"tenant", "conversation", "last", "turns", "run"}), string(t.name), uuid(r.Conversation), int64(r.Last), r.Turns, r.Packed); err != nil {
			return err
		}
	}
	return nil
}

// guard changes the tenant's guard on each server that has partitions. It takes one round trip
// to the primary and one to each of these servers, and more at the tenant's first write there.
func (t *tx) guard() error {
	var servers []string
	changed := map[string]bool{}
	b := &pgx.Batch{}
	b.Queue(queryGuarded).Query(func(rows pgx.Rows) error {
		var server string
		var guarded bool
		_, err := pgx.ForEachRow(rows, []any{&server, &guarded}, func() error {
			if !guarded {
				return fmt.Errorf("there are partitions on server %q but no guards; create the guards as in docs/scaling.md under \"Partitions on other servers\"", server)
			}
			servers = append(servers, server)
			return nil
		})
		return err
	})
	b.Queue(queryGuard, string(t.name)).Query(func(rows pgx.Rows) error {
		var server string
		_, err := pgx.ForEachRow(rows, []any{&server}, func() error {
			changed[server] = true
			return nil
		})
		return err
	})
	if err := t.SendBatch(t.ctx, b).Close(); err != nil {
		return err
	}
	for _, server := range servers {
		if changed[server] {
			continue
		}
		made, err := t.Exec(t.ctx, queryFirstGuard, string(t.name), server)
		if err == nil && made.RowsAffected() != 1 {
			err = errors.New("the guard exists but could not be changed")
		}
		if err != nil {
			return fmt.Errorf("the guard on server %q, see docs/scaling.md: %w", server, err)
		}
	}
	return nil
}
