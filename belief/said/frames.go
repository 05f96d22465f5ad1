package said

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
)

// Bounds of a statement of a slot.
const (
	maxSlotted = 24 // words
	maxTopic   = 5  // words of one part of a topic
)

// frames lists the forms of a statement. A small letter marks an element that may be missing.
//
//	T topic   V verb of choosing   B form of to be   C cue   X value   A phrase that leads to the value   K thing that has a version
//	O verb between a value and its topic   P preposition   S to set   L to   R any number of prepositions with topics or cues
var frames = strings.Fields("XcR tVXcR tVXTCR tVCpXR tCVXcR tVKXR tKRBXR KXBCR tCRBXR CTRBXR CXR tRAXR CAXR XBtCR XOTcR StCRLXR")

// Phrases of all slots.
var (
	choosing = lines(`use, uses, using, are using, is using, am using, prefer, prefers, want, wants, want to use, wants to use, prefer to use, prefers to use, prefers using,
		prefer using, like, likes, likes to use, choose, chooses, chose, pick, picks, picked, go with, goes with, going with, went with, stick with, sticks with, stick to, sticks to,
		settled on, settle on, standardise on, standardize on, standardised on, standardized on, have standardised on, have standardized on, switch to, switched to, switches to,
		move to, moved to, migrated to, changed to, change to, adopt, adopted, adopts, have adopted, has adopted,
		is moved to, decided on, decided to use, have decided on, have decided to use, has decided to use, decided to go with, opted for, have chosen, has chosen`)
	being        = append(lines(`is, are, be, am, is:, are:, remains, stays, becomes, is moved to, is set at, is fixed at, is capped at, defaults to, default to, is at most, are at most`), marks...)
	setting      = lines("set, sets, change, changes, changed, keep, keeps, raise, raised, lower, lowered, increase, increased, reduce, reduced, make")
	settingTo    = append(lines("to, at"), marks...)
	marks        = [][]string{{":"}, {"="}} // that say is
	prepositions = set("in for on at of with to as by inside within under")
	limiting     = set("in for as") // prepositions after a value alone: "tabs in Makefiles", but not "the tabs of the page"
	projects     = set("project repo repository codebase team")

	// shifted lists participles of verbs with which a thing gets another value.
	shifted = set("moved switched migrated changed pushed postponed delayed shifted rescheduled extended raised increased lowered reduced set bumped updated upgraded downgraded slipped relocated")

	auxiliary  = set("is are was were got has have") // verbs before them
	directions = set("back forward out up down")     // words after them

	// synonyms lists words that have another form in topics.
	synonyms = map[string]string{"javascript": "js", "typescript": "ts", "prod": "production", "db": "database"}

	// anaphoric lists words whose meaning another text decides.
	anaphoric = set("it that what there who he she here how where when they these those its their his her him them something someone somebody anyone this")

	// hedges lists words with which a text says more, or less, than a statement of a slot does.
	hedges = set(`maybe perhaps probably possibly might may could can cannot would sometimes usually often mostly generally typically occasionally normally mainly partly largely
		some many most several few any either neither both or and also too but except unless if when whenever while until till before after since whether
		was were been had did used supports support supported allows accepts tried trying considering consider plan plans planned planning hopes wish wishes likely unlikely
		without outside than versus vs between ago yesterday previously formerly why how which because so although though however migrating migrate moving switching
		another other each every all again hates dislikes dislike hate instead rather beside besides plus alongside even unlike depending depends per via recently
		one two three four five six seven eight nine ten multiple various different half whatever otherwise think thinks believes believe seems apparently wonder wonders
		example once eventually someday later soon temporarily during optional optionally`)
)

