package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
)

// A handler carries out an operation.
type handler func(*call) error

// An answer is complete and not yet sent. It is sent after the call has left its place, so a slow reader occupies no
// place.
type answer struct {
	status int // 0: no answer, or already sent
	media  []string
	data   []byte
}

// A call is one request in progress.
type call struct {
	server *Server
	op     *operation
	echo   echo.Context
	ctx    context.Context
	id     string // of the request
	who    access.Identity
	span   trace.Span // nil: no tracing

	claimed string // the tenant and the id of an invalid API key

	params map[string]string
	given  []canon.Member // the parameters, as members of the operation's In
	media  string

	body      []byte       // nil if there is no body, or if it is streamed
	described body         // how the contract reads it
	value     *canon.Value // the body, parsed strictly; nil if the handler gets the bytes

	answer answer                    // sent after the place was left
	unsent func(reason string) error // records that the answer was not sent; nil: there is nothing to record

	slice string // for the log: the slice id, if there is one
	turns int    // for the log and metrics: turns admitted or selected
}

// reads reports whether an operation shows data of a tenant.
func (op *operation) reads() bool {
	return slices.Contains([]access.Permission{access.Read, access.Recall, access.Cut, access.Replay, access.Explain}, op.May)
}

func (c *call) tenant() dag.Tenant { return c.who.Tenant }

// serve returns the handler that every request of an operation passes through.
func (s *Server) serve(op *operation) echo.HandlerFunc {
	observed := s.metrics.of(op)
	return func(e echo.Context) error {
		r := e.Request()
		started := s.config.Clock()
		c := &call{server: s, op: op, echo: e, ctx: r.Context(), id: requestID(r)}
		header := e.Response().Header()
		header["X-Request-Id"] = []string{c.id}
		header["X-Content-Type-Options"] = noSniff
		header["Cache-Control"] = noStore
		if s.isStopping() {
			header["Connection"] = []string{"close"}
		}
		observed.begin()
		s.inFlight.Add(1)
		err := s.guarded(c, started)
		if err == nil {
			if err = c.send(); err != nil && c.unsent != nil {
				err = errors.Join(err, c.unsent("the answer could not be written"))
			}
		}
		s.inFlight.Add(-1)
		observed.end()
		if err != nil {
			if errors.Is(err, store.ErrBroken) {
				s.broken.Store(true)
			}
			c.fail(err)
		}
		took := s.config.Clock().Sub(started)
		status := e.Response().Status
		observed.done(status, took)
		s.end(c, status)
		s.log(c, r, status, took, err)
		if err != nil {
			s.discardRest(c, r)
		}
		return nil
	}
}

var (
	noSniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// guarded runs the call and turns a panic into an error.
func (s *Server) guarded(c *call, now time.Time) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares so too
				panic(p)
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return s.pass(c, now)
}

// pass takes a request through its steps, in the order given in the package comment.
func (s *Server) pass(c *call, now time.Time) (err error) {
	r := c.echo.Request()
	if c.op.May != 0 {
		if err := s.admitted(c, r, now); err != nil {
			return err
		}
		s.begin(c, r)
	} else if c.op.Limited {
		if err := s.fromAddress(c, now); err != nil {
			return err
		}
	}
	if c.params, c.given, err = c.op.readParams(r, c.echo.Param); err != nil {
		return err
	}
	// The body is read before the place is taken, so a slow sender occupies no place.
	release, err := c.readBody(r)
	defer release()
	if err != nil {
		return err
	}
	if c.op.streams() || c.described.stream { // a stream of lines takes a place for each batch
		return c.op.handle(c)
	}
	return c.atWork(func() error {
		if err := c.parse(); err != nil {
			return err
		}
		return c.op.handle(c)
	})
}

// atWork runs work in a place, and under a deadline if the operation may wait for something.
func (c *call) atWork(work func() error) error {
	if c.op.open() && !c.op.Limited {
		return work()
	}
	return c.inPlace(len(c.body), func() error { return c.inTime(work) })
}

