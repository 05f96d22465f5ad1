package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/token"
)

// Show serves a kernel with its pages on loopback until ctx ends, for anybody who has the link that it prints.
func Show(a *cli.App, ctx context.Context, k *kernel.Kernel, authority *token.Authority, tenant dag.Tenant, addr string) error {
	program, _ := cli.BuildVersion()
	config := server.Config{
		Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: a.Clock, Version: program,
		Pages: func(service http.Handler) ([]string, server.Pages, error) {
			return pages(service, authority, a.Clock, program, nil)
		},
	}
	var key string
	var err error
	if key, config.Authenticate, err = devAccess(tenant, a.Clock, k.Keys().Authenticate); err != nil {
		return err
	}
	s, err := server.New(ctx, config)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("addr %s: %w; --addr HOST:PORT names another, and port 0 takes a free one", addr, err)
	}
	url := "http://" + l.Addr().String()
	if a.IO.Output == "json" {
		if err := a.IO.PrintJSON(map[string]string{"url": url, "link": link(url, key), "key": key, "tenant": string(tenant)}); err != nil {
			return err
		}
	} else {
		a.IO.Note("graphkernel: open %s in a browser; interrupt with Ctrl-C", link(url, key))
	}
	return s.Serve(ctx, l, nil, server.Stopping{Grace: shownGrace})
}

// shownGrace is how long running requests may take to finish after an interruption.
const shownGrace = 5 * time.Second

// link returns the URL that signs in with a key. The part after # stays in the browser: no request and no log contains it.
func link(url, key string) string { return url + "/sign-in#" + key }
