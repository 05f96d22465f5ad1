package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// A Screen is the size of a terminal, in columns and lines.
type Screen struct{ Width, Height int }

// ScreenOf returns the terminal that a stream is shown on; false if it is none. /dev/null, a character device, is none.
func ScreenOf(stream any) (Screen, bool) {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return Screen{}, true // of unknown size
	}
	return Screen{width, height}, true
}

// screen is ScreenOf for a stream that may be watched.
func (s *Streams) screen(stream any) (Screen, bool) {
	if out, ok := stream.(*watched); ok {
		stream = out.Writer
	}
	return s.Screen(stream)
}

// IsTerminal reports whether a person sees what is written there, or writes what is read there.
func (s *Streams) IsTerminal(stream any) bool {
	_, ok := s.screen(stream)
	return ok
}

// Colours says when the output has colours. The names are those of the flag --color.
type Colours string

// When there are colours.
const (
	ColourAuto   Colours = "auto" // on a terminal, unless NO_COLOR is set or TERM is dumb
	ColourAlways Colours = "always"
	ColourNever  Colours = "never"
)

// coloured reports whether standard output has colours.
func (s *Streams) coloured() bool {
	switch s.Color {
	case ColourAlways:
		return true
	case ColourNever:
		return false
	}
	return s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb" && s.IsTerminal(s.Stdout)
}

// A Paint is a colour, by what it says.
type Paint string

// The paints.
const (
	Good  Paint = "32"
	Bad   Paint = "1;31"
	Doubt Paint = "33"
	ID    Paint = "36"
	Role  Paint = "35"
	Faint Paint = "2"
)

// A page is what a command prints for people, and how they see it.
type page struct {
	bytes.Buffer
	coloured bool
	width    int // 0: of no terminal, or of an unknown one
}

// Paint returns a text in a colour, if what is written to w has colours.
func (p Paint) Paint(w io.Writer, text string) string {
	if on, ok := w.(*page); !ok || !on.coloured || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// Verdict returns the paint of a verdict, or of the status of a check.
func Verdict(text string) Paint {
	switch strings.ToLower(text) {
	case "verified", "ok", "pass", "identical":
		return Good
	case "fail", "tampered", "different", "lost", "malformed":
		return Bad
	}
	return Doubt
}

// Width returns how many columns a line that is written to w may have; otherwise if it is not for a terminal.
func Width(w io.Writer, otherwise int) int {
	if on, ok := w.(*page); ok && on.width > 0 {
		return on.width
	}
	return otherwise
}

// show calls text, and shows what it wrote: through a pager, where that is more than fits on the terminal.
func (s *Streams) show(text func(w io.Writer)) {
	screen, shown := s.screen(s.Stdout)
	p := &page{coloured: s.coloured(), width: screen.Width}
	text(p)
	if command := s.pager(); shown && command != "" && screen.Height > 0 && bytes.Count(p.Bytes(), []byte("\n")) >= screen.Height {
		out := s.Stdout
		if over, ok := out.(*watched); ok {
			out = over.Writer
		}
		if s.Page(command, p.Bytes(), out, s.Stderr) {
			return
		}
	}
	_, _ = s.Stdout.Write(p.Bytes()) // Run reports it
}

// pager returns the command that shows long output, "" for none: GRAPHKERNEL_PAGER, PAGER, or less. An empty
// GRAPHKERNEL_PAGER, and cat, are none.
func (s *Streams) pager() string {
	if s.Getenv("TERM") == "dumb" {
		return ""
	}
	command, own := s.Getenv("GRAPHKERNEL_PAGER"), s.Environ != nil
	if own && command == "" {
		for _, v := range s.Environ() {
			if v == "GRAPHKERNEL_PAGER=" {
				return ""
			}
		}
	}
	if command = cmp.Or(command, s.Getenv("PAGER"), "less -FRX"); command == "cat" {
		return ""
	}
	return command
}

// RunPager shows a text through a command. It reports false if the command could not be started, and nothing was shown.
func RunPager(command string, text []byte, stdout, stderr io.Writer) bool {
	args := strings.Fields(command)
	if len(args) == 0 {
		return false
	}
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), stdout, stderr
	err := c.Run()
	var ended *exec.ExitError
	return err == nil || errors.As(err, &ended) || errors.Is(err, syscall.EPIPE) // the reader has seen enough
}

// ForPrograms refuses to pour a document for programs on a terminal, unless the person says so. what names it, with its
// article.
func (s *Streams) ForPrograms(out, what string) error {
	if out != "" || s.Output == "json" || !s.IsTerminal(s.Stdout) {
		return nil
	}
	return Usagef("%s is for programs and not for a terminal; give -o FILE to write it, or -o - to print it", what)
}

// Agree asks a question on a terminal. Any answer but yes is an error that says what did not happen; so is that there is no
// terminal.
func (s *Streams) Agree(question, otherwise string) error {
	if !s.IsTerminal(s.Stdin) {
		return Usagef("standard input is no terminal to ask on; give --yes")
	}
	fmt.Fprintf(s.Stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(s.Stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return errors.New(otherwise)
	}
	return nil
}