// inPlace runs work in a place, and also in one of the places for large bodies if size is large.
func (c *call) inPlace(size int, work func() error) error {
	s := c.server
	for _, p := range []*places{s.large, s.places} {
		if p == s.large && size <= largeBody {
			continue
		}
		if !p.enter(c.ctx) {
			s.metrics.refused.Inc()
			return &problem{code: api.CodeOverloaded, retryAfter: 1, detail: "too many requests are running; try again"}
		}
		defer p.leave()
	}
	return work()
}

// inTime runs work under a deadline, unless the operation is computed from the request alone.
func (c *call) inTime(work func() error) error {
	if !c.op.Alone {
		whole := c.ctx
		ctx, cancel := context.WithTimeout(whole, c.server.config.Limits.Timeout)
		defer cancel()
		c.ctx = ctx
		defer func() { c.ctx = whole }()
	}
	return work()
}

// largeBody is the size in bytes above which only a few bodies are processed at once: strict parsing takes several
// times a body's length in memory.
const largeBody = 1 << 20

// admitted identifies the caller, applies the key's rate, and checks the permission.
func (s *Server) admitted(c *call, r *http.Request, now time.Time) error {
	who, err := s.authenticate(c, r, now)
	if err != nil {
		return err
	}
	c.who, c.ctx = who, access.As(c.ctx, who)
	if err := s.within(who, now); err != nil {
		return err
	}
	if !who.Role.May(c.op.May) {
		return forbidden(who.Role, c.op.May)
	}
	return nil
}

func forbidden(role access.Role, p access.Permission) *problem {
	return &problem{code: api.CodeForbidden, detail: fmt.Sprintf("a key of role %s may not %s", role, p)}
}

// within counts one request against a key's rate.
func (s *Server) within(who access.Identity, now time.Time) error {
	wait, ok := s.rates.take(string(who.Tenant)+"/"+who.Subject, now)
	if ok {
		return nil
	}
	s.metrics.limited.Inc()
	return &problem{code: api.CodeRate, retryAfter: wait, detail: fmt.Sprintf("this key has used up its rate of %g requests a second", s.config.Limits.Rate)}
}

// fromAddress counts one request against the rate of the caller's address, for operations without a key. From then on
// the address is the caller's identity.
func (s *Server) fromAddress(c *call, now time.Time) error {
	c.who = access.Identity{Subject: "address " + c.echo.RealIP()}
	wait, ok := s.strangers.take(c.who.Subject, now)
	if ok {
		return nil
	}
	s.metrics.limited.Inc()
	return &problem{code: api.CodeRate, retryAfter: wait, detail: fmt.Sprintf("this address has used up its rate of %g requests a second", s.config.Limits.Rate)}
}

// parse parses the body strictly. Lines are parsed one by one by their handler.
func (c *call) parse() (err error) {
	if c.body != nil && !c.described.anything && c.media != typeLines {
		c.value, err = readStrictly(c.body, "", mostValues)
	}
	return err
}

// readBody reads the body of the operation, up to the limit. A stream is left to its handler. release must be called
// when the body is no longer needed.
func (c *call) readBody(r *http.Request) (release func(), err error) {
	release = func() {}
	if c.op.bodies == nil || r.ContentLength == 0 && !c.op.bodyRequired {
		return release, nil
	}
	optional := !c.op.bodyRequired && r.Header.Get("Content-Type") == ""
	if !optional {
		if c.media, c.described, err = c.op.media(r); err != nil || c.described.stream {
			return release, err
		}
	}
	most := c.server.config.Limits.BodyBytes
	if c.op.ID == api.AddCheckpoint.ID {
		most = min(most, witness.MaxRequest)
	}
	if r.ContentLength > most {
		return release, &http.MaxBytesError{Limit: most}
	}
	in := c.server.counted(http.MaxBytesReader(c.echo.Response().Writer, r.Body, most), c.who)
	release = in.done
	if body, err := readAll(in, r.ContentLength); err != nil {
		return release, bodyError(err)
	} else if len(body) > 0 || c.op.bodyRequired {
		c.body = body
	}
	if !c.op.Alone {
		// The body is here. If the read deadline passed while the request is at work, net/http would take the client
		// for gone.
		_ = http.NewResponseController(c.echo.Response().Writer).SetReadDeadline(time.Time{})
	}
	if optional && c.body != nil { // sent without a length and without a Content-Type
		_, _, err = c.op.media(r)
	}
	return release, err
}

