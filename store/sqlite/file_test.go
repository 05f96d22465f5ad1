package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// raw opens the file as any other program could: one that knows of checksums, if it is a store's.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	name := "file:" + (&url.URL{Path: path}).EscapedPath()
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		name += "?vfs=" + sqlite.VFS
	}
	db, err := sql.Open("sqlite", name)
	if err = errors.Join(err, sqlite.RegisterVFS()); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func rawExec(t *testing.T, db *sql.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.Exec(text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestCreateAndOpen(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "store.db")
	if s, err := sqlite.Open(ctx, path, sqlite.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file gave %v, %v, want fs.ErrNotExist", s, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open made a file: %v", err)
	}
	create(t, path)
	if s, err := sqlite.Create(ctx, path, sqlite.Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a file gave %v, %v, want fs.ErrExist", s, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%q has mode %o, want 600", suffix, mode)
		}
	}
}

// TestForeign offers files that are not ours; each must stay as it is.
func TestForeign(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
	}{
		{"a text", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("this is no database. ", 400)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrForeign},
		{"another program's database", func(t *testing.T, path string) {
			db := raw(t, path)
			rawExec(t, db, `CREATE TABLE notes (text)`)
			_ = db.Close()
		}, sqlite.ErrForeign},
		{"another program's mark", func(t *testing.T, path string) {
			db := raw(t, path)
			rawExec(t, db, `PRAGMA application_id = 7`)
			_ = db.Close()
		}, sqlite.ErrForeign},
		{"an empty file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrForeign},
		{"a database with nothing in it", func(t *testing.T, path string) { // a copy without its log
			db := raw(t, path)
			rawExec(t, db, `PRAGMA journal_mode = wal`)
			_ = db.Close()
		}, sqlite.ErrForeign},
		{"a newer version", func(t *testing.T, path string) {
			_ = create(t, path).Close()
			db := raw(t, path)
			rawExec(t, db, `PRAGMA user_version = 1000`)
			_ = db.Close()
		}, store.ErrSchema},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, readOnly := range []bool{false, true} {
				s, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: readOnly})
				if !errors.Is(err, c.want) || s != nil {
					t.Errorf("got %v, %v, want %v", s, err, c.want)
				} else if len(before) == 0 && !strings.Contains(err.Error(), "the file is empty") {
					t.Errorf("got %v, want an error that says that the file is empty", err)
				}
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// TestOpenAtOnce lets many stores be created under one name at once: one is, and all
// open that.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			s, err := sqlite.Create(context.Background(), path, sqlite.Options{})
			if errors.Is(err, fs.ErrExist) {
				s, err = sqlite.Open(context.Background(), path, sqlite.Options{})
			}
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.Append(context.Background(), storetest.Tenant, []store.Batch{storetest.Chain(1+10*i, 10, i)}); err != nil || got.Admitted != 10 {
				t.Errorf("%+v, %v", got, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if head, err := s.Head(context.Background(), storetest.Tenant); err != nil || head != 60 {
		t.Errorf("head %d, %v, want 60", head, err)
	}
	if err := storetest.Check(context.Background(), s, storetest.Tenant); err != nil {
		t.Error(err)
	}
}

// TestTwoStores writes through two stores on one file in turn, as two
// processes do, and each sees at once what the other wrote.
func TestTwoStores(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "store.db")
	one := create(t, path)
	two, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	for n := 1; n <= 10; n++ {
		s, other := one, two
		if n%2 == 0 {
			s, other = two, one
		}
		a := storetest.Arrival(n, 0, "in turn")
		if n > 1 {
			a = storetest.Arrival(n, 0, "in turn", n-1)
		}
		if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{{a}}); err != nil {
			t.Fatal(err)
		}
		seg, err := other.Segment(ctx, storetest.Tenant, []store.Part{{Conversation: storetest.ConversationID(0), After: dag.Seq(n - 1)}})
		if err != nil || seg.Head != dag.Seq(n) || len(seg.Turns) != 1 {
			t.Fatalf("the other store sees head %d and %d turns, %v", seg.Head, len(seg.Turns), err)
		}
	}
	if err := storetest.Check(ctx, two, storetest.Tenant); err != nil {
		t.Error(err)
	}
}

