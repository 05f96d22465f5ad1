package browser

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/graphkernel/graphkernel/access"
)

// patience is how long the browser may take to start, and a page to come to what a test waits for.
const patience = 2 * time.Minute

// running is the browser of all tests, once the first has asked for it.
var running struct {
	sync.Mutex
	ctx context.Context
	end func() error // takes its files away, too
}

// browser starts the browser, which ends after the last test. Without one, tests are skipped, unless GKTEST_BROWSER is "required".
func browser(t testing.TB) context.Context {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.ctx != nil {
		return running.ctx
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program(t)), chromedp.WSURLReadTimeout(patience), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("force-color-profile", "srgb"))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Run(ctx); err != nil {
		endAll()
		t.Fatal(err)
	}
	running.ctx, running.end = ctx, func() error {
		defer endAll()
		return chromedp.Cancel(ctx)
	}
	return ctx
}

func TestMain(m *testing.M) {
	code := m.Run()
	if running.ctx != nil {
		if err := running.end(); err != nil {
			fmt.Fprintln(os.Stderr, "the browser did not end:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// program finds the browser.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("GKTEST_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	if os.Getenv("GKTEST_BROWSER") == "required" {
		t.Fatal("there is no chromium, and GKTEST_BROWSER is required")
	}
	t.Skip("there is no chromium: run make browser")
	return ""
}

// A tab shares the browser with other tests and nothing else: no cookies, no cache. It keeps what goes wrong in it.
type tab struct {
	t    testing.TB
	site *site
	ctx  context.Context

	mu       sync.Mutex
	faults   []string
	weight   int64 // bytes that came over the network since the last page was opened
	requests int
}

func (s *site) tab(t testing.TB) *tab {
	t.Helper()
	of := browser(t)
	over := cdp.WithExecutor(of, chromedp.FromContext(of).Browser)
	profile, err := target.CreateBrowserContext().Do(over) // not chromedp.WithNewBrowserContext, which asks for a tab before there is a window
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.DisposeBrowserContext(profile).Do(over); err != nil {
			t.Error(err)
		}
	})
	window, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(over)
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(of, chromedp.WithTargetID(window))
	t.Cleanup(closeTab)
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, site: s, ctx: ctx}
	chromedp.ListenTarget(ctx, b.see)
	if err := chromedp.Run(ctx); err != nil { // the tab lives as long as the context that it is opened with
		t.Fatal(err)
	}
	b.run(network.Enable(), cdplog.Enable(), page.Enable())
	b.look(1280, "light")
	return b
}

// see keeps what must not happen on any page.
func (b *tab) see(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.faults = append(b.faults, fmt.Sprintf("console.%s", e.Type))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.LevelError && !strings.Contains(e.Entry.Text, "the server responded with a status of 404") {
			b.faults = append(b.faults, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *page.EventJavascriptDialogOpening:
		b.faults = append(b.faults, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || "http://"+u.Host != b.site.URL {
			b.faults = append(b.faults, "asks another origin: "+e.Request.URL)
		}
		b.requests++
	case *network.EventLoadingFinished:
		b.weight += int64(e.EncodedDataLength)
	}
}

// taken returns the faults that were seen since the last time.
func (b *tab) taken() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.faults
	b.faults = nil
	return list
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b.ctx, patience)
	defer end()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%v", err)
	}
}

// open opens a page and waits until it is there.
func (b *tab) open(path string) {
	b.t.Helper()
	b.mu.Lock()
	b.weight, b.requests = 0, 0
	b.mu.Unlock()
	b.run(chromedp.Navigate(b.site.URL+path), chromedp.WaitReady("footer"))
}

// text is what a reader sees of the page.
func (b *tab) text() (text string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(`document.body.innerText`, &text))
	return text
}

// eval evaluates an expression.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, &v))
	return v
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	b.run(chromedp.Poll(expression, nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

// signIn signs in with the form.
func (b *tab) signIn(role access.Role) {
	b.t.Helper()
	b.open("/sign-in")
	b.run(chromedp.SendKeys("#key", b.site.keys[role]+"\r"), chromedp.WaitReady("nav"))
}

// still is for a page that scrolls at once, so that a test sees where it is.
var still = []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}

// look sets the width and the colours.
func (b *tab) look(width int64, scheme string) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures(append([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}, still...)))
}

// keep saves a screenshot of what is seen of the page.
func (b *tab) keep(name string) {
	b.t.Helper()
	var shot []byte
	b.run(chromedp.CaptureScreenshot(&shot))
	folder := filepath.Join("..", "bin", "browser")
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if !*update || !slices.Contains(pictures, name) {
		return
	}
	small := shrink(must(png.Decode(bytes.NewReader(shot))))
	if len(small) > mostPicture {
		b.t.Errorf("the picture %s has %d bytes, want at most %d", name, len(small), mostPicture)
	}
	if err := os.WriteFile(filepath.Join("..", "docs", "console", name+".png"), small, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// update writes the pictures of the documents.
var update = flag.Bool("update", false, "write the pictures in docs/console")

// pictures are the pages that the documents show, and mostPicture is how many bytes one of them may have.
var pictures = []string{"context", "conversation", "search"}

const mostPicture = 150_000

// shrink writes a picture in its 256 most frequent colours: pages have few, and the others are edges of letters.
func shrink(from image.Image) []byte {
	count := map[color.Color]int{}
	at := from.Bounds()
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			count[color.RGBAModel.Convert(from.At(x, y))]++
		}
	}
	of := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		c, d := a.(color.RGBA), b.(color.RGBA)
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(c.R, d.R), cmp.Compare(c.G, d.G), cmp.Compare(c.B, d.B))
	})
	to := image.NewPaletted(at, of[:min(len(of), 256)])
	nearest := map[color.Color]uint8{}
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			c := color.RGBAModel.Convert(from.At(x, y))
			n, known := nearest[c]
			if !known {
				n = uint8(to.Palette.Index(c))
				nearest[c] = n
			}
			to.SetColorIndex(x, y, n)
		}
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, to) // memory does not fail
	return b.Bytes()
}

// clearCache has the next page loaded anew.
func clearCache(ctx context.Context) error { return network.ClearBrowserCache().Do(ctx) }

// printed prints the page to a PDF.
func printed(into *[]byte) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		*into, _, err = page.PrintToPDF().Do(ctx)
		return err
	}
}

// awaited waits for the promise that an expression is.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// unfold opens what is folded, so that it is looked at too.
func (b *tab) unfold() {
	b.t.Helper()
	b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
}

// evalAwaited evaluates an expression that is a promise.
func evalAwaited[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, &v, awaited))
	return v
}
