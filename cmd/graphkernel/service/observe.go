package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/observed"
)

// exporters make the exporters of spans. Builds with the tag otlp have one more.
var exporters = map[string]func(context.Context, *slog.Logger) (sdk.SpanExporter, error){
	"log": func(_ context.Context, log *slog.Logger) (sdk.SpanExporter, error) { return &logExporter{log}, nil },
}

// observers observe the kernel and its store: with spans if they are configured, and always with durations of the store's calls.
type observers struct {
	Registry *prometheus.Registry
	provider trace.TracerProvider // nil: no spans
	tracer   trace.Tracer         // nil: no spans
	stored   *prometheus.HistogramVec
	faults   *prometheus.CounterVec
	done     *prometheus.HistogramVec
	failed   *prometheus.CounterVec
}

// NewObservers makes the observers of a service, and the function that stops them.
func NewObservers(ctx context.Context, s *Service, log *slog.Logger) (_ *observers, stop func(), err error) {
	o := &observers{
		Registry: prometheus.NewRegistry(),
		stored: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "graphkernel", Name: "store_duration_seconds", Help: "Of one call of the store.",
			Buckets: []float64{.00001, .00005, .0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5},
		}, []string{"call"}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "graphkernel", Name: "store_failures_total", Help: "Calls of the store that failed for no fault of the caller's.",
		}, []string{"call"}),
	}
	for _, call := range observed.Calls {
		o.faults.WithLabelValues(call) // a series at 0, so that an alert sees its first increase
	}
	o.done = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "graphkernel", Name: "operation_duration_seconds", Help: "Of one operation of the kernel, whoever asked for it.",
		Buckets: []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 30},
	}, []string{"operation"})
	o.failed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "graphkernel", Name: "operation_failures_total", Help: "Operations of the kernel that ended with an error, the caller's faults included.",
	}, []string{"operation"})
	o.Registry.MustRegister(o.stored, o.faults, o.done, o.failed)
	if s.Exporter == "none" {
		return o, func() {}, nil
	}
	exporter, err := exporters[s.Exporter](ctx, log)
	if err != nil {
		return nil, nil, fmt.Errorf("trace.exporter: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(s.sample))))
	o.provider, o.tracer = provider, provider.Tracer("github.com/graphkernel/graphkernel")
	return o, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.Error("the last spans could not be sent", "error", err)
		}
	}, nil
}

// kernel observes the kernel's operations. A failed reranker is logged, because the caller gets an answer anyway.
func (o *observers) kernel(log *slog.Logger) func(context.Context, string) (context.Context, func(error)) {
	return func(ctx context.Context, operation string) (context.Context, func(error)) {
		ctx, end := o.span(ctx, "kernel."+operation)
		started := time.Now()
		return ctx, func(err error) {
			o.done.WithLabelValues(operation).Observe(time.Since(started).Seconds())
			if err != nil {
				o.failed.WithLabelValues(operation).Inc()
			}
			if err != nil && operation == "rerank" {
				log.WarnContext(ctx, "hits were not reranked", "error", err)
			}
			end(err)
		}
	}
}

// store wraps a store so that its calls are observed.
func (o *observers) store(s store.Store) store.Store {
	return observed.New(s, func(ctx context.Context, call string) (context.Context, func(error)) {
		ctx, end := o.span(ctx, "store."+call)
		started := time.Now()
		return ctx, func(err error) {
			o.stored.WithLabelValues(call).Observe(time.Since(started).Seconds())
			if broken(err) {
				o.faults.WithLabelValues(call).Inc()
			}
			end(err)
		}
	})
}

// broken reports whether an error is a failure of the store itself.
func broken(err error) bool {
	return errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrSchema) ||
		errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrUncertain) || errors.Is(err, store.ErrUnwritable)
}

func (o *observers) span(ctx context.Context, name string) (context.Context, func(error)) {
	if o.tracer == nil || !trace.SpanContextFromContext(ctx).IsSampled() {
		return ctx, func(error) {}
	}
	ctx, span := o.tracer.Start(ctx, name)
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "")
			span.SetAttributes(attribute.String("error.type", fmt.Sprintf("%T", err)))
		}
		span.End()
	}
}

// A logExporter writes a line for each span.
type logExporter struct{ log *slog.Logger }

func (e *logExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	for _, s := range spans {
		attrs := []slog.Attr{
			slog.String("span", s.Name()), slog.String("trace_id", s.SpanContext().TraceID().String()), slog.String("span_id", s.SpanContext().SpanID().String()),
			slog.Int64("micros", s.EndTime().Sub(s.StartTime()).Microseconds()),
		}
		if s.Parent().IsValid() {
			attrs = append(attrs, slog.String("parent_id", s.Parent().SpanID().String()))
		}
		for _, kv := range s.Attributes() {
			attrs = append(attrs, slog.String(string(kv.Key), kv.Value.String()))
		}
		e.log.LogAttrs(ctx, slog.LevelInfo, "span", attrs...)
	}
	return nil
}

func (e *logExporter) Shutdown(context.Context) error { return nil }
