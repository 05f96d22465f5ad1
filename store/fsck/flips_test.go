package fsck_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// everything returns all rows of all tables of a file, as text.
func everything(t *testing.T, path string) (string, error) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	var out bytes.Buffer
	names, err := db.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
	if err != nil {
		return "", err
	}
	var tables []string
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			return "", err
		}
		tables = append(tables, name)
	}
	if err := names.Err(); err != nil {
		return "", err
	}
	for _, table := range tables {
		rows, err := db.Query(`SELECT * FROM "` + table + `" NOT INDEXED`)
		if err != nil {
			return "", err
		}
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		var lines []string
		for rows.Next() {
			values, to := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				to[i] = &values[i]
			}
			if err := rows.Scan(to...); err != nil {
				return "", err
			}
			lines = append(lines, fmt.Sprintf("%x", fmt.Sprint(values...)))
		}
		if err := rows.Err(); err != nil {
			return "", err
		}
		slices.Sort(lines)
		fmt.Fprintln(&out, table, lines)
	}
	return out.String(), nil
}

// firstChange returns the table in which two dumps differ first, with the row of each.
func firstChange(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		table, _, _ := strings.Cut(b[i], " ")
		x, y := strings.Fields(a[i]), strings.Fields(b[i])
		for j := range min(len(x), len(y)) {
			if x[j] != y[j] {
				from, _ := hex.DecodeString(strings.Trim(y[j], "[]"))
				to, _ := hex.DecodeString(strings.Trim(x[j], "[]"))
				return fmt.Sprintf("table %s, %.300s is %.300s", table, from, to)
			}
		}
	}
	return "another number of tables"
}

// integrity returns the first line of what SQLite says of a file.
func integrity(t *testing.T, path string) (line string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		defer func() { _ = db.Close() }()
		err = db.QueryRow(`PRAGMA integrity_check(1)`).Scan(&line)
	}
	if err != nil {
		return err.Error()
	}
	return line
}

// TestFlips flips a bit anywhere in the file of a store, and then in the inner pages of its trees alone: the file is refused, the check finds it, or
// no stored value has changed. It never ends in a panic.
func TestFlips(t *testing.T) {
	flips := 500
	if testing.Short() {
		flips = 60
	}
	path := filled(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := everything(t, path)
	if err != nil {
		t.Fatal(err)
	}
	random := storetest.NewFlips(t, whole)
	refused, found, same := 0, 0, 0
	for range flips {
		data, at := random.Next()
		damaged := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(damaged, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), damaged, sqlite.Options{})
		if err != nil {
			refused++
			continue
		}
		report, err := fsck.Store(context.WithoutCancel(t.Context()), s, fsck.Options{})
		_ = s.Close()
		if err != nil || !report.OK() {
			found++
			continue
		}
		if whole := integrity(t, damaged); whole != "ok" {
			t.Errorf("byte %d: the check says that all is in order, and SQLite says %s", at, whole)
		}
		got, err := everything(t, damaged)
		switch {
		case err == nil && got == want:
		default:
			t.Errorf("byte %d: what is stored has changed (%v), and the check says that all is in order: %s", at, err, firstChange(got, want))
		}
		same++
	}
	t.Logf("%d flips: %d refused, %d found, %d without effect", flips, refused, found, same)
	if found == 0 {
		t.Error("nothing was found: this shows nothing")
	}
}
