package console_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
)

// An acted turn is a call of an agent, or its result.
type acted struct {
	role, content string
	attrs         map[string]string
	parents       []int // by their places; the first turn has none
}

// act admits turns of one conversation.
func (s *site) act(turns []acted) {
	s.t.Helper()
	var list []map[string]any
	for i, a := range turns {
		parents := []map[string]string{}
		if a.attrs == nil {
			a.attrs = map[string]string{}
		}
		for _, p := range a.parents {
			parents = append(parents, map[string]string{"id": turnID(p), "kind": "reply"})
		}
		list = append(list, map[string]any{"id": turnID(i), "conversation": conversation, "role": a.role, "author": "x:" + a.role, "created_at": fmt.Sprintf("2026-01-02T03:04:%02dZ", i), "content": a.content, "attrs": a.attrs, "parents": parents})
	}
	s.post("/api/turns", quoted(map[string]any{"turns": list}))
}

func called(tool, id string) map[string]string {
	return map[string]string{"tool": tool, "tool_use_id": id, "blocks": "tool_use"}
}

// TestResults reads conversations in which tools were called: a result stands with its call, whatever came between them, on the page of the conversation and on those of both turns. What somebody only says to be a
// result does not.
func TestResults(t *testing.T) {
	s := open(t)
	s.act([]acted{
		{"user", "go", nil, nil},
		{"assistant", "[tool_use Bash]\n{\"command\":\"ls\"}", called("Bash", "one"), []int{0}},
		{"assistant", "[tool_use Read]\n{\"path\":\"a\"}", called("Read", "two"), []int{1}},
		{"tool", "[tool_result]\nlisted", map[string]string{"tool_use_id": "one"}, []int{2, 1}},
		{"tool", "[tool_result]\nwas read", map[string]string{"tool_use_id": "two"}, []int{3, 2}},
		{"user", "[tool_result]\nmade up", map[string]string{"tool_use_id": "two"}, []int{4}},
		{"assistant", "done", nil, []int{4}},
		{"tool", "of nothing", map[string]string{"tool_use_id": "three"}, []int{2}},
	})
	b := s.signedIn(access.Auditor)
	page := b.get("/conversations/" + conversation).body
	order := regexp.MustCompile(`<li id="t-[0-9a-f-]*?([0-9]+)"|<ol class="turns( results)?">|</ol>`).FindAllStringSubmatch(page, -1)
	got := ""
	for _, o := range order {
		switch {
		case o[1] != "":
			got += strings.TrimLeft(o[1], "0") + " "
		case strings.HasPrefix(o[0], "</"):
			got += ") "
		default:
			got += "( "
		}
	}
	if want := "( 1 2 ( 4 ) 3 ( 5 ) 6 7 8 ) "; got != want || !strings.Contains(page, "8 turns") {
		t.Errorf("the turns stand as %q, want %q", got, want)
	}
	if call := b.get("/turns/" + turnID(1)).section("What came of it"); !strings.Contains(call, "listed") || strings.Contains(call, "was read") {
		t.Errorf("the page of a call shows %q", call)
	}
	if result := b.get("/turns/" + turnID(4)).section("The call that it answers"); !strings.Contains(result, `[tool_use Read]`) {
		t.Errorf("the page of a result shows %q", result)
	}
	if said := b.get("/turns/" + turnID(5)).section("The call that it answers"); said != "" {
		t.Errorf("what a user says is the result of %q", said)
	}
}

