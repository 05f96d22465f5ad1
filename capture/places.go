package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/internal/project"
	"github.com/graphkernel/graphkernel/internal/secretfile"
)

// placesFile has no suffix, so it is no mark.
const placesFile = "places"

// Bounds of the places that a spool keeps.
const (
	maxPlaces     = 10_000
	maxPlaceBytes = 16 << 20
	rootDeadline  = 5 * time.Second // to find the root commit of one repository
)

// Places returns the folders that the spool learned of, and what each was then: a worktree that was removed since belongs to its project still.
func (s *Spool) Places() (map[string]project.Place, error) {
	data, err := secretfile.Load(filepath.Join(s.folder, placesFile), maxPlaceBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return parsePlaces(data, s.folder)
}

func parsePlaces(data []byte, folder string) (places map[string]project.Place, err error) {
	if err := json.Unmarshal(data, &places); err != nil {
		return nil, fmt.Errorf("capture: %s: %w; remove the file, and it is made again", filepath.Join(folder, placesFile), err)
	}
	return places, nil
}

// Learn notes what folders are, as far as they exist and are not known as they are. Beyond 10 000 folders it notes no more.
func (s *Spool) Learn(ctx context.Context, folders ...string) error {
	known, err := s.Places()
	if err != nil {
		return err
	}
	learned := map[string]project.Place{}
	for _, folder := range slices.Compact(slices.Sorted(slices.Values(folders))) {
		p, err := project.At(folder)
		if err != nil || !p.Known() {
			continue // such as a folder that only others may read
		}
		was, ok := known[folder]
		p.Root = was.Root
		if ok && p == was && (p.Origin == "" || p.Root != "") {
			continue
		}
		if p.Root = ""; p.Origin != "" {
			_ = findRoot(ctx, &p) // without it, clones are not joined
		}
		if !ok || p != was {
			learned[folder] = p
		}
	}
	if len(learned) == 0 || len(known)+len(learned) > maxPlaces {
		return nil
	}
	err = secretfile.Change(filepath.Join(s.folder, placesFile), maxPlaceBytes, func(data []byte, exists bool) ([]byte, error) {
		places := map[string]project.Place{}
		if exists {
			if places, err = parsePlaces(data, s.folder); err != nil {
				return nil, err
			}
		}
		for folder, p := range learned {
			places[folder] = p
		}
		return json.MarshalIndent(places, "", "  ")
	})
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

func findRoot(ctx context.Context, p *project.Place) error {
	ctx, cancel := context.WithTimeout(ctx, rootDeadline)
	defer cancel()
	return p.FindRoot(ctx)
}

// A Project compares folders with one folder.
type Project struct {
	folder string
	here   project.Place
	places map[string]project.Place
	rooted bool // the root commit of here was looked for
}

// Project returns the project of a folder. What the spool knows of folders that are gone counts.
func (s *Spool) Project(folder string) (*Project, error) {
	places, err := s.Places()
	if err != nil {
		return nil, err
	}
	p := &Project{folder: folder, places: places}
	if p.here, err = project.At(folder); err != nil || !p.here.Known() {
		p.here = places[folder]
	}
	return p, nil
}

// Has reports whether a folder, as a transcript spells it, is of the project.
func (p *Project) Has(ctx context.Context, folder string) bool {
	if project.SameSpelling(folder, p.folder) {
		return true
	}
	kept, known := p.places[folder]
	there, err := project.At(folder)
	if err != nil || !there.Known() {
		there = kept
	}
	same, ask := p.here.Alike(&there)
	if !ask {
		return same
	}
	if !p.rooted && p.here.Root == "" {
		p.rooted = true
		_ = findRoot(ctx, &p.here) // as below
	}
	if there.Root == "" && known && kept.Common == there.Common {
		there.Root = kept.Root
	}
	if there.Root == "" {
		_ = findRoot(ctx, &there) // two repositories of which nobody can say it are two projects
	}
	return p.here.SameRepository(&there)
}

// Spellings returns the spellings under which the spool knows folders of the project, and those of the folder itself.
func (p *Project) Spellings(ctx context.Context) []string {
	list := []string{p.folder}
	if p.here.Folder != "" {
		list = append(list, p.here.Folder)
	}
	for folder := range p.places {
		if p.Has(ctx, folder) {
			list = append(list, folder)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
