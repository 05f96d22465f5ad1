package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// TestMigrate opens files of every earlier schema, with all that such a file can
// hold. Nothing of it changes, and the result has the schema of a new file.
func TestMigrate(t *testing.T) {
	texts, err := packed.Schema(schemaFiles)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	folder := t.TempDir()
	full := filepath.Join(folder, "full.db")
	fill := filled(t, full)
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for version := 1; version < len(texts); version++ {
		path := filepath.Join(folder, fmt.Sprintf("schema %d.db", version))
		columns := oldFile(t, path, full, texts[:version])
		want := contents(t, path, columns)
		step := store.Migration{From: version, To: len(texts)}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Migrate(ctx, path, true); err != nil || m != step {
			t.Errorf("schema %d: a dry run gave %+v, %v, want %+v", version, m, err, step)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("schema %d: a dry run changed the file", version)
		}
		if m, err := Migrate(ctx, path, false); err != nil || m != step {
			t.Errorf("schema %d: Migrate gave %+v, %v, want %+v", version, m, err, step)
		}
		if m, err := Migrate(ctx, path, false); err != nil || m.From != m.To {
			t.Errorf("schema %d: Migrate again gave %+v, %v", version, m, err)
		}
		s, err := Open(ctx, path, Options{})
		if err != nil {
			t.Fatalf("schema %d: %v", version, err)
		}
		if got := contents(t, path, columns); got != want {
			t.Errorf("schema %d: after the migration there is\n%s\nbefore\n%s", version, got, want)
		}
		if got, want := schema(t, path), schema(t, full); got != want {
			t.Errorf("schema %d became\n%s\na new file has\n%s", version, got, want)
		}
		for _, tenant := range []dag.Tenant{storetest.Tenant, "other"} {
			if err := storetest.Check(ctx, s, tenant); err != nil {
				t.Errorf("schema %d, %s: %v", version, tenant, err)
			}
			if version < withLedger {
				checkBacklog(t, s, tenant, version)
			}
		}
		// Old and new go on.
		if got, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 31, 0)}); err != nil || got.Existing != 30 || got.Admitted != 1 {
			t.Errorf("schema %d: Append gave %+v, %v", version, got, err)
		}
		if err := s.PutKey(ctx, storetest.Key(50)); err != nil {
			t.Errorf("schema %d: PutKey: %v", version, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		tried++
	}
	if tried == 0 {
		t.Error("there is no earlier schema")
	}
}

// checkBacklog makes sure that a ledger which a migration made holds the leaves of all
// acts, by kind and in the order of their listings.
func checkBacklog(t *testing.T, s *Store, tenant dag.Tenant, version int) {
	t.Helper()
	ctx := t.Context()
	registry, err := s.Policies(ctx, tenant)
	keys, listed := s.Keys(ctx, tenant)
	events, read := s.Events(ctx, tenant, 0, 99)
	issued, recorded := s.IssuedAfter(ctx, tenant, 0, 2*backlogPage)
	got, logged := s.LogLeaves(ctx, tenant, 0, 3*backlogPage)
	if err := errors.Join(err, listed, read, recorded, logged); err != nil {
		t.Fatal(err)
	}
	var want [][]byte
	for _, p := range registry.All() {
		want = append(want, store.PolicyLeaf(tenant, p))
	}
	for i := range keys {
		want = append(want, store.KeyLeaves(&keys[i])...)
	}
	for i := range events {
		want = append(want, store.EventLeaf(tenant, &events[i]))
	}
	for i := range issued {
		want = append(want, store.IssuedLeaf(tenant, &issued[i]))
	}
	if version < 2 { // which has no API keys
		want = slices.DeleteFunc(want, func(leaf []byte) bool { return bytes.Contains(leaf, []byte(`"type":"key"`)) })
	} else if len(keys) == 0 {
		t.Errorf("schema %d, %s: there are no keys: this test shows nothing", version, tenant)
	}
	if !slices.EqualFunc(got, want, bytes.Equal) || len(issued) <= backlogPage || len(events) < 2 || len(registry.All()) < 2 {
		t.Errorf("schema %d, %s: the ledger has %d leaves, want %d in the order of the acts", version, tenant, len(got), len(want))
	}
}

// filledActs is how many acts filled records of each tenant, behind everything else.
const filledActs = 4

