package console

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
	"github.com/graphkernel/graphkernel/policy"
)

type searchData struct {
	Q, Conversation, Role, Author, Standing, Project, Since, Until, Space, AsOf, Policy string
	Explain                                                                             bool
	Found                                                                               *api.Found
	Turns                                                                               []dag.TurnID // whose id begins with the query
	Issued                                                                              []api.Issued
	Conversations                                                                       []conversationLine
	Wrong                                                                               string
}

// Narrow reports whether the search is restricted.
func (d *searchData) Narrow() bool {
	return d.Conversation+d.Role+d.Author+d.Standing+d.Project+d.Since+d.Until+d.Space+d.AsOf+d.Policy != "" || d.Explain
}

// Named reports whether the query is the prefix of an existing id.
func (d *searchData) Named() bool { return len(d.Turns)+len(d.Issued)+len(d.Conversations) > 0 }

func (d *searchData) body(string) h.Node {
	narrow := func(id, label, name, value, example string) h.Node {
		return h.P(field("f-"+id, label, name, h.Value(value), h.If(example != "", h.Placeholder(example))))
	}
	return h.Group{
		h.H1(h.Text("Search")),
		h.Form(h.Class("search"), h.Action("/search"), h.Role("search"),
			h.P(field("q", "Words, a question, or the beginning of an id", "q", h.Type("search"), h.Value(d.Q), h.MaxLength("4096"), h.If(d.Q == "", h.AutoFocus())), space, button("Search")),
			h.Details(h.If(d.Narrow(), h.Open()), h.Summary(h.Text("Only some turns")), h.Div(h.Class("grid"),
				narrow("author", "by author", "author", d.Author, "human:anna"),
				h.P(h.Label(h.For("f-role"), h.Text("of role")), h.Select(h.ID("f-role"), h.Name("role"), h.Map([]string{"", "user", "assistant", "tool", "system"}, func(r string) h.Node { return option(r, cmp.Or(r, "any"), d.Role) }))),
				h.P(h.Label(h.For("f-standing"), h.Text("of standing")), h.Select(h.ID("f-standing"), h.Name("standing"), h.Map(append([]string{""}, dag.StandingNames()...), func(s string) h.Node { return option(s, cmp.Or(s, "any"), d.Standing) }))),
				narrow("project", "said in folder", "project", d.Project, "/src/shop"),
				narrow("conversation", "of conversation", "conversation", d.Conversation, ""),
				narrow("since", "since", "since", d.Since, "2026-01-31"),
				narrow("until", "before", "until", d.Until, "2026-02-28"),
				narrow("space", "space of beliefs", "space", d.Space, "that rests on the turn"),
				h.P(field("f-asof", "as of number", "as_of", h.Value(d.AsOf), h.InputMode("numeric"))),
				narrow("policy", "under policy", "policy", d.Policy, findPolicy),
				para("check", h.Label(h.Input(h.Name("explain"), h.Type("checkbox"), h.Value("1"), h.If(d.Explain, h.Checked())), h.Text(" say what each score is made of")))))),
		wrong(d.Wrong),
		h.If(len(d.Turns) > 0, h.P(h.Text("Turns whose id begins so:")), wholeTurns(d.Turns)),
		h.If(len(d.Issued) > 0, issuedTable("Slices and contexts whose id begins so", d.Issued)),
		h.If(len(d.Conversations) > 0, h.P(h.Text("Conversations whose id begins so:")), conversationsTable(d.Conversations)),
		d.found(),
	}
}

func (d *searchData) found() h.Node {
	f := d.Found
	if f == nil {
		return nil
	}
	list := h.Group{
		h.If(f.NotIndexed > 0, h.P(h.Textf("The index of the %s after %d is still being made, so they were not looked at.", count(f.NotIndexed, "number", "numbers"), f.AsOf))),
		h.If(f.ByMeaning(), h.P(h.Text("None of these turns has any of the words. They are nearest in meaning:"))),
	}
	if len(f.Hits) == 0 {
		return append(list, h.If(!d.Named(), h.P(h.Text("No turn was found. Fewer or other words find more."))))
	}
	return append(list,
		para("dim", h.Textf("%s, the best first, as of number %d under %s.", count(len(f.Hits), "turn", "turns"), f.AsOf, f.Policy),
			h.If(f.Approximate, h.Text(" A graph of vectors was walked, so turns may have been missed.")), h.If(f.NotReranked != "", space, bdi(f.NotReranked))),
		h.Map(f.BySession(), d.session))
}

// session shows the hits of a conversation below its name.
func (d *searchData) session(s api.SessionHits) h.Node {
	id := s.Conversation.String()
	name := h.Text("Conversation " + short(id))
	if s.Name() != "" {
		name = bdi(line(s.Name(), 90))
	}
	return h.Section(h.Aria("labelledby", "h-"+id),
		h.H2(h.ID("h-"+id), link("/conversations/"+id, name)),
		para("dim", moment(s.FirstAt), h.If(s.Folder != "", h.Text(" · "), bdi(s.Folder))),
		h.Ol(h.Class("hits"), h.Map(s.Hits, d.hit)))
}

