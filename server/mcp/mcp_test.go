package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestWay goes the whole way: what is admitted is cut, verified, replayed and
// explained, and each result is of its schema.
func TestWay(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	c := over(t, New(k, Options{Tools: every(t)}), identity(access.Admin))

	_, receipt := must(t, c, "admit_turns", chain(5))
	if receipt["admitted"] != 5.0 || receipt["edges"] != 4.0 || receipt["head"] != 5.0 {
		t.Errorf("receipt %v", receipt)
	}
	if _, again := must(t, c, "admit_turns", chain(5)); again["admitted"] != 0.0 || again["existing"] != 5.0 {
		t.Errorf("receipt of the same again %v", again)
	}

	bundle, cut := must(t, c, "cut_slice", map[string]any{"anchor": turnID(5)})
	id, err := dag.ParseTurnID(turnID(5))
	if err != nil {
		t.Fatal(err)
	}
	issued, err := k.Slices().Cut(t.Context(), dag.DefaultTenant, kernel.Request{Anchor: id})
	if err != nil {
		t.Fatal(err)
	}
	if bundle != string(issued.Bundle) {
		t.Errorf("the text is not the bundle's canonical bytes:\n%s\n%s", bundle, issued.Bundle)
	}
	if cut["bundle_sha256"] != issued.Record.Bundle.String() || cut["turns"] != 5.0 || cut["as_of"] != 5.0 || cut["token"] != issued.Seal.Token {
		t.Errorf("cut %v", cut)
	}
	for _, name := range []string{"ext-5", turnID(5)} {
		if same, _ := must(t, c, "cut_slice", map[string]any{"anchor": name, "policy": "default@3", "as_of": 5, "format": "bundle"}); same != bundle {
			t.Errorf("anchor %s gave other bytes", name)
		}
	}
	if shown, _ := must(t, c, "cut_slice", map[string]any{"anchor": "ext-5", "format": "markdown"}); !strings.HasPrefix(shown, "# Slice ") {
		t.Errorf("markdown is %.80q", shown)
	}
	shown, _ := must(t, c, "cut_slice", map[string]any{"anchor": "ext-5", "format": "messages"})
	var messages struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(shown), &messages); err != nil || len(messages.Messages) != 5 {
		t.Errorf("messages: %v, %.80q", err, shown)
	}

	if _, v := must(t, c, "verify_bundle", map[string]any{"bundle": bundle}); v["admissible"] != true || v["outcome"] != "verified" || v["key_id"] != "k1" {
		t.Errorf("verdict %v", v)
	}
	forged := strings.Replace(bundle, "turn 3", "turn 4", 1)
	if _, v := must(t, c, "verify_bundle", map[string]any{"bundle": bundle + "\n"}); v["admissible"] != true {
		t.Errorf("with the line feed of a file: got %v", v)
	}
	if _, v := must(t, c, "verify_bundle", map[string]any{"bundle": forged}); v["admissible"] != false || v["outcome"] != "tampered" || v["reason"] == "" {
		t.Errorf("verdict of the forged %v", v)
	}
	if _, v := must(t, c, "verify_bundle", map[string]any{"bundle": ""}); v["admissible"] != false || v["outcome"] != "malformed" {
		t.Errorf("verdict of nothing %v", v)
	}

	for _, in := range []map[string]any{{"bundle": bundle}, {"slice_id": cut["slice_id"]}} {
		if _, r := must(t, c, "replay_slice", in); r["outcome"] != "identical" || r["slice_id"] != cut["slice_id"] {
			t.Errorf("replay of %.20v: %v", in, r)
		}
	}
	if _, r := must(t, c, "replay_slice", map[string]any{"bundle": forged}); r["outcome"] != "different" || r["difference"] == nil {
		t.Errorf("replay of the forged %v", r)
	}

	narrow, err := standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Policies().Register(t.Context(), dag.DefaultTenant, narrow); err != nil {
		t.Fatal(err)
	}
	if _, all := must(t, c, "list_policies", map[string]any{}); len(all["policies"].([]any)) != 25 {
		t.Errorf("policies %v", all)
	}
	for in, outcome := range map[string]string{`{"turn":"ext-1"}`: "selected", `{"turn":"ext-5","as_of":4,"anchor":"ext-3"}`: "not_in_view", `{"turn":"ext-3","policy":"narrow@1"}`: "beaten"} {
		arguments := map[string]any{"anchor": "ext-5"}
		if err := json.Unmarshal([]byte(in), &arguments); err != nil {
			t.Fatal(err)
		}
		if _, e := must(t, c, "explain_turn", arguments); e["outcome"] != outcome || e["explanation"] == "" || e["as_of"] == 0.0 {
			t.Errorf("explanation of %s: %v", in, e)
		}
	}

	record, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "slice://" + cut["slice_id"].(string)})
	if err != nil {
		t.Fatal(err)
	}
	if r := record.Contents[0]; r.MIMEType != "application/json" || !strings.Contains(r.Text, cut["bundle_sha256"].(string)) {
		t.Errorf("record %+v", r)
	}
	turn, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turn://" + turnID(2)})
	if err != nil {
		t.Fatal(err)
	}
	var stored struct {
		Seq  int
		Turn json.RawMessage
	}
	if err := json.Unmarshal([]byte(turn.Contents[0].Text), &stored); err != nil || stored.Seq != 2 || !bytes.Contains(stored.Turn, []byte("turn 2 says")) {
		t.Errorf("turn %v, %s", err, turn.Contents[0].Text)
	}
	if _, err := k.Turns().Erase(t.Context(), dag.DefaultTenant, id, "a test"); err != nil {
		t.Fatal(err)
	}
	if _, r := must(t, c, "replay_slice", map[string]any{"bundle": bundle}); r["outcome"] != "erased" || len(r["erased"].([]any)) != 1 {
		t.Errorf("replay after an erasure %v", r)
	}
	gone, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turn://" + turnID(5)})
	if err != nil || !strings.Contains(gone.Contents[0].Text, `"redacted":true`) || strings.Contains(gone.Contents[0].Text, "says") {
		t.Errorf("erased turn: %v, %v", err, gone)
	}
}

