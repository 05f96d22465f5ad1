package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/graphkernel/graphkernel/api"
)

// mayWrite sets how long the files are that a process writes.
func mayWrite(t *testing.T, process int, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(process), uintptr(syscall.RLIMIT_FSIZE), uintptr(unsafe.Pointer(&limit)), 0, 0, 0); e != 0 {
		t.Fatal(e)
	}
}

// TestServeWithoutRoom starts a service that must not make any file longer, as on a disk that is full: it says so, answers what only reads, and refuses writes as a running
// one does. Once there is room it begins again, and takes writes.
func TestServeWithoutRoom(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	store := "sqlite:" + filepath.Join(folder, "s.db")
	write(t, filepath.Join(folder, "turns.jsonl"), `{"type":"user","uuid":"5e550000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"5e550000-0000-4000-8000-00000000000a","cwd":"/src/gateway","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Use port 8443 for the gateway."}}`)
	graphkernel(t, folder, "keys", "init")
	graphkernel(t, folder, "--store", store, "import", filepath.Join(folder, "turns.jsonl"))
	key := strings.TrimSpace(string(graphkernel(t, folder, "--store", store, "apikey", "create", "--role", "admin")))
	full := exec.Command("sh", "-c", `ulimit -S -f 0; exec graphkernel --output json --store "$0" serve --addr 127.0.0.1:0`, store)
	s := startCommand(t, folder, full)
	s.key = key
	ask := func(path, body string) (int, []byte) {
		t.Helper()
		status, answer, err := s.post(http.DefaultClient, path, json.RawMessage(body))
		if err != nil {
			t.Fatalf("%s: %v\n%s", path, err, s.logged())
		}
		return status, answer
	}
	if !strings.Contains(s.logged(), "the store takes no writes") {
		t.Errorf("the log does not say that the store takes no writes:\n%s", s.logged())
	}
	var found api.Found
	if status, answer := ask("/api/search", `{"query":"gateway"}`); status != 200 || json.Unmarshal(answer, &found) != nil || len(found.Hits) != 1 {
		t.Errorf("a search is answered with %d %s", status, answer)
	}
	if status, answer := s.fetch("/health/ready", ""); status != 503 || !strings.Contains(string(answer), "takes no writes") {
		t.Errorf("ready is answered with %d %s", status, answer)
	}
	const turn = `{"turns":[{"id":"5e550000-0000-4000-8000-000000000002","conversation":"5e550000-0000-4000-8000-00000000000a","role":"user","author":"human:user","content":"And 8444.","created_at":"2026-01-02T03:05:05Z","parents":[]}]}`
	if status, answer := ask("/api/turns", turn); status != 503 || !strings.Contains(string(answer), string(api.CodeStore)) || !strings.Contains(string(answer), "full") {
		t.Errorf("a write is answered with %d %s", status, answer)
	}
	doctor := exec.Command("sh", "-c", `ulimit -S -f 0; exec graphkernel --store "$0" doctor`, store)
	doctor.Env = gkEnv(folder)
	if said, err := doctor.Output(); err == nil || !strings.Contains(string(said), "wrong  disk         the store takes no writes: ") || !strings.Contains(string(said), "has no room for another 262144 bytes") {
		t.Errorf("doctor: %v\n%s", err, said)
	}
	mayWrite(t, s.process.Process.Pid, ^uint64(0))
	listens := regexp.MustCompile(`listening on (http://[0-9.:]+)`)
	s.until("the service begins again", func() bool { return len(listens.FindAllString(s.logged(), -1)) == 2 })
	s.url = listens.FindAllStringSubmatch(s.logged(), -1)[1][1]
	if status, answer := s.fetch("/health/ready", ""); status != 200 {
		t.Errorf("with room again ready is answered with %d %s", status, answer)
	}
	if status, answer := ask("/api/turns", turn); status != 200 {
		t.Errorf("with room again a write is answered with %d %s", status, answer)
	}
	s.stop()
}
