package extract

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// Rules names the set of rules. A released set never changes: changed rules get another name.
const Rules = "extract/2"

// The predicates.
const (
	PartOf            = "part-of"             // a turn, and "conversation:" and its conversation
	OnBranch          = "on-branch"           // a turn, and the git branch it was on
	ReadFile          = "read-file"           // a call, and the path
	WroteFile         = "wrote-file"          // a call, and the path: the call has the whole content
	CreatedFile       = "created-file"        // a call, and the path: the file did not exist before
	EditedFile        = "edited-file"         // a call, and the path: a part was changed
	RanCommand        = "ran-command"         // a call, and the command as written
	TestPassed        = "test-passed"         // a call, and the test or package as the runner names it
	TestFailed        = "test-failed"         // a call, and the test or package that failed, as the runner names it
	AddedPackage      = "added-package"       // a call, and ECOSYSTEM:NAME
	AddedVersion      = "added-version"       // a call, and ECOSYSTEM:NAME with the version as written
	MadeCommit        = "made-commit"         // a call or a commit's turn, and the hash, which git abbreviates for the former
	NamedPullRequest  = "named-pull-request"  // a turn, and the address or #NUMBER
	OpenedPullRequest = "opened-pull-request" // a call, and the address
)

// Predicates lists all predicates in byte order.
var Predicates = [...]string{
	AddedPackage, AddedVersion, CreatedFile, EditedFile, MadeCommit, NamedPullRequest, OnBranch, OpenedPullRequest,
	PartOf, RanCommand, ReadFile, TestFailed, TestPassed, WroteFile,
}

// Confidences. There are no others, so each has a meaning.
const (
	Structured dag.PPM = 1_000_000 // the trace has a field for it
	FixedForm  dag.PPM = 900_000   // from text with a fixed form, or from a tool that cannot report errors
	Loose      dag.PPM = 700_000   // from text that might mean something else
)

// MaxObject is the length of the longest object, in bytes.
const MaxObject = normalize.MaxName

// types are the types of predicates' objects. An object with a type is a literal: two objects are the same only if every byte
// is.
var types = map[string]normalize.Type{
	AddedPackage: normalize.Package, AddedVersion: normalize.Version,
	CreatedFile: normalize.File, EditedFile: normalize.File, ReadFile: normalize.File, WroteFile: normalize.File,
	MadeCommit: normalize.Commit, OnBranch: normalize.Branch, RanCommand: normalize.Command,
	NamedPullRequest: normalize.URL, OpenedPullRequest: normalize.URL,
	TestFailed: normalize.Test, TestPassed: normalize.Test,
}

// A Finding is one fact for which a turn is the evidence.
type Finding struct {
	Turn       dag.TurnID // the evidence: a call's result, or the turn itself
	Subject    string     // [SubjectOf] the acting turn: the call, or the turn itself
	Predicate  string     // one of Predicates
	Object     string     // at most MaxObject bytes, never empty; a literal of package normalize, if the predicate has a type
	Confidence dag.PPM
}

// SubjectOf returns the subject of findings about a turn.
func SubjectOf(id dag.TurnID) string { return string(normalize.Turn) + ":" + id.String() }

// ObjectOf returns the object for a conversation.
func ObjectOf(id dag.ConversationID) string {
	return string(normalize.Conversation) + ":" + id.String()
}

// Skipped counts possible evidence that led to no finding.
type Skipped struct {
	LongObject     int // an object of more than MaxObject bytes
	UnnamedObject  int // an object that is not a literal: it begins with white space, or contains U+0000
	MissingCall    int // a tool's result whose call is not among the turn's parents
	UnclearCall    int // content whose calls differ from those in the attributes, or an input that is not an object
	UnclearResult  int // a result whose text cannot be separated from other blocks; rules that need no text still apply
	UnclearCommand int // a command that these rules cannot read as shell text; it leads only to ran-command
	ModelExchange  int // a turn with the prompt or the answer of a model: it repeats what others said
}

// Add adds other to s.
func (s *Skipped) Add(other Skipped) {
	s.LongObject += other.LongObject
	s.UnnamedObject += other.UnnamedObject
	s.MissingCall += other.MissingCall
	s.UnclearCall += other.UnclearCall
	s.UnclearResult += other.UnclearResult
	s.UnclearCommand += other.UnclearCommand
	s.ModelExchange += other.ModelExchange
}

// Of returns the findings of a turn without duplicates, ordered by predicate, object and subject. There are none for a nil
// body, which was withheld or erased.
//
// parents are the turn's parents, in any order. parent returns a turn and its body, or nil if they are unavailable. Of calls it
// only for the parents of turns with tool results, and does not change what it returns.
func Of(t *dag.Turn, b *dag.Body, parents []dag.TurnID, parent func(dag.TurnID) (*dag.Turn, *dag.Body)) []Finding {
	found, _ := OfCounted(t, b, parents, parent)
	return found
}

