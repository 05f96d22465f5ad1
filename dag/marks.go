package dag

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
)

// A Voice says who produced the words of a turn, which need not follow from its role: a person may answer in the place
// of a tool's result. The zero value is no voice.
type Voice uint8

// The voices. Stores keep these numbers.
const (
	VoicePerson  Voice = 1
	VoiceAgent   Voice = 2
	VoiceTool    Voice = 3
	VoiceHarness Voice = 4 // the program around the agent
)

// Voices lists every voice.
var Voices = [...]Voice{VoicePerson, VoiceAgent, VoiceTool, VoiceHarness}

var voiceNames = [...]string{VoicePerson: "person", VoiceAgent: "agent", VoiceTool: "tool", VoiceHarness: "harness"}

// String returns the voice's name on the wire, or "" if the voice is unknown.
func (v Voice) String() string { return name(voiceNames[:], uint8(v)) }

// ParseVoice reads a voice's name.
func ParseVoice(s string) (Voice, error) {
	n, err := number(voiceNames[:], "voice", s)
	return Voice(n), err
}

// A Thing identifies something by its name without showing the name: a file that a turn touched, an author, a credential. It is
// the first 16 bytes of an HMAC of the canonical name under a key of the tenant. The same name of one tenant gives equal Things,
// and only a holder of the key can find out what a Thing is.
type Thing [16]byte

// String writes the thing as 32 lowercase hex digits.
func (t Thing) String() string { return hex.EncodeToString(t[:]) }

// Compare orders things by their bytes.
func (t Thing) Compare(o Thing) int { return bytes.Compare(t[:], o[:]) }

// ParseThing reads 32 lowercase hex digits.
func ParseThing(s string) (t Thing, err error) {
	return t, ParseHex(t[:], s)
}

// MarkRules identifies the rules that produced a turn's marks. The zero value is none.
type MarkRules uint8

// The rules (docs/phases.md). Stores keep these numbers. Marks1 found voices by how texts begin, so it may have given a
// turn of role tool a person's voice; Marks2 finds them by structure.
const (
	Marks1 MarkRules = 1
	Marks2 MarkRules = 2
)

var markNames = [...]string{Marks1: "marks/1", Marks2: "marks/2"}

// String returns the name of the rules, or "" if they are unknown.
func (r MarkRules) String() string { return name(markNames[:], uint8(r)) }

// Limits on marks.
const (
	MaxThings = 16                   // things of one turn
	MaxCost   = (MaxContent + 3) / 4 // tokens of one turn
)

// Marks are the facts about a turn that are used instead of its text. They are found once, at admission, are outside the turn's
// leaf, and stay when the text is erased.
type Marks struct {
	Rules  MarkRules
	Voice  Voice
	Cost   uint32  // tokens of the content, as the rules count them: UTF-8 bytes / 4, rounded up
	Things []Thing // ascending, without repetitions, at most MaxThings
	Origin Origin  // how the turn came in
}

// Check returns an error, wrapping ErrForm, for the first part of the marks that is malformed.
func (m *Marks) Check() error {
	switch {
	case m.Rules.String() == "":
		return fmt.Errorf("%w: the marks were made by rules number %d, which this version does not know", ErrForm, m.Rules)
	case m.Voice.String() == "":
		return fmt.Errorf("%w: the marks have voice number %d, which this version does not know", ErrForm, m.Voice)
	case m.Cost > MaxCost:
		return fmt.Errorf("%w: the marks have a cost of %d, at most %d", ErrForm, m.Cost, MaxCost)
	}
	if err := m.Origin.Check(); err != nil {
		return err
	}
	return CheckThings(m.Things)
}

// CheckThings returns an error if there are more than MaxThings things or they do not ascend.
func CheckThings(things []Thing) error {
	if len(things) > MaxThings {
		return fmt.Errorf("%w: the marks name %d things, at most %d", ErrForm, len(things), MaxThings)
	}
	for i := 1; i < len(things); i++ {
		if things[i-1].Compare(things[i]) >= 0 {
			return fmt.Errorf("%w: the things of the marks must ascend, each once, and %s does not come after %s", ErrForm, things[i], things[i-1])
		}
	}
	return nil
}

// VoiceOf returns the voice of a turn of a role with these marks under a reading, as [View.Voice] does.
func (m *Marks) VoiceOf(role Role, r Reading) Voice {
	if r != ReadAsMarked && m.foundInText(role) {
		return VoiceTool
	}
	return m.Voice
}

