package sqlite

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// TestChecksumTellsEveryByte changes each byte of a page to each other value.
func TestChecksumTellsEveryByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	page := make([]byte, smallestPage)
	for i := range page {
		page[i] = byte(random.Uint32())
	}
	want := checksum(page)
	for i := range page[:len(page)-checksumSize] {
		was := page[i]
		for to := range 256 {
			page[i] = byte(to)
			if same := checksum(page) == want; same != (page[i] == was) {
				t.Fatalf("byte %d from %d to %d: the checksum is the same: %v", i, was, to, same)
			}
		}
		page[i] = was
	}
}

// TestChecksumIsSQLites compares with the two sums as https://www.sqlite.org/cksumvfs.html has them,
// worked out by hand.
func TestChecksumIsSQLites(t *testing.T) {
	page := make([]byte, 16+checksumSize)
	for i, word := range []uint32{1, 2, 3, 4} {
		binary.LittleEndian.PutUint32(page[4*i:], word)
	}
	// a = 1, b = 2 + 1 = 3; a = 1 + 3 + 3 = 7, b = 3 + 4 + 7 = 14.
	if got, want := checksum(page), uint64(14)<<32|7; got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestBareFilePages changes every byte of a small database, the header's among them. Each
// change is an error of the page, or of a file that is none of ours.
func TestBareFilePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(statements ...string) error {
		c, err := openBare(path, VFS, 0)
		defer c.close()
		if err != nil {
			return err
		}
		return c.exec(statements...)
	}
	if err := createFile(path); err != nil {
		t.Fatal(err)
	}
	err := run(`PRAGMA page_size = 512`, `CREATE TABLE x (a)`, `INSERT INTO x SELECT hex(randomblob(200)) FROM json_each('[1,2,3,4,5,6,7,8,9]')`,
		`PRAGMA application_id = 1196118065`, `PRAGMA user_version = 15`)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const read = `SELECT sum(length(a || 1)) FROM x`
	if err := run(read); err != nil {
		t.Fatal(err)
	}
	changed := map[int]int{}
	for i := range file {
		was := file[i]
		file[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		file[i] = was
		var e resultError
		if err := run(read); !errors.As(err, &e) {
			if i < headerApplication || i >= headerApplication+4 { // another program's file, which the identity refuses
				t.Errorf("byte %d of %d was changed, and reading says %v", i, len(file), err)
			}
		} else {
			changed[e.code]++
		}
	}
	if changed[sqlite3.SQLITE_IOERR_DATA] < len(file)*9/10 {
		t.Errorf("of %d changes these are the errors: %v", len(file), changed)
	}
}

func BenchmarkChecksum(b *testing.B) {
	page := make([]byte, 4096)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		checksum(page)
	}
}
