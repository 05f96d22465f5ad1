package project

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// FindRoot sets the root commit of a place in a repository: the lowest hash if there are several, on the origin's default
// branch, or on the checked-out branch if that is unknown. A repository without commits has no root commit, and neither does a
// shallow clone, since its oldest commits are missing. FindRoot runs git, which takes longer in a repository with many commits.
func (p *Place) FindRoot(ctx context.Context) error {
	if p.Common == "" {
		return nil
	}
	r := Repository{Folder: p.Common, Common: p.Common}
	if shallow, err := r.Shallow(); err != nil || len(shallow) > 0 {
		return err
	}
	tip, err := r.resolve("refs/remotes/origin/HEAD", maxRefs)
	if err == nil && tip == "" {
		tip, err = r.resolve("HEAD", maxRefs)
	}
	if err != nil || tip == "" {
		return err
	}
	git, err := r.Borrow(tip, nil)
	if err != nil {
		return err
	}
	defer git.Close()
	out, err := git.Output(ctx, "rev-list", "--max-parents=0", tip, "--")
	if err != nil {
		return fmt.Errorf("project: %w", err)
	}
	if roots := slices.Sorted(slices.Values(strings.Fields(string(out)))); len(roots) > 0 {
		p.Root = roots[0]
	}
	return nil
}
