package mcp

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
)

const sessionHeader = "Mcp-Session-Id"

// Handler serves the protocol over streamable HTTP. The server around it has
// authenticated each request and says with identify whose it is; false is 401. A
// session is its opener's: to any other identity it does not exist.
//
// A page that a browser shows is not to reach a server on the machine it runs on, or
// in its network (DNS rebinding). So a request that comes in on a loopback address
// must name one in Host, and an Origin must be one of Options.Origins, or a loopback
// address if the request came in on one. A request without Origin comes from no
// browser. Answering what browsers ask before (CORS) is left to the server around.
func (s *Server) Handler(identify func(*http.Request) (access.Identity, bool)) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		who, _ := r.Context().Value(identityKey{}).(access.Identity)
		return s.roles[who.Role]
	}, &sdk.StreamableHTTPOptions{SessionTimeout: s.options.Idle, MaxRequestBodyBytes: int64(s.options.MaxMessage)})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := identify(r)
		switch {
		case !ok:
			http.Error(w, "who asks is not known", http.StatusUnauthorized)
			return
		case s.roles[who.Role] == nil:
			http.Error(w, "the role may do nothing", http.StatusForbidden)
			return
		case !s.mayAsk(r):
			http.Error(w, "pages of this origin may not ask", http.StatusForbidden)
			return
		}
		if id := r.Header.Get(sessionHeader); id != "" && !s.sessions.belongs(id, who) {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		inner.ServeHTTP(w, r.WithContext(with(r.Context(), who)))
	})
}

// mayAsk reports whether the page that asks, if it is one, may.
func (s *Server) mayAsk(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	if slices.Contains(s.options.Origins, "*") || slices.Contains(s.options.Origins, origins[0]) {
		return true
	}
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	page, err := url.Parse(origins[0])
	return err == nil && at != nil && isLoopback(at.String()) && isLoopback(page.Host)
}

// isLoopback reports whether a host, with or without a port, is this machine's own
// name for itself.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Sessions over HTTP. The SDK keeps them, ends those that are idle, and closes one
// whose initialization failed; this table says whose each is, and bounds them.
type sessions struct {
	most, each int

	mu     sync.Mutex
	owner  map[string]access.Identity
	open   map[access.Identity]int
	closed bool
}

// belongs reports whether a session is open and somebody's.
func (t *sessions) belongs(id string, who access.Identity) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, ok := t.owner[id]
	return ok && owner == who
}

// enter notes whose a session is, or refuses it.
func (t *sessions) enter(id string, who access.Identity) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return refusef("the server is stopping")
	case len(t.owner) >= t.most:
		return refusef("%d sessions are open, and there is room for no more; try again later", t.most)
	case t.open[who] >= t.each:
		return refusef("you have %d sessions open, and may have no more; end one with DELETE, or go on in one", t.each)
	}
	if t.owner == nil {
		t.owner, t.open = map[string]access.Identity{}, map[access.Identity]int{}
	}
	t.owner[id] = who
	t.open[who]++
	return nil
}

func (t *sessions) leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := t.owner[id]
	delete(t.owner, id)
	if t.open[who]--; t.open[who] == 0 {
		delete(t.open, who)
	}
}

// opening notes a session when it is initialized. A client learns its id from the
// answer to that, so no request can come before.
func (s *Server) opening(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		session, ok := r.GetSession().(*sdk.ServerSession)
		if !ok || method != "initialize" || session.ID() == "" || session.InitializeParams() != nil {
			return next(ctx, method, r)
		}
		who, _ := ctx.Value(identityKey{}).(access.Identity)
		id := session.ID()
		if err := s.sessions.enter(id, who); err != nil {
			return nil, err
		}
		go func() {
			_ = session.Wait() // however it ended
			s.sessions.leave(id)
		}()
		return next(ctx, method, r)
	}
}

// Close ends every session and refuses new ones. It waits for the calls at work.
func (s *Server) Close() {
	s.sessions.mu.Lock()
	s.sessions.closed = true
	s.sessions.mu.Unlock()
	for _, server := range s.roles {
		for session := range server.Sessions() {
			_ = session.Close() // however it ended
		}
	}
}
