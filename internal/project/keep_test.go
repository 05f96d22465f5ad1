package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/internal/project"
)

// TestKeep keeps the identity of a project when its folder is moved and when an origin is added, and not when it gets another origin, nor for a clone of another origin.
func TestKeep(t *testing.T) {
	folder := t.TempDir()
	git := func(at string, args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=someone", "-c", "user.email=someone@example.com"}, args...)...)
		c.Dir = at
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	identity := func(at string) string {
		t.Helper()
		p, err := project.At(at)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	keep := func(at string) {
		t.Helper()
		p, err := project.At(at)
		if err == nil {
			err = p.Keep(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shop, moved := filepath.Join(folder, "shop"), filepath.Join(folder, "moved")
	git(folder, "init", "-q", shop)
	git(shop, "commit", "-q", "--allow-empty", "-m", "first")
	was := identity(shop)
	keep(shop)
	keep(shop)
	if err := os.Rename(shop, moved); err != nil {
		t.Fatal(err)
	}
	if got := identity(moved); got != was {
		t.Errorf("moved, it is %q, and was %q", got, was)
	}
	git(moved, "remote", "add", "origin", "https://example.com/acme/shop.git")
	if got := identity(moved); got != was {
		t.Errorf("with an origin it is %q, and was %q", got, was)
	}
	keep(moved) // from now on with that origin
	git(moved, "remote", "set-url", "origin", "https://example.com/acme/other.git")
	if got := identity(moved); got == was {
		t.Error("with another origin it is the same project")
	}
	git(moved, "remote", "set-url", "origin", "https://example.com/acme/shop.git")
	if got := identity(moved); got != was {
		t.Errorf("with its origin again it is %q, and was %q", got, was)
	}
	git(moved, "worktree", "add", "-q", filepath.Join(folder, "tree"))
	if got := identity(filepath.Join(folder, "tree")); got != was {
		t.Errorf("a worktree is of %q, want %q", got, was)
	}
	clone := filepath.Join(folder, "clone")
	git(folder, "clone", "-q", moved, clone)
	git(clone, "remote", "set-url", "origin", "https://example.com/visitor/shop.git")
	if got := identity(clone); got == was {
		t.Error("a clone with another origin is of the same project")
	}
	keep(clone)
	fork := identity(clone)
	git(clone, "remote", "set-url", "origin", "https://example.com/visitor/other.git")
	if got := identity(clone); got == fork {
		t.Error("with another origin it is the same project")
	}
	plain := filepath.Join(folder, "plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	keep(plain)
	if files, err := os.ReadDir(plain); err != nil || len(files) != 0 {
		t.Errorf("a folder outside of repositories has %v, %v", files, err)
	}
	if left, err := filepath.Glob(filepath.Join(moved, ".git", "graphkernel-project?*")); err != nil || len(left) != 0 {
		t.Errorf("%q is left behind, %v", left, err)
	}
	for _, text := range []string{"", "{", "[]", `{"identity":""}`} {
		path := filepath.Join(moved, ".git", "graphkernel-project")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := project.At(moved)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestBranch names the branch of a repository, of a folder below and of a worktree; a commit that is checked out by itself has none, and neither has another folder.
func TestBranch(t *testing.T) {
	shop := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", shop, "-c", "user.name=someone", "-c", "user.email=someone@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	below, tree := filepath.Join(shop, "sub"), filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("worktree", "add", "-q", "-b", "fix/door", tree)
	want := map[string]string{shop: "main", below: "main", tree: "fix/door", t.TempDir(): "", filepath.Join(shop, "gone"): ""}
	for folder, want := range want {
		if got := project.Branch(folder); got != want {
			t.Errorf("%s is on %q, want %q", folder, got, want)
		}
	}
	git("switch", "-q", "--detach")
	if got := project.Branch(shop); got != "" {
		t.Errorf("a commit by itself is on %q", got)
	}
}
