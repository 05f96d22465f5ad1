//go:build otlp

package service

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// The exporter adds nine megabytes that few users need, so it requires a build tag. It reads the standard OTEL_EXPORTER_OTLP_* variables.
func init() {
	exporters["otlp"] = func(ctx context.Context, _ *slog.Logger) (sdk.SpanExporter, error) { return otlptracehttp.New(ctx) }
}
