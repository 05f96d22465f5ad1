package admission_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// lines writes the turns of a case as JSONL, parents first.
func lines(t testing.TB, c *golden.Case) [][]byte {
	t.Helper()
	some := kerneltest.Golden(t, c)
	index := map[dag.TurnID]int32{}
	for i := range some {
		index[some[i].ID] = int32(i)
	}
	var edges [][2]int32
	for i := range some {
		for _, p := range some[i].Parents {
			edges = append(edges, [2]int32{index[p.ID], int32(i)})
		}
	}
	var out [][]byte
	for _, i := range dag.Topological(len(some), edges, func(a, b int32) bool { return a < b }) {
		out = append(out, must(ingest.AppendLine(nil, &some[i])))
	}
	return out
}

func export(t testing.TB, k *kernel.Kernel) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := k.Turns().Export(t.Context(), tenant, nil, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestExportImport writes a graph out and reads it into another store: the same
// lines, the same sequence numbers, the same slices.
func TestExportImport(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		c := golden.Random(7, 300)
		path := file(t, "turns.jsonl", lines(t, &c))
		first, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
		if err != nil || first.Admitted != len(c.Turns) || first.Edges != len(c.Edges) {
			t.Fatalf("import: %+v, %v", first, err)
		}
		written := export(t, k)
		if !bytes.Equal(written, must(os.ReadFile(path))) {
			t.Error("export differs from what was imported")
		}
		again, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
		if err != nil || again.Admitted != 0 || again.Existing != len(c.Turns) || again.Head != first.Head {
			t.Errorf("importing again: %+v, %v", again, err)
		}
		anchor := must(dag.ParseTurnID(c.Anchor))
		whole := kernel.Request{Anchor: anchor, AsOf: first.Head}
		wanted := must(k.Slices().Cut(t.Context(), tenant, whole))
		must(k.Turns().Erase(t.Context(), tenant, must(dag.ParseTurnID(c.Turns[0].ID)), "asked for"))
		// A store that imports a redacted line cannot mark it, so this is about a policy that reads no marks.
		shown := kernel.Request{Anchor: anchor, Policy: policy.DefaultV1ID, AsOf: first.Head}
		issued := must(k.Slices().Cut(t.Context(), tenant, shown))
		for name, open := range stores {
			other := over(t, open(t), must(c.Authority()))
			redacted := export(t, k)
			if n := bytes.Count(redacted, []byte(`"redacted":true`)); n != 1 {
				t.Fatalf("%d redacted lines, want 1", n)
			}
			must(other.Turns().Import(t.Context(), tenant, file(t, "export.jsonl", [][]byte{redacted}), ingest.Options{}))
			if got := export(t, other); !bytes.Equal(got, redacted) {
				t.Errorf("%s: an export with an erased turn does not come back", name)
			}
			if got := must(other.Slices().Cut(t.Context(), tenant, shown)); got.Slice.Provenance != issued.Slice.Provenance {
				t.Errorf("%s: the slice of the copy is another one", name)
			}
			other = over(t, open(t), must(c.Authority()))
			must(other.Turns().Import(t.Context(), tenant, path, ingest.Options{}))
			if got := must(other.Slices().Cut(t.Context(), tenant, whole)); got.Slice.Provenance != wanted.Slice.Provenance {
				t.Errorf("%s: the slice of the copy with every text is another one", name)
			}
		}
	})
}

// TestLinesInAnyOrder imports lines that precede their parents.
func TestLinesInAnyOrder(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		c := golden.Random(7, 300)
		all := lines(t, &c)
		r := rand.New(rand.NewPCG(3, 3))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		report, err := k.Turns().Import(t.Context(), tenant, file(t, "shuffled.jsonl", all), ingest.Options{})
		if err != nil || report.Admitted != len(c.Turns) {
			t.Fatalf("import: %+v, %v", report, err)
		}
	})
}

func TestLinesThatCannotBeAdmitted(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		c := golden.Random(7, 300)
		all := lines(t, &c)
		child := must(ingest.ReadLine(all[len(all)-1][:len(all[len(all)-1])-1]))
		if len(child.Parents) == 0 {
			t.Fatal("the last line has no parent; choose another seed")
		}
		path := file(t, "orphan.jsonl", [][]byte{all[len(all)-1]})
		_, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
		var orphan *store.ParentError
		if !errors.As(err, &orphan) || orphan.Child != child.ID || !strings.Contains(err.Error(), path+":1") {
			t.Errorf("a line without its parent: %v", err)
		}
		broken := bytes.Replace(all[1], []byte(`"role"`), []byte(`"rule"`), 1)
		path = file(t, "broken.jsonl", [][]byte{all[0], broken, all[2]})
		report, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
		if err == nil || !strings.Contains(err.Error(), path+":2") || !strings.Contains(err.Error(), "rule") {
			t.Errorf("a malformed line: %+v, %v", report, err)
		}
		changed := must(ingest.ReadLine(all[0][:len(all[0])-1]))
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{changed}))
		changed.Content += "!"
		path = file(t, "conflict.jsonl", [][]byte{must(ingest.AppendLine(nil, &changed))})
		var conflict *store.ConflictError
		if _, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{}); !errors.As(err, &conflict) || !strings.Contains(err.Error(), path+":1") {
			t.Errorf("a line that contradicts the store: %v", err)
		}
	})
}

// data returns a folder of real data, where there is some.
func data(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("GRAPHKERNEL_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data at %s; GRAPHKERNEL_DATA names another folder", path)
	}
	return path
}

