package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceClaudeAI is the source of ids for Claude.ai's ids that are not UUIDs.
const sourceClaudeAI = "claude-ai"

// claudeAIRoot is the parent_message_uuid of a message without a parent.
const claudeAIRoot = "00000000-0000-4000-8000-000000000000"

// readClaudeAI reads conversations.json of a Claude.ai export: an array of conversations, or one conversation,
//
//	{"uuid","name","created_at","updated_at","account":{…},"chat_messages":[
//	 {"uuid","sender":"human"|"assistant","text","content":[BLOCK],"created_at","updated_at",
//	  "attachments":[{"file_name","file_size","file_type","extracted_content"}],"files":[{"file_name"}],"parent_message_uuid"}]}
//
// Blocks are text, thinking, tool_use and tool_result, as in Anthropic's messages. Anthropic describes the export to its users
// but publishes no schema; this one was derived from exports by github.com/brandtcormorant/claude-json-schema, plus the
// parent_message_uuid of newer exports. Each conversation is a batch. A record is a message.
func readClaudeAI(r *reading, path string) error {
	one := func(v *canon.Value) bool {
		m := v.Get("chat_messages")
		return m != nil && m.Kind == canon.Array
	}
	return r.documents(path, one, func(v *canon.Value, place string) error {
		c := newClaudeAIChat(r, v, path, place)
		for _, m := range c.order {
			c.visit(m)
		}
		return r.hand(c.batch)
	})
}

// A claudeAIChat is one conversation of an export.
type claudeAIChat struct {
	r     *reading
	batch *Batch
	place string
	id    dag.ConversationID
	name  string
	title string // added to the first turn
	order []*claudeAIMessage
	named map[string]*claudeAIMessage
	began dag.Time
}

// A claudeAIMessage is one message.
type claudeAIMessage struct {
	v       *canon.Value
	name    string
	parent  *claudeAIMessage
	missing string // the name of a parent that the conversation lacks

	visited, done bool
	attach        *dag.TurnID // the turn to which its children attach
	time          dag.Time
}

func newClaudeAIChat(r *reading, v *canon.Value, path, place string) *claudeAIChat {
	c := &claudeAIChat{
		r: r, batch: &Batch{Source: path, Format: ClaudeAI, Repeats: true}, place: place, name: text(v, "uuid"), title: text(v, "name"), named: map[string]*claudeAIMessage{},
	}
	list := v.Get("chat_messages")
	if c.name == "" && len(list.Items) > 0 {
		c.name = text(&list.Items[0], "uuid")
	}
	c.id = conversationID(sourceClaudeAI, c.name)
	c.began, _ = dag.ReadTime(text(v, "created_at"))
	for i := range list.Items {
		m := &claudeAIMessage{v: &list.Items[i], name: text(&list.Items[i], "uuid")}
		c.order = append(c.order, m)
		if c.named[m.name] == nil {
			c.named[m.name] = m
		}
	}
	for i, m := range c.order {
		switch parent := m.v.Get("parent_message_uuid"); {
		case parent == nil || parent.Kind != canon.String: // older exports: messages follow each other
			if i > 0 {
				m.parent = c.order[i-1]
			}
		case parent.Text == claudeAIRoot:
		case c.named[parent.Text] == nil:
			m.missing = parent.Text
		default:
			m.parent = c.named[parent.Text]
		}
	}
	return c
}

// visit reads a message after its ancestors.
func (c *claudeAIChat) visit(m *claudeAIMessage) {
	var way []*claudeAIMessage // from m up to the first ancestor that was visited
	for at := m; at != nil && !at.visited; at = at.parent {
		at.visited = true
		way = append(way, at)
	}
	if len(way) == 0 {
		return
	}
	if top := way[len(way)-1].parent; top != nil && !top.done { // the ancestors form a circle
		for range way {
			c.r.record()
			c.r.skip(skipParentCycle)
		}
		return
	}
	for i := len(way) - 1; i >= 0; i-- {
		c.message(way[i])
		way[i].done = true
	}
}

// message reads one message whose parent was read.
func (c *claudeAIChat) message(m *claudeAIMessage) {
	c.r.record()
	m.time = c.began
	if m.parent != nil {
		m.attach, m.time = m.parent.attach, m.parent.time
		if m.missing == "" && m.attach == nil {
			m.missing = m.parent.missing
		}
	}
	if m.v.Kind != canon.Object || m.name == "" {
		c.r.skip(skipMalformed)
		return
	}
	var d dag.Draft
	switch text(m.v, "sender") {
	case "human":
		d.Role, d.Author = dag.RoleUser, authorHuman
	case "assistant":
		d.Role, d.Author = dag.RoleAssistant, "agent:claude"
	default:
		c.r.skip(skipUnknownRole)
		return
	}
	b := claudeAIBody{ofPerson: d.Role == dag.RoleUser}
	b.read(m.v)
	file := dag.Draft{Role: dag.RoleTool, Author: "tool:attachment"}
	if b.content.text.Len() == 0 && b.files != nil {
		b, d = *b.files, file
	}
	if b.content.text.Len() == 0 {
		c.r.skip(skipEmptyMessage)
		return
	}
	if b.files != nil {
		c.r.record()
		var noted counts
		c.fill(&file, m, b.files, "/files", &noted)
		if c.r.admit(c.batch, &file, c.name, c.place, noted) {
			m.attach, m.missing, c.title = &file.ID, "", ""
		}
	}
	said := d
	var noted counts
	if b.answers {
		d = dag.Draft{Role: dag.RoleTool, Author: authorName("tool", b.answerer(), &noted)}
	}
	c.fill(&d, m, &b, "", &noted)
	if c.r.admit(c.batch, &d, c.name, c.place, noted) {
		m.attach, m.missing, c.title = &d.ID, "", ""
	}
	if b.typed == nil {
		return
	}
	c.r.record()
	var more counts
	c.fill(&said, m, b.typed, "/typed", &more)
	if c.r.admit(c.batch, &said, c.name, c.place, more) {
		m.attach, m.missing, c.title = &said.ID, "", ""
	}
}

