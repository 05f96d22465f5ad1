package ingest

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceOpenAI is the source of ids of OpenAI messages, which have no ids of their own.
const sourceOpenAI = "openai"

// An openaiReader reads the conversations of one file.
type openaiReader struct {
	batches
	path  string
	base  string // the file's name; ids do not depend on the folder
	index int    // of the next conversation, from 0
	names map[string]int
	open  *openaiConversation // the conversation of messages without an enclosing object
}

// An openaiConversation is one list of messages.
type openaiConversation struct {
	name  string
	id    dag.ConversationID
	model string
	next  int         // index of the next message
	last  *dag.TurnID // the previous message
	time  dag.Time    // the time of the last message with a time
	calls namedCalls
}

// namedCalls are the calls of a conversation by id. A result answers the nearest earlier call with its id.
type namedCalls map[string]*sameCalls

// sameCalls are the calls of one message with the same id: results answer them in their order.
type sameCalls struct {
	turn     dag.TurnID
	names    []string
	answered int
}

// add stores a call of a turn.
func (c namedCalls) add(id, name string, turn dag.TurnID) {
	if c[id] == nil || c[id].turn != turn {
		c[id] = &sameCalls{turn: turn}
	}
	c[id].names = append(c[id].names, name)
}

// answer returns the tool of the call that the next result answers. After as many results as calls, it is the last call.
func (s *sameCalls) answer() string {
	name := s.names[min(s.answered, len(s.names)-1)]
	s.answered++
	return name
}

// readOpenAI reads messages in any of these forms: a list of messages, an object with "messages" or "traj", a list of such
// objects, or lines of these.
func readOpenAI(r *reading, path string) error {
	o := &openaiReader{path: path, base: r.files.base(path), names: map[string]int{}, batches: newBatches(r, path, OpenAI)}
	byLine, err := r.files.isLinewise(path)
	if err != nil {
		return err
	}
	if byLine {
		err = o.lines()
	} else {
		err = o.document()
	}
	if err != nil {
		return err
	}
	return o.hand()
}

// isLinewise reports whether a file has a JSON value on each line: its first line is a whole object, or a whole array followed
// by another value, or the damage shows that the file is not one document.
func (t *tree) isLinewise(path string) (bool, error) {
	head, err := t.beginning(path)
	if err != nil {
		return false, err
	}
	head = trimNothing(head)
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	if _, _, err := parseLenient(first); err != nil {
		return isDamaged(head) && hasWholeLine(head), nil
	}
	return first[0] == '{' || len(trimNothing(rest)) > 0, nil
}

func (o *openaiReader) lines() error {
	in, err := o.r.openLines(o.path)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		line, err := in.next()
		o.r.advance(in.take())
		if err == io.EOF {
			return nil
		}
		if err != nil && err != errLongLine {
			return err
		}
		switch {
		case err != nil:
			o.skipOne(skipLongLine)
		case isBlank(line):
			o.skipOne(skipEmptyLine)
		default:
			for _, rec := range recordsOf(line) {
				if rec.value == nil {
					o.skipOne(skipBrokenLine)
				} else if err := o.value(rec.value, in.number, rec.mended); err != nil {
					return err
				}
			}
		}
	}
}

func (o *openaiReader) document() error {
	in, err := o.r.openValues(o.path)
	if err != nil {
		return err
	}
	defer in.close()
	for {
		p, err := in.next()
		o.r.advance(in.take())
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errBrokenDocument):
			o.r.record()
			o.r.brokenDocument(in, err)
			return nil
		case err != nil:
			return err
		case p.closed:
			o.open = nil
			continue
		}
		v, mended, err := parseLenient(p.text)
		if err != nil {
			o.skipOne("broken_conversation")
			continue
		}
		if err := o.value(v, p.line, mended); err != nil {
			return err
		}
	}
}

func (o *openaiReader) skipOne(reason string) {
	o.r.record()
	o.r.skip(reason)
}

// value reads a message, a conversation, or a list of either.
func (o *openaiReader) value(v *canon.Value, line int, m mended) error {
	o.r.noteMended(m)
	place := o.path + ":" + strconv.Itoa(line)
	switch {
	case v.Kind == canon.Array:
		o.open = nil
		for i := range v.Items {
			if err := o.item(&v.Items[i], place); err != nil {
				return err
			}
		}
		o.open = nil
		return nil
	default:
		return o.item(v, place)
	}
}

// item reads a message or a conversation.
func (o *openaiReader) item(v *canon.Value, place string) error {
	messages := v.Get("messages")
	if messages == nil {
		messages = v.Get("traj")
	}
	switch {
	case messages != nil && messages.Kind == canon.Array:
		o.open = nil
		c := o.begin(v)
		for i := range messages.Items {
			o.message(c, &messages.Items[i], place)
		}
	case v.Kind == canon.Array: // a list of messages within a list
		o.open = nil
		c := o.begin(nil)
		for i := range v.Items {
			o.message(c, &v.Items[i], place)
		}
	case v.Get("role") != nil:
		if o.open == nil {
			o.open = o.begin(nil)
		}
		o.message(o.open, v, place)
	default:
		o.skipOne(skipMalformed)
	}
	return o.handFull()
}

// begin returns a new conversation. Its name consists of the file's name and the id, or the task and trial, of its object, or
// else its position in the file. A repeated name gets a number.
func (o *openaiReader) begin(v *canon.Value) *openaiConversation {
	key := strconv.Itoa(o.index)
	o.index++
	if v != nil {
		id, task, trial := scalar(v, "id"), scalar(v, "task_id"), scalar(v, "trial")
		switch {
		case id != "":
			key = id
		case task != "" && trial != "":
			key = "task_id=" + task + ",trial=" + trial
		case task != "":
			key = "task_id=" + task
		}
	}
	name := o.base + "#" + key
	o.names[name]++
	if n := o.names[name]; n > 1 {
		name += "~" + strconv.Itoa(n)
	}
	c := &openaiConversation{name: name, id: dag.ExternalConversationID(sourceOpenAI, name), calls: namedCalls{}}
	if v != nil {
		c.model = text(v, "model")
	}
	return c
}

