package slice_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// allChecks are the checks of a verdict, in their order.
var allChecks = []slice.CheckID{
	slice.CheckForm, slice.CheckVersion, slice.CheckBodies, slice.CheckCanonicalOrder, slice.CheckEdges, slice.CheckAdmissions,
	slice.CheckOrder, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID, slice.CheckToken,
}

// verify returns the outcome and the checks that failed, and holds what is true of
// every verdict: all checks are there, and evidence comes with Verified only.
func verify(t fataler, v *token.Verifier, data []byte) (token.Outcome, []slice.CheckID) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("Verify panics: %v, of a bundle of %d bytes", r, len(data))
		}
	}()
	evidence, verdict := v.Verify(data)
	failed := []slice.CheckID{}
	for i, c := range verdict.Checks {
		if len(verdict.Checks) != len(allChecks) || c.ID != allChecks[i] {
			t.Fatalf("checks are %+v", verdict.Checks)
		}
		if c.Status == slice.StatusFail {
			failed = append(failed, c.ID)
			if c.Detail == "" && verdict.Reason == "" {
				t.Fatalf("%s fails without a word", c.ID)
			}
		}
	}
	if ok := verdict.Outcome == token.Verified; ok != evidence.OK() || ok != (len(failed) == 0) || ok != (verdict.Reason == "") {
		t.Fatalf("outcome %s, reason %q, evidence %t, failed %v", verdict.Outcome, verdict.Reason, evidence.OK(), failed)
	}
	return verdict.Outcome, failed
}

// TestLateTimes holds that every time that the form allows can be fingerprinted
// and verified. From the year 2255 on its microseconds are above 2^53.
func TestLateTimes(t *testing.T) {
	a := authority(t)
	for _, created := range []dag.Time{0, 1<<53 - 1, 1 << 53, 33_329_523_605_000_001, dag.MaxTime} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("a turn created at %s: %v", created, r)
				}
			}()
			w := &world{}
			turn := dag.Turn{ID: dag.TurnID{1}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Phase: dag.Planning, CreatedAt: created}
			if err := turn.Check(); err != nil {
				return // refused openly
			}
			w.add(turn, dag.Body{})
			_, data := w.bundle(t, turn.ID, bind(t, "p@1", policy.DefaultV1()), a)
			if outcome, failed := verify(t, token.NewVerifier(a), data); outcome != token.Verified {
				t.Errorf("a turn created at %s: %s, %v failed", created, outcome, failed)
			}
		}()
	}
}

// turned returns the bits of a byte that mangling turns around: all of them, or in the short
// form one, drawn anew for each byte.
func turned() []int {
	if testing.Short() {
		return []int{rand.IntN(8)}
	}
	return []int{0, 1, 2, 3, 4, 5, 6, 7}
}

// TestMangleEveryBit turns every bit of a good bundle around. Nothing is
// verified but a bundle with another as_of.
func TestMangleEveryBit(t *testing.T) {
	w, anchor, p := meeting(t)
	_, data := w.bundle(t, anchor, p, authority(t))
	outcomes := mangle(t, authority(t), data)
	for _, o := range []token.Outcome{token.Malformed, token.Tampered, token.KeyUnknown, token.UnknownVersion} {
		if outcomes[o] == 0 && len(turned()) == 8 {
			t.Errorf("no mangled bundle was %s: %v", o, outcomes)
		}
	}
	// One bit away from the digit 4 are the digits 5, 6 and 0.
	if n := outcomes[token.Verified]; n != 3 && len(turned()) == 8 {
		t.Errorf("%d mangled bundles were verified, want those whose as_of is 5, 6 or 0", n)
	}
}

