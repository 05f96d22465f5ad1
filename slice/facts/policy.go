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

// PolicyType is the type that canonical forms and bundles of facts name.
const PolicyType = "fact_policy_v1"

// PolicyID is the id of the policy that every tenant begins with: DefaultPolicy.
const PolicyID policy.ID = "facts@1"

// LimitPredicates bounds the predicates that a policy names.
const LimitPredicates = 64

// A Policy says which facts may be gathered around entities. Its zero value is not
// valid; start from DefaultPolicy. It is comparable, as every policy's parameters are.
type Policy struct {
	Predicates    string // that are followed, see Following; "": all
	Direction     knowledge.Direction
	MaxHops       int     // edges away from where it starts
	MaxResults    int     // entities
	MinConfidence dag.PPM // of each fact
}

// DefaultPolicy returns the parameters of the policy facts@1: all facts within three hops, up to
// 100 entities.
func DefaultPolicy() Policy {
	return Policy{Direction: knowledge.Both, MaxHops: 3, MaxResults: 100}
}

// Type is PolicyType.
func (Policy) Type() string { return PolicyType }

// Following joins predicates, as Predicates holds them: in the form of normalize.Name, which
// has no space, ascending, each once, with a space between them.
func Following(predicates ...string) string {
	sorted := slices.Clone(predicates)
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), " ")
}

// Follows returns the predicates that are followed, none if all are.
func (p Policy) Follows() []string {
	if p.Predicates == "" {
		return nil
	}
	return strings.Split(p.Predicates, " ")
}

// Check reports the first parameter that is out of range.
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

// Canonical returns the canonical form, which Hash is taken of.
func (p Policy) Canonical() []byte {
	w := canon.NewWriter(make([]byte, 0, 160))
	p.write(w, "_ppm", func(f dag.PPM) { w.Uint(uint64(f)) })
	return w.Bytes
}

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return sha256.Sum256(p.Canonical()) }

// AppendWire writes the parameters as bundles and people do, as decimals.
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

// ReadPolicy reads the parameters as bundles have them: every parameter that is absent has its
// default, and predicates may be spelled in any way.
func ReadPolicy(c *canon.Cursor) Policy { return readPolicy(c, policy.Wire) }

// PolicyForm is how policies for facts are read.
var PolicyForm = policy.Form{Type: PolicyType, Read: func(c *canon.Cursor, n policy.Notation) policy.Parameters { return readPolicy(c, n) }}

// PolicyOf returns the parameters of a registered policy for facts. Of another type, it is
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
