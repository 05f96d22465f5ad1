package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/normalize"
)

func entityOf(name, kind string, observations ...any) map[string]any {
	return map[string]any{"name": name, "entityType": kind, "observations": append([]any{}, observations...)}
}

// A memoryCall is a call of one of the nine, with the text that the public server gives:
// JSON without white space, or a sentence; or with a part of the complaint.
type memoryCall struct{ tool, arguments, want, complaint string }

func runMemory(t *testing.T, c *sdk.ClientSession, calls []memoryCall) {
	t.Helper()
	for i, m := range calls {
		text, _, err := whole(t, c, m.tool, json.RawMessage(m.arguments))
		if m.complaint != "" || err != nil {
			if err == nil || m.complaint == "" || !strings.Contains(err.Error(), m.complaint) || strings.Contains(err.Error(), "internal") {
				t.Errorf("call %d, %s %s: %v, %s; want an error with %q", i, m.tool, m.arguments, err, text, m.complaint)
			}
			continue
		}
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(text)) != nil {
			compact.Reset()
			compact.WriteString(text)
		}
		if compact.String() != m.want {
			t.Errorf("call %d, %s %s:\n%s\nwant\n%s", i, m.tool, m.arguments, compact.String(), m.want)
		}
	}
}

// TestMemory holds the nine tools against what the public server gives.
func TestMemory(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
	const (
		ada    = `{"name":"Ada Lovelace","entityType":"Person","observations":["Wrote <Note G>.","likes \"numbers\" & wine"]}`
		note   = `{"name":"Note_G","entityType":"text","observations":[]}`
		bob    = `{"name":"Bob","entityType":"person","observations":["Ada Lovelace's friend"]}`
		wrote  = `{"from":"Ada Lovelace","to":"Note_G","relationType":"wrote"}`
		knows  = `{"from":"Bob","to":"Ada Lovelace","relationType":"knows_of"}`
		reads  = `{"from":"Bob","to":"Note_G","relationType":"reads"}`
		itself = `{"from":"Bob","to":"Bob","relationType":"is"}`
		lost   = `{"from":"Nobody","to":"No-one","relationType":"->"}`
	)
	graph := func(entities, relations string) string {
		return `{"entities":[` + entities + `],"relations":[` + relations + `]}`
	}
	runMemory(t, c, []memoryCall{
		{"read_graph", `{}`, graph("", ""), ""},
		{"search_nodes", `{"query":"a"}`, graph("", ""), ""},
		{"open_nodes", `{"names":["Ada Lovelace"]}`, graph("", ""), ""},
		{"open_nodes", `{"names":[]}`, graph("", ""), ""},
		{"create_entities", `{"entities":[]}`, `[]`, ""},
		{"create_entities", `{"entities":[` + ada + `,` + note + `]}`, `[` + ada + `,` + note + `]`, ""},
		{"create_entities", `{"entities":[` + ada + `,` + bob + `,` + bob + `]}`, `[` + bob + `]`, ""},
		{"create_entities", `{"entities":[{"name":"Bob","entityType":"dog","observations":["barks"]}]}`, `[]`, ""},
		{"create_relations", `{"relations":[]}`, `[]`, ""},
		{"create_relations", `{"relations":[` + wrote + `,` + knows + `]}`, `[` + wrote + `,` + knows + `]`, ""},
		{"create_relations", `{"relations":[` + wrote + `,` + reads + `,` + reads + `,` + itself + `]}`, `[` + reads + `,` + itself + `]`, ""},
		{"create_relations", `{"relations":[` + lost + `]}`, "", "Entity with name Nobody not found"},
		{"create_relations", `{"relations":[{"from":"Ada Lovelace","to":"Bob","relationType":"met"},{"from":"Bob","to":"No-one","relationType":"met"}]}`, "", "Entity with name No-one not found"},
		{"open_nodes", `{"names":["Nobody"]}`, graph("", ""), ""},
		{"read_graph", `{}`, graph(ada+`,`+note+`,`+bob, wrote+`,`+knows+`,`+reads+`,`+itself), ""},
		{"add_observations", `{"observations":[{"entityName":"Note_G","contents":["of 1843","has a table"]},{"entityName":"Bob","contents":["Ada Lovelace's friend"]}]}`,
			`[{"entityName":"Note_G","addedObservations":["of 1843","has a table"]},{"entityName":"Bob","addedObservations":[]}]`, ""},
		{"add_observations", `{"observations":[{"entityName":"Bob","contents":["lost"]},{"entityName":"Nobody","contents":["x"]}]}`, "", "Entity with name Nobody not found"},
		{"search_nodes", `{"query":"ADA"}`, graph(ada+`,`+bob, wrote+`,`+knows+`,`+reads+`,`+itself), ""},
		{"search_nodes", `{"query":"text"}`, graph(`{"name":"Note_G","entityType":"text","observations":["of 1843","has a table"]}`, wrote+`,`+reads), ""},
		{"search_nodes", `{"query":"lost"}`, graph("", ""), ""},
		{"search_nodes", `{"query":"wrote"}`, graph(ada, wrote+`,`+knows), ""},
		{"open_nodes", `{"names":["Note_G","Nobody","Note_G"]}`, graph(`{"name":"Note_G","entityType":"text","observations":["of 1843","has a table"]}`, wrote+`,`+reads), ""},
		{"open_nodes", `{"names":["Bob","Ada Lovelace"]}`, graph(ada+`,`+bob, wrote+`,`+knows+`,`+reads+`,`+itself), ""},
	})
	text, r := must(t, c, "open_nodes", map[string]any{"names": []any{"Ada Lovelace"}})
	if !strings.HasPrefix(text, "{\n  \"entities\": [\n    {\n      \"name\": \"Ada Lovelace\",\n      \"entityType\": \"Person\",\n      \"observations\": [\n        \"Wrote <Note G>.\",\n") {
		t.Errorf("the text is not spelled as the public server spells it:\n%s", text)
	}
	if len(r["entities"].([]any)) != 1 || len(r["relations"].([]any)) != 2 {
		t.Errorf("opened %v", r)
	}
	deletions := []struct{ tool, arguments, want string }{
		{"delete_observations", `{"deletions":[{"entityName":"Note_G","observations":["of 1843"]}]}`, "Observations deleted successfully"},
		{"delete_observations", `{"deletions":[{"entityName":"Note_G","observations":["of 1843"]},{"entityName":"Nobody","observations":["…"]}]}`, "Deleted 0 of 2 observations. Entities not found: Nobody"},
		{"delete_relations", `{"relations":[` + reads + `]}`, "Relations deleted successfully"},
		{"delete_relations", `{"relations":[` + reads + `,{"from":"","to":"…","relationType":"is"}]}`, "Deleted 0 of 2 relations. The rest matched nothing."},
		{"delete_relations", `{"relations":[{"from":"Bob","to":"Ada Lovelace's friend","relationType":"observation"}]}`, "Deleted 0 of 1 relations. The rest matched nothing."},
		{"delete_entities", `{"entityNames":["Ada Lovelace"]}`, "Entities deleted successfully"},
		{"delete_entities", `{"entityNames":["Ada Lovelace","…","person"]}`, "Deleted 0 of 3 entities. Not found: Ada Lovelace, …, person"},
		{"delete_entities", `{"entityNames":[]}`, "Entities deleted successfully"},
	}
	for _, d := range deletions {
		text, _ := must(t, c, d.tool, json.RawMessage(d.arguments))
		if text != d.want {
			t.Errorf("%s %s: %s; want %s", d.tool, d.arguments, text, d.want)
		}
	}
	runMemory(t, c, []memoryCall{
		{"read_graph", `{}`, graph(`{"name":"Note_G","entityType":"text","observations":["has a table"]},`+bob, itself), ""},
		{"create_entities", `{"entities":[` + ada + `]}`, `[` + ada + `]`, ""},
		{"read_graph", `{}`, graph(`{"name":"Note_G","entityType":"text","observations":["has a table"]},`+bob+`,`+ada, itself), ""},
	})
	if _, r := must(t, c, "knowledge_history", fact("Note_G", "observation", "text:of 1843")); r["believed"] != false || r["total"] != 2.0 {
		t.Errorf("what was deleted is not in the history: %v", r)
	}
}

