package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
	"github.com/graphkernel/graphkernel/console"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

const tenant dag.Tenant = "acme"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A site is a service with its console over loopback, and things to show.
type site struct {
	*httptest.Server
	t       testing.TB
	keys    map[access.Role]string
	mangles atomic.Bool // a byte of each bundle that pages load

	slice, context, facts string // ids of evidence
}

// open starts a service that holds the incident of the demonstration, a long conversation, and hostile texts.
func open(t testing.TB) *site {
	t.Helper()
	secret := must(token.NewSecret(bytes.Repeat([]byte{1}, token.MinSecret)))
	authority := token.NewAuthority(must(token.Keyring{}.Rotate("k1", secret, 1)))
	k := must(kernel.Open(kernel.Config{
		Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: authority, Clock: time.Now, Identity: must(identity.New(rand.NewChaCha8([32]byte{1}), "kernel.example", 1)),
	}))
	service := must(server.New(context.Background(), server.Config{
		Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now, Limits: server.Limits{Rate: -1},
		Pages: func(service http.Handler) ([]string, server.Pages, error) {
			c, err := console.New(console.Config{Service: service, Clock: time.Now, Secret: must(authority.Secret("console")), Version: "test"})
			return c.Paths(), c, err
		},
	}))
	s := &site{t: t, keys: map[access.Role]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.mangles.Load() || !strings.HasSuffix(r.URL.Path, "/bundle.json") {
			service.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Accept-Encoding")
		held := httptest.NewRecorder()
		service.ServeHTTP(held, r)
		body := held.Body.Bytes()
		at := bytes.Index(body, []byte(`"content":"`)) + len(`"content":"`)
		body[at] ^= 1
		_, _ = w.Write(body)
	}))
	t.Cleanup(func() {
		service.Stop()
		s.Close()
	})
	for _, role := range access.Roles {
		text, _, err := k.Keys().Create(context.Background(), tenant, role, "")
		if err != nil {
			t.Fatal(err)
		}
		s.keys[role] = text
	}
	file := filepath.Join(t.TempDir(), "incident.jsonl")
	if err := os.WriteFile(file, demo.Incident, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Turns().Import(context.Background(), tenant, file, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	s.fill()
	return s
}

// What the site has to show beside the incident.
const (
	incident = "1c1de000-0dc0-4a11-8ca1-0000000000a0" // the conversation of the incident
	word     = "42fec86c-0dc0-4a11-8ca1-000000000011" // its turn in which a person allows the change
	action   = "d93a7abe-0dc0-4a11-8ca1-000000000012" // and the agent's turn after it
	hostileC = "00000000-0000-4000-8000-00000000000c" // the conversation of hostile texts
	longC    = "00000000-0000-4000-8000-00000000000d" // 250 turns of the length of real ones
	editsC   = "00000000-0000-4000-8000-00000000000f" // an edit and its result
	megabyte = "00000000-0000-4000-8000-0000000fffff" // a turn of one line of a megabyte
)

// hostile are texts that would run, hide or reorder something if a page let them. Each that could run would set a global.
var hostile = []string{
	`<script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `"><svg onload="window.pwned=1">`, `</title><script>window.pwned=1</script>`, `javascript:window.pwned=1`,
	`<a href="javascript:window.pwned=1">click</a>`, `{{.}}`, "before \u202etxt.exe\u202c after", "zero\u200bwidth\ufeff", "\x1b[31mred\x1b[0m \x07", "tag \U000e0041\U000e0042", "line\u2028separator",
	"עברית before and after العربية", "<!--", "</textarea><script>window.pwned=1</script>", strings.Repeat("W", 4000),
}

func turnID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func quoted(v any) string { return string(must(json.Marshal(v))) }

// post asks the service itself, as an admin.
func (s *site) post(path string, body any) *http.Response {
	s.t.Helper()
	r := must(http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+path, strings.NewReader(quoted(body))))
	r.Header.Set("Authorization", "Bearer "+s.keys[access.Admin])
	r.Header.Set("Content-Type", "application/json")
	resp := must(http.DefaultClient.Do(r))
	text := must(io.ReadAll(resp.Body))
	_ = resp.Body.Close()
	if resp.StatusCode >= 300 {
		s.t.Fatalf("POST %s: %d\n%s", path, resp.StatusCode, text)
	}
	return resp
}

func (s *site) admit(conversation string, first int, texts []string) {
	s.t.Helper()
	var turns []map[string]any
	for i, text := range texts {
		turn := map[string]any{
			"id": turnID(first + i), "conversation": conversation, "role": []string{"user", "assistant", "tool"}[i%3], "author": "human:<b>eve</b>", "created_at": time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC).Format(time.RFC3339),
			"content": text,
		}
		if i > 0 {
			turn["parents"] = []map[string]string{{"id": turnID(first + i - 1), "kind": "reply"}}
		}
		turns = append(turns, turn)
	}
	s.post("/api/turns", map[string]any{"turns": turns})
}

