package server_test

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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A service is a real server with a real client over loopback. Every answer is held
// against the contract.
type service struct {
	*httptest.Server
	t         testing.TB
	kernel    *kernel.Kernel
	authority *token.Authority
	server    *server.Server
	doc       *openapi3.T
	log       *logged
	store     store.Store
	identity  identity.Identity
	keys      map[dag.Tenant]map[access.Role]string
	known     string // a statement of tenant A, where a test has recorded one
	spare     string // the id of a key of tenant A that may be revoked
}

const (
	tenantA dag.Tenant = "acme"
	tenantB dag.Tenant = "bravo"
)

// A logged keeps what was logged.
type logged struct {
	mu   sync.Mutex
	out  bytes.Buffer
	busy int        // requests under way
	idle *sync.Cond // of mu: there are none
}

func newLogged() *logged {
	l := &logged{}
	l.idle = sync.NewCond(&l.mu)
	return l
}

// during counts the requests of a handler that are under way: the line of a request is written after its answer.
func (l *logged) during(h http.Handler) http.Handler {
	count := func(by int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.busy += by; l.busy == 0 {
			l.idle.Broadcast()
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count(1)
		defer count(-1)
		h.ServeHTTP(w, r)
	})
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// String returns what was logged of requests that are answered. It waits for those under way, so no stream may be open.
func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.busy > 0 {
		l.idle.Wait()
	}
	return l.out.String()
}

// contractOf returns the description. It is read once and shared by all tests, which must not change it.
var contractOf = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err == nil {
		err = doc.Validate(context.Background())
	}
	return doc, err
})

// ringOf is a keyring of one key.
func ringOf(t testing.TB, id token.KeyID, fill byte) token.Keyring {
	t.Helper()
	secret, err := token.NewSecret(bytes.Repeat([]byte{fill}, token.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate(id, secret, 1)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// start starts a service over a memory store. Changes may be made to its config.
func start(t testing.TB, change ...func(*server.Config)) *service {
	t.Helper()
	return startOver(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), change...)
}

func startOver(t testing.TB, backing store.Store, change ...func(*server.Config)) *service {
	t.Helper()
	ctx := context.Background()
	doc, err := contractOf()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, store: backing, authority: token.NewAuthority(ringOf(t, "k1", 1)), doc: doc, log: newLogged(), keys: map[dag.Tenant]map[access.Role]string{}}
	if s.identity, err = identity.New(rand.NewChaCha8([32]byte{1}), "kernel.example", 1); err != nil {
		t.Fatal(err)
	}
	if s.kernel, err = kernel.Open(kernel.Config{Store: backing, Authority: s.authority, Clock: time.Now, Identity: s.identity, ErasureSecret: func(bool) ([]byte, error) { return make([]byte, 32), nil }}); err != nil {
		t.Fatal(err)
	}
	c := server.Config{
		Kernel: s.kernel, Log: slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Clock: time.Now,
		Limits: server.Limits{Rate: -1, AuthFailures: -1},
	}
	for _, f := range change {
		f(&c)
	}
	if s.server, err = server.New(ctx, c); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []dag.Tenant{tenantA, tenantB} {
		s.keys[tenant] = map[access.Role]string{}
		for _, role := range access.Roles {
			text, _, err := s.kernel.Keys().Create(ctx, tenant, role, "")
			if err != nil {
				t.Fatal(err)
			}
			s.keys[tenant][role] = text
		}
	}
	s.Server = httptest.NewServer(s.log.during(s.server))
	t.Cleanup(func() {
		s.server.Stop()
		s.Close()
		if err := backing.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// admin is the key that may do everything for tenant A.
func (s *service) admin() string { return s.keys[tenantA][access.Admin] }

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) decode(t testing.TB, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s\n%s", err, a.body)
	}
}

func (a *answer) problem(t testing.TB) api.Problem {
	t.Helper()
	var p api.Problem
	a.decode(t, &p)
	return p
}

// A question is a request to be made.
type question struct {
	op     string
	key    string // Authorization: Bearer …; empty: none
	path   map[string]string
	query  url.Values
	header map[string]string
	media  string // of the body; JSON if empty
	body   any    // []byte and string go as they are, other values as JSON; nil: none
}

// find returns an operation of the contract.
func (s *service) find(id string) (method, path string, op *openapi3.Operation) {
	s.t.Helper()
	for path, item := range s.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == id {
				return method, path, op
			}
		}
	}
	s.t.Fatalf("the contract has no operation %q", id)
	return "", "", nil
}

