package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
)

// run returns what is found in a command that ran, except for the command itself.
func run(t testing.TB, command, output string) ([]string, extract.Skipped) {
	t.Helper()
	call, result := (&exchange{"Bash", map[string]any{"command": command}, output, strings.HasPrefix(output, "Exit code ")}).drafts(t)
	got, skipped := findings(t, result, call)
	return slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "ran-command ") }), skipped
}

func TestCommands(t *testing.T) {
	const goOut = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/one_case (0.01s)\nok  \texample.com/a\t0.4s\nok  \texample.com/b\t(cached)\nok  \texample.com/c\t0.1s [no tests to run]\n?   \texample.com/d\t[no test files]\nFAIL\texample.com/e\t0.2s\nFAIL\texample.com/f [build failed]\nFAIL"
	const goFound = "test-failed test:TestB/one_case 0.9\ntest-failed test:example.com/e 0.9\ntest-failed test:example.com/f 0.9\ntest-passed test:TestA 0.9\ntest-passed test:example.com/a 0.9\ntest-passed test:example.com/b 0.9"
	const committed = "[topic 0a1b2c3] A subject\n 1 file changed, 1 insertion(+)"
	for _, c := range []struct{ command, output, want string }{
		{"go test -v ./...", goOut, goFound},
		{"mise run test:ci 2>&1 | tail -20", "Exit code 1\n" + goOut, goFound},
		{"cat go_test.log", goOut, ""},
		{"grep -rn test .", goOut, ""},
		{"echo 'go test'", goOut, ""},
		{"pytest -v", "tests/test_a.py::test_b PASSED   [ 50%]\ntests/test_a.py::test_c[x-1] FAILED [100%]\nFAILED tests/test_a.py::test_c[x-1] - AssertionError: no\n",
			"test-failed test:tests/test_a.py::test_c[x-1] 0.9\ntest-passed test:tests/test_a.py::test_b 0.9"},
		{"cargo test", "test a::b ... ok\ntest a::c ... FAILED\ntest a::d ... ignored\ntest result: FAILED. 1 passed", "test-failed test:a::c 0.9\ntest-passed test:a::b 0.9"},
		{"npm test", "PASS src/a.test.ts (5.1 s)\nFAIL src/b.spec.js\nPASS all", "test-failed test:src/b.spec.js 0.9\ntest-passed test:src/a.test.ts 0.9"},

		{"git commit -m x", committed, "made-commit commit:0a1b2c3 0.9\non-branch branch:topic 0.9"},
		{"git add . && git -c a=b commit -m \"$(cat <<'EOF'\nDon't \"quote\"; (this\nEOF\n)\"", committed, "made-commit commit:0a1b2c3 0.9\non-branch branch:topic 0.9"},
		{"git commit -m x && git push", "Exit code 1\n[topic (root-commit) 0a1b2c3] A\n! [rejected] topic", "made-commit commit:0a1b2c3 0.9\non-branch branch:topic 0.9"},
		{"git rebase --continue", "[detached HEAD 0a1b2c3d] A\n", "made-commit commit:0a1b2c3d 0.9"},
		{"git log", committed, ""},
		{"cat notes # git commit", committed, ""},
		{"git commit -m x", "nothing to commit\n see [topic 0a1b2c3] A", ""},
		{"git commit -m x", "[not a branch 0a1b2c3] A\n[topic xyz1234] A\n[topic 0a1b2c3]", ""},

		{"git checkout -b topic", "Switched to a new branch 'topic'", "on-branch branch:topic 0.9"},
		{"git status", "On branch feat/x\nnothing to commit", "on-branch branch:feat/x 0.9"},
		{"git status", "On branch a..b", ""},
		{"cat status", "On branch topic", ""},

		{"gh pr create --fill", "Creating pull request\n\nhttps://github.com/o/r/pull/12\n",
			"named-pull-request url:https://github.com/o/r/pull/12 0.9\nopened-pull-request url:https://github.com/o/r/pull/12 0.9"},
		{"gh pr view 174 --json title", "{\"url\":\"https://github.com/o/r/pull/174/files\"}", "named-pull-request #174 0.9\nnamed-pull-request url:https://github.com/o/r/pull/174 0.9"},
		{"gh pr view $N", "", ""},
		{"gh pr view 17$(tail -1 n)", "", ""},
		{"ls # it's https://github.com/o/r/pull/12", "https://github.com/o/r/pull/12", ""},
		{"gh pr list --limit 30", "", ""},
		{"gh issue view 3", "", ""},
		{"curl https://github.com/o/r/pull/12", "https://github.com/o/r/pull/12", ""},
	} {
		got, skipped := run(t, c.command, c.output)
		t.Run(c.command, func(t *testing.T) {
			check(t, got, c.want)
			if skipped != (extract.Skipped{}) {
				t.Errorf("skipped %+v", skipped)
			}
		})
	}
}

