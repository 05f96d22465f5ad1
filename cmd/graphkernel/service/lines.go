package service

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// A lineBuffer gathers the lines of a log and writes many at once: a write for each
// request costs more than the line. What has gathered is written after at most
// flushAfter, and at once after a line of level warn or above. A process that is
// killed loses the rest; nothing that must not be lost is in a log.
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
		b.out.Reset(b.to) // what could not be written is lost; what comes is not
	}
	return n, err
}

// flush writes what has gathered.
func (b *lineBuffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = false
	if err := b.out.Flush(); err != nil { // nobody can be told
		b.out.Reset(b.to)
	}
}

// handler writes JSON lines of a level and above.
func (b *lineBuffer) handler(level slog.Level) slog.Handler {
	return &urgent{slog.NewJSONHandler(b, &slog.HandlerOptions{Level: level}), b}
}

// urgent flushes after what somebody should see now.
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