// ask makes a request and holds the answer against the contract.
func (s *service) ask(q question) *answer {
	s.t.Helper()
	method, path, op := s.find(q.op)
	for name, value := range q.path {
		escaped := url.PathEscape(value)
		if name == "tile" || name == "entries" { // they take the rest of the path
			escaped = strings.ReplaceAll(escaped, "%2F", "/")
		}
		path = strings.ReplaceAll(path, "{"+name+"}", escaped)
	}
	if len(q.query) > 0 {
		path += "?" + q.query.Encode()
	}
	var body io.Reader
	switch b := q.body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	case string:
		body = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if q.key != "" {
		r.Header.Set("Authorization", "Bearer "+q.key)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		if q.media != "" {
			r.Header.Set("Content-Type", q.media)
		}
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	response, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatalf("%s: %v", q.op, err)
	}
	defer func() { _ = response.Body.Close() }()
	a := &answer{status: response.StatusCode, header: response.Header}
	if a.body, err = io.ReadAll(response.Body); err != nil {
		s.t.Fatalf("%s: %v", q.op, err)
	}
	if err := s.permits(op, &q); err != nil && a.status == http.StatusOK {
		s.t.Errorf("%s: the request is not what the contract says, and was answered: %v\n%+v", q.op, err, q)
	}
	if err := s.conforms(op, a); err != nil {
		s.t.Errorf("%s: the answer is not what the contract says: %v\n%d %.2000s", q.op, err, a.status, a.body)
	}
	return a
}

// permits checks a request against the contract: its query, and a body of JSON. A claim of a token may hold anything.
func (s *service) permits(op *openapi3.Operation, q *question) error {
	for _, p := range op.Parameters {
		if p.Value.In != openapi3.ParameterInQuery {
			continue
		}
		given := q.query[p.Value.Name]
		if len(given) > 1 || len(given) == 0 && p.Value.Required {
			return fmt.Errorf("query parameter %s is there %d times", p.Value.Name, len(given))
		}
		for _, text := range given {
			var v any = text
			if of := p.Value.Schema.Value.Type; of.Is(openapi3.TypeInteger) || of.Is(openapi3.TypeBoolean) {
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					return err
				}
			}
			if err := p.Value.Schema.Value.VisitJSON(v); err != nil {
				return fmt.Errorf("query parameter %s: %w", p.Value.Name, err)
			}
		}
	}
	for name := range q.query {
		if op.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			return fmt.Errorf("there is no query parameter %s", name)
		}
	}
	text, isBytes := q.body.([]byte)
	if asText, ok := q.body.(string); ok {
		text, isBytes = []byte(asText), true
	}
	if q.body == nil || op.RequestBody == nil || op.OperationID == "verifyToken" || q.media != "" && q.media != "application/json" {
		return nil
	}
	content := op.RequestBody.Value.Content["application/json"]
	if content == nil || content.Schema.Value.IsEmpty() || isBytes && len(text) == 0 {
		return nil
	}
	if !isBytes {
		var err error
		if text, err = json.Marshal(q.body); err != nil {
			return err
		}
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return content.Schema.Value.VisitJSON(v)
}

