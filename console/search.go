package console

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

type searchData struct {
	Q, Conversation, Role, Author, Project, Since, Until, Space, AsOf, Policy string
	Explain                                                                   bool
	Found                                                                     *api.Found
	Turns                                                                     []string // whose id begins as the query does
	Issued                                                                    []api.Issued
	Conversations                                                             []conversationLine
	Wrong                                                                     string
}

// Narrow reports whether not all turns are searched.
func (d *searchData) Narrow() bool {
	return d.Conversation+d.Role+d.Author+d.Project+d.Since+d.Until+d.Space+d.AsOf+d.Policy != "" || d.Explain
}

// Named reports whether the query is the beginning of the id of something.
func (d *searchData) Named() bool { return len(d.Turns)+len(d.Issued)+len(d.Conversations) > 0 }

const (
	hits       = 25       // of a page
	findPolicy = "find@1" // how people's questions are answered, if they name no policy
)

// search finds turns by words, and turns, conversations and evidence by the beginning of an id. The query is the address.
func search(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := searchData{
		Q: strings.TrimSpace(q.Get("q")), Conversation: q.Get("conversation"), Role: q.Get("role"), Author: q.Get("author"), Project: q.Get("project"),
		Since: q.Get("since"), Until: q.Get("until"), Space: q.Get("space"), AsOf: q.Get("as_of"), Policy: q.Get("policy"), Explain: q.Get("explain") != "",
	}
	answer := &page{"Search", "search", &d, ""}
	if d.Q == "" {
		return answer, nil
	}
	if strings.HasPrefix(d.Q, krefScheme) {
		return &page{to: string(itemPath(d.Q))}, nil
	}
	answer.title = "Search: " + line(d.Q, 60)
	policy := findPolicy
	if idLike(d.Q) {
		policy = "" // by words alone: an id has no meaning
	}
	in := api.Search{Query: d.Q, Limit: hits, Role: d.Role, Author: d.Author, Policy: cmp.Or(d.Policy, policy), Space: d.Space, Explain: true}
	if d.Project != "" {
		in.Attributes = &api.Attributes{Folder: d.Project}
	}
	if d.Wrong = d.fill(&in); d.Wrong != "" {
		return answer, nil
	}
	if idLike(d.Q) {
		if named, err := ask(v, api.ResolveTurn, api.TurnNamed{Name: d.Q}); err == nil {
			d.Turns = []string{named.ID}
		} else if p := problemIn(err); p != nil {
			d.Turns = p.Candidates
		}
		if found, err := ask(v, api.ListSlices, api.SliceQuery{Begins: strings.ToLower(d.Q)}); err == nil {
			d.Issued = found.Slices
		}
		if list, err := v.beginning(d.Q); err == nil { // a role that may not list them is told nothing
			d.Conversations = list
		}
	}
	found, err := ask(v, api.SearchTurns, in)
	if p := problemIn(err); p != nil && (p.Status == http.StatusBadRequest || p.Status == http.StatusNotFound || p.Status == http.StatusUnprocessableEntity) {
		if d.Wrong = p.Detail; d.Named() {
			d.Wrong = "" // it was an id
		}
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	d.Found = &found
	return answer, nil
}

// fill reads what is no plain text, and says what of it is wrong.
func (d *searchData) fill(in *api.Search) string {
	if d.Conversation != "" {
		id, err := dag.ParseConversationID(d.Conversation)
		if err != nil {
			return "Conversation: " + err.Error()
		}
		in.Conversation = &id
	}
	for _, t := range []struct {
		name, text string
		into       **dag.Time
	}{{"Since", d.Since, &in.Since}, {"Until", d.Until, &in.Until}} {
		if t.text == "" {
			continue
		}
		at, err := readTime(t.text)
		if err != nil {
			return t.name + ": " + err.Error()
		}
		*t.into = &at
	}
	n, err := number(d.AsOf)
	if err != nil {
		return "As of: " + err.Error()
	}
	in.AsOf = n
	return ""
}

// idLike reports whether a query may be the beginning of an id or of a commit.
func idLike(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(strings.ToLower(s), "0123456789abcdef-") == ""
}

// beginning lists conversations whose id begins so, at most ten. The service lists them by id: those are next to each other.
func (v *visit) beginning(begin string) ([]conversationLine, error) {
	digits := strings.ToLower(strings.ReplaceAll(begin, "-", ""))
	first, err := hex.DecodeString(digits + strings.Repeat("0", max(0, 32-len(digits))))
	if err != nil || len(first) != 16 {
		return nil, refused(http.StatusNotFound, "%.40q begins no id", begin)
	}
	for i := 15; i >= 0; i-- { // the id before the first of them
		if first[i]--; first[i] != 0xff {
			break
		}
	}
	after := ""
	if digits != strings.Repeat("0", len(digits)) {
		after = dag.ConversationID(first).String()
	}
	got, err := ask(v, api.ListConversations, api.ConversationQuery{Paging: api.Paging{Limit: newest, After: after}})
	if err != nil {
		return nil, err
	}
	return v.named(slices.DeleteFunc(got.Conversations, func(c api.Conversation) bool {
		return !strings.HasPrefix(strings.ReplaceAll(c.ID, "-", ""), digits)
	}))
}
