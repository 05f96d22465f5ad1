package said

// A reading of a text is its words without those that negate it.
type reading struct {
	words   []word
	negated bool
}

var (
	// partly lists words after which not does not deny the whole text.
	partly = set("only just all every always yet necessarily both even much everyone everything everybody each entirely fully quite merely simply")
	// denials lists words that deny something but cannot be removed.
	denials = set("without neither nor none nothing nobody nowhere hardly rarely seldom barely")
	// trailers lists words that only strengthen a negation.
	trailers = set("anymore ever")
)

// affirm removes the one negation of the words. ok is false if there are several, or one that does not deny the whole text; then the
// words are unchanged.
func affirm(words []word) (r reading, ok bool) {
	var kept []word
	count := 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := func(k int) string {
			if i+k < len(words) {
				return words[i+k].text
			}
			return ""
		}
		switch {
		case w.part:
		case denials[w.text]:
			return reading{words: words}, false
		case (w.text == "do" || w.text == "does") && next(1) == "not":
			continue // not follows
		case w.text == "not", w.text == "never":
			if partly[next(1)] {
				return reading{words: words}, false
			}
			count++
			continue
		case w.text == "no" && next(1) == "longer":
			count++
			i++
			continue
		case w.text == "no" && next(1) != "" && !digit(next(1)[0]) && next(1) != "one" && next(1) != "more" && next(1) != "matter":
			count++
			continue
		case w.text == "avoid" || w.text == "avoids":
			count++
			continue
		case (w.text == "stop" || w.text == "stopped") && next(1) == "using":
			count++
			continue
		}
		kept = append(kept, w)
	}
	if count != 1 {
		return reading{words: words}, count == 0
	}
	kept = strengthened(kept)
	return reading{words: kept, negated: true}, len(kept) > 0
}

// strengthened drops words that only strengthen a negation.
func strengthened(words []word) (kept []word) {
	for i := 0; i < len(words); i++ {
		switch {
		case trailers[words[i].text]:
			continue
		case begins(words[i:], []string{"at", "all"}):
			i++
			continue
		}
		kept = append(kept, words[i])
	}
	return kept
}
