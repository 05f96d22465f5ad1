package dag

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// A TurnID names a turn. It is a UUID, ordered by its bytes.
type TurnID [16]byte

// A ConversationID names a conversation. It is a UUID, ordered by its bytes.
type ConversationID [16]byte

// String writes the id in the lowercase 8-4-4-4-12 form.
func (id TurnID) String() string { return uuid.UUID(id).String() }

// String writes the id in the lowercase 8-4-4-4-12 form.
func (id ConversationID) String() string { return uuid.UUID(id).String() }

// Compare orders ids by their bytes, which is also the order of their text.
func (id TurnID) Compare(other TurnID) int { return compare16(id, other) }

// Compare orders ids by their bytes, which is also the order of their text.
func (id ConversationID) Compare(other ConversationID) int { return compare16(id, other) }

// ParseTurnID reads an id in the form of TurnID.String. Other spellings, such as upper case, braces and the urn:
// prefix, are refused.
func ParseTurnID(s string) (TurnID, error) {
	id, err := parseUUID(s)
	return TurnID(id), err
}

// ParseConversationID reads an id in the form of ConversationID.String. Other spellings are refused.
func ParseConversationID(s string) (ConversationID, error) {
	id, err := parseUUID(s)
	return ConversationID(id), err
}

// ExternalTurnID returns the id of a turn that another system knows by a name other than a UUID: UUIDv5 (RFC 9562) in
// the URL namespace of graphkernel:/SOURCE/EXTERNAL-ID. The same source and name always yield the same id.
func ExternalTurnID(source, external string) TurnID {
	return TurnID(externalUUID(source, external))
}

// ExternalConversationID is [ExternalTurnID] for conversations.
func ExternalConversationID(source, external string) ConversationID {
	return ConversationID(externalUUID(source, external))
}

// AttrExternalID is the attribute that keeps the id that another system uses for a turn; the turn's UUID is derived
// from it.
const AttrExternalID = "external_id"

// AttrBroughtBy is the attribute of a turn that names a person as its author although the credential that submitted it
// may not speak for that person. Its value names the credential. Such a turn is data, whatever its role and author say.
const AttrBroughtBy = "brought_by"

// Brought reports whether a body has the attribute AttrBroughtBy.
func (b *Body) Brought() bool { return b.Attrs[AttrBroughtBy] != "" }

func externalUUID(source, external string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("graphkernel:/"+source+"/"+external))
}

// IDText is the number of characters in the text of an id.
const IDText = 36

// Text returns the characters of id. It does not allocate.
func (id TurnID) Text() [IDText]byte { return uuidText(id) }

// AppendText appends the characters of id.
func (id TurnID) AppendText(dst []byte) []byte {
	text := uuidText(id)
	return append(dst, text[:]...)
}

// AppendText appends the characters of id.
func (id ConversationID) AppendText(dst []byte) []byte {
	text := uuidText(id)
	return append(dst, text[:]...)
}

// places contains the offset of each byte of an id in the id's text.
var places = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

func uuidText(id [16]byte) (text [IDText]byte) {
	const digits = "0123456789abcdef"
	for i, b := range id {
		at := places[i]
		text[at], text[at+1] = digits[b>>4], digits[b&15]
	}
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return text
}

func parseUUID(s string) (uuid.UUID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != IDText || strings.ContainsAny(s, "ABCDEF") {
		return uuid.UUID{}, fmt.Errorf("%w: %q is not a UUID in the lowercase 8-4-4-4-12 form", ErrForm, clip(s))
	}
	if id == uuid.Nil {
		return uuid.UUID{}, fmt.Errorf("%w: the nil UUID names nothing", ErrForm)
	}
	return id, nil
}

func compare16(a, b [16]byte) int {
	if high := cmp.Compare(binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8])); high != 0 {
		return high
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:]))
}