// TestChanges reads edits of each form: they are shown line by line and not as JSON. A text that only looks like a call stays a text, and another call stays as it is.
func TestChanges(t *testing.T) {
	s := open(t)
	edit := func(input map[string]any) string { return "[tool_use Edit]\n" + quoted(input) }
	const patch = "*** Begin Patch\n*** Update File: src/<b>.go\n@@ func\n a\n-old\n+new\n*** Add File: two.go\n+<script>alert(1)</script>\n*** End Patch"
	replaced := []string{`<del>-old`, `<ins>+new`}
	forms := []struct {
		content string
		attrs   map[string]string
		path    string
		want    []string
	}{
		{edit(map[string]any{"file_path": "a.go", "old_string": "keep\nold\n", "new_string": "keep\nnew\n"}), called("Edit", "1"), "a.go", append(replaced, "<pre> keep\n")},
		{edit(map[string]any{"file_path": "a.go", "old_string": "old", "new_string": "new"}), called("Edit", "2"), "a.go", replaced},
		{edit(map[string]any{"path": "a.go", "old_str": "old", "new_str": "new"}), called("Edit", "3"), "a.go", replaced},
		{edit(map[string]any{"file_path": "a.go", "old_string": "", "new_string": "new"}), called("Edit", "4"), "a.go", replaced[1:]},
		{edit(map[string]any{"file_path": "a.go", "edits": []map[string]any{{"old_string": "old", "new_string": "x"}, {"old_string": "y", "new_string": "new"}}}), called("Edit", "5"), "a.go", replaced},
		{"I edit it.\n\n" + edit(map[string]any{"file_path": "a.go", "old_string": "old", "new_string": "new"}), called("Edit", "6"), "a.go", append(replaced, "I edit it.")},
		{"[tool_use apply_patch]\n" + patch, called("apply_patch", "7"), "src/&lt;b&gt;.go", append(replaced, "two.go", `<ins>+&lt;script&gt;`, "<span class=\"dim\">@@ func")},
		{"[tool_use apply_patch]\n" + quoted(map[string]any{"input": patch}), called("apply_patch", "8"), "src/&lt;b&gt;.go", replaced},
		{edit(map[string]any{"file_path": hostile[0], "old_string": "old\u202e", "new_string": "new" + hostile[1]}), called("Edit", "9"), "&lt;script&gt;", append(replaced, "U+202E")},
	}
	none := []acted{
		{"user", edit(map[string]any{"file_path": "a.go", "old_string": "old", "new_string": "new"}), nil, nil},
		{"assistant", edit(map[string]any{"file_path": "a.go", "old_string": "old", "new_string": "new"}), called("Read", "n1"), nil},
		{"assistant", "[tool_use Edit]\n{\"old_string\":1}", called("Edit", "n2"), nil},
		{"assistant", "[tool_use Bash]\n{\"command\":\"ls\"}", called("Bash", "n3"), nil},
	}
	var turns []acted
	for _, f := range forms {
		turns = append(turns, acted{"assistant", f.content, f.attrs, nil})
	}
	s.act(append(turns, none...))
	b := s.signedIn(access.Auditor)
	whole := b.get("/conversations/" + conversation)
	s.check("the conversation", whole)
	if !strings.Contains(whole.body, "<h1><bdi>Change of a.go</bdi></h1>") || !strings.Contains(whole.body, "<title>assistant: Change of a.go</title>") || !strings.Contains(b.get("/turns/"+turnID(0)).body, "<h1><bdi>Change of a.go</bdi></h1>") {
		t.Error("an edit is not named by its file")
	}
	if n := strings.Count(whole.body, `<figure class="change">`); n < len(forms)+2 {
		t.Errorf("the conversation shows %d changes", n)
	}
	for i, f := range forms {
		r := b.get("/turns/" + turnID(i))
		s.check("the turn", r)
		_, page, found := strings.Cut(r.body, `<figure class="change">`)
		page, recorded, _ := strings.Cut(page, "The call as it was recorded")
		said, _, _ := strings.Cut(r.body, `<figure class="change">`)
		if !found || !strings.Contains(page, f.path) || !strings.Contains(recorded, "[tool_use ") || strings.Contains(page, "old_string") {
			t.Errorf("%q is shown as %.600s", f.content, page)
		}
		for _, want := range f.want {
			if !strings.Contains(said+page, want) {
				t.Errorf("%q does not show %q: %.600s", f.content, want, page)
			}
		}
	}
	for i := range none {
		if r := b.get("/turns/" + turnID(len(forms)+i)); strings.Contains(r.body, `class="change"`) || !strings.Contains(r.body, "[tool_use ") {
			t.Errorf("%q is shown as a change", none[i].content)
		}
	}
}

// TestEmptyPages reads the pages of an empty store: each says what it is for, and which command fills it.
func TestEmptyPages(t *testing.T) {
	s := open(t)
	b := s.signedIn(access.Auditor)
	for path, want := range map[string][]string{
		"/": {"graphkernel import FILE", "graphkernel context WORDS"}, "/conversations": {"graphkernel setup claude-code"}, "/slices": {"who asked for it", "graphkernel context WORDS"},
		"/facts": {"Facts say how things are related", "graphkernel knowledge extract"}, "/beliefs": {"A space holds what is taken to be true", "graphkernel belief space PROJECT/NAME", "graphkernel belief revise"},
		"/atlas": {"The atlas shows what there is", "graphkernel import FILE"}, "/atlas?part=influence": {"The atlas shows"}, "/atlas?part=overlap": {"graphkernel context WORDS"}, "/atlas?part=turns": {"graphkernel import FILE"}, "/atlas?part=facts": {"graphkernel knowledge extract"},
	} {
		r := b.get(path)
		for _, text := range want {
			if r.status != 200 || !strings.Contains(r.body, text) {
				t.Errorf("%s: %d without %q\n%s", path, r.status, text, r.body)
			}
		}
	}
	s.fill()
	for _, path := range []string{"/facts", "/beliefs", "/atlas", "/atlas?part=overlap", "/atlas?part=turns"} {
		if r := b.get(path); strings.Contains(r.body, "No fact is known") || strings.Contains(r.body, "No space was made") || strings.Contains(r.body, "The atlas shows") {
			t.Errorf("%s says that it is empty", path)
		}
	}
}

// TestLegend reads the legend of a drawing: each kind of dot and line that the drawing has, and no other.
func TestLegend(t *testing.T) {
	s := open(t)
	paths := s.fill()
	b := s.signedIn(access.Auditor)
	kinds := regexp.MustCompile(`class="(?:node|edge) ([a-z]+)"`)
	looked := 0
	for _, path := range append(paths, "/facts/"+url.PathEscape(hostile[0])) {
		page := b.get(path).body
		for _, figure := range regexp.MustCompile(`(?s)<figure class="drawing">(.*?)</figure>`).FindAllStringSubmatch(page, -1) {
			legend, drawn, _ := strings.Cut(figure[1], "</figcaption>")
			named, there := map[string]bool{}, map[string]bool{}
			for _, k := range kinds.FindAllStringSubmatch(legend, -1) {
				named[k[1]] = true
			}
			for _, k := range kinds.FindAllStringSubmatch(drawn, -1) {
				there[k[1]] = true
			}
			if looked++; fmt.Sprint(named) != fmt.Sprint(there) || len(there) < 2 {
				t.Errorf("%s: the legend has %v, the drawing %v", path, named, there)
			}
		}
	}
	if looked < 3 {
		t.Errorf("%d drawings", looked)
	}
}
