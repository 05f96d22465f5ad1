package slice_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// canonical is RFC 8785 by another hand.
func canonical(t fataler, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	out, err := jcs.Transform(text)
	if err != nil {
		t.Fatalf("jcs: %v", err)
	}
	return string(out)
}

type object = map[string]any

// The literal definitions of GKP/1, section 6.

func slowTurnLeaf(t fataler, turn *dag.Turn) string {
	return canonical(t, object{
		"body_digest": turn.BodyDigest.String(), "conversation": turn.Conversation.String(), "created_at_us": int64(turn.CreatedAt), "id": turn.ID.String(),
		"phase": turn.Phase.String(), "role": turn.Role.String(), "salience_ppm": uint32(turn.Salience), "type": "turn",
	})
}

func slowEdgeLeaf(t fataler, e dag.Edge) string {
	return canonical(t, object{"child": e.Child.String(), "kind": e.Kind.String(), "parent": e.Parent.String(), "type": "edge"})
}

// slowThings are the things of a turn, as hex.
func slowThings(m *dag.Marks) []any {
	things := []any{}
	for _, thing := range m.Things {
		things = append(things, thing.String())
	}
	return things
}

func slowAdmissionsLeaf(t fataler, w *world, params string, asOf int, picks []slowPick) string {
	rows := []any{}
	marked, counts, settings := params != policy.Type, w.slowCounts(), w.slowSettings(picks)
	for _, p := range picks {
		from := p.From.String()
		if p.Via == slice.ViaAnchor {
			from = ""
		}
		if !marked {
			rows = append(rows, []any{p.ID.String(), p.Distance, p.Score, p.Via.String(), from})
			continue
		}
		at, thing := w.find(p.ID), ""
		if p.Via == slice.ViaTouch {
			thing = p.Thing.String()
		}
		m := &w.marks[at]
		row := []any{p.ID.String(), at + 1, m.Voice.String(), m.Cost, slowThings(m)}
		if c := counts[p.ID]; params == policy.TypeV3 {
			row = append(row, c.Standing.String(), slices.Index(settings, c.at), c.Rule)
		}
		rows = append(rows, append(row, p.Distance, p.Score, p.Via.String(), from, thing))
	}
	if params == policy.TypeV3 {
		list := []any{}
		for _, at := range settings {
			s := w.setting(at)
			list = append(list, []any{s.After, string(s.Policy.ID()), s.Policy.Hash().String()})
		}
		return canonical(t, object{"admissions": rows, "as_of": asOf, "standings": list, "type": "admissions"})
	}
	if marked {
		return canonical(t, object{"admissions": rows, "as_of": asOf, "type": "admissions"})
	}
	return canonical(t, object{"admissions": rows, "type": "admissions"})
}

