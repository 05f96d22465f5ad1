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
	"github.com/graphkernel/graphkernel/internal/modeltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// service starts a service, and returns its kernel, and what tests of clients find in their environment.
func service(t *testing.T) (*kernel.Kernel, []string) {
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
	return k, append(os.Environ(), "GRAPHKERNEL_URL="+web.URL, "GRAPHKERNEL_KEY="+key, "GRAPHKERNEL_TRUST="+file, "PYTHONDONTWRITEBYTECODE=1", "NO_PROXY=127.0.0.1")
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
	_, env := service(t)
	c.Dir, c.Env, c.WaitDelay = filepath.Join("..", "..", filepath.FromSlash(folder)), env, time.Second
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

const said = "The cleanup job deleted it; a backup is in the vault."

// TestAgents runs the programs of examples/agents, with the SDKs that .ci/clients installs, against a service and a model that stands in. Each
// passes what the kernel has for the question to the model, and what was said is in the kernel afterwards.
func TestAgents(t *testing.T) {
	python, node := os.Getenv("GKTEST_AGENTS_PYTHON"), os.Getenv("GKTEST_NODE")
	if python == "" || node == "" {
		lacking(t, "the SDKs of models are not installed: run make clients")
	}
	for _, program := range []string{"python/openai_chat.py", "python/anthropic_chat.py", "python/langgraph_chat.py", "python/openai_agents_chat.py", "python/claude_agent_chat.py", "node/openai_chat.mjs", "node/anthropic_chat.mjs", "node/langgraph_chat.mjs"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			model := &modeltest.Model{Says: said}
			web := httptest.NewServer(model)
			defer web.Close()
			k, env := service(t)
			drafts := []dag.Draft{{
				ID: dag.ExternalTurnID("agents", program), Conversation: dag.ExternalConversationID("agents", program), Role: dag.RoleTool, Author: "tool:shell",
				CreatedAt: 1_780_000_000_000_000, Content: "the cleanup job ran: DROP TABLE vouchers",
			}}
			if _, err := k.Turns().Admit(t.Context(), dag.DefaultTenant, drafts); err != nil {
				t.Fatal(err)
			}
			interpreter := python
			if strings.HasPrefix(program, "node/") {
				interpreter = node
			}
			c := exec.CommandContext(t.Context(), interpreter, filepath.Base(program), "Who deleted the table vouchers?")
			c.Dir, c.WaitDelay = filepath.Join("..", "..", "examples", "agents", filepath.Dir(program)), time.Second
			c.Env = append(env, "OPENAI_BASE_URL="+web.URL+"/v1", "OPENAI_API_KEY=none", "ANTHROPIC_BASE_URL="+web.URL, "ANTHROPIC_API_KEY=none", "USER=anna", "MODEL=stand-in", "LANGSMITH_TRACING=false", "OPENAI_AGENTS_DISABLE_TRACING=1",
				"HOME="+t.TempDir(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
			output, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(output), said) {
				t.Fatalf("%v\n%s", err, output)
			}
			if asked := strings.Join(model.Asked(), "\n"); !strings.Contains(asked, "DROP TABLE vouchers") || !strings.Contains(asked, "Who deleted") {
				t.Errorf("the model was asked %q", asked)
			}
			found, err := k.Turns().Search(t.Context(), dag.DefaultTenant, find.Request{Query: retrieval.Query{Text: "backup vault", Limit: 5}})
			if err != nil || len(found.Hits) == 0 || found.Hits[0].Turn.Author != "model:stand-in" || found.Hits[0].Content != said {
				t.Errorf("of what was said is found: %+v, %v", found.Hits, err)
			}
		})
	}
}
