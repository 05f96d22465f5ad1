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

// kindOf names the kind of a bundle by its schema.
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

// excerpt shows the part of a text around the first word of a query that it contains, on one line.
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
			s = after // begin at the beginning of a word
		}
	}
	return text(begin + line(s, most))
}

// text shows text by others with its line breaks and spaces, and with a sign for each character that would act on the page, or hide or
// reorder the text around it. The surrounding element isolates it from the direction of the text around it, see bdi and said.
func text(s string) h.Node {
	var b strings.Builder
	run := 0 // characters since the last place where the line can break
	marks := 0
	for begin := 0; begin < len(s); {
		r, size := utf8.DecodeRuneInString(s[begin:])
		if run++; unicode.IsSpace(r) {
			run = 0
		} else if run > longRun {
			b.WriteString("<wbr>") // without it, browsers take minutes to lay out a megabyte
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

// longRun is the number of characters without a space after which a line may break.
const longRun = 100

// plain returns a text for places without markup, such as a title or the label of a drawing. It has the same signs.
func plain(s string) string {
	var b strings.Builder
	marks := 0
	for _, r := range s {
		if marks++; !stacks(r) {
			marks = 0
		} else if marks > mostMarks {
			continue // the page shows all of them, with a sign
		}
		if acts(r) {
			b.WriteString("[" + signOf(r) + "]")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mostMarks is the maximum number of marks on a letter. Biblical Hebrew and Tibetan have up to six; more would cover the lines above and
// below.
const mostMarks = 8

// stacks reports whether a character is combined with the one before it, or joins it with the next.
func stacks(r rune) bool { return unicode.In(r, unicode.M) || r == '\u200c' || r == '\u200d' }

// stack returns the number of combining characters at the beginning of a text, and of their bytes.
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

// acts reports whether a character is invisible and acts on the text around it. Joiners are part of writing.
func acts(r rune) bool {
	return r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Variation_Selector, r) && r >= 0xe0100 ||
		r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || // letters without a shape
		r == '\u034f' || r == '\u17b4' || r == '\u17b5' || '\u180b' <= r && r <= '\u180f' || r == '\u2800' // marks and a Braille pattern without a shape
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

// line returns the beginning of a text on one line.
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

// when formats a time of the API to the second.
func when(s string) string {
	t, err := dag.ParseTime(s)
	if err != nil {
		return s
	}
	return time.UnixMicro(int64(t)).UTC().Format("2006-01-02 15:04:05")
}

// short returns the first characters of an id, which commands accept.
func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

// count formats a number with its noun: the second noun if the number is not 1.
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

// millionths formats a number of millionths as a fraction.
func millionths[N int | uint64](n N) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 3, 64) }

// nonzero formats a number; 0 is an empty text.
func nonzero[N int | uint64 | dag.Seq](n N) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// query encodes pairs as a query, without the pairs whose value is empty.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values.Encode()
}
