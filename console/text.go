package console

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// functions are what templates call.
var functions = template.FuncMap{
	"text": text, "line": line, "when": when, "short": short, "count": count, "thousands": thousands, "millionths": millionths, "query": query, "path": url.PathEscape, "add": func(a, b int) int { return a + b },
	"kind": kindOf, "issued": func(caption string, list []api.Issued) issuedList { return issuedList{caption, list} },
	"score": func(nano uint64) string { return millionths(int(nano / 1000)) }, "join": func(list []string) string { return strings.Join(list, ", ") },
	"entity": func(name string) string { return "/facts/" + pathEscape(name) }, "before": above, "sections": sections, "kinds": func() []place { return kinds },
	"blank": func(s string) bool { return strings.TrimSpace(s) == "" }, "excerpt": excerpt, "atlasParts": func() []place { return atlasParts }, "atlasBy": func() []place { return atlasBy },
	"shares": func(caption string, list []api.NameShare) shareList { return shareList{caption, list} },
	"weight": func(n uint64) string { return millionths(int(n)) }, "rank": func(n uint64) uint64 { return n / 1_000_000 }, "thousandth": func(n uint64) uint64 { return n / 1000 },
	"why": whyPath, "item": itemPath, "ref": refOf, "number": strconv.Itoa,
	"held":  func(space string, asOf uint64, list []api.HeldStatement) heldList { return heldList{space, asOf, list} },
	"roles": func() []string { return []string{"", "user", "assistant", "tool", "system"} },
}

// A place is a place in the console with its name.
type place struct{ Path, Name string }

// kinds are what can be handed out, as the list of it is narrowed.
var kinds = []place{{"", "Everything"}, {"slice", "Slices of turns"}, {"context", "Contexts"}, {"facts", "Slices of facts"}, {"belief", "Beliefs"}}

// sections are what the navigation leads to: the pages that a role may open.
func sections(role string) (list []place) {
	for _, one := range []struct {
		place
		may access.Permission // 0: everybody
	}{
		{place{"", "Home"}, 0}, {place{"search", "Search"}, access.Recall}, {place{"conversations", "Conversations"}, access.Read}, {place{"slices", "Handed out"}, access.Read},
		{place{"facts", "Facts"}, access.Recall}, {place{"beliefs", "Beliefs"}, access.Recall}, {place{"atlas", "Atlas"}, access.Read}, {place{"ledger", "Ledger"}, access.Follow}, {place{"policies", "Policies"}, access.ListPolicies}, {place{"keys", "Keys"}, access.ManageKeys},
	} {
		if one.may == 0 || access.Role(role).May(one.may) {
			list = append(list, one.place)
		}
	}
	return list
}

// above is where a page of a conversation begins that has the turn of a number a few lines below its top.
func above(seq uint64) uint64 { return seq - min(seq, 6) }

// atlasBy is what turns are sorted by in an atlas.
var atlasBy = []place{{"", "weight"}, {"rank", "rank"}, {"betweenness", "betweenness"}}

// A shareList is a table of names and how many there are of each.
type shareList struct {
	Caption string
	List    []api.NameShare
}

// An issuedList is a table of what was handed out.
type issuedList struct {
	Caption string
	List    []api.Issued
}

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
func excerpt(s, query string) template.HTML {
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
// or reorder what is beside it. It is isolated from the direction of the text around it by its element, see parts.html.
func text(s string) template.HTML {
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
			template.HTMLEscape(&b, []byte(s[begin:begin+size]))
		}
		begin += size
	}
	return template.HTML(b.String()) //nolint:gosec // everything in it was escaped, or is a sign
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
func count(n any, one, more string) string {
	if fmt.Sprint(n) == "1" {
		return "1 " + one
	}
	return thousands(n) + " " + more
}

// thousands groups the digits of a number.
func thousands(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// millionths shows a number of millionths as a fraction.
func millionths(n int) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 3, 64) }

// query writes a query of pairs, without those that are empty. Zero as a text is not empty.
func query(pairs ...any) template.URL {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		s := fmt.Sprint(pairs[i+1])
		if _, isText := pairs[i+1].(string); s != "" && (isText || s != "0") {
			values.Set(fmt.Sprint(pairs[i]), s)
		}
	}
	return template.URL(values.Encode()) //nolint:gosec // it is encoded
}
