package extract_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
)

// rulesDigest is of all that extract/1 finds in the turns of TestRules. If it changes, facts
// that were extracted before are not what would be extracted now: the change is a mistake, or
// the rules need another name.
const rulesDigest = "b111655e604e27088fb3064bc48a36215ecad90f2f7166945870061350dc3d47"

// commandPieces are commands of every form that the rules know, and of some that they do not.
var commandPieces = []string{
	"ls -l", "cat a.go | head", "false", "echo 'go test", "rm -rf \"$HOME\"", "cd /src && make", "sleep 9 &",
	"go test ./...", "cd x && go test -v ./... 2>&1 | tail", "pytest -q", "python3 -m pytest -v", "cargo test", "npm run test:unit", "npx jest", "make test", "echo test", "FOO=1 go test .", "grep test a",
	"go get example.com/a/b@v1.2.3 golang.org/x/c", "go get -u ./...", "go get example.com/gone@none", "npm install left-pad @scope/pkg@^2 -D", "npm i --weird x", "npm install", "npm add ./local.tgz", "pnpm add a -F web",
	"yarn add -D b@1", "bun add c", "pip install 'requests[socks]>=2' flask==3", "pip install -r requirements.txt", "pip3 install ./x.whl", "python -m pip install numpy", "uv add httpx --group dev", "uv pip install rich",
	"poetry add django@5", "cargo add serde --features derive", "pip install $PACKAGE", "false || pip install maybe", "pip install one; true", "pip install one || true", "pip install one && false; ls", "pip install one & wait",
	"git commit -m 'x'", "git -C /src commit -am \"y z\"", "git add -A && git commit -q -F - <<'EOF'\nsubject\n\nbody; go get example.com/not\nEOF", "git status", "git checkout -b topic", "git switch main", "git merge topic", "git log", "git -c a=b rebase main",
	"gh pr create --fill", "gh pr view 174", "gh pr view '#175' --json title", "gh pr checkout https://github.com/acme/tool/pull/9", "gh pr view $N", "gh issue list", "git push && gh pr create --title x", "echo gh pr create",
	"if true; then go test; fi", "for f in *; do echo $f; done", "(cd sub; npm install inner)", "$(which go) test", "bash -c 'git commit'", "", "   ", "\\", "a\x00b", strings.Repeat("y", extract.MaxObject+1),
}

// optionPieces add one package each, after every option of the program that the rules know.
var optionPieces = []string{
	"go get -u -t -v -x -d -u=patch example.com/a",
	"npm install -D --save-dev -S --save -P --save-prod -O --save-optional -E --save-exact -g --global --force -f --legacy-peer-deps --no-audit --no-fund --silent -s --quiet -q --yes -y -B --save-bundle --no-save -w of --workspace of --prefix of --registry of one",
	"npm i -D --save-dev -S --save -P --save-prod -O --save-optional -E --save-exact -g --global --force -f --legacy-peer-deps --no-audit --no-fund --silent -s --quiet -q --yes -y -B --save-bundle --no-save -w of --workspace of --prefix of --registry of one",
	"npm add -D --save-dev -S --save -P --save-prod -O --save-optional -E --save-exact -g --global --force -f --legacy-peer-deps --no-audit --no-fund --silent -s --quiet -q --yes -y -B --save-bundle --no-save -w of --workspace of --prefix of --registry of one",
	"pnpm add -D --save-dev -P --save-prod -O --save-optional -E --save-exact -g --global -w --workspace-root --save-peer --silent -s -F of --filter of -C of --dir of one",
	"yarn add -D --dev -P --peer -O --optional -E --exact -T --tilde --silent -s --ignore-scripts -W one",
	"bun add -d -D --dev --development --optional --peer -E --exact -g --global --cwd of one",
	"uv pip install -U --upgrade --user -q --quiet -v --pre --no-cache-dir --no-deps --force-reinstall --break-system-packages -y -i of --index-url of --extra-index-url of -c of --constraint of -r of --requirement of -e of --editable of -t of --target of -f of --find-links of --prefix of --python of one",
	"uv add --dev -q --quiet -U --upgrade --no-sync --frozen --locked --raw --optional-dependencies --prerelease=allow --group of --optional of --extra of --package of --index of --index-url of --extra-index-url of -c of --constraint of -r of --requirements of --python of -p of --branch of --tag of --rev of one",
	"pip install -U --upgrade --user -q --quiet -v --pre --no-cache-dir --no-deps --force-reinstall --break-system-packages -y -i of --index-url of --extra-index-url of -c of --constraint of -r of --requirement of -e of --editable of -t of --target of -f of --find-links of --prefix of --python of one",
	"pip3 install -U --upgrade --user -q --quiet -v --pre --no-cache-dir --no-deps --force-reinstall --break-system-packages -y -i of --index-url of --extra-index-url of -c of --constraint of -r of --requirement of -e of --editable of -t of --target of -f of --find-links of --prefix of --python of one",
	"python -m pip install -U --upgrade --user -q --quiet -v --pre --no-cache-dir --no-deps --force-reinstall --break-system-packages -y -i of --index-url of --extra-index-url of -c of --constraint of -r of --requirement of -e of --editable of -t of --target of -f of --find-links of --prefix of --python of one",
	"python3 -m pip install -U --upgrade --user -q --quiet -v --pre --no-cache-dir --no-deps --force-reinstall --break-system-packages -y -i of --index-url of --extra-index-url of -c of --constraint of -r of --requirement of -e of --editable of -t of --target of -f of --find-links of --prefix of --python of one",
	"poetry add -D --dev -q --quiet -n --no-interaction --allow-prereleases --optional --lock -G of --group of -E of --extras of --source of --python of one",
	"cargo add --dev --build --optional --no-default-features -q --quiet -v -F of --features of -p of --package of --rename of --target of --manifest-path of --registry of one",
}

