package slice

import (
	"errors"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// An Outline is what attestations say of a bundle of any kind.
type Outline interface {
	// Head returns what all kinds of bundles say of themselves.
	Head() Head

	// Redacted lists the turns whose text is missing, by ascending id: none where a kind of
	// bundle holds no texts.
	Redacted() []dag.TurnID
}

// A Body is what bundles of some kind hold.
type Body interface {
	Outline

	// Check makes every check that needs no key.
	Check() []Check

	// Holds returns what a question that is held within the evidence may see: turns, and statements
	// by their digests.
	Holds() (turns []dag.TurnID, facts []dag.Digest)
}

// A Head is what a bundle of any kind says of itself. Nothing in it may be changed.
type Head struct {
	Anchor     dag.TurnID // outside the provenance, whose anchor it must be
	AsOf       dag.Seq    // of the view that the body was made from; the token of gkp/2 covers it, that of gkp/1 does not
	Provenance Provenance
	Seal       Seal
	Policy     policy.Parameters
	Counts     []Count // of what the body holds, by ascending name
}

// Count returns the count with a name, or 0.
func (h *Head) Count(name string) uint64 {
	for _, c := range h.Counts {
		if c.Name == name {
			return c.N
		}
	}
	return 0
}

// A Count says how many things of one sort a bundle holds. Its name is that in attestations.
type Count struct {
	Name string
	N    uint64
}

// Head returns what all kinds of bundles say of themselves.
func (b *Bundle) Head() Head {
	return Head{b.Anchor, b.AsOf, b.Provenance, b.Seal, b.Policy, turnCounts(len(b.Turns), len(b.Edges))}
}

// Head is the head of the bundle that a seal makes of the slice.
func (s *Slice) Head(seal Seal) Head {
	return Head{s.Provenance.Anchor, s.AsOf, s.Provenance, seal, s.Policy.Params(), turnCounts(len(s.Turns), len(s.Edges))}
}

func turnCounts(turns, edges int) []Count {
	return []Count{{"edges", uint64(edges)}, {"turns", uint64(turns)}}
}

// A Sealed holds the body of a bundle that was verified, and the bytes that it was read from. The
// zero value holds nothing. What was verified, and by whom, is said by the types that are made of
// it: token.Admissible, client.Verified and client.Proven, and their like for facts. They embed it
// in a field that other packages cannot name, so that only the package that verifies can fill one.
//
// Every decoder and encoder is refused, and what the methods return are copies. (An interface with
// an unexported method would be no seal: embedding it in a struct opens it.) Copying a Sealed copies
// what it holds, evidence or nothing.
type Sealed[B Body] struct {
	content *content[B]
}

// content never changes after verification.
type content[B Body] struct {
	body  B
	bytes []byte
}

// NewSealed seals a body with its bytes. Both belong to the Sealed from then on.
func NewSealed[B Body](body B, text []byte) Sealed[B] { return Sealed[B]{&content[B]{body, text}} }

// Unsealed returns the body itself, which must not be changed; the zero value if there is none.
func Unsealed[B Body](s Sealed[B]) (body B) {
	if s.OK() {
		body = s.content.body
	}
	return body
}

// OK reports whether there is evidence in s.
func (s Sealed[B]) OK() bool { return s.content != nil }

// head is that of the body, or of none.
func (s Sealed[B]) head() (h Head) {
	if s.OK() {
		h = s.content.body.Head()
	}
	return h
}

// Provenance returns the six fields, or their zero value.
func (s Sealed[B]) Provenance() Provenance { return s.head().Provenance }

// Tenant returns the tenant whose evidence it is, or "".
func (s Sealed[B]) Tenant() dag.Tenant { return s.head().Seal.Tenant }

// KeyID returns the id of the key whose token seals the evidence, or "".
func (s Sealed[B]) KeyID() string { return s.head().Seal.KeyID }

// AsOf returns the sequence number of the view that the body was made from. It is the one thing
// here that not every token covers: that of gkp/2 does, that of gkp/1 does not.
func (s Sealed[B]) AsOf() dag.Seq { return s.head().AsOf }

// Holds returns the turns and statements that a question may see which is held within the evidence, or none.
func (s Sealed[B]) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	if !s.OK() {
		return nil, nil
	}
	return s.content.body.Holds()
}

// Bytes returns a copy of the very bytes that were verified, or nil.
func (s Sealed[B]) Bytes() []byte {
	if !s.OK() {
		return nil
	}
	return slices.Clone(s.content.bytes)
}

// ErrDecode is returned by every decoder and encoder: evidence cannot be decoded, only verified,
// and evidence that was sent elsewhere would arrive as a claim.
var ErrDecode = errors.New("slice: verified evidence cannot be decoded or encoded; verify the bundle's bytes instead")

// UnmarshalJSON, UnmarshalText, UnmarshalBinary and GobDecode refuse, and so do their opposites.
func (s *Sealed[B]) UnmarshalJSON([]byte) error    { return ErrDecode }
func (s *Sealed[B]) UnmarshalText([]byte) error    { return ErrDecode }
func (s *Sealed[B]) UnmarshalBinary([]byte) error  { return ErrDecode }
func (s *Sealed[B]) GobDecode([]byte) error        { return ErrDecode }
func (s Sealed[B]) MarshalJSON() ([]byte, error)   { return nil, ErrDecode }
func (s Sealed[B]) MarshalText() ([]byte, error)   { return nil, ErrDecode }
func (s Sealed[B]) MarshalBinary() ([]byte, error) { return nil, ErrDecode }
func (s Sealed[B]) GobEncode() ([]byte, error)     { return nil, ErrDecode }

type sealedBundle = Sealed[*Bundle]

// SealedTurns is a Sealed bundle of turns.
type SealedTurns struct{ sealedBundle }

// SealTurns seals a bundle of turns with its bytes.
func SealTurns(b *Bundle, text []byte) SealedTurns { return SealedTurns{NewSealed(b, text)} }

// Turns returns a copy of the turns in reading order, or nil.
func (s SealedTurns) Turns() []BundleTurn {
	if !s.OK() {
		return nil
	}
	return Unsealed(s.sealedBundle).Reading()
}

// Edges returns a copy of the edges, or nil.
func (s SealedTurns) Edges() []dag.Edge {
	if !s.OK() {
		return nil
	}
	return slices.Clone(Unsealed(s.sealedBundle).Edges)
}
