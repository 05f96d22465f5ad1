package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// queueOperation is the type of the records that follow a session's queue.
const queueOperation = "queue-operation"

// A claudeQueue follows the prompts that a person types while the agent works.
// Claude Code queues them and writes a record for each thing that happens to one:
//
//	enqueue  it was typed
//	dequeue  the agent was done, and it is the next prompt: a user's record of its own follows
//	remove   it was given to the agent in the middle of its work, beside the results of tools
//	popAll   the person took it back into the input line
//
// So it is the remove that stands for a turn. Newer versions also write what they
// gave to the agent as an attachment, before the remove or after it, and then
// the two are one turn.
type claudeQueue struct {
	waiting []queuedText

	// Since the last API message began:
	delivered  map[string]*claudeNode // turns made of a remove, by their text
	unanswered *claudeNode            // the queued prompt that was delivered last
}

// A queuedText is what an enqueue brought.
type queuedText struct {
	text     string
	at       string // when it was typed: the record's time
	origin   string // as of claudeRecord.origin
	author   string
	attached bool // an attachment with the text has become the turn
}

// slashCommand matches a command of Claude Code's, and no path.
var slashCommand = regexp.MustCompile(`^/[A-Za-z0-9:_-]+(\s|$)`)

// isPrompt reports whether the text asks the agent for something.
func (q *queuedText) isPrompt() bool {
	if q.origin != "" {
		return q.author != ""
	}
	return strings.TrimSpace(q.text) != "" && !slashCommand.MatchString(q.text) && !isHarnessText(q.text)
}

// queueOperation takes a record of the queue, which has no uuid.
func (s *claudeSession) queueOperation(rec *claudeRecord) error {
	q := &s.queue
	content := rec.v.Get("content")
	said := text(rec.v, "content")
	switch text(rec.v, "operation") {
	case "enqueue":
		origin, author := rec.origin()
		q.waiting = append(q.waiting, queuedText{text: strings.Clone(said), at: strings.Clone(text(rec.v, "timestamp")), origin: strings.Clone(origin), author: author})
	case "dequeue":
		q.take(content)
	case "popAll":
		q.takeBack(said)
		s.r.skip("queue_withdrawn")
		return nil
	case "remove":
		item, ok := q.take(content)
		switch reason := text(rec.v, "reason"); {
		case reason != "" && reason != "absorbed_mid_turn":
			s.r.skip("queue_withdrawn")
			return nil
		case !ok:
			s.r.skip("queue_unpaired")
			return nil
		case item.attached:
		case !item.isPrompt():
			s.r.skip("queue_no_prompt")
			return nil
		default:
			return s.deliver(rec, item)
		}
	}
	s.r.skip(skipQueueOperation)
	return nil
}

// take takes the text that a record speaks of out of the queue: the one that the
// record repeats, else one that an attachment has delivered, else the first.
func (q *claudeQueue) take(content *canon.Value) (queuedText, bool) {
	if len(q.waiting) == 0 {
		return queuedText{}, false
	}
	i := -1
	if content != nil && content.Kind == canon.String {
		i = slices.IndexFunc(q.waiting, func(w queuedText) bool { return w.text == content.Text })
	}
	if i < 0 {
		i = slices.IndexFunc(q.waiting, func(w queuedText) bool { return w.attached })
	}
	i = max(i, 0)
	item := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return item, true
}

// takeBack empties the queue, or takes one text out of it if the record names
// that: newer versions write a popAll for each.
func (q *claudeQueue) takeBack(said string) {
	i := slices.IndexFunc(q.waiting, func(w queuedText) bool { return w.text == said })
	if i < 0 {
		q.waiting = nil
		return
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// deliver makes a turn of a queued prompt, at the place where the agent was given
// it. Its name is SESSION/queued/TIME/SHA256 of when it was typed and of its text.
func (s *claudeSession) deliver(rec *claudeRecord, item queuedText) error {
	t := claudeTurn{voice: voiceUser, queued: true, author: item.author}
	t.draft.Role, t.draft.Content = dag.RoleUser, item.text
	setAttr(&t.draft, "queued_at", item.at, &rec.noted)
	setAttr(&t.draft, attrOrigin, item.origin, &rec.noted)
	rec.noted.add(notePromptQueued)
	sum := sha256.Sum256([]byte(item.text))
	name := s.sessionOf(rec.v) + "/queued/" + item.at + "/" + hex.EncodeToString(sum[:])
	if err := s.turn(rec, &t, name, s.above(rec.v)); err != nil {
		return err
	}
	if node := s.places[name].node; node != nil {
		if s.queue.delivered == nil {
			s.queue.delivered = map[string]*claudeNode{}
		}
		s.queue.delivered[item.text] = node
	}
	return nil
}

// queuedCommand reads a queued prompt that was attached. It is a turn if it has a person or another agent as its author.
func (rec *claudeRecord) queuedCommand(t *claudeTurn, a *canon.Value) {
	mode := text(a, "commandMode")
	from := a.Get("origin")
	if from == nil {
		from = rec.v.Get("origin")
	}
	origin, author := claudeOrigin(from, &rec.noted)
	typed := (mode == "" || mode == "prompt") && !isTrue(a, "isMeta") && !isTrue(rec.v, "isMeta")
	if _, ok := rec.body(t, a.Get("prompt")); !ok {
		return
	}
	t.queued = true
	item := queuedText{text: t.content.text.String(), origin: origin, author: author}
	if !typed && author == "" || !item.isPrompt() {
		t.skip = kindAttachment
		return
	}
	t.voice, t.draft.Role, t.author = voiceUser, dag.RoleUser, author
	setAttr(&t.draft, attrOrigin, origin, &rec.noted)
	rec.noted.add(notePromptQueued)
}

// disown marks a queued text as typed by nobody, as an attachment says.
func (q *claudeQueue) disown(said string) {
	if i := slices.IndexFunc(q.waiting, func(w queuedText) bool { return w.text == said }); i >= 0 {
		q.waiting[i].origin = "attachment"
	}
}

// attached tells the queue of a prompt that came as an attachment. It reports
// whether a remove made a turn of it already.
func (q *claudeQueue) attached(rec *claudeRecord, t *claudeTurn) bool {
	said := t.draft.Content
	if q.delivered[said] != nil {
		return true
	}
	i := slices.IndexFunc(q.waiting, func(w queuedText) bool { return !w.attached && w.text == said })
	if i < 0 { // a prompt with an image is queued without its content
		i = slices.IndexFunc(q.waiting, func(w queuedText) bool { return !w.attached && w.text == "" })
	}
	if i >= 0 && rec.fileAgent == nil {
		q.waiting[i].attached = true
	}
	return false
}

// passed tells the queue of a turn of the session's own. When the next API message begins,
// what was delivered before is done with. When a prompt comes, the queue holds no machine's text any more:
// those that were not needed are dropped without a record.
func (q *claudeQueue) passed(node *claudeNode, t *claudeTurn) {
	switch {
	case t.queued:
		q.unanswered = node
	case t.voice == voiceUser:
		q.waiting = slices.DeleteFunc(q.waiting, func(w queuedText) bool { return isHarnessText(w.text) })
	case node.beginsMessage():
		q.unanswered, q.delivered = nil, nil
		q.waiting = slices.DeleteFunc(q.waiting, func(w queuedText) bool { return w.attached })
	}
}
