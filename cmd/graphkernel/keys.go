package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// errNoSecret is wrapped when there is nothing to sign or verify with.
var errNoSecret = errors.New("no key")

// keyring gives the keys of this run: with --dev a random one; else the file
// that --keys names; else $GRAPHKERNEL_SECRET; else the file of
// $GRAPHKERNEL_KEYS or the default one. Without any it says what to do.
func (a *app) keyring() (token.Keyring, error) {
	if a.dev {
		return a.devKeyring()
	}
	if secret := a.getenv("GRAPHKERNEL_SECRET"); secret != "" && a.keysFlag == "" {
		return a.secretKeyring(secret)
	}
	path, err := a.keysPath()
	if err != nil {
		return token.Keyring{}, err
	}
	ring, err := token.LoadKeyring(path)
	if errors.Is(err, fs.ErrNotExist) {
		return token.Keyring{}, fmt.Errorf("%w: there is no keyring at %s.\n"+
			"  graphkernel keys init      makes one,\n"+
			"  GRAPHKERNEL_SECRET=HEX     gives a secret of at least %d bytes (id in GRAPHKERNEL_KEY_ID, default k1),\n"+
			"  --dev                      signs with a random key that is gone after the run", errNoSecret, path, token.MinSecret)
	}
	return ring, err
}

func (a *app) keysPath() (string, error) {
	for _, path := range []string{a.keysFlag, a.getenv("GRAPHKERNEL_KEYS"), a.defaultKeys()} {
		if path != "" {
			return path, nil
		}
	}
	return "", usagef("no home folder to look for a keyring in; give --keys or GRAPHKERNEL_KEYS")
}

func (a *app) devKeyring() (token.Keyring, error) {
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return token.Keyring{}, err
	}
	a.note("graphkernel: --dev: signing with a random key that is gone after this run; nothing signed now will verify later")
	// An id of its own: what another run signed is then unknown here, not forged.
	return a.oneKey(fmt.Sprintf("dev-%08x", rand.Uint32()), secret)
}

func (a *app) secretKeyring(text string) (token.Keyring, error) {
	secret, err := token.ParseSecret(text)
	if err != nil {
		return token.Keyring{}, &usageError{fmt.Errorf("GRAPHKERNEL_SECRET: %w", err)}
	}
	id := a.getenv("GRAPHKERNEL_KEY_ID")
	if id == "" {
		id = "k1"
	}
	// When it was made nobody knows, and it must not be another time in each run: the ledger
	// would have a key of its own for each.
	ring, err := token.Keyring{}.Rotate(token.KeyID(id), secret, 0)
	if err != nil {
		return token.Keyring{}, &usageError{fmt.Errorf("GRAPHKERNEL_KEY_ID: %w", err)}
	}
	return ring, nil
}

func (a *app) oneKey(id string, secret token.Secret) (token.Keyring, error) {
	now, err := dag.TimeOf(a.clock())
	if err != nil {
		return token.Keyring{}, err
	}
	return token.Keyring{}.Rotate(token.KeyID(id), secret, now)
}

