package standing

import "github.com/graphkernel/graphkernel/dag"

// MaxSystem is the maximum cost of a turn that counts as the operator's word, in tokens: the cost of 4 KiB of text.
const MaxSystem = 4 << 10 / 4

// A Turn has the facts about a turn from which its standing follows.
type Turn struct {
	Role         dag.Role
	Voice        dag.Voice
	Cost         uint32
	Conversation dag.ConversationID
	Origin       dag.Origin
	Root         bool    // it has no parent
	Seq          dag.Seq // 0: it is not stored yet, and comes after no turn that is
}

// TurnOf returns the facts about a turn that is stored under a number with these fields, marks and parents.
func TurnOf(seq dag.Seq, t *dag.Turn, m *dag.Marks, parents int) Turn {
	return Turn{Role: t.Role, Voice: m.Voice, Cost: m.Cost, Conversation: t.Conversation, Origin: m.Origin, Root: parents == 0, Seq: seq}
}

// ofPerson reports whether the turn is in a person's name.
func (t *Turn) ofPerson() bool {
	return t.Voice == dag.VoicePerson || t.Voice == dag.VoiceTool && t.Origin.Grant == dag.GrantRefused
}

// A Conversation knows who takes part in a conversation, as of the turns that were added to it. The zero value has nobody.
type Conversation struct {
	opened dag.Seq   // the number of the first turn that is not of role system; 0: none
	keyed  dag.Seq   // the number of the first turn that came in under a credential; 0: none
	begun  bool      // a person whom the owner brought has said something
	taken  bool      // a turn under a credential was there when the first of them spoke, so nobody is the first person
	first  dag.Thing // the author of the first turn of a person; zero if the turn names none, as a withheld one does, or if the place is taken
	agent  bool      // an agent takes part
}

// Add adds a turn. Turns are added by ascending sequence number. A turn that came in under a credential changes the standing of no turn that is there: whoever
// holds a key cannot become the first person of a conversation that the owner brought, nor put an agent into it. But it may stand in the place of a turn that the
// owner brings later, which counts as there already; so nobody who speaks after it is the first person, nor a member because no agent is seen. Names in commits
// are nobody's.
func (c *Conversation) Add(t *Turn) {
	if c.opened == 0 && t.Role != dag.RoleSystem {
		c.opened = t.Seq
	}
	switch {
	case t.Origin.Channel.Credentialed():
		if c.keyed == 0 {
			c.keyed = t.Seq
		}
	case t.Origin.Channel == dag.ChannelCommits:
	case t.Voice == dag.VoiceAgent:
		c.agent = true
	case t.Voice == dag.VoicePerson && !c.begun:
		if c.begun, c.taken = true, c.keyed != 0; !c.taken {
			c.first = t.Origin.Author
		}
	}
}

// ordinary returns the standing that follows from the facts alone.
func (c *Conversation) ordinary(t *Turn) (Standing, Reason) {
	switch t.Voice {
	case dag.VoiceAgent:
		return Agent, OwnWords
	case dag.VoicePerson:
		return c.person(t)
	case dag.VoiceHarness:
		return c.operator(t)
	}
	if t.Origin.Grant == dag.GrantRefused {
		return Guest, NotSpokenFor
	}
	return Outside, ToolsData
}

// person returns the standing of a turn whose record says that a person speaks.
func (c *Conversation) person(t *Turn) (Standing, Reason) {
	switch t.Origin.Channel {
	case dag.ChannelAgent:
		return Guest, ThroughTool
	case dag.ChannelAPI:
		switch t.Origin.Grant {
		case dag.GrantOwner:
			return Owner, GrantedOwner
		case dag.GrantMember:
			return Member, GrantedMember
		}
		return Guest, NothingGranted
	case dag.ChannelHarness:
		return Owner, Typed
	case dag.ChannelCommits:
		return Guest, Committed
	}
	switch {
	case t.Origin.Author == (dag.Thing{}):
		return Guest, NoAuthor
	case t.Origin.Author == c.first:
		return Owner, FirstPerson
	case c.taken || !c.agent && c.keyed != 0 && c.keyed < t.Seq:
		return Guest, AfterKey
	case !c.agent:
		return Member, OnlyPeople
	}
	return Guest, AnotherPerson
}

// operator returns the standing of a turn of the program around an agent. It is the operator's word only before everything else in the conversation, whoever
// brought that: a program puts turns of role system in between, too.
func (c *Conversation) operator(t *Turn) (Standing, Reason) {
	switch {
	case t.Role != dag.RoleSystem || !t.Root || c.opened != 0 && c.opened < t.Seq || t.Origin.Grant == dag.GrantRefused:
		return Outside, PutInBetween
	case t.Cost > MaxSystem:
		return Outside, TooLong
	case t.Origin.Channel == dag.ChannelAPI && t.Origin.Grant == dag.GrantOperator:
		return System, OperatorKey
	}
	switch t.Origin.Channel {
	case dag.ChannelProgram, dag.ChannelCommand, dag.ChannelChat, dag.ChannelTrace, dag.ChannelLines:
		return System, OperatorOwner
	}
	return Outside, PutInBetween
}

// ceiling returns the greatest standing that a rule can give a turn. A rule that names a key answers for what the key brings over the service. No rule makes a
// person of the model that calls a tool, or of the name in a commit, which whoever sends a patch chooses.
func (c *Conversation) ceiling(t *Turn, namesKey bool) Standing {
	at, _ := c.ordinary(t)
	switch {
	case t.Voice != dag.VoicePerson, t.Origin.Channel == dag.ChannelAgent, t.Origin.Channel == dag.ChannelCommits, t.Origin.Channel == dag.ChannelAPI && t.Origin.Grant < dag.GrantSpeaks && !namesKey:
		return at
	}
	return Owner
}