func (c *claudeAIChat) fill(d *dag.Draft, m *claudeAIMessage, b *claudeAIBody, part string, noted *counts) {
	d.Content, d.Conversation = b.content.text.String(), c.id
	if _, err := dag.ParseTurnID(strings.ToLower(m.name)); err == nil {
		turnID(d, sourceClaudeAI, m.name+part, noted)
	} else {
		turnID(d, sourceClaudeAI, c.name+"/"+m.name+part, noted)
	}
	if t, err := dag.ReadTime(text(m.v, "created_at")); err == nil {
		d.CreatedAt, m.time = t, t
	} else {
		d.CreatedAt = m.time
		setAttr(d, attrTimeBy, timeByEarlierContext, noted)
		noted.add(noteTimeInferred)
	}
	if m.attach != nil {
		addParent(d, *m.attach, dag.Reply, noted)
	}
	if m.missing != "" {
		noted.add(noteParentMissing)
		setAttr(d, attrMissingParent, m.missing, noted)
	}
	setAttr(d, AttrTitle, c.title, noted)
	setAttr(d, attrTool, strings.Join(b.tools, ","), noted)
	setAttr(d, attrToolUseID, strings.Join(b.ids, ","), noted)
	setAttr(d, attrBlocks, b.content.blocks(), noted)
	if b.failed {
		setAttr(d, attrIsError, "true", noted)
	}
	for what, n := range b.content.lost {
		for range n {
			noted.add(what)
		}
	}
}

// A claudeAIBody is the content of a message.
type claudeAIBody struct {
	content    content
	tools, ids []string
	failed     bool // a tool reported an error

	ofPerson bool
	files    *claudeAIBody // texts of attached files; nil if there are none
	answers  bool          // a person's message has tool results; they become its turn
	typed    *claudeAIBody // a person's texts next to tool results; nil if there are none
}

// answerer returns the tool of the first result that names one, or "unknown".
func (b *claudeAIBody) answerer() string {
	if len(b.tools) == 0 {
		return "unknown"
	}
	return b.tools[0]
}

func (b *claudeAIBody) read(v *canon.Value) {
	c := &b.content
	list := items(v, "content")
	b.answers = b.ofPerson && slices.ContainsFunc(list, isResult)
	for _, p := range list {
		switch {
		case !b.answers:
			b.block(p)
		case isResult(p):
			b.block(p)
			if name := text(p, "name"); name != "" {
				b.tools = append(b.tools, name)
			}
			if id := answeredID(p); id != "" {
				b.ids = append(b.ids, id)
			}
		case text(p, "type") == "text" && strings.TrimSpace(blockText(p)) != "":
			if b.typed == nil {
				b.typed = &claudeAIBody{}
			}
			b.typed.block(p)
		default:
			b.block(p)
		}
	}
	if c.text.Len() == 0 { // older exports only have the text
		addPlain(c, text(v, "text"))
	}
	if list := v.Get("attachments"); list != nil {
		for i := range list.Items {
			b.attachment(&list.Items[i])
		}
	}
	if list := v.Get("files"); list != nil {
		for i := range list.Items {
			c.lost.add(noteAttachmentData)
			c.line("attachment", "file "+text(&list.Items[i], "file_name"))
		}
	}
}

func (b *claudeAIBody) block(v *canon.Value) {
	c := &b.content
	switch kind := text(v, "type"); kind {
	case "text":
		addPlain(c, text(v, "text"))
	case "thinking":
		addTitled(c, kind, kind, text(v, kind))
	case "tool_use":
		tool := text(v, "name")
		if tool == "" {
			tool = "unknown"
		}
		b.tools = append(b.tools, tool)
		if id := text(v, "id"); id != "" {
			b.ids = append(b.ids, id)
		}
		input := "{}"
		if in := v.Get("input"); in != nil {
			input = string(appendCompact(nil, in))
		}
		c.call(tool, input)
	case "tool_result":
		isError := isTrue(v, "is_error")
		b.failed = b.failed || isError
		c.result(resultText(v.Get("content"), &c.lost), isError)
	case "token_budget": // the model's remaining tokens, not speech
	default:
		c.other(kind, v)
	}
}

// attachment adds a file attached to a message: its text, which the model was given, or else a line about it.
func (b *claudeAIBody) attachment(v *canon.Value) {
	title := strings.Join(strings.Fields("attachment "+text(v, "file_name")+" "+text(v, "file_type")), " ")
	if size := scalar(v, "file_size"); size != "" {
		title += ", " + size + " bytes"
	}
	if said := text(v, "extracted_content"); said != "" {
		if b.ofPerson && text(v, "file_name") != "" { // an attachment without a name is pasted text
			if b.files == nil {
				b.files = &claudeAIBody{}
			}
			b = b.files
		}
		b.content.titled("attachment", oneLine(title), said)
		return
	}
	b.content.lost.add(noteAttachmentData)
	b.content.line("attachment", title)
}
