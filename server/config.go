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

// Pages answer what people read in a browser. ServePage answers every request; what it returns is what failed, which the log says and the answer does not.
type Pages interface {
	ServePage(w http.ResponseWriter, r *http.Request) error
}

// A Config says what a server works with.
type Config struct {
	Kernel *kernel.Kernel   // required
	Log    *slog.Logger     // required
	Clock  func() time.Time // required: for rates and durations; never for evidence

	// Authenticate says whose a bearer's text is. An error that wraps access.ErrKey
	// is the caller's fault. Nil is the kernel's own keys.
	Authenticate func(ctx context.Context, bearer string) (access.Identity, error)

	// MCP answers at /mcp, after authentication. Nil: nothing does.
	MCP func(identify func(*http.Request) (access.Identity, bool)) http.Handler

	// Pages answers what people read in a browser, at the paths that it lists; one that ends with a slash stands for all below it. It asks the service
	// that it is given, as any client does. Nil: nobody does.
	Pages func(service http.Handler) (paths []string, pages Pages, err error)

	// OnStop is called once when the server begins to stop: to end what keeps
	// connections open, such as MCP's sessions. Nil: nothing does.
	OnStop func()

	// Writable says whether the store takes writes, for /health/ready. Nil: that is not
	// asked.
	Writable func(context.Context) error

	// PublicLogs are the tenants whose ledger anybody may read without a key.
	PublicLogs []dag.Tenant

	// Readings are the tenants of which each answer with what they hold is a line of the log at level info: who read what, and when. The line has
	// the path, which has ids, and no text.
	Readings []dag.Tenant

	// Witness cosigns the checkpoints of other logs. Nil: this kernel is no witness.
	Witness *witness.Witness

	// Asked is how many witnesses the kernel asks to cosign its own checkpoints, for the
	// metrics and the log. 0: none.
	Asked int

	Limits         Limits
	CORS           []string       // origins that browsers may ask from, "*" for any; none: CORS is off
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed; none: no header is believed

	Registry *prometheus.Registry // gets the metrics; nil is a new one
	Tracer   trace.TracerProvider // nil: no spans
	Version  string               // of the program, for /docs and metrics
}

// Limits bound what callers can make the service do. The zero of each field is the
// default that is beside it; a negative rate is none.
type Limits struct {
	BodyBytes     int64         // of a request's body: 64 MiB; a stream of lines has no such bound
	BodiesBytes   int64         // of bodies and answers that are held at once: 512 MiB, a quarter of it for each key
	LineBytes     int           // of one line of a stream: ingest.MaxLine
	BatchTurns    int           // of one admission: 10 000
	Rate          float64       // requests a second for each key, and each address that needs none: 2 000
	Burst         int           // requests at once for each of those: twice the rate
	Keys          int           // keys and addresses whose rate is kept: 100 000
	AuthFailures  float64       // failed authentications a second for each address: 10
	Concurrent    int           // requests at work: 16 for each processor
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
