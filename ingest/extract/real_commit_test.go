package extract_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/extract"
)

// A checkpoint says that a commit was made when a session had come this far. The
// program that wrote it watched the session; it knows nothing of these rules.
type checkpoint struct {
	ID      string   `json:"checkpoint_id"`
	Session string   `json:"session_id"`
	Created string   `json:"created_at"`
	Files   []string `json:"files_touched"`
}

// A mainCommit is a commit of the repository that the sessions worked on.
type mainCommit struct {
	ID          string
	Checkpoints []string
}

func readLines[T any](t testing.TB, path string) (list []T) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for in := bufio.NewScanner(file); in.Scan(); {
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// before returns all turns that a turn comes from, and itself.
func (h *history) before(id dag.TurnID) map[dag.TurnID]bool {
	seen := map[dag.TurnID]bool{}
	for todo := []dag.TurnID{id}; len(todo) > 0; {
		id, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if d := h.drafts[id]; d != nil && !seen[id] {
			seen[id] = true
			for _, p := range d.Parents {
				todo = append(todo, p.ID)
			}
		}
	}
	return seen
}

// changed returns the files that were changed in findings that keep allows.
func changed(found []extract.Finding, keep func(extract.Finding) bool) (paths []string) {
	for _, f := range found {
		if (f.Predicate == extract.WroteFile || f.Predicate == extract.EditedFile) && keep(f) && !slices.Contains(paths, strings.TrimPrefix(f.Object, "file:")) {
			paths = append(paths, strings.TrimPrefix(f.Object, "file:"))
		}
	}
	return paths
}

// unknown returns the names, relative to the repository, that no path ends with.
func unknown(names, paths []string) (list []string) {
	for _, name := range names {
		if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/"+name) }) {
			list = append(list, name)
		}
	}
	return list
}

// TestRealCheckpoints asks which files were changed in a session up to the time
// of a checkpoint, and compares the answer with what the checkpoint says. People
// made most of the commits, so the session itself does not name them.
//
// The answers differ in two ways, and both are checked. The rules know of files
// outside of the repository, which are the agent's own plans. And a checkpoint
// names files that the session's raw lines do not show to be changed: its file
// ends before the session did, or the person refused the change.
func TestRealCheckpoints(t *testing.T) {
	folder := realData(t, "entire")
	list := readLines[checkpoint](t, filepath.Join(folder, "checkpoints.jsonl"))
	same, missing := 0, 0
	read := map[string]*history{}
	for _, c := range list {
		path := filepath.Join(folder, "claude-"+c.Session+".jsonl")
		if read[path] == nil {
			read[path] = readHistory(t, path)
		}
		h := read[path]
		at, err := dag.ReadTime(c.Created)
		if err != nil {
			t.Fatal(err)
		}
		paths := changed(h.found, func(f extract.Finding) bool { return h.drafts[f.Turn].CreatedAt <= at })
		for _, p := range paths {
			if !strings.Contains(p, "/.claude/plans/") && !slices.ContainsFunc(c.Files, func(name string) bool { return strings.HasSuffix(p, "/"+name) }) {
				t.Errorf("%s: %s was changed before, and the checkpoint does not name it", c.ID, p)
			}
		}
		lost := unknown(c.Files, paths)
		var raw []string
		for _, r := range rawTouches(t, path) {
			if r.predicate != extract.ReadFile {
				raw = append(raw, r.path)
			}
		}
		if shown := unknown(lost, raw); len(shown) != len(lost) {
			t.Errorf("%s: of %v only %v are not changed in the raw lines", c.ID, lost, shown)
		}
		missing += len(lost)
		if len(lost) == 0 {
			same++
		}
	}
	t.Logf("%d of %d checkpoints name the files that were found; %d files of the others were not changed in the raw lines", same, len(list), missing)
	if same < 20 {
		t.Errorf("only %d checkpoints agree", same)
	}
}

// TestRealKnownAnswer asks which turns changed a file before a commit and what
// they come from. People who read the session said which prompt is among them.
func TestRealKnownAnswer(t *testing.T) {
	folder := realData(t, "entire")
	const commit, file = "7751fb3e86", "/redact/redact_test.go"
	var names []string
	for _, c := range readLines[mainCommit](t, filepath.Join(folder, "commits-main.jsonl")) {
		if strings.HasPrefix(c.ID, commit) {
			names = c.Checkpoints
		}
	}
	prompts := map[string]bool{}
	for _, c := range readLines[checkpoint](t, filepath.Join(folder, "checkpoints.jsonl")) {
		if !slices.Contains(names, c.ID) {
			continue
		}
		h := readHistory(t, filepath.Join(folder, "claude-"+c.Session+".jsonl"))
		at, err := dag.ReadTime(c.Created)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range h.found {
			if f.Predicate != extract.EditedFile || !strings.HasSuffix(f.Object, file) || h.drafts[f.Turn].CreatedAt > at {
				continue
			}
			for id := range h.before(f.Turn) {
				if h.drafts[id].Role == dag.RoleUser {
					prompts[id.String()[:8]] = true
				}
			}
		}
	}
	if !prompts["079a02ab"] || prompts["18d70008"] {
		t.Errorf("prompts before %s: %v, want 079a02ab and not 18d70008", commit, prompts)
	}
}

// TestRealCommits takes the commits that agents made themselves: the turns that
// touched a file and that the commit's turn comes from must be those that are
// above it in the transcript, which a second reader counts off line by line.
func TestRealCommits(t *testing.T) {
	commits := readLines[mainCommit](t, filepath.Join(realData(t, "entire"), "commits-main.jsonl"))
	made, onMain, touches := 0, 0, 0
	for _, path := range sessions(t) {
		h := readHistory(t, path)
		raw := rawTouches(t, path)
		lines := rawLines(t, path)
		for _, f := range h.found {
			if f.Predicate != extract.MadeCommit {
				continue
			}
			made++
			if slices.ContainsFunc(commits, func(c mainCommit) bool { return strings.HasPrefix(c.ID, strings.TrimPrefix(f.Object, "commit:")) }) {
				onMain++
			}
			up := h.before(f.Turn)
			var got []extract.Finding
			for _, g := range h.found {
				if up[g.Turn] {
					got = append(got, g)
				}
			}
			var want []touch
			for _, r := range raw {
				if lines[r.result] < lines[f.Turn.String()] {
					want = append(want, r)
				}
			}
			touches += len(want)
			if g, w := sortTouches(touchesOf(got)), sortTouches(want); !slices.Equal(g, w) {
				t.Errorf("commit %s: %d touches come before it, a second reader counts %d", f.Object, len(g), len(w))
			}
		}
	}
	t.Logf("%d commits were made in the sessions, %d of them are in the repository's history, %d touches stand before them", made, onMain, touches)
	if made == 0 || onMain == 0 || touches == 0 {
		t.Error("no case")
	}
}

// rawLines returns the number of the line on which each uuid is first.
func rawLines(t testing.TB, path string) map[string]int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := map[string]int{}
	in := bufio.NewScanner(file)
	in.Buffer(nil, 64<<20)
	for n := 1; in.Scan(); n++ {
		var r rawRecord
		if json.Unmarshal(in.Bytes(), &r) == nil && r.UUID != "" && lines[r.UUID] == 0 {
			lines[r.UUID] = n
		}
	}
	return lines
}
