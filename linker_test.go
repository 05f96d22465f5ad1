package graphkernel_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestNoMethodByName holds that nothing which the program reaches looks a method up by a name that is not a constant, as templates do. The linker would keep every
// exported method of every type that is reached: 6 MB.
func TestNoMethodByName(t *testing.T) {
	if _, err := os.ReadFile("go.sum"); err != nil { // so that go test runs this again when a dependency changes; TestImports reads the program's own files
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-o", os.DevNull, "-ldflags=-dumpdep", "./cmd/graphkernel").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	lines := 0
	for line := range bytes.Lines(out) {
		lines++
		if from, _, found := bytes.Cut(line, []byte(" <ReflectMethod> -> ")); found {
			t.Fatalf("%s looks methods up by name: go build -ldflags=-dumpdep ./cmd/graphkernel shows what reaches it", from)
		}
	}
	if lines < 50_000 {
		t.Errorf("the linker wrote %d lines only", lines)
	}
}
