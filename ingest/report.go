package ingest

import (
	"errors"
	"fmt"
)

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

// A Skip says where records were left out, and why.
type Skip struct {
	Path    string
	Line    int // from 1; 0: the file as a whole, or records that have no line
	Records int
	Reason  string // a word of [Report].Skipped
}

// A tally counts what becomes of everything that is read.
type tally struct {
	report    Report
	skipped   func(Skip)   // nil: nobody is told
	current   int          // the entry of report.Files that records are counted for
	positions []positioner // of its reader; parallel to report.Files
}

// A positioner knows on which line a reader of a file is.
type positioner interface{ at() int }

// beginFile starts the entry of a file in the report. It returns the file that was
// counted for before, for returnTo.
func (t *tally) beginFile(path string, format Format) (before int) {
	before = t.current
	t.report.Files = append(t.report.Files, FileReport{Path: path, Format: format})
	t.positions = append(t.positions, nil)
	t.current = len(t.report.Files) - 1
	return before
}

// returnTo goes on counting for an earlier file.
func (t *tally) returnTo(index int) { t.current = index }

func (t *tally) file() *FileReport { return &t.report.Files[t.current] }

// record counts a record that was read. Each call is answered by one turn in a
// batch or by one call of skip.
func (t *tally) record() {
	t.report.Records++
	t.file().Records++
}

// skip counts the record that was read last as left out.
func (t *tally) skip(reason string) {
	line := 0
	if p := t.positions[t.current]; p != nil {
		line = p.at()
	}
	t.skipAt(line, reason)
}

// skipAt is skip for a record that was read from an earlier line of the file.
func (t *tally) skipAt(line int, reason string) {
	t.report.Skipped[reason]++
	if t.skipped != nil {
		t.skipped(Skip{Path: t.file().Path, Line: line, Records: 1, Reason: reason})
	}
}

// skipMany counts records of a file as left out that have no line of their own to be named by.
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

// noteMended counts what was replaced in a text that gives several turns.
func (t *tally) noteMended(m mended) {
	var noted counts
	m.note(&noted)
	t.noteAll(noted)
}

// brokenDocument counts the rest of a document that ends, or stops being JSON, where it should go on.
func (t *tally) brokenDocument(in *values, err error) {
	t.skip("broken_document")
	b := BrokenDocument{Path: t.file().Path, Byte: in.offset, Line: in.line, Ends: errors.Is(err, errCutDocument)}
	if errors.Is(err, ErrArchive) {
		b.Err = err
	}
	t.report.Broken = append(t.report.Broken, b)
}

// brokenPacked counts the rest of a packed file of a folder that cannot be unpacked.
func (t *tally) brokenPacked(err error) {
	t.record()
	t.skip("broken_packed")
	t.report.Broken = append(t.report.Broken, BrokenDocument{Path: t.file().Path, Err: err})
}

// progressStep is how many bytes pass between two calls of show.
const progressStep = 1 << 20

// A progress says how much of what there is to read was read.
type progress struct {
	show              func(done, total int64) // nil: nobody looks
	done, total, told int64                   // bytes
	sizeless          bool                    // total is not known
}

// expect adds to the bytes that there are to read. Where one size is not known, their sum is not.
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
