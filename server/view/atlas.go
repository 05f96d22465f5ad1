package view

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

// Lengths of the lists of an atlas.
const (
	atlasList    = 20 // where nobody asks for another
	atlasMembers = 20 // of a community
)

// gathered asks for the graph, and says what it is of.
func gathered(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.AtlasView) (*kernel.AtlasView, api.AtlasOf, error) {
	v, err := k.Atlas().View(ctx, tenant, dag.Seq(in.AsOf), in.Issued)
	if err != nil {
		return nil, api.AtlasOf{}, err
	}
	of := api.AtlasOf{AsOf: uint64(v.AsOf), Issued: v.Issued, Unknown: v.Older}
	for i := range v.Handed {
		if v.Handed[i].Record.OfContext() {
			of.Handed++
		} else {
			of.Slices++
		}
	}
	return v, of, nil
}

func shares(list []atlas.Count) []api.NameShare {
	w := make([]api.NameShare, len(list))
	for i, c := range list {
		w[i] = api.NameShare{Name: c.Name, Count: c.N}
	}
	return w
}

func atlasSnapshot(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.AtlasView) (api.Snapshot, error) {
	v, of, err := gathered(ctx, k, tenant, in)
	if err != nil {
		return api.Snapshot{}, err
	}
	authors, err := k.Atlas().Authors(ctx, tenant, v.AsOf)
	if err != nil {
		return api.Snapshot{}, err
	}
	s := v.Graph.Snapshot(v.AsOf)
	w := api.Snapshot{
		AtlasOf: of, Turns: s.Turns, Edges: s.Edges, Conversations: s.Conversations, Roots: s.Roots, Leaves: s.Leaves, Branches: s.Branches, Merges: s.Merges, Depth: s.Depth,
		Depths: shares(s.Depths), Kinds: shares(s.Kinds), Roles: shares(s.Roles), Phases: shares(s.Phases), Largest: shares(s.Largest), Authors: []api.NameShare{}, Growth: []api.GrowthStep{},
	}
	for _, c := range counts(authors)[:min(len(authors), atlasList)] {
		w.Authors = append(w.Authors, api.NameShare{Name: c.Name, Count: c.Facts})
	}
	for _, g := range s.Growth {
		w.Growth = append(w.Growth, api.GrowthStep{Upto: uint64(g.Upto), Turns: g.Turns, Conversations: g.Conversations})
	}
	return w, nil
}

func atlasOverlap(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.AtlasQuery) (api.Overlap, error) {
	v, of, err := gathered(ctx, k, tenant, in.AtlasView)
	if err != nil {
		return api.Overlap{}, err
	}
	pairs, sampled, err := atlas.Overlaps(ctx, v.Sets, cmp.Or(in.Limit, atlasList), k.Atlas().Workers())
	if err != nil {
		return api.Overlap{}, err
	}
	w := api.Overlap{AtlasOf: of, Sampled: sampled, Pairs: []api.OverlapPair{}}
	for _, p := range pairs {
		w.Pairs = append(w.Pairs, api.OverlapPair{
			A: string(v.Handed[p.A].Record.Provenance.SliceID), B: string(v.Handed[p.B].Record.Provenance.SliceID), Shared: int(p.Shared), Jaccard: p.Jaccard,
		})
	}
	return w, nil
}

