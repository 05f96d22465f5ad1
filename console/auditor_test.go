package console_test

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/console"
	"github.com/graphkernel/graphkernel/dag"
)

// The turns of the incident that ships which an auditor asks about.
const (
	incidentAsked   = "42fec86c-0dc0-4a11-8ca1-000000000011" // a person allows one change
	incidentDone    = "d93a7abe-0dc0-4a11-8ca1-000000000012" // the agent makes it
	incidentResult  = "92a69352-0dc0-4a11-8ca1-000000000013" // and what came of it
	incidentBegin   = "69048be9-0dc0-4a11-8ca1-000000000002" // a person asks for the cause
	incidentSubRead = "b9b6c282-0dc0-4a11-8ca1-000000000005" // a sub-agent reads a log
)

// incident opens a site with the incident that ships, and has a context handed out for the turn in which a person allows the change. It returns the context's id.
func incident(t *testing.T) (*site, string) {
	t.Helper()
	s := open(t)
	lines := must(os.ReadFile("../cmd/graphkernel/demo/incident.jsonl"))
	r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/turns", bytes.NewReader(lines)))
	r.Header.Set("Authorization", "Bearer "+s.keys[access.Admin])
	r.Header.Set("Content-Type", "application/x-ndjson")
	resp := must(http.DefaultClient.Do(r))
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("admitting the incident: %d", resp.StatusCode)
	}
	context := s.post("/api/context", quoted(map[string]any{"task": "create the index", "anchor": incidentAsked, "format": "bundle"})).Header.Get("Slice-Id")
	if context == "" {
		t.Fatal("nothing was handed out")
	}
	return s, context
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	spaces = regexp.MustCompile(`\s+`)
)

// section is the text of a part of a page, from a heading to the next one, without its markup; "": it has none.
func (r reply) section(heading string) string {
	_, after, found := strings.Cut(r.body, ">"+heading+"</h")
	if !found {
		return ""
	}
	part, _, _ := strings.Cut(after[strings.Index(after, ">")+1:], "<h")
	return strings.TrimSpace(spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(part, " ")), " "))
}

// TestWhoAsked reads pages of what agents did: each says which person had asked for it, what came before it in words, and what its agent had been shown.
func TestWhoAsked(t *testing.T) {
	s, context := incident(t)
	b := s.signedIn(access.Auditor)
	for id, want := range map[string]struct{ asked, before, shown string }{
		incidentDone:    {"42fec86c user human:oncall 2026-03-14 02:15:00 Do B. You have my word for exactly that", "42fec86c reply user human:oncall Do B.", context},
		incidentResult:  {"42fec86c user human:oncall 2026-03-14 02:15:00 Do B. You have my word for exactly that", "d93a7abe reply assistant agent:lead Creating the index.", context},
		incidentSubRead: {"69048be9 user human:oncall 2026-03-14 02:02:00 Checkout fails", "c9e758ed reply", "Nothing was handed out"},
		incidentAsked:   {"", "reply assistant agent:lead Option", "Nothing was handed out"},
		incidentBegin:   {"", "reply system kernel:prompt You are on call", "Nothing was handed out"},
	} {
		r := b.get("/turns/" + id)
		asked := r.section("Who asked for it")
		if !strings.HasPrefix(asked, want.asked) || want.asked == "" && asked != "" {
			t.Errorf("turn %s, who asked: %q", id, asked)
		}
		if got := r.section("What came before it"); !strings.Contains(got, want.before) {
			t.Errorf("turn %s, what came before: %q", id, got)
		}
		got := r.section("What the agent was shown") // the clock of the service is that of an earlier day than the incident
		if !strings.Contains(got, want.shown) || strings.Contains(got, "Handed out after") {
			t.Errorf("turn %s, what the agent was shown: %q", id, got)
		}
	}
	s.clock.pass(365 * 24 * time.Hour) // from here on all is handed out long after
	s.post("/api/slice", quoted(map[string]any{"anchor": incidentAsked}))
	if got := s.signedIn(access.Auditor).get("/turns/" + incidentDone).section("What the agent was shown"); !strings.Contains(got, "its agent cannot have seen it: 1 of 2.") {
		t.Errorf("after a slice was handed out a year later, what the agent was shown: %q", got)
	}
}