// resultPieces are what commands print.
var resultPieces = []string{
	"", "done", "Exit code 1\nFAIL\texample.com/a\t0.1s",
	"--- PASS: TestOne (0.00s)\n    --- FAIL: TestTwo/sub_case (1.20s)\nok  \texample.com/a\t0.4s\nok  \texample.com/b\t(cached)\tcoverage: 1.0% of statements\nFAIL\texample.com/c [build failed]\n?   \texample.com/d\t[no test files]\r\n",
	"tests/test_a.py::test_b PASSED   [ 50%]\ntests/test_a.py::test_c[x y] FAILED\nERROR tests/test_d.py::test_e - ValueError: no\ntest module::works ... ok\ntest module::fails - should panic ... FAILED\nPASS src/a.test.ts (5.1 s)\n FAIL  src/b.spec.jsx\n",
	"[main 1a2b3c4] a subject\n 1 file changed\n[topic (root-commit) 00112233445566778899aabbccddeeff00112233] first\n[detached HEAD abcdef0] lost\n[not a branch deadbee] x\n[main 12345] short",
	"On branch main\nSwitched to a new branch 'topic/one'\nAlready on 'main'\nOn branch -x\nSwitched to branch 'a..b'\nOn branch two words",
	"https://github.com/acme/tool/pull/12\nsee https://github.com/acme/tool/pull/13/files and PR #14, pull request 15, Pull Requests #16\n  https://github.com/acme/tool/pull/17  \nhttps://gitlab.com/acme/tool/pull/18",
}

// inputPieces are inputs of tools that are given a path.
var inputPieces = []map[string]any{
	{"file_path": "/src/a.go"}, {"path": "b c/../d"}, {"notebook_path": "/n.ipynb"}, {"target_file": "t"}, {"absolute_path": "/abs"}, {"file_path": ""}, {"file_path": 7}, {},
	{"command": "create", "path": "/made"}, {"command": "view", "path": "/seen"}, {"command": "undo_edit", "path": "/undone"}, {"command": "other", "path": "/x"}, {"command": []string{"bash", "-lc", "git status"}}, {"command": []string{"git", "status"}},
}

var toolPieces = []string{
	"Read", "NotebookRead", "Write", "Edit", "MultiEdit", "NotebookEdit", "read_file", "write_file", "edit_file", "create_file", "str_replace_based_edit_tool", "str_replace_editor",
	"Grep", "Bash", "shell", "execute_command", "bash2",
}

