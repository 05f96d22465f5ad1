package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

const keyringType = "graphkernel_keyring_v1"

// ErrKeyFile is wrapped when a keyring's file is not as it must be.
var ErrKeyFile = errors.New("unusable keyring file")

// maxKeyFile bounds what is read as a keyring.
const maxKeyFile = 4 << 20

// LoadKeyring reads a keyring's file. A file that others than its owner can
// read or write is refused, and so is a symbolic link's target that is. An
// absent file is fs.ErrNotExist.
func LoadKeyring(path string) (Keyring, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return Keyring{}, fmt.Errorf("%w: %s is not a regular file", ErrKeyFile, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Keyring{}, fmt.Errorf("keyring: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return Keyring{}, fmt.Errorf("keyring: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeyFile {
		return Keyring{}, fmt.Errorf("%w: %s is not a regular file of at most %d bytes", ErrKeyFile, path, maxKeyFile)
	}
	if wide := info.Mode().Perm() &^ 0o600; wide != 0 {
		return Keyring{}, fmt.Errorf("%w: %s has mode %04o, which lets others at the secrets; run: chmod 600 %s", ErrKeyFile, path, info.Mode().Perm(), path)
	}
	data := make([]byte, info.Size())
	if n, err := f.ReadAt(data, 0); err != nil {
		return Keyring{}, fmt.Errorf("keyring: %s: read %d of %d bytes: %w", path, n, len(data), err)
	}
	r, err := ParseKeyring(data)
	if err != nil {
		return Keyring{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// SaveKeyring writes a keyring's file, mode 0600, all of it or nothing: a new
// file is synced and then takes the place of the old one. With exclusive it
// refuses to replace a file (fs.ErrExist). The folder is made if it is absent.
func SaveKeyring(path string, r Keyring, exclusive bool) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keyring-*") // mode 0600
	if err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error at hand matters more
		}
	}()
	_, err = f.Write(append(r.append(nil), '\n'))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	if exclusive {
		// A link fails where a rename would replace.
		if err = os.Link(f.Name(), path); err == nil {
			err = os.Remove(f.Name())
		}
	} else {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

// ChangeKeyring reads a keyring's file, changes the ring, and saves it. The change
// is told whether there is a file; if there is none, the ring is empty. A file
// PATH.lock, which is there as long as this takes, keeps other callers out, so
// that of two changes made at once none is lost. Of a symbolic link the target
// changes.
func ChangeKeyring(path string, change func(r Keyring, exists bool) (Keyring, error)) (_ Keyring, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Keyring{}, fmt.Errorf("keyring: %w", err)
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return Keyring{}, err
	}
	defer func() {
		if unlocked := unlock(); err == nil {
			err = unlocked
		}
	}()
	r, err := LoadKeyring(path)
	exists := !errors.Is(err, fs.ErrNotExist)
	if err != nil && exists {
		return Keyring{}, err
	}
	next, err := change(r, exists)
	if err != nil {
		return Keyring{}, err
	}
	if err := SaveKeyring(path, next, !exists); err != nil {
		return Keyring{}, err
	}
	return next, nil
}

// A change takes milliseconds, so whoever finds the lock taken tries again for
// two seconds before taking it for left behind.
const (
	lockTries = 100
	lockPause = 20 * time.Millisecond
)

// lock makes a file that must not be there. (Locks of the operating system would
// go with their holder, but differ between systems and fail on some network
// file systems.)
func lock(path string) (unlock func() error, err error) {
	for range lockTries {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close() // empty
			return func() error { return os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("keyring: %w", err)
		}
		time.Sleep(lockPause)
	}
	return nil, fmt.Errorf("%w: it is locked by %s; if no other program is changing it, one was killed while it did: remove that file and try again", ErrKeyFile, path)
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("keyring: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("keyring: syncing %s: %w", path, err)
	}
	return nil
}

// append writes the keyring as its file holds it, secrets and all.
func (r Keyring) append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("keys")
	w.BeginArray()
	for i := range r.keys {
		k := &r.keys[i]
		w.BeginObject()
		w.Key("created_at")
		w.String(k.CreatedAt.String())
		w.Key("id")
		w.String(string(k.ID))
		if k.State == Retired {
			w.Key("retired_at")
			w.String(k.RetiredAt.String())
		} else {
			w.Key("secret")
			w.String(k.secret.Reveal())
		}
		w.Key("state")
		w.String(string(k.State))
		w.EndObject()
	}
	w.EndArray()
	w.Key("type")
	w.String(keyringType)
	w.EndObject()
	return w.Bytes
}

// ParseKeyring reads what a keyring's file holds. Its errors hold no secret.
func ParseKeyring(data []byte) (Keyring, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return Keyring{}, fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	c := canon.Open(doc)
	if t := c.Field("type"); t.String() != keyringType {
		t.Failf("want %q", keyringType)
	}
	var r Keyring
	signers := 0
	for _, item := range c.Field("keys").Items() {
		k := ringKey{Key: Key{
			ID:        canon.Parsed(item.Field("id"), parseKeptID),
			State:     canon.Parsed(item.Field("state"), parseState),
			CreatedAt: canon.Parsed(item.Field("created_at"), dag.ParseTime),
		}}
		if k.State == Retired {
			k.RetiredAt = canon.Parsed(item.Field("retired_at"), dag.ParseTime)
		} else {
			k.secret = canon.Parsed(item.Field("secret"), ParseSecret)
		}
		if k.State == Signing {
			signers++
		}
		item.Close()
		if r.find(k.ID) >= 0 {
			item.Failf("key id %q stands twice", k.ID)
		}
		for i := range r.keys {
			if k.State != Retired && string(r.keys[i].secret.bytes()) == string(k.secret.bytes()) && item.Err() == nil {
				item.Failf("keys %q and %q have one secret", r.keys[i].ID, k.ID)
			}
		}
		r.keys = append(r.keys, k)
	}
	if signers > 1 {
		c.Failf("%d keys sign, want at most one", signers)
	}
	c.Close()
	if err := c.Err(); err != nil {
		return Keyring{}, fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	return r, nil
}

// parseKeptID is ParseKeyID without the text in its error: in a damaged file a
// secret may stand where an id should.
func parseKeptID(s string) (KeyID, error) {
	id, err := ParseKeyID(s)
	if err != nil {
		return "", fmt.Errorf("%w: not a key id, want [a-z0-9][a-z0-9-]{0,62}", dag.ErrForm)
	}
	return id, nil
}

func parseState(s string) (State, error) {
	switch State(s) {
	case Signing, Live, Retired:
		return State(s), nil
	}
	return "", fmt.Errorf("%w: state %.20q, want signing, live or retired", dag.ErrForm, s)
}