// TestMemoryNames is about what differs from the public server: names that normalise to
// one are one, and what has no name is refused.
func TestMemoryNames(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	c := over(t, New(k, Options{Tools: every(t)}), identity(access.Agent))
	long, tooLong := strings.Repeat("x", normalize.MaxName+1), strings.Repeat("x", normalize.MaxText+1)
	const ada = `{"name":"Ada Lovelace","entityType":"Person","observations":["likes tea"]}`
	runMemory(t, c, []memoryCall{
		{"create_entities", `{"entities":[` + ada + `,{"name":"ada_lovelace","entityType":"code","observations":[]}]}`, `[` + ada + `]`, ""},
		{"create_entities", `{"entities":[{"name":"Tea","entityType":"drink","observations":["Hot"," Hot\n","HOT","cold"]}]}`, `[{"name":"Tea","entityType":"drink","observations":["Hot","HOT","cold"]}]`, ""},
		{"add_observations", `{"observations":[{"entityName":"ADA LOVELACE","contents":["likes tea","sings"]}]}`, `[{"entityName":"ADA LOVELACE","addedObservations":["sings"]}]`, ""},
		{"create_relations", `{"relations":[{"from":"ada-lovelace","to":"TEA","relationType":"Drinks"}]}`, `[{"from":"ada-lovelace","to":"TEA","relationType":"Drinks"}]`, ""},
		{"create_relations", `{"relations":[{"from":"Ada Lovelace","to":"Tea","relationType":"drinks"}]}`, `[]`, ""},
		// Relations name entities as entities are named, and so they can be put together.
		{"open_nodes", `{"names":["TEA"]}`, `{"entities":[{"name":"Tea","entityType":"drink","observations":["Hot","HOT","cold"]}],"relations":[{"from":"Ada Lovelace","to":"Tea","relationType":"Drinks"}]}`, ""},

		{"create_entities", `{"entities":[{"name":"x","entityType":"y","observations":["fine","` + tooLong + `"]}]}`, "", `entities[0].observations[1]: bad form: a text of 65537 bytes, at most 65536: "xxxx`},
		{"create_entities", `{"entities":[{"name":"` + long + `","entityType":"y","observations":[]}]}`, "", `entities[0].name: bad form: a name of 2049 bytes, at most 2048: "xxxx`},
		{"create_entities", `{"entities":[{"name":"?","entityType":"y","observations":[]}]}`, "", `nothing is left of the name: "?"; a name of an entity or a type of a relation has`},
		{"create_entities", `{"entities":[{"name":"text:x","entityType":"y","observations":[]}]}`, "", `"text:x" begins with text:`},
		{"create_entities", `{"entities":[{"name":"","entityType":"y","observations":[]}]}`, "", "entities[0].name"},
		{"create_relations", `{"relations":[{"from":"x","to":"y","relationType":""}]}`, "", "relations[0].relationType"},
		{"create_entities", `{"entities":[{"name":"x","entityType":"y"}]}`, "", `"observations" is missing`},
		{"create_entities", `{"entities":[{"name":"x","entityType":"y","observations":{},"id":1}]}`, "", "want an array"},
		{"create_entities", `{"entities":[` + strings.Repeat(ada+",", MaxMemory) + ada + `]}`, "", "1001 items"},
		{"create_entities", `{}`, "", `"entities" is missing`},
		{"add_observations", `{"observations":[{"entityName":"Tea","contents":["` + tooLong + `"]}]}`, "", "observations[0].contents[0]"},
		{"search_nodes", `{"query":"` + long + `"}`, "", "at most 2048"},
		{"search_nodes", `{}`, "", `"query" is missing`},
		{"open_nodes", `{"names":[1]}`, "", "names[0]"},
		{"open_nodes", `{"names":["` + long + `","…"]}`, `{"entities":[],"relations":[]}`, ""},
	})
	// An entity that is called as a type or an observation is not what that says of others.
	must(t, c, "create_entities", json.RawMessage(`{"entities":[{"name":"drink","entityType":"word","observations":[]},{"name":"sings","entityType":"word","observations":[]}]}`))
	must(t, c, "delete_entities", json.RawMessage(`{"entityNames":["drink","sings"]}`))
	runMemory(t, c, []memoryCall{{"open_nodes", `{"names":["ada lovelace"]}`,
		`{"entities":[{"name":"Ada Lovelace","entityType":"Person","observations":["likes tea","sings"]}],"relations":[{"from":"Ada Lovelace","to":"Tea","relationType":"Drinks"}]}`, ""}})

	// An alias stands for its entity, and not for an observation that has its name.
	learnAlias(t, k, "countess", "ada-lovelace")
	learnAlias(t, k, "sings", "dances")
	runMemory(t, c, []memoryCall{
		{"create_entities", `{"entities":[{"name":"Countess","entityType":"Person","observations":[]}]}`, `[]`, ""},
		{"add_observations", `{"observations":[{"entityName":"Countess","contents":["sings","dances"]}]}`, `[{"entityName":"Countess","addedObservations":["dances"]}]`, ""},
		{"create_relations", `{"relations":[{"from":"Countess","to":"Tea","relationType":"drinks"}]}`, `[]`, ""},
		{"open_nodes", `{"names":["Countess"]}`,
			`{"entities":[{"name":"Ada Lovelace","entityType":"Person","observations":["likes tea","sings","dances"]}],"relations":[{"from":"Ada Lovelace","to":"Tea","relationType":"Drinks"}]}`, ""},
	})
}

