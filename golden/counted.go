package golden

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
)

// An Origin is how a turn of a vector of GKP/3 came in.
type Origin struct {
	Channel string `json:"channel"`
	Grant   string `json:"grant,omitempty"`
	Author  string `json:"author,omitempty"` // a thing in hex
	Key     string `json:"key,omitempty"`    // a thing in hex
}

// A Setting puts a standing policy in force. The authors and the keys of its rules are things in hex.
type Setting struct {
	After       dag.Seq         `json:"after"`
	PolicyID    string          `json:"policy_id"`
	Policy      json.RawMessage `json:"policy"`
	Retroactive bool            `json:"retroactive,omitempty"`
}

// CountedCases returns the vectors of GKP/3 that ship with the project.
func CountedCases() ([]Case, error) { return readCases("testdata/gkp-3.jsonl") }

// RandomCounted makes the input of a case of GKP/3: the graph of RandomMarked with origins, settings of the standing policy, and a slice policy that selects by
// standings. The same seed makes the same case. Expect is empty.
func RandomCounted(seed uint64, most int) Case {
	c := RandomMarked(seed, most)
	c.Name = "counted-" + c.Name
	r := &source{rand.New(rand.NewPCG(seed, 0x676b702f33))}
	people, keys := []dag.Thing{r.id(), r.id(), r.id()}, []dag.Thing{r.id(), r.id()} // few, so that rules match
	answers := map[string]bool{}
	for _, e := range c.Edges {
		answers[e[1]] = true
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		m := t.Marks
		switch channel := r.IntN(4); { // drawn evenly, few turns would be an order or the operator's
		case channel == 0 && !answers[t.ID]:
			t.Role, m.Voice = dag.RoleSystem.String(), dag.VoiceHarness.String()
		case channel < 3:
			m.Voice = dag.VoicePerson.String()
		}
		channel := []dag.Channel{dag.ChannelHarness, dag.ChannelLines, dag.Channels[r.IntN(len(dag.Channels))]}[r.IntN(3)]
		m.Origin = &Origin{Channel: channel.String()}
		if m.Voice == dag.VoicePerson.String() && r.IntN(6) > 0 {
			m.Origin.Author = people[r.IntN(len(people))].String()
		}
		if channel.Credentialed() {
			m.Origin.Key = keys[r.IntN(len(keys))].String()
			m.Origin.Grant = dag.Grant(r.IntN(int(dag.GrantOperator) + 1)).String()
		}
	}
	for n := r.IntN(4); n > 0; n-- {
		var rules []standing.Rule
		for range r.IntN(3) {
			rule := standing.Rule{Standing: dag.Standings[r.IntN(int(dag.StandingOwner))], Channel: []string{"", standing.Import, dag.Channels[r.IntN(len(dag.Channels))].String()}[r.IntN(3)]}
			if r.IntN(2) == 0 {
				rule.Author = people[r.IntN(len(people))].String()
			}
			if r.IntN(3) == 0 || rule.Standing.Orders() && rule.Channel == "" {
				rule.Key = keys[r.IntN(len(keys))].String()
			}
			rules = append(rules, rule)
		}
		after := dag.Seq(1 + r.IntN(len(c.Turns)+1))
		if len(c.Settings) > 0 {
			after = max(after, c.Settings[len(c.Settings)-1].After+1)
		}
		c.Settings = append(c.Settings, Setting{
			After: after, PolicyID: fmt.Sprintf("standing-%x@1", r.id()), Policy: standing.NewPolicy(rules...).Canonical(), Retroactive: r.IntN(3) == 0,
		})
	}
	v2, err := registered(c.PolicyID, c.Policy)
	if err != nil {
		panic(err) // RandomMarked wrote it
	}
	p := policy.SlicePolicyV3{Base: v2.Params().(policy.SlicePolicyV2)}
	p.Base.Voices = policy.VoiceTable{}
	for _, s := range dag.Standings {
		p.Standings[s] = r.ppm()
	}
	c.Policy = json.RawMessage(p.Canonical())
	return c
}

// parse returns the origin; a turn of GKP/2 has none, and came in by a program.
func (o *Origin) parse() (origin dag.Origin, err error) {
	if o == nil {
		return dag.Origin{Channel: dag.ChannelProgram}, nil
	}
	if origin.Channel, err = dag.ParseChannel(o.Channel); err != nil {
		return dag.Origin{}, err
	}
	if o.Grant != "" {
		if origin.Grant, err = dag.ParseGrant(o.Grant); err != nil {
			return dag.Origin{}, err
		}
	}
	for _, t := range [...]struct {
		hex string
		to  *dag.Thing
	}{{o.Author, &origin.Author}, {o.Key, &origin.Key}} {
		if t.hex != "" {
			if *t.to, err = dag.ParseThing(t.hex); err != nil {
				return dag.Origin{}, err
			}
		}
	}
	return origin, nil
}

// course returns the settings of the case.
func (c *Case) course() (standing.Course, error) {
	policies, all := map[policy.ID]policy.Registered{}, make([]settings.Setting, len(c.Settings))
	first, err := policy.Bind(standing.DefaultID, standing.Alone())
	if err != nil {
		return nil, err
	}
	policies[standing.DefaultID] = first
	for i := range c.Settings {
		s := &c.Settings[i]
		p, err := registered(s.PolicyID, s.Policy)
		if err != nil {
			return nil, fmt.Errorf("golden: %s: standings[%d]: %w", c.Name, i, err)
		}
		policies[p.ID()] = p
		all[i] = settings.Setting{Seq: s.After, Policy: p.ID(), Hash: p.Hash(), Retroactive: s.Retroactive}
	}
	return settings.CourseOf(all, func(id policy.ID) (policy.Registered, error) { return policies[id], nil }, inHex{})
}

// inHex is a standing.Namer of rules that name things in hex.
type inHex struct{}

// Author implements [standing.Namer].
func (inHex) Author(hex string) dag.Thing { return thingIn(hex) }

// Credential implements [standing.Namer].
func (inHex) Credential(hex string) dag.Thing { return thingIn(hex) }

// thingIn returns the thing of a hex text, or a thing that no turn has.
func thingIn(hex string) dag.Thing {
	t, err := dag.ParseThing(hex)
	if err != nil {
		return dag.Thing{15: 1}
	}
	return t
}