// mangle turns bits of every byte around, one at a time, and counts the outcomes.
func mangle(t *testing.T, a *token.Authority, data []byte) map[token.Outcome]int {
	t.Helper()
	v := token.NewVerifier(a)
	if outcome, failed := verify(t, v, data); outcome != token.Verified {
		t.Fatalf("the good bundle is %s: %v", outcome, failed)
	}
	at := bytes.Index(data, []byte(`"as_of":`)) + len(`"as_of":`)
	end := at + bytes.IndexByte(data[at:], ',')
	outcomes := map[token.Outcome]int{}
	bad := slices.Clone(data)
	for i := range data {
		for _, bit := range turned() {
			bad[i] = data[i] ^ 1<<bit
			outcome, failed := verify(t, v, bad)
			outcomes[outcome]++
			if outcome == token.Verified && (i < at || i >= end) {
				t.Errorf("byte %d, %q for %q, makes no difference", i, bad[i], data[i])
			}
			if outcome != token.Verified && len(failed) == 0 {
				t.Errorf("byte %d: %s, and no check failed", i, outcome)
			}
		}
		bad[i] = data[i]
	}
	if outcomes[token.Malformed] == 0 || outcomes[token.Tampered] == 0 {
		t.Errorf("outcomes: %v", outcomes)
	}
	return outcomes
}

// TestMangleOthers does the same to bundles of other kinds: with every way and
// redacted turns, and those of the shipped vectors that are small.
func TestMangleOthers(t *testing.T) {
	w, anchor, params := rigged()
	a := authority(t)
	_, data := w.bundle(t, anchor, bind(t, "rigged@1", params), a, w.turns[1].ID, w.turns[6].ID)
	mangle(t, a, data)
	cases, err := golden.Cases()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for i := range cases {
		c := &cases[i]
		if c.Expect.Bundle == "" || len(c.Expect.Bundle) > 4000 || ran == 3 {
			continue
		}
		ran++
		own, err := c.Authority()
		if err != nil {
			t.Fatal(err)
		}
		mangle(t, own, []byte(c.Expect.Bundle))
	}
	if ran == 0 {
		t.Errorf("none of %d shipped vectors holds a small bundle", len(cases))
	}
}

// A change alters the bundle of rigged in one way. The checks that fail are
// listed, and no other may.
type change struct {
	name   string
	do     func(b *slice.Bundle)
	failed []slice.CheckID
}

const (
	bodies   = slice.CheckBodies
	sorted   = slice.CheckCanonicalOrder
	edges    = slice.CheckEdges
	reasons  = slice.CheckAdmissions
	order    = slice.CheckOrder
	params   = slice.CheckPolicyHash
	snapshot = slice.CheckSnapshot
	name     = slice.CheckSliceID
	signed   = slice.CheckToken
)

func checks(ids ...slice.CheckID) []slice.CheckID { return ids }

// turnOf finds a turn of rigged by its number.
func turnOf(b *slice.Bundle, n byte) *slice.BundleTurn {
	return &b.Turns[slices.IndexFunc(b.Turns, func(t slice.BundleTurn) bool { return t.ID[15] == n })]
}

func edgeOf(b *slice.Bundle, parent, child byte) *dag.Edge {
	return &b.Edges[slices.IndexFunc(b.Edges, func(e dag.Edge) bool { return e.Parent[15] == parent && e.Child[15] == child })]
}

// digested makes a turn's digest agree with its body.
func digested(t *slice.BundleTurn) {
	t.BodyDigest = slice.DigestBody(slice.AppendBody(nil, t.Body), t.Body.Salt)
}

// headed makes the header agree with the body, as a forger would who has no key.
func headed(b *slice.Bundle) {
	for _, c := range b.Check() {
		switch c.ID {
		case params:
			b.Provenance.PolicyParamsHash = b.Policy.Hash()
		case snapshot:
			if c.Status == slice.StatusFail {
				b.Provenance.GraphSnapshotHash, _ = dag.ParseDigest(c.Expected)
			}
		}
	}
	for _, c := range b.Check() { // after the policy's hash is right
		if c.ID == name && c.Status == slice.StatusFail {
			b.Provenance.SliceID = slice.SliceID(c.Expected)
		}
	}
}

var other = dag.TurnID{0: 0xab, 15: 0xcd}

