package extract

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// commandTools are the tools that run a command.
var commandTools = []string{"Bash", "bash", "shell", "local_shell", "run_shell_command", "run_terminal_cmd", "execute_command"}

// commandOf returns the command that a call runs, or "". Some programs pass it as the words of "bash -lc COMMAND".
func commandOf(c *call) string {
	if !slices.Contains(commandTools, c.tool) {
		return ""
	}
	var words []string
	if raw, ok := c.input["command"]; ok && json.Unmarshal(raw, &words) == nil && len(words) == 3 &&
		(words[0] == "bash" || words[0] == "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return c.text("command")
}

// exitText begins Claude Code's result of a command that ran and failed. An error without it belongs to a command that did not
// run, because it was refused or not allowed.
const exitText = "Exit code "

func ran(r *result) bool { return !r.failed || strings.HasPrefix(r.text, exitText) }

// command finds facts about a command that ran.
func (x *extraction) command(c *call, r *result, text string) {
	x.add(&c.by, RanCommand, strings.TrimSpace(text), c.sure())
	list, ok := splitShell(text)
	if !ok {
		x.skipped.UnclearCommand++
		return
	}
	var git, commits, tests, gh, opens bool
	for i := range list {
		words := list[i].words
		sub := gitSubcommand(words)
		git = git || sub != ""
		commits = commits || slices.Contains(committing, sub)
		tests = tests || runsTests(words)
		if len(words) > 0 && words[0].text == "gh" {
			gh = true
			opens = opens || len(words) > 2 && words[1].text == "pr" && words[2].text == "create"
			x.pullArgument(c, words)
		}
		if !r.failed {
			x.packages(c, list, i)
		}
	}
	if commits {
		x.commitLines(c, r.text)
	}
	if git {
		x.branchLines(c, r.text)
	}
	if tests {
		x.testLines(c, r.text)
	}
	if gh {
		x.addresses(&c.by, NamedPullRequest, r.text)
	}
	if opens && !r.failed {
		x.opened(c, r.text)
	}
}

// gitSubcommand returns the subcommand of a git command, or "".
func gitSubcommand(words []word) string {
	if len(words) == 0 || words[0].text != "git" {
		return ""
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i].text; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree":
			i++
		case !strings.HasPrefix(w, "-"):
			return w
		}
	}
	return ""
}

// committing are the subcommands that print the commits they made.
var committing = []string{"commit", "merge", "cherry-pick", "revert", "rebase", "am"}

// commitLine matches git's line about a commit that it made.
var commitLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\[([^\]\n]*?)( \(root-commit\))? ([0-9a-f]{7,64})\] `)
})

// commitLines finds commits. A failed command may have made commits before it failed.
func (x *extraction) commitLines(c *call, text string) {
	if !strings.Contains(text, "] ") {
		return
	}
	for _, m := range commitLine().FindAllStringSubmatch(text, -1) {
		branch := m[1]
		if branch != "detached HEAD" {
			if !isBranch(branch) {
				continue
			}
			x.add(&c.by, OnBranch, branch, FixedForm)
		}
		x.add(&c.by, MadeCommit, m[3], FixedForm)
	}
}

// branchLine matches git's lines about the current branch or a switch to another.
var branchLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:On branch ([^\s']+)|(?:Switched to(?: a new)? branch|Already on) '([^\s']+)')$`)
})

func (x *extraction) branchLines(c *call, text string) {
	if !strings.Contains(text, "On branch ") && !strings.Contains(text, "Switched to") && !strings.Contains(text, "Already on") {
		return
	}
	for _, m := range branchLine().FindAllStringSubmatch(text, -1) {
		if branch := m[1] + m[2]; isBranch(branch) {
			x.add(&c.by, OnBranch, branch, FixedForm)
		}
	}
}

// isBranch reports whether git would accept s as a branch, judging by its bytes only.
func isBranch(s string) bool {
	return s != "" && !strings.ContainsAny(s, " ~^:?*[\\\t\r\n") && !strings.Contains(s, "..") && s[0] != '-'
}

// pullCommands are the subcommands of "gh pr" with a pull request as argument.
var pullCommands = strings.Fields("checkout checks close comment diff edit merge ready reopen review update-branch view")

// pullArgument finds the number in "gh pr view 174". It finds no address, since that needs the repository, which the command
// takes from the folder.
func (x *extraction) pullArgument(c *call, words []word) {
	if len(words) < 4 || words[1].text != "pr" || !slices.Contains(pullCommands, words[2].text) || !words[3].fixed {
		return
	}
	number := strings.TrimPrefix(words[3].text, "#")
	if number != "" && len(number) < 10 && strings.Trim(number, "0123456789") == "" {
		x.add(&c.by, NamedPullRequest, "#"+number, FixedForm)
	}
	x.addresses(&c.by, NamedPullRequest, words[3].text)
}

// opened finds the output of "gh pr create": the address on its own line.
func (x *extraction) opened(c *call, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if mayHavePullAddress(line) && pullAddress().FindString(line) == line {
			x.add(&c.by, OpenedPullRequest, line, FixedForm)
		}
	}
}
