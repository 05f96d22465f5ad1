package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// OfTenant adds to an error about a bundle of another tenant what to do.
func OfTenant(err error) error {
	if errors.Is(err, token.ErrTenant) {
		return Usagef("%v; name the bundle's tenant with --tenant", err)
	}
	return err
}

// WriteFolder writes the files of a folder, each atomically. Files with other names stay. It refuses a folder with other files of evidence, because they
// would be taken for part of this evidence.
func WriteFolder(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, name := range evidenceFiles {
		if _, ours := files[name]; ours {
			continue
		}
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			return fmt.Errorf("%s holds %s of other evidence; name another folder", folder, name)
		}
	}
	for name, data := range files {
		if err := ReplaceFile(filepath.Join(folder, name), data); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceFile writes a file with mode 0600, as -o does: the user decides whether others may read the texts in it.
func ReplaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".graphkernel-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error matters more
	}
	return err
}

// evidenceFiles are the names of files that verify reads in a folder.
var evidenceFiles = []string{
	evidence.FileBundle, evidence.FileDisclosure, evidence.FileAttestation, evidence.FileProof,
	evidence.FileCheckpoint, evidence.FileOldCheckpoint, evidence.FileConsistency,
}

// InputName returns the name of an input in messages: its path, or "standard input" for "-".
func InputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// ReadFile reads a file, or standard input for "-", up to a limit. One line feed at the end belongs to the file and not to its content.
func (s *Streams) ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	data, err := s.ReadText(ctx, path, most+1)
	if err != nil {
		return nil, err
	}
	if data = WithoutLineFeed(data); int64(len(data)) > most {
		return nil, tooLarge(path, most)
	}
	return data, nil
}

// ReadBundle reads a bundle, like ReadFile. A folder of evidence stands for the bundle in it.
func (s *Streams) ReadBundle(ctx context.Context, path string) ([]byte, error) {
	in := filepath.Join(path, evidence.FileBundle)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if _, err := os.Stat(in); err == nil {
			path = in
		}
	}
	return s.ReadFile(ctx, path, slice.MaxBundle)
}

// WithoutLineFeed removes one line feed at the end.
func WithoutLineFeed(data []byte) []byte {
	if n := len(data); n > 0 && data[n-1] == '\n' {
		return data[:n-1]
	}
	return data
}

// ReadText is like ReadFile, but for content that ends with a line feed of its own.
func (s *Streams) ReadText(ctx context.Context, path string, most int64) ([]byte, error) {
	in := s.Stdin
	if path != "-" {
		f, err := OpenEnding(ctx, path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, Usagef("%s is a folder, want a file or - for standard input", path)
		case info.Size() > most:
			return nil, tooLarge(path, most)
		}
		in = f
	}
	data, err := readAll(ctx, in, most+1)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, tooLarge(path, most)
	}
	return data, nil
}

// OpenEnding opens a file, but stops waiting when ctx ends: opening a pipe waits for a writer.
func OpenEnding(ctx context.Context, path string) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	done := make(chan result, 1)
	go func() {
		f, err := os.Open(path)
		done <- result{f, err}
	}()
	select {
	case r := <-done:
		return r.file, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func tooLarge(path string, most int64) error {
	return fmt.Errorf("%w: %s holds more than %d bytes", slice.ErrMalformed, InputName(path), most)
}

// readAll reads up to a limit. It stops when ctx ends, so that a person can interrupt the program without ending the input first.
func readAll(ctx context.Context, in io.Reader, most int64) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, most))
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ToStdout reports whether a path given with -o means standard output.
func ToStdout(path string) bool { return path == "" || path == "-" }

// WriteTo calls write with the file at path, or with standard output. The file appears, or replaces another, only when all of it has been written; it has
// mode 0600. A path that is not a regular file, such as a pipe, is written directly. If the file cannot be written, this is reported before write is called.
func (s *Streams) WriteTo(path string, write func(io.Writer) error) error {
	if ToStdout(path) {
		return write(s.Stdout)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return Usagef("-o is %s, which is a folder, want a file", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return CannotWrite(path, err)
		}
		return errors.Join(write(f), f.Close())
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return CannotWrite(path, err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".graphkernel-*") // mode 0600
	if err != nil {
		return CannotWrite(path, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error matters more
	}
	return err
}

// CannotWrite names the requested file in an error, instead of the temporary file beside it.
func CannotWrite(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}

// WriteSaying writes a text to the place that -o names. With --output json it also prints one object about the text, with the file's name or, under name, the
// text itself.
func (s *Streams) WriteSaying(out, name string, said map[string]any, make func() ([]byte, error)) error {
	err := s.WriteTo(out, func(w io.Writer) error {
		text, err := make()
		if err != nil {
			return err
		}
		if s.Output == "json" && ToStdout(out) {
			said[name] = string(text)
			return nil
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil || s.Output != "json" {
		return err
	}
	if !ToStdout(out) {
		said["file"] = out
	}
	return s.PrintJSON(said)
}

// IsURL reports whether an argument is an HTTP URL and not the name of a file.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// Changed reports whether a file was replaced, made or removed between two calls. Both infos may be nil.
func Changed(before, now fs.FileInfo) bool {
	if before == nil || now == nil {
		return before != nil || now != nil
	}
	return !os.SameFile(before, now) || !before.ModTime().Equal(now.ModTime()) || before.Size() != now.Size() || before.Mode() != now.Mode()
}
