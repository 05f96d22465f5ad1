package capture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/capture"
)

// TestReadyKey compares the keys of folders: one for all folders of a repository with one branch, others for another branch, a worktree, another folder and none.
func TestReadyKey(t *testing.T) {
	home := t.TempDir()
	shop, tree, plain := filepath.Join(home, "shop"), filepath.Join(home, "tree"), filepath.Join(home, "plain")
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", shop, "-c", "user.name=someone", "-c", "user.email=someone@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, folder := range []string{filepath.Join(shop, "sub"), plain} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("worktree", "add", "-q", tree)
	onMain := capture.ReadyKey(shop)
	if got := capture.ReadyKey(filepath.Join(shop, "sub")); got != onMain {
		t.Errorf("a folder below has the key %q, want %q", got, onMain)
	}
	git("switch", "-q", "-c", "other")
	onOther := capture.ReadyKey(shop)
	git("switch", "-q", "main")
	if got := capture.ReadyKey(shop); got != onMain {
		t.Errorf("back on the branch it is %q, want %q", got, onMain)
	}
	seen := map[string]string{}
	for name, key := range map[string]string{"main": onMain, "other": onOther, "tree": capture.ReadyKey(tree), "plain": capture.ReadyKey(plain), "gone": capture.ReadyKey(filepath.Join(home, "gone")), "any": capture.ReadyKey("")} {
		if as := seen[key]; as != "" {
			t.Errorf("%s and %s have the key %q", name, as, key)
		}
		seen[key] = name
	}
}
