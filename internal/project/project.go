// Package project decides which folders belong to one project.
//
// There are three kinds of projects. The project of a git repository with an origin is the lowest root commit of its default
// branch together with the host and path of the origin, so all clones and their worktrees are one project, and a fork or
// another project from the same template is a different one. The project of any other repository is the folder in which git
// keeps the objects, so its worktrees are one project. A folder outside of repositories is its own project.
//
// Folders are compared by identity, not by spelling: a link, another letter case where the file system ignores it, or a folder
// below the root of a repository makes no difference. The package reads the files of a repository itself. It runs git only in
// its own temporary repository that borrows the objects (see [Git]), so nothing in a folder decides what is executed.
package project

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A Place describes one folder. The zero value is a folder that does not exist.
type Place struct {
	Folder string `json:"folder,omitempty"` // absolute, without links
	Common string `json:"common,omitempty"` // the folder of the repository's objects and branches, absolute, without links; "" outside of repositories
	Origin string `json:"origin,omitempty"` // host and path of the remote origin, such as "example.com/shop/cart"; "" if there is none
	Root   string `json:"root,omitempty"`   // the lowest root commit; "" until [Place.FindRoot] has found it
}

// maxFile is the largest file of a repository that is read, in bytes.
const maxFile = 16 << 20

// At describes a folder. For a folder that does not exist it returns the zero Place; an unreadable file of git is an error.
func At(folder string) (p Place, err error) {
	if !filepath.IsAbs(folder) {
		return p, nil // such as a path of another operating system
	}
	if p.Folder, err = filepath.EvalSymlinks(folder); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENOTDIR) {
			err = nil
		}
		return Place{}, err
	}
	info, err := os.Stat(p.Folder)
	if err != nil || !info.IsDir() {
		return Place{}, err
	}
	if p.Common, err = common(p.Folder); err != nil || p.Common == "" {
		return p, err
	}
	url, err := originURL(filepath.Join(p.Common, "config"))
	if err != nil {
		return p, err
	}
	p.Origin = normalOrigin(url, filepath.Dir(p.Common))
	return p, nil
}

// Known reports whether the folder existed.
func (p *Place) Known() bool { return p.Folder != "" }

// Alike reports whether two places belong to one project, as far as can be decided without their root commits. ask reports that
// only the root commits can decide: both places are in repositories with the same origin.
func (p *Place) Alike(o *Place) (same, ask bool) {
	switch {
	case !p.Known() || !o.Known():
		return false, false
	case p.Common == "" && o.Common == "":
		return sameFolder(p.Folder, o.Folder), false
	case p.Common == "" || o.Common == "":
		return false, false
	case sameFolder(p.Common, o.Common):
		return true, false
	}
	return false, p.Origin != "" && p.Origin == o.Origin
}

// Identity returns a text that is the same for all folders of a project, and differs from that of any other project. It is what [Place.Keep] kept, if that was called and
// the origin is the same or was added since. Identity runs git if the place is in a repository with an origin.
func (p *Place) Identity(ctx context.Context) (string, error) {
	if kept, err := p.kept(); err != nil || kept != "" {
		return kept, err
	}
	switch {
	case p.Common == "":
		return "folder " + p.Folder, nil
	case p.Origin == "":
		return "repository " + p.Common, nil
	}
	if p.Root == "" {
		if err := p.FindRoot(ctx); err != nil {
			return "", err
		}
	}
	if p.Root == "" { // nothing was committed, or the clone is shallow
		return "repository " + p.Common, nil
	}
	return "history " + p.Root + " of " + p.Origin, nil
}

// SameRepository reports whether two places with the same origin also have the same root commit.
func (p *Place) SameRepository(o *Place) bool { return p.Root != "" && p.Root == o.Root }

// Below reports whether folder is top or lies below it, whatever links and letter cases the two paths use. The part of a path
// that does not exist is compared by its spelling.
func Below(folder, top string) bool {
	if spelledBelow(folder, top) {
		return true
	}
	folder = withoutLinks(folder)
	of, err := os.Stat(top)
	if err != nil {
		return spelledBelow(folder, withoutLinks(top))
	}
	for at := folder; ; {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, of) {
			return true
		}
		up := filepath.Dir(at)
		if up == at {
			return false
		}
		at = up
	}
}