// readAll reads a body of a known length, or of unknown length if length is negative. It allocates memory only for
// bytes that arrived, except up to atOnce.
func readAll(in io.Reader, length int64) ([]byte, error) {
	const atOnce = 64 << 10
	if 0 <= length && length <= atOnce {
		body := make([]byte, length)
		_, err := io.ReadFull(in, body)
		return body, err
	}
	var body bytes.Buffer
	n, err := body.ReadFrom(in)
	if err == nil && n < length {
		err = io.ErrUnexpectedEOF
	}
	return body.Bytes(), err
}

// bodyError returns the error for a body that was not read completely.
func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	var known *problem
	switch {
	case err == nil, errors.As(err, &tooLarge):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &problem{code: api.CodeSlowClient, detail: "the body did not come in time", cause: err}
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, syscall.ECONNRESET):
		return &problem{code: api.CodeGone, detail: "the connection ended before the body was complete", cause: err}
	}
	return &problem{code: api.CodeInvalid, place: "body", detail: "the body cannot be read: " + err.Error(), cause: err}
}

// json sets the answer to a value as JSON.
func (c *call) json(status int, v any) error {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	return c.write(status, jsonType, out.Bytes())
}

var (
	jsonType     = []string{typeJSON}
	problemType  = []string{typeProblem}
	markdownType = []string{typeMarkdown + "; charset=utf-8"}
	textType     = []string{typeText + "; charset=utf-8"}
)

// measuredBySelf is the size in bytes up to which net/http sets an answer's Content-Length by itself.
const measuredBySelf = 2 << 10

// write sets the answer, which is sent at the end.
func (c *call) write(status int, media []string, data []byte) error {
	c.answer = answer{status, media, data}
	return nil
}

// send sends the answer, if there is one. The bytes of a long answer count against the budget while it is sent, like
// those of bodies while they arrive.
func (c *call) send() error {
	a := c.answer
	if c.answer = (answer{}); a.status == 0 {
		return nil
	}
	if n := int64(len(a.data)); n > uncounted {
		s, key := c.server, streamKey(c)
		if !s.bodies.take(key, n) {
			return errFull
		}
		defer s.bodies.give(key, n)
	}
	out := c.echo.Response()
	header := out.Header()
	header["Content-Type"] = a.media
	if len(a.data) > measuredBySelf {
		header["Content-Length"] = []string{strconv.Itoa(len(a.data))}
	}
	out.WriteHeader(a.status)
	if _, err := out.Write(a.data); err != nil {
		return &problem{code: api.CodeGone, detail: "the answer could not be written", cause: err}
	}
	return nil
}

// fail answers with a problem, unless an answer has begun.
func (c *call) fail(err error) {
	p := problemOf(err)
	if c.echo.Response().Committed {
		return
	}
	header := c.echo.Response().Header()
	header.Del("ETag")
	header.Del("Slice-Id")
	header.Del("Content-Encoding")
	header["Cache-Control"] = noStore
	if p.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.code == api.CodeUnauthenticated {
		header.Set("WWW-Authenticate", `Bearer realm="graphkernel"`)
	}
	w := p.wire(c.id)
	if c.op.Plain {
		c.answer = answer{w.Status, textType, []byte(p.detail + "\n")}
		_ = c.send() // the client is gone
		return
	}
	data, err := json.Marshal(w)
	if err != nil {
		panic("server: encoding a problem: " + err.Error())
	}
	c.answer = answer{w.Status, problemType, data}
	_ = c.send() // the client is gone
}