// TestAsked has bundles handed out over MCP: their records say to whom.
func TestAsked(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{access.Stdio: access.Stdio, "0123456789abcdef": "0123456789abcdef", "jwt:anna": "jwt:anna", "anybody": ""} {
		k := testKernel(t)
		c := over(t, New(k, Options{Tools: every(t)}), access.Identity{Tenant: dag.DefaultTenant, Role: access.Admin, Subject: subject})
		must(t, c, "admit_turns", chain(3))
		must(t, c, "cut_slice", map[string]any{"anchor": turnID(3)})
		must(t, c, "recall", map[string]any{"task": "turn 2"})
		list, err := k.Slices().After(t.Context(), dag.DefaultTenant, 0, 9)
		if err != nil || len(list) != 2 {
			t.Fatalf("%d records, %v", len(list), err)
		}
		for i := range list {
			if list[i].By != want {
				t.Errorf("what %q was handed is recorded as asked for by %q, want %q", subject, list[i].By, want)
			}
		}
	}
}

// TestRoles goes through every role and every tool: what a role may do is listed
// and works, what it may not do is neither listed nor done.
func TestRoles(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	s := New(k, Options{Tools: every(t)})
	admin := over(t, s, identity(access.Admin))
	must(t, admin, "admit_turns", chain(3))
	bundle, cut := must(t, admin, "cut_slice", map[string]any{"anchor": "ext-3"})
	arguments := map[string]map[string]any{
		"admit_turns": {"turns": []any{said(4, "four")}}, "cut_slice": {"anchor": "ext-3"}, "verify_bundle": {"bundle": bundle},
		"replay_slice": {"slice_id": cut["slice_id"]}, "explain_turn": {"turn": "ext-1", "anchor": "ext-3"}, "list_policies": {}, "show_turn": {"turn": "ext-1"},
		"find": {"query": "said"}, "recall": {"task": "what was said"},
	}
	for name, in := range believed(t, k) {
		arguments[name] = in
	}
	for name, in := range knowledgeArguments(t, admin) {
		arguments[name] = in
	}
	learns := []string{
		"add_observations", "create_entities", "create_relations", "delete_entities", "delete_observations", "delete_relations", "knowledge_assert", "knowledge_retract", "remember", "forget", "propose_belief", "keep_in_mind",
	}
	asks := []string{"in_mind", "base", "why", "recall_memories", "explain_belief", "impact", "find", "recall", "knowledge_find", "knowledge_history", "knowledge_path", "knowledge_traverse", "open_nodes", "read_graph", "search_nodes"}
	want := map[access.Role][]string{
		access.Verifier: {"verify_bundle"},
		access.Agent:    slices.Concat([]string{"admit_turns", "cut_slice", "knowledge_slice", "list_policies", "verify_bundle"}, learns, asks),
		access.Auditor:  slices.Concat([]string{"explain_turn", "list_policies", "replay_slice", "show_turn", "verify_bundle"}, asks),
		access.Admin:    slices.Concat([]string{"admit_turns", "cut_slice", "knowledge_slice", "explain_turn", "list_policies", "replay_slice", "show_turn", "verify_bundle"}, learns, asks),
	}
	for _, names := range want {
		slices.Sort(names)
	}
	for _, role := range access.Roles {
		c := over(t, s, identity(role))
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if slices.Sort(names); !slices.Equal(names, want[role]) {
			t.Errorf("%s sees %v, want %v", role, names, want[role])
		}
		for name, tool := range tools {
			_, err := call(t, c, name, arguments[name])
			if allowed := slices.Contains(want[role], name); (err == nil) != allowed {
				t.Errorf("%s calling %s: %v", role, name, err)
			}
			// The list is a courtesy; the check is made with the call.
			data, err := json.Marshal(arguments[name])
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.call(with(t.Context(), identity(role)), tool, data)
			if allowed := slices.Contains(want[role], name); (err == nil) != allowed {
				t.Errorf("%s, past the list, calling %s: %v", role, name, err)
			}
		}
		for _, uri := range []string{"slice://" + cut["slice_id"].(string), "turn://" + turnID(1)} {
			_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if allowed := role == access.Auditor || role == access.Admin; (err == nil) != allowed {
				t.Errorf("%s reading %s: %v", role, uri, err)
			}
		}
		if role == access.Agent || role == access.Verifier {
			h := s.resource(turnScheme, s.turn)
			if r, err := h(with(t.Context(), identity(role)), &sdk.ReadResourceRequest{Params: &sdk.ReadResourceParams{URI: "turn://" + turnID(1)}}); err == nil {
				t.Errorf("%s, past the list, read %v", role, r)
			}
		}
	}
	for name, tool := range tools {
		if _, err := s.call(t.Context(), tool, nil); err == nil {
			t.Errorf("nobody may call %s", name)
		}
	}
	if err := s.ServeStdio(t.Context(), access.Identity{Tenant: "default"}, nil, nil); err == nil {
		t.Error("a session for no role was opened")
	}
	if len(definitions()) != len(tools) {
		t.Errorf("%d tools are defined, %d are made", len(definitions()), len(tools))
	}
}

