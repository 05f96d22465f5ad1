package project_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/internal/project"
)

// git runs git in a folder as its user would, without the settings of whoever runs the test.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a repository with a commit of its own, and an origin if one is named.
func repository(t *testing.T, folder, origin string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, folder, "init", "-q")
	commit(t, folder, folder)
	if origin != "" {
		git(t, folder, "remote", "add", "origin", origin)
	}
	return folder
}

func commit(t *testing.T, folder, message string) {
	t.Helper()
	git(t, folder, "commit", "-q", "--allow-empty", "-m", message)
}

func place(t *testing.T, folder string) *project.Place {
	t.Helper()
	p, err := project.At(folder)
	if err == nil {
		err = p.FindRoot(t.Context())
	}
	if err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	return &p
}

// same reports whether two folders are of one project, and whether their root commits had to be asked for.
func same(t *testing.T, a, b string) (same, asked bool) {
	t.Helper()
	x, y := place(t, a), place(t, b)
	if same, asked = x.Alike(y); asked {
		same = x.SameRepository(y)
	}
	if turned, _ := y.Alike(x); !asked && turned != same {
		t.Errorf("%s and %s: %v one way and %v the other", a, b, same, turned)
	}
	return same, asked
}

// TestProjects makes folders of every kind and compares each with the others. Folders of one word are one project.
func TestProjects(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	mkdir := func(name string) string {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	link := func(to, name string) string {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	of := map[string]string{}
	is := func(word string, folders ...string) {
		for _, f := range folders {
			of[f] = word
		}
	}

	shop := repository(t, at("shop"), "https://example.com/acme/shop.git")
	git(t, shop, "worktree", "add", "-q", at("shop-tree"), "-b", "tree")
	git(t, at(""), "clone", "-q", shop, "shop-clone")
	git(t, at("shop-clone"), "remote", "set-url", "origin", "git@Example.com:acme/shop")
	commit(t, at("shop-clone"), "more")
	is("shop", shop, at("shop-tree"), at("shop-clone"), mkdir("shop/a/b"), mkdir("shop-tree/c"), link(shop, "shop-link"), link(at("shop/a"), "shop-below"))

	git(t, at(""), "clone", "-q", shop, "fork") // the same root under another name
	git(t, at("fork"), "remote", "set-url", "origin", "https://example.com/visitor/shop")
	is("fork", at("fork"))
	git(t, at(""), "clone", "-q", shop, "made-of-template")
	git(t, at("made-of-template"), "remote", "remove", "origin")
	is("template", at("made-of-template"))
	is("named alike", repository(t, at("named-alike"), "https://example.com/acme/shop")) // the name without the history

	git(t, shop, "tag", "old")
	commit(t, shop, "second")
	git(t, at(""), "clone", "-q", "--depth=1", "file://"+shop, "shallow")
	git(t, at("shallow"), "remote", "set-url", "origin", "https://example.com/acme/shop")
	git(t, at("shallow"), "worktree", "add", "-q", at("shallow-tree"), "-b", "tree")
	is("shallow", at("shallow"), at("shallow-tree"))

	two := repository(t, at("two"), "https://example.com/acme/two")
	repository(t, at("other-root"), "")
	git(t, two, "fetch", "-q", at("other-root"))
	git(t, two, "merge", "-q", "--allow-unrelated-histories", "-m", "both", "FETCH_HEAD")
	git(t, at(""), "clone", "-q", two, "two-clone")
	git(t, at("two-clone"), "remote", "set-url", "origin", "ssh://git@example.com:22/acme/two.git/")
	is("two", two, at("two-clone"))
	is("other root", at("other-root"))

	git(t, mkdir("empty"), "init", "-q")
	git(t, at("empty"), "remote", "add", "origin", "https://example.com/acme/empty")
	git(t, mkdir("empty2"), "init", "-q")
	git(t, at("empty2"), "remote", "add", "origin", "https://example.com/acme/empty")
	is("empty", at("empty"), mkdir("empty/x"))
	is("empty2", at("empty2"))

	git(t, at(""), "clone", "-q", "--bare", shop, "bare.git")
	git(t, at("bare.git"), "worktree", "add", "-q", at("of-bare"), "main")
	is("bare", at("bare.git"), at("bare.git/hooks"), at("of-bare"))

	sub := repository(t, at("sub"), "https://example.com/acme/sub")
	super := repository(t, at("super"), "https://example.com/acme/super")
	git(t, super, "submodule", "add", "-q", sub, "lib")
	git(t, at("super/lib"), "remote", "set-url", "origin", "https://example.com/acme/sub")
	is("sub", sub, at("super/lib"))
	is("super", super)

	is("plain", mkdir("plain"), link(at("plain"), "plain-link"))
	is("below plain", mkdir("plain/below"))

	// A file that names somebody else's repository makes a folder no part of it.
	for i, text := range []string{"gitdir: " + shop + "/.git", "gitdir: " + shop + "/.git/worktrees/shop-tree", "gitdir: ../super/.git/modules/lib", "no form", "gitdir: /nowhere"} {
		name := fmt.Sprint("forged", i)
		if err := os.WriteFile(filepath.Join(mkdir(name), ".git"), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		is(name, at(name))
	}

	joined, apart := 0, 0
	for a, x := range of {
		for b, y := range of {
			got, _ := same(t, a, b)
			if got != (x == y) {
				t.Errorf("%s (%s) and %s (%s): %v", a, x, b, y, got)
			}
			if x == y {
				joined++
			} else {
				apart++
			}
		}
	}
	if joined < 60 || apart < 500 {
		t.Errorf("%d pairs are one project and %d are not: less than there should be", joined, apart)
	}

	gone := place(t, at("nowhere"))
	if same, ask := gone.Alike(gone); gone.Known() || same || ask {
		t.Errorf("a folder that is not there is known, or is a project: %+v", gone)
	}
	for _, elsewhere := range []string{"", "relative", `C:\work\shop`, at("shop/.git/config"), at("shop/.git/config/x")} {
		if p := place(t, elsewhere); p.Known() {
			t.Errorf("%q: %+v", elsewhere, p)
		}
	}
}

// TestLowestRoot is the lower one of two roots, whichever branch was merged into which.
func TestLowestRoot(t *testing.T) {
	dir := t.TempDir()
	a, b := repository(t, filepath.Join(dir, "a"), ""), repository(t, filepath.Join(dir, "b"), "")
	git(t, a, "fetch", "-q", b)
	git(t, a, "merge", "-q", "--allow-unrelated-histories", "-m", "both", "FETCH_HEAD")
	roots := strings.Fields(git(t, a, "rev-list", "--max-parents=0", "HEAD"))
	if len(roots) != 2 {
		t.Fatalf("%q", roots)
	}
	if got := place(t, a).Root; got != min(roots[0], roots[1]) {
		t.Errorf("the root is %s, want the lowest of %q", got, roots)
	}
	git(t, a, "pack-refs", "--all")
	git(t, a, "gc", "-q")
	if got := place(t, a).Root; got != min(roots[0], roots[1]) {
		t.Errorf("packed, the root is %s", got)
	}
}

// TestNothingIsExecuted has a repository whose configuration names commands.
func TestNothingIsExecuted(t *testing.T) {
	dir := t.TempDir()
	r := repository(t, filepath.Join(dir, "r"), "https://example.com/acme/r")
	mark := filepath.Join(dir, "executed")
	command := "touch " + mark + ";"
	for _, key := range []string{"core.fsmonitor", "core.sshCommand", "core.pager", "core.alternateRefsCommand", "alias.rev-list", "uploadpack.packObjectsHook", "diff.external", "pager.rev-list"} {
		git(t, r, "config", key, command)
	}
	git(t, r, "config", "remote.origin.promisor", "true")
	git(t, r, "config", "extensions.partialClone", "origin")
	if p := place(t, r); p.Root == "" || p.Origin != "example.com/acme/r" {
		t.Errorf("%+v", p)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of the repository's configuration was executed")
	}
}

// TestBelow compares folders through links, and those that are not there as they are spelled.
func TestBelow(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"data/secret/in", "data/other", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"home/link": "data/secret", "secret-link": "data/secret", "in-link": "data/secret/in"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	tops := []string{"data/secret", "secret-link", "home/link", "home/../secret-link/"}
	for folder, want := range map[string]bool{
		"data/secret": true, "data/secret/in": true, "secret-link": true, "secret-link/in": true, "home/link/in": true, "in-link": true, "in-link/gone/deeper": true, "data/secret/gone": true,
		"data": false, "data/other": false, "home": false, "data/secretive": false, "secret-link-not": false, "": false,
	} {
		for _, top := range tops {
			if got := project.Below(filepath.Join(dir, folder), filepath.Join(dir, top)); got != want {
				t.Errorf("%s below %s: %v", folder, top, got)
			}
		}
	}
	for _, c := range []struct {
		folder, top string
		want        bool
	}{{"/gone/a/b", "/gone/a", true}, {"/gone/a", "/gone/a/", true}, {"/gone/ab", "/gone/a", false}, {"/gone/a", "/gone/a/b", false}, {"", "/gone", false}} {
		if got := project.Below(c.folder, c.top); got != c.want {
			t.Errorf("%q below %q: %v", c.folder, c.top, got)
		}
	}
}

// TestConfigurations reads random configurations as git itself does.
func TestConfigurations(t *testing.T) {
	dir := t.TempDir()
	r := repository(t, filepath.Join(dir, "r"), "")
	config := filepath.Join(r, ".git", "config")
	base, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	found := 0
	for range rounds {
		var text strings.Builder
		text.Write(base)
		for range 1 + random.IntN(4) {
			text.WriteString(pick("[remote \"origin\"]", "[remote \"Origin\"]", "[Remote \"origin\"]", "[remote \"or\\\"igin\"]", "[remote  \"origin\"] # c", "[remote \"other\"]", "[branch \"origin\"]", "[remote \"origin\"] url = https://a.example/x") + "\n")
			for range random.IntN(3) {
				text.WriteString(pick("\t", "", "  ") + pick("url", "URL", "pushurl", "fetch") + pick("=", " = ", "\t=\t") + pick("https://a.example/x", "\"https://b.example/y z\"", "https://c.example/z ; c", "https://d.example/a\\\n/b", "git@e.example:f # c", "\"ssh://g\"/h\\\\i", "file:///j  ", "\"k;l\" # m") + "\n")
			}
			text.WriteString(pick("", "# url = no\n", "; url = no\n", "\n"))
		}
		if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "config", "-z", "--get-all", "remote.origin.url")
		cmd.Dir = r
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, _ := cmd.Output() // 1: there is none
		want, _, _ := strings.Cut(string(out), "\x00")
		got, err := project.OriginURL(config)
		if err != nil || got != want {
			t.Fatalf("the origin of\n%s\nis %q, %v; git says %q", text.String(), got, err, want)
		}
		if want != "" {
			found++
		}
	}
	if found < rounds/4 {
		t.Errorf("%d of %d configurations have an origin", found, rounds)
	}
}

// TestOrigins lists spellings of one remote.
func TestOrigins(t *testing.T) {
	for want, spellings := range map[string][]string{
		"example.com/acme/shop": {
			"https://example.com/acme/shop", "https://example.com/acme/shop.git", "https://example.com/acme/shop/", "https://user:secret@Example.COM:443/acme/shop.git/", "http://example.com:80/acme/shop", "ssh://git@example.com/acme/shop.git",
			"ssh://example.com:22/acme/shop", "git+ssh://git@example.com:22/acme/shop", "git@example.com:acme/shop.git", "example.com:/acme/shop", "git://example.com:9418/acme/shop.git", " https://example.com/acme/shop ",
		},
		"example.com:8443/acme/shop": {"https://example.com:8443/acme/shop.git", "https://u@example.com:8443/acme/shop"},
		"example.com/acme/Shop":      {"https://example.com/acme/Shop"},
		"/srv/shop":                  {"/srv/shop.git", "file:///srv/shop.git", "../shop", "../shop/"},
		"":                           {"", "  "},
	} {
		for _, s := range spellings {
			if got := project.NormalOrigin(s, "/srv/clone"); got != want {
				t.Errorf("%q is %q, want %q", s, got, want)
			}
		}
	}
}
