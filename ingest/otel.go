package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceOTel is the source of ids of messages in spans, which have no ids of their own.
const sourceOTel = "otel"

// An otelReader reads spans and events of generative AI. The file is OTLP/JSON (github.com/open-telemetry/opentelemetry-proto):
// one document, or one on each line, as the collector's file exporter writes them,
//
//	{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId","spanId","startTimeUnixNano","endTimeUnixNano","attributes":[…],"events":[…]}]}]}]}
//	{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano","traceId","attributes":[…]}]}]}]}
//
// The semantic conventions of generative AI (github.com/open-telemetry/semantic-conventions, docs/gen-ai) define the
// attributes: gen_ai.system_instructions, gen_ai.input.messages and gen_ai.output.messages, on a span, on an event of a span,
// or on the event gen_ai.client.inference.operation.details, which is a log record; see [otelLogs] for messages that are log
// records. [otelSaidIn] lists older forms, and those of OpenLLMetry and OpenInference.
//
// Each call of a model repeats the earlier messages, and messages have no ids. So the id of a message is derived from the
// message and all messages before it: messages that two calls share become one turn each, and where the calls differ there is a
// branch.
type otelReader struct {
	batches
	path string
	logs otelLogs
}

// readOTel reads one file.
func readOTel(r *reading, path string) error {
	o := &otelReader{batches: newBatches(r, path, OTel), path: path}
	byLine, err := r.files.isLinewise(path)
	if err != nil {
		return err
	}
	if byLine {
		err = r.jsonRecords(path, func(rec jsonRecord) error {
			if !isOTLP(rec.value) {
				r.skip(skipMalformed)
				return nil
			}
			r.noteMended(rec.mended)
			r.skip("otlp_batch")
			return o.batchOf(rec.value, rec.place)
		})
	} else {
		err = r.documents(path, isOTLP, o.batchOf)
	}
	if err == nil {
		err = o.handLogs()
	}
	if err != nil {
		return err
	}
	return o.hand()
}

func isOTLP(v *canon.Value) bool {
	return v.Get("resourceSpans") != nil || v.Get("resourceLogs") != nil
}

// batchOf reads the spans and log records that were exported together.
func (o *otelReader) batchOf(v *canon.Value, place string) error {
	for _, names := range [...][3]string{{"resourceSpans", "scopeSpans", "spans"}, {"resourceLogs", "scopeLogs", "logRecords"}} {
		for _, resource := range items(v, names[0]) {
			for _, scope := range items(resource, names[1]) {
				for _, record := range items(scope, names[2]) {
					if names[0] == "resourceLogs" && o.event(record, place) {
						continue
					}
					o.record(record, place)
					if err := o.handFull(); err != nil {
						return err
					}
				}
			}
		}
	}
	if o.logs.isFull() {
		return o.handLogs()
	}
	return nil
}

// items returns the items of a member that is an array.
func items(v *canon.Value, key string) (list []*canon.Value) {
	if v == nil {
		return nil
	}
	m := v.Get(key)
	if m == nil || m.Kind != canon.Array {
		return nil
	}
	for i := range m.Items {
		list = append(list, &m.Items[i])
	}
	return list
}

// otelInference are the operations that call a model. A span without an operation counts as one of them.
var otelInference = []string{"", "chat", "text_completion", "generate_content"}

// record reads a span or a log record. Its messages are the records that are counted; without messages, the span or log record
// itself counts as one.
func (o *otelReader) record(v *canon.Value, place string) {
	attrs := otelAttributes(v)
	for _, event := range items(v, "events") {
		for key, value := range otelAttributes(event) {
			if attrs[key] == nil {
				attrs[key] = value
			}
		}
	}
	ofAI := false
	for key := range attrs {
		ofAI = ofAI || strings.HasPrefix(key, "gen_ai.") || strings.HasPrefix(key, "llm.")
	}
	said := otelSaidIn(v, attrs)
	instructions, input, output := said.instructions, said.input, said.output
	kind := otelText(attrs, "openinference.span.kind")
	reason := ""
	switch {
	case v.Kind != canon.Object:
		reason = skipMalformed
	case !ofAI:
		reason = "other_span"
	case !slices.Contains(otelInference, otelText(attrs, "gen_ai.operation.name")) || kind != "" && kind != "LLM":
		reason = "agent_span"
	case instructions == nil && input == nil && output == nil:
		reason = "no_content"
	}
	if reason != "" {
		o.r.record()
		o.r.skip(reason)
		return
	}
	for _, list := range [...]**canon.Value{&instructions, &input, &output} {
		if *list != nil && (*list).Kind != canon.Array {
			o.r.record()
			o.r.skip(skipMalformed)
			*list = nil
		}
	}
	c := o.newCall(v, attrs, place)
	if instructions != nil {
		c.message(otelInstructions(instructions), c.began, false)
	}
	for i := range itemsOrNone(input) {
		c.message(&input.Items[i], c.began, false)
	}
	asked := c.otelChain
	for i := range itemsOrNone(output) {
		c.otelChain = asked // several outputs answer the same prompt
		c.message(&output.Items[i], c.ended, true)
	}
}

