package main

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// A walk is a reader of the console's pages, who begins at the home page and only follows links and forms.
type walk struct {
	t      *testing.T
	at     *served
	page   string
	clicks int
}

func (w *walk) open(path string) {
	w.t.Helper()
	status, body := w.at.get(path)
	if status != http.StatusOK {
		w.t.Fatalf("%s: %d", path, status)
	}
	w.page = string(body)
}

var anchorTag = regexp.MustCompile(`(?s)<a [^>]*href="([^"]+)"[^>]*>(.*?)</a>`)

// click follows the first link whose address has a part: the link that a text is in, or one after it.
func (w *walk) click(after, part string) {
	w.t.Helper()
	at := strings.Index(w.page, after)
	if at < 0 {
		w.t.Fatalf("the page does not show %q:\n%s", after, w.page)
	}
	if begin := strings.LastIndex(w.page[:at], "<a "); begin >= 0 && !strings.Contains(w.page[begin:at], "</a>") {
		at = begin
	}
	for _, found := range anchorTag.FindAllStringSubmatch(w.page[at:], -1) {
		if to := html.UnescapeString(found[1]); strings.Contains(to, part) {
			w.clicks++
			w.open(to)
			return
		}
	}
	w.t.Fatalf("no link to %q after %q", part, after)
}

// turn follows the link at the head of the turn with a text.
func (w *walk) turn(text string) {
	w.t.Helper()
	at := strings.LastIndex(w.page, text)
	if at < 0 {
		w.t.Fatalf("the page does not show %q:\n%s", text, w.page)
	}
	row := strings.LastIndex(w.page[:at], "<li id=")
	w.page = w.page[max(0, row):]
	w.click("<li id=", "/turns/")
}

func (w *walk) shows(texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.page, text) {
			w.t.Errorf("the page does not show %q", text)
		}
	}
}

// TestDemoServe answers what an auditor asks with the pages of the demonstration alone. docs/console.md has the clicks.
func TestDemoServe(t *testing.T) {
	t.Parallel()
	s := startProgram(t, t.TempDir(), "demo", "--serve")
	const incident = "Checkout fails for about one customer in ten"
	for name, answer := range map[string]func(w *walk){
		"who allowed the change": func(w *walk) {
			w.click(incident, "/conversations/")
			w.turn("Creating the index.")
			w.shows("Who asked for it", "human:oncall", "You have my word for exactly that")
		},
		"what the agent had seen before it": func(w *walk) {
			w.click(incident, "/conversations/")
			w.turn("Creating the index.")
			w.shows("The agent had seen</dt><dd>context ", ", handed out <time datetime=\"2026-03-14T02:15:30")
			if strings.Contains(w.page, "cannot have seen it") {
				w.t.Error("what was handed out in the night is said to be of later")
			}
			w.click("The agent had seen", "/contexts/")
			w.shows("create the index that was agreed on", "The prompt as the agent saw it", "You have my word for exactly that", "found by")
		},
		"that what waits for a later turn was not seen before": func(w *walk) {
			w.click(incident, "/conversations/")
			w.turn("Option C: raise the pool")
			w.shows("The agent had seen</dt><dd>context ", "2026-03-14T02:12:30")
			if head, _, _ := strings.Cut(w.page, "<h2"); strings.Contains(head, "T02:15:30") {
				w.t.Errorf("at 02:13 an agent had seen what was handed out at 02:15\n%s", head)
			}
		},
		"whether a bundle is genuine": func(w *walk) {
			w.click("create the index that was agreed on", "/contexts/")
			w.shows("The service: <strong>verified</strong>", "graphkernel verify --trust")
		},
		"what the erased words touched": func(w *walk) {
			w.click(incident, "/conversations/")
			w.turn("The text was erased")
			w.shows("Who was handed it", "<h3>Contexts</h3>", ">erased</span>")
			w.click("<h3>Slices</h3>", "/slices/")
			w.shows("<strong>erased</strong>", "Erased since")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &walk{t: t, at: s}
			w.open("/")
			answer(w)
			if w.clicks > 4 {
				t.Errorf("it takes %d clicks", w.clicks)
			}
		})
	}
	s.stop()
}
