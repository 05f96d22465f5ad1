package slice

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// ErrMalformed is wrapped by every error of ParseBundle and ParseDisclosure except ErrVersion: the bytes do not have
// the form of a bundle or disclosure. The message names the place.
var ErrMalformed = errors.New("malformed bundle")

// A malformedError names the document that the bytes should have been.
type malformedError struct {
	what string // such as bundle or disclosure
	err  error
}

func (e *malformedError) Error() string   { return "malformed " + e.what + ": " + e.err.Error() }
func (e *malformedError) Unwrap() []error { return []error{ErrMalformed, e.err} }

// MaxBundle is the maximum size of a bundle, in bytes, that ParseBundle reads. A bundle of 10 000 turns of 64 KiB would
// exceed it, but nobody would check such evidence.
const MaxBundle = 512 << 20

// Begins reports whether data begins like the canonical bytes of a bundle whose first members are as_of and the named
// member. It distinguishes the kinds of bundles that begin with as_of before they are parsed.
func Begins(data []byte, member string) bool {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("as_of")
	before := len(w.Bytes)
	w.Uint(0)
	after := len(w.Bytes)
	w.Key(member)
	rest, ok := bytes.CutPrefix(data, w.Bytes[:before])
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, "0123456789"), w.Bytes[after:])
}

// ParseText reads the canonical text of a part of a bundle, such as its question. The error for another spelling of the
// same values is ErrMalformed. what names the part in errors, after "malformed bundle"; text returns the canonical text
// of the parsed value.
func ParseText[T any](what, data string, read func(*canon.Cursor) T, text func(*T) string) (v T, err error) {
	doc, err := canon.Parse([]byte(data))
	if err == nil {
		c := canon.Open(doc)
		v, err = read(c), c.Err()
	}
	if err == nil && text(&v) != data {
		err = errors.New("not the canonical spelling")
	}
	if err != nil {
		var none T
		return none, fmt.Errorf("%w %s: %w", ErrMalformed, what, err)
	}
	return v, nil
}

// BytesOfValue is the minimum number of bytes per JSON value in the shortest turn, edge, hash and entry of an order.
const BytesOfValue = 12

// ReadStrict parses a document with read and writes it again. The error is ErrMalformed if the bytes differ or read
// fails. what names the document in errors. versions returns the versions that the document must state; they are
// checked first, and the error for another version is ErrVersion. beside, if not nil, is called with the parsed
// document while its bytes are still being compared. ReadStrict reads at most MaxBundle bytes. It reads as many values
// as the bytes can contain if each takes bytesOfValue, but no more than the larger of canon.MaxValues and the number
// that BytesOfValue allows: a value takes a hundred times its text in memory.
func ReadStrict[T interface{ Append([]byte) []byte }](what string, data []byte, bytesOfValue int, versions func(*canon.Value) []KnownVersion, read func(*canon.Cursor) T, beside func(T)) (T, error) {
	malformed := func(err error) (none T, _ error) { return none, &malformedError{what, err} }
	if len(data) > MaxBundle {
		return malformed(fmt.Errorf("%d bytes, at most %d", len(data), MaxBundle))
	}
	var v T
	var version error
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] != '{' && text[0] != '[' {
		return malformed(errors.New("it is not a JSON object: " + notEvidence))
	}
	err := canon.Within(data, min(len(data)/bytesOfValue, max(len(data)/BytesOfValue, canon.MaxValues))+256, func(c *canon.Cursor) error {
		if version = checkVersion(c.Value(), versions(c.Value())); version != nil {
			if !c.Value().PlainKeys() { // no version has such keys
				version = nil
				return errKeys
			}
			return version
		}
		if v = read(c); c.Err() != nil {
			if err := checkEvidence(c.Value()); err != nil {
				return err
			}
		}
		return c.Err()
	})
	switch {
	case version != nil:
		var none T
		return none, version
	case err != nil:
		return malformed(err)
	}
	if beside != nil {
		var done sync.WaitGroup
		done.Go(func() { beside(v) })
		defer done.Wait()
	}
	buf := rewritten.Get().(*[]byte)
	defer rewritten.Put(buf)
	*buf = v.Append(slices.Grow((*buf)[:0], len(data)))
	again := *buf
	if at := firstDifference(data, again); at >= 0 {
		return malformed(fmt.Errorf("byte %d: not the canonical spelling: got %q, want %q", at, around(data, at), around(again, at)))
	}
	return v, nil
}

// notEvidence tells a user who has an answer in another format how to request its evidence.
const notEvidence = "an answer is not its evidence; ask with format bundle (--format bundle)"

// checkEvidence returns an error for an object without provenance, which all evidence has, and for a verdict on
// evidence.
func checkEvidence(doc *canon.Value) error {
	key := "provenance"
	switch {
	case doc.Kind != canon.Object:
		return nil
	case doc.Get(key) == nil:
	case doc.Get("token") == nil && (doc.Get("verdict") != nil || doc.Get("outcome") != nil):
		key = "token"
	default:
		return nil
	}
	return fmt.Errorf("it has %s and no %q: %s", someKeys(doc), key, notEvidence)
}

// someKeys quotes the first keys of an object, so that the user can recognise the object.
func someKeys(doc *canon.Value) string {
	const most = 4
	var keys []string
	for _, m := range doc.Members[:min(len(doc.Members), most)] {
		keys = append(keys, fmt.Sprintf("%.40q", m.Key))
	}
	if len(doc.Members) > most {
		keys = append(keys, "…")
	}
	return cmp.Or(strings.Join(keys, ", "), "no members")
}

var errKeys = errors.New("a key is not printable ASCII, or is empty")

// A KnownVersion lists the versions of which a document must state one, and the place where it must state it.
type KnownVersion struct {
	In       string // the member that contains the version; "": the document itself
	Key      string // the key of the version in that member
	Versions []string
}

// Known returns a KnownVersion with one version.
func Known(in, key, version string) KnownVersion { return KnownVersion{in, key, []string{version}} }

// checkVersion returns ErrVersion if the document states another version. It runs before any other check, because
// another version may have other fields.
func checkVersion(doc *canon.Value, versions []KnownVersion) error {
	for _, known := range versions {
		part, path := doc, known.Key
		if known.In != "" {
			part, path = doc.Get(known.In), known.In+"."+known.Key
		}
		if part == nil {
			continue // malformed; the reader reports it
		}
		if v := part.Get(known.Key); v != nil && v.Kind == canon.String && !slices.Contains(known.Versions, v.Text) {
			return fmt.Errorf("%w: %s is %.40q, this program knows %s", ErrVersion, path, v.Text, quoted(known.Versions))
		}
	}
	return nil
}

// rewritten is a pool of buffers into which bundles and disclosures are written again for comparison. A buffer is as
// large as the document, and is needed only for the comparison.
var rewritten = sync.Pool{New: func() any { return new([]byte) }}

// firstDifference returns the offset of the first byte in which a and b differ, or -1.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) { // the usual case, many bytes at a time
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

func around(b []byte, at int) []byte {
	return b[at:min(len(b), at+24)]
}

// quoted lists texts in quotes.
func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = strconv.Quote(t)
	}
	return strings.Join(all, " and ")
}