var changes = []change{
	// The envelope.
	{"anchor", func(b *slice.Bundle) { b.Anchor = turnOf(b, 2).ID }, checks(reasons, name)},
	{"anchor, outside", func(b *slice.Bundle) { b.Anchor = other }, checks(reasons, name)},
	{"as_of", func(b *slice.Bundle) { b.AsOf = 12345 }, checks()},
	{"as_of 0", func(b *slice.Bundle) { b.AsOf = 0 }, checks()},
	{"tenant", func(b *slice.Bundle) { b.Seal.Tenant = "other" }, checks(signed)},
	{"key_id", func(b *slice.Bundle) { b.Seal.KeyID = "k2" }, checks(signed)},
	{"token", func(b *slice.Bundle) { b.Seal.Token = strings.Repeat("0", 32) }, checks(signed)},
	{"token, one digit", func(b *slice.Bundle) {
		b.Seal.Token = b.Seal.Token[:31] + map[bool]string{true: "1", false: "0"}[b.Seal.Token[31] == '0']
	}, checks(signed)},
	{"order, two swapped", func(b *slice.Bundle) { b.Order[0], b.Order[1] = b.Order[1], b.Order[0] }, checks(order)},
	{"order, one missing", func(b *slice.Bundle) { b.Order = b.Order[1:] }, checks(order)},
	{"order, one twice", func(b *slice.Bundle) { b.Order[1] = b.Order[0] }, checks(order)},
	{"order, one more", func(b *slice.Bundle) { b.Order = append(b.Order, other) }, checks(order)},
	{"order, empty", func(b *slice.Bundle) { b.Order = nil }, checks(order)},
	// The header.
	{"slice_id", func(b *slice.Bundle) { b.Provenance.SliceID = "0000000000000000" }, checks(name, signed)},
	{"anchor_turn_id", func(b *slice.Bundle) { b.Provenance.Anchor = turnOf(b, 2).ID }, checks(reasons, signed)},
	{"both anchors", func(b *slice.Bundle) { b.Anchor = turnOf(b, 2).ID; b.Provenance.Anchor = b.Anchor }, checks(reasons, name, signed)},
	{"policy_id", func(b *slice.Bundle) { b.Provenance.PolicyID = "rigged@2" }, checks(name, signed)},
	{"policy_params_hash", func(b *slice.Bundle) { b.Provenance.PolicyParamsHash[0] ^= 1 }, checks(params, name, signed)},
	{"graph_snapshot_hash", func(b *slice.Bundle) { b.Provenance.GraphSnapshotHash[31] ^= 1 }, checks(snapshot, signed)},
	// The policy.
	{"max_nodes", func(b *slice.Bundle) { b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxNodes = 8 }) }, checks(params)},
	{"max_nodes, too few", func(b *slice.Bundle) { b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxNodes = 6 }) }, checks(reasons, params)},
	{"max_radius", func(b *slice.Bundle) { b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxRadius = 4 }) }, checks(params)},
	{"max_radius, too small", func(b *slice.Bundle) { b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxRadius = 1 }) }, checks(reasons, params)},
	{"max_siblings", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxSiblings = 3 })
	}, checks(params)},
	{"max_siblings 0", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxSiblings = 0 })
	}, checks(reasons, params)},
	{"include_siblings", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.IncludeSiblings = false })
	}, checks(reasons, params)},
	{"salience_weight", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.SalienceWeight++ })
	}, checks(reasons, params)},
	{"distance_decay", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.DistanceDecay++ })
	}, checks(reasons, params)},
	{"phase_weights.synthesis", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Synthesis]-- })
	}, checks(reasons, params)},
	{"phase_weights.planning", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Planning]-- })
	}, checks(reasons, params)},
	{"phase_weights.consolidation", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Consolidation]++ })
	}, checks(reasons, params)},
	{"phase_weights.debugging", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Debugging]++ })
	}, checks(reasons, params)},
	{"phase_weights.exploration", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Exploration]++ })
	}, checks(reasons, params)},
	// The fields of a turn.
	{"id", func(b *slice.Bundle) { turnOf(b, 7).ID[14] = 1 }, checks(edges, reasons, order, snapshot, name)},
	{"conversation", func(b *slice.Bundle) { turnOf(b, 3).Conversation[0] = 1 }, checks(snapshot)},
	{"role", func(b *slice.Bundle) { turnOf(b, 4).Role = dag.RoleUser }, checks(snapshot)},
	{"phase", func(b *slice.Bundle) { turnOf(b, 4).Phase = dag.Synthesis }, checks(reasons, snapshot)},
	{"salience", func(b *slice.Bundle) { turnOf(b, 4).Salience = 999_999 }, checks(reasons, snapshot)},
	{"created_at", func(b *slice.Bundle) { turnOf(b, 7).CreatedAt++ }, checks(snapshot)},
	{"created_at, so that the order changes", func(b *slice.Bundle) { turnOf(b, 3).CreatedAt += 60_000_000 }, checks(order, snapshot)},
	{"body_digest", func(b *slice.Bundle) { turnOf(b, 5).BodyDigest[0] ^= 1 }, checks(bodies, snapshot)},
	{"author", func(b *slice.Bundle) { turnOf(b, 1).Body.Author = "human:other" }, checks(bodies)},
	{"content", func(b *slice.Bundle) { turnOf(b, 4).Body.Content = "a route" }, checks(bodies)},
	{"content, a character that does not show", func(b *slice.Bundle) { turnOf(b, 3).Body.Content = "a\u200b" }, checks(bodies)},
	{"content, normalised", func(b *slice.Bundle) { turnOf(b, 3).Body.Content = "а" }, checks(bodies)},
	{"attrs, a value", func(b *slice.Bundle) { turnOf(b, 4).Body.Attrs["k"] = "w" }, checks(bodies)},
	{"attrs, a key", func(b *slice.Bundle) { turnOf(b, 4).Body.Attrs = map[string]string{"l": "v"} }, checks(bodies)},
	{"attrs, one more", func(b *slice.Bundle) { turnOf(b, 3).Body.Attrs = map[string]string{"x": ""} }, checks(bodies)},
	{"attrs, one less", func(b *slice.Bundle) { turnOf(b, 4).Body.Attrs = nil }, checks(bodies)},
	{"salt", func(b *slice.Bundle) { turnOf(b, 2).Body.Salt[0] ^= 1 }, checks(bodies)},
	{"content and digest", func(b *slice.Bundle) { turnOf(b, 4).Body.Content = "a route"; digested(turnOf(b, 4)) }, checks(snapshot)},
	{"salt and digest", func(b *slice.Bundle) { turnOf(b, 4).Body.Salt[0] ^= 1; digested(turnOf(b, 4)) }, checks(snapshot)},
	{"redacted", func(b *slice.Bundle) { turnOf(b, 4).Body = nil }, checks()},
	{"all redacted", func(b *slice.Bundle) {
		for i := range b.Turns {
			b.Turns[i].Body = nil
		}
	}, checks()},
	{"redacted, another digest", func(b *slice.Bundle) { turnOf(b, 4).Body = nil; turnOf(b, 4).BodyDigest[0] ^= 1 }, checks(snapshot)},
	{"bodies swapped", func(b *slice.Bundle) {
		x, y := turnOf(b, 1), turnOf(b, 4)
		x.Body, y.Body = y.Body, x.Body
	}, checks(bodies)},
	{"bodies and digests swapped", func(b *slice.Bundle) {
		x, y := turnOf(b, 1), turnOf(b, 4)
		x.Body, y.Body, x.BodyDigest, y.BodyDigest = y.Body, x.Body, y.BodyDigest, x.BodyDigest
	}, checks(snapshot)},
	// The reasons.
	{"score_nano", func(b *slice.Bundle) { turnOf(b, 7).Admission.Score++ }, checks(reasons, snapshot)},
	{"distance", func(b *slice.Bundle) { turnOf(b, 7).Admission.Distance++ }, checks(reasons, snapshot)},
	{"distance and score", func(b *slice.Bundle) {
		x := turnOf(b, 7)
		x.Admission.Distance++
		x.Admission.Score = scoreOf(b, x)
	}, checks(reasons, snapshot)},
	{"via, a child as a parent", func(b *slice.Bundle) { turnOf(b, 7).Admission.Via = slice.ViaParent }, checks(reasons, snapshot)},
	{"via, a child as a sibling", func(b *slice.Bundle) { turnOf(b, 7).Admission.Via = slice.ViaSibling }, checks(reasons, snapshot)},
	{"via, a sibling as a child", func(b *slice.Bundle) { turnOf(b, 5).Admission.Via = slice.ViaChild }, checks(reasons, snapshot)},
	{"via, a parent as a child", func(b *slice.Bundle) { turnOf(b, 2).Admission.Via = slice.ViaChild }, checks(reasons, snapshot)},
	{"via, a second anchor", func(b *slice.Bundle) {
		x := turnOf(b, 5)
		x.Admission.Via, x.Admission.From = slice.ViaAnchor, dag.TurnID{}
	}, checks(reasons, snapshot)},
	{"via, no anchor", func(b *slice.Bundle) {
		x := turnOf(b, 4)
		x.Admission.Via, x.Admission.From = slice.ViaSibling, turnOf(b, 5).ID
	}, checks(reasons, snapshot)},
	{"from", func(b *slice.Bundle) { turnOf(b, 7).Admission.From = turnOf(b, 1).ID }, checks(reasons, snapshot)},
	{"from, another sibling", func(b *slice.Bundle) { turnOf(b, 5).Admission.From = turnOf(b, 6).ID }, checks(reasons, snapshot)},
	{"from, outside", func(b *slice.Bundle) { turnOf(b, 7).Admission.From = other }, checks(reasons, snapshot)},
	{"from, itself", func(b *slice.Bundle) { turnOf(b, 5).Admission.From = turnOf(b, 5).ID }, checks(reasons, snapshot)},
	// The edges.
	{"kind", func(b *slice.Bundle) { edgeOf(b, 4, 6).Kind = dag.Reply }, checks(snapshot, name)},
	{"an edge rewired to another child", func(b *slice.Bundle) { edgeOf(b, 4, 7).Child = turnOf(b, 3).ID; sortEdges(b) }, checks(reasons, order, snapshot, name)},
	{"an edge rewired to another parent", func(b *slice.Bundle) { edgeOf(b, 3, 7).Parent = turnOf(b, 1).ID; sortEdges(b) }, checks(reasons, snapshot, name)},
	{"an edge rewired outside", func(b *slice.Bundle) { edgeOf(b, 4, 6).Child = other; sortEdges(b) }, checks(edges, reasons, snapshot, name)},
	{"an edge turned around", func(b *slice.Bundle) {
		e := edgeOf(b, 4, 6)
		e.Parent, e.Child = e.Child, e.Parent
		sortEdges(b)
	}, checks(reasons, order, snapshot, name)},
	{"an edge more", func(b *slice.Bundle) {
		b.Edges = append(b.Edges, dag.Edge{Parent: turnOf(b, 5).ID, Child: turnOf(b, 7).ID, Kind: dag.Reply})
		sortEdges(b)
	}, checks(snapshot, name)},
	{"an edge more, making a cycle", func(b *slice.Bundle) {
		b.Edges = append(b.Edges, dag.Edge{Parent: turnOf(b, 7).ID, Child: turnOf(b, 1).ID, Kind: dag.Reply})
		sortEdges(b)
	}, checks(order, snapshot, name)},
	{"an edge more, to itself", func(b *slice.Bundle) {
		b.Edges = append(b.Edges, dag.Edge{Parent: turnOf(b, 7).ID, Child: turnOf(b, 7).ID, Kind: dag.Reply})
		sortEdges(b)
	}, checks(order, snapshot, name)},
	{"an edge twice", func(b *slice.Bundle) { b.Edges = append(b.Edges, b.Edges[0]); sortEdges(b) }, checks(sorted, snapshot, name)},
	{"an edge twice, of another kind", func(b *slice.Bundle) {
		e := *edgeOf(b, 4, 7)
		e.Kind = dag.Merge
		b.Edges = append(b.Edges, e)
		sortEdges(b)
	}, checks(sorted, snapshot, name)},
	{"an edge less", func(b *slice.Bundle) { b.Edges = b.Edges[1:] }, checks(reasons, snapshot, name)},
	{"no edges", func(b *slice.Bundle) { b.Edges = nil }, checks(reasons, snapshot, name)},
	{"edges swapped", func(b *slice.Bundle) { b.Edges[0], b.Edges[1] = b.Edges[1], b.Edges[0] }, checks(sorted, snapshot, name)},
	// The turns.
	{"turns swapped", func(b *slice.Bundle) { b.Turns[0], b.Turns[1] = b.Turns[1], b.Turns[0] }, checks(sorted, snapshot, name)},
	{"a turn less", func(b *slice.Bundle) { without(b, 7) }, checks(edges, reasons, order, snapshot, name)},
	{"a turn less, with its edges and its place", func(b *slice.Bundle) {
		id := turnOf(b, 7).ID
		without(b, 7)
		b.Edges = slices.DeleteFunc(b.Edges, func(e dag.Edge) bool { return e.Child == id })
		b.Order = slices.DeleteFunc(b.Order, func(o dag.TurnID) bool { return o == id })
	}, checks(reasons, snapshot, name)},
	{"a leaf of the graph less, all in agreement", func(b *slice.Bundle) {
		id := turnOf(b, 5).ID
		without(b, 5)
		b.Edges = slices.DeleteFunc(b.Edges, func(e dag.Edge) bool { return e.Child == id })
		b.Order = slices.DeleteFunc(b.Order, func(o dag.TurnID) bool { return o == id })
	}, checks(snapshot, name)},
	{"a turn twice", func(b *slice.Bundle) { b.Turns = slices.Insert(b.Turns, 1, b.Turns[0]) }, checks(sorted, reasons, order, snapshot, name)},
	{"no turns", func(b *slice.Bundle) { b.Turns, b.Edges, b.Order = nil, nil, nil }, checks(reasons, snapshot, name)},
	{"the anchor less", func(b *slice.Bundle) { without(b, 4) }, checks(edges, reasons, order, snapshot, name)},
	// A forger makes the header agree. The token does not.
	{"role, and the header", func(b *slice.Bundle) { turnOf(b, 4).Role = dag.RoleSystem; headed(b) }, checks(signed)},
	{"content, and the header", func(b *slice.Bundle) {
		turnOf(b, 4).Body.Content = "a route"
		digested(turnOf(b, 4))
		headed(b)
	}, checks(signed)},
	{"kind, and the header", func(b *slice.Bundle) { edgeOf(b, 4, 6).Kind = dag.Merge; headed(b) }, checks(signed)},
	{"max_nodes, and the header", func(b *slice.Bundle) {
		b.Policy = changed(b.Policy, func(p *policy.SlicePolicyV1) { p.MaxNodes = 8 })
		headed(b)
	}, checks(signed)},
	{"a leaf of the graph less, and the header", func(b *slice.Bundle) {
		id := turnOf(b, 5).ID
		without(b, 5)
		b.Edges = slices.DeleteFunc(b.Edges, func(e dag.Edge) bool { return e.Child == id })
		b.Order = slices.DeleteFunc(b.Order, func(o dag.TurnID) bool { return o == id })
		headed(b)
	}, checks(signed)},
}

