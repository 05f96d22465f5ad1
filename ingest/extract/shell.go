package extract

import "strings"

// A word is a word of a shell command. fixed says that the word contains no variable and no command.
type word struct {
	text  string
	fixed bool
}

// A segment is one simple command. after is the operator after it: "&&", "||", "|", ";" (or a newline), "&", or "" at the end.
type segment struct {
	words []word
	after string
}

// splitShell splits a command into segments as a POSIX shell would, without expanding anything. It drops the bodies of
// here-documents, the targets of redirections and commands within words. ok is false for text that it cannot read, such as an
// unclosed quote.
func splitShell(text string) (list []segment, ok bool) {
	s := &shell{text: text}
	if !s.list(0, 0) {
		return nil, false
	}
	for i := range s.segments {
		s.segments[i].words = plainCommand(s.segments[i].words)
	}
	return s.segments, true
}

// plainCommand drops the words before a command's name.
func plainCommand(words []word) []word {
	for len(words) > 0 {
		switch w := words[0].text; {
		case isAssignment(w), w == "sudo", w == "time", w == "command", w == "env", w == "exec", w == "nohup":
			words = words[1:]
		case w == "timeout" && len(words) > 1:
			words = words[2:]
		default:
			return words
		}
	}
	return words
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

// maxNesting is how deep commands may be nested.
const maxNesting = 32

// A shell is the state of reading one text from left to right.
type shell struct {
	text     string
	at       int
	pending  []string // delimiters of here-documents that begin on the next line
	segments []segment
	words    []word
}

// end ends the current segment; after is the operator after it.
func (s *shell) end(after string) {
	if len(s.words) > 0 {
		s.segments = append(s.segments, segment{s.words, after})
		s.words = nil
	} else if n := len(s.segments); n > 0 && after != "" && s.segments[n-1].after == "" {
		s.segments[n-1].after = after // after a group in parentheses
	}
}

func (s *shell) has(prefix string) bool { return strings.HasPrefix(s.text[s.at:], prefix) }

// list reads up to the unmatched byte until, or to the end of the text if until is 0.
func (s *shell) list(until byte, nesting int) bool {
	if nesting > maxNesting {
		return false
	}
	groups := 0
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case s.has("\\\n"):
			s.at += 2
		case c == '\n':
			s.at++
			s.end(";")
			if !s.documents() {
				return false
			}
		case c == '#':
			if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.text)
			}
		case s.has("&>"):
			s.at++
		case s.has("&&") || s.has("||"):
			s.end(s.text[s.at : s.at+2])
			s.at += 2
		case s.has("|&"):
			s.end("|")
			s.at += 2
		case c == ';' || c == '&' || c == '|':
			s.end(string(c))
			s.at++
		case c == '(':
			s.at++
			groups++
		case c == ')' && groups > 0:
			s.at++
			groups--
			s.end("")
		case c == ')':
			s.at++
			s.end("")
			return until == ')'
		case c == '<' || c == '>':
			if !s.redirection(nesting) {
				return false
			}
		default:
			w, ok := s.word(nesting)
			if !ok {
				return false
			}
			number := w.text != "" && strings.Trim(w.text, "0123456789") == ""
			if number && s.at < len(s.text) && (s.text[s.at] == '<' || s.text[s.at] == '>') {
				continue // the descriptor in 2>&1
			}
			s.words = append(s.words, w)
		}
	}
	s.end("")
	return until == 0 && groups == 0 && len(s.pending) == 0
}

// redirection reads an operator and its target, or a process substitution.
func (s *shell) redirection(nesting int) bool {
	switch {
	case s.has("<(") || s.has(">("):
		s.at += 2
		s.words = append(s.words, word{"", false})
		return s.inner(nesting)
	case s.has("<<") && !s.has("<<<"):
		s.at += 2
		if s.has("-") {
			s.at++
		}
		s.blanks()
		w, ok := s.word(nesting)
		s.pending = append(s.pending, w.text)
		return ok && w.text != ""
	}
	for s.at < len(s.text) && strings.IndexByte("<>&|", s.text[s.at]) >= 0 {
		s.at++
	}
	s.blanks()
	_, ok := s.word(nesting)
	return ok
}

func (s *shell) blanks() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

// documents skips the bodies of here-documents. The last body may end with the text.
func (s *shell) documents() bool {
	for len(s.pending) > 0 {
		if s.at >= len(s.text) {
			return false
		}
		line, _, _ := strings.Cut(s.text[s.at:], "\n")
		s.at = min(s.at+len(line)+1, len(s.text))
		if strings.TrimLeft(line, "\t") == s.pending[0] {
			s.pending = s.pending[1:]
		}
	}
	return true
}

// inner reads the commands within a word and discards them.
func (s *shell) inner(nesting int) bool {
	in := &shell{text: s.text, at: s.at}
	ok := in.list(')', nesting+1)
	s.at = in.at
	return ok
}
