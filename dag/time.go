package dag

import (
	"fmt"
	"strings"
	"time"
)

// A Time is a number of microseconds since 1970-01-01T00:00:00Z, in the years
// 1970 to 9999.
type Time int64

// MaxTime is 9999-12-31T23:59:59.999999Z.
const MaxTime Time = 253402300799_999999

const timeForm = "2006-01-02T15:04:05.000000Z"

// String returns the only valid form of a time: UTC with six digits after the point.
func (t Time) String() string { return string(t.AppendText(nil)) }

// AppendText appends the text that String returns. It formats the digits itself because package time, which parses its
// layout at every call, takes three times as long.
func (t Time) AppendText(dst []byte) []byte {
	at := time.UnixMicro(int64(t)).UTC()
	if !t.Valid() {
		return at.AppendFormat(dst, timeForm)
	}
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	dst = appendDigits(dst, year, 4, '-')
	dst = appendDigits(dst, int(month), 2, '-')
	dst = appendDigits(dst, day, 2, 'T')
	dst = appendDigits(dst, hour, 2, ':')
	dst = appendDigits(dst, minute, 2, ':')
	dst = appendDigits(dst, second, 2, '.')
	return appendDigits(dst, int(t%1_000_000), 6, 'Z')
}

// appendDigits appends n with the given number of digits, then the byte after.
func appendDigits(dst []byte, n, digits int, after byte) []byte {
	dst = append(dst, "000000"[:digits]...)
	for i := len(dst) - 1; n > 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, after)
}

// Valid reports whether t lies in the years 1970 to 9999, the range of GKP/1.
func (t Time) Valid() bool { return 0 <= t && t <= MaxTime }

// TimeOf truncates a time to microseconds. It returns an error for a time outside the years 1970 to 9999.
func TimeOf(t time.Time) (Time, error) {
	// The times are compared as time.Time: far outside the range, UnixMicro and even Year wrap around.
	if t.Before(time.Unix(0, 0)) || !t.Before(time.UnixMicro(int64(MaxTime)+1)) {
		return 0, fmt.Errorf("%w: time %s is outside the years 1970 to 9999", ErrForm, t.UTC().Format(time.RFC3339))
	}
	return Time(t.UnixMicro()), nil
}

// ReadTime reads any RFC 3339 time, as people and other systems write it. Digits below a microsecond are cut off. A
// leap second (:60) is refused, because the count of microseconds since 1970 has no value for it.
func ReadTime(s string) (Time, error) {
	// The RFC allows lowercase "t" and "z"; package time does not read them.
	upper := strings.ToUpper(s)
	t, err := time.Parse(time.RFC3339, upper)
	if err != nil || !hasRFC3339Shape(upper) {
		return 0, fmt.Errorf("%w: %q is not an RFC 3339 time", ErrForm, clip(s))
	}
	return TimeOf(t)
}

// hasRFC3339Shape reports false for forms that package time reads and the RFC does not allow: hours of one digit, a
// decimal comma, and offsets of 24 hours or 60 minutes.
func hasRFC3339Shape(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[len("2006-01-02T15")] != ':' || strings.Contains(s, ",") {
		return false
	}
	offset := s[len(s)-len("+00:00"):]
	return strings.HasSuffix(s, "Z") || offset[1:3] <= "23" && offset[4:] <= "59"
}

// ParseTime reads a time in the form of String. Other spellings are refused.
func ParseTime(s string) (Time, error) {
	t, err := ReadTime(s)
	if err != nil {
		return 0, err
	}
	var text [len(timeForm)]byte
	if string(t.AppendText(text[:0])) != s {
		return 0, fmt.Errorf("%w: time %q is not in the written form, want %s", ErrForm, clip(s), t)
	}
	return t, nil
}
