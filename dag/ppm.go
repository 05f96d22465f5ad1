package dag

import (
	"fmt"
	"strconv"
	"strings"
)

// A PPM is a fraction from 0 to 1 held as an integer number of millionths.
// Weights, decay and salience are PPM, so that no decision and no hash rests on
// floating point.
type PPM uint32

// One is the fraction 1.
const One PPM = 1_000_000

// String writes the fraction as people and JSON write it, with no digit more
// than it needs: "0", "0.35", "1". It is what RFC 8785 gives for the number.
func (p PPM) String() string { return string(p.AppendDecimal(nil)) }

// AppendDecimal appends what String returns.
func (p PPM) AppendDecimal(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(p/One), 10)
	rest := p % One
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := One / 10; rest > 0; unit /= 10 {
		dst = append(dst, byte('0'+rest/unit))
		rest %= unit
	}
	return dst
}

// ParsePPM reads a plain decimal from 0 to 1 with at most six digits after the
// point. What it cannot hold exactly it refuses; it never rounds. Signs and
// exponents are refused too.
func ParsePPM(s string) (PPM, error) {
	whole, frac, point := strings.Cut(s, ".")
	if (whole != "0" && whole != "1") || (point && frac == "") {
		return 0, fmt.Errorf("%w: %q is not a plain decimal from 0 to 1", ErrForm, clip(s))
	}
	if len(frac) > 6 {
		return 0, fmt.Errorf("%w: %q has more than six digits after the point", ErrForm, clip(s))
	}
	value := PPM(whole[0]-'0') * One
	unit := One
	for i := 0; i < len(frac); i++ {
		if frac[i] < '0' || frac[i] > '9' {
			return 0, fmt.Errorf("%w: %q is not a plain decimal from 0 to 1", ErrForm, clip(s))
		}
		unit /= 10
		value += PPM(frac[i]-'0') * unit
	}
	if value > One {
		return 0, fmt.Errorf("%w: %q is above 1", ErrForm, clip(s))
	}
	return value, nil
}
