package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

var update = flag.Bool("update", false, "write testdata/help.txt anew")

// testApp returns an app with a home folder of its own and no input, whose clock
// does not move.
func testApp() *cli.App { return cli.New(testConfig()) }

// testConfig is what testApp makes an app of.
func testConfig() cli.Config {
	env := map[string]string{"HOME": "/home/user"}
	return cli.Config{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		Getenv: func(name string) string { return env[name] },
		Clock:  func() time.Time { return time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC) }, Commands: commands,
	}
}

// everyCommand lists a command and all below it that help shows.
func everyCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, everyCommand(sub)...)
		}
	}
	return all
}

// TestHelpBegins looks whether every help says in its first line what the command does, and shows examples before anything is explained. No paragraph
// of it is a wall.
func TestHelpBegins(t *testing.T) {
	t.Parallel()
	const longest = 600 // characters of a paragraph
	looked := 0
	for _, c := range everyCommand(testApp().Root()) {
		if !c.HasParent() || c.Parent().Name() == "completion" || c.Long == "" || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		looked++
		for part := range strings.SplitSeq(c.Long, "\n\n") {
			if len(part) > longest && !strings.HasPrefix(part, "  ") {
				t.Errorf("%s: a paragraph of %d characters: %.80s…", c.CommandPath(), len(part), part)
			}
		}
		var out bytes.Buffer
		a := testApp()
		a.IO.Stdout = &out
		if code := a.Run(context.Background(), append(strings.Fields(c.CommandPath())[1:], "--help")); code != api.ExitOK {
			t.Errorf("%s: exit code %d", c.CommandPath(), code)
		}
		begin := c.Short + ".\n\n"
		if c.Example != "" {
			begin += "Examples:\n" + c.Example + "\n\n"
		}
		if !strings.HasPrefix(out.String(), begin) {
			t.Errorf("%s: its help begins with %.200q", c.CommandPath(), out.String())
		}
	}
	if looked < 40 {
		t.Errorf("looked at %d commands only", looked)
	}
}

// TestHelp compares the help of every command with testdata/help.txt, so that a
// change of the command line shows in review. Shell completions explain
// themselves in the words of the library and are left out.
func TestHelp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the default paths in the help are others here")
	}
	var got bytes.Buffer
	seen := 0
	for _, c := range everyCommand(testApp().Root()) {
		if c.HasParent() && c.Parent().Name() == "completion" {
			continue
		}
		var out bytes.Buffer
		a := testApp()
		a.IO.Stdout = &out
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		if code := a.Run(context.Background(), args); code != api.ExitOK {
			t.Errorf("%v: exit code %d", args, code)
		}
		got.WriteString("==> " + c.CommandPath() + " --help\n" + out.String() + "\n")
		seen++
	}
	const fewest = 20
	if seen < fewest {
		t.Errorf("%d commands, want at least %d", seen, fewest)
	}
	golden := filepath.Join("testdata", "help.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	at := 0
	for at < len(gotLines) && at < len(wantLines) && gotLines[at] == wantLines[at] {
		at++
	}
	if at < max(len(gotLines), len(wantLines)) {
		from := func(lines []string) string {
			return strings.Join(lines[min(at, len(lines)):min(at+5, len(lines))], "\n")
		}
		t.Errorf("help differs from %s at its line %d; look at the difference and, if it is meant, run: go test ./cmd/graphkernel -run TestHelp -update\ngot:\n%s\nwant:\n%s", golden, at+1, from(gotLines), from(wantLines))
	}
}
