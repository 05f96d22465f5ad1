package contexts

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// The type names of policies in canonical forms and bundles of contexts. A policy of the second type has calls among its sources, and is for contexts of gkc/2.
const (
	PolicyType   = "context_policy_v1"
	PolicyTypeV2 = "context_policy_v2"
)

// PolicyTypes lists the type names by version.
var PolicyTypes = []string{PolicyType, PolicyTypeV2}

// The ids of the policies that every tenant begins with.
const (
	DefaultID   policy.ID = "context@2" // Default, the policy of a request that names none
	DefaultV1ID policy.ID = "context@1" // DefaultV1
	BriefID     policy.ID = "brief@1"   // BriefPolicy
)

// Upper bounds of the parameters.
const (
	LimitBudget   = 1_000_000 // tokens
	LimitQuota    = 2_000     // candidates per source
	LimitHalfLife = 100_000   // hours
	LimitRules    = 16 << 10  // bytes
	mostWeight    = 10 * dag.One
)

// A Feature is a property of a candidate that affects its score: a fraction in ppm.
type Feature int

// The features. features lists their names in the same order.
const (
	FeatureCall       Feature = iota // of a call of the agent in the conversation: falling towards 0 from the share of the conversation's text that is in calls and results
	FeatureConfidence                // of a fact or a belief
	FeatureContested                 // of a belief: 1 if a proposal that contradicts it is waiting for a decision. It lowers the score
	FeatureEvidence                  // of a fact or a belief: 1 if it names a turn, otherwise one half
	FeatureLength                    // of a turn of the conversation that does not come from prompts: the share of the budget that its text costs, times the share of the conversation's text that is in calls and results. It lowers the score
	FeatureLine                      // of what comes from lines or from remembered: falling from 1 in the order in which a brief wants it
	FeaturePrompt                    // of a turn that a person said in the conversation: the share of the conversation's text that others said; under version 2 the share that is in calls and results
	FeatureRecency                   // 1, halved for each half-life between the turn and the newest turn of the view
	FeatureRecent                    // of the last turns of the conversation, and of the last words of the agent before a prompt: falling from that share towards 0; under version 2 half of it for turns without words
	FeatureResult                    // of what such a call returned: the FeatureCall of the call
	FeatureSalience                  // of a turn
	FeatureSlice                     // the score in the slice around the anchor, as a fraction of the highest, times that share
	FeatureSuperseded                // of a call, or of what it returned, that no longer holds: how much less it is worth, up to 1, times the share of the conversation's text that is in calls and results. It lowers the score
	FeatureTask                      // of a turn: its search score over the best hit's; of a fact: 1 / hops; of a belief: the larger of its share of the task's words and 1 / hops
	Features                         // the number of features
)

var features = [Features]string{"call", "confidence", "contested", "evidence", "length", "line", "prompt", "recency", "recent", "result", "salience", "slice", "superseded", "task"}

// lowers reports whether the feature lowers the score.
func (f Feature) lowers() bool {
	return f == FeatureContested || f == FeatureLength || f == FeatureSuperseded
}

// String returns the name of the feature.
func (f Feature) String() string { return features[f] }

// A Source is the origin of a candidate.
type Source int

// The sources. sources lists their names in the same order.
const (
	FromBeliefs     Source = iota // beliefs that have words in common with the task
	FromCalls                     // the calls of the agent in the conversation that touched something, the newest first, with their results
	FromConstraints               // beliefs of kinds that every context contains: hard rules, instructions. They are chosen first, regardless of the budget
	FromFacts                     // facts about the names in the task
	FromLines                     // lines of the last sessions: what people asked and decided, how each session ended, what is open, which files were written
	FromPrompts                   // the turns that a person said in the conversation, the newest first; under version 2 also answers in the place of a tool's result
	FromRecent                    // the last turns of the conversation; under version 2 a third of the quota is for what the agent said last before each earlier prompt
	FromRemembered                // beliefs that owners and members stated, the newest first, without constraints
	FromSearch                    // the best hits of a search for the task
	FromSlice                     // the slice around the anchor
	Sources                       // the number of sources
)

var sources = [Sources]string{"beliefs", "calls", "constraints", "facts", "lines", "prompts", "recent", "remembered", "search", "slice"}

