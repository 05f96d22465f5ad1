package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/internal/project"
)

// ProjectSpaces begins the name of each space of a project's memories.
const ProjectSpaces = "projects/"

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
	digest := sha256.Sum256([]byte(identity))
	return belief.Space(ProjectSpaces + hex.EncodeToString(digest[:10])), err
}

// ProjectHere returns the space of the memories of the current folder's project.
func ProjectHere(ctx context.Context) (belief.Space, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return ProjectSpace(ctx, folder)
}
