package browser

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/graphkernel/graphkernel/access"
)

// TestAttackFromOtherSites has a browser that is signed in open pages of other sites that send forms, put the console into a frame, and ask for its pages and files:
// one on another host, and one on another port of the same host, to which the browser sends the cookie along.
func TestAttackFromOtherSites(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Admin)
	keys := func() int {
		b.open("/keys")
		return eval[int](b, `document.querySelectorAll("tbody tr").length`)
	}
	before := keys()
	token := eval[string](b, `document.querySelector("[name=token]").value`)
	attacks := map[string]string{
		"/form":  `<form method="post" action="` + s.URL + `/keys"><input name="role" value="admin"></form><script>document.forms[0].submit()</script>`,
		"/token": `<form method="post" action="` + s.URL + `/keys"><input name="token" value="` + token + `"><input name="role" value="admin"></form><script>document.forms[0].submit()</script>`,
		"/plain": `<form method="post" enctype="text/plain" action="` + s.URL + `/keys"><input name="token=` + token + `&role=admin&x" value="y"></form><script>document.forms[0].submit()</script>`,
		"/login": `<form method="post" action="` + s.URL + `/sign-in"><input name="key" value="` + html.EscapeString(s.keys[access.Agent]) + `"></form><script>document.forms[0].submit()</script>`,
		"/leave": `<form method="post" action="` + s.URL + `/sign-out"><input name="token" value="` + token + `"></form><script>document.forms[0].submit()</script>`,
		"/frame": `<iframe src="` + s.URL + `/keys"></iframe><iframe src="` + s.URL + `/sign-in"></iframe><object data="` + s.URL + `/keys"></object><footer></footer><script>addEventListener("load", () => {
			let read = "";
			for (const f of document.querySelectorAll("iframe, object")) try { read += f.contentDocument?.body?.textContent ?? "" } catch {}
			document.title = "done " + frames.length + " " + read; })</script>`,
		"/fetch": `<footer></footer><script type="module">let read = "";
			for (const path of ["/keys", "/slices", "/assets/console.mjs", "/live"]) for (const mode of ["cors", "no-cors"]) try { read += await (await fetch("` + s.URL + `" + path, { mode, credentials: "include", signal: AbortSignal.timeout(2000) })).text() } catch {}
			try { await import("` + s.URL + `/assets/console.mjs"); read += "a module" } catch {}
			await new Promise((then) => { const e = new EventSource("` + s.URL + `/live", { withCredentials: true }); e.onerror = () => { e.close(); then() }; e.onopen = () => { read += "a stream"; e.close(); then() } });
			const opened = window.open("` + s.URL + `/keys"); try { read += opened?.document?.body?.textContent ?? "" } catch {}
			document.title = "done " + read;</script>`,
	}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><title>evil</title>" + attacks[r.URL.Path]))
	}))
	t.Cleanup(evil.Close)
	at := must(url.Parse(evil.URL))
	for _, host := range []string{"localhost", at.Hostname()} { // of another site, and of the same
		for path := range attacks {
			b.run(chromedp.Navigate("http://" + host + ":" + at.Port() + path))
			switch path {
			case "/frame", "/fetch":
				b.wait(`document.title.startsWith("done")`)
				if title := eval[string](b, `document.title`); strings.Contains(title, "Keys") || strings.Contains(title, "verdict") || strings.Contains(title, "a module") || strings.Contains(title, "a stream") || strings.Contains(title, "API key") {
					t.Errorf("%s of %s reads %.200q", path, host, title)
				}
				if said := strings.Join(b.taken(), "\n"); path == "/frame" && strings.Count(said, "frame-ancestors") < 2 {
					t.Errorf("%s is shown in a frame of %s: the browser refuses only\n%s", path, host, said)
				}
			default:
				b.wait(`location.origin === "` + s.URL + `" && document.querySelector("footer")`)
				if text := b.text(); !strings.Contains(text, "another site") && !strings.Contains(text, "application/x-www-form-urlencoded") && !strings.Contains(text, "Sign in") && !strings.Contains(text, "sign in first") {
					t.Errorf("%s of %s is answered with:\n%s", path, host, text)
				}
			}
			if n := keys(); n != before {
				t.Fatalf("%s of %s: %d keys, there were %d", path, host, n, before)
			}
			if who := eval[string](b, `document.querySelector(".who span").textContent`); who != "acme · admin" {
				t.Fatalf("%s of %s: signed in as %q", path, host, who)
			}
		}
	}
	b.taken() // what the attacks did in vain is said in the browser's console
}
