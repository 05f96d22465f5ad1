package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// testKernel returns a kernel over memory, with a key and a fixed clock.
func testKernel(t testing.TB) *kernel.Kernel { return kernelOver(t, memoryStore(t)) }

func memoryStore(t testing.TB) store.Store {
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func kernelOver(t testing.TB, s store.Store) *kernel.Kernel {
	t.Helper()
	sum := sha256.Sum256([]byte("k1"))
	secret, err := token.NewSecret(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(ring), Rand: rand.NewChaCha8([32]byte{1}),
		Clock: func() time.Time { return time.Unix(1_780_000_000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func identity(role access.Role) access.Identity {
	return access.Identity{Tenant: dag.DefaultTenant, Role: role, Subject: "test"}
}

// over connects a client to a server over its stdio.
func over(t testing.TB, s *Server, who access.Identity) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.ServeStdio(context.Background(), who, toServer, fromServer) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return session
}

// call calls a tool once and returns its text, or its complaint.
func call(t testing.TB, c *sdk.ClientSession, name string, arguments any) (text string, complaint error) {
	t.Helper()
	r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return "", err
	}
	text = r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

// whole calls a tool until its answer is whole: it goes on where pages end, and asks for as much
// as there is where there are none. It returns the text, and what was said beside it.
func whole(t testing.TB, c *sdk.ClientSession, name string, arguments any) (text string, about map[string]any, complaint error) {
	t.Helper()
	in := map[string]any{}
	if data, err := json.Marshal(arguments); err != nil {
		t.Fatal(err)
	} else if d := json.NewDecoder(bytes.NewReader(data)); d != nil {
		if d.UseNumber(); d.Decode(&in) != nil || in == nil {
			in = map[string]any{}
		}
	}
	most := StandardBytes
	if n, ok := in["max_bytes"].(json.Number); ok {
		n, err := n.Int64()
		if err != nil {
			t.Fatal(err)
		}
		most = int(n)
	} else if tools[name].answers == atOnce {
		most = 1 << 20
		in["max_bytes"] = most
	}
	for pages := 1; ; pages++ {
		r, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: in})
		if err != nil {
			return "", nil, err
		}
		piece := r.Content[0].(*sdk.TextContent).Text
		if r.IsError {
			return "", nil, errors.New(piece)
		}
		if n := encoded(r); n > most {
			t.Fatalf("%s %.200v: page %d has %d bytes, at most %d are asked for", name, in, pages, n, most)
		}
		if r.StructuredContent != nil {
			t.Fatalf("%s says its answer twice", name)
		}
		text = joined(t, name, text, piece)
		var cut rest
		for _, beside := range r.Content[1:] {
			var said map[string]any
			if err := json.Unmarshal([]byte(beside.(*sdk.TextContent).Text), &said); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if said["cut"] != nil && said["slice_id"] == nil {
				cut.Cut, _ = said["cut"].(string)
				cut.Next, _ = said["next"].(string)
			} else {
				about = said
			}
		}
		if cut.Cut != "" && cut.Next == "" {
			t.Fatalf("%s: %d bytes are too few", name, most)
		}
		if cut.Next == "" || !strings.Contains(cut.Cut, "Call again") || strings.HasSuffix(cut.Next, ".0.0") {
			return text, about, nil
		}
		in["after"] = cut.Next
	}
}

// must is whole for what must succeed. It returns what was said beside the text, or else what the
// text says in JSON.
func must(t testing.TB, c *sdk.ClientSession, name string, arguments any) (text string, result map[string]any) {
	t.Helper()
	text, result, err := whole(t, c, name, arguments)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if result != nil {
		return text, result
	}
	if json.Unmarshal([]byte(text), &result) != nil {
		var list []any
		if err := json.Unmarshal([]byte(text), &list); err == nil {
			return text, map[string]any{"list": list}
		}
		return text, map[string]any{"message": text}
	}
	return text, result
}

type toolSchemas struct{ input *jsonschema.Resolved }

var schemas = func() func(t testing.TB) map[string]toolSchemas {
	once := sync.OnceValues(func() (map[string]toolSchemas, error) {
		all := map[string]toolSchemas{}
		for _, d := range definitions() {
			var both toolSchemas
			for from, to := range map[*any]**jsonschema.Resolved{&d.InputSchema: &both.input} {
				data, err := json.Marshal(*from)
				if err != nil {
					return nil, err
				}
				var s jsonschema.Schema
				if err := json.Unmarshal(data, &s); err != nil {
					return nil, err
				}
				if *to, err = s.Resolve(nil); err != nil {
					return nil, err
				}
			}
			all[d.Name] = both
		}
		return all, nil
	})
	return func(t testing.TB) map[string]toolSchemas {
		t.Helper()
		all, err := once()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}()

// every selects all tools.
func every(t testing.TB) Selection { return selected(t, All) }

func selected(t testing.TB, text string) Selection {
	t.Helper()
	s, err := ParseTools(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func turnID(n int) string { return fmt.Sprintf("0b5e0000-0000-4000-8000-%012d", n) }

// said returns turn n of a chain, as an agent hands it in.
func said(n int, content string) map[string]any {
	turn := map[string]any{
		"id": turnID(n), "conversation": "6a2f0000-0000-4000-8000-000000000001", "role": "user", "author": "human:test",
		"created_at": fmt.Sprintf("2026-01-02T03:04:%02dZ", n), "content": content, "attrs": map[string]any{"external_id": fmt.Sprintf("ext-%d", n)},
	}
	if n > 1 {
		turn["parents"] = []any{map[string]any{"id": turnID(n - 1), "kind": "reply"}}
	}
	return turn
}

func chain(n int) map[string]any {
	turns := make([]any, n)
	for i := range turns {
		turns[i] = said(i+1, fmt.Sprintf("turn %d says <b>\"so\"</b> & \u2028 no more \x1b[31m", i+1))
	}
	return map[string]any{"turns": turns}
}

// joined adds a page of an answer to those before it. Each page of a graph is a whole JSON value.
func joined(t testing.TB, tool, text, piece string) string {
	t.Helper()
	if !strings.Contains("read_graph search_nodes open_nodes", tool) {
		return text + piece
	}
	var all, more memoryGraph
	if err := json.Unmarshal([]byte(piece), &more); err != nil {
		t.Fatalf("%s: a page is no JSON value: %v in %.300q", tool, err, piece)
	}
	if text == "" {
		return piece
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	if n := len(all.Entities) - 1; n >= 0 && len(more.Entities) > 0 && all.Entities[n].Name == more.Entities[0].Name {
		all.Entities[n].Observations = append(all.Entities[n].Observations, more.Entities[0].Observations...)
		more.Entities = more.Entities[1:]
	}
	all.Entities, all.Relations = append(all.Entities, more.Entities...), append(all.Relations, more.Relations...)
	a, err := remembered(all)
	if err != nil {
		t.Fatal(err)
	}
	return a.text
}