// TestMemoryTexts is about what public servers keep that looks like something else: observations
// that differ in a sign alone, that are empty or long, and relations that are called as an
// observation or a type is.
func TestMemoryTexts(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
	texts := []string{
		"the limit is -5", "the limit is 5", "timeout < 30s", "timeout > 30s", "timeout = 30s", "works 50%", "works 50", "C#", "c#", "", "!!!", "...", "a  b", "a b",
		strings.Repeat("long ", normalize.MaxText/5), "ﬁ", "fi", "text:" + strings.Repeat("0", 64), "\x00\u202e\u2028", `"quoted" \ `,
	}
	list := func(texts []string) []any {
		var a []any
		for _, text := range texts {
			a = append(a, text)
		}
		return a
	}
	observed := func() []any {
		t.Helper()
		_, r := must(t, c, "open_nodes", map[string]any{"names": []any{"x"}, "max_bytes": 1 << 20})
		return r["entities"].([]any)[0].(map[string]any)["observations"].([]any)
	}
	must(t, c, "create_entities", map[string]any{"entities": []any{entityOf("x", "")}})
	_, r := must(t, c, "add_observations", map[string]any{"observations": []any{map[string]any{"entityName": "x", "contents": list(texts)}}})
	if added := r["list"].([]any)[0].(map[string]any)["addedObservations"]; !reflect.DeepEqual(added, list(texts)) {
		t.Errorf("added %.500q", added)
	}
	if got := observed(); !reflect.DeepEqual(got, list(texts)) {
		t.Errorf("got %.500q", got)
	}
	for len(texts) > 0 {
		must(t, c, "delete_observations", map[string]any{"deletions": []any{map[string]any{"entityName": "x", "observations": []any{texts[0]}}}})
		if texts = texts[1:]; !reflect.DeepEqual(append([]any{}, observed()...), append([]any{}, list(texts)...)) {
			t.Fatalf("%d are to be left, there are %.500q", len(texts), observed())
		}
	}
	// A precomposed character and its parts are one, and white space around a text is not part of it.
	must(t, c, "add_observations", map[string]any{"observations": []any{map[string]any{"entityName": "x", "contents": []any{"caf\u00e9", " cafe\u0301 "}}}})
	if got := observed(); !reflect.DeepEqual(got, []any{"caf\u00e9"}) {
		t.Errorf("got %q", got)
	}

	relations := []any{}
	for _, kind := range []string{"observation", "entity-type", "->", "<-", "Entity Type!"} {
		relations = append(relations, map[string]any{"from": "x", "to": "x", "relationType": kind})
	}
	must(t, c, "create_relations", map[string]any{"relations": relations})
	_, r = must(t, c, "read_graph", map[string]any{})
	if got := r["relations"].([]any); !reflect.DeepEqual(got, relations[:4]) || len(r["entities"].([]any)) != 1 { // the last is the second
		t.Errorf("relations %v, entities %v", got, r["entities"])
	}
	must(t, c, "delete_relations", map[string]any{"relations": relations})
	if _, r = must(t, c, "read_graph", map[string]any{}); len(r["relations"].([]any)) != 0 || len(r["entities"].([]any)) != 1 || len(observed()) != 1 {
		t.Errorf("left %v", r)
	}
}

