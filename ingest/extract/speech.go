package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
)

// pullAddress matches the address of a pull request. mayHavePullAddress is true for every text with a match.
var pullAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bhttps://github\.com/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/pull/([0-9]{1,9})\b`)
})

func mayHavePullAddress(text string) bool {
	_, path, ok := strings.Cut(text, "https://github.com/")
	return ok && strings.Contains(path, "/pull/")
}

// pullNames are the words before a pull request's number, with or without a following space, and with or without an s.
var pullNames = [...]string{"PR", "Pull Request", "Pull request", "pull Request", "pull request"}

// pullNumbers calls found with each number of a pull request in a text: \b(?:PRs?|[Pp]ull [Rr]equests?) ?#([0-9]{1,9})\b. It
// searches for the # first, since most texts have none.
func pullNumbers(text string, found func(number string)) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '#')
		if i < 0 {
			return
		}
		hash := at + i
		at = hash + 1
		for at < len(text) && '0' <= text[at] && text[at] <= '9' {
			at++
		}
		if number := text[hash+1 : at]; number == "" || len(number) > 9 || at < len(text) && isWordByte(text[at]) || !namesPull(text[:hash]) {
			continue
		}
		found(text[hash+1 : at])
	}
}

// namesPull reports whether a text ends with one of pullNames.
func namesPull(text string) bool {
	text = strings.TrimSuffix(strings.TrimSuffix(text, " "), "s")
	for _, name := range pullNames {
		if before, ok := strings.CutSuffix(text, name); ok {
			return before == "" || !isWordByte(before[len(before)-1])
		}
	}
	return false
}

// isWordByte reports whether \b counts c as part of a word.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// commit finds the facts in a commit of a repository's history.
func (x *extraction) commit() {
	x.add(&x.self, MadeCommit, x.self.body.Attrs[dag.AttrExternalID], Structured)
	x.pulls(&x.self, x.self.body.Content)
}

// speech finds the facts in what people and agents say, which excludes the inputs of tools. It skips text that a program wrote
// in a person's place.
func (x *extraction) speech() {
	b := x.self.body
	if b.Attrs[attrMeta] == "true" {
		return
	}
	text := b.Content
	if slices.Contains(strings.Split(b.Attrs[attrBlocks], ","), blockCall) {
		_, around, ok := callsOf(&x.self)
		if !ok {
			x.skipped.UnclearCall++
			return
		}
		text = around
	}
	x.pulls(&x.self, text)
}

// pulls finds the pull requests that a text names.
func (x *extraction) pulls(subject *said, text string) {
	x.addresses(subject, NamedPullRequest, text)
	pullNumbers(text, func(number string) { x.add(subject, NamedPullRequest, "#"+number, Loose) })
}

// addresses finds the addresses of pull requests. It drops anything after the number, which names a part of the pull request.
func (x *extraction) addresses(subject *said, predicate, text string) {
	if !mayHavePullAddress(text) {
		return
	}
	for _, m := range pullAddress().FindAllString(text, -1) {
		x.add(subject, predicate, m, FixedForm)
	}
}
