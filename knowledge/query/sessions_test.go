package query_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/token"
)

// A rawTouch is a tool call that read or changed a file, as the transcript's lines have it.
type rawTouch struct {
	predicate, name string // of the file, canonical
	result          string // uuid of the record with the result
	line            int
}

// rawTouches reads a transcript line by line, and shares nothing with the importers: what
// calls did with files, and on which line each record is.
func rawTouches(t *testing.T, path string) (touches []rawTouch, lines map[string]int) {
	t.Helper()
	verbs := map[string]string{"Read": extract.ReadFile, "Write": extract.WroteFile, "Edit": extract.EditedFile, "MultiEdit": extract.EditedFile, "NotebookEdit": extract.EditedFile}
	f := must(os.Open(path))
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	calls, lines := map[string]rawTouch{}, map[string]int{}
	for n := 0; in.Scan(); n++ {
		var r struct {
			UUID    string
			Message struct{ Content json.RawMessage }
		}
		var blocks []struct {
			Type, ID, Name string
			Input          struct {
				File     string `json:"file_path"`
				Notebook string `json:"notebook_path"`
			}
			Call  string `json:"tool_use_id"`
			Error bool   `json:"is_error"`
		}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			continue
		}
		lines[r.UUID] = n
		if json.Unmarshal(r.Message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if verb := verbs[b.Name]; b.Type == "tool_use" && verb != "" {
				calls[b.ID] = rawTouch{predicate: verb, name: must(normalize.Name(b.Input.File + b.Input.Notebook))}
			} else if c, ok := calls[b.Call]; ok && b.Type == "tool_result" && !b.Error {
				c.result, c.line = r.UUID, n
				touches = append(touches, c)
			}
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return touches, lines
}

// TestWhichTurnsTouched asks which turns touched a file before a commit, for every file and
// commit of real sessions: a traversal from the file answers, each of its facts names its
// turn, and the raw lines say the same.
func TestWhichTurnsTouched(t *testing.T) {
	paths := must(filepath.Glob(filepath.Join(realData(t), "entire", "claude-*.jsonl")))
	asked, commits := 0, 0
	for _, path := range paths {
		ctx := t.Context()
		s := open(t, "sqlite")
		k := over(t, s, token.NewAuthority(ring(t, "k1")))
		drafts := map[dag.TurnID]*dag.Draft{}
		var order []dag.TurnID
		must(ingest.Read(ctx, path, ingest.Options{}, func(b *ingest.Batch) error {
			for i := range b.Drafts {
				drafts[b.Drafts[i].ID] = &b.Drafts[i]
				order = append(order, b.Drafts[i].ID)
			}
			return nil
		}))
		must(k.Turns().Import(ctx, tenant, path, ingest.Options{}))
		var acts []knowledge.Act
		for _, id := range order {
			found, _ := extract.OfDraft(drafts[id], func(id dag.TurnID) *dag.Draft { return drafts[id] })
			for _, f := range found {
				fact := must(knowledge.NewFact(f.Subject, f.Predicate, f.Object, extract.Rules))
				fact.Confidence, fact.Turn = f.Confidence, f.Turn
				acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: fact})
			}
		}
		must(k.Facts().Learn(ctx, tenant, acts))
		raw, lines := rawTouches(t, path)
		ends := []int{1 << 30} // lines before which is asked: all, and those of commits
		for _, f := range must(k.Facts().List(ctx, tenant, api.FactQuery{FactFilter: api.FactFilter{Predicate: extract.MadeCommit}, Paging: api.Paging{Limit: query.MaxFacts}})).Facts {
			ends = append(ends, lines[f.Turn.String()])
			commits++
		}
		files := map[string]bool{}
		for _, r := range raw {
			files[r.name] = true
		}
		for name := range files {
			got := must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{name}, Direction: knowledge.Incoming, MaxHops: 1, MaxResults: knowledge.MaxResults,
				Predicates: []string{extract.ReadFile, extract.WroteFile, extract.EditedFile}}))
			for _, before := range ends {
				var want, turns []string
				for _, r := range raw {
					if r.name == name && r.line < before {
						want = append(want, r.predicate+" "+r.result)
					}
				}
				for _, r := range got.Reached {
					e := r.Path[0]
					if e.Turn == (dag.TurnID{}) || !strings.HasPrefix(r.Entity, "turn:") {
						t.Fatalf("%+v names no turn", r)
					}
					if lines[e.Turn.String()] < before {
						turns = append(turns, e.Predicate+" "+e.Turn.String())
					}
				}
				slices.Sort(want)
				slices.Sort(turns)
				if got.Cut != string(knowledge.Whole) || !slices.Equal(slices.Compact(want), turns) {
					t.Errorf("%s, %s before line %d:\ngot  %q\nwant %q", filepath.Base(path), name, before, turns, want)
				}
				asked++
			}
		}
	}
	if t.Logf("%d questions about %d commits", asked, commits); asked < 150 || commits < 5 {
		t.Errorf("%d questions, %d commits: this test shows less than it should", asked, commits)
	}
}