// TestMemoryAmongFacts asserts facts of other sources beside the memory: it neither shows nor
// deletes them. It can remember them too, and they are still the other source's when it forgets.
func TestMemoryAmongFacts(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
	must(t, c, "create_entities", map[string]any{"entities": []any{entityOf("Ada", "person"), entityOf("Tea", "drink")}})
	asserts(t, c, fact("Ada", "likes", "Tea"), fact("Ada", "observation", "text:tall"), fact("Ada", "drinks", "Tea", "confidence", 0.5), fact("Bob", "entity type", "text:person"))
	const ada, tea = `{"name":"Ada","entityType":"person","observations":[]}`, `{"name":"Tea","entityType":"drink","observations":[]}`
	const bob, likes = `{"name":"Bob","entityType":"person","observations":[]}`, `{"from":"Ada","to":"Tea","relationType":"likes"}`
	runMemory(t, c, []memoryCall{
		{"read_graph", `{}`, `{"entities":[` + ada + `,` + tea + `],"relations":[]}`, ""},
		{"add_observations", `{"observations":[{"entityName":"Bob","contents":[]}]}`, "", "Entity with name Bob not found"},
		{"create_entities", `{"entities":[` + bob + `]}`, `[` + bob + `]`, ""},
		{"create_relations", `{"relations":[` + likes + `]}`, `[` + likes + `]`, ""},
		{"create_relations", `{"relations":[` + likes + `,{"from":"Ada","to":"Tea","relationType":"drinks"}]}`, `[{"from":"Ada","to":"Tea","relationType":"drinks"}]`, ""},
		{"add_observations", `{"observations":[{"entityName":"Ada","contents":["tall"]},{"entityName":"Bob","contents":[]}]}`,
			`[{"entityName":"Ada","addedObservations":["tall"]},{"entityName":"Bob","addedObservations":[]}]`, ""},
		{"read_graph", `{}`, `{"entities":[{"name":"Ada","entityType":"person","observations":["tall"]},` + tea + `,` + bob + `],"relations":[` + likes + `,{"from":"Ada","to":"Tea","relationType":"drinks"}]}`, ""},
	})
	must(t, c, "delete_entities", map[string]any{"entityNames": []any{"Ada", "Bob"}})
	runMemory(t, c, []memoryCall{{"read_graph", `{}`, `{"entities":[` + tea + `],"relations":[]}`, ""}})
	_, left := must(t, c, "knowledge_find", map[string]any{"source": "mcp"})
	tall, person := mustName(t, "text:tall"), mustName(t, "text:person")
	sameLines(t, "what is left", factLines(left["facts"]), "ada likes tea 1 mcp", "ada drinks tea 0.5 mcp", "ada observation "+tall+" 1 mcp", "bob entity-type "+person+" 1 mcp")
}

