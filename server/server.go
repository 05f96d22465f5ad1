package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/ingest"
)

func (op *operation) streams() bool { return op.ID == api.StreamEvents.ID }

// A Server answers requests. It is safe for use by many goroutines.
type Server struct {
	config    Config
	contract  *contract
	echo      *echo.Echo
	metrics   *metrics
	tracer    trace.Tracer
	rates     *rates
	failures  *rates
	strangers *rates // by address, for operations without a key
	shown     *shown
	places    *places
	large     *places // places for large bodies at work, one per processor
	bodies    budget
	streams   streams
	inFlight  atomic.Int64 // requests at work or waiting, streams included
	docsPage  func() ([]byte, error)
	noPage    echo.HandlerFunc // answers a browser for a path without an operation; nil without pages

	started  atomic.Bool   // the store has answered once
	broken   atomic.Bool   // the store is unusable until it is reopened
	stopping chan struct{} // closed when shutdown begins
	stop     sync.Once
}

// New returns a server, which does not listen yet.
func New(ctx context.Context, c Config) (*Server, error) {
	if c.Kernel == nil || c.Log == nil || c.Clock == nil {
		return nil, errors.New("server: Config needs a Kernel, a Log and a Clock")
	}
	c.Limits.fill()
	c.Limits.LineBytes = min(c.Limits.LineBytes, ingest.MaxLine)
	if c.Authenticate == nil {
		c.Authenticate = c.Kernel.Keys().Authenticate
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	s := &Server{config: c, stopping: make(chan struct{})}
	var err error
	if s.contract, err = readContract(); err != nil {
		return nil, err
	}
	if s.rates, err = newRates(c.Limits.Rate, c.Limits.Burst, c.Limits.Keys); err != nil {
		return nil, fmt.Errorf("server: limits: %w", err)
	}
	if s.strangers, err = newRates(c.Limits.Rate, c.Limits.Burst, c.Limits.Keys); err != nil {
		return nil, fmt.Errorf("server: limits: %w", err)
	}
	if s.shown, err = newShown(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if s.failures, err = newRates(c.Limits.AuthFailures, max(1, int(2*c.Limits.AuthFailures)), c.Limits.Keys); err != nil {
		return nil, fmt.Errorf("server: limits: %w", err)
	}
	s.bodies.most = c.Limits.BodiesBytes
	s.large = newPlaces(runtime.GOMAXPROCS(0), c.Limits.Queue, c.Limits.QueueWait)
	s.places = newPlaces(c.Limits.Concurrent, c.Limits.Queue, c.Limits.QueueWait)
	if s.metrics, err = newMetrics(s); err != nil {
		return nil, fmt.Errorf("server: metrics: %w", err)
	}
	if c.Tracer != nil {
		s.tracer = c.Tracer.Tracer("github.com/graphkernel/graphkernel/server")
	}
	s.docsPage = sync.OnceValues(func() ([]byte, error) { return renderDocs(s.contract, c.Version) })
	s.route()
	if c.Pages != nil {
		paths, pages, err := c.Pages(s)
		if err != nil {
			return nil, fmt.Errorf("server: pages: %w", err)
		}
		s.routePages(paths, pages)
	}
	return s, nil
}

// routePages adds the pages for people. Each request of a page to the service is a separate request, with its own log
// line and metrics.
func (s *Server) routePages(paths []string, pages Pages) {
	op := &operation{Spec: &api.Spec{ID: "page", Path: "/"}, path: "/"}
	observed := s.metrics.of(op)
	answer := func(e echo.Context) error {
		started := s.config.Clock()
		r := e.Request()
		c := &call{server: s, op: op, echo: e, ctx: r.Context(), id: requestID(r)}
		e.Response().Header()["X-Request-Id"] = []string{c.id}
		observed.begin()
		defer observed.end()
		err := c.page(pages)
		took := s.config.Clock().Sub(started)
		status := e.Response().Status
		if err != nil {
			status = http.StatusInternalServerError // also if an answer had begun
		}
		observed.done(status, took)
		s.log(c, r, status, took, err)
		return nil
	}
	s.noPage = answer
	for _, path := range paths {
		if strings.HasSuffix(path, "/") && path != "/" {
			path += "*"
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			s.echo.Add(method, path, answer)
		}
	}
}

// page serves a page, and converts a panic into an error.
func (c *call) page(pages Pages) (err error) {
	w := c.echo.Response()
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares so too
				panic(p)
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			if !w.Committed {
				http.Error(w, "This page could not be made.", http.StatusInternalServerError)
			}
		}
	}()
	return pages.ServePage(w, c.echo.Request())
}

// routes are the operations of the service.
var routes = answering(api.Declared(), ownRoutes)

