package dag

import (
	"fmt"
	"slices"
	"unsafe"
)

// A Channel is a way by which a turn came in. The kernel derives it from the caller and from the kind of file, never from the turn's own fields. The zero value is
// no channel.
type Channel uint8

// The channels. Stores keep these numbers.
const (
	ChannelProgram Channel = 1 // a program that embeds the kernel and names no caller
	ChannelCommand Channel = 2 // a person's own command, other than an import
	ChannelHarness Channel = 3 // the record that a coding agent keeps of its sessions
	ChannelChat    Channel = 4 // an export of conversations with a model
	ChannelTrace   Channel = 5 // spans and events of programs that call models
	ChannelLines   Channel = 6 // the project's own lines
	ChannelCommits Channel = 7 // commits of a repository
	ChannelAPI     Channel = 8 // the HTTP API, by a key or a JWT
	ChannelAgent   Channel = 9 // a tool for agents, called by a model
)

// Channels lists every channel.
var Channels = [...]Channel{ChannelProgram, ChannelCommand, ChannelHarness, ChannelChat, ChannelTrace, ChannelLines, ChannelCommits, ChannelAPI, ChannelAgent}

var channelNames = [...]string{
	ChannelProgram: "program", ChannelCommand: "command", ChannelHarness: "harness", ChannelChat: "chat", ChannelTrace: "trace", ChannelLines: "lines",
	ChannelCommits: "commits", ChannelAPI: "api", ChannelAgent: "agent",
}

// String returns the channel's name, or "" if the channel is unknown.
func (c Channel) String() string { return name(channelNames[:], uint8(c)) }

// ParseChannel reads a channel's name.
func ParseChannel(s string) (Channel, error) {
	n, err := number(channelNames[:], "channel", s)
	return Channel(n), err
}

// Credentialed reports whether turns come in by the channel under a credential, which need not be the owner's of the store.
func (c Channel) Credentialed() bool { return c == ChannelAPI || c == ChannelAgent }

// A Grant says what a credential may be for the author of a turn that it brought, at the time when it brought it. The zero value says that nothing was
// granted, and nothing was refused.
type Grant uint8

// The grants. Stores keep these numbers.
const (
	GrantRefused  Grant = 1 // the turn is in the name of a person for whom the credential does not speak
	GrantSpeaks   Grant = 2 // the credential speaks for the author
	GrantMember   Grant = 3 // in addition: the author is a member of the team
	GrantOwner    Grant = 4 // in addition: the author is the owner
	GrantOperator Grant = 5 // the credential may set what an agent is told by its operator, in turns of role system
)

var grantNames = [...]string{GrantRefused: "refused", GrantSpeaks: "speaks", GrantMember: "member", GrantOwner: "owner", GrantOperator: "operator"}

// String returns the grant's name, or "" if nothing was granted or the grant is unknown.
func (g Grant) String() string { return name(grantNames[:], uint8(g)) }

// ParseGrant reads a grant's name.
func ParseGrant(s string) (Grant, error) {
	n, err := number(grantNames[:], "grant", s)
	return Grant(n), err
}

// An Origin is the record of how a turn came in. It is outside the turn's leaf, and stays when the text is erased, so that a decision that rests on it
// can be repeated.
type Origin struct {
	Channel Channel
	Grant   Grant
	Author  Thing // the author, if the turn is in a person's name; else zero
	Key     Thing // the credential that brought the turn; zero if none did
}

// Check returns an error, wrapping ErrForm, for the first part of the origin that is malformed.
func (o *Origin) Check() error {
	if o.Channel.String() == "" {
		return fmt.Errorf("%w: the turn came in by channel number %d, which this version does not know", ErrForm, o.Channel)
	}
	if o.Grant != 0 && o.Grant.String() == "" {
		return fmt.Errorf("%w: the turn has grant number %d, which this version does not know", ErrForm, o.Grant)
	}
	return nil
}

const (
	originSize       = int(2*unsafe.Sizeof(Origin{})) + 16 // the approximate size of a distinct origin, in its list and in its map, in bytes
	conversationSize = 64 + 48                             // the approximate size of a conversation, with its openings
)

// originOf returns the place of an origin in g.origins. A history has few that differ.
func (g *Graph) originOf(o *Origin) uint32 {
	at, ok := g.known[*o]
	if !ok {
		at = uint32(len(g.origins))
		g.origins = append(g.origins, *o)
		g.known[*o] = at
	}
	return at
}

// open adds a node to the openings of its conversation, if it is the first of its sort.
func (g *Graph) open(n Node) {
	opened := &g.opened[g.nodes[n].conv]
	for i, o := range *opened {
		if !g.sameSort(n, o) {
			continue
		}
		if g.nodes[o].seq > g.nodes[n].seq { // turns may be added out of the order of their sequence numbers
			(*opened)[i] = n
		}
		return
	}
	*opened = append(*opened, n)
}

// sameSort reports whether two turns of a conversation have the same voice, role and channel.
func (g *Graph) sameSort(a, b Node) bool {
	const role, voice = nameMask << roleShift, nameMask << voiceShift
	x, y := &g.nodes[a], &g.nodes[b]
	return x.traits&role == y.traits&role && x.mark&voice == y.mark&voice && g.origins[g.origin[a]].Channel == g.origins[g.origin[b]].Channel
}

// Origin returns how a node's turn came in. An absent node has the zero origin.
func (v View) Origin(n Node) Origin { return v.g.origins[v.g.origin[n]] }

// AppendOpenings appends, of the turns of n's conversation that the view shows, the first one of each voice, role and channel, by ascending number. Who takes
// part in a conversation follows from these few turns.
func (v View) AppendOpenings(dst []Node, n Node) []Node {
	from := len(dst)
	for _, o := range v.g.opened[v.g.nodes[n].conv] {
		if v.g.nodes[o].seq <= v.seq {
			dst = append(dst, o)
		}
	}
	slices.SortFunc(dst[from:], func(a, b Node) int {
		if v.g.nodes[a].seq < v.g.nodes[b].seq {
			return -1
		}
		return 1
	})
	return dst
}
