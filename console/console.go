package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
)

// A Config configures a console.
type Config struct {
	Service http.Handler     // required: the service whose operations are called
	Clock   func() time.Time // required: for the age of sign-ins
	Random  io.Reader        // source of ids and nonces; nil: crypto/rand
	Secret  []byte           // seals sign-ins; the same in every process of one service; empty: random, so a restart ends all sign-ins
	Version string           // of the program
	SignIn  *Provider        // a provider that people sign in with; nil: they enter a key
}

// A Console answers requests for pages. It is safe for use by many goroutines.
type Console struct {
	config    Config
	seal      seal
	ended     ended
	used      ended // ids of sign-ins with a provider that were completed: each is accepted once
	endpoints endpoints
	assets    map[string]*asset
	mux       *http.ServeMux
}

// New makes a console.
func New(c Config) (*Console, error) {
	if c.Service == nil || c.Clock == nil {
		return nil, errors.New("console: Config needs a Service and a Clock")
	}
	if c.SignIn != nil {
		if err := c.SignIn.Check(); err != nil {
			return nil, err
		}
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if len(c.Secret) == 0 {
		c.Secret = make([]byte, 32)
		if _, err := io.ReadFull(c.Random, c.Secret); err != nil {
			return nil, fmt.Errorf("console: drawing a secret: %w", err)
		}
	}
	co := &Console{config: c, mux: http.NewServeMux()}
	var err error
	if co.seal, err = newSeal(c.Secret, c.Random); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if co.assets, err = readAssets(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	for _, p := range routes {
		co.mux.HandleFunc(p.pattern, co.page(p))
	}
	co.mux.HandleFunc("GET /assets/{name}", co.asset)
	co.mux.HandleFunc("/", co.page(route{do: noPage}))
	return co, nil
}

// Paths lists the paths that the console answers; a path that ends with a slash includes all paths below it.
func (co *Console) Paths() []string {
	seen := map[string]bool{"/assets/": true}
	for _, p := range routes {
		_, path, _ := strings.Cut(p.pattern, " ")
		if before, _, found := strings.Cut(path, "{"); found {
			path = before
		}
		seen[path] = true
	}
	list := make([]string, 0, len(seen))
	for path := range seen {
		list = append(list, path)
	}
	return list
}

// ServePage answers a request completely. Every answer, also for an unknown path, has the headers that restrict what a browser may do.
// ServePage returns internal errors, for the log; the page then only says that something failed.
func (co *Console) ServePage(w http.ResponseWriter, r *http.Request) (fault error) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	co.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), faultKey{}, &fault)))
	return fault
}

// ServeHTTP is like ServePage, and ignores the error.
func (co *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { _ = co.ServePage(w, r) }

// A faultKey is the context key for a pointer to the request's fault. It is needed because the handlers of a mux return nothing.
type faultKey struct{}

// A route is a page, or the target of a form.
type route struct {
	pattern string
	open    bool // to everybody
	do      func(*visit) (*page, error)
}

// routes are the routes of all pages.
var routes = []route{
	{"GET /{$}", false, home},
	{"GET /live", false, live},
	{"GET /search", false, search},
	{"GET /conversations", false, conversations},
	{"GET /conversations/{id}", false, conversation},
	{"GET /turns/{id}", false, turn},
	{"GET /slices", false, handedOut},
	{"GET /slices/{id}", false, evidence},
	{"GET /slices/{id}/{file}", false, download},
	{"GET /contexts", false, func(*visit) (*page, error) { return &page{to: "/slices"}, nil }},
	{"GET /contexts/{id}", false, evidence},
	{"GET /compare", false, compare},
	{"GET /check", false, checkForm},
	{"POST /check", false, checkBundle},
	{"GET /erasures", false, erased},
	{"GET /facts", false, facts},
	{"GET /facts/{name...}", false, entity},
	{"GET /beliefs", false, beliefs},
	{"GET /beliefs/item", false, item},
	{"GET /beliefs/why", false, whyBelieved},
	{"GET /beliefs/conflicts", false, conflicts},
	{"GET /beliefs/diff", false, baseDiff},
	{"GET /atlas", false, atlasPage},
	{"GET /ledger", false, ledgerPage},
	{"GET /policies", false, policies},
	{"POST /policies", false, registerPolicy},
	{"GET /policies/{id}", false, policyPage},
	{"GET /keys", false, keys},
	{"POST /keys", false, createKey},
	{"POST /keys/{id}/revoke", false, revokeKey},
	{"GET /sign-in", true, signInPage},
	{"POST /sign-in", true, signIn},
	{"POST /sign-out", true, signOut},
	{"GET /sign-in/provider", true, toProvider},
	{"GET /sign-in/return", true, fromProvider},
}

// noPage answers for a path without a route.
func noPage(v *visit) (*page, error) {
	return nil, refused(http.StatusNotFound, "there is no page %.200q", v.r.URL.Path)
}

// A page is the answer of a route: content to show, or a path to redirect to. It is nil if the route has already answered.
type page struct {
	title   string
	content content
	to      string // redirects with 303 See Other
	onward  string // the browser goes there by itself after showing the page
}

// A visit is one request to the console.
type visit struct{ session }

// ask calls an operation of the service with the key of the visit.
func ask[In, Out any](v *visit, op api.Operation[In, Out], in In) (Out, error) {
	out, err := client.Do(v.ctx(), v.client, op, in)
	if errors.Is(err, dag.ErrForm) && problemIn(err) == nil { // the client did not send it
		err = refused(http.StatusBadRequest, "%v", err)
	}
	return out, err
}

// contentPolicy restricts what a page may load and do.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// page returns the handler of a route.
func (co *Console) page(p route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{session{Console: co, asker: asker{exchange: exchange{w, r}, service: co.config.Service}}}
		err := v.guarded(p)
		if err != nil {
			err = v.fail(err)
		}
		if fault, ok := r.Context().Value(faultKey{}).(*error); ok {
			*fault = err
		}
	}
}

