package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/graphkernel/graphkernel/access"
)

// mostBytes is what a page may weigh, with all that it loads, when nothing is kept.
const mostBytes = 150_000

// TestPages opens every page, and again at each width and in each colour: nothing throws, is refused by the policy or comes from elsewhere, nothing runs that somebody wrote,
// nothing is wider than the window, and every page is light.
func TestPages(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Admin)
	for _, p := range s.pages() {
		b.look(1280, "light")
		b.run(chromedp.ActionFunc(clearCache))
		b.open(p.path)
		if !strings.Contains(b.text(), p.has) && !strings.Contains(strings.ToUpper(b.text()), strings.ToUpper(p.has)) {
			t.Errorf("%s does not show %q:\n%s", p.path, p.has, b.text())
		}
		if strings.HasPrefix(p.name, "slice") || p.name == "context" {
			b.wait(`!document.querySelector("[data-verify]") || document.querySelector("[data-verify] strong")`)
		}
		b.mu.Lock()
		weight, requests := b.weight, b.requests
		b.mu.Unlock()
		t.Logf("%-22s %7d bytes in %d requests", p.name, weight, requests)
		if weight > mostBytes || weight < 1000 {
			t.Errorf("%s weighs %d bytes, want at most %d", p.path, weight, mostBytes)
		}
		b.keep(p.name)
		b.unfold()
		for _, width := range []int64{360, 390, 768, 1280, 3840} {
			b.look(width, map[bool]string{true: "dark", false: "light"}[width == 768])
			if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s is %d pixels wider than a window of %d: %s", p.path, over, width, eval[string](b, widest))
			}
			if cut := eval[string](b, cut); cut != "" {
				t.Errorf("%s at %d: not in a box that scrolls, or wider than it: %s", p.path, width, cut)
			}
			if width == 360 {
				b.keep(p.name + "-360")
			}
		}
		if eval[bool](b, `"pwned" in window`) {
			t.Errorf("%s ran what somebody wrote", p.path)
		}
		if faults := b.taken(); len(faults) > 0 {
			t.Errorf("%s: %q", p.path, faults)
		}
	}
}

// cut names the tables that are in no box which scrolls by itself within the window, and, where there is room, the drawings that do not fit their boxes.
const cut = `[...document.querySelectorAll("main table")].filter((e) => { const box = e.closest(".scroll"); return !box || getComputedStyle(box).overflowX !== "auto" || box.getBoundingClientRect().right > document.documentElement.clientWidth; })
	.concat(document.documentElement.clientWidth < 1000 ? [] : [...document.querySelectorAll("svg.fits")].filter((e) => e.parentElement.scrollWidth > e.parentElement.clientWidth + 1))
	.slice(0, 3).map((e) => e.outerHTML.slice(0, 160)).join(" | ")`

// widest names the elements that reach beyond the window.
const widest = `[...document.querySelectorAll("main *, header *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".scroll")).slice(0, 5).map((e) => e.outerHTML.slice(0, 120)).join(" | ")`

