package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/signing"
	"github.com/graphkernel/graphkernel/ledger"
)

// fetch makes a GET request, with the service's key if one is wanted.
func (s *served) fetch(path, key string) (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, body
}

// identified makes a folder with a keyring and an identity, and returns what is shown of it.
func identified(t *testing.T, name string) (folder string, shown signing.IdentityJSON) {
	t.Helper()
	folder = t.TempDir()
	graphkernel(t, folder, "keys", "init")
	graphkernel(t, folder, "identity", "init", "--name", name)
	if err := json.Unmarshal(graphkernel(t, folder, "--output", "json", "identity", "show"), &shown); err != nil {
		t.Fatal(err)
	}
	return folder, shown
}

// TestServeLedger lets one service cosign what another one signs, opens a ledger to
// everybody, and rotates the attestation key while it runs.
func TestServeLedger(t *testing.T) {
	t.Parallel()
	folder, own := identified(t, "kernel.example")
	elsewhere, witness := identified(t, "witness.example")
	trust := func(folder, name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	there := startServe(t, elsewhere, "--store", "sqlite:"+filepath.Join(elsewhere, "w.db"), "--witness-logs", trust(elsewhere, "logs", "log "+own.Log+"\nquorum none\n"))
	both := fmt.Sprintf("log %s\nwitness one %s %s/witness\nwitness gone %s http://127.0.0.1:1\ngroup any any one gone\nquorum any\n",
		own.Log, witness.Witness, there.url, mustWitness(t))
	store := "sqlite:" + filepath.Join(folder, "k.db")
	s := startServe(t, folder, "--store", store, "--log-public", "default", "--log-witnesses", trust(folder, "witnesses", both), "--log-every", "1h", "--log-witness-timeout", "5s")
	key := strings.TrimSpace(string(graphkernel(t, folder, "--store", store, "apikey", "create", "--role", "auditor")))

	status, note := s.fetch("/log/of/default/checkpoint", "")
	if status != 200 {
		t.Fatalf("got %d %s", status, note)
	}
	asked, err := ledger.ParseTrust([]byte(both))
	if err != nil {
		t.Fatal(err)
	}
	o, err := asked.Open(note)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Quorum(time.Time{}); err != nil || len(o.Cosigned) != 1 {
		t.Errorf("%d cosigned: %v", len(o.Cosigned), err)
	}
	if _, other := s.fetch("/log/checkpoint", key); !bytes.Equal(other, note) {
		t.Errorf("the witnesses were asked again:\n%s", other)
	}
	s.until("the log", func() bool { return strings.Contains(s.logged(), `"msg":"a witness did not cosign","witness":"gone"`) })
	if status, _ := s.fetch("/log/of/elsewhere/checkpoint", ""); status != 404 {
		t.Errorf("got %d", status)
	}

	attestations := func() int {
		status, body := s.fetch("/.well-known/graphkernel-keys.json", "")
		var w struct{ Attestation []any }
		if err := json.Unmarshal(body, &w); err != nil || status != 200 {
			t.Fatalf("got %d %s", status, body)
		}
		return len(w.Attestation)
	}
	if n := attestations(); n != 1 {
		t.Errorf("%d attestation keys", n)
	}
	graphkernel(t, folder, "identity", "rotate")
	s.until("the new key", func() bool { return attestations() == 2 })
	s.stop()
	there.stop()
}

// until waits for something.
func (s *served) until(what string, is func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("%s did not come:\n%s", what, s.logged())
		}
	}
}

// mustWitness returns the key of a witness that is nowhere.
func mustWitness(t *testing.T) string {
	_, shown := identified(t, "gone.example")
	return shown.Witness
}

// TestServeIdentityAppears starts a service of nobody, which becomes somebody.
func TestServeIdentityAppears(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	graphkernel(t, folder, "keys", "init")
	store := "sqlite:" + filepath.Join(folder, "k.db")
	s := startServe(t, folder, "--store", store)
	key := strings.TrimSpace(string(graphkernel(t, folder, "--store", store, "apikey", "create", "--role", "auditor")))
	if status, body := s.fetch("/log/checkpoint", key); status != 503 || !bytes.Contains(body, []byte(`"no_identity"`)) {
		t.Errorf("got %d %s", status, body)
	}
	graphkernel(t, folder, "identity", "init", "--name", "kernel.example")
	s.until("the log", func() bool { return strings.Contains(s.logged(), `"msg":"the identity was reloaded"`) })
	if status, body := s.fetch("/log/checkpoint", key); status != 200 || !bytes.HasPrefix(body, []byte("default.kernel.example\n")) {
		t.Errorf("got %d %s", status, body)
	}
	s.stop()
}

// TestServeLedgerSettings refuses settings that cannot be meant.
func TestServeLedgerSettings(t *testing.T) {
	t.Parallel()
	folder, own := identified(t, "kernel.example")
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	logs := file("logs", "log "+own.Log+"\nquorum none\n")
	deaf := file("deaf", "log "+own.Log+"\nwitness one "+own.Witness+"\nquorum one\n")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--log-public", "Default"}, "log.public"},
		{[]string{"--log-public", "default,default"}, "occurs twice"},
		{[]string{"--log-witnesses", filepath.Join(folder, "absent")}, "there is no trust file"},
		{[]string{"--log-witnesses", logs}, "nobody to ask"},
		{[]string{"--log-witnesses", deaf}, "nobody to ask"},
		{[]string{"--witness-logs", file("none", "quorum none\n")}, "nothing to cosign"},
		{[]string{"--witness-logs", file("bad", "log\n")}, "line 1"},
		{[]string{"--log-every", "0s"}, "log.every"},
		{[]string{"--log-witness-timeout", "x"}, "log.witness_timeout"},
	} {
		a := testApp()
		var stderr bytes.Buffer
		a.IO.Stderr = &stderr
		if code := a.Run(t.Context(), append([]string{"config"}, tc.args...)); code != api.ExitUsage || !strings.Contains(stderr.String(), tc.want) {
			t.Errorf("%q: exit code %d, %s", tc.args, code, stderr.String())
		}
	}
	// What is signed for others needs somebody who signs.
	nobody := t.TempDir()
	for _, args := range [][]string{{"--log-public", "default"}, {"--witness-logs", logs}} {
		a := testApp()
		a.Settings.Getenv = func(name string) string {
			return map[string]string{"HOME": nobody, "XDG_CONFIG_HOME": filepath.Join(folder), "GRAPHKERNEL_IDENTITY": filepath.Join(nobody, "identity.json")}[name]
		}
		var stderr bytes.Buffer
		a.IO.Stderr = &stderr
		if code := a.Run(t.Context(), append([]string{"serve", "--addr", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(nobody, "k.db")}, args...)); code != api.ExitInternal || !strings.Contains(stderr.String(), "graphkernel identity init") {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
	}
}