// ownRoutes are the operations whose handlers are in this package. A facet of the kernel answers the others.
var ownRoutes = []route{
	as(api.AdmitTurns, admitTurns),
	on(api.ListTurns, func(c *call, in api.TurnQuery) (api.StoredTurns, error) {
		w, _, err := c.server.config.Kernel.Turns().Page(c.ctx, c.tenant(), in, c.server.config.Limits.PageBytes)
		return w, err
	}),
	on(api.LookUpTurns, func(c *call, in api.TurnIDs) (api.StoredTurns, error) {
		return c.server.config.Kernel.Turns().LookUp(c.ctx, c.tenant(), in, c.server.config.Limits.BatchBytes)
	}),
	on(api.GetConversation, func(c *call, in api.ConversationByID) (api.ConversationTurns, error) {
		return c.server.config.Kernel.Turns().PageOf(c.ctx, c.tenant(), in, c.server.config.Limits.PageBytes)
	}),
	as(api.CutSlice, cutSlice),
	as(api.CutSlices, cutSlices),
	as(api.AssembleContext, assembleContext),
	as(api.VerifyToken, verifyToken),
	as(api.VerifyBundle, verifyBundle),
	as(api.ReplaySlice, replaySlice),
	as(api.RegisterPolicy, registerPolicy),
	as(api.StreamEvents, streamEvents),
	as(api.AttestBundle, attestBundle),
	as(api.ConvertBundle, convertBundle),
	as(api.GetBundle, getBundle),
	as(api.GetEvidence, getEvidence),
	as(api.GetCheckpoint, getCheckpoint),
	as(api.GetTile, getTile),
	as(api.GetEntries, getEntries),
	as(api.GetProof, getProof),
	as(api.GetConsistency, getConsistency),
	as(api.GetLogKeys, getLogKeys),
	as(api.GetPublicCheckpoint, getCheckpoint),
	as(api.GetPublicTile, getTile),
	as(api.WellKnownKeys, wellKnownKeys),
	as(api.WellKnownJWKS, wellKnownJWKS),
	as(api.AddCheckpoint, addCheckpoint),
	on(api.LearnFact, learnFact),
	as(api.LearnFacts, learnFacts),
	as(api.CutFacts, cutFacts),
	as(api.ProveBelief, proveBelief),
	as(api.DrawKnowledge, drawKnowledge),
	as(api.AddAliases, addAliases),
	on(api.RemoveAlias, removeAlias),
	on(api.GetCaller, getCaller),
	on(api.ConsolidateWorking, consolidateWorking),
	as(api.Live, live),
	as(api.Ready, ready),
	as(api.Startup, startup),
	as(api.Metrics, func(c *call) error { return c.server.metrics.handle(c) }),
	as(api.Description, openapi),
	as(api.Docs, docs),
}

// route adds every operation to the router with its handler.
func (s *Server) route() {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(discard{}) // the server writes its own log
	e.IPExtractor = echo.ExtractIPDirect()
	if len(s.config.TrustedProxies) > 0 {
		trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
		for _, p := range s.config.TrustedProxies {
			mask := net.CIDRMask(p.Bits(), p.Addr().BitLen())
			trust = append(trust, echo.TrustIPRange(&net.IPNet{IP: p.Masked().Addr().AsSlice(), Mask: mask}))
		}
		e.IPExtractor = echo.ExtractIPFromXFFHeader(trust...)
	}
	if len(s.config.CORS) > 0 {
		e.Pre(middleware.CORSWithConfig(middleware.CORSConfig{
			AllowOrigins:  s.config.CORS,
			AllowMethods:  []string{http.MethodGet, http.MethodPost, http.MethodDelete},
			AllowHeaders:  []string{"Authorization", "Content-Type", "Last-Event-ID", "X-Request-Id", "Traceparent", "Mcp-Session-Id", "Mcp-Protocol-Version"},
			ExposeHeaders: []string{"ETag", "Slice-Id", "X-Request-Id", "Retry-After", "Mcp-Session-Id"},
			MaxAge:        600,
		}))
	}
	for _, op := range s.contract.operations {
		e.Add(op.Method, op.path, s.serve(op))
		if op.Method == http.MethodGet && !op.streams() {
			e.Add(http.MethodHead, op.path, s.serve(op)) // RFC 9110, section 9.1; net/http leaves the body out
		}
	}
	if s.config.MCP != nil {
		h := s.config.MCP(identified)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			e.Add(method, "/mcp", s.serveMCP(h))
		}
	}
	e.HTTPErrorHandler = s.unrouted
	s.echo = e
}

// unrouted answers requests that match no operation: a browser with a page, others with a problem.
func (s *Server) unrouted(err error, e echo.Context) {
	r := e.Request()
	if s.noPage != nil && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html") && errors.Is(err, echo.ErrNotFound) {
		s.metrics.unrouted.Inc()
		_ = s.noPage(e)
		return
	}
	p := &problem{code: api.CodeNoRoute, detail: fmt.Sprintf("there is no route %s %.200q; /docs lists them", r.Method, r.URL.Path)}
	if errors.Is(err, echo.ErrMethodNotAllowed) {
		p = &problem{code: api.CodeMethod, detail: fmt.Sprintf("%.200q has no method %.20q; /docs lists them", r.URL.Path, r.Method)}
	}
	c := &call{server: s, op: &operation{Spec: &api.Spec{ID: "none", Method: r.Method}}, echo: e, ctx: r.Context(), id: requestID(r)}
	header := e.Response().Header()
	header["X-Request-Id"], header["X-Content-Type-Options"], header["Cache-Control"] = []string{c.id}, noSniff, noStore
	c.fail(p)
	s.metrics.unrouted.Inc()
	s.log(c, r, e.Response().Status, 0, p)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

