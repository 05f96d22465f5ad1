package project

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Repository says where the files of a git repository are. This package reads the files as data: no configuration, hook or
// attribute takes effect.
type Repository struct {
	Folder string // of the files that only this working tree has, such as HEAD
	Common string // of the files that all working trees share, such as objects and branches
}

// ErrNoRepository is wrapped if a folder is not in a git repository.
var ErrNoRepository = errors.New("not a git repository")

// RepositoryOf returns the repository that contains a folder, as git finds it: the repository of the folder itself or of the
// nearest folder above.
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
		case IsRepository(dot):
			return withCommon(dot)
		case IsRepository(at):
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
	if !IsRepository(r.Common) {
		return r, fmt.Errorf("%w: %s", ErrNoRepository, r.Common)
	}
	return r, nil
}

// Head returns the commit that is checked out, or "" if there is none yet or the repository does not keep its branches in
// files.
func (r Repository) Head() (string, error) {
	if _, err := os.Lstat(filepath.Join(r.Folder, "HEAD")); err != nil {
		return "", err
	}
	return r.resolve("HEAD", maxRefs)
}

// Branch returns the branch that is checked out in a folder; "" if there is none, or the folder is in no repository.
func Branch(folder string) string {
	r, err := RepositoryOf(folder)
	if err != nil {
		return ""
	}
	head, err := read(filepath.Join(r.Folder, "HEAD"))
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(head), "ref: refs/heads/")
	if !ok || !utf8.ValidString(name) || len(name) > maxBranch {
		return ""
	}
	return name
}

// maxBranch is the maximum length of the name of a branch, in bytes.
const maxBranch = 250

// maxRefs is how many refs are followed from one to the next.
const maxRefs = 5

// resolve follows a ref to a commit; it returns "" if the ref leads to no commit. HEAD and the refs of a single working tree
// are in its own folder, all others in the common folder.
func (r Repository) resolve(name string, depth int) (string, error) {
	if depth == 0 || !isRef(name) {
		return "", nil
	}
	folder := r.Common
	for _, own := range [...]string{"HEAD", "refs/worktree/", "refs/bisect/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			folder = r.Folder
		}
	}
	text, err := read(filepath.Join(folder, filepath.FromSlash(name)))
	switch {
	case err == nil:
		text = strings.TrimSpace(text)
		if to, ok := strings.CutPrefix(text, "ref:"); ok {
			return r.resolve(strings.TrimSpace(to), depth-1)
		}
		if IsHash(text) {
			return text, nil
		}
		return "", nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	packed, err := read(filepath.Join(r.Common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(packed) {
		if hash, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && ref == name && IsHash(hash) {
			return hash, nil
		}
	}
	return "", nil
}

// isRef reports whether a name is a ref that stays within the repository.
func isRef(name string) bool {
	return name == "HEAD" || strings.HasPrefix(name, "refs/") && filepath.IsLocal(filepath.FromSlash(name)) && !strings.Contains(name, "..")
}

// IsHash reports whether a text is a SHA-1 or SHA-256 in lowercase hex.
func IsHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Shallow returns the commits whose parents are missing in a shallow clone.
func (r Repository) Shallow() (commits []string, err error) {
	text, err := read(filepath.Join(r.Common, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, hash := range strings.Fields(text) {
		if IsHash(hash) {
			commits = append(commits, hash)
		}
	}
	return commits, err
}

// A Git runs git in a temporary repository, which has only the objects of another repository and its shallow commits. So git
// reads no configuration, hooks, attributes, replaced objects or branches of the other repository, nor the user's or the
// machine's configuration, and fetches nothing.
type Git struct {
	of              string // the common folder of the other repository
	folder, objects string
}

// Borrow creates a temporary repository with the objects of r. A commit of r determines the hash function. Close removes the
// repository.
func (r Repository) Borrow(commit string, shallow []string) (*Git, error) {
	objects, err := filepath.Abs(filepath.Join(r.Common, "objects"))
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "graphkernel-git-")
	if err != nil {
		return nil, err
	}
	g := &Git{r.Common, folder, objects}
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

// Close removes the temporary repository.
func (g *Git) Close() error { return os.RemoveAll(g.folder) }

// command returns a git command. The caller's environment does not change its output.
func (g *Git) command(ctx context.Context, args ...string) *exec.Cmd {
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

// maxOutput is the largest output that Output returns, in bytes.
const maxOutput = 16 << 20

// Output returns the standard output of a git command.
func (g *Git) Output(ctx context.Context, args ...string) (out []byte, err error) {
	err = g.Run(ctx, func(in io.Reader) error {
		out, err = io.ReadAll(io.LimitReader(in, maxOutput+1))
		if err == nil && len(out) > maxOutput {
			err = fmt.Errorf("git %s in %s: its output has more than %d bytes", args[0], g.of, maxOutput)
		}
		return err
	}, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Run runs a git command and passes its output to read. An error of read ends the command and is returned. Other errors name
// the command, the repository and git's message.
func (g *Git) Run(ctx context.Context, read func(io.Reader) error, args ...string) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := g.command(running, args...)
	complaint := &clipped{most: 4096}
	cmd.Stderr = complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("git %s in %s: %w", args[0], g.of, err)
	}
	if err := read(out); err != nil {
		stop()
		_ = cmd.Wait() // err is the reason
		return err
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("git %s in %s: %w: %s", args[0], g.of, err, strings.TrimSpace(string(complaint.text)))
	}
	return nil
}

// A clipped keeps the beginning of the bytes that are written to it.
type clipped struct {
	text []byte
	most int
}

func (w *clipped) Write(p []byte) (int, error) {
	w.text = append(w.text, p[:min(len(p), w.most-len(w.text))]...)
	return len(p), nil
}
