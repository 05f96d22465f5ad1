package verifier_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	verifier "github.com/graphkernel/graphkernel/verifiers/js"
)

var update = flag.Bool("update", false, "copy gkverify.mjs into index.html again")

// TestPage holds that index.html has a copy of gkverify.mjs between two lines of comment: the page must work from a file, where it may not import.
func TestPage(t *testing.T) {
	const file, begin, end = "index.html", "// BEGIN gkverify.mjs\n", "// END gkverify.mjs\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := bytes.Cut(page, []byte(begin))
	_, after, ends := bytes.Cut(rest, []byte(end))
	if !begins || !ends {
		t.Fatalf("%s has no line %q, or no %q after it", file, begin, end)
	}
	want := bytes.Join([][]byte{before, []byte(begin), verifier.Module, []byte(end), after}, nil)
	switch {
	case bytes.Equal(page, want):
	case *update:
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s holds another verifier than gkverify.mjs: make generate", file)
	}
}
