// Package deploy_test holds the files of this folder against the program that they
// are for.
package deploy_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/service"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/observed"
	keys "github.com/graphkernel/graphkernel/token"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A metric is one that the server registers.
type metric struct {
	histogram bool
	labels    []string
}

// served returns a real server with its registry.
func served(t *testing.T) (*server.Server, *prometheus.Registry) {
	t.Helper()
	k, err := kernel.Open(kernel.Config{
		Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: keys.NewAuthority(keys.Keyring{}), Clock: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	observers, stop, err := service.NewObservers(t.Context(), &service.Service{Exporter: "none"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	srv, err := server.New(t.Context(), server.Config{
		Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now, Registry: observers.Registry, Version: "v",
		MCP: func(func(*http.Request) (access.Identity, bool)) http.Handler { return http.NotFoundHandler() },
	})
	if err != nil {
		t.Fatal(err)
	}
	return srv, observers.Registry
}

// metrics returns every metric of a real server's registry, and its operations.
func metrics(t *testing.T) (all map[string]metric, operations []string) {
	t.Helper()
	srv, registry := served(t)
	srv.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)) // an operation has series once it was asked
	// Describe knows those that nothing was counted of yet, Gather knows the types.
	all = map[string]metric{}
	descriptions := make(chan *prometheus.Desc)
	go func() { defer close(descriptions); registry.Describe(descriptions) }()
	form := regexp.MustCompile(`^Desc\{fqName: "([a-z0-9_]+)",.*variableLabels: \{(.*)\}\}$`)
	for d := range descriptions {
		m := form.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a description has another form: %s", d)
		}
		labels := []string{"instance", "job"} // Prometheus adds them
		for label := range strings.SplitSeq(m[2], ",") {
			labels = append(labels, strings.TrimSpace(label))
		}
		if m[1] == "graphkernel_build_info" {
			labels = append(labels, "version") // constant
		}
		if all[m[1]] = (metric{labels: labels}); strings.HasPrefix(m[1], "graphkernel_store_duration") || strings.HasPrefix(m[1], "graphkernel_operation_duration") {
			all[m[1]] = metric{histogram: true, labels: append(labels, "le")} // nothing was observed yet, so Gather does not have it
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetType() == dto.MetricType_HISTOGRAM {
			m := all[f.GetName()]
			all[f.GetName()] = metric{histogram: true, labels: append(m.labels, "le")}
		}
	}
	for _, m := range regexp.MustCompile(`"operationId":\s*"(\w+)"`).FindAllStringSubmatch(read(t, "../server/openapi.json"), -1) {
		operations = append(operations, m[1])
	}
	operations = append(operations, "mcp") // which the description has no shape for
	if len(all) < 40 || len(operations) < 20 || !all["graphkernel_slice_turns"].histogram {
		t.Fatalf("found %d metrics and the operations %v", len(all), operations)
	}
	return all, operations
}

// words are those of the query language that the files use.
var words = []string{"sum", "count", "rate", "increase", "by", "histogram_quantile", "min_over_time", "label_values", "unless", "on"}

var (
	stretches = regexp.MustCompile(`\[[^\]]*\]`)
	quoted    = regexp.MustCompile(`"[^"]*"`)
	matchers  = regexp.MustCompile(`([a-z_]+)(?:\{([^}]*)\})?`)
	matcher   = regexp.MustCompile(`^([a-z_]+)(=|!=|=~|!~)"([^"]*)"$`)
	groupings = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
	names     = regexp.MustCompile(`[a-z_][a-z0-9_]*`)
)

// checkQuery reports the names in a query that the server does not have, and returns the
// metrics that it asks for.
func checkQuery(query string, all map[string]metric, operations []string) (used []string, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	rest := stretches.ReplaceAllString(query, "")
	var grouped []string
	for _, g := range groupings.FindAllStringSubmatch(rest, -1) {
		grouped = append(grouped, names.FindAllString(g[1], -1)...)
	}
	rest = groupings.ReplaceAllString(rest, "by")
	rest = regexp.MustCompile(`\b[0-9][0-9.]*\b`).ReplaceAllString(rest, "")
	if args, ok := strings.CutPrefix(rest, "label_values("); ok { // its second argument is a label
		args, label, _ := strings.Cut(strings.TrimSuffix(args, ")"), ",")
		rest, grouped = args, append(grouped, strings.TrimSpace(label))
	}
	var last metric
	for _, m := range matchers.FindAllStringSubmatch(rest, -1) {
		name := m[1]
		if slices.Contains(words, name) {
			continue
		}
		if name == "up" { // Prometheus's own
			last = metric{labels: []string{"instance", "job"}}
		} else if found, ok := all[name]; ok && !found.histogram {
			last = found
		} else if base := all[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")]; base.histogram && all[name].labels == nil {
			last = base
		} else {
			fault("there is no metric %s", name)
			continue
		}
		used = append(used, name)
		for _, label := range grouped {
			if !slices.Contains(last.labels, label) {
				fault("%s has no label %s", name, label)
			}
		}
		if m[2] == "" {
			continue
		}
		for _, text := range strings.Split(m[2], ",") {
			parts := matcher.FindStringSubmatch(text)
			if parts == nil {
				fault("%q is no matcher", text)
				continue
			}
			if !slices.Contains(last.labels, parts[1]) {
				fault("%s has no label %s", name, parts[1])
			}
			if parts[1] == "operation" && !strings.HasPrefix(parts[3], "$") {
				for operation := range strings.SplitSeq(parts[3], "|") {
					if !slices.Contains(operations, operation) {
						fault("there is no operation %s", operation)
					}
				}
			}
		}
	}
	if strings.Count(quoted.ReplaceAllString(query, ""), "(") != strings.Count(quoted.ReplaceAllString(query, ""), ")") {
		fault("the parentheses do not match")
	}
	if len(used) == 0 {
		fault("it asks for no metric")
	}
	return used, faults
}

// TestCheckQuery makes sure that the check finds what is wrong.
func TestCheckQuery(t *testing.T) {
	all, operations := metrics(t)
	for query, sound := range map[string]bool{
		`sum by (operation) (rate(graphkernel_http_requests_total{status=~"5.."}[5m]))`:              true,
		`histogram_quantile(0.99, sum by (instance, le) (rate(graphkernel_slice_turns_bucket[5m])))`: true,
		`up{job="graphkernel"} == 0`:                                  true,
		`label_values(graphkernel_build_info, instance)`:              true,
		`rate(process_cpu_seconds_total[5m])`:                         true,
		`label_values(graphkernel_build_info, operation)`:             false,
		`rate(graphkernel_http_request_total[5m])`:                    false,
		`rate(graphkernel_http_requests_total_bucket[5m])`:            false,
		`rate(graphkernel_slice_turns[5m])`:                           false,
		`rate(graphkernel_slices_total{operation="cutSlice"}[5m])`:    false,
		`sum by (tenant) (rate(graphkernel_http_requests_total[5m]))`: false,
		`graphkernel_http_requests_total{operation="cutslice"}`:       false,
		`graphkernel_http_requests_total{operation!~"live|reedy"}`:    false,
		`graphkernel_queue_length{instance=graphkernel}`:              false,
		`sum(graphkernel_queue_length`:                                false,
		`summ(graphkernel_queue_length)`:                              false,
		`1`:                                                           false,
	} {
		if _, faults := checkQuery(query, all, operations); (len(faults) == 0) != sound {
			t.Errorf("%s: faults %q, want none: %v", query, faults, sound)
		}
	}
}

type dashboard struct {
	UID        string  `json:"uid"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string     `json:"name"`
			Type       string     `json:"type"`
			Definition string     `json:"definition"`
			Datasource datasource `json:"datasource"`
		} `json:"list"`
	} `json:"templating"`
}

type datasource struct{ Type, UID string }

type panel struct {
	ID         int        `json:"id"`
	Type       string     `json:"type"`
	Title      string     `json:"title"`
	Datasource datasource `json:"datasource"`
	GridPos    struct{ X, Y, W, H int }
	Targets    []struct {
		RefID      string     `json:"refId"`
		Expr       string     `json:"expr"`
		Datasource datasource `json:"datasource"`
	} `json:"targets"`
}

// TestDashboard asks of every query that the server knows what it names, and of every
// panel that it has a place of its own.
func TestDashboard(t *testing.T) {
	all, operations := metrics(t)
	text := read(t, "grafana.json")
	var d dashboard
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.ToLower(text), "tenant") {
		t.Error("the dashboard names tenants")
	}
	variable := datasource{"prometheus", "${datasource}"}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name+" "+v.Type)
		if v.Type == "query" {
			if _, faults := checkQuery(v.Definition, all, operations); len(faults) > 0 || v.Datasource != variable {
				t.Errorf("variable %s: %q, data source %v", v.Name, faults, v.Datasource)
			}
		}
	}
	if want := []string{"datasource datasource", "instance query", "operation query"}; !slices.Equal(variables, want) {
		t.Errorf("the variables are %q, want %q", variables, want)
	}
	taken := map[[2]int]string{}
	ids := map[int]bool{}
	used := map[string]bool{}
	queries := 0
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d, %q: the id is given twice, or it has no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s is at %+v, outside of 24 columns", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, there := taken[[2]int{x, y}]; there {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource != variable || len(p.Targets) == 0 {
			t.Errorf("%s: data source %v, %d queries", p.Title, p.Datasource, len(p.Targets))
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			queries++
			names, faults := checkQuery(q.Expr, all, operations)
			if len(faults) > 0 || q.Datasource != variable || refs[q.RefID] {
				t.Errorf("%s: %s: %q, data source %v", p.Title, q.Expr, faults, q.Datasource)
			}
			refs[q.RefID] = true
			for _, name := range names {
				used[name] = true
			}
		}
	}
	if queries < 30 {
		t.Errorf("looked at %d queries only", queries)
	}
	for name, m := range all {
		if shown := name; strings.HasPrefix(name, "graphkernel_") && !used[shown] && !(m.histogram && used[name+"_bucket"]) {
			t.Errorf("%s is on no panel", name)
		}
	}
}

// TestAlerts asks the same of every rule.
func TestAlerts(t *testing.T) {
	all, operations := metrics(t)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	alerts := map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			used, faults := checkQuery(r.Expr, all, operations)
			if len(faults) > 0 {
				t.Errorf("%s: %q", r.Alert, faults)
			}
			for _, name := range used {
				asked[name] = true
			}
			if r.Alert == "" || alerts[r.Alert] || r.Annotations["summary"] == "" || r.Annotations["description"] == "" || !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) {
				t.Errorf("%q is given twice, or lacks a name, a severity, a summary or a description: %+v", r.Alert, r)
			}
			alerts[r.Alert] = true
			if _, err := time.ParseDuration(r.For); r.For != "" && err != nil {
				t.Errorf("%s: for %q", r.Alert, r.For)
			}
		}
	}
	for _, name := range []string{"up", "graphkernel_http_requests_total", "graphkernel_http_request_duration_seconds_bucket", "graphkernel_queue_length", "graphkernel_store_failures_total", "graphkernel_store_duration_seconds_bucket"} {
		if !asked[name] {
			t.Errorf("no alert asks for %s", name)
		}
	}
}

// TestAlertsSeeTheFirst makes sure that every counter whose increase an alert asks for has its series before anything is counted: the increase of a
// series that begins at 1 is 0. A share of requests is left out: an operation has no series before its first request (server.TestMetricsGrow).
func TestAlertsSeeTheFirst(t *testing.T) {
	_, registry := served(t)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all, _ := metrics(t)
	most := map[string]int{"graphkernel_verifications_total": 2, "graphkernel_store_failures_total": len(observed.Calls), "graphkernel_cosignatures_total": 1}
	looked := 0
	for _, m := range regexp.MustCompile(`(?:increase|rate)\((\w+)(?:\{([^}]*)\})?\[`).FindAllStringSubmatch(read(t, "alerts.yaml"), -1) {
		name, selector := m[1], m[2]
		if all[strings.TrimSuffix(name, "_bucket")].histogram || strings.Contains(selector, "operation!~") {
			continue
		}
		looked++
		want := max(1, most[name])
		found := 0
		for _, f := range families {
			if f.GetName() != name {
				continue
			}
			for _, series := range f.GetMetric() {
				if series.GetCounter().GetValue() != 0 {
					t.Errorf("%s begins at %v", name, series.GetCounter().GetValue())
				}
				if selects(t, selector, series.GetLabel()) {
					found++
				}
			}
		}
		if found < want {
			t.Errorf("%s{%s} has %d series at the start, want %d", name, selector, found, want)
		}
	}
	if looked < 7 {
		t.Errorf("looked at %d counters only", looked)
	}
}

// selects reports whether a series has the labels that a selector of exact matchers names.
func selects(t *testing.T, selector string, labels []*dto.LabelPair) bool {
	t.Helper()
	for text := range strings.SplitSeq(selector, ",") {
		if text == "" {
			continue
		}
		m := matcher.FindStringSubmatch(text)
		if m == nil || m[2] != "=" {
			t.Fatalf("%q is no exact matcher", text)
		}
		if !slices.ContainsFunc(labels, func(l *dto.LabelPair) bool { return l.GetName() == m[1] && l.GetValue() == m[3] }) {
			return false
		}
	}
	return true
}

// settings returns the keys and the defaults that cmd/graphkernel/service declares, in order.
func settings(t *testing.T) (order []string, standard map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "cmd", "graphkernel", "service", "config.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	text := func(e ast.Expr) string {
		lit, ok := e.(*ast.BasicLit)
		if !ok {
			t.Fatalf("the table of settings holds a %T", e)
		}
		s, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	standard = map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "Settings" {
			return true
		}
		for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
			fields := e.(*ast.CompositeLit).Elts
			key := text(fields[0])
			order = append(order, key)
			standard[key] = text(fields[1])
		}
		return false
	})
	if len(order) < 20 {
		t.Fatalf("found %d settings only", len(order))
	}
	return order, standard
}

// TestConfig holds config.yaml against the table of settings: the same keys in the same
// order, each with its default and a comment.
func TestConfig(t *testing.T) {
	order, standard := settings(t)
	text := read(t, "config.yaml")
	given := map[string]any{}
	var file map[string]any
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	for section, v := range file {
		if below, nested := v.(map[string]any); nested {
			for name, v := range below {
				given[section+"."+name] = v
			}
		} else {
			given[section] = v
		}
	}
	for key, v := range given {
		want, known := standard[key]
		if !known {
			t.Errorf("there is no setting %s", key)
		}
		got := fmt.Sprint(v)
		if list, ok := v.([]any); ok {
			got = strings.Trim(fmt.Sprint(list), "[]")
		}
		if got != want {
			t.Errorf("%s is %q, want the default %q", key, got, want)
		}
	}
	var written []string
	above, section := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		name, value, isKey := strings.Cut(line, ":")
		trimmed := strings.TrimLeft(name, " ")
		switch {
		case strings.HasPrefix(trimmed, "#") || line == "":
		case isKey && value == "":
			section = name + "."
		case isKey:
			if trimmed == name {
				section = ""
			}
			written = append(written, section+trimmed)
			if !strings.HasPrefix(strings.TrimLeft(above, " "), "#") {
				t.Errorf("%s has no comment above it", section+trimmed)
			}
		}
		above = line
	}
	if !slices.Equal(written, order) {
		t.Errorf("config.yaml has the keys\n%q\nand the program\n%q", written, order)
	}
}

// directives returns the directives of the unit: a name may be given more than once.
func directives(t *testing.T) map[string][]string {
	t.Helper()
	return directivesOf(read(t, "graphkernel.service"))
}

func directivesOf(unit string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(unit) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			all[name] = append(all[name], value)
		}
	}
	return all
}

// TestUnit holds the unit against the settings and against what it promises.
func TestUnit(t *testing.T) {
	all := directives(t)
	_, standard := settings(t)
	stop, err := time.ParseDuration(strings.Join(all["TimeoutStopSec"], ""))
	if err != nil {
		t.Fatal(err)
	}
	var takes time.Duration
	for _, key := range []string{"shutdown_delay", "shutdown_grace"} {
		d, err := time.ParseDuration(standard[key])
		if err != nil {
			t.Fatal(err)
		}
		takes += d
	}
	if stop < takes+5*time.Second {
		t.Errorf("systemd waits %s, and stopping may take %s", stop, takes)
	}
	for name, want := range map[string]string{
		"DynamicUser": "yes", "StateDirectory": "graphkernel", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes",
		"MemoryDenyWriteExecute": "yes", "CapabilityBoundingSet": "", "SystemCallArchitectures": "native", "Restart": "on-failure",
		"Type": "notify", "WatchdogSec": "30s", "ExecReload": "/bin/kill -HUP $MAINPID", "LoadCredential": "keyring:/etc/graphkernel/keys.json",
	} {
		if got := all[name]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if len(all["SystemCallFilter"]) != 2 {
		t.Errorf("SystemCallFilter is %q", all["SystemCallFilter"])
	}
}

// uncommented returns a file with the lines switched on that are prepared as comments, those that match.
func uncommented(text, lines string) (on string, n int) {
	prepared := regexp.MustCompile(`(?m)^( *)# ?(` + lines + `)`)
	return prepared.ReplaceAllString(text, "${1}${2}"), len(prepared.FindAllString(text, -1))
}

// TestPrepared switches on the lines for an identity and TLS that are prepared as comments: what they read and write is there, and outlives a restart where it must.
func TestPrepared(t *testing.T) {
	unit, n := uncommented(read(t, "graphkernel.service"), `(?:LoadCredential|ExecStartPre|Environment)=`)
	if n != 8 {
		t.Errorf("the unit has %d prepared lines, want 8", n)
	}
	variables(t, unit)
	all := directivesOf(unit)
	credentials, environment := map[string]bool{}, map[string]string{}
	for _, c := range all["LoadCredential"] {
		name, _, _ := strings.Cut(c, ":")
		credentials[name] = true
	}
	for _, e := range all["Environment"] {
		name, value, _ := strings.Cut(e, "=")
		environment[name] = value
	}
	copied := map[string]bool{}
	for _, line := range all["ExecStartPre"] {
		fields := strings.Fields(line)
		from, to := fields[len(fields)-2], fields[len(fields)-1]
		if name, ok := strings.CutPrefix(from, "${CREDENTIALS_DIRECTORY}/"); !ok || !credentials[name] {
			t.Errorf("%q copies what is no credential", line)
		}
		copied[to] = true
	}
	for name, value := range environment {
		credential, lent := strings.CutPrefix(value, "/run/credentials/graphkernel.service/")
		switch {
		case name == "GRAPHKERNEL_STORE":
		case name == "GRAPHKERNEL_HISTORY" || name == "GRAPHKERNEL_SECRETS_KEY" || name == "GRAPHKERNEL_ERASURES_KEY":
			if !strings.HasPrefix(value, "/var/lib/"+all["StateDirectory"][0]+"/") {
				t.Errorf("%s is %s, which does not outlive a restart", name, value)
			}
		case lent && credentials[credential]:
		case !copied[value]:
			t.Errorf("%s is %s, which nothing puts there", name, value)
		}
	}
	if len(environment) != 8 {
		t.Errorf("%d variables, want 8: %v", len(environment), environment)
	}

	compose, n := uncommented(read(t, "compose.yaml"), `(?:GRAPHKERNEL_[A-Z_]+: |volumes: |graphkernel:$)`)
	if n != 7 {
		t.Errorf("compose.yaml has %d prepared lines, want 7", n)
	}
	variables(t, compose)
	project := composed(t, compose)
	mounted := project.Services["graphkernel"].Volumes
	if _, there := project.Volumes["graphkernel"]; !there || len(mounted) != 2 {
		t.Fatalf("volumes are %q", mounted)
	}
	for name, value := range project.Services["graphkernel"].Environment {
		if !strings.HasPrefix(value, "/") {
			continue
		}
		on := func(m string) bool {
			_, at, _ := strings.Cut(m, ":")
			at, readOnly := strings.CutSuffix(at, ":ro")
			return strings.HasPrefix(value, at+"/") && readOnly == (name != "GRAPHKERNEL_HISTORY")
		}
		if !slices.ContainsFunc(mounted, on) {
			t.Errorf("%s is %s, which no volume holds as it must be", name, value)
		}
	}
}

// A project is as much of a compose file as the tests look at.
type project struct {
	Services map[string]struct {
		Image       string
		StopGrace   string                                `yaml:"stop_grace_period"`
		Depends     map[string]struct{ Condition string } `yaml:"depends_on"`
		Ports       []string
		Volumes     []string
		Environment map[string]string
	}
	Volumes map[string]any
}

func composed(t *testing.T, text string) (p project) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestUnitVerifies has systemd read the unit, where there is one.
func TestUnitVerifies(t *testing.T) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	installed := regexp.MustCompile(`(?m)^(Exec[A-Za-z]+=)[^ ]+`).ReplaceAllString(read(t, "graphkernel.service"), "${1}/bin/sh") // verify wants programs that are there
	path := filepath.Join(t.TempDir(), "graphkernel.service")
	if err := os.WriteFile(path, []byte(installed), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "verify", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), path) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestContainerfile reads what a person would look for: no registry but the default one,
// nobody's root, and variables that the program knows.
func TestContainerfile(t *testing.T) {
	text := read(t, filepath.Join("..", "Containerfile"))
	var from []string
	user := ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "FROM":
			from = append(from, fields[1])
		case "USER":
			user = fields[1]
		}
	}
	if !slices.Equal(from, []string{"scratch"}) {
		t.Errorf("built from %q, want scratch", from)
	}
	if uid, _, _ := strings.Cut(user, ":"); uid == "0" || strings.Trim(uid, "0123456789") != "" || uid == "" {
		t.Errorf("it runs as %q, want a number that is not 0", user)
	}
	variables := variables(t, text)
	if len(variables) != 3 {
		t.Errorf("found the variables %q, want three", variables)
	}
	if !strings.Contains(read(t, filepath.Join("..", ".goreleaser.yaml")), "env: [CGO_ENABLED=0]") || !strings.Contains(text, "\nEXPOSE 8080\n") || !strings.Contains(text, "\nVOLUME /var/lib/graphkernel\n") {
		t.Error("the binary is not static, or there is no port or no volume")
	}
}

