package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceChatGPT is the source of ids for ChatGPT's ids that are not UUIDs.
const sourceChatGPT = "chatgpt"

const authorChatGPT = "system:chatgpt"

// readChatGPT reads an export: an array of conversations, or one conversation. Each
// conversation is a batch. A record is a node of its mapping.
func readChatGPT(r *reading, path string) error {
	one := func(v *canon.Value) bool { return object(v, "mapping") != nil }
	return r.documents(path, one, func(v *canon.Value, place string) error {
		c := newChat(r, v, path, place)
		c.read()
		return r.hand(c.batch)
	})
}

// A chat is one conversation of an export.
type chat struct {
	r     *reading
	batch *Batch
	place string
	name  string
	title string // added to the first turn
	id    dag.ConversationID
	began dag.Time
	timed bool // began is known
	order []*chatNode
	nodes map[string]*chatNode
}

// A chatNode is an entry of the mapping.
type chatNode struct {
	name    string
	v       *canon.Value
	parent  *chatNode
	missing string // the name of a missing parent, the node's own or that of an ancestor without a turn

	reached  bool // its ancestors and it have been read
	circular bool // its ancestors form a circle
	attach   *dag.TurnID
	time     dag.Time
	timed    bool
}

func newChat(r *reading, v *canon.Value, path, place string) *chat {
	c := &chat{
		r:     r,
		batch: &Batch{Source: path, Format: ChatGPT, Repeats: true},
		place: place,
		nodes: map[string]*chatNode{},
	}
	if c.name = text(v, "conversation_id"); c.name == "" {
		c.name = text(v, "id")
	}
	mapping := object(v, "mapping")
	for i := range mapping.Members {
		m := &mapping.Members[i]
		n := &chatNode{name: m.Key, v: &m.Value}
		c.order = append(c.order, n)
		c.nodes[n.name] = n
	}
	if c.name == "" { // some tools remove the id; the root's id serves as well
		for _, n := range c.order {
			if text(n.v, "parent") == "" {
				c.name = n.name
				break
			}
		}
	}
	c.id = conversationID(sourceChatGPT, c.name)
	c.title = strings.Clone(text(v, "title"))
	if t := v.Get("create_time"); t != nil && t.Kind == canon.Number {
		began, err := secondsTime(t.Text)
		c.began, c.timed = began, err == nil
	}
	for _, n := range c.order {
		name := text(n.v, "parent")
		if name == "" {
			continue
		}
		if n.parent = c.nodes[name]; n.parent == nil {
			n.missing = name
		}
	}
	return c
}

// read reads the nodes in the order of the mapping, but each node after its parent. It never reaches nodes whose ancestors form
// a circle.
func (c *chat) read() {
	for _, n := range c.order {
		c.r.record()
		var way []*chatNode // from n up to the first ancestor that is already decided
		onWay := map[*chatNode]bool{}
		at := n
		for ; at != nil && !at.reached && !at.circular && !onWay[at]; at = at.parent {
			onWay[at] = true
			way = append(way, at)
		}
		if at != nil && !at.reached {
			for _, lost := range way { // so that no later walk enters the circle
				lost.circular = true
			}
			continue // counted below
		}
		for i := len(way) - 1; i >= 0; i-- {
			way[i].reached = true
			c.node(way[i])
		}
	}
	for _, n := range c.order {
		if !n.reached {
			c.r.skip(skipParentCycle)
		}
	}
}