func slowRoot(leaves []string) [32]byte {
	if len(leaves) == 1 {
		return sha256.Sum256([]byte("\x00" + leaves[0]))
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := slowRoot(leaves[:k]), slowRoot(leaves[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

// slowOrder is section 7 of GKP/1: the earliest turn whose parents are placed.
func slowOrder(turns []*dag.Turn, edges []dag.Edge) []dag.TurnID {
	placed := map[dag.TurnID]bool{}
	var order []dag.TurnID
	for range turns {
		var best *dag.Turn
		for _, t := range turns {
			waits := slices.ContainsFunc(edges, func(e dag.Edge) bool { return e.Child == t.ID && !placed[e.Parent] })
			if placed[t.ID] || waits {
				continue
			}
			if best == nil || t.CreatedAt < best.CreatedAt || t.CreatedAt == best.CreatedAt && t.ID.Compare(best.ID) < 0 {
				best = t
			}
		}
		placed[best.ID] = true
		order = append(order, best.ID)
	}
	return order
}

// slowBundle makes a bundle from GKP/1 alone, except for its token. It returns the
// provenance too.
func slowBundle(t fataler, w *world, anchor dag.TurnID, p policy.Registered, seal slice.Seal, redacted []dag.TurnID) (string, object) {
	params, _ := p.Slice()
	asOf := len(w.turns)
	marked, counted := params.Type() != policy.Type, params.Type() == policy.TypeV3
	schema := map[string]string{policy.Type: "gkp/1", policy.TypeV2: "gkp/2", policy.TypeV3: "gkp/3"}[params.Type()]
	picks, _, _ := slowSelect(w, anchor, params)
	slices.SortFunc(picks, func(a, b slowPick) int { return a.ID.Compare(b.ID) })
	counts, settings := w.slowCounts(), w.slowSettings(picks)
	chosen := map[dag.TurnID]bool{}
	var turns []*dag.Turn
	var leaves []string
	var ids, order, rows, edgeRows []any
	for _, pick := range picks {
		chosen[pick.ID] = true
		at := w.find(pick.ID)
		turn, body := &w.turns[at], &w.bodies[at]
		turns = append(turns, turn)
		ids = append(ids, pick.ID.String())
		leaves = append(leaves, slowTurnLeaf(t, turn))
		admission := object{"distance": pick.Distance, "score_nano": pick.Score, "via": pick.Via.String()}
		if pick.Via != slice.ViaAnchor {
			admission["from"] = pick.From.String()
		}
		if marked {
			m := &w.marks[at]
			admission["number"], admission["voice"], admission["cost"], admission["things"] = at+1, m.Voice.String(), m.Cost, slowThings(m)
			if pick.Via == slice.ViaTouch {
				admission["thing"] = pick.Thing.String()
			}
			if c := counts[pick.ID]; counted {
				admission["standing"], admission["rule"], admission["setting"] = c.Standing.String(), c.Rule, slices.Index(settings, c.at)
			}
		}
		row := object{
			"id": turn.ID.String(), "conversation": turn.Conversation.String(), "role": turn.Role.String(), "phase": turn.Phase.String(),
			"salience": json.Number(turn.Salience.String()), "created_at": turn.CreatedAt.String(), "body_digest": turn.BodyDigest.String(), "admission": admission,
		}
		if slices.Contains(redacted, turn.ID) {
			row["redacted"] = true
		} else {
			attrs := body.Attrs
			if attrs == nil {
				attrs = map[string]string{}
			}
			row["author"], row["content"], row["attrs"], row["salt"] = body.Author, body.Content, attrs, body.Salt.String()
		}
		rows = append(rows, row)
	}
	edges := slices.DeleteFunc(slices.Clone(w.edges), func(e dag.Edge) bool { return !chosen[e.Parent] || !chosen[e.Child] })
	slices.SortFunc(edges, func(a, b dag.Edge) int {
		if c := a.Parent.Compare(b.Parent); c != 0 {
			return c
		}
		return a.Child.Compare(b.Child)
	})
	edgeIDs := []any{}
	edgeRows = []any{}
	for _, e := range edges {
		leaves = append(leaves, slowEdgeLeaf(t, e))
		edgeIDs = append(edgeIDs, []any{e.Parent.String(), e.Child.String(), e.Kind.String()})
		edgeRows = append(edgeRows, object{"parent": e.Parent.String(), "child": e.Child.String(), "kind": e.Kind.String()})
	}
	leaves = append(leaves, slowAdmissionsLeaf(t, w, params.Type(), asOf, picks))
	for _, id := range slowOrder(turns, edges) {
		order = append(order, id.String())
	}
	root := slowRoot(leaves)
	name := canonical(t, object{
		"anchor": anchor.String(), "edges": edgeIDs, "policy_id": string(p.ID()), "policy_params_hash": p.Hash().String(), "schema_version": schema, "turns": ids,
	})
	provenance := object{
		"slice_id": fmt.Sprintf("%016x", xxhash.Sum64String(name)), "anchor_turn_id": anchor.String(), "policy_id": string(p.ID()),
		"policy_params_hash": p.Hash().String(), "graph_snapshot_hash": hex.EncodeToString(root[:]), "schema_version": schema,
	}
	wire := canon.NewWriter(nil)
	params.AppendWire(wire)
	bundle := object{
		"anchor": anchor.String(), "as_of": asOf, "provenance": provenance, "key_id": seal.KeyID, "token": seal.Token, "tenant": string(seal.Tenant),
		"policy": json.RawMessage(wire.Bytes), "turns": rows, "edges": edgeRows, "order": order,
	}
	if counted {
		list := []any{}
		for _, at := range settings {
			s := w.setting(at)
			list = append(list, object{"after": s.After, "policy_id": string(s.Policy.ID()), "policy_params_hash": s.Policy.Hash().String()})
		}
		bundle["standings"] = list
	}
	return canonical(t, bundle), provenance
}

// TestBundleAgainstReference cuts random graphs and compares each bundle, byte
// for byte, with one that was put together from GKP/1 alone; then reads it back.
func TestBundleAgainstReference(t *testing.T) {
	a := authority(t)
	withEdges, withRedacted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		anchor := w.turns[rapid.IntRange(0, len(w.turns)-1).Draw(t, "anchor")].ID
		params := drawEither(t, w, w.find(anchor), 40) // the reference is slow
		p := bind(t, "p@1", params)
		var redacted []dag.TurnID
		for i := range w.turns {
			if rapid.IntRange(0, 5).Draw(t, "redacted") == 0 {
				redacted = append(redacted, w.turns[i].ID)
			}
		}
		s, got := w.bundle(t, anchor, p, a, redacted...)
		seal, err := a.Seal(dag.DefaultTenant, s)
		if err != nil {
			t.Fatal(err)
		}
		want, provenance := slowBundle(t, w, anchor, p, seal, redacted)
		if d := slice.Differ([]byte(want), got); d != nil {
			t.Fatalf("differs: %+v", d)
		}
		text, err := s.Provenance.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		fields := []string{}
		for _, f := range []string{"slice_id", "anchor_turn_id", "policy_id", "policy_params_hash", "graph_snapshot_hash", "schema_version"} {
			fields = append(fields, provenance[f].(string))
		}
		if want := strings.Join(fields, "|") + "|admissibility_token_v2_hmac"; text != want {
			t.Fatalf("token text: got %s, want %s", text, want)
		}
		checkCut(t, w, s, params)
		checkParsed(t, w, got, s, redacted)
		if len(s.Edges) > 1 {
			withEdges++
		}
		if b, _ := slice.ParseBundle(got); len(b.Redacted()) > 0 {
			withRedacted++
		}
	})
	if !testing.Short() && (withEdges == 0 || withRedacted == 0) { // the short form draws too few for all of them
		t.Errorf("%d bundles with edges, %d with redacted turns", withEdges, withRedacted)
	}
}
