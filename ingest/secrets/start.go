package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A starter uses the positions of a rule's keywords to find where its expression may match, much faster than the expression
// itself: from each keyword it runs a deterministic automaton, which usually fails after a few characters. The automaton is
// built while it runs. It accepts more than the expression: conditions on surrounding characters (\b, ^, $) always hold, and
// long bounded repetitions are unbounded. Accepted text becomes a window, in which the expression is run.
//
// A rule has a starter if every match of its expression begins with one of its keywords, after a prefix of bounded length that
// may be empty, and ends with a suffix of bounded length. TestStarters lists the rules without one.
type starter struct {
	before, after int // the longest prefix and suffix, in bytes

	insts []syntax.Inst
	begin []uint32 // the instructions that wait for the first character
	class [256]uint8
	takes [][]bool // by class, then by instruction: whether the instruction accepts the class

	mu    sync.Mutex
	known map[string]*state
	root  *state // the state of begin; nil: not built yet
}

// A state is a set of instructions that wait for a character.
type state struct {
	pcs     []uint32
	accepts bool
	next    []*state // by class; nil: not built yet
}

const (
	counted   = 40      // longer repetitions are treated as unbounded
	mostState = 5_000   // largest number of states; beyond it, the automaton is built anew
	skip      = 255     // the class of the continuation bytes of characters
	mostWords = 500     // largest number of beginnings of an expression that are checked
	prefixFew = 1 << 10 // largest prefix or suffix, in bytes
)

// newStarter returns nil if the expression has to search the whole text.
func newStarter(expression string, keywords []string) *starter {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic("secrets: " + err.Error())
	}
	list := flatten(re)
	s := &starter{known: map[string]*state{}}
	for len(list) > 0 && nullable(list[0]) {
		n, ok := longest(list[0])
		if s.before += n; !ok {
			return nil
		}
		list = list[1:]
	}
	for len(list) > 0 && nullable(list[len(list)-1]) {
		n, ok := longest(list[len(list)-1])
		if !ok {
			break
		}
		s.after += n
		list = list[:len(list)-1]
	}
	if len(list) == 0 || s.before > prefixFew || s.after > prefixFew {
		return nil
	}
	body := &syntax.Regexp{Op: syntax.OpConcat, Sub: list}
	if !beginsWith(body, keywords) {
		return nil
	}
	prog, err := syntax.Compile(relax(body).Simplify())
	if err != nil {
		return nil
	}
	s.insts = prog.Inst
	s.begin = s.follow(nil, uint32(prog.Start))
	s.classify()
	return s
}

// flatten returns the parts of a concatenation, also of nested ones.
func flatten(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat:
		var list []*syntax.Regexp
		for _, sub := range re.Sub {
			list = append(list, flatten(sub)...)
		}
		return list
	case syntax.OpCapture:
		return flatten(re.Sub[0])
	}
	return []*syntax.Regexp{re}
}

// nullable reports whether an expression may match the empty text. Conditions on surrounding characters match the empty text.
func nullable(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary,
		syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || nullable(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return nullable(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !nullable(sub) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, nullable)
	}
	return false
}

// longest returns the length of the longest match in bytes; ok is false if there is no bound.
func longest(re *syntax.Regexp) (n int, ok bool) {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune), true
	case syntax.OpCharClass:
		if beyond(re.Rune) {
			return utf8.UTFMax, true
		}
		return 1, true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax, true
	case syntax.OpRepeat:
		n, ok = longest(re.Sub[0])
		return n * re.Max, ok && re.Max >= 0
	}
	ok = true
	for _, sub := range re.Sub {
		m, bounded := longest(sub)
		if ok = ok && bounded; re.Op == syntax.OpAlternate {
			n = max(n, m)
		} else {
			n += m
		}
	}
	return n, ok
}

// beginsWith reports whether every match of an expression begins with one of the keywords, in any letter case.
func beginsWith(re *syntax.Regexp, keywords []string) bool {
	var b beginnings
	for _, word := range keywords {
		b.words = append(b.words, strings.ToLower(word))
	}
	heads := b.of(re, []string{""})
	return !b.failed && len(heads) > 0 && !slices.ContainsFunc(heads, func(head string) bool { return !b.have(head) })
}