func mustName(t testing.TB, written string) string {
	t.Helper()
	name, err := normalize.Name(written)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestMemoryPages reads a memory of more facts than a page has, and one of more than are
// looked at.
func TestMemoryPages(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	c := over(t, s, identity(access.Agent))
	const n = query.MaxFacts + 100
	for first := 0; first < n; first += n / 2 {
		var some []map[string]any
		for i := range n / 2 {
			some = append(some, fact(fmt.Sprintf("e%d", first+i), "entity-type", "text:thing", "source", MemorySource))
		}
		asserts(t, c, some...)
	}
	last := fmt.Sprintf("e%d", n-1)
	for most, want := range map[int]int{n: n, n - 1: n - 1} {
		s.mostFacts = most
		_, r := must(t, c, "read_graph", map[string]any{})
		_, found := must(t, c, "search_nodes", map[string]any{"query": last})
		if cut := want < n; len(r["entities"].([]any)) != want || (r["cut"] != nil) != cut || (found["cut"] != nil) != cut || (len(found["entities"].([]any)) == 0) != cut {
			t.Errorf("of %d facts at most %d: %d entities, %v, %v", n, most, len(r["entities"].([]any)), r["cut"], found)
		}
	}
	s.mostFacts = 5
	if _, r := must(t, c, "open_nodes", map[string]any{"names": []any{last}}); len(r["entities"].([]any)) != 1 || r["cut"] != nil {
		t.Errorf("opened %v", r)
	}
	must(t, c, "delete_entities", map[string]any{"entityNames": []any{last}})
	if _, r := must(t, c, "open_nodes", map[string]any{"names": []any{last}}); len(r["entities"].([]any)) != 0 {
		t.Errorf("deleted, and there: %v", r)
	}
}

// TestMemoryWaits lets a call wait for another that is changing the memory of its tenant.
func TestMemoryWaits(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t), Timeout: 100 * time.Millisecond})
	c := over(t, s, identity(access.Agent))
	done, err := remember(t.Context(), s, dag.DefaultTenant)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, c, "create_entities", map[string]any{"entities": []any{entityOf("a", "b")}}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("while another changes the memory: %v", err)
	}
	must(t, c, "read_graph", map[string]any{})
	done()
	must(t, c, "create_entities", map[string]any{"entities": []any{entityOf("a", "b")}})
}

