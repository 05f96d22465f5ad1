package ingest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ErrArchive is wrapped by errors about an archive that is damaged, encrypted, or too large to import.
var ErrArchive = errors.New("the archive cannot be read")

// Bounds of an archive. They limit the time, since nothing is unpacked to disk and memory does not grow with an archive.
const (
	MaxMembers  = 100_000  // files in a zip archive
	MaxUnpacked = 16 << 30 // bytes of all of them together, and of an unpacked gzip file

	maxExpansion  = 200      // factor by which data may grow when it is unpacked …
	freeExpansion = 64 << 20 // … beyond this many bytes, which are always allowed
)

// zipMark and emptyZipMark are the first bytes of zip archives.
var (
	zipMark      = []byte("PK\x03\x04")
	emptyZipMark = []byte("PK\x05\x06")
)

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, zipMark) || bytes.HasPrefix(head, emptyZipMark)
}

func isArchive(head []byte) bool { return isZip(head) || packingOf(head) != nil }

// headOf returns the first bytes of a file, enough to recognize an archive.
func (t *tree) headOf(path string) ([]byte, error) {
	in, err := t.open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	head := make([]byte, 4)
	n, err := readFull(in, head)
	return head[:n], err
}

// tooLarge returns the error for an archive that exceeds the bounds.
func tooLarge(what string) error {
	return fmt.Errorf("%w: %s; an import unpacks at most %d GiB and %d files, and %d times the size of the archive", ErrArchive, what, MaxUnpacked>>30, MaxMembers, maxExpansion)
}

// isBomb reports whether unpacked is more bytes than allowed for an archive of packed bytes.
func isBomb(unpacked, packed uint64) bool {
	return unpacked > MaxUnpacked || unpacked > freeExpansion && unpacked/maxExpansion > packed
}

// An unpacking reads a packed file and unpacks it meanwhile.
type unpacking struct {
	io.Reader
	below  io.Closer
	packed uint64 // size of the archive, in bytes
	read   uint64
	most   uint64 // the size in the archive's directory; 0: unknown
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.read += uint64(n)
	switch {
	case isBomb(u.read, u.packed):
		return 0, tooLarge("the archive unpacks to more than " + fmt.Sprint(u.read) + " bytes")
	case u.most > 0 && u.read > u.most:
		return 0, fmt.Errorf("%w: a file in the archive is longer than its directory says, which is %d bytes", ErrArchive, u.most)
	case err != nil && err != io.EOF:
		err = fmt.Errorf("%w: %w", ErrArchive, err)
	}
	return n, err
}

func (u *unpacking) Close() error {
	if c, ok := u.Reader.(io.Closer); ok {
		c.Close()
	}
	return u.below.Close()
}

// zipped lists the files of a zip archive, in the order of their names, and makes them readable. As in a folder, it leaves out
// files whose name, or the name of a folder above them, begins with a dot; it also leaves out files that macOS adds. size is
// the archive's size, and in must stay open until the import ends.
func (s *sources) zipped(archive string, in io.ReaderAt, size int64) (paths []string, err error) {
	z, err := zip.NewReader(in, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("ingest: %s: %w: %w", archive, ErrArchive, err)
	}
	if len(z.File) > MaxMembers {
		return nil, fmt.Errorf("ingest: %s: %w", archive, tooLarge(fmt.Sprintf("the archive has %d files", len(z.File))))
	}
	total := uint64(0)
	for _, f := range z.File {
		if f.UncompressedSize64 > MaxUnpacked {
			return nil, fmt.Errorf("ingest: %s: %w", archive, tooLarge(fmt.Sprintf("the file %q of the archive has %d bytes", f.Name, f.UncompressedSize64)))
		}
		if total += f.UncompressedSize64; isBomb(total, uint64(size)) {
			return nil, fmt.Errorf("ingest: %s: %w", archive, tooLarge(fmt.Sprintf("the files of the archive have more than %d bytes", total)))
		}
	}
	for _, f := range z.File {
		name := path.Clean(strings.ReplaceAll(f.Name, `\`, "/"))
		if strings.HasSuffix(f.Name, "/") || isHiddenMember(name) {
			continue
		}
		at := archive + "/" + strings.TrimLeft(name, "/")
		if mode := f.Mode(); !mode.IsRegular() && mode.Type() != 0 {
			s.irregular = append(s.irregular, at)
			continue
		}
		if f.Flags&1 != 0 {
			return nil, fmt.Errorf("ingest: %s: %w: the file %q of the archive is encrypted; unpack the archive first", archive, ErrArchive, f.Name)
		}
		if s.files.members[at] != nil {
			return nil, fmt.Errorf("ingest: %s: %w: the archive has two files %q", archive, ErrArchive, name)
		}
		s.files.add(at, &member{base: path.Base(name), size: int64(f.UncompressedSize64), open: func() (io.ReadCloser, error) {
			in, err := f.Open()
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrArchive, err)
			}
			return &unpacking{Reader: in, below: in, packed: uint64(size), most: max(f.UncompressedSize64, 1)}, nil
		}})
		paths = append(paths, at)
	}
	slices.Sort(paths)
	return paths, nil
}

func isHiddenMember(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") && part != ".." || part == "__MACOSX" {
			return true
		}
	}
	return false
}

// archive lists the files of the zip archive at a path.
func (s *sources) archive(path string) ([]string, error) {
	size, err := s.files.size(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(s.onDisk(path))
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	s.closers = append(s.closers, file)
	return s.zipped(path, file, size)
}

// onDisk returns the path of the file with the bytes of a path. The two differ only for standard input.
func (s *sources) onDisk(path string) string {
	if path == Stdin {
		return s.spooled
	}
	return path
}

// spool copies standard input to a temporary file, because finding its format needs a second reading, and because it may be an
// archive. The file belongs to the user alone and is removed when the import ends.
func (s *sources) spool() error {
	if s.stdin == nil {
		return fmt.Errorf("ingest: %w: there is no standard input to read", fs.ErrNotExist)
	}
	if s.spooled != "" {
		return errors.New("ingest: standard input is given twice")
	}
	file, err := os.CreateTemp("", "graphkernel-import-*")
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	s.spooled = file.Name()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, sum), contextReader{s})
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("ingest: standard input: %w", err)
	}
	s.files.add(Stdin, &member{
		base: "sha256-" + hex.EncodeToString(sum.Sum(nil)[:8]), // two unnamed inputs must differ
		size: size,
		open: func() (io.ReadCloser, error) { return os.Open(s.spooled) },
	})
	return nil
}

// A contextReader reads standard input until the import is cancelled.
type contextReader struct{ of *sources }

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.of.ctx.Err(); err != nil {
		return 0, err
	}
	return c.of.stdin.Read(p)
}

// close removes and closes the files that the import opened for itself.
func (s *sources) close() {
	for _, c := range s.closers {
		c.Close()
	}
	if s.spooled != "" {
		os.Remove(filepath.Clean(s.spooled))
	}
}
