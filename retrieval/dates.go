package retrieval

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/graphkernel/graphkernel/dag"
)

// Months, weekdays and other expressions of time are recognised in English only.
var months = map[string]string{
	"january": "january", "jan": "january", "february": "february", "feb": "february", "march": "march", "mar": "march", "april": "april", "apr": "april",
	"may": "may", "june": "june", "jun": "june", "july": "july", "jul": "july", "august": "august", "aug": "august",
	"september": "september", "sept": "september", "sep": "september", "october": "october", "oct": "october",
	"november": "november", "nov": "november", "december": "december", "dec": "december",
}

var weekdays = map[string]bool{"monday": true, "tuesday": true, "wednesday": true, "thursday": true, "friday": true, "saturday": true, "sunday": true}

// dateWords appends the dates in the words of a text: months, years, and days next to a month.
func dateWords(dst, words []string) []string {
	for i, w := range words {
		if m, ok := months[w]; ok && (w != "may" || near(words, i, isNumber)) {
			dst = append(dst, m)
			for _, k := range [...]int{i - 1, i + 1} {
				if k >= 0 && k < len(words) && isDay(words[k]) {
					dst = append(dst, "day "+dayOf(words[k]))
				}
			}
			continue
		}
		if len(w) == 4 && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20")) && isNumber(w) {
			dst = append(dst, w)
		}
	}
	return dst
}

// ownDate appends the date words of a turn's own time.
func ownDate(dst []string, at dag.Time) []string {
	t := time.UnixMicro(int64(at)).UTC()
	return append(dst, strings.ToLower(t.Month().String()), strconv.Itoa(t.Year()), "day "+strconv.Itoa(t.Day()))
}

func near(words []string, i int, is func(string) bool) bool {
	return i > 0 && (is(words[i-1]) || isDay(words[i-1])) || i+1 < len(words) && (is(words[i+1]) || isDay(words[i+1]))
}

func isNumber(w string) bool {
	_, err := strconv.Atoi(w)
	return err == nil
}

func dayOf(w string) string { return strings.TrimRight(w, "thsndr") }

func isDay(w string) bool {
	n, err := strconv.Atoi(dayOf(w))
	return err == nil && 1 <= n && n <= 31
}

func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
}

// asksWhen reports whether the words of a question ask for a time.
func asksWhen(words []string) bool {
	for i, w := range words {
		switch {
		case w == "when":
			return true
		case (w == "what" || w == "which") && i+1 < len(words):
			switch words[i+1] {
			case "date", "day", "month", "year", "time", "week":
				return true
			}
		case w == "how" && i+1 < len(words) && words[i+1] == "long":
			return true
		}
	}
	return false
}

var relative = map[string]bool{
	"yesterday": true, "today": true, "tomorrow": true, "tonight": true, "ago": true, "recently": true, "weekend": true, "weekends": true,
}

var spans = map[string]bool{"week": true, "month": true, "year": true, "night": true, "summer": true, "winter": true, "spring": true, "fall": true, "autumn": true, "weekend": true, "days": true, "weeks": true, "months": true, "years": true}

// saysWhen reports whether a text contains an expression of time. dates are the dates in its words.
func saysWhen(words, dates []string) bool {
	if len(dates) > 0 {
		return true
	}
	for i, w := range words {
		switch {
		case relative[w], weekdays[w]:
			return true
		case (w == "last" || w == "next" || w == "this" || w == "past" || w == "previous") && i+1 < len(words) && (spans[words[i+1]] || weekdays[words[i+1]] || months[words[i+1]] != ""):
			return true
		}
	}
	return false
}
