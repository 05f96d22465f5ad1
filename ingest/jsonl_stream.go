package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
)

// A LineError says which line of the project's own format is invalid, and why.
type LineError struct {
	Path string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// parsed is a batch from the parsing goroutine.
type parsed struct {
	batch *Batch
	blank int   // empty lines among its lines
	bytes int64 // bytes of the file that were read for it
	err   error // ends the file; the batch has the lines before it
}

// readOwnLines reads the project's own lines. A separate goroutine parses them, at most two batches ahead of emit, so that
// parsing and admission run at the same time. The goroutine has ended when readOwnLines returns.
func readOwnLines(r *reading, path string) error {
	in, err := openLines(r.ctx, r.files, path)
	if err != nil {
		return err
	}
	defer in.close()
	ctx, cancel := context.WithCancel(r.ctx)
	ahead := make(chan parsed, 1)
	go func() {
		defer close(ahead)
		for {
			p := parseBatch(in, path)
			select {
			case ahead <- p:
			case <-ctx.Done():
				return
			}
			if p.err != nil {
				return
			}
		}
	}()
	defer func() { // before in.close: the goroutine reads from it
		cancel()
		for range ahead {
		}
	}()
	for p := range ahead {
		for range p.blank {
			r.record()
		}
		r.skipMany(skipEmptyLine, p.blank)
		r.leaveOutLines(p.batch)
		// The batch is handed over first, since its records count only then.
		n := len(p.batch.Drafts)
		if err := r.screenLines(p.batch); err != nil {
			return err
		}
		if err := r.hand(p.batch); err != nil {
			return err
		}
		r.report.Records += n
		r.file().Records += n
		r.file().Turns += n
		r.advance(p.bytes)
		if p.err == io.EOF {
			return nil
		}
		if p.err != nil {
			return p.err
		}
	}
	return r.ctx.Err()
}

// leaveOutLines removes from a batch the drafts that Options.LeaveOut leaves out.
func (r *reading) leaveOutLines(b *Batch) {
	if r.opts.LeaveOut == nil {
		return
	}
	drafts, places := b.Drafts[:0], b.Places[:0]
	for i := range b.Drafts {
		if reason := r.leftOut("", &b.Drafts[i]); reason != "" {
			r.record()
			r.skipMany(reason, 1)
			continue
		}
		drafts, places = append(drafts, b.Drafts[i]), append(places, b.Places[i])
	}
	b.Drafts, b.Places = drafts, places
}

// parseBatch reads lines up to the bounds of a batch.
func parseBatch(in *lines, path string) (p parsed) {
	p.batch = &Batch{Source: path, Format: JSONL, Ordered: true}
	size := 0
	for len(p.batch.Drafts) < batchLines && size < batchBytes {
		line, err := in.next()
		if err != nil && !errors.Is(err, errLongLine) {
			p.err = err
			break
		}
		if err == nil && isBlank(line) {
			if p.blank++; p.blank == batchLines {
				break
			}
			continue
		}
		var d dag.Draft
		if err == nil {
			d, err = ReadLine(line)
		}
		if err != nil {
			p.err = &LineError{Path: path, Line: in.number, Err: err}
			break
		}
		p.batch.Drafts = append(p.batch.Drafts, d)
		p.batch.Places = append(p.batch.Places, path+":"+strconv.Itoa(in.number))
		size += len(line)
	}
	p.bytes = in.take()
	return p
}
