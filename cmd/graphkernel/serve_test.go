package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/service"
)

// TestServeKilled kills the service, with no chance to finish anything, while batches
// and slices are written. After each restart everything acknowledged is there, and of
// the batches that were not, all or nothing.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	folder, key := withKeys(t)
	const rounds, writers, batch = 4, 6, 5
	var acknowledged [writers]int // turns, per writer
	slices := map[string]string{} // acknowledged: id and digest
	total := 0
	for round := range rounds {
		s := startServe(t, folder)
		s.key = key
		var acks atomic.Int64
		var mu sync.Mutex
		var wg sync.WaitGroup
		enough := make(chan struct{})
		var once sync.Once
		for w := range writers {
			wg.Go(func() {
				client := &http.Client{}
				for {
					first := acknowledged[w]
					turns := []any{}
					for i := range batch {
						turns = append(turns, serveTurn(w, first+i))
					}
					status, body, err := s.post(client, "/api/turns", map[string]any{"turns": turns})
					if err != nil {
						return // killed
					}
					if status != http.StatusOK {
						t.Errorf("writer %d: %d %s", w, status, body)
						return
					}
					acknowledged[w] = first + batch
					if acks.Add(1) == int64(40+13*round) {
						once.Do(func() { close(enough) })
					}
					status, bundle, err := s.post(client, "/api/slice", api.SliceRequest{Anchor: serveTurnID(w, first)})
					if err != nil {
						return
					}
					if status != http.StatusOK {
						t.Errorf("writer %d: %d %s", w, status, bundle)
						return
					}
					var b struct {
						Provenance struct {
							SliceID string `json:"slice_id"`
						}
					}
					if err := json.Unmarshal(bundle, &b); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					slices[b.Provenance.SliceID] = sha(bundle)
					mu.Unlock()
				}
			})
		}
		select {
		case <-enough:
		case <-time.After(time.Minute):
			t.Error("the service acknowledged too little")
		}
		if err := s.process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		<-s.ended
		total += int(acks.Load())

		s = startServe(t, folder)
		s.key = key
		for w := range writers {
			for n := range acknowledged[w] {
				if status, body := s.get("/api/turns/" + serveTurnID(w, n)); status != http.StatusOK {
					t.Fatalf("round %d: turn %d of writer %d was acknowledged and is gone: %s", round, n, w, body)
				}
			}
			there := 0
			for i := range batch {
				if status, _ := s.get("/api/turns/" + serveTurnID(w, acknowledged[w]+i)); status == http.StatusOK {
					there++
				}
			}
			if there != 0 && there != batch {
				t.Fatalf("round %d: %d of %d turns of a batch are there", round, there, batch)
			}
		}
		for id, digest := range slices {
			status, body := s.get("/api/slices/" + id)
			if status != http.StatusOK || !strings.Contains(string(body), digest) {
				t.Fatalf("round %d: slice %s was handed out and is not on record: %s", round, id, body)
			}
		}
		s.stop()
	}
	if total < rounds*40 || len(slices) < 50 {
		t.Errorf("only %d batches and %d slices", total, len(slices))
	}
	graphkernel(t, folder, "export", "-o", filepath.Join(folder, "out.jsonl"))
}

// TestServeTerminated ends the service politely while clients work. Clients that stop
// when an answer asks them to close the connection are never refused. Others may find
// that nobody listens any more; but whatever was read is answered whole, and what was
// not answered was not done.
func TestServeTerminated(t *testing.T) {
	t.Parallel()
	folder, key := withKeys(t)
	const clients, rounds = 12, 3
	refused := 0
	for round := range rounds {
		s := startServe(t, folder)
		s.key = key
		var acks atomic.Int64
		var done, failed [clients]int
		var wg sync.WaitGroup
		for w := range clients {
			wg.Go(func() {
				polite := w%2 == 0
				wanted := &wish{RoundTripper: &http.Transport{DisableKeepAlives: w%4 == 1}}
				client := &http.Client{Transport: wanted}
				defer client.CloseIdleConnections()
				for n := 0; !polite || !wanted.closing; n++ {
					status, body, err := s.post(client, "/api/turns", map[string]any{"turns": []any{serveTurn(100*round+w, n)}})
					switch {
					case err == nil && status == http.StatusOK:
						done[w] = n + 1
						acks.Add(1)
					case err == nil || polite || wanted.begun:
						t.Errorf("client %d was cut off: %d %s %v", w, status, body, err)
						return
					default:
						failed[w]++
						return
					}
				}
			})
		}
		for acks.Load() < 200 && !t.Failed() {
			time.Sleep(time.Millisecond) // until the load is there
		}
		s.stop()
		wg.Wait()
		s = startServe(t, folder)
		s.key = key
		for w := range clients {
			refused += failed[w]
			for n, want := range map[int]int{done[w] - 1: http.StatusOK, done[w]: http.StatusNotFound} {
				if status, _ := s.get("/api/turns/" + serveTurnID(100*round+w, n)); status != want {
					t.Errorf("client %d, turn %d of %d: got %d, want %d", w, n, done[w], status, want)
				}
			}
		}
		s.stop()
	}
	if refused != rounds*clients/2 {
		t.Errorf("%d clients found that nobody listens, want %d", refused, rounds*clients/2)
	}
}