// beginnings lists the beginnings of an expression's matches, in lower case, until each starts with a keyword.
type beginnings struct {
	words  []string
	failed bool // the list became too long
}

// have reports whether a beginning starts with a keyword.
func (b *beginnings) have(head string) bool {
	return slices.ContainsFunc(b.words, func(word string) bool { return strings.HasPrefix(head, word) })
}

// final marks a beginning after which anything may follow.
const final = "\x00"

// of extends the beginnings by an expression that follows them.
func (b *beginnings) of(re *syntax.Regexp, heads []string) []string {
	if b.failed || !slices.ContainsFunc(heads, b.open) {
		return heads
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return heads
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			heads = b.add(heads, []rune{r})
		}
		return heads
	case syntax.OpCharClass:
		var runes []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if r == kelvin || r == longS {
					continue
				}
				if runes = append(runes, r); len(runes) > 8 {
					return b.end(heads)
				}
			}
		}
		return b.add(heads, runes)
	case syntax.OpCapture:
		return b.of(re.Sub[0], heads)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			heads = b.of(sub, heads)
		}
		return heads
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			out = append(out, b.of(sub, heads)...)
		}
		return b.few(out)
	case syntax.OpQuest:
		return b.few(append(slices.Clone(heads), b.of(re.Sub[0], heads)...))
	case syntax.OpPlus:
		return b.end(b.of(re.Sub[0], heads))
	case syntax.OpRepeat:
		for range re.Min {
			heads = b.of(re.Sub[0], heads)
		}
		if re.Max == re.Min {
			return heads
		}
	}
	return b.end(heads)
}

func (b *beginnings) open(head string) bool {
	return !strings.HasSuffix(head, final) && !b.have(head)
}

func (b *beginnings) add(heads []string, runes []rune) []string {
	var out []string
	for _, head := range heads {
		if !b.open(head) {
			out = append(out, head)
			continue
		}
		for _, r := range runes {
			out = append(out, head+string(unicode.ToLower(r)))
		}
	}
	return b.few(out)
}

func (b *beginnings) end(heads []string) []string {
	var out []string
	for _, head := range heads {
		if b.open(head) {
			head += final
		}
		out = append(out, head)
	}
	return b.few(out)
}

func (b *beginnings) few(heads []string) []string {
	slices.Sort(heads)
	heads = slices.Compact(heads)
	b.failed = b.failed || len(heads) > mostWords
	return heads
}

// relax returns an expression that accepts at least the same texts.
func relax(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	out.Flags &^= syntax.NonGreedy
	out.Sub = nil
	for _, sub := range re.Sub {
		out.Sub = append(out.Sub, relax(sub))
	}
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}
	case syntax.OpCapture:
		return out.Sub[0]
	case syntax.OpRepeat:
		out.Min = min(out.Min, counted)
		if out.Max > counted {
			out.Max = -1
		}
	}
	return &out
}

// follow adds to set the instructions that wait for a character, starting from pc.
func (s *starter) follow(set []uint32, pc uint32) []uint32 {
	seen := map[uint32]bool{}
	for _, have := range set {
		seen[have] = true
	}
	stack := []uint32{pc}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch in := &s.insts[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			stack = append(stack, in.Out)
		case syntax.InstFail:
		default:
			set = append(set, pc)
		}
	}
	return set
}

