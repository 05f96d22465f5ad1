package remote_test

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

	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/embed/remote"
)

const key = "sk-not-for-anybody"

type request struct {
	Model, Encoding string
	Format          string `json:"encoding_format"`
	Input           []string
}

// answer writes what an endpoint answers: for each text its length in one component of three, the last text first.
func answer(w io.Writer, r request) {
	type datum struct {
		Index  int       `json:"index"`
		Vector []float64 `json:"embedding"`
	}
	var data []datum
	for i := range r.Input {
		data = slices.Insert(data, 0, datum{i, []float64{1e-3, float64(len(r.Input[i])) * 1e-3, 0}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": r.Model, "data": data})
}

// A standIn answers the n-th request, from 1 on, as told.
func standIn(t *testing.T, serve func(n int, w http.ResponseWriter, r request)) (client *remote.Client, asked *atomic.Int32, slept *[]time.Duration) {
	t.Helper()
	asked, slept = &atomic.Int32{}, &[]time.Duration{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		var in request
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer "+key || in.Model != "small" || in.Format != "float" || len(in.Input) == 0 {
			t.Errorf("asked %s with %+v", r.URL, in)
		}
		serve(n, w, in)
	}))
	t.Cleanup(s.Close)
	client, err := remote.New(remote.Config{Access: remote.Access{
		URL: s.URL + "/v1", Key: key, Client: s.Client(), Clock: func() time.Time { return time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, d time.Duration) error { *slept = append(*slept, d); return ctx.Err() },
	}, Model: embed.Model{ID: "small", Dimensions: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return client, asked, slept
}

// TestEmbed holds that each text has its own vector, in batches that do not change it, and that texts without words have none.
func TestEmbed(t *testing.T) {
	t.Parallel()
	most := 0
	c, asked, _ := standIn(t, func(_ int, w http.ResponseWriter, r request) {
		most = max(most, len(r.Input))
		for _, text := range r.Input {
			if len(text) > remote.MaxText {
				t.Errorf("%d bytes were sent", len(text))
			}
		}
		answer(w, r)
	})
	var texts []string
	for n := range 150 {
		texts = append(texts, strings.Repeat("x", n%7))
	}
	texts = append(texts, " \n", strings.Repeat("é", remote.MaxText))
	all, err := c.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(texts) || most != remote.Batch || asked.Load() != 3 {
		t.Errorf("%d vectors; %d requests, of at most %d texts", len(all), asked.Load(), most)
	}
	for i, v := range all {
		var want []int8
		if strings.TrimSpace(texts[i]) != "" {
			want = embed.Normalize([]int64{1, int64(min(len(texts[i]), remote.MaxText)), 0})
		}
		if !slices.Equal(v, want) || (v == nil) != (want == nil) {
			t.Errorf("text %d has %v, want %v", i, v, want)
		}
	}
	if none, err := c.Embed(t.Context(), nil); err != nil || len(none) != 0 || asked.Load() != 3 {
		t.Errorf("no texts have %v, %v after %d requests", none, err, asked.Load())
	}
}

// TestFaults holds what each way to fail leads to: an error of a kind and no vector, or another try and all of them.
func TestFaults(t *testing.T) {
	t.Parallel()
	const s = time.Second
	body := func(text string) func(int, http.ResponseWriter, request) {
		return func(_ int, w http.ResponseWriter, _ request) { _, _ = io.WriteString(w, text) }
	}
	status := func(times, code int, after string) func(int, http.ResponseWriter, request) {
		return func(n int, w http.ResponseWriter, r request) {
			if n > times {
				answer(w, r)
				return
			}
			w.Header().Set("Retry-After", after)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "no "+key)
		}
	}
	vectors := func(model, data string) string { return fmt.Sprintf(`{"model":%q,"data":[%s]}`, model, data) }
	const good = `{"index":0,"embedding":[1,2,3]},{"index":1,"embedding":[1,2e-3,3]}`
	for name, c := range map[string]struct {
		serve func(int, http.ResponseWriter, request)
		is    error  // of the error; nil: any, if says is set
		says  string // in the error; "" with nil: there is none
		slept []time.Duration
	}{
		"good":               {serve: body(vectors("small", good))},
		"429":                {serve: status(1, 429, ""), slept: []time.Duration{s}},
		"429 with a time":    {serve: status(2, 429, "9"), slept: []time.Duration{9 * s, 9 * s}},
		"429 with a date":    {serve: status(1, 429, "Sat, 14 Mar 2026 03:00:20 GMT"), slept: []time.Duration{20 * s}},
		"429 for too long":   {serve: status(1, 429, "3600"), says: "asks to wait for 1h0m0s"},
		"500":                {serve: status(2, 500, ""), slept: []time.Duration{s, 2 * s}},
		"500 for ever":       {serve: status(99, 500, ""), says: "asked 5 times", slept: []time.Duration{s, 2 * s, 4 * s, 8 * s}},
		"401":                {serve: status(1, 401, ""), says: "is it the right key?"},
		"redirect":           {serve: status(1, 302, ""), says: "redirects are not followed"},
		"truncated":          {serve: body(vectors("small", good)[:60]), is: remote.ErrUnusable},
		"not JSON":           {serve: body("<html>"), is: remote.ErrUnusable},
		"NaN":                {serve: body(vectors("small", strings.Replace(good, "2e-3", "NaN", 1))), is: remote.ErrUnusable},
		"infinite":           {serve: body(vectors("small", strings.Replace(good, "2e-3", "1e999", 1))), is: remote.ErrUnusable},
		"huge":               {serve: body(vectors("small", strings.Replace(good, "2e-3", "4096", 1))), is: remote.ErrUnusable},
		"null":               {serve: body(vectors("small", `{"index":0,"embedding":null},{"index":1,"embedding":[1,2,3]}`)), is: remote.ErrOther},
		"zero":               {serve: body(vectors("small", strings.Replace(good, "1,2,3", "0,0,0", 1))), is: remote.ErrUnusable},
		"too few":            {serve: body(vectors("small", `{"index":0,"embedding":[1,2,3]}`)), is: remote.ErrUnusable},
		"too many":           {serve: body(vectors("small", good+`,{"index":2,"embedding":[1,2,3]}`)), is: remote.ErrUnusable},
		"none":               {serve: body(vectors("small", "")), is: remote.ErrUnusable},
		"one twice":          {serve: body(vectors("small", strings.Replace(good, `"index":1`, `"index":0`, 1))), is: remote.ErrUnusable},
		"without index":      {serve: body(vectors("small", strings.Replace(good, `"index":1,`, "", 1))), is: remote.ErrUnusable},
		"index out of range": {serve: body(vectors("small", strings.Replace(good, `"index":1`, `"index":2`, 1))), is: remote.ErrUnusable},
		"other dimension":    {serve: body(vectors("small", strings.Replace(good, "1,2,3", "1,2,3,4", 1))), is: remote.ErrOther},
		"other model":        {serve: body(vectors("large", good)), is: remote.ErrOther},
		"no model":           {serve: body(vectors("", good)), is: remote.ErrOther},
		"too long":           {serve: body(strings.Repeat(" ", remote.MaxAnswer) + vectors("small", good)), says: "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, asked, slept := standIn(t, c.serve)
			got, err := client.Embed(t.Context(), []string{"a", "b"})
			if !slices.Equal(*slept, c.slept) {
				t.Errorf("slept %v, want %v", *slept, c.slept)
			}
			if c.is == nil && c.says == "" {
				if err != nil || len(got) != 2 || got[0] == nil || got[1] == nil {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err == nil || got != nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), key) {
				t.Errorf("got %v, error %v; want %v %q, and no key", got, err, c.is, c.says)
			}
			if int(asked.Load()) != len(c.slept)+1 {
				t.Errorf("asked %d times, want %d", asked.Load(), len(c.slept)+1)
			}
		})
	}
}

// TestLaterBatch holds that a batch that fails leaves no vector of those before.
func TestLaterBatch(t *testing.T) {
	t.Parallel()
	c, _, _ := standIn(t, func(n int, w http.ResponseWriter, r request) {
		if n == 2 {
			r.Model = "large"
		}
		answer(w, r)
	})
	got, err := c.Embed(t.Context(), slices.Repeat([]string{"x"}, remote.Batch+1))
	if !errors.Is(err, remote.ErrOther) || got != nil {
		t.Errorf("got %d vectors, %v", len(got), err)
	}
}

// TestSlow holds that an endpoint that does not answer is left when the context ends.
func TestSlow(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	c, _, _ := standIn(t, func(int, http.ResponseWriter, request) {
		cancel()
		<-done
	})
	t.Cleanup(func() { close(done) }) // before the server waits for its requests
	if got, err := c.Embed(ctx, []string{"x"}); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestNew holds that a model needs an id and dimensions, and that no printer shows the key.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, m := range []embed.Model{{}, {ID: "x"}, {Dimensions: 3}} {
		if _, err := remote.New(remote.Config{Access: remote.Access{URL: "https://models.example"}, Model: m}); err == nil {
			t.Errorf("%+v is no error", m)
		}
	}
	c, err := remote.New(remote.Config{Access: remote.Access{URL: "https://models.example/v1", Key: key}, Model: embed.Model{ID: "small", Dimensions: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(got, key) || !strings.Contains(got, "small at https://models.example/v1/embeddings") {
		t.Error(got)
	}
}
