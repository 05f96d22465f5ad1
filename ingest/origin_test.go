package ingest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// A joined is a set of files in which the turn with one text hangs on the turn with another.
type joined struct {
	name        string
	files       map[string]string
	child       string // of the file whose session hangs on another one
	below, from string // the texts
	kind        dag.EdgeKind
	byTime      bool
	without     string // the file that has the other turn; the child is given without it, too
}

// codexRollout writes a session; each line is a payload, or a whole line.
func codexRollout(day int, id, meta string, payloads ...string) (name, content string) {
	var out strings.Builder
	stamp := func(n int) string { return fmt.Sprintf("2026-03-%02dT10:00:%02d.000Z", day, n) }
	fmt.Fprintf(&out, `{"timestamp":%q,"type":"session_meta","payload":{"id":%q,"cwd":"/srv"%s}}`+"\n", stamp(0), id, meta)
	for i, p := range payloads {
		kind := "response_item"
		if strings.Contains(p, `"call_id"`) && !strings.Contains(p, "function_call") || strings.Contains(p, `"event_id"`) || strings.Contains(p, `"item"`) || strings.Contains(p, "num_turns") {
			kind = "event_msg"
		}
		fmt.Fprintf(&out, `{"timestamp":%q,"type":%q,"payload":%s}`+"\n", stamp(i+1), kind, p)
	}
	return fmt.Sprintf("sessions/2026/03/%02d/rollout-2026-03-%02dT10-00-00-%s.jsonl", day, day, id), out.String()
}

func codexSaid(role, text string) string {
	kind := "output_text"
	if role == "user" {
		kind = "input_text"
	}
	return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, kind, text)
}

const (
	rolloutA = "019c2e5f-0039-7ad1-b1e3-7e394b460001"
	rolloutB = "019c2e5f-0039-7ad1-b1e3-7e394b460002"
	rolloutC = "019c2e5f-0039-7ad1-b1e3-7e394b460003"
	sessionU = "3f3af1ec-ebbd-4410-ab41-7ec0d27bbfcb"
)

