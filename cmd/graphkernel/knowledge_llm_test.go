package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
	"github.com/graphkernel/graphkernel/ingest/llm"
)

// A model is in for one. It is sure that every turn that says "X uses Y" is right, and that
// a turn it was not shown says more.
type standInModel struct {
	*httptest.Server
	mu     sync.Mutex
	shown  []string // what it was sent, as data; guarded by mu
	keys   []string // guarded by mu
	answer func(n int, shown []string) (status int, content string)
}

func newModel(t *testing.T) *standInModel {
	m := &standInModel{answer: func(_ int, shown []string) (int, string) { return http.StatusOK, usesOf(shown) }}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Messages []struct{ Role, Content string }
		}
		var data struct{ Turns []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) != 2 {
			t.Errorf("a request of %d messages, %v", len(request.Messages), err)
			return
		}
		if err := json.Unmarshal([]byte(request.Messages[1].Content), &data); err != nil {
			t.Error(err)
		}
		var contents []string
		for _, turn := range data.Turns {
			contents = append(contents, turn.Content)
		}
		m.mu.Lock()
		m.shown, m.keys = append(m.shown, request.Messages[1].Content), append(m.keys, r.Header.Get("Authorization"))
		n := len(m.shown)
		m.mu.Unlock()
		status, content := m.answer(n, contents)
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "stand-in-7b", "choices": []any{map[string]any{
			"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content}}}})
	}))
	t.Cleanup(m.Close)
	return m
}

func usesOf(shown []string) string {
	facts := []map[string]any{{"subject": "a", "predicate": "is", "object": "b", "turn": "t99"}}
	for i, text := range shown {
		if s, o, ok := strings.Cut(text, " uses "); ok {
			facts = append(facts, map[string]any{"subject": s, "predicate": "uses", "object": o, "confidence": 0.99, "turn": fmt.Sprintf("t%d", i+1)})
		}
	}
	text, err := json.Marshal(map[string]any{"facts": facts})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (m *standInModel) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.shown)
}

func (m *standInModel) saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.shown, func(s string) bool { return strings.Contains(s, text) })
}

// A llmStore is a store to ask about.
type llmStore struct {
	t  *testing.T
	db string
}

const askedConversation = "c0000000-0000-4000-8000-0000000000c0"

func askedTurn(i int) string { return fmt.Sprintf("c0000000-0000-4000-8000-%012d", i) }

// newLLMStore imports contents as turns, each a reply to the one before.
func newLLMStore(t *testing.T, contents ...string) *llmStore {
	s := &llmStore{t, filepath.Join(t.TempDir(), "llm.db")}
	s.add(0, contents...)
	return s
}

