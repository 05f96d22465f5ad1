package slice

import "github.com/graphkernel/graphkernel/internal/canon"

// A Difference is the first place in which two bundles are not the same.
type Difference struct {
	Offset   int    // of the first byte that differs
	Path     string // of the value it lies in, such as turns[3].content
	Expected string // a few bytes from there on
	Found    string
}

// Differ returns the first difference between the bytes that were expected and
// those that were found, or nil. Both should be bundles; of other bytes the
// path stays empty.
func Differ(expected, found []byte) *Difference {
	at := firstDifference(expected, found)
	if at < 0 {
		return nil
	}
	d := &Difference{Offset: at, Expected: string(around(expected, at)), Found: string(around(found, at))}
	if doc, err := canon.Parse(expected); err == nil {
		d.Path = doc.PathAt(at)
	}
	return d
}
