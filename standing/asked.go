package standing

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// OfRequest returns the ruling about what a caller asks for: a person's own command and a program that names no caller are the owner's;
// a person's credential is a member's, or the owner's if the credential was granted that for somebody; a model, an agent over stdio and a key of the role agent
// are the agent's. Any other credential only looks, as a guest. A rule of the policy that names the credential lowers this, unless it is about turns alone, since it
// names an author, a role, a grant or a conversation; about another channel than that of the request; or about people, and an agent asks.
func (d *Decider) OfRequest(who access.Identity) Ruling {
	at := ofCaller(who)
	credential := who.Credential()
	if credential == "" || len(d.rules) == 0 {
		return at
	}
	key := d.names.Credential(credential)
	for i := range d.rules {
		m := &d.rules[i]
		if m.key != key || m.Author != "" || m.Role != 0 || m.Conversation != nil || m.Grant != 0 || !m.fits(who.Channel()) || m.aboutPeople() && at.Standing == Agent {
			continue
		}
		if m.Standing > at.Standing {
			return Ruling{at.Standing, Capped, i + 1}
		}
		return Ruling{m.Standing, ByRule, i + 1}
	}
	return at
}

// OfBelief returns the ruling about a belief: the name of the caller who recorded it, and whether the record says that a person vouched for it. What an agent
// concluded counts as the agent's, whoever's key recorded it. What was granted to a credential is not recorded with a belief, so what a person states with one
// counts as a member's.
func (d *Decider) OfBelief(by string, vouched bool) Ruling {
	who := access.Identity{Subject: by}
	if by != "" && by != access.Local {
		who.Role = access.Admin // the only role that may vouch, if the record is right
	}
	at := d.OfRequest(who)
	if !vouched && at.Standing > Agent {
		return Ruling{Standing: Agent, Reason: ByAgent}
	}
	return at
}

func ofCaller(who access.Identity) Ruling {
	switch {
	case who.Model || who.Subject == access.Stdio || who.Role == access.Agent:
		return Ruling{Standing: Agent, Reason: ByAgent}
	case who == (access.Identity{}) || who.Subject == access.Local:
		return Ruling{Standing: Owner, Reason: ByPerson}
	case who.Vouches():
		if who.Admits.Greatest() == dag.GrantOwner {
			return Ruling{Standing: Owner, Reason: GrantedOwner}
		}
		return Ruling{Standing: Member, Reason: ByPerson}
	}
	return Ruling{Standing: Guest, Reason: NothingGranted}
}
