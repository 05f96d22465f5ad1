package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/internal/project"
)

// ProjectSpace returns the space of the memories of the project that a folder belongs to. Its name tells nothing about the project.
func ProjectSpace(ctx context.Context, folder string) (belief.Space, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	place, err := project.At(folder)
	if err != nil {
		return "", err
	}
	if !place.Known() {
		return "", fmt.Errorf("there is no folder %s", folder)
	}
	identity, err := place.Identity(ctx)
	return SpaceOf(identity), err
}

// SpaceOf returns the space of the memories of the project with an identity.
func SpaceOf(identity string) belief.Space {
	digest := sha256.Sum256([]byte(identity))
	return belief.Space("projects/" + hex.EncodeToString(digest[:10]))
}

// ProjectHere returns the space of the memories of the current folder's project.
func ProjectHere(ctx context.Context) (belief.Space, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return ProjectSpace(ctx, folder)
}

// KeepProjectHere makes the project of the current folder stay the same when the folder is moved, or gets an origin.
func KeepProjectHere(ctx context.Context) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	place, err := project.At(folder)
	if err != nil {
		return err
	}
	return place.Keep(ctx)
}

// SpacesAround returns the spaces that a context for a project is made from; nil is all. The project is asked for only if others have memories.
func (s *Session) SpacesAround(ctx context.Context, project func(context.Context) (belief.Space, error)) ([]belief.Space, error) {
	all, err := Do(ctx, s, api.ListSpaces, api.SpacesQuery{})
	if err != nil || all.Around("projects/none") == nil { // there are no memories of projects
		return nil, err
	}
	of, err := project(ctx)
	if err != nil {
		return nil, err
	}
	return all.Around(of), nil
}
