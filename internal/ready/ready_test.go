package ready_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/internal/ready"
)

func folder(t *testing.T) ready.Folder {
	t.Helper()
	f := ready.Beside(filepath.Join(t.TempDir(), "store [1]*.db"), "tenant")
	if f.There() {
		t.Fatal("there is a folder")
	}
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	return f
}

// anyText fits every text.
func anyText([]byte) error { return nil }

// TestTexts keeps texts and takes them: each once, only of its key, and none once the last entry is another one.
func TestTexts(t *testing.T) {
	f := folder(t)
	if _, _, err := f.Take("a", anyText); !errors.Is(err, ready.ErrNone) {
		t.Errorf("of nothing: %v", err)
	}
	if err := f.Keep("a", 7, "of 1", []byte("early")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the number of the last entry: %v", err)
	}
	if err := f.Move(7); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		if err := f.Keep(key, 7, "of 1", []byte(key+"0"), []byte(key+"1")); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.Count("a", "of 1"); n != 2 || f.Count("a", "of 2") != 0 || f.Count("c", "of 1") != 0 {
		t.Errorf("%d texts wait", n)
	}
	var got []string
	var files []string
	for range 2 {
		text, file, err := f.Take("a", anyText)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ready.Open(file); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s has %q, %v, want %q", file, again, err, text)
		}
		got, files = append(got, string(text)), append(files, file)
	}
	if slices.Sort(got); !slices.Equal(got, []string{"a0", "a1"}) {
		t.Errorf("%q", got)
	}
	if _, _, err := f.Take("a", anyText); !errors.Is(err, ready.ErrNone) {
		t.Errorf("a third time: %v", err)
	}
	if err := f.Move(8); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Take("b", anyText); !errors.Is(err, ready.ErrMoved) || f.Count("b", "of 1") != 0 {
		t.Errorf("after an entry: %v", err)
	}
	if err := f.Keep("c", 7, "of 1", []byte("of an entry ago")); !errors.Is(err, ready.ErrMoved) {
		t.Errorf("a text from before the last entry: %v", err)
	}
	if left := textsIn(t, f, "of an entry ago"); left != 0 {
		t.Error("a text from before the last entry stays in the folder")
	}
	if err := f.Keep("b", 8, "of 2", []byte("new")); err != nil {
		t.Fatal(err)
	}
	// A text that does not fit stays, and is not said to be of another time.
	other := errors.New("other")
	if _, _, err := f.Take("b", func(text []byte) error {
		if string(text) != "new" {
			t.Errorf("asked whether %q fits", text)
		}
		return other
	}); !errors.Is(err, other) {
		t.Errorf("what does not fit: %v", err)
	}
	if text, _, err := f.Take("b", anyText); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if err := f.Drop(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(f.Path())
	if err != nil || len(left) != 1 || left[0].Name() != "last" {
		t.Errorf("%v are left, %v", left, err)
	}
	if _, err := ready.Open(files[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a text that was taken: %v", err)
	}
	if last, err := f.Last(); err != nil || last != 8 {
		t.Errorf("%d, %v", last, err)
	}
}

// TestPrune removes the texts of projects that nobody works in any more, and what killed hooks left.
func TestPrune(t *testing.T) {
	f := folder(t)
	if err := errors.Join(f.Move(1), f.Keep("a", 1, "", []byte("0"), []byte("1")), f.Keep("b", 1, "", []byte("2"), []byte("3"))); err != nil {
		t.Fatal(err)
	}
	var taken []string
	for range 2 {
		_, file, err := f.Take("a", anyText)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, file)
	}
	held, err := f.Hold([]byte("4"))
	if err != nil {
		t.Fatal(err)
	}
	left := func() (n int) {
		entries, err := os.ReadDir(f.Path())
		if err != nil {
			t.Fatal(err)
		}
		return len(entries) - 1 // without the number
	}
	hour := time.Hour
	if err := f.Prune([]string{"a", "b"}, nil, time.Now().Add(-hour)); err != nil || left() != 5 {
		t.Errorf("%d files are left of keys that stay and of texts that were just given, %v", left(), err)
	}
	if err := f.Prune([]string{"a"}, nil, time.Now().Add(-hour)); err != nil || left() != 3 || f.Count("b", "") != 0 {
		t.Errorf("%d files are left without a key, %v", left(), err)
	}
	if err := f.Prune([]string{"a"}, []string{taken[1], held}, time.Now().Add(hour)); err != nil || left() != 2 {
		t.Errorf("%d files are left that marks name, %v", left(), err)
	}
	if _, err := ready.Open(taken[1]); err != nil {
		t.Error(err)
	}
	if last, err := f.Last(); err != nil || last != 1 {
		t.Errorf("%d, %v", last, err)
	}
}

// textsIn counts the files of a folder that have some words. In a file they are base64.
func textsIn(t *testing.T, f ready.Folder, words string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(f.Path(), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(base64.StdEncoding.EncodeToString([]byte(words)))) {
			n++
		}
	}
	return n
}

// TestDamagedTexts takes nothing from files that are cut off, of others, or no texts.
func TestDamagedTexts(t *testing.T) {
	f := folder(t)
	if err := errors.Join(f.Move(1), f.Keep("a", 1, "", []byte("words"))); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(f.Path())), "*", "*", "*.text"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(files[0], whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if text, _, err := f.Take("a", anyText); !errors.Is(err, ready.ErrNone) {
			t.Fatalf("%d bytes of it: %q, %v", n, text, err)
		}
	}
	if err := errors.Join(os.WriteFile(files[0], whole, 0o600), os.Chmod(files[0], 0o644)); err != nil {
		t.Fatal(err)
	}
	if text, _, err := f.Take("a", anyText); !errors.Is(err, ready.ErrNone) {
		t.Errorf("one that others may read: %q, %v", text, err)
	}
	for _, last := range [][]byte{nil, []byte("7"), make([]byte, 9)} {
		if err := os.WriteFile(filepath.Join(f.Path(), "last"), last, 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := f.Last(); err == nil {
			t.Errorf("%q is taken for %d", last, n)
		}
	}
}

// TestNowhere: where a store has no folder, no number is read, wherever the program runs.
func TestNowhere(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("last", make([]byte, 8), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := ready.At("").Last(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%d, %v", n, err)
	}
}

// TestTakers take at once, while others move the number and drop: no text goes to two.
func TestTakers(t *testing.T) {
	f := folder(t)
	const texts = 40
	var all [][]byte
	for n := range texts {
		all = append(all, fmt.Append(nil, n))
	}
	if err := errors.Join(f.Move(1), f.Keep("a", 1, "", all...)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]int{}
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() {
			for {
				text, _, err := f.Take("a", anyText)
				if err != nil {
					if !errors.Is(err, ready.ErrNone) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				got[string(text)]++
				mu.Unlock()
			}
		})
	}
	takers.Wait()
	if len(got) != texts {
		t.Errorf("%d texts of %d were taken", len(got), texts)
	}
	for text, n := range got {
		if n != 1 {
			t.Errorf("text %s was taken %d times", text, n)
		}
	}
}
