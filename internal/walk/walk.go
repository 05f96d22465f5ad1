// Package walk walks folders like filepath.WalkDir, and also follows links to folders.
package walk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir calls visit with a root and everything below it, in the order of names, like [filepath.WalkDir], except that a link to a
// folder counts as a folder. The root may be a link. A folder with several links to it, or a link to itself, is walked once,
// under the path that comes first. Links to files and dangling links are visited as links.
func Dir(root string, visit fs.WalkDirFunc) error {
	w := walker{visit: visit, walked: map[string]bool{}}
	info, err := os.Stat(root)
	if err != nil {
		err = visit(root, nil, err)
	} else {
		err = w.walk(root, fs.FileInfoToDirEntry(info))
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

type walker struct {
	visit  fs.WalkDirFunc
	walked map[string]bool // folders, without links
}

func (w *walker) walk(path string, d fs.DirEntry) error {
	if !d.IsDir() {
		return w.visit(path, d, nil)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return w.visit(path, d, err)
	}
	if w.walked[real] {
		return nil
	}
	w.walked[real] = true
	if err := w.visit(path, d, nil); err != nil {
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		if err = w.visit(path, d, err); err != nil {
			if errors.Is(err, fs.SkipDir) {
				return nil
			}
			return err
		}
	}
	for _, e := range entries {
		at := filepath.Join(path, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				e = folder{e.Name(), fs.FileInfoToDirEntry(info)}
			}
		}
		if err := w.walk(at, e); err != nil {
			if errors.Is(err, fs.SkipDir) { // returned for a file: the rest of its folder is skipped
				return nil
			}
			return err
		}
	}
	return nil
}

// A folder is an entry with the name of the link that leads to it.
type folder struct {
	name string
	fs.DirEntry
}

func (f folder) Name() string { return f.name }
