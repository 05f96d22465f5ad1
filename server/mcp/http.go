package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/internal/loopback"
)

const sessionHeader = "Mcp-Session-Id"

// Handler serves the protocol over streamable HTTP. The server around it has authenticated each request, and identify
// returns its identity; false is answered with 401. A session belongs to the identity that opened it: for any other
// identity it does not exist.
//
// A page in a browser must not reach a server on the browser's machine or in its network (DNS rebinding). So a request
// that arrives on a loopback address must name a loopback address in Host, and an Origin must be one of
// Options.Origins, or a loopback address if the request arrived on one. A request without Origin does not come from a
// browser. CORS preflight requests are left to the surrounding server.
//
// The URL parameter tools selects the tools of the session that the request opens, in the form that ParseTools reads.
func (s *Server) Handler(identify func(*http.Request) (access.Identity, bool)) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		who, _ := r.Context().Value(identityKey{}).(access.Identity)
		return s.roles[who.Role]
	}, &sdk.StreamableHTTPOptions{SessionTimeout: s.options.Idle, MaxRequestBodyBytes: int64(s.options.MaxMessage)})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := identify(r)
		switch {
		case !ok:
			http.Error(w, "the caller is not known", http.StatusUnauthorized)
			return
		case s.roles[who.Role] == nil:
			http.Error(w, "the role may do nothing", http.StatusForbidden)
			return
		case !mayAsk(s, r):
			http.Error(w, "pages of this origin may not call this server", http.StatusForbidden)
			return
		}
		selected, err := ParseTools(r.URL.Query().Get("tools"))
		if err != nil {
			http.Error(w, "tools: "+err.Error(), http.StatusBadRequest)
			return
		}
		ctx := context.WithValue(with(r.Context(), who), selectionKey{}, selected)
		id := r.Header.Get(sessionHeader)
		switch {
		case id != "" && !s.sessions.belongs(id, who):
			http.Error(w, "session not found", http.StatusNotFound)
			return
		case id == "" && r.Method == http.MethodPost: // the SDK opens a session for it
			place, refused := s.sessions.reserve(who)
			if refused != nil {
				w.Header().Set("Retry-After", strconv.Itoa(refused.retryAfter))
				http.Error(w, refused.detail, refused.status)
				return
			}
			defer s.sessions.release(place)
			ctx = context.WithValue(ctx, placeKey{}, place)
		}
		r = r.WithContext(ctx)
		if r.Method == http.MethodPost {
			r.Header = r.Header.Clone()
			defer s.tickets.give(s.sessions.queueOf(id), r.Header)()
		}
		inner.ServeHTTP(w, r)
	})
}

// mayAsk reports whether a request's Origin is allowed; a request without Origin is.
func mayAsk(s *Server, r *http.Request) bool {
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
	return err == nil && at != nil && loopback.Is(at.String()) && loopback.Is(page.Host)
}

// sessions are the sessions over HTTP. The SDK stores them, ends idle sessions, and closes a session whose
// initialization failed; this table stores the owner of each session, and limits their number.
//
// A request that opens a session reserves a place before the SDK sees it. The SDK sends the id of a session with every
// answer to initialize, also with an error, so a refusal by the SDK would be a 200 with the id of a session that does
// not exist. An additional session is refused, rather than ending the oldest idle one: otherwise the holders of one key
// would end each other's sessions in turn, and none of them would learn why.
type sessions struct {
	most, each int

	mu     sync.Mutex
	owner  map[string]access.Identity
	queues map[string]*queue
	taken  map[access.Identity]int // open and reserved places of each identity
	all    int                     // the sum of taken
	closed bool
}

// A place is the place of one session in the table.
type place struct {
	who     access.Identity
	session string // "" until the session is initialized; guarded by sessions.mu
}

type placeKey struct{}

// A tooMany is the refusal to open a session.
type tooMany struct {
	status, retryAfter int
	detail             string
}

// retrySession is the number of seconds after which opening a session may be tried again. Idle sessions end after half
// an hour, and others when their clients end them.
const retrySession = 60

// belongs reports whether a session is open and belongs to an identity.
func (t *sessions) belongs(id string, who access.Identity) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, ok := t.owner[id]
	return ok && owner == who
}

// queueOf returns the queue of a session, or a new empty queue if the session is no longer open.
func (t *sessions) queueOf(id string) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.queues[id]; q != nil {
		return q
	}
	return &queue{}
}

// reserve reserves a place for a session to be opened, or returns the reason for refusing it.
func (t *sessions) reserve(who access.Identity) (*place, *tooMany) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, &tooMany{http.StatusServiceUnavailable, 1, "the server is stopping"}
	case t.taken[who] >= t.each:
		return nil, &tooMany{
			http.StatusTooManyRequests, retrySession,
			fmt.Sprintf("you have %d sessions open, and may have no more; end one with DELETE, or go on in one", t.each),
		}
	case t.all >= t.most:
		return nil, &tooMany{
			http.StatusServiceUnavailable, retrySession,
			fmt.Sprintf("%d sessions are open, and there is room for no more; try again later", t.most),
		}
	}
	if t.owner == nil {
		t.owner, t.queues, t.taken = map[string]access.Identity{}, map[string]*queue{}, map[access.Identity]int{}
	}
	t.all++
	t.taken[who]++
	return &place{who: who}, nil
}

// release frees a reserved place, unless a session has entered it.
func (t *sessions) release(p *place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.session == "" {
		t.free(p.who)
	}
}

// enter gives a reserved place to the opened session. It reports false if the place already has a session, or if the
// server is stopping.
func (t *sessions) enter(id string, p *place) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || p.session != "" {
		return false
	}
	p.session = id
	t.owner[id], t.queues[id] = p.who, &queue{}
	return true
}

func (t *sessions) leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := t.owner[id]
	delete(t.owner, id)
	delete(t.queues, id)
	t.free(who)
}

// free frees a place of an identity. The caller holds t.mu.
func (t *sessions) free(who access.Identity) {
	t.all--
	if t.taken[who]--; t.taken[who] == 0 {
		delete(t.taken, who)
	}
}

// opening records a session when it is initialized. A client learns the session's id from the answer to initialize, so
// no other request can come first.
func (s *Server) opening(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		session, ok := r.GetSession().(*sdk.ServerSession)
		if !ok || method != "initialize" || session.ID() == "" || session.InitializeParams() != nil {
			return next(ctx, method, r)
		}
		p, _ := ctx.Value(placeKey{}).(*place)
		id := session.ID()
		if p == nil || !s.sessions.enter(id, p) {
			return nil, refusef("no session can be opened now")
		}
		go func() {
			_ = session.Wait() // however it ended
			s.sessions.leave(id)
		}()
		return next(ctx, method, r)
	}
}

// Close ends every session and refuses new ones. It waits for running calls.
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
