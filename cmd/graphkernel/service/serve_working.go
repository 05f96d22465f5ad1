package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/working"
)

// A workingMemory holds the settings of working memory.
type workingMemory struct {
	keep   string // auto, process or store
	most   int    // bytes in this process
	limits working.Limits
}

func (r *reading) workingMemory() workingMemory {
	w := workingMemory{
		keep: readAs(r, "working.keep", "auto, process or store", func(s string) (string, error) {
			if s != "auto" && s != "process" && s != "store" {
				return "", errors.New("another word")
			}
			return s, nil
		}),
		most: r.number("working.memory_bytes", 1),
		limits: working.Limits{
			Messages: r.atMost("working.messages", working.MaxMessages), Bytes: r.atMost("working.session_bytes", working.MaxBytes),
			Sessions: r.atMost("working.sessions", working.MaxSessions), TenantBytes: r.number("working.tenant_bytes", 1), Expires: r.duration("working.expires"),
		},
	}
	if err := w.limits.Check(); err != nil && r.err == nil {
		r.err = cli.Usage(err)
	}
	return w
}

// apply makes a kernel keep working memory in this process, unless other processes may serve the same store.
func (w *workingMemory) apply(c *kernel.Config, storeName string) {
	c.Working = w.limits
	if w.keep == "process" || w.keep == "auto" && !cli.IsPostgres(storeName) {
		c.WorkingInProcess = working.NewMemory(w.most)
	}
}

// sweepEvery is how often expired messages are removed from working memory.
const sweepEvery = time.Minute

// sweepWorking removes expired messages from working memory, until ctx ends.
func sweepWorking(ctx context.Context, k *kernel.Kernel, log *slog.Logger) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := k.Working().Sweep(ctx); err != nil && ctx.Err() == nil {
				log.Warn("expired messages of working memory could not be removed yet", "error", err.Error())
			}
		}
	}
}
