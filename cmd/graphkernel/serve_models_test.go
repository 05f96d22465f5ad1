package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

const modelKey = "sk-not-for-anybody"

// A modelHost stands in for an endpoint of models: a text's vector counts the letters a and b in it.
type modelHost struct {
	*httptest.Server
	dimensions atomic.Int32
	asked      atomic.Int32
	missing    atomic.Int32 // scores
}

func newModelHost(t *testing.T) *modelHost {
	t.Helper()
	m := &modelHost{}
	m.dimensions.Store(2)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Authorization") != "Bearer "+modelKey || len(in.Input) > 3 {
			t.Errorf("asked for %d vectors with %q, %v", len(in.Input), r.Header.Get("Authorization"), err)
		}
		data := []any{}
		for i, text := range in.Input {
			v := []int{strings.Count(text, "a"), strings.Count(text, "b"), 1}
			data = append(data, map[string]any{"index": i, "embedding": v[:m.dimensions.Load()]})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": in.Model, "data": data}) // the client may be gone
	})
	mux.HandleFunc("POST /v1/rerank", func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		var in struct {
			Query     string
			Documents []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Authorization") != "Bearer "+modelKey {
			t.Errorf("asked for scores with %q, %v", r.Header.Get("Authorization"), err)
		}
		results := []any{}
		for i, text := range in.Documents {
			results = append(results, map[string]any{"index": i, "relevance_score": float64(strings.Count(text, "b")) / 8})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results[:len(results)-int(m.missing.Load())]}) // the client may be gone
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

