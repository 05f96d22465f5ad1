package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/internal/userdir"
)

// StandardSecrets is the default policy for secrets.
const StandardSecrets = secrets.Redact

// RegisterSecrets adds the flag --secrets to a command.
func (s *Settings) RegisterSecrets(c *cobra.Command) {
	c.Flags().StringVar(&s.SecretsFlag, "secrets", "", fmt.Sprintf("what to do about keys, tokens and passwords in turns, one of %q ($GRAPHKERNEL_SECRETS; default %s)", secrets.Policies, StandardSecrets))
	var names []string
	for _, p := range secrets.Policies {
		names = append(names, string(p))
	}
	_ = c.RegisterFlagCompletionFunc("secrets", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// Secrets returns the policy for secrets that the flags and the environment name.
func (s *Settings) Secrets() (secrets.Policy, error) {
	for _, named := range []struct{ by, value string }{{"--secrets", s.SecretsFlag}, {"GRAPHKERNEL_SECRETS", s.Getenv("GRAPHKERNEL_SECRETS")}} {
		if named.value == "" {
			continue
		}
		p, err := secrets.ParsePolicy(named.value)
		if err != nil {
			shown := strconv.Quote(named.value)
			if len(named.value) > 16 { // it may be a secret: GRAPHKERNEL_SECRET is the name of one
				shown = fmt.Sprintf("a word of %d characters", len(named.value))
			}
			err = Usagef("%s is %s, want one of %q", named.by, shown, secrets.Policies)
		}
		return p, err
	}
	return StandardSecrets, nil
}

// secretsPath returns the file of the key with which tokens for secrets are made.
func (s *Settings) secretsPath() (string, error) {
	for _, path := range []string{s.Getenv("GRAPHKERNEL_SECRETS_KEY"), Below(s.Folder(userdir.Config), "secrets.key")} {
		if path != "" {
			return path, nil
		}
	}
	return "", Usagef("no home folder to keep the key for redacted secrets in; set HOME or GRAPHKERNEL_SECRETS_KEY=FILE, or choose another policy: --secrets report")
}

// Screen returns a screen that looks for secrets in turns of a tenant, or nil for the policy off. With toTry it makes no key, because nothing is stored.
func (f *files) Screen(p secrets.Policy, tenant dag.Tenant, toTry bool) *secrets.Screen {
	return secrets.NewScreen(p, func() (secrets.Key, error) {
		key, err := f.secretsKey(toTry)
		if err != nil {
			return secrets.Key{}, err
		}
		return key.For(string(tenant)), nil
	})
}

// secretsKey reads the key, or makes it. It is not in the keyring, whose keys are rotated: the same secret must get the same token years later, otherwise a
// transcript that is imported again would look changed.
func (f *files) secretsKey(toTry bool) (key secrets.Key, err error) {
	path, err := f.settings.secretsPath()
	if err != nil && !toTry {
		return key, err
	}
	const what = "for tokens of secrets"
	if key, err = loadKey(path, what); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if toTry {
		return f.drawKey()
	}
	key, made, err := f.makeKey(path, what)
	if made {
		f.io.Note("graphkernel: made %s, the key for the tokens that replace secrets; keep it, so that a transcript that is imported again becomes the same turns", f.settings.Abbreviate(path))
	}
	return key, err
}

// drawKey returns a random key.
func (f *files) drawKey() (key [32]byte, err error) {
	random := f.rand
	if random == nil {
		random = rand.Reader
	}
	_, err = io.ReadFull(random, key[:])
	return key, err
}

// makeKey makes a key and its file, unless another process did so first.
func (f *files) makeKey(path, what string) (key [32]byte, made bool, err error) {
	if key, err = f.drawKey(); err != nil {
		return key, false, err
	}
	err = secretfile.Save(path, append(hex.AppendEncode(nil, key[:]), '\n'), true)
	if errors.Is(err, fs.ErrExist) {
		key, err = loadKey(path, what)
		return key, false, err
	}
	return key, err == nil, err
}

// loadKey reads the file of a key: 64 lowercase hex digits and a line feed. what is the key's purpose in errors.
func loadKey(path, what string) (key [32]byte, err error) {
	data, err := secretfile.Load(path, 1<<10)
	if err != nil {
		return key, err
	}
	text := strings.TrimSuffix(string(data), "\n")
	if n, err := hex.Decode(key[:], []byte(text[:min(len(text), 2*len(key))])); err != nil || n != len(key) || len(text) != 2*len(key) || strings.ToLower(text) != text {
		return [32]byte{}, fmt.Errorf("%s is not a key %s, want %d lowercase hex digits", path, what, 2*len(key))
	}
	return key, nil
}
