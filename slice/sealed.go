package slice

import (
	"errors"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// An Outline contains the parts of a bundle of any kind that attestations describe.
type Outline interface {
	// Head returns the head of the bundle.
	Head() Head

	// Redacted returns the turns whose text is missing, by ascending id; none for kinds of bundles that contain no texts.
	Redacted() []dag.TurnID
}

// A Body is a bundle of some kind.
type Body interface {
	Outline

	// Check makes every check that needs no key.
	Check() []Check

	// Holds returns the turns, and the statements by their digests, that a question limited to this evidence may see.
	Holds() (turns []dag.TurnID, facts []dag.Digest)
}

// A Head contains the claims that every kind of bundle makes about itself. It must not be changed.
type Head struct {
	Anchor     dag.TurnID // outside the provenance, whose anchor it must equal
	AsOf       dag.Seq    // of the view from which the body was made; the token covers it from gkp/2 on, that of gkp/1 does not
	Provenance Provenance
	Seal       Seal
	Policy     policy.Parameters
	Counts     []Count // of the contents of the body, by ascending name
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

// A Count is the number of things of one kind in a bundle. Its name is the one in attestations.
type Count struct {
	Name string
	N    uint64
}

// Head returns the head of the bundle.
func (b *Bundle) Head() Head {
	return Head{b.Anchor, b.AsOf, b.Provenance, b.Seal, b.Policy, turnCounts(len(b.Turns), len(b.Edges))}
}

// Head returns the head of the bundle that a seal makes from the slice.
func (s *Slice) Head(seal Seal) Head {
	return Head{s.Provenance.Anchor, s.AsOf, s.Provenance, seal, s.Policy.Params(), turnCounts(len(s.Turns), len(s.Edges))}
}

func turnCounts(turns, edges int) []Count {
	return []Count{{"edges", uint64(edges)}, {"turns", uint64(turns)}}
}

// A Sealed contains the body of a verified bundle, and the bytes from which it was read. The zero value is empty. The
// types that embed it say who verified the bundle: token.Admissible, client.Verified and client.Proven, and their
// counterparts for other kinds of bundles. They embed it in a field that other packages cannot name, so that only the
// verifying package can fill it.
//
// All decoding and encoding is refused, and the methods return copies. (An interface with an unexported method would be
// no seal: a struct that embeds the interface implements it.) Copying a Sealed copies its content, evidence or nothing.
type Sealed[B Body] struct {
	content *content[B]
}

// content never changes after verification.
type content[B Body] struct {
	body  B
	bytes []byte
}

// NewSealed seals a body with its bytes. The Sealed takes ownership of both.
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

// head returns the head of the body, or the zero Head.
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

// AsOf returns the sequence number of the view from which the body was made. It is the only value here that some tokens
// do not cover: the token of gkp/1 does not.
func (s Sealed[B]) AsOf() dag.Seq { return s.head().AsOf }

// Holds returns the turns and statements that a question limited to this evidence may see, or none.
func (s Sealed[B]) Holds() (turns []dag.TurnID, facts []dag.Digest) {
	if !s.OK() {
		return nil, nil
	}
	return s.content.body.Holds()
}

// Bytes returns a copy of the bytes that were verified, or nil.
func (s Sealed[B]) Bytes() []byte {
	if !s.OK() {
		return nil
	}
	return slices.Clone(s.content.bytes)
}

// ErrDecode is returned by every decoder and encoder: evidence cannot be decoded, only verified, and evidence that was
// sent elsewhere would arrive as an unverified claim.
var ErrDecode = errors.New("slice: verified evidence cannot be decoded or encoded; verify the bundle's bytes instead")

// UnmarshalJSON, UnmarshalText, UnmarshalBinary and GobDecode return ErrDecode, and so do the encoders.
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
