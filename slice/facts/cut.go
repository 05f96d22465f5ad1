package facts

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Query returns the query to package knowledge that answers the question under a policy, as of a number.
func (q *Question) Query(p *Policy, asOf dag.Seq) knowledge.Query {
	return knowledge.Query{
		Filter:    knowledge.Filter{AsOf: asOf, ValidAt: q.ValidAt, Predicates: p.Follows(), MinConfidence: p.MinConfidence},
		Start:     q.Start,
		Direction: p.Direction, MaxHops: p.MaxHops, MaxResults: p.MaxResults,
	}
}

// Known is the data from a store that a slice of facts contains in addition to an answer.
type Known struct {
	Aliases *normalize.Table                // the aliases that the answer used
	Acts    map[dag.Seq]*knowledge.Recorded // the assertions of the answer's edges, by Since
	Leaves  map[dag.TurnID]dag.Digest       // of the turns that the assertions name
}

// Cut makes a slice, not yet sealed, from the answer to q.Query. It returns an error if known lacks anything on which
// the answer rests.
func Cut(q Question, r policy.Registered, asOf dag.Seq, answer *knowledge.Answer, known Known) (*Bundle, error) {
	params, err := PolicyOf(r)
	if err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	b := &Bundle{AsOf: asOf, Policy: params, Question: q, Cut: answer.Cut, Reached: make([]Reached, len(answer.Reached))}
	facts := map[knowledge.ID]*knowledge.Recorded{}
	for i := range answer.Reached {
		from := &answer.Reached[i]
		to := &b.Reached[i]
		*to = Reached{Entity: from.Entity, From: from.From, MinConfidence: from.MinConfidence, Path: make([]Step, len(from.Path))}
		for j, e := range from.Path {
			act := known.Acts[e.Since]
			if act == nil || act.Act.Kind != knowledge.Assert || act.Act.Fact.ID() != e.ID {
				return nil, fmt.Errorf("facts: number %d is not the assertion of statement %s", e.Since, e.ID)
			}
			facts[e.ID] = act
			to.Path[j] = Step{Fact: e.ID, Incoming: e.Incoming, Entity: known.Aliases.Resolve(e.Other())}
		}
	}
	evidence := map[dag.TurnID]bool{}
	for _, r := range facts {
		b.Facts = append(b.Facts, r.Act)
		if turn := r.Act.Fact.Turn; turn != (dag.TurnID{}) {
			evidence[turn] = true
		}
	}
	slices.SortFunc(b.Facts, func(x, y knowledge.Act) int { return compareIDs(x.Fact.ID(), y.Fact.ID()) })
	for turn := range evidence {
		leaf, ok := known.Leaves[turn]
		if !ok {
			return nil, fmt.Errorf("facts: turn %s, the evidence of a fact, is not known", turn)
		}
		b.Evidence = append(b.Evidence, Turn{turn, leaf})
	}
	slices.SortFunc(b.Evidence, func(x, y Turn) int { return x.ID.Compare(y.ID) })
	for name := range b.names() {
		if to := known.Aliases.Resolve(name); to != name {
			b.Aliases = append(b.Aliases, Alias{name, to})
		}
	}
	slices.SortFunc(b.Aliases, func(x, y Alias) int { return strings.Compare(x.Alias, y.Alias) })
	b.Provenance = slice.Provenance{PolicyID: r.ID()}
	b.Provenance = b.fingerprint()
	return b, nil
}

func compareIDs(a, b knowledge.ID) int { return bytes.Compare(a[:], b[:]) }

// names returns every name in the facts and the question. An alias may have replaced any of them.
func (b *Bundle) names() map[string]bool {
	names := make(map[string]bool, len(b.Question.Start)+2*len(b.Facts))
	for _, name := range b.Question.Start {
		names[name] = true
	}
	for i := range b.Facts {
		names[b.Facts[i].Fact.Subject], names[b.Facts[i].Fact.Object] = true, true
	}
	return names
}

// fingerprint computes the six fields of the provenance from the body, except the policy's id, which it copies.
func (b *Bundle) fingerprint() slice.Provenance {
	leaves := make([]dag.Digest, 0, len(b.Facts)+len(b.Evidence)+3)
	for i := range b.Facts {
		leaves = append(leaves, b.Facts[i].Leaf())
	}
	for i := range b.Evidence {
		leaves = append(leaves, evidenceLeaf(&b.Evidence[i]))
	}
	leaves = append(leaves, aliasesLeaf(b.Aliases), sha256.Sum256(b.Question.leaf()), reachedLeaf(b.Cut, b.Reached))
	p := slice.Provenance{
		Anchor:            b.Question.anchor(),
		PolicyID:          b.Provenance.PolicyID,
		PolicyParamsHash:  b.Policy.Hash(),
		GraphSnapshotHash: slice.TreeHash(leaves),
		SchemaVersion:     SchemaVersion,
	}
	p.SliceID = slice.NameOf(&p, map[string][]string{"facts": factIDs(b.Facts)})
	return p
}

func evidenceLeaf(t *Turn) dag.Digest {
	return slice.HashLeaf(func(w *canon.Writer) { t.write(w, "evidence") })
}

func (q *Question) leaf() []byte {
	return slice.LeafBytes(func(w *canon.Writer) { q.write(w, "question") })
}

// anchor returns the anchor of the slices that answer the question.
func (q *Question) anchor() dag.TurnID { return dag.ExternalTurnID("question", string(q.leaf()[1:])) }

func aliasesLeaf(aliases []Alias) dag.Digest {
	return slice.HashLeaf(func(w *canon.Writer) { writeAliasesLeaf(w, aliases) })
}

func reachedLeaf(cut knowledge.Cut, reached []Reached) dag.Digest {
	return slice.HashLeaf(func(w *canon.Writer) { writeReachedLeaf(w, cut, reached) })
}

func writeAliasesLeaf(w *canon.Writer, aliases []Alias) {
	w.BeginObject()
	w.Key("aliases")
	w.BeginArray()
	for _, a := range aliases {
		w.BeginArray()
		w.String(a.Alias)
		w.String(a.Canonical)
		w.EndArray()
	}
	w.EndArray()
	writeType(w, "aliases")
	w.EndObject()
}

func writeReachedLeaf(w *canon.Writer, cut knowledge.Cut, reached []Reached) {
	w.BeginObject()
	if cut != knowledge.Whole {
		w.Key("cut")
		w.String(string(cut))
	}
	w.Key("reached")
	w.BeginArray()
	for i := range reached {
		r := &reached[i]
		w.BeginArray()
		w.String(r.Entity)
		w.String(r.From)
		w.Uint(uint64(r.MinConfidence))
		w.BeginArray()
		for j := range r.Path {
			s := &r.Path[j]
			w.BeginArray()
			w.Hex(s.Fact[:])
			w.Bool(s.Incoming)
			w.String(s.Entity)
			w.EndArray()
		}
		w.EndArray()
		w.EndArray()
	}
	w.EndArray()
	writeType(w, "reached")
	w.EndObject()
}

func factIDs(acts []knowledge.Act) []string {
	ids := make([]string, len(acts))
	for i := range acts {
		ids[i] = acts[i].Fact.ID().String()
	}
	return ids
}
