package kinds_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// TestDistinct holds that no two kinds share what they are told apart by.
func TestDistinct(t *testing.T) {
	seen := map[string]bool{}
	once := func(what, text string) {
		if text == "" || seen[what+text] {
			t.Errorf("%s %q is empty or that of two kinds", what, text)
		}
		seen[what+text] = true
	}
	for _, k := range kinds.All {
		once("name", k.Name)
		once("noun", k.Noun)
		for i := range k.Forms {
			f := &k.Forms[i]
			once("schema", f.Schema)
			once("predicate", f.Predicate)
			for _, typ := range f.Policy.Types() {
				if i == 0 || !slices.Contains(k.Forms[i-1].Policy.Types(), typ) { // two versions of a kind may have policies of one type
					once("policy", typ)
				}
			}
			if of, form := kinds.OfSchema(f.Schema); of != k || form != f || !k.Has(f.Schema) {
				t.Errorf("schema %s is not of %s", f.Schema, k.Name)
			}
		}
		for _, p := range k.Parts {
			once("disclosure", p.Version)
			if !k.Has(p.Schema) {
				t.Errorf("disclosures %s are of %s, which is not of %s", p.Version, p.Schema, k.Name)
			}
		}
		if !slices.IsSorted(k.Counts) {
			t.Errorf("the counts of %s are %v, want them ascending", k.Name, k.Counts)
		}
	}
	if k, _ := kinds.OfSchema("gkz/1"); k != nil || !errors.Is(kinds.Known("gkz/1"), slice.ErrVersion) || kinds.Known(slice.SchemaVersionV2) != nil {
		t.Errorf("gkz/1 is known, or %s is not", slice.SchemaVersionV2)
	}
	if len(kinds.All) < 4 || kinds.All[len(kinds.All)-1] != slice.Bundles {
		t.Error("slices of turns are not the last kind: nothing would be meant to be of the kinds behind them")
	}
}

// TestGolden reads every bundle of the golden evidence: it is meant to be of its folder's kind, and where it can be read, its head counts what its kind says, its
// schema is one of its kind, and it is checked under the names that its kind lists.
func TestGolden(t *testing.T) {
	for part, k := range map[golden.Part]*slice.Kind{golden.Turns: slice.Bundles, golden.Facts: facts.Bundles, golden.Contexts: contexts.Bundles, golden.Beliefs: beliefs.Bundles} {
		cases, err := golden.EvidenceCases(part)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, c := range cases {
			path, data := c.Name, c.Files["evidence/bundle.json"]
			body, checks, err := k.Open(data)
			if err != nil {
				continue
			}
			read++
			if of := kinds.Of(data); of != k {
				t.Errorf("%s is meant to be %s", path, of.Noun)
			}
			if plain, err := kinds.Parse(data); err != nil || plain.Head().Provenance != body.Head().Provenance {
				t.Errorf("%s: Parse and Open do not agree: %v", path, err)
			}
			h := body.Head()
			if !k.Has(h.Provenance.SchemaVersion) {
				t.Errorf("%s is of schema %s", path, h.Provenance.SchemaVersion)
			}
			if names := strings.Join(namesOf(h.Counts), " "); names != strings.Join(k.Counts, " ") {
				t.Errorf("%s counts %s, want %v", path, names, k.Counts)
			}
			for i, c := range checks {
				if len(checks) != len(k.Checks) || c.ID != k.Checks[i] {
					t.Fatalf("%s: check %d is %s, want those of %v", path, i, c.ID, k.Checks)
				}
			}
			if !k.Redacts && len(body.Redacted()) > 0 {
				t.Errorf("%s lacks texts, and its kind never does", path)
			}
		}
		if read < 20 {
			t.Errorf("%d bundles of %s could be read", read, part)
		}
	}
}

func namesOf(counts []slice.Count) (names []string) {
	for _, c := range counts {
		names = append(names, c.Name)
	}
	return names
}