func TestPackages(t *testing.T) {
	for command, want := range map[string]string{
		"go get golang.org/x/mod@latest":                              "added-package pkg:go:golang.org/x/mod 0.9\nadded-version version:go:golang.org/x/mod@latest 0.9",
		"go get -u ./...":                                             "",
		"go get golang.org/x/mod@none":                                "",
		"cd web && npm install --save-dev @types/node left-pad@1.3.0": "added-package pkg:npm:@types/node 0.9\nadded-package pkg:npm:left-pad 0.9\nadded-version version:npm:left-pad@1.3.0 0.9",
		"npm install":                                                 "",
		"npm ci":                                                      "",
		"npm i ./local ../x git+https://example.com/a.git":            "",
		"npm i x --prefix web y":                                      "added-package pkg:npm:x 0.9\nadded-package pkg:npm:y 0.9",
		"pnpm add -F web zod":                                         "added-package pkg:npm:zod 0.9",
		"yarn add -D jest":                                            "added-package pkg:npm:jest 0.9",
		"bun add hono":                                                "added-package pkg:npm:hono 0.9",
		"pip install -r requirements.txt":                             "",
		"pip install -q 'requests>=2,<3' 'uvicorn[standard]' .":       "added-package pkg:pypi:requests 0.9\nadded-package pkg:pypi:uvicorn 0.9\nadded-version version:pypi:requests>=2,<3 0.9",
		"python3 -m pip install -e . numpy":                           "added-package pkg:pypi:numpy 0.9",
		"uv add --group dev ruff":                                     "added-package pkg:pypi:ruff 0.9",
		"uv pip install --python 3.12 rich":                           "added-package pkg:pypi:rich 0.9",
		"poetry add httpx@^0.27":                                      "added-package pkg:pypi:httpx 0.9\nadded-version version:pypi:httpx@^0.27 0.9",
		"cargo add serde --features derive":                           "added-package pkg:cargo:serde 0.9",
		"sudo FOO=1 timeout 60 pip3 install rich":                     "added-package pkg:pypi:rich 0.9",
		"pip install $PACKAGE":                                        "",
		"pip install rich 2>&1 | tail -5":                             "added-package pkg:pypi:rich 0.7",
		"pip install rich; ls":                                        "added-package pkg:pypi:rich 0.7",
		"(cd a && npm i x) && ls":                                     "added-package pkg:npm:x 0.9",
		"pip install rich || true":                                    "",
		"which rich || pip install rich":                              "",
		"echo pip install rich":                                       "",
		"echo 'x\npip install rich'":                                  "",
		"cat <<EOF > run.sh\npip install rich\nEOF":                   "",
		"cat <<-'EOF'\n\tpip install rich\n\tEOF":                     "",
		"# pip install rich\nls":                                      "",
	} {
		t.Run(command, func(t *testing.T) {
			got, skipped := run(t, command, "done")
			check(t, got, want)
			if skipped != (extract.Skipped{}) {
				t.Errorf("skipped %+v", skipped)
			}
			if got, _ := run(t, command, "Exit code 1\ndone"); len(got) > 0 {
				t.Errorf("failed, and gives %v", got)
			}
		})
	}
}

func TestUnclearCommands(t *testing.T) {
	for _, command := range []string{
		"pip install --unknown thing rich", "git commit -m 'open", "git commit -m \"open", "echo $(git commit", "cat <<EOF\nno end",
		"git commit )", "`git commit", "echo ${git commit", strings.Repeat("$(", 100) + "git commit" + strings.Repeat(")", 100),
	} {
		got, skipped := run(t, command, "[topic 0a1b2c3] A subject\n")
		if len(got) > 0 || skipped.UnclearCommand != 1 {
			t.Errorf("%.40q: %v, skipped %+v", command, got, skipped)
		}
	}
}

func TestSpeech(t *testing.T) {
	for _, c := range []struct {
		name  string
		draft dag.Draft
		want  string
	}{
		{"person", dag.Draft{Role: dag.RoleUser, Content: "Look at PR #12, pull request #13, PRs #14 and https://github.com/o/r.x/pull/15/files#diff."},
			"named-pull-request #12 0.7\nnamed-pull-request #13 0.7\nnamed-pull-request #14 0.7\nnamed-pull-request url:https://github.com/o/r.x/pull/15 0.9"},
		{"not a pull request", dag.Draft{Role: dag.RoleUser, Content: "issue #12, #13, (#14), SPR #15, PR 16, https://github.com/o/r/issues/17, https://github.com.evil.example/o/r/pull/18, PR #0123456789, https://github.com/o/r/pull/0123456789"}, ""},
		{"agent", dag.Draft{Role: dag.RoleAssistant, Content: "As in PR #12.\n\n[tool_use Write]\n{\"content\":\"PR #13\"}",
			Attrs: map[string]string{"blocks": "text,tool_use", "tool": "Write", "tool_use_id": "t"}}, "named-pull-request #12 0.7"},
		{"program in a person's place", dag.Draft{Role: dag.RoleUser, Content: "PR #12", Attrs: map[string]string{"meta": "true"}}, ""},
		{"system", dag.Draft{Role: dag.RoleSystem, Content: "PR #12"}, ""},
		{"commit", dag.Draft{Role: dag.RoleUser, Content: "Merge pull request #12 from o/topic",
			Attrs: map[string]string{"commit": "true", "external_id": "0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d"}},
			"made-commit commit:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d 1\nnamed-pull-request #12 0.7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.draft.ID, c.draft.Conversation = callID, conversation
			got, _ := findings(t, &c.draft)
			check(t, got, c.want)
		})
	}
}

// FuzzCommand looks for a command that the rules do not come back from, or that
// they give findings out of order for.
func FuzzCommand(f *testing.F) {
	f.Add("git add . && git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\" 2>&1 | tail", "[topic 0a1b2c3] x")
	f.Add("a <(b) ${c} `d` $((1<<2)) \\\n e", "ok  \ta\t1s")
	f.Fuzz(func(t *testing.T, command, output string) {
		run(t, command, output)
	})
}
