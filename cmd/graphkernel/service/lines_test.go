package service

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"
)

// A fullOnce cannot be written to until it can.
type fullOnce struct {
	full bool
	out  bytes.Buffer
}

func (w *fullOnce) Write(p []byte) (int, error) {
	if w.full {
		return 0, syscall.ENOSPC
	}
	return w.out.Write(p)
}

// TestLogGoesOn makes sure that a write that failed does not end the log.
func TestLogGoesOn(t *testing.T) {
	t.Parallel()
	w := &fullOnce{full: true}
	b := newLineBuffer(w)
	log := slog.New(b.handler(slog.LevelInfo))
	log.Error("while the disk is full")
	w.full = false
	log.Info("an hour later")
	if w.out.Len() > 0 {
		t.Error("a line of level info was not gathered")
	}
	log.Warn("and then")
	if text := w.out.String(); !strings.Contains(text, "an hour later") || !strings.Contains(text, "and then") {
		t.Errorf("the log says %q", text)
	}
}