// TestMemoryAtOnce creates the same many times at once: one call is told that it is new.
func TestMemoryAtOnce(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t), MaxCalls: 16})
	c := over(t, s, identity(access.Agent))
	var all sync.WaitGroup
	var mu sync.Mutex
	created := map[string]int{}
	for w := range 8 {
		all.Go(func() {
			for n := range 10 {
				name := fmt.Sprintf("e%d", n)
				text, err := call(t, c, "create_entities", map[string]any{"entities": []any{entityOf(name, fmt.Sprintf("kind %d", w))}})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if text != "[]" {
					created[name]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for name, n := range created {
		if n != 1 {
			t.Errorf("%s was created %d times", name, n)
		}
	}
	if _, r := must(t, c, "knowledge_find", map[string]any{"predicate": "entity-type"}); len(created) != 10 || r["total"] != 10.0 {
		t.Errorf("%d were created, %v types", len(created), r["total"])
	}
}

// TestDroppedMembers makes sure that a call is done without the members that a tool does not know, wherever they are, and says which those were.
func TestDroppedMembers(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
	for _, m := range []struct{ tool, arguments, want, left string }{
		{"create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["sings"],"color":{"a":[1]}},{"name":"Bob","id":7,"entityType":"person","observations":[]}],"note":"x"}`,
			`[{"name":"Ada","entityType":"person","observations":["sings"]},{"name":"Bob","entityType":"person","observations":[]}]`, "note entities[0].color entities[1].id"},
		{"create_relations", `{"relations":[{"from":"Ada","to":"Bob","relationType":"knows","weight":1}]}`, `[{"from":"Ada","to":"Bob","relationType":"knows"}]`, "relations[0].weight"},
		{"add_observations", `{"observations":[{"entityName":"Bob","contents":["hums"],"at":null}]}`, `[{"entityName":"Bob","addedObservations":["hums"]}]`, "observations[0].at"},
		{"open_nodes", `{"names":["Bob"],"depth":2}`, `{"entities":[{"name":"Bob","entityType":"person","observations":["hums"]}],"relations":[{"from":"Ada","to":"Bob","relationType":"knows"}]}`, "depth"},
		{"search_nodes", `{"query":"hums","limit":2}`, `{"entities":[{"name":"Bob","entityType":"person","observations":["hums"]}],"relations":[{"from":"Ada","to":"Bob","relationType":"knows"}]}`, "limit"},
		{"delete_observations", `{"deletions":[{"entityName":"Bob","observations":["hums"],"x":1}]}`, "Observations deleted successfully", "deletions[0].x"},
		{"delete_relations", `{"relations":[{"from":"Ada","to":"Bob","relationType":"knows","x":1}]}`, "Relations deleted successfully", "relations[0].x"},
		{"delete_entities", `{"entityNames":["Bob"],"x":1}`, "Entities deleted successfully", "x"},
		{"read_graph", `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"max_bytes":8192}`, `{"entities":[{"name":"Ada","entityType":"person","observations":["sings"]}],"relations":[]}`, "a b c d e"},
		{"read_graph", `{}`, `{"entities":[{"name":"Ada","entityType":"person","observations":["sings"]}],"relations":[]}`, ""},
	} {
		text, about, err := whole(t, c, m.tool, json.RawMessage(m.arguments))
		var b bytes.Buffer
		if json.Compact(&b, []byte(text)) != nil {
			b.Reset()
			b.WriteString(text)
		}
		left := ""
		if list, _ := about["left_out"].([]any); len(list) > 0 {
			left = strings.Trim(fmt.Sprint(list), "[]")
			if fmt.Sprint(list) == "" || about["why"] == nil {
				t.Errorf("%s: %v", m.tool, about)
			}
		}
		if err != nil || b.String() != m.want || left != m.left {
			t.Errorf("%s %s: %s, %v, left out %q; want %s, %q", m.tool, m.arguments, b.String(), err, left, m.want, m.left)
		}
	}
	for arguments, complaint := range map[string]string{
		`{"entities":[{"name":"C","entityType":"x"}]}`:                   "observations",
		`{"entities":[{"Name":"C","entityType":"x","observations":[]}]}`: "name",
	} {
		if text, _, err := whole(t, c, "create_entities", json.RawMessage(arguments)); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %s, %v", arguments, text, err)
		}
	}
}

// TestGraphPages reads graphs of every size with bounds of every size: each page is a whole JSON value within its bound, and together they are the graph.
func TestGraphPages(t *testing.T) {
	t.Parallel()
	c := over(t, New(testKernel(t), Options{Tools: every(t)}), identity(access.Agent))
	var entities []any
	for i := range 12 {
		var texts []any
		for j := range i * 7 {
			texts = append(texts, fmt.Sprintf("observation %d of %d with \"quotes\" & <signs>", j, i))
		}
		entities = append(entities, entityOf(fmt.Sprintf("e%d", i), "kind", texts...))
	}
	must(t, c, "create_entities", map[string]any{"entities": append(entities, entityOf("long", "kind", strings.Repeat("€", 20_000), "after"))})
	all, _, err := whole(t, c, "read_graph", map[string]any{"max_bytes": 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{LeastBytes, 3000, StandardBytes, 30_000, 70_000, 200_000} {
		in, text, pages, short := map[string]any{"max_bytes": most}, "", 0, 0
		for ; pages < 1000; pages++ {
			piece, more := once(t, c, "read_graph", in, most)
			text = joined(t, "read_graph", text, piece)
			if more != nil && strings.Contains(more.Cut, "ends with …") {
				short++
			}
			if more == nil || more.Next == "" {
				break
			}
			in["after"] = more.Next
		}
		if want := most < 65_000; (short == 1) != want || short == 0 && text != all || !strings.Contains(text, `"after"`) {
			t.Errorf("of %d bytes: %d pages, %d cut, %d bytes of %d", most, pages+1, short, len(text), len(all))
		}
	}
}
