package capture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// placesFile has no suffix, so it is not read as a mark.
const placesFile = "places"

// Bounds of a spool's file of places.
const (
	maxPlaces     = 10_000
	maxPlaceBytes = 16 << 20
)

// The search for the root commit of one repository takes at most learnRoot when a folder is learned, and at most askRoot when
// an agent waits for an answer.
const (
	learnRoot = 5 * time.Second
	askRoot   = time.Second
)

// Places returns the recorded place of each learned folder. So a worktree that has been removed still belongs to its project.
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

// Learn records the places of folders that exist, unless they are already recorded unchanged. It looks for the root commit of a
// repository with an origin only once, so a repository in which the search takes too long costs nothing later. Beyond 10 000
// folders it records no more.
func (s *Spool) Learn(ctx context.Context, folders ...string) error {
	known, err := s.Places()
	if err != nil {
		return err
	}
	learned := map[string]project.Place{}
	for _, folder := range slices.Compact(slices.Sorted(slices.Values(folders))) {
		p, err := project.At(folder)
		if err != nil || !p.Known() {
			continue // such as a folder that this user may not read
		}
		was, ok := known[folder]
		if p.Root = was.Root; ok && p == was {
			continue
		}
		if p.Root = ""; p.Origin != "" {
			_ = findRoot(ctx, &p, learnRoot) // without a root commit, clones are not joined
		}
		learned[folder] = p
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

func findRoot(ctx context.Context, p *project.Place, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return p.FindRoot(ctx)
}

// A Project decides which folders belong to the project of one folder.
type Project struct {
	folder string
	here   project.Place
	places map[string]project.Place
	rooted bool // the search for the root commit of here was made
}

// Project returns the project of a folder. A folder that no longer exists has the place that the spool recorded.
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

// Branch returns the branch that is checked out in the folder; "" if there is none.
func (p *Project) Branch() string { return project.Branch(p.folder) }

// Identity returns the identity of the project, as [project.Place.Identity] has it, also if its folder is gone and the spool knows what it was.
func (p *Project) Identity(ctx context.Context) (string, error) {
	if !p.here.Known() {
		return "", fmt.Errorf("there is no folder %s", p.folder)
	}
	if p.here.Origin != "" && !p.rooted {
		p.root(ctx, p.folder, &p.here)
		p.rooted = true
	}
	return p.here.Identity(ctx)
}

// Has reports whether a folder, as a transcript spells it, belongs to the project.
func (p *Project) Has(ctx context.Context, folder string) bool {
	if project.SameSpelling(folder, p.folder) {
		return true
	}
	there, err := project.At(folder)
	if err != nil || !there.Known() {
		there = p.places[folder]
	}
	same, ask := p.here.Alike(&there)
	if !ask {
		return same
	}
	if !p.rooted {
		p.rooted = true
		p.root(ctx, p.folder, &p.here)
	}
	p.root(ctx, folder, &there)
	return p.here.SameRepository(&there)
}

// root sets the root commit of a folder's place, from the spool or from the repository. If the search does not end in time, the
// place has no root commit; two repositories without a root commit are two projects.
func (p *Project) root(ctx context.Context, folder string, at *project.Place) {
	if kept := p.places[folder]; at.Root == "" && kept.Common == at.Common && kept.Origin == at.Origin {
		at.Root = kept.Root
	}
	if at.Root == "" {
		_ = findRoot(ctx, at, askRoot)
	}
}

// Spellings returns the spellings of the project's own folder, and of every other folder that the spool knows and whose SHA-256
// in hex is in digests.
func (p *Project) Spellings(ctx context.Context, digests map[string]bool) []string {
	list := []string{p.folder}
	if p.here.Folder != "" {
		list = append(list, p.here.Folder)
	}
	for folder := range p.places {
		sum := sha256.Sum256([]byte(folder))
		if digests[hex.EncodeToString(sum[:])] && p.Has(ctx, folder) {
			list = append(list, folder)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
