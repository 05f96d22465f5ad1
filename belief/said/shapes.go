package said

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A shape reads open values.
type shape struct {
	// read returns the values that begin at a word.
	read func(words []word, at int) []option

	// words lists hedges that are words of values.
	words map[string]bool

	// greedy marks values of any words, which reach to the end of the text.
	greedy bool

	// general marks values of all things of a kind: "a session lasts 8 hours".
	general bool
}

// An option is a value and the number of its words.
type option struct {
	name  string
	words int
}

// The shapes.
var (
	count     = shape{read: readCount}
	times     = shape{read: readTimes}
	columns   = shape{read: readColumns}
	duration  = shape{read: readDuration, general: true}
	port      = shape{read: readPort}
	version   = shape{read: readVersion}
	quantity  = shape{read: readQuantity}
	rate      = shape{read: readRate, words: set("per")}
	date      = shape{read: readDate, words: set("may")}
	dayOfYear = shape{read: readDayOfYear, words: set("may")}
	clocktime = shape{read: readTime}
	zone      = shape{read: readZone}
	mail      = shape{read: readMail}
	url       = shape{read: readURL}
	title     = shape{read: readTitle, greedy: true}
	term      = shape{read: readTerm, greedy: true}
	proper    = shape{read: readProper, greedy: true}
	place     = shape{read: readPlace, greedy: true}
	country   = shape{read: readCountry}
)

var (
	wholeNumber   = regexp.MustCompile(`^\d{1,9}$`)
	portNumber    = regexp.MustCompile(`^:?(\d{1,5})$`)
	versionNumber = regexp.MustCompile(`^v?(\d{1,5}(\.(\d{1,8}|x))*)$`)
	amount        = regexp.MustCompile(`^(\d{1,12}(?:\.\d{1,6})?)([a-zµ]*|%)$`)
	isoDate       = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)
	dottedDate    = regexp.MustCompile(`^\d{1,4}[./]\d{1,2}([./]\d{1,4})?\.?$`)
	monthDay      = regexp.MustCompile(`^(\d{1,2})(st|nd|rd|th|\.)?$`)
	year          = regexp.MustCompile(`^(19|20)\d\d$`)
	timeOfDay     = regexp.MustCompile(`^(\d{1,2})([:.](\d{2}))?(am|pm|h)?$`)
	utcOffset     = regexp.MustCompile(`^(utc|gmt)([+-]\d{1,2}(:\d{2})?)?$`)
	region        = regexp.MustCompile(`^[a-z]+/[a-z_]+(/[a-z_]+)?$`)
	mailAddress   = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s.]+$`)
	webAddress    = regexp.MustCompile(`^([a-z][a-z0-9+.]*://\S+|[a-z0-9_.]+\.[a-z]{2,}(:\d+)?(/\S*)?|localhost(:\d+)?(/\S*)?|\d+\.\d+\.\d+\.\d+(:\d+)?(/\S*)?)$`)
)

func one(name string) []option { return []option{{name, 1}} }

func text(words []word, at int) string {
	if at < len(words) {
		return words[at].text
	}
	return ""
}

// counted returns a reader of whole numbers, with one of some units or without.
func counted(units map[string]bool) func(words []word, at int) []option {
	return func(words []word, at int) []option {
		n := words[at].text
		switch {
		case !wholeNumber.MatchString(n):
			return nil
		case units[text(words, at+1)]:
			return []option{{n, 2}}
		}
		return one(n)
	}
}

var (
	readCount   = counted(set("spaces space columns times attempts retries"))
	readColumns = counted(set("characters chars columns cols character column"))
)

// readTimes reads how often something is tried again. "Retry job 12" says nothing about it.
func readTimes(words []word, at int) []option {
	return slices.DeleteFunc(readCount(words, at), func(o option) bool { return words[0].text == "retry" && o.words == 1 })
}

func readPort(words []word, at int) []option {
	m := portNumber.FindStringSubmatch(words[at].text)
	if m == nil || at > 1 && words[at-1].text == "on" && unsaid[words[at-2].text] && (len(m[1]) < 4 || year.MatchString(m[1])) {
		return nil // "the talk is on 2026"
	}
	return one(m[1])
}

func readVersion(words []word, at int) []option {
	m := versionNumber.FindStringSubmatch(words[at].text)
	if m == nil {
		return nil
	}
	if text(words, at+1) == "lts" {
		return []option{{m[1], 2}}
	}
	return one(m[1])
}

