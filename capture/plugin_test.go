package capture_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/capture"
)

// TestPlugin reads the plugin's files as an agent does: a manifest, an MCP server, and a skill with a name and a description.
func TestPlugin(t *testing.T) {
	files, err := capture.PluginFiles("/opt/graph kernel/graphkernel", "mcp", "--tenant", "acme")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if !capture.IsPlugin(files[capture.PluginManifest]) {
		t.Errorf("the manifest is not recognised: %s", files[capture.PluginManifest])
	}
	var server struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(files[".mcp.json"], &server); err != nil {
		t.Fatal(err)
	}
	if s := server.Servers["graphkernel"]; len(server.Servers) != 1 || s.Command != "/opt/graph kernel/graphkernel" || strings.Join(s.Args, " ") != "mcp --tenant acme" {
		t.Errorf("the server is %+v", server)
	}
	skill := string(files["skills/memory/SKILL.md"])
	head, text, ok := strings.Cut(strings.TrimPrefix(skill, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(skill, "---\nname: memory\ndescription: ") || strings.Count(head, "\n") != 1 || len(head) > 1024 || len(text) > 4096 {
		t.Errorf("the skill begins with %q", head)
	}
	for text, want := range map[string]bool{
		"": false, "{": false, "[]": false, `{"name":"graphkernel"}`: false,
		`{"name":"graphkernel","repository":"https://example.com/other"}`:                        false,
		`{"name":"other","repository":"https://github.com/graphkernel/graphkernel"}`:             false,
		`{"name":"graphkernel","repository":"https://github.com/graphkernel/graphkernel","x":1}`: true,
	} {
		if capture.IsPlugin([]byte(text)) != want {
			t.Errorf("%q is the plugin: %v", text, !want)
		}
	}
}

// TestPluginFolder finds the folder below the settings of Claude Code, and none for other agents.
func TestPluginFolder(t *testing.T) {
	for _, c := range []struct {
		agent capture.Agent
		env   map[string]string
		want  string
	}{
		{capture.ClaudeCode, map[string]string{"HOME": "/h"}, "/h/.claude/skills/graphkernel"},
		{capture.ClaudeCode, map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "/c/skills/graphkernel"},
		{capture.ClaudeCode, nil, ""},
		{capture.Codex, map[string]string{"HOME": "/h"}, ""},
		{capture.Gemini, map[string]string{"HOME": "/h"}, ""},
	} {
		if got := c.agent.PluginFolder(func(name string) string { return c.env[name] }); got != filepath.FromSlash(c.want) {
			t.Errorf("%s with %v has its plugin in %q, want %q", c.agent, c.env, got, c.want)
		}
	}
}

// TestPluginOff finds the switch of the plugin alone.
func TestPluginOff(t *testing.T) {
	for text, off := range map[string]bool{
		`{"enabledPlugins":{"graphkernel@skills-dir":false}}`: true,
		`{"enabledPlugins":{"graphkernel@skills-dir":true}}`:  false,
		`{"enabledPlugins":{"graphkernel@skills-dir":null}}`:  false,
		`{"enabledPlugins":{"graphkernel@elsewhere":false}}`:  false,
		`{"enabledPlugins":[]}`:                               false,
		`{"enabledPlugins":{}}`:                               false,
		`{`:                                                   false,
		"":                                                    false,
		"\ufeff" + `{"enabledPlugins":{"graphkernel@skills-dir":false}}`: true,
	} {
		if got := capture.PluginOff([]byte(text)); (got != "") != off {
			t.Errorf("%s switches it off: %q", text, got)
		}
	}
}
