// Package kinds owns the policy of a space: the constraints on its predicates and the meaning of the kinds of its items. It is a type of
// policy that tenants register. It is pure.
package kinds

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/said"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
)

// Type is the value of the member type in the JSON of a policy.
const Type = "kind_policy_v1"

// ID is the id of the policy of a new space. Its parameters are Default. V1ID is that of the policy without slots.
const (
	ID   policy.ID = "beliefs@2"
	V1ID policy.ID = "beliefs@1"
)

// Bounds of the parameters.
const (
	MaxPredicates = 1024 // functional predicates, and exclusive sets
	MaxObjects    = 256  // in an exclusive set
	MaxKinds      = 256
	MaxLevel      = 9
	MaxDays       = 36_500
)

// A Criterion decides what the second part of an element's rank counts.
type Criterion string

// The criteria.
const (
	ByEvent      Criterion = "event"      // the newest wins: for preferences
	ByEvidence   Criterion = "evidence"   // units of evidence: a person's turn 3, a tool's 2, the agent's own 1
	ByConfidence Criterion = "confidence" // the confidence in millionths: for inferences
)

// A Kind describes the items of a kind.
type Kind struct {
	Name       string
	Level      int       // in promotion: 0 is raw
	Always     bool      // contexts include it whatever they are about
	Hard       bool      // statements by people are entrenched above all else
	Entrenched Criterion // the criterion of its elements
	HalfLife   int       // days in which its confidence halves; 0: it does not decay
	Exports    bool      // it may leave with a persona
}

// Binds reports whether statements by people in items of the kind are constraints, which every context includes.
func (k *Kind) Binds() bool { return k.Hard || k.Always }

// A Policy holds the parameters of a policy of this type. It is comparable.
type Policy struct{ text string } // the canonical form

// usual lists the kinds of the default policy; unlisted is the meaning of a kind that a policy does not list.
var (
	usual = []Kind{
		{Name: "action", Entrenched: ByEvidence},
		{Name: "bundle", Level: 2, Entrenched: ByEvent, Exports: true},
		{Name: "conversation", Entrenched: ByEvent},
		{Name: "decision", Level: 2, Entrenched: ByEvent, Exports: true},
		{Name: "domain", Level: 2, Entrenched: ByEvidence, Exports: true},
		{Name: "episodic", Entrenched: ByEvidence, HalfLife: 30},
		{Name: "error", Level: 1, Entrenched: ByEvidence, Exports: true},
		{Name: "fact", Level: 2, Entrenched: ByEvidence, Exports: true},
		{Name: "hard_rule", Level: 3, Always: true, Hard: true, Entrenched: ByEvent, Exports: true},
		{Name: "instruction", Level: 3, Always: true, Entrenched: ByEvent, Exports: true},
		{Name: "observation", Level: 1, Entrenched: ByEvidence, HalfLife: 180},
		{Name: "person", Level: 2, Entrenched: ByEvidence},
		{Name: "policy", Level: 3, Entrenched: ByEvent, Exports: true},
		{Name: "practice", Level: 2, Entrenched: ByEvidence, Exports: true},
		{Name: "preference", Level: 2, Entrenched: ByEvent, Exports: true},
		{Name: "procedure", Level: 2, Entrenched: ByEvidence, Exports: true},
		{Name: "reference", Level: 2, Entrenched: ByEvidence, Exports: true},
		{Name: "reflection", Level: 1, Entrenched: ByConfidence},
		{Name: "relationship", Level: 2, Entrenched: ByEvidence},
		{Name: "self", Level: 2, Entrenched: ByConfidence},
		{Name: "technology", Level: 2, Entrenched: ByEvidence, Exports: true},
		{Name: "user", Level: 2, Entrenched: ByEvidence},
	}
	unlisted = Kind{Level: 1, Entrenched: ByEvent}
)

// Default returns the parameters of the policy beliefs@2: the usual kinds, and one value for each slot of a text.
func Default() Policy { return New(belief.Constraints{Functional: said.Functional()}, nil) }

// DefaultV1 returns the parameters of the policy beliefs@1: the usual kinds, and no constraints.
func DefaultV1() Policy { return New(belief.Constraints{}, nil) }

