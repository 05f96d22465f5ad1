// Package project tells which folders belong to one project.
//
// A project is one of three things. Of a git repository with an origin it is the lowest root commit of its default branch and the host and path of the origin,
// so all clones of it and their worktrees are one project, and a fork or another project of one template is another. Of any other repository it is the
// folder in which git keeps the objects, so its worktrees are one project. A folder outside of repositories is a project of its own.
//
// Folders are compared by what they are and not by how they are spelled: a link, another letter case where the file system folds it, or a folder below
// the root of a repository make no difference. The package reads the files of a repository itself. git runs in a repository of the package's own that borrows the objects, see [Git],
// so nothing in a folder decides what is executed.
package project

import (
	"bufio"
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
	Root   string `json:"root,omitempty"`   // the lowest root commit; "" until [Place.FindRoot] found it
}

// maxFile bounds the bytes of a file that is read of a repository.
const maxFile = 16 << 20

// At describes a folder. A folder that does not exist is the zero Place; a file of git that cannot be read is an error.
func At(folder string) (p Place, err error) {
	if !filepath.IsAbs(folder) {
		return p, nil // such as the path of another system
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

// Known reports whether there was such a folder.
func (p *Place) Known() bool { return p.Folder != "" }

// Alike reports whether two places are of one project, as far as that shows without their root commits. It reports ask if only these can tell: both are
// repositories with the same origin.
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

// SameRepository reports whether two places, which have the same origin, have the same root commit, too.
func (p *Place) SameRepository(o *Place) bool { return p.Root != "" && p.Root == o.Root }

// Below reports whether a folder is another one or lies below it, by whatever links and letter cases the two are spelled. Of folders that do not exist, the part that
// does not is compared as it is spelled.
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

// maxLinks bounds how many links that lead nowhere are followed, since they may form a circle.
const maxLinks = 40

// withoutLinks returns a path without links, also those that lead to nothing. What does not exist stays as it is spelled.
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

// sameFolder compares two folders without links.
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

// common returns the common folder of the repository that a folder is in; "" if it is in none.
func common(folder string) (string, error) {
	for at := folder; ; {
		if IsRepository(at) { // a bare one
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

// IsRepository reports whether a folder has the form of a repository's own, as .git in a working tree and a bare repository have.
func IsRepository(folder string) bool {
	for _, name := range [...]string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(folder, "HEAD"))
	return err == nil
}

// linked follows the file .git of a worktree or a submodule. The repository has to name the folder, too: anybody can write a file that names somebody
// else's repository.
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
		return "", nil //nolint:nilerr // the repository is gone, and the folder is one as any
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

// from returns a path as it is meant in a folder.
func from(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// read returns a small file.
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
		return "", &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(bufio.NewReader(f), maxFile+1))
	if err == nil && len(data) > maxFile {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it has more than 16 MiB")}
	}
	return string(data), err
}

// SameSpelling reports whether two paths are spelled alike. Paths of Windows are, in whichever letter case and with whichever separator.
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

// plain returns a path of Windows with one separator, and none at its end.
func plain(path string) string { return strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/") }
