package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A toolKind says what a tool is for, as its name tells.
type toolKind uint8

const (
	toolNone      toolKind = iota // no tool
	toolOther                     // one whose name tells nothing
	toolReads                     // looks at something
	toolWrites                    // makes or changes something
	toolRuns                      // runs a command; what for, the command tells
	toolPlans                     // keeps a plan or asks for a decision
	toolDelegates                 // gives work to a sub-agent
)

// toolNames are whole names, in lower case.
var toolNames = map[toolKind]string{
	toolReads: "codebase_search file_search glob grep grep_search ls lsp notebookread read read_file toolsearch view webfetch " +
		"web_search websearch web_fetch browser listmcpresources readmcpresource",
	toolWrites:    "apply_patch create_file edit edit_file multiedit notebookedit str_replace_editor str_replace_based_edit_tool write write_file",
	toolRuns:      "bash bashoutput code_interpreter execute_command local_shell python run_command run_terminal_cmd shell terminal",
	toolPlans:     "askuserquestion enterplanmode exitplanmode plan taskcreate taskupdate think todoread todowrite update_plan",
	toolDelegates: "agent delegate spawn_agent subagent task",
}

// toolVerbs begin names of the form VERB_OBJECT.
var toolVerbs = map[toolKind]string{
	toolReads:  "calculate check describe fetch find get inspect list lookup query read search show view",
	toolWrites: "add append book cancel create delete exchange insert modify move publish remove rename return save send set submit transfer update upload write",
	toolRuns:   "build compile execute run test",
	toolPlans:  "ask plan think",
}

// toolWords is made of the two tables and never written to afterwards.
var toolWords, toolVerb = byWord(toolNames), byWord(toolVerbs)

func byWord(table map[toolKind]string) map[string]toolKind {
	m := map[string]toolKind{}
	for kind, words := range table { // in any order: no word is in two lists
		for _, w := range strings.Fields(words) {
			m[w] = kind
		}
	}
	return m
}

// kindOfTool reads the attribute of a turn that names its tools; the first tells.
// Of mcp__SERVER__NAME the name tells.
func kindOfTool(attr string) toolKind {
	if attr == "" {
		return toolNone
	}
	name, _, _ := strings.Cut(attr, ",")
	name = foldASCII(name)
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if kind, ok := toolWords[name]; ok {
		return kind
	}
	verb, _, _ := strings.Cut(strings.ReplaceAll(name, "-", "_"), "_")
	if kind, ok := toolVerb[verb]; ok {
		return kind
	}
	return toolOther
}

// features are what the rules see of a turn at first: attributes, and how the content begins.
type features struct {
	length   int  // of the content, in bytes
	blank    bool // nothing but white space
	compact  string
	meta     bool
	isError  bool
	commit   bool
	merge    bool
	thinking bool   // nothing but thinking
	front    string // the first 64 bytes after white space, folded
	tool     toolKind
	failure  bool // a line of the content reports one
	opening  bool // begins with "let me", "i'll" and the like
	ack      bool // a short text of nothing but agreement or thanks
	notice   bool // begins with a mark that a program put there
}

// outsideOf looks at what tells who speaks in a turn: attributes, and how the content begins.
func outsideOf(d *dag.Draft) *features {
	f := &features{
		length:   len(d.Content),
		compact:  d.Attrs[attrCompact],
		meta:     d.Attrs[attrMeta] == "true",
		isError:  d.Attrs[attrIsError] == "true",
		commit:   d.Attrs["commit"] == "true",
		merge:    d.Attrs["merge"] == "true",
		thinking: d.Attrs[attrBlocks] == "thinking",
	}
	if d.Role == dag.RoleAssistant || d.Role == dag.RoleTool {
		f.tool = kindOfTool(d.Attrs[attrTool])
	}
	f.front = beginning(d.Content)
	f.notice = hasAnyPrefix(f.front, notices)
	return f
}

// beginning returns the first 64 bytes after white space, folded.
func beginning(content string) string {
	content = strings.TrimLeft(content[:min(len(content), rulesHead)], " \t\r\n")
	return foldASCII(content[:min(len(content), 64)])
}

