package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
)

// AttrFolder is the attribute with the folder in which an agent worked at a turn, as its transcript spells it.
const AttrFolder = "cwd"

// AttrFolderDigest is the attribute with the SHA-256 of that folder's path in hexadecimal digits, for transcripts that have
// only the digest.
const AttrFolderDigest = "project_hash"

// AttrTitle is the attribute with the title of a conversation, on its first turn, or on a turn that is only a title; see
// [Titles].
const AttrTitle = "title"

// AttrSavedAs is the attribute with the name of the file in which Claude Code saved a tool's result, on the turn made from that
// file.
const AttrSavedAs = "saved_as"

// isKernelContext reports whether a text is exactly a context from a hook of the kernel, between its marks. Call it only for
// text that the agent's program wrote itself: anybody else could add the marks to have a text left out.
func isKernelContext(text string) bool {
	text = strings.TrimSpace(text)
	id, _, ok := strings.Cut(strings.TrimPrefix(text, "<graphkernel-context "), " ")
	return ok && strings.HasPrefix(text, "<graphkernel-context ") && strings.HasSuffix(text, "\n</graphkernel-context "+id+">")
}

// HeldIn returns a function that reports whether, according to a turn's attributes, the agent worked in one of the folders.
// value looks up an attribute. Gemini CLI records only a digest of the folder's path.
func HeldIn(folders ...string) func(value func(key string) (string, bool)) bool {
	spelled, digests := map[string]bool{}, map[string]bool{}
	for _, f := range folders {
		sum := sha256.Sum256([]byte(f))
		spelled[f], digests[hex.EncodeToString(sum[:])] = true, true
	}
	return func(value func(key string) (string, bool)) bool {
		if at, ok := value(AttrFolder); ok {
			return spelled[at]
		}
		hash, _ := value(AttrFolderDigest)
		return digests[hash]
	}
}

// Words of the two counts that several formats share. docs/importers.md explains all words.
const (
	skipBrokenLine       = "broken_line"
	skipLongLine         = "line_too_long"
	skipEmptyLine        = "empty_line"
	skipRepeated         = "repeated"
	skipRepeatedOther    = "repeated_differently"
	skipContentTooLong   = "content_too_long"
	skipSecret           = "secret"
	skipMalformed        = "malformed_record"
	skipUnknownFormat    = "unknown_format"
	skipEmptyFile        = "empty_file"
	skipArchive          = "archive"
	skipOtherFormat      = "other_format"
	skipUnknownType      = "unknown_type"
	skipUnknownRole      = "unknown_role"
	skipEmptyMessage     = "empty_message"
	noteThinkingRedacted = "thinking_redacted"
	skipParentCycle      = "parent_cycle"
	noteAttachmentData   = "attachment_data"
	skipUnjoined         = "subagent_unjoined"
	skipAgentMeta        = "subagent_meta"
	skipSavedResult      = "tool_result_file"
	skipKernelContext    = "kernel_context"
	skipTitleOfOther     = "title_of_other"
	skipSummary          = "summary"
	attrSavedLost        = "saved_result"
	skipQueueOperation   = "queue_operation"
	notePromptQueued     = "prompt_queued"
	noteParentMissing    = "parent_missing"
	noteParentsCut       = "parents_cut"
	noteAttrLeftOut      = "attr_left_out"
	noteSecretKept       = "secret_kept"
	noteAuthorCut        = "author_cut"
	noteLoneSurrogate    = "lone_surrogate"
	noteInvalidUTF8      = "invalid_utf8"
	noteAttributeCut     = "attribute_cut"
	noteControlCharacter = "control_character"
	noteTimeInferred     = "time_inferred"
	noteImageData        = "image_data"
	noteCallMissing      = "call_missing"
	noteParentByOrder    = "parent_by_order"
	attrMissingParent    = "missing_parent"
	attrParentBy         = "parent_by"
	parentByOrder        = "order"
	attrTimeBy           = "time_by"
	attrTool             = "tool"
	attrToolUseID        = "tool_use_id"
	attrModel            = "model"
	attrIsError          = "is_error"
	attrBlocks           = "blocks"
	attrMessageID        = "message_id"
	attrCompact          = "compact"
	attrMeta             = "meta"
	attrCut              = "cut"
	attrOrigin           = "origin"
	attrKind             = "session_kind"
	attrGitBranch        = "git_branch"
	attrAgentVersion     = "agent_version"
	attrAgentID          = "agent_id"
	attrForkedFrom       = "forked_from"
	attrParentSession    = "parent_session"
	authorHuman          = "human:user"
	authorUnknown        = "agent:unknown" // of a user's message, if the record that says who asks in the session was lost, or is of an unknown form
	timeByPosition       = "position"
	timeByEarlierContext = "earlier"
)

// A bodySum is a digest of role, author and content of a turn; a repetition of the turn must have the same.
type bodySum [16]byte

func sumBody(d *dag.Draft) (s bodySum) {
	h := sha256.New()
	var head [5]byte
	head[0] = byte(d.Role)
	binary.BigEndian.PutUint32(head[1:], uint32(len(d.Author)))
	h.Write(head[:])
	h.Write([]byte(d.Author))
	h.Write([]byte(d.Content))
	copy(s[:], h.Sum(nil))
	return s
}

