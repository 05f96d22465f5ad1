package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/server"
)

// The events of a stream as a service sends them, and their ids.
var (
	streamed = []string{
		"id: 1-0\nevent: turn\ndata: {\"seq\":1,\"id\":\"a\"}\n\n",
		"id: 2-0\nevent: turn\ndata: {\"seq\":2,\"id\":\"b\"}\n\n",
		"id: 2-1\nevent: slice\ndata: {\"number\":1}\n\n",
		"id: 3-1\nevent: erasure\ndata: {\"seq\":3}\n\n",
		"id: 3-2\nevent: slice\ndata: {\"number\":2}\n\n",
	}
	streamedIDs = []client.EventID{"1-0", "2-0", "2-1", "3-1", "3-2"}
)

// behind returns the events after an id.
func behind(t testing.TB, id string) string {
	if id == "0" || id == "0-0" || id == "" {
		return strings.Join(streamed, "")
	}
	i := slices.Index(streamedIDs, client.EventID(id))
	if i < 0 {
		t.Errorf("asked for what is behind %q", id)
		return ""
	}
	return strings.Join(streamed[i+1:], "")
}

// read follows a stream until it has given n events or an error.
func read(ctx context.Context, c *client.Client, after client.EventID, n int) (got []client.EventID, err error) {
	for e, err := range c.Events(ctx, after) {
		if err != nil {
			return got, err
		}
		if got = append(got, e.ID); len(got) == n {
			break
		}
	}
	return got, nil
}

func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// TestCutStream cuts a stream after every byte. Every event comes once.
func TestCutStream(t *testing.T) {
	whole := "retry: 1000\n\n: still here\n\n" + strings.Join(streamed, "")
	for at := range len(whole) {
		var asked []string
		c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Header.Get("Last-Event-ID"))
			if len(asked) == 1 {
				stream(w, whole[:at])
				panic(http.ErrAbortHandler)
			}
			stream(w, "retry: 1000\n\n"+behind(t, r.Header.Get("Last-Event-ID")))
			<-r.Context().Done()
		})
		got, err := read(t.Context(), c, client.Beginning, len(streamed))
		if err != nil || !slices.Equal(got, streamedIDs) || len(asked) != 2 {
			t.Fatalf("cut behind %d bytes: got %s, %v; asked %q", at, got, err, asked)
		}
	}
}

// TestStreamForms holds that every spelling of a stream is read, and what is not asked
// for is passed over.
func TestStreamForms(t *testing.T) {
	for name, text := range map[string]string{
		"plain":            strings.Join(streamed, ""),
		"carriage returns": strings.ReplaceAll(strings.Join(streamed, ""), "\n", "\r\n"),
		"no spaces":        strings.ReplaceAll(strings.Join(streamed, ""), ": ", ":"),
		"twice":            strings.Join(streamed, "") + strings.Join(streamed, ""),
		"each twice":       streamed[0] + streamed[0] + streamed[1] + streamed[0] + streamed[1] + strings.Join(streamed[2:], ""),
		"comments":         ": a\n:b\n\n\n\n" + strings.Join(streamed, ":c\n\n"),
		"two lines":        strings.Replace(strings.Join(streamed, ""), ",", ",\ndata: ", 1),
		"another kind":     streamed[0] + streamed[1] + streamed[2] + streamed[3] + "id: 3-1\nevent: later\ndata: x\n\n" + streamed[4],
		"other fields":     "x\ny: z\nretry: soon\n" + strings.Join(streamed, ""),
	} {
		c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
			stream(w, text)
			<-r.Context().Done()
		})
		if got, err := read(t.Context(), c, client.Beginning, len(streamed)); err != nil || !slices.Equal(got, streamedIDs) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"no id":           "event: turn\ndata: {\"seq\":1}\n\n",
		"no number":       "id: x\nevent: turn\ndata: {\"seq\":1}\n\n",
		"no JSON":         "id: 1-0\nevent: turn\ndata: {\n\n",
		"no data":         "id: 1-0\nevent: turn\n\n",
		"another number":  "id: 2-0\nevent: turn\ndata: {\"seq\":1}\n\n",
		"another slice":   "id: 0-2\nevent: slice\ndata: {\"number\":1}\n\n",
		"back":            streamed[0] + streamed[1] + "id: 1-1\nevent: slice\ndata: {\"number\":1}\n\n",
		"a long line":     "id: 1-0\nevent: turn\ndata: {\"seq\":1,\"id\":\"" + strings.Repeat("x", 1<<20) + "\"}\n\n",
		"many long lines": "id: 1-0\nevent: turn\n" + strings.Repeat("data: "+strings.Repeat(" ", 10000)+"\n", 100) + "data: {\"seq\":1}\n\n",
	} {
		c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) { stream(w, text) })
		if got, err := read(t.Context(), c, client.Beginning, 9); !errors.Is(err, client.ErrAnswer) || len(got) > 2 {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	c := fake(t, client.Options{}, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
	for _, id := range []client.EventID{"x", "1-", "-1", "1-2-3", "99999999999999999999"} {
		if _, err := read(t.Context(), c, id, 1); err == nil {
			t.Errorf("%q is an id", id)
		}
	}
}

// TestPresentLost holds that a stream which began at the present, and never said where
// that is, does not go on as if nothing had been missed.
func TestPresentLost(t *testing.T) {
	for _, said := range []bool{false, true} {
		asked := 0
		c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 1 {
				if r.Header["Last-Event-Id"] != nil {
					t.Error("the present has an id")
				}
				first := "retry: 1000\n\n"
				if said {
					first = "id: 2-0\nretry: 1000\n\n"
				}
				stream(w, first)
				return
			}
			stream(w, behind(t, r.Header.Get("Last-Event-ID")))
			<-r.Context().Done()
		})
		got, err := read(t.Context(), c, client.Present, 3)
		if said && (err != nil || !slices.Equal(got, streamedIDs[2:])) {
			t.Errorf("got %s, %v", got, err)
		}
		if !said && (err == nil || !strings.Contains(err.Error(), "where it began") || asked != 1) {
			t.Errorf("got %s, %v after %d connections", got, err, asked)
		}
	}
}