// An otelCall is one call of a model.
type otelCall struct {
	o            *otelReader
	place        string
	name         string // the name of the conversation
	id           dag.ConversationID
	model, agent string
	began, ended dag.Time
	tools        namedCalls
	otelChain
}

// An otelChain stands for all messages up to one.
type otelChain struct {
	sum  [32]byte // the digest of all of them
	last *dag.TurnID
}

func (o *otelReader) newCall(v *canon.Value, attrs map[string]*canon.Value, place string) *otelCall {
	c := &otelCall{o: o, place: place, name: otelText(attrs, "gen_ai.conversation.id"), tools: namedCalls{}}
	if c.name == "" {
		c.name = otelText(attrs, "session.id") // of OpenInference
	}
	if c.name == "" {
		c.name = "trace/" + text(v, "traceId")
	}
	c.id = conversationID(sourceOTel, c.name)
	c.model = otelText(attrs, "gen_ai.response.model")
	if c.model == "" {
		c.model = otelText(attrs, "gen_ai.request.model")
	}
	if c.model == "" {
		c.model = otelText(attrs, "llm.model_name")
	}
	c.agent = otelText(attrs, "gen_ai.agent.name")
	for _, key := range [...]string{"startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"} {
		if c.began == 0 {
			c.began = otelTime(v, key)
		}
	}
	if c.ended = otelTime(v, "endTimeUnixNano"); c.ended == 0 {
		c.ended = c.began
	}
	return c
}

// message reads one message. at is the time of an output; for an input it is the time of the call that first contained it.
func (c *otelCall) message(v *canon.Value, at dag.Time, output bool) {
	r := c.o.r
	r.record()
	v = withParts(v)
	b := readOTelMessage(v)
	if b.skip != "" {
		r.skip(b.skip)
		return
	}
	d := &b.draft
	d.Content = b.content.text.String()
	c.sum = sha256.Sum256(append(append(c.sum[:], byte(d.Role)), d.Content...))
	name := c.name + "/" + hex.EncodeToString(c.sum[:])
	typed := b.divide(v) // after the digest, so that the division does not change later ids
	c.turn(b, name, at, output)
	if typed != nil {
		r.record()
		c.turn(typed, name+"/typed", at, output)
	}
}

// turn makes a turn of a message or of a part of one.
func (c *otelCall) turn(b *otelBody, name string, at dag.Time, output bool) {
	d := &b.draft
	d.Content = b.content.text.String()
	turnID(d, sourceOTel, name, &b.noted)
	d.Conversation, d.CreatedAt = c.id, at
	if !output || at == 0 {
		setAttr(d, attrTimeBy, "span", &b.noted)
		b.noted.add(noteTimeInferred)
	}
	if c.last != nil {
		addParent(d, *c.last, dag.Reply, &b.noted)
	}
	c.answer(b)
	setAttr(d, attrTool, strings.Join(b.tools, ","), &b.noted)
	setAttr(d, attrToolUseID, strings.Join(b.ids, ","), &b.noted)
	setAttr(d, attrBlocks, b.content.blocks(), &b.noted)
	if output {
		setAttr(d, attrModel, c.model, &b.noted)
		setAttr(d, attrAgentID, c.agent, &b.noted)
	}
	for what, n := range b.content.lost {
		for range n {
			b.noted.add(what)
		}
	}
	if !c.o.admit(d, c.name, c.place, b.noted) {
		return
	}
	c.last = &d.ID
	for i, id := range b.called {
		c.tools.add(id, b.tools[i], d.ID)
	}
}

// answer joins results to their calls, and sets the tool as the author.
func (c *otelCall) answer(b *otelBody) {
	d := &b.draft
	for _, id := range b.answers {
		call, known := c.tools[id]
		if !known {
			b.noted.add(noteCallMissing)
			continue
		}
		addParent(d, call.turn, dag.Reply, &b.noted)
		b.tools = append(b.tools, call.answer())
	}
	if d.Role == dag.RoleTool {
		name := "unknown"
		if len(b.tools) > 0 {
			name = b.tools[0]
		}
		d.Author = authorName("tool", name, &b.noted)
	}
}

// otelTime reads nanoseconds since 1970, which OTLP/JSON writes as a text, and truncates them to microseconds. It returns 0 if
// there is no time.
func otelTime(v *canon.Value, key string) dag.Time {
	n, err := strconv.ParseInt(scalar(v, key), 10, 64)
	if t := dag.Time(n / 1000); err == nil && t.Valid() {
		return t
	}
	return 0
}
