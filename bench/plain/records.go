package plain

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Record is what is written down of an issued slice, in whatever columns a user would
// take: the bundle's digest names it.
type Record struct {
	Bundle, Anchor, PolicyHash, Snapshot []byte
	Slice, Policy, KeyID, Token          string
	AsOf, At                             int64
}

// Records writes down what was issued, in one table with the two indexes that looking
// a slice up takes, and no ledger. Each call is one transaction and durable.
type Records interface {
	Put(ctx context.Context, records []Record) error
	Close() error
}

const (
	recordColumns = `number, slice, anchor, policy, policy_hash, snapshot, as_of, key, token, bundle, at`

	sqliteRecords = `
CREATE TABLE IF NOT EXISTS issued (
	number INTEGER PRIMARY KEY, slice TEXT NOT NULL, anchor BLOB NOT NULL, policy TEXT NOT NULL, policy_hash BLOB NOT NULL,
	snapshot BLOB NOT NULL, as_of INTEGER NOT NULL, key TEXT NOT NULL, token TEXT NOT NULL, bundle BLOB NOT NULL, at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS issued_by_bundle ON issued (bundle);
CREATE INDEX IF NOT EXISTS issued_by_slice ON issued (slice, number)`

	postgresRecords = `
CREATE TABLE issued (
	number bigint PRIMARY KEY, slice text COLLATE "C" NOT NULL, anchor bytea NOT NULL, policy text NOT NULL, policy_hash bytea NOT NULL,
	snapshot bytea NOT NULL, as_of bigint NOT NULL, key text NOT NULL, token text NOT NULL, bundle bytea NOT NULL, at bigint NOT NULL
);
CREATE UNIQUE INDEX issued_by_bundle ON issued (bundle);
CREATE INDEX issued_by_slice ON issued (slice, number)`
)

type sqliteLog struct {
	mu           sync.Mutex // one writer, as in the kernel's store
	db           *sql.DB
	conn         *sql.Conn
	find, insert *sql.Stmt
	last         int64
}

// SQLiteRecords makes a file for records, as durable as the kernel's store.
func SQLiteRecords(ctx context.Context, path string) (Records, error) {
	q := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(16384)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	l := &sqliteLog{db: db}
	if l.conn, err = db.Conn(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	_, err = l.conn.ExecContext(ctx, sqliteRecords)
	if err == nil {
		l.find, err = l.conn.PrepareContext(ctx, `SELECT number FROM issued WHERE bundle = ?`)
	}
	if err == nil {
		l.insert, err = l.conn.PrepareContext(ctx, `INSERT INTO issued (`+recordColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *sqliteLog) Close() error { return errors.Join(l.conn.Close(), l.db.Close()) }

func (l *sqliteLog) Put(ctx context.Context, records []Record) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if _, err := l.conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, undo := l.conn.ExecContext(ctx, `ROLLBACK`)
			err = errors.Join(err, undo)
		}
	}()
	for i := range records {
		r := &records[i]
		var number int64
		if err := l.find.QueryRowContext(ctx, r.Bundle).Scan(&number); err == nil {
			continue
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		l.last++
		if _, err := l.insert.ExecContext(ctx, l.last, r.Slice, r.Anchor, r.Policy, r.PolicyHash, r.Snapshot, r.AsOf, r.KeyID, r.Token, r.Bundle, r.At); err != nil {
			return err
		}
	}
	_, err = l.conn.ExecContext(ctx, `COMMIT`)
	return err
}

type postgresLog struct {
	mu   sync.Mutex
	pool *pgxpool.Pool
	last int64
}

// PostgresRecords makes a table for records in an empty database.
func PostgresRecords(ctx context.Context, url string) (Records, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, postgresRecords); err != nil {
		pool.Close()
		return nil, fmt.Errorf("records: %w", err)
	}
	return &postgresLog{pool: pool}, nil
}

func (l *postgresLog) Close() error {
	l.pool.Close()
	return nil
}

func (l *postgresLog) Put(ctx context.Context, records []Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	bundles := make([][]byte, len(records))
	for i := range records {
		bundles[i] = records[i].Bundle
	}
	rows, err := l.pool.Query(ctx, `SELECT bundle FROM issued WHERE bundle = ANY ($1)`, bundles)
	if err != nil {
		return err
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, b := range known {
		there[string(b)] = true
	}
	b := &pgx.Batch{}
	b.Queue(`BEGIN`)
	for i := range records {
		r := &records[i]
		if there[string(r.Bundle)] {
			continue
		}
		l.last++
		b.Queue(`INSERT INTO issued (`+recordColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			l.last, r.Slice, r.Anchor, r.Policy, r.PolicyHash, r.Snapshot, r.AsOf, r.KeyID, r.Token, r.Bundle, r.At)
	}
	b.Queue(`COMMIT`)
	return l.pool.SendBatch(ctx, b).Close()
}
