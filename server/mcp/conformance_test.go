//lint:file-ignore SA1019 the suite asks for what later versions of the protocol leave out

package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// TestConformance runs the server suite of @modelcontextprotocol/conformance, which
// .ci/conformance installs and names in the environment:
//
//	MCP_CONFORMANCE="NODE INDEX.js" go test ./server/mcp -run TestConformance -v
//
// Most scenarios call tools, read resources and get prompts of names that the suite
// gives. So the whole suite runs against a server with those added, over this
// package's own transport, sessions and identities; and the scenarios that ask for
// nothing of the kind run against the server as it is.
func TestConformance(t *testing.T) {
	command := strings.Fields(os.Getenv("MCP_CONFORMANCE"))
	if len(command) == 0 {
		t.Skip("needs Node.js 22 and the suite; run .ci/conformance")
	}
	identify := func(*http.Request) (access.Identity, bool) {
		return access.Identity{Tenant: dag.DefaultTenant, Role: access.Admin, Subject: "conformance"}, true
	}
	needsNothing := []string{
		"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "resources-list", "dns-rebinding-protection",
	}
	t.Run("with fixtures", func(t *testing.T) {
		s := newServer(testKernel(t), Options{Tools: every(t)}, adjustForSuite, addForSuite)
		runSuite(t, command, s, s.Handler(identify), nil)
	})
	t.Run("as it is", func(t *testing.T) {
		s := New(testKernel(t), Options{Tools: every(t)})
		runSuite(t, command, s, s.Handler(identify), needsNothing)
	})
}

// recommended lists the scenarios that may come back with recommendations of the
// suite, with the reason why they are not followed. None may fail.
var recommended = map[string]string{
	"server-sse-polling": "it wants answers kept so that a broken stream can be taken up again. Every tool here can " +
		"be called again instead, which costs no memory for answers that nobody fetches. (The SDK primes streams of " +
		"2025-11-25 alone, and the scenario names 2025-03-26.)",
}

// runSuite runs scenarios, or all there are, and fails for each that does not pass.
func runSuite(t *testing.T, command []string, s *Server, h http.Handler, scenarios []string) {
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	web := httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Close()
		web.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	results := t.TempDir()
	node := func(args ...string) []byte {
		c := exec.CommandContext(ctx, command[0], slices.Concat(command[1:], args)...)
		c.Dir = results
		out, err := c.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return out
	}
	want := scenarios
	if scenarios == nil {
		for _, m := range regexp.MustCompile(`(?m)^  - (\S+)`).FindAllSubmatch(node("list", "--server"), -1) {
			want = append(want, string(m[1]))
		}
		const fewest = 30
		if len(want) < fewest {
			t.Fatalf("the suite lists %d scenarios, want at least %d", len(want), fewest)
		}
		node("server", "--url", web.URL+"/mcp", "--suite", "all", "-o", results)
	}
	for _, name := range scenarios {
		node("server", "--url", web.URL+"/mcp", "--scenario", name, "-o", results)
	}
	total := map[string]int{}
	for _, name := range want {
		counts, complaints := outcome(t, results, name)
		reason, known := recommended[name]
		t.Logf("%-32s %d passed, %d failed, %d warnings", name, counts["SUCCESS"], counts["FAILURE"], counts["WARNING"])
		switch {
		case counts["FAILURE"] > 0, counts["WARNING"] > 0 && !known, counts["SUCCESS"] == 0 && !known:
			t.Errorf("%s: %s", name, strings.Join(complaints, "; "))
		case counts["WARNING"] > 0:
			t.Logf("  %s\n  Not followed: %s", strings.Join(complaints, "\n  "), reason)
		case known:
			t.Errorf("%s has nothing to recommend; take it from the list", name)
		}
		for status, n := range counts {
			total[status] += n
		}
	}
	t.Logf("%d scenarios: %d checks passed, %d failed, %d warnings", len(want), total["SUCCESS"], total["FAILURE"], total["WARNING"])
}

// outcome counts what a scenario found.
func outcome(t *testing.T, results, scenario string) (counts map[string]int, complaints []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "server-"+scenario+"-20*", "checks.json"))
	if err != nil || len(files) != 1 {
		return nil, []string{fmt.Sprintf("%d results: %v", len(files), files)}
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(data, &checks); err != nil {
		t.Fatal(err)
	}
	counts = map[string]int{}
	for _, c := range checks {
		counts[c.Status]++
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			complaints = append(complaints, c.Status+" "+c.ID+": "+c.ErrorMessage)
		}
	}
	return counts, complaints
}

// What the suite asks for.

func adjustForSuite(o *sdk.ServerOptions) {
	o.Capabilities.Logging = &sdk.LoggingCapabilities{}
	o.Capabilities.Resources = &sdk.ResourceCapabilities{Subscribe: true}
	o.CompletionHandler = func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
	}
	o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
}