// requestID returns the caller's request id if it is harmless in a log, or a random one.
func requestID(r *http.Request) string {
	if given := r.Header["X-Request-Id"]; len(given) == 1 && harmless(given[0]) {
		return given[0]
	}
	return drawID()
}

func harmless(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r))
	}) < 0
}

// begin starts the span of a request, as a child of the caller's span if the request has one (W3C Trace Context). It
// runs after authentication: a stranger must not decide what is traced.
func (s *Server) begin(c *call, r *http.Request) {
	if s.tracer == nil {
		return
	}
	ctx := propagation.TraceContext{}.Extract(c.ctx, propagation.HeaderCarrier(r.Header))
	c.ctx, c.span = s.tracer.Start(ctx, c.op.ID, trace.WithSpanKind(trace.SpanKindServer))
}

func (s *Server) end(c *call, status int) {
	span := c.span
	if span == nil {
		return
	}
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("http.request.method", c.op.Method),
			attribute.String("http.route", c.op.path),
			attribute.Int("http.response.status_code", status),
			attribute.String("graphkernel.request_id", c.id),
			attribute.String("graphkernel.tenant", string(c.who.Tenant)),
		)
		if c.slice != "" {
			span.SetAttributes(attribute.String("graphkernel.slice_id", c.slice))
		}
		if status >= 500 {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	span.End()
}

// log writes the log line of a request. It contains no header, no query and no body, so keys and people's texts stay
// out of logs.
func (s *Server) log(c *call, r *http.Request, status int, took time.Duration, err error) {
	if err == nil && status < 400 && c.op.reads() && slices.Contains(s.config.Readings, c.who.Tenant) {
		s.config.Log.LogAttrs(c.ctx, slog.LevelInfo, "reading",
			slog.String("tenant", string(c.who.Tenant)), slog.String("subject", c.who.Subject), slog.String("operation", c.op.ID), slog.String("path", r.URL.Path), slog.String("request_id", c.id))
	}
	level := slog.LevelInfo
	switch {
	case status >= 500 && status != http.StatusServiceUnavailable:
		level = slog.LevelError
	case status >= 500:
		level = slog.LevelWarn
	case c.op.open():
		level = slog.LevelDebug // health checks come every few seconds
	}
	if !s.config.Log.Enabled(c.ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs,
		slog.String("request_id", c.id), slog.String("operation", c.op.ID), slog.Int("status", status),
		slog.Int64("micros", took.Microseconds()), slog.String("remote", c.echo.RealIP()))
	if c.who.Tenant != "" {
		attrs = append(attrs, slog.String("tenant", string(c.who.Tenant)), slog.String("subject", c.who.Subject))
	}
	if c.slice != "" {
		attrs = append(attrs, slog.String("slice_id", c.slice))
	}
	if c.turns != 0 {
		attrs = append(attrs, slog.Int("turns", c.turns))
	}
	if err != nil {
		p := problemOf(err)
		attrs = append(attrs, slog.String("code", string(p.code)))
		if c.claimed != "" {
			attrs = append(attrs, slog.String("claimed", c.claimed))
		}
		if p.cause != nil && (level > slog.LevelInfo || p.code == api.CodeUnauthenticated) {
			attrs = append(attrs, slog.String("error", p.cause.Error()))
		}
	}
	if span := trace.SpanContextFromContext(c.ctx); span.HasTraceID() {
		attrs = append(attrs, slog.String("trace_id", span.TraceID().String()))
	}
	s.config.Log.LogAttrs(c.ctx, level, "request", attrs...)
}