func without(b *slice.Bundle, n byte) {
	b.Turns = slices.DeleteFunc(b.Turns, func(t slice.BundleTurn) bool { return t.ID[15] == n })
}

func sortEdges(b *slice.Bundle) {
	slices.SortFunc(b.Edges, func(x, y dag.Edge) int {
		if c := x.Parent.Compare(y.Parent); c != 0 {
			return c
		}
		if c := x.Child.Compare(y.Child); c != 0 {
			return c
		}
		return int(x.Kind) - int(y.Kind)
	})
}

// TestChanges changes every field of a bundle, one at a time, and says which
// checks notice (GKP/1, section 13).
func TestChanges(t *testing.T) {
	w, anchor, p := rigged()
	a := authority(t)
	_, data := w.bundle(t, anchor, bind(t, "rigged@1", p), a)
	noticed := applied(t, a, data, changes)
	for _, id := range allChecks[2:] {
		if noticed[id] == 0 {
			t.Errorf("nothing made %s fail", id)
		}
	}
}

// applied makes each change to a good bundle, compares the checks that fail with those that should, and counts them.
func applied(t *testing.T, a *token.Authority, data []byte, list []change) map[slice.CheckID]int {
	t.Helper()
	v := token.NewVerifier(a)
	noticed := map[slice.CheckID]int{}
	for _, c := range list {
		b, err := slice.ParseBundle(data)
		if err != nil {
			t.Fatal(err)
		}
		c.do(b)
		bad := b.Append(nil)
		if bytes.Equal(bad, data) {
			t.Errorf("%s: nothing was changed", c.name)
			continue
		}
		outcome, failed := verify(t, v, bad)
		if !slices.Equal(failed, c.failed) {
			t.Errorf("%s: %v failed, want %v", c.name, failed, c.failed)
		}
		want := token.Tampered
		switch {
		case len(c.failed) == 0:
			want = token.Verified
		case c.name == "key_id":
			want = token.KeyUnknown
		}
		if outcome != want {
			t.Errorf("%s: %s, want %s", c.name, outcome, want)
		}
		for _, id := range failed {
			noticed[id]++
		}
	}
	return noticed
}

