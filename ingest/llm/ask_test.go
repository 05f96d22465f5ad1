package llm_test

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

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/llm"
)

const key = "sk-not-for-anybody"

// completion is what an endpoint answers.
func completion(content string) string {
	text, err := json.Marshal(map[string]any{
		"id": "c1", "object": "chat.completion", "model": "stand-in-2026",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content}}},
		"usage":   map[string]any{"total_tokens": 12},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A standIn is an endpoint that answers the n-th request, from 1 on, as told.
type standIn struct {
	*httptest.Server
	asked atomic.Int32
}

func newStandIn(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *standIn {
	s := &standIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(int(s.asked.Add(1)), w, r) }))
	t.Cleanup(s.Close)
	return s
}

// A sleeper remembers for how long it was to sleep, and does not.
type sleeper struct{ slept []time.Duration }

func (s *sleeper) sleep(ctx context.Context, d time.Duration) error {
	s.slept = append(s.slept, d)
	return ctx.Err()
}

func (s *standIn) extractor(t *testing.T, sl *sleeper) *llm.Extractor {
	t.Helper()
	x, err := llm.New(llm.Config{Access: llm.Access{
		URL: s.URL + "/v1/", Key: key, Client: s.Client(), Timeout: 20 * time.Second, Sleep: sl.sleep,
		Clock: func() time.Time { return time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC) },
	}, Model: "stand-in"})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var conversation = dag.ExternalConversationID("test", "c")

func turnID(name string) dag.TurnID { return dag.ExternalTurnID("test", name) }

func question(contents ...string) *llm.Question {
	q := llm.NewQuestion("stand-in", conversation)
	for i, c := range contents {
		q.Add(turnID(fmt.Sprint(i)), dag.RoleUser, c)
	}
	return q
}

// TestAsk looks at all that is sent, and at what is made of a good answer.
func TestAsk(t *testing.T) {
	t.Parallel()
	q := question("checkout is owned by team blue")
	s := newStandIn(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var sent struct {
			Model       string
			Temperature *float64
			Format      struct{ Type string } `json:"response_format"`
			Messages    []struct{ Role, Content string }
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		if sent.Model != "stand-in" || sent.Temperature == nil || *sent.Temperature != 0 || sent.Format.Type != "json_object" {
			t.Errorf("sent %+v", sent)
		}
		if len(sent.Messages) != 2 || sent.Messages[0].Role != "system" || sent.Messages[0].Content != llm.Instructions || sent.Messages[1].Role != "user" || sent.Messages[1].Content != q.Data() {
			t.Errorf("messages %+v", sent.Messages)
		}
		_, _ = io.WriteString(w, completion(`{"facts":[]}`))
	})
	a, err := s.extractor(t, &sleeper{}).Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if want := (llm.Answer{Text: `{"facts":[]}`, URL: s.URL + "/v1/chat/completions", Served: "stand-in-2026", Finish: "stop", Tries: 1}); *a != want {
		t.Errorf("got %+v, want %+v", *a, want)
	}
}

// TestAskAgain holds when a question is repeated, and after which time.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		status []int // of the first answers; 200 afterwards
		after  string
		slept  []time.Duration
		wrong  string // part of the error
	}{
		"too many":       {[]int{429}, "", []time.Duration{s}, ""},
		"with a time":    {[]int{429, 503}, "7", []time.Duration{7 * s, 7 * s}, ""},
		"with a date":    {[]int{503}, "Sat, 14 Mar 2026 03:00:30 GMT", []time.Duration{30 * s}, ""},
		"a date gone by": {[]int{503}, "Sat, 14 Mar 2026 02:00:30 GMT", []time.Duration{s}, ""},
		"nonsense":       {[]int{503}, "-5", []time.Duration{s}, ""},
		"too long":       {[]int{503}, "61", nil, "asks to wait for 1m1s"},
		"for ever":       {[]int{500, 500, 500, 500, 500, 500, 500}, "", []time.Duration{s, 2 * s, 4 * s, 8 * s}, "answers 500: \"no [the key] today\"; asked 5 times"},
		"unauthorized":   {[]int{401}, "", nil, "is it the right key?"},
		"not found":      {[]int{404}, "", nil, "does it know the model stand-in?"},
		"bad":            {[]int{400}, "", nil, "answers 400"},
		"informal":       {[]int{201}, "", nil, "answers 201"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newStandIn(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n > len(c.status) {
					_, _ = io.WriteString(w, completion("{}"))
					return
				}
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status[n-1])
				_, _ = io.WriteString(w, "no "+key+" today")
			})
			var sl sleeper
			a, err := server.extractor(t, &sl).Ask(t.Context(), question("x"))
			if !slices.Equal(sl.slept, c.slept) {
				t.Errorf("slept %v, want %v", sl.slept, c.slept)
			}
			if c.wrong == "" {
				if err != nil || a.Tries != len(c.status)+1 {
					t.Errorf("got %+v, %v", a, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), key) {
				t.Errorf("error %v, want %s, and no key", err, c.wrong)
			}
			if want := len(c.slept) + 1; int(server.asked.Load()) != want {
				t.Errorf("asked %d times, want %d", server.asked.Load(), want)
			}
			var unusable *llm.UnusableError
			if errors.As(err, &unusable) != (name == "bad") {
				t.Errorf("%v is about this question: %t", err, unusable != nil)
			}
		})
	}
}

