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

// StandardSecrets is what is done about secrets if nothing says otherwise.
const StandardSecrets = secrets.Redact

// RegisterSecrets adds the flag by which a command is told what to do about secrets.
func (s *Settings) RegisterSecrets(c *cobra.Command) {
	c.Flags().StringVar(&s.SecretsFlag, "secrets", "", fmt.Sprintf("what is done about keys, tokens and passwords in turns, one of %q ($GRAPHKERNEL_SECRETS; default %s)", secrets.Policies, StandardSecrets))
	var names []string
	for _, p := range secrets.Policies {
		names = append(names, string(p))
	}
	_ = c.RegisterFlagCompletionFunc("secrets", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// Secrets returns what the flags and the environment say is done about secrets.
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

// secretsPath returns the file of the key that tokens of secrets are made with.
func (s *Settings) secretsPath() (string, error) {
	for _, path := range []string{s.Getenv("GRAPHKERNEL_SECRETS_KEY"), Below(s.Folder(userdir.Config), "secrets.key")} {
		if path != "" {
			return path, nil
		}
	}
	return "", Usagef("no home folder to keep the key for redacted secrets in; set HOME or GRAPHKERNEL_SECRETS_KEY=FILE, or choose another policy: --secrets report")
}

// Screen returns what looks for secrets in turns of a tenant, nil if nothing does. With toTry no key is made: nothing is stored.
func (st *Stores) Screen(p secrets.Policy, tenant dag.Tenant, toTry bool) *secrets.Screen {
	return secrets.NewScreen(p, func() (secrets.Key, error) {
		key, err := st.secretsKey(toTry)
		if err != nil {
			return secrets.Key{}, err
		}
		return key.For(string(tenant)), nil
	})
}

// secretsKey reads the key, or makes it. It is no key of the keyring, whose keys are rotated: the same secret has to have the same token
// years later, or a transcript that is imported again is another one.
func (st *Stores) secretsKey(toTry bool) (key secrets.Key, err error) {
	path, err := st.settings.secretsPath()
	if err != nil && !toTry {
		return key, err
	}
	const what = "for tokens of secrets"
	if key, err = loadKey(path, what); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if toTry {
		return st.drawKey()
	}
	key, made, err := st.makeKey(path, what)
	if made {
		st.io.Note("graphkernel: made %s, the key with which tokens of secrets are made; keep it, so that transcripts that are imported again are the same turns", st.settings.Abbreviate(path))
	}
	return key, err
}

// drawKey draws a key at random.
func (st *Stores) drawKey() (key [32]byte, err error) {
	random := st.rand
	if random == nil {
		random = rand.Reader
	}
	_, err = io.ReadFull(random, key[:])
	return key, err
}

// makeKey makes a key and its file, unless another process was faster.
func (st *Stores) makeKey(path, what string) (key [32]byte, made bool, err error) {
	if key, err = st.drawKey(); err != nil {
		return key, false, err
	}
	err = secretfile.Save(path, append(hex.AppendEncode(nil, key[:]), '\n'), true)
	if errors.Is(err, fs.ErrExist) {
		key, err = loadKey(path, what)
		return key, false, err
	}
	return key, err == nil, err
}

// loadKey reads a key's file: 64 lowercase hex digits and a line feed. What says in an error what the key is for.
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
