package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// A target is where hooks of an agent can be: in its settings, or in the plugin.
type target struct {
	agent    capture.Agent
	settings string // the file
	plugin   string // the folder; "" if the agent has no plugins, or a person named another file of settings
}

func targetOf(a *cli.App, agent capture.Agent, named string) (t target, err error) {
	t.agent = agent
	if t.settings, err = settingsOf(a, agent, named); err == nil && named == "" {
		t.plugin = agent.PluginFolder(a.Settings.Getenv)
	}
	return t, err
}

// hooks returns the file of the plugin's hooks.
func (t *target) hooks() string {
	return filepath.Join(t.plugin, filepath.FromSlash(capture.PluginHooks))
}

// An edit replaces a file. before is nil if there is no file, and after is nil if there is to be none.
type edit struct {
	path          string
	before, after []byte
}

// edits are the changes of setup, in the order in which they are made. The manifest of the plugin comes first and goes last, so that a change that is cut off can be made again.
type edits []edit

// of returns the edit of a file.
func (list edits) of(path string) edit {
	for _, e := range list {
		if e.path == path {
			return e
		}
	}
	return edit{path: path}
}

// readIfThere returns nil if there is no file.
func readIfThere(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// installed returns the hooks in the settings and in the plugin, with their command lines.
func (t *target) installed() (hooks []capture.Hook, lines [][]string, err error) {
	paths := []string{t.settings}
	if t.plugin != "" {
		paths = append(paths, t.hooks())
	}
	for _, path := range paths {
		text, err := readIfThere(path)
		if err != nil {
			return nil, nil, err
		}
		of, words, err := capture.Installed(t.agent, text)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		hooks, lines = append(hooks, of...), append(lines, words...)
	}
	return hooks, lines, nil
}

// guard returns the policy by which a hook judges tool calls; "" if there is none.
func (t *target) guard() (string, error) {
	hooks, lines, err := t.installed()
	if err != nil {
		return "", err
	}
	for i, h := range hooks {
		if at := slices.Index(lines[i], "--guard"); h.Event == capture.PreToolUse && at >= 0 && at+1 < len(lines[i]) {
			return lines[i][at+1], nil
		}
	}
	return "", nil
}

// pluginSince is the oldest version of Claude Code in which TestCodingAgents was seen to pass with the plugin.
var pluginSince = []int{2, 1, 160}

// takesPlugin reports whether the agent on this machine loads plugins. One whose version is unknown is not relied on.
func (t *target) takesPlugin(ctx context.Context, a *cli.App) bool {
	if t.plugin == "" {
		return false
	}
	is := versionOf(ctx, a.Settings.Getenv, t.agent.Program())
	return is != "" && !olderThan(is, pluginSince...)
}

// install returns the edits that put hooks into the plugin, or, without plugin, into the settings, and remove them from the other.
func (t *target) install(plugin bool, hooks []capture.Hook, server []string) (edits, error) {
	if !plugin {
		in, err := t.change(t.settings, func(text []byte) ([]byte, error) { return capture.WithHooks(t.agent, text, hooks) })
		if err != nil {
			return nil, err
		}
		out, err := t.removePlugin()
		return append(edits{in}, out...), err
	}
	if taken, err := t.foreign(); err != nil {
		return nil, err
	} else if taken {
		return nil, cli.Usagef("%s is there and is not the plugin of Graph Kernel; move it away, or give --settings %s to have hooks alone", t.plugin, t.settings)
	}
	files, err := capture.PluginFiles(server...)
	if err != nil {
		return nil, err
	}
	list, err := t.files(files)
	if err != nil {
		return nil, err
	}
	in, err := t.change(t.hooks(), func(text []byte) ([]byte, error) { return capture.WithHooks(t.agent, text, hooks) })
	if err != nil {
		return nil, err
	}
	out, err := t.withoutHooks(t.settings)
	return append(list, in, out), err
}

// remove returns the edits that remove hooks and the plugin.
func (t *target) remove() (edits, error) {
	in, err := t.withoutHooks(t.settings)
	if err != nil {
		return nil, err
	}
	out, err := t.removePlugin()
	return append(edits{in}, out...), err
}

func (t *target) removePlugin() (list edits, err error) {
	if foreign, err := t.foreign(); err != nil || foreign || t.plugin == "" {
		return nil, err
	}
	files, err := capture.PluginFiles("")
	if err != nil {
		return nil, err
	}
	in, err := t.withoutHooks(t.hooks())
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(in.after)) == "{}" {
		in.after = nil
	}
	for name := range files {
		files[name] = nil
	}
	if list, err = t.files(files); err != nil {
		return nil, err
	}
	slices.Reverse(list)
	return append(edits{in}, list...), nil
}

