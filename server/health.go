package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// lookFor is the time limit of a health check.
const lookFor = 2 * time.Second

// live reports whether a restart is needed: if the store does not know whether its last write was kept, it must be
// opened again.
func live(c *call) error {
	if c.server.broken.Load() {
		return c.json(http.StatusServiceUnavailable, api.Health{Status: "unavailable", Checks: map[string]string{"store": "needs a restart"}})
	}
	return c.json(http.StatusOK, api.Health{Status: "ok"})
}

// startup reports whether the store has answered once.
func startup(c *call) error {
	if c.server.started.Load() {
		return c.json(http.StatusOK, api.Health{Status: "ok"})
	}
	if fault := c.server.lookAtStore(c.ctx); fault != "" {
		return c.json(http.StatusServiceUnavailable, api.Health{Status: "starting", Checks: map[string]string{"store": fault}})
	}
	return c.json(http.StatusOK, api.Health{Status: "ok"})
}

// ready reports whether the service can take requests. It names a fault in two words, and the log has the rest,
// because everybody may call this.
func ready(c *call) error {
	s := c.server
	checks := map[string]string{"store": "ok", "keys": "ok"}
	status, code := "ok", http.StatusOK
	if fault := s.lookAtStore(c.ctx); fault != "" {
		checks["store"], status, code = fault, "unavailable", http.StatusServiceUnavailable
	} else if fault := s.lookAtWrites(c.ctx); fault != "" {
		checks["store"], status, code = fault, "unavailable", http.StatusServiceUnavailable
	}
	if !s.config.Kernel.Slices().CanSign() {
		checks["keys"], status, code = "no key signs", "unavailable", http.StatusServiceUnavailable
	}
	if s.isStopping() {
		status, code = "stopping", http.StatusServiceUnavailable
	}
	return c.json(code, api.Health{Status: status, Checks: checks})
}

func (s *Server) lookAtStore(ctx context.Context) (fault string) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if _, err := s.config.Kernel.Turns().Head(ctx, dag.DefaultTenant); err != nil {
		s.config.Log.ErrorContext(ctx, "the store does not answer", "error", err)
		return "does not answer"
	}
	s.started.Store(true)
	return ""
}

// lookAtWrites returns a fault if the store does not accept writes. A store that is busy with another process's write
// has no fault.
func (s *Server) lookAtWrites(ctx context.Context) (fault string) {
	if s.config.Writable == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	err := s.config.Writable(ctx)
	switch {
	case err == nil, errors.Is(err, store.ErrBusy):
		return ""
	case errors.Is(err, store.ErrBroken):
		s.broken.Store(true)
	}
	s.config.Log.ErrorContext(ctx, "the store takes no writes", "error", err)
	return "takes no writes"
}

func openapi(c *call) error { return c.write(http.StatusOK, jsonType, c.server.contract.json) }

func docs(c *call) error {
	page, err := c.server.docsPage()
	if err != nil {
		return err
	}
	header := c.echo.Response().Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return c.write(http.StatusOK, []string{"text/html; charset=utf-8"}, page)
}