// A wish sees whether the server wants its connections closed, and whether the last
// answer had begun.
type wish struct {
	http.RoundTripper
	closing, begun bool
}

func (w *wish) RoundTrip(r *http.Request) (*http.Response, error) {
	w.begun = false
	a, err := w.RoundTripper.RoundTrip(r)
	if err == nil {
		w.begun = true
		w.closing = w.closing || a.Close
	}
	return a, err
}

// TestServeKeys rotates and retires the keyring's file under a running service.
func TestServeKeys(t *testing.T) {
	t.Parallel()
	folder, key := withKeys(t)
	s := startServe(t, folder)
	s.key = key
	if status, body, err := s.post(http.DefaultClient, "/api/turns", map[string]any{"turns": []any{serveTurn(0, 0)}}); err != nil || status != 200 {
		t.Fatal(status, string(body), err)
	}
	cut := func() []byte {
		t.Helper()
		status, bundle, err := s.post(http.DefaultClient, "/api/slice", api.SliceRequest{Anchor: serveTurnID(0, 0)})
		if err != nil || status != 200 {
			t.Fatal(status, string(bundle), err)
		}
		return bundle
	}
	verdict := func(bundle []byte) (v api.BundleVerdict) {
		t.Helper()
		status, body, err := s.post(http.DefaultClient, "/api/verify_bundle", json.RawMessage(bundle))
		if err != nil || status != 200 {
			t.Fatal(status, string(body), err)
		}
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	old := cut()
	if v := verdict(old); v.KeyID != "k1" || !v.Admissible {
		t.Fatalf("got %+v", v)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for !ok() {
			if time.Now().After(deadline) {
				t.Fatalf("never: %s\n%s", what, s.stderr.Bytes())
			}
		}
	}
	graphkernel(t, folder, "keys", "rotate")
	until("slices are signed with k2", func() bool { return verdict(cut()).KeyID == "k2" })
	if v := verdict(old); !v.Admissible {
		t.Fatalf("a live key's bundle: got %+v", v)
	}
	// For a while the keyring cannot be read, and what changes meanwhile is not missed.
	ring := keyringOf(t, folder)
	if err := os.Chmod(ring, 0o666); err != nil { // refused: others could write it
		t.Fatal(err)
	}
	until("the fault is logged", func() bool { return verdict(old).Admissible && strings.Contains(s.logged(), "cannot be read") })
	if err := os.Chmod(ring, 0o600); err != nil {
		t.Fatal(err)
	}
	graphkernel(t, folder, "keys", "retire", "k1")
	until("the retired key verifies nothing", func() bool { return verdict(old).Outcome == "key_retired" })
	if v := verdict(cut()); !v.Admissible {
		t.Errorf("got %+v", v)
	}
	var made struct{ Key, ID string }
	if err := json.Unmarshal(graphkernel(t, folder, "--output", "json", "apikey", "create", "--role", "verifier"), &made); err != nil {
		t.Fatal(err)
	}
	s.key = made.Key
	if v := verdict(cut2(t, s, key)); !v.Admissible {
		t.Errorf("a key made while the service runs: got %+v", v)
	}
	graphkernel(t, folder, "apikey", "revoke", made.ID)
	until("the revoked key is refused", func() bool {
		status, _, err := s.post(http.DefaultClient, "/api/verify_bundle", json.RawMessage(old))
		return err == nil && status == http.StatusUnauthorized
	})
	s.stop()
}

// keyringOf finds the keyring's file.
func keyringOf(t *testing.T, folder string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*", "keys.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

func cut2(t *testing.T, s *served, key string) []byte {
	t.Helper()
	other := *s
	other.key = key
	status, bundle, err := other.post(http.DefaultClient, "/api/slice", api.SliceRequest{Anchor: serveTurnID(0, 0)})
	if err != nil || status != 200 {
		t.Fatal(status, string(bundle), err)
	}
	return bundle
}

// TestServeCurl runs the curl lines of the contract, which /docs shows, in a shell
// against the program, each as it is.
func TestServeCurl(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("the lines need %s: %v", program, err)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "server", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			line, _ := op.Extensions["x-curl"].(string)
			if line == "" {
				t.Errorf("%s %s shows no curl line", method, path)
			}
			lines[op.OperationID] = line
		}
	}
	s := startServe(t, t.TempDir(), "--dev", "--log-public", "default")
	page := string(second(s.get("/docs")))
	for id, line := range lines {
		shown := strings.NewReplacer("&#34;", `"`, "&#39;", `'`, "&gt;", ">", "&lt;", "<", "&amp;", "&", "&#43;", "+").Replace(page)
		if !strings.Contains(shown, line) {
			t.Errorf("/docs does not show the line of %s", id)
		}
	}
	// What one line makes the next one uses, and some take away what others need, so the order is fixed; erasing comes last.
	first := []string{"admitTurns", "cutSlice", "getSlice", "getCheckpoint", "setSpace", "reviseBeliefs", "proveBelief", "remember", "acceptMemory", "explainMemory", "memoryHistory", "listMemories"}
	var order []string
	order = append(order, first...)
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		if id != "eraseTurn" && id != "releaseTurns" && !slices.Contains(first, id) { // with --dev nothing is held back, so there is none to release
			order = append(order, id)
		}
	}
	order = append(order, "eraseTurn")
	var script strings.Builder
	script.WriteString("set -eu\n")
	for _, id := range order {
		if id == "resolveConflict" { // of what rests on a turn, and a proposal that rests on none
			for _, made := range []string{`revise -d '{"space":"acme/support","statements":[{"subject":"pump","predicate":"is","object":"on"}],"turns":["0b5e0000-0000-4000-8000-000000000001"]}'`, `propose -d '{"space":"acme/support","statements":[{"subject":"pump","predicate":"is","object":"on","not":true}]}'`} {
				fmt.Fprintf(&script, "curl -sS $URL/api/beliefs/%s -H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/json'\necho\n", made)
			}
		}
		// Every answer goes to a file, so that what is refused is found.
		fmt.Fprintf(&script, "echo '== %s'\n%s\necho\n", id, lines[id])
	}
	c := exec.Command("bash", "-c", script.String())
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "URL="+s.url, "KEY="+s.key)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.Bytes())
	}
	if strings.Contains(string(out), `"request_id":"`) || strings.Count(string(out), "== ") < 20 {
		t.Errorf("a line was refused:\n%s", out)
	}
	for _, want := range []string{`"admitted":2`, `"outcome":"identical"`, `"admissible":true`, `"policy_id":"narrow@1"`, "event: slice", `"kind":"erasure"`, "this kernel is no witness"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nothing printed %s:\n%s", want, out)
		}
	}
	s.stop()
}

