package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// A turnRow is a turn as shown in lists.
type turnRow struct {
	Stored api.StoredTurn
	api.Turn
	Standing string       // how much its words count; "" if it was not asked for
	Lane     int          // number of branches to the left of it
	Parent   string       // the turn that it continues, if that is not the previous one
	Others   []api.Parent // the turns that it follows by other edges
	Cut      bool         // the text is longer than shown
	Parts    []part       // of a turn that changes files
	Results  []turnRow    // the results of its calls that are on the same page
}

// shownText is the number of bytes of a turn's text in a list, and wholeText on the turn's own page, unless the whole text is requested.
const (
	shownText = 3000
	wholeText = 64 << 10
)

// readTurn parses a stored turn, and cuts its text to a number of bytes.
func readTurn(s *api.StoredTurn, most int) (row turnRow, err error) {
	row.Stored = *s
	if err := json.Unmarshal(s.Turn, &row.Turn); err != nil {
		return row, fmt.Errorf("turn number %d cannot be read: %w", s.Seq, err)
	}
	row.Parts = partsOf(&row.Turn)
	if most > 0 && len(row.Content) > most {
		row.Content, row.Cut = whole8(row.Content, most), true
	}
	return row, nil
}

// whole8 cuts a text to at most a number of bytes, between two characters.
func whole8(s string, most int) string {
	if most >= len(s) {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most]
}

// A strand is a sequence of turns: those of the conversation itself, or those of a sub-agent, which are folded.
type strand struct {
	Agent string // the first turn of a sub-agent; "" for the conversation itself
	Rows  []turnRow
	Turns int    // including the results of calls
	last  string // the last turn shown
}

type conversationData struct {
	ID      string
	Title   string
	First   string // the first words of a person, if there is no title
	Strands []strand
	Count   int
	After   string
	Next    string
	Drawing *drawing
}

func (d *conversationData) body(string) h.Node {
	heading := h.Text("Conversation " + short(d.ID))
	switch {
	case d.Title != "":
		heading = bdi(line(d.Title, 200))
	case d.First != "":
		heading = bdi(line(d.First, 100))
	}
	return h.Group{
		h.H1(heading),
		para("dim", h.Text("Conversation "), code(d.ID), h.Text(" · "+count(d.Count, "turn", "turns")), h.If(d.After+d.Next != "", h.Text(" on this page"))),
		h.Form(h.Class("inline"), h.Action("/search"), h.Role("search"), h.P(hidden("conversation", d.ID),
			h.Input(h.Name("q"), h.Type("search"), h.Aria("label", "Search this conversation"), h.Placeholder("Search this conversation")), space, button("Search"))),
		d.Drawing.figure(),
		h.Map(d.Strands, func(s strand) h.Node {
			list := turnList(s.Rows, "turns")
			if s.Agent == "" {
				return list
			}
			return h.Details(h.Class("agent"), h.Summary(h.Text("Sub-agent: "+count(s.Turns, "turn", "turns")+" from "+short(s.Agent)+" on")), list)
		}),
		h.If(d.Count == 0, h.P(h.Text("There is no turn on this page."))),
		para("pager", h.If(d.After != "", link("/conversations/"+d.ID, h.Text("From the beginning")), space), h.If(d.Next != "", nextLink("/conversations/"+d.ID+"?"+query("after", d.Next), "The next turns"))),
	}
}

// row shows a turn in the list of its conversation.
func (t *turnRow) row() h.Node {
	return h.Li(h.ID("t-"+t.ID), h.Class(fmt.Sprintf("turn lane-%d by-%s", t.Lane, t.Role)),
		para("head", who(t.Role, t.Author), counts(t.Standing), space, moment(t.CreatedAt), space, dim(t.Phase), space, turnLink(t.ID),
			h.If(t.Parent != "", space, dim("continues"), space, link("#t-"+t.Parent, shortID(t.Parent))),
			h.Map(t.Others, func(p api.Parent) h.Node { return h.Group{space, dim(p.Kind + " of"), space, turnLink(p.ID)} })),
		t.text(), h.If(len(t.Results) > 0, turnList(t.Results, "turns results")))
}

// turnList shows turns one below the other.
func turnList(list []turnRow, class string) h.Node {
	return h.Ol(h.Class(class), h.Map(list, func(t turnRow) h.Node { return t.row() }))
}

