package ingest

import "github.com/graphkernel/graphkernel/internal/canon"

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
