package slice_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// A disclosureChange alters the disclosure in one way. The checks that fail are listed, and
// no other may; CheckToken stands for what the holder of the secret finds beyond them.
type disclosureChange struct {
	name   string
	do     func(d *slice.Disclosure)
	failed []slice.CheckID
}

var disclosureChanges = []disclosureChange{
	// What nothing but an attestation or the ledger binds.
	{"as_of", func(d *slice.Disclosure) { d.AsOf++ }, checks()},
	{"bundle", func(d *slice.Disclosure) { d.Bundle[0] ^= 1 }, checks()},
	{"edges, of 15 leaves 16", func(d *slice.Disclosure) { setCounts(d, turnCount(d), 8) }, checks()},
	{"edges, of 15 leaves 9", func(d *slice.Disclosure) { setCounts(d, turnCount(d), 1) }, checks()},
	{"one turn more, one edge less", func(d *slice.Disclosure) { setCounts(d, turnCount(d)+1, edgeCount(d)-1) }, checks()},
	{"turn_count, of 15 leaves 16", func(d *slice.Disclosure) { setCounts(d, 8, edgeCount(d)) }, checks()},
	{"a turn less", func(d *slice.Disclosure) { d.Shown = d.Shown[1:] }, checks()},
	{"redacted", func(d *slice.Disclosure) { shown(d, 0).Body = nil }, checks()},
	// The counts, where the tree would have another shape.
	{"edges, of 15 leaves 17", func(d *slice.Disclosure) { setCounts(d, turnCount(d), 9) }, checks(included)},
	{"edges, of 15 leaves 8", func(d *slice.Disclosure) { setCounts(d, turnCount(d), 0) }, checks(included)},
	{"turn_count, of 15 leaves 1007", func(d *slice.Disclosure) { setCounts(d, 999, edgeCount(d)) }, checks(included)},
	{"turn_count, below an index", func(d *slice.Disclosure) { setCounts(d, 4, edgeCount(d)) }, checks(sorted)},
	{"turn_count, below an index, and more edges", func(d *slice.Disclosure) { setCounts(d, 4, 10) }, checks(sorted)},
	// The envelope and the header.
	{"anchor", func(d *slice.Disclosure) { d.Anchor = shown(d, 0).Turn.ID }, checks(reasons)},
	{"anchor_turn_id", func(d *slice.Disclosure) { d.Provenance.Anchor = other }, checks(reasons, signed)},
	{"both anchors", func(d *slice.Disclosure) { d.Provenance.Anchor = other; d.Anchor = other }, checks(signed)},
	{"key_id", func(d *slice.Disclosure) { d.Seal.KeyID = "k2" }, checks(signed)},
	{"tenant", func(d *slice.Disclosure) { d.Seal.Tenant = "other" }, checks(signed)},
	{"token", func(d *slice.Disclosure) { d.Seal.Token = strings.Repeat("0", 32) }, checks(signed)},
	{"slice_id", func(d *slice.Disclosure) { d.Provenance.SliceID = "0000000000000000" }, checks(signed)},
	{"policy_id", func(d *slice.Disclosure) { d.Provenance.PolicyID = "rigged@2" }, checks(signed)},
	{"policy_params_hash", func(d *slice.Disclosure) { d.Provenance.PolicyParamsHash[0] ^= 1 }, checks(params, signed)},
	{"graph_snapshot_hash", func(d *slice.Disclosure) { d.Provenance.GraphSnapshotHash[0] ^= 1 }, checks(included, signed)},
	// The policy.
	{"max_nodes", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.MaxNodes++ })
	}, checks(params)},
	{"max_radius", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.MaxRadius++ })
	}, checks(params)},
	{"max_siblings", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.MaxSiblings++ })
	}, checks(params)},
	{"include_siblings", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.IncludeSiblings = false })
	}, checks(params)},
	{"salience_weight", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.SalienceWeight++ })
	}, checks(params)},
	{"distance_decay", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.DistanceDecay++ })
	}, checks(params)},
	{"phase_weights.synthesis", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Synthesis]-- })
	}, checks(params)},
	{"phase_weights.planning", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Planning]-- })
	}, checks(params)},
	{"phase_weights.consolidation", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Consolidation]-- })
	}, checks(params)},
	{"phase_weights.debugging", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Debugging]-- })
	}, checks(params)},
	{"phase_weights.exploration", func(d *slice.Disclosure) {
		d.Policy = changed(d.Policy, func(p *policy.SlicePolicyV1) { p.Weights[dag.Exploration]-- })
	}, checks(params)},
	// The fields of a turn.
	{"id", func(d *slice.Disclosure) { shown(d, 1).Turn.ID[14] ^= 1 }, checks(included)},
	{"conversation", func(d *slice.Disclosure) { shown(d, 1).Conversation[0] ^= 1 }, checks(included)},
	{"role", func(d *slice.Disclosure) { shown(d, 1).Role = dag.RoleUser }, checks(included)},
	{"phase", func(d *slice.Disclosure) { shown(d, 1).Phase = dag.Synthesis }, checks(included)},
	{"salience", func(d *slice.Disclosure) { shown(d, 1).Salience++ }, checks(included)},
	{"created_at", func(d *slice.Disclosure) { shown(d, 1).CreatedAt++ }, checks(included)},
	{"body_digest", func(d *slice.Disclosure) { shown(d, 1).BodyDigest[0] ^= 1 }, checks(bodies, included)},
	{"body_digest, of a redacted turn", func(d *slice.Disclosure) { shown(d, 2).BodyDigest[0] ^= 1 }, checks(included)},
	{"author", func(d *slice.Disclosure) { shown(d, 1).Body.Author = "tool:other" }, checks(bodies)},
	{"content", func(d *slice.Disclosure) { shown(d, 1).Body.Content = "a route" }, checks(bodies)},
	{"attrs", func(d *slice.Disclosure) { shown(d, 1).Body.Attrs = nil }, checks(bodies)},
	{"salt", func(d *slice.Disclosure) { shown(d, 1).Body.Salt[0] ^= 1 }, checks(bodies)},
	{"a text for a redacted turn", func(d *slice.Disclosure) { shown(d, 2).Body = &dag.Body{Content: "a"} }, checks(bodies)},
	{"content and digest", func(d *slice.Disclosure) {
		x := shown(d, 1)
		x.Body.Content = "a route"
		x.BodyDigest = slice.DigestBody(slice.AppendBody(nil, x.Body), x.Body.Salt)
	}, checks(included)},
	{"texts swapped", func(d *slice.Disclosure) { shown(d, 0).Body, shown(d, 1).Body = shown(d, 1).Body, shown(d, 0).Body }, checks(bodies)},
	// The places.
	{"index, one more", func(d *slice.Disclosure) { d.Shown[2].Index++ }, checks(included)},
	{"index, one less", func(d *slice.Disclosure) { d.Shown[0].Index-- }, checks(included)},
	{"index, the same twice", func(d *slice.Disclosure) { d.Shown[1].Index = 1 }, checks(sorted, included)},
	{"index, that of an edge", func(d *slice.Disclosure) { d.Shown[2].Index = 9 }, checks(sorted, included)},
	{"index, that of the reasons", func(d *slice.Disclosure) { d.Shown[2].Index = 14 }, checks(sorted, included)},
	{"index, behind the tree", func(d *slice.Disclosure) { d.Shown[2].Index = 9_999 }, checks(sorted, included)},
	{"indexes swapped", func(d *slice.Disclosure) {
		d.Shown[0].Index, d.Shown[1].Index = d.Shown[1].Index, d.Shown[0].Index
	}, checks(sorted, included)},
	{"turns swapped", func(d *slice.Disclosure) { d.Shown[0], d.Shown[1] = d.Shown[1], d.Shown[0] }, checks(sorted)},
	{"turns swapped, not their indexes", func(d *slice.Disclosure) {
		d.Shown[0], d.Shown[1] = d.Shown[1], d.Shown[0]
		d.Shown[0].Index, d.Shown[1].Index = d.Shown[1].Index, d.Shown[0].Index
	}, checks(sorted, included)},
	{"a turn twice", func(d *slice.Disclosure) { d.Shown = slices.Insert(d.Shown, 1, d.Shown[0]) }, checks(sorted)},
	{"a turn twice, at two indexes", func(d *slice.Disclosure) {
		d.Shown = slices.Insert(d.Shown, 1, d.Shown[0])
		d.Shown[1].Index++
	}, checks(sorted, included)},
	// The paths.
	{"path, one bit", func(d *slice.Disclosure) { d.Shown[2].Path[0][0] ^= 1 }, checks(included)},
	{"path, the last bit", func(d *slice.Disclosure) { d.Shown[2].Path[3][31] ^= 1 }, checks(included)},
	{"path, two hashes swapped", func(d *slice.Disclosure) {
		p := d.Shown[0].Path
		p[0], p[1] = p[1], p[0]
	}, checks(included)},
	{"path of another turn", func(d *slice.Disclosure) { d.Shown[0].Path = d.Shown[1].Path }, checks(included)},
	{"path, a hash more", func(d *slice.Disclosure) { d.Shown[0].Path = append(d.Shown[0].Path, dag.Digest{}) }, checks(included)},
	{"path, the most hashes", func(d *slice.Disclosure) { d.Shown[0].Path = make([]dag.Digest, 63) }, checks(included)},
	{"path, a hash less", func(d *slice.Disclosure) { d.Shown[0].Path = d.Shown[0].Path[1:] }, checks(included)},
	{"path, none", func(d *slice.Disclosure) { d.Shown[0].Path = nil }, checks(included)},
	{"a shorter path in a smaller tree", func(d *slice.Disclosure) {
		d.Shown = d.Shown[:1] // 3 hashes, as from a node of the first level, in a tree of as many leaves as it has nodes there
		d.Shown[0].Path, d.Shown[0].Index = d.Shown[0].Path[1:], 0
		setCounts(d, turnCount(d), 0)
	}, checks(included)},
}

