package ingest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocate finds a transcript where its agent left it, and opens it as what it holds.
func TestLocate(t *testing.T) {
	for _, ext := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if _, err := Locate(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("absent: %v", err)
		}
		data := packedAs(t, ext, lineTurn)
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

// packedAs packs a text as the extensions of a name say. The first extension is packed first.
func packedAs(t testing.TB, exts, text string) []byte {
	t.Helper()
	data := []byte(text)
	for _, ext := range strings.FieldsFunc(exts, func(r rune) bool { return r == '.' }) {
		data = map[string]func(testing.TB, string) []byte{"gz": gzipOf, "zst": zstdOf}[ext](t, string(data))
	}
	return data
}
