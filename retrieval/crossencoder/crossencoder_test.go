package crossencoder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/retrieval/crossencoder"
)

const key = "sk-not-for-anybody"

// standIn serves what a client of a form asks.
func standIn(t *testing.T, c crossencoder.Config, serve func(w http.ResponseWriter, r *http.Request, body map[string]any)) *crossencoder.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%s with %q", r.Method, r.Header.Get("Authorization"))
		}
		serve(w, r, body)
	}))
	t.Cleanup(s.Close)
	c.URL, c.Model, c.Key, c.Client = s.URL+"/v1", "small", key, s.Client()
	c.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	client, err := crossencoder.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestScores holds, for both forms, what is sent, and that each text has its own score, whatever the batches are and in whatever order they
// are answered.
func TestScores(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]struct {
		batch, requests int
		fields          []string
	}{
		crossencoder.Cohere: {batch: 0, requests: 1, fields: []string{"documents", "model", "query", "return_documents", "top_n"}},
		crossencoder.TEI:    {batch: 0, requests: 3, fields: []string{"query", "texts", "truncate"}},
		"":                  {batch: 7, requests: 10, fields: []string{"documents", "model", "query", "return_documents", "top_n"}},
	} {
		var asked atomic.Int32
		c := standIn(t, crossencoder.Config{Form: form, Batch: want.batch, TextBytes: 30}, func(w http.ResponseWriter, r *http.Request, body map[string]any) {
			asked.Add(1)
			var fields []string
			for f := range body {
				fields = append(fields, f)
			}
			slices.Sort(fields)
			if r.URL.Path != "/v1/rerank" || !slices.Equal(fields, want.fields) || body["query"] != "q" {
				t.Errorf("%s: asked %s with %v", form, r.URL, fields)
			}
			texts, name := body["texts"], "score"
			if form != crossencoder.TEI {
				texts, name = body["documents"], "relevance_score"
				if body["model"] != "small" || body["return_documents"] != false || body["top_n"] != float64(len(texts.([]any))) {
					t.Errorf("%s: asked with %v", form, body)
				}
			} else if body["truncate"] != true {
				t.Errorf("%s: asked with %v", form, body)
			}
			list := []any{}
			for i, text := range texts.([]any) {
				list = slices.Insert(list, 0, any(map[string]any{"index": i, name: -0.5 + float64(len(text.(string)))/1024}))
			}
			var answer any = list
			if form != crossencoder.TEI {
				answer = map[string]any{"id": "x", "model": "small", "results": list}
			}
			_ = json.NewEncoder(w).Encode(answer)
		})
		var texts []string
		for n := range 70 {
			texts = append(texts, strings.Repeat("é", n%20))
		}
		scores, err := c.Scores(t.Context(), "q", texts)
		if err != nil || len(scores) != len(texts) || int(asked.Load()) != want.requests {
			t.Fatalf("%q: %d scores after %d requests, %v", form, len(scores), asked.Load(), err)
		}
		for i, s := range scores {
			if want := int64(-1<<19 + min(len(texts[i]), 30)<<10); s != want {
				t.Errorf("%q: text %d has %d, want %d", form, i, s, want)
			}
		}
		if none, err := c.Scores(t.Context(), "q", nil); err != nil || len(none) != 0 {
			t.Errorf("%q: no texts have %v, %v", form, none, err)
		}
	}
}

