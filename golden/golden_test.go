package golden_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

var update = flag.Bool("update", false, "write the shipped vectors anew; a changed line is a broken promise")

// shippedSeeds are the sizes of the shipped cases, each with eight seeds.
var shippedSizes = []int{1, 2, 4, 8, 24, 64, 300}

func TestShippedVectors(t *testing.T) {
	for _, v := range []struct {
		name   string
		random func(uint64, int) golden.Case
		read   func() ([]golden.Case, error)
	}{
		{"gkp-1.jsonl", golden.Random, golden.Cases},
		{"gkp-2.jsonl", golden.RandomMarked, golden.MarkedCases},
		{"gkp-3.jsonl", golden.RandomCounted, golden.CountedCases},
	} {
		t.Run(v.name, func(t *testing.T) {
			if *update {
				writeShipped(t, v.name, v.random)
			}
			cases, err := v.read()
			if err != nil {
				t.Fatal(err)
			}
			compare(t, cases)
		})
	}
}

func writeShipped(t *testing.T, name string, random func(seed uint64, most int) golden.Case) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for i, most := range shippedSizes {
		for seed := range uint64(8) {
			c := random(uint64(i)*100+seed, most)
			var err error
			if c.Expect, err = golden.Compute(&c); err != nil {
				t.Fatal(err)
			}
			if err := e.Encode(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join("testdata", name), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Fatal("written; run again without -update")
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
		t.Skipf("no vectors in %s; GRAPHKERNEL_VECTORS names another folder", folder)
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

// accumulated is the SHA-256 over the bundles of 3 000 seeded cases, one digest
// for every processor and every release. It changes only with the protocol.
const accumulated = "0069796ab5cd71d91650bc6c91f744333e88dfcaadc02cc307e2f0d831ebdf9e"

func TestAccumulated(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	sum := sha256.New()
	for seed := range uint64(3_000) {
		c := golden.Random(1_000_000+seed, 40)
		_, bundle, err := c.Bundle()
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		sum.Write(bundle)
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != accumulated {
		t.Errorf("accumulated digest %s, want %s", got, accumulated)
	}
}

// TestEveryBundleVerifies checks that what is cut is accepted, redacted or not.
func TestEveryBundleVerifies(t *testing.T) {
	redacted := 0
	for seed := range uint64(800) {
		random := golden.Random
		if seed%2 > 0 {
			random = golden.RandomMarked
		}
		c := random(2_000_000+seed, 60)
		_, bundle, err := c.Bundle()
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		a, err := c.Authority()
		if err != nil {
			t.Fatal(err)
		}
		evidence, verdict := token.NewVerifier(a).Verify(bundle)
		if !evidence.OK() {
			t.Errorf("%s: %s: %s", c.Name, verdict.Outcome, verdict.Reason)
		}
		redacted += len(verdict.Redacted)
	}
	if redacted == 0 {
		t.Error("no case held a redacted turn")
	}
}

// TestSameBytes cuts the same slices a hundred times, with turns and edges
// loaded in another order each time, on 1, 2 and 8 processors at once.
func TestSameBytes(t *testing.T) {
	c := golden.Random(7, 300)
	for len(c.Turns) < 200 {
		t.Fatalf("the case has only %d turns; choose another seed", len(c.Turns))
	}
	_, want, err := c.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	for _, procs := range []int{1, 2, 8} {
		was := runtime.GOMAXPROCS(procs)
		var all sync.WaitGroup
		for run := range 100 {
			all.Add(1)
			go func() {
				defer all.Done()
				shuffled := c
				r := rand.New(rand.NewPCG(uint64(run), uint64(procs)))
				shuffled.Turns = append([]golden.Turn(nil), c.Turns...)
				shuffled.Edges = append([][3]string(nil), c.Edges...)
				r.Shuffle(len(shuffled.Turns), func(i, j int) {
					shuffled.Turns[i], shuffled.Turns[j] = shuffled.Turns[j], shuffled.Turns[i]
				})
				r.Shuffle(len(shuffled.Edges), func(i, j int) {
					shuffled.Edges[i], shuffled.Edges[j] = shuffled.Edges[j], shuffled.Edges[i]
				})
				_, got, err := shuffled.Bundle()
				if err != nil {
					t.Error(err)
				} else if d := slice.Differ(want, got); d != nil {
					t.Errorf("run %d on %d processors: byte %d at %s: %q, want %q", run, procs, d.Offset, d.Path, d.Found, d.Expected)
				}
			}()
		}
		all.Wait()
		runtime.GOMAXPROCS(was)
	}
}