// TestStreamComesBack holds what is done while a service is away.
func TestStreamComesBack(t *testing.T) {
	var slept []time.Duration
	o := client.Options{Attempts: 2, Jitter: func() float64 { return 0 }, Sleep: func(_ context.Context, d time.Duration) error {
		slept = append(slept, d)
		return nil
	}}
	asked := 0
	c := fake(t, o, func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case asked == 1:
			stream(w, "retry: 300\n\n"+streamed[0])
		case asked < 6:
			w.WriteHeader([]int{502, 503, 429, 500}[asked-2])
		case asked == 6:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(503)
		case asked == 7:
			stream(w, behind(t, r.Header.Get("Last-Event-ID"))[:len(streamed[1])])
		case asked == 8:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"code":"unauthenticated","detail":"revoked"}`)
		}
	})
	got, err := read(t.Context(), c, client.Beginning, 9)
	if !errors.Is(err, api.CodeUnauthenticated) || !slices.Equal(got, streamedIDs[:2]) {
		t.Errorf("got %s, %v", got, err)
	}
	const ms = time.Millisecond
	if want := []time.Duration{300 * ms, 300 * ms, 300 * ms, 400 * ms, 800 * ms, 7000 * ms, 300 * ms}; !slices.Equal(slept, want) {
		t.Errorf("slept %s, want %s", slept, want)
	}
}

// TestSilence holds that a connection on which nothing comes any more counts as cut.
func TestSilence(t *testing.T) {
	asked := 0
	c := fake(t, client.Options{Silence: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			stream(w, streamed[0])
		} else {
			stream(w, behind(t, r.Header.Get("Last-Event-ID")))
		}
		<-r.Context().Done()
	})
	if got, err := read(t.Context(), c, client.Beginning, len(streamed)); err != nil || !slices.Equal(got, streamedIDs) || asked < 2 {
		t.Errorf("got %s, %v after %d connections", got, err, asked)
	}
}

func TestStreamEnds(t *testing.T) {
	c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		stream(w, streamed[0])
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for e, err := range c.Events(ctx, client.Beginning) {
		if n++; n == 1 && (err != nil || e.Turn == nil || e.Turn.ID != "a") {
			t.Errorf("got %+v, %v", e, err)
		}
		if n == 2 && !errors.Is(err, context.Canceled) {
			t.Errorf("got %+v, %v", e, err)
		}
		cancel()
	}
	if n != 2 {
		t.Errorf("got %d events", n)
	}
}

// TestRealStreamCut follows the real service through a network that cuts every
// connection somewhere, while turns are admitted. Each comes once, in order.
func TestRealStreamCut(t *testing.T) {
	s := serve(t, server.Limits{})
	cuts := 0
	r := rand.New(rand.NewPCG(1, 2))
	cutting := roundTripper(func(q *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(q)
		if err == nil {
			cuts++
			resp.Body = struct {
				io.Reader
				io.Closer
			}{io.LimitReader(resp.Body, int64(r.IntN(2000))), resp.Body}
		}
		return resp, err
	})
	c := s.client(t, "default", access.Admin, client.Options{})
	const turns = 300
	admitted := make(chan error, 1)
	go func() {
		for i := range turns {
			d := dag.Draft{ID: dag.ExternalTurnID("cut", fmt.Sprint(i)), Conversation: talk, Role: dag.RoleUser, CreatedAt: 1, Content: "x"}
			if _, err := c.Turns().Admit(context.WithoutCancel(t.Context()), []dag.Draft{d}); err != nil {
				admitted <- err
				return
			}
		}
		admitted <- nil
	}()
	follower := s.client(t, "default", access.Auditor, client.Options{Transport: cutting})
	next := uint64(1)
	for e, err := range follower.Events(t.Context(), client.Beginning) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Turn == nil || e.Turn.Seq != next {
			t.Fatalf("got %+v, want turn %d", e, next)
		}
		if next++; next > turns {
			break
		}
	}
	if err := <-admitted; err != nil || cuts < 10 {
		t.Errorf("%v; %d connections", err, cuts)
	}
}
