package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// A row is one thing measured.
type row struct {
	name   string
	p50    time.Duration
	p99    time.Duration
	unit   string // "", or what rate counts
	rate   float64
	ratio  float64
	to     string // whose multiple ratio is
	bounds []bound
}

// A bound is what a row is held against.
type bound struct {
	text string
	held bool
}

func atMost(got, most time.Duration) bound { return bound{"≤ " + most.String(), got <= most} }

func rateAtLeast(got, least float64) bound {
	return bound{fmt.Sprintf("≥ %.0f/s", least), got >= least}
}

// faster asks that something takes at most one part in n of another's time.
func faster(s, than sample, n int) bound {
	return bound{fmt.Sprintf("≤ 1/%d of it", n), float64(s.p50())*float64(n) <= float64(than.p50())}
}

// A report prints tables, and counts the bounds.
type report struct {
	out          io.Writer
	markdown     bool
	held, missed int
}

func (r *report) note(format string, args ...any) { fmt.Fprintf(r.out, "\n"+format+"\n", args...) }

func (r *report) table(title string, rows []row) {
	if r.markdown {
		fmt.Fprintf(r.out, "\n### %s\n\n", title)
	} else {
		fmt.Fprintf(r.out, "\n%s\n\n", title)
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.SuppressEmptyColumns()
	t.AppendHeader(table.Row{"work", "p50", "p99", "rate", "ratio", "bound", ""})
	for i := range rows {
		t.AppendRow(r.cells(&rows[i]))
	}
	if r.markdown {
		fmt.Fprintln(r.out, t.RenderMarkdown())
	} else {
		fmt.Fprintln(r.out, t.Render())
	}
}

func (r *report) cells(w *row) table.Row {
	var p50, p99, rate, ratio, verdict string
	if w.p50 > 0 {
		p50, p99 = digits(w.p50), digits(w.p99)
	}
	if w.rate > 0 {
		rate = fmt.Sprintf("%.0f %s/s", w.rate, w.unit)
	}
	if w.ratio > 0 {
		ratio = times(w.ratio) + " " + w.to
	}
	var texts, missed []string
	for _, b := range w.bounds {
		texts = append(texts, b.text)
		if b.held {
			r.held++
		} else {
			r.missed++
			missed = append(missed, b.text)
		}
	}
	switch {
	case len(missed) == 0 && len(texts) > 0:
		verdict = "held"
	case len(missed) == len(texts) && len(texts) > 0:
		verdict = "missed"
	case len(missed) > 0:
		verdict = "missed " + strings.Join(missed, ", ")
	}
	return table.Row{w.name, p50, p99, rate, ratio, strings.Join(texts, ", "), verdict}
}

// times writes a multiple, or a part, in three digits.
func times(ratio float64) string {
	switch {
	case ratio > 0.95:
		return fmt.Sprintf("%.3g ×", ratio)
	case ratio > 0.001:
		return fmt.Sprintf("1/%.3g of", 1/ratio)
	}
	return fmt.Sprintf("1/%.0f of", 1/ratio)
}

// digits rounds to three of them.
func digits(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// rowOf tells a sample, as a multiple of another unless that is nil.
func rowOf(c *candidate, to *candidate, bounds ...bound) row {
	r := row{name: c.name, p50: c.sample.p50(), p99: c.sample.p99(), bounds: bounds}
	if to != nil {
		r.ratio, r.to = c.sample.times(to.sample), to.name
	}
	return r
}
