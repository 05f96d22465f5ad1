package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/internal/bom"
)

// ErrNotFile is wrapped by errors of [Check] and [Read] for a path that is a named pipe, a device or a socket, since reading it
// could wait for ever.
var ErrNotFile = errors.New("not a file or folder")

// Stdin is the path of [Options].Stdin.
const Stdin = "-"

// Check returns an error for a path that Read cannot read: a path that does not exist ([fs.ErrNotExist]), or that is neither a
// file nor a folder ([ErrNotFile]). It opens nothing.
func Check(path string) error {
	if path == Stdin {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular() || mode.IsDir():
		return nil
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	default:
		kind = "a device"
	}
	return fmt.Errorf("ingest: %w: %s is %s; to import what comes out of it, give - and redirect standard input from it", ErrNotFile, path, kind)
}

// A tree has the files of an import: those of this machine, and the members of the given archives, whose paths begin with the
// path of their archive. The zero value has no members.
type tree struct {
	members map[string]*member

	looks *Looks // nil: looks are not cached

	head     []byte // the beginning that was last read; the buffer is reused
	headPath string // the file of head; "": none
}

// A member is a file without its own path on this machine.
type member struct {
	base string // its name without a folder, from which ids are derived
	size int64  // in bytes; -1: unknown
	open func() (io.ReadCloser, error)

	packed bool    // a packed file among other files
	plain  *member // the packed file in an archive or standard input; nil for a file of this machine
}

func (t *tree) add(path string, m *member) {
	if t.members == nil {
		t.members = map[string]*member{}
	}
	t.members[path] = m
}

// open opens a file.
func (t *tree) open(path string) (io.ReadCloser, error) {
	if m := t.members[path]; m != nil {
		in, err := m.open()
		if err != nil {
			return nil, fmt.Errorf("ingest: %s: %w", path, err)
		}
		return in, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return file, nil
}

// openText opens a file as text, without its byte order mark. All readers of formats use it.
func (t *tree) openText(path string) (io.ReadCloser, error) {
	in, err := t.open(path)
	if err != nil {
		return nil, err
	}
	return textFile{bom.Reader(in), in}, nil
}

type textFile struct {
	io.Reader
	io.Closer
}

// size returns the length of a file in bytes, or -1 if it is unknown before the file is read.
func (t *tree) size(path string) (int64, error) {
	if m := t.members[path]; m != nil {
		return m.size, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("ingest: %w", err)
	}
	return info.Size(), nil
}

// has reports whether a path is a regular file and not a link.
func (t *tree) has(path string) bool {
	if t.members[path] != nil {
		return true
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// base returns a file's name without its folder. Ids are derived from it if records have none.
func (t *tree) base(path string) string {
	if m := t.members[path]; m != nil {
		return m.base
	}
	return filepath.Base(path)
}

// list returns the regular files of a folder in ascending order of their paths, or none if there is no such folder.
func (t *tree) list(dir string) (paths []string, err error) {
	for path := range t.members {
		if filepath.Dir(path) == dir {
			paths = append(paths, path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && len(paths) == 0 && !errors.Is(err, fs.ErrNotExist) && !isBelowFile(dir) {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// isBelowFile reports whether a folder is inside a file, like the folders of an archive.
func isBelowFile(dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil {
			return !info.IsDir()
		}
		if at == filepath.Dir(at) {
			return strings.HasPrefix(dir, Stdin)
		}
	}
}