// TestWithoutJavaScript opens every page with scripts off: what a reader sees is the same, but for what only a script adds.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	s := open(t)
	with, without := s.tab(t), s.tab(t)
	without.run(emulation.SetScriptExecutionDisabled(true))
	with.signIn(access.Admin)
	without.open("/sign-in")
	without.run(chromedp.SendKeys("#key", s.keys[access.Admin]+"\r"), chromedp.WaitReady("nav"))
	main := func(b *tab, path string) string {
		b.open(path)
		var text string
		b.run(chromedp.Evaluate(`[...document.querySelector("main").cloneNode(true).childNodes].length && (() => { const m = document.querySelector("main").cloneNode(true); m.querySelectorAll(".here, .live, noscript").forEach((e) => e.remove()); return m.textContent.replace(/\s+/g, " "); })()`, &text))
		return text
	}
	for _, p := range s.pages() {
		if a, b := main(with, p.path), main(without, p.path); a != b && p.name != "problem" {
			t.Errorf("%s without JavaScript:\n%.600s\nwith it:\n%.600s", p.path, b, a)
		}
	}
	// Forms work, too.
	without.open("/search")
	without.run(chromedp.SendKeys("#q", "coupon\r"), chromedp.WaitReady("ol.hits"))
	without.open("/keys")
	without.run(chromedp.SendKeys("#note", "made without scripts\r"), chromedp.WaitReady("code.secret"))
	if !strings.Contains(without.text(), "made without scripts") {
		t.Error("no key was made")
	}
	without.open("/policies")
	without.run(chromedp.SendKeys("#policy", `{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":8}}`), chromedp.Submit("#policy"), chromedp.WaitReady("dl.facts"))
	if !strings.Contains(without.text(), "max_nodes") {
		t.Error("no policy was registered")
	}
	if faults := without.taken(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// TestVerifies has the browser check evidence: whole, changed on the way, and under a trust file of somebody else.
func TestVerifies(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Auditor)
	verdict := func() string { return eval[string](b, `document.querySelector("[data-verify] .verdict").innerText`) }
	for _, path := range []string{"/slices/" + s.slice, "/contexts/" + s.context, "/slices/" + s.facts} {
		b.open(path)
		b.wait(`document.querySelector("[data-verify] strong")`)
		if got := verdict(); !strings.Contains(got, "VERIFIED") || !strings.Contains(got, "the service publishes") {
			t.Errorf("%s: %s", path, got)
		}
		if n := eval[int](b, `document.querySelectorAll("[data-verify] .checks tbody tr, [data-verify] table tbody tr").length`); n < 10 {
			t.Errorf("%s: %d checks are shown", path, n)
		}
	}
	trust := filepath.Join(t.TempDir(), "trust")
	own := "log other.example+d45e4fc8+AectVovgOdpcf4rapMAVkXPJU4bHrQr+LWG0SNX3dPM1\nquorum none\n"
	if err := os.WriteFile(trust, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	b.open("/slices/" + s.slice)
	b.wait(`document.querySelector("[data-verify] strong")`)
	b.run(chromedp.SetUploadFiles(`[data-verify] input[type=file]`, []string{trust}))
	b.wait(`document.querySelector("[data-verify] .verdict").innerText.includes("your trust file")`)
	if got := verdict(); strings.Contains(got, ": VERIFIED") {
		t.Errorf("under a trust file of somebody else: %s", got)
	}
	s.mangles.Store(true)
	for _, path := range []string{"/slices/" + s.slice, "/contexts/" + s.context} {
		b.open(path)
		b.wait(`document.querySelector("[data-verify] strong, [data-verify] .fail")`)
		if got := verdict(); strings.Contains(got, ": VERIFIED") || eval[bool](b, `!document.querySelector("[data-verify] .verdict.fail")`) {
			t.Errorf("%s, changed on the way: %s", path, got)
		}
	}
	if faults := b.taken(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// focus says what has the focus: its kind, what it is called, whether that is seen, and whether it is in the window.
const focus = `(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
	return { tag: e.tagName, name: (e.getAttribute("aria-label") || e.innerText || e.name || e.value || "").trim().slice(0, 60), seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2, inside: r.bottom > 0 && r.top < innerHeight && r.width > 0 }; })()`

type focused struct {
	Tag, Name    string
	Seen, Inside bool
}

// TestKeyboard uses the console without a mouse.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.open("/sign-in")
	b.wait(`document.activeElement.id === "key"`)
	b.run(chromedp.KeyEvent(s.keys[access.Admin]), chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("nav"))
	b.run(chromedp.KeyEvent(kb.Tab))
	if f := eval[focused](b, focus); !strings.HasPrefix(f.Name, "Skip") || !f.Seen {
		t.Errorf("the first is %+v, want the link that skips to the content", f)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.activeElement.id === "main"`)
	for _, path := range []string{"/", "/search", "/conversations/" + incident, "/slices/" + s.slice, "/keys", "/policies", "/ledger"} {
		b.open(path)
		if strings.HasPrefix(path, "/slices") {
			b.wait(`document.querySelector("[data-verify] strong")`)
		}
		b.run(chromedp.Evaluate(`document.querySelector(".skip").focus()`, nil))
		want := eval[int](b, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")].filter((e) => e.tabIndex >= 0 && e.checkVisibility() && !e.closest("svg")).length`)
		steps := 1
		for ; steps < want+20; steps++ {
			b.run(chromedp.KeyEvent(kb.Tab))
			f := eval[focused](b, focus)
			if f.Tag == "BODY" {
				break
			}
			if !f.Seen || !f.Inside {
				t.Errorf("%s: the focus is not seen at %+v", path, f)
			}
		}
		if steps < want || steps == want+20 {
			t.Errorf("%s: %d of %d are reached with Tab", path, steps, want)
		}
	}
	// Search, open a hit, sign out.
	b.open("/search")
	b.wait(`document.activeElement.id === "q"`)
	b.run(chromedp.KeyEvent("coupon"), chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("ol.hits"))
	for range 60 {
		b.run(chromedp.KeyEvent(kb.Tab))
		if eval[bool](b, `document.activeElement.matches("ol.hits a")`) {
			break
		}
	}
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("#h-from"))
	for range 60 {
		b.run(chromedp.KeyEvent(kb.Tab))
		if eval[bool](b, `document.activeElement.innerText === "Sign out"`) {
			break
		}
	}
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("#key"))
}

