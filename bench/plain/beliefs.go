package plain

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
)

// Beliefs is what a user would write instead of a base of beliefs: a table of triples with the times since when and until when each counts, in which a
// value takes the place of another.
type Beliefs struct {
	db                *sql.DB
	end, insert, base *sql.Stmt
}

// SQLiteBeliefs makes a file for them, as durable as the kernel's store.
func SQLiteBeliefs(ctx context.Context, path string) (_ *Beliefs, err error) {
	q := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(16384)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	b := &Beliefs{db: db}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if _, err := db.ExecContext(ctx, `
CREATE TABLE beliefs (subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER);
CREATE INDEX beliefs_now ON beliefs (subject, predicate) WHERE until IS NULL`); err != nil {
		return nil, err
	}
	for text, to := range map[string]**sql.Stmt{
		`UPDATE beliefs SET until = ? WHERE subject = ? AND predicate = ? AND until IS NULL`:                                             &b.end,
		`INSERT INTO beliefs VALUES (?, ?, ?, ?, NULL)`:                                                                                  &b.insert,
		`SELECT subject, predicate, object FROM beliefs WHERE since <= ?1 AND (until IS NULL OR until > ?1) ORDER BY subject, predicate`: &b.base,
	} {
		if *to, err = db.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Revise ends what is there of a subject and a predicate, and inserts the object.
func (b *Beliefs) Revise(ctx context.Context, at int, list ...Triple) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	for _, t := range list {
		if _, err := tx.StmtContext(ctx, b.end).ExecContext(ctx, at, t.Subject, t.Predicate); err != nil {
			return err
		}
		if _, err := tx.StmtContext(ctx, b.insert).ExecContext(ctx, t.Subject, t.Predicate, t.Object, at); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Base reads what counts at a time, and returns how many there are.
func (b *Beliefs) Base(ctx context.Context, at int) (n int, err error) {
	rows, err := b.base.QueryContext(ctx, at)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for ; rows.Next(); n++ {
		var t Triple
		if err := rows.Scan(&t.Subject, &t.Predicate, &t.Object); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// Close closes the file.
func (b *Beliefs) Close() error { return b.db.Close() }
