package ingest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostileKeys are keys of a configuration that name a program, a file of more configuration, or what would change the output.
var hostileKeys = []string{
	"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand", "pager.log", "pager.cat-file", "alias.log", "alias.cat-file", "alias.rev-list",
	"gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program", "diff.external", "diff.bait.command", "diff.bait.textconv", "filter.bait.clean", "filter.bait.smudge", "filter.bait.process", "merge.bait.driver",
	"credential.helper", "credential.https://example.com.helper", "uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs", "interactive.diffFilter", "sequence.editor", "trailer.x.command", "trailer.x.cmd",
	"submodule.lib.update", "init.templateDir", "core.hooksPath", "protocol.ext.allow",
}

// bait has a repository's configuration, hooks and attributes name a program in every way, and returns the file that it would write.
func (g *gitRepo) bait(dir, gitdir string) (mark string) {
	g.t.Helper()
	mark = filepath.Join(g.t.TempDir(), "ran")
	program := filepath.Join(g.t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+mark+"'\n"), 0o700); err != nil {
		g.t.Fatal(err)
	}
	include := write(g.t, "include", "[core]\n\tfsmonitor = "+program+"\n")
	for _, key := range hostileKeys {
		value := program
		if key == "protocol.ext.allow" {
			value = "always"
		}
		if strings.HasPrefix(key, "alias.") || key == "submodule.lib.update" {
			value = "!" + program
		}
		if key == "core.hooksPath" || key == "init.templateDir" {
			value = filepath.Dir(program)
		}
		g.run(dir, "config", key, value)
	}
	for key, value := range map[string]string{
		"include.path": include, "includeIf.gitdir:/.path": include, "log.showSignature": "true", "log.showRoot": "true", "log.mailmap": "true", "mailmap.file": include, "notes.displayRef": "*",
		"remote.origin.url": "ext::" + program, "remote.origin.promisor": "true", "extensions.partialClone": "origin", "i18n.logOutputEncoding": "UTF-16", "core.attributesFile": write(g.t, "attributes", "* diff=bait filter=bait\n"),
		"core.repositoryFormatVersion": "1", "log.follow": "true", "format.pretty": "raw", "log.date": "relative", "core.notesRef": "refs/heads/main",
	} {
		g.run(dir, "config", key, value)
	}
	for _, hook := range []string{"post-checkout", "pre-auto-gc", "post-index-change", "reference-transaction", "fsmonitor-watchman", "post-rewrite", "program"} {
		at := filepath.Join(gitdir, "hooks", hook)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			g.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("#!/bin/sh\necho hook >>'"+mark+"'\n"), 0o700); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(gitdir, "info"), 0o700); err != nil {
		g.t.Fatal(err)
	}
	for name, text := range map[string]string{
		"attributes": "* diff=bait filter=bait merge=bait\n",
		"grafts":     g.run(dir, "rev-parse", "HEAD") + "\n", // a commit without parents
	} {
		if err := os.WriteFile(filepath.Join(gitdir, "info", name), []byte(text), 0o600); err != nil {
			g.t.Fatal(err)
		}
	}
	return mark
}

// TestHostileRepositories imports repositories of each kind whose own files would run a program in every way. Nothing is run, and the turns are those without these files. Then git itself
// takes the bait, so it was one.
func TestHostileRepositories(t *testing.T) {
	for name, make := range map[string]func(g *gitRepo) (dir, gitdir string){
		"plain": func(g *gitRepo) (string, string) { return g.dir, filepath.Join(g.dir, ".git") },
		"packed": func(g *gitRepo) (string, string) {
			g.run(g.dir, "gc", "-q")
			return g.dir, filepath.Join(g.dir, ".git")
		},
		"detached": func(g *gitRepo) (string, string) {
			g.run(g.dir, "checkout", "-q", "--detach")
			return g.dir, filepath.Join(g.dir, ".git")
		},
		"bare": func(g *gitRepo) (string, string) {
			to := filepath.Join(filepath.Dir(g.dir), "bare.git")
			g.run("", "clone", "-q", "--bare", g.dir, to)
			return to, to
		},
		"worktree": func(g *gitRepo) (string, string) {
			to := filepath.Join(filepath.Dir(g.dir), "tree")
			g.run(g.dir, "worktree", "add", "-q", "-b", "other", to)
			return to, filepath.Join(g.dir, ".git")
		},
		"separate": func(g *gitRepo) (string, string) {
			to := filepath.Join(filepath.Dir(g.dir), "separate")
			g.run("", "clone", "-q", "--separate-git-dir", to+".git", g.dir, to)
			return to, to + ".git"
		},
		"shared": func(g *gitRepo) (string, string) {
			to := filepath.Join(filepath.Dir(g.dir), "shared")
			g.run("", "clone", "-q", "--shared", g.dir, to)
			return to, filepath.Join(to, ".git")
		},
		"shallow": func(g *gitRepo) (string, string) {
			to := filepath.Join(filepath.Dir(g.dir), "shallow")
			g.run("", "clone", "-q", "--depth", "2", "file://"+g.dir, to)
			return to, filepath.Join(to, ".git")
		},
		"sha256": func(g *gitRepo) (string, string) {
			g.dir = filepath.Join(filepath.Dir(g.dir), "sha256")
			g.run("", "init", "-q", "-b", "main", "--object-format=sha256", g.dir)
			g.commit("one")
			g.commit("two")
			return g.dir, filepath.Join(g.dir, ".git")
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitRepo(t)
			g.commit("first")
			if err := os.WriteFile(filepath.Join(g.dir, "file"), []byte("text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			g.run(g.dir, "add", "file")
			g.commit("second")
			g.commit("third")
			dir, gitdir := make(g)
			before, _ := collect(t, dir, Options{})
			if len(before) < 2 {
				t.Fatalf("%d turns", len(before))
			}
			mark := g.bait(dir, gitdir)
			after, _ := collect(t, dir, Options{})
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the configuration changes turns: %s", diff)
			}
			if ran, err := os.ReadFile(mark); err == nil {
				t.Errorf("the import ran a program: %s", ran)
			}
			for _, args := range [][]string{{"log"}, {"status"}, {"diff", "HEAD^!"}, {"var", "GIT_PAGER"}} {
				cmd := exec.Command("git", append([]string{"-p"}, args...)...)
				cmd.Dir = dir
				_ = cmd.Run() // what the program answers is no answer
			}
			cmd := exec.Command("git", "cat-file", "--textconv", "HEAD:file")
			cmd.Dir = dir
			_ = cmd.Run()
			cmd = exec.Command("git", "fetch", "-q", "origin")
			cmd.Dir = dir
			_ = cmd.Run()
			if _, err := os.Stat(mark); err != nil {
				t.Error("git itself runs nothing, so this is no bait")
			}
		})
	}
}
