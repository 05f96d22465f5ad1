package dag

import (
	"errors"
	"strings"
)

// In JSON, ids, digests and times are strings, and a PPM is a number. The Unmarshal methods accept any spelling with
// the same meaning: ids and digests in any case, any RFC 3339 time, any JSON number that is exactly a number of
// millionths. Readers of evidence use the Parse functions, which accept one spelling.

// AnyCase returns a parser that accepts in any case what parse accepts in lower case. It is for names from callers and
// files; evidence has one spelling.
func AnyCase[T any](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) { return parse(strings.ToLower(text)) }
}

// MarshalText returns the text of String.
func (id TurnID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads a UUID in any case.
func (id *TurnID) UnmarshalText(text []byte) (err error) {
	*id, err = AnyCase(ParseTurnID)(string(text))
	return err
}

// MarshalText returns the text of String.
func (id ConversationID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads a UUID in any case.
func (id *ConversationID) UnmarshalText(text []byte) (err error) {
	*id, err = AnyCase(ParseConversationID)(string(text))
	return err
}

// MarshalText returns the text of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 hex digits in any case.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d, err = AnyCase(ParseDigest)(string(text))
	return err
}

// MarshalText returns the text of String.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(nil), nil }

// UnmarshalText reads a time in any form that [ReadTime] reads.
func (t *Time) UnmarshalText(text []byte) (err error) {
	*t, err = ReadTime(string(text))
	return err
}

// MarshalJSON returns the number that String returns.
func (p PPM) MarshalJSON() ([]byte, error) { return p.AppendDecimal(nil), nil }

// UnmarshalJSON reads a number in any form that [ReadPPM] reads.
func (p *PPM) UnmarshalJSON(text []byte) (err error) {
	if len(text) == 0 || text[0] == '"' {
		return errors.New("want a number from 0 to 1, without quotes")
	}
	*p, err = ReadPPM(string(text))
	return err
}

// MarshalText returns the role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the role's name.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}