func (a *app) keysCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, rotate and retire the keys that sign",
		Long: `A keyring is a file of mode 0600. One key signs, all live ones verify, a retired
one verifies nothing. Each tenant's key is derived from the secret, so one ring
serves all tenants.

To rotate without a gap: rotate, wait until nobody needs to verify what the old
key signed, then retire the old key. Retiring destroys the secret; what the key
signed can still be replayed, but no longer verified.`,
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var initID, rotateID, importID, importFrom string
	initialise := &cobra.Command{
		Use:   "init",
		Short: "Make a keyring with one random key",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.changeKeys(func(r token.Keyring, exists bool, now dag.Time) (token.Keyring, token.KeyID, error) {
				if exists {
					return r, "", fs.ErrExist
				}
				return addRandom(r, initID, now)
			})
		},
	}
	initialise.Flags().StringVar(&initID, "id", "", "the key's id (default k1)")
	rotate := &cobra.Command{
		Use:   "rotate",
		Short: "Add a random key that signs from now on",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.changeKeys(func(r token.Keyring, exists bool, now dag.Time) (token.Keyring, token.KeyID, error) {
				if !exists {
					return r, "", fs.ErrNotExist
				}
				return addRandom(r, rotateID, now)
			})
		},
	}
	rotate.Flags().StringVar(&rotateID, "id", "", "the new key's id (default k2, k3, …)")
	retire := &cobra.Command{
		Use:   "retire KEY-ID",
		Short: "End a key for good: it verifies nothing from now on",
		Args:  oneArg("KEY-ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.changeKeys(func(r token.Keyring, exists bool, now dag.Time) (token.Keyring, token.KeyID, error) {
				if !exists {
					return r, "", fs.ErrNotExist
				}
				next, err := r.Retire(token.KeyID(args[0]), now)
				return next, token.KeyID(args[0]), err
			})
		},
		ValidArgsFunction: a.completeKeys,
	}
	imported := &cobra.Command{
		Use:   "import --id KEY-ID [--from FILE]",
		Short: "Add a secret made elsewhere, in hex, as a key that verifies",
		Long: `Reads a secret (at least 32 bytes, in lowercase hex) from a file or from standard
input, never from the command line, where other users could read it. The key
verifies; it signs only if no other key does.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.importKey(c.Context(), importID, importFrom) },
	}
	imported.Flags().StringVar(&importID, "id", "", "the key's id")
	imported.Flags().StringVar(&importFrom, "from", "-", "the file that holds the secret; - is standard input")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the keys, without their secrets",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.listKeys() },
	}
	noFiles(initialise, "id")
	noFiles(rotate, "id")
	noFiles(imported, "id")
	c.AddCommand(initialise, list, rotate, retire, imported)
	return c
}

func addRandom(r token.Keyring, id string, now dag.Time) (token.Keyring, token.KeyID, error) {
	name := token.KeyID(id)
	if id == "" {
		name = r.NextID()
	}
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return r, name, err
	}
	next, err := r.Rotate(name, secret, now)
	return next, name, err
}

// longestSecret bounds the characters of a secret that is imported.
const longestSecret = 4096

func (a *app) importKey(ctx context.Context, id, from string) error {
	if id == "" {
		return usagef("keys import needs --id KEY-ID")
	}
	text, err := a.readFile(ctx, from, longestSecret)
	if errors.Is(err, slice.ErrMalformed) {
		return usagef("the secret in %s has more than %d characters", from, longestSecret)
	} else if err != nil {
		return err
	}
	secret, err := token.ParseSecret(strings.TrimSpace(string(text)))
	if err != nil {
		return &usageError{err}
	}
	// A ring may begin with a secret that came from elsewhere.
	return a.changeKeys(func(r token.Keyring, _ bool, now dag.Time) (token.Keyring, token.KeyID, error) {
		next, err := r.Import(token.KeyID(id), secret, now)
		return next, token.KeyID(id), err
	})
}

// changeKeys changes the keyring's file. The change gets the ring, and whether
// there is one.
func (a *app) changeKeys(change func(token.Keyring, bool, dag.Time) (token.Keyring, token.KeyID, error)) error {
	if a.dev {
		return usagef("--dev has a key of its own and no keyring to change; leave it out")
	}
	path, err := a.keysPath()
	if err != nil {
		return err
	}
	var id token.KeyID
	next, err := token.ChangeKeyring(path, func(r token.Keyring, exists bool) (token.Keyring, error) {
		now, err := dag.TimeOf(a.clock())
		if err != nil {
			return r, err
		}
		r, id, err = change(r, exists, now)
		return r, err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("there is a keyring at %s already; it was left as it is (keys rotate adds a key)", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no keyring at %s; run: graphkernel keys init", path)
	case errors.Is(err, dag.ErrForm) && !errors.Is(err, token.ErrKeyFile):
		return &usageError{err}
	case err != nil:
		return err
	}
	if a.keysFlag == "" && a.getenv("GRAPHKERNEL_SECRET") != "" {
		a.note("graphkernel: GRAPHKERNEL_SECRET is set and goes before this file; unset it, or name the file with --keys")
	}
	for _, k := range next.Keys() {
		if k.ID == id {
			return a.print(keyJSON(k, path), func(w io.Writer) { fmt.Fprintf(w, "key %s is %s, in %s\n", k.ID, k.State, path) })
		}
	}
	return nil
}

type keyLine struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	CreatedAt string `json:"created_at"`
	RetiredAt string `json:"retired_at,omitempty"`
	File      string `json:"file,omitempty"`
}

func keyJSON(k token.Key, file string) keyLine {
	l := keyLine{ID: string(k.ID), State: string(k.State), CreatedAt: k.CreatedAt.String(), File: file}
	if k.State == token.Retired {
		l.RetiredAt = k.RetiredAt.String()
	}
	return l
}

func (a *app) listKeys() error {
	ring, err := a.keyring()
	if err != nil {
		return err
	}
	lines := []keyLine{}
	for _, k := range ring.Keys() {
		lines = append(lines, keyJSON(k, ""))
	}
	return a.print(map[string]any{"keys": lines}, func(w io.Writer) {
		t := newTable(w, "key", "state", "created", "retired")
		for _, l := range lines {
			t.AppendRow(table.Row{l.ID, l.State, l.CreatedAt, l.RetiredAt})
		}
		t.Render()
	})
}

func (a *app) completeKeys(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	path, err := a.keysPath()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ring, err := token.LoadKeyring(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, k := range ring.Keys() {
		if k.State == token.Live {
			ids = append(ids, string(k.ID))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
