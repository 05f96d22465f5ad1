package dag

import "fmt"

// A Role says who spoke. The zero value is no role.
type Role uint8

// The roles. Stores keep these numbers.
const (
	RoleSystem    Role = 1
	RoleUser      Role = 2
	RoleAssistant Role = 3
	RoleTool      Role = 4
)

// A Phase says what kind of work a turn does; policies weigh turns by it. The
// zero value is no phase.
type Phase uint8

// The phases. Stores keep these numbers.
const (
	Synthesis     Phase = 1
	Planning      Phase = 2
	Consolidation Phase = 3
	Debugging     Phase = 4
	Exploration   Phase = 5
)

// Phases lists every phase in the order of their names' first mention in GKP/1.
var Phases = [...]Phase{Synthesis, Planning, Consolidation, Debugging, Exploration}

// An EdgeKind says how a child continues from its parent. The zero value is no
// kind.
type EdgeKind uint8

// The kinds of edges. Stores keep these numbers.
const (
	Reply     EdgeKind = 1 // the next thing said
	Spawn     EdgeKind = 2 // a sub-agent's first turn
	Merge     EdgeKind = 3 // a result brought back
	Reference EdgeKind = 4 // a mention
)

var (
	roleNames  = [...]string{RoleSystem: "system", RoleUser: "user", RoleAssistant: "assistant", RoleTool: "tool"}
	phaseNames = [...]string{Synthesis: "synthesis", Planning: "planning", Consolidation: "consolidation", Debugging: "debugging", Exploration: "exploration"}
	kindNames  = [...]string{Reply: "reply", Spawn: "spawn", Merge: "merge", Reference: "reference"}
)

// String returns the role's name on the wire, or "" if the role is unknown.
func (r Role) String() string { return name(roleNames[:], uint8(r)) }

// String returns the phase's name on the wire, or "" if the phase is unknown.
func (p Phase) String() string { return name(phaseNames[:], uint8(p)) }

// String returns the kind's name on the wire, or "" if the kind is unknown.
func (k EdgeKind) String() string { return name(kindNames[:], uint8(k)) }

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	n, err := number(roleNames[:], "role", s)
	return Role(n), err
}

// ParsePhase reads a phase's name.
func ParsePhase(s string) (Phase, error) {
	n, err := number(phaseNames[:], "phase", s)
	return Phase(n), err
}

// ParseEdgeKind reads the name of an edge's kind.
func ParseEdgeKind(s string) (EdgeKind, error) {
	n, err := number(kindNames[:], "edge kind", s)
	return EdgeKind(n), err
}

func name(names []string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return ""
}

func number(names []string, what, s string) (uint8, error) {
	for n, known := range names {
		if known == s && n != 0 {
			return uint8(n), nil
		}
	}
	return 0, fmt.Errorf("%w: %s %q, want one of %q", ErrForm, what, clip(s), names[1:])
}
