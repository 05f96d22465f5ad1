package memories

import (
	"context"
	"fmt"
	"os"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// general names the memories that belong to no project.
const general = "general"

// spaceOf returns the space that the flag --project names: a folder, general, or a space.
func spaceOf(text string) (string, error) {
	if text == general {
		return string(api.General), nil
	}
	if info, err := os.Stat(text); err == nil && info.IsDir() {
		space, err := cli.ProjectSpace(context.Background(), text)
		return string(space), err
	}
	if _, err := belief.ParseSpace(text); err != nil {
		return "", fmt.Errorf("%q is no folder; want a folder of the project, or general", text)
	}
	return text, nil
}