// TestAccessible has axe-core judge every page, light and dark, narrow and wide: no serious and no critical violation.
func TestAccessible(t *testing.T) {
	t.Parallel()
	path := os.Getenv("GKTEST_AXE")
	if path == "" {
		if os.Getenv("GKTEST_BROWSER") == "required" {
			t.Fatal("GKTEST_AXE does not name axe.min.js")
		}
		t.Skip("axe-core is not installed: run make browser")
	}
	axe := string(must(os.ReadFile(path)))
	s := open(t)
	b := s.tab(t)
	judge := func(p shown, width int64, scheme string) {
		b.look(width, scheme)
		b.run(chromedp.Evaluate(axe, nil))
		var text string
		b.run(chromedp.Evaluate(`axe.run(document, { resultTypes: ["violations"] }).then((r) => JSON.stringify(r.violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)) }))))`,
			&text, chromedp.EvalAsValue, awaited))
		var violations []struct {
			ID, Impact string
			Nodes      []string
		}
		if err := json.Unmarshal([]byte(text), &violations); err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			if v.Impact == "serious" || v.Impact == "critical" {
				t.Errorf("%s at %d, %s: %s (%s): %q", p.path, width, scheme, v.ID, v.Impact, v.Nodes)
			}
		}
	}
	b.open("/sign-in")
	judge(shown{path: "/sign-in"}, 360, "light")
	judge(shown{path: "/sign-in"}, 1280, "dark")
	b.signIn(access.Admin)
	for _, p := range s.pages() {
		if p.name == "conversation-long" {
			continue // the same page as that of the incident, and slow to judge
		}
		b.open(p.path)
		if strings.HasPrefix(p.name, "slice-") || p.name == "slice" || p.name == "context" {
			b.wait(`document.querySelector("[data-verify] strong")`)
		}
		b.unfold()
		judge(p, 360, "light")
		judge(p, 1280, "dark")
	}
}

// TestPrint prints a page: what is for a screen alone is left out, and folded parts are open.
func TestPrint(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Auditor)
	b.open("/contexts/" + s.context)
	b.run(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures(still))
	if seen := eval[int](b, `[...document.querySelectorAll("header nav, header form, .inline")].filter((e) => e.checkVisibility()).length`); seen != 0 {
		t.Errorf("%d parts of the screen are printed", seen)
	}
	var pdf []byte
	b.run(chromedp.ActionFunc(printed(&pdf)))
	if len(pdf) < 10_000 || string(pdf[:5]) != "%PDF-" {
		t.Errorf("%d bytes are printed", len(pdf))
	}
}

// TestLive admits a turn while the home page is open.
func TestLive(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Auditor)
	b.open("/")
	if eval[bool](b, `document.getElementById("live").checkVisibility()`) {
		t.Error("something is said to have happened")
	}
	s.admit("00000000-0000-4000-8000-00000000000f", 0x2000, []string{"a new turn", "and another"})
	b.wait(`document.getElementById("live").innerText.includes("2 turns were admitted")`)
}

// TestLink follows a link that brings a key: it fills the form, and stays in no address.
func TestLink(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.open("/sign-in?to=/ledger#" + s.keys[access.Auditor])
	b.wait(`document.getElementById("key").value !== ""`)
	if at := eval[string](b, `location.href`); strings.Contains(at, "gk1.") {
		t.Errorf("the address is %s", at)
	}
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.WaitReady("nav"))
	if at := eval[string](b, `location.pathname`); at != "/ledger" {
		t.Errorf("goes on to %s", at)
	}
}

// TestRoles signs each role in: the navigation has what it may open, and what is refused says so.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, role := range access.Roles {
		b := s.tab(t)
		b.signIn(role)
		names := eval[[]string](b, `[...document.querySelectorAll("nav a")].map((a) => a.innerText)`)
		if slices.Contains(names, "Keys") != role.May(access.ManageKeys) || slices.Contains(names, "Conversations") != role.May(access.Read) {
			t.Errorf("%s is offered %q", role, names)
		}
		if faults := b.taken(); len(faults) > 0 {
			t.Errorf("the home page of %s: %q", role, faults)
		}
		b.open("/conversations/" + incident)
		if text := b.text(); strings.Contains(text, "You have my word") != role.May(access.Read) || !role.May(access.Read) && !strings.Contains(text, "may not") {
			t.Errorf("%s sees:\n%s", role, text)
		}
		b.open("/")
		if faults := b.taken(); slices.ContainsFunc(faults, func(f string) bool { return !strings.Contains(f, "status of 403") || !strings.Contains(f, incident) }) {
			t.Errorf("as %s: %q", role, faults)
		}
	}
}

// TestHostile looks for what hostile texts hide.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Auditor)
	b.open("/conversations/" + hostileC)
	text := b.text()
	for _, want := range []string{"<script>window.pwned=1</script>", "U+202E", "U+200B", "U+FEFF", "U+E0041", "U+2028", "␛[31mred", "{{.}}", "</textarea>", "before and after"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not seen", want)
		}
	}
	for _, path := range []string{"/turns/" + megabyte, "/turns/" + megabyte + "?all=1"} {
		b.look(360, "light")
		b.open(path)
		if over := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s is %d pixels too wide", path, over)
		}
	}
	if n := eval[int](b, `document.querySelector(".said").textContent.length`); n != 1<<20 {
		t.Errorf("all of a megabyte are %d characters", n)
	}
	if eval[bool](b, `"pwned" in window`) || len(b.taken()) > 0 {
		t.Error("something ran")
	}
}
