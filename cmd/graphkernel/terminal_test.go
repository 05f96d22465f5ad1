package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
)

// A seat is where a person sits: a terminal of some size, their variables, and what they type.
type seat struct {
	screen *cli.Screen // nil: standard output is a file
	env    map[string]string
	types  string
	pager  bool // one can be started
}

// run runs the program. It returns what was printed past the pager, what a pager showed and which one, and what was said.
func (s *seat) run(t *testing.T, args ...string) (code int, out, paged, pager, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := testConfig()
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(s.types), &stdout, &stderr
	c.Getenv = func(name string) string { return s.env[name] }
	c.Environ = func() (list []string) {
		for name, value := range s.env {
			list = append(list, name+"="+value)
		}
		return list
	}
	c.Screen = func(stream any) (cli.Screen, bool) {
		if s.screen == nil || stream == any(&stderr) {
			return cli.Screen{}, false
		}
		return *s.screen, true
	}
	c.Page = func(command string, text []byte, _, _ io.Writer) bool {
		if s.pager {
			pager, paged = command, string(text)
		}
		return s.pager
	}
	code = cli.New(c).Run(t.Context(), args)
	return code, stdout.String(), paged, pager, stderr.String()
}

// sits makes a store with a conversation, and returns the variables that name it.
func sits(t *testing.T) map[string]string {
	dir := t.TempDir()
	file := filepath.Join(dir, "incident.jsonl")
	if err := os.WriteFile(file, demo.Incident, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": dir}
	for _, args := range [][]string{{"keys", "init"}, {"import", file}} {
		if code, _, _, _, said := (&seat{env: env}).run(t, args...); code != 0 {
			t.Fatal(args, said)
		}
	}
	return env
}

func with(env map[string]string, name, value string) map[string]string {
	more := map[string]string{name: value}
	for k, v := range env {
		if k != name {
			more[k] = v
		}
	}
	return more
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestForPrograms pours what is for programs on no terminal unasked, and never refuses it elsewhere.
func TestForPrograms(t *testing.T) {
	t.Parallel()
	env := sits(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "slice.json")
	if code, _, _, _, said := (&seat{env: env}).run(t, "slice", demo.IncidentAnchor, "-o", file); code != 0 {
		t.Fatal(said)
	}
	for _, line := range []string{
		"slice " + demo.IncidentAnchor, "slice --format messages " + demo.IncidentAnchor, "context --format bundle table", "context --format openai table",
		"export", "disclose --turns " + demo.IncidentAnchor + " " + file, "slices get 012a7e26", "knowledge slice ada",
	} {
		args := strings.Fields(line)
		on := seat{env: env, screen: &cli.Screen{Width: 80, Height: 24}}
		if code, out, _, _, said := on.run(t, args...); code != api.ExitUsage || out != "" || !strings.Contains(said, "-o FILE") {
			t.Errorf("%s on a terminal: exit code %d, printed %.80q, said %q", line, code, out, said)
		}
		if code, out, _, _, said := on.run(t, append(args, "-o", "-")...); code != 0 || out == "" {
			t.Errorf("%s -o - on a terminal: exit code %d, printed %d bytes, said %q", line, code, len(out), said)
		}
		off := seat{env: env}
		if code, out, _, _, said := off.run(t, args...); code != 0 || out == "" {
			t.Errorf("%s elsewhere: exit code %d, printed %d bytes, said %q", line, code, len(out), said)
		}
	}
	for _, line := range []string{"slice --format markdown " + demo.IncidentAnchor, "context table", "--output json slice " + demo.IncidentAnchor} {
		on := seat{env: env, screen: &cli.Screen{Width: 80, Height: 24}}
		if code, out, _, _, said := on.run(t, strings.Fields(line)...); code != 0 || out == "" {
			t.Errorf("%s: exit code %d, said %q", line, code, said)
		}
	}
}

// TestColours says when there are colours, and that they add nothing but colours.
func TestColours(t *testing.T) {
	t.Parallel()
	env := sits(t)
	small := &cli.Screen{Width: 80, Height: 1000}
	for name, c := range map[string]struct {
		seat
		flag string
		want bool
	}{
		"a file":              {seat{env: env}, "", false},
		"a terminal":          {seat{env: env, screen: small}, "", true},
		"NO_COLOR":            {seat{env: with(env, "NO_COLOR", "1"), screen: small}, "", false},
		"a dumb one":          {seat{env: with(env, "TERM", "dumb"), screen: small}, "", false},
		"never":               {seat{env: env, screen: small}, "never", false},
		"always":              {seat{env: env}, "always", true},
		"always and NO_COLOR": {seat{env: with(env, "NO_COLOR", "1")}, "always", true},
	} {
		for _, line := range []string{"show", "show " + demo.IncidentAnchor, "search table", "slices", "doctor"} {
			args := strings.Fields(line)
			if c.flag != "" {
				args = append(args, "--color", c.flag)
			}
			if line == "slices" {
				if code, _, _, _, said := (&seat{env: env}).run(t, "slice", demo.IncidentAnchor, "-o", filepath.Join(t.TempDir(), "s.json")); code != 0 {
					t.Fatal(said)
				}
			}
			if _, out, _, _, said := c.run(t, args...); escape.MatchString(out) != c.want || strings.Contains(escape.ReplaceAllString(out, ""), "\x1b") {
				t.Errorf("%s, %s: %.200q, %s", name, line, out, said)
			}
		}
		_, out, _, _, _ := c.run(t, "--output", "json", "show")
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s: JSON has colours: %.100q", name, out)
		}
	}
	if code, _, _, _, _ := (&seat{env: env}).run(t, "--color", "red", "show"); code != api.ExitUsage {
		t.Errorf("--color red: exit code %d", code)
	}
	_, coloured, _, _, _ := (&seat{env: env}).run(t, "--color", "always", "show")
	_, plain, _, _, _ := (&seat{env: env}).run(t, "show")
	if escape.ReplaceAllString(coloured, "") != plain {
		t.Errorf("coloured it is %q, plain %q", coloured, plain)
	}
}

// TestWidth prints tables within the width of the terminal.
func TestWidth(t *testing.T) {
	t.Parallel()
	env := sits(t)
	for _, width := range []int{40, 60, 80, 132, 200} {
		on := seat{env: env, screen: &cli.Screen{Width: width, Height: 1000}}
		_, out, _, _, said := on.run(t, "show")
		lines := 0
		for line := range strings.Lines(out) {
			lines++
			if n := utf8.RuneCountInString(strings.TrimSuffix(escape.ReplaceAllString(line, ""), "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %q", width, n, line)
			}
		}
		if lines < 4 {
			t.Errorf("%d columns: %d lines, %s", width, lines, said)
		}
	}
}

// TestPager says when a pager is used, and which one.
func TestPager(t *testing.T) {
	t.Parallel()
	env := sits(t)
	main := "1c1de000-0dc0-4a11-8ca1-0000000000a0"
	few, many := &cli.Screen{Width: 80, Height: 5}, &cli.Screen{Width: 80, Height: 500}
	for name, c := range map[string]struct {
		seat
		want string
	}{
		"a file":            {seat{env: env, pager: true}, ""},
		"it fits":           {seat{env: env, screen: many, pager: true}, ""},
		"unknown size":      {seat{env: env, screen: &cli.Screen{}, pager: true}, ""},
		"less":              {seat{env: env, screen: few, pager: true}, "less -FRX"},
		"PAGER":             {seat{env: with(env, "PAGER", "more"), screen: few, pager: true}, "more"},
		"its own":           {seat{env: with(with(env, "PAGER", "more"), "GRAPHKERNEL_PAGER", "most -s"), screen: few, pager: true}, "most -s"},
		"none":              {seat{env: with(with(env, "PAGER", "more"), "GRAPHKERNEL_PAGER", ""), screen: few, pager: true}, ""},
		"cat":               {seat{env: with(env, "PAGER", "cat"), screen: few, pager: true}, ""},
		"a dumb terminal":   {seat{env: with(env, "TERM", "dumb"), screen: few, pager: true}, ""},
		"it is not there":   {seat{env: env, screen: few}, ""},
		"JSON is not paged": {seat{env: env, screen: few, pager: true}, "-"},
	} {
		args := []string{"show", main}
		if c.want == "-" {
			args, c.want = append(args, "--output", "json"), ""
		}
		code, out, paged, pager, said := c.run(t, args...)
		if code != 0 || pager != c.want || (out == "") != (c.want != "") || (paged == "") != (c.want == "") {
			t.Errorf("%s: exit code %d, pager %q, want %q, %d bytes past it, %d through it, %s", name, code, pager, c.want, len(out), len(paged), said)
		}
	}
}

// TestQuiet leaves out what is said beside the result, and no error.
func TestQuiet(t *testing.T) {
	t.Parallel()
	env := sits(t)
	file := filepath.Join(t.TempDir(), "slice.json")
	if code, _, _, _, said := (&seat{env: env}).run(t, "slice", demo.IncidentAnchor, "-o", file); code != 0 || said == "" {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if code, _, _, _, said := (&seat{env: env}).run(t, "-q", "slice", demo.IncidentAnchor, "-o", file); code != 0 || said != "" {
		t.Errorf("quiet: exit code %d, said %q", code, said)
	}
	if code, _, _, _, said := (&seat{env: env}).run(t, "--quiet", "slice", "absent"); code == 0 || said == "" {
		t.Errorf("a quiet error: exit code %d, said %q", code, said)
	}
}

// TestEraseAsks erases for nobody who did not say yes.
func TestEraseAsks(t *testing.T) {
	t.Parallel()
	env := sits(t)
	left := func() int {
		_, out, _, _, _ := (&seat{env: env}).run(t, "export")
		return strings.Count(out, "IGNORE ALL")
	}
	for _, line := range []string{"erase --author human:visitor --reason x", "erase " + demo.IncidentVisitor + " --reason x"} {
		for _, types := range []string{"", "n\n", "\n", "yes"} {
			on := seat{env: env, screen: &cli.Screen{Width: 80, Height: 24}, types: types}
			code, _, _, _, said := on.run(t, strings.Fields(line)...)
			if code == 0 || !strings.Contains(said, "for good") || !strings.Contains(said, "nothing was erased") || left() != 1 {
				t.Errorf("%s, answer %q: exit code %d, %d left, said %s", line, types, code, left(), said)
			}
		}
	}
	on := seat{env: env, screen: &cli.Screen{Width: 80, Height: 24}, types: "y\n"}
	if code, out, _, _, said := on.run(t, "erase", "--author", "human:visitor", "--reason", "x"); code != 0 || left() != 0 || !strings.Contains(out, "1 turn erased") {
		t.Errorf("exit code %d, %d left, printed %q, said %q", code, left(), out, said)
	}
}
