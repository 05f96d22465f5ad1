package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/server"
)

// A setting is one setting of the service. Its flag is the key with dashes, its environment variable GRAPHKERNEL_ and the key in capitals with underscores.
type setting struct {
	Key, Standard, help string
}

// Settings lists every setting. The environment overrides the file, and a flag overrides the environment.
var Settings = [...]setting{
	{"addr", "127.0.0.1:8080", "the address to listen on, HOST:PORT; port 0 takes a free one"},
	{"tls.cert", "", "the file of a certificate, PEM; with tls.key the service speaks TLS, and reads both files again when they change"},
	{"tls.key", "", "the file of the private key"},
	{"cors", "", "origins from which browsers may call the service, separated by commas; empty: none"},
	{"trusted_proxies", "", "networks whose X-Forwarded-For is trusted, separated by commas, such as 10.0.0.0/8"},
	{"console", "true", "serve pages for people at /; they sign in with an API key"},
	{"console_oidc.client", "", "let people sign in to the pages with oidc.issuer; the id under which this service is registered there"},
	{"console_oidc.secret_file", "", "the file with that client's secret; empty: it is a public client"},
	{"console_oidc.url", "", "the URL of this service in browsers; the provider sends people back to URL/sign-in/return"},
	{"console_oidc.scopes", "", "scopes to request in addition to openid, separated by commas"},
	{"mcp", "true", "speak the Model Context Protocol at /mcp"},
	{"mcp_tools", "", "tools of an MCP session whose URL has no ?tools=: sets and tools, separated by commas; empty: those of its role"},
	{"oidc.issuer", "", "accept JWTs of this issuer, in addition to API keys"},
	{"oidc.audience", "", "the audience that JWTs must have"},
	{"oidc.jwks", "", "where the issuer's keys are, https://… or file:PATH"},
	{"oidc.tenant_claim", "tenant", "the claim of JWTs that names the tenant"},
	{"oidc.role_claim", "role", "the claim of JWTs that names the role"},
	{"secrets", "redact", "what to do about keys, tokens and passwords in sessions that hooks capture: redact, report, refuse or off"},
	{"admitted_secrets", "report", "what to do about secrets in turns, facts and tasks that come over HTTP and MCP: report (in the log), refuse or off"},
	{"log.level", "info", "debug, info, warn or error"},
	{"log.public", "", "tenants whose ledger anybody may read without a key, separated by commas; empty: none"},
	{"log.readings", "", "tenants for which the log has a line for each read (who read what), separated by commas"},
	{"log.witnesses", "", "a trust file; its witnesses with a URL are asked to cosign checkpoints"},
	{"log.every", "10s", "the age of a cosigned checkpoint at which witnesses are asked again"},
	{"log.witness_timeout", "5s", "how long witnesses may take to answer"},
	{"witness.logs", "", "a trust file; the service cosigns the checkpoints of its logs at /witness"},
	{"trace.exporter", "none", "where spans are written: none, or log (a line each, at level info)"},
	{"trace.sample", "0.01", "the share of requests to trace, from 0 to 1; a caller's own decision takes precedence"},
	{"shutdown_delay", "200ms", "how long the service accepts requests after it was told to stop, while it reports that it is not ready"},
	{"shutdown_grace", "30s", "how long running requests may take to finish after that"},
	{"cache.graph_bytes", "268435456", "the cache of conversation graphs in memory, in bytes, about 135 for each turn"},
	{"cache.cut_bytes", "33554432", "the cache of finished cuts, without text, in bytes"},
	{"cache.text_bytes", "33554432", "the cache of turns with their texts, in bytes"},
	{"working.keep", "auto", "where working memory is kept: process, store, or auto (the store if that is PostgreSQL, so that several processes may serve it)"},
	{"working.messages", "50", "the most messages of a session; older ones are dropped"},
	{"working.session_bytes", "262144", "the most bytes of a session; older messages are dropped"},
	{"working.expires", "1h", "how long a message is kept"},
	{"working.sessions", "200", "the most sessions of a tenant"},
	{"working.tenant_bytes", "8388608", "the most bytes of a tenant's sessions"},
	{"working.memory_bytes", "67108864", "the most bytes of all sessions that are kept in the process"},
	{"embedders", "", "models that make vectors over HTTP, which policies may name: a JSON list, or a list in the file (docs/retrieval.md)"},
	{"rerankers", "", "cross-encoders over HTTP, which policies may name: a JSON list, or a list in the file (docs/retrieval.md)"},
	{"limits.body_bytes", "67108864", "the most bytes of a request's body; a stream of lines has no such limit"},
	{"limits.bodies_bytes", "536870912", "the most bytes of bodies and answers in memory at once; one key may use a quarter of them"},
	{"limits.line_bytes", "67108864", "the most bytes of one line of a stream"},
	{"limits.batch_turns", "10000", "the most turns of one admission"},
	{"limits.rate", "2000", "requests per second for each key, and for each address without a key; -1: no limit"},
	{"limits.burst", "0", "requests at once for each key or address; 0: twice the rate"},
	{"limits.auth_failures", "10", "failed authentications per second for each address; -1: no limit"},
	{"limits.concurrent", "0", "the most requests that run at once; 0: 16 for each processor"},
	{"limits.queue", "1024", "the most requests that wait for one of these places"},
	{"limits.queue_wait", "2s", "the longest time that they wait"},
	{"limits.timeout", "30s", "the longest time of a request"},
	{"limits.header_timeout", "5s", "the longest time until the headers of a request are read"},
	{"limits.idle_timeout", "2m", "the longest time of a connection between requests"},
	{"limits.connections", "2048", "the most open connections; further ones are closed at once"},
	{"limits.streams", "16", "the most open streams, of events and of lines, for each key"},
}

