package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const memoryFile = `{"type":"entity","name":"John_Smith","entityType":"person","observations":["Speaks fluent Spanish.","limit -5","limit 5","","!!!"]}
{"type":"entity","name":"Anthropic","entityType":"","observations":[]}
{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"->"}
{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"observation"}
`

// TestMemoryImported imports a file of the public memory server, as the page says and as another
// source, and goes on with the memory where that server ended.
func TestMemoryImported(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--source", "import"}} {
		store := []string{"--dev", "--store", "sqlite:" + filepath.Join(t.TempDir(), "s.db")}
		file := filepath.Join(t.TempDir(), "memory.jsonl")
		if err := os.WriteFile(file, []byte(memoryFile), 0o600); err != nil {
			t.Fatal(err)
		}
		a := testApp()
		var messages bytes.Buffer
		a.IO.Stdout, a.IO.Stderr = &messages, &messages
		if code := a.Run(t.Context(), append(append(store, "knowledge", "import", file), flags...)); code != api.ExitOK {
			t.Fatalf("exit code %d: %s", code, &messages)
		}
		call := memoryOf(t, store)
		want := memoryFile
		if flags != nil {
			want = ""
		}
		if got := graphLines(t, call("read_graph", `{}`)); got != want {
			t.Errorf("%v: the memory is\n%s\nwant\n%s", flags, got, want)
		}
		// The agent is not stuck between the sources: what it makes, it sees and can change.
		call("create_entities", `{"entities":[{"name":"John_Smith","entityType":"person","observations":["Speaks fluent Spanish."]},{"name":"Anthropic","entityType":"","observations":[]}]}`)
		call("add_observations", `{"observations":[{"entityName":"John_Smith","contents":["limit -5","limit 5","","!!!"]}]}`)
		call("create_relations", `{"relations":[{"from":"John_Smith","to":"Anthropic","relationType":"->"},{"from":"John_Smith","to":"Anthropic","relationType":"observation"}]}`)
		if got := graphLines(t, call("read_graph", `{}`)); got != memoryFile {
			t.Errorf("%v: the memory is\n%s\nwant\n%s", flags, got, memoryFile)
		}
		call("delete_entities", `{"entityNames":["John_Smith","Anthropic"]}`)
		if got := graphLines(t, call("read_graph", `{}`)); got != "" {
			t.Errorf("%v: deleted, and there is\n%s", flags, got)
		}
	}
}

// mcpSession connects a client to graphkernel with arguments, within the process.
func mcpSession(t *testing.T, args ...string) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	a := testApp()
	a.IO.Stdin, a.IO.Stdout, a.IO.Stderr = toServer, fromServer, io.Discard
	ended := make(chan int, 1)
	go func() {
		defer fromServer.Close()
		ended <- a.Run(context.Background(), args)
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		if code := <-ended; code != api.ExitOK {
			t.Errorf("%v: exit code %d", args, code)
		}
	})
	return session
}

// memoryOf returns a function that calls tools of graphkernel mcp --memory.
func memoryOf(t *testing.T, store []string) func(tool, arguments string) string {
	t.Helper()
	session := mcpSession(t, append(store, "mcp", "--memory")...)
	return func(tool, arguments string) string {
		t.Helper()
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Content[0].(*sdk.TextContent).Text
		if r.IsError {
			t.Fatalf("%s %s: %s", tool, arguments, text)
		}
		return text
	}
}

// graphLines writes what read_graph returned as the public server's file has it.
func graphLines(t *testing.T, text string) string {
	t.Helper()
	var graph struct {
		Entities []struct {
			Type         string   `json:"type"`
			Name         string   `json:"name"`
			EntityType   string   `json:"entityType"`
			Observations []string `json:"observations"`
		}
		Relations []struct {
			Type         string `json:"type"`
			From         string `json:"from"`
			To           string `json:"to"`
			RelationType string `json:"relationType"`
		}
	}
	if err := json.Unmarshal([]byte(text), &graph); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range graph.Entities {
		graph.Entities[i].Type = "entity"
		if err := e.Encode(graph.Entities[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range graph.Relations {
		graph.Relations[i].Type = "relation"
		if err := e.Encode(graph.Relations[i]); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