// String returns the name of the source.
func (s Source) String() string { return sources[s] }

// A Policy determines the content of a context. Its zero value is not valid; start from Default. It is comparable, like
// every policy's parameters.
type Policy struct {
	Version  int               // of the type: 1 or 2
	Budget   int               // tokens of text; a request may ask for fewer
	HalfLife int               // hours, for FeatureRecency
	Quotas   [Sources]int      // the maximum number of candidates per source; 0: the source is off
	Weights  [Features]dag.PPM // the weights of the features; of one that lowers the score, its penalty
	Novelty  dag.PPM           // the weight of being unlike every earlier choice
	Cost     dag.PPM           // the penalty for the share of the budget that a candidate costs
	Overlap  dag.PPM           // the penalty for being like an earlier choice
	Alike    dag.PPM           // the smallest share of common words with which two turns count as alike
	Slice    policy.ID         // the policy of the slice around the anchor
	Search   policy.ID         // the policy of the search for turns
	Facts    policy.ID         // the policy for facts
	Sections Sections          // under version 2
	Rules    string            // text that always comes first; lines
}

// Sections are shares of the budget.
type Sections struct {
	Rules  int // the most tokens of constraints. Those that do not fit are left out, and the note counts them. 0: all constraints are chosen, or the context is refused
	Others int // the most tokens of everything else, without the note; 0: what constraints leave
}

// Default returns the parameters of the policy context@2. docs/evaluation.md reports how well they do.
func Default() Policy {
	p := DefaultV1()
	p.Version = 2
	p.Quotas[FromCalls], p.Quotas[FromRecent], p.Quotas[FromSlice] = 500, 45, 0
	p.Quotas[FromBeliefs], p.Quotas[FromFacts] = 16, 16 // they come before most calls, so they must be few
	p.Weights[FeatureConfidence] = 6_500_000
	p.Weights[FeaturePrompt], p.Weights[FeatureCall], p.Weights[FeatureResult] = 10_000_000, 8_000_000, 5_000_000
	p.Weights[FeatureRecent], p.Weights[FeatureSlice] = 10_000_000, 0
	p.Weights[FeatureSuperseded], p.Weights[FeatureLength] = 5_000_000, 5_500_000
	p.Cost = 1_750_000
	p.Search = retrieval.FindPolicyID
	return p
}

// DefaultV1 returns the parameters of the policy context@1.
func DefaultV1() Policy {
	return Policy{
		Version: 1, Budget: 8000, HalfLife: 69,
		Quotas:  [Sources]int{FromBeliefs: 32, FromConstraints: 256, FromFacts: 32, FromPrompts: 500, FromSearch: 500, FromSlice: LimitQuota},
		Weights: [Features]dag.PPM{FeatureConfidence: 100_000, FeatureEvidence: 100_000, FeaturePrompt: 4_000_000, FeatureSlice: 2_000_000, FeatureTask: 1_000_000},
		Cost:    3_000_000,
		Alike:   850_000,
		Slice:   policy.DefaultV2ID, Search: retrieval.PolicyID, Facts: facts.PolicyID,
	}
}

// BriefPolicy returns the parameters of the policy brief@1: rules of up to 4 KiB, and at most 1 500 bytes of everything else, for the beginning of a session.
func BriefPolicy() Policy {
	p := Policy{Version: 2, Budget: 1415, HalfLife: 69, Alike: 850_000, Sections: Sections{Rules: 1024, Others: 300}, Slice: policy.DefaultV2ID, Search: retrieval.FindPolicyID, Facts: facts.PolicyID}
	p.Quotas[FromConstraints], p.Quotas[FromLines], p.Quotas[FromRemembered] = LimitQuota, 100, 6
	p.Weights[FeatureLine] = dag.One
	return p
}