func (s *setting) flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(s.Key) }

func (s *setting) variable() string {
	return "GRAPHKERNEL_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// A configuration holds the value of every setting and where it came from.
type configuration struct {
	values map[string]string
	origin map[string]string
	models cli.Models
}

func registerSettings(c *cobra.Command) *string {
	file := c.Flags().String("config", "", "a YAML file with settings ($GRAPHKERNEL_CONFIG)")
	for i := range Settings {
		s := &Settings[i]
		usage := s.help
		if s.Standard != "" {
			usage += " (default " + s.Standard + ")"
		}
		c.Flags().String(s.flag(), "", usage)
	}
	_ = c.RegisterFlagCompletionFunc("mcp-tools", completeTools)                                                                                          // the flag exists
	_ = c.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("trace-exporter", cobra.FixedCompletions([]string{"none", "log"}, cobra.ShellCompDirectiveNoFileComp))               // the flag exists
	return file
}

// configure combines the settings: file < environment < flags.
func configure(a *cli.App, c *cobra.Command, file string) (*configuration, error) {
	conf := &configuration{values: map[string]string{}, origin: map[string]string{}}
	standard, given, flags := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range Settings {
		s := &Settings[i]
		standard[s.Key] = s.Standard
		if v := a.Settings.Getenv(s.variable()); v != "" {
			given[s.Key] = v
		}
		if f := c.Flags().Lookup(s.flag()); f.Changed {
			flags[s.Key] = f.Value.String()
		}
	}
	if file == "" {
		file = a.Settings.Getenv("GRAPHKERNEL_CONFIG")
	}
	fromFile, err := readSettings(file)
	if err != nil {
		return nil, err
	}
	takePlaces(a.Settings, fromFile)
	for _, layer := range []struct {
		origin string
		values map[string]string
	}{{"default", standard}, {"file", fromFile}, {"environment", given}, {"flag", flags}} {
		for key, value := range layer.values {
			conf.values[key], conf.origin[key] = value, layer.origin
		}
	}
	if conf.models, err = a.Settings.Models(conf.text("embedders"), conf.text("rerankers")); err != nil {
		return nil, cli.Usage(err)
	}
	return conf, knownVariables(a, conf.models.KeyVariables)
}

// Places sets the store, the keyring and the identity that a file of settings names.
func Places(s *cli.Settings, path string) error {
	fromFile, err := readSettings(path)
	if err == nil {
		takePlaces(s, fromFile)
	}
	return err
}

// takePlaces takes the places out of the settings of a file. A place that the file does not name is empty.
func takePlaces(s *cli.Settings, fromFile map[string]string) {
	for key, into := range placesOf(s) {
		*into = fromFile[key]
		delete(fromFile, key)
	}
}

// placesOf returns the common flags that a file of settings may also contain.
func placesOf(s *cli.Settings) map[string]*string {
	return map[string]*string{"store": &s.FileStore, "keys": &s.FileKeys, "identity": &s.FileIdentity}
}

// otherVariables are environment variables that are read elsewhere.
var otherVariables = []string{
	"GRAPHKERNEL_PAGER", "GRAPHKERNEL_RESIDENT",
	"GRAPHKERNEL_STORE", "GRAPHKERNEL_SERVER", "GRAPHKERNEL_TENANT", "GRAPHKERNEL_KEYS", "GRAPHKERNEL_SECRETS_KEY", "GRAPHKERNEL_ERASURES_KEY", "GRAPHKERNEL_IDENTITY", "GRAPHKERNEL_HISTORY", "GRAPHKERNEL_SECRET", "GRAPHKERNEL_KEY_ID", "GRAPHKERNEL_CONFIG",
	facts.DefaultLLMKey,
	"GRAPHKERNEL_URL", "GRAPHKERNEL_KEY", // examples/guard
}

// knownVariables refuses an unknown variable that begins with GRAPHKERNEL_: it may be a misspelt limit.
func knownVariables(a *cli.App, ofModels []string) error {
	if a.Settings.Environ == nil {
		return nil
	}
	for _, v := range a.Settings.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "GRAPHKERNEL_") && !knownVariable(name) && !slices.Contains(ofModels, name) {
			return cli.Usagef("there is no setting %s; graphkernel config lists them", name)
		}
	}
	return nil
}

