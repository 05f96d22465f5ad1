package service

import (
	"context"
	"log/slog"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// logKept returns a function that logs secrets which were stored with text that others brought.
func logKept(log *slog.Logger) func(context.Context, cli.Kept) {
	return func(ctx context.Context, in cli.Kept) {
		log.WarnContext(ctx, in.What+" with secrets were brought", "tenant", in.Tenant, "first", in.First, "rules", in.Counts())
	}
}
