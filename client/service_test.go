package client_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A service is a real one, in this process.
type service struct {
	*httptest.Server
	kernel *kernel.Kernel
	server *server.Server
	id     identity.Identity
}

func serve(t testing.TB, limits server.Limits) *service {
	t.Helper()
	s, stop := start(t.Context(), limits)
	t.Cleanup(stop)
	return s
}

func start(ctx context.Context, limits server.Limits) (_ *service, stop func()) {
	sum := sha256.Sum256([]byte("k1"))
	ring := must(token.Keyring{}.Rotate("k1", must(token.NewSecret(sum[:])), 0))
	id := must(identity.New(rand.NewChaCha8([32]byte{2}), "kernel.example", 1))
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	k := must(kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(ring), Rand: rand.NewChaCha8([32]byte{1}), Identity: id,
		Clock: func() time.Time { return time.Unix(1_780_000_000, 0) },
	}))
	h := must(server.New(ctx, server.Config{Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now, Limits: limits, PublicLogs: []dag.Tenant{"default"}}))
	web := httptest.NewServer(h)
	return &service{web, k, h, id}, func() {
		h.Stop()
		web.Close()
		_ = s.Close()
	}
}

// client returns a client of a role that waits for nothing.
func (s *service) client(t testing.TB, tenant dag.Tenant, role access.Role, o client.Options) *client.Client {
	t.Helper()
	text, _, err := s.kernel.Keys().Create(t.Context(), tenant, role, "")
	if err != nil {
		t.Fatal(err)
	}
	return must(client.New(s.URL, text, awake(o)))
}

func awake(o client.Options) client.Options {
	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	return o
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A talk of four turns, one of which a tool said. The last text is one that careless
// writers of JSON change.
var (
	talk  = dag.ExternalConversationID("client", "talk")
	ids   = [4]dag.TurnID{dag.ExternalTurnID("client", "1"), dag.ExternalTurnID("client", "2"), dag.ExternalTurnID("client", "3"), dag.ExternalTurnID("client", "4")}
	texts = [4]string{"Is it safe to ship?", "The tests pass.", "3 migrations pending", "No: <b>3</b> migrations & \u2028 one \"quote\" are pending."}
)

func drafts() []dag.Draft {
	salt := dag.Salt{7}
	list := make([]dag.Draft, len(ids))
	for i := range list {
		list[i] = dag.Draft{
			ID: ids[i], Conversation: talk, CreatedAt: 1_780_000_000_000_000 + dag.Time(i), Content: texts[i], Salt: &salt,
			Role: [...]dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleAssistant}[i], Author: "model:helper",
		}
		if i > 0 {
			list[i].Parents = []dag.Parent{{ID: ids[i-1], Kind: dag.Reply}}
		}
	}
	list[3].Phase, list[3].Salience, list[3].HasSalience, list[3].Attrs = dag.Synthesis, 250_000, true, map[string]string{"lang": "en"}
	return list
}

// cutOf admits the talk and has its end cut.
func cutOf(t testing.TB, c *client.Client) client.Bundle {
	t.Helper()
	if _, err := c.Turns().Admit(t.Context(), drafts()); err != nil {
		t.Fatal(err)
	}
	b, err := c.Slices().Cut(t.Context(), client.Request{Anchor: ids[3]})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A recorder notes the requests that pass.
type recorder struct {
	next http.RoundTripper
	seen []*http.Request
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	r.seen = append(r.seen, q)
	return r.next.RoundTrip(q)
}