// A picture of one pixel and a sound of no length.
var (
	picture = decode64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	sound   = decode64("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

func decode64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func text(s string) sdk.Content { return &sdk.TextContent{Text: s} }

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded resource"}}
}

func addForSuite(s *sdk.Server) {
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {text("This is a simple text response for testing.")},
		"test_image_content":          {&sdk.ImageContent{Data: picture, MIMEType: "image/png"}},
		"test_audio_content":          {&sdk.AudioContent{Data: sound, MIMEType: "audio/wav"}},
		"test_embedded_resource":      {embedded("test://embedded-resource")},
		"test_multiple_content_types": {text("several"), &sdk.ImageContent{Data: picture, MIMEType: "image/png"}, embedded("test://mixed")},
	} {
		suiteTool(s, name, nil, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) { return content, nil })
	}
	suiteTool(s, "test_error_handling", nil, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return nil, errors.New("this tool always fails")
	})
	suiteTool(s, "test_tool_with_logging", nil, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		for _, step := range []string{"started", "at work", "done"} {
			if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: step}); err != nil {
				return nil, err
			}
			time.Sleep(20 * time.Millisecond) // the suite looks for messages that come before the answer
		}
		return []sdk.Content{text("logged")}, nil
	})
	suiteTool(s, "test_tool_with_progress", nil, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		for _, done := range []float64{0, 50, 100} {
			p := &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: done, Total: 100}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return []sdk.Content{text("done")}, nil
	})
	suiteTool(s, "test_sampling", nil, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		var in struct{ Prompt string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		got, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{
			Messages: []*sdk.SamplingMessage{{Role: "user", Content: text(in.Prompt)}}, MaxTokens: 100,
		})
		if err != nil {
			return nil, err
		}
		return []sdk.Content{got.Content}, nil
	})
	elicits(s, "test_elicitation", map[string]any{"response": map[string]any{"type": "string"}})
	elicits(s, "test_elicitation_sep1034_defaults", map[string]any{
		"name":     map[string]any{"type": "string", "default": "John Doe"},
		"age":      map[string]any{"type": "integer", "default": 30},
		"score":    map[string]any{"type": "number", "default": 95.5},
		"status":   map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": map[string]any{"type": "boolean", "default": true},
	})
	values := []string{"option1", "option2", "option3"}
	titled := []map[string]any{{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}}
	elicits(s, "test_elicitation_sep1330_enums", map[string]any{
		"untitledSingle": map[string]any{"type": "string", "enum": values},
		"titledSingle":   map[string]any{"type": "string", "oneOf": titled},
		"legacyEnum":     map[string]any{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"One", "Two", "Three"}},
		"untitledMulti":  map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": values}},
		"titledMulti":    map[string]any{"type": "array", "items": map[string]any{"anyOf": titled}},
	})
	suiteTool(s, "json_schema_2020_12_tool", map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"$defs": map[string]any{"address": map[string]any{"type": "object", "properties": map[string]any{
			"street": map[string]any{"type": "string"}, "city": map[string]any{"type": "string"},
		}}},
		"properties": map[string]any{"name": map[string]any{"type": "string"}, "address": map[string]any{"$ref": "#/$defs/address"}},
	}, func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error) {
		return []sdk.Content{text("taken")}, nil
	})
	suiteTool(s, "test_reconnection", nil, func(_ context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		if r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond)
		return []sdk.Content{text("reconnected")}, nil
	})
	addResourcesForSuite(s)
	addPromptsForSuite(s)
}

// suiteTool adds a tool. Without a schema it takes any object.
func suiteTool(s *sdk.Server, name string, schema map[string]any, do func(context.Context, *sdk.CallToolRequest) ([]sdk.Content, error)) {
	if schema == nil {
		schema = map[string]any{"type": "object"}
	}
	s.AddTool(&sdk.Tool{Name: name, Description: "of the conformance suite", InputSchema: schema},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			content, err := do(ctx, r)
			if err != nil {
				return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{text(err.Error())}}, nil
			}
			return &sdk.CallToolResult{Content: content}, nil
		})
}

// elicits adds a tool that asks the client for fields.
func elicits(s *sdk.Server, name string, fields map[string]any) {
	suiteTool(s, name, nil, func(ctx context.Context, r *sdk.CallToolRequest) ([]sdk.Content, error) {
		got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "please fill in", RequestedSchema: map[string]any{"type": "object", "properties": maps.Clone(fields)}})
		if err != nil {
			return nil, err
		}
		return []sdk.Content{text(fmt.Sprintf("action=%s, content=%v", got.Action, got.Content))}, nil
	})
}

func addResourcesForSuite(s *sdk.Server) {
	read := func(c sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := c
			c.URI = r.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
		}
	}
	s.AddResource(&sdk.Resource{Name: "text", URI: "test://static-text", MIMEType: "text/plain"}, read(sdk.ResourceContents{MIMEType: "text/plain", Text: "text"}))
	s.AddResource(&sdk.Resource{Name: "binary", URI: "test://static-binary", MIMEType: "image/png"}, read(sdk.ResourceContents{MIMEType: "image/png", Blob: picture}))
	s.AddResource(&sdk.Resource{Name: "watched", URI: "test://watched-resource", MIMEType: "text/plain"}, read(sdk.ResourceContents{MIMEType: "text/plain", Text: "text"}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			data, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(data)}}}, err
		})
}

func addPromptsForSuite(s *sdk.Server) {
	prompt := func(name string, arguments []string, say func(map[string]string) []sdk.Content) {
		p := &sdk.Prompt{Name: name, Description: "of the conformance suite"}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			result := &sdk.GetPromptResult{}
			for _, c := range say(r.Params.Arguments) {
				result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return result, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []sdk.Content { return []sdk.Content{text("a simple prompt")} })
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{embedded(a["resourceUri"]), text("look at it")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: picture, MIMEType: "image/png"}, text("look at it")}
	})
}