// TestDisclosureChanges changes every field of a disclosure, one at a time, and says which
// checks notice.
func TestDisclosureChanges(t *testing.T) {
	a := authority(t)
	_, data := disclosed(t)
	noticed := map[slice.CheckID]int{}
	for _, c := range disclosureChanges {
		d := parsedDisclosure(t, data)
		c.do(d)
		bad := d.Append(nil)
		if bytes.Equal(bad, data) {
			t.Errorf("%s: nothing was changed", c.name)
			continue
		}
		d = parsedDisclosure(t, bad)
		failed := judge(t, d)
		if err := a.Check(&d.Provenance, d.Seal); err != nil {
			failed = append(failed, signed)
		}
		if !slices.Equal(failed, c.failed) {
			t.Errorf("%s: %v failed, want %v", c.name, failed, c.failed)
		}
		for _, id := range failed {
			noticed[id]++
		}
	}
	for _, id := range checks(bodies, sorted, reasons, params, included, signed) {
		if noticed[id] == 0 {
			t.Errorf("nothing made %s fail", id)
		}
	}
}

// TestMangleDisclosure turns every bit around. What is still a disclosure fails, but in the
// members that Check does not judge.
func TestMangleDisclosure(t *testing.T) {
	a := authority(t)
	_, data := disclosed(t)
	good := parsedDisclosure(t, data)
	if wrong := judge(t, good); len(wrong) > 0 {
		t.Fatalf("%v failed", wrong)
	}
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	// Who notices instead: the token's check or nobody here.
	unjudged := map[string]bool{
		"as_of": false, "bundle": false, "edges": false, "turn_count": false,
		"key_id": true, "tenant": true, "token": true, "provenance.policy_id": true, "provenance.slice_id": true,
	}
	seen := map[string]int{}
	count := map[string]int{}
	bad := slices.Clone(data)
	for i := range data {
		for _, bit := range turned() {
			bad[i] = data[i] ^ 1<<bit
			d, err := parseDisclosure(bad)
			if err != nil {
				if d != nil || !errors.Is(err, slice.ErrMalformed) && !errors.Is(err, slice.ErrVersion) {
					t.Fatalf("byte %d: %v, %v", i, d, err)
				}
				count["refused"]++
				continue
			}
			if len(judge(t, d)) > 0 {
				count["failed"]++
				continue
			}
			path := doc.PathAt(i)
			seen[path]++
			byToken, known := unjudged[path]
			if !known {
				t.Errorf("byte %d of %s, %q for %q, makes no difference", i, path, bad[i], data[i])
			}
			if noticed := a.Check(&d.Provenance, d.Seal) != nil; noticed != byToken {
				t.Errorf("byte %d of %s: the token says %t, want %t", i, path, !noticed, !byToken)
			}
			if (path == "edges" || path == "turn_count") && !sameShapes(good, d) {
				t.Errorf("%s: %d turns and %d edges make another tree, and nobody says so", path, turnCount(d), edgeCount(d))
			}
		}
		bad[i] = data[i]
	}
	if count["refused"] == 0 || count["failed"] == 0 {
		t.Errorf("refused and failed: %v", count)
	}
	for path := range unjudged {
		if seen[path] == 0 && len(turned()) == 8 {
			t.Errorf("no bit of %s passes", path)
		}
	}
	t.Logf("%d bytes: %v, passed %v", len(data), count, seen)
}

