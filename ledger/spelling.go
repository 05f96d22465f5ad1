package ledger

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// CheckSpelling returns an error unless data, from which doc was parsed, is canonical JSON as GKP/1 defines it:
// ascending keys of printable ASCII, integers below 2^53, decimals below a bound (at most 10) with up to six digits
// after the point, and no null. It writes all values again and compares, including values that the reader does not
// know, so that no statement can have two spellings.
func CheckSpelling(doc *canon.Value, data []byte, below uint) error {
	w := canon.NewWriter(make([]byte, 0, len(data)))
	if err := rewrite(w, doc, below); err != nil {
		return err
	}
	if bytes.Equal(w.Bytes, data) {
		return nil
	}
	at := 0
	for at < len(data) && at < len(w.Bytes) && data[at] == w.Bytes[at] {
		at++
	}
	return fmt.Errorf("byte %d: not the canonical spelling", at)
}

func rewrite(w *canon.Writer, v *canon.Value, below uint) error {
	switch v.Kind {
	case canon.Bool:
		w.Bool(v.Text == "true")
	case canon.String:
		w.String(v.Text)
	case canon.Number:
		return rewriteNumber(w, v, below)
	case canon.Array:
		w.BeginArray()
		for i := range v.Items {
			if err := rewrite(w, &v.Items[i], below); err != nil {
				return err
			}
		}
		w.EndArray()
	case canon.Object:
		w.BeginObject()
		last := ""
		for i := range v.Members {
			m := &v.Members[i]
			if m.Key <= last || !canon.IsPlainKey(m.Key) { // the Writer panics at such keys
				return fmt.Errorf("byte %d: keys must be printable ASCII in ascending order, but %.80q comes after %.80q", m.Value.Offset, m.Key, last)
			}
			last = m.Key
			w.Key(m.Key)
			if err := rewrite(w, &m.Value, below); err != nil {
				return err
			}
		}
		w.EndObject()
	default:
		return fmt.Errorf("byte %d: %s is not allowed in evidence", v.Offset, v.Kind)
	}
	return nil
}

// rewriteNumber writes a number in its canonical form. It refuses numbers that GKP/1 does not use, such as floating
// point, so that a reader need not implement how RFC 8785 writes them.
func rewriteNumber(w *canon.Writer, v *canon.Value, below uint) error {
	if whole, frac, point := strings.Cut(v.Text, "."); point && len(whole) == 1 && '0' <= whole[0] && uint(whole[0]-'0') < below {
		if p, err := dag.ParsePPM("0." + frac); err == nil {
			w.Raw((dag.PPM(whole[0]-'0')*dag.One + p).AppendDecimal(nil))
			return nil
		}
	}
	n := uint64(0)
	for _, c := range []byte(v.Text) {
		if c < '0' || c > '9' || n > canon.MaxInt {
			return fmt.Errorf("byte %d: number %.40s, want an integer below 2^53 or a decimal below %d with six digits", v.Offset, v.Text, below)
		}
		n = 10*n + uint64(c-'0')
	}
	if n > canon.MaxInt {
		return fmt.Errorf("byte %d: integer %.40s is not below 2^53", v.Offset, v.Text)
	}
	w.Uint(n)
	return nil
}
