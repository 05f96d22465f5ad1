package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP speaks to graphkernel mcp with the SDK's own client: within the process,
// and with a child as MCP clients start one.
func TestMCP(t *testing.T) {
	t.Parallel()
	t.Run("pipes", func(t *testing.T) {
		t.Parallel()
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		a := testApp()
		var messages bytes.Buffer
		a.IO.Stdin, a.IO.Stdout, a.IO.Stderr = toServer, fromServer, &messages
		code := make(chan int, 1)
		go func() {
			defer fromServer.Close()
			code <- a.Run(context.Background(), []string{"--dev", "--store", "sqlite:" + filepath.Join(t.TempDir(), "s.db"), "mcp"})
		}()
		useMCP(t, &sdk.IOTransport{Reader: toClient, Writer: fromClient})
		if got := <-code; got != api.ExitOK {
			t.Errorf("exit code %d: %s", got, &messages)
		}
	})
	t.Run("child", func(t *testing.T) {
		t.Parallel()
		c := exec.CommandContext(t.Context(), "graphkernel", "--dev", "--store", "sqlite:"+filepath.Join(t.TempDir(), "s.db"), "mcp")
		c.Env = append(os.Environ(), "HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
		useMCP(t, &sdk.CommandTransport{Command: c})
		if c.ProcessState == nil || c.ProcessState.ExitCode() != api.ExitOK {
			t.Errorf("the child ended with %v", c.ProcessState)
		}
	})
}

// useMCP admits a turn, cuts around it and verifies what was cut.
func useMCP(t *testing.T, transport sdk.Transport) {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, arguments map[string]any) string {
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Content[0].(*sdk.TextContent).Text
		if r.IsError {
			t.Fatalf("%s: %s", name, text)
		}
		return text
	}
	const id = "0b5e0000-0000-4000-8000-000000000001"
	call("admit_turns", map[string]any{"turns": []any{map[string]any{
		"id": id, "conversation": id, "role": "user", "author": "human:test", "created_at": "2026-01-02T03:04:05Z", "content": "ship it?",
	}}})
	bundle := call("cut_slice", map[string]any{"anchor": id})
	if verdict := call("verify_bundle", map[string]any{"bundle": bundle}); !strings.Contains(verdict, `"admissible":true`) {
		t.Errorf("verdict %s", verdict)
	}
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 9 {
		t.Errorf("the role agent has 9 tools, got %v, %v", list, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// TestMCPTools starts graphkernel mcp with each selection of tools.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags []string
		want  int
	}{
		{[]string{"--memory"}, 9},
		{[]string{"--memory", "--tools", "memory"}, 9},
		{[]string{"--memory", "--tools", "everyday"}, 9 + 10},
		{[]string{"--tools", "cut_slice,list_policies"}, 2},
		{[]string{"--tools", "all"}, 35},
		{nil, 10},
	} {
		session := mcpSession(t, append([]string{"--dev", "--store", "sqlite:" + filepath.Join(t.TempDir(), "s.db"), "mcp", "--role", "admin"}, test.flags...)...)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != test.want {
			t.Errorf("%v: %d tools, want %d (%v)", test.flags, len(list.Tools), test.want, err)
		}
	}
}

// TestMCPToolsRefused names tools that there are not, on the command line and in a setting.
func TestMCPToolsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"mcp", "--tools", "everyday,search"}, {"serve", "--mcp-tools", "search"}, {"mcp", "--tools", ""}} {
		a := testApp()
		var messages bytes.Buffer
		a.IO.Stderr = &messages
		if code := a.Run(t.Context(), append([]string{"--dev", "--store", "sqlite:" + filepath.Join(t.TempDir(), "s.db")}, args...)); code != api.ExitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
		if said := messages.String(); args[len(args)-1] != "" && !strings.Contains(said, `"search"; the sets are everyday, facts, audit, memories, beliefs, working, memory, all, and the tools are admit_turns, `) {
			t.Errorf("%v: %s", args, said)
		}
	}
}

// TestMCPToolsCompletion completes the last name of a list.
func TestMCPToolsCompletion(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"": "everyday\n", "ev": "everyday\n", "everyday,mem": "everyday,memories\neveryday,memory\n", "facts,": "facts,everyday\n", "all,cut_slice,cu": ":"} {
		for _, flag := range [][]string{{"mcp", "--tools"}, {"serve", "--mcp-tools"}} {
			a := testApp()
			var out bytes.Buffer
			a.IO.Stdout = &out
			if code := a.Run(t.Context(), append(append([]string{"__complete"}, flag...), typed)); code != api.ExitOK || !strings.HasPrefix(out.String(), want) {
				t.Errorf("%v %q: exit code %d\n%s", flag, typed, code, &out)
			}
		}
	}
}
