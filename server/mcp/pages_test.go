package mcp

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/kernel"
)

// wildText returns a text of at most so many bytes whose characters have different lengths in JSON.
func wildText(r *rand.Rand, most int) string {
	signs := []string{"a", "word ", "\n", `"`, `\`, "<&>", "\u2028", "é", "東京", "👩‍💻", "\x00", "\x1b[2J", "{\"a\":[{", "}]", "\t"}
	var b strings.Builder
	for n := r.IntN(most + 1); b.Len() < n; {
		b.WriteString(signs[r.IntN(len(signs))])
	}
	return b.String()
}

// fillWild fills a store with much of everything, and returns arguments of every tool whose
// answer can be long. They ask with the default arguments.
func fillWild(t *testing.T, r *rand.Rand, k *kernel.Kernel, c *sdk.ClientSession) map[string]map[string]any {
	t.Helper()
	turns, n := []any{}, 25+r.IntN(10)
	for i := range n {
		turn := said(1+i, "x"+wildText(r, 1000))
		turn["created_at"] = fmt.Sprintf("2026-01-02T03:%02d:00Z", i%60)
		turns = append(turns, turn)
	}
	must(t, c, "admit_turns", map[string]any{"turns": turns})
	bundle, cut := must(t, c, "cut_slice", map[string]any{"anchor": turnID(n)})

	var list []map[string]any
	long := strings.Repeat("long name ", 1+r.IntN(20))
	for i := range 60 + r.IntN(60) {
		name := fmt.Sprintf("E%d %s", r.IntN(20), long)
		list = append(list, fact(name, fmt.Sprintf("is %d to", i%7), fmt.Sprintf("E%d %s", r.IntN(20), long), "turn", turnID(1+r.IntN(n)), "source", fmt.Sprintf("s%d", i%3)))
	}
	list = append(list, fact("hub", "is", "text:x"+wildText(r, 1<<13)), fact("hub", "knows", "E1 "+long))
	for i := range 20 {
		between := fmt.Sprintf("between %d", i)
		list = append(list, fact("hub", "leads to", between), fact(between, "leads to", "E2 "+long))
	}
	for i := range 60 {
		list = append(list, fact("one", "is", "two", "source", fmt.Sprintf("source-%d-%s", i, strings.Repeat("s", r.IntN(90))), "confidence", 0.5))
	}
	must(t, c, "knowledge_assert", facts(list...))
	var entities, relations []any
	for i := range 12 {
		name := fmt.Sprintf("e%d", i)
		entities = append(entities, entityOf(name, "kind"+wildText(r, 50), wildText(r, 500), "o"+wildText(r, 20)))
		relations = append(relations, map[string]any{"from": name, "to": "e0", "relationType": "is"})
	}
	entities = append(entities, entityOf("large", "kind", wildText(r, 1<<13)))
	memory := map[string]any{"entities": entities}
	must(t, c, "create_entities", memory)
	must(t, c, "create_relations", map[string]any{"relations": relations})
	var more, gone []any
	for i := range 10 {
		more = append(more, map[string]any{"entityName": fmt.Sprintf("e%d", i), "contents": []any{"new" + wildText(r, 3000)}})
		gone = append(gone, "gone"+wildText(r, 3000))
	}
	all := believed(t, k)
	maps.Copy(all, map[string]map[string]any{
		"cut_slice":          {"anchor": turnID(n)},
		"verify_bundle":      {"bundle": bundle},
		"replay_slice":       {"slice_id": cut["slice_id"]},
		"show_turn":          {"turn": turnID(1 + r.IntN(n))},
		"list_policies":      {},
		"find":               {"query": "turn", "limit": n},
		"recall":             {"task": "turn", "budget": 8000},
		"knowledge_assert":   facts(list...),
		"knowledge_find":     {},
		"knowledge_traverse": {"start": []any{"hub", "E2 " + long}},
		"knowledge_slice":    {"start": []any{"hub"}},
		"knowledge_path":     {"from": "hub", "to": "E2 " + long, "count": 50},
		"knowledge_history":  {"subject": "one", "predicate": "is", "object": "two"},
		"knowledge_retract":  {"entity": "hub", "dry_run": true},
		"read_graph":         {}, "search_nodes": {"query": ""}, "open_nodes": {"names": []any{"large", "e0"}},
		"create_entities":     {"entities": append([]any{entityOf("new", "", wildText(r, 1<<14))}, entities...)},
		"create_relations":    {"relations": []any{map[string]any{"from": "e1", "to": "e2", "relationType": long}}},
		"add_observations":    {"observations": more},
		"delete_entities":     {"entityNames": gone},
		"delete_observations": {"deletions": []any{map[string]any{"entityName": "gone" + wildText(r, 20_000), "observations": gone}}},
		"delete_relations":    {"relations": relations},
	})
	return all
}

// TestAnswersInPages asks every tool whose answer can be long, with the default bounds, about random
// stores. No result is longer than the bound; what was cut is fetched to its end, and the parts
// are together the whole, as it comes in one where there is room.
func TestAnswersInPages(t *testing.T) {
	t.Parallel()
	cut := map[string]int{}
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 9))
		k := testKernel(t)
		c := over(t, New(k, Options{Tools: every(t)}), identity(access.Admin))
		arguments := fillWild(t, r, k, c)
		for _, d := range definitions() {
			name, in := d.Name, arguments[d.Name]
			if tools[name].answers == short {
				continue
			}
			if in == nil {
				t.Fatalf("%s is not asked", name)
			}
			if tools[name].answers == atOnce {
				text, more := once(t, c, name, in, StandardBytes)
				list := strings.HasPrefix(name, "create_") || name == "add_observations"
				if list && !json.Valid([]byte(text)) {
					t.Errorf("%s: the answer is no JSON value: %.300s", name, text)
				}
				if more != nil {
					cut[name]++
					if more.Left == 0 && !list || more.Next != "" || text == "" {
						t.Errorf("%s: %+v", name, more)
					}
				}
				continue
			}
			for _, format := range formats(name) {
				in := plus(in, "format", format)
				all, more := once(t, c, name, plus(in, "max_bytes", 8<<20), 8<<20)
				if more != nil && !strings.HasSuffix(more.Next, ".0.0") {
					t.Fatalf("%s: 8 MiB are too few: %+v", name, more)
				}
				for _, most := range []int{StandardBytes, LeastBytes + r.IntN(1<<13)} {
					pages := 0
					text, short := "", false
					for in := plus(in, "max_bytes", most); ; pages++ {
						if most == StandardBytes {
							delete(in, "max_bytes")
						}
						piece, more := once(t, c, name, in, most)
						text = joined(t, name, text, piece)
						short = short || more != nil && strings.Contains(more.Cut, "ends with …")
						if more == nil || strings.HasSuffix(more.Next, ".0.0") || more.Next == "" {
							break
						}
						if piece == "" || !utf8.ValidString(piece) {
							t.Fatalf("%s: a part %q", name, piece)
						}
						cut[name]++
						in["after"] = more.Next
					}
					if text != all && !short {
						t.Errorf("seed %d, %s of %d bytes: %d parts of at most %d are not the whole", seed, name, len(all), pages+1, most)
					}
				}
			}
		}
	}
	t.Logf("answers cut: %v", cut)
	for _, name := range []string{"cut_slice", "knowledge_assert", "knowledge_find", "knowledge_traverse", "knowledge_slice", "knowledge_path", "knowledge_history", "read_graph", "search_nodes", "open_nodes", "create_entities", "delete_entities"} {
		if cut[name] == 0 {
			t.Errorf("no answer of %s was cut", name)
		}
	}
}

func formats(tool string) []any {
	if tool == "cut_slice" {
		return []any{"bundle", "markdown", "messages"}
	}
	return []any{nil}
}

// plus returns arguments with one more, unless it is nil.
func plus(in map[string]any, key string, value any) map[string]any {
	out := map[string]any{}
	for k, v := range in {
		out[k] = v
	}
	if value != nil {
		out[key] = value
	}
	return out
}

// once calls a tool once, holds the result to its bound and returns its text, and what it says of
// the rest.
func once(t testing.TB, c *sdk.ClientSession, name string, in map[string]any, most int) (text string, more *rest) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		t.Fatal(err)
	}
	text = r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		t.Fatalf("%s %.200v: %s", name, in, text)
	}
	if n := encoded(r); n > most || r.StructuredContent != nil {
		t.Errorf("%s %.200v: %d bytes, at most %d are asked for; structured content %v", name, in, n, most, r.StructuredContent)
	}
	for _, beside := range r.Content[1:] {
		var said rest
		data := beside.(*sdk.TextContent).Text
		if strings.HasPrefix(data, `{"slice_id"`) || strings.HasPrefix(data, `{"context_id"`) {
			continue
		}
		if err := json.Unmarshal([]byte(data), &said); err != nil || said.Cut == "" {
			t.Fatalf("%s says %s beside its text: %v", name, data, err)
		}
		more = &said
	}
	return text, more
}

// TestFindGoesOn goes through a list of facts part by part, while others are asserted: each fact of
// the first view comes once.
func TestFindGoesOn(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Admin))
	const n = 47
	for i := range n {
		asserts(t, c, fact(fmt.Sprintf("e%d", i), "is", strings.Repeat("long ", 100)))
	}
	for run, in := range []map[string]any{{}, {"limit": 5}, {"limit": 100, "max_bytes": LeastBytes}} {
		late := fmt.Sprintf("late-%d", run)
		text, parts := "", 0
		for {
			piece, more := once(t, c, "knowledge_find", in, StandardBytes)
			text += piece
			parts++
			if more == nil {
				break
			}
			in["after"] = more.Next
			asserts(t, c, fact(late, "is", fmt.Sprint(parts)))
		}
		for i := range n {
			if got := strings.Count(text, fmt.Sprintf(`,"subject":"e%d"`, i)); got != 1 {
				t.Errorf("%v: e%d comes %d times in %d parts", in, i, got, parts)
			}
		}
		if parts < 3 || strings.Contains(text, late) {
			t.Errorf("%v: %d parts\n%s", in, parts, text)
		}
	}
}

// TestPositions goes on where no answer was cut, or where it is another one by now.
func TestPositions(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t), MaxMessage: 1 << 20}), identity(access.Admin))
	must(t, c, "admit_turns", chain(40))
	_, more := once(t, c, "cut_slice", map[string]any{"anchor": "ext-40"}, StandardBytes)
	if more == nil {
		t.Fatal("the slice fits")
	}
	good := more.Next
	all, _, err := whole(t, c, "cut_slice", map[string]any{"anchor": "ext-40", "as_of": 40})
	if err != nil {
		t.Fatal(err)
	}
	must(t, c, "admit_turns", chain(45)) // the rest is of the view of the first part
	if rest, _, err := whole(t, c, "cut_slice", map[string]any{"anchor": "ext-40", "after": good}); err != nil || !strings.HasSuffix(all, rest) || len(rest) != more.Left {
		t.Errorf("the rest of the slice has %d bytes, want %d (%v)", len(rest), more.Left, err)
	}
	for after, want := range map[string]string{
		"":                           "is not the next",
		"1":                          "is not the next",
		"1.2.3":                      "is not the next",
		"1.2.3.4.5":                  "is not the next",
		good + " ":                   "is not the next",
		"+" + good:                   "is not the next",
		"0" + good:                   "is not the next",
		"40.0.-1.0":                  "is not the next",
		"40.0.5.5":                   "ask again without after",
		"99.0.5.5":                   "leave as_of out",
		good[:len(good)-1] + "x":     "is not the next",
		"18446744073709551615.0.0.0": "is not the next",
	} {
		if text, err := call(t, c, "cut_slice", map[string]any{"anchor": "ext-40", "after": after}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("after %q: %v, %.80s; want %q", after, err, text, want)
		}
	}
	for name, in := range map[string]map[string]any{
		"another anchor": {"anchor": "ext-39", "after": good},
		"another format": {"anchor": "ext-40", "format": "markdown", "after": good},
		"another view":   {"anchor": "ext-40", "as_of": 41, "after": good},
	} {
		if text, err := call(t, c, "cut_slice", in); err == nil || !strings.Contains(err.Error(), "after") {
			t.Errorf("%s: %v, %.80s", name, err, text)
		}
	}
	for _, n := range []any{0, LeastBytes - 1, 1<<19 + 1, -1, "9000", 1.5} {
		if text, err := call(t, c, "cut_slice", map[string]any{"anchor": "ext-40", "max_bytes": n}); err == nil || !strings.Contains(err.Error(), "max_bytes") {
			t.Errorf("max_bytes %v: %v, %.80s", n, err, text)
		}
	}
	for _, name := range []string{"admit_turns", "explain_turn"} {
		if _, err := call(t, c, name, map[string]any{"max_bytes": 9000, "turns": []any{said(1, "x")}, "turn": "ext-1", "anchor": "ext-2"}); err == nil || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The middle of a character is no position, though the sum is right.
	var at position
	text, _, err := whole(t, c, "show_turn", map[string]any{"turn": "ext-2"})
	if err != nil {
		t.Fatal(err)
	}
	at.sum, at.offset = crc32.ChecksumIEEE([]byte(text)), strings.Index(text, "\u2028")+1
	if _, err := call(t, c, "show_turn", map[string]any{"turn": "ext-2", "after": at.String()}); at.offset == 0 || err == nil || !strings.Contains(err.Error(), "ask again") {
		t.Errorf("within a character: %v", err)
	}
}

// TestQuotedBytes counts characters, and bytes that are none, as package json writes them.
func TestQuotedBytes(t *testing.T) {
	t.Parallel()
	check := func(char string) {
		quoted, err := json.Marshal(char)
		if err != nil || quotedBytes(char) != len(quoted)-2 {
			t.Errorf("%q has %d bytes, counted %d (%v)", char, len(quoted)-2, quotedBytes(char), err)
		}
	}
	for r := range rune(0x3000) {
		check(string(r))
	}
	for _, r := range []rune{0xd7ff, 0xe000, 0xfeff, utf8.RuneError, 0xffff, 0x10000, utf8.MaxRune} {
		check(string(r))
	}
	for b := range 256 {
		check(string([]byte{byte(b)}))
	}
}

// TestInLines holds objects in lines against the same without: they say the same, and an item of a
// list of objects begins a line.
func TestInLines(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	items := 0
	for range 500 {
		v := map[string]any{"text": wildText(r, 50)}
		var list []any
		for range r.IntN(4) {
			list = append(list, map[string]any{wildText(r, 10): wildText(r, 20), "deep": []any{map[string]any{"a": 1}}})
		}
		v["list"] = list
		text, err := inLines(v)
		if err != nil {
			t.Fatal(err)
		}
		want, err := compact(v)
		if err != nil || strings.ReplaceAll(text, "\n", "") != want || strings.Count(text, "\n{") != len(list) {
			t.Errorf("%q\n%q", text, want)
		}
		items += len(list)
	}
	if items < 100 {
		t.Errorf("looked at %d items", items)
	}
}

// TestMemoryGoesOn reads a memory that is changed between the parts: they are of the first view.
func TestMemoryGoesOn(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
	var entities []any
	for i := range 40 {
		entities = append(entities, entityOf(fmt.Sprintf("e%d", i), "thing", strings.Repeat("long ", 100)))
	}
	must(t, c, "create_entities", map[string]any{"entities": entities})
	for tool, in := range map[string]map[string]any{"read_graph": {}, "search_nodes": {"query": "long"}, "open_nodes": {"names": []any{"e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9", "e10", "e11", "e12", "e13", "e14", "e15", "e16", "e17"}}} {
		all, _ := once(t, c, tool, plus(in, "max_bytes", 1<<20), 1<<20)
		text, more := once(t, c, tool, in, StandardBytes)
		if more == nil {
			t.Fatalf("%s is not cut", tool)
		}
		must(t, c, "add_observations", map[string]any{"observations": []any{map[string]any{"entityName": "e1", "contents": []any{"a long one for " + tool}}}})
		must(t, c, "create_entities", map[string]any{"entities": []any{entityOf("made by "+tool, "long")}})
		for more != nil {
			var piece string
			piece, more = once(t, c, tool, plus(in, "after", more.Next), StandardBytes)
			text = joined(t, tool, text, piece)
		}
		if text != all {
			t.Errorf("%s: the parts are not the whole as it was", tool)
		}
	}
}
