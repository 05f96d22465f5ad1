package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/packed"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// addSchemas adds schemas to those of the program, for one test.
func addSchemas(t *testing.T, texts ...string) (newest int) {
	t.Helper()
	before := schemaFiles
	t.Cleanup(func() { schemaFiles = before })
	old, err := packed.Schema(before)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for i, text := range append(old, texts...) {
		if text != "" {
			files[fmt.Sprintf("schema/%04d.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	schemaFiles = files
	return len(old) + len(texts)
}

// TestMigrate opens a file of an earlier schema than the program's, with something in every
// table. Nothing of it changes, and the result has the schema of a new file.
func TestMigrate(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	path, fresh := filepath.Join(folder, "old.db"), filepath.Join(folder, "new.db")
	if err := filled(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, table := range tablesOf(t, path) {
		names := lines(t, path, `SELECT group_concat(name) FROM pragma_table_info('`+table+`')`)
		columns = append(columns, strings.Trim(names[0], `["]`)+` FROM `+table)
	}
	want := contents(t, path, columns)
	newest := addSchemas(t, `ALTER TABLE entries ADD COLUMN more BLOB;`, `CREATE TABLE extra (tenant INTEGER PRIMARY KEY);`)
	step := store.Migration{From: newest - 2, To: newest}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Migrate(ctx, path, true); err != nil || m != step {
		t.Errorf("a dry run gave %+v, %v, want %+v", m, err, step)
	}
	if s, err := Open(ctx, path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "graphkernel migrate") {
		t.Errorf("opened for reading alone: %v, %v", s, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Error("a dry run, or opening for reading alone, changed the file")
	}
	if m, err := Migrate(ctx, path, false); err != nil || m != step {
		t.Errorf("Migrate gave %+v, %v, want %+v", m, err, step)
	}
	if m, err := Migrate(ctx, path, false); err != nil || m.From != m.To {
		t.Errorf("Migrate again gave %+v, %v", m, err)
	}
	s, err := Create(ctx, fresh, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	everyPageChecked(t, path)
	if got := contents(t, path, columns); got != want {
		t.Errorf("after the migration there is\n%s\nbefore\n%s", got, want)
	}
	if got, want := schema(t, path), schema(t, fresh); got != want {
		t.Errorf("the old one became\n%s\na new file has\n%s", got, want)
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tenant := range []dag.Tenant{storetest.Tenant, "other"} {
		if err := storetest.Check(ctx, s, tenant); err != nil {
			t.Errorf("%s: %v", tenant, err)
		}
	}
	// Old and new go on.
	if got, err := s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 31, 0)}); err != nil || got.Existing != 30 || got.Admitted != 1 {
		t.Errorf("Append gave %+v, %v", got, err)
	}
}

// TestMigrateFails makes sure that a migration that fails in the middle changes nothing.
func TestMigrateFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	if err := filled(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	before := schema(t, path)
	addSchemas(t, `CREATE TABLE extra (tenant INTEGER PRIMARY KEY);`, `CREATE TABLE tenants (tenant INTEGER);`)
	if _, err := Migrate(t.Context(), path, false); err == nil || !strings.Contains(err.Error(), "schema ") {
		t.Errorf("got %v, want an error that names the schema", err)
	}
	if after := schema(t, path); after != before {
		t.Errorf("the schema was\n%s\nand is\n%s", before, after)
	}
}

// everyPageChecked makes sure that each page of a closed file has its checksum.
func everyPageChecked(t *testing.T, path string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil || len(file) < 10*4096 {
		t.Fatalf("%d bytes, %v", len(file), err)
	}
	for page := 0; page*4096 < len(file); page++ {
		if b := file[page*4096:][:4096]; checksum(b) != binary.LittleEndian.Uint64(b[4096-checksumSize:]) {
			t.Errorf("page %d has no checksum", page+1)
		}
	}
}

// TestUnreleasedSchemas makes sure that files of before the first release are refused, with what
// to do, and are left as they are.
func TestUnreleasedSchemas(t *testing.T) {
	for version := 1; version < packed.Oldest; version++ {
		path := filepath.Join(t.TempDir(), "old.db")
		db := plainly(t, path)
		for _, text := range []string{`CREATE TABLE tenants (tenant INTEGER PRIMARY KEY)`, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID), fmt.Sprintf(`PRAGMA user_version = %d`, version)} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, opened := Open(t.Context(), path, Options{})
		_, read := Open(t.Context(), path, Options{ReadOnly: true})
		_, dry := Migrate(t.Context(), path, true)
		_, migrated := Migrate(t.Context(), path, false)
		for _, err := range []error{opened, read, dry, migrated} {
			if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "export") {
				t.Errorf("schema %d: %v, want an error that says to export", version, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("schema %d: the file was changed", version)
		}
	}
}

// filledActs is how many acts filled records of each tenant, after everything else.
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
		_, erased := storetest.Erase(ctx, s, tenant, storetest.Erasure(2))
		var list []issued.Record
		for n := range 30 {
			list = append(list, storetest.Issued(n, n%7))
		}
		_, recorded := storetest.Bundles(s).Put(ctx, tenant, list)
		_, again := storetest.Erase(ctx, s, tenant, storetest.Erasure(5))
		revoked := storetest.Key(2)
		revoked.Tenant = tenant
		kept := apikeys.Base{History: s}.Put(ctx, revoked)
		_, ended := apikeys.Base{History: s}.Revoke(ctx, tenant, revoked.ID, storetest.RevokedAt(2))
		swapped := s.Swap(ctx, tenant, "cosigned/log.example", nil, append([]byte{0, 0, 0, 0, 0, 0, 0, 3}, make([]byte, 32)...))
		snapped := storetest.Snap(ctx, s, tenant, []history.Snapshot{{Name: "test/1", Value: []byte("derived")}}, false)
		var acts []knowledge.Act
		for n := range filledActs {
			acts = append(acts, storetest.Assertion(n, 1, n+1, dag.One, "user"))
		}
		_, learnt := storetest.Facts(s).Learn(ctx, tenant, acts, 1)
		for _, err := range []error{
			learnt, appended, erased, again, recorded, kept, ended, swapped, snapped,
			registry.Base{History: s}.Put(ctx, tenant, storetest.Policy("p@2", 2)), registry.Base{History: s}.Put(ctx, tenant, storetest.Policy("p@1", 1)), apikeys.Base{History: s}.Put(ctx, key)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, table := range tablesOf(t, path) {
		var rows int
		if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&rows); err != nil || rows == 0 {
			t.Fatalf("table %s has %d rows, %v; put something there", table, rows, err)
		}
	}
	return s
}

// plainly opens a file as any program could: one that knows of checksums, if it is a store's.
func plainly(t *testing.T, path string) *sql.DB {
	t.Helper()
	name := "file:" + (&url.URL{Path: path}).EscapedPath()
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		name += "?vfs=" + VFS
	}
	db, err := sql.Open("sqlite", name)
	if err = errors.Join(err, RegisterVFS()); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// lines returns the rows of a query as text.
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
