package ingest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/graphkernel/graphkernel/dag"
)

// zipOf returns an archive of files, given as name and text in turn.
func zipOf(t testing.TB, namesAndTexts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(namesAndTexts); i += 2 {
		f, err := w.Create(namesAndTexts[i])
		if err == nil {
			_, err = f.Write([]byte(namesAndTexts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipOf(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readTestFile(t testing.TB, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestArchivesAreFolders packs a folder with sub-agents and files of every kind. The archive gives
// the turns and the counts of the folder.
func TestArchivesAreFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "claude"))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"chat.json": readTestFile(t, "chatgpt.json"), "runs.json": readTestFile(t, "openai", "runs.json"), "notes.md": "no format", ".hidden": lineTurn, "void": " \n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var pairs []string
	if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		pairs = append(pairs, strings.TrimPrefix(path, dir+"/"), string(text))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want, report := collect(t, dir, Options{})
	archive := write(t, "export.zip", string(zipOf(t, pairs...)))
	got, packed := collect(t, archive, Options{})
	if len(want) == 0 || cmp.Diff(want, got) != "" {
		t.Errorf("%d turns of the folder, %d of the archive: %s", len(want), len(got), cmp.Diff(want, got))
	}
	if diff := cmp.Diff(report.Skipped, packed.Skipped); diff != "" {
		t.Error(diff)
	}
	if packed.Skipped["empty_file"] != 1 || packed.Skipped["unknown_format"] != 1 {
		t.Errorf("skipped %v", packed.Skipped)
	}
	for _, f := range packed.Files {
		if !strings.HasPrefix(f.Path, archive+"/") {
			t.Errorf("the file %s is not told to be in the archive", f.Path)
		}
	}

	// The archive in a folder is left out, and named.
	var skipped []Skip
	outer := filepath.Dir(archive)
	if err := os.WriteFile(filepath.Join(outer, "own.jsonl"), []byte(lineTurn), 0o600); err != nil {
		t.Fatal(err)
	}
	collect(t, outer, Options{Skipped: func(s Skip) { skipped = append(skipped, s) }})
	if diff := cmp.Diff([]Skip{{Path: archive, Records: 1, Reason: "archive"}}, skipped); diff != "" {
		t.Error(diff)
	}
}

// TestGzipAndStdin gives each sample plain, packed, and by standard input: the turns are the same, but for
// those whose ids are derived from a file's name, which standard input does not have.
func TestGzipAndStdin(t *testing.T) {
	for _, elem := range [][]string{{"chatgpt.json"}, {"commits.jsonl"}, {"openai", "runs.json"}, {"claude", claudeFixture + ".jsonl"}} {
		text := readTestFile(t, elem...)
		name := elem[len(elem)-1]
		want, _ := collect(t, write(t, name, text), Options{})
		packed, _ := collect(t, write(t, name+".gz", string(gzipOf(t, text))), Options{})
		if diff := cmp.Diff(want, packed); len(want) == 0 || diff != "" {
			t.Errorf("%s.gz, %d turns: %s", name, len(want), diff)
		}
		packed, _ = collect(t, write(t, name+".zst", string(zstdOf(t, text))), Options{})
		if diff := cmp.Diff(want, packed); diff != "" {
			t.Errorf("%s.zst: %s", name, diff)
		}
		for _, in := range []string{text, string(gzipOf(t, text)), string(zipOf(t, name, text))} {
			got, _ := collect(t, Stdin, Options{Stdin: strings.NewReader(in)})
			if len(got) != len(want) || got[0].Content != want[0].Content {
				t.Fatalf("%s by standard input: %d turns, want %d", name, len(got), len(want))
			}
			if got[0].ID != want[0].ID && !strings.HasPrefix(got[0].Attrs[dag.AttrExternalID], "sha256-") {
				t.Errorf("%s by standard input: %v", name, got[0])
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "graphkernel-import-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestManyPaths reads a session and its sub-agents' files, given by name in any order: they are joined as in
// their folder.
func TestManyPaths(t *testing.T) {
	dir := filepath.Join("testdata", "claude")
	agents, err := filepath.Glob(filepath.Join(dir, "*", "subagents", "*.jsonl"))
	if err != nil || len(agents) == 0 {
		t.Fatal(agents, err)
	}
	want, report := collect(t, dir, Options{})
	var got []dag.Draft
	read, err := ReadAll(context.Background(), append(agents, filepath.Join(dir, claudeFixture+".jsonl")), Options{}, func(b *Batch) error {
		got = append(got, b.Drafts...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, read)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(report.Skipped, read.Skipped); diff != "" {
		t.Error(diff)
	}
	if _, err := ReadAll(context.Background(), []string{Stdin, Stdin}, Options{Stdin: strings.NewReader(lineTurn)}, nil); err == nil {
		t.Error("standard input is read twice")
	}
}

// TestNothingIsReadBeforeAllIsKnown gives a good path before a bad one: nothing is handed over.
func TestNothingIsReadBeforeAllIsKnown(t *testing.T) {
	good := write(t, "good.jsonl", lineTurn)
	folder := t.TempDir()
	for name, bad := range map[string]string{
		"no such file": filepath.Join(folder, "absent"), "cannot be read": write(t, "broken.zip", "PK\x03\x04 and no more"),
	} {
		for _, format := range []Format{"", JSONL} {
			_, err := ReadAll(context.Background(), []string{good, bad}, Options{Format: format}, func(*Batch) error {
				t.Errorf("%s: something is handed over", name)
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestUnknownAmongOthers gives what is of no known format between files that are: these are read, and it is named and counted. Without them it is an error, and nothing is handed over.
func TestUnknownAmongOthers(t *testing.T) {
	own := func(n string) string { return strings.ReplaceAll(lineTurn, "0b5e", n) }
	first, last := write(t, "first.jsonl", own("0b5e")), write(t, "last.jsonl", `{"role":"user","content":"x"}`)
	ambiguous := `{"id":"c","conversation":"c","role":"user","created_at":"x","messages":[]}` + "\n" + `{"role":"user","content":"x"}` + "\n"
	folder, mixed := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.jsonl": ambiguous, "b.jsonl": own("0b5e")} {
		if err := os.WriteFile(filepath.Join(mixed, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, unknown := range map[string]string{
		"of no known format": write(t, "notes.md", "no format"), "is empty": write(t, "void", "\n \t"), "there is no file in": folder, "could be": mixed,
	} {
		var drafts []dag.Draft
		report, err := ReadAll(context.Background(), []string{first, unknown, last}, Options{}, func(b *Batch) error {
			drafts = append(drafts, b.Drafts...)
			return nil
		})
		checkAccounts(t, report)
		if err != nil || len(drafts) < 2 || len(report.Unknown) != 1 || !errors.Is(report.Unknown[0], ErrFormat) || !strings.Contains(report.Unknown[0].Error(), name) {
			t.Errorf("%s: %d turns, unknown %v, %v", name, len(drafts), report.Unknown, err)
		}
		if name == "could be" {
			continue
		}
		if _, err := ReadAll(context.Background(), []string{unknown}, Options{}, func(*Batch) error { t.Error("something is handed over"); return nil }); !errors.Is(err, ErrFormat) {
			t.Errorf("%s alone: %v", name, err)
		}
	}
}

// TestFolderOfLinks says why nothing of a folder is read that has links to files alone.
func TestFolderOfLinks(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "b.jsonl")
	if err := os.Symlink(write(t, "b.jsonl", lineTurn), link); err != nil {
		t.Skip(err)
	}
	if _, err := Read(t.Context(), folder, Options{}, func(*Batch) error { return nil }); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "only links to files") || !strings.Contains(err.Error(), link) {
		t.Errorf("of links alone: %v", err)
	}
	if drafts, _ := collect(t, link, Options{}); len(drafts) == 0 {
		t.Error("a link that is named is not read")
	}
}

func zstdOf(t testing.TB, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// TestPackedInFolders has packed files in a folder, and in an archive of the folder: each is read as what it holds, once. One that is damaged is named, what is whole in it is kept, and the other files are read.
func TestPackedInFolders(t *testing.T) {
	codex := func(n int) (name, text string) {
		id := fmt.Sprintf("019c2e5f-0039-7ad1-b1e3-7e394b46000%d", n)
		return "rollout-2026-03-01T10-00-00-" + id + ".jsonl", `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"` + id + `","cwd":"/srv"}}` + "\n" +
			`{"timestamp":"2026-03-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q` + fmt.Sprint(n) + `"}]}}` + "\n"
	}
	for ext, pack := range map[string]func(testing.TB, string) []byte{".gz": gzipOf, ".zst": zstdOf} {
		plain, packed := t.TempDir(), t.TempDir()
		for n := range 3 {
			name, text := codex(n)
			files := map[string][]byte{filepath.Join(plain, name): []byte(text), filepath.Join(packed, name+ext): pack(t, text)}
			if n == 1 {
				files[filepath.Join(packed, name)] = []byte(text)
			}
			for path, data := range files {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			alone, _ := collect(t, filepath.Join(packed, name+ext), Options{})
			if len(alone) != 1 {
				t.Errorf("%s alone: %d turns", ext, len(alone))
			}
		}
		want, _ := collect(t, plain, Options{})
		for _, path := range []string{packed, zipOfFolder(t, packed)} {
			got, report := collect(t, path, Options{})
			if dump(got) != dump(want) || len(want) != 3 || report.Skipped["packed_copy"] != 1 {
				t.Errorf("%s in %s: %d turns, want %d; skipped %v", ext, path, len(got), len(want), report.Skipped)
			}
		}
		name, text := codex(4)
		noise := make([]byte, 300_000)
		rand.New(rand.NewSource(1)).Read(noise) // so that it has more than one block
		damaged := pack(t, text+text[strings.Index(text, "\n")+1:]+`{"timestamp":"x","type":"event_msg","payload":{"noise":"`+hex.EncodeToString(noise)+`"}}`+"\n")
		for cut, turns := range map[int]int{8: 3, len(damaged) - 9: 4} {
			if err := os.WriteFile(filepath.Join(packed, name+ext), damaged[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{packed, zipOfFolder(t, packed)} {
				got, report := collect(t, path, Options{})
				if len(got) < turns || report.Skipped["broken_packed"] != 1 || len(report.Broken) != 1 || !strings.Contains(report.Broken[0].String(), name) {
					t.Errorf("%s in %s cut at %d: %d turns, want %d; skipped %v, broken %v", ext, path, cut, len(got), turns, report.Skipped, report.Broken)
				}
			}
			if _, err := Read(context.Background(), filepath.Join(packed, name+ext), Options{Format: Codex}, func(*Batch) error { return nil }); !errors.Is(err, ErrArchive) {
				t.Errorf("%s alone: %v", ext, err)
			}
		}
	}
}

// zipOfFolder packs the files of a folder into an archive.
func zipOfFolder(t *testing.T, folder string) string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return zipped(t, files)
}

// TestBombs refuses archives that would not end.
func TestBombs(t *testing.T) {
	long := strings.Repeat("0", freeExpansion+freeExpansion/2)
	many := make([]string, 0, 2*(MaxMembers+1))
	for range MaxMembers + 1 {
		many = append(many, "x", "")
	}
	for name, archive := range map[string][]byte{
		"bomb.gz":  gzipOf(t, "["+long),
		"bomb.zst": zstdOf(t, "["+long),
		"bomb.zip": zipOf(t, "a.json", "["+long),
		"many.zip": zipOf(t, many...),
	} {
		_, _, err := tryCollect(t, write(t, name, string(archive)), Options{Format: OpenAI})
		if !errors.Is(err, ErrArchive) || !strings.Contains(err.Error(), "an import unpacks at most") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A directory that says less than there is.
	lying := zipOf(t, "a.json", "["+strings.Repeat("1,", 5000)+"1]")
	at := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	lying[at+24], lying[at+25], lying[at+26] = 10, 0, 0 // its uncompressed size
	if _, _, err := tryCollect(t, write(t, "lying.zip", string(lying)), Options{Format: OpenAI}); !errors.Is(err, ErrArchive) {
		t.Errorf("lying: %v", err)
	}
	twice := zipOf(t, "a.json", "[]", "./a.json", "[]")
	if _, _, err := tryCollect(t, write(t, "twice.zip", string(twice)), Options{Format: OpenAI}); !errors.Is(err, ErrArchive) {
		t.Errorf("twice: %v", err)
	}
}

// TestMangledArchives changes every byte of an archive: there is no panic, and the accounts are exact.
func TestMangledArchives(t *testing.T) {
	path := write(t, "a", "")
	refused := 0
	for _, archive := range [][]byte{zipOf(t, "a.jsonl", lineTurn, "b.json", `[{"role":"user","content":"x"}]`), gzipOf(t, lineTurn), zstdOf(t, lineTurn)} {
		for i := range archive {
			mangled := bytes.Clone(archive)
			mangled[i] ^= 0x55
			if err := os.WriteFile(path, mangled, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := tryCollect(t, path, Options{}); err != nil {
				refused++
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d mangled archives are refused", refused)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(zipOf(f, "a.jsonl", lineTurn, "d/b.json", `[{"role":"user","content":"x"}]`))
	f.Add(gzipOf(f, lineTurn))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, _ = tryCollect(t, Stdin, Options{Stdin: bytes.NewReader(text)})
	})
}

// TestNoFile gives what a reader could wait for without end.
func TestNoFile(t *testing.T) {
	pipe := makePipe(t)
	done := make(chan error, 1)
	go func() {
		_, err := Read(context.Background(), pipe, Options{}, nil)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, ErrNotFile) || !strings.Contains(err.Error(), "is a named pipe") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for somebody to write")
	}
	if err := Check(os.DevNull); !errors.Is(err, ErrNotFile) || !strings.Contains(err.Error(), "is a device") {
		t.Error(err)
	}
}
