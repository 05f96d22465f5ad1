package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
)

// TestDocs runs the sessions of docs/cli.md, all in one folder and in their
// order: in blocks marked console, each line that begins with "$ " is run, and the
// lines below it are what it must print, on standard output and error together.
// There … stands for anything within a line, and a line of nothing else for
// any lines. The home folder is ~.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("incident.jsonl", demo.Incident, 0o600); err != nil {
		t.Fatal(err)
	}
	if narrow := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindSubmatch(doc); narrow == nil {
		t.Fatal("the page shows no narrow.json")
	} else if err := os.WriteFile("narrow.json", narrow[1], 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s := &docSession{home: home}
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(string(doc), -1) {
		for _, step := range regexp.MustCompile(`(?m)^\$ `).Split(block[1], -1)[1:] {
			command, want, _ := strings.Cut(step, "\n")
			got := s.run(t, command)
			if !matches(want, got) {
				t.Errorf("$ %s\ngot:\n%swant:\n%s", command, got, want)
			}
			ran++
		}
	}
	const fewest = 25
	if ran < fewest {
		t.Errorf("%d commands ran, want at least %d", ran, fewest)
	}
}

type docSession struct {
	home string
	code int
}

var (
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	word       = regexp.MustCompile(`'([^']*)'|(\S+)`)
)

func (s *docSession) run(t *testing.T, line string) string {
	if line == "echo $?" {
		return fmt.Sprintln(s.code)
	}
	line, input, _ := strings.Cut(line, " < ")
	env := map[string]string{"HOME": s.home, "XDG_DATA_HOME": s.home + "/.local/share", "XDG_CONFIG_HOME": s.home + "/.config"}
	var args []string
	for _, m := range word.FindAllStringSubmatch(line, -1) {
		w := m[1] + m[2]
		if name, value, _ := strings.Cut(w, "="); len(args) == 0 && assignment.MatchString(w) {
			env[name] = value
			continue
		}
		args = append(args, w)
	}
	if len(args) == 0 || args[0] != "graphkernel" {
		t.Fatalf("$ %s: not a call of graphkernel", line)
	}
	var out bytes.Buffer
	a := testApp()
	a.IO.Stdout, a.IO.Stderr = &out, &out
	a.Settings.Getenv = func(name string) string { return env[name] }
	if input != "" {
		data, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		a.IO.Stdin = bytes.NewReader(data)
	}
	s.code = a.Run(context.Background(), args[1:])
	return strings.ReplaceAll(out.String(), s.home, "~")
}

// matches reports whether text is what a document shows.
func matches(want, got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSuffix(want, "\n"))
	pattern = regexp.MustCompile(`(?m)^ *…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `.*`)
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(strings.TrimSuffix(got, "\n"))
}
