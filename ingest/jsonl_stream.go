package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
)

// Bounds of a batch of own lines, of whichever comes first.
const (
	batchLines = 1000
	batchBytes = 4 << 20
)

// A LineError says which line of the project's own format cannot be read, and why.
type LineError struct {
	Path string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// parsed is a batch on its way from the parsing goroutine.
type parsed struct {
	batch *Batch
	blank int   // empty lines among those read for it
	bytes int64 // of the file
	err   error // ends the file; the batch holds what precedes
}

// readOwnLines reads the project's own lines. They are parsed on a goroutine of
// their own, at most two batches ahead of emit, so that parsing and admission
// share the time. The goroutine is gone when ownLines returns.
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
		// Handed over first: a record counts when its batch was taken.
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

// leaveOutLines takes out of a batch what Options.LeaveOut leaves out.
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
	p.batch = &Batch{Source: path, Ordered: true}
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
