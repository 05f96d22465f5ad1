package service

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestVariables finds every variable that the program reads or docs/cli.md has: the service takes each for one of ours, and a misspelt one for none.
func TestVariables(t *testing.T) {
	const root = "../../.."
	names := map[string]string{}
	find := func(path string, form *regexp.Regexp) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range form.FindAllStringSubmatch(string(data), -1) {
			names[found[1]] = path
		}
	}
	for _, folder := range []string{"cmd", "capture", "client"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				find(path, regexp.MustCompile(`"(GRAPHKERNEL_[A-Z_]*[A-Z])"`))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	find(filepath.Join(root, "docs", "cli.md"), regexp.MustCompile("`(GRAPHKERNEL_[A-Z_]*[A-Z])`"))
	if len(names) < 20 || names["GRAPHKERNEL_PAGER"] == "" {
		t.Fatalf("found only %v", names)
	}
	for name, path := range names {
		if !knownVariable(name) {
			t.Errorf("%s of %s stops serve and config", name, path)
		}
	}
	if knownVariable("GRAPHKERNEL_LIMITS_RATES") {
		t.Error("a misspelt limit is taken")
	}
}

// TestReadSettings reads files of settings in every form that a value may have.
func TestReadSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.yaml")
	for text, want := range map[string]string{
		"":                                     "map[]",
		"{}":                                   "map[]",
		"# nothing\n":                          "map[]",
		"null":                                 "map[]",
		"limits: {rate: 5}":                    "map[limits.rate:5]",
		"limits.rate: 5":                       "map[limits.rate:5]",
		"addr:":                                "map[addr:]",
		"addr: ~":                              "map[addr:]",
		"console: yes":                         "map[console:yes]",
		"console: true":                        "map[console:true]",
		"limits: {rate: 1_000}":                "map[limits.rate:1000]",
		"limits: {rate: 0x10}":                 "map[limits.rate:16]",
		"limits: {rate: 5.50}":                 "map[limits.rate:5.5]",
		"limits: {rate: '5.50'}":               "map[limits.rate:5.50]",
		"limits: {rate: .inf}":                 "map[limits.rate:+Inf]",
		"trace: {sample: 1e-3}":                "map[trace.sample:0.001]",
		"oidc: {audience: 2026-01-02}":         "map[oidc.audience:2026-01-02 00:00:00 +0000 UTC]",
		"cors: [a, b]":                         "map[cors:a,b]",
		"cors: []":                             "map[cors:]",
		"cors: [1, true, null]":                "map[cors:1,true,<nil>]",
		"cors: [[a, b], c]":                    "map[cors:[a b],c]",
		"embedders: [{model: m, batch: 2}, x]": `map[embedders:[{"batch":2,"model":"m"},"x"]]`,
		"store: sqlite:a.db":                   "map[store:sqlite:a.db]",
		"keys: [a]\nidentity: b":               "map[identity:b keys:a]",
		"log: &l {level: warn}":                "map[log.level:warn]",
		"limits: &l {rate: 5}\ncache: {<<: {text_bytes: 7}}": "map[cache.text_bytes:7 limits.rate:5]",
		"addr: a\n---\naddr: b\n":                            "map[addr:a]",
		"addr: >\n  a\n  b\n":                                "map[addr:a b\n]",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readSettings(path)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	if got, err := readSettings(""); err != nil || len(got) != 0 {
		t.Errorf("without a file: got %v, %v", got, err)
	}
}

// TestReadSettingsRefuses reads files that cannot be meant. What is said names the file, and the setting or the line.
func TestReadSettingsRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.yaml")
	for text, want := range map[string]string{
		"limits: {rates: 5}":                `there is no setting "limits.rates"; graphkernel config lists them`,
		"Addr: a":                           `there is no setting "Addr"; graphkernel config lists them`,
		"limits:":                           `there is no setting "limits"`,
		"limits: {}":                        `there is no setting "limits"`,
		"limits: 5":                         `there is no setting "limits"`,
		"addr: {host: a}":                   `there is no setting "addr.host"`,
		"store: {path: a}":                  `there is no setting "store.path"`,
		"limits: {1: 5}":                    `there is no setting "limits.1"`,
		"7: 5":                              `there is no setting "7"`,
		"secret: abab":                      `there is no setting "secret"`,
		"addr: a\naddr: b":                  `line 2: mapping key "addr" already defined at line 1`,
		"limits.rate: 1\nlimits: {rate: 2}": `the setting "limits.rate" occurs twice`,
		"limits: {rate: 1, rate: 2}":        `mapping key "rate" already defined`,
		"addr: [":                           "line 1",
		"addr: a\n\tlimits: b":              "line 2",
		"- addr":                            "cannot unmarshal !!seq",
		"addr":                              "cannot unmarshal !!str `addr`",
		"addr: *a":                          "unknown anchor 'a'",
		"\xff":                              "yaml",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readSettings(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	if _, err := readSettings(path + "s"); err == nil || err.Error() != "there is no configuration at "+path+"s" {
		t.Errorf("an absent file: got %v", err)
	}
}