// variables returns the program's own variables that a file names. Each must be known to the program.
func variables(t *testing.T, text string) []string {
	t.Helper()
	_, standard := settings(t)
	known := []string{"GRAPHKERNEL_STORE", "GRAPHKERNEL_KEYS", "GRAPHKERNEL_SECRET", "GRAPHKERNEL_SECRETS_KEY", "GRAPHKERNEL_ERASURES_KEY", "GRAPHKERNEL_IDENTITY", "GRAPHKERNEL_HISTORY"}
	for key := range standard {
		known = append(known, "GRAPHKERNEL_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_")))
	}
	named := regexp.MustCompile(`GRAPHKERNEL_[A-Z_]+`).FindAllString(text, -1)
	for _, name := range named {
		if !slices.Contains(known, name) {
			t.Errorf("the program does not know %s", name)
		}
	}
	return named
}

// TestCompose holds the compose file against the image and the unit: variables that the program knows, ports on loopback alone, and as much time to stop as
// under systemd.
func TestCompose(t *testing.T) {
	text := read(t, "compose.yaml")
	if len(variables(t, text)) < 3 {
		t.Error("it names hardly a variable")
	}
	services := composed(t, text).Services
	own, database := services["graphkernel"], services["postgres"]
	for got, want := range map[string]string{
		own.Image: "graphkernel", own.StopGrace: strings.Join(directives(t)["TimeoutStopSec"], ""), own.Depends["postgres"].Condition: "service_healthy",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(own.Ports) != 1 || !strings.HasPrefix(own.Ports[0], "127.0.0.1:") || len(database.Ports) > 0 {
		t.Errorf("ports beyond loopback: %q", own.Ports)
	}
	if store := own.Environment["GRAPHKERNEL_STORE"]; !strings.Contains(store, "${POSTGRES_PASSWORD:?") || strings.Contains(database.Environment["POSTGRES_PASSWORD"], "${POSTGRES_PASSWORD:-") {
		t.Errorf("the database may have no password: %q", store)
	}
}

// TestProbes asks the addresses that the files name.
func TestProbes(t *testing.T) {
	k, err := kernel.Open(kernel.Config{
		Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: keys.NewAuthority(keys.Keyring{}), Clock: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(t.Context(), server.Config{Kernel: k, Log: slog.New(slog.DiscardHandler), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, path := range regexp.MustCompile(`/health/[a-z]+`).FindAllString(read(t, filepath.Join("..", "Containerfile"))+read(t, "alerts.yaml"), -1) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code == http.StatusNotFound {
			t.Errorf("%s answers %d", path, w.Code)
		}
		asked++
	}
	if asked < 4 {
		t.Errorf("asked for %d addresses only", asked)
	}
}
