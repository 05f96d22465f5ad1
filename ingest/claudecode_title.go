package ingest

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Claude Code writes the title of a session as a separate record, whenever it changes and whenever the session is continued:
//
//	{"type":"custom-title","customTitle":TITLE,"sessionId":ID}    a name that was chosen
//	{"type":"ai-title","aiTitle":TITLE,"sessionId":ID}            one that the program made
//	{"type":"summary","summary":TITLE,"leafUuid":UUID}            the same of older versions
//
// Each change is a turn without text, with the title as an attribute. Its id is derived from the conversation, the kind of
// title and the number of earlier titles of this kind, so all titles can be found from the conversation alone; see [TitleTurn].

// A TitleKind says who chose a conversation's title.
type TitleKind string

// The kinds of titles. A chosen title takes precedence over a title that a program made.
const (
	TitleChosen TitleKind = "chosen"
	TitleMade   TitleKind = "made"
)

// TitleKinds are all kinds, in the order of precedence.
var TitleKinds = [...]TitleKind{TitleChosen, TitleMade}

// AttrTitleKind is the attribute with the kind of a title; only turns that are nothing but a title have it.
const AttrTitleKind = "title_kind"

// TitleTurn returns the id of the turn with the n-th title of a kind, from 0, of a conversation.
func TitleTurn(of dag.ConversationID, kind TitleKind, n int) dag.TurnID {
	return dag.ExternalTurnID(sourceClaude, titleName(of, kind, n))
}

func titleName(of dag.ConversationID, kind TitleKind, n int) string {
	return of.String() + "/title/" + string(kind) + "/" + strconv.Itoa(n)
}

// titleRecords are the types of records with a title, and the members that contain it.
var titleRecords = map[string]struct {
	member string
	kind   TitleKind
}{
	"custom-title": {"customTitle", TitleChosen},
	"ai-title":     {"aiTitle", TitleMade},
	"summary":      {"summary", TitleMade},
}

// claudeTitles reads the titles of a session.
type claudeTitles struct {
	*batches
	path    string // the path of the session's file
	session string // the session of the first turn
	chain   *claudeChain
	now     *dag.Time // the time of the last record with a time in the session's own file
	early   int       // number of titles before the first turn
	kinds   map[TitleKind]*claudeTitle
}

// A claudeTitle counts the titles of one kind.
type claudeTitle struct {
	last string
	n    int
}

// read reads a record with a title of the session. Titles before the first turn are only counted, and read again after it.
func (ts *claudeTitles) read(rec *claudeRecord) error {
	if ts.chain.newest == nil {
		ts.early++
		return nil
	}
	v := rec.v
	of := titleRecords[text(v, "type")]
	title := strings.TrimSpace(oneLine(text(v, of.member)))
	session := text(v, "sessionId")
	at, known := ts.chain.places[text(v, "leafUuid")]
	before := ts.kinds[of.kind]
	if before == nil {
		before = &claudeTitle{}
		ts.kinds[of.kind] = before
	}
	switch {
	case session != "" && session != ts.session:
		ts.r.skipAt(rec.line, skipTitleOfOther)
	case text(v, "type") == skipSummary && (!known || at.node == nil || at.node.agent != nil):
		ts.r.skipAt(rec.line, skipSummary)
	case title == "":
		ts.r.skipAt(rec.line, skipEmptyMessage)
	case title == before.last:
		ts.r.skipAt(rec.line, skipRepeated)
	default:
		return ts.turn(rec, of.kind, title, before)
	}
	return nil
}

func (ts *claudeTitles) turn(rec *claudeRecord, kind TitleKind, title string, before *claudeTitle) error {
	d := dag.Draft{Role: dag.RoleSystem, Author: authorClaudeCode, Conversation: conversationID(sourceClaude, ts.session)}
	turnID(&d, sourceClaude, titleName(d.Conversation, kind, before.n), &rec.noted)
	setAttr(&d, AttrTitle, title, &rec.noted)
	if d.Attrs[AttrTitle] == "" {
		ts.r.skipAt(rec.line, skipMalformed)
		return nil
	}
	setAttr(&d, AttrTitleKind, string(kind), &rec.noted)
	setAttr(&d, attrMeta, "true", &rec.noted)
	rec.setTime(&d)
	addParent(&d, ts.chain.newest.id, dag.Reply, &rec.noted)
	before.last, before.n = strings.Clone(title), before.n+1
	ts.admit(&d, ts.session, rec.place, rec.noted)
	return ts.handFull()
}

// readEarly reads the titles before the first turn, once that turn exists.
func (ts *claudeTitles) readEarly() error {
	if ts.chain.newest == nil || ts.early == 0 {
		return nil
	}
	return ts.eachEarly(ts.read)
}

// leave counts the titles of a session without turns as skipped.
func (ts *claudeTitles) leave() error {
	return ts.eachEarly(func(rec *claudeRecord) error {
		word := skipTitleOfOther
		if text(rec.v, "type") == skipSummary {
			word = skipSummary
		}
		ts.r.skipAt(rec.line, word)
		return nil
	})
}

// eachEarly reads the titles before the first turn again, from the beginning of the session's file, so that they need not be
// kept in memory.
func (ts *claudeTitles) eachEarly(take func(*claudeRecord) error) error {
	left := ts.early
	if ts.early = 0; left == 0 {
		return nil
	}
	in, err := openLines(ts.r.ctx, ts.r.files, ts.path)
	if err != nil {
		return err
	}
	defer in.close()
	for left > 0 {
		line, err := in.next()
		if errors.Is(err, errLongLine) {
			continue
		}
		if err == io.EOF { // another program has rewritten the file since the first reading
			ts.r.skipMany(skipTitleOfOther, left)
			return nil
		}
		if err != nil {
			return err
		}
		for _, v := range recordsOf(line) {
			if left == 0 || v.value == nil || v.value.Kind != canon.Object || !isTitle(v.value) {
				continue
			}
			left--
			rec := &claudeRecord{v: v.value, place: ts.path + ":" + strconv.Itoa(in.number), line: in.number, now: ts.now}
			v.mended.note(&rec.noted)
			if err := take(rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// isTitle reports whether a record of a session's own file has a title.
func isTitle(v *canon.Value) bool {
	_, names := titleRecords[text(v, "type")]
	return names && text(v, "uuid") == ""
}

// Titles finds the title of a conversation in the attributes of its turns: the newest chosen title, else the newest title that
// a program made, else the title of the first turn.
type Titles struct {
	first  string
	newest map[TitleKind]string
	any    bool
}

// Add reads the attributes of the next turn.
func (t *Titles) Add(attrs map[string]string) {
	title := attrs[AttrTitle]
	if kind := TitleKind(attrs[AttrTitleKind]); kind != "" && title != "" {
		if t.newest == nil {
			t.newest = map[TitleKind]string{}
		}
		t.newest[kind] = title
	} else if !t.any {
		t.first = title
	}
	t.any = true
}

// Title returns the title, or "" if there is none.
func (t *Titles) Title() string {
	for _, kind := range TitleKinds {
		if title := t.newest[kind]; title != "" {
			return title
		}
	}
	return t.first
}