func atlasInfluence(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.InfluenceQuery) (api.Influence, error) {
	v, of, err := gathered(ctx, k, tenant, in.AtlasView)
	if err != nil {
		return api.Influence{}, err
	}
	only := int32(-1)
	if in.Turn != nil {
		n, found := v.Graph.Number(*in.Turn)
		if !found {
			return api.Influence{}, &api.Fault{Code: api.CodeNotFound, Err: fmt.Errorf("turn %s: %w", in.Turn, store.ErrNotFound)}
		}
		only = n
	}
	list := make([]api.InfluencedTurn, len(v.Graph.Turns))
	for i := range v.Handed {
		h := &v.Handed[i]
		for _, m := range h.Members {
			n, found := v.Graph.Number(m.Turn)
			if !found {
				continue
			}
			list[n].Weight += m.Score
			if h.Record.OfContext() {
				list[n].Contexts++
			} else {
				list[n].Slices++
			}
		}
	}
	ranks, err := v.Graph.PageRank(ctx)
	if err != nil {
		return api.Influence{}, err
	}
	between, sampled, err := v.Graph.Betweenness(ctx, k.Atlas().Workers())
	if err != nil {
		return api.Influence{}, err
	}
	cuts := v.Graph.Cuts()
	for i := range list {
		t := &list[i]
		t.Turn, t.Weight, t.Degree = v.Graph.Turns[i].ID.String(), t.Weight/1000, v.Graph.Degree(int32(i))
		t.Rank, t.Betweenness = parts(ranks[i], 1_000_000_000_000, 50), parts(between[i], 1000, 20)
	}
	for _, n := range cuts.Turns {
		list[n].Cut = true
	}
	w := api.Influence{AtlasOf: of, Sampled: sampled, Cuts: len(cuts.Turns), Bridges: len(cuts.Bridges), Turns: []api.InfluencedTurn{}}
	if only >= 0 {
		w.Turns = append(w.Turns, list[only])
		return w, nil
	}
	by := map[string]func(*api.InfluencedTurn) uint64{
		"":            func(t *api.InfluencedTurn) uint64 { return t.Weight },
		"rank":        func(t *api.InfluencedTurn) uint64 { return t.Rank },
		"betweenness": func(t *api.InfluencedTurn) uint64 { return t.Betweenness },
	}
	rate := by[in.By]
	if rate == nil {
		rate = by[""]
	}
	slices.SortStableFunc(list, func(a, b api.InfluencedTurn) int { return cmp.Compare(rate(&b), rate(&a)) }) // then by id
	w.Turns = append(w.Turns, list[:min(len(list), cmp.Or(in.Limit, atlasList))]...)
	return w, nil
}

// parts is a number of parts of 2^shift in another unit.
func parts(n, unit uint64, shift uint) uint64 {
	hi, lo := bits.Mul64(n, unit)
	return hi<<(64-shift) | lo>>shift
}

func atlasCommunities(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.CommunityQuery) (api.Communities, error) {
	v, of, err := gathered(ctx, k, tenant, in.AtlasView)
	if err != nil {
		return api.Communities{}, err
	}
	name := func(n int32) string { return v.Graph.Turns[n].ID.String() }
	degree := v.Graph.Degree
	var c atlas.Communities
	if in.Of == "facts" {
		names, edges, err := believed(ctx, k, tenant, v.AsOf)
		if err != nil {
			return api.Communities{}, err
		}
		if c, err = atlas.Parted(ctx, len(names), edges); err != nil {
			return api.Communities{}, err
		}
		ends := make([]int, len(names))
		for _, e := range edges {
			ends[e[0]]++
			ends[e[1]]++
		}
		name, degree = func(n int32) string { return names[n] }, func(n int32) int { return ends[n] }
	} else if c, err = v.Graph.Communities(ctx); err != nil {
		return api.Communities{}, err
	}
	w := api.Communities{AtlasOf: of, Total: len(c.List), Modularity: c.Modularity, List: []api.Community{}}
	for _, members := range c.List[:min(len(c.List), cmp.Or(in.Limit, atlasList))] {
		one := api.Community{Size: len(members)}
		central := members[0]
		for i, n := range members {
			if i < atlasMembers {
				one.Members = append(one.Members, name(n))
			}
			if degree(n) > degree(central) {
				central = n
			}
		}
		one.Central = name(central)
		w.List = append(w.List, one)
	}
	return w, nil
}

