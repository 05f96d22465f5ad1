package capture

import (
	_ "embed" // the skill
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/graphkernel/graphkernel/internal/bom"
)

// pluginName is the name of the plugin, of its folder and of its MCP server.
const pluginName = "graphkernel"

// source names the plugin's origin. A folder whose manifest does not name it is not ours.
const source = "https://github.com/graphkernel/graphkernel"

//go:embed plugin/SKILL.md
var skill []byte

// The files of a plugin, below its folder.
const (
	PluginManifest = ".claude-plugin/plugin.json"
	PluginHooks    = "hooks/hooks.json" // has the form of an agent's settings
	pluginServer   = ".mcp.json"
	pluginSkill    = "skills/memory/SKILL.md"
)

// PluginFolder returns the folder from which the agent loads this program's plugin at the start of each session. It returns "" if the agent has none.
//
// Source: Claude Code, plugins reference; a folder with a manifest below skills needs no installation (plugin@skills-dir).
func (a Agent) PluginFolder(getenv func(string) string) string {
	settings := a.SettingsFile(getenv)
	if settings == "" || dialects[a].plugins == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(settings), dialects[a].plugins, pluginName)
}

// PluginFiles returns the files of the plugin, apart from its hooks, by their paths below its folder. server is the command line of the MCP server.
func PluginFiles(server ...string) (map[string][]byte, error) {
	type mcpServer struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	files := map[string][]byte{pluginSkill: skill, PluginManifest: nil, pluginServer: nil}
	for path, v := range map[string]any{
		PluginManifest: manifest{Name: pluginName, Description: "Tells sessions your rules and what was decided before, captures them, and lets the agent ask what was said.", Repository: source},
		pluginServer:   map[string]any{"mcpServers": map[string]mcpServer{pluginName: {server[0], server[1:]}}},
	} {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		files[path] = append(text, '\n')
	}
	return files, nil
}

type manifest struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Repository  string `json:"repository"`
}

// IsPlugin reports whether a manifest is that of this program's plugin.
func IsPlugin(text []byte) bool {
	var m manifest
	return json.Unmarshal(text, &m) == nil && m.Name == pluginName && m.Repository == source
}

// PluginOff returns the member of Claude Code's settings that switches the plugin off; "" if there is none.
func PluginOff(settings []byte) string {
	id := pluginName + "@skills-dir"
	return (&hookSwitch{path: []string{"enabledPlugins", id}}).in(bom.Trim(settings))
}
