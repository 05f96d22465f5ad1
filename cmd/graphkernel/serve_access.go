package main

import (
	"context"
	"crypto/tls"
	"log/slog"

	"github.com/graphkernel/graphkernel/kernel"
)

func tlsConfig(context.Context, *reading, *slog.Logger) (*tls.Config, error) { return nil, nil }

func (a *app) authenticators(_ context.Context, _ *reading, k *kernel.Kernel, _ *slog.Logger) (authenticator, error) {
	return k.Authenticate, nil
}