// maxLinks bounds how many dangling links are followed, since they may form a circle.
const maxLinks = 40

// withoutLinks returns a path with all links resolved, also dangling ones. Parts that do not exist keep their spelling.
func withoutLinks(path string) string {
	rest, links := "", 0
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if to, failed := os.Readlink(path); err == nil && failed == nil && links < maxLinks {
			path = from(dir, to)
			links++
			continue
		}
		up := filepath.Dir(path)
		if up == path {
			return filepath.Join(path, rest)
		}
		path, rest = up, filepath.Join(filepath.Base(path), rest)
	}
}

func spelledBelow(folder, top string) bool {
	folder, top = filepath.Clean(folder), filepath.Clean(top)
	rest, ok := strings.CutPrefix(folder, top)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(top, string(filepath.Separator)))
}

// sameFolder reports whether two paths without links are the same folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// common returns the common folder of the repository that contains a folder, or "" if there is none.
func common(folder string) (string, error) {
	for at := folder; ; {
		if IsRepository(at) { // a bare repository
			return at, nil
		}
		dot := filepath.Join(at, ".git")
		info, err := os.Lstat(dot)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case err != nil:
		case info.Mode().IsRegular():
			return linked(at, dot)
		default:
			if real, err := filepath.EvalSymlinks(dot); err == nil && IsRepository(real) {
				return real, nil
			}
		}
		up := filepath.Dir(at)
		if up == at {
			return "", nil
		}
		at = up
	}
}

// IsRepository reports whether a folder has the form of a git directory, such as .git in a working tree or a bare repository.
func IsRepository(folder string) bool {
	for _, name := range [...]string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(folder, "HEAD"))
	return err == nil
}

// linked follows the file .git of a worktree or a submodule. The repository has to name the folder too, since anybody can write
// a file that names another user's repository.
func linked(folder, dot string) (string, error) {
	text, err := read(dot)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return "", nil
	}
	gitdir, err := filepath.EvalSymlinks(from(folder, strings.TrimSpace(to)))
	if err != nil {
		return "", nil //nolint:nilerr // the repository is gone, so the folder counts as outside of repositories
	}
	shared, err := read(filepath.Join(gitdir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) { // a submodule
		tree, err := setting(filepath.Join(gitdir, "config"), "core", "", "worktree")
		if err != nil || tree == "" || !sameFolder(from(gitdir, tree), folder) || !IsRepository(gitdir) {
			return "", err
		}
		return gitdir, nil
	}
	if err != nil {
		return "", err
	}
	back, err := read(filepath.Join(gitdir, "gitdir"))
	if err != nil || !sameFolder(filepath.Dir(from(gitdir, strings.TrimSpace(back))), folder) {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "", err
	}
	common, err := filepath.EvalSymlinks(from(gitdir, strings.TrimSpace(shared)))
	if err != nil || !IsRepository(common) || !sameFolder(filepath.Join(common, "worktrees"), filepath.Dir(gitdir)) {
		return "", nil //nolint:nilerr // as above
	}
	return common, nil
}

// from returns a path, resolved in a folder if the path is relative.
func from(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// read returns the content of a regular file of at most maxFile bytes.
func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(bufio.NewReader(f), maxFile+1))
	if err == nil && len(data) > maxFile {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("the file has more than 16 MiB")}
	}
	return string(data), err
}

// SameSpelling reports whether two paths have the same spelling. For paths of Windows, letter case and separators make no
// difference.
func SameSpelling(a, b string) bool {
	if a == b {
		return true
	}
	return ofWindows(a) && ofWindows(b) && strings.EqualFold(plain(a), plain(b))
}

// ofWindows reports whether a path begins with a drive.
func ofWindows(path string) bool {
	return len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z')
}

// plain returns a Windows path with slashes as separators, and without a separator at the end.
func plain(path string) string { return strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/") }