// classify puts bytes into one class if every instruction treats them alike. Characters beyond ASCII are one class: an
// instruction that accepts any of them counts as accepting all.
func (s *starter) classify() {
	byRow := map[string]uint8{}
	for c := 0; c <= utf8.RuneSelf; c++ {
		row := make([]bool, len(s.insts))
		key := make([]byte, len(s.insts))
		for pc := range s.insts {
			in := &s.insts[pc]
			switch in.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if row[pc] = c < utf8.RuneSelf && in.MatchRune(rune(c)) || c == utf8.RuneSelf && takesBeyond(in); row[pc] {
					key[pc] = 1
				}
			}
		}
		class, ok := byRow[string(key)]
		if !ok {
			class = uint8(len(s.takes))
			byRow[string(key)] = class
			s.takes = append(s.takes, row)
		}
		if c < utf8.RuneSelf {
			s.class[c] = class
			continue
		}
		for b := utf8.RuneSelf; b < 256; b++ {
			if s.class[b] = skip; b >= 0xc0 {
				s.class[b] = class
			}
		}
	}
}

// takesBeyond reports whether an instruction may take a character beyond ASCII.
func takesBeyond(in *syntax.Inst) bool {
	switch {
	case in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL:
		return true
	case len(in.Rune) == 1:
		return in.Rune[0] >= utf8.RuneSelf
	}
	return beyond(in.Rune)
}

// kelvin and longS are the characters beyond ASCII that are case variants of ASCII letters. A text with one of them is not
// plain.
const kelvin, longS = '\u212a', '\u017f'

// beyond reports whether ranges of characters include characters beyond ASCII.
func beyond(ranges []rune) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi >= utf8.RuneSelf && (lo != hi || lo != kelvin && lo != longS) {
			return true
		}
	}
	return false
}

// A window is a part of a text, in byte offsets.
type window struct{ start, end int }

// aligned returns the window extended by one character on each side.
func (w window) aligned(text string) window {
	w.start, w.end = max(0, w.start-1), min(len(text), w.end+1)
	for w.start > 0 && !utf8.RuneStart(text[w.start]) {
		w.start--
	}
	for w.end < len(text) && !utf8.RuneStart(text[w.end]) {
		w.end++
	}
	return w
}

// windows returns the parts of a text that contain all matches, extended by one character on each side, so that \b, ^ and $ see
// the same characters as in the text: no match touches the edge of a window, since the automaton would then accept more.
// positions are the starts of keywords, in ascending order. windows returns false if it takes too long; the expression then has
// to search the whole text.
func (s *starter) windows(text string, positions []int32) (list []window, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	steps := 16*len(text) + 1<<12
	for _, at := range positions {
		end := -1
		if s.root == nil {
			s.root = s.state(s.begin)
		}
		now := s.root
		i := int(at)
		for ; i < len(text) && len(now.pcs) > 0; i++ {
			class := s.class[text[i]]
			if class == skip {
				continue
			}
			next := now.next[class]
			if next == nil {
				next = s.step(now, class)
			}
			if now = next; now.accepts {
				end = i + 1
			}
		}
		if steps -= i - int(at); steps < 0 {
			return nil, false
		}
		if end < 0 {
			continue
		}
		w := window{max(0, int(at)-s.before), min(len(text), end+s.after)}.aligned(text)
		if last := len(list) - 1; last >= 0 && w.start <= list[last].end {
			list[last].end = max(list[last].end, w.end)
		} else {
			list = append(list, w)
		}
	}
	return list, true
}

// state returns the state for a set of instructions.
func (s *starter) state(pcs []uint32) *state {
	slices.Sort(pcs)
	key := make([]byte, 0, 3*len(pcs))
	for _, pc := range pcs {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	if known := s.known[string(key)]; known != nil {
		return known
	}
	st := &state{pcs: pcs, next: make([]*state, len(s.takes))}
	for _, pc := range pcs {
		st.accepts = st.accepts || s.insts[pc].Op == syntax.InstMatch
	}
	s.known[string(key)] = st
	return st
}

// step builds the transition from a state by a class.
func (s *starter) step(from *state, class uint8) *state {
	if len(s.known) > mostState {
		clear(s.known) // the states in use stay valid until the next keyword
		s.root = nil
	}
	var pcs []uint32
	for _, pc := range from.pcs {
		if s.takes[class][pc] {
			pcs = s.follow(pcs, s.insts[pc].Out)
		}
	}
	to := s.state(pcs)
	from.next[class] = to
	return to
}