// TestTenants puts the same turn ids into two tenants. Nothing of one is seen from
// the other.
func TestTenants(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t)})
	mine := over(t, s, access.Identity{Tenant: "mine", Role: access.Admin, Subject: "a"})
	yours := over(t, s, access.Identity{Tenant: "yours", Role: access.Admin, Subject: "a"})
	must(t, mine, "admit_turns", map[string]any{"turns": []any{said(1, "my secret"), said(2, "more of it")}})
	must(t, yours, "admit_turns", map[string]any{"turns": []any{said(1, "your own")}})
	bundle, cut := must(t, mine, "cut_slice", map[string]any{"anchor": turnID(2)})
	other, _ := must(t, yours, "cut_slice", map[string]any{"anchor": turnID(1)})
	if !strings.Contains(bundle, "my secret") || strings.Contains(other, "secret") || !strings.Contains(other, "your own") {
		t.Errorf("the tenants' turns are mixed:\n%s\n%s", bundle, other)
	}
	if _, v := must(t, yours, "verify_bundle", map[string]any{"bundle": bundle}); v["admissible"] != false || v["outcome"] != "key_unknown" {
		t.Errorf("another tenant's bundle: %v", v)
	}
	for name, arguments := range map[string]map[string]any{
		"cut_slice":    {"anchor": turnID(2)},
		"explain_turn": {"anchor": turnID(1), "turn": turnID(2)},
		"replay_slice": {"slice_id": cut["slice_id"]}, "show_turn": {"turn": turnID(2)},
	} {
		if _, err := call(t, yours, name, arguments); err == nil || !strings.Contains(err.Error(), "not found") || strings.Contains(err.Error(), "mine") {
			t.Errorf("%s across tenants: %v", name, err)
		}
	}
	if _, err := call(t, yours, "replay_slice", map[string]any{"bundle": bundle}); err == nil || strings.Contains(err.Error(), "mine") {
		t.Errorf("replay of another tenant's bundle: %v", err)
	}
	for _, uri := range []string{"slice://" + cut["slice_id"].(string), "turn://" + turnID(2)} {
		if r, err := yours.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s across tenants: %v, %v", uri, r, err)
		}
	}
}

