package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A served is the program at work as a process of its own.
type served struct {
	t       *testing.T
	folder  string
	url     string
	key     string
	process *exec.Cmd
	stderr  *safeBuffer
	ended   chan struct{}
	err     error // valid once ended
}

// logged is what the service has written so far.
func (s *served) logged() string { return string(s.stderr.Bytes()) }

// A safeBuffer is written to by one and read by others.
type safeBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *safeBuffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.out.Bytes())
}

func (b *safeBuffer) String() string { return string(b.Bytes()) }

// gkEnv returns a process an environment of its own.
func gkEnv(folder string) []string {
	return append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_STATE_HOME=", "GORACE=atexit_sleep_ms=0")
}

func graphkernel(t *testing.T, folder string, args ...string) []byte {
	t.Helper()
	return graphkernelWith(t, gkEnv(folder), args...)
}

func graphkernelWith(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	c := exec.Command("graphkernel", args...)
	c.Env = env
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("graphkernel %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// startServe starts the service. With keys in the folder it uses them, else --dev.
func startServe(t *testing.T, folder string, args ...string) *served {
	t.Helper()
	return startProgram(t, folder, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
}

// startProgram starts a command that serves and says where.
func startProgram(t *testing.T, folder string, args ...string) *served {
	t.Helper()
	return startCommand(t, folder, exec.Command("graphkernel", append([]string{"--output", "json"}, args...)...))
}

// startCommand starts a process that becomes such a command.
func startCommand(t *testing.T, folder string, process *exec.Cmd) *served {
	t.Helper()
	s := &served{t: t, folder: folder, process: process, stderr: &safeBuffer{}, ended: make(chan struct{})}
	s.process.Env = gkEnv(folder)
	s.process.Stderr = s.stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	var said struct{ URL, Key, Tenant string }
	decodeErr := json.NewDecoder(out).Decode(&said)
	go func() {
		_, _ = io.Copy(io.Discard, out) // nothing else comes
		s.err = s.process.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = s.process.Process.Kill() // it may have ended
		<-s.ended
	})
	if decodeErr != nil {
		<-s.ended
		t.Fatalf("serve: %v\n%s", s.err, s.stderr.Bytes())
	}
	s.url, s.key = said.URL, said.Key
	return s
}

// stop asks the service to end and waits for it.
func (s *served) stop() {
	s.t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	<-s.ended
	if s.err != nil {
		s.t.Errorf("serve ended with %v\n%s", s.err, s.stderr.Bytes())
	}
}

// post makes a request. An error means that no whole answer came.
func (s *served) post(c *http.Client, path string, body any) (int, []byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequest(http.MethodPost, s.url+path, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	r.GetBody = nil // no silent second try
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	a, err := c.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	answer, err := io.ReadAll(a.Body)
	return a.StatusCode, answer, err
}

func (s *served) get(path string) (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, answer
}

func serveTurn(writer, n int) map[string]any {
	parents := []any{}
	if n > 0 {
		parents = append(parents, map[string]any{"id": serveTurnID(writer, n-1), "kind": "reply"})
	}
	return map[string]any{
		"id": serveTurnID(writer, n), "conversation": fmt.Sprintf("6a2f0000-0000-4000-8000-%012x", writer+1), "parents": parents, "role": "user",
		"author": "human:guest", "created_at": "2026-01-02T03:04:05Z", "content": fmt.Sprintf("turn %d of %d", n, writer),
	}
}

func serveTurnID(writer, n int) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", writer+1, n+1)
}

// withKeys makes a folder with a keyring, a store and an API key.
func withKeys(t *testing.T) (folder, key string) {
	t.Helper()
	folder = t.TempDir()
	graphkernel(t, folder, "keys", "init")
	var made struct{ Key string }
	if err := json.Unmarshal(graphkernel(t, folder, "--output", "json", "apikey", "create", "--role", "admin"), &made); err != nil {
		t.Fatal(err)
	}
	return folder, made.Key
}