// TestRealTranscripts imports real transcripts: every record is accounted for,
// and importing twice changes nothing.
func TestRealTranscripts(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	for _, folder := range []string{"entire", "claude-code", "tau-bench"} {
		t.Run(folder, func(t *testing.T) {
			path := data(t, folder)
			eachStore(t, func(t *testing.T, k *kernel.Kernel) {
				first, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				skipped := 0
				for _, n := range first.Read.Skipped {
					skipped += n
				}
				if first.Admitted+first.Existing+skipped != first.Read.Records || first.Admitted == 0 {
					t.Errorf("%d records, %d admitted, %d existing, %d skipped", first.Read.Records, first.Admitted, first.Existing, skipped)
				}
				before := export(t, k)
				again, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
				if err != nil || again.Admitted != 0 || again.Existing != first.Admitted+first.Existing || again.Head != first.Head {
					t.Errorf("again: %+v, %v", again, err)
				}
				if !bytes.Equal(before, export(t, k)) {
					t.Error("importing again changed something")
				}
				t.Logf("%d records: %d turns, %d edges, %d conversations, skipped %v, noted %v",
					first.Read.Records, first.Admitted, first.Edges, first.Conversations, first.Read.Skipped, first.Read.Noted)
			})
		})
	}
}

// TestKnownAnswer checks a slice against what is known of a real commit: which
// prompt led to it, and which came later.
func TestKnownAnswer(t *testing.T) {
	path := data(t, "entire")
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		must(k.Turns().Import(t.Context(), tenant, path, ingest.Options{}))
		commit := must(dag.ReadTime("2026-02-06T10:05:28Z"))
		session := must(dag.ParseConversationID("768de5d6-9fad-475b-8a4f-dfa7ddc01bb0"))
		var anchor dag.TurnID
		var at dag.Seq
		err := k.Turns().Each(t.Context(), tenant, session, func(seq dag.Seq, d *dag.Draft) error {
			if d.CreatedAt <= commit {
				anchor, at = d.ID, seq
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: anchor, AsOf: at}))
		var prompts []string
		for _, s := range issued.Slice.Turns {
			for _, p := range []string{"079a02ab", "18d70008"} {
				if strings.HasPrefix(s.ID.String(), p) {
					prompts = append(prompts, p)
				}
			}
		}
		if len(prompts) != 1 || prompts[0] != "079a02ab" {
			t.Errorf("anchor %s as of %d: the slice of %d turns holds the prompts %v, want 079a02ab alone", anchor, at, len(issued.Slice.Turns), prompts)
		}
	})
}

// TestIRC imports real conversations with several parents, and slices and
// replays some hundred of them.
func TestIRC(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	source := data(t, filepath.Join("irc", "irc-ubuntu-gold.jsonl"))
	path, n := ircLines(t, source)
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		report, err := k.Turns().Import(t.Context(), tenant, path, ingest.Options{})
		if err != nil || report.Admitted != n {
			t.Fatalf("%+v, %v, want %d turns", report, err, n)
		}
		replayed, several := 0, 0
		for i := 0; i < n; i += n / 300 {
			issued, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ircAnchors[i]})
			if err != nil {
				t.Fatal(err)
			}
			if e, v := k.Slices().Verify(issued.Bundle); !e.OK() {
				t.Fatalf("%s: %s", v.Outcome, v.Reason)
			}
			r, err := k.Slices().Replay(t.Context(), tenant, issued.Bundle)
			if err != nil || r.Outcome != kernel.Identical {
				t.Fatalf("%+v, %v", r, err)
			}
			replayed++
			several += severalParents(issued.Slice)
		}
		if replayed < 300 || several == 0 {
			t.Errorf("replayed %d slices, %d turns in them with several parents", replayed, several)
		}
		t.Logf("%d messages, %d edges; %d slices replayed, %d turns with several parents in them", report.Admitted, report.Edges, replayed, several)
	})
}

func severalParents(s *slice.Slice) (n int) {
	parents := map[dag.TurnID]int{}
	for _, e := range s.Edges {
		if parents[e.Child]++; parents[e.Child] == 2 {
			n++
		}
	}
	return n
}

var ircAnchors []dag.TurnID

// ircLines writes IRC messages as JSONL.
func ircLines(t testing.TB, source string) (path string, n int) {
	t.Helper()
	raw, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "irc.jsonl")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ircAnchors = ircAnchors[:0]
	var buf []byte
	for line := range bytes.Lines(raw) {
		d := ircDraft(t, line, n)
		if buf, err = ingest.AppendLine(buf[:0], &d); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(buf); err != nil {
			t.Fatal(err)
		}
		ircAnchors = append(ircAnchors, d.ID)
		n++
	}
	return path, n
}

func ircDraft(t testing.TB, line []byte, n int) dag.Draft {
	t.Helper()
	var m struct {
		ID, Doc, Text string
		Author        *string
		Parents       []string
	}
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("line %d: %v", n+1, err)
	}
	d := dag.Draft{
		ID: dag.ExternalTurnID("irc", m.ID), Conversation: dag.ExternalConversationID("irc", m.Doc),
		Role: dag.RoleUser, CreatedAt: dag.Time(n) * 1_000_000, Content: m.Text, Attrs: map[string]string{dag.AttrExternalID: m.ID},
	}
	if m.Author != nil {
		d.Author = fmt.Sprintf("irc:%x", *m.Author)
	} else {
		d.Role = dag.RoleSystem
	}
	for _, p := range m.Parents {
		d.Parents = append(d.Parents, dag.Parent{ID: dag.ExternalTurnID("irc", p), Kind: dag.Reply})
	}
	return d
}
