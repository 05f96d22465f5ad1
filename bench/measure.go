package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// A row is one thing measured.
type row struct {
	name   string
	p50    time.Duration
	p99    time.Duration
	unit   string // "", or what perSecond counts
	rate   float64
	bound  string // what it is held against
	ratio  float64
	to     string // whose multiple ratio is
	within bool
}

// rounds interleaves measurements, so that what else the machine does falls on
// all of them alike.
func interleaved(rounds int, fns ...func()) []sample {
	samples := make([]sample, len(fns))
	for range rounds {
		for i, fn := range fns {
			began := time.Now()
			fn()
			samples[i] = append(samples[i], time.Since(began))
		}
	}
	for i := range samples {
		slices.Sort(samples[i])
	}
	return samples
}

// A sample is sorted durations.
type sample []time.Duration

func (s sample) p50() time.Duration { return s[len(s)/2] }
func (s sample) p99() time.Duration { return s[len(s)*99/100] }

func printRows(w io.Writer, title string, rows []row) {
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"work", "p50", "p99", "rate", "ratio", "bound", ""})
	for _, r := range rows {
		var rate, ratio, verdict string
		if r.rate > 0 {
			rate = fmt.Sprintf("%.0f %s/s", r.rate, r.unit)
		}
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f × %s", r.ratio, r.to)
		}
		if r.bound != "" {
			verdict = "missed"
			if r.within {
				verdict = "held"
			}
		}
		p50, p99 := "", ""
		if r.p50 > 0 {
			p50, p99 = r.p50.Round(10*time.Nanosecond).String(), r.p99.Round(10*time.Nanosecond).String()
		}
		t.AppendRow(table.Row{r.name, p50, p99, rate, ratio, r.bound, verdict})
	}
	t.Render()
}
