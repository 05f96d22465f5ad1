package slice

import "github.com/graphkernel/graphkernel/internal/canon"

// A Difference is the first place in which two bundles differ.
type Difference struct {
	Offset   int    // of the first byte that differs
	Path     string // of the value that contains the byte, such as turns[3].content
	Expected string // a few bytes from Offset on
	Found    string
}

// Differ returns the first difference between the expected and the found bytes, or nil. Both should be bundles; for
// other bytes the path is empty.
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
