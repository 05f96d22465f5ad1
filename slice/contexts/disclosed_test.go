package contexts_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// TestDiscloseParts shows every choice among the leaves of a context: each passes its checks, is read as it was written, says what the
// context says, and holds no text of what it does not show.
func TestDiscloseParts(t *testing.T) {
	texts := []string{"first text", "second text", "third text"}
	b := made(t, contexts.DefaultV1(), contexts.JSON, texts...)
	n := len(b.Turns) + len(b.Facts) + len(b.Beliefs) + 3
	for some := 1; some < 1<<n; some++ {
		has := func(i int) bool { return some>>i&1 == 1 }
		show := contexts.Part{Candidates: has(n - 3), Request: has(n - 2), Prompt: has(n - 1)}
		for i := range b.Turns {
			if has(i) {
				show.Turns = append(show.Turns, b.Turns[i].ID)
			}
		}
		for i := range b.Facts {
			if has(len(b.Turns) + i) {
				show.Facts = append(show.Facts, b.Facts[i].Fact.ID())
			}
		}
		for i := range b.Beliefs {
			if has(len(b.Turns) + len(b.Facts) + i) {
				show.Beliefs = append(show.Beliefs, b.Beliefs[i].Address())
			}
		}
		d := must(b.Disclose(dag.Digest{7}, show))
		data := d.Append(nil)
		again := must(slice.ParseDisclosure(data, slice.TurnDisclosures[0], contexts.Disclosures[0]))
		if wrong := failed(again.Check()); wrong != nil || !bytes.Equal(again.Append(nil), data) {
			t.Fatalf("%b: %v failed: %s", some, wrong, data)
		}
		if h := again.Head(); h.Provenance != b.Provenance || h.AsOf != b.AsOf || h.Count("candidates") != uint64(len(b.Candidates)) || again.Bundle != (dag.Digest{7}) {
			t.Fatalf("%b: it says %+v", some, h)
		}
		for i := range b.Turns {
			if bytes.Contains(data, []byte(b.Turns[i].Body.Content)) != has(i) {
				t.Fatalf("%b: text %d, shown %t: %s", some, i, has(i), data)
			}
		}
		if bytes.Contains(data, []byte(b.Beliefs[1].Title)) != (len(show.Beliefs) > 0 && show.Beliefs[len(show.Beliefs)-1] == b.Beliefs[1].Address()) {
			t.Fatalf("%b: a belief, of those shown %v: %s", some, show.Beliefs, data)
		}
		if bytes.Contains(data, []byte(b.Request.Task)) != show.Request {
			t.Fatalf("%b: the task, shown %t: %s", some, show.Request, data)
		}
	}
}

// TestDiscloseRefuses asks for parts that there are not, and of a context that does not hold.
func TestDiscloseRefuses(t *testing.T) {
	b := made(t, contexts.DefaultV1(), contexts.JSON, "one", "two")
	for name, tc := range map[string]struct {
		show contexts.Part
		want string
	}{
		"nothing":      {contexts.Part{}, "at least one leaf"},
		"another fact": {contexts.Part{Facts: []knowledge.ID{{9}}, Request: true}, "is not in the bundle"},
		"another turn": {contexts.Part{Turns: []dag.TurnID{{9}}}, "is not in the bundle"},
	} {
		if d, err := b.Disclose(dag.Digest{}, tc.show); d != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.Candidates[0].Cost++
	if _, err := b.Disclose(dag.Digest{}, contexts.Part{Request: true}); err == nil || !strings.Contains(err.Error(), "graph_snapshot_hash") {
		t.Errorf("of a context that was changed: %v", err)
	}
}

// TestDisclosureMangled changes each byte of a disclosure in several ways: it is not read, or a check fails, except where only a token or an
// attestation binds the byte.
func TestDisclosureMangled(t *testing.T) {
	b := made(t, contexts.DefaultV1(), contexts.JSON, "one", "two", "three")
	good := must(b.Disclose(dag.Digest{7}, contexts.Part{Turns: []dag.TurnID{b.Turns[1].ID}, Beliefs: []belief.Address{b.Beliefs[0].Address()}, Candidates: true, Request: true, Prompt: true}))
	data := good.Append(nil)
	refused, wrong := 0, 0
	for i := range data {
		for _, c := range []byte{data[i] ^ 1, '0', '"'} {
			bad := bytes.Clone(data)
			bad[i] = c
			d, err := slice.ParseDisclosure(bad, slice.TurnDisclosures[0], contexts.Disclosures[0])
			switch {
			case c == data[i]:
			case err != nil:
				if refused++; !errors.Is(err, slice.ErrMalformed) && !errors.Is(err, slice.ErrVersion) {
					t.Errorf("byte %d as %q: %v", i, c, err)
				}
			case !bytes.Equal(d.Append(nil), bad):
				t.Errorf("byte %d as %q: two spellings of one disclosure", i, c)
			case len(failed(d.Check())) > 0:
				wrong++
			case d.Bundle != good.Bundle || d.Seal != good.Seal || d.Provenance.SliceID != good.Provenance.SliceID || d.Provenance.PolicyID != good.Provenance.PolicyID:
			case d.Size() != good.Size() || d.Count("turns") != good.Count("turns"): // the paths are those of another tree
			default:
				t.Errorf("byte %d as %q is not found out: %s", i, c, bad)
			}
		}
	}
	if refused < 1000 || wrong < 200 {
		t.Errorf("%d refused, %d failed; both should be many", refused, wrong)
	}
}

// TestManyOverlaps reads a context of turns that are all alike: most of its values are numbers of few digits.
func TestManyOverlaps(t *testing.T) {
	p := contexts.DefaultV1()
	p.Novelty = dag.One
	texts := make([]string, 120)
	for i := range texts {
		texts[i] = "the same"
	}
	b := made(t, p, contexts.Text, texts...)
	for i := 3; i < len(b.Candidates); i++ {
		for j := i + 1; j < len(b.Candidates); j++ {
			b.Overlaps = append(b.Overlaps, contexts.Overlap{First: i, Second: j, Share: dag.One})
		}
	}
	b = must(contexts.New(b.Request, b.AsOf, must(policy.Bind("test@1", b.Policy)), contexts.Choice{
		Candidates: b.Candidates, Overlaps: b.Overlaps, Statistics: b.Statistics, Turns: b.Turns, Facts: b.Facts, Beliefs: b.Beliefs,
	}))
	b.Seal = slice.Seal{Tenant: "default", KeyID: "k1", Token: strings.Repeat("0", 32)}
	if ids := failed(must(contexts.Parse(b.Append(nil))).Check()); len(ids) > 0 {
		t.Errorf("%s fail", ids)
	}
}
