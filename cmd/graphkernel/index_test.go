package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store/sqlite"
)

// spokenTurns writes so many turns as lines that import reads. The word of turn n is wordN.
func spokenTurns(t *testing.T, path string, from, to int) {
	t.Helper()
	var b strings.Builder
	for n := from; n < to; n++ {
		fmt.Fprintf(&b, `{"id":%q,"conversation":%q,"role":"user","author":"human:user","content":"the word%d was said at the gateway","created_at":"2026-01-02T03:04:05Z","parents":[]}`+"\n",
			dag.ExternalTurnID("index", fmt.Sprint(n)), dag.ExternalConversationID("index", fmt.Sprint(n/100)), n)
	}
	write(t, path, b.String())
}

// segmentsLack lists the segments that a store lacks of those that are made ahead.
func segmentsLack(t *testing.T, path string) (lacking []string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head, err := s.Head(t.Context(), dag.DefaultTenant)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Snapshots(t.Context(), dag.DefaultTenant, history.SnapshotPage{Limit: 1_000, Names: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range segments.Filled() {
		for _, r := range segments.Within(head) {
			if !slices.ContainsFunc(list, func(s history.Snapshot) bool { return s.Name == r.Name(of) }) {
				lacking = append(lacking, r.Name(of))
			}
		}
	}
	if head < segments.Least {
		t.Fatalf("the head is %d, so there is no segment to lack", head)
	}
	return lacking
}

// TestIndexMadeAhead imports more turns than a search may read, with and without the index, takes in a session, watches a folder and erases a turn: the store has every segment
// after each of them. A search before says what it did not look at. The clock that bounds how long a command goes on stands still, so it does not matter how busy the
// machine is; cli.TestFinishIndex has the bound.
func TestIndexMadeAhead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "s.db")
	const turns = segments.TextsOfRequest + 400
	given := func(stdin string, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		config := testConfig()
		config.Stdin, config.Stdout, config.Stderr = strings.NewReader(stdin), &stdout, &stderr
		config.Getenv = func(name string) string {
			return map[string]string{"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder, "PATH": os.Getenv("PATH")}[name]
		}
		if code := cli.New(config).Run(t.Context(), append([]string{"--store", "sqlite:" + path}, args...)); code != 0 {
			t.Fatalf("graphkernel %q: exit code %d: %s", args, code, &stderr)
		}
		return stdout.String()
	}
	run := func(args ...string) string {
		t.Helper()
		return given("", args...)
	}
	search := func(args ...string) (found api.Found) {
		t.Helper()
		if err := json.Unmarshal([]byte(run(append([]string{"--output", "json", "search", fmt.Sprintf("word%d", turns-1)}, args...)...)), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	whole := func(after string) {
		t.Helper()
		if lacking := segmentsLack(t, path); len(lacking) > 0 {
			t.Errorf("after %s the store lacks %q", after, lacking)
		}
		run("fsck")
	}
	lines := filepath.Join(folder, "turns.jsonl")
	spokenTurns(t, lines, 0, turns)
	run("import", "--no-index", lines)
	if lacking := segmentsLack(t, path); len(lacking) == 0 {
		t.Error("import --no-index made the index")
	}
	if found := search(); found.NotIndexed != turns-segments.TextsOfRequest || found.AsOf != segments.TextsOfRequest {
		t.Errorf("a search before the index is as of %d without %d", found.AsOf, found.NotIndexed)
	}
	if text := run("search", "gateway"); !strings.Contains(text, fmt.Sprintf("not searched: 400 numbers after number %d", segments.TextsOfRequest)) {
		t.Errorf("a search before the index says\n%s", text)
	}
	if text := run("doctor"); !strings.Contains(text, "the search index lacks the newest 400 numbers, so searches and contexts leave them out") {
		t.Errorf("doctor before the index says\n%s", text)
	}
	last := dag.ExternalTurnID("index", fmt.Sprint(turns-1)).String()
	if found := search("--wait"); found.NotIndexed != 0 || found.Hits[0].Turn.String() != last {
		t.Errorf("search --wait is without %d numbers", found.NotIndexed)
	}
	run("import", "--wait", lines)
	whole("import --wait")
	if text := run("doctor"); strings.Contains(text, "lacks") {
		t.Errorf("doctor after the index was made says\n%s", text)
	}
	if found := search(); found.NotIndexed != 0 || found.Hits[0].Turn.String() != last {
		t.Errorf("a search after import --wait is without %d numbers", found.NotIndexed)
	}
	run("erase", dag.ExternalTurnID("index", "7").String(), "--reason", "asked to", "--yes")
	whole("an erasure")
	run("erase", "--search", "word8", "--reason", "asked to", "--yes")
	whole("erasures")
	spokenTurns(t, lines, turns, turns+2*segments.Least)
	run("import", lines)
	whole("import")
	watched := filepath.Join(folder, "sessions")
	if err := os.Mkdir(watched, 0o700); err != nil {
		t.Fatal(err)
	}
	spokenTurns(t, filepath.Join(watched, "more.jsonl"), turns+2*segments.Least, turns+4*segments.Least)
	run("watch", "--once", watched)
	whole("watch --once")

	head := search().AsOf
	var session strings.Builder
	before := "null"
	for n := range 2 * segments.Least {
		id := fmt.Sprintf("%q", dag.ExternalTurnID("session", fmt.Sprint(n)))
		fmt.Fprintf(&session, `{"type":"user","uuid":%s,"parentUuid":%s,"sessionId":"5e550000-0000-4000-8000-00000000000a","cwd":%q,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"word of step %d"}}`+"\n", id, before, folder, n)
		before = id
	}
	transcript := filepath.Join(folder, "session.jsonl")
	write(t, transcript, session.String())
	given(fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"5e550000-0000-4000-8000-00000000000a","transcript_path":%q,"cwd":%q}`, transcript, folder), "hook", "claude-code")
	run("status")
	if found := search(); found.AsOf != head+2*segments.Least {
		t.Errorf("the session is not taken in: the head is %d", found.AsOf)
	}
	whole("a session that was taken in")
}

// TestIndexOfService imports into a service more turns than a request may read texts of. The first searches say that they did not look at all of them: import --wait asks again.
func TestIndexOfService(t *testing.T) {
	folder := t.TempDir()
	s := startServe(t, folder, "--dev")
	lines := filepath.Join(folder, "turns.jsonl")
	const turns = segments.TextsOfRequest + 400
	spokenTurns(t, lines, 0, turns)
	t.Setenv("GRAPHKERNEL_KEY", s.key)
	service, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var searches atomic.Int32
	behind := httputil.NewSingleHostReverseProxy(service)
	behind.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path != "/api/search" || searches.Add(1) > 2 {
			return nil
		}
		const answer = `{"as_of":1,"policy":"find@2","hits":[],"not_indexed":5}`
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(answer)), int64(len(answer))
		r.Header.Set("Content-Length", strconv.Itoa(len(answer)))
		return nil
	}
	front := httptest.NewServer(behind)
	defer front.Close()
	graphkernel(t, folder, "--server", front.URL, "import", "--wait", lines)
	if n := searches.Load(); n < 3 {
		t.Errorf("import --wait asked %d times", n)
	}
	var found api.Found
	if err := json.Unmarshal(graphkernel(t, folder, "--server", s.url, "--output", "json", "search", fmt.Sprintf("word%d", turns-1)), &found); err != nil {
		t.Fatal(err)
	}
	if found.NotIndexed != 0 || found.AsOf != turns || len(found.Hits) == 0 {
		t.Errorf("after import --wait a search is as of %d without %d", found.AsOf, found.NotIndexed)
	}
}
