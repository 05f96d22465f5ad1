package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
)

// Streams are the inputs and outputs of the program.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Output         string  // the flag: "text" or "json"
	Color          Colours // the flag
	Quiet          bool    // the flag: print nothing but the result and errors

	Getenv  func(string) string
	Environ func() []string                                                          // nil if it cannot be listed
	Screen  func(stream any) (Screen, bool)                                          // returns the terminal that shows a stream, if it is one
	Page    func(command string, text []byte, stdout, stderr io.Writer) (shown bool) // shows a text through a pager
}

// PrintCounts prints counts, sorted by name.
func PrintCounts(w io.Writer, what string, counts map[string]int) {
	reasons := make([]string, 0, len(counts))
	for reason := range counts {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(w, "  %s %7d  %s\n", what, counts[reason], reason)
	}
}

// A watched writer remembers whether anything was written, and the first error, so that a lost result does not look like a success.
type watched struct {
	io.Writer
	wrote bool
	err   error
}

func (w *watched) Write(p []byte) (int, error) {
	w.wrote = w.wrote || len(p) > 0
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Answer writes a hook's answer for an agent to standard output, either in full or with an error. The command handles the error: it does not change the exit
// code by itself.
func (s *Streams) Answer(answer []byte) error {
	out := s.Stdout
	if w, ok := out.(*watched); ok {
		w.wrote = true
		out = w.Writer
	}
	_, err := out.Write(answer)
	return err
}

// PrintJSON writes the one object that --output json promises.
func (s *Streams) PrintJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := s.Stdout.Write(render.EscapeJSON(b.Bytes()))
	return err
}

// Print writes v as JSON, or calls text.
func (s *Streams) Print(v any, text func(w io.Writer)) error {
	if s.Output == "json" {
		return s.PrintJSON(v)
	}
	s.show(text)
	return nil
}

// Note prints a note for a person, in addition to the result, unless --quiet is set.
func (s *Streams) Note(format string, args ...any) {
	if !s.Quiet {
		s.Warn(format, args...)
	}
}

// Warn prints a warning, even if --quiet is set.
func (s *Streams) Warn(format string, args ...any) {
	fmt.Fprintln(s.Stderr, render.Visible(fmt.Sprintf(format, args...)))
}

// NewTable returns a plain table that can be copied easily.
func NewTable(w io.Writer, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	if width := Width(w, 0); width > 0 {
		style.Size.WidthMax = width
		t.SetStyle(style)
	}
	t.AppendHeader(table.Row(header))
	return t
}

// oneLine shows evidence in one line. Characters that would act on the terminal become visible signs, so that the maker of the evidence cannot fake a
// verdict, and a reader sees that they are there.
func oneLine(s string, most int) string { return render.OneLine(render.Visible(s), most) }

// PrintChecks prints checks for people.
func PrintChecks(w io.Writer, checks []api.Check) {
	for _, c := range checks {
		fmt.Fprintf(w, "  %s %-16s %s\n", Verdict(string(c.Status)).Paint(w, fmt.Sprintf("%-8s", c.Status)), c.ID, oneLine(c.Detail, 160))
		if c.Expected != "" || c.Found != "" {
			fmt.Fprintf(w, "  %-8s %-16s expected %s\n  %-8s %-16s found    %s\n", "", "", oneLine(c.Expected, 100), "", "", oneLine(c.Found, 100))
		}
	}
}

// ProvenanceOf returns the provenance to print; nil if there is none.
func ProvenanceOf(p *slice.Provenance) *api.Provenance {
	if p.SliceID == "" {
		return nil
	}
	return &api.Provenance{
		SliceID: p.SliceID, AnchorTurnID: p.Anchor.String(), PolicyID: p.PolicyID, PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion,
	}
}

// Texts returns the text forms of values.
func Texts[T fmt.Stringer](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}

// Issue calls cut with a session that signs, and writes the result to the place that -o names.
func (a *App) Issue(ctx context.Context, out string, cut func(s *Session) ([]byte, error)) error {
	ring, err := a.Signing.RingToSign()
	if err != nil {
		return err
	}
	return a.IO.WriteTo(out, func(w io.Writer) error {
		return a.Stores.WithKernel(ctx, ring, func(s *Session) error {
			result, err := cut(s)
			if err != nil {
				return err
			}
			return a.IO.WriteDocument(w, result)
		})
	})
}

// WriteDocument writes a document for programs: a file gets the exact bytes, a terminal a readable form.
func (s *Streams) WriteDocument(w io.Writer, document []byte) error {
	if s.IsTerminal(w) {
		document = append(render.EscapeJSON(bytes.TrimSuffix(document, []byte("\n"))), '\n')
	}
	_, err := w.Write(document)
	return err
}
