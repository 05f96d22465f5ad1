package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// TestDoubtsHaveExitCodes is the table from what a client finds out about a service to the
// exit code. client.TestMaliciousServer has a lie for each.
func TestDoubtsHaveExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lie  string
		err  error
		code int
	}{
		{"rewritten history, split view, tiles of another history", ledger.ErrInconsistent, 14},
		{"stale checkpoint", fmt.Errorf("%w: %w", client.ErrStale, ledger.ErrInconsistent), 14},
		{"wrong tree, leaf of another slice", ledger.ErrNotIncluded, 13},
		{"no evidence, no attestation, no proof", client.ErrNoEvidence, 13},
		{"another log key, another tenant's ledger", ledger.ErrOrigin, 11},
		{"another attestation key", attest.ErrKeyUnknown, 11},
		{"a forged signature", ledger.ErrSignature, 10},
		{"another anchor, another policy, a changed word", fmt.Errorf("%w: %w", cli.ErrTampered, client.ErrAnswer), 10},
		{"downgraded policy", fmt.Errorf("%w: %w", cli.ErrTampered, policy.ErrConflict), 10},
		{"a key past its time", token.ErrKeyRetired, 12},
		{"no witness, a cosignature of long ago", ledger.ErrQuorum, 15},
		{"texts withheld", client.ErrRedacted, 16},
		{"a proof that is none", ledger.ErrForm, 20},
		{"an attestation that is none", attest.ErrForm, 20},
		{"a proof of another version", ledger.ErrVersion, 21},
		{"a statement of another version", attest.ErrVersion, 21},
	} {
		if got := cli.ExitCode(fmt.Errorf("client: %w", c.err)); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.lie, got, c.code)
		}
	}
}

// A fetched is a service that lies, and a program that asks it.
type fetched struct {
	role access.Role // of the key; admin if empty

	t      *testing.T
	home   string
	kernel *kernel.Kernel
	server http.Handler
	id     identity.Identity
	anchor dag.TurnID
	key    string
	lie    func(path string, status int, body []byte) (int, []byte)
	url    string
}

func (f *fetched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	f.server.ServeHTTP(answer, r)
	status, body := f.lie(r.URL.Path, answer.Code, answer.Body.Bytes())
	for name, values := range answer.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func truthful(_ string, status int, body []byte) (int, []byte) { return status, body }

func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// open starts the service over an empty store: the same identity, and another history.
func (f *fetched) open(texts ...string) {
	s := ok(sqlite.Create(f.t.Context(), filepath.Join(f.t.TempDir(), "test.db"), sqlite.Options{}))
	f.t.Cleanup(func() { _ = s.Close() })
	secret := ok(token.DrawSecret(nil))
	f.kernel = ok(kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(ok(token.Keyring{}.Rotate("k1", secret, 0))), Clock: time.Now, Identity: f.id,
	}))
	f.anchor = dag.ExternalTurnID("fetch", "0")
	var drafts []dag.Draft
	for i, text := range texts {
		drafts = append(drafts, dag.Draft{
			ID: dag.ExternalTurnID("fetch", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("fetch", "c"),
			Role: dag.RoleUser, CreatedAt: dag.Time(i + 1), Author: "human:guest", Content: text,
		})
	}
	ok(f.kernel.Turns().Admit(f.t.Context(), dag.DefaultTenant, drafts))
	text, _, err := f.kernel.Keys().Create(f.t.Context(), dag.DefaultTenant, cmp.Or(f.role, access.Admin), "")
	f.key = ok(text, err)
	f.server = ok(server.New(f.t.Context(), server.Config{Kernel: f.kernel, Log: slog.New(slog.DiscardHandler), Clock: time.Now}))
}

