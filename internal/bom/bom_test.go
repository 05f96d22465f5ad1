package bom

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"
)

// TestMarks reads texts of every length around that of a mark, in each encoding, as a whole and byte by byte.
func TestMarks(t *testing.T) {
	read := 0
	for _, text := range []string{"", "a", "ab", "abc", "{\"a\":\"ü€😀\"}\n", "\xff", "\xef\xbb", "a\ufeffb", "\x00\x00\x00\x00"} {
		forms := map[string]string{"plain": text, "utf-8": "\xef\xbb\xbf" + text}
		if text != "\xff" && text != "\xef\xbb" { // no Unicode
			for mark, order := range map[string]unicode.Endianness{"\xff\xfe": unicode.LittleEndian, "\xfe\xff": unicode.BigEndian} {
				wide, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().String(text)
				if err != nil {
					t.Fatal(err)
				}
				forms[mark] = mark + wide
			}
		}
		for name, form := range forms {
			if got := string(Trim([]byte(form))); got != text {
				t.Errorf("%q, %q: Trim returns %q", text, name, got)
			}
			for _, in := range []io.Reader{strings.NewReader(form), iotest.OneByteReader(strings.NewReader(form)), iotest.DataErrReader(strings.NewReader(form))} {
				got, err := io.ReadAll(Reader(in))
				if err != nil || string(got) != text {
					t.Errorf("%q, %q: Reader reads %q and %v", text, name, got, err)
				}
				read++
			}
		}
	}
	if read == 0 {
		t.Error("nothing was read")
	}
}

// TestErrors passes an error of the reader on, wherever it comes.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, head := range []string{"", "a", "abc", "abcd", "\xef\xbb\xbf", "\xef\xbb\xbfa", "\xff\xfea\x00"} {
		if _, err := io.ReadAll(Reader(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)))); !errors.Is(err, broken) {
			t.Errorf("%q: got the error %v", head, err)
		}
	}
}
