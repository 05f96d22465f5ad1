// Package survey owns the graph of use of a tenant: its turns, and the slices and contexts of them that were handed out.
// It answers the requests of package api about this graph, and caches the graph for the next request.
package survey

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store"
)

// Lengths of the lists of an atlas.
const (
	atlasList    = 20 // default length
	atlasMembers = 20 // members of a community
)

// A Kernel is the part of the kernel that a survey needs. Errors are the kernel's.
type Kernel interface {
	// Surveying calls fn with the cache of the store's present epoch, and again if the epoch ends meanwhile.
	Surveying(fn func(*Kept) error) error
	// Turn reads a turn.
	Turn(ctx context.Context, tenant dag.Tenant, id dag.TurnID) (store.Record, error)
	// Handed reads the record of a slice or context that was handed out, by the record's number.
	Handed(ctx context.Context, tenant dag.Tenant, number uint64) (api.Issued, error)
	// Parameters returns the parameters of a slice policy.
	Parameters(ctx context.Context, tenant dag.Tenant, id policy.ID) (policy.SlicePolicy, error)
	// Choice returns what a policy selects around an anchor as of a number. Nothing is signed or recorded.
	Choice(ctx context.Context, tenant dag.Tenant, anchor dag.TurnID, id policy.ID, asOf dag.Seq) (*slice.Slice, error)
	// Course returns the settings of the standing policy, up to a number at least.
	Course(ctx context.Context, tenant dag.Tenant, atLeast dag.Seq) (standing.Course, error)
	// Segment reads conversations.
	Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error)
	// Compute calls a function that only computes, when a processor is free for it.
	Compute(ctx context.Context, fn func() error) error
	// Seal signs the statement that the function returns for the signing origin. Without an identity the error is identity.ErrNone.
	Seal(ctx context.Context, tenant dag.Tenant, statement func(origin string) []byte) ([]byte, error)
}

// An Epoch reads the store within one epoch. A read that may be of another epoch fails.
type Epoch interface {
	// Head returns the newest number, and UpTo the number that asOf means for that head.
	Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error)
	UpTo(ctx context.Context, tenant dag.Tenant, asOf, head dag.Seq) (dag.Seq, error)
	// Scan calls fn with the turns above a number, ascending.
	Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, fn func(*store.Record) error) error
	// Erasures returns up to limit erasures above a number, ascending.
	Erasures(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]erasures.Erasure, error)
	// Record returns the record of slices and contexts that were handed out.
	Record() issued.Base
	// Selected cuts a recorded slice of turns again.
	Selected(ctx context.Context, tenant dag.Tenant, r *issued.Record) (*slice.Slice, error)
	// Aliases and Acts read facts.
	Aliases(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (*normalize.Table, error)
	Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error)
	// Each calls fn with the numbers from 0 to n-1, as many at once as slices may be cut at once, and returns the errors.
	Each(ctx context.Context, n int, fn func(i int) error) error
}

// An Atlas answers requests about the graph.
type Atlas struct{ Kernel Kernel }

// View returns the graph as of a number, with the records up to a number; 0 means the present of either. It extends the cached graph,
// so only the first call costs a pass over all turns and a cut for each of up to 10 000 slices. A few views are cached with their computed values.
func (a Atlas) View(ctx context.Context, tenant dag.Tenant, asOf dag.Seq, upto uint64) (v *View, err error) {
	err = a.Kernel.Surveying(func(kept *Kept) error {
		g := kept.of(tenant)
		return g.reading.Pass(ctx, func() (err error) {
			v, err = g.view(ctx, tenant, asOf, upto)
			return err
		})
	})
	return v, err
}

// view returns the view of a request, and its description for the answer.
func (a Atlas) view(ctx context.Context, tenant dag.Tenant, in api.AtlasView) (*View, api.AtlasOf, error) {
	v, err := a.View(ctx, tenant, in.AsOf, in.Issued)
	if err != nil {
		return nil, api.AtlasOf{}, err
	}
	of := api.AtlasOf{AsOf: v.AsOf, Issued: v.Issued, Unknown: v.Older}
	for i := range v.Handed {
		if v.Handed[i].Context {
			of.Handed++
		} else {
			of.Slices++
		}
	}
	return v, of, nil
}

