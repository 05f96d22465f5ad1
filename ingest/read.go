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

// The formats that Read supports.
const (
	JSONL      Format = "jsonl"       // the project's own lines
	ClaudeCode Format = "claude-code" // transcripts of Claude Code
	ChatGPT    Format = "chatgpt"     // conversations.json of a ChatGPT export
	OpenAI     Format = "openai"      // chat messages in the form of the OpenAI API
	Git        Format = "git"         // a repository, or a file of commits as JSON lines
	Codex      Format = "codex"       // rollouts of Codex CLI
	ClaudeAI   Format = "claude-ai"   // conversations.json of a Claude.ai export
	Gemini     Format = "gemini"      // sessions of Gemini CLI
	OTel       Format = "otel"        // OpenTelemetry spans and events of generative AI, as OTLP/JSON
)

// Formats lists all formats, in the order of the documentation.
var Formats = [...]Format{JSONL, ClaudeCode, ChatGPT, OpenAI, Git, Codex, ClaudeAI, Gemini, OTel}

// About describes inputs of the format in a few words.
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

// Channel returns the channel by which turns of the format come in, if the store's owner imports them.
func (f Format) Channel() dag.Channel { return channels[f] }

var channels = map[Format]dag.Channel{
	JSONL: dag.ChannelLines, ClaudeCode: dag.ChannelHarness, ChatGPT: dag.ChannelChat, OpenAI: dag.ChannelChat, Git: dag.ChannelCommits, Codex: dag.ChannelHarness,
	ClaudeAI: dag.ChannelChat, Gemini: dag.ChannelHarness, OTel: dag.ChannelTrace,
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

// ErrFormat is wrapped by errors of Read that another [Options].Format might resolve: the input has no known format, or more
// than one.
var ErrFormat = errors.New("cannot tell the format")

// ErrBroken is for callers to wrap if an incomplete document is an error for them. Read itself only counts it, see
// [Report].Broken.
var ErrBroken = errors.New("the input is not whole")

// Options are the options of Read. The zero value detects the format and reports nothing.
type Options struct {
	// Format is the format of the input. If it is empty, the content of each file decides.
	Format Format

	// Looks caches how files begin, for later readings with the same Looks. Nil: nothing is cached.
	Looks *Looks

	// Progress is called from time to time with the number of bytes read so far and the total, which is 0 if it is unknown
	// (git). It is called on the goroutine that called Read. Nil: progress is not reported.
	Progress func(doneBytes, totalBytes int64)

	// Stdin is the content of the path [Stdin]. Read copies it to a temporary file.
	Stdin io.Reader

	// Secrets searches every turn for secrets and applies its policy to them. Nil: there is no search.
	Secrets *secrets.Screen

	// Secret is called for each secret that was found, on the goroutine that called Read. Nil: secrets are only counted.
	Secret func(Secret)

	// LeaveOut is called with the first turn of each conversation or session, and with its name in the program that wrote it,
	// which is "" in the project's own lines and for git. If it returns a word other than "", all turns of the session and of
	// its sub-agents are left out and counted under that word. The turn is as it was read, before secrets are replaced. If the
	// first turn names no folder, LeaveOut is called again with the first turn that does. Nil: nothing is left out.
	LeaveOut func(session string, first *dag.Draft) string

	// Skipped is called for skipped records when they are counted in [Report].Skipped, on the goroutine that called Read. Nil:
	// they are only counted.
	Skipped func(Skip)
}

// A Secret says where a secret is, and of what kind. It does not contain the secret.
type Secret struct {
	Place string // in the form of [Batch].Places
	Turn  dag.TurnID
	Rule  string
	In    string         // "content", "author" or "attr NAME"
	Done  secrets.Policy // the policy that was applied: Redact, Report or Refuse
}

// A Batch is a group of drafts to be admitted together. The receiver owns the slices.
type Batch struct {
	Source string      // the file or the repository
	Format Format      // of the source
	Drafts []dag.Draft // parents that are in the batch may be in any order, unless Ordered
	Places []string    // parallel to Drafts: the origin of each, FILE:LINE or a commit's hash

	// Ordered says that the drafts must be admitted in their order, one by one: the project's own lines have the order of their
	// admission.
	Ordered bool

	// Repeats says that a turn counts as already admitted if a turn with the same id, role, author and content was admitted
	// before, even if this draft has another conversation or other parents: transcripts repeat each other's history.
	Repeats bool
}

// Read is ReadAll for one path.
func Read(ctx context.Context, path string, opts Options, emit func(*Batch) error) (Report, error) {
	return ReadAll(ctx, []string{path}, opts, emit)
}

// ReadAll reads files and folders and passes their turns to emit, in batches.
//
// A folder that is a git repository is read as a repository; of any other folder all files below it are read, in ascending
// order of their paths, except those whose names begin with a dot. A zip archive is read like a folder and a gzip file like its
// content, and [Stdin] is standard input. Claude Code's sub-agents are read with the session that called them. A path that
// cannot be read is an error before anything is handed over; so is a path without a known format ([ErrFormat]), unless another
// path has one ([Report].Unknown). The first error, also of emit, ends the import: the batches before it have been handed over,
// and the report covers what was read until then.
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

// A reading is the state of one call of ReadAll.
type reading struct {
	opts Options
	emit func(*Batch) error

	tally
	progress
	sources
	codexFolders

	seen map[dag.TurnID]bodySum
	left map[string]leaving // by session: the results of Options.LeaveOut

	taken     map[string]bool         // files that are read with another file
	rollouts  map[string]*file        // rollouts of Codex CLI, by the lower-case session id in their names
	threads   map[string]*codexThread // sessions of Codex CLI that were read; nil: the session is being read
	following int                     // how many of them are open because each names the next

	unread   []string // saved results of Claude Code, until their session is read
	tolerant bool     // the current file may be a damaged packed file
	failed   error    // the error that the next hand returns
}

// readers has the function that reads a file of each format, except Claude Code, whose sessions are read with the files of
// their sub-agents.
var readers = map[Format]func(r *reading, path string) error{
	JSONL: readOwnLines, ChatGPT: readChatGPT, OpenAI: readOpenAI, Git: readCommitLines, Codex: readCodex, ClaudeAI: readClaudeAI, Gemini: readGemini, OTel: readOTel,
}

// openLines opens a file; its line numbers are the positions of the records that are read next.
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

// openValues is openLines for a JSON document.
func (r *reading) openValues(path string) (*values, error) {
	in, err := openValues(r.ctx, r.files, path)
	if err == nil {
		r.positions[r.current], in.tolerant = in, r.tolerant
	}
	return in, err
}

// hand passes a batch to emit and counts its turns and edges.
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

// counts has the notes of one record until it is decided whether the record is admitted.
type counts map[string]int

func (c *counts) add(what string) {
	if *c == nil {
		*c = counts{}
	}
	(*c)[what]++
}
