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

// A Repository says where the files of a git repository are. They are read as data: its configuration, hooks and attributes are not.
type Repository struct {
	Folder string // of the working tree's own files, such as HEAD
	Common string // of the files that all working trees share, such as objects and branches
}

// ErrNoRepository is wrapped if a folder is in no git repository.
var ErrNoRepository = errors.New("not a git repository")

// RepositoryOf returns the repository that a folder is in, as git finds it: of the folder itself or of the nearest one above.
func RepositoryOf(folder string) (r Repository, err error) {
	real, err := filepath.EvalSymlinks(folder)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return r, err
	}
	for at := real; ; at = filepath.Dir(at) {
		dot := filepath.Join(at, ".git")
		text, err := read(dot)
		to, ok := strings.CutPrefix(text, "gitdir:")
		switch {
		case err == nil && ok:
			return withCommon(from(at, strings.TrimSpace(to)))
		case isRepository(dot):
			return withCommon(dot)
		case isRepository(at):
			return withCommon(at)
		case at == filepath.Dir(at):
			return r, fmt.Errorf("%w: %s, nor any folder above it", ErrNoRepository, folder)
		}
	}
}

func withCommon(folder string) (Repository, error) {
	r := Repository{folder, folder}
	text, err := read(filepath.Join(folder, "commondir"))
	switch {
	case err == nil:
		r.Common = from(folder, strings.TrimSpace(text))
	case !errors.Is(err, fs.ErrNotExist):
		return r, err
	}
	if !isRepository(r.Common) {
		return r, fmt.Errorf("%w: %s", ErrNoRepository, r.Common)
	}
	return r, nil
}

// Head returns the commit that is checked out; "" if there is none yet, or if the repository keeps its branches in another form than files.
func (r Repository) Head() (string, error) {
	text, err := read(filepath.Join(r.Folder, "HEAD"))
	if err != nil {
		return "", err
	}
	name, isName := strings.CutPrefix(strings.TrimSpace(text), "ref:")
	if !isName {
		return resolve(r.Folder, "HEAD", 5)
	}
	tip, err := resolve(r.Common, strings.TrimSpace(name), 5)
	if tip == "" && err == nil {
		tip, err = resolve(r.Folder, strings.TrimSpace(name), 5) // refs/worktree and the like
	}
	return tip, err
}

// Shallow returns the commits whose parents a shallow clone left out.
func (r Repository) Shallow() (commits []string, err error) {
	text, err := read(filepath.Join(r.Common, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, hash := range strings.Fields(text) {
		if isHash(hash) {
			commits = append(commits, hash)
		}
	}
	return commits, err
}

// A Git runs git in a repository of its own, which is empty but for the objects of another one and says which commits that one's history ends with. So git reads no configuration,
// hooks, attributes, replaced objects or branches that come with these objects, nor any of the user's or the machine's, and fetches nothing.
type Git struct {
	folder, objects string
}

// Borrow makes a repository that has the objects in a folder, and of which a commit is one. Close removes it.
func Borrow(objects, commit string, shallow []string) (*Git, error) {
	objects, err := filepath.Abs(objects)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "graphkernel-git-")
	if err != nil {
		return nil, err
	}
	g := &Git{folder, objects}
	if err := g.fill(len(commit) == 64, shallow); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Git) fill(sha256 bool, shallow []string) error {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if sha256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
	}
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config}
	if len(shallow) > 0 {
		files["shallow"] = strings.Join(shallow, "\n") + "\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(g.folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, name := range [...]string{"refs", "objects"} {
		if err := os.Mkdir(filepath.Join(g.folder, name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Close removes what Borrow made.
func (g *Git) Close() error { return os.RemoveAll(g.folder) }

// Command returns a command of git. The environment of the caller changes nothing of what it writes.
func (g *Git) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, args...)...)
	cmd.Dir = g.folder
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" || name == "PAGER"
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "TZ=UTC", "GIT_DIR="+g.folder, "GIT_OBJECT_DIRECTORY="+g.objects, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_ATTR_NOSYSTEM=1")
	cmd.WaitDelay = time.Second
	return cmd
}
