package retrieval

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/bm25"
	"github.com/graphkernel/graphkernel/retrieval/embed"
)

// PolicyType is the value of the member type in canonical forms.
const PolicyType = "retrieval_policy_v1"

// The ids of the policies that every tenant begins with.
const (
	PolicyID      policy.ID = "recall@1"       // DefaultPolicy
	DensePolicyID policy.ID = "recall-dense@1" // DensePolicy
	FindV1ID      policy.ID = "find@1"         // FindV1
	FindPolicyID  policy.ID = "find@2"         // FindPolicy; the policy of searches that name none
)

// A Policy holds the parameters of a search. Its zero value is not valid; start from DefaultPolicy. It is
// comparable, like the parameters of every policy.
type Policy struct {
	Analyzer     string // see package analysis
	MaxHits      int
	Words        Channel
	Reach        int // number of neighbours on either side that count as part of a turn
	Conversation Channel
	Dates        Channel
	When         dag.PPM // gain of a turn that contains an expression of time, if the query asks when
	Author       dag.PPM // gain, as a share of its score, of a turn whose author is the only one that the query names
	Dense        Dense
	Fusion       Fusion
	Rerank       Rerank

	People     bool    // only turns of persons have neighbours, and only turns of persons are neighbours
	NamesByUse bool    // a word of the query names an author only if it is used as a name more than as a word, see Index.SearchWith
	NearTerms  bool    // a term of the query that no turn has counts as a term that differs by one letter
	Floor      dag.PPM // the least support of a hit in a view of many turns, see Index.SearchWith; 0: every turn with a score is a hit
}

// A Channel has the parameters of BM25 over some terms. Weight is the score of the turn that is best by these terms.
type Channel struct{ Weight, K1, B dag.PPM }

func (c *Channel) params() bm25.Params { return bm25.Params{K1: c.K1, B: c.B} }

// neighbours returns the parameters of BM25 over the words of turns with their neighbours.
func (p *Policy) neighbours() bm25.Params {
	return bm25.Params{K1: p.Words.K1, B: p.Words.B, Reach: p.Reach, People: p.People}
}

// DefaultPolicy returns the parameters of the policy recall@1. docs/retrieval.md says how much each
// contributes.
func DefaultPolicy() Policy {
	return Policy{
		Analyzer:     analysis.English.String(),
		MaxHits:      1000,
		Words:        Channel{1_000_000, 900_000, 400_000},
		Reach:        3,
		Conversation: Channel{100_000, 1_200_000, 750_000},
		Dates:        Channel{300_000, 900_000, 0},
		When:         200_000,
		Author:       500_000,
		Dense:        Dense{Embedder: NoEmbedder},
		Fusion:       Fusion{Method: FusionSum},
		Rerank:       Rerank{Method: RerankNone, HalfLife: 720},
	}
}

// DensePolicy returns the parameters of the policy recall-dense@1: recall@1 with the vectors of the built-in table, and a higher penalty
// for long turns. Its scores are sums, so contexts can use it.
func DensePolicy() Policy {
	p := DefaultPolicy()
	p.Words.B = 750_000
	p.Dense = Dense{Embedder: embed.StaticID, Weight: 250_000}
	return p
}

// FindPolicy returns the parameters of the policy find@2, the search for people, programs and agents: recall@1 with vectors and more neighbours, of which
// calls and results of an agent have none. It finds nothing where nothing supports a hit. Its scores are sums, so contexts can use it.
func FindPolicy() Policy {
	p := DefaultPolicy()
	p.Words.K1, p.Words.B = 800_000, 450_000
	p.Dense = Dense{Embedder: embed.StaticID, Weight: 450_000}
	p.Reach = 5
	p.People, p.NamesByUse, p.NearTerms, p.Floor = true, true, true, 550_000
	return p
}

// FindV1 returns the parameters of the policy find@1: recall-dense@1 with more
// weight for likeness. A turn next to a better one loses a tenth, so that one place does not fill the list.
func FindV1() Policy {
	p := DensePolicy()
	p.Dense.Weight = 400_000
	p.Rerank.Method, p.Rerank.Weight = RerankSpread, 100_000
	return p
}

// mostWeight, mostK1 and mostFloor bound weights, BM25's k1 and the floor.
const (
	mostWeight = 10 * dag.One
	mostK1     = 10 * dag.One
	mostFloor  = 2 * dag.One // the greatest support
)

