package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// MaxDocument is the largest single conversation that is read from a JSON document, in bytes.
const MaxDocument = 512 << 20

// errBrokenDocument says that the next part of a document is not a complete JSON value. Later values cannot be found any more.
var errBrokenDocument = errors.New("not a whole JSON value")

// errCutDocument is an errBrokenDocument at the end of a file.
var errCutDocument = fmt.Errorf("%w: the input ends in the middle of a value", errBrokenDocument)

// values splits a sequence of JSON texts, with or without white space between them, into parts that are parsed one by one: the
// items of a top-level array, or any other value as a whole. So a file with an array of ten thousand conversations takes only
// the memory of the longest conversation.
type values struct {
	ctx     context.Context
	file    io.ReadCloser
	in      *bufio.Reader
	inArray bool // between '[' and ']' of a top-level array
	first   bool // no item of the array was read
	line    int  // line of the next byte, from 1
	began   int  // line on which the last returned part begins
	most    int
	bytes   int64

	tolerant bool  // a file that cannot be unpacked counts as a broken document
	offset   int64 // offset of the next byte, from 0
}

// A part is one value of a document.
type part struct {
	text   []byte // valid until the next call
	line   int    // line on which it begins
	item   bool   // it is an item of a top-level array
	closed bool   // no value: the top-level array ended
}

func openValues(ctx context.Context, files *tree, path string) (*values, error) {
	file, err := files.openText(path)
	if err != nil {
		return nil, err
	}
	return &values{ctx: ctx, file: file, in: bufio.NewReaderSize(file, 256<<10), line: 1, most: MaxDocument}, nil
}

func (v *values) close() { v.file.Close() }

func (v *values) at() int { return v.began }

// documents reads the conversations of a file: the items of a top-level array, or separate values. Any other value counts as
// one skipped record.
func (r *reading) documents(path string, isOne func(*canon.Value) bool, take func(v *canon.Value, place string) error) error {
	in, err := r.openValues(path)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		p, err := in.next()
		r.advance(in.take())
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errBrokenDocument):
			r.record()
			r.brokenDocument(in, err)
			return nil
		case err != nil:
			return err
		case p.closed:
			continue
		}
		v, mended, err := parseLenient(p.text)
		if err != nil || v.Kind != canon.Object || !isOne(v) {
			r.record()
			r.skip("broken_conversation")
			continue
		}
		r.noteMended(mended)
		if err := take(v, path+":"+strconv.Itoa(p.line)); err != nil {
			return err
		}
	}
}

// take returns the number of bytes read since its last call.
func (v *values) take() int64 {
	n := v.bytes
	v.bytes = 0
	return n
}

func (v *values) read() (byte, error) {
	c, err := v.in.ReadByte()
	if v.tolerant && errors.Is(err, ErrArchive) {
		err = fmt.Errorf("%w: %w", errBrokenDocument, err)
	}
	if err != nil {
		return 0, err
	}
	v.bytes++
	v.offset++
	if c == '\n' {
		v.line++
	}
	return c, nil
}

// next returns the next part, and io.EOF after the last one.
func (v *values) next() (part, error) {
	if err := v.ctx.Err(); err != nil {
		return part{}, err
	}
	c, err := v.afterSpace()
	if err != nil {
		if v.inArray {
			err = cutOff(err)
		}
		return part{}, err
	}
	if !v.inArray {
		for c == 0 { // a crash left NUL bytes in place of unwritten text
			if c, err = v.afterSpace(); err != nil {
				return part{}, err
			}
		}
		if c == '[' {
			v.inArray, v.first = true, true
			return v.next()
		}
		return v.value(c)
	}
	if c == ']' {
		v.inArray = false
		return part{closed: true, line: v.line}, nil
	}
	if !v.first {
		if c != ',' {
			return part{}, errBrokenDocument
		}
		if c, err = v.afterSpace(); err != nil {
			return part{}, cutOff(err)
		}
	}
	v.first = false
	p, err := v.value(c)
	p.item = true
	return p, err
}

func (v *values) afterSpace() (byte, error) {
	for {
		c, err := v.read()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, err
		}
	}
}

// value reads a value from its first byte to its last. It tracks only nesting and strings; the parser finds all other errors.
func (v *values) value(c byte) (part, error) {
	p := part{line: v.line}
	v.began = v.line
	depth, inString := 0, false
	for {
		p.text = append(p.text, c)
		if len(p.text) > v.most {
			return part{}, fmt.Errorf("%w: a value has more than %d bytes", errBrokenDocument, v.most)
		}
		switch {
		case inString && c == '\\':
			next, err := v.read()
			if err != nil {
				return part{}, cutOff(err)
			}
			p.text = append(p.text, next)
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth < 0 {
			return part{}, errBrokenDocument
		}
		if depth == 0 && !inString && v.valueEnds(c) {
			return p, nil
		}
		var err error
		if c, err = v.read(); err != nil {
			return part{}, cutOff(err)
		}
		if len(p.text)%(1<<20) == 0 && v.ctx.Err() != nil {
			return part{}, v.ctx.Err()
		}
	}
}

// cutOff returns the error for a document that ends in the middle of a value.
func cutOff(err error) error {
	if err == io.EOF {
		return errCutDocument
	}
	return fmt.Errorf("ingest: %w", err)
}

// valueEnds reports whether a value outside of any nesting ends with c: always after a bracket or a quote, and after a number
// or a word if a delimiter follows.
func (v *values) valueEnds(c byte) bool {
	if c == '}' || c == ']' || c == '"' {
		return true
	}
	next, err := v.in.Peek(1)
	return err != nil || bytes.IndexByte([]byte(" \t\r\n,]}[{\""), next[0]) >= 0
}