// TestRules pins the digest of what is found in some thousand turns that were invented for it:
// every command with every output, every tool with every input, and speech, of a trace that
// marks errors and of one that does not.
func TestRules(t *testing.T) {
	sum := sha256.New()
	turns, found := 0, map[string]int{}
	var skipped extract.Skipped
	take := func(d *dag.Draft, parents ...*dag.Draft) {
		list, left := extract.OfDraft(d, func(id dag.TurnID) *dag.Draft {
			if i := slices.IndexFunc(parents, func(p *dag.Draft) bool { return p.ID == id }); i >= 0 {
				return parents[i]
			}
			return nil
		})
		fmt.Fprintf(sum, "turn %d: %d %d %d %d %d\n", turns, left.LongObject, left.MissingCall, left.UnclearCall, left.UnclearResult, left.UnclearCommand)
		for _, f := range list {
			fmt.Fprintf(sum, "%s %s %s %q %s\n", f.Turn, f.Subject, f.Predicate, f.Object, f.Confidence)
			found[f.Predicate]++
		}
		skipped.Add(left)
		turns++
	}
	trial := func(e exchange) {
		for _, marked := range []bool{true, false} {
			for _, e.failed = range []bool{false, true} {
				call, result := e.drafts(t)
				if !marked {
					delete(call.Attrs, "message_id")
				}
				take(result, call)
			}
		}
	}
	// Two calls in one turn, answered in one turn beside a text, on a branch; and what is
	// left of it if something is not there.
	for _, output := range resultPieces {
		for _, blocks := range []string{"tool_result", "tool_result,text"} {
			call, result := (&exchange{"Read,Bash", nil, output + "\n\n[tool_result error]\nno such file", false}).drafts(t)
			call.Content = "PR #3 first.\n\n[tool_use Read]\n{\"file_path\":\"/a\"}\n\n[tool_use Bash]\n{\"command\":\"git status; go test .\"}"
			call.Attrs["blocks"], call.Attrs["tool_use_id"], call.Attrs["git_branch"] = "text,tool_use", "t1,t2", "topic"
			result.Attrs["blocks"], result.Attrs["tool_use_id"] = blocks, "t2,t1"
			take(call)
			take(result, call)
			take(result)
			call.Content += "\n\n[tool_use Bash]\n{}"
			take(call)
			take(result, call)
			call.Content = "[tool_use Read]\nno JSON"
			take(result, call)
		}
	}
	for _, command := range slices.Concat(commandPieces, optionPieces) {
		for _, output := range resultPieces {
			trial(exchange{tool: "Bash", input: map[string]any{"command": command}, result: output})
		}
	}
	for _, tool := range toolPieces {
		for _, input := range inputPieces {
			for _, output := range []string{"ok", "File created successfully at: /src/a.go", "Exit code 2"} {
				trial(exchange{tool: tool, input: input, result: output})
			}
		}
	}
	for _, text := range resultPieces {
		for _, role := range []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleSystem, dag.RoleTool} {
			for _, attrs := range []map[string]string{nil, {"meta": "true"}, {"git_branch": "topic"}, {"git_branch": "HEAD"}, {"commit": "true", dag.AttrExternalID: "0123abc", "git_branch": "main"}, {"blocks": "tool_use"}, {"blocks": "tool_result"}} {
				take(&dag.Draft{ID: callID, Conversation: conversation, Role: role, Content: text, Attrs: attrs})
			}
		}
	}
	for _, p := range extract.Predicates {
		if found[p] < 5 {
			t.Errorf("%s was found %d times: this test shows less than it should", p, found[p])
		}
	}
	if skipped.LongObject == 0 || skipped.MissingCall == 0 || skipped.UnclearCall == 0 || skipped.UnclearResult == 0 || skipped.UnclearCommand == 0 {
		t.Errorf("%+v was skipped: this test shows less than it should", skipped)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != rulesDigest {
		t.Errorf("%s finds other things than it did: the digest is %s, want %s\nof %d turns, skipped %+v", extract.Rules, got, rulesDigest, turns, skipped)
		for _, p := range slices.Sorted(maps.Keys(found)) {
			t.Logf("%6d %s", found[p], p)
		}
	}
}