// TestAskUnusable holds that what is no chat completion is about the question alone.
func TestAskUnusable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"huge":           completion(strings.Repeat("x", llm.MaxAnswer)),
		"space":          completion("{}") + strings.Repeat(" ", llm.MaxAnswer),
		"no JSON":        "<html>",
		"half":           completion("x")[:40],
		"no choices":     `{"choices":[]}`,
		"other choices":  `{"choices":{}}`,
		"no message":     `{"choices":[{"text":"x"}]}`,
		"parts":          `{"choices":[{"message":{"content":[{"text":"x"}]}}]}`,
		"half an emoji":  `{"choices":[{"message":{"content":"\ud83d"}}]}`,
		"twice the same": `{"choices":[],"choices":[{"message":{"content":"x"}}]}`,
		"nothing":        "",
	} {
		s := newStandIn(t, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
		a, err := s.extractor(t, &sleeper{}).Ask(t.Context(), question("x"))
		var unusable *llm.UnusableError
		if !errors.As(err, &unusable) || a != nil {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
		if len(fmt.Sprint(err)) > 1000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
	for name, text := range map[string]string{"null": "null", "absent": `""`} {
		s := newStandIn(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":`+text+`,"refusal":"no"}}]}`)
		})
		if a, err := s.extractor(t, &sleeper{}).Ask(t.Context(), question("x")); err != nil || a.Text != "" || a.Served != "" || a.Finish != "" {
			t.Errorf("content %s: got %+v, %v", name, a, err)
		}
	}
}

// TestRedirect holds that nobody else is sent the turns or the key, whatever the client that
// was handed in would do.
func TestRedirect(t *testing.T) {
	t.Parallel()
	other := newStandIn(t, func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, completion("{}")) })
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newStandIn(t, func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) })
		_, err := s.extractor(t, &sleeper{}).Ask(t.Context(), question("x"))
		if err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := other.asked.Load(); n != 0 {
		t.Errorf("the other was asked %d times", n)
	}
}

// TestSlow ends a try that takes too long, and all of it when the caller wants no more.
func TestSlow(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	t.Cleanup(func() { close(end) }) // before the server is closed, which waits for its handlers
	begun := make(chan struct{}, 8)
	s := newStandIn(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		begun <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-end:
		}
	})
	x, err := llm.New(llm.Config{Access: llm.Access{URL: s.URL, Timeout: 50 * time.Millisecond}, Model: "stand-in"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := x.Ask(t.Context(), question("x")); err == nil || !strings.Contains(err.Error(), "no answer within 50ms") || time.Since(start) > 2*time.Second {
		t.Errorf("a slow endpoint: %v after %s", err, time.Since(start))
	}
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := s.extractor(t, &sleeper{}).Ask(ctx, question("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled question: %v", err)
	}
	busy := newStandIn(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	x, err = llm.New(llm.Config{Access: llm.Access{URL: busy.URL}, Model: "stand-in"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start = time.Now()
	if _, err := x.Ask(ctx, question("x")); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("cancelled while it waits: %v after %s", err, time.Since(start))
	}
}

// TestNew refuses what cannot be asked, and shows no key.
func TestNew(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]error{
		"https://models.example/v1":                  nil,
		"https://models.example/v1/chat/completions": nil,
		"http://localhost:11434/v1":                  nil,
		"http://127.0.0.1:1/v1":                      nil,
		"http://[::1]:1":                             nil,
		"http://models.example/v1":                   llm.ErrPlaintext,
		"http://127.0.0.1.example/v1":                llm.ErrPlaintext,
		"http://localhost.example/":                  llm.ErrPlaintext,
		"https://user:hidden@models.example":         llm.ErrEndpoint,
		"https://models.example/v1?key=hidden":       llm.ErrEndpoint,
		"https://models.example/#hidden":             llm.ErrEndpoint,
		"https://":                                   llm.ErrEndpoint,
		"models.example/v1":                          llm.ErrEndpoint,
		"file:///etc/passwd":                         llm.ErrEndpoint,
		"ftp://models.example":                       llm.ErrEndpoint,
		"":                                           llm.ErrEndpoint,
		"https://hidden:\x7f":                        llm.ErrEndpoint,
		"https://models.example/" + strings.Repeat("long", 1000): llm.ErrEndpoint,
	} {
		x, err := llm.New(llm.Config{Access: llm.Access{URL: address, Key: key}, Model: "m"})
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%.60s: %v, want %v", address, err, want)
		}
		if strings.Contains(fmt.Sprint(err), "hidden") {
			t.Errorf("%s shows what is not to be seen", err)
		}
		if x == nil {
			continue
		}
		if shown := fmt.Sprintf("%v %+v %#v %+v", x, x, x, *x); strings.Contains(shown, key) {
			t.Errorf("the key is shown: %s", shown)
		}
	}
	if _, err := llm.New(llm.Config{Access: llm.Access{URL: "http://models.example", AllowPlaintext: true}, Model: "m"}); err != nil {
		t.Errorf("plain text was allowed: %v", err)
	}
	if _, err := llm.New(llm.Config{Access: llm.Access{URL: "https://models.example", Key: "two\nlines"}, Model: "m"}); !errors.Is(err, llm.ErrEndpoint) || strings.Contains(err.Error(), "two") {
		t.Errorf("a key of two lines: %v", err)
	}
	for _, name := range []string{"", "two words", "naïve", "a\nb", strings.Repeat("m", llm.MaxModel+1)} {
		if _, err := llm.New(llm.Config{Access: llm.Access{URL: "https://models.example"}, Model: llm.Model(name)}); !errors.Is(err, llm.ErrModel) {
			t.Errorf("model %.30q: %v", name, err)
		}
	}
}
