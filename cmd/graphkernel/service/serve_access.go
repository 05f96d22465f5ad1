package service

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/server/certs"
	"github.com/graphkernel/graphkernel/server/oidc"
)

// tlsConfig returns the configuration of TLS in the settings; nil means no TLS.
func tlsConfig(ctx context.Context, r *reading, log *slog.Logger) (*tls.Config, error) {
	if r.text("tls.cert") == "" {
		return nil, nil
	}
	pair, err := certs.Open(r.text("tls.cert"), r.text("tls.key"), log)
	if err != nil {
		return nil, cli.Usagef("tls.cert and tls.key: %v", err)
	}
	tick := time.NewTicker(lookAtCerts)
	go func() {
		defer tick.Stop()
		pair.Watch(ctx, tick.C)
	}()
	return pair.TLSConfig(), nil
}

// lookAtCerts is how often the files of the certificate are checked.
const lookAtCerts = time.Second

// authenticators returns the function that identifies the holder of a bearer token: by the store's API keys, and by JWTs if an issuer is configured.
func authenticators(a *cli.App, ctx context.Context, r *reading, k *kernel.Kernel, log *slog.Logger) (authenticator, error) {
	if r.text("oidc.issuer") == "" {
		return k.Keys().Authenticate, nil
	}
	issuer, err := oidc.New(ctx, oidc.Config{
		Issuer: r.text("oidc.issuer"), Audience: r.text("oidc.audience"), JWKS: r.text("oidc.jwks"),
		TenantClaim: r.text("oidc.tenant_claim"), RoleClaim: r.text("oidc.role_claim"), Clock: a.Clock, Log: log,
	})
	if err != nil {
		return nil, cli.Usagef("oidc: %v", err)
	}
	return oidc.Either(k.Keys().Authenticate, issuer), nil
}