// scalar returns a member that is a string or a number, as text.
func scalar(v *canon.Value, key string) string {
	if m := v.Get(key); m != nil && (m.Kind == canon.String || m.Kind == canon.Number) {
		return m.Text
	}
	return ""
}

// message reads one message. A message without a turn keeps its number, and the next message continues from the one before it.
func (o *openaiReader) message(c *openaiConversation, v *canon.Value, place string) {
	o.r.record()
	index := c.next
	c.next++
	if v.Kind != canon.Object {
		o.r.skip(skipMalformed)
		return
	}
	var d dag.Draft
	var noted counts
	speaker := ""
	switch role := text(v, "role"); role {
	case "system", "developer":
		d.Role, d.Author = dag.RoleSystem, "system:openai"
	case "user":
		d.Role, d.Author = dag.RoleUser, authorHuman
		if name := text(v, "name"); name != "" {
			d.Author = authorName("human", name, &noted)
		}
	case "assistant":
		d.Role, speaker = dag.RoleAssistant, "assistant"
		if name := text(v, "name"); name != "" {
			speaker = name
		}
		d.Author = authorName("agent", speaker, &noted)
	case "tool", "function":
		d.Role = dag.RoleTool
	default:
		o.r.skip(skipUnknownRole)
		return
	}
	m := openaiMessage{v: v, body: v.Get("content"), name: c.name + "/" + strconv.Itoa(index), place: place, index: index, draft: d, noted: noted}
	var typed *canon.Value
	if d.Role == dag.RoleUser {
		var results *canon.Value
		if results, typed = dividedResults(m.body); results != nil {
			m.body, m.draft.Role = results, dag.RoleTool
		} else if text(v, "tool_call_id") != "" {
			m.draft.Role = dag.RoleTool
		}
	}
	o.turn(c, &m)
	if typed != nil {
		o.r.record()
		o.turn(c, &openaiMessage{v: v, body: typed, name: m.name + "/typed", place: place, index: index, draft: d})
	}
}

// An openaiMessage is a message, or a part of one, that becomes a turn.
type openaiMessage struct {
	v, body *canon.Value
	name    string // the external id
	place   string
	index   int
	draft   dag.Draft
	noted   counts
}

// turn makes a turn of a message or of a part of one.
func (o *openaiReader) turn(c *openaiConversation, m *openaiMessage) {
	d, v := &m.draft, m.v
	d.ID, d.Conversation = dag.ExternalTurnID(sourceOpenAI, m.name), c.id
	setAttr(d, dag.AttrExternalID, m.name, &m.noted)
	setOpenAITime(d, c, v, m.index, &m.noted)
	if c.last != nil {
		addParent(d, *c.last, dag.Reply, &m.noted)
	}
	if d.Role == dag.RoleTool {
		c.answer(d, m, &m.noted)
	}
	calls := openaiBody(d, v, m.body, &m.noted)
	model := text(v, "model")
	if model == "" && d.Role == dag.RoleAssistant {
		model = c.model
	}
	setAttr(d, attrModel, model, &m.noted)
	if !o.admit(d, c.name, m.place, m.noted) {
		return
	}
	c.last = &d.ID
	for _, call := range calls {
		c.calls.add(call.id, call.name, d.ID)
	}
}

// answer joins a tool's message to the calls that it answers: one call, or, in Anthropic's form, one call for each result.
func (c *openaiConversation) answer(d *dag.Draft, m *openaiMessage, noted *counts) {
	ids, name := []string{text(m.v, "tool_call_id")}, text(m.v, "name")
	if results := resultsOf(m.body); len(results) > 0 {
		ids, name = nil, ""
		for _, b := range results {
			ids = append(ids, answeredID(b))
		}
	}
	for _, id := range ids {
		call, known := c.calls[id]
		switch {
		case known && id != "":
			addParent(d, call.turn, dag.Reply, noted)
			if tool := call.answer(); name == "" {
				name = tool
			}
		case id != "":
			noted.add(noteCallMissing)
		}
	}
	if name == "" {
		name = answeringTool(m.body)
	}
	d.Author = authorName("tool", name, noted)
	setAttr(d, attrTool, name, noted)
	setAttr(d, attrToolUseID, strings.Trim(strings.Join(ids, ","), ","), noted)
}

// setOpenAITime sets the message's time. A message without a time gets the time of the last message that had one. Without any,
// its time is as many seconds after 1970 as its index: the order is right. An attribute says where an inferred time comes from.
func setOpenAITime(d *dag.Draft, c *openaiConversation, v *canon.Value, index int, noted *counts) {
	for _, key := range [...]string{"timestamp", "created_at", "created", "create_time"} {
		m := v.Get(key)
		if m == nil {
			continue
		}
		var t dag.Time
		err := errNoTime
		switch m.Kind {
		case canon.Number:
			t, err = secondsTime(m.Text)
		case canon.String:
			t, err = dag.ReadTime(m.Text)
		}
		if err == nil {
			d.CreatedAt, c.time = t, t
			return
		}
	}
	noted.add(noteTimeInferred)
	if c.time != 0 {
		d.CreatedAt = c.time
		setAttr(d, attrTimeBy, timeByEarlierContext, noted)
		return
	}
	d.CreatedAt = dag.Time(index) * 1e6
	setAttr(d, attrTimeBy, timeByPosition, noted)
}