// units maps the names of units to one of them, with the factor for whole numbers.
var units = map[string]struct {
	name   string
	factor int64
}{
	"": {"", 1}, "ms": {"ms", 1}, "millisecond": {"ms", 1}, "milliseconds": {"ms", 1}, "s": {"s", 1}, "sec": {"s", 1}, "secs": {"s", 1}, "second": {"s", 1}, "seconds": {"s", 1},
	"m": {"s", 60}, "min": {"s", 60}, "mins": {"s", 60}, "minute": {"s", 60}, "minutes": {"s", 60}, "h": {"s", 3600}, "hr": {"s", 3600}, "hour": {"s", 3600}, "hours": {"s", 3600},
	"d": {"day", 1}, "day": {"day", 1}, "days": {"day", 1}, "week": {"day", 7}, "weeks": {"day", 7}, "month": {"month", 1}, "months": {"month", 1}, "year": {"month", 12}, "years": {"month", 12},
	"b": {"b", 1}, "bytes": {"b", 1}, "kb": {"kb", 1}, "kib": {"kib", 1}, "mb": {"mb", 1}, "mib": {"mib", 1}, "gb": {"gb", 1}, "gib": {"gib", 1}, "tb": {"tb", 1},
	"%": {"percent", 1}, "percent": {"percent", 1}, "items": {"", 1}, "rows": {"", 1}, "connections": {"", 1}, "requests": {"", 1}, "files": {"", 1}, "lines": {"", 1}, "characters": {"", 1},
	"entries": {"", 1}, "results": {"", 1}, "users": {"", 1}, "records": {"", 1}, "messages": {"", 1}, "euros": {"eur", 1}, "dollars": {"usd", 1}, "tokens": {"", 1}, "words": {"", 1}, "points": {"", 1},
}

func readQuantity(words []word, at int) []option {
	m := amount.FindStringSubmatch(words[at].text)
	if m == nil {
		return nil
	}
	unit, size := m[2], 1
	if unit == "" {
		if _, ok := units[text(words, at+1)]; ok && at+1 < len(words) {
			unit, size = words[at+1].text, 2
		}
	}
	u, ok := units[unit]
	if !ok {
		return nil
	}
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
		return []option{{strings.TrimSpace(strconv.FormatInt(n*u.factor, 10) + u.name), size}}
	}
	return []option{{m[1] + unit, size}}
}

// readDuration reads a quantity of time.
func readDuration(words []word, at int) []option {
	return slices.DeleteFunc(readQuantity(words, at), func(o option) bool {
		unit := strings.TrimLeft(o.name, "0123456789.")
		return unit != "ms" && unit != "s" && unit != "day" && unit != "month"
	})
}

var rateWords = set("requests request calls per second seconds minute minutes hour hours day req/s rps req/min requests/s requests/second requests/minute requests/min requests/hour")

func readRate(words []word, at int) []option {
	first := words[at].text
	number, unit, _ := strings.Cut(first, "/")
	if !wholeNumber.MatchString(number) {
		return nil
	}
	var rest []string
	for k := at + 1; k < len(words) && rateWords[words[k].text]; k++ {
		rest = append(rest, words[k].text)
	}
	if unit != "" {
		number += "/" + unit
	}
	return []option{{strings.Join(append([]string{number}, rest...), "-"), 1 + len(rest)}}
}

var months = map[string]string{
	"january": "01", "jan": "01", "february": "02", "feb": "02", "march": "03", "mar": "03", "april": "04", "apr": "04", "may": "05", "june": "06", "jun": "06",
	"july": "07", "jul": "07", "august": "08", "aug": "08", "september": "09", "sep": "09", "sept": "09", "october": "10", "oct": "10", "november": "11", "nov": "11",
	"december": "12", "dec": "12",
}

var dayNames = func() map[string]string {
	m := map[string]string{}
	for _, d := range weekdays {
		name, plural, _ := strings.Cut(d, "=")
		m[name], m[plural] = name, name
	}
	return m
}()

func readDate(words []word, at int) []option {
	from := at
	switch words[at].text {
	case "on", "by", "at":
		at++
	}
	for _, r := range [...]func([]word, int) (string, int){isoDay, dayMonth, monthOnly, quarter} {
		name, n := r(words, at)
		if n == 0 {
			continue
		}
		if y := text(words, at+n); year.MatchString(y) {
			name, n = y+"-"+name, n+1
		}
		return []option{{name, at - from + n}}
	}
	return nil
}

