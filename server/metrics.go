package server

import (
	"bytes"
	"log"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/token"
)

// metrics are the server's metrics. No label names a tenant, a key or a turn: their number is unlimited, and readers
// of the metrics need not know them.
type metrics struct {
	registry        *prometheus.Registry
	requests        *prometheus.CounterVec
	durations       *prometheus.HistogramVec
	inflight        *prometheus.GaugeVec
	refused         prometheus.Counter
	limited         prometheus.Counter
	unauthenticated prometheus.Counter
	unrouted        prometheus.Counter
	slices          prometheus.Counter
	selected        prometheus.Histogram
	admitted        prometheus.Counter
	existing        prometheus.Counter
	verdicts        *prometheus.CounterVec
	events          prometheus.Counter
	checkpoints     prometheus.Counter
	cosignatures    *prometheus.CounterVec
	proofs          prometheus.Counter
}

var durationBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

func newMetrics(s *Server) (*metrics, error) {
	const space = "graphkernel"
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: space, Name: name, Help: help})
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: space, Name: name, Help: help}, value)
	}
	count := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: space, Name: name, Help: help}, value)
	}
	m := &metrics{
		registry: s.config.Registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: space, Name: "http_requests_total", Help: "Requests answered.",
		}, []string{"operation", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: space, Name: "http_request_duration_seconds", Help: "From the request's headers to the end of the answer.", Buckets: durationBuckets,
		}, []string{"operation"}),
		inflight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: space, Name: "http_requests_in_flight", Help: "Requests at work or waiting.",
		}, []string{"operation"}),
		refused:         counter("overloaded_total", "Requests refused because too many were at work."),
		limited:         counter("rate_limited_total", "Requests refused because their key, or their address, had used up its rate."),
		unauthenticated: counter("unauthenticated_total", "Requests whose key is not valid."),
		unrouted:        counter("unrouted_total", "Requests for routes that do not exist."),
		slices:          counter("slices_total", "Slices cut and signed."),
		selected: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: space, Name: "slice_turns", Help: "Turns selected for a slice.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 10000},
		}),
		admitted: counter("turns_admitted_total", "Turns admitted that were new."),
		existing: counter("turns_existing_total", "Turns admitted that were there already."),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: space, Name: "verifications_total", Help: "Tokens and bundles judged.",
		}, []string{"kind", "outcome"}),
		events:      counter("events_sent_total", "Events sent to streams."),
		checkpoints: counter("checkpoints_total", "Checkpoints of ledgers given out that were new."),
		cosignatures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: space, Name: "cosignatures_total", Help: "Witnesses that were asked to cosign such a checkpoint.",
		}, []string{"result"}),
		proofs: counter("proofs_total", "Proofs given out that a leaf is in a ledger."),
	}
	m.fromTheStart()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: space, Name: "build_info", Help: "1, with the program's version.", ConstLabels: prometheus.Labels{"version": s.config.Version},
	})
	build.Set(1)
	k := s.config.Kernel
	caches := []prometheus.Collector{}
	for _, c := range []struct {
		name, holds string
		stats       func(kernel.Stats) bytelru.Stats
	}{
		{"graph", "skeletons of conversations", func(s kernel.Stats) bytelru.Stats { return s.Graphs }},
		{"cut", "finished cuts", func(s kernel.Stats) bytelru.Stats { return s.Cuts }},
		{"text", "encoded turns", func(s kernel.Stats) bytelru.Stats { return s.Texts }},
	} {
		caches = append(caches,
			gauge(c.name+"_cache_bytes", "Bytes of "+c.holds+" kept.", func() float64 { return float64(c.stats(k.Stats()).Bytes) }),
			count(c.name+"_cache_hits_total", "Look-ups of "+c.holds+" that found them kept.", func() float64 { return float64(c.stats(k.Stats()).Hits) }),
			count(c.name+"_cache_misses_total", "Look-ups of "+c.holds+" that did not.", func() float64 { return float64(c.stats(k.Stats()).Misses) }),
			count(c.name+"_cache_evictions_total", "Times that "+c.holds+" were let go for want of room.", func() float64 { return float64(c.stats(k.Stats()).Evicted) }),
		)
	}
	for _, c := range append(caches, []prometheus.Collector{
		m.requests, m.durations, m.inflight, m.refused, m.limited, m.unauthenticated, m.unrouted, m.slices, m.selected, m.admitted, m.existing, m.verdicts, m.events, m.checkpoints, m.cosignatures, m.proofs, build,
		gauge("queue_length", "Requests that wait for a place.", func() float64 { return float64(s.places.waiting.Load()) }),
		gauge("places_taken", "Requests at work.", func() float64 { return float64(len(s.places.taken)) }),
		gauge("open_streams", "Open streams, of events and of lines.", func() float64 { s.streams.mu.Lock(); defer s.streams.mu.Unlock(); return float64(s.streams.all) }),
		count("token_cache_hits_total", "Tokens found among those verified lately.", func() float64 { return float64(k.Stats().TokenHits) }),
		count("token_cache_misses_total", "Tokens that were computed.", func() float64 { return float64(k.Stats().TokenMisses) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}...) {
		if err := m.registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// fromTheStart makes series at 0, so that an alert sees their first increase: Prometheus takes the increase of a series that begins at 1 for 0.
func (m *metrics) fromTheStart() {
	for _, result := range []string{cosigned, notCosigned} {
		m.cosignatures.WithLabelValues(result)
	}
	for _, kind := range []string{kindToken, kindBundle} {
		for _, outcome := range token.Outcomes {
			m.verdicts.WithLabelValues(kind, string(outcome))
		}
	}
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		m.requests.WithLabelValues("ready", strconv.Itoa(status))
	}
}

// observed are the metrics of one operation. Except for the counter of ready, the series of an operation begin with its first request: there are about a
// hundred operations, and each takes 2 KB of an answer.
type observed struct {
	series   func() (inflight prometheus.Gauge, duration prometheus.Observer)
	byStatus sync.Map // int → prometheus.Counter
	counter  func(status int) prometheus.Counter
}

func (m *metrics) of(op *operation) *observed {
	return &observed{
		series: sync.OnceValues(func() (prometheus.Gauge, prometheus.Observer) {
			return m.inflight.WithLabelValues(op.ID), m.durations.WithLabelValues(op.ID)
		}),
		counter: func(status int) prometheus.Counter { return m.requests.WithLabelValues(op.ID, strconv.Itoa(status)) },
	}
}

// begin counts a request as at work, until end is called.
func (o *observed) begin() {
	inflight, _ := o.series()
	inflight.Inc()
}

func (o *observed) end() {
	inflight, _ := o.series()
	inflight.Dec()
}

func (o *observed) done(status int, took time.Duration) {
	_, duration := o.series()
	duration.Observe(took.Seconds())
	if c, ok := o.byStatus.Load(status); ok {
		c.(prometheus.Counter).Inc() //nolint:forcetypeassert // nothing else is stored
		return
	}
	c := o.counter(status)
	o.byStatus.Store(status, c)
	c.Inc()
}

// The kinds of verified input.
const (
	kindToken  = "token"
	kindBundle = "bundle"
)

func (m *metrics) judged(kind string, o token.Outcome) {
	m.verdicts.WithLabelValues(kind, string(o)).Inc()
}

// handle answers with the metrics in the Prometheus text format.
func (m *metrics) handle(c *call) error {
	families, err := m.registry.Gather()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	e := expfmt.NewEncoder(&out, format)
	for _, f := range families {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	return c.write(http.StatusOK, []string{string(format)}, out.Bytes())
}

// quiet logs the messages of net/http, such as a client's failed TLS handshake, at level debug, because nobody needs
// to act on them.
func quiet(l *slog.Logger) *log.Logger { return slog.NewLogLogger(l.Handler(), slog.LevelDebug) }
