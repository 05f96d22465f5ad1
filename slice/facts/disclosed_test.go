package facts_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// failing lists the checks that fail.
func failing(checks []slice.Check) (ids []slice.CheckID) {
	for _, c := range checks {
		if c.Status == slice.StatusFail {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestDiscloseParts shows every 37th choice among the leaves of a slice: each passes its checks, is read as it was
// written, says what the slice says, and holds nothing of what it does not show.
func TestDiscloseParts(t *testing.T) {
	b, _ := sample(t)
	n := len(b.Facts) + len(b.Evidence) + 3
	if len(b.Facts) < 2 || len(b.Evidence) < 1 || n > 16 {
		t.Fatalf("the sample has %d facts and %d turns", len(b.Facts), len(b.Evidence))
	}
	for some := 1; some < 1<<n; some += 37 {
		has := func(i int) bool { return some>>i&1 == 1 }
		var show facts.Choice
		for i := range b.Facts {
			if has(i) {
				show.Facts = append(show.Facts, b.Facts[i].Fact.ID())
			}
		}
		for i := range b.Evidence {
			if has(len(b.Facts) + i) {
				show.Evidence = append(show.Evidence, b.Evidence[i].ID)
			}
		}
		show.Aliases, show.Question, show.Reached = has(n-3), has(n-2), has(n-1)
		d, err := b.Disclose(dag.Digest{7}, show)
		if err != nil {
			t.Fatalf("%b: %v", some, err)
		}
		data := d.Append(nil)
		again, err := slice.ParseDisclosure(data, slice.TurnDisclosures[0], facts.Disclosures)
		if err != nil {
			t.Fatalf("%b: %v\n%s", some, err, data)
		}
		if wrong := failing(again.Check()); wrong != nil || !bytes.Equal(again.Append(nil), data) {
			t.Fatalf("%b: %v failed: %s", some, wrong, data)
		}
		if h := again.Head(); h.Provenance != b.Provenance || h.AsOf != b.AsOf || h.Count("facts") != uint64(len(b.Facts)) || again.Bundle != (dag.Digest{7}) || again.Size() != n {
			t.Fatalf("%b: it says %+v", some, h)
		}
		for i := range b.Facts {
			if bytes.Contains(data, b.Facts[i].Append(nil)) != has(i) {
				t.Fatalf("%b: fact %d, shown %t: %s", some, i, has(i), data)
			}
		}
	}
}

// TestDiscloseRefuses asks for parts that there are not, and of a bundle that does not hold.
func TestDiscloseRefuses(t *testing.T) {
	b, _ := sample(t)
	for name, tc := range map[string]struct {
		show facts.Choice
		want string
	}{
		"nothing":      {facts.Choice{}, "at least one leaf"},
		"another fact": {facts.Choice{Facts: []knowledge.ID{{9}}, Question: true}, "is not in the bundle"},
		"another turn": {facts.Choice{Evidence: []dag.TurnID{{9}}}, "is not in the bundle"},
	} {
		if d, err := b.Disclose(dag.Digest{}, tc.show); d != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Facts[0].Fact.Source = "other"
	if _, err := b.Disclose(dag.Digest{}, facts.Choice{Question: true}); err == nil || !strings.Contains(err.Error(), "graph_snapshot_hash") {
		t.Errorf("of a bundle that was changed: %v", err)
	}
}

// TestDisclosureMangled changes each byte of a disclosure of facts in several ways: it is not read, or a check fails,
// except where only a token or an attestation binds the byte.
func TestDisclosureMangled(t *testing.T) {
	b, _ := sample(t)
	good, err := b.Disclose(dag.Digest{7}, facts.Choice{Facts: []knowledge.ID{b.Facts[1].Fact.ID()}, Aliases: true, Question: true, Reached: true})
	if err != nil {
		t.Fatal(err)
	}
	data := good.Append(nil)
	refused, failed := 0, 0
	for i := range data {
		for _, c := range []byte{data[i] ^ 1, '0', '"'} {
			bad := bytes.Clone(data)
			bad[i] = c
			d, err := slice.ParseDisclosure(bad, slice.TurnDisclosures[0], facts.Disclosures)
			switch {
			case c == data[i]:
			case err != nil:
				if refused++; !errors.Is(err, slice.ErrMalformed) && !errors.Is(err, slice.ErrVersion) {
					t.Errorf("byte %d as %q: %v", i, c, err)
				}
			case !bytes.Equal(d.Append(nil), bad):
				t.Errorf("byte %d as %q: two spellings of one disclosure", i, c)
			case len(failing(d.Check())) > 0:
				failed++
			case d.AsOf != good.AsOf || d.Bundle != good.Bundle || d.Seal != good.Seal || d.Provenance.SliceID != good.Provenance.SliceID || d.Provenance.PolicyID != good.Provenance.PolicyID:
			case d.Count("facts") != good.Count("facts") || d.Count("evidence") != good.Count("evidence"): // the paths are those of another tree
			default:
				t.Errorf("byte %d as %q is not found out: %s", i, c, bad)
			}
		}
	}
	if refused < 1000 || failed < 200 {
		t.Errorf("%d refused, %d failed; both should be many", refused, failed)
	}
}
