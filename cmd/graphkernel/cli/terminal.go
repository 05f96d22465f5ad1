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

// ScreenOf returns the terminal that shows a stream, and false if there is none. /dev/null, a character device, is not a terminal.
func ScreenOf(stream any) (Screen, bool) {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return Screen{}, true // the size is unknown
	}
	return Screen{width, height}, true
}

// screen is ScreenOf for a stream that may be wrapped by watched.
func (s *Streams) screen(stream any) (Screen, bool) {
	if out, ok := stream.(*watched); ok {
		stream = out.Writer
	}
	return s.Screen(stream)
}

// IsTerminal reports whether a stream is a terminal, where a person reads or writes.
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

// A Paint is a colour, named by its meaning.
type Paint string

// The colours.
const (
	Good  Paint = "32"
	Bad   Paint = "1;31"
	Doubt Paint = "33"
	ID    Paint = "36"
	Role  Paint = "35"
	Faint Paint = "2"

	Heading Paint = "1"
)

// A page is the output of a command for people, with its properties.
type page struct {
	bytes.Buffer
	coloured bool
	width    int // 0: not a terminal, or one of unknown width
}

// Paint returns a text in a colour, if the output to w has colours.
func (p Paint) Paint(w io.Writer, text string) string {
	if on, ok := w.(*page); !ok || !on.coloured || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// Verdict returns the colour of a verdict, or of the status of a check.
func Verdict(text string) Paint {
	switch strings.ToLower(text) {
	case "verified", "ok", "pass", "identical":
		return Good
	case "fail", "tampered", "different", "lost", "malformed":
		return Bad
	}
	return Doubt
}

// Width returns the most columns of a line that is written to w, or otherwise if w is not a terminal.
func Width(w io.Writer, otherwise int) int {
	if on, ok := w.(*page); ok && on.width > 0 {
		return on.width
	}
	return otherwise
}

// show calls text and shows its output: through a pager if it does not fit on the terminal.
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

// pager returns the command that shows long output, or "" for none: GRAPHKERNEL_PAGER, PAGER, or less. An empty GRAPHKERNEL_PAGER, and cat, mean none.
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

// RunPager shows a text through a command. It returns false if the command could not be started, and then nothing was shown.
func RunPager(command string, text []byte, stdout, stderr io.Writer) bool {
	args := strings.Fields(command)
	if len(args) == 0 {
		return false
	}
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), stdout, stderr
	err := c.Run()
	var ended *exec.ExitError
	return err == nil || errors.As(err, &ended) || errors.Is(err, syscall.EPIPE) // the reader has read enough
}

// ForPrograms refuses to print a document for programs on a terminal, unless the person asks for it. what is the document's name, with an article.
func (s *Streams) ForPrograms(out, what string) error {
	if out != "" || s.Output == "json" || !s.IsTerminal(s.Stdout) {
		return nil
	}
	return Usagef("%s is for programs and not for a terminal; give -o FILE to write it, or -o - to print it", what)
}

// Agree asks a question on a terminal. Any answer but yes, and a missing terminal, is an error that says what was not done.
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