// counterpart shows the question or the answer of a hit.
func counterpart(what string, c *api.Counterpart) h.Node {
	if c == nil {
		return nil
	}
	words := line(c.Content, 300)
	if c.Shortened && !strings.HasSuffix(words, "…") {
		words += "…"
	}
	return h.Div(h.Class("counterpart"),
		para("head", span("what", h.Text(what)), space, turnLink(c.Turn), space, author(c.Author), counts(c.Standing), space, moment(c.CreatedAt)),
		h.P(h.Class("excerpt"), h.Dir("auto"), text(words)))
}

func (d *searchData) hit(found api.RankedHit) h.Node {
	why := ""
	if p := found.Parts; p != nil && d.Explain {
		why = "words " + millionths(p.Words) + ", conversation " + millionths(p.Conversation)
		for _, part := range []struct {
			name string
			n    int
		}{{"dates", p.Dates}, {"when", p.When}, {"likeness", p.Like}, {"author", p.Author}, {"judged", p.Judged}} {
			if part.n != 0 {
				why += ", " + part.name + " " + millionths(part.n)
			}
		}
		if p.WordRank != 0 {
			why += fmt.Sprintf(", place by words %d", p.WordRank)
		}
		if p.LikeRank != 0 {
			why += fmt.Sprintf(", place by likeness %d", p.LikeRank)
		}
	}
	asked := h.Node(nil)
	if found.Asks {
		asked = h.Either(found.Question != nil, counterpart("Question", found.Question), para("dim", h.Text("No question before it is known.")))
	}
	return h.Li(asked,
		para("head", dim(fmt.Sprintf("%d.", found.Rank)), space, turnLink(found.Turn), space, who(found.Role, found.Author), counts(found.Standing), space, moment(found.CreatedAt), space,
			link(turnInConversation(found.Conversation.String(), found.Turn.String(), uint64(found.Seq)), h.Text("in its conversation")), h.If(why != "", space, span("why", h.Text(why)))),
		h.P(h.Class("excerpt"), h.Dir("auto"), excerpt(found.Content, d.Q)),
		counterpart("Answer", found.Answer))
}

// turnInConversation returns the path to a turn on a page of its conversation that begins a few turns before it.
func turnInConversation(conversation, turn string, seq uint64) string {
	return "/conversations/" + conversation + "?" + query("after", nonzero(seq-min(seq, 6))) + "#t-" + turn
}

const (
	hits        = 25         // per page
	findPolicy  = "find@2"   // the policy for questions that name no policy
	wordsPolicy = "recall@1" // the policy for what may be the beginning of an id
)

// search finds turns by words, and turns, conversations and evidence by a prefix of their id. The query is in the address.
func search(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := searchData{
		Q: strings.TrimSpace(q.Get("q")), Conversation: q.Get("conversation"), Role: q.Get("role"), Author: q.Get("author"), Standing: q.Get("standing"), Project: q.Get("project"),
		Since: q.Get("since"), Until: q.Get("until"), Space: q.Get("space"), AsOf: q.Get("as_of"), Policy: q.Get("policy"), Explain: q.Get("explain") != "",
	}
	answer := &page{title: "Search", content: &d}
	if d.Q == "" {
		return answer, nil
	}
	if strings.HasPrefix(d.Q, krefScheme) {
		return &page{to: itemPath(d.Q)}, nil
	}
	answer.title = "Search: " + line(d.Q, 60)
	under := findPolicy
	if idLike(d.Q) {
		under = wordsPolicy // an id has no meaning
	}
	in := api.Search{Query: d.Q, Limit: hits, Role: d.Role, Author: d.Author, Standing: d.Standing, Policy: policy.ID(cmp.Or(d.Policy, under)), Space: belief.Space(d.Space), Explain: true, Exchanges: true}
	if d.Project != "" {
		in.Attributes = &api.Attributes{Folder: d.Project}
	}
	if d.Wrong = d.fill(&in); d.Wrong != "" {
		return answer, nil
	}
	if idLike(d.Q) {
		if named, err := ask(v, api.ResolveTurn, api.TurnNamed{Name: d.Q}); err == nil {
			d.Turns = []dag.TurnID{named.ID}
		} else if p := problemIn(err); p != nil {
			d.Turns = p.Candidates
		}
		if found, err := ask(v, api.ListSlices, api.SliceQuery{Begins: strings.ToLower(d.Q)}); err == nil {
			d.Issued = found.Slices
		}
		if list, err := v.beginning(d.Q); err == nil { // nothing is shown to a role without the permission
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

// fill parses the fields that are not plain text, and returns what is wrong with them.
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

// idLike reports whether a query may be the prefix of an id or of a commit.
func idLike(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(strings.ToLower(s), "0123456789abcdef-") == ""
}

// beginning lists at most ten conversations whose id has a prefix. The service lists them by id, so they are adjacent.
func (v *visit) beginning(begin string) ([]conversationLine, error) {
	digits := strings.ToLower(strings.ReplaceAll(begin, "-", ""))
	first, err := hex.DecodeString(digits + strings.Repeat("0", max(0, 32-len(digits))))
	if err != nil || len(first) != 16 {
		return nil, refused(http.StatusNotFound, "no id begins with %.40q", begin)
	}
	for i := 15; i >= 0; i-- { // the id before the first match
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
		return !strings.HasPrefix(strings.ReplaceAll(c.ID.String(), "-", ""), digits)
	}))
}
