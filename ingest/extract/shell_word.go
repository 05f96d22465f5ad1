package extract

import "strings"

// word reads one word. The word may be empty if it consists only of quotes.
func (s *shell) word(nesting int) (word, bool) {
	var text strings.Builder
	w := word{fixed: true}
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case strings.IndexByte(" \t\r\n;&|<>()", c) >= 0:
			w.text = text.String()
			return w, true
		case c == '\\':
			if !s.has("\\\n") && s.at+1 < len(s.text) {
				text.WriteByte(s.text[s.at+1])
			}
			s.at = min(s.at+2, len(s.text))
		case c == '\'':
			end := strings.IndexByte(s.text[s.at+1:], '\'')
			if end < 0 {
				return word{}, false
			}
			text.WriteString(s.text[s.at+1 : s.at+1+end])
			s.at += end + 2
		case c == '"':
			s.at++
			if !s.quoted(&text, &w, nesting) {
				return word{}, false
			}
		case c == '$' || c == '`':
			w.fixed = false
			if !s.expansion(nesting) {
				return word{}, false
			}
		default:
			if c == '*' || c == '?' || c == '{' || c == '~' && text.Len() == 0 {
				w.fixed = false
			}
			text.WriteByte(c)
			s.at++
		}
	}
	w.text = text.String()
	return w, true
}

// quoted reads the rest of a double-quoted text; the opening quote was read.
func (s *shell) quoted(text *strings.Builder, w *word, nesting int) bool {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return true
		case c == '\\' && s.at+1 < len(s.text):
			if next := s.text[s.at+1]; strings.IndexByte("\"\\$`\n", next) < 0 {
				text.WriteByte('\\')
			}
			if s.text[s.at+1] != '\n' {
				text.WriteByte(s.text[s.at+1])
			}
			s.at += 2
		case c == '$' || c == '`':
			w.fixed = false
			if !s.expansion(nesting) {
				return false
			}
		default:
			text.WriteByte(c)
			s.at++
		}
	}
	return false
}

// expansion skips a variable or a command in a word, beginning with $ or `.
func (s *shell) expansion(nesting int) bool {
	switch {
	case s.has("`"):
		for s.at++; s.at < len(s.text); s.at++ {
			switch s.text[s.at] {
			case '\\':
				s.at++
			case '`':
				s.at++
				return true
			}
		}
		return false
	case s.has("$("):
		s.at += 2
		return s.inner(nesting)
	case s.has("${"):
		end := strings.IndexByte(s.text[s.at:], '}')
		if end < 0 {
			return false
		}
		s.at += end + 1
		return true
	}
	s.at++ // the variable's name is read as text; the word is not fixed anyway
	return true
}
