package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// marker is the file in the folder of a repository's objects that keeps the identity of its project. No clone, commit or archive has it, so nobody else can write it.
const marker = "graphkernel-project"

// A mark is the content of the marker.
type mark struct {
	Identity string `json:"identity"`
	Origin   string `json:"origin,omitempty"` // at the time
}

// Keep keeps the identity of the project of a repository, so that it stays when the folder is moved or an origin is added. It does nothing if it was kept before, or outside
// of repositories.
func (p *Place) Keep(ctx context.Context) error {
	if p.Common == "" {
		return nil
	}
	identity, err := p.Identity(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(mark{identity, p.Origin})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(p.Common, marker), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// kept returns the identity that was kept; "" if there is none, or it is of a repository with another origin.
func (p *Place) kept() (string, error) {
	if p.Common == "" {
		return "", nil
	}
	path := filepath.Join(p.Common, marker)
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var m mark
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Identity == "" {
		return "", fmt.Errorf("%s: want {\"identity\": TEXT, \"origin\": TEXT}, which says of which project the repository is; delete the file to have that decided anew", path)
	}
	if m.Origin != "" && p.Origin != "" && m.Origin != p.Origin {
		return "", nil
	}
	return m.Identity, nil
}
