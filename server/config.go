package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/witness"
)

// Pages serves the web pages for people. ServePage answers every request completely; the error it returns is for the
// log and is not in the answer.
type Pages interface {
	ServePage(w http.ResponseWriter, r *http.Request) error
}

// A Config configures a server.
type Config struct {
	Kernel *kernel.Kernel   // required
	Log    *slog.Logger     // required
	Clock  func() time.Time // required: for rates and durations; never for evidence

	// Authenticate returns the identity of a bearer token. An error that wraps access.ErrKey is the caller's fault.
	// Nil: the kernel's own keys.
	Authenticate func(ctx context.Context, bearer string) (access.Identity, error)

	// MCP serves /mcp, after authentication. Nil: /mcp does not exist.
	MCP func(identify func(*http.Request) (access.Identity, bool)) http.Handler

	// Pages returns the web pages for people and their paths; a path that ends with a slash includes all paths below
	// it. The pages call the service that they are given, like any client. Nil: there are no pages.
	Pages func(service http.Handler) (paths []string, pages Pages, err error)

	// OnStop is called once when the server begins to stop, to end long-lived connections such as MCP's sessions.
	// Nil: nothing is called.
	OnStop func()

	// Writable returns an error if the store does not accept writes, for /health/ready. Nil: this is not checked.
	Writable func(context.Context) error

	// PublicLogs are the tenants whose ledger everybody may read without a key.
	PublicLogs []dag.Tenant

	// Readings are the tenants whose readings are logged: each answer with a tenant's data is a line of the log at
	// level info, with who read it and when. The line has the path, which may contain ids, and no text.
	Readings []dag.Tenant

	// Witness cosigns the checkpoints of other logs. Nil: this kernel is not a witness.
	Witness *witness.Witness

	// Asked is the number of witnesses that the kernel asks to cosign its own checkpoints, for the metrics and the
	// log. 0: none.
	Asked int

	Limits         Limits
	CORS           []string       // origins that browsers may send requests from, "*" for any; none: CORS is off
	TrustedProxies []netip.Prefix // their X-Forwarded-For is trusted; none: the header is ignored

	Registry *prometheus.Registry // receives the metrics; nil: a new one
	Tracer   trace.TracerProvider // nil: no spans
	Version  string               // of the program, for /docs and metrics
}

// Limits limit the load that callers can cause. The comment on each field gives the default, which its zero value
// means; a negative rate means no limit.
type Limits struct {
	BodyBytes     int64         // of a request's body: 64 MiB; a stream of lines has no limit
	BodiesBytes   int64         // of the bodies and answers in memory: 512 MiB, a quarter of it for each key
	LineBytes     int           // of one line of a stream: ingest.MaxLine
	BatchTurns    int           // of one admission: 10 000
	Rate          float64       // requests per second for each key, and for each address without a key: 2 000
	Burst         int           // requests at once for each of those: twice the rate
	Keys          int           // keys and addresses whose rate is remembered: 100 000
	AuthFailures  float64       // failed authentications per second for each address: 10
	Concurrent    int           // requests at work: 16 per processor
	Queue         int           // requests that wait for a place: 1 024
	QueueWait     time.Duration // how long: 2 s
	Timeout       time.Duration // of a request: 30 s
	HeaderTimeout time.Duration // until the headers are read: 5 s
	IdleTimeout   time.Duration // of a kept connection: 2 min
	Connections   int           // open connections; more are closed at once: 2 048
	Streams       int           // open streams, of events and of lines, for each key: 16
	StreamsTotal  int           // open streams: 1 024
	BatchBytes    int           // of the slices in one answer: 64 MiB
	PageBytes     int           // of the turns in one answer: 8 MiB
}

func (l *Limits) fill() {
	set(&l.BodyBytes, 64<<20)
	set(&l.BodiesBytes, 512<<20)
	set(&l.LineBytes, 64<<20)
	set(&l.BatchTurns, 10_000)
	set(&l.Rate, 2_000)
	set(&l.Burst, max(1, int(2*l.Rate)))
	set(&l.Keys, 100_000)
	set(&l.AuthFailures, 10)
	set(&l.Concurrent, 16*runtime.GOMAXPROCS(0))
	set(&l.Queue, 1_024)
	set(&l.QueueWait, 2*time.Second)
	set(&l.Timeout, 30*time.Second)
	set(&l.HeaderTimeout, 5*time.Second)
	set(&l.IdleTimeout, 2*time.Minute)
	set(&l.Connections, 2_048)
	set(&l.Streams, 16)
	set(&l.StreamsTotal, 1_024)
	set(&l.PageBytes, 8<<20)
	set(&l.BatchBytes, 64<<20)
}

func set[T comparable](field *T, standard T) {
	var zero T
	if *field == zero {
		*field = standard
	}
}