// Snapshot counts the graph.
func (a Atlas) Snapshot(ctx context.Context, tenant dag.Tenant, in api.AtlasView) (api.Snapshot, error) {
	v, of, err := a.view(ctx, tenant, in)
	if err != nil {
		return api.Snapshot{}, err
	}
	authors, err := v.Authors(ctx)
	if err != nil {
		return api.Snapshot{}, err
	}
	s, err := v.Snapshot(ctx)
	if err != nil {
		return api.Snapshot{}, err
	}
	w := api.Snapshot{
		AtlasOf: of, Turns: s.Turns, Edges: s.Edges, Conversations: s.Conversations, Roots: s.Roots, Leaves: s.Leaves, Branches: s.Branches, Merges: s.Merges, Depth: s.Depth,
		Depths: shares(s.Depths), Kinds: shares(s.Kinds), Roles: shares(s.Roles), Phases: shares(s.Phases), Largest: shares(s.Largest), Authors: firstShares(authors.All), Growth: []api.GrowthStep{},
	}
	for i, g := range s.Growth {
		w.Growth = append(w.Growth, api.GrowthStep{
			Upto: g.Upto, Turns: g.Turns, Conversations: g.Conversations, Roles: shares(g.Roles), Phases: shares(g.Phases), Authors: firstShares(authors.Growth[i]),
		})
	}
	return w, nil
}

func shares(list []atlas.Count) []api.NameShare {
	w := make([]api.NameShare, len(list))
	for i, c := range list {
		w[i] = api.NameShare{Name: c.Name, Count: c.N}
	}
	return w
}

// firstShares is like shares, limited to atlasList counts.
func firstShares(list []atlas.Count) []api.NameShare { return shares(list[:min(len(list), atlasList)]) }

// Overlap lists the pairs of slices and contexts that share most.
func (a Atlas) Overlap(ctx context.Context, tenant dag.Tenant, in api.AtlasQuery) (api.Overlap, error) {
	v, of, err := a.view(ctx, tenant, in.AtlasView)
	if err != nil {
		return api.Overlap{}, err
	}
	pairs, sampled, err := v.Overlaps(ctx, cmp.Or(in.Limit, atlasList))
	if err != nil {
		return api.Overlap{}, err
	}
	w := api.Overlap{AtlasOf: of, Sampled: sampled, Pairs: []api.OverlapPair{}}
	for _, p := range pairs {
		w.Pairs = append(w.Pairs, api.OverlapPair{
			A: v.Handed[p.A].Slice, B: v.Handed[p.B].Slice, Shared: int(p.Shared), Jaccard: p.Jaccard,
		})
	}
	return w, nil
}

// Influence returns how turns were used, and where they are in the graph.
func (a Atlas) Influence(ctx context.Context, tenant dag.Tenant, in api.InfluenceQuery) (api.Influence, error) {
	v, of, err := a.view(ctx, tenant, in.AtlasView)
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
	f, err := v.Influence(ctx)
	if err != nil {
		return api.Influence{}, err
	}
	w := api.Influence{AtlasOf: of, Sampled: f.Sampled, Cuts: len(f.Cuts.Turns), Bridges: len(f.Cuts.Bridges), Turns: []api.InfluencedTurn{}}
	first := []int32{only}
	if only < 0 {
		first = most(len(v.Graph.Turns), cmp.Or(in.Limit, atlasList), map[string]func(n int32) uint64{
			"rank":        func(n int32) uint64 { return f.Ranks[n] },
			"betweenness": func(n int32) uint64 { return f.Between[n] },
			"weight":      func(n int32) uint64 { return f.Uses[n].Weight },
		}[cmp.Or(in.By, "weight")])
	}
	for _, n := range first {
		use := f.Uses[n]
		_, cut := slices.BinarySearch(f.Cuts.Turns, n)
		w.Turns = append(w.Turns, api.InfluencedTurn{
			Turn: v.Graph.Turns[n].ID, Slices: int(use.Slices), Contexts: int(use.Contexts), Weight: use.Weight / 1000, Degree: v.Graph.Degree(n),
			Rank: parts(f.Ranks[n], 1_000_000_000_000, 50), Betweenness: parts(f.Between[n], 1000, 20), Cut: cut,
		})
	}
	return w, nil
}