// Profiles returns the policies that ship in addition to the defaults: the weights of the founding design for kinds of work, which are worse than the default at
// all of them (docs/design/2026-11-30-profiles.md). They do not consider goals and use, because no source provides these.
func Profiles() map[policy.ID]Policy {
	type row struct {
		task, recency, confidence, evidence, novelty, overlap, cost dag.PPM // tenths
		halfLife                                                    int
		alike                                                       dag.PPM // hundredths
		budget                                                      int
	}
	const tenth, hundredth = dag.One / 10, dag.One / 100
	profiles := map[policy.ID]Policy{}
	for id, r := range map[policy.ID]row{
		"elephant-base@1":       {10, 8, 4, 3, 5, 7, 3, 69, 85, 8000},
		"elephant-coding@1":     {15, 12, 3, 2, 6, 8, 4, 24, 85, 8000},
		"elephant-research@1":   {8, 5, 8, 9, 7, 5, 2, 168, 80, 12000},
		"elephant-managerial@1": {7, 6, 5, 7, 4, 9, 5, 72, 90, 8000},
		"elephant-worker@1":     {13, 13, 4, 3, 5, 7, 4, 12, 85, 8000},
		"elephant-personal@1":   {10, 9, 3, 2, 5, 6, 3, 720, 85, 8000},
	} {
		p := DefaultV1()
		p.Weights[FeatureTask], p.Weights[FeatureRecency] = r.task*tenth, r.recency*tenth
		p.Weights[FeatureConfidence], p.Weights[FeatureEvidence] = r.confidence*tenth, r.evidence*tenth
		p.Novelty, p.Overlap, p.Cost, p.Alike = r.novelty*tenth, r.overlap*tenth, r.cost*tenth, r.alike*hundredth
		p.Weights[FeatureContested] = dag.One
		p.HalfLife, p.Budget = r.halfLife, r.budget
		profiles[id] = p
	}
	return profiles
}

// since returns the version that brought a source or a feature.
func since(name string) int {
	switch name {
	case features[FeatureCall], features[FeatureLength], features[FeatureResult], features[FeatureLine], features[FeatureSuperseded], sources[FromCalls], sources[FromLines], sources[FromRemembered]:
		return 2
	}
	return 1
}

// weights returns the fields in a version of the weights of features that lower the score, or of those that do not.
func weights(version int, lower bool) (fields []policy.Field[Policy]) {
	for i, name := range features {
		if Feature(i).lowers() == lower && since(name) <= version {
			fields = append(fields, policy.Fraction(name, mostWeight, func(p *Policy) *dag.PPM { return &p.Weights[i] }))
		}
	}
	return fields
}

// penalties returns the fields of the penalties in a version.
func penalties(version int) []policy.Field[Policy] {
	return append(weights(version, true),
		policy.Fraction("cost", mostWeight, func(p *Policy) *dag.PPM { return &p.Cost }),
		policy.Fraction("overlap", mostWeight, func(p *Policy) *dag.PPM { return &p.Overlap }))
}

// quotas returns the fields of Quotas in a version.
func quotas(version int) (fields []policy.Field[Policy]) {
	for i, name := range sources {
		if since(name) <= version {
			fields = append(fields, policy.Int(name, 0, LimitQuota, func(p *Policy) *int { return &p.Quotas[i] }))
		}
	}
	return fields
}

func policyName(name string, at func(*Policy) *policy.ID) policy.Field[Policy] {
	return policy.Text(name, at, func(id policy.ID) error {
		_, err := policy.ParseID(string(id))
		return err
	})
}

// tables contains the table of each version.
var tables = map[int]*policy.Table[Policy]{1: tableOf(1, PolicyType, DefaultV1()), 2: tableOf(2, PolicyTypeV2, Default())}

func tableOf(version int, typ string, absent Policy) *policy.Table[Policy] {
	fields := []policy.Field[Policy]{
		policy.Fraction("alike", dag.One, func(p *Policy) *dag.PPM { return &p.Alike }),
		policy.Int("budget", 1, LimitBudget, func(p *Policy) *int { return &p.Budget }),
		policyName("facts", func(p *Policy) *policy.ID { return &p.Facts }),
		policy.Int("half_life_hours", 1, LimitHalfLife, func(p *Policy) *int { return &p.HalfLife }),
		policy.Fraction("novelty", mostWeight, func(p *Policy) *dag.PPM { return &p.Novelty }),
		policy.Group("penalties", penalties(version)...),
		policy.Group("quotas", quotas(version)...),
		policy.Text("rules", func(p *Policy) *string { return &p.Rules }, checkRules),
		policyName("search", func(p *Policy) *policy.ID { return &p.Search }),
	}
	if version >= 2 {
		fields = append(fields, policy.Group("sections",
			policy.Int("others", 0, LimitBudget, func(p *Policy) *int { return &p.Sections.Others }),
			policy.Int("rules", 0, LimitBudget, func(p *Policy) *int { return &p.Sections.Rules })))
	}
	fields = append(fields,
		policyName("slice", func(p *Policy) *policy.ID { return &p.Slice }),
		policy.Group("weights", weights(version, false)...))
	return &policy.Table[Policy]{Type: typ, Default: absent, Further: checkVersion, Fields: fields}
}

