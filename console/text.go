package console

import (
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// kindOf names what a bundle of a form is.
func kindOf(schema string) string {
	switch {
	case strings.HasPrefix(schema, "gkc/"):
		return "context"
	case strings.HasPrefix(schema, "gkf/"):
		return "facts"
	case strings.HasPrefix(schema, "gkb/"):
		return "belief"
	}
	return "slice"
}

// excerpt is the part of a text around the first word of a query that it has, on one line.
func excerpt(s, query string) h.Node {
	const most, before = 320, 80
	at := -1
	lower := strings.ToLower(s)
	for _, word := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(word) < 4 {
			continue
		}
		if n := strings.Index(lower, word); n >= 0 && (at < 0 || n < at) && len(lower) == len(s) {
			at = n
		}
	}
	begin := ""
	if at > before {
		begin, s = "… ", s[len(whole8(s, at-before)):]
		if _, after, found := strings.Cut(s, " "); found {
			s = after // from the beginning of a word on
		}
	}
	return text(begin + line(s, most))
}

// text shows what somebody wrote: with its lines and its spaces, and a sign for each character that would act on the page, hide
// or reorder what is beside it. It is isolated from the direction of the text around it by its element, see bdi and said.
func text(s string) h.Node {
	var b strings.Builder
	run := 0 // characters since the line could last be broken
	marks := 0
	for begin := 0; begin < len(s); {
		r, size := utf8.DecodeRuneInString(s[begin:])
		if run++; unicode.IsSpace(r) {
			run = 0
		} else if run > longRun {
			b.WriteString("<wbr>") // browsers take minutes to lay out a megabyte without it
			run = 0
		}
		if marks++; !stacks(r) {
			marks = 0
		} else if marks > mostMarks {
			n, end := stack(s[begin:])
			fmt.Fprintf(&b, `<span class="sign" title="more marks than a letter has">%d marks</span>`, n)
			begin += end
			continue
		}
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case acts(r) || r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `<span class="sign" title="%s">%s</span>`, signTitle(r), signOf(r))
		default:
			b.WriteString(html.EscapeString(s[begin : begin+size]))
		}
		begin += size
	}
	return h.Raw(b.String()) // everything in it was escaped, or is a sign
}

// longRun is after how many characters without a space a line may be broken.
const longRun = 100

// plain is a text where no markup can be: in a title, or as the label of a drawing. It has the same signs.
func plain(s string) string {
	var b strings.Builder
	marks := 0
	for _, r := range s {
		if marks++; !stacks(r) {
			marks = 0
		} else if marks > mostMarks {
			continue // what is beside it has them all, with a sign
		}
		if acts(r) {
			b.WriteString("[" + signOf(r) + "]")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mostMarks is how many marks a letter may have. Biblical Hebrew and Tibetan have up to six; more are painted over the lines above and below.
const mostMarks = 8

// stacks reports whether a character is set over, under or into the one before it, or joins it with another.
func stacks(r rune) bool { return unicode.In(r, unicode.M) || r == '\u200c' || r == '\u200d' }

// stack counts the characters that stack at the beginning of a text, and their bytes.
func stack(s string) (n, bytes int) {
	for _, r := range s {
		if !stacks(r) {
			break
		}
		n++
		bytes += utf8.RuneLen(r)
	}
	return n, bytes
}

// acts reports whether a character acts on what is beside it and is not seen itself. Joiners are part of writing.
func acts(r rune) bool {
	return r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Variation_Selector, r) && r >= 0xe0100 ||
		r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || // letters without a shape
		r == '\u034f' || r == '\u17b4' || r == '\u17b5' || '\u180b' <= r && r <= '\u180f' || r == '\u2800' // marks, and a pattern of dots, without one
}

func signOf(r rune) string {
	switch {
	case r < ' ':
		return string('\u2400' + r)
	case r == 0x7f:
		return "\u2421"
	}
	return fmt.Sprintf("U+%04X", r)
}

func signTitle(r rune) string {
	if r == utf8.RuneError {
		return "a byte that is no UTF-8"
	}
	return fmt.Sprintf("U+%04X, a character that is not seen by itself", r)
}

// line is the beginning of a text on one line.
func line(s string, most int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if n++; n > most {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// when shows a time of the API to the second.
func when(s string) string {
	t, err := dag.ParseTime(s)
	if err != nil {
		return s
	}
	return time.UnixMicro(int64(t)).UTC().Format("2006-01-02 15:04:05")
}

// short is the beginning of an id, as commands take it.
func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

// count is a number with its noun: the second noun if it is not 1.
func count[N int | uint64](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + more
}

// thousands groups the digits of a number.
func thousands[N int | uint64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// millionths shows a number of millionths as a fraction.
func millionths[N int | uint64](n N) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 3, 64) }

// nonzero is a number as a text, which is empty for 0.
func nonzero[N int | uint64 | dag.Seq](n N) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// query writes a query of pairs, without those that are empty.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values.Encode()
}