// heads are the three lines at the top of a page: who asked, what the agent had seen, whether it is genuine.
func (r reply) heads(t *testing.T) (heads [3]string) {
	t.Helper()
	_, list, _ := strings.Cut(r.body, `<dl class="facts heads">`)
	list, _, _ = strings.Cut(list, "</dl>")
	lines := regexp.MustCompile(`(?s)<dt>(.*?)</dt><dd>(.*?)</dd>`).FindAllStringSubmatch(list, -1)
	if len(lines) != len(heads) {
		t.Fatalf("%d lines at the head of\n%s", len(lines), r.body)
	}
	for i, l := range lines {
		heads[i] = strings.TrimSpace(spaces.ReplaceAllString(html.UnescapeString(l[1]+": "+tags.ReplaceAllString(l[2], "")), " "))
	}
	return heads
}

// TestHeads reads the three lines at the head of turns, contexts and slices: of an action, of what a person said, after a text was erased, and where all was handed out later.
func TestHeads(t *testing.T) {
	s, context := incident(t)
	slice := s.post("/api/slice", quoted(map[string]any{"anchor": incidentResult})).Header.Get("Slice-Id")
	loose := s.post("/api/context", quoted(map[string]any{"task": "create the index", "format": "bundle"})).Header.Get("Slice-Id")
	b := s.signedIn(access.Auditor)
	const asked, said = "Asked by: human:oncall, 2026-03-14 02:15:00, in turn 42fec86c", "Asked by: a person said it: human:oncall, 2026-03-14 02:15:00"
	check := func(path string, want [3]string) {
		t.Helper()
		got := b.get(path).heads(t)
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: %q, want %q", path, got[i], want[i])
			}
		}
	}
	check("/turns/"+incidentDone, [3]string{asked, "The agent had seen: context " + context + ", 15 turns, handed out ", "Genuine: verified: text and place fit what was admitted as number 18"})
	check("/turns/"+incidentAsked, [3]string{said, "The agent had seen: nothing that was handed out before it is on record", "Genuine: verified"})
	check("/contexts/"+context, [3]string{asked, "The agent had seen: 15 turns, handed out ", "Genuine: verified, by "})
	check("/slices/"+slice, [3]string{asked, "May have influenced the agent: 18 turns other than its anchor; what the agent was shown is not in it, handed out ", "Genuine: verified, by "})
	check("/contexts/"+loose, [3]string{"Asked by: not known: no turn is on record that it goes on from", "The agent had seen: ", "Genuine: verified, by "})
	if _, err := s.kernel.Turns().Erase(t.Context(), tenant, must(dag.ParseTurnID(incidentAsked)), "asked for"); err != nil {
		t.Fatal(err)
	}
	check("/turns/"+incidentDone, [3]string{"Asked by: a name that was erased or never came, 2026-03-14 02:15:00", "The agent had seen: context " + context, "Genuine: verified"})
	check("/turns/"+incidentAsked, [3]string{"Asked by: a person said it: a name that was erased", "", "Genuine: verified: its place fits its leaf, and its text is not there"})
	check("/contexts/"+context, [3]string{"Asked by: ", "The agent had seen: what it held, whose bytes are gone, handed out ", "Genuine: only a bundle that somebody kept can be checked"})
	later, context := incident(t)
	later.clock.pass(365 * 24 * time.Hour)
	late := later.post("/api/slice", quoted(map[string]any{"anchor": incidentAsked})).Header.Get("Slice-Id")
	afterwards := later.post("/api/context", quoted(map[string]any{"task": "create the index", "anchor": incidentDone, "format": "bundle"})).Header.Get("Slice-Id")
	b = later.signedIn(access.Auditor)
	check("/turns/"+incidentDone, [3]string{asked, "The agent had seen: context " + context, ""})
	check("/contexts/"+afterwards, [3]string{asked, "Handed out later: 16 turns, handed out ", "Genuine: verified, by "})
	if page := b.get("/contexts/" + afterwards).body; strings.Contains(page, "agent saw it") || !strings.Contains(page, "The prompt as it was handed out") || !strings.Contains(page, "who acted then cannot have seen it") {
		t.Errorf("a context that was handed out a year later:\n%s", page)
	}
	if got := b.get("/turns/" + incidentDone).heads(t)[1]; strings.Contains(got, late) {
		t.Errorf("a slice that was handed out a year later was seen: %q", got)
	}
}

