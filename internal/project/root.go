package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// FindRoot sets the root commit of a place in a repository: of several the lowest hash, from the branch that the origin calls its default, or from the one that is checked out. A
// repository without a commit has none, nor has a shallow clone, whose oldest commits are not there. It runs git, which takes longer in a repository with many commits.
func (p *Place) FindRoot(ctx context.Context) error {
	if p.Common == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(p.Common, "shallow")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tip, err := tipOf(p.Common)
	if err != nil || tip == "" {
		return err
	}
	git, err := Borrow(filepath.Join(p.Common, "objects"), tip, nil)
	if err != nil {
		return err
	}
	defer git.Close()
	out, err := git.Command(ctx, "rev-list", "--max-parents=0", tip, "--").Output()
	if failed := (&exec.ExitError{}); errors.As(err, &failed) {
		return fmt.Errorf("project: git in %s: %w: %.200s", p.Common, err, failed.Stderr)
	}
	if err != nil {
		return fmt.Errorf("project: git: %w", err)
	}
	if roots := slices.Sorted(slices.Values(strings.Fields(string(out)))); len(roots) > 0 {
		p.Root = roots[0]
	}
	return nil
}

// tipOf returns the commit of the default branch of the origin, else that which is checked out; "" if there is none, or if the repository keeps its branches in another form than files.
func tipOf(common string) (string, error) {
	for _, name := range [...]string{"refs/remotes/origin/HEAD", "HEAD"} {
		if tip, err := resolve(common, name, 5); tip != "" || err != nil {
			return tip, err
		}
	}
	return "", nil
}

// resolve follows a ref to a commit.
func resolve(common, name string, depth int) (string, error) {
	if depth == 0 || !isRef(name) {
		return "", nil
	}
	text, err := read(filepath.Join(common, filepath.FromSlash(name)))
	switch {
	case err == nil:
		text = strings.TrimSpace(text)
		if to, ok := strings.CutPrefix(text, "ref:"); ok {
			return resolve(common, strings.TrimSpace(to), depth-1)
		}
		if isHash(text) {
			return text, nil
		}
		return "", nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	packed, err := read(filepath.Join(common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(packed) {
		if hash, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && ref == name && isHash(hash) {
			return hash, nil
		}
	}
	return "", nil
}

// isRef reports whether a name stays within the repository.
func isRef(name string) bool {
	return name == "HEAD" || strings.HasPrefix(name, "refs/") && filepath.IsLocal(filepath.FromSlash(name)) && !strings.Contains(name, "..")
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