// answers reports whether a turn is the result of another turn's call: importers give both turns the id of the call.
func (t *turnRow) answers(call *turnRow) bool {
	const id = "tool_use_id"
	return t.Role == "tool" && call.Role == "assistant" && t.Attrs[id] != "" && slices.ContainsFunc(strings.Split(t.Attrs[id], ","), func(one string) bool { return slices.Contains(strings.Split(call.Attrs[id], ","), one) })
}

// text shows the text of a turn in a list.
func (t *turnRow) text() h.Node {
	switch {
	case t.Stored.Redacted:
		return para("gone", h.Text("The text was erased, or the turn came without it."))
	case strings.TrimSpace(t.Content) == "":
		return para("dim", h.Text("no text"))
	case t.Parts != nil:
		return h.Group{changes(t.Parts, shownText), h.If(t.Cut, h.P(link("/turns/"+t.ID, h.Text("All of the call"))))}
	}
	return h.Group{said(t.Content), h.If(t.Cut, h.P(link("/turns/"+t.ID, h.Text("The text goes on"))))}
}

// summary returns the text of a turn, or the path of the file it changes.
func (t *turnRow) summary() string {
	for _, p := range t.Parts {
		switch {
		case p.Changes != nil:
			return "Change of " + p.Changes[0].Path
		case p.Text != "":
			return p.Text
		}
	}
	return t.Content
}

// brief shows a turn on one line, with its id and the kind of its edge.
func (t *turnRow) brief(kind string) h.Node {
	return h.Group{turnLink(t.ID), space, h.If(kind != "", dim(kind), space), who(t.Role, t.Author), space, bdi(line(t.summary(), 140))}
}

// turnsOfPage is the number of turns on a page of a conversation.
const turnsOfPage = 100

