package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// diagnosed returns what doctor says, and its exit code.
func diagnosed(t *testing.T, folder, key string, args ...string) (said string, code int) {
	t.Helper()
	c := exec.Command("graphkernel", append(args, "doctor")...)
	c.Env = append(gkEnv(folder), "GRAPHKERNEL_KEY="+key)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run() // the code says more
	return out.String(), c.ProcessState.ExitCode()
}

// TestDoctorBesideService runs doctor against a service with a key that may not read, which is no fault, and against the store of the service: the line about
// the process that answers hooks is there once a hook is installed.
func TestDoctorBesideService(t *testing.T) {
	t.Parallel()
	folder, _ := withKeys(t)
	s := startServe(t, folder)
	agent := strings.TrimSpace(string(graphkernel(t, folder, "apikey", "create", "--role", "agent")))
	said, code := diagnosed(t, folder, agent, "--server", s.url)
	if code != 0 || !strings.Contains(said, s.url+" answers, and the API key is valid; it may not see more: ") || !strings.Contains(said, "a key of role agent may not read") {
		t.Errorf("of a service, with a key of role agent: exit code %d\n%s", code, said)
	}
	if said, code := diagnosed(t, folder, agent[:len(agent)-1]+"_", "--server", s.url); code != 1 || !strings.Contains(said, "wrong  service") {
		t.Errorf("of a service, with a key that is not valid: exit code %d\n%s", code, said)
	}
	const keeps = "a process keeps the store open for hooks"
	if said, code := diagnosed(t, folder, ""); code != 0 || strings.Contains(said, keeps) {
		t.Errorf("without a hook: exit code %d\n%s", code, said)
	}
	if err := os.Mkdir(filepath.Join(folder, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	graphkernel(t, folder, "setup", "claude-code", "--yes")
	if said, _ := diagnosed(t, folder, ""); !strings.Contains(said, keeps) {
		t.Errorf("with hooks:\n%s", said)
	}
	s.stop()
}

// TestServeForked starts services on the store that an identity signed, and on another one: the second says at its start that nothing will be issued.
func TestServeForked(t *testing.T) {
	t.Parallel()
	folder, _ := identified(t, "fork.example")
	const says = "the ledger is not the history that this kernel has signed, so nothing is issued"
	for i, name := range []string{"first.db", "second.db"} {
		store := "sqlite:" + filepath.Join(folder, name)
		graphkernel(t, folder, "--store", store, "init")
		if i == 0 {
			graphkernel(t, folder, "--store", store, "apikey", "create", "--role", "agent") // a leaf
			graphkernel(t, folder, "--store", store, "log", "checkpoint")
		}
		s := startServe(t, folder, "--store", store)
		s.stop()
		if got := strings.Contains(s.logged(), says); got != (i == 1) {
			t.Errorf("%s: the log says that it is forked: %v\n%s", name, got, s.logged())
		}
	}
}
