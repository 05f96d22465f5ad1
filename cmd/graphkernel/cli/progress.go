package cli

import (
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// A Bar shows how long work goes on. It is silent unless a person watches.
type Bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
}

// Progress shows how far something that is measured in bytes has come.
func (s *Streams) Progress(what string) *Bar { return s.newBar(what, progress.UnitsBytes) }

// Counting is a bar for what is counted and not measured.
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

// Update says how much is done, and of how much.
func (b *Bar) Update(done, total int64) {
	if b.writer == nil {
		return
	}
	b.tracker.UpdateTotal(total)
	b.tracker.SetValue(done)
}

// Say changes what the bar says is being done.
func (b *Bar) Say(what string) {
	if b.writer != nil && b.tracker.Message != what {
		b.tracker.UpdateMessage(what)
	}
}

// Stop ends the bar and waits until it has been drawn.
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
