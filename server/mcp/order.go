package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Clients send the calls of one answer of a model without waiting in between, and the SDK runs the calls of a session at once. A queue makes them take effect
// in their order: the transport gives each call a ticket as it comes in, and the handler waits until the calls before it are answered. A ping, a
// cancellation and every other method do not wait.

// MaxQueued bounds the calls of a session that are at work or wait.
const MaxQueued = 1000

// ticketHeader carries the number of a ticket from the transport to the handler: the SDK hands over the header of a request and nothing else of it. A
// value that a client sends is replaced.
const ticketHeader = "Graphkernel-Ticket"

// ordered reports whether calls of a method wait for those before them.
func ordered(method string) bool { return method == "tools/call" || method == "resources/read" }

// A queue gives the calls of one session their order. The zero value is an empty queue.
type queue struct {
	mu   sync.Mutex
	last <-chan struct{} // closed when the newest ticket is done and all before it; nil if there was none
	size int             // tickets that are not done
}

// A ticket is the place of a call in a queue.
type ticket struct {
	queue  *queue
	before <-chan struct{} // closed when it is the ticket's turn
	after  chan struct{}
	place  int         // the tickets before it that were not done when it was given
	taken  atomic.Bool // somebody has the duty to call done
	over   sync.Once
}

// enter gives the ticket behind all others.
func (q *queue) enter() *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{queue: q, before: q.last, after: make(chan struct{}), place: q.size}
	q.last = t.after
	q.size++
	return t
}

// take gives the caller the duty to call done. It reports false if another caller has it.
func (t *ticket) take() bool { return t.taken.CompareAndSwap(false, true) }

// wait returns when all tickets before are done, or with the context's error.
func (t *ticket) wait(ctx context.Context) error {
	if t.before == nil {
		return ctx.Err()
	}
	select {
	case <-t.before:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// done lets the next ticket have its turn, as soon as those before this one are done, too.
func (t *ticket) done() {
	t.over.Do(func() {
		t.queue.mu.Lock()
		t.queue.size--
		t.queue.mu.Unlock()
		select {
		case <-t.before:
		default:
			if t.before != nil { // a call that was cancelled while it waited
				go func() {
					<-t.before
					close(t.after)
				}()
				return
			}
		}
		close(t.after)
	})
}

// tickets are those that a transport gave and no handler has taken, by their numbers.
type tickets struct {
	all  sync.Map // of string to *ticket
	next atomic.Uint64
}

// give writes a ticket into a header. The transport calls drop when no handler can come any more.
func (s *tickets) give(q *queue, header http.Header) (drop func()) {
	t, id := q.enter(), strconv.FormatUint(s.next.Add(1), 10)
	s.all.Store(id, t)
	header.Set(ticketHeader, id)
	return func() {
		s.all.Delete(id)
		if t.take() {
			t.done()
		}
	}
}

// of returns the ticket of a request; the caller calls done. A request without a ticket, or whose transport dropped it, gets the last place of its queue.
func (s *tickets) of(r sdk.Request, otherwise func() *queue) *ticket {
	if extra := r.GetExtra(); extra != nil {
		if t, ok := s.all.LoadAndDelete(extra.Header.Get(ticketHeader)); ok {
			if t := t.(*ticket); t.take() { //nolint:forcetypeassert // give stores nothing else
				return t
			}
		}
	}
	t := otherwise().enter()
	t.take()
	return t
}

// inOrder lets calls of tools and resources take effect in the order of their tickets.
func (s *Server) inOrder(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if !ordered(method) {
			return next(ctx, method, r)
		}
		t := s.tickets.of(r, func() *queue { return s.sessions.queueOf(r.GetSession().ID()) })
		defer t.done()
		if t.place >= MaxQueued {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "more than " + strconv.Itoa(MaxQueued) + " calls of this session are at work; wait for answers"}
		}
		if err := t.wait(ctx); err != nil {
			return nil, err
		}
		return next(ctx, method, r)
	}
}