// most returns the first limit numbers below n, by descending rate and then by ascending number.
func most(n, limit int, rate func(n int32) uint64) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(rate(b), rate(a)) })
	return list[:min(n, limit)]
}

// parts converts a number of parts of 2^shift into another unit.
func parts(n, unit uint64, shift uint) uint64 {
	hi, lo := bits.Mul64(n, unit)
	return hi<<(64-shift) | lo>>shift
}

// Communities returns the communities of turns, or of names of facts.
func (a Atlas) Communities(ctx context.Context, tenant dag.Tenant, in api.CommunityQuery) (api.Communities, error) {
	v, of, err := a.view(ctx, tenant, in.AtlasView)
	if err != nil {
		return api.Communities{}, err
	}
	name := func(n int32) string { return v.Graph.Turns[n].ID.String() }
	degree := v.Graph.Degree
	var c atlas.Communities
	if in.Of == "facts" {
		f, err := v.FactCommunities(ctx)
		if err != nil {
			return api.Communities{}, err
		}
		c, name, degree = f.Communities, func(n int32) string { return f.Names[n] }, func(n int32) int { return f.Degrees[n] }
	} else if c, err = v.Communities(ctx); err != nil {
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

// Manifest returns the whole atlas as one document. It is signed unless in.Unsigned is set or the kernel has no identity.
func (a Atlas) Manifest(ctx context.Context, tenant dag.Tenant, in api.ManifestQuery) (w api.Manifest, err error) {
	v, _, err := a.view(ctx, tenant, in.AtlasView)
	if err != nil {
		return w, err
	}
	of := api.AtlasView{AsOf: v.AsOf, Issued: v.Issued}
	document := map[string]any{"form": attest.AtlasForm, "tenant": tenant}
	for name, part := range map[string]func() (any, error){
		"snapshot": func() (any, error) { return a.Snapshot(ctx, tenant, of) },
		"overlap":  func() (any, error) { return a.Overlap(ctx, tenant, api.AtlasQuery{AtlasView: of}) },
		"influence": func() (any, error) {
			return a.Influence(ctx, tenant, api.InfluenceQuery{AtlasQuery: api.AtlasQuery{AtlasView: of}})
		},
		"turns": func() (any, error) {
			return a.Communities(ctx, tenant, api.CommunityQuery{AtlasQuery: api.AtlasQuery{AtlasView: of}})
		},
		"facts": func() (any, error) {
			return a.Communities(ctx, tenant, api.CommunityQuery{AtlasQuery: api.AtlasQuery{AtlasView: of}, Of: "facts"})
		},
	} {
		if document[name], err = part(); err != nil {
			return w, err
		}
	}
	if w.Document, err = canonical(document); err != nil {
		return w, err
	}
	w.SHA256 = sha256.Sum256(w.Document)
	if in.Unsigned {
		return w, nil
	}
	w.Envelope, err = a.Kernel.Seal(ctx, tenant, func(origin string) []byte {
		return (&attest.AtlasStatement{Tenant: tenant, AsOf: v.AsOf, Issued: v.Issued, Origin: origin, Subject: w.SHA256}).Append(nil)
	})
	if errors.Is(err, identity.ErrNone) {
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

// Operations returns the API operations that an Atlas answers.
func (a Atlas) Operations() []api.Answer {
	return []api.Answer{
		api.AtlasSnapshot.By(a.Snapshot), api.AtlasOverlap.By(a.Overlap), api.AtlasInfluence.By(a.Influence), api.AtlasCommunities.By(a.Communities), api.AtlasManifest.By(a.Manifest), api.BlameTurn.By(a.Blame),
	}
}
