package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// A toolKind says what a tool is for, judging by its name.
type toolKind uint8

const (
	toolNone      toolKind = iota // no tool
	toolOther                     // a tool with an unknown name
	toolReads                     // looks at something
	toolWrites                    // makes or changes something
	toolRuns                      // runs a command; the command shows its purpose
	toolPlans                     // keeps a plan or asks for a decision
	toolDelegates                 // delegates work to a sub-agent
)

// toolNames are complete names, in lower case.
var toolNames = map[toolKind]string{
	toolReads: "codebase_search file_search glob grep grep_search ls lsp notebookread read read_file toolsearch view webfetch " +
		"web_search websearch web_fetch browser listmcpresources readmcpresource",
	toolWrites:    "apply_patch create_file edit edit_file multiedit notebookedit str_replace_editor str_replace_based_edit_tool write write_file",
	toolRuns:      "bash bashoutput code_interpreter execute_command local_shell python run_command run_terminal_cmd shell terminal",
	toolPlans:     "askuserquestion enterplanmode exitplanmode plan taskcreate taskupdate think todoread todowrite update_plan",
	toolDelegates: "agent delegate spawn_agent subagent task",
}

// toolVerbs are the verbs of names of the form VERB_OBJECT.
var toolVerbs = map[toolKind]string{
	toolReads:  "calculate check describe fetch find get inspect list lookup query read search show view",
	toolWrites: "add append book cancel create delete exchange insert modify move publish remove rename return save send set submit transfer update upload write",
	toolRuns:   "build compile execute run test",
	toolPlans:  "ask plan think",
}

// toolWords and toolVerb are built from the two tables and never changed.
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

// kindOfTool returns the kind of the first tool in the attribute that names a turn's tools. For mcp__SERVER__NAME, NAME
// decides.
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

// features are the first properties of a turn that the rules read: attributes, and the beginning of the content.
type features struct {
	length   int  // length of the content, in bytes
	blank    bool // only white space
	compact  string
	meta     bool
	isError  bool
	commit   bool
	merge    bool
	thinking bool   // only thinking
	front    string // the first 64 bytes after white space, folded
	tool     toolKind
	failure  bool // a line of the content reports a failure
	opening  bool // begins with "let me", "i'll" and the like
	ack      bool // a short text that only agrees or thanks
	notice   bool // begins with a mark of a program
}

// outsideOf reads the properties that show who speaks in a turn: attributes, and the beginning of the content.
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

// seenOf returns the parts of a content that the rules read: its beginning and its end.
func seenOf(d *dag.Draft) (head, tail string) {
	if len(d.Content) <= rulesHead {
		return d.Content, ""
	}
	return d.Content[:rulesHead], d.Content[max(rulesHead, len(d.Content)-rulesTail):]
}

// lookInside reads the words of a content.
func (f *features) lookInside(d *dag.Draft) {
	f.blank = strings.Trim(d.Content, " \t\r\n") == ""
	f.opening = hasAnyPrefix(f.front, openings)
	f.ack = d.Role == dag.RoleUser && isAck(d.Content)
}

// findFailure searches for a report of a failure, which the rules need only for some results.
func (f *features) findFailure(d *dag.Draft) {
	head, tail := seenOf(d)
	f.failure = reportsFailure(head) || reportsFailure(tail)
}

// openings begin an assistant's text about its next action.
var openings = []string{"let me ", "let's ", "i'll ", "i will ", "now let ", "now i ", "i need to ", "first, ", "next, ", "i'm going to "}

// notices begin texts that programs wrote in a person's place.
var notices = []string{"<command-", "<local-command", "<bash-", "[request interrupted", "caveat: "}

// questions begin a question, with or without a question mark.
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

// mayReportFailure reports whether a line begins with a byte of failureBegins, or with a word that ends with a colon. Most
// lines do neither.
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

// reportsFailure reports whether a line of a text reports a failure. A word inside a sentence or a program's source does not
// count: the line must begin with one of failurePrefixes, or with a name such as "TypeError:", or with an exit code other than
// 0.
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

// ackWords are the only words of a text that merely agrees or thanks.
var ackWords = strings.Fields("ok okay yes yep yeah sure thanks thank you continue go on ahead please great good nice perfect cool fine done lgtm y k")

// maxAck is the longest such text, in bytes.
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
