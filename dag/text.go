package dag

import (
	"errors"
	"strings"
)

// Ids, digests and times are texts in JSON, and a PPM is a number. What is read may have any
// spelling that means the same: ids and digests in any case, any RFC 3339 time, any JSON number that is
// exactly a number of millionths. Readers of evidence use the parsers, which take one spelling.

// AnyCase reads what a parser of lowercase text reads, in any case. It is for what callers and files
// name; evidence has one spelling.
func AnyCase[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) { return parse(strings.ToLower(text)) }
}

// MarshalText writes what String returns.
func (id TurnID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads a UUID in any case.
func (id *TurnID) UnmarshalText(text []byte) (err error) {
	*id, err = AnyCase(ParseTurnID)(string(text))
	return err
}

// MarshalText writes what String returns.
func (id ConversationID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads a UUID in any case.
func (id *ConversationID) UnmarshalText(text []byte) (err error) {
	*id, err = AnyCase(ParseConversationID)(string(text))
	return err
}

// MarshalText writes what String returns.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 hex digits in any case.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d, err = AnyCase(ParseDigest)(string(text))
	return err
}

// MarshalText writes what String returns.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(nil), nil }

// UnmarshalText reads what [ReadTime] reads.
func (t *Time) UnmarshalText(text []byte) (err error) {
	*t, err = ReadTime(string(text))
	return err
}

// MarshalJSON writes the number that String returns.
func (p PPM) MarshalJSON() ([]byte, error) { return p.AppendDecimal(nil), nil }

// UnmarshalJSON reads what [ReadPPM] reads.
func (p *PPM) UnmarshalJSON(text []byte) (err error) {
	if len(text) == 0 || text[0] == '"' {
		return errors.New("a fraction is a number")
	}
	*p, err = ReadPPM(string(text))
	return err
}

// MarshalText writes the role's word.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the role's word.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}