// TestFaults holds that an answer without exactly one score for each text is an error of its kind, without the key.
func TestFaults(t *testing.T) {
	t.Parallel()
	const good = `{"index":1,"relevance_score":0.25},{"index":0,"relevance_score":-3}`
	cohere := func(results string) string { return `{"model":"small","results":[` + results + `]}` }
	for name, c := range map[string]struct {
		form, body string
		status     int
		says       string // "": none
	}{
		"good":               {body: cohere(good)},
		"good, no model":     {body: `{"results":[` + good + `],"meta":{}}`},
		"other model":        {body: strings.Replace(cohere(good), "small", "large", 1), says: `"large" answered`},
		"not JSON":           {body: "<html>", says: "no usable scores"},
		"a list":             {body: "[" + good + "]", says: "no usable scores"},
		"an object for tei":  {form: crossencoder.TEI, body: cohere(good), says: "no usable scores"},
		"too few":            {body: cohere(`{"index":0,"relevance_score":1}`), says: "1 scores for 2"},
		"too many":           {body: cohere(good + `,{"index":2,"relevance_score":1}`), says: "3 scores for 2"},
		"one twice":          {body: cohere(strings.Replace(good, `"index":1`, `"index":0`, 1)), says: "not numbered"},
		"out of range":       {body: cohere(strings.Replace(good, `"index":1`, `"index":2`, 1)), says: "not numbered"},
		"below zero":         {body: cohere(strings.Replace(good, `"index":1`, `"index":-1`, 1)), says: "not numbered"},
		"without index":      {body: cohere(strings.Replace(good, `"index":1,`, "", 1)), says: "not numbered"},
		"without score":      {body: cohere(strings.Replace(good, `"relevance_score":0.25`, `"x":1`, 1)), says: "text 1 has no score"},
		"other form's score": {body: cohere(strings.ReplaceAll(good, "relevance_score", "score")), says: "has no score"},
		"null":               {body: cohere(strings.Replace(good, "0.25", "null", 1)), says: "text 1 has no score"},
		"NaN":                {body: cohere(strings.Replace(good, "0.25", "NaN", 1)), says: "no usable scores"},
		"infinite":           {body: cohere(strings.Replace(good, "0.25", "1e999", 1)), says: "no usable scores"},
		"huge":               {body: cohere(strings.Replace(good, "0.25", "1e7", 1)), says: "text 1 has no score"},
		"401":                {status: 401, body: key, says: "is it the right key?"},
		"500":                {status: 500, body: key, says: "asked 5 times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := standIn(t, crossencoder.Config{Form: c.form}, func(w http.ResponseWriter, _ *http.Request, _ map[string]any) {
				if c.status != 0 {
					w.WriteHeader(c.status)
				}
				_, _ = io.WriteString(w, c.body)
			})
			scores, err := client.Scores(t.Context(), "q", []string{"a", "b"})
			if c.says == "" {
				if err != nil || !slices.Equal(scores, []int64{-3 << 20, 1 << 18}) {
					t.Errorf("got %v, %v", scores, err)
				}
				return
			}
			if err == nil || scores != nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), key) || c.status == 0 && !errors.Is(err, crossencoder.ErrUnusable) {
				t.Errorf("got %v, %v; want %q and no key", scores, err, c.says)
			}
		})
	}
}

// TestSlow holds that an endpoint that does not answer is left after the timeout, whatever the number of batches.
func TestSlow(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	c := standIn(t, crossencoder.Config{Access: crossencoder.Access{Timeout: time.Millisecond}, Batch: 1}, func(http.ResponseWriter, *http.Request, map[string]any) { <-done })
	t.Cleanup(func() { close(done) }) // before the server waits for its requests
	if got, err := c.Scores(t.Context(), "q", []string{"a", "b"}); !errors.Is(err, context.DeadlineExceeded) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestNew holds what is refused, and that no printer shows the key.
func TestNew(t *testing.T) {
	t.Parallel()
	const url = "https://models.example/v1"
	at := crossencoder.Access{URL: url}
	for _, c := range []crossencoder.Config{
		{Access: at}, {Model: "small"}, {Access: at, Model: "small", Form: "other"}, {Access: at, Model: "small", Batch: crossencoder.MaxBatch + 1},
		{Access: at, Model: "small", TextBytes: crossencoder.MaxText + 1}, {Access: crossencoder.Access{URL: "http://models.example"}, Model: "small"},
	} {
		if _, err := crossencoder.New(c); err == nil {
			t.Errorf("%+v is no error", c)
		}
	}
	c, err := crossencoder.New(crossencoder.Config{Access: crossencoder.Access{URL: url, Key: key}, Model: "small"})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(got, key) || !strings.Contains(got, "small at "+url+"/rerank") {
		t.Error(got)
	}
}
