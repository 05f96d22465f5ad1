package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/zricethezav/gitleaks/v8/cmd/generate/secrets" // so that go.mod names what the generator needs
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
)

const gitleaks = "github.com/zricethezav/gitleaks/v8"

// TestSecretRules holds the rule file against the one of the module that go.mod names.
func TestSecretRules(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "ingest", "secrets", "gitleaks", "rules.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command("go", "run", "./secretrules").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the rule file is another than the module's; run go generate ./ingest/secrets")
	}
}

// An example is a text with which gitleaks tries one of its rules.
type example struct {
	Rule, Path, Text string
	Secret           bool
}

// examples has gitleaks' own generator make its examples.
func examples(t *testing.T) (list []example) {
	t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", gitleaks).Output()
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "gitleaks")
	if err := os.CopyFS(own, os.DirFS(strings.TrimSpace(string(folder)))); err != nil {
		t.Fatal(err)
	}
	for name, with := range map[string]string{"cmd/generate/config/utils/validate.go": "validate.go.txt", "cmd/generate/secrets/regen.go": "secret.go.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", "gitleaks", with))
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(own, filepath.FromSlash(name))
		if err := os.Remove(at); err != nil { // it must have been there
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(own, "generator")
	build := exec.Command("go", "build", "-modfile", modules(t, gitleaks+" => "+own), "-o", program, gitleaks+"/cmd/generate/config")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program, os.DevNull)
	run.Dir = filepath.Join(own, "cmd", "generate", "config") // its template is there
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var e example
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b example) int {
		return strings.Compare(a.Rule+"\x00"+a.Path+"\x00"+a.Text, b.Rule+"\x00"+b.Path+"\x00"+b.Text)
	})
	return list
}

// modules returns this module's requirements in a file of their own, with one module in the place of another.
func modules(t *testing.T, replace string) (path string) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			data = append(data, "\nreplace "+replace+"\n"...)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "go.mod")
}

var _ = []any{detect.NewDetector, context.Background, rand.New, ingest.Read}

// TestSecretExamples tries gitleaks' own examples.
func TestSecretExamples(t *testing.T) {
	scanner := secrets.Standard()
	var ours = map[string]bool{}
	for _, rule := range scanner.Rules() {
		ours[rule] = true
	}
	var found, missed, alarms, quiet int
	for _, e := range examples(t) {
		var rules []string
		for _, f := range scanner.Scan(e.Text) {
			rules = append(rules, f.Rule)
		}
		switch by := slices.Contains(rules, e.Rule); {
		case !ours[e.Rule]:
		case e.Secret && len(rules) > 0:
			found++
		case e.Secret:
			missed++
			t.Logf("missed %s: %q (%s) %v", e.Rule, e.Text, e.Path, rules)
		case by:
			alarms++
			t.Logf("alarm %s: %q (%s)", e.Rule, e.Text, e.Path)
		default:
			quiet++
		}
	}
	t.Logf("%d found, %d missed, %d alarms, %d quiet", found, missed, alarms, quiet)
}