func (s *site) fill() {
	s.t.Helper()
	s.admit(hostileC, 0x100, hostile)
	var long []string
	for i := range 250 {
		long = append(long, strings.Repeat(fmt.Sprintf("Sentence %d of a turn as long as real ones are in the middle, of some words. ", i), 6))
	}
	s.admit(longC, 0x1000, long)
	s.admit("00000000-0000-4000-8000-00000000000e", 0xfffff, []string{strings.Repeat("x", 1<<20)})
	s.post("/api/turns", map[string]any{"turns": []map[string]any{
		{"id": turnID(0x500), "conversation": editsC, "role": "assistant", "author": "agent:lead", "created_at": "2026-01-02T03:04:05Z", "attrs": map[string]string{"tool": "Edit", "tool_use_id": "e1", "blocks": "tool_use"},
			"content": "[tool_use Edit]\n" + quoted(map[string]string{"file_path": "src/coupon.go", "old_string": "a\nslow\nb", "new_string": "a\nfast\nb"})},
		{"id": turnID(0x501), "conversation": editsC, "role": "tool", "author": "tool:Edit", "created_at": "2026-01-02T03:04:06Z", "attrs": map[string]string{"tool_use_id": "e1"}, "parents": []map[string]string{{"id": turnID(0x500), "kind": "reply"}}, "content": "[tool_result]\nThe file was changed."},
	}})
	s.slice = s.post("/api/slice", map[string]string{"anchor": word}).Header.Get("Slice-Id")
	s.context = s.post("/api/context", map[string]any{"task": "create the index that was agreed on", "anchor": word, "format": "bundle"}).Header.Get("Slice-Id")
	s.post("/api/knowledge/batch", map[string]any{"facts": []map[string]any{
		{"subject": "checkout", "predicate": "uses", "object": "connection pool", "source": "user"}, {"subject": "connection pool", "predicate": "is exhausted by", "object": "coupon look-up", "source": "user"},
	}})
	s.post("/api/spaces", map[string]string{"space": "acme/desk"})
	belief := func(subject, predicate, object string) []map[string]string {
		return []map[string]string{{"subject": subject, "predicate": predicate, "object": object}}
	}
	s.post("/api/beliefs/revise", map[string]any{"space": "acme/desk", "item": beliefItem, "title": "The look-up", "statements": belief("coupon look-up", "is", "slow"), "turns": []string{word}, "reason": "measured"})
	s.post("/api/beliefs/revise", map[string]any{"space": "acme/desk", "statements": belief("checkout", "is", "slow"), "premises": belief("coupon look-up", "is", "slow")})
	s.post("/api/krefs/tag", map[string]any{"ref": beliefItem, "tag": "published", "revision": 1})
	s.post("/api/beliefs/propose", map[string]any{"space": "acme/desk", "statements": []map[string]any{{"subject": "coupon look-up", "predicate": "is", "object": "slow", "not": true}}, "reason": "an index was made"})
	s.facts = s.post("/api/knowledge/slice", map[string]any{"start": "checkout"}).Header.Get("Slice-Id")
	if s.slice == "" || s.context == "" || s.facts == "" {
		s.t.Fatal("nothing was handed out")
	}
}

const beliefItem = "kref://acme/desk/look-up.fact"

// A shown page has a name, and what a reader has to find on it.
type shown struct{ path, name, has string }

// pages are all of the console's, by what somebody who is signed in finds on them.
func (s *site) pages() []shown {
	return []shown{
		{"/", "home", "Newest conversations"},
		{"/search", "search-form", "Only some turns"},
		{"/search?" + url.Values{"q": {"why does checkout fail"}, "explain": {"1"}}.Encode(), "search", "the best first"},
		{"/conversations", "conversations", "Checkout fails"},
		{"/conversations/" + incident, "conversation", "You have my word"},
		{"/conversations/" + longC, "conversation-long", "The next turns"},
		{"/conversations/" + hostileC, "conversation-hostile", "<script>window.pwned=1</script>"},
		{"/conversations/" + editsC, "conversation-edits", "Change of src/coupon.go"},
		{"/turns/" + turnID(0x500), "turn-edit", "What came of it"},
		{"/turns/" + word, "turn", "Who was handed it"},
		{"/slices", "slices", "Everything"},
		{"/check", "check", "A bundle that you were given"},
		{"/erasures", "erasures", "No text was erased"},
		{"/slices/" + s.slice, "slice", "Is it genuine?"},
		{"/slices/" + s.slice + "?replay=1", "slice-replayed", "IDENTICAL"},
		{"/contexts/" + s.context, "context", "The prompt as it was handed out"},
		{"/slices/" + s.facts, "slice-of-facts", "connection-pool"},
		{"/compare?a=" + s.slice + "&b=" + s.context, "compare", "In both"},
		{"/facts", "facts", "connection-pool"},
		{"/facts/checkout", "entity", "as of"},
		{"/beliefs", "beliefs", "acme/desk"},
		{"/beliefs?space=acme/desk", "beliefs-space", "by rule"},
		{"/beliefs/item?ref=" + beliefItem, "beliefs-item", "Tags in time"},
		{"/beliefs/why?space=acme/desk&subject=checkout&predicate=is&object=slow", "beliefs-why", "It follows from"},
		{"/beliefs/conflicts?space=acme/desk", "beliefs-conflicts", "Proposed"},
		{"/beliefs/diff?space=acme/desk&from=1", "beliefs-diff", "Came"},
		{"/atlas", "atlas", "Growth"},
		{"/atlas?part=influence", "atlas-influence", "Holds together"},
		{"/atlas?part=overlap", "atlas-overlap", "compare"},
		{"/atlas?part=turns", "atlas-communities", "modularity"},
		{"/turns/" + action + "?blame=1", "turn-blame", "What may have led to it"},
		{"/ledger", "ledger", "acme.kernel.example"},
		{"/policies", "policies", "default@2"},
		{"/policies/context@1", "policy", "weights.task"},
		{"/keys", "keys", "Make a key"},
		{"/turns/nothing", "problem", "Home"},
	}
}
