package token

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/internal/secretfile"
)

const keyringType = "graphkernel_keyring_v1"

// ErrKeyFile is wrapped if a keyring's file is malformed or its permissions are unsafe.
var ErrKeyFile = errors.New("unusable keyring file")

// maxKeyFile is the maximum size of a keyring's file, in bytes.
const maxKeyFile = 4 << 20

// fileError wraps an error of a keyring's file so that its text says so.
func fileError(err error) error {
	var unusable *secretfile.UnusableError
	if errors.As(err, &unusable) {
		return fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	return fmt.Errorf("keyring: %w", err)
}

// LoadKeyring reads a keyring's file. It refuses a file that anyone but its owner can read or write, also if the path
// is a symbolic link to one. The error for an absent file is fs.ErrNotExist.
func LoadKeyring(path string) (Keyring, error) {
	data, err := secretfile.Load(path, maxKeyFile)
	if err != nil {
		return Keyring{}, fileError(err)
	}
	r, err := ParseKeyring(data)
	if err != nil {
		return Keyring{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// SaveKeyring writes a keyring's file with mode 0600, completely or not at all: a new file is synced and then replaces
// the old one. With exclusive it does not replace a file (fs.ErrExist). An absent folder is created.
func SaveKeyring(path string, r Keyring, exclusive bool) error {
	if err := secretfile.Save(path, r.file(), exclusive); err != nil {
		return fileError(err)
	}
	return nil
}

// file returns the content of a keyring's file.
func (r Keyring) file() []byte { return append(r.append(nil), '\n') }

// ChangeKeyring reads a keyring's file, calls change with the ring, and saves the result. exists tells change whether
// the file exists; if not, the ring is empty. A lock file PATH.lock keeps other callers out in the meantime, so that
// concurrent changes are not lost. If the path is a symbolic link, its target is changed.
func ChangeKeyring(path string, change func(r Keyring, exists bool) (Keyring, error)) (next Keyring, err error) {
	var changing error // an error of the keyring or of the change, not of the file
	err = secretfile.Change(path, maxKeyFile, func(data []byte, exists bool) ([]byte, error) {
		var r Keyring
		if exists {
			if r, changing = ParseKeyring(data); changing != nil {
				changing = fmt.Errorf("%s: %w", path, changing)
				return nil, changing
			}
		}
		if next, changing = change(r, exists); changing != nil {
			return nil, changing
		}
		return next.file(), nil
	})
	if err != nil {
		if changing == nil {
			changing = fileError(err)
		}
		return Keyring{}, changing
	}
	return next, nil
}

// append appends the keyring in the form of its file, with the secrets.
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

// ParseKeyring reads the content of a keyring's file. Its errors contain no secret.
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
			item.Failf("key id %q occurs twice", k.ID)
		}
		for i := range r.keys {
			if k.State != Retired && string(r.keys[i].secret.bytes()) == string(k.secret.bytes()) && item.Err() == nil {
				item.Failf("keys %q and %q have the same secret", r.keys[i].ID, k.ID)
			}
		}
		r.keys = append(r.keys, k)
	}
	if signers > 1 {
		c.Failf("%d keys are signing keys, want at most one", signers)
	}
	c.Close()
	if err := c.Err(); err != nil {
		return Keyring{}, fmt.Errorf("%w: %w", ErrKeyFile, err)
	}
	return r, nil
}

// parseKeptID is ParseKeyID without the text in its error: in a damaged file a secret may be in the place of an id.
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
