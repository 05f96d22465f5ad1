// Package secretfile owns files that hold secrets: only their owner can read them, they are written completely or not at all,
// and only one program changes them at a time. The caller defines their content.
package secretfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// An UnusableError says why an existing file cannot be used for secrets, and what to do. Other errors are those of the
// operating system; a missing file is fs.ErrNotExist.
type UnusableError struct{ Reason string }

func (e *UnusableError) Error() string { return e.Reason }

func unusable(format string, args ...any) error { return &UnusableError{fmt.Sprintf(format, args...)} }

// Load reads a file of up to most bytes. It refuses a file that others than its owner can read or write; for a symbolic link,
// the target counts.
func Load(path string, most int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, unusable("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, unusable("%s is not a regular file of at most %d bytes", path, most)
	}
	if wide := info.Mode().Perm() &^ 0o600; wide != 0 {
		return nil, unusable("%s has mode %04o, which gives other users access to the secrets; run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	data := make([]byte, info.Size())
	if n, err := f.ReadAt(data, 0); err != nil {
		return nil, fmt.Errorf("%s: read %d of %d bytes: %w", path, n, len(data), err)
	}
	return data, nil
}

// Save writes a file with mode 0600, completely or not at all: it syncs a new file and then replaces the old one with it. With
// exclusive, it refuses to replace a file (fs.ErrExist). It creates the folder if necessary.
func Save(path string, data []byte, exclusive bool) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // err matters more
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if exclusive {
		// Link fails if the file exists, where Rename would replace it.
		if err = os.Link(f.Name(), path); err == nil {
			err = os.Remove(f.Name())
		}
	} else {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Change reads a file, calls change, and saves the result. exists tells change whether there is a file; without a file, data is
// nil. A file PATH.lock exists meanwhile and keeps other callers out, so that none of two concurrent changes is lost. For a
// symbolic link, Change changes the target.
func Change(path string, most int64, change func(data []byte, exists bool) ([]byte, error)) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := Lock(path + ".lock")
	if err != nil {
		return err
	}
	defer func() {
		if unlocked := unlock(); err == nil {
			err = unlocked
		}
	}()
	data, err := Load(path, most)
	exists := !errors.Is(err, fs.ErrNotExist)
	if err != nil && exists {
		return err
	}
	next, err := change(data, exists)
	if err != nil {
		return err
	}
	return Save(path, next, !exists)
}

// A change takes milliseconds, so a caller that finds the lock taken tries again for two seconds before it considers the lock
// abandoned.
const (
	lockTries = 100
	lockPause = 20 * time.Millisecond
)

// Lock creates a file that must not exist, and keeps other callers out until unlock is called. (Locks of the operating system
// would end with their holder, but differ between systems and fail on some network file systems.)
func Lock(path string) (unlock func() error, err error) {
	for range lockTries {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close() // the file is empty
			return func() error { return os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		time.Sleep(lockPause)
	}
	return nil, unusable("the file is locked by %s; if no other program is changing it, a program was killed while it did: remove the lock and try again", path)
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot open a folder for that
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}