// admit adds the draft of a record to a batch, or counts the record as skipped. It reports whether the turn is in this batch or
// in an earlier one.
//
// session is the name of the conversation or session in the program that wrote it, or "" if it has none.
//
// admit replaces secrets in a copy of the draft, so nothing that the caller derives from texts depends on the policy for
// secrets.
func (r *reading) admit(b *Batch, draft *dag.Draft, session, place string, noted counts) bool {
	if reason := r.leftOut(session, draft); reason != "" {
		r.skip(reason)
		return false
	}
	own := *draft
	d := &own
	screened, ok := r.screen(d)
	if !ok {
		return false
	}
	if screened.refused() {
		r.tell(&screened, d, place)
		r.skip(skipSecret)
		return false
	}
	if len(d.Content) > dag.MaxContent {
		r.skip(skipContentTooLong)
		return false
	}
	if err := checkDraft(d); err != nil {
		r.skip(skipMalformed)
		return false
	}
	sum := sumBody(d)
	if before, ok := r.seen[d.ID]; ok {
		if before == sum {
			r.skip(skipRepeated)
		} else {
			r.skip(skipRepeatedOther)
		}
		return true
	}
	r.seen[d.ID] = sum
	b.Drafts = append(b.Drafts, *d)
	b.Places = append(b.Places, place)
	r.file().Turns++
	r.noteAll(noted)
	r.tell(&screened, d, place)
	return true
}

// leftOut returns the reason why the conversation of a draft is left out, or "". Sub-agents share the decision about their
// session. A session without a known folder is decided again when a turn names one.
func (r *reading) leftOut(session string, d *dag.Draft) string {
	if r.opts.LeaveOut == nil {
		return ""
	}
	key := cmp.Or(session, d.Conversation.String())
	was, known := r.left[key]
	if known && (was.reason != "" || was.folder || d.Attrs[AttrFolder] == "") {
		return was.reason
	}
	reason := r.opts.LeaveOut(session, d)
	r.left[strings.Clone(key)] = leaving{reason, d.Attrs[AttrFolder] != ""}
	return reason
}

// A leaving is the decision about a session.
type leaving struct {
	reason string
	folder bool // the deciding turn names a folder
}

// addParent adds an edge unless the two turns are already joined.
func addParent(d *dag.Draft, id dag.TurnID, kind dag.EdgeKind, noted *counts) {
	switch {
	case id == d.ID || hasParent(d.Parents, id):
	case len(d.Parents) >= dag.MaxParents:
		noted.add(noteParentsCut)
	default:
		d.Parents = append(d.Parents, dag.Parent{ID: id, Kind: kind})
	}
}

// setAttr sets an attribute. It omits a value that GKP/1 does not allow instead of cutting it, since half an identifier is
// useless.
func setAttr(d *dag.Draft, key, value string, noted *counts) {
	if value == "" {
		return
	}
	ok := len(value) <= dag.MaxAttrValue && utf8.ValidString(value) && strings.IndexFunc(value, isControl) < 0
	if !ok || len(d.Attrs) >= dag.MaxAttrs-2 { // two are reserved for the rules
		noted.add(noteAttrLeftOut)
		return
	}
	if d.Attrs == nil {
		d.Attrs = map[string]string{}
	}
	d.Attrs[key] = value
}

func isControl(r rune) bool { return r < 0x20 }

// turnID sets the id of a draft from its name in another system: the name itself if it is a UUID, else a UUID derived from it;
// the name is then kept as an attribute.
func turnID(d *dag.Draft, source, name string, noted *counts) {
	id, err := dag.ParseTurnID(strings.ToLower(name))
	if err != nil {
		id = dag.ExternalTurnID(source, name)
		setAttr(d, dag.AttrExternalID, name, noted)
	}
	d.ID = id
}

// SessionConversation returns the conversation of an agent's session; source is the name of the agent's format.
func SessionConversation(source, session string) dag.ConversationID {
	return conversationID(source, session)
}

func conversationID(source, name string) dag.ConversationID {
	if id, err := dag.ParseConversationID(strings.ToLower(name)); err == nil {
		return id
	}
	return dag.ExternalConversationID(source, name)
}

// authorName returns "KIND:NAME" in printable ASCII of at most 128 bytes. Other bytes, and the percent sign, become %XX, so
// that different names stay different.
func authorName(kind, name string, noted *counts) string {
	const hexDigits = "0123456789ABCDEF"
	out := append([]byte(kind), ':')
	for i := 0; i < len(name); i++ {
		c := name[i]
		piece := []byte{c}
		if c < 0x20 || c > 0x7e || c == '%' {
			piece = []byte{'%', hexDigits[c>>4], hexDigits[c&15]}
		}
		if len(out)+len(piece) > dag.MaxAuthor {
			noted.add(noteAuthorCut)
			break
		}
		out = append(out, piece...)
	}
	return string(out)
}

// errNoTime says that a time of another program is outside the range of GKP/1.
var errNoTime = errors.New("no time in the years 1970 to 9999")

// secondsTime reads seconds since 1970 in decimal form, as in JSON numbers. It uses no floating point, and truncates digits
// below a microsecond.
func secondsTime(s string) (dag.Time, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 12 {
		return 0, errNoTime
	}
	frac = (frac + "000000")[:6]
	us := dag.Time(0)
	for _, c := range []byte(whole + frac) {
		if c < '0' || c > '9' {
			return 0, errNoTime
		}
		us = us*10 + dag.Time(c-'0')
	}
	if !us.Valid() {
		return 0, errNoTime
	}
	return us, nil
}
