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

// ErrNotFile is wrapped by the errors of [Check] and [Read] for a path that is a named pipe, a
// device or a socket. Reading one could wait for ever.
var ErrNotFile = errors.New("not a file or folder")

// Stdin is the path that stands for [Options].Stdin.
const Stdin = "-"

// Check refuses a path that Read cannot read: one that does not exist ([fs.ErrNotExist]), or that
// is neither a file nor a folder ([ErrNotFile]). It opens nothing.
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

// A tree is the files of an import: those of this machine, and the members of the archives that
// were named, whose paths begin with that of their archive. The zero value has no members.
type tree struct {
	members map[string]*member

	looks *Looks // nil: none are kept

	head     []byte // the beginning that was read last, in a buffer that every beginning is read into
	headPath string // of which file it is; "": of none
}

// A member is a file that has no path of its own on this machine.
type member struct {
	base string // its name without a folder, as ids are derived from it
	size int64  // in bytes; -1: not known
	open func() (io.ReadCloser, error)

	packed bool    // packed by itself, among other files
	plain  *member // what it is packed in: of an archive, or standard input; nil for a file of this machine
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

// openText opens a file as a text, without its byte order mark. Every reader of a format reads so.
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

// size returns the length of a file in bytes, or -1 if that is not known before it is read.
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

// has reports whether a regular file is at a path, which may not be a link.
func (t *tree) has(path string) bool {
	if t.members[path] != nil {
		return true
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// base returns a file's name without its folder. Ids are derived from it where records have none.
func (t *tree) base(path string) string {
	if m := t.members[path]; m != nil {
		return m.base
	}
	return filepath.Base(path)
}

// list returns the regular files of a folder by ascending path; none if there is no such folder.
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

// isBelowFile reports whether a folder would be inside a file, as the folders of an archive are.
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
