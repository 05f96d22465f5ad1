package server

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

// rates keeps a limiter for each name, up to a maximum number of names. A name that was evicted starts with a new
// limiter.
type rates struct {
	limit rate.Limit
	burst int
	kept  *lru.Cache[string, *limiter]
}

// A limiter is the limiter of one name. It is moved to the front of the cache at most once per second: if it were
// moved with every request, callers would wait for each other.
type limiter struct {
	*rate.Limiter
	moved atomic.Int64 // the second it was moved in
}

func newRates(limit float64, burst, names int) (*rates, error) {
	kept, err := lru.New[string, *limiter](names)
	if err != nil {
		return nil, err
	}
	return &rates{rate.Limit(limit), burst, kept}, nil
}

func (r *rates) of(name string, now time.Time) *limiter {
	if l, ok := r.kept.Peek(name); ok {
		if second := now.Unix(); l.moved.Swap(second) != second {
			r.kept.Get(name)
		}
		return l
	}
	l := &limiter{Limiter: rate.NewLimiter(r.limit, r.burst)}
	l.moved.Store(now.Unix())
	if before, ok, _ := r.kept.PeekOrAdd(name, l); ok {
		return before
	}
	return l
}

// take counts one request of a name, or returns the number of seconds until the next one is allowed.
func (r *rates) take(name string, now time.Time) (retryAfter int, ok bool) {
	if r.limit < 0 {
		return 0, true
	}
	l := r.of(name, now)
	if l.AllowN(now, 1) {
		return 0, true
	}
	return seconds(l, now), false
}

// seconds returns the number of seconds until a limiter allows a request, at least 1.
func seconds(l *limiter, now time.Time) int {
	lacking := 1 - l.TokensAt(now)
	return max(1, int(lacking/float64(l.Limit())+0.999))
}

// places limits the requests at work, and the requests that wait for a place.
type places struct {
	taken   chan struct{}
	waiting atomic.Int64
	most    int64
	wait    time.Duration
}

func newPlaces(concurrent, queue int, wait time.Duration) *places {
	return &places{taken: make(chan struct{}, concurrent), most: int64(queue), wait: wait}
}

// enter takes a place. It reports false if the queue is full or the wait too long.
func (p *places) enter(ctx context.Context) bool {
	select {
	case p.taken <- struct{}{}:
		return true
	default:
	}
	if p.waiting.Add(1) > p.most {
		p.waiting.Add(-1)
		return false
	}
	defer p.waiting.Add(-1)
	enough := time.NewTimer(p.wait)
	defer enough.Stop()
	select {
	case p.taken <- struct{}{}:
		return true
	case <-enough.C:
	case <-ctx.Done():
	}
	return false
}

func (p *places) leave() { <-p.taken }

// streams counts the open streams, of events and of lines.
type streams struct {
	mu    sync.Mutex
	all   int
	byKey map[string]int
}

func (s *streams) open(key string, perKey, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= most || s.byKey[key] >= perKey {
		return false
	}
	if s.byKey == nil {
		s.byKey = map[string]int{}
	}
	s.all++
	s.byKey[key]++
	return true
}

func (s *streams) close(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.byKey[key]--; s.byKey[key] == 0 {
		delete(s.byKey, key)
	}
}

// A budget limits the bytes of bodies and answers in memory, in total and for each key. It counts the bytes that
// arrived, not the announced length: a caller who announces much and sends little uses little.
type budget struct {
	most int64 // in total; a quarter of it for one key

	mu    sync.Mutex
	held  int64
	byKey map[string]int64
}

// take counts n more bytes for a key, or reports false if there is no room for them.
func (b *budget) take(key string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Bytes above a limit are accepted if nothing else counts against that limit: otherwise they would never be accepted.
	if b.held > 0 && b.held+n > b.most || b.byKey[key] > 0 && b.byKey[key]+n > b.most/4 {
		return false
	}
	if b.byKey == nil {
		b.byKey = map[string]int64{}
	}
	b.held += n
	b.byKey[key] += n
	return true
}

func (b *budget) give(key string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
	if b.byKey[key] -= n; b.byKey[key] == 0 {
		delete(b.byKey, key)
	}
}

// A counted is a reader whose bytes count against the budget, except for the first bytes of a body, which are all of
// most bodies.
type counted struct {
	io.ReadCloser
	budget *budget
	key    string
	free   int64
	taken  int64
}

// uncounted is the number of bytes of each body that are not counted. The places and rates limit them.
const uncounted = 64 << 10

func (s *Server) counted(body io.ReadCloser, who access.Identity) *counted {
	return &counted{ReadCloser: body, budget: &s.bodies, key: string(who.Tenant) + "/" + who.Subject, free: uncounted}
}

var errFull = &problem{code: api.CodeOverloaded, retryAfter: 1, detail: "too many bytes of bodies are in memory, in all or with this key; try again"}

func (r *counted) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	more := int64(n)
	if r.free > 0 {
		free := min(r.free, more)
		r.free -= free
		more -= free
	}
	if more > 0 {
		if !r.budget.take(r.key, more) {
			return 0, errFull
		}
		r.taken += more
	}
	return n, err
}

// done returns all counted bytes to the budget, because the bytes are no longer needed.
func (r *counted) done() {
	if r.taken > 0 {
		r.budget.give(r.key, r.taken)
	}
	r.taken, r.free = 0, uncounted
}
