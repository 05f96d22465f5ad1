package token_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoCompile builds programs that try to make evidence without a verification.
// Each says in its first line what the compiler must answer. One, control, does
// it rightly and is built.
func TestNoCompile(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("testdata", "nocompile", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) < 12 {
		t.Fatalf("%d programs", len(folders))
	}
	paths := make([]string, len(folders))
	for i, f := range folders {
		paths[i] = "./" + filepath.ToSlash(f)
	}
	out, err := exec.Command("go", append([]string{"build", "-o", os.DevNull}, paths...)...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// The compiler's answers come under a line "# PACKAGE".
	answers := map[string]string{}
	for _, part := range strings.Split("\n"+string(out), "\n# ")[1:] {
		path, answer, _ := strings.Cut(part, "\n")
		answers[path[strings.LastIndex(path, "/")+1:]] = answer
	}
	for _, f := range folders {
		name := filepath.Base(f)
		src, err := os.ReadFile(filepath.Join(f, name+".go"))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(src), "\n")
		want, wrong := strings.CutPrefix(first, "// want: ")
		answer, refused := answers[name]
		switch {
		case name == "control" && (refused || wrong):
			t.Errorf("control does not compile: %s", answer)
		case name == "control":
		case !wrong || want == "":
			t.Errorf("%s does not say what it wants", name)
		case !refused:
			t.Errorf("%s compiles, want %q", name, want)
		case !strings.Contains(answer, want):
			t.Errorf("%s: the compiler says\n%swant %q", name, answer, want)
		case strings.Count(answer, name+".go:") != 1:
			t.Errorf("%s has more than one fault:\n%s", name, answer)
		}
	}
	// Nothing but the compiler's answers kept control from being built.
	if out, err := exec.Command("go", "build", "-o", os.DevNull, "./testdata/nocompile/control").CombinedOutput(); err != nil {
		t.Errorf("control: %v\n%s", err, out)
	}
}
