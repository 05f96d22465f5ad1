package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// ErrNoSecret is wrapped when there is nothing to sign or verify with.
var ErrNoSecret = errors.New("no key")

// Keyring returns the keys of this run: with --dev a random one; else the file
// that --keys names; else $GRAPHKERNEL_SECRET; else the file of
// $GRAPHKERNEL_KEYS or the default one. Without any it says what to do.
func (a *App) Keyring() (token.Keyring, error) {
	if a.Dev {
		return a.devKeyring()
	}
	if secret := a.Getenv("GRAPHKERNEL_SECRET"); secret != "" && a.KeysFlag == "" {
		return a.secretKeyring(secret)
	}
	path, err := a.KeysPath()
	if err != nil {
		return token.Keyring{}, err
	}
	ring, err := token.LoadKeyring(path)
	if errors.Is(err, fs.ErrNotExist) {
		return token.Keyring{}, fmt.Errorf("%w: there is no keyring at %s.\n"+
			"  graphkernel keys init      makes one,\n"+
			"  GRAPHKERNEL_SECRET=HEX     gives a secret of at least %d bytes (id in GRAPHKERNEL_KEY_ID, default k1),\n"+
			"  --dev                      signs with a random key that is gone after the run", ErrNoSecret, path, token.MinSecret)
	}
	return ring, err
}

// KeysPath returns the file of the keyring that the flags and the environment name.
func (a *App) KeysPath() (string, error) {
	for _, path := range []string{a.KeysFlag, a.Getenv("GRAPHKERNEL_KEYS"), a.DefaultKeys()} {
		if path != "" {
			return path, nil
		}
	}
	return "", Usagef("no home folder to look for a keyring in; give --keys or GRAPHKERNEL_KEYS")
}

func (a *App) devKeyring() (token.Keyring, error) {
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return token.Keyring{}, err
	}
	a.Note("graphkernel: --dev: signing with a random key that is gone after this run; nothing signed now will verify later")
	// An id of its own: what another run signed is then unknown here, not forged.
	return a.OneKey(fmt.Sprintf("dev-%08x", rand.Uint32()), secret)
}

func (a *App) secretKeyring(text string) (token.Keyring, error) {
	secret, err := token.ParseSecret(text)
	if err != nil {
		return token.Keyring{}, Usagef("GRAPHKERNEL_SECRET: %w", err)
	}
	id := a.Getenv("GRAPHKERNEL_KEY_ID")
	if id == "" {
		id = "k1"
	}
	// When it was made nobody knows, and it must not be another time in each run: the ledger
	// would have a key of its own for each.
	ring, err := token.Keyring{}.Rotate(token.KeyID(id), secret, 0)
	if err != nil {
		return token.Keyring{}, Usagef("GRAPHKERNEL_KEY_ID: %w", err)
	}
	return ring, nil
}

// OneKey makes a keyring of one key, made now.
func (a *App) OneKey(id string, secret token.Secret) (token.Keyring, error) {
	now, err := dag.TimeOf(a.Clock())
	if err != nil {
		return token.Keyring{}, err
	}
	return token.Keyring{}.Rotate(token.KeyID(id), secret, now)
}
