package service

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// A lineBuffer collects the lines of a log and writes many at once: a write for each request costs more than the line. Collected lines are written after at
// most flushAfter, and at once after a line of level warn or above. A process that is killed loses the rest; a log contains nothing that must not be lost.
type lineBuffer struct {
	mu      sync.Mutex
	to      io.Writer
	out     *bufio.Writer
	waiting bool // guarded by mu: a flush is due
}

const flushAfter = 100 * time.Millisecond

func newLineBuffer(w io.Writer) *lineBuffer {
	return &lineBuffer{to: w, out: bufio.NewWriterSize(w, 64<<10)}
}

func (b *lineBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting {
		b.waiting = true
		time.AfterFunc(flushAfter, b.flush)
	}
	n, err := b.out.Write(p)
	if err != nil {
		b.out.Reset(b.to) // lines that could not be written are lost; later lines are not
	}
	return n, err
}

// flush writes the collected lines.
func (b *lineBuffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = false
	if err := b.out.Flush(); err != nil { // there is nowhere to report it
		b.out.Reset(b.to)
	}
}

// handler returns a handler that writes JSON lines of a level and above.
func (b *lineBuffer) handler(level slog.Level) slog.Handler {
	return &urgent{slog.NewJSONHandler(b, &slog.HandlerOptions{Level: level}), b}
}

// urgent flushes after lines that somebody should see now.
type urgent struct {
	slog.Handler
	buffer *lineBuffer
}

func (u *urgent) Handle(ctx context.Context, r slog.Record) error {
	err := u.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		u.buffer.flush()
	}
	return err
}

func (u *urgent) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &urgent{u.Handler.WithAttrs(attrs), u.buffer}
}

func (u *urgent) WithGroup(name string) slog.Handler {
	return &urgent{u.Handler.WithGroup(name), u.buffer}
}
