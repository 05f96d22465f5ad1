package cli

import (
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// A Bar shows the progress of work. It is silent unless a person watches.
type Bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
	drawn   chan struct{} // is closed when nothing more is drawn
}

// Progress returns a bar for work that is measured in bytes.
func (s *Streams) Progress(what string) *Bar { return s.newBar(what, progress.UnitsBytes) }

// Counting returns a bar for work that is counted.
func (s *Streams) Counting(what string) *Bar { return s.newBar(what, progress.UnitsDefault) }

func (s *Streams) newBar(what string, units progress.Units) *Bar {
	if !s.IsTerminal(s.Stderr) || s.Quiet || s.Output == "json" {
		return &Bar{}
	}
	return draw(s.Stderr, what, units)
}

// draw begins to draw a bar.
func draw(to io.Writer, what string, units progress.Units) *Bar {
	b := &Bar{writer: progress.NewWriter(), tracker: &progress.Tracker{Message: what, Units: units}, drawn: make(chan struct{})}
	b.writer.SetOutputWriter(to)
	b.writer.SetAutoStop(false)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.AppendTracker(b.tracker)
	go func() {
		defer close(b.drawn)
		b.writer.Render()
	}()
	return b
}

// Update sets how much is done, and the total.
func (b *Bar) Update(done, total int64) {
	if b.writer == nil {
		return
	}
	b.tracker.UpdateTotal(total)
	b.tracker.SetValue(done)
}

// Say changes the description of the work.
func (b *Bar) Say(what string) {
	if b.writer != nil && b.tracker.Message != what {
		b.tracker.UpdateMessage(what)
	}
}

// Stop ends the bar and waits until it was drawn.
func (b *Bar) Stop() {
	if b.writer == nil {
		return
	}
	b.tracker.MarkAsDone()
	for {
		b.writer.Stop() // has no effect before the drawing has begun
		select {
		case <-b.drawn:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
