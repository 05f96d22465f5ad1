package ingest

import (
	"io"
	"strconv"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// A lineRecord is one JSON value of a line.
type lineRecord struct {
	value    *canon.Value // nil: what is here is no JSON
	replaced int          // halves of surrogate pairs that U+FFFD stands for
}

// recordsOf reads a line of another program. It holds one value, or several with
// nothing between them: a program that is stopped before it wrote the line feed goes on after
// its last record. What is no JSON ends the line, as one record.
func recordsOf(line []byte) []lineRecord {
	v, replaced, err := parseLenient(line)
	if err == nil {
		return []lineRecord{{v, replaced}}
	}
	var records []lineRecord
	for !isBlank(line) {
		end := valueEnd(line)
		if v, replaced, err = parseLenient(line[:end]); err != nil {
			return append(records, lineRecord{})
		}
		records = append(records, lineRecord{v, replaced})
		line = line[end:]
	}
	return records
}

// valueEnd returns the length of the object or array that a text begins with, or
// that of the text if there is none.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// A jsonRecord is an object on a line of a file.
type jsonRecord struct {
	value    *canon.Value
	place    string // FILE:LINE
	line     int    // from 1
	part     int    // which value of the line, from 0
	replaced int    // halves of surrogate pairs that U+FFFD stands for
}

// jsonRecords reads a file of JSON objects, one a line, and counts each. What is not an object is skipped.
func (r *reading) jsonRecords(path string, take func(jsonRecord) error) error {
	in, err := r.openLines(path)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		line, err := in.next()
		r.advance(in.take())
		if err == io.EOF {
			return nil
		}
		if err != nil && err != errLongLine {
			return err
		}
		r.record()
		if err != nil {
			r.skip(skipLongLine)
			continue
		}
		if isBlank(line) {
			r.skip(skipEmptyLine)
			continue
		}
		for i, rec := range recordsOf(line) {
			if i > 0 {
				r.record()
			}
			if rec.value == nil || rec.value.Kind != canon.Object {
				r.skip(skipBrokenLine)
				continue
			}
			if err := take(jsonRecord{rec.value, path + ":" + strconv.Itoa(in.number), in.number, i, rec.replaced}); err != nil {
				return err
			}
		}
	}
}
