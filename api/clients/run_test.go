package clients_test

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// service starts a service, and returns what tests of clients find in their environment.
func service(t *testing.T) []string {
	t.Helper()
	secret, err := token.DrawSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.New(nil, "kernel.example", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now, Identity: id})
	if err != nil {
		t.Fatal(err)
	}
	h, err := server.New(t.Context(), server.Config{Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Stop()
		web.Close()
		_ = s.Close()
	})
	key, _, err := k.Keys().Create(t.Context(), dag.DefaultTenant, access.Admin, "")
	if err != nil {
		t.Fatal(err)
	}
	trust, err := id.Trust(dag.DefaultTenant, "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trust")
	if err := os.WriteFile(file, trust, 0o600); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "GRAPHKERNEL_URL="+web.URL, "GRAPHKERNEL_KEY="+key, "GRAPHKERNEL_TRUST="+file, "PYTHONDONTWRITEBYTECODE=1", "NO_PROXY=127.0.0.1")
}

// lacking skips a test, unless all that it needs must be there.
func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("GKTEST_CLIENTS") == "required" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func run(t *testing.T, folder string, command ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir, c.Env, c.WaitDelay = filepath.Join("..", "..", filepath.FromSlash(folder)), service(t), time.Second
	said, err := c.CombinedOutput()
	t.Logf("%s", said)
	if err != nil {
		t.Error(err)
	}
}

// TestPython runs the tests of the client in Python against a service.
func TestPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		lacking(t, "there is no python3")
	}
	run(t, "clients/python", python, "-W", "error", "-m", "unittest", "-q")
}

// TestTypeScript runs the tests of the client in TypeScript, which .ci/clients compiles, against a service.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	node := os.Getenv("GKTEST_NODE")
	if node == "" {
		node = "node"
	}
	node, err := exec.LookPath(node)
	if err != nil {
		lacking(t, "there is no node")
	}
	compiled, err := os.ReadFile(filepath.Join("..", "..", "clients", "typescript", "dist", "index.js"))
	if err != nil || !strings.Contains(string(compiled), "Client") {
		lacking(t, "the client in TypeScript is not compiled: run make clients")
	}
	run(t, "clients/typescript", node, "--test", "test/client.test.mjs")
}