func conversation(v *visit) (*page, error) {
	id, err := dag.ParseConversationID(v.r.PathValue("id"))
	if err != nil {
		if begin := v.r.PathValue("id"); idLike(begin) { // in the form that commands accept
			if list, err := v.beginning(begin); err == nil && len(list) == 1 {
				return &page{to: "/conversations/" + list[0].ID.String()}, nil
			}
		}
		return nil, refused(http.StatusNotFound, "%v", err)
	}
	after := v.r.URL.Query().Get("after")
	got, err := ask(v, api.GetConversation, api.ConversationByID{ID: id, Paging: api.Paging{Limit: turnsOfPage, After: after}})
	if err != nil {
		return nil, err
	}
	d := conversationData{ID: id.String(), After: after, Next: got.Next, Count: len(got.Turns)}
	rows := make([]turnRow, 0, len(got.Turns))
	for i := range got.Turns {
		row, err := readTurn(&got.Turns[i], shownText)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if err := v.count(rows, api.StandingsQuery{Conversation: &id}, after); err != nil {
		return nil, err
	}
	d.Title = titleOf(rows)
	d.Strands = strands(rows)
	d.Drawing = drawTurns(rows)
	if d.Title == "" {
		if d.First, err = v.firstSaid(d.ID); err != nil {
			return nil, err
		}
	}
	title := cmp.Or(d.Title, d.First, short(d.ID))
	return &page{title: "Conversation " + line(title, 60), content: &d}, nil
}

// titleOf returns the title in the turns of a page: the newest chosen title, or else the newest generated title, or else the first title.
func titleOf(rows []turnRow) (title string) {
	kind := ""
	for i := range rows {
		attrs := rows[i].Attrs
		switch is := attrs["title_kind"]; {
		case attrs["title"] == "":
		case title == "", is != "" && (kind != "chosen" || is == "chosen"):
			title, kind = attrs["title"], is
		}
	}
	return title
}

// strands divides the turns of a page into strands: each run of turns of one sub-agent is folded at the place where it began.
func strands(rows []turnRow) (list []strand) {
	agents, lanes := map[string]string{}, map[string]int{} // by turn: its sub-agent, and its branch
	children, branches := map[string]int{}, map[string]int{}
	at := map[string]int{}       // by sub-agent: its strand
	shown := map[string][2]int{} // by turn: its strand and its place there
	for i := range rows {
		row := &rows[i]
		agent, lane, parent := "", 0, ""
		for _, p := range row.Parents {
			if p.Kind == "spawn" {
				agent = row.ID
			}
		}
		for _, p := range row.Parents {
			if p.Kind != "reply" {
				row.Others = append(row.Others, p)
				continue
			}
			if parent != "" {
				continue
			}
			parent = p.ID
			if agent == "" {
				agent = agents[p.ID]
			}
			lane = lanes[p.ID]
			if children[p.ID]++; children[p.ID] > 1 {
				branches[agent]++
				lane = branches[agent]
			}
		}
		agents[row.ID], lanes[row.ID] = agent, lane
		row.Lane = min(lane, 7)
		n, known := at[agent]
		if agent == "" {
			n, known = len(list)-1, len(list) > 0 && list[len(list)-1].Agent == ""
		}
		if !known {
			n = len(list)
			list = append(list, strand{Agent: agent})
			at[agent] = n
		}
		s := &list[n]
		before := s.last
		s.Turns++
		s.last = row.ID
		if i := slices.IndexFunc(row.Parents, func(p api.Parent) bool {
			place, here := shown[p.ID]
			return here && place[0] == n && row.answers(&s.Rows[place[1]])
		}); i >= 0 {
			call := &s.Rows[shown[row.Parents[i].ID][1]]
			row.Lane = 0
			call.Results = append(call.Results, *row)
			continue
		}
		if parent != "" && before != parent {
			row.Parent = parent
		}
		shown[row.ID] = [2]int{n, len(s.Rows)}
		s.Rows = append(s.Rows, *row)
	}
	return list
}

type conversationsData struct {
	Conversations []conversationLine
	Next          string
}

func (d *conversationsData) body(string) h.Node {
	list := h.Group{h.H1(h.Text("Conversations"))}
	switch {
	case len(d.Conversations) > 0:
		list = append(list, conversationsTable(d.Conversations))
	case d.Next != "":
		list = append(list, h.P(h.Text("There is no conversation on this page.")))
	default:
		list = append(list, noConversation())
	}
	return append(list, h.If(d.Next != "", next("/conversations?"+query("after", d.Next), "Older conversations")))
}

// noConversation explains how conversations get into the store, if there are none.
func noConversation() h.Node {
	return h.P(h.Text("There is no conversation yet. "), howTheyCome())
}

// howTheyCome explains how conversations get into the store.
func howTheyCome() h.Node {
	return h.Group{code("graphkernel setup claude-code"), h.Text(" captures those of a coding agent from now on, and "), code("graphkernel import FILE"), h.Text(" brings those that exist.")}
}

func conversationsTable(list []conversationLine) h.Node {
	return table("Conversations, the newest first", "Conversation|#Turns|From|To", h.Map(list, func(c conversationLine) h.Node {
		name := h.Text(short(c.ID.String()))
		if words := cmp.Or(c.Title, c.First); words != "" {
			name = bdi(line(words, 90))
		}
		return row(link("/conversations/"+c.ID.String(), name), digits(thousands(c.Turns)), h.Td(moment(c.FirstAt)), h.Td(moment(c.LastAt)))
	}))
}

// A conversationLine is a line of a list of conversations.
type conversationLine struct {
	api.Conversation
	First string // the first words of a person, if it has no title
}

// named adds the first words to conversations without a title.
func (v *visit) named(list []api.Conversation) (lines []conversationLine, err error) {
	for _, c := range list {
		l := conversationLine{Conversation: c}
		if c.Title == "" {
			if l.First, err = v.firstSaid(c.ID.String()); err != nil {
				return nil, err
			}
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// firstSaid returns what a person said among the first turns of a conversation, or the first text if no person did.
func (v *visit) firstSaid(id string) (string, error) {
	conversation, err := dag.ParseConversationID(id)
	if err != nil {
		return "", err
	}
	got, err := ask(v, api.GetConversation, api.ConversationByID{ID: conversation, Paging: api.Paging{Limit: 8}})
	if err != nil {
		return "", err
	}
	said := ""
	for i := range got.Turns {
		row, err := readTurn(&got.Turns[i], 400)
		if err != nil {
			return "", err
		}
		text := strings.TrimSpace(row.summary())
		person := row.Role == "user" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "Caveat:") // the harness begins text in a person's name like this
		if text != "" && (said == "" || person) {
			said = text
		}
		if person && text != "" {
			break
		}
	}
	return said, nil
}

func conversations(v *visit) (*page, error) {
	got, err := ask(v, api.ListConversations, api.ConversationQuery{Newest: true, Paging: api.Paging{Limit: 20, After: v.r.URL.Query().Get("after")}})
	if err != nil {
		return nil, err
	}
	lines, err := v.named(got.Conversations)
	return &page{title: "Conversations", content: &conversationsData{lines, got.Next}}, err
}
