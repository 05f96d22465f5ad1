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

// marker is the file in the folder of a repository's objects that keeps the identity of its project. Clones and commits do not have it.
const marker = "graphkernel-project"

// A mark is the content of the marker.
type mark struct {
	Identity string `json:"identity"`
	Origin   string `json:"origin,omitempty"` // at the time
}

// Keep records the identity of a repository's project, and its origin, so that moving the folder or adding an origin does not change the project. It does nothing outside of
// repositories.
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
	path := filepath.Join(p.Common, marker)
	if was, err := read(path); err == nil && was == string(text)+"\n" {
		return nil
	}
	f, err := os.CreateTemp(p.Common, marker)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// kept returns the recorded identity; "" if there is none, or if it was recorded for another origin.
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