// foundInText reports whether marks/1 found a person's voice in the text of a turn of role tool.
func (m *Marks) foundInText(role Role) bool {
	return m.Rules == Marks1 && m.Voice == VoicePerson && role == RoleTool
}

// Equal reports whether two turns have the same marks.
func (m *Marks) Equal(o *Marks) bool {
	return m.Rules == o.Rules && m.Voice == o.Voice && m.Cost == o.Cost && m.Origin == o.Origin && slices.Equal(m.Things, o.Things)
}

// A Reading is a version of the rules by which selection interprets records. A bundle is made under one reading, which
// its record names, so that a replay interprets the records in the same way. Each reading includes the rules of the
// readings before it. Stores keep these numbers.
type Reading uint8

const (
	ReadAsMarked  Reading = 0 // the voice of a turn is the voice in its marks
	ReadStructure Reading = 1 // in addition: a turn of role tool has the tool's voice, even if marks/1 gave it a person's voice because of its text

	ReadVouched Reading = 2 // in addition: a belief is a constraint only if a person vouches for it, whatever its kind

	ReadStandings Reading = 3 // in addition: a context is of gkc/2, whose candidates include standings

	// ReadNow is the reading of new bundles.
	ReadNow = ReadStandings
)

// A mark packs the cost, the voice and the number of things of a turn into the word that a Graph keeps:
//
//	bits  0–23  cost
//	bits 24–26  voice, or byText
//	bits 27–31  number of things
type mark uint32

// byText is the voice in a mark if marks/1 found a person's voice in the text of a turn of role tool.
const byText Voice = VoiceHarness + 1

const (
	costMask    = 1<<24 - 1
	voiceShift  = 24
	thingsShift = 27
)

func (s *Skeleton) mark() mark {
	m := &s.Marks
	voice := m.Voice
	if m.foundInText(s.Role) {
		voice = byText
	}
	return mark(m.Cost) | mark(voice)<<voiceShift | mark(len(m.Things))<<thingsShift
}

// A touch records that a turn touched a thing. The touches of one turn are adjacent.
type touch struct {
	thing Thing
	node  Node
	older uint32 // the touch of the same thing by the next older turn of the conversation, or none
}

// A touchKey names the list of a conversation's touches of one thing.
type touchKey struct {
	conv  uint32
	thing Thing
}

// touchKeySize is the approximate size of one entry of the map, in bytes.
const touchKeySize = 48

// touch records the things of a node. The node must already have its sequence number.
func (g *Graph) touch(n Node, things []Thing) {
	g.touches = grow(g.touches, len(things))
	for _, thing := range things {
		key, at := touchKey{g.nodes[n].conv, thing}, uint32(len(g.touches))
		g.touches = append(g.touches, touch{thing: thing, node: n, older: none})
		newest, known := g.newest[key]
		switch {
		case !known:
			g.newest[key] = at
		case g.touchSeq(newest) < g.nodes[n].seq:
			g.touches[at].older, g.newest[key] = newest, at
		default: // turns may be added out of the order of their sequence numbers
			for g.touches[newest].older != none && g.touchSeq(g.touches[newest].older) > g.nodes[n].seq {
				newest = g.touches[newest].older
			}
			g.touches[at].older, g.touches[newest].older = g.touches[newest].older, at
		}
	}
}

func (g *Graph) touchSeq(at uint32) Seq { return g.nodes[g.touches[at].node].seq }

// Voice returns the voice of a node under the reading of the view. An absent node has none.
func (v View) Voice(n Node) Voice {
	voice := Voice(v.g.nodes[n].mark >> voiceShift & nameMask)
	if voice != byText {
		return voice
	}
	if v.reading == ReadAsMarked {
		return VoicePerson
	}
	return VoiceTool
}

// Cost returns the cost of a node. An absent node has none.
func (v View) Cost(n Node) int { return int(v.g.nodes[n].mark & costMask) }

// ThingCount returns the number of things that a node's turn touched.
func (v View) ThingCount(n Node) int { return int(v.g.nodes[n].mark >> thingsShift) }

// Thing returns a node's i-th thing.
func (v View) Thing(n Node, i int) Thing { return v.g.touches[v.g.nodes[n].firstTouch+uint32(i)].thing }

// AppendTouching appends turns of n's conversation that touched n's i-th thing and have smaller sequence numbers than
// n, the newest first. most limits their number.
func (v View) AppendTouching(dst []Node, n Node, i, most int) []Node {
	for at := v.g.touches[v.g.nodes[n].firstTouch+uint32(i)].older; at != none && most > 0; most-- {
		t := &v.g.touches[at]
		dst = append(dst, t.node)
		at = t.older
	}
	return dst
}
