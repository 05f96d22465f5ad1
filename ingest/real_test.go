package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// realData returns the folder with data that others wrote, or skips the test.
func realData(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("GRAPHKERNEL_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skipf("SKIPPED: no real data at %s; set GRAPHKERNEL_DATA", path)
	}
	return path
}

// collect reads a path, checks both the accounting law and every draft, and
// gives all drafts.
func collect(t testing.TB, path string, opts Options) ([]dag.Draft, Report) {
	t.Helper()
	drafts, report, err := tryCollect(t, path, opts)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return drafts, report
}

func tryCollect(t testing.TB, path string, opts Options) (drafts []dag.Draft, report Report, err error) {
	t.Helper()
	admitted := map[dag.TurnID]bool{}
	edges := 0
	report, err = Read(context.Background(), path, opts, func(b *Batch) error {
		if len(b.Drafts) != len(b.Places) {
			t.Fatalf("%d drafts, %d places", len(b.Drafts), len(b.Places))
		}
		checkBatch(t, b, admitted)
		for i := range b.Drafts {
			edges += len(b.Drafts[i].Parents)
		}
		drafts = append(drafts, b.Drafts...)
		return nil
	})
	checkAccounts(t, report)
	if report.Turns != len(drafts) || report.Edges != edges {
		t.Fatalf("report says %d turns and %d edges, got %d and %d", report.Turns, report.Edges, len(drafts), edges)
	}
	return drafts, report, err
}

// checkBatch checks that every draft is fit for admission, parents first.
func checkBatch(t testing.TB, b *Batch, admitted map[dag.TurnID]bool) {
	t.Helper()
	for i := range b.Drafts {
		d := &b.Drafts[i]
		if err := checkDraft(d); err != nil {
			t.Fatalf("%s: %v", b.Places[i], err)
		}
		if !b.Ordered {
			if admitted[d.ID] {
				t.Fatalf("%s: turn %s a second time", b.Places[i], d.ID)
			}
			for _, p := range d.Parents {
				if !admitted[p.ID] {
					t.Fatalf("%s: parent %s of %s does not come before it", b.Places[i], p.ID, d.ID)
				}
			}
		}
		admitted[d.ID] = true
		c := *d
		if len(d.Attrs) <= dag.MaxAttrs-2 && d.Attrs["phase_by"] == "" && d.Attrs["salience_by"] == "" {
			if err := Assign(&c); err != nil {
				t.Fatalf("%s: %v", b.Places[i], err)
			}
		}
	}
}

// checkAccounts checks the law: every record is a turn or skipped for one reason.
func checkAccounts(t testing.TB, r Report) {
	t.Helper()
	skipped := 0
	for reason, n := range r.Skipped {
		if n <= 0 || !isWord(reason) {
			t.Fatalf("skipped %q: %d", reason, n)
		}
		skipped += n
	}
	for what, n := range r.Noted {
		if n <= 0 || !isWord(what) {
			t.Fatalf("noted %q: %d", what, n)
		}
	}
	if r.Records != r.Turns+skipped {
		t.Fatalf("%d records, %d turns and %d skipped: %v", r.Records, r.Turns, skipped, r.Skipped)
	}
	records, turns := 0, 0
	for _, f := range r.Files {
		records += f.Records
		turns += f.Turns
	}
	if records != r.Records || turns != r.Turns {
		t.Fatalf("files have %d records and %d turns, the report %d and %d", records, turns, r.Records, r.Turns)
	}
}

func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
func TestRealFolders(t *testing.T) {
	for _, name := range []string{"entire", "claude-code", "tau-bench"} {
		path := realData(t, name)
		_, r := collect(t, path, Options{})
		t.Logf("%-12s %d files, %d records, %d turns, %d edges\n\tskipped %v\n\tnoted %v", name, len(r.Files), r.Records, r.Turns, r.Edges, r.Skipped, r.Noted)
		if r.Records == 0 {
			t.Error("nothing read")
		}
	}
	if _, _, err := tryCollect(t, realData(t, "irc"), Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("a folder in which nothing is known: %v", err)
	}
}