func (s *llmStore) add(from int, contents ...string) {
	s.t.Helper()
	var lines bytes.Buffer
	for i, content := range contents {
		i += from
		turn := map[string]any{"author": "human:guest", "content": content, "conversation": askedConversation, "created_at": "2026-03-14T02:00:00Z", "id": askedTurn(i + 1), "role": "user"}
		if i > 0 {
			turn["parents"] = []any{map[string]any{"id": askedTurn(i), "kind": "reply"}}
		}
		text, err := json.Marshal(turn)
		if err != nil {
			s.t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	file := filepath.Join(s.t.TempDir(), "turns.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run(api.ExitOK, "import", file)
}

// run returns the object that a command prints, and what it says beside it.
func (s *llmStore) run(code int, args ...string) (object map[string]any, messages string) {
	s.t.Helper()
	return s.runAs(testApp(), code, args...)
}

func (s *llmStore) runAs(a *cli.App, code int, args ...string) (object map[string]any, messages string) {
	s.t.Helper()
	var out, said bytes.Buffer
	a.IO.Stdout, a.IO.Stderr = &out, &said
	got := a.Run(context.Background(), append([]string{"--store", "sqlite:" + s.db, "--output", "json"}, args...))
	if got != code {
		s.t.Fatalf("%v: exit code %d, want %d: %s", args, got, code, said.String())
	}
	if err := json.Unmarshal(out.Bytes(), &object); err != nil {
		s.t.Fatalf("%v: %v: %s", args, err, out.String())
	}
	return object, said.String()
}

func (s *llmStore) ask(m *standInModel, code int, args ...string) (map[string]any, string) {
	s.t.Helper()
	return s.run(code, append([]string{"knowledge", "extract", "--llm-url", m.URL + "/v1", "--llm-model", "stand-in"}, args...)...)
}

// want compares members of an object, which are named NAME or NAME.NAME.
func (s *llmStore) want(object map[string]any, members map[string]any) {
	s.t.Helper()
	for name, want := range members {
		outer, inner, deep := strings.Cut(name, ".")
		got := object[outer]
		if deep {
			in, _ := got.(map[string]any)
			got = in[inner]
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			s.t.Errorf("%s is %v, want %v, in %v", name, got, want, object)
		}
	}
}

// turn returns what show says of a turn.
func (s *llmStore) turn(id string) map[string]any {
	s.t.Helper()
	object, _ := s.run(api.ExitOK, "show", id)
	turn, _ := object["turn"].(map[string]any)
	if turn["id"] != id {
		s.t.Fatalf("show %s does not show it", id)
	}
	return turn
}

func repliesTo(turn map[string]any) (ids []string) {
	for _, p := range turn["parents"].([]any) {
		if parent := p.(map[string]any); parent["kind"] == "reply" {
			ids = append(ids, parent["id"].(string))
		}
	}
	return ids
}

// TestAskWalk asks a model and walks from a fact to the turns that the model was shown.
func TestAskWalk(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := newLLMStore(t, "Checkout uses Redis", "hello", "   ", "Search uses Lucene")
	result, _ := s.ask(m, api.ExitOK)
	s.want(result, map[string]any{"source": "llm:stand-in", "turns": 4, "requests": 1, "shown": 3, "answers": 1, "asserted": 2,
		"refused.unknown_label": 1, "skipped.blank": 1, "questions_left": 0, "head": 8})

	list, _ := s.run(api.ExitOK, "knowledge", "list", "--predicate", "uses")
	facts := list["facts"].([]any)
	if len(facts) != 2 {
		t.Fatalf("%d facts: %v", len(facts), list)
	}
	for _, f := range facts {
		fact := f.(map[string]any)
		s.want(fact, map[string]any{"source": "llm:stand-in", "confidence": 0.5})
		response := s.turn(fact["turn"].(string))
		s.want(response, map[string]any{"role": "assistant", "author": "model:stand-in", "salience": 0})
		if response["content"] != usesOf([]string{"Checkout uses Redis", "hello", "Search uses Lucene"}) {
			t.Errorf("the response is %v", response)
		}
		prompts := repliesTo(response)
		if len(prompts) != 1 {
			t.Fatalf("the response answers %v", prompts)
		}
		prompt := s.turn(prompts[0])
		s.want(prompt, map[string]any{"role": "user", "author": "agent:graphkernel"})
		if content := prompt["content"].(string); !strings.HasPrefix(content, llm.Instructions) || !strings.Contains(content, "Checkout uses Redis") {
			t.Errorf("the prompt is %v", prompt)
		}
		s.want(prompt, map[string]any{"attrs.llm_turns": askedTurn(1) + "," + askedTurn(2) + "," + askedTurn(4)})
	}

	// The same again asks nothing, says nothing, and shows no model its own words.
	again, _ := s.ask(m, api.ExitOK)
	s.want(again, map[string]any{"requests": 0, "asserted": 0, "existing": 2, "answers": 1, "skipped.shown_before": 3, "skipped.model_exchange": 2, "head": 8})
	if m.requests() != 1 {
		t.Errorf("asked %d times", m.requests())
	}
	// Nor do the rules read them.
	rules, _ := s.run(api.ExitOK, "knowledge", "extract")
	s.want(rules, map[string]any{"findings": 0, "skipped.model_exchange": 2})

	// What came since is asked about, and that alone.
	s.add(4, "Search uses Zookeeper")
	more, _ := s.ask(m, api.ExitOK)
	s.want(more, map[string]any{"requests": 1, "shown": 1, "asserted": 1})
	if m.requests() != 2 || strings.Contains(m.shown[1], "Lucene") {
		t.Errorf("the second question is %s", m.shown[1])
	}

	// What is retracted stays so.
	s.run(api.ExitOK, "knowledge", "retract", "--subject", "Checkout")
	retracted, _ := s.ask(m, api.ExitOK)
	s.want(retracted, map[string]any{"requests": 0, "retracted": 1, "existing": 2, "asserted": 0})

	// All of it once more: the first question is another now, since it shows what came since.
	all, _ := s.ask(m, api.ExitOK, "--llm-again", "--llm-confidence", "0.6")
	s.want(all, map[string]any{"requests": 1, "shown": 4, "confirmed": 2})
	s.run(api.ExitOK, "fsck")
}

// TestAskSlices holds that asking a model brings nothing into a slice: neither a turn that was
// too far away, nor a prompt that repeats it.
func TestAskSlices(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := &llmStore{t, filepath.Join(t.TempDir(), "llm.db")}
	s.run(api.ExitOK, "import", filepath.Join("demo", "incident.jsonl"))
	near := filepath.Join(t.TempDir(), "near.json")
	if err := os.WriteFile(near, []byte(`{"policy_id":"near@1","policy":{"type":"slice_policy_v1","max_radius":6}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(api.ExitOK, "policy", "add", near)
	slice := func() (turns []string) {
		object, _ := s.run(api.ExitOK, "slice", demo.IncidentAnchor, "--policy", "near@1", "--dev")
		for _, t := range object["turns"].([]any) {
			turns = append(turns, t.(map[string]any)["id"].(string))
		}
		return turns
	}
	before := slice()
	result, _ := s.ask(m, api.ExitOK)
	s.want(result, map[string]any{"shown": 25})
	if after := slice(); len(before) < 10 || !slices.Equal(before, after) {
		t.Errorf("the slice was %v and is %v", before, after)
	}
}

// TestAskFailures goes on where an endpoint failed.
func TestAskFailures(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	var contents []string
	for i := range 3 * llm.MaxTurns {
		contents = append(contents, fmt.Sprintf("part %d uses part %d", i, i+1))
	}
	s := newLLMStore(t, contents...)

	none, _ := s.ask(m, api.ExitOK, "--llm-max-requests", "0")
	s.want(none, map[string]any{"requests": 0, "questions_left": 3, "asserted": 0})

	m.answer = func(n int, shown []string) (int, string) {
		if n == 2 {
			return http.StatusUnauthorized, ""
		}
		return http.StatusOK, usesOf(shown)
	}
	failed, said := s.ask(m, api.ExitInternal)
	if !strings.Contains(failed["error"].(string), "is it the right key?") || !strings.Contains(said, fmt.Sprintf("1 answer was kept and %d facts were learned before this", llm.MaxTurns)) {
		t.Errorf("%v\n%s", failed, said)
	}

	// One question that cannot be answered does not stop the others, but is not forgotten.
	m.answer = func(n int, shown []string) (int, string) {
		if n == 3 {
			return http.StatusBadRequest, ""
		}
		return http.StatusOK, usesOf(shown)
	}
	some, said := s.ask(m, api.ExitOK)
	s.want(some, map[string]any{"requests": 2, "unusable": 1, "asserted": llm.MaxTurns, "existing": llm.MaxTurns})
	if !strings.Contains(said, "answers 400") {
		t.Errorf("said %s", said)
	}

	// What cannot be read is kept, counted, and not asked for again.
	m.answer = func(int, []string) (int, string) { return http.StatusOK, "```json\n{}\n```" }
	bad, _ := s.ask(m, api.ExitOK)
	s.want(bad, map[string]any{"requests": 1, "asserted": 0, "refused.no_json": 1})
	last, _ := s.ask(m, api.ExitOK)
	s.want(last, map[string]any{"requests": 0, "refused.no_json": 1, "answers": 3})

	m.answer = func(int, []string) (int, string) { return http.StatusUnprocessableEntity, "" }
	always, _ := s.ask(m, api.ExitInternal, "--llm-again")
	if !strings.Contains(always["error"].(string), "3 questions in a row") {
		t.Errorf("%v", always)
	}
}

// TestAskUnlearned learns what is in the ledger if a run died before it could.
func TestAskUnlearned(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := newLLMStore(t, "Checkout uses Redis")
	s.ask(m, api.ExitOK)
	file := filepath.Join(t.TempDir(), "all.jsonl")
	s.run(api.ExitOK, "export", "-o", file)
	other := &llmStore{t, filepath.Join(t.TempDir(), "other.db")} // turns alone: no fact was learned there
	other.run(api.ExitOK, "import", file)
	result, _ := other.ask(m, api.ExitOK)
	other.want(result, map[string]any{"requests": 0, "asserted": 1, "answers": 1})
	if m.requests() != 1 {
		t.Errorf("asked %d times", m.requests())
	}
}

// TestAskErased holds that what is erased is not shown, not even if that happens while
// another question is being answered.
func TestAskErased(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	contents := []string{"the password is hunter2"}
	for range llm.MaxTurns {
		contents = append(contents, "Checkout uses Redis")
	}
	contents = append(contents, "the other password is hunter3", "Search uses Lucene")
	s := newLLMStore(t, contents...)
	s.run(api.ExitOK, "erase", askedTurn(1), "--reason", "a secret")
	m.answer = func(n int, shown []string) (int, string) {
		if n == 1 {
			if code, _, said := knowledgeErase(s.db, askedTurn(len(contents)-1)); code != api.ExitOK {
				t.Error(said)
			}
		}
		return http.StatusOK, usesOf(shown)
	}
	result, _ := s.ask(m, api.ExitOK)
	s.want(result, map[string]any{"skipped.erased": 1})
	if m.saw("hunter2") {
		t.Error("an erased turn was shown")
	}
	if m.requests() != 2 || m.saw("hunter3") || !m.saw("Lucene") {
		t.Errorf("a turn that was erased meanwhile was shown: %q", m.shown)
	}

	// Anyone who erases what was shown is told what keeps it.
	erased, _ := s.run(api.ExitOK, "erase", askedTurn(len(contents)), "--reason", "a secret")
	keeps, _ := erased["shown_in"].([]any)
	if len(keeps) != 2 {
		t.Fatalf("erased %v", erased)
	}
	for _, id := range keeps {
		content := s.turn(id.(string))["content"].(string)
		if !strings.Contains(content, "Lucene") || strings.Contains(content, "Redis") {
			t.Errorf("turn %s is said to keep it: %s", id, content)
		}
	}
	prompt, _ := s.run(api.ExitOK, "erase", keeps[0].(string), "--reason", "a secret")
	s.want(prompt, map[string]any{"shown_in": "[]"})
	rest, _ := s.run(api.ExitOK, "erase", askedTurn(len(contents)), "--reason", "a secret")
	s.want(rest, map[string]any{"already": true, "shown_in": []any{keeps[1]}})
	after, _ := s.ask(m, api.ExitOK) // the response that is left is read as before
	s.want(after, map[string]any{"requests": 0, "answers": 2, "asserted": 0, "existing": llm.MaxTurns + 1})
}

// TestAskErasedMeanwhile erases a turn while the model answers about it: neither the prompt
// nor the answer is kept, and the others are asked about again.
func TestAskErasedMeanwhile(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := newLLMStore(t, "the password is hunter2", "Search uses Lucene")
	m.answer = func(n int, shown []string) (int, string) {
		if n == 1 {
			if code, _, said := knowledgeErase(s.db, askedTurn(1)); code != api.ExitOK {
				t.Error(said)
			}
		}
		return http.StatusOK, usesOf(shown)
	}
	result, _ := s.ask(m, api.ExitOK)
	s.want(result, map[string]any{"requests": 1, "unusable": 1, "shown": 0, "asserted": 0})
	again, _ := s.run(api.ExitOK, "erase", askedTurn(1), "--reason", "a secret")
	s.want(again, map[string]any{"already": true, "shown_in": "[]"})
	result, _ = s.ask(m, api.ExitOK)
	s.want(result, map[string]any{"requests": 1, "unusable": 0, "shown": 1, "asserted": 1})
}

func knowledgeErase(db, turn string) (code int, out, said string) {
	a := testApp()
	var stdout, stderr bytes.Buffer
	a.IO.Stdout, a.IO.Stderr = &stdout, &stderr
	code = a.Run(context.Background(), []string{"--store", "sqlite:" + db, "erase", turn, "--reason", "a secret"})
	return code, stdout.String(), stderr.String()
}

// TestAskKey sends the key of the variable, and shows it nowhere.
func TestAskKey(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := newLLMStore(t, "Checkout uses Redis")
	const key = "sk-not-for-anybody"
	run := func(code int, variable string, args ...string) string {
		t.Helper()
		a := testApp()
		home := a.Settings.Getenv
		a.Settings.Getenv = func(name string) string {
			if name == variable {
				return key
			}
			return home(name)
		}
		object, said := s.runAs(a, code, append([]string{"knowledge", "extract", "--llm-url", m.URL, "--llm-model", "stand-in"}, args...)...)
		if text := fmt.Sprint(object) + said; strings.Contains(text, key) {
			t.Errorf("the key is shown: %s", text)
		}
		return fmt.Sprint(object["error"])
	}
	run(api.ExitOK, "GRAPHKERNEL_LLM_KEY")
	run(api.ExitOK, "OTHER_KEY", "--llm-key-env", "OTHER_KEY", "--llm-again")
	run(api.ExitOK, "", "--llm-again")
	if err := run(api.ExitUsage, "", "--llm-key-env", "OTHER_KEY"); !strings.Contains(err, `"OTHER_KEY", which is not set`) {
		t.Error(err)
	}
	if want := []string{"Bearer " + key, "Bearer " + key, ""}; !slices.Equal(m.keys, want) {
		t.Errorf("keys %q, want %q", m.keys, want)
	}
	file := filepath.Join(t.TempDir(), "all.jsonl")
	s.run(api.ExitOK, "export", "-o", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(key)) || !bytes.Contains(text, []byte("llm_extract")) {
		t.Error("the key is among the turns, or the exchange is not")
	}
}

// TestAskUsage names what is wrong with the flags.
func TestAskUsage(t *testing.T) {
	t.Parallel()
	s := newLLMStore(t, "x")
	for line, want := range map[string]string{
		"--llm-model m":                    "give its URL with --llm-url",
		"--llm-again":                      "--llm-again applies only if a model is asked",
		"--llm-url https://models.example": "--llm-url needs --llm-model",
		"--llm-url http://models.example --llm-model m":                        "would be sent unencrypted to models.example; give an https:// address, or --llm-insecure",
		"--llm-url https://a:b@models.example --llm-model m":                   "give the key separately",
		"--llm-url  --llm-model m":                                             "want https://HOST",
		"--llm-url https://models.example --llm-model naïve":                   "--llm-model: not a model's name",
		"--llm-url https://models.example --llm-model m --llm-confidence 2":    "--llm-confidence",
		"--llm-url https://models.example --llm-model m --llm-max-requests -1": "want 0 or more",
		"--llm-url https://models.example --llm-model m --llm-timeout 0s":      "want a duration above zero",
		"--llm-url https://models.example --llm-model m --conversation x":      "is not a UUID",
	} {
		object, _ := s.run(api.ExitUsage, append([]string{"knowledge", "extract"}, strings.Split(line, " ")...)...)
		if got := fmt.Sprint(object["error"]); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	m := newModel(t)
	missing, _ := s.ask(m, api.ExitInternal, "--conversation", "c0000000-0000-4000-8000-0000000000c9")
	if !strings.Contains(fmt.Sprint(missing["error"]), "see: graphkernel show") {
		t.Errorf("%v", missing)
	}
	s.ask(m, api.ExitOK, "--conversation", askedConversation)
	if m.requests() != 1 {
		t.Errorf("asked %d times about one conversation", m.requests())
	}
}

// TestAskInterrupted keeps nothing of a question whose answer nobody waited for.
func TestAskInterrupted(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	s := newLLMStore(t, "Checkout uses Redis")
	ctx, cancel := context.WithCancel(context.Background())
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	m.answer = func(int, []string) (int, string) {
		cancel()
		select {
		case <-end:
		case <-time.After(10 * time.Second):
		}
		return http.StatusOK, usesOf(nil)
	}
	a := testApp()
	var said bytes.Buffer
	a.IO.Stdout, a.IO.Stderr = io.Discard, &said
	code := a.Run(ctx, []string{"--store", "sqlite:" + s.db, "knowledge", "extract", "--llm-url", m.URL, "--llm-model", "stand-in"})
	if code != api.ExitInternal || !strings.Contains(said.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
	shown, _ := s.run(api.ExitOK, "show")
	s.want(shown, map[string]any{"head": 1})
}
