package markup_test

import (
	"fmt"
	"html"
	"strings"
	"testing"

	h "github.com/graphkernel/graphkernel/internal/markup"
)

// hostile are texts that would end the place that they are put into, or run.
var hostile = []string{
	`<script>alert(1)</script>`, `"><svg onload=alert(1)>`, `' onclick='alert(1)`, `</title><script>alert(1)</script>`, `</textarea><b>`, `</style><b>`, "<!--", "]]>", "&lt;b&gt;", "a\x00b", "`", "javascript:alert(1)",
}

// TestPlaces puts each hostile text into each kind of place: it is read there as it was, and nothing else comes of it.
func TestPlaces(t *testing.T) {
	for place, of := range map[string]func(string) h.Node{
		`<p>%s</p>`:               func(s string) h.Node { return h.P(h.Text(s)) },
		`<p>a %s b</p>`:           func(s string) h.Node { return h.P(h.Textf("a %s b", s)) },
		`<title>%s</title>`:       func(s string) h.Node { return h.Title(h.Text(s)) },
		`<textarea>%s</textarea>`: func(s string) h.Node { return h.Textarea(h.Text(s)) },
		`<p title="%s"></p>`:      func(s string) h.Node { return h.P(h.Tip(s)) },
		`<p data-x="%s"></p>`:     func(s string) h.Node { return h.P(h.Data("x", s)) },
		`<p aria-label="%s"></p>`: func(s string) h.Node { return h.P(h.Aria("label", s)) },
		`<input value="%s">`:      func(s string) h.Node { return h.Input(h.Value(s)) },
		`<path d="%s"></path>`:    func(s string) h.Node { return h.Path(h.D(s)) },
	} {
		for _, text := range hostile {
			before, after, _ := strings.Cut(place, "%s")
			got := fmt.Sprint(of(text))
			inside, ok := strings.CutPrefix(got, before)
			inside, ends := strings.CutSuffix(inside, after)
			if !ok || !ends || strings.ContainsAny(inside, `<>"'`) || html.UnescapeString(inside) != strings.ReplaceAll(text, "\x00", "\ufffd") {
				t.Errorf("%q in %s is %s", text, place, got)
			}
		}
	}
}

// TestAddress gives links, forms, scripts and refreshes addresses: those that lead elsewhere, or run, lead to the page itself.
func TestAddress(t *testing.T) {
	for to, want := range map[string]string{
		"/": "/", "/a?b=c&d#e": "/a?b=c&d#e", "?x=//evil.example": "?x=//evil.example", "#h": "#h", "/facts/url:https://a.example//b": "/facts/url:https://a.example//b", "/a//b": "/a//b",
		"": "#", "javascript:alert(1)": "#", "JaVaScRiPt:alert(1)": "#", " javascript:alert(1)": "#", "data:text/html,x": "#", "https://evil.example": "#", "//evil.example": "#", "/\\evil.example": "#", "\\\\evil.example": "#",
		"/\t/evil.example": "#", "/\n/evil.example": "#", "\x01javascript:alert(1)": "#", "a": "#", "é": "#", "/a\x7fb": "#", "vbscript:x": "#", "mailto:a@b.example": "#",
	} {
		if got := h.Address(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
		for _, node := range []h.Node{h.A(h.Href(to)), h.Form(h.Action(to)), h.Script(h.Src(to)), h.Refresh(to)} {
			if got := fmt.Sprint(node); !strings.Contains(got, `="`+html.EscapeString(want)+`"`) && !strings.Contains(got, `="0;url=`+html.EscapeString(want)+`"`) {
				t.Errorf("%q is written as %s", to, got)
			}
		}
	}
}

// FuzzPlaces looks for a text that ends the place that it is put into, or an address that leads elsewhere.
func FuzzPlaces(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := fmt.Sprint(h.A(h.Href(text), h.Tip(text), h.Text(text)))
		if strings.Count(got, "<") != 2 || strings.Count(got, ">") != 2 || strings.Count(got, `"`) != 4 || strings.Contains(got, "'") {
			t.Errorf("%q is written as %s", text, got)
		}
		if to := h.Address(text); to != text && to != "#" || !strings.ContainsRune("/?#", rune(to[0])) || len(to) > 1 && to[0] == '/' && strings.ContainsRune("/\\\t\n\r", rune(to[1])) {
			t.Errorf("%q leads to %q", text, to)
		}
	})
}
