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

// queueOperation is the type of the records about a session's queue.
const queueOperation = "queue-operation"

// A claudeQueue tracks the prompts that a person types while the agent works. Claude Code queues them and writes a record for
// each change of the queue:
//
//	enqueue  a prompt was typed
//	dequeue  the agent was done, and this is the next prompt: a user record follows
//	remove   the agent was given the prompt in the middle of its work, together with tool results
//	popAll   the person took the prompt back into the input line
//
// So a remove becomes a turn. Newer versions also write the delivered prompt as an attachment, before or after the remove, and
// then both are one turn.
type claudeQueue struct {
	waiting []queuedText

	// Since the beginning of the last API message:
	delivered  map[string]*claudeNode // turns of removes, by their text
	unanswered *claudeNode            // the last queued prompt that was delivered
}

// A queuedText is a text that was enqueued.
type queuedText struct {
	text     string
	at       string // when it was typed: the time of its record
	origin   string // as returned by claudeRecord.origin
	author   string
	attached bool // an attachment with this text has become the turn
}

// slashCommand matches a command of Claude Code, but not a path.
var slashCommand = regexp.MustCompile(`^/[A-Za-z0-9:_-]+(\s|$)`)

// isPrompt reports whether the text is a request to the agent.
func (q *queuedText) isPrompt() bool {
	if q.origin != "" {
		return q.author != ""
	}
	return strings.TrimSpace(q.text) != "" && !slashCommand.MatchString(q.text) && !isHarnessText(q.text)
}

// queueOperation reads a record of the queue, which has no uuid.
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

// take removes and returns the text of the queue that a record refers to: the text that the record repeats, else a text that an
// attachment has delivered, else the first.
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

// takeBack empties the queue, or removes one text if the record names it: newer versions write one popAll for each text.
func (q *claudeQueue) takeBack(said string) {
	i := slices.IndexFunc(q.waiting, func(w queuedText) bool { return w.text == said })
	if i < 0 {
		q.waiting = nil
		return
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// deliver makes a turn of a queued prompt, at the place where the agent was given it. Its name is SESSION/queued/TIME/SHA256,
// from the time when it was typed and its text.
func (s *claudeSession) deliver(rec *claudeRecord, item queuedText) error {
	t := claudeTurn{voice: voiceUser, queued: true, author: item.author}
	t.draft.Role, t.draft.Content = dag.RoleUser, item.text
	setAttr(&t.draft, "queued_at", item.at, &rec.noted)
	setAttr(&t.draft, attrOrigin, item.origin, &rec.noted)
	rec.noted.add(notePromptQueued)
	sum := sha256.Sum256([]byte(item.text))
	name := s.sessionOf(rec.v) + "/queued/" + item.at + "/" + hex.EncodeToString(sum[:])
	if err := s.turn(rec, &t, name, s.chain.above(rec.v)); err != nil {
		return err
	}
	if node := s.chain.places[name].node; node != nil {
		if s.queue.delivered == nil {
			s.queue.delivered = map[string]*claudeNode{}
		}
		s.queue.delivered[item.text] = node
	}
	return nil
}

// queuedCommand reads an attachment with a queued prompt. The prompt is a turn if its author is a person or another agent.
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

// disown marks a queued text as not typed by a person, because an attachment says so.
func (q *claudeQueue) disown(said string) {
	if i := slices.IndexFunc(q.waiting, func(w queuedText) bool { return w.text == said }); i >= 0 {
		q.waiting[i].origin = "attachment"
	}
}

// attached updates the queue for a prompt that came as an attachment. It reports whether a remove has already become the turn.
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

// passed updates the queue for a turn of the session's own chain. When the next API message begins, prompts delivered before
// are settled. When a prompt comes, texts of programs leave the queue, since unused ones are dropped without a record.
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

// addTo adds a reply edge from a queued prompt to the first turn of the API message after its delivery, unless it already
// is the parent: the transcript continues from the tool's result, but the model had read both.
func (q *claudeQueue) addTo(rec *claudeRecord, d *dag.Draft, node *claudeNode) {
	prompt := q.unanswered
	if prompt == nil || node.agent != nil || !node.beginsMessage() {
		return
	}
	addParent(d, prompt.id, dag.Reply, &rec.noted)
	if node.prompt == nil || node.prompt.order < prompt.order {
		node.prompt = prompt
	}
}
