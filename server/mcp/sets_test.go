package mcp

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/describe"
)

func toolsOf(t testing.TB, c *sdk.ClientSession) (names []string, size int) {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names, len(data)
}

// TestSizes prints how many bytes of a model's window tools/list fills for each set, holds every
// set that is smaller than All to a bound, and docs/mcp.md to the figures.
func TestSizes(t *testing.T) {
	t.Parallel()
	const most = 12 << 10
	s := New(testKernel(t), Options{})
	var table strings.Builder
	for _, set := range Sets {
		s := New(testKernel(t), Options{Tools: selected(t, set.Name)})
		names, size := toolsOf(t, over(t, s, identity(access.Admin)))
		t.Logf("%-8s %2d tools, %6d bytes", set.Name, len(names), size)
		tools := backquoted(set.Tools)
		if set.Name == All {
			tools = set.For
		}
		fmt.Fprintf(&table, "| `%s` | %s | %d |\n", set.Name, tools, size)
		if set.Name != All && size > most {
			t.Errorf("%s: %d bytes, at most %d are allowed", set.Name, size, most)
		}
	}
	for _, role := range access.Roles {
		names, size := toolsOf(t, over(t, s, identity(role)))
		t.Logf("by default, for the role %-8s %2d tools, %6d bytes", role, len(names), size)
		if size > most {
			t.Errorf("%s: %d bytes, at most %d are allowed", role, size, most)
		}
	}
	inManual(t, "| set | tools | bytes of `tools/list` |\n| --- | --- | --- |\n", table.String())
}

var update = flag.Bool("update", false, "write the tables of docs/mcp.md")

// inManual holds a table of docs/mcp.md to its rows.
func inManual(t *testing.T, head, rows string) {
	t.Helper()
	name := filepath.Join("..", "..", "docs", "mcp.md")
	manual, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(manual), head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("docs/mcp.md has no table %q", head)
	}
	want := before + head + rows + "\n" + after
	if want == string(manual) {
		return
	}
	if !*update {
		t.Errorf("docs/mcp.md has another table than\n%s%swrite it with -update", head, rows)
	} else if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Error(err)
	}
}

func backquoted(names []string) string { return "`" + strings.Join(names, "` `") + "`" }

// TestManual holds the tables of tools and of roles in docs/mcp.md to the tools.
func TestManual(t *testing.T) {
	var list, roles strings.Builder
	memory := setNamed(MemorySet).Tools
	for _, d := range definitions() {
		if slices.Contains(memory, d.Name) {
			continue
		}
		input, _ := d.InputSchema.(describe.Schema)
		required, _ := input["required"].([]string)
		var arguments []string
		for _, f := range api.Fields(tools[d.Name].arguments) {
			if properties, _ := input["properties"].(describe.Schema); properties[f.Key] == nil {
				continue
			}
			name := "`" + f.Key + "`"
			if !slices.Contains(required, f.Key) {
				name += "?"
			}
			arguments = append(arguments, name)
		}
		fmt.Fprintf(&list, "| `%s` | %s | %s |\n", d.Name, tools[d.Name].permission, cmp.Or(strings.Join(arguments, ", "), "none"))
	}
	for _, role := range access.Roles {
		var may, nine []string
		for _, name := range toolNames() {
			switch {
			case !role.May(tools[name].permission):
			case slices.Contains(memory, name):
				nine = append(nine, name)
			default:
				may = append(may, name)
			}
		}
		text := backquoted(may)
		switch len(nine) {
		case 0:
		case len(memory):
			text += ", all of the memory"
		default:
			text += ", of the memory " + backquoted(nine)
		}
		fmt.Fprintf(&roles, "| `%s` | %s | %s |\n", role, text, map[bool]string{true: "all"}[role.May(access.Read)]+map[bool]string{true: "`brief://project`"}[role.May(access.Recall) && !role.May(access.Read)])
	}
	inManual(t, "| tool | permission | arguments |\n| --- | --- | --- |\n", list.String())
	inManual(t, "| role | tools | resources, prompts |\n| --- | --- | --- |\n", roles.String())
}