// TestHeaderOfAnother puts the header and the token of one slice over the turns
// of another: the mistake of a verifier that looks at the header only.
func TestHeaderOfAnother(t *testing.T) {
	w, anchor, p := rigged()
	a := authority(t)
	r := bind(t, "rigged@1", p)
	_, data := w.bundle(t, anchor, r, a)
	mine, err := slice.ParseBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	other := &world{turns: slices.Clone(w.turns), bodies: slices.Clone(w.bodies), marks: w.marks, edges: w.edges}
	at := other.find(anchor)
	other.bodies[at].Content = "a route"
	other.turns[at].BodyDigest = slice.DigestBody(slice.AppendBody(nil, &other.bodies[at]), other.bodies[at].Salt)
	_, data = other.bundle(t, anchor, r, a)
	theirs, err := slice.ParseBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	if mine.Provenance.SliceID != theirs.Provenance.SliceID || mine.Provenance == theirs.Provenance {
		t.Fatalf("the slices should share a name and no more")
	}
	mine.Provenance, mine.Seal = theirs.Provenance, theirs.Seal
	if outcome, failed := verify(t, token.NewVerifier(a), mine.Append(nil)); outcome != token.Tampered || !slices.Equal(failed, checks(snapshot)) {
		t.Errorf("%s, %v failed, want snapshot", outcome, failed)
	}
}

