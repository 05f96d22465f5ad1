package facts

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
)

// PolicyType is the type name of the policy in canonical forms and bundles of facts.
const PolicyType = "fact_policy_v1"

// PolicyID is the id of DefaultPolicy, which every tenant has from the start.
const PolicyID policy.ID = "facts@1"

// LimitPredicates is the maximum number of predicates in a policy.
const LimitPredicates = 64

// A Policy says which facts may be collected around entities. Its zero value is not valid; start from DefaultPolicy. It
// is comparable, like every policy's parameters.
type Policy struct {
	Predicates    string // the predicates to follow, see Following; "": all
	Direction     knowledge.Direction
	MaxHops       int     // the largest number of edges from a start
	MaxResults    int     // the largest number of entities
	MinConfidence dag.PPM // the lowest confidence of each fact
}

// DefaultPolicy returns the parameters of the policy facts@1: all facts within three hops, up to
// 100 entities.
func DefaultPolicy() Policy {
	return Policy{Direction: knowledge.Both, MaxHops: 3, MaxResults: 100}
}

// Type returns PolicyType.
func (Policy) Type() string { return PolicyType }

// Following returns predicates in the form of Policy.Predicates: ascending, without repetitions, joined by spaces. The
// predicates must be in the form of normalize.Name, which contains no space.
func Following(predicates ...string) string {
	sorted := slices.Clone(predicates)
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), " ")
}

// Follows returns the predicates that the policy follows; none means all.
func (p Policy) Follows() []string {
	if p.Predicates == "" {
		return nil
	}
	return strings.Split(p.Predicates, " ")
}

// Check returns an error for the first parameter that is out of range.
func (p Policy) Check() error {
	follows := p.Follows()
	if len(follows) > LimitPredicates {
		return fmt.Errorf("%w: %d predicates, at most %d", policy.ErrRange, len(follows), LimitPredicates)
	}
	for i, name := range follows {
		if canonical, err := normalize.Name(name); err != nil || canonical != name {
			return fmt.Errorf("%w: predicate %.80q is not a canonical name", policy.ErrRange, name)
		}
		if i > 0 && follows[i-1] >= name {
			return fmt.Errorf("%w: the predicates must ascend, each once, and %.80q does not come after %.80q", policy.ErrRange, name, follows[i-1])
		}
	}
	switch {
	case p.Direction != knowledge.Outgoing && p.Direction != knowledge.Incoming && p.Direction != knowledge.Both:
		return fmt.Errorf("%w: direction is %.40q, want outgoing, incoming or both", policy.ErrRange, p.Direction)
	case p.MaxHops < 1 || p.MaxHops > knowledge.MaxHops:
		return fmt.Errorf("%w: max_hops is %d, want 1 to %d", policy.ErrRange, p.MaxHops, knowledge.MaxHops)
	case p.MaxResults < 1 || p.MaxResults > knowledge.MaxResults:
		return fmt.Errorf("%w: max_results is %d, want 1 to %d", policy.ErrRange, p.MaxResults, knowledge.MaxResults)
	case p.MinConfidence > dag.One:
		return fmt.Errorf("%w: min_confidence is above 1", policy.ErrRange)
	}
	return nil
}

// Canonical returns the canonical form, over which Hash is computed.
func (p Policy) Canonical() []byte {
	w := canon.NewWriter(make([]byte, 0, 160))
	p.write(w, "_ppm", func(f dag.PPM) { w.Uint(uint64(f)) })
	return w.Bytes
}

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return sha256.Sum256(p.Canonical()) }

// AppendWire writes the parameters with decimals, as in bundles and in what people write.
func (p Policy) AppendWire(w *canon.Writer) {
	var digits [8]byte
	p.write(w, "", func(f dag.PPM) { w.Raw(f.AppendDecimal(digits[:0])) })
}

func (p Policy) write(w *canon.Writer, suffix string, fraction func(dag.PPM)) {
	w.BeginObject()
	w.Key("direction")
	w.String(string(p.Direction))
	w.Key("max_hops")
	w.Uint(uint64(p.MaxHops))
	w.Key("max_results")
	w.Uint(uint64(p.MaxResults))
	w.Key("min_confidence" + suffix)
	fraction(p.MinConfidence)
	w.Key("predicates")
	w.BeginArray()
	for _, name := range p.Follows() {
		w.String(name)
	}
	w.EndArray()
	w.Key("type")
	w.String(PolicyType)
	w.EndObject()
}

// ReadPolicy reads parameters in the notation of bundles. An absent parameter has its default, and predicates may have
// any spelling.
func ReadPolicy(c *canon.Cursor) Policy { return readPolicy(c, policy.Wire) }

// PolicyForm is the form of policies for facts.
var PolicyForm = policy.Form{Type: PolicyType, Read: func(c *canon.Cursor, n policy.Notation) policy.Parameters { return readPolicy(c, n) }}

// PolicyOf returns the parameters of a registered policy for facts. The error for a policy of another type is
// policy.ErrMismatch.
func PolicyOf(r policy.Registered) (Policy, error) { return policy.ParametersOf[Policy](r, PolicyType) }

func readPolicy(c *canon.Cursor, n policy.Notation) Policy {
	p := DefaultPolicy()
	if t := c.Field("type"); t.String() != PolicyType && c.Err() == nil {
		t.Fail(fmt.Errorf("%w: %.80q, want %q", policy.ErrType, t.String(), PolicyType))
	}
	if f := c.Optional("direction"); f != nil {
		p.Direction = knowledge.Direction(f.String())
	}
	if f := c.Optional("max_hops"); f != nil {
		p.MaxHops = int(f.Uint(knowledge.MaxHops))
	}
	if f := c.Optional("max_results"); f != nil {
		p.MaxResults = int(f.Uint(knowledge.MaxResults))
	}
	if f := c.Optional("min_confidence" + n.Suffix); f != nil {
		p.MinConfidence = n.Fraction(f)
	}
	if f := c.Optional("predicates"); f != nil {
		var names []string
		for _, name := range f.Items() {
			names = append(names, canon.Parsed(name, normalize.Name))
		}
		p.Predicates = Following(names...)
	}
	c.Close()
	if err := p.Check(); err != nil {
		c.Fail(err)
	}
	return p
}
