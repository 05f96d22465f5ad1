package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphkernel/graphkernel/dag"
)

func TestChatGPT(t *testing.T) {
	drafts, report := collect(t, filepath.Join("testdata", "chatgpt.json"), Options{})
	golden(t, "chatgpt.txt", dump(drafts))
	want := map[string]int{"no_message": 1, "empty_message": 1, "unknown_role": 1, "parent_cycle": 2, "broken_conversation": 1, "repeated": 1}
	if diff := cmp.Diff(want, report.Skipped); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
	want = map[string]int{"image_data": 2, "audio_data": 3, "attachment_data": 1, "time_inferred": 5, "parent_missing": 1, "lone_surrogate": 1}
	if diff := cmp.Diff(want, report.Noted); diff != "" {
		t.Errorf("noted: %s", diff)
	}
}

// TestChatGPTGrows takes nodes off the tree, leaves first: the rest stays what it was.
func TestChatGPTGrows(t *testing.T) {
	chat := func(n int) string {
		nodes := []string{
			`"a0000000-0000-4000-8000-000000000000":{"parent":null,"message":null}`,
			`"a0000001-0000-4000-8000-000000000000":{"parent":"a0000000-0000-4000-8000-000000000000","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["q"]}}}`,
			`"a0000002-0000-4000-8000-000000000000":{"parent":"a0000001-0000-4000-8000-000000000000","message":{"author":{"role":"assistant"},"create_time":1700000001,"content":{"content_type":"text","parts":["a"]}}}`,
			`"a0000003-0000-4000-8000-000000000000":{"parent":"a0000001-0000-4000-8000-000000000000","message":{"author":{"role":"assistant"},"create_time":1700000002,"content":{"content_type":"text","parts":["b"]}}}`,
			`"a0000004-0000-4000-8000-000000000000":{"parent":"a0000003-0000-4000-8000-000000000000","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["c"]}}}`,
		}
		return `{"create_time":1700000000,"id":"c0000001-0000-4000-8000-000000000000","mapping":{` + strings.Join(nodes[:n], ",") + `}}`
	}
	final, _ := collect(t, write(t, "c.json", chat(5)), Options{})
	if len(final) != 4 {
		t.Fatalf("%d turns", len(final))
	}
	for n := 1; n <= 5; n++ {
		drafts, _ := collect(t, write(t, "c.json", chat(n)), Options{})
		if len(drafts) != n-1 {
			t.Errorf("%d turns of %d nodes", len(drafts), n)
		}
		if diff := cmp.Diff(final[:len(drafts)], drafts, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d nodes: %s", n, diff)
		}
	}
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenAI(t *testing.T) {
	var out strings.Builder
	for _, tc := range []struct {
		name    string
		skipped map[string]int
	}{
		{"runs.json", map[string]int{"unknown_role": 1, "malformed_record": 2}},
		{"list.json", map[string]int{}},
		{"lines.jsonl", map[string]int{"empty_line": 1, "broken_line": 1}},
	} {
		drafts, report := collect(t, filepath.Join("testdata", "openai", tc.name), Options{})
		out.WriteString("# " + tc.name + "\n" + dump(drafts))
		if diff := cmp.Diff(tc.skipped, report.Skipped); diff != "" {
			t.Errorf("%s: skipped: %s", tc.name, diff)
		}
		if tc.name == "runs.json" {
			want := map[string]int{"time_inferred": len(drafts) - 1, "call_missing": 1, "image_data": 1, "audio_data": 1}
			if diff := cmp.Diff(want, report.Noted); diff != "" {
				t.Errorf("noted: %s", diff)
			}
		}
	}
	golden(t, "openai.txt", out.String())
}

// TestBrokenDocuments cuts documents at every byte.
func TestBrokenDocuments(t *testing.T) {
	for name, format := range map[string]Format{"chatgpt.json": ChatGPT, "claude-ai.json": ClaudeAI, filepath.Join("openai", "runs.json"): OpenAI} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.TrimSpace(text)
		broken := 0
		path := write(t, "cut.json", "")
		for n := 1; n < len(text); n += 7 {
			if err := os.WriteFile(path, text[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			_, report := collect(t, path, Options{Format: format})
			broken += report.Skipped["broken_document"]
		}
		if want := (len(text) + 5) / 7; broken != want {
			t.Errorf("%s: %d of %d cuts seen", name, broken, want)
		}
	}
}

func TestCommitLines(t *testing.T) {
	drafts, report := collect(t, filepath.Join("testdata", "commits.jsonl"), Options{})
	golden(t, "commits.txt", dump(drafts))
	want := map[string]int{"repeated": 1, "malformed_record": 1, "broken_line": 1, "empty_line": 1}
	if diff := cmp.Diff(want, report.Skipped); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
	want = map[string]int{"field_ignored": 1, "time_inferred": 1, "parent_missing": 1}
	if diff := cmp.Diff(want, report.Noted); diff != "" {
		t.Errorf("noted: %s", diff)
	}
}

// A gitRepo is a repository made for a test.
type gitRepo struct {
	t     *testing.T
	dir   string
	clock int
}

func newGitRepo(t *testing.T) *gitRepo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	g := &gitRepo{t: t, dir: filepath.Join(t.TempDir(), "repo")}
	g.run("", "init", "-q", "-b", "main", g.dir)
	return g
}

func (g *gitRepo) run(dir string, args ...string) string {
	g.t.Helper()
	if dir == "" {
		dir = filepath.Dir(g.dir)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	g.clock++
	date := "@" + string(rune('1'+g.clock/10)) + "70000000" + string(rune('0'+g.clock%10)) + " +0100"
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME=Zoé Example", "GIT_AUTHOR_EMAIL=zoe@example.org", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (g *gitRepo) commit(message string) string {
	g.t.Helper()
	g.run(g.dir, "commit", "-q", "--allow-empty", "-m", message)
	return g.run(g.dir, "rev-parse", "HEAD")
}

func TestGit(t *testing.T) {
	g := newGitRepo(t)
	root := g.commit("Begin\n\nWith a body.")
	g.run(g.dir, "checkout", "-q", "-b", "side")
	side := g.commit("fix: a bug")
	g.run(g.dir, "checkout", "-q", "main")
	main := g.commit("Go on")
	g.run(g.dir, "merge", "-q", "--no-ff", "-m", "Merge side", "side")
	merge := g.run(g.dir, "rev-parse", "HEAD")
	// A signed commit and a configuration that would run a program to check it.
	raw := g.run(g.dir, "cat-file", "commit", merge)
	head, body, _ := strings.Cut(raw, "\n\n")
	signed := write(t, "commit", head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n"+body+"\n")
	merge = g.run(g.dir, "hash-object", "-t", "commit", "-w", signed)
	g.run(g.dir, "update-ref", "refs/heads/main", merge)
	marker := filepath.Join(t.TempDir(), "ran")
	program := write(t, "gpg", "#!/bin/sh\ntouch '"+marker+"'\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	g.run(g.dir, "config", "log.showSignature", "true")
	g.run(g.dir, "config", "gpg.program", program)
	g.run(g.dir, "config", "core.hooksPath", "hooks")

	drafts, report := collect(t, g.dir, Options{})
	if len(drafts) != 4 || report.Records != 4 || len(report.Files) != 1 || report.Files[0].Format != Git {
		t.Fatalf("%+v", report)
	}
	id := func(hash string) dag.TurnID { return dag.ExternalTurnID("git", hash) }
	at := byID(drafts)
	if d := at[id(root)]; d == nil || d.Content != "Begin\n\nWith a body." || d.Author != "human:Zo%C3%A9 Example" || d.Attrs["external_id"] != root {
		t.Errorf("root %+v", d)
	}
	want := []dag.Parent{{ID: id(main), Kind: dag.Reply}, {ID: id(side), Kind: dag.Merge}}
	if d := at[id(merge)]; d == nil || cmp.Diff(want, d.Parents) != "" || d.Attrs["merge"] != "true" {
		t.Errorf("merge %+v", d)
	}
	for i := range drafts {
		if drafts[i].Conversation != dag.ExternalConversationID("git", root) {
			t.Errorf("conversation of %s is not named by the root", drafts[i].Attrs["external_id"])
		}
		if drafts[i].CreatedAt < 1e12 {
			t.Errorf("time %s", drafts[i].CreatedAt)
		}
	}

	if _, err := os.Stat(marker); err == nil {
		t.Error("the import ran a program that the repository names")
	}

	// A folder inside, and later: the same drafts, and one more.
	inside := filepath.Join(g.dir, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	g.commit("Later")
	again, report := collect(t, inside, Options{Format: Git})
	if len(again) != 5 {
		t.Fatalf("%d turns, %+v", len(again), report)
	}
	if diff := cmp.Diff(drafts, again[:4]); diff != "" {
		t.Error(diff)
	}

	shallow := filepath.Join(filepath.Dir(g.dir), "shallow")
	g.run("", "clone", "-q", "--depth", "2", "file://"+g.dir, shallow)
	cut, report := collect(t, shallow, Options{})
	if len(cut) == 0 || report.Noted["parent_missing"] == 0 {
		t.Errorf("%d turns, noted %v", len(cut), report.Noted)
	}
	for i := range cut {
		if d := at[cut[i].ID]; d != nil && d.Content != cut[i].Content {
			t.Errorf("the shallow clone gives another turn %s", d.ID)
		}
	}

	bare := filepath.Join(filepath.Dir(g.dir), "bare.git")
	g.run("", "clone", "-q", "--bare", g.dir, bare)
	if d, _ := collect(t, bare, Options{}); cmp.Diff(again, d) != "" {
		t.Error("the bare clone gives other turns")
	}
}

func TestReadCommit(t *testing.T) {
	hash := strings.Repeat("ab", 20)
	for _, tc := range []struct{ text, want string }{
		{"", "EOF"},
		{hash + "\x00\x001700000000\x00N\x00body\x00", "2023-11-14T22:13:20.000000Z N body [] 0"},
		{hash + "\x00" + hash + " " + hash + "\x00-5\x00N\x00b\xffdy", "1970-01-01T00:00:00.000000Z N b\uFFFDdy [" + hash + " " + hash + "] 1"},
		{hash + "\x00\x0099999999999999\x00\xff\x00", "1970-01-01T00:00:00.000000Z \uFFFD  [] 1"},
		{hash + "\x00\x001700000000\x00", errGitOutput.Error()},
		{"fatal: no\x00\x001\x00N\x00b\x00", errGitOutput.Error()},
	} {
		got := ""
		cm, _, err := readCommit(bufio.NewReader(strings.NewReader(tc.text)))
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(cm.time, " ", cm.author, " ", cm.message, " ", cm.parents, " ", cm.noted["invalid_utf8"])
		}
		if got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestGitFails(t *testing.T) {
	g := newGitRepo(t)
	if _, _, err := tryCollect(t, g.dir, Options{}); err == nil || !strings.Contains(err.Error(), "git log in ") {
		t.Errorf("no commit yet: %v", err)
	}
	if _, _, err := tryCollect(t, t.TempDir(), Options{Format: Git}); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("no repository: %v", err)
	}
	g.commit("x")
	stop := errors.New("stop")
	if _, err := Read(context.Background(), g.dir, Options{}, func(*Batch) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("emit fails: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, g.dir, Options{}, func(*Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("context ended: %v", err)
	}
}

func TestDetect(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Format
		err        string
	}{
		{"own", lineTurn, JSONL, ""},
		{"own, long", `{"attrs":{},"author":"","content":"` + strings.Repeat("x", lookBytes) + `","conversation":"…"}`, JSONL, ""},
		{"claude", `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s"}`, ClaudeCode, ""},
		{"claude, summary first", `{"type":"summary","summary":"x","leafUuid":"y"}`, ClaudeCode, ""},
		{"claude, broken later", `{"type":"user","uuid":"u","sessionId":"s"}` + "\n{\n", ClaudeCode, ""},
		{"claude, long", `{"parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"content":"` + strings.Repeat("x", lookBytes), ClaudeCode, ""},
		{"chatgpt", `{"title":"x","mapping":{}}`, ChatGPT, ""},
		{"chatgpt, pretty", "[\n {\n  \"title\": \"}\",\n  \"mapping\": {\"a\": {", ChatGPT, ""},
		{"openai list", `[{"role":"user","content":"x"}]`, OpenAI, ""},
		{"openai object", `{"messages":[]}`, OpenAI, ""},
		{"openai pretty", "[\n {\n  \"info\": {\"a\": [1]},\n  \"traj\": [", OpenAI, ""},
		{"commits", `{"id":"` + strings.Repeat("a", 40) + `","parents":[],"time":"t","author":"a","text":"x"}`, Git, ""},
		{"like commits", `{"id":"DOC#1","parents":[],"time":"t","author":"a","text":"x"}`, "", "no known format"},
		{"table", `{"a":1}`, "", "1 like none"},
		{"text", "Do as you like.", "", "not JSON"},
		{"empty", "", "", "is empty"},
		{"two", lineTurn + "\n" + `{"messages":[]}`, "", "could be jsonl or openai (its first values: 1 like jsonl, 1 like openai); say which with --format"},
		{"two in one", `{"mapping":{},"messages":[]}`, "", "could be chatgpt or openai"},
	} {
		path := write(t, "input", tc.text)
		l, err := new(tree).lookAt(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.decide(path)
		if tc.want != "" {
			if got != tc.want || err != nil {
				t.Errorf("%s: got %q and %v (%s)", tc.name, got, err, l)
			}
			continue
		}
		_, _, err = tryCollect(t, path, Options{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.err)
		}
	}
	if _, err := Read(context.Background(), "testdata", Options{Format: "csv"}, nil); err == nil {
		t.Error("format csv is known")
	}
}

func TestLoneSurrogates(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`:        "😀 0",
		`"\ud83d"`:              "\uFFFD 1",
		`"\ude00\ud83d"`:        "\uFFFD\uFFFD 2",
		`"\ud83d\ud83d\ude00x"`: "\uFFFD😀x 1",
		`"\\ud83d\ud83d"`:       "\\ud83d\uFFFD 1",
		`"\ud83d\n\u0041"`:      "\uFFFD\nA 1",
	} {
		v, m, err := parseLenient([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := v.Text + " " + string(rune('0'+m.surrogates)); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if _, _, err := parseLenient([]byte(`"\ud83d`)); err == nil {
		t.Error("an open string is read")
	}
}

func TestSecondsTime(t *testing.T) {
	for in, want := range map[string]string{
		"0": "1970-01-01T00:00:00.000000Z", "1700000000": "2023-11-14T22:13:20.000000Z", "1700000000.1234567": "2023-11-14T22:13:20.123456Z",
		"1700000000.5": "2023-11-14T22:13:20.500000Z", "253402300799": "9999-12-31T23:59:59.000000Z",
		"253402300800": "", "1e9": "", "-1": "", "1.5e3": "", "99999999999999": "",
	} {
		got, err := secondsTime(in)
		if want == "" {
			if err == nil {
				t.Errorf("%s: got %s", in, got)
			}
		} else if err != nil || got.String() != want {
			t.Errorf("%s: got %s and %v, want %s", in, got, err, want)
		}
	}
}

func TestValues(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{" \n", ""},
		{`{"a":[1,{"b":"}\""}]}`, `{"a":[1,{"b":"}\""}]} 1`},
		{"[]", "end 1"},
		{"[ {} ,\n[1,[2]] , \"x,]\" , -1.5e3 ,null]", `{} 1 item|[1,[2]] 2 item|"x,]" 2 item|-1.5e3 2 item|null 2 item|end 2`},
		{"{}{}\n[1]\n2 3", "{} 1|{} 1|1 2 item|end 2|2 3|3 3"},
		{"[{}", "{} 1 item|broken"},
		{"[{},", "{} 1 item|broken"},
		{"[{} {}]", "{} 1 item|broken"},
		{"[{}", "{} 1 item|broken"},
		{`["a`, "broken"},
		{`["a\`, "broken"},
		{"]", "broken"},
		{"{]", "{] 1"},
		{"{\"a\":\"" + strings.Repeat("x", 40) + "\"}", "broken"},
	} {
		in, err := openValues(context.Background(), new(tree), write(t, "v.json", tc.text))
		if err != nil {
			t.Fatal(err)
		}
		in.most = 40
		var got []string
		for {
			p, err := in.next()
			if errors.Is(err, errBrokenDocument) {
				got = append(got, "broken")
			}
			if err != nil {
				break
			}
			s := fmt.Sprintf("%s %d", p.text, p.line)
			if p.closed {
				s = fmt.Sprintf("end %d", p.line)
			}
			if p.item {
				s += " item"
			}
			got = append(got, s)
		}
		in.close()
		if got := strings.Join(got, "|"); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.text, got, tc.want)
		}
	}
}