// checkVersion refuses values that the form of the policy's version lacks.
func checkVersion(p *Policy) error {
	for i, name := range sources {
		if p.Quotas[i] != 0 && since(name) > p.Version {
			return fmt.Errorf("%w: quotas.%s is %d, and a policy of type %s has no such source", policy.ErrRange, name, p.Quotas[i], PolicyTypes[p.Version-1])
		}
	}
	if p.Version < 2 && p.Sections != (Sections{}) {
		return fmt.Errorf("%w: a policy of type %s has no sections", policy.ErrRange, PolicyType)
	}
	for i, name := range features {
		if p.Weights[i] != 0 && since(name) > p.Version {
			return fmt.Errorf("%w: weights.%s is %s, and a policy of type %s has no such feature", policy.ErrRange, name, p.Weights[i], PolicyTypes[p.Version-1])
		}
	}
	return nil
}

func checkRules(s string) error {
	switch {
	case len(s) > LimitRules:
		return fmt.Errorf("%d bytes, at most %d", len(s), LimitRules)
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return fmt.Errorf("%w: want UTF-8 without U+0000", dag.ErrForm)
	}
	return nil
}

// table returns the table of the policy's version; that of version 1 for an unknown one.
func (p *Policy) table() *policy.Table[Policy] {
	if t := tables[p.Version]; t != nil {
		return t
	}
	return tables[1]
}

// Type returns PolicyType or PolicyTypeV2.
func (p Policy) Type() string { return p.table().Type }

// Check returns an error for the first parameter that is out of range.
func (p Policy) Check() error {
	if tables[p.Version] == nil {
		return fmt.Errorf("%w: version %d of a policy for contexts, want 1 or 2", policy.ErrRange, p.Version)
	}
	return p.table().Check(p)
}

// Canonical returns the canonical form, over which Hash is computed.
func (p Policy) Canonical() []byte { return p.table().Canonical(p) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return p.table().Hash(p) }

// AppendWire writes the parameters with decimals, as in bundles and in what people write.
func (p Policy) AppendWire(w *canon.Writer) { p.table().AppendWire(w, p) }

// PolicyShapes returns the shapes of the parameters of PolicyType, PolicyShapesV2 those of PolicyTypeV2.
func PolicyShapes() []policy.Shape   { return tables[1].Shapes() }
func PolicyShapesV2() []policy.Shape { return tables[2].Shapes() }

// PolicyForm and PolicyFormV2 are the forms of policies for contexts.
var (
	PolicyForm   = formOf(tables[1])
	PolicyFormV2 = formOf(tables[2])
)

func formOf(t *policy.Table[Policy]) policy.Form {
	return policy.Form{Type: t.Type, Read: func(c *canon.Cursor, n policy.Notation) policy.Parameters { return t.Read(c, n) }}
}

// formsOf returns the forms of the policies of a version of bundles.
func formsOf(schema string) policy.Forms {
	if schema == SchemaVersionV2 {
		return policy.Forms{PolicyForm, PolicyFormV2}
	}
	return policy.Forms{PolicyForm}
}

// readWhole reads the policy of a bundle, in which every parameter must be present.
func readWhole(c *canon.Cursor) Policy {
	if c.Field("type").String() == PolicyTypeV2 {
		return tables[2].ReadWhole(c)
	}
	return tables[1].ReadWhole(c)
}

// PolicyOf returns the parameters of a registered policy for contexts. The error for a policy of another type is
// policy.ErrMismatch.
func PolicyOf(r policy.Registered) (Policy, error) {
	return policy.ParametersOf[Policy](r, strings.Join(PolicyTypes, " or "))
}