// TestVersion holds that a later version is neither verified nor called malformed.
func TestVersion(t *testing.T) {
	w, anchor, p := rigged()
	a := authority(t)
	_, data := w.bundle(t, anchor, bind(t, "rigged@1", p), a)
	for _, s := range [][2]string{{`"gkp/1"`, `"gkp/2"`}, {`slice_policy_v1`, `slice_policy_v2`}} {
		bad := bytes.Replace(data, []byte(s[0]), []byte(s[1]), 1)
		if outcome, failed := verify(t, token.NewVerifier(a), bad); outcome != token.UnknownVersion || !slices.Equal(failed, checks(slice.CheckVersion)) {
			t.Errorf("%s: %s, %v failed", s[1], outcome, failed)
		}
	}
	if outcome, failed := verify(t, token.NewVerifier(a), data[:len(data)-1]); outcome != token.Malformed || !slices.Equal(failed, checks(slice.CheckForm)) {
		t.Errorf("cut short: %s, %v failed", outcome, failed)
	}
}

// TestRedacted holds that withholding text changes neither header nor token, and
// that the verdict says so.
func TestRedacted(t *testing.T) {
	w, anchor, p := rigged()
	a := authority(t)
	r := bind(t, "rigged@1", p)
	full, _ := w.bundle(t, anchor, r, a)
	hidden := []dag.TurnID{w.turns[6].ID, w.turns[0].ID}
	slices.SortFunc(hidden, dag.TurnID.Compare)
	part, data := w.bundle(t, anchor, r, a, hidden...)
	if full.Provenance != part.Provenance {
		t.Error("the header changed")
	}
	evidence, verdict := token.NewVerifier(a).Verify(data)
	if verdict.Outcome != token.Verified || !slices.Equal(verdict.Redacted, hidden) || !evidence.OK() {
		t.Errorf("%s (%s), %d redacted", verdict.Outcome, verdict.Reason, len(verdict.Redacted))
	}
	for _, text := range []string{"Begin.", "seven", w.bodies[0].Salt.String(), "human:user"} {
		if bytes.Contains(data, []byte(text)) {
			t.Errorf("%q is still in the bundle", text)
		}
	}
	if !bytes.Contains(data, []byte("no route")) {
		t.Error("another turn's text is gone")
	}
}

