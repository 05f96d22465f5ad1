package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

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

// TestDigestKeys makes sure that digests in a store of schema 15 are found by all of their names and by their beginnings, and other names as before.
func TestDigestKeys(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "old.db")
	s, err := Create(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{strings.Repeat("3f2a", 10), strings.Repeat("3f2a", 16), strings.Repeat("3f2 ", 10), strings.Repeat("3F2A", 10), strings.Repeat("3f2g", 10), "3f2a"}
	var b store.Batch
	for n, name := range names {
		b = append(b, storetest.Named(storetest.Arrival(n, 0, "x"), name))
	}
	_, err = s.Append(ctx, storetest.Tenant, []store.Batch{b})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	keys := func() []string {
		return lines(t, path, `SELECT hex(name), CAST(external AS TEXT) FROM turns ORDER BY turn`)
	}
	want := keys()
	db := plainly(t, path)
	for n, name := range names {
		sum := sha256.Sum256([]byte(name))
		if _, err := db.ExecContext(ctx, `UPDATE turns SET name = ? WHERE external = ?`, sum[:8], []byte(names[n])); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(ctx, `PRAGMA user_version = 15`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(keys(), want) {
		t.Fatal("the keys of schema 15 are those of the newest")
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := keys(); !slices.Equal(got, want) {
		t.Errorf("the keys are %q, want %q", got, want)
	}
	for _, name := range names {
		if ids, err := s.Find(ctx, storetest.Tenant, store.External(name), 9); err != nil || len(ids) != 1 {
			t.Errorf("%q has %d turns, %v", name, len(ids), err)
		}
	}
	if ids, err := s.Find(ctx, storetest.Tenant, store.ExternalPrefix("3f2a3"), 9); err != nil || len(ids) != 2 {
		t.Errorf("%d turns, %v", len(ids), err)
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

// withoutChecksums makes a file of the last schema without checksums, with something in every table, some of it in its log still, as a process
// leaves it that was killed. It returns what the file has of columns.
func withoutChecksums(t *testing.T, old string) (columns []string, want string) {
	t.Helper()
	ctx, folder := t.Context(), t.TempDir()
	path, open := filepath.Join(folder, "new.db"), filepath.Join(folder, "open.db")
	if err := filled(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db := plainly(t, open)
	texts, err := packed.Schema(schemaFiles)
	if err != nil {
		t.Fatal(err)
	}
	statements := append(texts[:firstChecked-1:firstChecked-1], fmt.Sprintf(`PRAGMA application_id = %d`, applicationID), fmt.Sprintf(`PRAGMA user_version = %d`, firstChecked-1),
		`PRAGMA journal_mode = WAL`, `ATTACH '`+path+`' AS new`)
	added := map[string]bool{"part": true, "parts": true} // by later schemas
	for _, table := range tablesOf(t, path) {
		names := strings.Split(strings.Trim(lines(t, path, `SELECT group_concat(name) FROM pragma_table_info('`+table+`')`)[0], `["]`), ",")
		of := strings.Join(slices.DeleteFunc(names, func(name string) bool { return added[name] }), ", ")
		statements = append(statements, `INSERT INTO main.`+table+` (`+of+`) SELECT `+of+` FROM new.`+table)
		columns = append(columns, of+` FROM `+table)
	}
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(open + suffix)
		if err != nil || len(data) == 0 {
			t.Fatalf("%d bytes of %s: %v", len(data), open+suffix, err)
		}
		if err := os.WriteFile(old+suffix, data, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return columns, contents(t, path, columns)
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

// TestChecksumsAreAdded opens a file without checksums. The content is the same afterwards, no other file stays, the mode is what it was, and every
// page has its checksum.
func TestChecksumsAreAdded(t *testing.T) {
	ctx, folder := t.Context(), t.TempDir()
	old := filepath.Join(folder, "it's old?.db")
	columns, want := withoutChecksums(t, old)
	if m, err := Migrate(ctx, old, true); err != nil || m.From != firstChecked-1 {
		t.Errorf("a dry run gave %+v, %v", m, err)
	}
	s, err := Open(ctx, old, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if findings, err := s.SelfCheck(ctx); err != nil || len(findings) > 0 {
		t.Errorf("afterwards SQLite finds %v, %v", findings, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, old, columns); got != want {
		t.Errorf("there is\n%s\nand was\n%s", got, want)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("there are %v, %v", files, err)
	}
	if info, err := os.Stat(old); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	everyPageChecked(t, old)
}

// TestChecksumsOfOneInUse opens a file without checksums that another program has open: it is left as it is, with an error that says so. Then several
// open it at once, and each has all of it.
func TestChecksumsOfOneInUse(t *testing.T) {
	ctx := t.Context()
	old := filepath.Join(t.TempDir(), "old.db")
	columns, want := withoutChecksums(t, old)
	other := plainly(t, old)
	var turns int
	if err := other.QueryRowContext(ctx, `SELECT count(*) FROM turns`).Scan(&turns); err != nil || turns == 0 {
		t.Fatal(turns, err)
	}
	if s, err := Open(ctx, old, Options{Busy: time.Millisecond}); !errors.Is(err, store.ErrBusy) || s != nil || !strings.Contains(err.Error(), "checksums") {
		t.Errorf("in use: %v, %v, want ErrBusy that says why", s, err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	const several = 4
	errs := make(chan error, several)
	for range several {
		go func() {
			s, err := Open(ctx, old, Options{})
			if err == nil {
				if head, wrong := s.Head(ctx, storetest.Tenant); wrong != nil || head == 0 {
					err = fmt.Errorf("the head is %d, %w", head, wrong)
				}
				err = errors.Join(err, s.Close())
			}
			errs <- err
		}()
	}
	for range several {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := contents(t, old, columns); got != want {
		t.Errorf("there is\n%s\nand was\n%s", got, want)
	}
	everyPageChecked(t, old)
}

// TestChecksumsCutShort ends the process that adds checksums: when all pages are in the log, and when some are in the file. Whoever opens the file next
// has all of it.
func TestChecksumsCutShort(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.db")
	columns, want := withoutChecksums(t, old)
	c, err := openBare(old, VFS, 0)
	defer func() { c.close() }()
	if err == nil {
		err = c.exec(`PRAGMA wal_autocheckpoint = 0`, `PRAGMA wal_checkpoint(TRUNCATE)`, `VACUUM`)
	}
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) []byte {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	before, log := read(old), read(old+"-wal")
	if err := c.exec(`PRAGMA wal_checkpoint(FULL)`); err != nil {
		t.Fatal(err)
	}
	after := read(old)
	if len(log) < len(before) || bytes.Equal(before, after) {
		t.Fatalf("%d bytes of log for %d of file: this shows nothing", len(log), len(before))
	}
	pages := min(len(before), len(after)) / 4096
	for _, written := range []int{0, 1, 2, pages / 2, pages} {
		path := filepath.Join(t.TempDir(), "cut.db")
		file := bytes.Clone(before)
		copy(file, after[:written*4096])
		for name, data := range map[string][]byte{path: file, path + "-wal": log} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("after %d pages: %v", written, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, path, columns); got != want {
			t.Errorf("after %d pages there is\n%s\nand was\n%s", written, got, want)
		}
		everyPageChecked(t, path)
	}
}

// TestChecksumsOfALateWriter copies the log by a connection that opened the file before it had checksums, and has read nothing of the file since. What
// it writes has checksums.
func TestChecksumsOfALateWriter(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old.db")
	withoutChecksums(t, old)
	var of [2]*bare
	for i := range of {
		c, err := openBare(old, VFS, 0)
		if err == nil {
			err = c.exec(`PRAGMA wal_autocheckpoint = 0`)
		}
		if err != nil {
			t.Fatal(err)
		}
		of[i] = c
	}
	early, late := of[0], of[1]
	for _, step := range []struct {
		by   *bare
		text string
	}{
		{early, `PRAGMA wal_checkpoint(TRUNCATE)`}, {early, `VACUUM`}, // every page is in the log
		{late, `SELECT count(*) FROM turns`},
		{early, `PRAGMA wal_checkpoint(TRUNCATE)`}, // and now in the file
		{early, `UPDATE logs SET size = size + 1`},
		{late, `PRAGMA wal_checkpoint(PASSIVE)`},
	} {
		if err := step.by.exec(step.text); err != nil {
			t.Fatalf("%s: %v", step.text, err)
		}
	}
	everyPageChecked(t, old)
	late.close()
	early.close()
	everyPageChecked(t, old)
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
		if err := s.readers.QueryRowContext(ctx, `SELECT count(*) FROM `+table).Scan(&rows); err != nil || rows == 0 {
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
