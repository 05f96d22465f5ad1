package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/service"
)

func serviceDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "service.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// docTable returns the rows below the table's head that begins so, each split at its
// bars, without backquotes.
func docTable(t *testing.T, doc, head string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(doc, "\n"+head)
	if !found || strings.Count(doc, "\n"+head) != 1 {
		t.Fatalf("docs/service.md does not have exactly one table that begins %q", head)
	}
	_, rest, _ = strings.Cut(rest, "\n|---")
	_, rest, _ = strings.Cut(rest, "\n")
	var rows [][]string
	for line := range strings.Lines(rest) {
		line, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !isRow {
			break
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSuffix(line, "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(cell), "`"))
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestServiceDocsSession runs the sessions of docs/service.md against the program:
// each line of a block marked console that begins with "$ " is run, all by one bash
// and in their order, and the lines below it are what it must print, on standard
// output and error together, compared as TestDocs does.
func TestServiceDocsSession(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "curl", "python3"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("the lines need %s: %v", name, err)
		}
	}
	doc, folder := serviceDoc(t), t.TempDir()
	turns := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindStringSubmatch(doc)
	if turns == nil {
		t.Fatal("the page shows no turns.json")
	}
	if err := os.WriteFile(filepath.Join(folder, "turns.json"), []byte(turns[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	store := "sqlite:" + filepath.Join(folder, "try.db")
	s := startServe(t, folder, "--dev", "--store", store)

	const mark = "== the next line of the page"
	var commands, wants []string
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(doc, -1) {
		for _, step := range regexp.MustCompile(`(?m)^\$ `).Split(block[1], -1)[1:] {
			command, want, _ := strings.Cut(step, "\n")
			commands, wants = append(commands, command), append(wants, want)
			fmt.Fprintf(&script, "%s\nprintf '\\n%s\\n'\n", command, mark)
		}
	}
	c := exec.Command("bash")
	c.Dir = folder
	c.Env = append(gkEnv(folder), "GRAPHKERNEL_STORE="+store, "URL="+s.url, "KEY="+s.key)
	c.Stdin = strings.NewReader("exec 2>&1\n" + script.String())
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(string(out), "\n"+mark+"\n")
	const fewest = 18
	if len(commands) < fewest || len(got) != len(commands)+1 {
		t.Fatalf("%d commands gave %d answers, want at least %d\n%s", len(commands), len(got)-1, fewest, out)
	}
	for i, command := range commands {
		if !matches(wants[i], got[i]) {
			t.Errorf("$ %s\ngot:\n%s\nwant:\n%s", command, got[i], wants[i])
		}
	}
	s.stop()
}

// TestServiceDocsStart compares what serve --dev says at the start.
func TestServiceDocsStart(t *testing.T) {
	t.Parallel()
	shown := regexp.MustCompile("(?ms)^    graphkernel serve --dev --store sqlite:try.db\n\n```\n(.*?)^```$").FindStringSubmatch(serviceDoc(t))
	if shown == nil {
		t.Fatal("the page does not show what serve --dev says")
	}
	c := exec.Command("graphkernel", "serve", "--dev", "--store", "sqlite:try.db", "--addr", "127.0.0.1:0")
	c.Dir = t.TempDir()
	c.Env = gkEnv(c.Dir)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for range strings.Count(shown[1], "\n") {
		if lines.Scan() {
			said.WriteString(lines.Text() + "\n")
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // it must be able to say that it stops
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	got := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(said.String(), "127.0.0.1:8080")
	if !matches(shown[1], got) {
		t.Errorf("got:\n%swant:\n%s", got, shown[1])
	}
}

// TestServiceDocsRoles compares the table of roles with what each may do.
func TestServiceDocsRoles(t *testing.T) {
	t.Parallel()
	head := []string{"permission"}
	columns := []access.Role{access.Verifier, access.Agent, access.Auditor, access.Admin}
	for _, r := range columns {
		head = append(head, "`"+string(r)+"`")
	}
	rows := docTable(t, serviceDoc(t), "| "+strings.Join(head, " | ")+" |")
	n := 0
	for p := access.Admit; p.String() != ""; p++ {
		want := []string{p.String()}
		for _, r := range columns {
			want = append(want, map[bool]string{true: "yes"}[r.May(p)])
		}
		if n >= len(rows) || !slices.Equal(rows[n], want) {
			t.Errorf("row %d: got %q, want %q", n, rows[min(n, len(rows)-1)], want)
		}
		n++
	}
	if len(rows) != n || len(columns) != len(access.Roles) {
		t.Errorf("%d rows and %d roles, want %d and %d", len(rows), len(columns), n, len(access.Roles))
	}
}

// TestServiceDocsInterface compares the tables of operations and problems with /docs,
// and the metrics with /metrics, in both directions.
func TestServiceDocsInterface(t *testing.T) {
	t.Parallel()
	doc := serviceDoc(t)
	s := startServe(t, t.TempDir(), "--dev")
	_, page := s.get("/docs")

	operations := map[string]bool{}
	for _, m := range regexp.MustCompile(`<li><a href="#[A-Za-z]+"><code>([A-Z]+) ([^<]+)</code>`).FindAllStringSubmatch(string(page), -1) {
		operations[m[1]+" "+regexp.MustCompile(`:([a-z_]+)`).ReplaceAllString(m[2], "{$1}")] = true
	}
	same(t, "operations", firstCells(docTable(t, doc, "| operation | what it is for |"), 0), slices.Collect(maps.Keys(operations)))

	var problems []string
	for _, m := range regexp.MustCompile(`<tr id="problem-[a-z_]+"><td>(\d+)</td><td><code>([a-z_]+)</code>`).FindAllStringSubmatch(string(page), -1) {
		problems = append(problems, m[2]+" "+m[1])
	}
	rows := docTable(t, doc, "| code | status | when | what to do |")
	same(t, "problems", firstCells(rows, 1), problems)
	if !slices.IsSortedFunc(rows, func(a, b []string) int { return strings.Compare(a[1]+a[0], b[1]+b[0]) }) {
		t.Error("the problems do not stand by status and code")
	}
	for _, row := range rows {
		if len(row) != 4 || row[2] == "" || row[3] == "" {
			t.Errorf("%q lacks something", row)
		}
	}
	// Of a vector nothing is shown before the first count.
	if status, body, err := s.post(http.DefaultClient, "/api/verify_token", map[string]any{}); err != nil || status != 200 {
		t.Fatal(status, string(body), err)
	}
	_, text := s.get("/metrics")
	metrics := map[string]bool{}
	labels := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile(`^# TYPE (graphkernel_[a-z_]+) `).FindStringSubmatch(line); m != nil {
			metrics[m[1]] = true
		}
		if m := regexp.MustCompile(`^(graphkernel_[a-z_]+?)(?:_count|_sum)?(?:\{([^}]*)\})? `).FindStringSubmatch(line); m != nil {
			var names []string
			for _, l := range regexp.MustCompile(`([a-z_]+)="`).FindAllStringSubmatch(m[2], -1) {
				names = append(names, l[1])
			}
			labels[m[1]] = names
		}
	}
	for name, of := range describedOf(t) { // a failure of the store is not to be had here
		metrics[name], labels[name] = true, of
	}
	rows = docTable(t, doc, "| metric | labels | |")
	same(t, "metrics", firstCells(rows, 0), slices.Collect(maps.Keys(metrics)))
	for _, row := range rows {
		if got := regexp.MustCompile(`[a-z_]+`).FindAllString(row[1], -1); !slices.Equal(got, labels[row[0]]) {
			t.Errorf("%s: the page gives the labels %q, /metrics %q", row[0], got, labels[row[0]])
		}
	}
	s.stop()
}

// describedOf returns the metrics of the program's own, with their labels.
func describedOf(t *testing.T) map[string][]string {
	t.Helper()
	o, _, err := service.NewObservers(t.Context(), &service.Service{Exporter: "none"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	described := make(chan *prometheus.Desc)
	go func() { defer close(described); o.Registry.Describe(described) }()
	all := map[string][]string{}
	for d := range described {
		m := regexp.MustCompile(`fqName: "([a-z_]+)".*variableLabels: \{(.*)\}\}`).FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a description has another form: %s", d)
		}
		all[m[1]] = strings.Split(m[2], ",")
	}
	return all
}

// TestServiceDocsSettings compares the tables of settings and of limits with the
// program's, in its order.
func TestServiceDocsSettings(t *testing.T) {
	t.Parallel()
	doc := serviceDoc(t)
	var all, limits []string
	for _, s := range &service.Settings {
		line := strings.TrimSpace(s.Key + " " + s.Standard)
		all = append(all, line)
		if strings.HasPrefix(s.Key, "limits.") {
			limits = append(limits, line)
		}
	}
	same(t, "settings", firstCells(docTable(t, doc, "| setting | default | |"), 1), all)
	rows := docTable(t, doc, "| setting | default | what it bounds | beyond it |")
	same(t, "limits", firstCells(rows, 1), limits)
	codes := firstCells(docTable(t, doc, "| code | status | when | what to do |"), 1)
	for _, row := range rows {
		for _, m := range regexp.MustCompile("([0-9]{3}) `([a-z_]+)").FindAllStringSubmatch(strings.Join(row, "`"), -1) {
			if !slices.Contains(codes, m[2]+" "+m[1]) {
				t.Errorf("%s is answered with %s %s, which is no problem of the page", row[0], m[1], m[2])
			}
		}
	}
	// What is said of the largest limits, in words.
	mib := func(n string) string {
		v, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(v>>20) + " MiB"
	}
	for _, row := range rows {
		if strings.HasSuffix(row[0], "_bytes") && !strings.Contains(row[2], mib(row[1])) {
			t.Errorf("%s: the page does not say %s", row[0], mib(row[1]))
		}
	}
}

// TestServiceDocsConfig reads what the page and docs/cli.md say of config and mcp in
// JSON.
func TestServiceDocsConfig(t *testing.T) {
	t.Parallel()
	a := testApp()
	var out bytes.Buffer
	a.IO.Stdout = &out
	if code := a.Run(t.Context(), []string{"--output", "json", "config"}); code != api.ExitOK {
		t.Fatal(code)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	same(t, "config", slices.Collect(maps.Keys(got)), []string{"secrets", "settings"})
	cli, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `serve` | `{\"url\",\"key\",\"tenant\"}`", "| `config` | `{\"settings\":[{\"key\",\"value\",\"origin\"}],\"secrets\":{NAME:bool}}` |",
		"\n### `serve`\n", "\n### `config`\n", "\n### `mcp`\n",
	} {
		if !strings.Contains(string(cli), want) {
			t.Errorf("docs/cli.md does not have %q", want)
		}
	}
}

// firstCells returns the first cells of each row up to one, in one text.
func firstCells(rows [][]string, to int) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = strings.TrimSpace(strings.Join(row[:to+1], " "))
	}
	return list
}

// same requires that two lists hold the same, each once.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s:\nthe page has  %q\nthe program   %q", what, got, want)
	}
}
