package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A session of Claude Code owns the folder with the name of its file, SESSION for SESSION.jsonl:
//
//	SESSION/subagents/agent-ID.jsonl                  a sub-agent
//	SESSION/subagents/workflows/RUN/agent-ID.jsonl    a sub-agent of a workflow
//	 …/agent-ID.meta.json                             what Claude Code says of it: {"agentType","toolUseId",…}
//	SESSION/tool-results/NAME                         results that were too large for the transcript
//
// Older versions put agent-ID.jsonl next to the session's file.
const (
	agentsFolder  = "subagents"
	resultsFolder = "tool-results"
	metaSuffix    = ".meta.json"
)

// Bounds of the search in a session's folder.
const (
	maxAgentDepth = 6         // of folders below SESSION/subagents
	maxAgentFiles = 20_000    // files below it
	maxMetaBytes  = 256 << 10 // of a file that describes a sub-agent
)

// ownFolder returns the folder that a session owns, or "" if its file does not end in .jsonl.
func ownFolder(session string) string {
	folder, ok := strings.CutSuffix(session, ".jsonl")
	if !ok {
		return ""
	}
	return folder
}

// firstRecord returns the first record of a transcript for which wanted returns true, among its first lines, or nil.
func (t *tree) firstRecord(path string, wanted func(*canon.Value) bool) (*canon.Value, error) {
	head, err := t.beginning(path)
	if err != nil {
		return nil, err
	}
	for range lookLines {
		line, rest, more := bytes.Cut(head, []byte{'\n'})
		for _, r := range recordsOf(line) {
			if r.value != nil && r.value.Kind == canon.Object && wanted(r.value) {
				return r.value, nil
			}
		}
		if head = rest; !more {
			break
		}
	}
	return nil, nil
}

// agentFiles returns the files of a session's sub-agents: all agent-*.jsonl below SESSION/subagents, and those next to the
// session's file, where older versions put them, if their records name the same session.
func (t *tree) agentFiles(path string) ([]string, error) {
	if isAgentFile(path) {
		return nil, nil
	}
	var agents []string
	if own := ownFolder(path); own != "" {
		below, err := t.below(filepath.Join(own, agentsFolder))
		if err != nil {
			return nil, err
		}
		agents = slices.DeleteFunc(below, func(path string) bool { return !isAgentFile(path) })
	}
	siblings, err := t.list(filepath.Dir(path))
	siblings = slices.DeleteFunc(siblings, func(path string) bool { return !isAgentFile(path) })
	if err != nil || len(siblings) == 0 {
		return agents, err
	}
	session, err := t.sessionOf(path)
	if err != nil || session == "" {
		return agents, err
	}
	for _, sibling := range siblings {
		other, err := t.sessionOf(sibling)
		if err != nil {
			return nil, err
		}
		if other == session {
			agents = append(agents, sibling)
		}
	}
	return agents, nil
}

// isSubagent reports whether a file has only the records of one sub-agent. If it were imported without its session, the
// sub-agent's first turn would be a root for ever, so such a file waits for its session.
func (t *tree) isSubagent(path string) (bool, error) {
	kept := t.kept(path)
	if kept.subagent != nil {
		return *kept.subagent, nil
	}
	v, err := t.firstRecord(path, func(v *canon.Value) bool { return text(v, "uuid") != "" })
	if err != nil {
		return false, err
	}
	is := v != nil && isTrue(v, "isSidechain") && text(v, "agentId") != ""
	kept.subagent = &is
	return is, nil
}

func isAgentFile(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "agent-") && strings.HasSuffix(name, ".jsonl")
}

// metaFile returns the file with Claude Code's description of the sub-agent whose file is agent.
func metaFile(agent string) string { return strings.TrimSuffix(agent, ".jsonl") + metaSuffix }

// agentMeta reads the description of a sub-agent, or returns nil if there is none.
func (t *tree) agentMeta(agent string) (*canon.Value, error) {
	path := metaFile(agent)
	if !t.has(path) {
		return nil, nil
	}
	in, err := t.openText(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxMetaBytes))
	if err != nil {
		return nil, err
	}
	v, _, err := parseLenient(data)
	if err != nil || v.Kind != canon.Object {
		return nil, nil //nolint:nilerr // half written, or too long: no description yet
	}
	return v, nil
}

func (t *tree) sessionOf(path string) (string, error) {
	v, err := t.firstRecord(path, func(v *canon.Value) bool { return text(v, "sessionId") != "" })
	if err != nil || v == nil {
		return "", err
	}
	return text(v, "sessionId"), nil
}

// isSavedResult reports whether a file is a tool's result that Claude Code saved. It is not a transcript, whatever its content,
// since a tool wrote it.
func (t *tree) isSavedResult(path string) bool {
	folder := filepath.Dir(path)
	if filepath.Base(folder) != resultsFolder {
		return false
	}
	own := filepath.Dir(folder)
	if _, err := dag.ParseConversationID(strings.ToLower(filepath.Base(own))); err == nil {
		return true
	}
	return t.has(own + ".jsonl")
}

// below returns the regular files below a folder of a session in ascending order of their paths, within the bounds, or none if
// there is no such folder. It does not follow links: neither the folder, its parent nor a file may be a link.
func (t *tree) below(dir string) (paths []string, err error) {
	prefix := dir + string(filepath.Separator)
	for path := range t.members {
		if strings.HasPrefix(path, prefix) && strings.Count(path[len(prefix):], string(filepath.Separator)) <= maxAgentDepth {
			paths = append(paths, path)
		}
	}
	if info, err := os.Lstat(filepath.Dir(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, nil
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir && (errors.Is(err, fs.ErrNotExist) || isBelowFile(dir)):
			return fs.SkipAll
		case err != nil:
			return err
		case e.IsDir() && path != dir && strings.Count(path[len(prefix):], string(filepath.Separator)) >= maxAgentDepth:
			return fs.SkipDir
		case len(paths) >= maxAgentFiles:
			return fs.SkipAll
		case e.Type().IsRegular():
			paths = append(paths, path)
		}
		return nil
	})
	slices.Sort(paths)
	return slices.Compact(paths), err
}
