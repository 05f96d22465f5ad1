package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graphkernel/graphkernel/slice"
)

// readFile reads a file, or standard input for "-", up to a bound. One line feed
// at the end belongs to the file and not to what it holds.
func (a *app) readFile(ctx context.Context, path string, most int64) ([]byte, error) {
	data, err := a.readText(ctx, path, most+1)
	if err != nil {
		return nil, err
	}
	if data = withoutLineFeed(data); int64(len(data)) > most {
		return nil, tooLarge(path, most)
	}
	return data, nil
}

func withoutLineFeed(data []byte) []byte {
	if n := len(data); n > 0 && data[n-1] == '\n' {
		return data[:n-1]
	}
	return data
}

// readText is readFile for what ends with a line feed of its own.
func (a *app) readText(ctx context.Context, path string, most int64) ([]byte, error) {
	in := a.stdin
	if path != "-" {
		f, err := openEnding(ctx, path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // only read
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, usagef("%s is a folder, want a file or - for standard input", path)
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

// openEnding opens a file, or gives up when ctx ends: opening a pipe waits for whoever
// writes into it.
func openEnding(ctx context.Context, path string) (*os.File, error) {
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
	return fmt.Errorf("%w: %s holds more than %d bytes", slice.ErrMalformed, path, most)
}

// readAll reads up to a bound. It gives up when ctx ends, since whoever
// interrupts the program must not have to end the input first.
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

// toStdout reports whether a path given with -o means standard output.
func toStdout(path string) bool { return path == "" || path == "-" }

// writeTo calls write with the file at path, or with standard output. The file
// appears, or takes the place of another, when all of it has been written, with
// mode 0600. What is no regular file, such as a pipe, is written as it is. That
// nothing can be written there shows before write is called.
func (a *app) writeTo(path string, write func(io.Writer) error) error {
	if toStdout(path) {
		return write(a.stdout)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return usagef("-o is %s, which is a folder, want a file", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return cannotWrite(path, err)
		}
		return errors.Join(write(f), f.Close())
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return cannotWrite(path, err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".graphkernel-*") // mode 0600
	if err != nil {
		return cannotWrite(path, err)
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
		_ = os.Remove(f.Name()) // the error at hand matters more
	}
	return err
}

// cannotWrite names the file that was asked for rather than the one beside it.
func cannotWrite(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}
