package dag

import (
	"fmt"
	"strconv"
	"strings"
)

// A PPM is a fraction from 0 to 1 as an integer number of millionths. Weights, decay and salience are PPM, so that no
// decision and no hash depends on floating point.
type PPM uint32

// One is the fraction 1.
const One PPM = 1_000_000

// String returns the fraction as people and JSON write it, with no more digits than it needs: "0", "0.35", "1". This is
// the RFC 8785 form of the number.
func (p PPM) String() string { return string(p.AppendDecimal(nil)) }

// AppendDecimal appends the text that String returns.
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

// ParsePPM reads a plain decimal from 0 to 1 with at most six digits after the point. It never rounds: it refuses a
// number with more digits. Signs and exponents are refused too.
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

// ReadPPM reads a fraction as programs and people write it: any JSON number that is exactly a number of millionths from
// 0 to 1, such as 0.5, 1e-06 or 25.0E-2. It never rounds. Signed and hashed values are written by String and read by
// [ParsePPM].
func ReadPPM(s string) (PPM, error) {
	mantissa, exponent, hasExponent := strings.Cut(strings.ReplaceAll(s, "E", "e"), "e")
	whole, frac, point := strings.Cut(mantissa, ".")
	power, wellFormed := 0, isDigits(whole) && (whole[0] != '0' || len(whole) == 1) && (!point || isDigits(frac))
	if hasExponent && wellFormed {
		power, wellFormed = readExponent(exponent)
	}
	if !wellFormed {
		return 0, fmt.Errorf("%w: %q is not a number from 0 to 1", ErrForm, clip(s))
	}
	digits := strings.TrimLeft(whole+frac, "0")
	power += 6 - len(frac) // value = digits · 10^power millionths
	kept := strings.TrimRight(digits, "0")
	power += len(digits) - len(kept)
	switch {
	case kept == "":
		return 0, nil
	case len(kept)+power > 7:
		return 0, fmt.Errorf("%w: %q is above 1", ErrForm, clip(s))
	case power < 0:
		return 0, fmt.Errorf("%w: %q is not a whole number of millionths", ErrForm, clip(s))
	}
	n, _ := strconv.ParseUint(kept+strings.Repeat("0", power), 10, 32) // at most seven digits
	if PPM(n) > One {
		return 0, fmt.Errorf("%w: %q is above 1", ErrForm, clip(s))
	}
	return PPM(n), nil
}

// readExponent reads the exponent of a JSON number. An exponent beyond ±2^30 is cut down to that limit; its size no
// longer matters.
func readExponent(s string) (power int, ok bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == s {
		digits = strings.TrimPrefix(s, "+")
	}
	if !isDigits(digits) {
		return 0, false
	}
	const most = 1 << 30 // longer than any text
	n, err := strconv.Atoi(digits)
	if err != nil || n > most {
		n = most
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