// node reads one node whose ancestors were read.
func (c *chat) node(n *chatNode) {
	if n.parent != nil {
		n.attach, n.time, n.timed = n.parent.attach, n.parent.time, n.parent.timed
		n.missing = n.parent.missing // of a parent without a turn
	}
	message := object(n.v, "message")
	if message == nil {
		c.r.skip("no_message")
		return
	}
	var d dag.Draft
	var noted counts
	if !chatSpeaker(&d, message, &noted) {
		c.r.skip(skipUnknownRole)
		return
	}
	var body content
	addChatContent(&body, message.Get("content"))
	addAttachments(&body, object(message, "metadata"))
	if d.Content = body.text.String(); d.Content == "" {
		c.r.skip(skipEmptyMessage)
		return
	}
	if _, err := dag.ParseTurnID(n.name); err == nil {
		turnID(&d, sourceChatGPT, n.name, &noted)
	} else { // such names are not unique: every conversation has a "client-created-root"
		turnID(&d, sourceChatGPT, c.name+"/"+n.name, &noted)
	}
	d.Conversation = c.id
	c.setTime(&d, n, message, &noted)
	if n.attach != nil {
		addParent(&d, *n.attach, dag.Reply, &noted)
	}
	if n.missing != "" {
		noted.add(noteParentMissing)
		setAttr(&d, attrMissingParent, n.missing, &noted)
	}
	setAttr(&d, attrBlocks, body.blocks(), &noted)
	for what, count := range body.lost {
		for range count {
			noted.add(what)
		}
	}
	setAttr(&d, AttrTitle, c.title, &noted)
	if c.r.admit(c.batch, &d, c.name, c.place, noted) {
		c.title = "" // the first turn has it
		n.attach, n.missing = &d.ID, ""
	}
}

// setTime sets the message's time, or, if that is missing, the time of the nearest earlier message, or of the conversation.
func (c *chat) setTime(d *dag.Draft, n *chatNode, message *canon.Value, noted *counts) {
	if t := message.Get("create_time"); t != nil && t.Kind == canon.Number {
		if at, err := secondsTime(t.Text); err == nil {
			d.CreatedAt, n.time, n.timed = at, at, true
			return
		}
	}
	noted.add(noteTimeInferred)
	switch {
	case n.timed:
		d.CreatedAt = n.time
		setAttr(d, attrTimeBy, timeByEarlierContext, noted)
	case c.timed:
		d.CreatedAt = c.began
		setAttr(d, attrTimeBy, "conversation", noted)
	default:
		setAttr(d, attrTimeBy, "nothing", noted)
	}
}

// chatResults are the types of contents that a tool created, whatever role the message has.
var chatResults = []string{"execution_output", "system_error", "tether_browsing_display"}

// chatSpeaker sets the role, the author and the attributes about speaker and recipient. It returns false for an unknown role.
func chatSpeaker(d *dag.Draft, message *canon.Value, noted *counts) bool {
	author := object(message, "author")
	name := text(author, "name")
	switch text(author, "role") {
	case "system", "developer":
		d.Role, d.Author = dag.RoleSystem, authorChatGPT
	case "user":
		d.Role, d.Author = dag.RoleUser, authorHuman
		if kind := text(object(message, "content"), "content_type"); slices.Contains(chatResults, kind) {
			d.Role, d.Author = dag.RoleTool, "tool:unknown"
		}
	case "assistant":
		d.Role, d.Author = dag.RoleAssistant, "agent:chatgpt"
		if to := text(message, "recipient"); to != "" && to != "all" {
			setAttr(d, attrTool, to, noted)
		}
	case "tool", "function":
		if name == "" {
			name = "unknown"
		}
		d.Role, d.Author = dag.RoleTool, authorName("tool", name, noted)
		setAttr(d, attrTool, name, noted)
	default:
		return false
	}
	metadata := object(message, "metadata")
	setAttr(d, attrModel, text(metadata, "model_slug"), noted)
	if metadata != nil && isTrue(metadata, "is_visually_hidden_from_conversation") {
		setAttr(d, "hidden", "true", noted)
		if d.Role == dag.RoleUser && !isTrue(metadata, "is_user_system_message") { // nobody typed a hidden message
			d.Author = authorChatGPT
		}
	}
	if metadata != nil && isTrue(metadata, "is_user_system_message") || d.Role == dag.RoleSystem {
		setAttr(d, attrMeta, "true", noted)
	}
	if w := message.Get("weight"); w != nil && w.Kind == canon.Number && w.Text != "1" && w.Text != "1.0" {
		setAttr(d, "weight", w.Text, noted)
	}
	return true
}