// configured writes a configuration with the endpoint, and the key's file.
func (m *modelHost) configured(t *testing.T, folder string) (path string) {
	t.Helper()
	key := filepath.Join(folder, "model.key")
	path = filepath.Join(folder, "service.yaml")
	for name, text := range map[string]string{
		key:  modelKey + "\n",
		path: fmt.Sprintf("embedders:\n  - url: %[1]s/v1\n    model: letters\n    dimensions: 2\n    key_file: %[2]s\n    batch: 3\n    timeout: 5s\nrerankers:\n  - url: %[1]s/v1/rerank\n    model: judge\n    key_file: %[2]s\n", m.URL, key),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// postAs returns a function that posts and holds the status of the answer, which it returns and reads.
func (s *served) postAs(t *testing.T) func(want int, path string, body, into any) string {
	return func(want int, path string, body, into any) string {
		t.Helper()
		status, answer, err := s.post(http.DefaultClient, path, body)
		if err != nil || status != want {
			t.Fatalf("%s: %d, want %d: %s %v\n%s", path, status, want, answer, err, s.logged())
		}
		if into != nil {
			if err := json.Unmarshal(answer, into); err != nil {
				t.Fatal(err)
			}
		}
		return string(answer)
	}
}

// said admits turns that say so.
func (s *served) said(t *testing.T, texts ...string) {
	t.Helper()
	turns := []any{}
	for i, text := range texts {
		turn := serveTurn(0, i)
		turn["content"] = text
		turns = append(turns, turn)
	}
	s.postAs(t)(200, "/api/turns", map[string]any{"turns": turns}, nil)
}

// TestServeEmbedders searches under a policy whose vectors an endpoint makes that only the configuration names, with a service and with a
// command on a store, and holds what they say if its dimension changes and if it is gone.
func TestServeEmbedders(t *testing.T) {
	t.Parallel()
	host := newModelHost(t)
	folder, key := withKeys(t)
	config := host.configured(t, folder)
	s := startServe(t, folder, "--config", config)
	s.key = key
	s.said(t, "aaaa", "abab", "bbbb", "bbb")
	post := s.postAs(t)
	for _, model := range []string{"letters", "absent"} {
		post(200, "/api/policies", map[string]any{"policy_id": model + "@1", "policy": map[string]any{"type": "retrieval_policy_v1", "dense": map[string]any{"embedder": model, "weight": 0.5}}}, nil)
	}
	ask := api.Search{Query: "aaaaaa", Policy: "letters@1"}
	var found api.Found
	post(200, "/api/search", ask, &found)
	if len(found.Hits) != 2 || found.Hits[0].Content != "aaaa" || found.Hits[1].Content != "abab" {
		t.Errorf("found %+v", found.Hits)
	}
	if got := post(400, "/api/search", api.Search{Query: "a", Policy: "absent@1"}, nil); !strings.Contains(got, `embedder \"absent\", but letters, minilm-static@2`) || !strings.Contains(got, "setting embedders") {
		t.Errorf("an embedder that is not configured: %s", got)
	}

	// A command on the store has them from the environment.
	c := exec.Command("graphkernel", "search", "aaaaaa", "--policy", "letters@1")
	c.Env = append(gkEnv(folder), "MODEL_KEY="+modelKey, fmt.Sprintf(`GRAPHKERNEL_EMBEDDERS=[{"url":%q,"model":"letters","dimensions":2,"key_env":"MODEL_KEY","batch":2}]`, host.URL+"/v1"))
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "1. 2026-01-02T03:04  human:guest (guest): aaaa") {
		t.Errorf("the command: %v\n%s", err, out)
	}

	host.dimensions.Store(3)
	if got := post(503, "/api/search", ask, nil); !strings.Contains(got, `"model_unavailable"`) || strings.Contains(got, host.URL) {
		t.Errorf("another dimension: %s", got)
	}
	host.dimensions.Store(2)
	post(200, "/api/search", ask, nil)

	host.Close()
	if got := post(503, "/api/search", ask, nil); !strings.Contains(got, `"model_unavailable"`) {
		t.Errorf("a gone endpoint: %s", got)
	}
	post(200, "/api/search", api.Search{Query: "aaaa"}, nil) // by words it goes on
	s.stop()
	if log := s.logged(); host.asked.Load() < 5 || strings.Contains(log, modelKey) || !strings.Contains(log, "3 components, but letters has 2") {
		t.Errorf("asked %d times; the log:\n%s", host.asked.Load(), log)
	}
}

// TestServeReranker searches under a policy whose cross-encoder only the configuration names, over HTTP and by a command, and holds
// what each says if it answers badly and if it is gone.
func TestServeReranker(t *testing.T) {
	t.Parallel()
	host := newModelHost(t)
	folder, key := withKeys(t)
	s := startServe(t, folder, "--config", host.configured(t, folder))
	s.key = key
	s.said(t, "word a", "word b", "word bbb bb", "other")
	post := s.postAs(t)
	for _, model := range []string{"judge", "absent"} {
		post(200, "/api/policies", map[string]any{"policy_id": model + "@1", "policy": map[string]any{
			"type": "retrieval_policy_v1", "max_hits": 50, "rerank": map[string]any{"method": "cross_encoder", "model": model, "weight": 1},
		}}, nil)
	}
	ask := api.Search{Query: "word", Policy: "judge@1", Limit: 2, Explain: true}
	var found api.Found
	post(200, "/api/search", ask, &found)
	if len(found.Hits) != 2 || found.Hits[0].Content != "word bbb bb" || found.Hits[0].Parts.Judged != 1_000_000 || found.Hits[0].Score != 1_000_000 || found.NotReranked != "" {
		t.Errorf("found %+v", found)
	}
	if got := post(400, "/api/search", api.Search{Query: "word", Policy: "absent@1"}, nil); !strings.Contains(got, "setting rerankers") || !strings.Contains(got, "judge") {
		t.Errorf("a reranker that is not configured: %s", got)
	}
	command := func() string {
		c := exec.Command("graphkernel", "search", "word", "--policy", "judge@1", "--explain")
		c.Env = append(gkEnv(folder), "MODEL_KEY="+modelKey, fmt.Sprintf(`GRAPHKERNEL_RERANKERS=[{"url":%q,"model":"judge","key_env":"MODEL_KEY"}]`, host.URL+"/v1"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("the command: %v\n%s", err, out)
		}
		return string(out)
	}
	if out := command(); !strings.Contains(out, "1. 2026-01-02T03:04  human:guest (guest): word bbb bb") || !strings.Contains(out, "judged 1000000") || strings.Contains(out, "not reranked") {
		t.Errorf("the command:\n%s", out)
	}

	plain := api.Search{Query: "word", Policy: "recall@1", Limit: 2}
	var before api.Found
	post(200, "/api/search", plain, &before)
	unranked := func(what string) {
		t.Helper()
		var found api.Found
		post(200, "/api/search", ask, &found)
		if len(found.Hits) != 2 || found.Hits[0].Turn != before.Hits[0].Turn || found.Hits[1].Turn != before.Hits[1].Turn || !strings.Contains(found.NotReranked, "cross-encoder did not answer") {
			t.Errorf("%s: found %+v, without a reranker %+v", what, found, before)
		}
		if out := command(); !strings.Contains(out, "\nnot reranked: the policy's cross-encoder did not answer") {
			t.Errorf("%s: the command:\n%s", what, out)
		}
	}
	host.missing.Store(1)
	unranked("a score too few")
	host.Close()
	unranked("a gone endpoint")
	s.stop()
	if log := s.logged(); host.asked.Load() < 4 || strings.Contains(log, modelKey) || !strings.Contains(log, "3 scores for 4 texts") {
		t.Errorf("asked %d times; the log:\n%s", host.asked.Load(), log)
	}
}

// TestApproximate holds that a search that walked a graph of vectors says so in the answer of the operation, and that one as of a number does not.
func TestApproximate(t *testing.T) {
	t.Parallel()
	var disk inmem.Disk
	linked := make(chan struct{}, 1)
	k, err := kernel.Open(kernel.Config{
		Store: inmem.Open(&disk, inmem.Options{}), Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now, GraphOver: 256,
		Observe: func(ctx context.Context, operation string) (context.Context, func(error)) {
			return ctx, func(error) {
				if operation == "link" {
					linked <- struct{}{}
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var drafts []dag.Draft
	for i := range 300 {
		drafts = append(drafts, dag.Draft{ID: dag.ExternalTurnID("approximate", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("approximate", "c"), Role: dag.RoleUser, Content: fmt.Sprintf("dog number %d", i)})
	}
	admitted, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, drafts)
	if err != nil {
		t.Fatal(err)
	}
	session := cli.SessionOf(k, dag.DefaultTenant, time.Now)
	find := func(asOf dag.Seq) bool {
		t.Helper()
		found, err := cli.Do(t.Context(), session, api.SearchTurns, api.Search{Query: "puppy", Policy: "recall-dense@1", AsOf: asOf})
		if err != nil || len(found.Hits) == 0 {
			t.Fatalf("%d hits, %v", len(found.Hits), err)
		}
		return found.Approximate
	}
	if find(0) {
		t.Error("there is no graph yet, and it was walked")
	}
	<-linked
	if !find(0) || find(admitted.Head) {
		t.Error("the graph is walked as of a number, or not at all")
	}
}
