package standing

import (
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A Ruling is the standing of a turn, and why it has it.
type Ruling struct {
	Standing Standing
	Reason   Reason
	Rule     int // the number of the policy's rule that matched, from 1; 0: none
}

// A Decider applies a policy to turns.
type Decider struct {
	rules []matcher
	names Namer
}

// A Namer returns the things by which the turns of a tenant name an author and a credential.
type Namer interface {
	Author(name string) dag.Thing
	Credential(name string) dag.Thing
}

// A matcher is a rule that compares things.
type matcher struct {
	Rule
	author, key dag.Thing
	channels    []dag.Channel // nil: any
}

// NewDecider returns a decider that applies the rules of a policy to the turns of a tenant.
func NewDecider(p Policy, names Namer) *Decider {
	rules := p.Rules()
	d := &Decider{make([]matcher, len(rules)), names}
	for i := range rules {
		m := &d.rules[i]
		if m.Rule = rules[i]; m.Author != "" {
			m.author = names.Author(m.Author)
		}
		if m.Key != "" {
			m.key = names.Credential(m.Key)
		}
		if m.Channel == Import {
			m.channels = imports[:]
		} else if c, err := dag.ParseChannel(m.Channel); err == nil {
			m.channels = []dag.Channel{c}
		}
	}
	return d
}

// Of returns the ruling about a turn of a conversation.
func (d *Decider) Of(t *Turn, in *Conversation) Ruling {
	for i := range d.rules {
		m := &d.rules[i]
		if !m.matches(t) {
			continue
		}
		if most := in.ceiling(t, m.Key != ""); most < m.Standing {
			return Ruling{most, Capped, i + 1}
		}
		return Ruling{m.Standing, ByRule, i + 1}
	}
	at, why := in.ordinary(t)
	return Ruling{Standing: at, Reason: why}
}

// aboutPeople reports whether the rule is about people: it says owner, member or guest.
func (m *matcher) aboutPeople() bool { return m.Standing != Outside && m.Standing != Agent }

// fits reports whether the rule is about what comes by a channel.
func (m *matcher) fits(by dag.Channel) bool {
	return m.channels == nil || slices.Contains(m.channels, by)
}

// matches reports whether the rule is about a turn.
func (m *matcher) matches(t *Turn) bool {
	if m.aboutPeople() && !t.ofPerson() {
		return false
	}
	return (m.Author == "" || m.author == t.Origin.Author) && (m.Key == "" || m.key == t.Origin.Key) && m.fits(t.Origin.Channel) &&
		(m.Role == 0 || m.Role == t.Role) && (m.Grant == 0 || m.Grant == t.Origin.Grant) && (m.Conversation == nil || *m.Conversation == t.Conversation)
}

// A Setting puts a policy in force after a number of a tenant's history.
type Setting struct {
	After       dag.Seq
	Policy      policy.Registered
	Decider     *Decider
	Retroactive bool // it also raises turns that were there
}

// Decides returns a setting of a registered policy. The error is policy.ErrMismatch if the policy is of another type.
func Decides(p policy.Registered, names Namer, after dag.Seq, retroactive bool) (Setting, error) {
	params, err := PolicyOf(p)
	if err != nil {
		return Setting{}, err
	}
	return Setting{after, p, NewDecider(params, names), retroactive}, nil
}

// unset is the setting of a tenant for which no policy was set.
var unset = sync.OnceValue(func() Setting {
	p, err := policy.Bind(DefaultID, Alone())
	if err != nil {
		panic(err) // the parameters are constants
	}
	return Setting{Policy: p, Decider: &Decider{}}
})

// A Course is the settings of a tenant, by ascending number. The first one has the number 0: the policy of a tenant for which none was set.
type Course []Setting

// Until returns the settings up to a number.
func (c Course) Until(n dag.Seq) Course {
	at := len(c)
	for at > 0 && c[at-1].After > n {
		at--
	}
	return c[:at]
}

// Newest returns the number of the newest setting; 0 if none was made.
func (c Course) Newest() dag.Seq {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].After
}

// Of returns the ruling about a turn with a number, and the index of the setting that decides. A turn has the standing under the
// setting that was in force when it came in. A later setting lowers it, and raises it only if the setting is retroactive.
func (c Course) Of(seq dag.Seq, t *Turn, in *Conversation) (Ruling, int) {
	return c.fold(seq, func(d *Decider) Ruling { return d.Of(t, in) })
}

// OfBelief is Of for a belief that was recorded under a number, see Decider.OfBelief.
func (c Course) OfBelief(seq dag.Seq, by string, vouched bool) (Ruling, int) {
	return c.fold(seq, func(d *Decider) Ruling { return d.OfBelief(by, vouched) })
}

func (c Course) fold(seq dag.Seq, by func(*Decider) Ruling) (of Ruling, from int) {
	from = -1
	for i := range c {
		ruling := by(c[i].Decider)
		if c[i].After < seq || c[i].Retroactive || ruling.Standing < of.Standing {
			of, from = ruling, i
		}
	}
	return of, from
}