func knownVariable(name string) bool {
	return slices.Contains(otherVariables, name) || slices.ContainsFunc(Settings[:], func(s setting) bool { return s.variable() == name })
}

// readSettings reads a file of settings. An unknown setting is an error: it may be a misspelt limit.
func readSettings(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usagef("there is no configuration at %s", path)
	}
	if err != nil {
		return nil, err
	}
	var file map[string]any
	values := map[string]string{}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, cli.Usagef("%s: %v", path, err)
	}
	if err := addSettings(values, "", file); err != nil {
		return nil, cli.Usagef("%s: %v", path, err)
	}
	return values, nil
}

// addSettings adds the settings of a section of a file. Its keys are joined to the section's name by dots.
func addSettings(values map[string]string, above string, section map[string]any) error {
	for name, v := range section {
		key := above + name
		below, nested := v.(map[string]any)
		if other, ok := v.(map[any]any); ok { // a name in it is not a text
			below, nested = map[string]any{}, true
			for name, v := range other {
				below[fmt.Sprint(name)] = v
			}
		}
		if nested && len(below) > 0 {
			if err := addSettings(values, key+".", below); err != nil {
				return err
			}
			continue
		}
		if place := placesOf(&cli.Settings{})[key]; place == nil && !slices.ContainsFunc(Settings[:], func(s setting) bool { return s.Key == key }) {
			return fmt.Errorf("there is no setting %q; graphkernel config lists them", key)
		}
		if _, twice := values[key]; twice {
			return fmt.Errorf("the setting %q occurs twice", key)
		}
		text, err := textOf(v)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		values[key] = text
	}
	return nil
}

// textOf writes a value of a file in the form that it has in the environment.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case []any:
		if slices.ContainsFunc(v, func(e any) bool { _, ok := e.(map[string]any); return ok }) {
			text, err := json.Marshal(v)
			return string(text), err
		}
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(parts, ","), nil
	}
	return fmt.Sprint(v), nil
}

// text returns the value of a setting.
func (c *configuration) text(key string) string { return c.values[key] }

// list returns the value of a setting, split at commas.
func (c *configuration) list(key string) []string {
	var list []string
	for _, part := range strings.Split(c.text(key), ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// A reading reads settings by type and keeps the first fault.
type reading struct {
	*configuration
	err error
}

func readAs[T any](r *reading, key, want string, parse func(string) (T, error)) T {
	v, err := parse(r.text(key))
	if err != nil && r.err == nil {
		r.err = cli.Usagef("%s is %q (%s), want %s", key, r.text(key), r.origin[key], want)
	}
	return v
}

func (r *reading) duration(key string) time.Duration {
	return readAs(r, key, "a duration above zero, such as 30s", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err == nil && d <= 0 {
			err = errors.New("not above zero")
		}
		return d, err
	})
}

// pause reads a duration that may be zero.
func (r *reading) pause(key string) time.Duration {
	return readAs(r, key, "a duration such as 200ms, or 0s", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err == nil && d < 0 {
			err = errors.New("below zero")
		}
		return d, err
	})
}