func second[A, B any](_ A, b B) B { return b }

// TestServeRefuses starts what must not start.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	conf := filepath.Join(folder, "conf.yaml")
	if err := os.WriteFile(conf, []byte("limits:\n  ratte: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "graphkernel keys init"}, // no secret
		{[]string{"--dev", "--addr", "127.0.0.1:x"}, "addr"},
		{[]string{"--dev", "--config", conf}, `no setting "limits.ratte"`},
		{[]string{"--dev", "--config", conf + "x"}, "there is no configuration at"},
		{[]string{"--dev", "--limits-rate", "many"}, `limits.rate is "many" (flag)`},
		{[]string{"--dev", "--limits-timeout", "0s"}, "limits.timeout"},
		{[]string{"--dev", "--trace-exporter", "carrier-pigeon"}, "trace.exporter"},
		{[]string{"--dev", "--trusted-proxies", "10.0.0.1"}, "trusted_proxies"},
		{[]string{"--dev", "--tls-cert", conf}, "need each other"},
		{[]string{"--dev", "--oidc-issuer", "https://issuer.example"}, "give all of oidc.issuer, oidc.audience and oidc.jwks"},
		{[]string{"--dev", "--log-level", "loud"}, "log.level"},
		{[]string{"--dev", "--addr", "nonsense"}, "want HOST:PORT"},
		{[]string{"--dev", "--cors", "https://app.example/"}, "want origins"},
		{[]string{"--dev", "--limits-batch-turns", "100001"}, "want at most 100000"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := exec.CommandContext(ctx, "graphkernel", append([]string{"serve", "--addr", "127.0.0.1:0"}, tc.args...)...)
		c.Env = gkEnv(folder)
		out, err := c.CombinedOutput()
		cancel()
		if err == nil || !strings.Contains(string(out), tc.want) {
			t.Errorf("%v: got %v, %s; want %q", tc.args, err, out, tc.want)
		}
	}
}

// TestServeTraces follows one request through its spans and into the log.
func TestServeTraces(t *testing.T) {
	t.Parallel()
	s := startServe(t, t.TempDir(), "--dev", "--trace-exporter", "log")
	if status, body, err := s.post(http.DefaultClient, "/api/turns", map[string]any{"turns": []any{serveTurn(0, 0)}}); err != nil || status != 200 {
		t.Fatal(status, string(body), err)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	body := strings.NewReader(`{"anchor":"` + serveTurnID(0, 0) + `"}`)
	r, err := http.NewRequest(http.MethodPost, s.url+"/api/slice", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	id := a.Header.Get("Slice-Id")
	_ = a.Body.Close()
	s.stop()
	spans := map[string]int{}
	requests := 0
	lines := bufio.NewScanner(bytes.NewReader(s.stderr.Bytes()))
	for lines.Scan() {
		var l struct {
			Msg, Span, Operation string
			TraceID              string `json:"trace_id"`
			SliceID              string `json:"slice_id"`
			Tenant               string
		}
		if json.Unmarshal(lines.Bytes(), &l) != nil || l.TraceID != trace {
			continue
		}
		if l.Msg == "span" {
			spans[l.Span]++
		}
		if l.Msg == "request" && l.SliceID == id && l.Tenant == "default" {
			requests++
		}
	}
	for span, want := range map[string]int{"cutSlice": 1, "kernel.slice": 1, "store.write": 2} { // the policy, and the slice
		if spans[span] != want {
			t.Errorf("span %s was seen %d times: %v", span, spans[span], spans)
		}
	}
	if requests != 1 {
		t.Errorf("the request stands %d times in the log\n%s", requests, s.stderr.Bytes())
	}
	if strings.Contains(s.stderr.String(), s.key) || strings.Contains(s.stderr.String(), "turn 0 of 0") {
		t.Error("the log holds the key or what was said")
	}
}

// TestConfig prints the settings with where each comes from.
func TestConfig(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	conf := filepath.Join(folder, "conf.yaml")
	if err := os.WriteFile(conf, []byte("addr: 127.0.0.1:1\nlimits: {rate: 5, burst: 6, timeout: 7s}\ncors: [https://a.example, https://b.example]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("graphkernel", "--output", "json", "config", "--config", conf, "--limits-timeout", "9s")
	c.Env = append(gkEnv(folder), "GRAPHKERNEL_LIMITS_BURST=8", "GRAPHKERNEL_LIMITS_TIMEOUT=8s", "GRAPHKERNEL_SECRET="+strings.Repeat("ab", 32))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Settings []service.SettingJSON
		Secrets  map[string]bool
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	found := map[string]service.SettingJSON{}
	for _, s := range got.Settings {
		found[s.Key] = s
	}
	for _, want := range []service.SettingJSON{
		{Key: "addr", Value: "127.0.0.1:1", Origin: "file"}, {Key: "limits.rate", Value: "5", Origin: "file"}, {Key: "limits.burst", Value: "8", Origin: "environment"}, {Key: "limits.timeout", Value: "9s", Origin: "flag"},
		{Key: "limits.queue", Value: "1024", Origin: "default"}, {Key: "cors", Value: "https://a.example,https://b.example", Origin: "file"},
	} {
		if found[want.Key] != want {
			t.Errorf("got %+v, want %+v", found[want.Key], want)
		}
	}
	if len(found) != len(service.Settings)+3 || !got.Secrets["GRAPHKERNEL_SECRET"] || strings.Contains(string(out), "abab") {
		t.Errorf("got %d settings, %v", len(found), got.Secrets)
	}
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