// TestRefused hands in what is wrong. Each comes back as a tool error that says
// where, and what the schema can tell, it tells too.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t), MaxMessage: 1 << 20})
	c := over(t, s, identity(access.Admin))
	must(t, c, "admit_turns", chain(3))
	many := make([]any, MaxTurns+1)
	for i := range many {
		many[i] = said(1, "x")
	}
	without := func(key string) map[string]any {
		l := said(9, "x")
		delete(l, key)
		return l
	}
	having := func(key string, value any) map[string]any {
		l := said(9, "x")
		l[key] = value
		return l
	}
	for _, test := range []struct {
		tool      string
		arguments any
		want      string // part of the complaint
		schema    bool   // whether the schema refuses it too
	}{
		{"admit_turns", nil, "turns", true},
		{"admit_turns", map[string]any{"turns": []any{}}, "0 turns", true},
		{"admit_turns", map[string]any{"turns": many}, "1001 turns", true},
		{"admit_turns", map[string]any{"turns": "x"}, "turns", true},
		{"admit_turns", map[string]any{"turns": []any{said(1, "x")}, "tenant": "other"}, "tenant", true},
		{"admit_turns", map[string]any{"turns": []any{said(4, "x"), 7}}, "turns[1]", true},
		{"admit_turns", map[string]any{"turns": []any{said(4, "x"), without("role")}}, `turns[1]: "role" is missing`, true},
		{"admit_turns", map[string]any{"turns": []any{having("tenant", "other")}}, "turns[0]: unknown field", true},
		{"admit_turns", map[string]any{"turns": []any{having("salience", 0.1234567)}}, "turns[0]: salience", false},
		{"admit_turns", map[string]any{"turns": []any{having("author", "\u00e9")}}, "turns[0]", false},
		{"admit_turns", json.RawMessage(`{"turns":[{"id":"` + turnID(9) + `","conversation":"` + turnID(9) + `","role":"user","author":"a","created_at":"2026-01-02T03:04:05Z","redacted":true,"body_digest":"` + strings.Repeat("00", 32) + `"}]}`), "turns[0]", true},
		{"admit_turns", json.RawMessage(`{"turns":[{"redacted":true,"body_digest":"` + strings.Repeat("00", 32) + `","phase":"planning","salience":1,"created_at":"2026-01-02T03:04:05Z","role":"user","id":"` + turnID(9) + `","conversation":"` + turnID(9) + `"}]}`), "without its text", true},
		{"admit_turns", json.RawMessage(`{"turns":[],"turns":[]}`), "turns", true},
		{"admit_turns", map[string]any{"turns": []any{said(2, "something else")}}, "id of its own", false},
		{"admit_turns", map[string]any{"turns": []any{said(9, "x")}}, "admit it first", false},
		{"admit_turns", json.RawMessage(`{"turns":[` + strings.Repeat(`[],`, MaxTurns*turnValues) + `[]]}`), "arguments", true},
		{"cut_slice", map[string]any{}, "anchor", true},
		{"cut_slice", map[string]any{"anchor": ""}, "0 bytes, want 1 to 1024", true},
		{"cut_slice", map[string]any{"anchor": strings.Repeat("a", 1025)}, "1025 bytes, want 1 to 1024", true},
		{"cut_slice", map[string]any{"anchor": 5}, "anchor", true},
		{"cut_slice", map[string]any{"anchor": "ext-3", "format": "html"}, "format", true},
		{"cut_slice", map[string]any{"anchor": "ext-3", "policy": "default"}, "policy", true},
		{"cut_slice", map[string]any{"anchor": "ext-3", "policy": "absent@1"}, "list_policies", false},
		{"cut_slice", map[string]any{"anchor": "ext-3", "as_of": -1}, "as_of", true},
		{"cut_slice", json.RawMessage(`{"anchor":"ext-3","as_of":1e0}`), "as_of", false},
		{"cut_slice", json.RawMessage(`{"anchor":"ext-3","as_of":9007199254740992}`), "as_of", false},
		{"cut_slice", map[string]any{"anchor": "ext-3", "as_of": 99}, "leave as_of out", false},
		{"cut_slice", map[string]any{"anchor": "ext-3", "as_of": 1}, "higher as_of", false},
		{"cut_slice", map[string]any{"anchor": "ext-4"}, "not found", false},
		{"cut_slice", map[string]any{"anchor": "0b5e"}, "several turns", false},
		{"cut_slice", map[string]any{"anchor": "ext-3", "max_nodes": 5}, "max_nodes", true},
		{"cut_slice", json.RawMessage(`[]`), "", true},
		{"cut_slice", json.RawMessage(`"ext-3"`), "", true},
		{"recall", map[string]any{}, "task", false},
		{"recall", map[string]any{"task": "x", "prompt": "xml"}, "prompt", true},
		{"verify_bundle", map[string]any{}, "bundle", true},
		{"verify_bundle", map[string]any{"bundle": map[string]any{"anchor": 1}}, "bundle", true},
		{"verify_bundle", map[string]any{"bundle": "", "tenant": "other"}, "tenant", true},
		{"replay_slice", map[string]any{}, "either", true},
		{"replay_slice", map[string]any{"slice_id": strings.Repeat("0", 16), "bundle": ""}, "either", true},
		{"replay_slice", map[string]any{"slice_id": "x"}, "slice_id", true},
		{"replay_slice", map[string]any{"slice_id": strings.Repeat("0", 16)}, "not found", false},
		{"replay_slice", map[string]any{"bundle": "{}"}, "byte for byte", false},
		{"replay_slice", map[string]any{"other": 1}, "other", true},
		{"explain_turn", map[string]any{"anchor": "ext-3"}, "turn", true},
		{"explain_turn", map[string]any{"anchor": "ext-3", "turn": "nowhere"}, "turn: ", false},
		{"list_policies", map[string]any{"all": true}, "all", true},
		{"list_policies", json.RawMessage(`[]`), "", true},
	} {
		text, err := call(t, c, test.tool, test.arguments)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "internal") {
			t.Errorf("%s of %.80v: %v, %.80s; want an error with %q", test.tool, test.arguments, err, text, test.want)
		}
		data, err := json.Marshal(test.arguments)
		if err != nil {
			t.Fatal(err)
		}
		var v any = map[string]any{}
		if test.arguments != nil {
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
		}
		if err := schemas(t)[test.tool].input.Validate(v); (err != nil) != test.schema {
			t.Errorf("the schema of %s says %v of %.80v", test.tool, err, test.arguments)
		}
	}
	if _, head := must(t, c, "admit_turns", chain(3)); head["head"] != 3.0 {
		t.Errorf("something was admitted: %v", head)
	}
	if r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turn://" + strings.ToUpper(turnID(1))}); err != nil || !strings.Contains(r.Contents[0].Text, turnID(1)) {
		t.Errorf("an id in capitals: %v, %v", r, err)
	}
	if _, w := must(t, c, "show_turn", map[string]any{"turn": strings.ToUpper(turnID(1))}); w["seq"] != 1.0 {
		t.Errorf("an id in capitals: %v", w)
	}
	for _, uri := range []string{"turn://", "turn://x", "turn://" + turnID(99), "slice://x", "slice://" + strings.Repeat("0", 16), "file:///etc/passwd", "turn://" + turnID(1) + "/../" + turnID(2)} {
		if r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || strings.Contains(err.Error(), "internal") {
			t.Errorf("%s: %v, %v", uri, r, err)
		}
	}
}

