package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// A Skip says where records were left out, and why.
type Skip struct {
	Path    string
	Line    int // from 1; 0: the file as a whole, or records that have no line
	Records int
	Reason  string // a word of [Report].Skipped
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

// A Report says what became of everything that was read. Records is always
// Turns plus the sum of Skipped.
type Report struct {
	Files   []FileReport
	Records int // lines, messages, commits
	Turns   int // drafts handed over
	Edges   int // parents given with them

	Skipped map[string]int // why records gave no turn → how many
	Noted   map[string]int // what was lost or made up inside turns → how often
	Secrets map[string]int // kinds of secrets that were found → how many; nil if there are none

	Broken []BrokenDocument // files of which the rest could not be read

	// Unknown has an error, which wraps ErrFormat and names the path, for each path in which nothing is known and each file of which
	// the format cannot be told. What else was given was read.
	Unknown []error
}

// A BrokenDocument is a JSON document that was read up to a byte. What was whole before it was handed over, and the rest is one record, counted as
// broken_document.
type BrokenDocument struct {
	Path string
	Byte int64 // how many were read
	Line int   // of the last of them, from 1
	Ends bool  // the file ends there; else it goes on and is no JSON
	Err  error // why it could not be unpacked; nil: it was
}

func (b *BrokenDocument) String() string {
	switch {
	case b.Err != nil:
		return fmt.Sprintf("%s: %v", b.Path, b.Err)
	case b.Ends:
		return fmt.Sprintf("%s ends after %d bytes, in line %d, in the middle of a JSON document", b.Path, b.Byte, b.Line)
	}
	return fmt.Sprintf("%s is no JSON from byte %d on, in line %d", b.Path, b.Byte, b.Line)
}

// A FileReport is the part of a Report that one file has in it.
type FileReport struct {
	Path    string
	Format  Format // empty: of no known format
	Records int
	Turns   int
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
		ctx:   ctx,
		opts:  opts,
		emit:  emit,
		seen:  map[dag.TurnID]bodySum{},
		left:  map[string]leaving{},
		taken: map[string]bool{},

		rollouts: map[string]*file{},
		threads:  map[string]*codexThread{},

		files: &tree{looks: opts.Looks},
		report: Report{
			Skipped: map[string]int{},
			Noted:   map[string]int{},
		},
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

// A reading is one call of Read.
type reading struct {
	ctx    context.Context
	opts   Options
	emit   func(*Batch) error
	report Report
	seen   map[dag.TurnID]bodySum
	left   map[string]leaving // by session, what Options.LeaveOut said

	taken     map[string]bool         // files that are read with another one
	rollouts  map[string]*file        // of Codex CLI, by the session that each is named after, in lower case
	threads   map[string]*codexThread // sessions of Codex CLI that were read; nil: one that is being read
	following int                     // how many of them are open because one names the next
	listed    map[string][]string     // the names in folders in which a session was looked for that another one names

	files     *tree
	unread    []string // results that Claude Code saved, until their session is read
	irregular []string // paths in a folder that are no files
	tolerant  bool     // the file that is read may be a damaged packed one
	copies    []string // packed files in a folder that are there unpacked, too
	spooled   string   // the temporary file that holds standard input
	closers   []io.Closer

	failed error // ends the reading with the next batch

	current   int          // the entry of report.Files that records are counted for
	positions []positioner // of its reader; parallel to report.Files

	done, total, told int64 // bytes
	sizeless          bool  // total is not known
}

// A positioner knows on which line a reader of a file is.
type positioner interface{ at() int }

// stat describes what a path that was given stands for.
func (r *reading) stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(r.onDisk(path))
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	return info, nil
}

// readFile reads any file but one of Claude Code.
func (r *reading) readFile(path string, format Format) error {
	r.beginFile(path, format)
	switch format {
	case JSONL:
		return r.ownLines(path)
	case ChatGPT:
		return r.chatgpt(path)
	case OpenAI:
		return r.openai(path)
	case Git:
		return r.commitLines(path)
	case Codex:
		return r.codex(path)
	case ClaudeAI:
		return r.claudeAI(path)
	case Gemini:
		return r.gemini(path)
	case OTel:
		return r.otel(path)
	}
	panic("ingest: no reader for format " + string(format))
}

// beginFile starts the entry of a file in the report. It returns the file that was
// counted for before, for returnTo.
func (r *reading) beginFile(path string, format Format) (before int) {
	before = r.current
	r.report.Files = append(r.report.Files, FileReport{Path: path, Format: format})
	r.positions = append(r.positions, nil)
	r.current = len(r.report.Files) - 1
	return before
}

// returnTo goes on counting for an earlier file.
func (r *reading) returnTo(index int) { r.current = index }

func (r *reading) file() *FileReport { return &r.report.Files[r.current] }

// record counts a record that was read. Each call is answered by one turn in a
// batch or by one call of skip.
func (r *reading) record() {
	r.report.Records++
	r.file().Records++
}

// skip counts the record that was read last as left out.
func (r *reading) skip(reason string) {
	line := 0
	if p := r.positions[r.current]; p != nil {
		line = p.at()
	}
	r.skipAt(line, reason)
}

// skipAt is skip for a record that was read from an earlier line of the file.
func (r *reading) skipAt(line int, reason string) {
	r.report.Skipped[reason]++
	if r.opts.Skipped != nil {
		r.opts.Skipped(Skip{Path: r.file().Path, Line: line, Records: 1, Reason: reason})
	}
}

// skipMany counts records of a file as left out that have no line of their own to be named by.
func (r *reading) skipMany(reason string, n int) {
	if n == 0 {
		return
	}
	r.report.Skipped[reason] += n
	if r.opts.Skipped != nil {
		r.opts.Skipped(Skip{Path: r.file().Path, Records: n, Reason: reason})
	}
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

func (r *reading) note(what string) { r.report.Noted[what]++ }

func (r *reading) noteAll(counts map[string]int) {
	for what, n := range counts {
		r.report.Noted[what] += n
	}
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

// progressStep is how many bytes pass between two calls of Options.Progress.
const progressStep = 1 << 20

func (r *reading) advance(bytes int64) {
	r.done += bytes
	if r.done-r.told >= progressStep {
		r.tellProgress(false)
	}
}

func (r *reading) tellProgress(last bool) {
	if r.opts.Progress == nil || last && r.told == r.done && r.told > 0 {
		return
	}
	r.told = r.done
	total := r.total
	if r.sizeless {
		total = 0
	}
	r.opts.Progress(r.done, total)
}

// counts of one record, kept aside until it is known whether the record is admitted.
type counts map[string]int

func (c *counts) add(what string) {
	if *c == nil {
		*c = counts{}
	}
	(*c)[what]++
}
