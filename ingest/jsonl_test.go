package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
)

const (
	lineTurn = `{"attrs":{"k":"v"},"author":"human:guest","content":"ship it?\n","conversation":"6a2f0000-0000-4000-8000-000000000001",` +
		`"created_at":"2026-01-02T03:04:05.000006Z","id":"0b5e0000-0000-4000-8000-000000000002",` +
		`"parents":[{"id":"77aa0000-0000-4000-8000-000000000003","kind":"reply"}],"phase":"planning","role":"user","salience":0.35,` +
		`"salt":"000102030405060708090a0b0c0d0e0f"}`
	lineRedacted = `{"body_digest":"` + hex64 + `","conversation":"6a2f0000-0000-4000-8000-000000000001",` +
		`"created_at":"2026-01-02T03:04:05.000006Z","id":"0b5e0000-0000-4000-8000-000000000002","parents":[],` +
		`"phase":"synthesis","redacted":true,"role":"tool","salience":1}`
	hex64 = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
)

func TestLineIsItsOwnCanonicalForm(t *testing.T) {
	for _, line := range []string{lineTurn, lineRedacted} {
		d, err := ReadLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendLine([]byte("before"), &d)
		if err != nil {
			t.Fatal(err)
		}
		if want := "before" + line + "\n"; string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLineReadsOtherSpellings(t *testing.T) {
	d, err := ReadLine([]byte(` {"id":"0b5e0000-0000-4000-8000-000000000002", "conversation":"6a2f0000-0000-4000-8000-000000000001",
		"role":"user","author":"","content":"","created_at":"2026-01-02T04:04:05.0000069+01:00"} `))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.CreatedAt.String(); got != "2026-01-02T03:04:05.000006Z" {
		t.Errorf("created_at %s", got)
	}
	if d.Phase != 0 || d.HasSalience || d.Salt != nil || d.Attrs != nil || d.Parents != nil {
		t.Errorf("what is absent is not: %+v", d)
	}
}

// TestLineInAnyCase reads ids and digests in upper case.
func TestLineInAnyCase(t *testing.T) {
	for _, line := range []string{lineTurn, lineRedacted} {
		upper := anyHex.ReplaceAllStringFunc(line, strings.ToUpper)
		if upper == line {
			t.Fatalf("no id in %s", line)
		}
		want, err := ReadLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadLine([]byte(upper)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", upper, got, err, want)
		}
	}
}

var anyHex = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}`)

func TestLineRefuses(t *testing.T) {
	change := func(old, new string) string {
		changed := strings.Replace(lineTurn, old, new, 1)
		if changed == lineTurn {
			t.Fatalf("%q is not in the line", old)
		}
		return changed
	}
	for _, tc := range []struct{ name, line, want string }{
		{"not JSON", `{"id":`, "not strict JSON"},
		{"no object", `[]`, "want an object"},
		{"unknown field", change(`"role"`, `"colour":"red","role"`), `unknown field "colour"`},
		{"repeated field", change(`"role":"user"`, `"role":"user","role":"tool"`), `"role" is repeated`},
		{"missing id", change(`"id":"0b5e0000-0000-4000-8000-000000000002",`, ``), `"id" is missing`},
		{"missing content", change(`"content":"ship it?\n",`, ``), `"content" is missing`},
		{"id", change(`"0b5e0000`, `"0g5e0000`), "id: malformed"},
		{"role", change(`"user"`, `"robot"`), `role: malformed: role "robot"`},
		{"phase", change(`"planning"`, `"dreaming"`), `phase: malformed: phase "dreaming"`},
		{"seven digits", change(`0.35`, `0.3500001`), `salience: malformed: "0.3500001" is not a whole number of millionths`},
		{"salience text", change(`0.35`, `"0.35"`), "salience: want a number, got a string"},
		{"salience above 1", change(`0.35`, `1.5`), "salience: malformed"},
		{"time", change(`2026-01-02T`, `2026-13-02T`), "created_at: malformed"},
		{"year", change(`2026-01-02T`, `1969-01-02T`), "outside the years"},
		{"author", change(`human:guest`, `human:gu\u0000est`), "not printable ASCII"},
		{"attr key", change(`"k"`, `"K"`), `attr key "K"`},
		{"attr value", change(`"v"`, `"v\n"`), "control character"},
		{"attr number", change(`"v"`, `1`), `attrs: "k": want a string`},
		{"salt", change(`0a0b0c0d0e0f"`, `0a0b0c0d0e"`), "salt: malformed"},
		{"kind", change(`"kind":"reply"`, `"kind":"cousin"`), `parents: [0]: kind: malformed`},
		{"parent field", change(`"kind":"reply"`, `"kind":"reply","x":1`), `parents: [0]: unknown field "x"`},
		{"own parent", change(`77aa0000-0000-4000-8000-000000000003`, `0b5e0000-0000-4000-8000-000000000002`), "its own parent"},
		{"parent twice", change(`[{`, `[{"id":"77aa0000-0000-4000-8000-000000000003","kind":"merge"},{`), "a parent twice"},
		{"parent in two spellings", change(`[{`, `[{"id":"77AA0000-0000-4000-8000-000000000003","kind":"merge"},{`), "a parent twice"},
		{"null", change(`0.35`, `null`), "salience: want a number, got null"},
		{"redacted false", change(`"role"`, `"redacted":false,"role"`), "redacted: want true"},
		{"digest with body", change(`"content"`, `"body_digest":"`+hex64+`","content"`), `"body_digest" is in a line without`},
		{"body with redaction", strings.Replace(lineRedacted, `"role"`, `"content":"x","role"`, 1), `"content" is in a redacted line`},
		{"redacted without digest", strings.Replace(lineRedacted, `"body_digest":"`+hex64+`",`, ``, 1), `"body_digest" is missing`},
		{"redacted without phase", strings.Replace(lineRedacted, `"phase":"synthesis",`, ``, 1), `"phase" is missing`},
		{"lone surrogate", change(`ship`, `\ud800`), "a lone surrogate"},
		{"long content", change(`ship`, strings.Repeat("x", dag.MaxContent)), "content has"},
	} {
		_, err := ReadLine([]byte(tc.line))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", tc.name, err, tc.want)
		}
	}
}

func TestAppendLineRefusesWhatReadLineWould(t *testing.T) {
	good, err := ReadLine([]byte(lineTurn))
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*dag.Draft){
		"no role":       func(d *dag.Draft) { d.Role = 0 },
		"phase 9":       func(d *dag.Draft) { d.Phase = 9 },
		"salience":      func(d *dag.Draft) { d.Salience = dag.One + 1 },
		"time":          func(d *dag.Draft) { d.CreatedAt = -1 },
		"UTF-8":         func(d *dag.Draft) { d.Content = "\xff" },
		"author":        func(d *dag.Draft) { d.Author = "é" },
		"attr":          func(d *dag.Draft) { d.Attrs = map[string]string{"": "x"} },
		"edge kind":     func(d *dag.Draft) { d.Parents[0].Kind = 0 },
		"redacted body": func(d *dag.Draft) { d.Redacted = true },
	} {
		d := good
		d.Parents = append([]dag.Parent(nil), good.Parents...)
		spoil(&d)
		if got, err := AppendLine([]byte("x"), &d); err == nil || string(got) != "x" {
			t.Errorf("%s: got %q and error %v", name, got, err)
		}
	}
}

// anyDraft draws a draft that is fit for admission.
func anyDraft(t *rapid.T) dag.Draft {
	id := rapid.Custom(func(t *rapid.T) (id [16]byte) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		return id
	})
	d := dag.Draft{
		ID:           id.Draw(t, "turn"),
		Conversation: id.Draw(t, "conversation"),
		Role:         dag.Role(rapid.IntRange(1, 4).Draw(t, "role")),
		CreatedAt:    dag.Time(rapid.Int64Range(0, int64(dag.MaxTime)).Draw(t, "time")),
	}
	seen := map[dag.TurnID]bool{d.ID: true}
	for range rapid.IntRange(0, 3).Draw(t, "parents") {
		p := dag.Parent{ID: id.Draw(t, "parent"), Kind: dag.EdgeKind(rapid.IntRange(1, 4).Draw(t, "kind"))}
		if !seen[p.ID] {
			seen[p.ID] = true
			d.Parents = append(d.Parents, p)
		}
	}
	d.Redacted = rapid.Bool().Draw(t, "redacted")
	if d.Redacted || rapid.Bool().Draw(t, "has phase") {
		d.Phase = rapid.SampledFrom(dag.Phases[:]).Draw(t, "phase")
	}
	if d.Redacted || rapid.Bool().Draw(t, "has salience") {
		d.HasSalience, d.Salience = true, dag.PPM(rapid.Uint32Range(0, uint32(dag.One)).Draw(t, "salience"))
	}
	if d.Redacted {
		copy(d.BodyDigest[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		return d
	}
	d.Author = rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "author")
	d.Content = rapid.String().Draw(t, "content")
	for range rapid.IntRange(0, 3).Draw(t, "attrs") {
		setAttr(&d, rapid.StringMatching(`[a-z0-9][a-z0-9_.-]{0,63}`).Draw(t, "key"), rapid.String().Draw(t, "value"), new(counts))
	}
	if rapid.Bool().Draw(t, "has salt") {
		d.Salt = new(dag.Salt)
		copy(d.Salt[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "salt"))
	}
	return d
}

func TestLineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyDraft(t)
		line, err := AppendLine(nil, &want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
		again, err := AppendLine(nil, &got)
		if err != nil || !bytes.Equal(again, line) {
			t.Fatalf("%v\n%s%s", err, line, again)
		}
	})
}

// ownFile writes lines of the project's own format, turn i hanging on turn i-1.
func ownFile(t testing.TB, count, size int, spoil func(i int, line []byte) []byte) string {
	t.Helper()
	var out []byte
	for i := range count {
		d := dag.Draft{
			ID:           dag.ExternalTurnID("test", fmt.Sprint(i)),
			Conversation: dag.ExternalConversationID("test", "c"),
			Role:         dag.RoleUser,
			Phase:        dag.Planning,
			Salience:     350_000,
			HasSalience:  true,
			CreatedAt:    dag.Time(i) * 1e6,
			Author:       "human:user",
			Content:      strings.Repeat("lorem ipsum ", size/12),
			Attrs:        map[string]string{"external_id": fmt.Sprint(i)},
			Salt:         &dag.Salt{byte(i)},
		}
		if i > 0 {
			d.Parents = []dag.Parent{{ID: dag.ExternalTurnID("test", fmt.Sprint(i-1)), Kind: dag.Reply}}
		}
		start := len(out)
		var err error
		if out, err = AppendLine(out, &d); err != nil {
			t.Fatal(err)
		}
		if spoil != nil {
			out = append(out[:start], spoil(i, bytes.Clone(out[start:]))...)
		}
	}
	path := filepath.Join(t.TempDir(), "own.jsonl")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOwnLinesStream(t *testing.T) {
	path := ownFile(t, 2500, 40, func(i int, line []byte) []byte {
		switch {
		case i == 7:
			return append(line, "\n  \n"...)
		case i == 8:
			return append(bytes.TrimSuffix(line, []byte("\n")), "\r\n"...)
		case i == 2499:
			return bytes.TrimSuffix(line, []byte("\n"))
		}
		return line
	})
	var sizes []int
	var told []int64
	n := 0
	report, err := Read(context.Background(), path, Options{Progress: func(done, total int64) { told = append(told, done, total) }}, func(b *Batch) error {
		if !b.Ordered || b.Repeats || b.Source != path {
			t.Errorf("batch %+v", b)
		}
		sizes = append(sizes, len(b.Drafts))
		for i := range b.Drafts {
			if b.Drafts[i].ID != dag.ExternalTurnID("test", fmt.Sprint(n)) {
				t.Fatalf("turn %d is out of order", n)
			}
			line := n + 1
			if n > 7 {
				line += 2
			}
			if want := fmt.Sprintf("%s:%d", path, line); b.Places[i] != want {
				t.Fatalf("place %s, want %s", b.Places[i], want)
			}
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, report)
	if diff := cmp.Diff([]int{1000, 1000, 500}, sizes); diff != "" {
		t.Error(diff)
	}
	if report.Records != 2502 || report.Skipped["empty_line"] != 2 || report.Edges != 2499 {
		t.Errorf("%+v", report)
	}
	info, _ := os.Stat(path)
	if len(told) < 2 || told[len(told)-2] != info.Size() || told[len(told)-1] != info.Size() {
		t.Errorf("progress %v, size %d", told, info.Size())
	}
}

func TestOwnLinesBatchesAreBoundedInBytes(t *testing.T) {
	path := ownFile(t, 12, 1<<20, nil)
	batches := 0
	if _, err := Read(context.Background(), path, Options{}, func(b *Batch) error {
		batches++
		if len(b.Drafts) > 5 {
			t.Errorf("%d MiB in a batch", len(b.Drafts))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if batches != 3 {
		t.Errorf("%d batches", batches)
	}
}

func TestOwnLinesStopAtTheFirstError(t *testing.T) {
	path := ownFile(t, 1500, 40, func(i int, line []byte) []byte {
		if i == 1200 {
			return bytes.Replace(line, []byte(`"role":"user"`), []byte(`"role":"boss"`), 1)
		}
		return line
	})
	drafts, report, err := tryCollect(t, path, Options{Format: JSONL})
	var line *LineError
	if !errors.As(err, &line) || line.Line != 1201 || line.Path != path {
		t.Fatalf("got %v", err)
	}
	if want := `role: malformed: role "boss"`; !strings.Contains(err.Error(), want) || !errors.Is(err, dag.ErrForm) {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(drafts) != 1200 || report.Turns != 1200 {
		t.Errorf("%d drafts before the error, report %+v", len(drafts), report)
	}
}

func TestOwnLinesEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if drafts, report := collect(t, path, Options{Format: JSONL}); len(drafts) != 0 || report.Records != 0 {
		t.Errorf("%+v", report)
	}
	if _, _, err := tryCollect(t, path, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
}

func TestLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte("12345\n123456789\r\n1234567890\n12345678901\nxy"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := openLines(context.Background(), new(tree), path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	in.most = 10
	in.in.Reset(in.file)
	var got []string
	for {
		line, err := in.next()
		if err != nil && !errors.Is(err, errLongLine) {
			break
		}
		got = append(got, fmt.Sprintf("%d %s %v", in.number, line, err))
	}
	want := []string{"1 12345 <nil>", "2 123456789 <nil>", "3 1234567890 <nil>", "4  " + errLongLine.Error(), "5 xy <nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOwnLinesLeaveNoGoroutine stops an import in every way there is.
func TestOwnLinesLeaveNoGoroutine(t *testing.T) {
	path := ownFile(t, 5000, 40, nil)
	before := runtime.NumGoroutine()
	stop := errors.New("stop")
	for _, tc := range []struct {
		name string
		emit func(cancel func()) error
		want error
	}{
		{"emit fails", func(func()) error { return stop }, stop},
		{"context ends", func(cancel func()) error { cancel(); return nil }, context.Canceled},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		report, err := Read(ctx, path, Options{}, func(*Batch) error { calls++; return tc.emit(cancel) })
		cancel()
		if !errors.Is(err, tc.want) || calls != 1 {
			t.Errorf("%s: got %v after %d calls", tc.name, err, calls)
		}
		checkAccounts(t, report)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func BenchmarkReadOwnLines(b *testing.B) {
	const count = 20_000
	path := ownFile(b, count, 240, nil)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, err := Read(context.Background(), path, Options{Format: JSONL}, func(batch *Batch) error { n += len(batch.Drafts); return nil }); err != nil || n != count {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(float64(info.Size())/count, "bytes/line")
}

func BenchmarkReadLine(b *testing.B) {
	line := []byte(lineTurn)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadLine(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendLine(b *testing.B) {
	d, err := ReadLine([]byte(lineTurn))
	if err != nil {
		b.Fatal(err)
	}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		if line, err = AppendLine(line[:0], &d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssign(b *testing.B) {
	d, err := ReadLine([]byte(lineTurn))
	if err != nil {
		b.Fatal(err)
	}
	d.Content = strings.Repeat("why does the test fail, and what should we fix first? ", 12)
	b.ReportAllocs()
	for b.Loop() {
		c := d
		c.Phase, c.HasSalience = 0, false
		if err := Assign(&c); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReadLineExponents reads saliences as programs write them, and writes them in the
// one way that is in exports.
func TestReadLineExponents(t *testing.T) {
	line := func(salience string) []byte {
		return []byte(`{"author":"human:guest","content":"x","conversation":"6a2f0000-0000-4000-8000-000000000001","created_at":"2026-01-02T03:04:05Z","id":"0b5e0000-0000-4000-8000-000000000002","role":"user","salience":` + salience + `}`)
	}
	for written, want := range map[string]string{"1e-06": "0.000001", "3.5E-1": "0.35", "1e0": "1", "0e-7": "0", "0.5000000": "0.5"} {
		d, err := ReadLine(line(written))
		if err != nil || d.Salience.String() != want {
			t.Errorf("%s: %s, %v", written, d.Salience, err)
			continue
		}
		if out, err := AppendLine(nil, &d); err != nil || !strings.Contains(string(out), `"salience":`+want+"}") {
			t.Errorf("%s: written as %s, %v", written, out, err)
		}
	}
	for _, bad := range []string{"1e-7", "1e1", "-1e-3", `"0.5"`} {
		if _, err := ReadLine(line(bad)); err == nil || !strings.Contains(err.Error(), "salience") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