// rewrites lists phrases that have one form in statements of slots. They are applied in this order.
var rewrites = func() (list [][2][]string) {
	for _, r := range [...][2]string{
		{"has been", "is"}, {"have been", "are"}, {"is going to be", "is"}, {"will|should|must|shall be", "is"}, {"has|have|needs|need to be", "is"},
		{"should|must|will|shall use", "use"}, {"has|have|needs|need to use", "use"}, {"should have", "use"}, {"be is", "is"}, {"to be used", "use"},
		{"may|can be up to", "are at most"}, {"may|can be at most", "are at most"}, {"may|can have up to", "are at most"}, {"should|must not exceed", "are at most"}, {"up to", "at most"}, {"no more than", "at most"},
		{"daily standup|scrum", "standup"}, {"daily stand up", "standup"}, {"stand up", "standup"}, {"cache entries", "cache"}, {"version target|support|run", "version"},
		{"default log level", "log level"}, {"are used", "is used"}, {"was renamed to", "is renamed to"}, {"this project", "project"}, {"this repo", "project"},
		{"this repository", "project"}, {"this codebase", "project"}, {"node.js", "node"}, {"nodejs", "node"}, {"golang", "go"}, {"postgresql", "postgres"}, {"only", ""}, {"exclusively", ""}, {"solely", ""}, {"strongly", ""}, {"still", ""},
		{"as of today", ""}, {"as of now", ""}, {"everywhere", ""},
	} {
		for _, p := range lines(r[0]) {
			list = append(list, [2][]string{p, phrase(r[1])})
		}
	}
	for n, number := range strings.Fields("one two three four five six seven eight nine ten") {
		for _, unit := range strings.Fields("second seconds minute minutes hour hours day days week weeks month months year years times attempts retries") {
			list = append(list, [2][]string{{number, unit}, {strconv.Itoa(n + 1), unit}})
		}
	}
	return list
}()

// slotted returns the statement of a text that a slot understands.
func slotted(s sentence) (belief.Literal, bool) {
	if s.several || s.question || len(s.words) > maxSlotted {
		return belief.Literal{}, false
	}
	words := fronted(lasting(moved(rewritten(softened(s.words)))))
	for i := range slots {
		found := slots[i].read(words)
		if len(found) == 0 {
			continue
		}
		if len(found) > 1 {
			break
		}
		f := found[0]
		l := belief.Literal{Subject: subject, Predicate: prefix + slots[i].name, Object: object(f.value), Not: f.negated}
		if f.topic != "" {
			l.Subject = name(topical, f.topic)
		}
		return l, true
	}
	return belief.Literal{}, false
}

func rewritten(words []word) []word {
	var list []word
next:
	for i := 0; i < len(words); {
		for _, r := range rewrites {
			if begins(words[i:], r[0]) {
				for k, w := range r[1] {
					if w == "is" && len(list) > 0 && strings.HasSuffix(list[len(list)-1].text, "s") {
						w = "are"
					}
					list = append(list, word{text: w, indef: k == 0 && words[i].indef, def: k == 0 && words[i].def})
				}
				i += len(r[0])
				continue next
			}
		}
		list = append(list, words[i])
		i++
	}
	return list
}

// fronted moves a preposition and its topic from the beginning to the end: "in Makefiles, use tabs", "for tests use Jest".
func fronted(words []word) []word {
	if len(words) == 0 || !prepositions[words[0].text] {
		if len(words) > 2 && words[0].text == "all" && !prepositions[words[1].text] { // all comments are comments
			return words[1:]
		}
		return words
	}
	at := slices.IndexFunc(words, func(w word) bool { return w.text == "," })
	rest := at + 1
	if at < 0 {
		at = slices.IndexFunc(words, func(w word) bool { return w.text == "use" || w.text == "prefer" })
		if k := slices.IndexFunc(words[min(2, len(words)):], func(w word) bool { return w.def }); k >= 0 && at < 0 { // in production the log level is info
			at = k + 2
		}
		rest = at
	}
	if at > 1 && slices.ContainsFunc(words[1:at], func(w word) bool { return prepositions[w.text] }) {
		return words
	}
	if at < 2 || at > maxTopic+1 {
		return words
	}
	return slices.Concat(words[rest:], words[:at])
}

// moved gives one form to the ways to say that a thing gets another value: "the standup is moved to 10:00", for "we moved the standup from
// 9:30 to 10:00", "the standup was pushed back to 10:00" and others.
func moved(words []word) []word {
	at := slices.IndexFunc(words, func(w word) bool { return shifted[w.text] })
	if at < 0 {
		return words
	}
	to := at + slices.IndexFunc(words[at:], func(w word) bool { return w.text == "to" })
	if to <= at || to-at > 2*maxTopic || slices.ContainsFunc(words[at:to], func(w word) bool { return w.mark() }) {
		return words
	}
	end := to // of the thing
	if from := slices.IndexFunc(words[at:to], func(w word) bool { return w.text == "from" }); from > 0 {
		end = at + from
	}
	thing := words[at+1 : end]
	if len(thing) == 1 && directions[thing[0].text] {
		thing = nil
	}
	before := words[:at]
	if n := len(before); n > 0 && auxiliary[before[n-1].text] {
		before = before[:n-1]
	}
	if len(before) > 0 && len(thing) > 0 || len(thing) > maxTopic || slices.ContainsFunc(thing, func(w word) bool { return prepositions[w.text] }) {
		return words
	}
	if len(before)+len(thing) == 0 {
		return slices.Concat(words[at:at+1], words[to:]) // moved to Berlin
	}
	return slices.Concat(before, thing, plainly("is", "moved"), words[to:])
}