// readDayOfYear reads a date that is no day of the week, because a thing may happen on several of those.
func readDayOfYear(words []word, at int) []option {
	return slices.DeleteFunc(readDate(words, at), func(o option) bool {
		return slices.ContainsFunc(words[at:at+o.words], func(w word) bool { return dayNames[w.text] != "" })
	})
}

func isoDay(words []word, at int) (string, int) {
	w := text(words, at)
	switch {
	case isoDate.MatchString(w), dottedDate.MatchString(w):
		return w, 1
	case dayNames[w] != "":
		return dayNames[w], 1
	case w == "next" && dayNames[text(words, at+1)] != "":
		return "next-" + dayNames[text(words, at+1)], 2
	case w == "tomorrow", w == "today":
		return w, 1
	}
	return "", 0
}

func dayMonth(words []word, at int) (string, int) {
	w, next, n := text(words, at), text(words, at+1), 2
	if next == "of" {
		next, n = text(words, at+2), 3
	}
	if months[w] != "" {
		w, next = next, w
	}
	d := monthDay.FindStringSubmatch(w)
	if d == nil || months[next] == "" {
		return "", 0
	}
	return months[next] + "-" + strings.Repeat("0", 2-len(d[1])) + d[1], n
}

func monthOnly(words []word, at int) (string, int) {
	w := text(words, at)
	if (w == "end" || w == "start" || w == "middle") && text(words, at+1) == "of" {
		if m, n := monthOnly(words, at+2); n > 0 {
			return w + "-" + m, 2 + n
		}
		return "", 0
	}
	if m := months[w]; m != "" && w != "may" && w != "mar" {
		return m, 1
	}
	return "", 0
}

func quarter(words []word, at int) (string, int) {
	switch w := text(words, at); w {
	case "q1", "q2", "q3", "q4":
		return w, 1
	}
	return "", 0
}

func readTime(words []word, at int) []option {
	m := timeOfDay.FindStringSubmatch(words[at].text)
	size := 1
	if m == nil {
		if words[at].text == "noon" || words[at].text == "midnight" {
			return one(words[at].text)
		}
		return nil
	}
	half := m[4]
	if next := text(words, at+1); half == "" && (next == "am" || next == "pm" || next == "h") {
		half, size = next, 2
	}
	if half == "" && m[3] == "" {
		return nil
	}
	hour, _ := strconv.Atoi(m[1])
	if half == "pm" && hour < 12 {
		hour += 12
	}
	minute := m[3]
	if minute == "" {
		minute = "00"
	}
	return []option{{strconv.Itoa(hour) + "-" + minute, size}}
}

var zones = set("utc gmt cet cest bst wet west eet eest msk ist jst kst pst pdt mst mdt cst cdt est edt aest acst awst nzst pacific eastern central mountain")

func readZone(words []word, at int) []option {
	w := words[at].text
	if !zones[w] && !utcOffset.MatchString(w) && !region.MatchString(w) {
		return nil
	}
	if text(words, at+1) == "time" {
		return []option{{w, 2}}
	}
	return one(w)
}

func readMail(words []word, at int) []option {
	if w := words[at].text; mailAddress.MatchString(w) {
		return one(w)
	}
	return nil
}

func readURL(words []word, at int) []option {
	if w := words[at].text; webAddress.MatchString(w) {
		return one(strings.TrimSuffix(w, "/"))
	}
	return nil
}

// qualities lists words that describe a thing and do not name one: "the owner is away", "the default branch is protected".
var qualities = set(`away sick busy free new old unknown unclear responsible missing wrong right correct incorrect fine good bad great best better worse slow fast broken stable unstable
	public private open closed ready happy first last unhappy ok okay important critical necessary mandatory optional empty full safe unsafe secure insecure clean dirty nice
	ugly big small large long short high low too very not so still already there here done complete incomplete outdated current available unavailable late early
	friendly strict loose lenient hidden visible dead alive valid invalid ill out back off-line offline online gone absent present sure unsure aware unaware happy sad
	twice often never always yours mine ours theirs human male female young senior junior quick hard easy difficult simple complex clear obvious
	same different similar equal unique special normal odd weird strange arbitrary accurate inaccurate readable writable immutable mutable case only more less enough
	vacant tbd unset undecided undefined unassigned shared none nobody known null anything something everything home night day weekends school least most reasonable sensible
	kind terrible awful horrible excellent perfect poor rich tiny huge heavy lightweight noisy silent pretty messy sparse cheap expensive obsolete legacy sane insane
	intuitive pointless useless harmless dutch swiss tall wise smart clever funny generous brave calm tired worried
	faster slower smaller larger bigger longer shorter higher lower likely trivial temporary permanent final confidential secret sensitive legal illegal`)

