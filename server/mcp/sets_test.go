package mcp

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
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
	const most = 10_000 // 12 KB, less 2 KB for two tools more
	s := New(testKernel(t), Options{})
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range Sets {
		s := New(testKernel(t), Options{Tools: selected(t, set.Name)})
		names, size := toolsOf(t, over(t, s, identity(access.Admin)))
		t.Logf("%-8s %2d tools, %6d bytes", set.Name, len(names), size)
		if row := regexp.MustCompile("(?m)^\\| `" + set.Name + "` .* (\\d+) \\|$").FindSubmatch(manual); row == nil || string(row[1]) != strconv.Itoa(size) {
			t.Errorf("docs/mcp.md says %s of the set %s, which has %d bytes", row, set.Name, size)
		}
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
		if about := c.InitializeResult().Instructions != ""; about != (text != "memory" && text != "memory, knowledge_path") {
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