func (r *reading) number(key string, least int) int {
	return readAs(r, key, fmt.Sprintf("an integer of at least %d", least), func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err == nil && n < least {
			err = errors.New("too small")
		}
		return n, err
	})
}

// atMost reads a number from 1 to a limit that cannot be raised.
func (r *reading) atMost(key string, most int) int {
	n := r.number(key, 1)
	if n > most && r.err == nil {
		r.err = cli.Usagef("%s is %d (%s), want at most %d", key, n, r.origin[key], most)
	}
	return n
}

func (r *reading) rate(key string) float64 {
	return readAs(r, key, "a number above zero, or -1 for no limit", func(s string) (float64, error) {
		n, err := strconv.ParseFloat(s, 64)
		if err == nil && n != -1 && !(n > 0 && n < 1e9) {
			err = errors.New("out of range")
		}
		return n, err
	})
}

func (r *reading) share(key string) float64 {
	return readAs(r, key, "a number from 0 to 1", func(s string) (float64, error) {
		n, err := strconv.ParseFloat(s, 64)
		if err == nil && !(n >= 0 && n <= 1) {
			err = errors.New("out of range")
		}
		return n, err
	})
}

func (r *reading) flag(key string) bool { return readAs(r, key, "true or false", strconv.ParseBool) }

func (r *reading) networks(key string) []netip.Prefix {
	var list []netip.Prefix
	for _, part := range r.list(key) {
		p, err := netip.ParsePrefix(part)
		if err != nil && r.err == nil {
			r.err = cli.Usagef("%s holds %q (%s), want networks such as 10.0.0.0/8", key, part, r.origin[key])
		}
		list = append(list, p)
	}
	return list
}

// tenants reads names of tenants, each once.
func (r *reading) tenants(key string) []dag.Tenant {
	var list []dag.Tenant
	for _, part := range r.list(key) {
		t, err := dag.ParseTenant(part)
		if err == nil && slices.Contains(list, t) {
			err = errors.New("the tenant occurs twice")
		}
		if err != nil && r.err == nil {
			r.err = cli.Usagef("%s holds %q (%s): %v", key, part, r.origin[key], err)
		}
		list = append(list, t)
	}
	return list
}

// trust reads the trust file that a setting names; nil if it names none.
func (r *reading) trust(key string) *ledger.Trust {
	path := r.text(key)
	if path == "" || r.err != nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.err = cli.Usagef("%s (%s): there is no trust file at %s", key, r.origin[key], path)
		return nil
	}
	var t *ledger.Trust
	if err == nil {
		t, err = ledger.ParseTrust(data)
	}
	if err != nil {
		r.err = fmt.Errorf("%s (%s): %s: %w", key, r.origin[key], path, err)
		return nil
	}
	return t
}

// origins reads origins as browsers write them: a scheme, a host, and optionally a port.
func (r *reading) origins(key string) []string {
	list := r.list(key)
	for _, o := range list {
		u, err := url.Parse(o)
		if o != "*" && (err != nil || u.Host == "" || o != u.Scheme+"://"+u.Host) && r.err == nil {
			r.err = cli.Usagef("%s holds %q (%s), want origins such as https://app.example, or *", key, cli.WithoutPassword(o), r.origin[key])
		}
	}
	return list
}

// addr reads the address to listen on.
func (r *reading) addr(key string) {
	if _, _, err := net.SplitHostPort(r.text(key)); err != nil && r.err == nil {
		r.err = cli.Usagef("%s is %q (%s), want HOST:PORT: %v", key, r.text(key), r.origin[key], err)
	}
}