// filled makes a store with something in every table.
func filled(t *testing.T, path string) *Store {
	t.Helper()
	ctx := t.Context()
	s, err := Create(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []dag.Tenant{"other", storetest.Tenant} {
		key := storetest.Key(1)
		key.Tenant = tenant
		_, appended := s.Append(ctx, tenant, []store.Batch{
			storetest.Chain(1, 30, 0),
			{storetest.Named(storetest.Arrival(100, 1, "linked", 3), "name")},
		})
		_, erased := s.Erase(ctx, tenant, storetest.Erasure(2))
		var list []store.Issued
		for n := range backlogPage + 3 {
			list = append(list, storetest.Issued(n, n%7))
		}
		_, issued := s.PutIssued(ctx, tenant, list)
		_, again := s.Erase(ctx, tenant, storetest.Erasure(5))
		revoked := storetest.Key(2)
		revoked.Tenant = tenant
		kept := s.PutKey(ctx, revoked)
		_, ended := s.RevokeKey(ctx, tenant, revoked.ID, storetest.RevokedAt(2))
		witnessed := s.PutWitnessed(ctx, tenant, "log.example", ledger.Root{}, ledger.Root{Size: 3})
		var acts []knowledge.Act
		for n := range filledActs {
			acts = append(acts, storetest.Assertion(n, 1, n+1, dag.One, "user"))
		}
		_, learnt := s.PutActs(ctx, tenant, acts, 1)
		for _, err := range []error{
			learnt, appended, erased, again, issued, kept, ended, witnessed,
			s.PutPolicy(ctx, tenant, storetest.Policy("p@2", 2)), s.PutPolicy(ctx, tenant, storetest.Policy("p@1", 1)), s.PutKey(ctx, key)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, table := range tablesOf(t, path) {
		var rows int
		if err := s.readers.QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&rows); err != nil || rows == 0 {
			t.Fatalf("table %s has %d rows, %v; put something there", table, rows, err)
		}
	}
	return s
}

// oldFile makes a file of the schemas given, with what the full one has in the
// tables that were there then, and gives their columns, as "a, b FROM table".
func oldFile(t *testing.T, path, full string, texts []string) []string {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := plainly(t, path)
	run := func(text string, args ...any) {
		t.Helper()
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for _, text := range texts {
		run(text)
	}
	var all []string
	for _, table := range tablesOf(t, path) {
		names := lines(t, path, `SELECT group_concat(name) FROM pragma_table_info('`+table+`')`)
		all = append(all, strings.Trim(names[0], `["]`)+` FROM `+table)
	}
	run(`ATTACH ? AS newer`, full)
	for _, columns := range all {
		names, table, _ := strings.Cut(columns, ` FROM `)
		run(`INSERT INTO main.` + table + ` (` + names + `) SELECT ` + names + ` FROM newer.` + table)
	}
	run(`DETACH newer`)
	if len(texts) < 5 { // there were no acts, which are the last numbers of the full one
		run(`UPDATE tenants SET head = head - ?`, filledActs)
	}
	run(fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	run(fmt.Sprintf(`PRAGMA user_version = %d`, len(texts)))
	return all
}

// plainly opens a file as any program could.
func plainly(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// lines gives the rows of a query as text.
func lines(t *testing.T, path, query string) (all []string) {
	t.Helper()
	db := plainly(t, path)
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	if err := each(rows, func() error {
		all = append(all, fmt.Sprintf("%q", values))
		return nil
	}, into...); err != nil {
		t.Fatal(err)
	}
	return all
}

func tablesOf(t *testing.T, path string) (names []string) {
	t.Helper()
	for _, line := range lines(t, path, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`) {
		names = append(names, strings.Trim(line, `["]`))
	}
	return names
}

func contents(t *testing.T, path string, columns []string) string {
	t.Helper()
	var all []string
	for _, columns := range columns {
		rows := lines(t, path, `SELECT `+columns)
		slices.Sort(rows)
		all = append(all, columns)
		all = append(all, rows...)
	}
	return strings.Join(all, "\n")
}

func schema(t *testing.T, path string) string {
	t.Helper()
	identity := `SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`
	return strings.Join(append(lines(t, path, identity), lines(t, path, `SELECT type, name, sql FROM sqlite_schema ORDER BY name`)...), "\n")
}
