package walk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/internal/walk"
)

// tree makes folders (names that end in a slash), files, and links (NAME -> TARGET).
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, e := range entries {
		name, target, link := strings.Cut(e, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link && !strings.HasPrefix(target, "."):
			err = os.Symlink(filepath.Join(dir, target), path)
		case link:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func paths(t *testing.T, root string, visit func(path string, d fs.DirEntry) error) (list []string) {
	t.Helper()
	err := walk.Dir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			rel += "/"
		}
		list = append(list, rel)
		if d.Name() != filepath.Base(path) && path != root {
			t.Errorf("%s has the name %s", path, d.Name())
		}
		return visit(path, d)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func all(string, fs.DirEntry) error { return nil }

// TestLinks walks links to folders, each folder once, and ends in circles.
func TestLinks(t *testing.T) {
	dir := tree(t, "elsewhere/a/x", "elsewhere/y", "root/b/z", "root/link -> elsewhere", "root/loop -> root", "root/self -> ./self", "root/again -> elsewhere/a", "root/file -> elsewhere/y", "root/nowhere -> gone", "root/b/up -> root", "root/z/", "at -> root")
	want := []string{"./", "again/", "again/x", "b/", "b/z", "file", "link/", "link/y", "nowhere", "self", "z/"}
	for _, root := range []string{"root", "at"} {
		if got := paths(t, filepath.Join(dir, root), all); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
}

// TestWithoutLinks is filepath.WalkDir, also where the visitor leaves something out.
func TestWithoutLinks(t *testing.T) {
	dir := tree(t, "a/b/c", "a/b/d", "a/e", "f", "g/", "h/i", "h/j", "h/k/l")
	for _, skip := range []string{"", "a", "b", "h", "i", "j", "k", "f", "g"} {
		for _, how := range []error{fs.SkipDir, fs.SkipAll} {
			leaving := func(path string, d fs.DirEntry) error {
				if d.Name() == skip {
					return how
				}
				return nil
			}
			var want []string
			_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				rel, _ := filepath.Rel(dir, path)
				if d.IsDir() {
					rel += "/"
				}
				want = append(want, rel)
				return leaving(path, d)
			})
			if got := paths(t, dir, leaving); !slices.Equal(got, want) {
				t.Errorf("%s, %v: %q, want %q", skip, how, got, want)
			}
		}
	}
}

// TestFailures hands what cannot be read to the visitor, and ends with the error of the visitor.
func TestFailures(t *testing.T) {
	dir := tree(t, "a/b", "c")
	stop := errors.New("stop")
	if err := walk.Dir(filepath.Join(dir, "gone"), func(_ string, _ fs.DirEntry, err error) error { return err }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a root that is not there: %v", err)
	}
	if err := walk.Dir(dir, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Base(path) == "b" {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
