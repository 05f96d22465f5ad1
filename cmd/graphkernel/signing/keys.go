package signing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func keysCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, rotate and retire the keys that sign",
		Long: `A keyring is a file of mode 0600. One key signs, all live keys verify, and a retired key verifies nothing. Each
tenant's key is derived from the secret, so one keyring serves all tenants.

To rotate without a gap: rotate, wait until nobody needs to verify what the old key signed, then retire the
old key. Retiring destroys the secret; slices that the key signed can still be replayed, but no longer
verified.`,
		Args: cli.KnownCommand,
		RunE: cli.ShowHelp,
	}
	var initID, rotateID, importID, importFrom string
	initialise := &cobra.Command{
		Use:   "init",
		Short: "Make a keyring with one random key",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return changeKeys(a, func(r token.Keyring, exists bool, now dag.Time) (token.Keyring, token.KeyID, error) {
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
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return changeKeys(a, func(r token.Keyring, exists bool, now dag.Time) (token.Keyring, token.KeyID, error) {
				if !exists {
					return r, "", fs.ErrNotExist
				}
				return addRandom(r, rotateID, now)
			}, takesOver, "Trust files stay as they are: they name the identity's keys. A verifier that checks tokens with a copy of this keyring needs the new one.")
		},
	}
	rotate.Flags().StringVar(&rotateID, "id", "", "the new key's id (default k2, k3, …)")
	retire := &cobra.Command{
		Use:   "retire KEY-ID",
		Short: "Retire a key for good: it verifies nothing from now on",
		Args:  cli.OneArg("KEY-ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			return changeKeys(a, func(r token.Keyring, exists bool, now dag.Time) (token.Keyring, token.KeyID, error) {
				if !exists {
					return r, "", fs.ErrNotExist
				}
				next, err := r.Retire(token.KeyID(args[0]), now)
				return next, token.KeyID(args[0]), err
			}, takesOver)
		},
		ValidArgsFunction: completeKeys(a),
	}
	imported := &cobra.Command{
		Use:   "import --id KEY-ID [--from FILE]",
		Short: "Add a secret made elsewhere, in hex, as a key that verifies",
		Long: `Reads a secret (at least 32 bytes, in lowercase hex) from a file or from standard input, never from the command
line, where other users could read it. The key verifies; it signs only if no other key does.`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return importKey(a, c.Context(), importID, importFrom) },
	}
	imported.Flags().StringVar(&importID, "id", "", "the key's id")
	imported.Flags().StringVar(&importFrom, "from", "-", "the file that holds the secret; - is standard input")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the keys, without their secrets",
		Args:  cli.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return listKeys(a) },
	}
	cli.NoFiles(initialise, "id")
	cli.NoFiles(rotate, "id")
	cli.NoFiles(imported, "id")
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

// longestSecret is the most characters of an imported secret.
const longestSecret = 4096

func importKey(a *cli.App, ctx context.Context, id, from string) error {
	if id == "" {
		return cli.Usagef("keys import needs --id KEY-ID")
	}
	text, err := a.IO.ReadFile(ctx, from, longestSecret)
	if errors.Is(err, slice.ErrMalformed) {
		return cli.Usagef("the secret in %s has more than %d characters", from, longestSecret)
	} else if err != nil {
		return err
	}
	secret, err := token.ParseSecret(strings.TrimSpace(string(text)))
	if err != nil {
		return cli.Usage(err)
	}
	// A keyring may begin with a secret that was made elsewhere.
	return changeKeys(a, func(r token.Keyring, _ bool, now dag.Time) (token.Keyring, token.KeyID, error) {
		next, err := r.Import(token.KeyID(id), secret, now)
		return next, token.KeyID(id), err
	})
}

// takesOver says which processes use changed keys, and when.
const takesOver = "Services that read this file (graphkernel serve) apply the change within a second. A service that was given a copy, as by the systemd unit or a container that mounts the one file, " +
	"and processes of graphkernel mcp go on with the keys of their start: restart them."

// changeKeys changes the keyring's file, and then prints notes about the consequences. change gets the keyring, and whether it exists.
func changeKeys(a *cli.App, change func(token.Keyring, bool, dag.Time) (token.Keyring, token.KeyID, error), follows ...string) error {
	if a.Settings.Dev {
		return cli.Usagef("--dev uses a key of its own, which is in no keyring; leave out --dev")
	}
	path, err := a.Settings.KeysPath()
	if err != nil {
		return err
	}
	var id token.KeyID
	next, err := token.ChangeKeyring(path, func(r token.Keyring, exists bool) (token.Keyring, error) {
		now, err := dag.TimeOf(a.Clock())
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
		return cli.Usage(err)
	case err != nil:
		return err
	}
	if a.Settings.KeysFlag == "" && a.Settings.Getenv("GRAPHKERNEL_SECRET") != "" {
		a.IO.Note("graphkernel: GRAPHKERNEL_SECRET is set and takes precedence over this file; unset it, or name the file with --keys")
	}
	for _, k := range next.Keys() {
		if k.ID == id {
			err := a.IO.Print(keyJSON(k, path), func(w io.Writer) { fmt.Fprintf(w, "key %s is %s, in %s\n", k.ID, k.State, path) })
			for _, note := range follows {
				a.IO.Note("%s", note)
			}
			return err
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

func listKeys(a *cli.App) error {
	ring, err := a.Signing.Keyring()
	if err != nil {
		return err
	}
	lines := []keyLine{}
	for _, k := range ring.Keys() {
		lines = append(lines, keyJSON(k, ""))
	}
	return a.IO.Print(map[string]any{"keys": lines}, func(w io.Writer) {
		t := cli.NewTable(w, "key", "state", "created", "retired")
		for _, l := range lines {
			t.AppendRow(table.Row{l.ID, l.State, l.CreatedAt, l.RetiredAt})
		}
		t.Render()
	})
}

func completeKeys(a *cli.App) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		path, err := a.Settings.KeysPath()
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
}