// TestForgery takes two texts of opposite meaning with one xxHash64. Whatever
// binds must tell them apart.
func TestForgery(t *testing.T) {
	folder := os.Getenv("GRAPHKERNEL_VECTORS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "vectors")
	}
	data, err := os.ReadFile(filepath.Join(folder, "xxhash64-forgery.json"))
	if os.IsNotExist(err) {
		t.Skipf("no forgery in %s (set GRAPHKERNEL_VECTORS)", folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	var forgery struct {
		XXHash64 string    `json:"xxhash64"`
		Texts    [2]string `json:"texts"`
	}
	if err := json.Unmarshal(data, &forgery); err != nil {
		t.Fatal(err)
	}
	for _, text := range forgery.Texts {
		if got := fmt.Sprintf("%016x", xxhash.Sum64String(text)); got != forgery.XXHash64 {
			t.Fatalf("%q has xxHash64 %s, want %s", text, got, forgery.XXHash64)
		}
	}
	if forgery.Texts[0] == forgery.Texts[1] {
		t.Fatal("the texts are the same")
	}
	a := authority(t)
	id := dag.TurnID{1}
	var bundles [2][]byte
	var cut [2]*slice.Slice
	var turns [2]dag.Turn
	for i, text := range forgery.Texts {
		w := &world{}
		w.add(dag.Turn{ID: id, Conversation: dag.ConversationID{1}, Role: dag.RoleAssistant, Phase: dag.Synthesis}, dag.Body{Content: text, Salt: dag.Salt{7}})
		turns[i] = w.turns[0]
		cut[i], bundles[i] = w.bundle(t, id, bind(t, policy.DefaultV1ID, policy.DefaultV1()), a)
		if outcome, _ := verify(t, token.NewVerifier(a), bundles[i]); outcome != token.Verified {
			t.Fatalf("text %d: %s", i, outcome)
		}
	}
	if turns[0].BodyDigest == turns[1].BodyDigest || slice.TurnLeaf(&turns[0]) == slice.TurnLeaf(&turns[1]) {
		t.Error("the texts share a digest or a leaf")
	}
	if cut[0].Provenance.GraphSnapshotHash == cut[1].Provenance.GraphSnapshotHash {
		t.Error("the texts share a snapshot hash")
	}
	if cut[0].Provenance.SliceID != cut[1].Provenance.SliceID {
		t.Error("the slice id, which binds no text, differs")
	}
	var parsed [2]*slice.Bundle
	for i := range parsed {
		if parsed[i], err = slice.ParseBundle(bundles[i]); err != nil {
			t.Fatal(err)
		}
	}
	if parsed[0].Seal.Token == parsed[1].Seal.Token {
		t.Error("the texts share a token")
	}
	parsed[0].Turns[0].Body.Content = forgery.Texts[1]
	if outcome, failed := verify(t, token.NewVerifier(a), parsed[0].Append(nil)); outcome != token.Tampered || !slices.Equal(failed, checks(bodies)) {
		t.Errorf("one text for the other: %s, %v failed, want bodies", outcome, failed)
	}
}

// scoreOf is what the policy gives a turn of a bundle.
func scoreOf(b *slice.Bundle, t *slice.BundleTurn) policy.Score {
	w := b.Policy.Walk()
	if w.Standings != nil {
		return w.Scorer().ScoreOf(t.Admission.Standing, t.Phase, t.Salience, t.Admission.Distance)
	}
	return w.Scorer().Score(t.Admission.Voice, t.Phase, t.Salience, t.Admission.Distance)
}