var languageNames = func() map[string]bool {
	m := map[string]bool{}
	for _, l := range languages {
		name, _, _ := strings.Cut(l, "=")
		m[name] = true
	}
	return m
}()

// groups lists the last words of those to whom a thing belongs that they care for. An issue belongs to a milestone.
var groups = set("team squad group guild crew department lead")

// names reports whether a word may be part of a name.
func names(w *word) bool {
	switch {
	case w.mark(), w.indef, w.text != "of" && prepositions[w.text], w.text == "from", qualities[w.text], unsaid[w.text], hedges[w.text], anaphoric[w.text], w.text == "no":
		return false
	}
	return true
}

// describes reports whether the form of a word is that of a participle or an adjective.
func describes(s string) bool {
	for _, end := range [...]string{"ed", "ing", "able", "ible", "ful", "ous", "ly"} {
		if len(s) > len(end)+2 && strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

// readName reads up to most words that may be part of a name.
func readName(words []word, at, most int, fits func(w *word, first bool) bool) (list []option) {
	var name []string
	for k := at; k < len(words) && k-at < most; k++ {
		w := &words[k]
		if !names(w) || !fits(w, k == at) {
			break
		}
		name = append(name, w.text)
		if w.text != "of" {
			list = append(list, option{strings.Join(name, "-"), len(name)})
		}
	}
	return list
}

// readTitle reads the name of a person, a team or a thing. A single word is one only if its form says so: "the owner is kind".
func readTitle(words []word, at int) []option {
	list := readName(words, at, 5, func(w *word, first bool) bool {
		return !first || !digit(w.text[0]) && (w.def || !describes(w.text)) && w.text != "of"
	})
	w := &words[at]
	named := w.def || w.proper && !languageNames[w.text] || at > 0 && words[at-1].mark()
	belongs := at > 1 && words[at-1].text == "to" && strings.HasPrefix(words[at-2].text, "belong")
	return slices.DeleteFunc(list, func(o option) bool {
		last := &words[at+o.words-1]
		if belongs && !groups[last.text] {
			return true
		}
		return o.words == 1 && !named || o.words > 1 && !last.proper && strings.HasSuffix(last.text, "ed")
	})
}

func readTerm(words []word, at int) []option {
	return readName(words, at, 3, func(w *word, _ bool) bool { return !describes(w.text) && w.text != "of" })
}

func readProper(words []word, at int) []option {
	return readName(words, at, 4, func(w *word, _ bool) bool { return w.proper && dayNames[w.text] == "" && months[w.text] == "" })
}

// cities lists places to which people move. After another preposition, every name with a capital counts as a place.
var cities = set(`berlin munich hamburg cologne frankfurt stuttgart leipzig dresden vienna zurich geneva basel bern paris lyon london manchester edinburgh dublin amsterdam rotterdam brussels
	copenhagen stockholm oslo helsinki madrid barcelona lisbon porto rome milan warsaw krakow prague budapest athens istanbul moscow kyiv tallinn riga vilnius bucharest sofia
	toronto montreal vancouver boston chicago seattle denver austin dallas houston atlanta miami philadelphia portland tokyo osaka kyoto seoul beijing shanghai singapore
	sydney melbourne auckland mumbai delhi bangalore bengaluru dubai cairo nairobi lagos`)

var countries = set(`germany austria switzerland france spain portugal italy netherlands belgium luxembourg denmark sweden norway finland iceland ireland england scotland wales uk poland
	czechia slovakia hungary romania bulgaria greece turkey ukraine estonia latvia lithuania croatia serbia slovenia usa us canada mexico brazil argentina chile colombia peru
	japan china india korea taiwan thailand vietnam indonesia malaysia philippines australia israel egypt kenya nigeria morocco europe asia africa america bavaria california texas`)

func readPlace(words []word, at int) []option {
	moved := at > 0 && words[at-1].text == "to"
	return readName(words, at, 3, func(w *word, first bool) bool {
		return w.proper && !countries[w.text] && (!moved || !first || cities[w.text])
	})
}

func readCountry(words []word, at int) []option {
	if w := words[at].text; countries[w] {
		return one(w)
	}
	return nil
}
