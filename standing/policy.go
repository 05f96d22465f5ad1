package standing

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// PolicyType is the type that policy documents of standings have.
const PolicyType = "standing_policy_v1"

// The policies that every tenant has from the start.
const (
	AloneID   policy.ID = "standing-alone@1"   // of a person who uses agents alone
	TeamID    policy.ID = "standing-team@1"    // of a team that shares a store: whoever's key speaks for them is a member
	ServiceID policy.ID = "standing-service@1" // of a service whose conversations are with its customers: nobody in them is an owner
)

// DefaultID is the policy of a tenant for which none was set.
const DefaultID = AloneID

// Bounds of the parameters.
const (
	MaxRules = 256
	MaxText  = 1 << 10 // bytes of a key or an author
)

// Import is the channel of a rule that stands for every channel by which the store's owner brings records of conversations in.
const Import = "import"

// imports are the channels that Import stands for. Commits are not among them: whoever sends a patch writes the author of a commit, so no rule raises one, and a
// rule about an author in imported conversations is about what they said there.
var imports = [...]dag.Channel{dag.ChannelHarness, dag.ChannelChat, dag.ChannelTrace, dag.ChannelLines}

// A Rule says which standing some turns have. An empty field matches every turn. The first rule that matches a turn decides. A rule whose standing is guest,
// member or owner is about people: it matches no turn of an agent, a tool or the program around an agent.
type Rule struct {
	Key          string              // the credential that brought the turn: the id of an API key, or "jwt:" and a subject
	Channel      string              // the name of a channel, or Import
	Author       string              // the author, exactly
	Role         dag.Role            // 0: any
	Grant        dag.Grant           // what the credential was granted for the author; 0: anything
	Conversation *dag.ConversationID // nil: any
	Standing     Standing            // up to Owner
}

// A Policy has the parameters of a standing policy: a list of rules, in their order. It may be empty.
type Policy struct{ list policy.Rules }

// NewPolicy makes parameters from rules.
func NewPolicy(rules ...Rule) Policy {
	return Policy{policy.NewRules(len(rules), func(w *canon.Writer, i int) {
		r := &rules[i]
		text := func(key, value string) {
			if value != "" {
				w.Key(key)
				w.String(value)
			}
		}
		w.BeginObject()
		text("author", r.Author)
		text("channel", r.Channel)
		if r.Conversation != nil {
			text("conversation", r.Conversation.String())
		}
		text("grant", r.Grant.String())
		text("key", r.Key)
		text("role", r.Role.String())
		text("standing", r.Standing.String())
		w.EndObject()
	})}
}

// Alone returns the parameters of AloneID.
func Alone() Policy { return NewPolicy() }

// Team returns the parameters of TeamID.
func Team() Policy {
	return NewPolicy(Rule{Channel: dag.ChannelAPI.String(), Grant: dag.GrantSpeaks, Standing: Member})
}

// Service returns the parameters of ServiceID.
func Service() Policy {
	var rules []Rule
	for _, c := range [...]dag.Channel{dag.ChannelChat, dag.ChannelLines, dag.ChannelTrace, dag.ChannelProgram} {
		rules = append(rules, Rule{Channel: c.String(), Standing: Guest})
	}
	return NewPolicy(rules...)
}

// Rules returns the rules.
func (p Policy) Rules() []Rule { return readRules(p.list.Items()) }

func readRules(items []*canon.Cursor) (rules []Rule) {
	for _, item := range items {
		var r Rule
		for _, m := range [...]struct {
			key string
			to  *string
		}{{"author", &r.Author}, {"channel", &r.Channel}, {"key", &r.Key}} {
			if c := item.Optional(m.key); c != nil {
				if *m.to = c.String(); *m.to == "" {
					c.Fail(errors.New("it is empty; leave it out for any"))
				}
			}
		}
		if c := item.Optional("conversation"); c != nil {
			id := canon.Parsed(c, dag.ParseConversationID)
			r.Conversation = &id
		}
		if c := item.Optional("grant"); c != nil {
			r.Grant = canon.Parsed(c, dag.ParseGrant)
		}
		if c := item.Optional("role"); c != nil {
			r.Role = canon.Parsed(c, dag.ParseRole)
		}
		r.Standing = canon.Parsed(item.Field("standing"), dag.ParseStanding)
		item.Close()
		rules = append(rules, r)
	}
	return rules
}

// Type returns PolicyType.
func (Policy) Type() string { return PolicyType }

// Check returns an error if there are too many rules, or for the first rule that cannot be applied, which it names by its number, from 0.
func (p Policy) Check() error {
	rules := p.Rules()
	if len(rules) > MaxRules {
		return fmt.Errorf("%w: %d rules, want at most %d", policy.ErrRange, len(rules), MaxRules)
	}
	for i := range rules {
		if err := rules[i].check(); err != nil {
			return fmt.Errorf("%w: rules[%d]%w", policy.ErrRange, i, err)
		}
	}
	return nil
}

// check returns an error that begins with the place in the rule.
func (r *Rule) check() error {
	for _, m := range [...]struct{ name, text string }{{"author", r.Author}, {"key", r.Key}} {
		if len(m.text) > MaxText || !utf8.ValidString(m.text) {
			return fmt.Errorf(".%s: want at most %d bytes of UTF-8", m.name, MaxText)
		}
	}
	if _, err := dag.ParseChannel(r.Channel); err != nil && r.Channel != "" && r.Channel != Import {
		return fmt.Errorf(".channel: %w; or %q for every way of importing", err, Import)
	}
	switch {
	case r.Standing > Owner:
		return fmt.Errorf(".standing: no rule makes a turn %s; a turn is, if it begins a conversation and its key speaks for the operator", r.Standing)
	case r.Standing.Orders() && r.Key == "" && r.Channel == "":
		return fmt.Errorf(".standing: %s without key or channel: anybody can write the author, the role and the conversation of a turn; name a channel, such as %q, or a key", r.Standing, Import)
	}
	return nil
}

// Canonical returns the canonical form, over which Hash is computed.
func (p Policy) Canonical() []byte { return p.list.Bytes(PolicyType) }

// Hash returns policy_params_hash: SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return p.list.Digest(PolicyType) }

// AppendWire writes the parameters in the form that people write, which is the canonical form.
func (p Policy) AppendWire(w *canon.Writer) { p.list.Append(w, PolicyType) }

// Form reads the rules from a policy document.
var Form = policy.RulesForm(PolicyType, func(items []*canon.Cursor) Policy { return NewPolicy(readRules(items)...) })

// PolicyOf returns the parameters of a registered policy. The error is policy.ErrMismatch if the policy is of another type.
func PolicyOf(r policy.Registered) (Policy, error) {
	return policy.ParametersOf[Policy](r, PolicyType)
}
