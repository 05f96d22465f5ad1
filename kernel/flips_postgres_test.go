package kernel_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/token"
)

// TestFlipsOfPostgresAreNoticed flips a bit of a file of a stopped server, in the folder of the store's database nine times of ten. The server does
// not start, an answer is an error, or every answer is the same as before.
func TestFlipsOfPostgresAreNoticed(t *testing.T) {
	flips := 100
	if testing.Short() {
		flips = 8
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	ctx := access.As(t.Context(), access.Identity{Subject: access.Local, Role: access.Admin})
	server := pgtest.Run(t, pgtest.Options{})
	if err := server.CreateDatabase(ctx, "flips", ""); err != nil {
		t.Fatal(err)
	}
	open := func() (*postgres.Store, error) { return postgres.Open(ctx, server.URL("flips"), postgres.Options{}) }
	if _, err := postgres.Migrate(ctx, server.URL("flips"), false); err != nil {
		t.Fatal(err)
	}
	s := must(open())
	ids := lived(t, ctx, over(t, s, token.NewAuthority(ring(t, "k1"))))
	if on, err := s.Checksums(ctx); err != nil || !on {
		t.Fatalf("the server keeps no checksums: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	own := must(server.Value(ctx, "flips", `SELECT oid FROM pg_database WHERE datname = 'flips'`))
	if err := server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	folder, whole := server.Folder(), filepath.Join(filepath.Dir(server.Folder()), "whole")
	copied := func(from, to string) {
		t.Helper()
		if out, err := exec.CommandContext(ctx, "cp", "-Rp", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	copied(folder, whole)
	type file struct {
		path string
		size int64
	}
	var all, ours []file
	var size, oursSize int64
	err := filepath.WalkDir(whole, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() == 0 {
			return err
		}
		f := file{must(filepath.Rel(whole, path)), info.Size()}
		switch {
		case strings.HasPrefix(f.path, filepath.Join("base", own)+string(filepath.Separator)):
			ours, oursSize = append(ours, f), oursSize+f.size
		case !strings.HasPrefix(f.path, "base"):
			all, size = append(all, f), size+f.size
		}
		return nil
	})
	if err != nil || len(ours) < 20 {
		t.Fatalf("%d files of the database, %v", len(ours), err)
	}
	pick := func() (string, int64) {
		of, left := ours, random.Int64N(oursSize)
		if random.IntN(10) == 0 {
			of, left = all, random.Int64N(size)
		}
		for _, f := range of {
			if left < f.size {
				return f.path, left
			}
			left -= f.size
		}
		panic("no file")
	}
	text := func() (string, int64) {
		for _, f := range ours {
			if at := bytes.Index(must(os.ReadFile(filepath.Join(whole, f.path))), []byte("word161of is in it alone")); at >= 0 {
				return f.path, int64(at)
			}
		}
		panic("no text")
	}
	// ask starts the server with a bit flipped, and asks everything.
	ask := func(path string, at int64, bit int) (map[string]any, error) {
		t.Helper()
		if err := server.Shutdown(ctx); err != nil && path == "" {
			t.Fatal(err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		copied(whole, folder)
		if path != "" {
			f := must(os.OpenFile(filepath.Join(folder, path), os.O_RDWR, 0))
			b := make([]byte, 1)
			must(f.ReadAt(b, at))
			b[0] ^= 1 << bit
			must(f.WriteAt(b, at))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := server.Restart(ctx); err != nil {
			return nil, err
		}
		s, err := open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Close() }()
		return answers(ctx, over(t, s, token.NewAuthority(ring(t, "k1"))), ids), nil
	}
	if err := server.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	want, err := ask("", 0, 0)
	j := newComparison(t, want, err, func(err error) bool { // data_corrupted and index_corrupted; a broken catalogue is an internal error, of no class
		return strings.Contains(err.Error(), "SQLSTATE XX001") || strings.Contains(err.Error(), "SQLSTATE XX002")
	})
	for n := range flips {
		path, at := pick()
		if n == 0 { // the text of a turn that is asked for
			path, at = text()
		}
		got, err := ask(path, at, random.IntN(8))
		if damaged := j.sees(t, fmt.Sprintf("byte %d of %s", at, path), got, err); n == 0 && damaged == 0 {
			t.Errorf("the text of a turn was damaged, and no error says so: %v", err)
		}
	}
	j.ends(t)
}
