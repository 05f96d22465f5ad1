// Package bom removes byte order marks, which editors and shells of Windows write. A UTF-8 mark is dropped, and a text after a
// UTF-16 mark is converted to UTF-8. A text without a mark stays the same, byte for byte. The package is for text written by
// people and other programs, never for text that is hashed or signed.
package bom

import (
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// Mark is the byte order mark in UTF-8.
var Mark = []byte("\xef\xbb\xbf")

// utf16 are the marks of UTF-16 with their byte orders.
var utf16 = []struct {
	mark  string
	order unicode.Endianness
}{{"\xff\xfe", unicode.LittleEndian}, {"\xfe\xff", unicode.BigEndian}}

// Trim returns a text without its mark. Invalid UTF-16 becomes U+FFFD.
func Trim(text []byte) []byte {
	for _, u := range utf16 {
		if bytes.HasPrefix(text, []byte(u.mark)) {
			text, _ = unicode.UTF16(u.order, unicode.IgnoreBOM).NewDecoder().Bytes(text[len(u.mark):]) // the decoder replaces invalid text and returns no error
			return text
		}
	}
	return bytes.TrimPrefix(text, Mark)
}

// Reader returns a reader of the text that Trim would return. It reads nothing from in before its first Read.
func Reader(in io.Reader) io.Reader { return &reader{in: in} }

type reader struct {
	in    io.Reader
	begun bool
	head  []byte // bytes read to find the mark, not yet returned
	err   error  // the error after head
}

func (r *reader) Read(p []byte) (int, error) {
	if !r.begun {
		r.begin()
	}
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.in.Read(p)
}

func (r *reader) begin() {
	r.begun = true
	head := make([]byte, len(Mark))
	n, err := io.ReadFull(r.in, head)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	r.head, r.err = head[:n], err
	for _, u := range utf16 {
		if rest, ok := bytes.CutPrefix(r.head, []byte(u.mark)); ok && err == nil || ok && err == io.EOF {
			r.in = unicode.UTF16(u.order, unicode.IgnoreBOM).NewDecoder().Reader(io.MultiReader(bytes.NewReader(rest), r.in))
			r.head, r.err = nil, nil
			return
		}
	}
	r.head = bytes.TrimPrefix(r.head, Mark)
}
