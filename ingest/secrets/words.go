package secrets

// words finds all words of a list in a text in one pass, ignoring the case of ASCII letters. It is an Aho-Corasick automaton,
// stored as a table from a state and a class of bytes to the next state.
type words struct {
	class   [256]uint8
	classes int
	next    []uint32  // at state·classes + class: the next state·classes, with wordsEnd if words end there
	ends    [][]int32 // by state: the words that end there; nil: none
	length  []int     // by index of the word
}

// wordsEnd marks a step to a state where words end.
const wordsEnd = 1 << 31

// newWords builds the automaton for a list of words.
func newWords(list []string) *words {
	w := &words{classes: 1, length: make([]int, len(list))}
	for _, word := range list {
		for i := 0; i < len(word); i++ {
			if c := lower(word[i]); w.class[c] == 0 {
				w.class[c] = uint8(w.classes)
				w.classes++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		w.class[c] = w.class[lower(c)]
	}
	w.next, w.ends = make([]uint32, w.classes), make([][]int32, 1)
	for id, word := range list {
		w.length[id] = len(word)
		state := 0
		for i := 0; i < len(word); i++ {
			at := &w.next[state*w.classes+int(w.class[word[i]])]
			if *at == 0 {
				*at = uint32(len(w.ends))
				w.ends = append(w.ends, nil)
				w.next = append(w.next, make([]uint32, w.classes)...)
				at = &w.next[state*w.classes+int(w.class[word[i]])]
			}
			state = int(*at)
		}
		w.ends[state] = append(w.ends[state], int32(id))
	}
	w.link()
	return w
}

// link visits the states in the order of their depth, and sets each missing step to the step of the longest shorter state.
func (w *words) link() {
	shorter := make([]uint32, len(w.ends))
	var queue []uint32
	for c := range w.classes {
		if to := w.next[c]; to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		w.ends[state] = append(w.ends[state], w.ends[shorter[state]]...)
		for c := range w.classes {
			at := &w.next[int(state)*w.classes+c]
			fallback := w.next[int(shorter[state])*w.classes+c]
			if *at == 0 {
				*at = fallback
				continue
			}
			shorter[*at] = fallback
			queue = append(queue, *at)
		}
	}
	for i, to := range w.next {
		if w.next[i] *= uint32(w.classes); to != 0 && len(w.ends[to]) > 0 {
			w.next[i] |= wordsEnd
		}
	}
}

// each calls found with the index and the start of each word in a text, until found returns false.
func (w *words) each(text string, found func(word int32, start int) bool) {
	state := uint32(0)
	for i := 0; i < len(text); i++ {
		state = w.next[state+uint32(w.class[text[i]])]
		if state&wordsEnd == 0 {
			continue
		}
		state &^= wordsEnd
		for _, word := range w.ends[state/uint32(w.classes)] {
			if !found(word, i+1-w.length[word]) {
				return
			}
		}
	}
}

// in reports whether a text contains one of the words.
func (w *words) in(text string) (has bool) {
	w.each(text, func(int32, int) bool { has = true; return false })
	return has
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
