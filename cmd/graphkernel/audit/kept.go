package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/ledger"
)

// A keptCheckpoint is the file with the newest checkpoint of a log that this machine saw. Programs that run at the same time share it.
type keptCheckpoint struct{ path string }

func keptIn(folder, origin string) keptCheckpoint {
	name := strings.NewReplacer("/", "_", "\\", "_").Replace(origin)
	return keptCheckpoint{filepath.Join(folder, name+".checkpoint")}
}

// load returns the kept checkpoint, or nil if there is none.
func (k keptCheckpoint) load() ([]byte, error) {
	note, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(note) == 0 {
		return nil, nil
	}
	return note, err
}

// errKeptMoved is wrapped when another program has kept a newer checkpoint meanwhile. The comparison must then be repeated with that checkpoint: otherwise,
// if two programs are shown two histories at the same time, neither would notice.
var errKeptMoved = errors.New("another program stored a newer checkpoint meanwhile")

// replace keeps a note, if the file still holds before.
func (k keptCheckpoint) replace(before, note []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return err
	}
	unlock, err := secretfile.Lock(k.path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	now, err := k.load()
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%s: %w", k.path, errKeptMoved)
	}
	return cli.ReplaceFile(k.path, note)
}

// mostMoves is how many times a comparison is repeated because another program kept a checkpoint first.
const mostMoves = 10

// originOf returns the origin of one log of a trust file: of the log that the flag names, or of the tenant's log if a tenant is named, or of the only log in
// the file.
func originOf(a *cli.App, trust *ledger.Trust, file, named string) (string, error) {
	tenant := dag.Tenant("")
	if named == "" && (a.Settings.NamesTenant() || len(trust.Logs) > 1) {
		var err error
		if tenant, err = a.Settings.Tenant(); err != nil {
			return "", err
		}
	}
	var origins []string
	for _, l := range trust.Logs {
		if (named == "" || l.Name == named) && (tenant == "" || ledger.Origin(l.Name).Tenant() == tenant) && !contains(origins, l.Name) {
			origins = append(origins, l.Name)
		}
	}
	switch len(origins) {
	case 1:
		return origins[0], nil
	case 0:
		return "", cli.Usagef("%s names no log %s; choose one of its logs with --origin", file, cli.First(named, "of tenant "+string(tenant)))
	}
	return "", cli.Usagef("%s names %d logs of tenant %s (%s); name one with --origin", file, len(origins), tenant, strings.Join(origins, ", "))
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
