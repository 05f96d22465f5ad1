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
	"time"
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
	empty, err := os.MkdirTemp("", "graphkernel-roots-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	out, err := rootsOf(ctx, empty, filepath.Join(p.Common, "objects"), tip)
	if err != nil {
		return err
	}
	if roots := slices.Sorted(slices.Values(strings.Fields(out))); len(roots) > 0 {
		p.Root = roots[0]
	}
	return nil
}

// rootsOf lists root commits by git in a repository that is empty but for the objects of another one, so that git reads no configuration which comes with these.
func rootsOf(ctx context.Context, empty, objects, tip string) (string, error) {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if len(tip) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := os.WriteFile(filepath.Join(empty, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	for _, name := range [...]string{"refs", "objects"} {
		if err := os.Mkdir(filepath.Join(empty, name), 0o700); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, "git", "--no-pager", "rev-list", "--max-parents=0", tip, "--")
	cmd.Dir = empty
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GIT_") })
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_DIR="+empty, "GIT_OBJECT_DIRECTORY="+objects, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_ATTR_NOSYSTEM=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if failed := (&exec.ExitError{}); errors.As(err, &failed) {
		return "", fmt.Errorf("project: git in %s: %w: %.200s", objects, err, failed.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("project: git: %w", err)
	}
	return string(out), nil
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