// TestHeadings reads the headings of pages: words, and an id only where there are none. An empty list says what it is for.
func TestHeadings(t *testing.T) {
	s, _ := incident(t)
	b := s.signedIn(access.Auditor)
	if _, err := s.kernel.Turns().Erase(t.Context(), tenant, must(dag.ParseTurnID(incidentAsked)), "asked for"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/turns/" + incidentDone:                              "<h1><bdi>Creating the index.</bdi></h1>",
		"/turns/" + incidentAsked:                             "<h1>Turn 42fec86c</h1>",
		"/conversations/1c1de000-0dc0-4a11-8ca1-0000000000a0": "<h1><bdi>Checkout fails for about one customer in ten",
		"/slices?kind=belief":                                 "graphkernel context WORDS",
	} {
		if r := b.get(path); !strings.Contains(r.body, want) {
			t.Errorf("%s does not have %s\n%s", path, want, r.body)
		}
	}
}

// TestFault changes what is recorded of a turn, member by member: each change is a fault, and the turn as it was admitted has none.
func TestFault(t *testing.T) {
	s, _ := incident(t)
	r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/turns/"+incidentDone, nil))
	r.Header.Set("Authorization", "Bearer "+s.keys[access.Admin])
	resp := must(http.DefaultClient.Do(r))
	defer func() { _ = resp.Body.Close() }()
	var stored api.StoredTurn
	if err := json.NewDecoder(resp.Body).Decode(&stored); err != nil {
		t.Fatal(err)
	}
	if fault := console.FaultOf(&stored); fault != "" {
		t.Fatalf("a turn as it was admitted: %s", fault)
	}
	changes := 0
	for old, changed := range map[string]string{
		"Creating the index.": "Dropping the table.", "agent:lead": "agent:leaf", `"sql"`: `"rm"`, "02:16:00": "02:14:00", `"assistant"`: `"user"`,
		"8ca1-0000000000a0": "8ca1-0000000000a1", "8ca1-000000000012": "8ca1-000000000013",
	} {
		other := stored
		other.Turn = bytes.Replace(stored.Turn, []byte(old), []byte(changed), 1)
		if changes++; bytes.Equal(other.Turn, stored.Turn) || console.FaultOf(&other) == "" {
			t.Errorf("%s in place of %s is no fault", changed, old)
		}
	}
	other := stored
	if other.BodyDigest = (dag.Digest{}); console.FaultOf(&other) == "" || changes == 0 {
		t.Error("another digest is no fault")
	}
}

