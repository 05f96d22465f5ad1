package ingest

import (
	"bytes"
	"io"
	"strconv"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// A lineRecord is one JSON value of a line, or a damaged piece of the line.
type lineRecord struct {
	value  *canon.Value // nil: damaged
	mended mended
}

// recordsOf splits a line of another program into records. A line has one value, or several without separators if a program was
// stopped before it wrote the line feed, and then continued after its last record. Each damaged piece between values is a
// separate record; [follow] finds its end.
func recordsOf(line []byte) (records []lineRecord) {
	if v, m, err := parseLenient(line); err == nil {
		return []lineRecord{{v, m}}
	}
	damaged := false // there is a damaged piece that is not yet among the records
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
			v = nil // a member is repeated, or the nesting is too deep
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

	behindDamage bool // an earlier part of the file could not be read
}

// jsonRecords reads a file with one JSON object on each line, and counts each. It skips values that are not objects.
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