func channel(name string, at func(*Policy) *Channel) policy.Field[Policy] {
	return policy.Group(name,
		policy.Fraction("b", dag.One, func(p *Policy) *dag.PPM { return &at(p).B }),
		policy.Fraction("k1", mostK1, func(p *Policy) *dag.PPM { return &at(p).K1 }),
		policy.Fraction("weight", mostWeight, func(p *Policy) *dag.PPM { return &at(p).Weight }),
	)
}

var table = policy.Table[Policy]{
	Type: PolicyType, Default: DefaultPolicy(),
	Fields: []policy.Field[Policy]{
		policy.Word("analyzer", func(p *Policy) *string { return &p.Analyzer }, analysis.Names()...),
		policy.Fraction("author", mostWeight, func(p *Policy) *dag.PPM { return &p.Author }),
		channel("conversation", func(p *Policy) *Channel { return &p.Conversation }),
		channel("dates", func(p *Policy) *Channel { return &p.Dates }),
		policy.Group("dense",
			policy.Text("embedder", func(p *Policy) *string { return &p.Dense.Embedder }, checkEmbedder),
			policy.Fraction("weight", mostWeight, func(p *Policy) *dag.PPM { return &p.Dense.Weight }),
		),
		policy.Optional(policy.Fraction("floor", mostFloor, func(p *Policy) *dag.PPM { return &p.Floor }), func(p *Policy) bool { return p.Floor == 0 }),
		policy.Group("fusion",
			policy.Fraction("interleave_below", dag.One, func(p *Policy) *dag.PPM { return &p.Fusion.InterleaveBelow }),
			policy.Word("method", func(p *Policy) *string { return &p.Fusion.Method }, fusions...),
		),
		policy.Int("max_hits", 1, LimitHits, func(p *Policy) *int { return &p.MaxHits }),
		policy.Optional(policy.Switch("names_by_use", func(p *Policy) *bool { return &p.NamesByUse }), func(p *Policy) bool { return !p.NamesByUse }),
		policy.Optional(policy.Switch("near_terms", func(p *Policy) *bool { return &p.NearTerms }), func(p *Policy) bool { return !p.NearTerms }),
		policy.Optional(policy.Switch("people", func(p *Policy) *bool { return &p.People }), func(p *Policy) bool { return !p.People }),
		policy.Int("reach", 0, bm25.MaxReach, func(p *Policy) *int { return &p.Reach }),
		policy.Group("rerank",
			policy.Int("half_life_hours", 1, limitHalfLife, func(p *Policy) *int { return &p.Rerank.HalfLife }),
			policy.Word("method", func(p *Policy) *string { return &p.Rerank.Method }, rerankers...),
			policy.Optional(policy.Text("model", func(p *Policy) *string { return &p.Rerank.Model }, checkReranker), func(p *Policy) bool { return p.Rerank.Model == "" }),
			policy.Fraction("weight", dag.One, func(p *Policy) *dag.PPM { return &p.Rerank.Weight }),
		),
		policy.Fraction("when", mostWeight, func(p *Policy) *dag.PPM { return &p.When }),
		channel("words", func(p *Policy) *Channel { return &p.Words }),
	},
	Further: apart,
}

// LimitHits bounds the hits of a search.
const LimitHits = 10_000

// Type returns PolicyType.
func (Policy) Type() string { return PolicyType }

// Check reports the first parameter that is out of range.
func (p Policy) Check() error { return table.Check(p) }

// Canonical returns the canonical form, from which Hash is computed.
func (p Policy) Canonical() []byte { return table.Canonical(p) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return table.Hash(p) }

// AppendWire writes the parameters as bundles and people write them, with decimals.
func (p Policy) AppendWire(w *canon.Writer) { table.AppendWire(w, p) }

// PolicyShapes describes the parameters.
func PolicyShapes() []policy.Shape { return table.Shapes() }

// PolicyForm reads policies for retrieval.
var PolicyForm = policy.Form{Type: PolicyType, Read: func(c *canon.Cursor, n policy.Notation) policy.Parameters { return table.Read(c, n) }}

// PolicyOf returns the parameters of a registered policy for retrieval. The error is
// policy.ErrMismatch if the policy is of another type.
func PolicyOf(r policy.Registered) (Policy, error) { return policy.ParametersOf[Policy](r, PolicyType) }
