package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/token"
)

// Signing finds the keys and the identity with which this run signs.
type Signing struct {
	io       *Streams
	settings *Settings
	clock    func() time.Time

	devIdentity identity.Identity // with --dev, the identity that was made
}

// ErrNoSecret is wrapped when there is nothing to sign or verify with.
var ErrNoSecret error = api.Faultf(api.CodeKeyUnknown, "", "no key")

// AskForTrust tells a receiver of evidence, who has no key and needs none, to ask for the trust file.
const AskForTrust = "  Ask the operator for the trust file (graphkernel identity trust writes it) by another way than the evidence,\n" +
	"  and for the folder that graphkernel attest writes; then: graphkernel verify FOLDER --trust FILE\n" +
	"  Only somebody who shares the operator's secret can check a token: --keys FILE or GRAPHKERNEL_SECRET"

// Keyring returns the keys of this run: with --dev a random key; otherwise the file that --keys names; otherwise $GRAPHKERNEL_SECRET; otherwise the file of
// $GRAPHKERNEL_KEYS or the default file. If there are no keys, the error says what to do.
func (s *Signing) Keyring() (token.Keyring, error) {
	if s.settings.Dev {
		return s.devKeyring()
	}
	if secret := s.settings.Getenv("GRAPHKERNEL_SECRET"); secret != "" && s.settings.KeysFlag == "" {
		return s.secretKeyring(secret)
	}
	path, err := s.settings.KeysPath()
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

func (s *Signing) devKeyring() (token.Keyring, error) {
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return token.Keyring{}, err
	}
	s.io.Warn("graphkernel: --dev: signing with a random key that is gone after this run; nothing signed now will verify later")
	// Each run has its own key id: a token that another run signed is then unknown, not forged.
	return s.OneKey(fmt.Sprintf("dev-%08x", rand.Uint32()), secret)
}

func (s *Signing) secretKeyring(text string) (token.Keyring, error) {
	secret, err := token.ParseSecret(text)
	if err != nil {
		return token.Keyring{}, Usagef("GRAPHKERNEL_SECRET: %w", err)
	}
	id := s.settings.Getenv("GRAPHKERNEL_KEY_ID")
	if id == "" {
		id = "k1"
	}
	// The time at which the key was made is unknown, and must be the same in each run: otherwise the ledger would have a different key for each run.
	ring, err := token.Keyring{}.Rotate(token.KeyID(id), secret, 0)
	if err != nil {
		return token.Keyring{}, Usagef("GRAPHKERNEL_KEY_ID: %w", err)
	}
	return ring, nil
}

// OneKey makes a keyring of one key that is made now.
func (s *Signing) OneKey(id string, secret token.Secret) (token.Keyring, error) {
	now, err := dag.TimeOf(s.clock())
	if err != nil {
		return token.Keyring{}, err
	}
	return token.Keyring{}.Rotate(token.KeyID(id), secret, now)
}

// RingToSign returns the keys with which a command signs. For a service there are none, because it has its own.
func (s *Signing) RingToSign() (token.Keyring, error) {
	if s.settings.AsksService() {
		return token.Keyring{}, nil
	}
	return s.Keyring()
}