// lasting writes "sprints are 3 weeks long" as "sprints lasts 3 weeks".
func lasting(words []word) []word {
	n := len(words)
	if n < 5 || words[n-1].text != "long" || words[n-2].text == "m" || words[n-4].text != "is" && words[n-4].text != "are" || len(readDuration(words, n-3)) == 0 {
		return words
	}
	return slices.Concat(words[:n-4], plainly("lasts"), words[n-3:n-1])
}

// A fact is what a slot understands of a text.
type fact struct {
	topic, value string
	negated      bool
}

// read returns the different facts that the words state about the slot.
func (s *slot) read(words []word) []fact {
	words, reduced := s.reduce(words)
	if slices.ContainsFunc(words, func(w word) bool { return s.blocks(w) }) {
		return nil
	}
	r, ok := affirm(words)
	if !ok {
		return nil
	}
	m := &match{slot: s, words: r.words, alone: s.alone || reduced, cued: reduced, negated: r.negated}
	for _, f := range frames {
		m.frame = f
		m.run(f, 0)
	}
	return m.found
}

// blocks reports whether the slot understands no text with the word. Numbers may be part of its values.
func (s *slot) blocks(w word) bool {
	if !hedges[w.text] {
		return anaphoric[w.text] && !s.hasWord(w.text)
	}
	return !s.hasWord(w.text)
}

func (s *slot) hasWord(text string) bool {
	return s.shape.words[text] || slices.ContainsFunc(s.leadPhrases, func(p []string) bool { return slices.Contains(p, text) }) ||
		slices.ContainsFunc(s.forms, func(v value) bool { return slices.Contains(v.words, text) })
}

// gone lists what is said of a value that does not hold any more.
var gone = lines("is|are gone, is|are no longer used, is|are history")

// comparisons lists phrases between the value that holds and another one.
var comparisons = lines("over, instead of, rather than, not, and not, never, but not")

// reduce removes a second value of the slot that the words only compare with: "tabs over spaces", "tabs, not spaces", "from npm to pnpm".
func (s *slot) reduce(words []word) (kept []word, reduced bool) {
	if longest(words, comparisons) == 2 && words[0].text != "and" { // instead of npm, use pnpm
		if _, n := s.closed(words, 2); n > 0 {
			rest := words[2+n:]
			if len(rest) > 0 && rest[0].text == "," {
				rest = rest[1:]
			}
			return rest, true
		}
	}
	for i := range words {
		x, n := s.closed(words, i)
		if n == 0 {
			continue
		}
		k := i + n
		comma := k < len(words) && words[k].text == ","
		if comma {
			k++
		}
		c := longest(words[k:], comparisons)
		if c == 0 && k < len(words) && (comma && words[k].text == "no" || !comma && words[k].text == "and") {
			c = 1
		}
		y, n2 := s.closed(words, k+c)
		switch {
		case n2 == 0:
		case x.name == y.name && (c == 0 && comma || c == 1 && words[k].text == "and"): // long, detailed answers
			return s.reduce(slices.Concat(words[:i], words[k+c:]))
		case c > 0 && x.name != y.name && (c > 1 || words[k].text != "and"):
			return slices.Concat(words[:i+n], words[k+c+n2:]), true
		}
	}
	if n := suffixed(words, gone); n > 0 { // Ruff is the formatter, Black is gone
		comma := slices.IndexFunc(words, func(w word) bool { return w.text == "," })
		if y, n2 := s.closed(words, comma+1); comma > 0 && n2 > 0 && comma+1+n2+n == len(words) && !slices.ContainsFunc(words[:comma], func(w word) bool { return w.text == y.words[0] }) {
			return words[:comma], true
		}
	}
	return words, false
}

