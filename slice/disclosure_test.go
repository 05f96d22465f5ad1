package slice_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

const included = slice.CheckInclusion

// disclosureChecks are the verdicts on a disclosure, in their order, and what they are if
// nothing is wrong.
var disclosureChecks = []slice.Check{
	{ID: bodies, Status: slice.StatusOK}, {ID: sorted, Status: slice.StatusOK}, {ID: edges, Status: slice.StatusSkipped},
	{ID: reasons, Status: slice.StatusSkipped}, {ID: order, Status: slice.StatusSkipped}, {ID: params, Status: slice.StatusOK},
	{ID: included, Status: slice.StatusOK}, {ID: name, Status: slice.StatusSkipped},
}

// judge returns the checks that fail, and holds what is true of every verdict.
func judge(t fataler, d *slice.Disclosure) []slice.CheckID {
	t.Helper()
	wrong := []slice.CheckID{}
	verdict := d.Check()
	for i, c := range verdict {
		if len(verdict) != len(disclosureChecks) || c.ID != disclosureChecks[i].ID || c.Detail == "" {
			t.Fatalf("checks are %+v", verdict)
		}
		if c.Status == slice.StatusFail {
			wrong = append(wrong, c.ID)
		} else if c.Status != disclosureChecks[i].Status {
			t.Fatalf("%s is %s, want %s or fail", c.ID, c.Status, disclosureChecks[i].Status)
		}
	}
	return wrong
}

