package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

// A Format names a kind of input.
type Format string

// The formats that Read knows.
const (
	JSONL      Format = "jsonl"       // the project's own lines
	ClaudeCode Format = "claude-code" // transcripts of Claude Code
	ChatGPT    Format = "chatgpt"     // conversations.json of a ChatGPT export
	OpenAI     Format = "openai"      // chat messages as the OpenAI API takes them
	Git        Format = "git"         // a repository, or a file of commits as JSON lines
	Codex      Format = "codex"       // rollouts of Codex CLI
	ClaudeAI   Format = "claude-ai"   // conversations.json of a Claude.ai export
	Gemini     Format = "gemini"      // sessions of Gemini CLI
	OTel       Format = "otel"        // OpenTelemetry spans and events of generative AI, as OTLP/JSON
)

// Formats lists every format, in the order in which they are documented.
var Formats = [...]Format{JSONL, ClaudeCode, ChatGPT, OpenAI, Git, Codex, ClaudeAI, Gemini, OTel}

// About says in a few words what is of a format.
func (f Format) About() string { return about[f] }

var about = map[Format]string{
	JSONL:      "the lines that export writes",
	ClaudeCode: "transcripts of Claude Code",
	ChatGPT:    "conversations.json of a ChatGPT export",
	OpenAI:     "chat messages as OpenAI's API takes them",
	Git:        "a git repository, or commits as JSON lines",
	Codex:      "sessions of Codex CLI",
	ClaudeAI:   "conversations.json of a Claude.ai export",
	Gemini:     "sessions of Gemini CLI",
	OTel:       "OpenTelemetry's GenAI spans and events as OTLP/JSON",
}

// knownFormats lists the formats for a message.
func knownFormats() string {
	var list []string
	for _, f := range Formats {
		list = append(list, fmt.Sprintf("%s (%s)", f, f.About()))
	}
	return strings.Join(list, ", ")
}

// ParseFormat reads a format's name.
func ParseFormat(s string) (Format, error) {
	for _, f := range Formats {
		if string(f) == s {
			return f, nil
		}
	}
	return "", fmt.Errorf("ingest: format %q, want one of %q", s, Formats)
}

// ErrFormat is wrapped by the errors of Read that another [Options].Format
// might cure: nothing known was recognised, or more than one thing.
var ErrFormat = errors.New("cannot tell the format")

// ErrBroken is for callers to wrap where a document that is not whole is an error. Read counts it, see [Report].Broken.
var ErrBroken = errors.New("the input is not whole")

// Options tell Read what the caller knows. The zero value looks for itself.
type Options struct {
	// Format is what the input is taken for. Empty: found by looking at the
	// content of each file.
	Format Format

	// Looks keeps what the beginnings of files show, for another reading of them with the same one. Nil: nothing is kept.
	Looks *Looks

	// Progress is called now and then with the bytes read so far and the bytes
	// there are, 0 if that is not known (git). It is called on the goroutine
	// that called Read. Nil: it is not reported.
	Progress func(doneBytes, totalBytes int64)

	// Stdin is what the path [Stdin] stands for. It is copied to a temporary file.
	Stdin io.Reader

	// Secrets looks for secrets in every turn, and does about them what its policy says. Nil: nobody looks.
	Secrets *secrets.Screen

	// Secret is called for each secret that was found, on the goroutine that called Read. Nil: they are counted alone.
	Secret func(Secret)

	// LeaveOut is called with the first turn of each conversation or session, and with the name that the program that wrote it has
	// for it, "" in the project's own lines and for git. All its turns, and those of its sub-agents, are left out and counted under the word that
	// is returned, unless that is "". The turn is as it was read, before secrets are replaced. A session whose first turn names no
	// folder is asked about again with the first that does. Nil: nothing is left out.
	LeaveOut func(session string, first *dag.Draft) string

	// Skipped is called for what is left out, when it is counted in [Report].Skipped, on the goroutine that called
	// Read. Nil: it is counted alone.
	Skipped func(Skip)
}

// A Secret says where a secret is, and what kind of one. The secret itself is not told.
type Secret struct {
	Place string // as in [Batch].Places
	Turn  dag.TurnID
	Rule  string
	In    string         // "content", "author" or "attr NAME"
	Done  secrets.Policy // what was done about it: Redact, Report or Refuse
}

