package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/token"
)

// WithinFlag adds the flag --within to a command. Within reads the file that it names.
func WithinFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "within", "", "use only the turns of the bundle in this file, which the kernel handed out, and what rests on them")
}

// Within returns the bundle in the file of --within and the keys that verify it; both are empty if path is empty.
func (a *App) Within(ctx context.Context, path string) (json.RawMessage, token.Keyring, error) {
	if path == "" {
		return nil, token.Keyring{}, nil
	}
	data, err := a.IO.ReadBundle(ctx, path)
	if err != nil {
		return nil, token.Keyring{}, err
	}
	data = WithoutLineFeed(data)
	if !json.Valid(data) {
		return nil, token.Keyring{}, Usagef("--within: %s is no bundle", path)
	}
	keys, err := a.Signing.RingToSign()
	return data, keys, err
}
