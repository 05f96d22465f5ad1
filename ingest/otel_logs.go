package ingest

import (
	"slices"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// Messages can be separate log records (the conventions up to 1.36):
// {"eventName":"gen_ai.user.message","traceId","spanId","body":{…}}. The messages of one span are one call, in the order of the
// file. They are collected until the end of the file, since an exporter writes them in several batches.

// messageEvents are the names of the events that are messages.
var messageEvents = []string{"gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message", "gen_ai.choice"}

// Bounds of the collected messages.
const (
	maxGathered      = 20_000
	maxGatheredBytes = 64 << 20
)

// otelLogs collects the messages of calls.
type otelLogs struct {
	calls  []*otelLogged // in the order of their first messages
	byName map[string]*otelLogged
	n      int
	size   int // total size of their texts, in bytes
}

// isFull reports whether no more messages may be collected.
func (l *otelLogs) isFull() bool { return l.n >= maxGathered || l.size >= maxGatheredBytes }

// textSize returns the length of all texts in a value.
func textSize(v *canon.Value) int {
	n := len(v.Text)
	for i := range v.Items {
		n += textSize(&v.Items[i])
	}
	for i := range v.Members {
		n += len(v.Members[i].Key) + textSize(&v.Members[i].Value)
	}
	return n
}

type otelLogged struct {
	span  canon.Value // a span with the messages as events
	place string
}

// eventName returns the name of an event that is a log record.
func eventName(v *canon.Value) string {
	if name := text(v, "eventName"); name != "" {
		return name
	}
	return otelText(otelAttributes(v), "event.name")
}

// event collects a log record if it is a message. It reports whether it is a message.
func (o *otelReader) event(v *canon.Value, place string) bool {
	name := eventName(v)
	if v.Kind != canon.Object || !slices.Contains(messageEvents, name) {
		return false
	}
	key := text(v, "traceId") + "/" + text(v, "spanId")
	call := o.logs.byName[key]
	if call == nil || key == "/" { // without a span, its call is unknown
		time := stringValue(otelTimeText(v))
		attributes := canon.Value{Kind: canon.Array, Items: []canon.Value{objectValue("key", stringValue("gen_ai.operation.name"), "value", objectValue("stringValue", stringValue("chat")))}}
		if own := v.Get("attributes"); own != nil && own.Kind == canon.Array {
			attributes.Items = append(slices.Clone(own.Items), attributes.Items...)
		}
		call = &otelLogged{objectValue("traceId", stringValue(text(v, "traceId")), "startTimeUnixNano", time, "endTimeUnixNano", time, "attributes", attributes, "events", canon.Value{Kind: canon.Array}), place}
		if o.logs.byName == nil {
			o.logs.byName = map[string]*otelLogged{}
		}
		o.logs.byName[key], o.logs.calls = call, append(o.logs.calls, call)
	}
	event := objectValue("name", stringValue(name))
	for _, member := range [...]string{"attributes", "body"} {
		if m := v.Get(member); m != nil {
			event.Members = append(event.Members, canon.Member{Key: member, Value: *m})
		}
	}
	events := call.span.Get("events")
	events.Items = append(events.Items, event)
	*call.span.Get("endTimeUnixNano") = stringValue(otelTimeText(v))
	o.logs.n++
	o.logs.size += textSize(v)
	return true
}

// otelTimeText returns the time of a log record as written.
func otelTimeText(v *canon.Value) string {
	if t := scalar(v, "timeUnixNano"); t != "" && t != "0" {
		return t
	}
	return scalar(v, "observedTimeUnixNano")
}

// handLogs reads the collected calls.
func (o *otelReader) handLogs() error {
	calls := o.logs.calls
	o.logs = otelLogs{}
	for _, call := range calls {
		o.record(&call.span, call.place)
		if err := o.handFull(); err != nil {
			return err
		}
	}
	return nil
}