func (r *reading) limits() server.Limits {
	return server.Limits{
		BodyBytes:     int64(r.number("limits.body_bytes", 1)),
		BodiesBytes:   int64(r.number("limits.bodies_bytes", 1)),
		LineBytes:     r.atMost("limits.line_bytes", ingest.MaxLine),
		BatchTurns:    r.atMost("limits.batch_turns", admission.MaxBatch),
		Rate:          r.rate("limits.rate"),
		Burst:         r.number("limits.burst", 0),
		AuthFailures:  r.rate("limits.auth_failures"),
		Concurrent:    r.number("limits.concurrent", 0),
		Queue:         r.number("limits.queue", 1),
		QueueWait:     r.duration("limits.queue_wait"),
		Timeout:       r.duration("limits.timeout"),
		HeaderTimeout: r.duration("limits.header_timeout"),
		IdleTimeout:   r.duration("limits.idle_timeout"),
		Connections:   r.number("limits.connections", 1),
		Streams:       r.number("limits.streams", 1),
	}
}

func configCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the settings of the service, and the source of each",
		Long: `Prints the settings that graphkernel serve would run with. The environment overrides the file, and a flag
overrides the environment. A setting limits.rate is limits: {rate: …} in the file, GRAPHKERNEL_LIMITS_RATE in
the environment and --limits-rate as a flag. The file may also name store, keys and identity; every command
heeds these three if GRAPHKERNEL_CONFIG names the file. Secrets are not settings; the command only shows which
of them are set.

With --output json: {"settings":[{"key","value","origin"}],"secrets":{NAME:bool}}`,
		Example: "  graphkernel config\n  GRAPHKERNEL_LIMITS_RATE=50 graphkernel config --config service.yaml",
		Args:    cli.NoArgs,
	}
	file := registerSettings(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		conf, err := configure(a, c, *file)
		if err != nil {
			return err
		}
		r := &reading{configuration: conf}
		if _, err := r.service(); err != nil {
			return err
		}
		return printSettings(a, conf)
	}
	return c
}

// A SettingJSON is a setting as --output json prints it.
type SettingJSON struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// secretVariables are environment variables with values that are never printed.
var secretVariables = []string{"GRAPHKERNEL_SECRET", facts.DefaultLLMKey}

func printSettings(a *cli.App, conf *configuration) error {
	lines := []SettingJSON{
		{"store", cli.WithoutPassword(a.Settings.StoreName()), from(a.Settings.StoreFlag, a.Settings.Getenv("GRAPHKERNEL_STORE"), a.Settings.FileStore)},
		{"keys", cli.First(a.Settings.KeysFlag, a.Settings.Getenv("GRAPHKERNEL_KEYS"), a.Settings.FileKeys, a.Settings.DefaultKeys()), from(a.Settings.KeysFlag, a.Settings.Getenv("GRAPHKERNEL_KEYS"), a.Settings.FileKeys)},
		{"identity", cli.First(a.Settings.IdentityFlag, a.Settings.Getenv("GRAPHKERNEL_IDENTITY"), a.Settings.FileIdentity, a.Settings.DefaultIdentity()), from(a.Settings.IdentityFlag, a.Settings.Getenv("GRAPHKERNEL_IDENTITY"), a.Settings.FileIdentity)},
	}
	for i := range Settings {
		key := Settings[i].Key
		value := conf.text(key)
		if key != "embedders" && key != "rerankers" { // these two have no place for a key
			value = cli.WithoutPassword(value)
		}
		lines = append(lines, SettingJSON{key, value, conf.origin[key]})
	}
	secrets := map[string]bool{}
	for _, name := range slices.Concat(secretVariables, conf.models.KeyVariables) {
		secrets[name] = a.Settings.Getenv(name) != ""
	}
	return a.IO.Print(map[string]any{"settings": lines, "secrets": secrets}, func(w io.Writer) {
		t := cli.NewTable(w, "setting", "value", "from")
		for _, l := range lines {
			t.AppendRow(table.Row{l.Key, l.Value, l.Origin})
		}
		t.Render()
		for _, name := range slices.Sorted(maps.Keys(secrets)) {
			fmt.Fprintf(w, "%s is %s\n", name, map[bool]string{true: "given (not shown)", false: "not given"}[secrets[name]])
		}
	})
}

// from returns where the value of a common flag comes from.
func from(flag, variable, file string) string {
	switch {
	case flag != "":
		return "flag"
	case variable != "":
		return "environment"
	case file != "":
		return "file"
	}
	return "default"
}
