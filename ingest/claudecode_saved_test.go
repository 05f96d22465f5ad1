package ingest

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// A namedResult is a session with a result that names a file, and what becomes of the file.
type namedResult struct {
	name    string
	file    string            // what it is called in SESSION/tool-results; "" if it is not there
	text    string            // what is in it
	result  string            // what the result says; %s is the path of SESSION
	more    string            // members of the record
	links   map[string]string // links, by where they are below the project's folder, and where they lead
	lost    string            // why the file is not read; "": it is
	onDisk  bool              // an archive has no such thing
	content string            // of the turn, if not the text
}

func tooLargeResults() []namedResult {
	says := func(path string) string {
		return "<persisted-output>\nOutput too large (90KB). Full output saved to: " + path + "\n\nPreview (first 2KB):\nstep 1\n</persisted-output>"
	}
	const name, all = "toolu_1.txt", "step 1\nstep 2\nan error"
	at := "%s/tool-results/"
	return []namedResult{
		{name: "a text", file: name, text: all, result: says(at + name)},
		{name: "another extension", file: "mcp-db-query-1.json", text: `[{"role":"user","content":"delete the carts"}]`, result: "Error: result (90,000 characters) exceeds maximum allowed tokens. Output has been saved to " + at + "mcp-db-query-1.json.\nFormat: JSON"},
		{name: "no extension", file: "b7", text: all, result: says(at + "b7")},
		{name: "what looks like a transcript", file: "x.jsonl", text: claudeLine(1, 0, "user", `{"role":"user","content":"delete the carts"}`), result: says(at + "x.jsonl")},
		{name: "named by the structured result", file: name, text: all, result: "step 1", more: `,"toolUseResult":{"stdout":"step 1","persistedOutputPath":"/elsewhere/` + sessionU + `/tool-results/` + name + `"}`},
		{name: "on another system", file: name, text: all, result: says(`C:\Users\me\.claude\projects\p\` + sessionU + `\tool-results\` + name)},
		{name: "bytes that are no text", file: name, text: "a\xffb", result: says(at + name), content: "a\uFFFDb"},
		{name: "empty", file: name, text: "", result: says(at + name)},
		{name: "a secret", file: name, text: "key: " + planted(1), result: says(at + name), content: "key: [secret:"},

		{name: "missing", result: says(at + name), lost: "missing"},
		{name: "of a system file", file: "passwd", text: all, result: says("/etc/passwd"), lost: "elsewhere"},
		{name: "of another session", file: name, text: all, result: says("/p/5e550000-0000-4000-8000-000000000000/tool-results/" + name), lost: "elsewhere"},
		{name: "of another folder", file: name, text: all, result: says("%s/subagents/" + name), lost: "elsewhere"},
		{name: "through the folder above", file: name, text: all, result: says(at + ".."), lost: "elsewhere"},
		{name: "below", file: name, text: all, result: says(at + "more/" + name), lost: "elsewhere"},
		{name: "hidden", file: ".netrc", text: all, result: says(at + ".netrc"), lost: "elsewhere"},
		{name: "binary", file: name, text: "PK\x03\x04\x00\x00", result: says(at + name), lost: "binary"},
		{name: "too large", file: name, text: strings.Repeat("x", dag.MaxContent), result: says(at + name), lost: "too_large"},
		{name: "a link", result: says(at + name), links: map[string]string{sessionU + "/tool-results/" + name: "outside/" + name}, lost: "link", onDisk: true},
		{name: "a link within", file: "other.txt", text: all, result: says(at + name), links: map[string]string{sessionU + "/tool-results/" + name: sessionU + "/tool-results/other.txt"}, lost: "link", onDisk: true},
		{name: "a folder that is a link", result: says(at + name), links: map[string]string{sessionU + "/tool-results": "outside"}, lost: "link", onDisk: true},
		{name: "a session's folder that is a link", result: says(at + name), links: map[string]string{sessionU: "outside"}, lost: "link", onDisk: true},
		{name: "a folder in its place", result: says(at + name), links: map[string]string{sessionU + "/tool-results/" + name + "/x": "outside"}, lost: "missing", onDisk: true},
	}
}

// sessionFiles writes the session: a prompt, a call, its result and an answer.
func (tc *namedResult) sessionFiles() map[string]string {
	var s transcript
	s.said("p1", "", "Build it.")
	s.add(`"type":"assistant","uuid":"a1","parentUuid":"p1","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}`)
	s.add(`"type":"user","uuid":"r1","parentUuid":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":%s}]}%s`, quoted(strings.ReplaceAll(tc.result, "%s", "/home/me/.claude/projects/p/"+sessionU)), tc.more)
	s.add(`"type":"assistant","uuid":"a2","parentUuid":"r1","message":{"id":"m2","content":[{"type":"text","text":"It is built."}]}`)
	files := map[string]string{sessionU + ".jsonl": s.text(), "outside/toolu_1.txt": "of somebody else", "outside/tool-results/toolu_1.txt": "of somebody else"}
	if tc.file != "" {
		files[sessionU+"/tool-results/"+tc.file] = tc.text
	}
	return files
}

func (tc *namedResult) layOut(t *testing.T) string {
	t.Helper()
	dir := layOut(t, tc.sessionFiles())
	for at, to := range tc.links {
		at = filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(to)), at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSavedResults reads each in a folder, by the one file that a hook names, and in an archive.
func TestSavedResults(t *testing.T) {
	for _, tc := range tooLargeResults() {
		check := func(t *testing.T, path string) {
			t.Helper()
			drafts, report := collect(t, path, Options{Secrets: screenBy(secrets.Redact)})
			result, at := (*dag.Draft)(nil), byID(drafts)
			if result = at[id("r1")]; result == nil || result.Author != "tool:Bash" {
				t.Fatalf("the result is not there, or not the tool's: %s", dump(drafts))
			}
			var saved *dag.Draft
			for i := range drafts {
				d := &drafts[i]
				if strings.Contains(d.Content, "of somebody else") {
					t.Errorf("it was read through a link: %s", dump([]dag.Draft{*d}))
				}
				if VoiceOf(d) == dag.VoicePerson && d.ID != id("p1") {
					t.Errorf("a person says what a tool wrote: %s", dump([]dag.Draft{*d}))
				}
				if d.Attrs[AttrSavedAs] != "" {
					saved = d
				}
			}
			if tc.lost != "" {
				if saved != nil || result.Attrs[attrSavedLost] != tc.lost || report.Noted[savedLost+tc.lost] != 1 || len(drafts) != 4 {
					t.Errorf("want it noted as %s: %s%v", tc.lost, dump(drafts), report.Noted)
				}
				return
			}
			want := "[tool_result]\n" + tc.text
			if tc.content != "" {
				want = "[tool_result]\n" + tc.content
			}
			if saved == nil || !strings.HasPrefix(saved.Content, want) || saved.Author != "tool:Bash" || saved.Role != dag.RoleTool || saved.Attrs[AttrSavedAs] != tc.file ||
				len(saved.Parents) != 1 || saved.Parents[0].ID != result.ID || saved.Conversation != result.Conversation {
				t.Errorf("got\n%swant %.80q by tool:Bash below the result", dump(drafts), want)
			}
			if len(drafts) != 5 || result.Attrs[attrSavedLost] != "" || at[id("a2")].Parents[0].ID != result.ID || len(at[id("a2")].Parents) != 2 {
				t.Errorf("the conversation is not what the model saw: %s", dump(drafts))
			}
		}
		t.Run(tc.name, func(t *testing.T) {
			check(t, filepath.Join(tc.layOut(t), sessionU+".jsonl"))
			if tc.onDisk {
				return
			}
			files := tc.sessionFiles()
			delete(files, "outside/toolu_1.txt")
			delete(files, "outside/tool-results/toolu_1.txt")
			for _, path := range []string{layOut(t, files), zipped(t, files)} {
				check(t, path)
				want := 0 // of files that no result has
				if tc.lost != "" && tc.lost != "missing" && !strings.HasPrefix(tc.file, ".") {
					want = 1
				}
				if _, report := collect(t, path, Options{}); report.Skipped[skipSavedResult] != want {
					t.Errorf("%d files are left out, want %d", report.Skipped[skipSavedResult], want)
				}
			}
		})
	}
}

// TestSavedResultOfOthers has a prompt and an assistant's message that name such a file, and files of tools that no result names.
func TestSavedResultOfOthers(t *testing.T) {
	names := "<persisted-output>\nFull output saved to: /p/" + sessionU + "/tool-results/toolu_1.txt\n</persisted-output>"
	var s transcript
	s.add(`"type":"user","uuid":"p1","parentUuid":null,"message":{"content":%s}`, quoted(names))
	s.add(`"type":"assistant","uuid":"a1","parentUuid":"p1","message":{"id":"m1","content":[{"type":"text","text":%s}]}`, quoted(names))
	files := map[string]string{sessionU + ".jsonl": s.text()}
	for _, name := range []string{"toolu_1.txt", "a.json", "b.jsonl"} {
		files[sessionU+"/tool-results/"+name] = `{"type":"user","uuid":"x","sessionId":"x","message":{"content":"delete the carts"}}`
	}
	for _, path := range []string{layOut(t, files), zipped(t, files)} {
		if drafts, report := collect(t, path, Options{}); len(drafts) != 2 || report.Skipped[skipSavedResult] != 3 {
			t.Errorf("%s%v", dump(drafts), report.Skipped)
		}
	}
	lone := maps.Clone(files) // without its session
	delete(lone, sessionU+".jsonl")
	lone["notes.jsonl"] = claudeLine(1, 0, "user", `{"role":"user","content":"Hi."}`)
	if drafts, report := collect(t, layOut(t, lone), Options{}); len(drafts) != 1 || report.Skipped[skipSavedResult] != 3 {
		t.Errorf("%s%v", dump(drafts), report.Skipped)
	}
}

// TestSavedResultComesLater imports a session before its result was saved, after that, and after the file was removed: the turns that were there stay, and the late one comes once.
func TestSavedResultComesLater(t *testing.T) {
	tc := tooLargeResults()[0]
	dir := tc.layOut(t)
	session, saved := filepath.Join(dir, sessionU+".jsonl"), filepath.Join(dir, sessionU, "tool-results", tc.file)
	with, _ := collect(t, session, Options{})
	again, _ := collect(t, session, Options{})
	if dump(with) != dump(again) {
		t.Error("a second import gives other turns")
	}
	if err := os.WriteFile(saved, []byte("another text"), 0o600); err != nil {
		t.Fatal(err)
	}
	other, _ := collect(t, session, Options{})
	for i := range other {
		if byID(with)[other[i].ID] == nil {
			t.Errorf("the id of a turn follows from the text of a file: %s", dump(other[i:i+1]))
		}
	}
	if err := os.Remove(saved); err != nil {
		t.Fatal(err)
	}
	without, _ := collect(t, session, Options{})
	at := byID(with)
	if len(with) != 5 || len(without) != 4 {
		t.Fatalf("%d and %d turns", len(with), len(without))
	}
	for i := range without {
		if d := &without[i]; at[d.ID] == nil || sumBody(at[d.ID]) != sumBody(d) {
			t.Errorf("another turn without the file: %s", dump([]dag.Draft{*d}))
		}
	}
}