// files returns the edits by which the files of the plugin, apart from its hooks, have some texts; nil: there is no file. The manifest comes first.
func (t *target) files(texts map[string][]byte) (list edits, _ error) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(name string) bool { return name == capture.PluginManifest })
	for _, name := range append([]string{capture.PluginManifest}, names...) {
		e, err := t.change(filepath.Join(t.plugin, filepath.FromSlash(name)), func([]byte) ([]byte, error) { return texts[name], nil })
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// foreign reports whether the plugin's folder has files and is not this program's.
func (t *target) foreign() (bool, error) {
	if t.plugin == "" {
		return false, nil
	}
	manifest, err := readIfThere(filepath.Join(t.plugin, filepath.FromSlash(capture.PluginManifest)))
	if err != nil || manifest != nil {
		return !capture.IsPlugin(manifest), err
	}
	in, err := os.ReadDir(t.plugin)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(in) > 0, err
}

// withoutHooks returns the edit that removes hooks from a file. It changes nothing in a file without such hooks.
func (t *target) withoutHooks(path string) (edit, error) {
	return t.change(path, func(text []byte) ([]byte, error) {
		if hooks, _, err := capture.Installed(t.agent, text); err != nil || len(hooks) == 0 {
			return text, err
		}
		return capture.WithoutHooks(text)
	})
}

func (t *target) change(path string, to func([]byte) ([]byte, error)) (e edit, err error) {
	e.path = path
	if e.before, err = readIfThere(path); err != nil {
		return e, err
	}
	if e.after, err = to(e.before); err != nil {
		return e, fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	return e, nil
}

// diff returns the changes as text, and the files or the folder that they are in.
func (list edits) diff() (text, where string) {
	var paths []string
	for _, e := range list {
		if d := diff.Diff(e.path, e.before, e.path, e.after); d != nil {
			text += string(d)
			paths = append(paths, e.path)
		}
	}
	return text, strings.Join(paths, ", ")
}

// print writes the files as they would be. Only if there are several, each has its path before it.
func (list edits) print(w io.Writer) {
	list = slices.DeleteFunc(slices.Clone(list), func(e edit) bool { return e.after == nil })
	for _, e := range list {
		if len(list) > 1 {
			fmt.Fprintf(w, "%s:\n\n", e.path)
		}
		_, _ = w.Write(e.after) // the program reports a write error
		if len(list) > 1 {
			fmt.Fprintln(w)
		}
	}
}

// apply makes the changes. New files come first, so that no moment is without hooks.
func (list edits) apply(within string) error {
	for _, e := range list {
		if e.after != nil && string(e.after) != string(e.before) {
			if err := writeSettings(e.path, e.after); err != nil {
				return err
			}
		}
	}
	for _, e := range list {
		if e.after != nil || e.before == nil {
			continue
		}
		if err := os.Remove(e.path); err != nil {
			return err
		}
		for folder := filepath.Dir(e.path); within != "" && strings.HasPrefix(folder, within); folder = filepath.Dir(folder) {
			if os.Remove(folder) != nil { // it has other files
				break
			}
		}
	}
	return nil
}
