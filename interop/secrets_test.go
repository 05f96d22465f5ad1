package interop_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/zricethezav/gitleaks/v8/cmd/generate/secrets" // so that go.mod names what the generator needs
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/report"

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

// pathRules look at the names of files in gitleaks. Here they apply to all text, so what gitleaks takes for no secret because of its path is one.
var pathRules = []string{"freemius-secret-key", "hashicorp-tf-password", "kubernetes-secret-yaml", "nuget-config-password"}

// ownRules are those that gitleaks does not have.
var ownRules = []string{"payment-card", "url-password", "password-in-text", "password-quoted", "password-set", "password-for", "password-option", "password-element", "basic-authorization"}

// TestSecretsOfGitleaks tries the examples that gitleaks has for each of its rules, and plants a thousand of them in transcripts.
func TestSecretsOfGitleaks(t *testing.T) {
	scanner, key := secrets.Standard(), secrets.Key{1}
	ours := map[string]bool{}
	for _, rule := range scanner.Rules() {
		ours[rule] = true
	}
	list := examples(t)
	real := map[string][]string{} // by rule
	var found, missed, quiet, alarms int
	for _, e := range list {
		if !ours[e.Rule] { // it looks at names of files alone
			continue
		}
		got := scanner.Scan(e.Text)
		switch named := slices.ContainsFunc(got, func(f secrets.Finding) bool { return f.Rule == e.Rule }); {
		case e.Secret && len(got) > 0:
			found++
			real[e.Rule] = append(real[e.Rule], e.Text)
		case e.Secret:
			missed++
			t.Errorf("missed %s: %q", e.Rule, e.Text)
		case !named:
			quiet++
		case slices.Contains(pathRules, e.Rule):
		default:
			alarms++
			t.Errorf("%s takes for a secret: %q", e.Rule, e.Text)
		}
	}
	t.Logf("of gitleaks' examples, %d of %d secrets of %d rules were found, with %d alarms on %d others", found, found+missed, len(real), alarms, quiet+alarms)
	if found < 5_000 || quiet < 300 || len(real) < 200 {
		t.Errorf("%d and %d examples of %d rules", found, quiet, len(real))
	}

	texts := transcripts(t)
	random := rand.New(rand.NewPCG(11, 12))
	rules := slices.Sorted(maps.Keys(real))
	planted, lost := 1000, 0
	for i := range planted {
		rule := rules[i%len(rules)]
		secret := real[rule][random.IntN(len(real[rule]))]
		text := texts[random.IntN(len(texts))]
		at := random.IntN(len(text) + 1)
		if line := strings.IndexByte(text[at:], '\n'); line >= 0 && i%2 == 0 {
			at += line
		}
		for at < len(text) && text[at] != ' ' && text[at] != '\n' {
			at++
		}
		whole := text[:at] + "\n" + secret + "\n" + text[at:]
		from := at + 1
		if !slices.ContainsFunc(scanner.Scan(whole), func(f secrets.Finding) bool { return f.Start < from+len(secret) && from < f.End }) {
			lost++
			t.Logf("lost: %s %q", rule, secret)
		}
		redacted, _ := scanner.Redact(whole, &key)
		if again := scanner.Scan(redacted); len(again) > 0 {
			t.Errorf("%v are left of %q", again, secret)
		}
	}
	t.Logf("%d of %d secrets that were planted in %d texts were found", planted-lost, planted, len(texts))
	if lost > planted/50 {
		t.Errorf("%d of %d were lost", lost, planted)
	}
}

// TestSecretsAsGitleaks compares what is found with what gitleaks itself finds.
func TestSecretsAsGitleaks(t *testing.T) {
	detector, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	scanner := secrets.Standard()
	both, theirs, ours := 0, 0, 0
	compare := func(text string) {
		their := detector.DetectString(text)
		our := scanner.Scan(text)
		for _, f := range their {
			if slices.ContainsFunc(our, func(o secrets.Finding) bool {
				return strings.Contains(text[o.Start:o.End], f.Secret) || strings.Contains(f.Secret, text[o.Start:o.End])
			}) {
				both++
				continue
			}
			theirs++
			t.Errorf("%s: only gitleaks finds %q in %q", f.RuleID, f.Secret, text)
		}
		for _, o := range our {
			own := slices.Contains(ownRules, o.Rule) || slices.Contains(pathRules, o.Rule)
			if !own && !slices.ContainsFunc(their, func(f report.Finding) bool { return strings.Contains(f.Secret, text[o.Start:o.End]) }) {
				if ours++; !strings.Contains(text, "gitleaks:allow") {
					t.Errorf("%s: only this finds %q in %q", o.Rule, text[o.Start:o.End], text)
				}
			}
		}
	}
	list := examples(t)
	for i := range list {
		if i%7 == 0 || !list[i].Secret {
			compare(list[i].Text)
		}
	}
	for i, text := range transcripts(t) {
		if i%3 == 0 && len(text) < 20_000 {
			compare(text)
		}
	}
	t.Logf("%d secrets are found by both, %d by gitleaks alone, %d by this alone", both, theirs, ours)
	if both < 500 {
		t.Errorf("only %d secrets were found by both", both)
	}
}

// transcripts returns texts of real sessions, or of the sessions that importers are tested with.
func transcripts(t *testing.T) (texts []string) {
	t.Helper()
	root := os.Getenv("GRAPHKERNEL_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	var paths []string
	for _, name := range []string{"entire", "claude-code", "tau-bench"} {
		if path := filepath.Join(root, name); exists(path) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		paths = []string{filepath.Join("..", "ingest", "testdata", "claude"), filepath.Join("..", "ingest", "testdata", "codex")}
	}
	_, err := ingest.ReadAll(t.Context(), paths, ingest.Options{}, func(b *ingest.Batch) error {
		for i := range b.Drafts {
			texts = append(texts, b.Drafts[i].Content)
		}
		return nil
	})
	if err != nil || len(texts) < 50 {
		t.Fatalf("%d texts: %v", len(texts), err)
	}
	return texts
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
