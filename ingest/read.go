package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/graphkernel/graphkernel/dag"
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
)

// Formats lists every format, in the order in which they are documented.
var Formats = [...]Format{JSONL, ClaudeCode, ChatGPT, OpenAI, Git}

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

// Options tell Read what the caller knows. The zero value looks for itself.
type Options struct {
	// Format is what the input is taken for. Empty: found by looking at the
	// content of each file.
	Format Format

	// Progress is called now and then with the bytes read so far and the bytes
	// there are, 0 if that is not known (git). It is called on the goroutine
	// that called Read. Nil: it is not reported.
	Progress func(doneBytes, totalBytes int64)
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
}

// A FileReport is the part of a Report that one file has in it.
type FileReport struct {
	Path    string
	Format  Format // empty: of no known format
	Records int
	Turns   int
}

// Read reads a file or a folder and hands what it finds to emit, in batches.
//
// A folder that is a git repository is read as one; of any other folder all
// files below it are read, by ascending path, except for those whose name begins
// with a dot. Claude Code's sub-agents are read with the session that called
// them. The first error, of emit too, ends the import: the batches before it
// have been handed over, and the report says what was read up to there.
func Read(ctx context.Context, path string, opts Options, emit func(*Batch) error) (Report, error) {
	if opts.Format != "" {
		if _, err := ParseFormat(string(opts.Format)); err != nil {
			return Report{}, err
		}
	}
	r := &reading{
		ctx:  ctx,
		opts: opts,
		emit: emit,
		seen: map[dag.TurnID]bodySum{},
		report: Report{
			Skipped: map[string]int{},
			Noted:   map[string]int{},
		},
	}
	err := r.path(path)
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

	current int // the entry of report.Files that records are counted for

	irregular []string // paths in a folder that are no files

	done, total, told int64 // bytes
}

func (r *reading) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	if !info.IsDir() {
		r.total = info.Size()
		return r.singleFile(path)
	}
	if r.opts.Format == Git || r.opts.Format == "" && isRepository(path) {
		return r.repository(path)
	}
	return r.folder(path)
}

func (r *reading) singleFile(path string) error {
	format := r.opts.Format
	if format == "" {
		look, err := lookAt(path)
		if err != nil {
			return err
		}
		if format, err = look.decide(path); err != nil {
			return err
		}
		if format == "" {
			return fmt.Errorf("ingest: %w: %s is of no known format (%s); say which with --format", ErrFormat, path, look)
		}
	}
	if format == ClaudeCode {
		alone, err := isSubagent(path)
		if err != nil {
			return err
		}
		if alone {
			return r.skipLines(path, ClaudeCode, skipUnjoined)
		}
		agents, err := agentFiles(path)
		if err != nil {
			return err
		}
		for _, a := range agents {
			info, err := os.Stat(a)
			if err != nil {
				return fmt.Errorf("ingest: %w", err)
			}
			r.total += info.Size()
		}
		return r.claudeSession(path, agents)
	}
	return r.readFile(path, format)
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
	}
	panic("ingest: no reader for format " + string(format))
}

// beginFile starts the entry of a file in the report. It returns the file that was
// counted for before, for returnTo.
func (r *reading) beginFile(path string, format Format) (before int) {
	before = r.current
	r.report.Files = append(r.report.Files, FileReport{Path: path, Format: format})
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

func (r *reading) skip(reason string) { r.report.Skipped[reason]++ }

func (r *reading) note(what string) { r.report.Noted[what]++ }

func (r *reading) noteAll(counts map[string]int) {
	for what, n := range counts {
		r.report.Noted[what] += n
	}
}

// hand returns a batch to the consumer and counts it as handed over.
func (r *reading) hand(b *Batch) error {
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
	r.opts.Progress(r.done, r.total)
}

// counts of one record, kept aside until it is known whether the record is admitted.
type counts map[string]int

func (c *counts) add(what string) {
	if *c == nil {
		*c = counts{}
	}
	(*c)[what]++
}
