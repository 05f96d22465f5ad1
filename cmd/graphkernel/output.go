package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/slice"
)

// newTable gives a plain table that copies well.
func newTable(w io.Writer, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row(header))
	return t
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, got %q", c.CommandPath(), args[0])
	}
	return nil
}

func oneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one %s, got %d arguments", c.CommandPath(), name, len(args))
		}
		return nil
	}
}

func atMostOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes one %s at most, got %d arguments", c.CommandPath(), name, len(args))
		}
		return nil
	}
}

// isTerminal reports whether a person sees what is written there.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// readFile reads a file, or standard input for "-", up to a bound. One line feed
// at the end belongs to the file and not to what it holds.
func (a *app) readFile(path string, most int64) ([]byte, error) {
	in := a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, &usageError{err}
		}
		defer func() { _ = f.Close() }() // only read
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most+2))
	if err != nil {
		return nil, err
	}
	if n := len(data); n > 0 && data[n-1] == '\n' {
		data = data[:n-1]
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s holds more than %d bytes", slice.ErrMalformed, path, most)
	}
	return data, nil
}

// writeResult writes to a file, or to standard output for "" and "-". Only a
// terminal gets a line feed behind it, so that a file holds the exact bytes.
func (a *app) writeResult(path string, data []byte) error {
	if path != "" && path != "-" {
		return os.WriteFile(path, data, 0o600)
	}
	if _, err := a.stdout.Write(data); err != nil {
		return err
	}
	if isTerminal(a.stdout) && (len(data) == 0 || data[len(data)-1] != '\n') {
		_, err := io.WriteString(a.stdout, "\n")
		return err
	}
	return nil
}

type checkLine struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

func checkLines(checks []slice.Check) []checkLine {
	lines := make([]checkLine, len(checks))
	for i, c := range checks {
		lines[i] = checkLine{string(c.ID), string(c.Status), c.Detail, c.Expected, c.Found}
	}
	return lines
}

func printChecks(w io.Writer, checks []slice.Check) {
	for _, c := range checks {
		fmt.Fprintf(w, "  %-8s %-16s %s\n", c.Status, c.ID, oneLine(c.Detail, 160))
		if c.Expected != "" || c.Found != "" {
			fmt.Fprintf(w, "  %-8s %-16s expected %s\n  %-8s %-16s found    %s\n", "", "", oneLine(c.Expected, 100), "", "", oneLine(c.Found, 100))
		}
	}
}

// oneLine shows text from a conversation in one line of a terminal: cut, and
// without the control characters that could act on it.
func oneLine(s string, most int) string {
	var b strings.Builder
	n := 0
	space := false
	for _, r := range s {
		if r <= ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || isBidi(r) {
			space = b.Len() > 0
			continue
		}
		if n >= most {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// isBidi reports whether a character changes the direction of writing, by which
// text can be made to look like other text.
func isBidi(r rune) bool {
	return 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || r == 0x200e || r == 0x200f
}

type provenanceJSON struct {
	SliceID           string `json:"slice_id"`
	AnchorTurnID      string `json:"anchor_turn_id"`
	PolicyID          string `json:"policy_id"`
	PolicyParamsHash  string `json:"policy_params_hash"`
	GraphSnapshotHash string `json:"graph_snapshot_hash"`
	SchemaVersion     string `json:"schema_version"`
}

func provenanceOf(p *slice.Provenance) *provenanceJSON {
	if p.SliceID == "" {
		return nil
	}
	return &provenanceJSON{
		string(p.SliceID), p.Anchor.String(), string(p.PolicyID),
		p.PolicyParamsHash.String(), p.GraphSnapshotHash.String(), p.SchemaVersion,
	}
}

func texts[T fmt.Stringer](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}
