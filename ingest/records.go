package ingest

import (
	"bytes"
	"io"
	"strconv"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// A lineRecord is one JSON value of a line, or a damaged piece of it.
type lineRecord struct {
	value  *canon.Value // nil: what is here is no JSON
	mended mended
}

// recordsOf reads a line of another program. It holds one value, or several with nothing between them: a program that is stopped before it wrote
// the line feed goes on after its last record. What is damaged is a record of its own for each piece between values, and is found as [follow] says.
func recordsOf(line []byte) (records []lineRecord) {
	if v, m, err := parseLenient(line); err == nil {
		return []lineRecord{{v, m}}
	}
	damaged := false // a piece, which is not among the records yet
	for {
		rest := trimNothing(line)
		damaged = damaged || bytes.IndexByte(line[:len(line)-len(rest)], 0) >= 0
		if line = rest; len(line) == 0 {
			break
		}
		length, next := follow(line)
		if length > 0 && isPartOfMore(line[length:]) {
			length = 0
		}
		if length == 0 {
			damaged = true
			if next < 0 {
				break
			}
			line = line[next:]
			continue
		}
		if damaged {
			records, damaged = append(records, lineRecord{}), false
		}
		v, m, err := parseLenient(line[:length])
		if err != nil {
			v = nil // it has a member twice, or nests too deep
		}
		records = append(records, lineRecord{v, m})
		line = line[length:]
	}
	if damaged {
		records = append(records, lineRecord{})
	}
	return records
}

// A jsonRecord is an object on a line of a file.
type jsonRecord struct {
	value  *canon.Value
	place  string // FILE:LINE
	line   int    // from 1
	part   int    // which value of the line, from 0
	mended mended

	behindDamage bool // something before it in the file could not be read
}

// jsonRecords reads a file of JSON objects, one a line, and counts each. What is not an object is skipped.
func (r *reading) jsonRecords(path string, take func(jsonRecord) error) error {
	in, err := r.openLines(path)
	if err != nil {
		return err
	}
	defer in.close()
	damaged := false
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
			damaged = true
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
				damaged = true
				r.skip(skipBrokenLine)
				continue
			}
			if err := take(jsonRecord{rec.value, path + ":" + strconv.Itoa(in.number), in.number, i, rec.mended, damaged}); err != nil {
				return err
			}
		}
	}
}
