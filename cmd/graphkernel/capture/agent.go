package capture

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// An Installation describes the hooks of this program in an agent's settings.
type Installation struct {
	Agent    capture.Agent
	Settings string    // the file with the hooks
	Since    time.Time // when the file was written last
	Hooks    int       // hooks of this program
	Missing  []string  // programs that hooks name and that do not exist
	Other    string    // a spool that hooks name instead of the one of this program's settings; "" if there is none
	Off      string    // what keeps the agent from calling hooks, with the file that says so; "" if nothing does
	Context  string    // the policy by which a hook answers with contexts; "" if none does
	Guard    string    // the policy by which a hook judges tool calls; "" if none does
	Version  string    // version of the agent; "" if it was not found
	Unloaded bool      // the hooks are in the plugin, which this version of the agent does not load
	Old      bool      // the agent does not know "onFailure": if a guard cannot be started, calls pass
}

// Inspect returns what is installed for an agent, or nil if the agent's settings have no folder.
func Inspect(ctx context.Context, a *cli.App, agent capture.Agent) (*Installation, error) {
	t, err := targetOf(a, agent, "")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(t.settings)); err != nil {
		return nil, nil
	}
	data, err := readIfThere(t.settings)
	if err != nil {
		return nil, err
	}
	hooks, lines, err := t.installed()
	if err != nil {
		return nil, err
	}
	path := t.settings
	if of, _, err := capture.Installed(agent, data); err == nil && len(of) < len(hooks) {
		path = t.hooks()
	}
	spool, err := a.Settings.Spool()
	if err != nil {
		return nil, err
	}
	in := &Installation{Agent: agent, Settings: path, Hooks: len(hooks)}
	if info, err := os.Stat(path); err == nil {
		in.Since = info.ModTime()
	}
	for _, line := range lines {
		if _, err := os.Stat(line[0]); err != nil && !slices.Contains(in.Missing, line[0]) {
			in.Missing = append(in.Missing, line[0])
		}
		at := 2 // the command is PROGRAM AGENT SPOOL
		if line[1] == "hook" {
			at = 3
		}
		if at < len(line) && line[at] != spool.Folder() {
			in.Other = line[at]
		}
		if at := slices.Index(line, "--context"); at >= 0 && at+1 < len(line) {
			in.Context = line[at+1]
		}
	}
	in.Off = switchedOff(agent, t.settings, data)
	if off := capture.PluginOff(data); in.Off == "" && off != "" && path != t.settings {
		in.Off = off + " in " + t.settings
	}
	if in.Guard, err = t.guard(); err != nil {
		return nil, err
	}
	in.Version = versionOf(ctx, a.Settings.Getenv, agent.Program())
	in.Unloaded = path != t.settings && in.Version != "" && olderThan(in.Version, pluginSince...)
	in.Old = agent == capture.ClaudeCode && in.Version != "" && olderThan(in.Version, 2, 1, 295)
	return in, nil
}

// projectSettings are the files of a project that take precedence over the user's settings in Claude Code.
var projectSettings = []string{".claude/settings.local.json", ".claude/settings.json"}

// switchedOff says what keeps an agent from calling hooks in the folder that this program runs in.
func switchedOff(agent capture.Agent, path string, settings []byte) string {
	look := func(file string, managed bool) string {
		data, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			return ""
		}
		if off := capture.HooksOff(agent, data, managed); off != "" {
			return off + " in " + file
		}
		return ""
	}
	for _, file := range agent.SwitchFiles(path) {
		if off := look(file, true); off != "" {
			return off
		}
	}
	if agent == capture.ClaudeCode {
		for _, file := range projectSettings {
			if off := look(file, false); off != "" {
				return off
			}
		}
	}
	if off := capture.HooksOff(agent, settings, false); agent != capture.Codex && off != "" { // the hooks file of Codex has no switch
		return off + " in " + path
	}
	return ""
}

var version = regexp.MustCompile(`\b(\d+)\.(\d+)\.(\d+)`)

// versionOf asks a program on the PATH for its version. It returns "" if there is no program, or no version that can be read.
func versionOf(ctx context.Context, getenv func(string) string, program string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	for _, folder := range filepath.SplitList(getenv("PATH")) {
		path := filepath.Join(folder, program)
		if info, err := os.Stat(path); err != nil || info.IsDir() || !filepath.IsAbs(path) {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(version.Find(out)))
	}
	return ""
}

// olderThan reports whether a version is older than the one with these numbers.
func olderThan(v string, than ...int) bool {
	parts := version.FindStringSubmatch(v)
	for i, want := range than {
		if got, err := strconv.Atoi(parts[i+1]); err != nil || got != want {
			return err == nil && got < want
		}
	}
	return false
}
