package capture

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/graphkernel/graphkernel/internal/bom"
)

// A hookSwitch is a member of an agent's settings that keeps the agent from calling any hook.
type hookSwitch struct {
	path    []string
	off     bool // the value that turns hooks off
	managed bool // it works only in a file of an administrator
}

func (s *hookSwitch) String() string {
	text := ""
	for _, name := range s.path {
		text += name + "."
	}
	return fmt.Sprintf("%s: %v", text[:len(text)-1], s.off)
}

// SwitchFiles returns files, apart from the settings file, in which hooks may be turned off: the files by which an
// administrator manages the agent, and Codex's config.toml. settings is the path of the settings file.
//
// Sources: Claude Code, settings; Codex CLI, hooks.
func (a Agent) SwitchFiles(settings string) []string {
	switch a {
	case ClaudeCode:
		return []string{
			"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json",
			`C:\Program Files\ClaudeCode\managed-settings.json`, `C:\ProgramData\ClaudeCode\managed-settings.json`,
		}
	case Codex:
		return []string{filepath.Join(filepath.Dir(settings), "config.toml"), "/etc/codex/requirements.toml", "/etc/codex/managed_config.toml"}
	}
	return nil
}

// HooksOff returns the switch in an agent's settings that keeps it from calling hooks, such as "disableAllHooks: true", or ""
// if there is none. managed says that an administrator wrote the settings.
func HooksOff(agent Agent, settings []byte, managed bool) string {
	settings = bom.Trim(settings)
	if agent == Codex {
		return codexOff(settings)
	}
	for _, s := range dialects[agent].switches {
		if s.managed && !managed {
			continue
		}
		if off := s.in(settings); off != "" {
			return off
		}
	}
	return ""
}

// in returns the switch as text if settings turn it off, and otherwise "".
func (s *hookSwitch) in(settings []byte) string {
	value := json.RawMessage(settings)
	for _, name := range s.path {
		o, err := membersOf(value)
		if err != nil {
			return ""
		}
		value = o.get(name, "null")
	}
	var is *bool
	if json.Unmarshal(value, &is) == nil && is != nil && *is == s.off {
		return s.String()
	}
	return ""
}

// codexSwitch matches a line of TOML that turns hooks off: a key of the table features, or a key with the prefix features.
var codexSwitch = regexp.MustCompile(`^(features\.)?"?(hooks|codex_hooks)"?\s*=\s*false\s*(#.*)?$`)

// codexOff looks for features.hooks = false in a TOML file. It reads tables and keys line by line, which finds the forms that
// Codex itself writes.
func codexOff(settings []byte) string {
	table := ""
	for line := range strings.Lines(string(settings)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(strings.SplitN(line, "]", 2)[0], "[ ")
			continue
		}
		if m := codexSwitch.FindStringSubmatch(line); m != nil && (m[1] != "") == (table == "") && (table == "" || table == "features") {
			return "features." + m[2] + " = false"
		}
	}
	return ""
}