type identityKey struct{}

// identified returns the identity that the request was authenticated with.
func identified(r *http.Request) (access.Identity, bool) {
	who, ok := r.Context().Value(identityKey{}).(access.Identity)
	return who, ok
}

// serveMCP authenticates a request like any operation and passes it to h. There the role decides which tools may be
// used.
func (s *Server) serveMCP(h http.Handler) echo.HandlerFunc {
	op := &operation{Spec: &api.Spec{ID: "mcp", Path: "/mcp"}, path: "/mcp"}
	observed := s.metrics.of(op)
	return func(e echo.Context) error {
		r := e.Request()
		started := s.config.Clock()
		c := &call{server: s, op: op, echo: e, ctx: r.Context(), id: requestID(r)}
		header := e.Response().Header()
		header["X-Request-Id"], header["X-Content-Type-Options"] = []string{c.id}, noSniff
		if s.isStopping() {
			header["Connection"] = []string{"close"}
		}
		observed.begin()
		defer observed.end()
		who, err := s.authenticate(c, r, started)
		if err == nil {
			c.who = who
			err = s.within(who, started)
		}
		if err != nil {
			c.fail(err)
		} else {
			s.begin(c, r)
			in := s.counted(http.MaxBytesReader(e.Response().Writer, r.Body, s.config.Limits.BodyBytes), who)
			defer in.done()
			r.Body = in
			// A stream of events may stay open; the server's deadlines are for answers.
			_ = http.NewResponseController(e.Response().Writer).SetWriteDeadline(time.Time{})
			h.ServeHTTP(e.Response(), r.WithContext(context.WithValue(c.ctx, identityKey{}, who)))
			s.end(c, e.Response().Status)
		}
		took := s.config.Clock().Sub(started)
		status := e.Response().Status
		if err != nil {
			status = http.StatusInternalServerError // also if an answer had begun
		}
		observed.done(status, took)
		s.log(c, r, status, took, err)
		return nil
	}
}

// A Stopping configures how a server stops.
type Stopping struct {
	// Delay is how long requests are still accepted after the stop has begun, each answered with Connection: close. A
	// load balancer learns from /health/ready, or from that header, to send requests elsewhere.
	Delay time.Duration
	// Grace is how long requests in progress may take to finish after the delay.
	Grace time.Duration
}

// Serve answers requests on a listener until ctx ends. Then the service is no longer ready, and event streams end
// (they resume elsewhere). After a delay Serve accepts no new connection, waits for requests at work, and returns
// nil. It cuts off requests that are not finished within the grace, and returns an error. With a TLS configuration it
// serves TLS.
func (s *Server) Serve(ctx context.Context, l net.Listener, secure *tls.Config, stopping Stopping) error {
	finish := func() {}
	if tcp, ok := l.(*net.TCPListener); ok {
		d := newDrained(tcp)
		l, finish = d, d.drain
	}
	limits := &s.config.Limits
	l = &bounded{Listener: l, places: make(chan struct{}, limits.Connections)}
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: limits.HeaderTimeout,
		ReadTimeout:       limits.HeaderTimeout + limits.Timeout,
		WriteTimeout:      limits.HeaderTimeout + 2*limits.Timeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          nil,
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	h.ErrorLog = quiet(s.config.Log)
	if secure != nil {
		h.TLSConfig = secure
	}
	ended := make(chan error, 1)
	go func() {
		if secure != nil {
			ended <- h.ServeTLS(l, "", "")
		} else {
			ended <- h.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		s.Stop()
		return fmt.Errorf("server: %w", err)
	case <-ctx.Done():
	}
	inFlight := s.inFlight.Load() // before event streams end
	s.Stop()
	s.config.Log.Info("stopping", "in_flight", inFlight, "delay", stopping.Delay.String(), "grace", stopping.Grace.String())
	delay := time.NewTimer(stopping.Delay)
	defer delay.Stop()
	select {
	case err := <-ended:
		return fmt.Errorf("server: %w", err)
	case <-delay.C:
	}
	finish()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopping.Grace)
	defer cancel()
	if err := h.Shutdown(grace); err != nil {
		return errors.Join(fmt.Errorf("server: requests were still running after %s: %w", stopping.Grace, err), h.Close())
	}
	return nil
}

// Stop begins the stop: the service is no longer ready, and event streams end.
func (s *Server) Stop() {
	s.stop.Do(func() {
		close(s.stopping)
		if s.config.OnStop != nil {
			go s.config.OnStop() // it may wait for requests at work, and the delay must not wait for it
		}
	})
}

func (s *Server) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}
