package capture

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
)

// An Agent is a program whose hooks capture can install and whose transcripts can be imported.
type Agent string

// The agents.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	Gemini     Agent = "gemini"
)

// Agents lists all agents.
var Agents = []Agent{ClaudeCode, Codex, Gemini}

// ParseAgent reads an agent's name.
func ParseAgent(s string) (Agent, error) {
	if a := Agent(s); slices.Contains(Agents, a) {
		return a, nil
	}
	return "", fmt.Errorf("capture: agent %q, want one of %q", s, Agents)
}

// A dialect describes how an agent is told which hooks to call, and how it calls them.
type dialect struct {
	program  string // the agent's own program
	sessions string // the folder of the transcripts, below the settings folder
	variable string // the environment variable that names the settings folder, or the folder above folder
	folder   string // the settings folder below the folder that variable names; "" if variable names the settings folder
	home     string // the settings folder below the home folder, used if variable is not set
	file     string
	plugins  string // the folder below the settings folder from which plugins are loaded; "" if there is none

	events    [][2]string // pairs of this package's name and the agent's name of an event, in the order in which hooks are added
	second    int         // how many units of a hook's timeout make a second
	onFailure bool        // the agent can mark a hook so that its failure blocks
	switches  []hookSwitch
}

// sameNames returns pairs for events that have the same name in this package and in the agent.
func sameNames(names ...string) (events [][2]string) {
	for _, name := range names {
		events = append(events, [2]string{name, name})
	}
	return events
}

// dialects has one dialect for each agent.
//
// Sources: Claude Code, hooks reference, and the types of Claude's Agent SDK; Codex CLI, hooks, and its generated schemas; Gemini
// CLI, hooks reference.
var dialects = map[Agent]dialect{
	ClaudeCode: {
		program: "claude", sessions: "projects", variable: "CLAUDE_CONFIG_DIR", home: ".claude", file: "settings.json", plugins: "skills",
		events: sameNames(SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, "PostToolUseFailure", Stop, SubagentStop, PreCompact, SessionEnd),
		second: 1, onFailure: true, switches: []hookSwitch{{[]string{"disableAllHooks"}, true, false}, {[]string{"allowManagedHooksOnly"}, true, true}},
	},
	Codex: {
		program: "codex", sessions: "sessions", variable: "CODEX_HOME", home: ".codex", file: "hooks.json",
		events: sameNames(SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SubagentStop, PreCompact, SessionEnd),
		second: 1,
	},
	Gemini: {
		program: "gemini", sessions: "tmp", variable: "GEMINI_CLI_HOME", folder: ".gemini", home: ".gemini", file: "settings.json",
		events: [][2]string{
			{SessionStart, "SessionStart"}, {UserPromptSubmit, "BeforeAgent"}, {PreToolUse, "BeforeTool"}, {PostToolUse, "AfterTool"},
			{Stop, "AfterAgent"}, {PreCompact, "PreCompress"}, {SessionEnd, "SessionEnd"},
		},
		second: 1000, switches: []hookSwitch{{[]string{"hooksConfig", "enabled"}, false, false}, {[]string{"tools", "enableHooks"}, false, false}},
	},
}

// Program returns the name of the agent's own program.
func (a Agent) Program() string { return dialects[a].program }

// SettingsFile returns the file in which the agent looks for hooks. It returns "" if there is no home folder to look in.
func (a Agent) SettingsFile(getenv func(string) string) string {
	d := dialects[a]
	if folder := getenv(d.variable); folder != "" {
		return filepath.Join(folder, d.folder, d.file)
	}
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	if home == "" {
		return ""
	}
	return filepath.Join(home, d.home, d.file)
}

// Events lists the events for which a hook captures, by this package's names: after each, a transcript has more text or will
// have.
func (a Agent) Events() (names []string) {
	for _, e := range dialects[a].events {
		if e[0] != PreToolUse {
			names = append(names, e[0])
		}
	}
	return names
}

// called returns the agent's name of an event, and named returns this package's name. A name that is not in the table is the
// same in both.
func (a Agent) called(name string) string  { return a.translate(name, 0) }
func (a Agent) named(called string) string { return a.translate(called, 1) }

func (a Agent) translate(name string, from int) string {
	for _, e := range dialects[a].events {
		if e[from] == name {
			return e[1-from]
		}
	}
	return name
}