// conforms holds an answer against what the contract says of it.
func (s *service) conforms(op *openapi3.Operation, a *answer) error {
	described := op.Responses.Status(a.status)
	if described == nil {
		described = op.Responses.Default()
	}
	if described == nil {
		return fmt.Errorf("status %d is not described", a.status)
	}
	for name, h := range described.Value.Headers {
		if h.Value.Required && a.header.Get(name) == "" {
			return fmt.Errorf("header %s is missing", name)
		}
		if err := h.Value.Schema.Value.VisitJSON(a.header.Get(name)); h.Value.Required && err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	if a.header.Get("X-Request-Id") == "" || a.header.Get("X-Content-Type-Options") != "nosniff" || described.Value.Headers["Cache-Control"] == nil && a.header.Get("Cache-Control") != "no-store" ||
		(a.status == http.StatusUnauthorized) != (a.header.Get("WWW-Authenticate") != "") {
		return fmt.Errorf("headers that every answer has are missing: %v", a.header)
	}
	media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	content := described.Value.Content.Get(media)
	if content == nil {
		return fmt.Errorf("media type %q is not described for status %d", media, a.status)
	}
	if media != "application/json" && media != "application/problem+json" {
		return nil
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		return err
	}
	schema := content.Schema.Value
	if alternatives := schema.OneOf; alternatives != nil { // what kin-openapi says of oneOf is no help
		for _, one := range alternatives {
			if one.Value.VisitJSON(v) == nil {
				return nil
			}
		}
	}
	if err := schema.VisitJSON(v, openapi3.MultiErrors()); err != nil {
		return err
	}
	return nil
}

// expect is ask where the status is known.
func (s *service) expect(status int, q question) *answer {
	s.t.Helper()
	a := s.ask(q)
	if a.status != status {
		s.t.Fatalf("%s: got %d, want %d\n%.2000s", q.op, a.status, status, a.body)
	}
	return a
}

// refused is ask where a problem is expected.
func (s *service) refused(status int, code string, q question) api.Problem {
	s.t.Helper()
	a := s.expect(status, q)
	p := a.problem(s.t)
	if p.Code != code || p.Status != status || p.RequestID != a.header.Get("X-Request-Id") {
		s.t.Errorf("%s: got %+v, want code %s and status %d", q.op, p, code, status)
	}
	return p
}

func turnID(n int) string         { return fmt.Sprintf("0b5e0000-0000-4000-8000-%012x", n) }
func conversationID(n int) string { return fmt.Sprintf("6a2f0000-0000-4000-8000-%012x", n) }

// turn returns turn n of a chain in a conversation.
func turn(n int, parents ...int) map[string]any {
	list := []map[string]string{}
	for _, p := range parents {
		list = append(list, map[string]string{"id": turnID(p), "kind": "reply"})
	}
	return map[string]any{
		"id": turnID(n), "conversation": conversationID(1), "parents": list, "role": []string{"user", "assistant"}[n%2],
		"author": "human:guest", "created_at": time.Unix(1_767_000_000+int64(n), 0).UTC().Format(time.RFC3339), "content": fmt.Sprintf("turn %d", n),
		"salt": fmt.Sprintf("%032x", n),
	}
}

// chain admits turns 1 to n, each the child of the one before.
func (s *service) chain(key string, n int) {
	s.t.Helper()
	turns := []any{turn(1)}
	for i := 2; i <= n; i++ {
		turns = append(turns, turn(i, i-1))
	}
	s.expect(http.StatusOK, question{op: "admitTurns", key: key, body: map[string]any{"turns": turns}})
}

// cut returns a bundle and its slice id.
func (s *service) cut(key string, anchor int) (bundle []byte, id string) {
	s.t.Helper()
	a := s.expect(http.StatusOK, question{op: "cutSlice", key: key, body: api.SliceRequest{Anchor: turnID(anchor)}})
	return a.body, a.header.Get("Slice-Id")
}

// claimOf returns the token's claim of a bundle.
func claimOf(t testing.TB, bundle []byte) api.TokenClaim {
	t.Helper()
	var b struct {
		Provenance api.TokenClaim `json:"provenance"`
		Token      string         `json:"token"`
		KeyID      string         `json:"key_id"`
	}
	if err := json.Unmarshal(bundle, &b); err != nil {
		t.Fatal(err)
	}
	b.Provenance.Token, b.Provenance.KeyID = b.Token, b.KeyID
	return b.Provenance
}

func sortedKeys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
