package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// TestHooksOfProjects starts sessions in folders of several projects. Each is told of the sessions of its project alone: of other worktrees, folders below, links, clones, and worktrees that are gone;
// and not of a fork, of another project, or of newer sessions elsewhere, however many there are.
func TestHooksOfProjects(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	run := func(stdin string, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		config := testConfig()
		config.Getenv = func(name string) string {
			return map[string]string{"HOME": home, "XDG_DATA_HOME": at("data"), "XDG_CONFIG_HOME": at("config"), "XDG_STATE_HOME": at("state"), "PATH": os.Getenv("PATH")}[name]
		}
		config.Stdin, config.Stdout, config.Stderr = strings.NewReader(stdin), &stdout, &stderr
		if code := cli.New(config).Run(t.Context(), args); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
		}
		return stdout.String() + stderr.String()
	}
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, name := range []string{"shop/sub", "plain", "elsewhere"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(at("shop"), "init", "-q")
	git(at("shop"), "commit", "-q", "--allow-empty", "-m", "first")
	git(at("shop"), "remote", "add", "origin", "https://example.com/acme/shop.git")
	for _, tree := range []string{"tree", "gone"} {
		git(at("shop"), "worktree", "add", "-q", at(tree), "-b", tree)
	}
	for clone, origin := range map[string]string{"clone": "git@example.com:acme/shop.git", "fork": "https://example.com/visitor/shop.git"} {
		git(home, "clone", "-q", at("shop"), clone)
		git(at(clone), "remote", "set-url", "origin", origin)
	}
	for link, to := range map[string]string{"link": "shop", "plain-link": "plain"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}

	run("", "init")
	run("", "keys", "init")
	run("", "belief", "revise", "acme/desk", "agent", "keeps", "everything green", "--kind", "hard_rule", "--new-space")
	said := []string{"shop", "shop/sub", "tree", "gone", "clone", "fork", "plain", "elsewhere"}
	n := 0
	session := func(folder, words string) {
		n++
		path := at(fmt.Sprintf("s%d.jsonl", n))
		line := fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"cwd":%q,"sessionId":"3f3af1ec-ebbd-4410-ab41-%012d","type":"user","message":{"role":"user","content":%q},"uuid":"f64551fc-d6f0-4823-8b87-%012d","timestamp":"2026-03-01T10:%02d:%02dZ"}`+"\n", folder, n, words, n, n/60, n%60)
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		run("", "import", path)
	}
	name := func(folder string) string { return "basket-of-" + strings.ReplaceAll(folder, "/", "-") }
	for _, f := range said {
		session(at(f), "the cart is a "+name(f)+" now")
	}
	sum := sha256.Sum256([]byte(at("tree"))) // a session of Gemini CLI
	gemini := fmt.Sprintf(`{"sessionId":"6b3af1ec-ebbd-4410-ab41-000000000001","projectHash":%q,"startTime":"2026-03-01T09:00:00Z","lastUpdated":"2026-03-01T09:00:00Z","messages":[{"id":"7b3af1ec-ebbd-4410-ab41-000000000001","timestamp":"2026-03-01T09:00:00Z","type":"user","content":"the cart is a basket-of-gemini now"}]}`, hex.EncodeToString(sum[:]))
	if err := os.WriteFile(at("session-2026.json"), []byte(gemini), 0o600); err != nil {
		t.Fatal(err)
	}
	run("", "import", at("session-2026.json"))
	for range 60 {
		session(at("elsewhere"), "something else")
	}
	if err := os.RemoveAll(at("gone")); err != nil {
		t.Fatal(err)
	}

	for _, f := range []string{"shop", "fork", "plain"} {
		run("", "remember", "Rule of the "+f+" project.", "--rule", "--project", at(f))
	}
	run("", "remember", "Rule of everywhere.", "--rule", "--project", "general")
	rules := map[string]string{"fork": "fork", "plain": "plain", "plain-link": "plain", "nowhere": "shop fork plain"} // of an unknown folder no rule may be missing
	older := []string{"shop", "shop/sub", "gemini"}                                                                   // than the last three sessions of the project, of which a brief tells
	shop := []string{"shop", "shop/sub", "tree", "gone", "clone", "gemini"}
	for from, want := range map[string][]string{
		"shop": shop, "shop/sub": shop, "tree": shop, "clone": shop, "link": shop, "link/sub": shop, "gone": shop, "fork": {"fork"}, "plain": {"plain"}, "plain-link": {"plain"}, "nowhere": nil,
	} {
		for _, event := range []string{`"hook_event_name":"SessionStart","source":"startup"`, `"hook_event_name":"UserPromptSubmit","prompt":"what is the cart called now?"`} {
			told := run(fmt.Sprintf(`{%s,"session_id":"new","cwd":%q,"transcript_path":%q}`, event, at(from), at("new.jsonl")), "hook", "claude-code", "--context", "context@2")
			of, ok := rules[from]
			if !ok {
				of = "shop"
			}
			for _, f := range []string{"shop", "fork", "plain"} {
				if has := strings.Contains(told, "Rule of the "+f+" project."); has != strings.Contains(of, f) && (told != "" || from != "nowhere") {
					t.Errorf("%.40s in %s is told the rule of %s: %v", event, from, f, has)
				}
			}
			if told != "" && !strings.Contains(told, "Rule of everywhere.") {
				t.Errorf("%.40s in %s is not told the general rule", event, from)
			}
			for _, f := range append([]string{"gemini"}, said...) {
				has := strings.Contains(told, name(f)+" ")
				wanted := false
				for _, w := range want {
					wanted = wanted || w == f && (!strings.Contains(event, "SessionStart") || !slices.Contains(older, w))
				}
				if has != wanted && f != "elsewhere" {
					t.Errorf("%.40s in %s is told of %s: %v\n%s", event, from, f, has, told)
				}
			}
			if strings.Contains(event, "UserPromptSubmit") && !strings.Contains(told, "green") { // also where nothing was said yet
				t.Errorf("%s is not told of the rule: %s", from, told)
			}
			if from != "elsewhere" && strings.Contains(told, "something else") {
				t.Errorf("%s is told of another project: %s", from, told)
			}
		}
	}
}
