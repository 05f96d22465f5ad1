package graphkernel_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A step of a session is a command and what it prints.
type step struct {
	command string
	want    []string // lines; "…" stands for any characters, or alone for any lines
}

// TestReadmeSession runs the README's sessions as somebody who has installed the program and has transcripts of an agent.
func TestReadmeSession(t *testing.T) {
	home := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(home, "bin", "graphkernel"), "./cmd/graphkernel").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.CopyFS(filepath.Join(home, ".claude", "projects"), os.DirFS(filepath.Join("ingest", "testdata", "claude"))); err != nil {
		t.Fatal(err)
	}
	play(t, "README.md", home, 6)
}

// TestTour runs the sessions of the tour, which begins with a checkout and nothing else.
func TestTour(t *testing.T) { play(t, filepath.Join("docs", "tour.md"), t.TempDir(), 30) }

// TestPages runs the sessions of pages that begin with a checkout, too.
func TestPages(t *testing.T) {
	for page, atLeast := range map[string]int{"auditors.md": 13, "memory.md": 7, "operators.md": 12, "policies.md": 11} {
		t.Run(page, func(t *testing.T) { play(t, filepath.Join("docs", page), t.TempDir(), atLeast) })
	}
}

// play runs the commands of a page one after the other, with home as the home folder and for what they write, and compares what they print.
func play(t *testing.T, page, home string, atLeast int) {
	t.Helper()
	steps := session(t, page)
	if len(steps) < atLeast {
		t.Fatalf("found only %d commands", len(steps))
	}
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// One shell for all, so that what one step exports the next one has. A line
	// that no command prints ends each output.
	const end = "-- end of step --"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	fmt.Fprintf(&script, "set -u\nexport HOME=%s XDG_CONFIG_HOME=%s/config XDG_DATA_HOME=%s/data XDG_STATE_HOME=%s/state PATH=%s/bin:$PATH\n", home, home, home, home, home)
	for _, s := range steps {
		command := strings.ReplaceAll(s.command, "bin/graphkernel", home+"/bin/graphkernel")
		command = strings.ReplaceAll(command, "PATH=$PWD/bin", "PATH="+home+"/bin")
		command = regexp.MustCompile(`\b(slice|forged|evidence|part|facts|context)\.json|\btrust\.policy|\bhanded-on\b|\bserve\.(out|log)|\b(safe|moved)\.db`).ReplaceAllString(command, home+"/$0")
		command = strings.ReplaceAll(command, "127.0.0.1:18080", free)
		fmt.Fprintf(&script, "%s\necho '%s'\n", command, end)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.WaitDelay = work, time.Second
	cmd.Env = environment(t)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	got := strings.Split(out.String(), end+"\n")
	if len(got) != len(steps)+1 {
		t.Fatalf("%d outputs of %d commands:\n%s", len(got), len(steps), out.Bytes())
	}
	for i, s := range steps {
		if !matches(s.want, strings.TrimRight(got[i], "\n")) {
			t.Errorf("$ %s\nprinted\n%s\n%s says\n%s", s.command, got[i], page, strings.Join(s.want, "\n"))
		}
	}
}

// environment is this process's, but for what points at somebody's own store. Go's
// caches stay where they are, though the home folder is another.
func environment(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GRAPHKERNEL_") {
			env = append(env, v)
		}
	}
	return env
}

func session(t *testing.T, path string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimRight(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				steps = append(steps, step{command: command})
			} else if len(steps) > 0 {
				steps[len(steps)-1].want = append(steps[len(steps)-1].want, line)
			}
		}
	}
	return steps
}

// matches compares output with what was written down of it.
func matches(want []string, got string) bool {
	var pattern strings.Builder
	pattern.WriteString("(?s)^")
	for i, line := range want {
		if i > 0 {
			pattern.WriteString("\n")
		}
		if line == "…" {
			pattern.WriteString(".*")
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", "[^\n]*"))
	}
	pattern.WriteString("$")
	return regexp.MustCompile(pattern.String()).MatchString(got)
}

// TestReadmeGo makes sure that the README's Go code is the compiled and run
// example of package kernel.
func TestReadmeGo(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join("kernel", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) == 0 {
		t.Fatal("no Go code found")
	}
	for _, block := range blocks {
		indented := regexp.MustCompile(`(?m)^(.+)$`).ReplaceAllString(block[1], "\t$1")
		if !bytes.Contains(example, []byte(indented)) {
			t.Errorf("not in the example:\n%s", block[1])
		}
	}
}
