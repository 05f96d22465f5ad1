package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/sqlite"
)

func migrateCommand(a *cli.App) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's tables to the schema of this version",
		Long: `Brings the store's tables to the schema of this version of the program, in one transaction and under a lock.
Every command does so by itself when it opens a store. This command is for a service that runs as a user who
may not change tables, and for seeing beforehand what would be done. The first migration of an empty PostgreSQL
database makes the tables. A store of a newer version is refused and left as it is.

With --output json: {"from":N,"to":N,"applied":bool}; "from" is 0 if there are no tables.`,
		Example: "  graphkernel --store postgres://owner@db/graphkernel migrate --dry-run\n  graphkernel --store postgres://owner@db/graphkernel migrate",
		Args:    cli.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return migrate(a, c.Context(), dry) },
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, and change nothing")
	return c
}

func migrate(a *cli.App, ctx context.Context, dry bool) error {
	m, err := migrateNamed(ctx, a.Settings.StoreName(), dry)
	if err != nil {
		return err
	}
	applied := !dry && m.From != m.To
	return a.IO.Print(map[string]any{"from": m.From, "to": m.To, "applied": applied}, func(w io.Writer) {
		switch {
		case m.From == m.To:
			fmt.Fprintf(w, "the store has schema %d, which is this program's\n", m.To)
		case applied:
			fmt.Fprintf(w, "the store had schema %d and has %d now\n", m.From, m.To)
		default:
			fmt.Fprintf(w, "the store has schema %d; migrate would bring it to %d\n", m.From, m.To)
		}
	})
}

func migrateNamed(ctx context.Context, name string, dry bool) (store.Migration, error) {
	if cli.IsPostgres(name) {
		m, err := postgres.Migrate(ctx, cli.PostgresURL(name), dry)
		return m, cli.WithoutName(name, err)
	}
	path, err := cli.SqlitePath(name)
	if err != nil {
		return store.Migration{}, err
	}
	m, err := sqlite.Migrate(ctx, path, dry)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w at %s; graphkernel import makes one", cli.ErrNoStore, cli.ShownPath(name))
	}
	return m, err
}
