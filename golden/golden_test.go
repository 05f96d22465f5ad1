package golden_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/golden"
)

// compare runs cases and tells how many it ran. What a vector leaves out is not
// compared.
func compare(t *testing.T, cases []golden.Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for i := range cases {
		c := &cases[i]
		got, err := golden.Compute(c)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if c.Expect.Bundle == "" {
			got.Bundle = ""
		}
		if c.Expect.AdmissionsLeaf == "" {
			got.AdmissionsLeaf = ""
		}
		if c.Expect.LeafHashes == nil {
			got.LeafHashes = nil
		}
		if c.Expect.LeafExample == "" {
			got.LeafExample = ""
		}
		if diff := cmp.Diff(c.Expect, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.Name, diff)
		}
	}
	t.Logf("%d cases", len(cases))
}

// TestIndependentVectors runs the cases that a second implementation computed,
// where they are at hand.
func TestIndependentVectors(t *testing.T) {
	folder := os.Getenv("GRAPHKERNEL_VECTORS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "vectors")
	}
	f, err := os.Open(filepath.Join(folder, "gkp-1.jsonl"))
	if os.IsNotExist(err) {
		t.Skipf("no vectors in %s (set GRAPHKERNEL_VECTORS)", folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases, err := golden.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, cases)
}
