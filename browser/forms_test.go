package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/graphkernel/graphkernel/access"
)

// TestRevoke makes a key and revokes it, without scripts: the page asks first.
func TestRevoke(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.run(emulation.SetScriptExecutionDisabled(true))
	b.signIn(access.Admin)
	b.open("/keys")
	b.run(chromedp.SendKeys("#note", "for a visitor\r"), chromedp.WaitReady("code.secret"))
	id := strings.Split(eval[string](b, `document.querySelector("code.secret").textContent`), ".")[2]
	b.run(chromedp.Click(`form[action="/keys/`+id+`/revoke"] button`), chromedp.WaitReady("form.sure"))
	if !strings.Contains(b.text(), "It cannot be undone") {
		t.Errorf("revoking does not ask:\n%s", b.text())
	}
	b.run(chromedp.Click("form.sure button"), chromedp.WaitNotPresent("form.sure"), chromedp.WaitReady("footer"))
	if ended := eval[string](b, `[...document.querySelectorAll("tr")].find((r) => r.textContent.includes("`+id+`")).lastElementChild.textContent`); !strings.HasPrefix(ended, "20") {
		t.Errorf("the key that was revoked ended %q", ended)
	}
	b.open("/slices/" + s.slice)
	b.run(chromedp.Click("#verification form button"), chromedp.WaitReady("#verification [role=status] strong"))
	if !strings.Contains(b.text(), "IDENTICAL") {
		t.Errorf("replay shows:\n%s", b.text())
	}
}

// TestTrustFile judges evidence by a trust file that the browser is given: that of the service, and that of another.
func TestTrustFile(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Auditor)
	own := evalAwaited[string](b, `fetch("/slices/`+s.slice+`/trust").then((a) => a.text())`)
	lines := strings.Split(own, "\n")
	other := strings.NewReplacer("kernel.example", "other.example").Replace(own)
	if len(lines) < 3 || other == own {
		t.Fatalf("the trust file is %q", own)
	}
	for _, path := range []string{"/slices/" + s.slice, "/contexts/" + s.context} {
		for name, text := range map[string]string{"own": own, "other": other, "none": "no keys\n"} {
			file := filepath.Join(t.TempDir(), "trust")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			b.open(path)
			b.wait(`document.querySelector("[data-verify] strong")`)
			b.run(chromedp.SetUploadFiles(`[data-verify] input[type=file]`, []string{file}))
			b.wait(`document.querySelector("[data-verify] .verdict").innerText.includes("your trust file")`)
			got := eval[string](b, `document.querySelector("[data-verify] .verdict").innerText`)
			if verified := strings.HasSuffix(got, ": VERIFIED"); verified != (name == "own") || eval[bool](b, `document.querySelector("[data-verify] .verdict").classList.contains("fail")`) == verified {
				t.Errorf("%s under the trust file %q: %s", path, name, got)
			}
		}
	}
}

// TestCheck has a bundle checked that was kept as a file, and one that was changed.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := open(t)
	b := s.tab(t)
	b.signIn(access.Auditor)
	bundle := evalAwaited[string](b, `fetch("/slices/`+s.slice+`/bundle.json").then(r => r.text())`)
	for name, text := range map[string]string{"verified": bundle, "tampered": strings.Replace(bundle, `"content":"`, `"content":"x`, 1)} {
		file := filepath.Join(t.TempDir(), "bundle.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.open("/slices")
		b.run(chromedp.SetUploadFiles("#bundle", []string{file}), chromedp.Click(`form[action="/check"] button`), chromedp.WaitReady(".verdict strong"))
		if got := b.text(); !strings.Contains(got, "The service: "+strings.ToUpper(name)) {
			t.Errorf("%s: the page says\n%s", name, got)
		}
	}
	if faults := b.taken(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}