// believed returns the names of the facts that are believed as of a number, ascending, and an edge for each fact.
func believed(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, asOf dag.Seq) (names []string, edges [][2]int32, err error) {
	aliases, err := k.Facts().Aliases(ctx, tenant, asOf)
	if err != nil {
		return nil, nil, err
	}
	var facts [][2]string
	for after := dag.Seq(0); after < asOf; {
		list, err := k.Facts().Acts(ctx, tenant, after, statsPage)
		if err != nil {
			return nil, nil, err
		}
		for i := range list {
			if f, ok := list[i].Version(); ok && f.Seen(asOf) {
				facts = append(facts, [2]string{aliases.Resolve(f.Subject), aliases.Resolve(f.Object)})
			}
		}
		if len(list) < statsPage {
			break
		}
		after = list[len(list)-1].Seq
	}
	for _, f := range facts {
		names = append(names, f[0], f[1])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, f := range facts {
		a, _ := slices.BinarySearch(names, f[0])
		b, _ := slices.BinarySearch(names, f[1])
		edges = append(edges, [2]int32{int32(a), int32(b)})
	}
	return names, edges, nil
}

// atlasManifest writes the whole atlas as one document, and has it signed.
func atlasManifest(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.AtlasView) (w api.Manifest, err error) {
	v, _, err := gathered(ctx, k, tenant, in)
	if err != nil {
		return w, err
	}
	in = api.AtlasView{AsOf: uint64(v.AsOf), Issued: v.Issued}
	document := map[string]any{"form": "gka/1", "tenant": tenant}
	for name, part := range map[string]func() (any, error){
		"snapshot": func() (any, error) { return atlasSnapshot(ctx, k, tenant, in) },
		"overlap":  func() (any, error) { return atlasOverlap(ctx, k, tenant, api.AtlasQuery{AtlasView: in}) },
		"influence": func() (any, error) {
			return atlasInfluence(ctx, k, tenant, api.InfluenceQuery{AtlasQuery: api.AtlasQuery{AtlasView: in}})
		},
		"turns": func() (any, error) {
			return atlasCommunities(ctx, k, tenant, api.CommunityQuery{AtlasQuery: api.AtlasQuery{AtlasView: in}})
		},
		"facts": func() (any, error) {
			return atlasCommunities(ctx, k, tenant, api.CommunityQuery{AtlasQuery: api.AtlasQuery{AtlasView: in}, Of: "facts"})
		},
	} {
		if document[name], err = part(); err != nil {
			return w, err
		}
	}
	if w.Document, err = canonical(document); err != nil {
		return w, err
	}
	sum := sha256.Sum256(w.Document)
	w.SHA256 = hex.EncodeToString(sum[:])
	statement, err := canonical(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://github.com/graphkernel/graphkernel/attestation/atlas/v1",
		"predicate": map[string]any{"as_of": in.AsOf, "issued": in.Issued, "tenant": tenant},
		"subject":   []any{map[string]any{"name": "atlas-" + strconv.FormatUint(in.AsOf, 10) + ".json", "digest": map[string]string{"sha256": w.SHA256}}},
	})
	if err != nil {
		return w, err
	}
	if w.Envelope, err = k.Atlas().Sign(tenant, statement); errors.Is(err, identity.ErrNone) {
		return w, nil
	}
	return w, err
}

// canonical writes a value as canonical JSON.
func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	sorted := json.NewDecoder(bytes.NewReader(text))
	sorted.UseNumber()
	var plain any
	if err := sorted.Decode(&plain); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(plain); err != nil { // by ascending keys
		return nil, err
	}
	parsed, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}
	return canon.AppendValue(nil, parsed), nil
}

func blame(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.BlameQuery) (w api.Blame, err error) {
	id := policy.ID(in.Policy)
	if id == "" {
		id = policy.DefaultID
	}
	b, err := k.Atlas().Blame(ctx, tenant, in.ID, id)
	if err != nil {
		return w, err
	}
	w = api.Blame{Turn: b.Turn.String(), For: records(b.For), InAll: texts(b.InAll), Policy: string(id), Selected: len(b.Slice.Turns), Pivots: []api.Pivot{}, Minimal: texts(b.Minimal), Tried: b.Tried}
	for _, p := range b.Pivots {
		w.Pivots = append(w.Pivots, api.Pivot{Turn: p.Turn.String(), Dropped: p.Dropped, Added: p.Added})
	}
	return w, nil
}
