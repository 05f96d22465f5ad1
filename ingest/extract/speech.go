package extract

import (
	"regexp"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

var (
	pullAddress = regexp.MustCompile(`\bhttps://github\.com/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/pull/([0-9]{1,9})\b`)
	pullNumber  = regexp.MustCompile(`\b(?:PRs?|[Pp]ull [Rr]equests?) ?#([0-9]{1,9})\b`)
)

// commit takes a commit of a repository's history.
func (x *extraction) commit() {
	x.add(&x.self, MadeCommit, x.self.body.Attrs[dag.AttrExternalID], Structured)
	x.pulls(&x.self, x.self.body.Content)
}

// speech takes what people and agents say, which is all but the inputs of tools.
// What a program put in a person's place is not said by anybody.
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
	for _, m := range pullNumber.FindAllStringSubmatch(text, -1) {
		x.add(subject, NamedPullRequest, "#"+m[1], Loose)
	}
}

// addresses finds those of pull requests. What follows the number names a part.
func (x *extraction) addresses(subject *said, predicate, text string) {
	for _, m := range pullAddress.FindAllString(text, -1) {
		x.add(subject, predicate, m, FixedForm)
	}
}