// OfCounted is like [Of], and also returns what was skipped.
func OfCounted(t *dag.Turn, b *dag.Body, parents []dag.TurnID, parent func(dag.TurnID) (*dag.Turn, *dag.Body)) ([]Finding, Skipped) {
	if t == nil || b == nil {
		return nil, Skipped{}
	}
	if b.Attrs[attrExchange] != "" {
		return nil, Skipped{ModelExchange: 1}
	}
	x := &extraction{self: said{t.ID, t.Conversation, b}}
	switch {
	case b.Attrs[attrCommit] == "true":
		x.commit()
	case slices.Contains(strings.Split(b.Attrs[attrBlocks], ","), blockResult):
		x.results(parents, func(id dag.TurnID) (said, bool) {
			pt, pb := parent(id)
			if pt == nil || pb == nil {
				return said{}, false
			}
			return said{pt.ID, pt.Conversation, pb}, true
		})
	case t.Role == dag.RoleUser || t.Role == dag.RoleAssistant:
		x.speech()
	}
	return x.finish(), x.skipped
}

// OfDraft is like [OfCounted], for a turn that is not yet admitted. parent returns the draft of a parent, or nil.
func OfDraft(d *dag.Draft, parent func(dag.TurnID) *dag.Draft) ([]Finding, Skipped) {
	if d == nil {
		return nil, Skipped{}
	}
	parents := make([]dag.TurnID, len(d.Parents))
	for i := range d.Parents {
		parents[i] = d.Parents[i].ID
	}
	t, b := ofDraft(d)
	return OfCounted(t, b, parents, func(id dag.TurnID) (*dag.Turn, *dag.Body) { return ofDraft(parent(id)) })
}

// ofDraft returns the parts of a turn that the rules read.
func ofDraft(d *dag.Draft) (*dag.Turn, *dag.Body) {
	if d == nil || d.Redacted {
		return nil, nil
	}
	return &dag.Turn{ID: d.ID, Conversation: d.Conversation, Role: d.Role, CreatedAt: d.CreatedAt},
		&dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}
}

// AttrToolUse is the attribute with the ids of the calls of a turn, or of the calls whose results it has, separated by commas.
const AttrToolUse = "tool_use_id"

// Attributes and block kinds that importers write.
const (
	attrBlocks   = "blocks"
	attrBranch   = "git_branch"
	attrCommit   = "commit"
	attrExchange = "llm_extract" // of ingest/llm
	attrIsError  = "is_error"
	attrMessage  = "message_id"
	attrMeta     = "meta"
	attrTool     = "tool"
	blockCall    = "tool_use"
	blockResult  = "tool_result"
)

// A said is a turn that can be the subject of a finding.
type said struct {
	id           dag.TurnID
	conversation dag.ConversationID
	body         *dag.Body
}

// An extraction is the state of one call of Of.
type extraction struct {
	self    said
	found   []Finding
	skipped Skipped
	acted   []said // the subjects so far, without duplicates
}

// add adds a finding about the turn subject.
func (x *extraction) add(subject *said, predicate, object string, c dag.PPM) {
	if object == "" {
		return
	}
	t := types[predicate]
	typed := t != "" && !strings.HasPrefix(object, "#") // #NUMBER is not an address
	if len(object) > MaxObject || typed && len(t)+len(":")+len(object) > MaxObject {
		x.skipped.LongObject++
		return
	}
	if typed {
		var err error
		if object, err = normalize.Literal(t, object); err != nil {
			x.skipped.UnnamedObject++
			return
		}
	}
	x.found = append(x.found, Finding{x.self.id, SubjectOf(subject.id), predicate, object, c})
	if !slices.ContainsFunc(x.acted, func(s said) bool { return s.id == subject.id }) {
		x.acted = append(x.acted, *subject)
	}
}

// finish connects each subject to its conversation and its branch, and orders the findings. A turn without other findings gets
// neither: every turn has a conversation, and findings about all of them would bury the rest.
func (x *extraction) finish() []Finding {
	for _, s := range slices.Clone(x.acted) {
		x.add(&s, PartOf, ObjectOf(s.conversation), Structured)
		if branch := s.body.Attrs[attrBranch]; branch != "HEAD" { // git's name for no branch
			x.add(&s, OnBranch, branch, Structured)
		}
	}
	slices.SortFunc(x.found, func(a, b Finding) int {
		for _, c := range [...]int{
			strings.Compare(a.Predicate, b.Predicate),
			strings.Compare(a.Object, b.Object),
			strings.Compare(a.Subject, b.Subject),
		} {
			if c != 0 {
				return c
			}
		}
		return int(b.Confidence) - int(a.Confidence)
	})
	return slices.CompactFunc(x.found, func(a, b Finding) bool { // keeps the first, which has the highest confidence
		return a.Predicate == b.Predicate && a.Object == b.Object && a.Subject == b.Subject
	})
}