// joinedFiles has each way in which a session names the one that it comes from.
func joinedFiles() (list []joined) {
	file := func(files map[string]string, name, content string) map[string]string {
		if files == nil {
			files = map[string]string{}
		}
		files[name] = content
		return files
	}
	codex := func(name, from, metaB string, kind dag.EdgeKind, byTime bool, more ...string) {
		a, textA := codexRollout(2, rolloutA, "", append([]string{
			codexSaid("user", "find out why"), codexSaid("assistant", "because of the cart"),
			`{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"c1"}`,
		}, more...)...)
		b, textB := codexRollout(1, rolloutB, metaB, codexSaid("user", "go on from there"), codexSaid("assistant", "done"))
		if byTime {
			b, textB = codexRollout(3, rolloutB, metaB, codexSaid("user", "go on from there"))
		}
		list = append(list, joined{name, file(file(nil, a, textA), b, textB), b, "go on from there", from, kind, byTime, a})
	}
	base := func(end int) string {
		return fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d},"forked_from_id":%q`, rolloutA, end, rolloutA)
	}
	spawned := fmt.Sprintf(`,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q,"depth":1}}}`, rolloutA)
	codex("codex, a fork by ordinal", "because of the cart", base(3), dag.Reply, false)
	codex("codex, a fork of the beginning", "find out why", base(2), dag.Reply, false)
	codex("codex, a fork of all", "[tool_use spawn_agent]", base(400), dag.Reply, false)
	codex("codex, a fork behind a rollback", "more of that", base(400), dag.Reply, false, `{"type":"thread_rolled_back","num_turns":1}`, codexSaid("user", "more of that"))
	codex("codex, a fork that names it in capitals", "because of the cart", strings.ReplaceAll(base(3), rolloutA, strings.ToUpper(rolloutA)), dag.Reply, false)
	codex("codex, an older fork", "[tool_use spawn_agent]", fmt.Sprintf(`,"forked_from_id":%q`, rolloutA), dag.Reply, true)
	codex("codex, a sub-agent named in an event", "[tool_use spawn_agent]", spawned, dag.Spawn, false, fmt.Sprintf(`{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":%q}`, rolloutB))
	codex("codex, a sub-agent named in another event", "[tool_use spawn_agent]", spawned, dag.Spawn, false, fmt.Sprintf(`{"type":"sub_agent_activity","kind":"started","event_id":"c1","agent_thread_id":%q}`, strings.ToUpper(rolloutB)))
	codex("codex, a sub-agent named in an item", "[tool_use spawn_agent]", spawned, dag.Spawn, false, fmt.Sprintf(`{"type":"item_completed","item":{"type":"CollabAgentToolCall","id":"c1","receiver_thread_ids":[%q]}}`, rolloutB))
	codex("codex, a sub-agent named by the result", "[tool_use spawn_agent]", spawned, dag.Spawn, false, fmt.Sprintf(`{"type":"function_call_output","call_id":"c1","output":%q}`, `{"agent_id":"`+rolloutB+`"}`))
	codex("codex, a sub-agent that nobody names", "[tool_use spawn_agent]", spawned, dag.Spawn, true)

	// A fork of a fork counts the ordinals of both.
	b, textB := codexRollout(3, rolloutB, base(3), codexSaid("user", "no, stop"), codexSaid("assistant", "stopped"))
	c, textC := codexRollout(1, rolloutC, fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":5}`, rolloutB), codexSaid("user", "go on from there"))
	twice := file(file(maps.Clone(list[0].files), b, textB), c, textC)
	delete(twice, list[0].child)
	list = append(list, joined{"codex, a fork of a fork", twice, c, "go on from there", "no, stop", dag.Reply, false, b})
	_, textC = codexRollout(1, rolloutC, fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":2}`, rolloutB), codexSaid("user", "go on from there"))
	list = append(list, joined{"codex, a fork before a fork", file(maps.Clone(twice), c, textC), c, "go on from there", "find out why", dag.Reply, false, b})

	claude := func(name, below, from, agent, meta, result string, kind dag.EdgeKind, byTime bool, records ...string) {
		var s transcript
		s.said("p1", "", "Run the workflow")
		s.add(`"type":"assistant","uuid":"a1","parentUuid":"p1","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Workflow","input":{}}]}`)
		s.add(`"type":"user","uuid":"r1","parentUuid":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}%s`, result)
		var sub transcript
		sub.clock = s.clock
		for _, r := range records {
			sub.add(`"isSidechain":true,"agentId":"x",%s`, r)
		}
		s.clock = sub.clock
		s.said("p2", "r1", "And now?")
		files := file(nil, "p/"+sessionU+".jsonl", s.text())
		path := "p/" + sessionU + "/subagents/" + agent
		files[path] = sub.text()
		if meta != "" {
			files[metaFile(path)] = meta
		}
		list = append(list, joined{name, files, path, below, from, kind, byTime, "p/" + sessionU + ".jsonl"})
	}
	prompt := `"type":"user","uuid":"sp","parentUuid":null,"message":{"content":"Check the tests."}`
	claude("claude code, a workflow's agent", "Check the tests.", "[tool_use Workflow]", "workflows/wf_1/agent-x.jsonl", `{"toolUseId":"t1"}`, "", dag.Spawn, false, prompt)
	claude("claude code, a deeper one", "Check the tests.", "[tool_use Workflow]", "workflows/wf_1/deeper/agent-x.jsonl", `{"toolUseId":"t1"}`, "", dag.Spawn, false, prompt)
	claude("claude code, a workflow named by its result", "Check the tests.", "[tool_use Workflow]", "workflows/wf_1/agent-x.jsonl", "", `,"toolUseResult":{"status":"async_launched","runId":"wf_1"}`, dag.Spawn, false, prompt)
	claude("claude code, an agent that nobody names", "Check the tests.", "[tool_result]\ndone", "agent-x.jsonl", "", "", dag.Spawn, true, prompt)
	claude("claude code, a description that is damaged", "Check the tests.", "[tool_result]\ndone", "agent-x.jsonl", `{"toolUseId":`, "", dag.Spawn, true, prompt)
	claude("claude code, a question aside", "Why?", "[tool_result]\ndone", "agent-aside_question-0123456789abcdef.jsonl", "", "", dag.Spawn, true, `"type":"user","uuid":"q","parentUuid":null,"message":{"content":"Why?"}`)
	claude("claude code, a question aside after a copy", "Why?", "[tool_result]\ndone", "agent-aside_question-0123456789abcdef.jsonl", "", "", dag.Spawn, false,
		`"type":"user","uuid":"p1","parentUuid":null,"message":{"content":"Run the workflow"}`,
		`"type":"user","uuid":"r1","parentUuid":"p1","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}`,
		`"type":"user","uuid":"q","parentUuid":"r1","message":{"content":"Why?"}`)
	return list
}

// layOut writes files below a folder, without some of them.
func layOut(t *testing.T, files map[string]string, without ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if slices.Contains(without, name) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// zipped packs files into an archive.
func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.zip")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// turnWith returns the one turn whose content begins with a text, or nil.
func turnWith(t *testing.T, drafts []dag.Draft, text string) (found *dag.Draft) {
	t.Helper()
	for i := range drafts {
		if strings.HasPrefix(drafts[i].Content, text) {
			if found != nil {
				t.Errorf("two turns begin with %q", text)
			}
			found = &drafts[i]
		}
	}
	return found
}

// TestJoinedSessions reads each in a folder, in an archive, by the one file that a hook or a watcher names, and without the session that it comes from.
func TestJoinedSessions(t *testing.T) {
	for _, tc := range joinedFiles() {
		check := func(t *testing.T, path string) {
			t.Helper()
			drafts, report := collect(t, path, Options{})
			d, from := turnWith(t, drafts, tc.below), turnWith(t, drafts, tc.from)
			if d == nil || from == nil {
				t.Fatalf("turns are missing: %s%v", dump(drafts), report.Skipped)
			}
			if len(d.Parents) != 1 || d.Parents[0] != (dag.Parent{ID: from.ID, Kind: tc.kind}) || (d.Attrs[attrParentBy] == parentByOrder) != tc.byTime || d.Attrs[attrMissingParent] != "" {
				t.Errorf("got\n%swant a %s from\n%s", dump([]dag.Draft{*d}), tc.kind, dump([]dag.Draft{*from}))
			}
		}
		t.Run(tc.name, func(t *testing.T) {
			t.Run("in a folder", func(t *testing.T) {
				check(t, layOut(t, tc.files))
				lines := 0
				for name, content := range tc.files {
					if strings.HasPrefix(name, "sessions/") { // of Codex CLI, whose records are lines
						lines += strings.Count(content, "\n")
					}
				}
				if _, report := collect(t, layOut(t, tc.files), Options{}); lines > 0 && report.Records != lines {
					t.Errorf("%d records of %d lines: a session is read once, even if another one names it first", report.Records, lines)
				}
			})
			t.Run("in an archive", func(t *testing.T) { check(t, zipped(t, tc.files)) })
			t.Run("by one file", func(t *testing.T) {
				named := tc.child
				if strings.Contains(named, agentsFolder) { // its hook names the session
					named = tc.without
				}
				check(t, filepath.Join(layOut(t, tc.files), filepath.FromSlash(named)))
			})
			t.Run("without the other", func(t *testing.T) {
				drafts, report := collect(t, layOut(t, tc.files, tc.without), Options{})
				d := turnWith(t, drafts, tc.below)
				if strings.Contains(tc.child, agentsFolder) { // it waits
					if d != nil || report.Skipped[skipUnjoined] == 0 {
						t.Errorf("it did not wait: %v", report.Skipped)
					}
					return
				}
				if d == nil || len(d.Parents) != 0 || d.Attrs[attrMissingParent] == "" || report.Noted[noteParentMissing] != 1 {
					t.Errorf("it is lost, or nobody says that something is missing: %s%v", dump(drafts), report.Noted)
				}
			})
		})
	}
}

// TestJoinedSessionsOnce reads all sessions that hang on others at every length of the file that has the others: a turn keeps its id and its words.
func TestJoinedSessionsOnce(t *testing.T) {
	for _, tc := range joinedFiles() {
		final, _ := collect(t, layOut(t, tc.files), Options{})
		at := byID(final)
		lines := strings.SplitAfter(tc.files[tc.without], "\n")
		for n := range lines {
			grown := maps.Clone(tc.files)
			grown[tc.without] = strings.Join(lines[:n], "")
			drafts, _, err := tryCollect(t, layOut(t, grown), Options{})
			if err != nil {
				t.Fatalf("%s, %d lines: %v", tc.name, n, err)
			}
			for i := range drafts {
				if d := &drafts[i]; at[d.ID] == nil || at[d.ID].Content != d.Content || at[d.ID].Author != d.Author {
					t.Errorf("%s, %d lines: a turn that the whole has otherwise\n%s", tc.name, n, dump([]dag.Draft{*d}))
				}
			}
		}
	}
}

// TestThreadsInCircles has two sessions of Codex CLI that name each other, one that names itself, and a row of sessions that is longer than what is followed.
func TestThreadsInCircles(t *testing.T) {
	name := func(n int) string { return fmt.Sprintf("019c2e5f-0039-7ad1-b1e3-7e394b46%04d", n) }
	base := func(n int) string {
		return fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d}`, name(n), 90_000-10*n)
	}
	files := map[string]string{}
	add := func(n, base_ int) {
		path, content := codexRollout(1, name(n), base(base_), codexSaid("user", fmt.Sprint("said in ", n)))
		files[path] = content
	}
	add(1, 2)
	add(2, 1)
	add(3, 3)
	const row = 3 * maxThreads
	for n := range row {
		add(100+n, 101+n)
	}
	drafts, report := collect(t, layOut(t, files), Options{})
	roots := 0
	for _, d := range drafts {
		if len(d.Parents) == 0 {
			roots++
		}
	}
	if len(drafts) != 3+row || roots != report.Noted[noteParentMissing] || roots <= 4 || roots > 4+row/maxThreads {
		t.Errorf("%d turns, %d roots, noted %v", len(drafts), roots, report.Noted)
	}
}

// TestForkInNumberedFolder has a fork in a folder that is named as a day's is, and is none. Nothing above it is looked at.
func TestForkInNumberedFolder(t *testing.T) {
	base := fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":3}`, rolloutA)
	_, textA := codexRollout(2, rolloutA, "", codexSaid("user", "find out why"))
	_, textB := codexRollout(1, rolloutB, base, codexSaid("user", "go on from there"))
	for folder, found := range map[string]bool{"sessions/2026/03/01": true, "a/b/2026": false, "2026/3/1": false, "1/2/3": false, "20260/03/01": false, "x/03/01": false} {
		top := strings.SplitN(folder, "/", 2)[0]
		for _, other := range []string{"2026/04/02", "x/y/z"} {
			at := "archive/" + other
			if found {
				at = top + "/" + other
			}
			files := map[string]string{folder + "/rollout-b-" + rolloutB + ".jsonl": textB, at + "/rollout-a-" + rolloutA + ".jsonl": textA, other + "/rollout-a-" + rolloutA + ".jsonl": textA}
			drafts, _ := collect(t, filepath.Join(layOut(t, files), filepath.FromSlash(folder), "rollout-b-"+rolloutB+".jsonl"), Options{})
			if want := found && other == "2026/04/02"; (len(drafts) == 2) != want {
				t.Errorf("%s, with the other session in %s: %d turns", folder, at, len(drafts))
			}
		}
	}
}

// TestForkThatIsPacked has a fork that Codex CLI has packed, given by itself: the other session is found as that of one that is not.
func TestForkThatIsPacked(t *testing.T) {
	base := fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":3}`, rolloutA)
	_, textA := codexRollout(2, rolloutA, "", codexSaid("user", "find out why"))
	_, textB := codexRollout(1, rolloutB, base, codexSaid("user", "go on from there"))
	files := map[string]string{"sessions/2026/03/01/rollout-b-" + rolloutB + ".jsonl.zst": string(zstdOf(t, textB)), "sessions/2026/03/02/rollout-a-" + rolloutA + ".jsonl.zst": string(zstdOf(t, textA))}
	named := filepath.Join(layOut(t, files), "sessions", "2026", "03", "01", "rollout-b-"+rolloutB+".jsonl.zst")
	if drafts, _ := collect(t, named, Options{}); len(drafts) != 2 || len(turnWith(t, drafts, "go on").Parents) != 1 {
		t.Errorf("turns %s", dump(drafts))
	}
	text, err := os.ReadFile(named)
	if err != nil {
		t.Fatal(err)
	}
	if drafts, _ := collect(t, Stdin, Options{Stdin: bytes.NewReader(text)}); len(drafts) != 1 || drafts[0].Attrs[attrMissingParent] != rolloutA {
		t.Errorf("from standard input: turns %s", dump(drafts))
	}
}