// TestSets holds the table of sets against the tools: each tool is in a set besides All, and each
// name in a set is a tool's.
func TestSets(t *testing.T) {
	t.Parallel()
	in := map[string]bool{}
	for _, set := range Sets {
		if slices.Contains(toolNames(), set.Name) || set.For == "" || strings.ContainsAny(set.Name, ", ") {
			t.Errorf("the set %+v", set)
		}
		for i, name := range set.Tools {
			if _, ok := tools[name]; !ok || slices.Contains(set.Tools[:i], name) {
				t.Errorf("%s: %q is no tool, or is there twice", set.Name, name)
			}
			in[name] = in[name] || set.Name != All
		}
	}
	for name := range tools {
		if !in[name] {
			t.Errorf("%s is in no set", name)
		}
	}
	if len(definitions()) != len(tools) || len(tools) < 20 {
		t.Errorf("%d tools are defined, %d are made", len(definitions()), len(tools))
	}
}

// TestSelection opens sessions with what was selected, and calls every tool there is: one that was
// not selected is as unknown as one that does not exist.
func TestSelection(t *testing.T) {
	t.Parallel()
	nine := setNamed(MemorySet).Tools
	for text, want := range map[string][]string{
		"memory":                       nine,
		"memory, knowledge_path":       append(slices.Clone(nine), "knowledge_path"),
		"cut_slice,cut_slice":          {"cut_slice"},
		"everyday":                     defaultFor(access.Admin).names,
		"":                             defaultFor(access.Admin).names,
		"all,audit":                    toolNames(),
		"show_turn,explain_turn,audit": setNamed(Audit).Tools,
	} {
		c := over(t, New(testKernel(t), Options{Tools: selected(t, text)}), identity(access.Admin))
		names, _ := toolsOf(t, c)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(names, want) {
			t.Errorf("%q: %v, want %v", text, names, want)
		}
		for name := range tools {
			_, err := call(t, c, name, nil)
			if unknown := err != nil && strings.Contains(err.Error(), "unknown tool"); unknown == slices.Contains(want, name) {
				t.Errorf("%q: calling %s: %v", text, name, err)
			}
		}
		if about := c.InitializeResult().Instructions != ""; about != (text != "memory") {
			t.Errorf("%q: instructions are there: %v", text, about)
		}
	}
	if len(nine) != 9 {
		t.Errorf("the public memory server has nine tools, not %d", len(nine))
	}
	names, _ := toolsOf(t, over(t, New(testKernel(t), Options{}), identity(access.Auditor)))
	if !slices.Contains(names, "replay_slice") {
		t.Errorf("an auditor sees %v", names)
	}
	for _, text := range []string{"everyday,everything", "Everyday", ",", "all,", "memory;facts", "cut_slice_"} {
		_, err := ParseTools(text)
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		for _, name := range ToolNames() {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%q: the error does not name %s: %v", text, name, err)
			}
		}
	}
}

// TestSelectionHTTP selects tools in the URL. A session has the tools that were selected when it
// was opened, whatever later requests say.
func TestSelectionHTTP(t *testing.T) {
	t.Parallel()
	web := serve(t, New(testKernel(t), Options{Tools: selected(t, "facts")}))
	open := func(query string) *sdk.ClientSession {
		t.Helper()
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: web.URL + query, HTTPClient: &http.Client{Transport: as{"default admin k1", web.Client().Transport}}, MaxRetries: -1,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	for query, want := range map[string]string{"": "facts", "?tools=memory": "memory", "?tools=memory,facts": "memory,facts", "?tools=all": "all", "?tools=": "facts"} {
		names, _ := toolsOf(t, open(query))
		all := slices.Sorted(slices.Values(selected(t, want).names))
		if !slices.Equal(names, all) {
			t.Errorf("%s: %v, want %v", query, names, all)
		}
	}
	session := open("?tools=verify_bundle")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+"?tools=all", strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read_graph","arguments":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", sessionHeader: session.ID(), whoHeader: "default admin k1"} {
		r.Header.Set(key, value)
	}
	answer, err := web.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body := make([]byte, 1<<12)
	n, _ := answer.Body.Read(body)
	if !strings.Contains(string(body[:n]), "unknown tool") {
		t.Errorf("a tool that was not selected: %s", body[:n])
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+"?tools=everything", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set(whoHeader, "default admin k1")
	bad, err := web.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Body.Close()
	n, _ = bad.Body.Read(body)
	if bad.StatusCode != http.StatusBadRequest || !strings.Contains(string(body[:n]), "the sets are everyday") {
		t.Errorf("a set that there is not: %d, %s", bad.StatusCode, body[:n])
	}
}