// TestMissingWithout reads what the choice of turns before one hangs on, and finds each in words.
func TestMissingWithout(t *testing.T) {
	s, _ := incident(t)
	got := s.signedIn(access.Auditor).get("/turns/" + incidentDone + "?blame=1").section("What may have led to it")
	for _, want := range []string{"Without turn Others lost Others that come What it says", "agent:lead Option A", "human:oncall Checkout fails"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestMissingFromSlice asks from the page of a turn what would be missing without it from what was handed out.
func TestMissingFromSlice(t *testing.T) {
	s, _ := incident(t)
	b := s.signedIn(access.Auditor)
	s.post("/api/slice", quoted(map[string]any{"anchor": incidentDone}))
	page := b.get("/turns/" + incidentAsked)
	link := regexp.MustCompile(`href="(/slices/[0-9a-f]{16}\?explain=[^"#]*)#h-out"`).FindStringSubmatch(page.body)
	if link == nil {
		t.Fatalf("no link: %q", page.section("Who was handed it"))
	}
	got := b.get(html.UnescapeString(link[1])).section("What is not in it, and why")
	for _, want := range []string{"Without it, 16 other turns would be missing:", "3c2869df user human:oncall Good. What are the options"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// TestErasedWords erases two turns of a person and one of another: the list has them as two acts, with the reasons, and leads to what held the texts.
func TestErasedWords(t *testing.T) {
	s, context := incident(t)
	b := s.signedIn(access.Auditor)
	slice := s.post("/api/slice", quoted(map[string]any{"anchor": incidentDone})).Header.Get("Slice-Id")
	other := s.post("/api/slice", quoted(map[string]any{"anchor": incidentBegin})).Header.Get("Slice-Id") // before what is erased together
	for _, one := range []struct{ id, reason string }{{incidentBegin, "a <b>mistake</b>"}, {"3c2869df-0dc0-4a11-8ca1-00000000000d", "asked for"}, {incidentAsked, "asked for"}} {
		if _, err := s.kernel.Turns().Erase(t.Context(), tenant, must(dag.ParseTurnID(one.id)), one.reason); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(b.get("/").body, `href="/erasures"`) {
		t.Error("nothing leads to the list")
	}
	list := b.get("/erasures")
	links := regexp.MustCompile(`href="(/erasures\?from=[^"]*)"`).FindAllStringSubmatch(list.body, -1)
	if len(links) != 2 || !strings.Contains(list.body, "a &lt;b&gt;mistake&lt;/b&gt;") || !strings.Contains(list.body, "2 texts") {
		t.Fatalf("%d links\n%s", len(links), list.body)
	}
	r := b.get(html.UnescapeString(links[1][1]))
	for text, want := range map[string]bool{context: true, slice: true, other: false, incidentAsked: true, incidentBegin: false} {
		if strings.Contains(r.body, text) != want {
			t.Errorf("the page of two erasures shows %s: %v, want %v\n%s", text, !want, want, r.body)
		}
	}
	page := b.get("/turns/" + incidentAsked)
	if !strings.Contains(page.body, "The text was erased on") || !strings.Contains(page.body, "asked for") {
		t.Errorf("the page of an erased turn does not say when and why\n%s", page.body)
	}
	if r := b.get("/erasures?from=x"); r.status != http.StatusBadRequest {
		t.Errorf("from=x: %d", r.status)
	}
	if r := s.signedIn(access.Verifier).get("/erasures"); r.status != http.StatusForbidden {
		t.Errorf("a verifier: %d", r.status)
	}
}

// sent sends a file in the form that checks a bundle.
func (b *browser) sent(token string, file []byte) reply {
	b.site.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("token", token)
	if file != nil {
		_, _ = must(w.CreateFormFile("bundle", "bundle.json")).Write(file)
	}
	_ = w.Close()
	r := must(http.NewRequestWithContext(b.site.t.Context(), http.MethodPost, b.site.URL+"/check", &body))
	r.Header.Set("Content-Type", w.FormDataContentType())
	resp := must(b.Do(r))
	defer func() { _ = resp.Body.Close() }()
	return reply{resp.StatusCode, resp.Header, string(must(io.ReadAll(resp.Body))), resp.Header.Get("Location"), nil}
}

// TestCheckBundle brings bundles to the page: a genuine one, one whose text was erased since, one that was changed, and what is none.
func TestCheckBundle(t *testing.T) {
	s, context := incident(t)
	b := s.signedIn(access.Auditor)
	bundle := b.get("/slices/" + context + "/bundle.json").body
	token := b.get("/slices").token()
	if !strings.Contains(b.get("/slices").body, `action="/check"`) {
		t.Error("nothing leads to the check")
	}
	forged := strings.Replace(bundle, "You have my word", "You have my work", 1)
	if forged == bundle || token == "" {
		t.Fatal("nothing to check")
	}
	try := func(name, file string, want ...string) {
		t.Helper()
		r := b.sent(token, []byte(file))
		for _, text := range want {
			if r.status != http.StatusOK || !strings.Contains(r.body, text) {
				t.Errorf("%s: %d without %q\n%s", name, r.status, text, r.body)
			}
		}
	}
	try("genuine", bundle, "The service: <strong>verified</strong>", "These bytes are on record", context)
	try("with the line feed of a file", bundle+"\n", "The service: <strong>verified</strong>", "These bytes are on record")
	const signed = `"token":"`
	at := strings.Index(bundle, signed) + len(signed)
	other := bundle[:at] + strings.Map(func(r rune) rune {
		if r == '0' {
			return '1'
		}
		return '0'
	}, bundle[at:at+2]) + bundle[at+2:]
	try("of another kernel whose key has the same id", other, "The service: <strong>tampered</strong>", "It may be evidence of another kernel")
	if r := b.sent(token, []byte(forged)); strings.Contains(r.body, "another kernel") {
		t.Errorf("what was changed may be of another kernel\n%s", r.body)
	}
	try("forged", forged, "The service: <strong>tampered</strong>", "Other bytes are on record under this id")
	try("no bundle", `{"a":1}`, "The service: <strong>malformed</strong>")
	try("no JSON", "\x00\xff", "The service: <strong>malformed</strong>")
	try("empty", "", "This file is empty")
	if _, err := s.kernel.Turns().Erase(t.Context(), tenant, must(dag.ParseTurnID(incidentAsked)), "asked for"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.get("/contexts/"+context).body, `href="/check"`) {
		t.Error("the page of what was erased does not lead to the check")
	}
	if r := b.get("/slices/" + context + "/trust"); r.status != http.StatusOK || !strings.HasPrefix(r.body, "# The keys") {
		t.Errorf("the keys to check it with: %d", r.status)
	}
	try("erased since", bundle, "The service: <strong>verified</strong>", "These bytes are on record")
	if r := b.sent(token, nil); !strings.Contains(r.body, "Choose a file first") {
		t.Errorf("no file: %d\n%s", r.status, r.body)
	}
	if r := b.sent("", []byte(bundle)); r.status != http.StatusForbidden {
		t.Errorf("without the form's token: %d", r.status)
	}
	if r := s.browser().sent(token, []byte(bundle)); r.status != http.StatusUnauthorized {
		t.Errorf("of nobody: %d", r.status)
	}
	if r := b.do(http.MethodPost, "/check", map[string][]string{"token": {token}}); r.status != http.StatusUnsupportedMediaType {
		t.Errorf("without a file's form: %d", r.status)
	}
	if r := b.sent(token, bytes.Repeat([]byte("a"), 64<<20)); r.status != http.StatusRequestEntityTooLarge {
		t.Errorf("too long: %d", r.status)
	}
}

// TestFoundByID finds what there is by the beginning of its id, from 4 characters to all of it, in the box and in the address, and says of none that nothing was found. Of words that nobody said it
// says so.
func TestFoundByID(t *testing.T) {
	s, context := incident(t)
	b := s.signedIn(access.Auditor)
	const main, sub = "1c1de000-0dc0-4a11-8ca1-0000000000a0", "1c1de000-0dc0-4a11-8ca1-0000000000b0"
	for query, want := range map[string][]string{
		context: {`href="/contexts/` + context + `"`}, context[:6]: {`href="/contexts/` + context + `"`}, incidentAsked[:8]: {`href="/turns/` + incidentAsked + `"`}, incidentAsked: {`href="/turns/` + incidentAsked + `"`},
		main: {`href="/conversations/` + main + `"`}, main[:35]: {`href="/conversations/` + main + `"`}, "1c1d": {`href="/conversations/` + main + `"`, `href="/conversations/` + sub + `"`}, "1C1DE000": {`href="/conversations/` + main + `"`},
	} {
		r := b.get("/search?q=" + query)
		for _, link := range want {
			if r.status != http.StatusOK || !strings.Contains(r.body, link) || strings.Contains(r.body, "No turn was found") {
				t.Errorf("%s: %d without %s\n%s", query, r.status, link, r.section("Search"))
			}
		}
	}
	for _, query := range []string{"0000", "ffff", "1c1de001", strings.Repeat("0", 32), strings.Repeat("f", 36)} {
		if r := b.get("/search?q=" + query); r.status != http.StatusOK || !strings.Contains(r.body, "No turn was found") {
			t.Errorf("%s: %d\n%s", query, r.status, r.section("Search"))
		}
	}
	if r := b.get("/search?q=xyzzy"); !strings.Contains(r.body, "No turn was found") {
		t.Errorf("a word that nobody said:\n%s", r.section("Search"))
	}
	if r := b.get("/search?q=xyzzy&policy=find%401"); !strings.Contains(r.body, "None of these turns has any of the words. They are nearest in meaning:") || !strings.Contains(r.body, "under find@1") || strings.Contains(r.body, `class="why"`) {
		t.Errorf("a word that nobody said:\n%s", r.section("Search"))
	}
	if r := b.get("/search?q=coupon"); strings.Contains(r.body, "nearest in meaning") {
		t.Errorf("a word that was said:\n%s", r.section("Search"))
	}
	for path, want := range map[string]string{"/conversations/" + main[:35]: "/conversations/" + main, "/conversations/1c1de000": "", "/conversations/ffff": ""} {
		if r := b.get(path); r.to != want || want == "" && r.status != http.StatusNotFound {
			t.Errorf("%s: %d to %q", path, r.status, r.to)
		}
	}
}

// A walk goes from page to page as a person does: by a link that the page shows, or a form that it has. It counts the steps.
type walk struct {
	*browser
	page  reply
	steps int
}

// begin opens the home page, which is no step.
func (b *browser) begin() *walk { return &walk{browser: b, page: b.get("/")} }

// link follows the first link with this text.
func (w *walk) link(text string) {
	w.site.t.Helper()
	for _, found := range regexp.MustCompile(`(?s)<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>`).FindAllStringSubmatch(w.page.body, -1) {
		if strings.Contains(html.UnescapeString(tags.ReplaceAllString(found[2], "")), text) {
			w.steps++
			path, _, _ := strings.Cut(html.UnescapeString(found[1]), "#")
			w.page = w.get(path)
			return
		}
	}
	w.site.t.Fatalf("no link says %q\n%s", text, w.page.body)
}

// ask types words into the box at the top of the page.
func (w *walk) ask(words string) {
	w.site.t.Helper()
	if !strings.Contains(w.page.body, `<form class="quick" action="/search"`) {
		w.site.t.Fatal("the page has no box")
	}
	w.steps++
	w.page = w.get("/search?q=" + url.QueryEscape(words))
}

// TestAuditorsQuestions answers the questions of docs/console.md on the incident that ships, from the home page on.
func TestAuditorsQuestions(t *testing.T) {
	s, context := incident(t)
	slice := s.post("/api/slice", quoted(map[string]any{"anchor": incidentDone})).Header.Get("Slice-Id")
	b := s.signedIn(access.Auditor)
	bundle := b.get("/slices/" + context + "/bundle.json").body
	for _, one := range []struct {
		question string
		steps    int
		walk     func(*walk)
		heading  string
		want     string
	}{
		{"Who allowed the change?", 2, func(w *walk) { w.ask("Creating the index"); w.link("d93a7abe") }, "Who asked for it", "human:oncall 2026-03-14 02:15:00 Do B. You have my word"},
		{"What had the agent seen before it?", 3, func(w *walk) { w.ask("Creating the index"); w.link("d93a7abe"); w.link(context) }, "The prompt as the agent saw it", "Find out why. Do not restart anything yet."},
		{"Is this bundle genuine?", 2, func(w *walk) {
			w.link("Handed out")
			w.steps++
			w.page = w.sent(w.page.token(), []byte(bundle))
		}, "These bytes are on record", context},
		{"What would be missing without this turn?", 3, func(w *walk) { w.ask("Good. What are the options"); w.link("3c2869df"); w.link("from slice " + slice) }, "What is not in it, and why", "Without it, 14 other turns would be missing"},
		{"What did this person's erased words touch?", 2, func(w *walk) {
			if _, err := s.kernel.Turns().Erase(t.Context(), tenant, must(dag.ParseTurnID(incidentAsked)), "asked for"); err != nil {
				t.Fatal(err)
			}
			w.page = w.get("/")
			w.link("Erased texts")
			w.link("What the text touched")
		}, "Slices", slice},
	} {
		w := b.begin()
		one.walk(w)
		if got := w.page.section(one.heading); !strings.Contains(got, one.want) || w.steps != one.steps {
			t.Errorf("%s After %d steps, want %d, %q says %q\n%s", one.question, w.steps, one.steps, one.heading, got, w.page.body)
		}
	}
}