// fetch runs the program and gives its exit code.
func (f *fetched) fetch(trust string, args ...string) (int, string) {
	f.t.Helper()
	file := filepath.Join(f.home, "trust")
	if err := os.WriteFile(file, []byte(trust), 0o600); err != nil {
		f.t.Fatal(err)
	}
	a := testApp()
	var out, said bytes.Buffer
	a.IO.Stdout, a.IO.Stderr = &out, &said
	env := map[string]string{"HOME": f.home, "GRAPHKERNEL_KEY": f.key}
	a.Settings.Getenv = func(name string) string { return env[name] }
	into := filepath.Join(f.t.TempDir(), "evidence")
	args = append([]string{"fetch", f.url, f.anchor.String(), "--trust", file, "-o", into, "--state", filepath.Join(f.home, "state")}, args...)
	code := a.Run(context.Background(), args)
	if code == 0 {
		if again := testApp().Run(context.Background(), []string{"verify", into, "--trust", file}); again != 0 {
			f.t.Errorf("what was fetched verifies with exit code %d", again)
		}
	} else if _, err := os.Stat(filepath.Join(into, "bundle.json")); err == nil {
		f.t.Error("what was not proved was written")
	}
	return code, out.String() + said.String()
}

// onEvidence changes what is answered to /api/attest.
func onEvidence(change func(*api.Evidence)) func(string, int, []byte) (int, []byte) {
	return func(path string, status int, body []byte) (int, []byte) {
		if path != "/api/attest" {
			return status, body
		}
		var e api.Evidence
		if err := json.Unmarshal(body, &e); err != nil {
			panic(err)
		}
		change(&e)
		return status, ok(json.Marshal(e))
	}
}

// TestFetch lies to the program, and looks at how it ends.
func TestFetch(t *testing.T) {
	t.Parallel()
	f := &fetched{t: t, home: t.TempDir(), id: ok(identity.New(rand.NewChaCha8([32]byte{3}), "kernel.example", 1)), lie: truthful, role: access.Agent}
	f.open("Is it on?", "It is.", "Then turn it off.")
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	f.url = web.URL
	trust := string(ok(f.id.Trust(dag.DefaultTenant, "")))
	want := func(what string, want int, trust string, args ...string) {
		t.Helper()
		if code, said := f.fetch(trust, args...); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", what, code, want, said)
		}
		f.lie = truthful
	}
	want("the truth", 0, trust)
	want("the truth again", 0, trust)
	f.lie = func(path string, status int, body []byte) (int, []byte) {
		return status, bytes.Replace(body, []byte("Is it on?"), []byte("Is it up?"), 1)
	}
	want("a changed word", 10, trust)
	f.lie = onEvidence(func(e *api.Evidence) { e.Attestation = nil })
	want("no attestation", 13, trust)
	f.lie = onEvidence(func(e *api.Evidence) {
		var sealed struct{ Payload string }
		if err := json.Unmarshal(e.Attestation, &sealed); err != nil {
			panic(err)
		}
		stranger, _, err := attest.NewSigner("default.kernel.example", newKey(5))
		e.Attestation = ok(attest.Seal(ok(base64.StdEncoding.DecodeString(sealed.Payload)), ok(stranger, err)))
	})
	want("another key", 11, trust)
	f.lie = onEvidence(func(e *api.Evidence) {
		p := ok(ledger.ParseProof([]byte(e.Proof)))
		p.Path[0][0] ^= 1
		e.Proof = string(p.Append(nil))
	})
	want("a wrong tree", 13, trust)
	witness := ok(ledger.NewCosigner("w.example", newKey(6)))
	want("no witness", 15, strings.Replace(trust, "quorum none", fmt.Sprintf("witness w %s\nquorum w", witness.Key()), 1))
	p := ok(standard.Forms().ParseRegistration([]byte(`{"policy_id":"default@3","policy":{"type":"slice_policy_v3","max_nodes":2}}`)))
	file := filepath.Join(f.home, "policy.json")
	if err := os.WriteFile(file, []byte(`{"policy_id":"default@3","policy":{"type":"slice_policy_v3","max_nodes":2}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want("policy "+string(p.ID())+" with other parameters", 10, trust, "--policy", file)
	want("the truth once more", 0, trust)

	f.open("Is it on?", "It is not.", "Then turn it on.", "It is on.")
	code, said := f.fetch(trust)
	if code != 14 || !strings.Contains(said, "THE LOG SHOWS TWO HISTORIES") {
		t.Errorf("another history: exit code %d, want 14\n%s", code, said)
	}
	kept, err := filepath.Glob(filepath.Join(f.home, "state", "*.split-*"))
	if err != nil || len(kept) != 2 {
		t.Errorf("kept as evidence: %q, %v", kept, err)
	}
}

// newKey returns a private key that is always the same.
func newKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}