// TestTooLarge makes a turn that no message has room for as a resource.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := New(testKernel(t), Options{Tools: every(t), MaxMessage: 8 << 10})
	c := over(t, s, identity(access.Admin))
	for n := range 2 {
		must(t, c, "admit_turns", map[string]any{"turns": []any{said(n+1, strings.Repeat("x", 4<<10-n))}})
	}
	if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turn://" + turnID(1)}); err == nil || !strings.Contains(err.Error(), "room") {
		t.Errorf("a large turn: %v", err)
	}
}

// A faulty store fails, or panics, when turns are looked up.
type faulty struct {
	store.Store
	mu   sync.Mutex
	fail func() error
}

func (f *faulty) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) ([]dag.TurnID, error) {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if err := fail(); err != nil {
		return nil, err
	}
	return f.Store.Find(ctx, tenant, name, limit)
}

func (f *faulty) Turns(context.Context, dag.Tenant, store.Selection) ([]store.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return nil, f.fail()
}

// TestInternal makes the store fail. The caller learns nothing but a number, which
// the log has.
func TestInternal(t *testing.T) {
	t.Parallel()
	f := &faulty{Store: memoryStore(t)}
	var log lockedBuffer
	s := New(kernelOver(t, f), Options{Tools: every(t), Log: slog.New(slog.NewTextHandler(&log, nil))})
	c := over(t, s, identity(access.Admin))
	for name, fail := range map[string]func() error{
		"I/O":    func() error { return errors.New("secret path /var/db: input/output error") },
		"damage": func() error { return fmt.Errorf("secret: %w", store.ErrDamaged) },
		"form":   func() error { return fmt.Errorf("secret: %w", dag.ErrForm) },
		"bundle": func() error { return fmt.Errorf("secret: %w", slice.ErrMalformed) },
		"panic":  func() error { panic("secret") },
	} {
		f.mu.Lock()
		f.fail = fail
		f.mu.Unlock()
		_, toolErr := call(t, c, "cut_slice", map[string]any{"anchor": "ext-1"})
		_, resourceErr := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "turn://" + turnID(1)})
		for _, err := range []error{toolErr, resourceErr} {
			if err == nil || !strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the caller is told %v", name, err)
				continue
			}
			_, id, _ := strings.Cut(err.Error(), "request id ")
			if len(id) < 13 || !strings.Contains(log.String(), "request_id="+id) {
				t.Errorf("%s: the log does not have %q", name, id)
			}
		}
	}
	if text := log.String(); !strings.Contains(text, "secret path /var/db") || !strings.Contains(text, "tenant=default") {
		t.Errorf("the log is %s", text)
	}
	f.mu.Lock()
	f.fail = func() error { return context.Canceled }
	f.mu.Unlock()
	if _, err := call(t, c, "cut_slice", map[string]any{"anchor": "ext-1"}); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("a cancelled call: %v", err)
	}
}