// TestBusy lets another process hold the write lock: a write fails after its
// time, changes nothing and leaves the store usable.
func TestBusy(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "store.db")
	_ = create(t, path).Close()
	s, err := sqlite.Open(ctx, path, sqlite.Options{Busy: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db := raw(t, path)
	rawExec(t, db, `BEGIN IMMEDIATE`)
	batch := []store.Batch{storetest.Chain(1, 3, 0)}
	if got, err := s.Append(ctx, storetest.Tenant, batch); err == nil || errors.Is(err, store.ErrBroken) {
		t.Errorf("with the lock held: %+v, %v", got, err)
	}
	rawExec(t, db, `ROLLBACK`)
	if got, err := s.Append(ctx, storetest.Tenant, batch); err != nil || got.Admitted != 3 {
		t.Errorf("with the lock released: %+v, %v", got, err)
	}
}

// in lists which of the store's files hold the text.
func in(t *testing.T, path string, text []byte) (files []string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(data, text) {
			files = append(files, "store.db"+suffix)
		}
	}
	return files
}

// TestErasedTextIsGone looks for erased texts, names and salts in the files,
// after the kinds of growth that make SQLite move rows about: several tenants
// by turns, bodies from a few bytes to many pages.
func TestErasedTextIsGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	tenants := []dag.Tenant{"a", "b", "c"}
	const turns = 240
	marker := func(n int) string { return fmt.Sprintf("<secret %04d>", n) }
	name := func(n int) string { return fmt.Sprintf("[name %04d]", n) }
	for n := 1; n <= turns; n++ {
		size := []int{0, 30, 300, 1500, 3000, 9000, 40_000}[n*n%7]
		a := storetest.Named(storetest.Arrival(n, n%4, marker(n)+strings.Repeat("x", size)+marker(n)), name(n))
		if _, err := s.Append(ctx, tenants[n%3], []store.Batch{{a}}); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= turns; n++ {
		if n%2 == 0 || n%5 == 0 {
			if _, err := storetest.Erase(ctx, s, tenants[n%3], storetest.Erasure(n)); err != nil {
				t.Fatal(err)
			}
			if n%3 == 0 { // what is freed is used again
				if _, err := s.Append(ctx, tenants[n%3], []store.Batch{{storetest.Arrival(1000+n, 1, strings.Repeat("y", 5000))}}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// Half of the rest go in descending order, with the log emptied last.
	for n := turns; n > 0; n -= 3 {
		if _, err := storetest.Erase(ctx, s, tenants[n%3], storetest.Erasure(n)); err != nil {
			t.Fatal(err)
		}
	}
	// Others' erasures go like one's own, of a stored turn and of one that comes with
	// its erasure.
	for _, n := range []int{1, 7, 13} {
		tenant := tenants[n%3]
		head, err := s.Head(ctx, tenant)
		if err != nil {
			t.Fatal(err)
		}
		err = storetest.Adopt(ctx, s, tenant, storetest.Stretch{
			Records: storetest.Records(head+1, nil, store.Batch{storetest.Named(storetest.Arrival(2000+n, 1, marker(2000+n)), name(2000+n))}),
			Events:  []erasures.Erasure{storetest.Erased(head+2, 2000+n), storetest.Erased(head+3, n)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	gone, kept := 0, 0
	for _, n := range []int{2001, 2007, 2013} {
		for _, text := range []string{marker(n), name(n)} {
			if files := in(t, path, []byte(text)); len(files) > 0 {
				t.Errorf("%q of the erased turn %d is in %v", text, n, files)
			}
		}
	}
	for n := 1; n <= turns; n++ {
		salt := storetest.SaltOf(n)
		erased := n%2 == 0 || n%5 == 0 || n%3 == turns%3 || n == 1 || n == 7 || n == 13
		for _, text := range [][]byte{[]byte(marker(n)), []byte(name(n)), salt[:]} {
			files := in(t, path, text)
			if erased && len(files) > 0 {
				t.Errorf("%q of the erased turn %d is in %v", text, n, files)
			}
			if !erased && len(files) == 0 {
				t.Errorf("%q of turn %d is nowhere: this test cannot find anything", text, n)
			}
		}
		if erased {
			gone++
		} else {
			kept++
		}
	}
	if gone == 0 || kept == 0 {
		t.Errorf("%d turns were erased and %d kept", gone, kept)
	}
	for _, tenant := range tenants {
		if err := storetest.Check(ctx, s, tenant); err != nil {
			t.Errorf("%s: %v", tenant, err)
		}
	}
}

// TestLogBusy erases while another process reads: the erasure is recorded, its
// caller is told that the log is in use, and erasing again finishes it.
func TestLogBusy(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "store.db")
	_ = create(t, path).Close()
	s, err := sqlite.Open(ctx, path, sqlite.Options{Busy: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{{storetest.Arrival(1, 0, "<secret>")}}); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	rawExec(t, db, `BEGIN`)
	var head int
	if err := db.QueryRow(`SELECT head FROM tenants`).Scan(&head); err != nil || head != 1 {
		t.Fatal(head, err)
	}
	if e, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(1)); !errors.Is(err, sqlite.ErrLogBusy) || errors.Is(err, store.ErrBroken) {
		t.Fatalf("with a reader: %+v, %v, want ErrLogBusy", e, err)
	}
	if len(in(t, path, []byte("<secret>"))) == 0 {
		t.Error("the text is gone although a reader had it: this test shows nothing")
	}
	rawExec(t, db, `COMMIT`)
	want := storetest.Erasure(1)
	want.Seq = 2
	if e, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(1)); err != nil || e != want {
		t.Errorf("without: %+v, %v, want %+v", e, err, want)
	}
	if files := in(t, path, []byte("<secret>")); len(files) > 0 {
		t.Errorf("the text is in %v", files)
	}
}

// TestDamaged changes the file after the store's back. What is not sound must
// be an error, and not an answer.
func TestDamaged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name, change string
		read         func(s *sqlite.Store) error
	}{
		{"a policy's hash", `UPDATE terms SET value = zeroblob(32) || substr(value, 33) WHERE indx = 128`, policies},
		{"a policy's parameters", `UPDATE terms SET value = CAST(substr(value, 1, 32) || CAST(replace(CAST(substr(value, 33) AS TEXT), '"max_nodes":2', '"max_nodes":3') AS BLOB) AS BLOB) WHERE indx = 128`, policies},
		{"a policy's spelling", `UPDATE terms SET value = CAST(value || x'20' AS BLOB) WHERE indx = 128`, policies},
		{"a skeleton", `UPDATE runs SET run = substr(run, 1, 100)`, func(s *sqlite.Store) error {
			_, err := s.Segment(ctx, storetest.Tenant, []store.Part{{Conversation: storetest.ConversationID(0)}})
			return err
		}},
		{"a record", `UPDATE turns SET kept = substr(kept, 1, 40)`, func(s *sqlite.Store) error {
			_, err := s.Turns(ctx, storetest.Tenant, store.IDs{storetest.TurnID(1)})
			return err
		}},
		{"a text", `UPDATE turns SET body = CAST(replace(CAST(body AS TEXT), 'turn 2', 'turn X') AS BLOB)`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
		{"a number", `UPDATE tenants SET head = head + 1`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
		{"a missing id", `DELETE FROM ids WHERE turn = 2`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
		{"a missing link", `DELETE FROM links`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
		{"a count", `UPDATE conversations SET turns = turns + 1`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
		{"a name", `UPDATE turns SET name = NULL`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
		{"a key's hash", `UPDATE terms SET value = CAST(replace(CAST(substr(value, 17) AS TEXT), '"hash":"', '"hash":"0') AS BLOB) WHERE indx = 129`, key},
		{"a key's missing hash", `UPDATE terms SET value = substr(value, 1, 15) WHERE indx = 129`, key},
		{"a key's role", `UPDATE terms SET value = CAST(substr(value, 1, 16) || CAST(replace(CAST(substr(value, 17) AS TEXT), '"role":"', '"role":"x') AS BLOB) AS BLOB) WHERE indx = 129`, key},
		{"a key's revocation", `UPDATE terms SET value = CAST(substr(value, 1, 8) || x'ffffffffffffffff' || substr(value, 17) AS BLOB) WHERE indx = 129`, key},
		{"a missing event", `DELETE FROM entries WHERE kind = 'erasure/1'`, func(s *sqlite.Store) error {
			return storetest.Check(ctx, s, storetest.Tenant)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := create(t, path)
			batch := append(storetest.Chain(1, 3, 0), storetest.Named(storetest.Arrival(4, 1, "linked", 1), "name"))
			if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{batch}); err != nil {
				t.Fatal(err)
			}
			if _, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(3)); err != nil {
				t.Fatal(err)
			}
			if err := (registry.Base{History: s}).Put(ctx, storetest.Tenant, storetest.Policy("p@1", 1)); err != nil {
				t.Fatal(err)
			}
			if err := (apikeys.Base{History: s}).Put(ctx, storetest.Key(1)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(storetest.Check(ctx, s, storetest.Tenant), c.read(s)); err != nil {
				t.Fatalf("before the damage: %v", err)
			}
			rawExec(t, raw(t, path), c.change)
			if err := c.read(s); err == nil {
				t.Error("the damage was not noticed")
			}
		})
	}
}

func policies(s *sqlite.Store) error {
	_, err := registry.Base{History: s}.All(context.Background(), storetest.Tenant)
	return err
}

func key(s *sqlite.Store) error {
	_, err := apikeys.Base{History: s}.Get(context.Background(), storetest.Tenant, storetest.Key(1).ID)
	return err
}

// TestLongLists asks for more than a statement has parameters.
func TestLongLists(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := create(t, filepath.Join(t.TempDir(), "store.db"))
	const turns = 4200 // more than one list of ids of Append
	b := storetest.Chain(1, turns, 0)
	if got, err := s.Append(ctx, storetest.Tenant, []store.Batch{b}); err != nil || got.Admitted != turns {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err := s.Append(ctx, storetest.Tenant, []store.Batch{b}); err != nil || got.Existing != turns {
		t.Fatalf("%+v, %v", got, err)
	}
	ids := make([]dag.TurnID, 40_000)
	for i := range ids {
		ids[i] = storetest.TurnID(i + 1)
	}
	got, err := s.Turns(ctx, storetest.Tenant, store.IDs(ids))
	if err != nil || len(got) != turns {
		t.Fatalf("%d turns, %v", len(got), err)
	}
	many := storetest.Arrival(turns+1, 1, "of many parents")
	for n := range 4000 {
		many.Parents = append(many.Parents, dag.Parent{ID: storetest.TurnID(n + 1), Kind: dag.Merge})
	}
	if got, err := s.Append(ctx, storetest.Tenant, []store.Batch{{many}}); err != nil || got.Edges != 4000 {
		t.Fatalf("%+v, %v", got, err)
	}
	parts := make([]store.Part, 3000)
	for i := range parts {
		parts[i] = store.Part{Conversation: storetest.ConversationID(i)}
	}
	seg, err := s.Segment(ctx, storetest.Tenant, parts)
	if err != nil || len(seg.Turns) != turns+1 || len(seg.Links) != 4000 {
		t.Fatalf("%d turns, %d links, %v", len(seg.Turns), len(seg.Links), err)
	}
	if !slices.IsSortedFunc(seg.Turns, func(a, b dag.Skeleton) int { return int(int64(a.Seq) - int64(b.Seq)) }) {
		t.Error("turns are not by ascending number")
	}
}

// TestEraseWhileOthersOpen erases while others open and close the file, and with that copy and empty its log. No
// erasure fails, since nobody has an old snapshot for long.
func TestEraseWhileOthersOpen(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	defer s.Close()
	const turns = 60
	batch := store.Batch{}
	for n := range turns {
		batch = append(batch, storetest.Arrival(n+1, n, fmt.Sprintf("<secret %d>", n)))
	}
	if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{batch}); err != nil {
		t.Fatal(err)
	}
	done, ended := make(chan struct{}), make(chan error, 2)
	for n := range cap(ended) {
		other := func() error {
			for round := 0; ; round++ {
				select {
				case <-done:
					return nil
				default:
				}
				o, err := sqlite.Open(ctx, path, sqlite.Options{})
				if err != nil {
					return err
				}
				_, err = o.Append(ctx, dag.Tenant(fmt.Sprintf("other%d", n)), []store.Batch{{storetest.Arrival(round+1, round, "of another")}})
				if err := errors.Join(err, o.Close()); err != nil {
					return err
				}
			}
		}
		go func() { ended <- other() }()
	}
	for n := range turns {
		if _, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(n+1)); err != nil {
			t.Errorf("erasure %d: %v", n+1, err)
		}
	}
	close(done)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
