package ingest

import (
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// sourceGemini is the source of ids for Gemini CLI's ids that are not UUIDs.
const sourceGemini = "gemini"

const authorGemini = "agent:gemini"

// A geminiSession reads a session of Gemini CLI, ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json or .jsonl. The forms are
// ConversationRecord, MessageRecord, ToolCallRecord, MetadataUpdateRecord and RewindRecord in
// packages/core/src/services/chatRecordingTypes.ts of github.com/google-gemini/gemini-cli. The older form is one document that
// is rewritten each time,
//
//	{"sessionId","projectHash","startTime","lastUpdated","messages":[MESSAGE]}
//
// and the newer form has a line with everything except the messages, then a line for each MESSAGE, again whenever it has
// changed, lines {"$set":{…}}, which may replace the messages, and lines {"$rewindTo":ID}, which take back that message and all
// later ones. A message is
//
//	{"id","timestamp","type":"user"|"gemini"|"info"|"error"|"warning","content",
//	 "toolCalls":[{"id","name","args","result","status","timestamp"}],"thoughts":[{"subject","description"}],"model"}
//
// A message is rewritten while its tools work, so its calls and their results are separate turns, which do not change any more.
// A record is a message, a call or a result.
type geminiSession struct {
	batches
	path string

	session string
	project string
	kind    string
	lost    bool // the session's properties may have been damaged
	now     dag.Time
	at      geminiPoint            // where the next message attaches
	starts  map[string]geminiPoint // where each message attaches
}

// A geminiPoint is where a turn attaches: to one turn, and to others that came in parallel with it.
type geminiPoint struct {
	reply  *dag.TurnID
	merges []dag.TurnID
}

// readGemini reads one session.
func readGemini(r *reading, path string) error {
	g := &geminiSession{batches: newBatches(r, path, Gemini), path: path, starts: map[string]geminiPoint{}}
	g.session = strings.TrimSuffix(strings.TrimSuffix(r.files.base(path), ".jsonl"), ".json")
	byLine, err := r.files.isLinewise(path)
	if err != nil {
		return err
	}
	if byLine {
		err = r.jsonRecords(path, g.line)
	} else {
		one := func(v *canon.Value) bool { return text(v, "sessionId") != "" }
		err = r.documents(path, one, func(v *canon.Value, place string) error {
			g.about(v)
			return g.list(v.Get("messages"), place)
		})
	}
	if err != nil {
		return err
	}
	return g.hand()
}

// line reads a line of the newer form, which is already counted.
func (g *geminiSession) line(rec jsonRecord) error {
	v := rec.value
	g.r.noteMended(rec.mended)
	g.lost = rec.behindDamage && g.project == ""
	switch set, back := object(v, "$set"), text(v, "$rewindTo"); {
	case set != nil:
		g.r.skip("session_meta")
		g.about(set)
		return g.list(set.Get("messages"), rec.place)
	case back != "":
		g.r.skip("rewind")
		g.at = g.starts[back] // for an unknown message, Gemini CLI takes back everything
		return nil
	case v.Get("id") == nil && text(v, "sessionId") != "":
		g.r.skip("session_meta")
		g.about(v)
		return g.list(v.Get("messages"), rec.place)
	}
	g.message(v, rec.place)
	return g.handFull()
}

// about reads the properties of the session.
func (g *geminiSession) about(v *canon.Value) {
	for _, m := range [...]struct {
		to  *string
		key string
	}{{&g.session, "sessionId"}, {&g.project, "projectHash"}, {&g.kind, "kind"}} {
		if s := text(v, m.key); s != "" {
			*m.to = strings.Clone(s)
		}
	}
}

// list reads a list of messages, which replaces all earlier messages.
func (g *geminiSession) list(v *canon.Value, place string) error {
	if v == nil || v.Kind != canon.Array || len(v.Items) == 0 {
		return nil
	}
	g.at = geminiPoint{}
	for i := range v.Items {
		g.r.record()
		g.message(&v.Items[i], place)
		if err := g.handFull(); err != nil {
			return err
		}
	}
	return nil
}

// message reads one message, which is already counted, and its calls and results, which are not.
func (g *geminiSession) message(v *canon.Value, place string) {
	id := text(v, "id")
	if v.Kind != canon.Object || id == "" {
		g.r.skip(skipMalformed)
		return
	}
	start, known := g.starts[id]
	if !known {
		start = g.at
		id = strings.Clone(id)
		g.starts[id] = start
	}
	g.at = start
	t := geminiTurn(v)
	if g.kind == "subagent" && t.draft.Author == authorHuman { // the agent that started it asks
		t.draft.Author = authorGemini
	} else if (g.lost || g.kind != "" && g.kind != "main") && t.draft.Author == authorHuman {
		t.draft.Author = authorUnknown
	}
	if t.skip == "" {
		name := id
		if _, err := dag.ParseTurnID(strings.ToLower(id)); err != nil {
			name = g.session + "/" + id
		}
		if t.files != nil {
			g.r.record()
			g.turn(t.files, v, name+"/files", place, start)
		}
		g.turn(t, v, name, place, g.at)
	} else {
		g.r.skip(t.skip)
	}
	g.calls(v, id, place)
}

// calls reads the calls of a message. Calls run in parallel, so each follows the message, and the next message follows all of
// them.
func (g *geminiSession) calls(v *canon.Value, message, place string) {
	list := v.Get("toolCalls")
	if list == nil || len(list.Items) == 0 {
		return
	}
	start := g.at
	var ends []dag.TurnID
	again := map[string]int{} // how often each id has occurred in the message
	for i := range list.Items {
		call := &list.Items[i]
		id := text(call, "id")
		if id == "" {
			id = strconv.Itoa(i)
		}
		name, nth := g.session+"/"+message+"/", ""
		if again[id]++; again[id] > 1 {
			nth = "~" + strconv.Itoa(again[id])
		}
		g.r.record()
		if call.Kind != canon.Object {
			g.r.skip(skipMalformed)
			continue
		}
		t := geminiCall(call, id)
		setAttr(&t.draft, attrModel, text(v, "model"), &t.noted)
		g.at = start
		called := g.turn(t, v, name+"call/"+id+nth, place, start)
		if result := call.Get("result"); result != nil && result.Kind != canon.Null {
			g.r.record()
			from := start
			if called {
				from = geminiPoint{reply: g.at.reply}
			}
			g.turn(geminiResult(call, result, id), call, name+"result/"+id+nth, place, from)
		}
		if g.at.reply != nil && g.at.reply != start.reply {
			ends = append(ends, *g.at.reply)
		}
	}
	g.at = start
	if n := len(ends); n > 0 {
		g.at = geminiPoint{reply: &ends[n-1], merges: ends[:n-1]}
	}
}

// turn makes a turn that attaches to from, and becomes the point where the next turn attaches. It reports whether the turn was
// admitted.
func (g *geminiSession) turn(t *geminiDraft, v *canon.Value, name, place string, from geminiPoint) bool {
	d := &t.draft
	turnID(d, sourceGemini, name, &t.noted)
	d.Conversation = conversationID(sourceGemini, g.session)
	d.Content = t.content.text.String()
	if at, err := dag.ReadTime(text(v, "timestamp")); err == nil {
		d.CreatedAt, g.now = at, at
	} else {
		d.CreatedAt = g.now
		setAttr(d, attrTimeBy, timeByEarlierContext, &t.noted)
		t.noted.add(noteTimeInferred)
	}
	if from.reply != nil {
		addParent(d, *from.reply, dag.Reply, &t.noted)
	}
	for _, id := range from.merges {
		addParent(d, id, dag.Merge, &t.noted)
	}
	setAttr(d, attrBlocks, t.content.blocks(), &t.noted)
	setAttr(d, AttrFolderDigest, g.project, &t.noted)
	if g.kind != "main" {
		setAttr(d, attrKind, g.kind, &t.noted)
	}
	for what, n := range t.content.lost {
		for range n {
			t.noted.add(what)
		}
	}
	if !g.admit(d, g.session, place, t.noted) {
		return false
	}
	g.at = geminiPoint{reply: &d.ID}
	return true
}
