package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// devStore puts a store of this run in place with --dev, unless --store names one. What it returns
// removes it.
func (a *app) devStore() (removed func(*error), err error) {
	if !a.dev || a.storeFlag != "" {
		return func(*error) {}, nil
	}
	folder, err := os.MkdirTemp("", "graphkernel-dev-")
	if err != nil {
		return nil, fmt.Errorf("--dev: a folder for the store of this run: %w", err)
	}
	a.storeFlag = "sqlite:" + filepath.Join(folder, "graphkernel.db")
	a.note("graphkernel: --dev: the store is of this run alone; --store names one to keep")
	return func(err *error) {
		if gone := os.RemoveAll(folder); *err == nil {
			*err = gone
		}
	}, nil
}
