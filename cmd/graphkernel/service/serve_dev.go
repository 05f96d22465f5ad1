package service

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// devStore makes a temporary store for --dev, unless --store names a store. The function that it returns removes the store.
func devStore(a *cli.App) (removed func(*error), err error) {
	if !a.Settings.Dev || a.Settings.StoreFlag != "" {
		return func(*error) {}, nil
	}
	folder, err := os.MkdirTemp("", "graphkernel-dev-")
	if err != nil {
		return nil, fmt.Errorf("--dev: a folder for the store of this run: %w", err)
	}
	a.Settings.StoreFlag = "sqlite:" + filepath.Join(folder, "graphkernel.db")
	for _, other := range []struct{ name, store string }{{"GRAPHKERNEL_STORE", a.Settings.Getenv("GRAPHKERNEL_STORE")}, {"store of the settings file", a.Settings.FileStore}} {
		if other.store != "" {
			a.IO.Warn("graphkernel: --dev does not use the %s, since signatures of --dev are valid for this run only; name a store to keep with --store", other.name)
		}
	}
	a.IO.Note("graphkernel: --dev: the store exists for this run only; name a store to keep with --store")
	return func(err *error) {
		if gone := os.RemoveAll(folder); *err == nil {
			*err = gone
		}
	}, nil
}