// TestPlaces fills every place, and lets one more call wait until it is too late.
func TestPlaces(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	f := &faulty{Store: memoryStore(t), fail: func() error {
		entered <- struct{}{}
		<-leave
		return store.ErrNotFound
	}}
	s := New(kernelOver(t, f), Options{Tools: every(t), MaxCalls: 1, Timeout: 100 * time.Millisecond})
	c, other := over(t, s, identity(access.Admin)), over(t, s, identity(access.Admin))
	first := make(chan error, 1)
	go func() {
		_, err := other.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "turn://" + turnID(1)})
		first <- err
	}()
	<-entered
	if _, err := call(t, c, "list_policies", nil); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a call without a place: %v", err)
	}
	close(leave)
	<-first
	if _, err := call(t, c, "list_policies", nil); err != nil {
		t.Errorf("a call afterwards: %v", err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestDefinitions checks the definitions of tools against what is promised of it: everything is
// described, nothing takes more than it names, and the bounds are those of the code.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	objects := 0
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		kinds, _ := s["oneOf"].([]any)
		for i, kind := range kinds {
			walk(fmt.Sprintf("%s(%d)", path, i), kind.(map[string]any))
		}
		if s["type"] == "object" && len(kinds) == 0 {
			objects++
			if _, ok := s["additionalProperties"]; !ok {
				t.Errorf("%s takes anything", path)
			}
		}
		if s["type"] == "string" && s["maxLength"] == nil && s["pattern"] == nil && s["enum"] == nil && s["format"] == nil && strings.Contains(path, "inputSchema") &&
			!strings.HasSuffix(path, ".bundle") && !strings.HasSuffix(path, ".content") { // bounded by the message
			t.Errorf("%s has no bound", path)
		}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			if text, _ := p.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s.%s is not described", path, name)
			}
			walk(path+"."+name, p.(map[string]any))
		}
		if items, ok := s["items"].(map[string]any); ok {
			walk(path+"[]", items)
		}
	}
	for _, d := range definitions() {
		walk(d.Name+".inputSchema", d.InputSchema.(map[string]any))
		a := d.Annotations
		switch {
		case a == nil || a.OpenWorldHint == nil || *a.OpenWorldHint:
			t.Errorf("%s: the annotations are incomplete", d.Name)
		case a.ReadOnlyHint == (tools[d.Name].permission == access.Cut || tools[d.Name].permission == access.Admit):
			t.Errorf("%s: readOnlyHint is %v", d.Name, a.ReadOnlyHint)
		case !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint != (d.Name == "knowledge_retract" || strings.HasPrefix(d.Name, "delete_")) || !a.IdempotentHint):
			t.Errorf("%s: annotations %+v", d.Name, a)
		}
		const longest = 400
		if n := len(d.Description); n == 0 || n > longest {
			t.Errorf("%s: the description has %d bytes, want 1 to %d", d.Name, n, longest)
		}
		if d.OutputSchema != nil {
			t.Errorf("%s promises structured content", d.Name)
		}
	}
	input := map[string]map[string]any{}
	for _, d := range definitions() {
		input[d.Name] = d.InputSchema.(map[string]any)["properties"].(map[string]any)
	}
	for _, bound := range []struct {
		tool, argument, key string
		want                int
	}{
		{"admit_turns", "turns", "maxItems", MaxTurns},
		{"knowledge_assert", "facts", "maxItems", MaxFacts},
		{"knowledge_find", "limit", "maximum", query.MaxFacts},
		{"knowledge_find", "subject", "maxLength", normalize.MaxName},
		{"knowledge_traverse", "start", "maxItems", knowledge.MaxStarts},
		{"knowledge_traverse", "predicates", "maxItems", maxPredicates},
		{"knowledge_traverse", "max_hops", "maximum", knowledge.MaxHops},
		{"knowledge_traverse", "max_results", "maximum", knowledge.MaxResults},
		{"knowledge_path", "count", "maximum", knowledge.MaxPaths},
		{"knowledge_retract", "reason", "maxLength", knowledge.MaxReason},
		{"create_entities", "entities", "maxItems", MaxMemory},
		{"search_nodes", "query", "maxLength", maxSearch},
	} {
		if got := input[bound.tool][bound.argument].(map[string]any)[bound.key]; fmt.Sprint(got) != fmt.Sprint(bound.want) {
			t.Errorf("%s: %s of %s is %v, in the code %d", bound.tool, bound.key, bound.argument, got, bound.want)
		}
	}
	if objects < 15 {
		t.Errorf("looked at %d objects only", objects)
	}
}

// TestScope admits over the protocol what is outside of what the caller may bring.
func TestScope(t *testing.T) {
	t.Parallel()
	k := testKernel(t)
	web := serve(t, New(k, Options{Tools: every(t)}))
	agent := connected(t, web, "default agent k1")
	turns := chain(2)
	list, ok := turns["turns"].([]any)
	if !ok {
		t.Fatalf("the turns are %T", turns["turns"])
	}
	second, ok := list[1].(map[string]any)
	if !ok {
		t.Fatalf("a turn is %T", list[1])
	}
	second["role"] = "system"
	_, complaint := call(t, agent, "admit_turns", turns)
	if complaint == nil || !strings.Contains(complaint.Error(), `turns[1]`) || !strings.Contains(complaint.Error(), `role "system"`) || !strings.Contains(complaint.Error(), "user,assistant,tool") {
		t.Errorf("a system turn of an agent: %v", complaint)
	}
	if head, err := k.Turns().Head(t.Context(), dag.DefaultTenant); err != nil || head != 0 {
		t.Errorf("the head is %d, %v: something was admitted", head, err)
	}
}
