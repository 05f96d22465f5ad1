package normalize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// signs are the ASCII characters that normalize/2 treats differently from normalize/1.
const signs = "!#%+-.<=>@^~"

// formV2 applies normalize/2 to a name that is not a literal. The result may be empty.
func formV2(s string) (string, error) {
	ascii := isASCII(s)
	if ascii && !strings.ContainsAny(s, signs) {
		return formV1(s)
	}
	folded := strings.ToLower(s)
	if !ascii {
		var err error
		if folded, err = fold(s); err != nil {
			return "", err
		}
	}
	// No name is known to need more than two rounds, but the loop checks that the result is
	// a fixed point.
	const rounds = 8
	for range rounds {
		next := signed([]rune(folded))
		if next == folded || isFormed(next) {
			if len(next) > MaxName {
				return "", fmt.Errorf("%w: the normalized name has %d bytes, at most %d: %.40q", ErrForm, len(next), MaxName, s)
			}
			return next, nil
		}
		folded = next
	}
	return "", fmt.Errorf("%w: the name has no stable normalized form: %.80q", ErrForm, s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// signed joins the words of a folded name once.
func signed(text []rune) string {
	out := make([]byte, 0, len(text)+8)
	last := rune(-1) // the last character of out that is part of a word; -1: none
	begins := true   // the next character begins a word
	for i, c := range text {
		what := signClass(text, i, begins)
		switch what {
		case separator:
			begins = true
			continue
		case mark:
			if begins {
				continue
			}
		}
		operator := what == inner
		if begins && len(out) > 0 && !operator && !isOperator(last) {
			out = append(out, '-')
		}
		if last = c; operator {
			last = '=' // white space next to an operator does not count
		}
		begins = false
		out = utf8.AppendRune(out, c)
	}
	return string(out)
}

// signClass returns the class of the i-th character of a name: separator, mark, letter, or
// inner, which here means an operator.
func signClass(text []rune, i int, begins bool) class {
	c := text[i]
	at := func(i int) rune {
		if i < 0 || i >= len(text) {
			return ' '
		}
		return text[i]
	}
	before, after := at(i-1), at(i+1)
	switch c {
	case '<', '>', '=':
		return inner
	case '-':
		switch {
		case isOperator(before) || isOperator(after):
			return inner
		case begins && startsNumber(after, at(i+2)):
			return letter
		}
		return separator
	case '%', '~', '@', '#', '^':
		return letter
	case '+':
		if begins && (isWordCharacter(after) || unicode.IsMark(after)) && !startsNumber(after, at(i+2)) {
			return separator
		}
		return letter
	case '!', '.':
		return stopClass(text, i, begins)
	}
	return classOf(c)
}

// stopClass is signClass for ! and the full stop. A single full stop stays before a digit. Several
// full stops, and !, are punctuation if they end a word or follow other punctuation.
func stopClass(text []rune, i int, begins bool) class {
	first, end := i, i+1
	for first > 0 && text[first-1] == text[i] {
		first--
	}
	for end < len(text) && text[end] == text[i] {
		end++
	}
	var before, after rune = ' ', ' '
	if first > 0 {
		before = text[first-1]
	}
	if end < len(text) {
		after = text[end]
	}
	alone := unicode.IsSpace(before) || before == '-' || before == '/' || isOperator(before)
	switch {
	case text[i] == '.' && end-first == 1:
		if isDigit(after) && (isDigit(before) || alone) {
			return letter
		}
	case isWordCharacter(after) || text[i] == '!' && after == '=' || alone:
		return letter
	}
	return separator
}

func isOperator(c rune) bool { return c == '<' || c == '>' || c == '=' }

// isWordCharacter reports whether normalize/1 keeps c wherever it is in a word.
func isWordCharacter(c rune) bool { return classOf(c) == letter }

// startsNumber reports whether a sign before two characters is the sign of a number.
func startsNumber(a, b rune) bool { return isDigit(a) || a == '.' && isDigit(b) }