// shape returns the turns left and right on the way from the root to a leaf (RFC 6962).
func shape(size, index int) string {
	if size <= 1 {
		return ""
	}
	k := 1
	for 2*k < size {
		k *= 2
	}
	if index < k {
		return "L" + shape(k, index)
	}
	return "R" + shape(size-k, index-k)
}

func sameShapes(a, b *slice.Disclosure) bool {
	for i := range a.Shown {
		if shape(turnCount(a)+edgeCount(a)+1, a.Shown[i].Index) != shape(turnCount(b)+edgeCount(b)+1, b.Shown[i].Index) {
			return false
		}
	}
	return true
}

// only discloses one turn of rigged, which is left of the root, or one of five siblings
// without an edge between them, which is right of it.
func only(t *testing.T, rightOfRoot bool) *slice.Disclosure {
	t.Helper()
	if !rightOfRoot {
		_, data := disclosed(t)
		d := parsedDisclosure(t, data)
		d.Shown = d.Shown[2:]
		return d
	}
	w := &world{}
	w.add(dag.Turn{ID: dag.TurnID{9}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Phase: dag.Exploration}, dag.Body{})
	for n := range byte(5) {
		turn := dag.Turn{ID: dag.TurnID{n + 1}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Phase: dag.Synthesis, Salience: dag.One}
		w.add(turn, dag.Body{}, dag.Parent{ID: dag.TurnID{9}, Kind: dag.Reply})
	}
	p := policy.DefaultV1()
	p.MaxNodes = 5
	_, data := w.bundle(t, dag.TurnID{1}, bind(t, "siblings@1", p), authority(t))
	d, err := parsedBundle(t, data).Disclose(sha256.Sum256(data), []dag.TurnID{{5}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDisclosureCounts tries other counts and indexes on a disclosure of a single turn. Those
// pass for which the way from the root is the same. No other index passes once the size of
// the tree is known, as from an attestation, and none at all for a turn left of the root.
func TestDisclosureCounts(t *testing.T) {
	for _, right := range []bool{false, true} {
		good := only(t, right)
		size, index := turnCount(good)+edgeCount(good)+1, good.Shown[0].Index
		way := shape(size, index)
		if (way[0] == 'R') != right {
			t.Fatalf("leaf %d of %d is reached by %s", index, size, way)
		}
		counts, shifted := 0, 0
		for turns := 1; turns <= 20; turns++ {
			for links := 0; links <= min(20, turns*turns); links++ {
				for at := range turns {
					d := *good
					setCounts(&d, turns, links)
					d.Shown = slices.Clone(good.Shown)
					d.Shown[0].Index = at
					holds := len(judge(t, &d)) == 0
					if want := shape(turns+links+1, at) == way; holds != want {
						t.Fatalf("%d turns, %d edges, index %d: holds is %t, want %t", turns, links, at, holds, want)
					}
					if !holds {
						continue
					}
					counts++
					if at != index {
						shifted++
					}
					if turns+links+1 == size && at != index {
						t.Errorf("index %d passes in a tree of the right size", at)
					}
				}
			}
		}
		if counts < 2 || (shifted > 0) != right {
			t.Errorf("leaf %d of %d: %d counts pass, at another index %d", index, size, counts, shifted)
		}
	}
}

// TestDisclosureByHand checks values that no parser gives: none may be taken for good, or
// keep the arithmetic of the tree busy.
func TestDisclosureByHand(t *testing.T) {
	_, data := disclosed(t)
	for _, c := range []struct {
		name   string
		do     func(d *slice.Disclosure)
		failed []slice.CheckID
	}{
		{"nothing at all", func(d *slice.Disclosure) {
			d.Shown, d.Counts, d.Provenance, d.Policy = nil, nil, slice.Provenance{}, policy.SlicePolicyV1{}
			d.Anchor = dag.TurnID{}
		}, checks(params, included)},
		{"no turn", func(d *slice.Disclosure) { d.Shown = nil }, checks(included)},
		{"no turns", func(d *slice.Disclosure) { setCounts(d, 0, edgeCount(d)) }, checks(sorted, included)},
		{"huge edges", func(d *slice.Disclosure) { setCounts(d, 15, -1) }, checks(included)},
		{"huge turns", func(d *slice.Disclosure) { setCounts(d, -1, 7) }, checks(included)},
		{"huge counts", func(d *slice.Disclosure) { setCounts(d, 1<<31-1, 1<<31-1) }, checks(included)},
		{"huge counts of both", func(d *slice.Disclosure) { setCounts(d, -1, -1) }, checks(included)},
		{"an index below 0", func(d *slice.Disclosure) { d.Shown[0].Index = -1 }, checks(sorted, included)},
	} {
		d := parsedDisclosure(t, data)
		c.do(d)
		if failed := judge(t, d); !slices.Equal(failed, c.failed) {
			t.Errorf("%s: %v failed, want %v", c.name, failed, c.failed)
		}
	}
}
