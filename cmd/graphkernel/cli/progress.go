package cli

import (
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// A Bar shows the progress of work. It is silent unless a person watches.
type Bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
}

// Progress returns a bar for work that is measured in bytes.
func (s *Streams) Progress(what string) *Bar { return s.newBar(what, progress.UnitsBytes) }

// Counting returns a bar for work that is counted.
func (s *Streams) Counting(what string) *Bar { return s.newBar(what, progress.UnitsDefault) }

func (s *Streams) newBar(what string, units progress.Units) *Bar {
	if !s.IsTerminal(s.Stderr) || s.Quiet || s.Output == "json" {
		return &Bar{}
	}
	b := &Bar{writer: progress.NewWriter(), tracker: &progress.Tracker{Message: what, Units: units}}
	b.writer.SetOutputWriter(s.Stderr)
	b.writer.SetAutoStop(false)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.AppendTracker(b.tracker)
	go b.writer.Render()
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
	b.writer.Stop()
	for b.writer.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond) // the library offers nothing to wait on
	}
}
