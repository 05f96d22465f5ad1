package ingest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestLocate finds a transcript where its agent left it, and opens it as what it holds.
func TestLocate(t *testing.T) {
	for _, ext := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if _, err := Locate(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("absent: %v", err)
		}
		data := map[string][]byte{"": []byte(lineTurn), ".gz": gzipOf(t, lineTurn), ".zst": zstdOf(t, lineTurn)}[ext]
		if err := os.WriteFile(path+ext, data, 0o600); err != nil {
			t.Fatal(err)
		}
		at, err := Locate(path)
		if err != nil || at != path+ext {
			t.Fatalf("%q: at %s, %v", ext, at, err)
		}
		in, err := Open(at)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil || string(text) != lineTurn {
			t.Errorf("%q: %d bytes, %v", ext, len(text), err)
		}
	}
}
