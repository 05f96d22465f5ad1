package canon

import (
	"bytes"
	"fmt"
)

// Members splits an object in canonical form into its values. The object must have exactly the named members, in this order.
// Members fills values, one for each name. It only looks for the end of each value, so it is for texts that are known to be
// canonical, such as a text whose digest was checked; for any other text it returns wrong pieces or an error.
func Members(data []byte, names []string, values [][]byte) error {
	rest, open := data, byte('{')
	for i, name := range names {
		n := len(name)
		if len(rest) < n+4 || rest[0] != open || rest[1] != '"' || string(rest[2:n+2]) != name || rest[n+2] != '"' || rest[n+3] != ':' {
			return fmt.Errorf("%w: byte %d: want the member %q", ErrSyntax, len(data)-len(rest), name)
		}
		rest = rest[n+4:]
		end := valueEnd(rest)
		if end < 0 {
			return fmt.Errorf("%w: byte %d: the value of %q has no end", ErrSyntax, len(data)-len(rest), name)
		}
		values[i], rest, open = rest[:end], rest[end:], ','
	}
	if len(rest) != 1 || rest[0] != '}' {
		return fmt.Errorf("%w: byte %d: want the end of the object", ErrSyntax, len(data)-len(rest))
	}
	return nil
}

// valueEnd returns the length of the value at the start of data, or -1.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			n := stringEnd(data[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':':
			continue
		default: // a number or a word
			for i+1 < len(data) && !bytes.ContainsRune([]byte(",]}"), rune(data[i+1])) {
				i++
			}
		}
		switch {
		case depth == 0:
			return i + 1
		case depth < 0:
			return -1
		}
	}
	return -1
}

// stringEnd returns the length of the string at the start of data, or -1.
func stringEnd(data []byte) int {
	for end := 1; ; end++ {
		next := bytes.IndexByte(data[end:], '"')
		if next < 0 {
			return -1
		}
		end += next
		escapes := 0
		for data[end-1-escapes] == '\\' { // the opening quote stops this loop
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
}
