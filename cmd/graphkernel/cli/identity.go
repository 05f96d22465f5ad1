package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
)

// Identity returns the kernel's identity: with --dev a random one, otherwise the one in the identity's file, and none if there is no file.
func (s *Signing) Identity() (identity.Identity, error) {
	if s.settings.Dev && s.devIdentity.Name() != "" {
		return s.devIdentity, nil
	}
	if s.settings.Dev {
		now, err := dag.TimeOf(s.clock())
		if err != nil {
			return identity.Identity{}, err
		}
		name, err := DrawName("dev-")
		if err != nil {
			return identity.Identity{}, err
		}
		s.devIdentity, err = identity.New(nil, name, now)
		return s.devIdentity, err
	}
	path, err := s.settings.IdentityPath()
	if err != nil {
		return identity.Identity{}, nil // no identity: only commands that need one report it
	}
	id, err := identity.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if s.settings.IdentityFlag != "" || s.settings.Getenv("GRAPHKERNEL_IDENTITY") != "" || s.settings.FileIdentity != "" {
			return id, NoIdentity(path)
		}
		return identity.Identity{}, nil
	}
	return id, err
}

// History returns the record of what the identity signed; nil for an identity of this run only.
func (s *Signing) History(id identity.Identity) notary.History {
	path, err := s.settings.IdentityPath()
	if s.settings.Dev || id.Name() == "" || err != nil {
		return nil
	}
	if named := s.settings.Getenv("GRAPHKERNEL_HISTORY"); named != "" {
		return identity.HistoryAt(named)
	}
	return identity.HistoryBeside(path)
}

// Somebody is like Identity, but fails if there is no identity.
func (s *Signing) Somebody() (identity.Identity, error) {
	id, err := s.Identity()
	if err == nil && id.Name() == "" {
		path, err := s.settings.IdentityPath()
		if err != nil {
			return id, err
		}
		return id, NoIdentity(path)
	}
	return id, err
}

// NoIdentity is the error of a command that needs an identity if there is none at path.
func NoIdentity(path string) error {
	return fmt.Errorf("%w: there is no identity at %s; graphkernel identity init makes one", identity.ErrNone, path)
}

// DrawName makes a name that no other kernel has. It ends in .invalid, which no host can have (RFC 2606).
func DrawName(prefix string) (string, error) {
	var b [5]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return prefix + hex.EncodeToString(b[:]) + ".invalid", nil
}

// NeedsIdentity refuses a kernel without an identity. A service checks this itself.
func (s *Signing) NeedsIdentity() error {
	if s.settings.AsksService() {
		return nil
	}
	_, err := s.Somebody()
	return err
}