// closed returns the longest value of the closed list at a word, and its length.
func (s *slot) closed(words []word, at int) (v value, n int) {
	if at >= len(words) {
		return value{}, 0
	}
	for _, f := range s.forms {
		switch {
		case !begins(words[at:], f.words):
		case len(f.words) > n, len(f.words) == n && v.weak && !f.weak:
			v, n = f, len(f.words)
		}
	}
	return v, n
}

// A match reads words by the frames of a slot.
type match struct {
	slot    *slot
	words   []word
	frame   string
	negated bool

	alone bool // a value needs no verb
	cued  bool // a cue or a leading phrase was read
	weak  bool
	value string
	topic []string
	found []fact
}

// run reads the words from at on by the elements of the frame that are left.
func (m *match) run(frame string, at int) {
	if frame == "" {
		if at == len(m.words) {
			m.finish()
		}
		return
	}
	element, rest := frame[0], frame[1:]
	if 'a' <= element && element <= 'z' {
		m.run(rest, at)
		element -= 'a' - 'A'
	}
	if at >= len(m.words) {
		if element == 'R' {
			m.run(rest, at)
		}
		return
	}
	switch element {
	case 'R':
		m.run(rest, at)
		m.around(rest, at)
	case 'T':
		m.topics(at, m.subjective(rest), func(to int) { m.run(rest, to) })
	case 'X':
		m.values(rest, at)
	case 'C':
		m.cue(rest, at)
	case 'A':
		m.lead(rest, at)
	case 'K':
		if n := longest(m.words[at:], m.slot.thingPhrases); n > 0 {
			m.with(m.words[at:at+n], func() { m.run(rest, at+n) })
		}
	case 'P':
		if m.preposition(at) {
			m.run(rest, at+1)
		}
	default:
		if n := longest(m.words[at:], m.list(element)); n > 0 && m.chooses(at) {
			m.run(rest, at+n)
		}
	}
}

// chooses reports whether a verb chooses. People use tools that they do not like, and "tools like npm" says nothing about a choice.
func (m *match) chooses(at int) bool {
	switch m.words[at].text {
	case "like":
		return at == 0 && m.slot.taste && !m.negated
	case "likes":
		return m.slot.taste && !m.negated
	}
	return true
}

func (m *match) list(element byte) [][]string {
	switch element {
	case 'V':
		return m.slot.verbPhrases
	case 'B':
		return being
	case 'O':
		return m.slot.ownPhrases
	case 'S':
		return setting
	}
	return settingTo
}

// subjective reports whether a topic before these elements is the subject of the text.
func (m *match) subjective(rest string) bool {
	rest = strings.TrimPrefix(rest, "R")
	return rest != "" && strings.ContainsRune("VA", rune(rest[0])) || strings.HasPrefix(rest, "CRB")
}

// around reads a preposition and a topic, a cue or both, and whatever follows.
func (m *match) around(rest string, at int) {
	if !m.preposition(at) || m.frame == "XcR" && !limiting[m.words[at].text] {
		return
	}
	next := "R" + rest
	m.run("C"+next, at+1)
	m.topics(at+1, false, func(to int) {
		m.run(next, to)
		m.run("C"+next, to)
	})
}

func (m *match) cue(rest string, at int) {
	n := longest(m.words[at:], m.slot.cuePhrases)
	w := &m.words[at]
	switch {
	case n == 0:
		return
	case w.indef && valueFirst(m.frame): // npm is a package manager
		return
	case strings.HasSuffix(m.frame, "XcR") && managed[w.text] && at > 0 && !m.preposition(at-1): // npm packages
		return
	}
	cued := m.cued
	m.cued = true
	m.run(rest, at+n)
	m.cued = cued
}

// valueFirst reports whether a frame says what a value is: "npm is the package manager".
func valueFirst(frame string) bool { return frame == "XBtCR" || frame == "KXBCR" }

// managed lists cues that name another thing directly after a value.
var managed = set("packages dependencies")

// lead reads a phrase that leads to the value. Its _ is a topic.
func (m *match) lead(rest string, at int) {
	if w := &m.words[at]; w.text == "last" && (at == 0 || w.def || !strings.HasSuffix(m.words[at-1].text, "s")) {
		return // the last 3 days
	}
	cued := m.cued
	m.cued = true
	if n := longest(m.words[at:], m.slot.leadPhrases); n > 0 {
		m.run(rest, at+n)
	}
	for _, p := range m.slot.leadPhrases {
		gap := slices.Index(p, "_")
		if gap < 0 || !begins(m.words[at:], p[:gap]) {
			continue
		}
		m.topics(at+gap, false, func(to int) {
			if begins(m.words[to:], p[gap+1:]) {
				m.run(rest, to+len(p)-gap-1)
			}
		})
	}
	m.cued = cued
}

