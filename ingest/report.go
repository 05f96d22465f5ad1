package ingest

import (
	"errors"
	"fmt"
)

// A Report counts what was read. Records is always Turns plus the sum of Skipped.
type Report struct {
	Files   []FileReport
	Records int // lines, messages, commits
	Turns   int // drafts handed over
	Edges   int // parents of the drafts

	Skipped map[string]int // reason why records became no turn → number of records
	Noted   map[string]int // what was lost or inferred inside turns → number of times
	Secrets map[string]int // kind of secret → number found; nil if there are none

	Broken []BrokenDocument // files that could not be read completely

	// Unknown has an error for each path without a known format, and for each file whose format is ambiguous; it wraps
	// ErrFormat and names the path. All other inputs were read.
	Unknown []error
}

// A BrokenDocument is a JSON document that could only be read up to a byte. The complete values before it were handed over, and
// the rest counts as one record, under broken_document.
type BrokenDocument struct {
	Path string
	Byte int64 // number of bytes read
	Line int   // line of the last byte read, from 1
	Ends bool  // the file ends there; otherwise it continues with invalid JSON
	Err  error // why the file could not be unpacked; nil if it could
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

// A FileReport is the part of a Report about one file.
type FileReport struct {
	Path    string
	Format  Format // empty: unknown
	Records int
	Turns   int
}

// A Skip says where records were skipped, and why.
type Skip struct {
	Path    string
	Line    int // from 1; 0: the whole file, or records without a line
	Records int
	Reason  string // a word of [Report].Skipped
}

// A tally counts records, turns and notes for the report.
type tally struct {
	report    Report
	skipped   func(Skip)   // nil: skips are not reported
	current   int          // index in report.Files of the file whose records are counted
	positions []positioner // the readers of the files; parallel to report.Files
}

// A positioner knows the current line of a file.
type positioner interface{ at() int }

// beginFile adds a file to the report and makes it the current one. It returns the index of the previous file, for returnTo.
func (t *tally) beginFile(path string, format Format) (before int) {
	before = t.current
	t.report.Files = append(t.report.Files, FileReport{Path: path, Format: format})
	t.positions = append(t.positions, nil)
	t.current = len(t.report.Files) - 1
	return before
}

// returnTo makes an earlier file the current one again.
func (t *tally) returnTo(index int) { t.current = index }

func (t *tally) file() *FileReport { return &t.report.Files[t.current] }

// record counts a record that was read. Each call is followed by one turn in a batch or by one call of skip.
func (t *tally) record() {
	t.report.Records++
	t.file().Records++
}

// skip counts the record that was last read as skipped.
func (t *tally) skip(reason string) {
	line := 0
	if p := t.positions[t.current]; p != nil {
		line = p.at()
	}
	t.skipAt(line, reason)
}

// skipAt is skip for a record on an earlier line of the file.
func (t *tally) skipAt(line int, reason string) {
	t.report.Skipped[reason]++
	if t.skipped != nil {
		t.skipped(Skip{Path: t.file().Path, Line: line, Records: 1, Reason: reason})
	}
}

// skipMany counts n records of a file as skipped, without line numbers.
func (t *tally) skipMany(reason string, n int) {
	if n == 0 {
		return
	}
	t.report.Skipped[reason] += n
	if t.skipped != nil {
		t.skipped(Skip{Path: t.file().Path, Records: n, Reason: reason})
	}
}

func (t *tally) note(what string) { t.report.Noted[what]++ }

func (t *tally) noteAll(counts map[string]int) {
	for what, n := range counts {
		t.report.Noted[what] += n
	}
}

// noteMended counts the replacements in a text from which several turns are made.
func (t *tally) noteMended(m mended) {
	var noted counts
	m.note(&noted)
	t.noteAll(noted)
}

// brokenDocument counts the rest of a document that ends, or stops being JSON, in the middle of a value.
func (t *tally) brokenDocument(in *values, err error) {
	t.skip("broken_document")
	b := BrokenDocument{Path: t.file().Path, Byte: in.offset, Line: in.line, Ends: errors.Is(err, errCutDocument)}
	if errors.Is(err, ErrArchive) {
		b.Err = err
	}
	t.report.Broken = append(t.report.Broken, b)
}

// brokenPacked counts the rest of a packed file in a folder that cannot be unpacked.
func (t *tally) brokenPacked(err error) {
	t.record()
	t.skip("broken_packed")
	t.report.Broken = append(t.report.Broken, BrokenDocument{Path: t.file().Path, Err: err})
}

// progressStep is the number of bytes between two calls of show.
const progressStep = 1 << 20

// A progress tracks how much of the input was read.
type progress struct {
	show              func(done, total int64) // nil: progress is not reported
	done, total, told int64                   // bytes
	sizeless          bool                    // total is unknown
}

// expect adds to the total number of bytes. A negative size makes the total unknown.
func (p *progress) expect(size int64) {
	if size < 0 {
		p.sizeless = true
	}
	p.total += size
}

func (p *progress) advance(bytes int64) {
	p.done += bytes
	if p.done-p.told >= progressStep {
		p.tellProgress(false)
	}
}

func (p *progress) tellProgress(last bool) {
	if p.show == nil || last && p.told == p.done && p.told > 0 {
		return
	}
	p.told = p.done
	total := p.total
	if p.sizeless {
		total = 0
	}
	p.show(p.done, total)
}
