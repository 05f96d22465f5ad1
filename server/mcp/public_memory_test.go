package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
)

// TestPublicMemory makes the same calls to the public memory server and to this one. The answers
// are the same except for what docs/mcp.md lists. .ci/conformance installs the server and names it in
// the environment:
//
//	MCP_MEMORY="NODE INDEX.js" go test ./server/mcp -run TestPublicMemory -v
func TestPublicMemory(t *testing.T) {
	command := strings.Fields(os.Getenv("MCP_MEMORY"))
	if len(command) == 0 {
		t.Skip("needs Node.js and the public memory server; run .ci/conformance")
	}
	const seeds, calls = 10, 200
	differ := map[string]int{}
	for seed := range uint64(seeds) {
		ours := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(t.TempDir(), "memory.jsonl"))
		theirs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wild := &wildCalls{r: rand.New(rand.NewPCG(seed, 8))}
		for n := range calls {
			tool, arguments := wild.next()
			got, _, err := whole(t, ours, tool, plus(arguments, "max_bytes", 8<<20))
			if tool == "create_relations" && err != nil && strings.Contains(err.Error(), "not found") {
				differ["a relation to an entity that is not there"]++ // versions of the public server before pull request 4477 store it
				continue
			}
			want, refused := call(t, theirs, tool, arguments)
			why := listed(tool, got, want, err, refused)
			if why == "" && (got != want || (err == nil) != (refused == nil)) {
				t.Fatalf("seed %d, call %d, %s %s:\n%.2000s, %v\nthe public server:\n%.2000s, %v", seed, n, tool, show(arguments), got, err, want, refused)
			}
			if why != "" {
				differ[why]++
			}
		}
		if err := theirs.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d calls, differences that the page lists: %v", seeds*calls, differ)
}

// listed names the difference that docs/mcp.md lists and that two answers show; "" for none.
func listed(tool, got, want string, err, refused error) string {
	switch {
	case strings.HasPrefix(tool, "delete_") && err == nil && refused == nil && got != want && strings.HasPrefix(got, "Deleted ") && strings.HasSuffix(want, " deleted successfully"):
		return "a deletion says what was not there"
	case err != nil && refused != nil && strings.Contains(refused.Error(), "not found") && strings.Contains(err.Error(), strings.TrimSpace(refused.Error())):
		return "the same error in other words"
	}
	return ""
}

func show(arguments any) string {
	data, err := json.Marshal(arguments)
	if err != nil {
		return err.Error()
	}
	return string(data[:min(len(data), 2000)])
}

// wildCalls makes calls about few names, so that most meet others. No two names, and no two types
// of relations, differ in case, spaces or punctuation alone, and no list holds an item twice.
type wildCalls struct{ r *rand.Rand }

var (
	wildNames = []string{
		"Ada Lovelace", "Bob", "bo b", "C", "C#", "C++", "-5", "5", "/src/a-b.go", "/src/a/b.go", "./x", "./x/...", "東京", "Straße 9", "x > y", "x < y",
		"observation", "entity-type", "@scope/pkg", "scope/pkg", "a..b", "1.2", "12", "https://example.com/A", "https://example.com/a", "file:a b", "50%", "🎉",
	}
	wildKinds = []string{"->", "<-", "=", "observation", "entity-type", "knows of", "uses", "!uses", "is 5", "is -5", "ﬁ-les"}
	wildTexts = []string{
		"", "!!!", "...", "the limit is -5", "the limit is 5", "The limit is 5", "timeout < 30s", "timeout > 30s", "works 50%", "works 50", "a  b", "a b",
		"line\nbreak", "tab\t", "\"quoted\" \\ <&>", "\u2028", "a\u2029b", `\u2028`, `\\u2028`, "\u0000\u001b[2J", "İstanbul ΣΑΣ", "ﬁ", "fi", "👩‍💻", "text:x", strings.Repeat("long ", 12_000), "observation", "person", "Person",
	}
)

func some[T any](r *rand.Rand, from []T, most int) []T {
	list := []T{}
	for _, i := range r.Perm(len(from))[:r.IntN(most+1)] {
		list = append(list, from[i])
	}
	return list
}

func one[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (w *wildCalls) text() string {
	if w.r.IntN(4) > 0 {
		return one(w.r, wildTexts)
	}
	signs := []rune("ab 15<>=-+%~!#@.…ßİ中👩\u0301\u200d")
	var b strings.Builder
	for range w.r.IntN(12) {
		b.WriteRune(one(w.r, signs))
	}
	return "x" + b.String() + "x" // without white space or a mark at its ends
}

// texts returns different texts.
func (w *wildCalls) texts(most int) []string {
	seen, list := map[string]bool{}, []string{}
	for range w.r.IntN(most + 1) {
		if text := w.text(); !seen[text] && text == strings.TrimSpace(text) {
			seen[text] = true
			list = append(list, text)
		}
	}
	return list
}

func (w *wildCalls) relations(most int) []any {
	seen, list := map[string]bool{}, []any{}
	for range w.r.IntN(most + 1) {
		from, to, kind := one(w.r, wildNames), one(w.r, wildNames), one(w.r, wildKinds)
		if key := fmt.Sprintf("%q %q %q", from, kind, to); !seen[key] {
			seen[key] = true
			list = append(list, map[string]any{"from": from, "to": to, "relationType": kind})
		}
	}
	return list
}

// next returns the next call.
func (w *wildCalls) next() (tool string, arguments map[string]any) {
	list := func(key string, names []string, item func(name string) any) map[string]any {
		items := []any{}
		for _, name := range names {
			items = append(items, item(name))
		}
		return map[string]any{key: items}
	}
	switch w.r.IntN(12) {
	case 0, 1:
		return "create_entities", list("entities", some(w.r, wildNames, 5), func(name string) any {
			return map[string]any{"name": name, "entityType": w.text(), "observations": w.texts(4)}
		})
	case 2, 3:
		return "create_relations", map[string]any{"relations": w.relations(5)}
	case 4, 5:
		return "add_observations", list("observations", some(w.r, wildNames, 2), func(name string) any { return map[string]any{"entityName": name, "contents": w.texts(5)} })
	case 6:
		return "delete_observations", list("deletions", some(w.r, wildNames, 3), func(name string) any { return map[string]any{"entityName": name, "observations": w.texts(5)} })
	case 7:
		return "delete_relations", map[string]any{"relations": w.relations(4)}
	case 8:
		if w.r.IntN(3) > 0 {
			return "read_graph", map[string]any{}
		}
		return "delete_entities", map[string]any{"entityNames": some(w.r, wildNames, 2)}
	case 9:
		return "open_nodes", map[string]any{"names": some(w.r, wildNames, 6)}
	case 10:
		return "search_nodes", map[string]any{"query": one(w.r, []string{"", "ADA", "5", "-5", "<", "ß", "İ", "i̇", "σας", "person", "c#", "LONG", "\n", "\x00", "👩"})}
	}
	return "read_graph", map[string]any{}
}
