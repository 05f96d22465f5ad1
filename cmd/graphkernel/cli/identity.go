package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
)

// DefaultIdentity returns where the identity is kept if nothing says otherwise, or "".
func (a *App) DefaultIdentity() string {
	return Below(a.DataFolder("XDG_CONFIG_HOME", ".config"), "identity.json")
}

// IdentityPath returns the file of the identity that the flags and the environment name.
func (a *App) IdentityPath() (string, error) {
	for _, path := range []string{a.IdentityFlag, a.Getenv("GRAPHKERNEL_IDENTITY"), a.DefaultIdentity()} {
		if path != "" {
			return path, nil
		}
	}
	return "", Usagef("no home folder to look for an identity in; give --identity or GRAPHKERNEL_IDENTITY")
}

// Identity returns who the kernel is: with --dev a random one; else what its file says; nobody
// where there is no file.
func (a *App) Identity() (identity.Identity, error) {
	if a.Dev && a.devIdentity.Name() != "" {
		return a.devIdentity, nil
	}
	if a.Dev {
		now, err := dag.TimeOf(a.Clock())
		if err != nil {
			return identity.Identity{}, err
		}
		name, err := DrawName("dev-")
		if err != nil {
			return identity.Identity{}, err
		}
		a.devIdentity, err = identity.New(nil, name, now)
		return a.devIdentity, err
	}
	path, err := a.IdentityPath()
	if err != nil {
		return identity.Identity{}, nil // nobody: only what needs one says so
	}
	id, err := identity.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if a.IdentityFlag != "" || a.Getenv("GRAPHKERNEL_IDENTITY") != "" {
			return id, NoIdentity(path)
		}
		return identity.Identity{}, nil
	}
	return id, err
}

// History returns where the identity remembers what it signed; nil for one of this run alone.
func (a *App) History(id identity.Identity) kernel.History {
	path, err := a.IdentityPath()
	if a.Dev || id.Name() == "" || err != nil {
		return nil
	}
	if named := a.Getenv("GRAPHKERNEL_HISTORY"); named != "" {
		return identity.HistoryAt(named)
	}
	return identity.HistoryBeside(path)
}

// Somebody is identity for what cannot be done by nobody.
func (a *App) Somebody() (identity.Identity, error) {
	id, err := a.Identity()
	if err == nil && id.Name() == "" {
		path, err := a.IdentityPath()
		if err != nil {
			return id, err
		}
		return id, NoIdentity(path)
	}
	return id, err
}

// NoIdentity is the error of a command that needs an identity, where path holds none.
func NoIdentity(path string) error {
	return fmt.Errorf("%w: there is none at %s; graphkernel identity init makes one", identity.ErrNone, path)
}

// DrawName makes a name that no other kernel has. It ends in .invalid, which no host can
// (RFC 2606).
func DrawName(prefix string) (string, error) {
	var b [5]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return prefix + hex.EncodeToString(b[:]) + ".invalid", nil
}
