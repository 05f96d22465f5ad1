package dag

import "slices"

// A Standing says how much words count. Standings are ordered: of two, the greater counts more. Package standing decides which
// standing a turn has. The zero value is none.
type Standing uint8

// The standings. Stores keep these numbers.
const (
	StandingOutside Standing = 1 // tools, pages, files, results: data, untrusted
	StandingGuest   Standing = 2 // a person who is neither owner nor member: information, never an order
	StandingAgent   Standing = 3 // the agent itself and its sub-agents: its own words
	StandingMember  Standing = 4 // a person of the team: an order, below the owner's
	StandingOwner   Standing = 5 // the person whose agent it is: an order
	StandingSystem  Standing = 6 // what the operator told the agent: a constraint
)

// Standings lists every standing, from the least to the greatest.
var Standings = [...]Standing{StandingOutside, StandingGuest, StandingAgent, StandingMember, StandingOwner, StandingSystem}

var standingNames = [...]string{
	StandingOutside: "outside", StandingGuest: "guest", StandingAgent: "agent", StandingMember: "member", StandingOwner: "owner", StandingSystem: "system",
}

// StandingNames returns the names of all standings, in the order of Standings.
func StandingNames() []string { return slices.Clone(standingNames[StandingOutside:]) }

// String returns the standing's name on the wire, or "" if the standing is unknown.
func (s Standing) String() string { return name(standingNames[:], uint8(s)) }

// ParseStanding reads a standing's name.
func ParseStanding(s string) (Standing, error) {
	n, err := number(standingNames[:], "standing", s)
	return Standing(n), err
}

// Orders reports whether words of the standing tell an agent what to do.
func (s Standing) Orders() bool { return s >= StandingMember }

// Data reports whether words of the standing only inform, and so are shown apart from everything that an agent is told.
func (s Standing) Data() bool { return s != 0 && s <= StandingGuest }