// topics calls next after each topic that begins at a word. A subject is definite: "a team uses npm" is about no team in particular.
func (m *match) topics(at int, subjective bool, next func(to int)) {
	for to := at; to < len(m.words) && to-at < maxTopic; to++ {
		w := &m.words[to]
		if !m.topical(to) || w.indef && valueFirst(m.frame) || subjective && (w.indef && !(m.slot.shape.general && strings.Contains(m.frame, "A")) || to == at && digit(w.text[0])) {
			return
		}
		if strings.HasSuffix(m.frame, "XTCR") && m.words[at].part {
			return // double-escaped strings
		}
		words := m.words[at : to+1]
		if len(words) == 1 && projects[w.text] && !w.indef {
			if m.slot.shared() || w.text != "team" && subjective && !m.slot.taste && strings.Contains(m.frame, "V") {
				next(to + 1)
				continue
			}
			if w.text != "team" {
				words = plainly("project")
			}
		}
		m.with(words, func() { next(to + 1) })
	}
}

// shared reports whether a project and its team make the same choice in the slot.
func (s *slot) shared() bool { return s.shape.read == nil && !s.taste && !s.topical && !s.own }

// preposition reports whether a word is a preposition. That of on-call is none.
func (m *match) preposition(at int) bool {
	return prepositions[m.words[at].text] && !m.words[at].part
}

// topical reports whether a word may be part of a topic.
func (m *match) topical(at int) bool {
	w := &m.words[at]
	from := m.words[at:]
	if w.mark() || m.preposition(at) || longest(from, being) > 0 || longest(from, choosing) > 0 || longest(from, m.slot.ownPhrases) > 0 {
		return false
	}
	if v, n := m.slot.closed(m.words, at); n > 0 && !v.weak {
		return false
	}
	return longest(from, m.slot.cuePhrases) == 0 || m.slot.things != "" && longest(from, m.slot.thingPhrases) > 0
}

// with adds words to the topic while it calls next.
func (m *match) with(words []word, next func()) {
	n := len(m.topic)
	for i := range words {
		name := stem(words[i].text)
		m.topic = append(m.topic, cmp.Or(synonyms[name], name))
	}
	next()
	m.topic = m.topic[:n]
}

func (m *match) values(rest string, at int) {
	s := m.slot
	if s.shape.read != nil && m.frame == "tVXTCR" {
		return
	}
	if s.shape.read == nil {
		if v, n := s.closed(m.words, at); n > 0 {
			m.take(v.name, v.weak, rest, at+n)
		}
		return
	}
	for _, o := range s.shape.read(m.words, at) {
		if s.shape.greedy && strings.Trim(rest, "cR") == "" && at+o.words != len(m.words) {
			continue
		}
		m.take(o.name, true, rest, at+o.words)
	}
}

func (m *match) take(value string, weak bool, rest string, at int) {
	v, w := m.value, m.weak
	m.value, m.weak = value, weak
	m.run(rest, at)
	m.value, m.weak = v, w
}

// finish records the fact that a frame has read, if it is one of the slot.
func (m *match) finish() {
	s := m.slot
	cued := m.cued || strings.ContainsAny(m.frame, "KO")
	switch {
	case (m.weak || s.cued) && !cued:
		return
	case m.frame == "XcR" && !m.alone && !cued:
		return
	case m.frame == "CTRBXR" && !s.before, m.frame == "tCRBXR" && s.before:
		return
	case m.frame == "CXR" && (s.topical || s.shape.greedy):
		return
	case m.frame == "XcR" && s.shape.read != nil:
		return
	case s.topical && len(m.topic) == 0, s.own && len(m.topic) > 0:
		return
	}
	topic := slices.Clone(m.topic)
	slices.Sort(topic)
	f := fact{topic: strings.Join(slices.Compact(topic), "-"), value: m.value, negated: m.negated}
	if !slices.Contains(m.found, f) {
		m.found = append(m.found, f)
	}
}