func parsedBundle(t fataler, data []byte) *slice.Bundle {
	t.Helper()
	b, err := slice.ParseBundle(data)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

func parseDisclosure(data []byte) (*slice.Disclosure, error) {
	return slice.ParseDisclosure(data, slice.TurnDisclosures...)
}

func parsedDisclosure(t fataler, data []byte) *slice.Disclosure {
	t.Helper()
	d, err := parseDisclosure(data)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return d
}

// disclosed returns the bytes of a disclosure of rigged: of 7 turns and 7 edges, the turns 6,
// 4 (the anchor) and 3, at 1, 3 and 4, the last without its text.
func disclosed(t fataler) (*slice.Bundle, []byte) {
	t.Helper()
	w, anchor, p := rigged()
	_, data := w.bundle(t, anchor, bind(t, "rigged@1", p), authority(t))
	whole := parsedBundle(t, data)
	part, err := whole.Withhold([]dag.TurnID{turnOf(whole, 6).ID, anchor})
	if err != nil {
		t.Fatalf("%v", err)
	}
	d, err := part.Disclose(sha256.Sum256(data), []dag.TurnID{anchor, turnOf(whole, 3).ID, turnOf(whole, 6).ID})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return whole, d.Append(nil)
}

// shown is a turn of a disclosure.
func shown(d *slice.Disclosure, i int) *slice.ShownTurn { return d.Shown[i].Leaf.(*slice.ShownTurn) }

func turnCount(d *slice.Disclosure) int { return int(d.Count("turns")) }
func edgeCount(d *slice.Disclosure) int { return int(d.Count("edges")) }

func setCounts(d *slice.Disclosure, turns, edges int) {
	d.Counts = []slice.Count{{Name: "edges", N: uint64(edges)}, {Name: "turns", N: uint64(turns)}}
}

func changed(p policy.Parameters, change func(*policy.SlicePolicyV1)) policy.SlicePolicyV1 {
	params := p.(policy.SlicePolicyV1)
	change(&params)
	return params
}

func drawSome(t *rapid.T, name string, from []dag.TurnID) []dag.TurnID {
	var some []dag.TurnID
	how := rapid.SampledFrom([]string{"some", "some", "some", "all", "none"}).Draw(t, name)
	for _, id := range from {
		if how == "all" || how == "some" && rapid.Bool().Draw(t, "shown") {
			some = append(some, id)
		}
	}
	return some
}

// TestDisclosures takes parts of random slices in both ways. What is left is unchanged,
// passes its checks, and can be read back.
func TestDisclosures(t *testing.T) {
	a := authority(t)
	withheld, dropped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		anchor := w.turns[rapid.IntRange(0, len(w.turns)-1).Draw(t, "anchor")].ID
		p := bind(t, "p@1", drawParams(t, len(w.turns)))
		s, issued := w.bundle(t, anchor, p, a)
		ids := make([]dag.TurnID, len(s.Turns))
		for i := range s.Turns {
			ids[i] = s.Turns[i].ID
		}
		erased := drawSome(t, "erased", ids)
		_, data := w.bundle(t, anchor, p, a, erased...)
		whole := parsedBundle(t, data)

		shown := drawSome(t, "texts", ids)
		part, err := whole.Withhold(slices.Concat(shown, shown)) // twice is as good as once
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !bytes.Equal(whole.Append(nil), data) {
			t.Fatalf("withholding changed the bundle itself")
		}
		text := part.Append(nil)
		checkWithheld(t, a, whole, text, shown)
		if len(part.Redacted()) > len(erased) {
			withheld++
		}
		if len(shown) == len(ids) && !bytes.Equal(text, data) {
			t.Fatalf("with every text shown the bytes differ: %+v", slice.Differ(data, text))
		}

		places := drawSome(t, "turns", ids)
		d, err := part.Disclose(sha256.Sum256(issued), places)
		if len(places) == 0 {
			if err == nil || d != nil {
				t.Fatalf("a disclosure of nothing: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		text = d.Append([]byte("front"))[len("front"):]
		if wrong := judge(t, d); len(wrong) > 0 {
			t.Fatalf("%v failed", wrong)
		}
		again := parsedDisclosure(t, text)
		checkDropped(t, a, part, again, places)
		if d.Bundle != sha256.Sum256(issued) || !bytes.Equal(again.Append(nil), text) || !bytes.Equal(d.Append(nil), text) {
			t.Fatalf("read and written again the disclosure differs: %+v", slice.Differ(text, again.Append(nil)))
		}
		if len(places) < len(ids) {
			dropped++
		}
	})
	if !testing.Short() && (withheld == 0 || dropped == 0) { // the short form draws too few for all of them
		t.Errorf("%d bundles had texts withheld, %d turns dropped", withheld, dropped)
	}
}

// checkWithheld compares a bundle with one in which the texts but some were withheld.
func checkWithheld(t fataler, a *token.Authority, whole *slice.Bundle, data []byte, shown []dag.TurnID) {
	t.Helper()
	if outcome, wrong := verify(t, token.NewVerifier(a), data); outcome != token.Verified {
		t.Fatalf("%s: %v", outcome, wrong)
	}
	part := parsedBundle(t, data)
	if part.Provenance != whole.Provenance || part.Seal != whole.Seal {
		t.Fatalf("the header or the seal changed")
	}
	var redacted []dag.TurnID
	for i := range whole.Turns {
		x, y := &whole.Turns[i], &part.Turns[i]
		if x.Turn != y.Turn || !reflect.DeepEqual(x.Admission, y.Admission) {
			t.Fatalf("turn %s changed", x.ID)
		}
		if x.Body == nil || !slices.Contains(shown, x.ID) {
			redacted = append(redacted, x.Turn.ID)
		} else if y.Body == nil || !sameBody(x.Body, y.Body) {
			t.Fatalf("the text of turn %s changed", x.ID)
		}
	}
	if !slices.Equal(part.Redacted(), redacted) {
		t.Fatalf("redacted are %v, want %v", part.Redacted(), redacted)
	}
}

// checkDropped compares a bundle with a disclosure of some of its turns.
func checkDropped(t fataler, a *token.Authority, b *slice.Bundle, d *slice.Disclosure, wanted []dag.TurnID) {
	t.Helper()
	if wrong := judge(t, d); len(wrong) > 0 {
		t.Fatalf("%v failed", wrong)
	}
	if err := a.Check(&d.Provenance, d.Seal); err != nil {
		t.Fatalf("%v", err)
	}
	if d.Anchor != b.Anchor || d.AsOf != b.AsOf || d.Provenance != b.Provenance || d.Seal != b.Seal || d.Policy != policy.Parameters(b.Policy) ||
		turnCount(d) != len(b.Turns) || edgeCount(d) != len(b.Edges) || len(d.Shown) != len(wanted) {
		t.Fatalf("the disclosure says %+v", d)
	}
	var redacted []dag.TurnID
	for i := range d.Shown {
		x, y := shown(d, i), &b.Turns[d.Shown[i].Index]
		if x.Turn.ID != wanted[i] || x.Turn != y.Turn || (x.Body == nil) != (y.Body == nil) || x.Body != nil && !sameBody(x.Body, y.Body) {
			t.Fatalf("turn %d of the disclosure is %s, want %s as it stands in the bundle", i, x.Turn.ID, wanted[i])
		}
		if x.Body == nil {
			redacted = append(redacted, x.Turn.ID)
		}
	}
	if !slices.Equal(d.Redacted(), redacted) {
		t.Fatalf("redacted are %v, want %v", d.Redacted(), redacted)
	}
}

func sameBody(a, b *dag.Body) bool {
	return a.Author == b.Author && a.Content == b.Content && a.Salt == b.Salt && maps.Equal(a.Attrs, b.Attrs)
}

// TestDiscloseRefuses asks for parts that there are not.
func TestDiscloseRefuses(t *testing.T) {
	whole, _ := disclosed(t)
	ids := []dag.TurnID{whole.Anchor, other}
	if b, err := whole.Withhold(ids); err == nil || b != nil || !strings.Contains(err.Error(), other.String()) {
		t.Errorf("withholding around a turn that is not there: %v", err)
	}
	if d, err := whole.Disclose(dag.Digest{}, ids); err == nil || d != nil || !strings.Contains(err.Error(), other.String()) {
		t.Errorf("disclosing a turn that is not there: %v", err)
	}
	if d, err := whole.Disclose(dag.Digest{}, nil); err == nil || d != nil {
		t.Errorf("disclosing nothing: %v", err)
	}
	for _, c := range []struct {
		name  string
		do    func(b *slice.Bundle)
		place string
	}{
		{"another root", func(b *slice.Bundle) { b.Provenance.GraphSnapshotHash[0] ^= 1 }, "graph_snapshot_hash"},
		{"another role", func(b *slice.Bundle) { turnOf(b, 1).Role = dag.RoleTool }, "graph_snapshot_hash"},
		{"too many turns", func(b *slice.Bundle) { b.Turns = append(make([]slice.BundleTurn, 10_000), *turnOf(b, 4)) }, "10001 turns"},
		{"too many edges", func(b *slice.Bundle) { b.Edges = make([]dag.Edge, 50) }, "50 edges"},
	} {
		whole, _ := disclosed(t)
		c.do(whole)
		if d, err := whole.Disclose(dag.Digest{}, []dag.TurnID{whole.Anchor}); err == nil || d != nil || !strings.Contains(err.Error(), c.place) {
			t.Errorf("%s: %v, want an error that names %q", c.name, err, c.place)
		}
	}
}

// TestParseDisclosureRefuses spells a good disclosure in other ways and leaves things out.
func TestParseDisclosureRefuses(t *testing.T) {
	_, good := disclosed(t)
	parsedDisclosure(t, good)
	hash := `"` + strings.Repeat("0", 64) + `"`
	for _, tc := range []struct{ name, old, new, place string }{
		{"a line end", `"gkd/1"}`, `"gkd/1"}` + "\n", "not the canonical spelling"},
		{"text behind it", `"gkd/1"}`, `"gkd/1"}x`, "text after"},
		{"white space", `"as_of":`, `"as_of": `, "not the canonical spelling"},
		{"an escape", `"disclosure"`, `"d\u0069sclosure"`, "not the canonical spelling"},
		{"another type", `"disclosure"`, `"slice"`, "type"},
		{"no type", `"type":"disclosure",`, ``, `"type" is missing`},
		{"no version", `,"version":"gkd/1"`, ``, `"version" is missing`},
		{"version, a number", `"version":"gkd/1"`, `"version":1`, "version"},
		{"an unknown member", `"bundle":`, `"bundles":1,"bundle":`, `unknown field "bundles"`},
		{"an unknown member of an entry", `"index":1`, `"index":1,"kind":2`, `turns[0]: unknown field "kind"`},
		{"an unknown member of a turn", `"redacted":true`, `"read":1,"redacted":true`, `turns[2].turn: unknown field "read"`},
		{"an admission", `"turn":{"attrs"`, `"turn":{"admission":{},"attrs"`, `turns[0].turn: unknown field "admission"`},
		{"edges as in a bundle", `"edges":7`, `"edges":[]`, "edges"},
		{"an order", `"policy":`, `"order":[],"policy":`, `unknown field "order"`},
		{"no turns", `"turn_count":7`, `"turn_count":0`, "0 turns, want 1 to 10000"},
		{"too many turns", `"turn_count":7`, `"turn_count":10001`, "turn_count"},
		{"too many edges", `"edges":7`, `"edges":50`, "50 edges among 7 turns"},
		{"far too many edges", `"edges":7`, `"edges":100000001`, "edges"},
		{"2^62 edges", `"edges":7`, `"edges":4611686018427387904`, "edges"},
		{"a negative count", `"edges":7`, `"edges":-7`, "edges"},
		{"an index of five digits", `"index":4`, `"index":10000`, "turns[2].index"},
		{"an index, a string", `"index":4`, `"index":"4"`, "turns[2].index"},
		{"an index, negative", `"index":4`, `"index":-4`, "turns[2].index"},
		{"as_of, 2^53", `"as_of":`, `"as_of":9007199254740992`, "as_of"},
		{"a short digest", `"bundle":"`, `"bundle":"0`, "bundle"},
		{"64 hashes", `"path":[`, `"path":[` + strings.Repeat(hash+",", 60), "turns[0].path: 64 hashes"},
		{"a capital hash", `"path":["`, `"path":["A`, "turns[0].path[0]"},
		{"a path, null", `"path":[`, `"path":null,"paths":[`, "turns[0].path"},
		{"redacted false", `"redacted":true`, `"redacted":false`, "turns[2].turn.redacted"},
		{"redacted with a text", `"redacted":true`, `"content":"x","redacted":true`, `turns[2].turn: unknown field "content"`},
		{"a repeated member", `"edges":7`, `"edges":7,"edges":7`, "repeated"},
		{"a bad token", `"token":"`, `"token":"0`, "token"},
		{"a bad tenant", `"tenant":"default"`, `"tenant":"Default"`, "tenant"},
	} {
		if bytes.Count(good, []byte(tc.old)) == 0 {
			t.Fatalf("%s: %q is not in the disclosure", tc.name, tc.old)
		}
		d, err := parseDisclosure(bytes.Replace(good, []byte(tc.old), []byte(tc.new), 1))
		if !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), "malformed disclosure: ") || !strings.Contains(err.Error(), tc.place) || d != nil {
			t.Errorf("%s: got %v, want ErrMalformed naming %q", tc.name, err, tc.place)
		}
	}
	d := parsedDisclosure(t, good)
	d.Shown = nil
	if _, err := parseDisclosure(d.Append(nil)); !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), "turns: want at least one") {
		t.Errorf("no turn shown: %v", err)
	}
	for _, s := range []string{``, `{}`, `[]`, `null`, `{"version":1}`, "[" + strings.Repeat("0,", 10_000) + "0]"} {
		if d, err := parseDisclosure([]byte(s)); !errors.Is(err, slice.ErrMalformed) || d != nil {
			t.Errorf("%.20q: got %v, want ErrMalformed", s, err)
		}
	}
	whole, _ := disclosed(t)
	if _, err := parseDisclosure(whole.Append(nil)); !errors.Is(err, slice.ErrMalformed) {
		t.Errorf("a bundle: %v", err)
	}
	if _, err := slice.ParseBundle(good); !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), "malformed bundle: ") {
		t.Errorf("a disclosure as a bundle: %v", err)
	}
	for _, s := range [][2]string{{`"gkd/1"`, `"gkd/2"`}, {`"gkd/1"`, `""`}, {`"gkp/1"`, `"gkp/2"`}, {`slice_policy_v1`, `slice_policy_v2`}, {`"version":"gkd/1"`, `"version":"gkd/2","way":1`}} {
		bad := bytes.Replace(good, []byte(s[0]), []byte(s[1]), 1)
		if d, err := parseDisclosure(bad); !errors.Is(err, slice.ErrVersion) || errors.Is(err, slice.ErrMalformed) || d != nil {
			t.Errorf("%s: got %v, want ErrVersion", s[1], err)
		}
	}
}

