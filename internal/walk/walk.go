// Package walk walks folders as filepath.WalkDir does, and through links to folders, too.
package walk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir calls visit with a root and all that is below it, in the order of names, as [filepath.WalkDir] does, except that a link to a folder counts as a folder. The root may be a link. A folder
// that several links lead to, or one to itself, is walked once, under the path that comes first. Links to files, and those that lead nowhere, are visited as links.
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
			if errors.Is(err, fs.SkipDir) { // from a file: the rest of its folder is left out
				return nil
			}
			return err
		}
	}
	return nil
}

// A folder has the name of the link that leads to it.
type folder struct {
	name string
	fs.DirEntry
}

func (f folder) Name() string { return f.name }