// guarded runs a route and sends its answer; it returns a panic as an error.
func (v *visit) guarded(p route) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares so too
				panic(p)
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	answer, err := v.pass(p)
	if err != nil {
		return err
	}
	return v.answer(http.StatusOK, answer)
}

// pass identifies the caller, rejects forms sent by another site, and runs the route.
func (v *visit) pass(p route) (*page, error) {
	if err := v.read(); err != nil {
		return nil, err
	}
	if !p.open {
		if err := v.enter(); err != nil {
			return nil, err
		}
	}
	if v.r.Method == http.MethodPost {
		if v.r.URL.Path == checkPath {
			if err := v.readFile(); err != nil { // only for signed-in callers: it may be long
				return nil, err
			}
		}
		if err := v.own(); err != nil {
			return nil, err
		}
	}
	return p.do(v)
}

// errNobody is returned if a page needs a sign-in and there is none.
var errNobody = errors.New("sign in first")

// A refusal is an error with the status of its answer.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refused(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// fail shows an error as a page. It returns an internal error, for the log: its text must not be shown, and the page says only that
// something failed.
func (v *visit) fail(err error) error {
	if errors.Is(err, errNobody) {
		if v.r.Method != http.MethodPost {
			return v.answer(0, &page{to: "/sign-in?" + url.Values{"to": {v.r.URL.RequestURI()}}.Encode()})
		}
		err = refused(http.StatusUnauthorized, "%s", errNobody)
	}
	shown := problem{
		Status: http.StatusInternalServerError, Title: "This page could not be made", Detail: "Something failed in the service. Its log says what, in the line of this request.",
		Request: v.w.Header().Get("X-Request-Id"),
	}
	var of *client.Problem
	var refusal *refusal
	switch {
	case errors.As(err, &of):
		shown.Status, shown.Title, shown.Detail, shown.Request, shown.Turns = of.Status, of.Title, of.Detail, of.RequestID, of.Candidates
		if !strings.Contains(of.Detail, of.Place) {
			shown.Place = of.Place
		}
		if of.Status == http.StatusUnauthorized {
			v.clear(signedCookie)
		}
		if of.RetryAfter > 0 {
			v.w.Header().Set("Retry-After", fmt.Sprint(int(of.RetryAfter.Seconds())))
		}
	case errors.As(err, &refusal):
		shown.Status, shown.Title, shown.Detail, shown.Request = refusal.status, http.StatusText(refusal.status), refusal.text, ""
	}
	if other := v.answer(shown.Status, &page{title: shown.Title, content: &shown}); other != nil {
		http.Error(v.w, "This page could not be made.", http.StatusInternalServerError)
		return errors.Join(err, other)
	}
	if shown.Status == http.StatusInternalServerError {
		return err
	}
	return nil
}

// answer sends a page. If it returns an error, nothing was sent.
func (v *visit) answer(status int, p *page) error {
	switch {
	case p == nil:
		return nil
	case p.to != "":
		http.Redirect(v.w, v.r, p.to, http.StatusSeeOther)
		return nil
	}
	var b bytes.Buffer
	if err := v.render(&b, p); err != nil {
		return fmt.Errorf("the page %q: %w", p.title, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.compress(status, b.Bytes())
	return nil
}

// sectionOf returns the section of the console that a path belongs to.
func sectionOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch name {
	case "turns", "conversations", "erasures":
		return "conversations"
	case "contexts", "compare", "check":
		return "slices"
	}
	return name
}
