package extract_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/normalize"
)

// realData returns the folder with data that others wrote, or skips the test.
func realData(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("GRAPHKERNEL_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skipf("SKIPPED: no real data at %s; set GRAPHKERNEL_DATA", path)
	}
	return path
}

// A history is what was imported and what was found in it.
type history struct {
	drafts  map[dag.TurnID]*dag.Draft
	order   []dag.TurnID
	found   []extract.Finding
	skipped extract.Skipped
}

func readHistory(t testing.TB, paths ...string) *history {
	t.Helper()
	h := &history{drafts: map[dag.TurnID]*dag.Draft{}}
	for _, path := range paths {
		_, err := ingest.Read(context.Background(), path, ingest.Options{}, func(b *ingest.Batch) error {
			for i := range b.Drafts {
				d := &b.Drafts[i]
				if h.drafts[d.ID] == nil {
					h.drafts[d.ID] = d
					h.order = append(h.order, d.ID)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range h.order {
		found, skipped := extract.OfDraft(h.drafts[id], func(id dag.TurnID) *dag.Draft { return h.drafts[id] })
		h.found = append(h.found, found...)
		h.skipped.Add(skipped)
	}
	return h
}

func sessions(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(realData(t, "entire"), "claude-*.jsonl"))
	if err != nil || len(paths) != 16 {
		t.Fatalf("%d sessions, want 16 (%v)", len(paths), err)
	}
	return paths
}

// A touch says that a call did something with a file, and that its result says so.
type touch struct{ predicate, call, result, path string }

// rawRecord is a line of a transcript, as far as files are touched by it.
type rawRecord struct {
	UUID    string
	Message json.RawMessage
}

type rawBlock struct {
	Type, ID, Name string
	Input          map[string]any
	ToolUseID      string `json:"tool_use_id"`
	IsError        bool   `json:"is_error"`
}

// rawTouches reads a transcript line by line. It shares nothing with the
// importer and with the rules: no turn, no content, no edge.
func rawTouches(t testing.TB, path string) []touch {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	verbs := map[string]string{"Read": "read-file", "Write": "wrote-file", "Edit": "edited-file", "MultiEdit": "edited-file", "NotebookEdit": "edited-file"}
	calls := map[string]touch{}
	var touches []touch
	in := bufio.NewScanner(file)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var r rawRecord
		var m struct{ Content []rawBlock }
		if json.Unmarshal(in.Bytes(), &r) != nil || json.Unmarshal(r.Message, &m) != nil {
			continue // a broken line, or content that is a string
		}
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_use" && verbs[b.Name] != "":
				name, _ := b.Input["file_path"].(string)
				if b.Name == "NotebookEdit" {
					name, _ = b.Input["notebook_path"].(string)
				}
				calls[b.ID] = touch{predicate: verbs[b.Name], call: r.UUID, path: name}
			case b.Type == "tool_result" && !b.IsError:
				if c, ok := calls[b.ToolUseID]; ok {
					c.result = r.UUID
					touches = append(touches, c)
				}
			}
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return touches
}

func touchesOf(found []extract.Finding) []touch {
	var touches []touch
	for _, f := range found {
		switch f.Predicate {
		case extract.ReadFile, extract.WroteFile, extract.EditedFile:
			touches = append(touches, touch{f.Predicate, strings.TrimPrefix(f.Subject, "turn:"), f.Turn.String(), strings.TrimPrefix(f.Object, "file:")})
		}
	}
	return touches
}

func sortTouches(list []touch) []touch {
	slices.SortFunc(list, func(a, b touch) int {
		return strings.Compare(a.predicate+a.call+a.result+a.path, b.predicate+b.call+b.result+b.path)
	})
	return slices.Compact(list)
}

// TestRealFiles compares the files of all sessions with what a second reader
// finds in the raw lines: the same calls, results, verbs and paths, no more and
// no fewer.
func TestRealFiles(t *testing.T) {
	total := map[string]int{}
	for _, path := range sessions(t) {
		got := sortTouches(touchesOf(readHistory(t, path).found))
		want := sortTouches(rawTouches(t, path))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d touches, a second reader finds %d", filepath.Base(path), len(got), len(want))
			for _, g := range got {
				if !slices.Contains(want, g) {
					t.Errorf("  only found: %v", g)
				}
			}
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("  not found: %v", w)
				}
			}
		}
		for _, w := range want {
			total[w.predicate]++
		}
	}
	t.Logf("%v", total)
	for _, predicate := range []string{extract.ReadFile, extract.WroteFile, extract.EditedFile} {
		if total[predicate] == 0 {
			t.Errorf("no case of %s", predicate)
		}
	}
}

// TestRealCounts says what the rules find where nobody wrote for them. A rule
// that finds nothing there is one that was tried on nothing.
func TestRealCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		paths []string
		some  string
	}{
		{"entire", sessions(t), "created-file edited-file made-commit named-pull-request on-branch part-of ran-command read-file test-failed test-passed wrote-file"},
		{"claude-code", []string{realData(t, "claude-code")}, "created-file edited-file made-commit on-branch part-of ran-command read-file wrote-file"},
		{"tau-bench", []string{realData(t, "tau-bench")}, ""}, // its tools touch no files
		{"commits", []string{realData(t, "entire", "commits-main.jsonl")}, "made-commit named-pull-request part-of"},
	} {
		h := readHistory(t, c.paths...)
		counts := map[string]int{}
		for _, f := range h.found {
			counts[f.Predicate]++
		}
		t.Logf("%-11s %d turns, skipped %+v, %v", c.name, len(h.order), h.skipped, counts)
		if got := strings.Join(slices.Sorted(maps.Keys(counts)), " "); got != c.some {
			t.Errorf("%s: found %s, want %s", c.name, got, c.some)
		}
		if len(h.order) == 0 {
			t.Errorf("%s: nothing read", c.name)
		}
	}
}

// TestRealNames makes sure that no two different things that the rules find in real sessions have
// one name, and that normalize/1 gave one name to some.
func TestRealNames(t *testing.T) {
	written, old := map[string]string{}, map[string]string{}
	lost := map[string]bool{}
	more, err := filepath.Glob(filepath.Join(realData(t, "claude-code"), "*.jsonl"))
	if err != nil || len(more) == 0 {
		t.Fatalf("%d sessions, %v", len(more), err)
	}
	for _, path := range append(sessions(t), more...) {
		for _, f := range readHistory(t, path).found {
			name, err := normalize.Name(f.Object)
			if err != nil || name != f.Object {
				t.Fatalf("%s: %q has the name %q, %v", path, f.Object, name, err)
			}
			if other, ok := written[name]; ok && other != f.Object {
				t.Errorf("%q and %q are both %q", other, f.Object, name)
			}
			written[name] = f.Object
			_, value, _ := normalize.Split(f.Object) // what extract/1 found
			before, _ := normalize.V1.Name(value)
			if other, ok := old[before]; ok && other != f.Object {
				lost[f.Object] = true
			}
			old[before] = f.Object
		}
	}
	t.Logf("%d objects, %d of which are one with others under normalize/1", len(written), len(lost))
	if len(written) < 300 || len(lost) == 0 {
		t.Errorf("%d objects, %d: this test shows less than it should", len(written), len(lost))
	}
}