// A Batch is what is to be admitted together. The slices belong to anyone who
// receives the batch.
type Batch struct {
	Source string      // the file or the repository
	Drafts []dag.Draft // parents that are in the batch may be in any order, unless Ordered
	Places []string    // parallel to Drafts: where each came from, FILE:LINE or a commit's hash

	// Ordered says that the drafts are to be admitted in the order they are
	// in, one by one: the project's own lines carry their order of admission.
	Ordered bool

	// Repeats says that a turn whose id was admitted before with the same role,
	// author and content counts as there already, even if this draft puts it in
	// another conversation or under other parents: transcripts repeat each
	// other's history.
	Repeats bool
}

// Read is ReadAll of one path.
func Read(ctx context.Context, path string, opts Options, emit func(*Batch) error) (Report, error) {
	return ReadAll(ctx, []string{path}, opts, emit)
}

// ReadAll reads files and folders and hands what it finds to emit, in batches.
//
// A folder that is a git repository is read as one; of any other folder all
// files below it are read, by ascending path, except for those whose name begins
// with a dot. A zip archive is read as a folder is, a gzip file as what it holds, and
// [Stdin] stands for standard input. Claude Code's sub-agents are read with the session that called
// them. A path that cannot be read, or in which nothing is known ([ErrFormat]), is an error before anything is
// handed over, unless something is known in another path ([Report].Unknown). The first error, of emit too, ends the import: the batches before it
// have been handed over, and the report says what was read up to there.
func ReadAll(ctx context.Context, paths []string, opts Options, emit func(*Batch) error) (Report, error) {
	if opts.Format != "" {
		if _, err := ParseFormat(string(opts.Format)); err != nil {
			return Report{}, err
		}
	}
	r := &reading{
		opts:  opts,
		emit:  emit,
		seen:  map[dag.TurnID]bodySum{},
		left:  map[string]leaving{},
		taken: map[string]bool{},

		rollouts: map[string]*file{},
		threads:  map[string]*codexThread{},

		tally:    tally{report: Report{Skipped: map[string]int{}, Noted: map[string]int{}}, skipped: opts.Skipped},
		progress: progress{show: opts.Progress},
		sources:  sources{ctx: ctx, stdin: opts.Stdin, files: &tree{looks: opts.Looks}},
	}
	defer r.close()
	err := r.paths(paths)
	if err == nil {
		err = r.failed
	}
	if err == nil {
		r.tellProgress(true)
	}
	return r.report, err
}

// A reading is one call of ReadAll.
type reading struct {
	opts Options
	emit func(*Batch) error

	tally
	progress
	sources
	codexFolders

	seen map[dag.TurnID]bodySum
	left map[string]leaving // by session, what Options.LeaveOut said

	taken     map[string]bool         // files that are read with another one
	rollouts  map[string]*file        // of Codex CLI, by the session that each is named after, in lower case
	threads   map[string]*codexThread // sessions of Codex CLI that were read; nil: one that is being read
	following int                     // how many of them are open because one names the next

	unread   []string // results that Claude Code saved, until their session is read
	tolerant bool     // the file that is read may be a damaged packed one
	failed   error    // ends the reading with the next batch
}

// readers read a file of each format, but for Claude Code, whose sessions are read with the files of their sub-agents.
var readers = map[Format]func(r *reading, path string) error{
	JSONL: readOwnLines, ChatGPT: readChatGPT, OpenAI: readOpenAI, Git: readCommitLines, Codex: readCodex, ClaudeAI: readClaudeAI, Gemini: readGemini, OTel: readOTel,
}

// openLines opens a file whose lines are the places of what is read from now on.
func (r *reading) openLines(path string) (*lines, error) {
	in, err := openLines(r.ctx, r.files, path)
	if err == nil {
		r.positions[r.current] = in
		if r.tolerant {
			in.broken = r.brokenPacked
		}
	}
	return in, err
}

// openValues is openLines for a document.
func (r *reading) openValues(path string) (*values, error) {
	in, err := openValues(r.ctx, r.files, path)
	if err == nil {
		r.positions[r.current], in.tolerant = in, r.tolerant
	}
	return in, err
}

// hand returns a batch to the consumer and counts it as handed over.
func (r *reading) hand(b *Batch) error {
	if r.failed != nil {
		return r.failed
	}
	if len(b.Drafts) == 0 {
		return nil
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	edges := 0
	for i := range b.Drafts {
		edges += len(b.Drafts[i].Parents)
	}
	turns := len(b.Drafts)
	if err := r.emit(b); err != nil {
		return err
	}
	r.report.Turns += turns
	r.report.Edges += edges
	return nil
}

// counts of one record, kept aside until it is known whether the record is admitted.
type counts map[string]int

func (c *counts) add(what string) {
	if *c == nil {
		*c = counts{}
	}
	(*c)[what]++
}
