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

// Clients send the calls in one answer of a model without waiting in between, and the SDK runs the calls of a session
// concurrently. A queue makes them take effect in order: the transport gives each call a ticket when it arrives, and
// the handler waits until the calls before it are answered. Pings, cancellations and all other methods do not wait.

// MaxQueued limits the calls of a session that are running or waiting.
const MaxQueued = 1000

// ticketHeader is the header that carries the number of a ticket from the transport to the handler: the header is the
// only part of a request that the SDK passes on. A value sent by a client is replaced.
const ticketHeader = "Graphkernel-Ticket"

// ordered reports whether calls of a method wait for earlier calls.
func ordered(method string) bool { return method == "tools/call" || method == "resources/read" }

// A queue puts the calls of one session in order. The zero value is an empty queue.
type queue struct {
	mu   sync.Mutex
	last <-chan struct{} // closed when the newest ticket and all before it are done; nil if there was none
	size int             // number of tickets that are not done
}

// A ticket is the place of a call in a queue.
type ticket struct {
	queue  *queue
	before <-chan struct{} // closed when it is the ticket's turn
	after  chan struct{}
	place  int         // number of earlier tickets that were not done when this one was issued
	taken  atomic.Bool // a caller has the duty to call done
	over   sync.Once
}

// enter issues a ticket after all others.
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

// wait waits until all earlier tickets are done. It returns the context's error if the context ends.
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

// done lets the next ticket proceed as soon as all tickets before this one are done, too.
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

// tickets are the tickets that a transport issued and no handler has taken, by number.
type tickets struct {
	all  sync.Map // of string to *ticket
	next atomic.Uint64
}

// give issues a ticket and writes its number into a header. The transport calls drop when no handler can take the
// ticket any more.
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

// of returns the ticket of a request; the caller must call done. A request without a ticket, or whose ticket the
// transport dropped, gets the last place in its queue.
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

// inOrder makes calls of tools and resources take effect in the order of their tickets.
func (s *Server) inOrder(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if !ordered(method) {
			return next(ctx, method, r)
		}
		t := s.tickets.of(r, func() *queue { return s.sessions.queueOf(r.GetSession().ID()) })
		defer t.done()
		if t.place >= MaxQueued {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "more than " + strconv.Itoa(MaxQueued) + " calls of this session are running; wait for answers"}
		}
		if err := t.wait(ctx); err != nil {
			return nil, err
		}
		return next(ctx, method, r)
	}
}
