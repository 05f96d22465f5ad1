package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/identity"
)

// A journey is a service, and somebody with a key who asks it.
type journey struct {
	*fetched
	trust string
	admin string
}

// as changes who asks.
func (j *journey) as(role access.Role) {
	text, _, err := j.kernel.Keys().Create(j.t.Context(), dag.DefaultTenant, role, "")
	j.key = ok(text, err)
}

// ask sends a request and wants 200 or 201.
func (j *journey) ask(method, path, body string) []byte {
	j.t.Helper()
	r := ok(http.NewRequestWithContext(j.t.Context(), method, j.url+path, strings.NewReader(body)))
	r.Header.Set("Authorization", "Bearer "+j.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a := ok(http.DefaultClient.Do(r))
	defer a.Body.Close()
	if path == "/api/events" { // has no end
		if a.StatusCode != http.StatusOK {
			j.t.Errorf("%s %s: %d", method, path, a.StatusCode)
		}
		return nil
	}
	data := ok(io.ReadAll(a.Body))
	if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusCreated {
		j.t.Errorf("%s %s: %d %s", method, path, a.StatusCode, data)
	}
	return data
}

// grow has the administrator issue something, so that the ledger is longer.
func (j *journey) grow() {
	j.t.Helper()
	mine := j.key
	j.key = j.admin
	j.ask("POST", "/api/turns", `{"turns":[{"id":"`+dag.ExternalTurnID("fetch", rnd()).String()+`","conversation":"`+dag.ExternalConversationID("fetch", "c").String()+`","role":"user","created_at":"2026-01-02T03:04:05Z","author":"human:guest","content":"more"}]}`)
	j.ask("POST", "/api/policies", `{"policy_id":"`+rnd()+`@1","policy":{"type":"slice_policy_v1","max_nodes":2}}`)
	j.key = mine
}

func rnd() string {
	return "p" + strings.ToLower(strings.NewReplacer("-", "").Replace(dag.TurnID{byte(rand.Uint32()), byte(rand.Uint32()), byte(rand.Uint32())}.String()))[:8]
}

func (j *journey) slice() (bundle []byte, id string) {
	j.t.Helper()
	bundle = j.ask("POST", "/api/slice", `{"anchor":"`+j.anchor.String()+`"}`)
	var b struct {
		Provenance struct {
			SliceID string `json:"slice_id"`
		}
	}
	if err := json.Unmarshal(bundle, &b); err != nil {
		j.t.Fatal(err)
	}
	return bundle, b.Provenance.SliceID
}

// issued returns a slice that the administrator asked for.
func (j *journey) issued() (bundle []byte, id string) {
	mine := j.key
	j.key = j.admin
	defer func() { j.key = mine }()
	return j.slice()
}

func (j *journey) judged(bundle []byte) {
	j.t.Helper()
	if v := j.ask("POST", "/api/verify_bundle", string(bundle)); !bytes.Contains(v, []byte(`"admissible":true`)) {
		j.t.Errorf("the bundle is judged %s", v)
	}
}

// journeys are those of the table in docs/service.md, by their names there.
var journeys = map[string]func(*journey){
	"have tokens and bundles judged before acting on them": func(j *journey) {
		bundle, _ := j.issued()
		j.judged(bundle)
		j.ask("POST", "/api/verify_token", `{}`)
	},
	"graphkernel log monitor URL/log, again and again": func(j *journey) {
		file := filepath.Join(j.home, "trust")
		if err := os.WriteFile(file, []byte(j.trust), 0o600); err != nil {
			j.t.Fatal(err)
		}
		for range 3 {
			j.grow()
			a := testApp()
			var said bytes.Buffer
			a.IO.Stdout, a.IO.Stderr = &said, &said
			env := map[string]string{"HOME": j.home, "GRAPHKERNEL_KEY": j.key}
			a.Settings.Getenv = func(name string) string { return env[name] }
			if code := a.Run(context.Background(), []string{"log", "monitor", j.url + "/log", "--trust", file, "--state", filepath.Join(j.home, "monitor")}); code != 0 {
				j.t.Errorf("exit code %d: %s", code, said.String())
			}
		}
	},
	"admit turns, cut a slice, have it judged and attested": func(j *journey) {
		j.ask("POST", "/api/turns", `{"turns":[{"id":"`+dag.ExternalTurnID("fetch", "mine").String()+`","conversation":"`+dag.ExternalConversationID("fetch", "c").String()+`","role":"assistant","created_at":"2026-01-02T03:04:05Z","author":"model:helper","content":"On it."}]}`)
		bundle, _ := j.slice()
		j.judged(bundle)
		j.ask("POST", "/api/attest", string(bundle))
		j.ask("GET", "/api/policies", "")
	},
	"graphkernel fetch, again and again": func(j *journey) {
		for range 3 {
			j.grow()
			if code, said := j.fetch(j.trust); code != 0 {
				j.t.Errorf("exit code %d: %s", code, said)
			}
		}
	},
	"record facts, ask for them, cut a slice of them": func(j *journey) {
		j.ask("POST", "/api/knowledge", `{"subject":"the door","predicate":"is","object":"open","confidence":1,"source":"agent"}`)
		if facts := j.ask("GET", "/api/knowledge?entity=the+door", ""); !bytes.Contains(facts, []byte("the door")) {
			j.t.Errorf("the facts are %s", facts)
		}
		j.ask("POST", "/api/knowledge/slice", `{"start":["the door"]}`)
	},
	"read turns, records of slices, events, and a slice's evidence": func(j *journey) {
		_, id := j.issued()
		for _, path := range []string{
			"/api/turns/" + j.anchor.String(), "/api/conversations", "/api/conversations/" + dag.ExternalConversationID("fetch", "c").String(),
			"/api/slices", "/api/slices/" + id, "/api/slices/" + id + "/evidence", "/api/events", "/log/keys", "/log/checkpoint", "/log/entries/000.p/1", "/log/tile/entries/000.p/1",
		} {
			j.ask("GET", path, "")
		}
	},
	"replay a slice, and explain it": func(j *journey) {
		bundle, id := j.issued()
		j.judged(bundle)
		if v := j.ask("POST", "/api/slices/"+id+"/replay", ""); !bytes.Contains(v, []byte("identical")) {
			j.t.Errorf("the replay says %s", v)
		}
		j.ask("POST", "/api/slices/"+id+"/explain", `{"turn":"`+j.anchor.String()+`"}`)
	},
	"register a policy": func(j *journey) {
		j.ask("POST", "/api/policies", `{"policy_id":"small@1","policy":{"type":"slice_policy_v1","max_nodes":2}}`)
	},
	"make, list and revoke API keys": func(j *journey) {
		made := j.ask("POST", "/api/keys", `{"role":"verifier"}`)
		id := regexp.MustCompile(`"id":"([0-9a-f]{16})"`).FindSubmatch(made)
		if id == nil {
			j.t.Fatalf("the key is %s", made)
		}
		if keys := j.ask("GET", "/api/keys", ""); !bytes.Contains(keys, id[1]) {
			j.t.Errorf("the keys are %s", keys)
		}
		j.ask("DELETE", "/api/keys/"+string(id[1]), "")
	},
	"erase a turn's text": func(j *journey) {
		j.ask("DELETE", "/api/turns/"+j.anchor.String(), `{"reason":"asked for"}`)
	},
}

// TestJourneys walks each journey of docs/service.md with the role that the page names,
// through the real service.
func TestJourneys(t *testing.T) {
	t.Parallel()
	rows := docTable(t, serviceDoc(t), "| journey |")
	if len(rows) != len(journeys) {
		t.Errorf("the page has %d journeys, want %d", len(rows), len(journeys))
	}
	for _, row := range rows {
		name, role := strings.ReplaceAll(row[0], "`", ""), row[1]
		walk := journeys[name]
		if walk == nil {
			t.Errorf("the journey %q is not walked", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := ok(identity.New(rand.NewChaCha8([32]byte{3}), "kernel.example", 1))
			j := &journey{fetched: &fetched{t: t, home: t.TempDir(), id: id, lie: truthful}, trust: string(ok(id.Trust(dag.DefaultTenant, "")))}
			j.open("Is it on?", "It is.", "Then turn it off.")
			j.admin = j.key
			web := httptest.NewServer(j)
			t.Cleanup(web.Close)
			j.url = web.URL
			if name == "read turns, records of slices, events, and a slice's evidence" {
				direct := httptest.NewServer(j.server) // a stream is not recorded and handed on
				t.Cleanup(direct.CloseClientConnections)
				j.url = direct.URL
			}
			j.as(ok(access.ParseRole(role)))
			walk(j)
		})
	}
}