// TestTooLong hands over more bytes than anybody has to read. They are zeros, so the memory
// is never touched; the race detector would.
func TestTooLong(t *testing.T) {
	if race.Enabled || strconv.IntSize < 64 {
		t.Skip("half a gigabyte")
	}
	data := make([]byte, slice.MaxBundle+1)
	_, ofBundle := slice.ParseBundle(data)
	_, ofDisclosure := parseDisclosure(data)
	for _, err := range []error{ofBundle, ofDisclosure} {
		if !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), "536870913 bytes, at most 536870912") {
			t.Errorf("got %v, want ErrMalformed with the size", err)
		}
	}
}

func FuzzParseDisclosure(f *testing.F) {
	_, data := disclosed(f)
	f.Add(data)
	for _, s := range [][2]string{
		{`"gkd/1"`, `"gkd/2"`}, {`"edges":7`, `"edges":8`}, {`"edges":7`, `"edges":0`}, {`"turn_count":7`, `"turn_count":10000`},
		{`"index":1`, `"index":0`}, {`"index":4`, `"index":9999`}, {`"path":[`, `"path":[],"x":[`}, {`"redacted":true`, `"redacted":false`},
	} {
		f.Add(bytes.Replace(data, []byte(s[0]), []byte(s[1]), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parseDisclosure(data)
		if err != nil {
			if d != nil || !errors.Is(err, slice.ErrMalformed) && !errors.Is(err, slice.ErrVersion) {
				t.Fatalf("got %v, %v", d, err)
			}
			return
		}
		if again := d.Append(nil); !bytes.Equal(again, data) {
			t.Fatalf("written again it differs: %+v", slice.Differ(data, again))
		}
		judge(t, d)
		if len(d.Redacted()) > len(d.Shown) {
			t.Fatalf("%d redacted of %d", len(d.Redacted()), len(d.Shown))
		}
	})
}

// Somebody may read the anchor, may see that one more turn stood beside it, and learns of
// the others how many there are.
func ExampleBundle_Disclose() {
	cases, err := golden.Cases()
	if err != nil {
		fmt.Println(err)
		return
	}
	chain := cases[slices.IndexFunc(cases, func(c golden.Case) bool { return c.Name == "chain-4-200" })]
	data := []byte(chain.Expect.Bundle)

	whole, err := slice.ParseBundle(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	part, err := whole.Withhold([]dag.TurnID{whole.Anchor})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := part.Disclose(sha256.Sum256(data), []dag.TurnID{whole.Anchor, whole.Order[0]})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The reader has these bytes and no others.
	d, err = parseDisclosure(d.Append(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d turns, %d of them without text\n", len(d.Shown), turnCount(d), len(d.Redacted()))
	for _, c := range d.Check() {
		fmt.Println(c.ID, c.Status)
	}
	// Output:
	// 2 of 4 turns, 1 of them without text
	// bodies ok
	// canonical_order ok
	// edges skipped
	// admissions skipped
	// order skipped
	// policy_hash ok
	// inclusion ok
	// slice_id skipped
}

// BenchmarkDisclosure takes 10 turns of 200 in a chain, and reads and checks them.
func BenchmarkDisclosure(b *testing.B) {
	w := &world{}
	var shown []dag.TurnID
	for i := range 200 {
		turn := dag.Turn{ID: dag.TurnID{0: byte(i * 37), 15: byte(i + 1)}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Phase: dag.Planning, Salience: dag.One}
		var parents []dag.Parent
		if i > 0 {
			parents = []dag.Parent{{ID: w.turns[i-1].ID, Kind: dag.Reply}}
		}
		w.add(turn, dag.Body{Content: strings.Repeat("word ", 100)}, parents...)
		if i%20 == 0 {
			shown = append(shown, turn.ID)
		}
	}
	p := policy.DefaultV1()
	p.MaxRadius = policy.LimitRadius
	p.MaxNodes = policy.LimitNodes
	_, data := w.bundle(b, w.turns[100].ID, bind(b, "p@1", p), authority(b))
	whole := parsedBundle(b, data)
	shown = slices.DeleteFunc(shown, func(id dag.TurnID) bool {
		return !slices.ContainsFunc(whole.Turns, func(t slice.BundleTurn) bool { return t.ID == id })
	})
	d, err := whole.Disclose(dag.Digest{}, shown)
	if err != nil {
		b.Fatal(err)
	}
	text := d.Append(nil)
	b.Run("disclose", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := whole.Disclose(dag.Digest{}, shown); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse and check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			judge(b, parsedDisclosure(b, text))
		}
	})
	b.Logf("%d of %d turns: %d bytes of %d", len(shown), len(whole.Turns), len(text), len(data))
}
