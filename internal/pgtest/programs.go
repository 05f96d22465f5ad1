package pgtest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// places are the folders where packages install the programs; a star matches the version.
var places = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
}

// programs returns the folder of PostgreSQL's server programs.
func programs() (string, error) {
	if !supported {
		return "", errors.New("pgtest: servers are started on Unix only")
	}
	if folder := os.Getenv(binVariable); folder != "" {
		if lacking := lacks(folder); lacking != "" {
			return "", fmt.Errorf("pgtest: %s is %s, which has no program %s", binVariable, folder, lacking)
		}
		return folder, nil
	}
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		if lacks(filepath.Dir(path)) == "" {
			return filepath.Dir(path), nil
		}
		// pg_ctl may be a link in a folder of links: the other programs are next to the link's target.
		if path, err = filepath.EvalSymlinks(path); err == nil && lacks(filepath.Dir(path)) == "" {
			return filepath.Dir(path), nil
		}
	}
	for _, place := range places {
		found, err := filepath.Glob(place)
		if err != nil {
			return "", err
		}
		found = slices.DeleteFunc(found, func(folder string) bool { return lacks(folder) != "" })
		if len(found) > 0 {
			return slices.MaxFunc(found, byVersion), nil
		}
	}
	return "", errors.New("pgtest: found no PostgreSQL server; install one (Debian: apt-get install postgresql, " +
		"Fedora: dnf install postgresql-server, macOS: brew install postgresql), or name the folder of initdb in " + binVariable)
}

// lacks returns the first program that a folder lacks, or "" if none is missing.
func lacks(folder string) string {
	for _, name := range []string{"initdb", "postgres", "pg_basebackup"} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return name
		}
	}
	return ""
}

var number = regexp.MustCompile(`\d+`)

// byVersion orders folders by the numbers in their names: 9.6 before 15.
func byVersion(a, b string) int {
	return slices.CompareFunc(number.FindAllString(a, -1), number.FindAllString(b, -1), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Compare(x, y)
	})
}

// An owner is the user that the programs run as.
type owner struct{ uid, gid int }

// account returns the user that replaces root, or nil if this process is not root's.
func account() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, err
		}
		return &owner{uid, gid}, nil
	}
	return nil, errors.New("pgtest: PostgreSQL refuses to run as root, and there is no user postgres or nobody")
}