// New makes a policy from constraints and kinds. A nil list means the usual kinds. Duplicate constraints count once, and the order does
// not matter.
func New(c belief.Constraints, list []Kind) Policy {
	c.Functional = slices.Clone(c.Functional)
	slices.Sort(c.Functional)
	c.Functional = slices.Compact(c.Functional)
	c.Exclusive = slices.Clone(c.Exclusive)
	for i := range c.Exclusive {
		objects := slices.Clone(c.Exclusive[i].Objects)
		slices.Sort(objects)
		c.Exclusive[i].Objects = slices.Compact(objects)
	}
	slices.SortFunc(c.Exclusive, compareSets)
	c.Exclusive = slices.CompactFunc(c.Exclusive, func(a, b belief.Exclusion) bool { return compareSets(a, b) == 0 })
	if list == nil {
		list = usual
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("exclusive")
	w.BeginArray()
	for _, e := range c.Exclusive {
		w.BeginObject()
		w.Key("objects")
		writeTexts(w, e.Objects)
		w.Key("predicate")
		w.String(e.Predicate)
		w.EndObject()
	}
	w.EndArray()
	w.Key("functional")
	writeTexts(w, c.Functional)
	w.Key("kinds")
	w.BeginArray()
	for _, k := range list {
		k.write(w)
	}
	w.EndArray()
	w.Key("type")
	w.String(Type)
	w.EndObject()
	return Policy{string(w.Bytes)}
}

func compareSets(a, b belief.Exclusion) int {
	if c := strings.Compare(a.Predicate, b.Predicate); c != 0 {
		return c
	}
	return slices.Compare(a.Objects, b.Objects)
}

func writeTexts(w *canon.Writer, list []string) {
	w.BeginArray()
	for _, s := range list {
		w.String(s)
	}
	w.EndArray()
}

func (k *Kind) write(w *canon.Writer) {
	w.BeginObject()
	if k.Always {
		w.Key("always")
		w.Bool(true)
	}
	w.Key("entrenched_by")
	w.String(string(k.Entrenched))
	if k.Exports {
		w.Key("exports")
		w.Bool(true)
	}
	if k.HalfLife > 0 {
		w.Key("half_life_days")
		w.Uint(uint64(k.HalfLife))
	}
	if k.Hard {
		w.Key("hard")
		w.Bool(true)
	}
	w.Key("level")
	w.Uint(uint64(k.Level))
	w.Key("name")
	w.String(k.Name)
	w.EndObject()
}

// Form reads the parameters. Missing members have the default's values, and names may be spelled in any way.
var Form = policy.Form{Type: Type, Read: func(c *canon.Cursor, _ policy.Notation) policy.Parameters {
	t := c.Field("type")
	if t.String() != Type && c.Err() == nil {
		t.Fail(fmt.Errorf("%w: %.80q, want %q", policy.ErrType, t.String(), Type))
	}
	var constraints belief.Constraints
	if f := c.Optional("functional"); f != nil {
		for _, item := range f.Items() {
			constraints.Functional = append(constraints.Functional, name(item))
		}
	}
	if f := c.Optional("exclusive"); f != nil {
		for _, item := range f.Items() {
			e := belief.Exclusion{Predicate: name(item.Field("predicate"))}
			for _, o := range item.Field("objects").Items() {
				e.Objects = append(e.Objects, name(o))
			}
			item.Close()
			constraints.Exclusive = append(constraints.Exclusive, e)
		}
	}
	var list []Kind
	if f := c.Optional("kinds"); f != nil {
		list = []Kind{}
		for _, item := range f.Items() {
			list = append(list, readKind(item))
		}
	}
	c.Close()
	p := New(constraints, list)
	if c.Err() == nil {
		if err := p.Check(); err != nil {
			c.Fail(err)
		}
	}
	return p
}}

func name(c *canon.Cursor) string { return canon.Parsed(c, normalize.Name) }

func readKind(c *canon.Cursor) Kind {
	k := Kind{Name: c.Field("name").String(), Entrenched: unlisted.Entrenched}
	for _, m := range []struct {
		key string
		to  *bool
	}{{"always", &k.Always}, {"hard", &k.Hard}, {"exports", &k.Exports}} {
		if f := c.Optional(m.key); f != nil {
			*m.to = f.Bool()
		}
	}
	if f := c.Optional("entrenched_by"); f != nil {
		k.Entrenched = Criterion(f.String())
	}
	if f := c.Optional("half_life_days"); f != nil {
		k.HalfLife = int(f.Uint(MaxDays))
	}
	if f := c.Optional("level"); f != nil {
		k.Level = int(f.Uint(MaxLevel))
	}
	c.Close()
	return k
}

// read reads the canonical form.
func (p Policy) read() (c belief.Constraints, list []Kind) {
	doc, err := canon.Parse([]byte(p.text))
	if err != nil {
		return c, nil // the zero value
	}
	cursor := canon.Open(doc)
	for _, item := range cursor.Field("functional").Items() {
		c.Functional = append(c.Functional, item.String())
	}
	for _, item := range cursor.Field("exclusive").Items() {
		e := belief.Exclusion{Predicate: item.Field("predicate").String()}
		for _, o := range item.Field("objects").Items() {
			e.Objects = append(e.Objects, o.String())
		}
		c.Exclusive = append(c.Exclusive, e)
	}
	for _, item := range cursor.Field("kinds").Items() {
		list = append(list, readKind(item))
	}
	return c, list
}

// Constraints returns the constraints on literals.
func (p Policy) Constraints() *belief.Constraints {
	c, _ := p.read()
	return &c
}

// Kinds returns the kinds, by ascending name.
func (p Policy) Kinds() []Kind {
	_, list := p.read()
	return list
}

// Kind returns a kind by its name. A kind that is not listed has level 1, like an observation, is entrenched by event and does not decay.
func (p Policy) Kind(name string) Kind {
	for _, k := range p.Kinds() {
		if k.Name == name {
			return k
		}
	}
	k := unlisted
	k.Name = name
	return k
}

// Allow refuses a new item's kind if the policy does not list it. The error wraps belief.ErrKind and names the listed kinds.
func (p Policy) Allow(name string) error {
	var names []string
	for _, k := range p.Kinds() {
		if k.Name == name {
			return nil
		}
		names = append(names, k.Name)
	}
	near := ""
	if n := normalize.Nearest(name, names); n != "" {
		near = "did you mean " + n + "? "
	}
	return fmt.Errorf("%w: %.40q; %sa new item is of a kind that the policy of its space lists: %s", belief.ErrKind, name, near, strings.Join(names, ", "))
}

// Type returns the constant Type.
func (Policy) Type() string { return Type }

// Check reports the first parameter that is out of range.
func (p Policy) Check() error {
	c, list := p.read()
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %w", policy.ErrRange, fmt.Errorf(format, args...))
	}
	switch {
	case p.text == "":
		return fail("there are no parameters")
	case len(c.Functional) > MaxPredicates || len(c.Exclusive) > MaxPredicates:
		return fail("%d functional predicates and %d exclusive sets, at most %d of each", len(c.Functional), len(c.Exclusive), MaxPredicates)
	case len(list) > MaxKinds:
		return fail("kinds: there are %d, at most %d", len(list), MaxKinds)
	}
	for i, e := range c.Exclusive {
		if len(e.Objects) < 2 || len(e.Objects) > MaxObjects {
			return fail("exclusive[%d].objects: there are %d different objects, want 2 to %d", i, len(e.Objects), MaxObjects)
		}
	}
	if err := c.Check(); err != nil {
		return fail("%w", err)
	}
	for i, k := range list {
		switch {
		case !belief.IsTag(k.Name):
			return fail("kinds[%d].name: %.40q, want [a-z][a-z0-9_-]{0,31}", i, k.Name)
		case i > 0 && list[i-1].Name == k.Name:
			return fail("kinds: %q is listed twice", k.Name)
		case k.Entrenched != ByEvent && k.Entrenched != ByEvidence && k.Entrenched != ByConfidence:
			return fail("kinds[%d].entrenched_by: %.20q, want %s, %s or %s", i, k.Entrenched, ByEvent, ByEvidence, ByConfidence)
		case k.Level > MaxLevel || k.HalfLife > MaxDays:
			return fail("kinds[%d]: the level is %d and the half-life %d, at most %d and %d", i, k.Level, k.HalfLife, MaxLevel, MaxDays)
		}
	}
	return nil
}

// Canonical returns the canonical form, from which Hash is computed.
func (p Policy) Canonical() []byte { return []byte(p.text) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return sha256.Sum256([]byte(p.text)) }

// AppendWire writes the parameters as people write them, which is the canonical form.
func (p Policy) AppendWire(w *canon.Writer) { w.Raw([]byte(p.text)) }

// Of returns the parameters of a registered policy. The error is policy.ErrMismatch if the policy is of another type.
func Of(r policy.Registered) (Policy, error) { return policy.ParametersOf[Policy](r, Type) }
