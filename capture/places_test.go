package capture_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/capture"
)

func inGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestProject compares folders with one folder, before and after some of them are gone.
func TestProject(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"shop/sub", "plain", "other"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inGit(t, at("shop"), "init", "-q")
	inGit(t, at("shop"), "commit", "-q", "--allow-empty", "-m", "first")
	inGit(t, at("shop"), "remote", "add", "origin", "https://example.com/acme/shop.git")
	inGit(t, at("shop"), "worktree", "add", "-q", at("tree"), "-b", "tree")
	for clone, origin := range map[string]string{"clone": "git@example.com:acme/shop.git", "fork": "https://example.com/visitor/shop.git"} {
		inGit(t, dir, "clone", "-q", at("shop"), clone)
		inGit(t, at(clone), "remote", "set-url", "origin", origin)
	}
	folders := []string{"shop", "shop/sub", "tree", "clone", "fork", "plain", "other"}
	ours := map[string]bool{"shop": true, "shop/sub": true, "tree": true, "clone": true}
	spool := capture.At(at("spool"))
	compare := func(when string) {
		t.Helper()
		for _, here := range folders {
			p, err := spool.Project(at(here))
			if err != nil {
				t.Fatal(err)
			}
			for _, there := range folders {
				if got, want := p.Has(t.Context(), at(there)), here == there || ours[here] && ours[there]; got != want {
					t.Errorf("%s, %s has %s: %v", when, here, there, got)
				}
			}
		}
	}
	compare("before anything is learned")
	var all []string
	for _, f := range folders {
		all = append(all, at(f))
	}
	for range 2 {
		if err := spool.Learn(t.Context(), append(all, "", at("nowhere"), `C:\shop`)...); err != nil {
			t.Fatal(err)
		}
	}
	if places, err := spool.Places(); err != nil || len(places) != len(folders) {
		t.Fatalf("%d places, %v", len(places), err)
	}
	compare("after it is learned")
	for _, gone := range []string{"tree", "clone", "plain"} {
		if err := os.RemoveAll(at(gone)); err != nil {
			t.Fatal(err)
		}
	}
	compare("after folders are gone")
	digests := map[string]bool{}
	for _, f := range []string{"tree", "fork", "shop/sub"} {
		sum := sha256.Sum256([]byte(at(f)))
		digests[hex.EncodeToString(sum[:])] = true
	}
	if p, err := spool.Project(at("shop")); err != nil || strings.Join(p.Spellings(t.Context(), digests), " ") != strings.Join([]string{at("shop"), at("shop/sub"), at("tree")}, " ") {
		t.Errorf("%q, %v", p.Spellings(t.Context(), digests), err)
	}
	if p, err := spool.Project(`c:\work\Shop`); err != nil || !p.Has(t.Context(), `C:/Work/shop/`) || p.Has(t.Context(), `D:\work\shop`) || p.Has(t.Context(), `C:\work`) {
		t.Errorf("folders of another system: %v", err)
	}
}

// TestPlacesAtOnce learns from many at once. Nothing is lost, and a file that is none is named.
func TestPlacesAtOnce(t *testing.T) {
	dir := t.TempDir()
	spool := capture.At(filepath.Join(dir, "spool"))
	var wait sync.WaitGroup
	for n := range 8 {
		folder := filepath.Join(dir, fmt.Sprint(n))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			if err := spool.Learn(t.Context(), folder); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if places, err := spool.Places(); err != nil || len(places) != 8 {
		t.Errorf("%d places, %v", len(places), err)
	}
	if pending, err := spool.Pending(); err != nil || len(pending) != 0 {
		t.Errorf("%v, %v", pending, err)
	}
	if err := os.WriteFile(filepath.Join(spool.Folder(), "places"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := spool.Learn(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "places: ") || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("got %v", err)
	}
	if _, err := spool.Project(dir); err == nil {
		t.Error("a file that is none counts as none")
	}
}

// TestLeftOutByLinks leaves out a folder however it and those below it are spelled.
func TestLeftOutByLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data", "secret", "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "data", "secret"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"folders": "data", "ahead": "data/later", "again": "again"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		listed, folder string
		want           bool
	}{ // folders that are not there yet, or no more
		{"folders/later", "data/later", true}, {"data/later", "folders/later/in", true}, {"ahead", "data/later/in", true}, {"data/later", "ahead", true},
		{"ahead/in", "data/later", false}, {"ahead", "data/laterness", false}, {"again", "data/later", false}, {"again", "again/in", true}, {"data", "ahead/in", true},
	} {
		set := capture.Settings{LeaveOut: []string{filepath.Join(dir, c.listed)}}
		if got := set.LeftOut(filepath.Join(dir, c.folder)) != ""; got != c.want {
			t.Errorf("%s is listed, and %s is left out: %v", c.listed, c.folder, got)
		}
	}
	for _, listed := range []string{"data/secret", "link"} {
		set := capture.Settings{LeaveOut: []string{filepath.Join(dir, listed)}}
		for folder, want := range map[string]bool{"data/secret": true, "link": true, "link/in": true, "data/secret/gone": true, "data": false, "data/secrets": false} {
			if got := set.LeftOut(filepath.Join(dir, folder)) != ""; got != want {
				t.Errorf("%s is listed, and %s is left out: %v", listed, folder, got)
			}
		}
		if set.LeftOut("") != "" {
			t.Error("no folder is left out")
		}
	}
}