// seenOf returns what the rules look at of a content: its beginning and its end.
func seenOf(d *dag.Draft) (head, tail string) {
	if len(d.Content) <= rulesHead {
		return d.Content, ""
	}
	return d.Content[:rulesHead], d.Content[max(rulesHead, len(d.Content)-rulesTail):]
}

// lookInside looks at the words of a content.
func (f *features) lookInside(d *dag.Draft) {
	f.blank = strings.Trim(d.Content, " \t\r\n") == ""
	f.opening = hasAnyPrefix(f.front, openings)
	f.ack = d.Role == dag.RoleUser && isAck(d.Content)
}

// findFailure looks for a report of a failure. The rules need that of some results alone.
func (f *features) findFailure(d *dag.Draft) {
	head, tail := seenOf(d)
	f.failure = reportsFailure(head) || reportsFailure(tail)
}

// openings begin what an assistant says before it does something.
var openings = []string{"let me ", "let's ", "i'll ", "i will ", "now let ", "now i ", "i need to ", "first, ", "next, ", "i'm going to "}

// notices begin what programs wrote in a person's place.
var notices = []string{"<command-", "<local-command", "<bash-", "[request interrupted", "caveat: "}

// questions begin a question, whether it ends with its mark or not.
var questions = []string{"what ", "why ", "how ", "where ", "when ", "who ", "which ", "is there ", "are there ", "does ", "do we ", "can we "}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// failurePrefixes begin a line that reports a failure, after white space, folded.
var failurePrefixes = []string{
	"error:", "error[", "error -", "fatal:", "panic:", "traceback (most recent call last)", "--- fail", "fail\t", "fail:",
	"failed:", "unhandled ", "npm err!", "segmentation fault", "[compile error]", "exception in thread",
}

// failureBegins are the first bytes of failurePrefixes and of "exit code", folded.
var failureBegins = func() (t [256]bool) {
	for _, p := range append([]string{"exit code "}, failurePrefixes...) {
		t[p[0]] = true
	}
	return t
}()

// mayReportFailure reports whether a line begins with a byte that a report begins with, or with a word that ends with a colon. Most lines of a text do neither.
func mayReportFailure(line string) bool {
	if line == "" {
		return false
	}
	if failureBegins[fold(line[0])] {
		return true
	}
	first, _, _ := strings.Cut(line[:min(len(line), 64)], " ")
	return first != "" && first[len(first)-1] == ':'
}

// reportsFailure reports whether a line of a text does. A word somewhere in a
// sentence or in a program's source does not make one: the line begins with it,
// or it begins with a name that ends so, such as "TypeError:", or it returns
// an exit code other than 0.
func reportsFailure(s string) bool {
	for len(s) > 0 {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		line = strings.TrimLeft(line, " \t")
		if !mayReportFailure(line) {
			continue
		}
		begins := foldASCII(line[:min(len(line), 64)])
		if hasAnyPrefix(begins, failurePrefixes) {
			return true
		}
		first, _, _ := strings.Cut(begins, " ")
		if strings.HasSuffix(first, "error:") || strings.HasSuffix(first, "exception:") {
			return true
		}
		if code, ok := strings.CutPrefix(begins, "exit code "); ok && code != "" && '1' <= code[0] && code[0] <= '9' {
			return true
		}
	}
	return false
}

// ackWords make up a text that only agrees or thanks.
var ackWords = strings.Fields("ok okay yes yep yeah sure thanks thank you continue go on ahead please great good nice perfect cool fine done lgtm y k")

// maxAck is the length of the longest text that is taken for one, in bytes.
const maxAck = 32

func isAck(s string) bool {
	if len(s) > maxAck {
		return false
	}
	words := strings.FieldsFunc(foldASCII(s), func(r rune) bool { return r < 0x80 && !isWordByte(byte(r)) })
	for _, w := range words {
		found := false
		for _, ack := range ackWords {
			found = found || w == ack
		}
		if !found {
			return false
		}
	}
	return len(words) > 0
}
