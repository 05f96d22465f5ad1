package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// The kinds of entries.
const (
	KindSpace       history.Kind = "space/1"
	KindRevision    history.Kind = "revision/1"
	KindTag         history.Kind = "tag/1"
	KindDeprecation history.Kind = "deprecation/1"
	KindLink        history.Kind = "link/1"
	KindConflict    history.Kind = "conflict/1"
)

// Bounds of records.
const (
	MaxStatements = 64
	MaxPremises   = 16
	MaxTurns      = 256     // of one statement
	MaxText       = 4 << 10 // bytes of a title or a reason
	MaxSummary    = 64 << 10
	MaxSaid       = 8 << 10   // bytes of the text of a revision
	MaxWords      = 64        // keywords, and topics
	MaxLinks      = 64        // of a request
	MaxTags       = 16        // of a request
	MaxRevisions  = 1<<31 - 1 // of an item
)

// The tags with a meaning for the package. Other tags are the user's.
const (
	Current   = "current"   // points to the believed revision of the item
	Published = "published" // protects the revision
)

// A Stated is a statement of a revision.
type Stated struct {
	belief.Literal
	Premises []belief.Literal // the premises from which it follows, ascending; nil: it is stated
	Span     belief.Span
	Rank     Rank
	Turns    []dag.TurnID // the turns that it rests on; none: its author's word
	Fact     dag.Seq      // the number of the assertion that projects it, if an earlier revision began the assertion; otherwise 0
}

// A Rank is the recorded part of an element's rank.
type Rank struct {
	Class     belief.Class
	Criterion uint64
	Event     dag.Seq // 0: the number of the entry
}

// A Revision is an immutable state of an item.
type Revision struct {
	Item       belief.Item
	Number     int
	Current    bool // the revision becomes the current one of the item
	Supersedes int  // the number of the revision that it replaces; 0: none
	Withheld   bool // some statements were given up, so contexts leave out the title and the summary
	By         string
	Statements []Stated
	Text       string // what was said, byte for byte; "": only its statements were
	Title      string
	Summary    string
	Keywords   []string
	Topics     []string
	Artifacts  []belief.Artifact // ascending by name
	Confidence dag.PPM
	Source     string
	Reason     string
	Wording    Wording // of the literals of its statements and premises; other literals are not recorded
	Salt       dag.Salt
	Key        dag.Digest // the key of the request, if this is the first entry of its change

	Seq    dag.Seq // the number of its entry; 0: not recorded yet
	Whole  dag.Seq // the number of the last entry of the revision's change
	At     dag.Time
	Erased bool // the private half was erased with the turns that it rested on

	prepared []belief.Element // the elements of the statements; nil: they are made on demand
}

// A Tag points a tag of an item to a revision from here on.
type Tag struct {
	Item   belief.Item
	Name   string
	Number int     // of the revision; 0: the tag points to none
	Entry  dag.Seq // number of the revision's entry
	By     string
	Reason string
	Key    dag.Digest

	Seq dag.Seq
	At  dag.Time
}

// A Deprecation ends or restores the belief in an item.
type Deprecation struct {
	Item       belief.Item
	Deprecated bool
	By         string
	Reason     string

	Seq dag.Seq
	At  dag.Time
}

// A SpacePolicy puts a space under a policy of kinds.
type SpacePolicy struct {
	Space  belief.Space
	Policy string
	By     string

	Seq dag.Seq
	At  dag.Time
}

// A Link is a typed edge from a revision.
type Link struct {
	From belief.Address // with a revision
	Type string         // such as depends_on
	To   string         // an address with a revision, "turn:ID" or "slice:ID"
	By   string

	Seq   dag.Seq
	At    dag.Time
	Known bool // it had been recorded before
}

// A Conflict is a refused proposal.
type Conflict struct {
	Space      belief.Space
	Item       belief.Item // the item that the proposal names; "": none
	Kind       string      // of a new item that has no name
	By         string
	Turns      []dag.TurnID
	With       []belief.Address // revisions that would have given way
	Statements []belief.Literal
	Premises   []belief.Literal // the premises from which they would follow; nil: they would be stated
	Text       string           // what was said, as in Revision
	Span       belief.Span
	Confidence dag.PPM
	Reason     string
	Wording    Wording
	Salt       dag.Salt
	Key        dag.Digest // the key of the request; zero: it had none

	Seq    dag.Seq
	At     dag.Time
	Erased bool
}

// Size returns the approximate number of bytes that the revision takes in memory.
func (r *Revision) Size() int {
	n := 512 + len(r.Text) + len(r.Title) + len(r.Summary) + len(r.Reason)
	for _, list := range [...][]string{r.Keywords, r.Topics} {
		for _, s := range list {
			n += 16 + len(s)
		}
	}
	for i := range r.Artifacts {
		n += 128 + len(r.Artifacts[i].Location)
	}
	for _, w := range r.Wording {
		n += 256 + len(w.Subject) + len(w.Predicate) + len(w.Object)
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		n += 512 + 2*(len(s.Subject)+len(s.Predicate)+len(s.Object)) + len(dag.TurnID{})*len(s.Turns) + 256*len(s.Premises)
	}
	return n
}

// private returns the first line of the private half, which evidence includes.
func (r *Revision) private() []byte {
	p := revisionPrivate{
		Artifacts: wireArtifacts(r.Artifacts), Confidence: uint64(r.Confidence), Keywords: r.Keywords, Reason: r.Reason, Salt: r.Salt.String(), Source: r.Source,
		Summary: r.Summary, Text: r.Text, Title: r.Title, Topics: r.Topics, Statements: []wireStated{},
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		w := wireStated{Not: s.Not, Object: s.Object, Predicate: s.Predicate, Premises: literalsOf(s.Premises), Subject: s.Subject}
		w.From, w.Until = wireSpan(s.Span)
		p.Statements = append(p.Statements, w)
	}
	return canonical(p)
}

// entry returns the entry of a revision that is not erased.
func (r *Revision) entry() history.Entry {
	private := r.private()
	p := revisionPublic{
		By: r.By, Current: r.Current, Digest: sha256.Sum256(private), Item: string(r.Item), Key: keyText(r.Key), Revision: r.Number, Supersedes: r.Supersedes,
		Type: string(KindRevision), Withheld: r.Withheld, Statements: []wireRank{},
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		p.Statements = append(p.Statements, wireRank{s.Rank.Class, s.Rank.Criterion, s.Rank.Event, s.Fact, s.Turns})
	}
	if worded := r.worded(); worded != nil {
		private = append(append(private, '\n'), worded...)
	}
	return history.Entry{Seq: r.Seq, Kind: KindRevision, At: r.At, Public: canonical(p), Private: private}
}

// ReadRevision reads a revision. The statements of an erased revision have no literals.
func ReadRevision(e *history.Entry) (*Revision, error) {
	var p revisionPublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	r := &Revision{
		Number: p.Revision, Current: p.Current, Supersedes: p.Supersedes, Withheld: p.Withheld, By: p.By,
		Seq: e.Seq, Whole: e.Whole(), At: e.At, Erased: e.Private == nil,
	}
	var err error
	if r.Item, err = belief.ParseItem(p.Item); err != nil {
		return nil, err
	}
	if r.Key, err = readKey(p.Key); err != nil {
		return nil, err
	}
	for _, w := range p.Statements {
		r.Statements = append(r.Statements, Stated{Rank: Rank{w.Class, w.Criterion, w.Event}, Turns: w.Turns, Fact: w.Fact})
	}
	if r.Erased {
		return r, nil
	}
	says, worded := splitPrivate(e.Private)
	var s revisionPrivate
	if err := read(says, &s); err != nil {
		return nil, err
	}
	if len(s.Statements) != len(r.Statements) {
		return nil, fmt.Errorf("%w: number %d has %d statements but the ranks of %d", dag.ErrForm, e.Seq, len(s.Statements), len(r.Statements))
	}
	if r.Salt, err = dag.ParseSalt(s.Salt); err != nil {
		return nil, err
	}
	for i := range s.Statements {
		w, to := &s.Statements[i], &r.Statements[i]
		to.Literal, to.Premises, to.Span = belief.Literal{Subject: w.Subject, Predicate: w.Predicate, Object: w.Object, Not: w.Not}, readLiterals(w.Premises), readSpan(w.From, w.Until)
	}
	r.Artifacts = readArtifacts(s.Artifacts)
	r.Text, r.Title, r.Summary, r.Keywords, r.Topics = s.Text, s.Title, s.Summary, s.Keywords, s.Topics
	r.Confidence, r.Source, r.Reason = dag.PPM(s.Confidence), s.Source, s.Reason
	if err := r.readWorded(worded); err != nil {
		return r, err
	}
	r.Wording = r.Wording.saying(r.Text, r.literals())
	return r, nil
}

// Check refuses a malformed revision.
func (r *Revision) Check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: revision %d of %s: %w", belief.ErrForm, r.Number, r.Item, fmt.Errorf(format, args...))
	}
	switch {
	case r.Number > MaxRevisions:
		return fail("at most %d revisions", MaxRevisions)
	case r.Number < 1:
		return fail("want a number above 0")
	case r.Supersedes >= r.Number || r.Supersedes < 0:
		return fail("it supersedes revision %d, want an earlier revision", r.Supersedes)
	case len(r.Statements) > MaxStatements:
		return fail("it has %d statements, at most %d", len(r.Statements), MaxStatements)
	case r.Confidence > dag.One:
		return fail("the confidence is %d ppm, at most %d", r.Confidence, dag.One)
	case len(r.Title) > MaxText || len(r.Reason) > MaxText || len(r.Summary) > MaxSummary:
		return fail("the title has %d bytes, the reason %d and the summary %d, at most %d, %d and %d", len(r.Title), len(r.Reason), len(r.Summary), MaxText, MaxText, MaxSummary)
	case len(r.Text) > MaxSaid:
		return fail("the text has %d bytes, at most %d", len(r.Text), MaxSaid)
	case len(r.Keywords) > MaxWords || len(r.Topics) > MaxWords:
		return fail("it has %d keywords and %d topics, at most %d of each", len(r.Keywords), len(r.Topics), MaxWords)
	}
	for _, text := range slices.Concat([]string{r.Text, r.Title, r.Reason, r.Summary, r.Source}, r.Keywords, r.Topics) {
		if !utf8.ValidString(text) || len(text) > MaxSummary {
			return fail("a text is not UTF-8, or is too long")
		}
	}
	if err := cmp.Or(CheckArtifacts(r.Artifacts), r.Wording.Check()); err != nil {
		return fail("%w", err)
	}
	if !IsSource(r.Source) {
		return fail("the source is %.80q, want observation, manual, external, inference, cross_agent or llm:MODEL", r.Source)
	}
	seen := map[dag.Digest]bool{}
	for i := range r.Statements {
		s := &r.Statements[i]
		if err := s.check(); err != nil {
			return fail("statement %d: %w", i+1, err)
		}
		if id := s.id(r.Item); seen[id] {
			return fail("it states %q twice", s.Literal)
		} else {
			seen[id] = true
		}
	}
	return nil
}

func (s *Stated) check() error {
	if err := s.Literal.Check(); err != nil {
		return err
	}
	if err := s.Span.Check(); err != nil {
		return err
	}
	if len(s.Turns) > MaxTurns || len(s.Premises) > MaxPremises {
		return fmt.Errorf("it rests on %d turns and has %d premises, at most %d turns and %d premises", len(s.Turns), len(s.Premises), MaxTurns, MaxPremises)
	}
	if s.Rank.Criterion > uint64(dag.MaxSeq) || s.Rank.Event > dag.MaxSeq || s.Fact > dag.MaxSeq {
		return fmt.Errorf("the rank %d, %d and the fact %d, at most %d", s.Rank.Criterion, s.Rank.Event, s.Fact, dag.MaxSeq)
	}
	if s.Rank.Class < belief.Inferred || s.Rank.Class > belief.HardRule {
		return fmt.Errorf("the class is %d, want %d to %d", s.Rank.Class, belief.Inferred, belief.HardRule)
	}
	for i := range s.Premises {
		if err := s.Premises[i].Check(); err != nil {
			return fmt.Errorf("premise %d: %w", i+1, err)
		}
		if i > 0 && s.Premises[i-1].Compare(s.Premises[i]) >= 0 {
			return errors.New("the premises must ascend, each once")
		}
	}
	return nil
}

// id returns the id of the element in the order of entrenchment. It is the same in all revisions of an item, even if one gives the span
// another end.
func (s *Stated) id(of belief.Item) dag.Digest {
	h := sha256.New()
	write := func(l belief.Literal) { fmt.Fprintf(h, "%q %q %q %t\n", l.Subject, l.Predicate, l.Object, l.Not) }
	fmt.Fprintf(h, "%s %d\n", of, s.Span.From)
	write(s.Literal)
	for _, p := range s.Premises {
		write(p)
	}
	return dag.Digest(h.Sum(nil))
}

// IsSource reports whether a text is a valid source of a revision.
func IsSource(s string) bool {
	if slices.Contains([]string{"observation", "manual", "external", "inference", "cross_agent"}, s) {
		return true
	}
	model, ok := bytes.CutPrefix([]byte(s), []byte("llm:"))
	return ok && len(model) > 0 && len(model) <= 128 && !bytes.ContainsFunc(model, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (t *Tag) entry() history.Entry {
	return history.Entry{Seq: t.Seq, Kind: KindTag, At: t.At, Public: canonical(tagPublic{t.By, t.Entry, string(t.Item), keyText(t.Key), t.Reason, t.Number, t.Name, string(KindTag)})}
}

// ReadTag reads a tag.
func ReadTag(e *history.Entry) (*Tag, error) {
	var p tagPublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	t := &Tag{Name: p.Tag, Number: p.Revision, Entry: p.Entry, By: p.By, Reason: p.Reason, Seq: e.Seq, At: e.At}
	var err error
	if t.Item, err = belief.ParseItem(p.Item); err != nil {
		return nil, err
	}
	if !belief.IsTag(t.Name) || (t.Number == 0) != (t.Entry == 0) || t.Number < 0 {
		return nil, fmt.Errorf("%w: number %d points the tag %.40q to revision %d and number %d; want a tag, and both numbers or none", dag.ErrForm, e.Seq, t.Name, t.Number, t.Entry)
	}
	t.Key, err = readKey(p.Key)
	return t, err
}

func (d *Deprecation) entry() history.Entry {
	return history.Entry{Seq: d.Seq, Kind: KindDeprecation, At: d.At, Public: canonical(deprecationPublic{d.By, d.Deprecated, string(d.Item), d.Reason, string(KindDeprecation)})}
}

// ReadDeprecation reads a deprecation.
func ReadDeprecation(e *history.Entry) (*Deprecation, error) {
	var p deprecationPublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	item, err := belief.ParseItem(p.Item)
	return &Deprecation{Item: item, Deprecated: p.Deprecated, By: p.By, Reason: p.Reason, Seq: e.Seq, At: e.At}, err
}

func (s *SpacePolicy) entry() history.Entry {
	return history.Entry{Seq: s.Seq, Kind: KindSpace, At: s.At, Public: canonical(spacePublic{s.By, s.Policy, string(s.Space), string(KindSpace)})}
}

// ReadSpace reads the policy of a space.
func ReadSpace(e *history.Entry) (*SpacePolicy, error) {
	var p spacePublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	space, err := belief.ParseSpace(p.Space)
	return &SpacePolicy{Space: space, Policy: p.Policy, By: p.By, Seq: e.Seq, At: e.At}, err
}

func (l *Link) entry() history.Entry {
	return history.Entry{Seq: l.Seq, Kind: KindLink, At: l.At, Public: canonical(linkPublic{l.By, l.From.String(), l.Type, l.To, string(KindLink)})}
}

// ReadLink reads a link.
func ReadLink(e *history.Entry) (*Link, error) {
	var p linkPublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	from, err := belief.ParseAddress(p.From)
	if err == nil && (from.Revision == 0 || from.Artifact != "" || !belief.IsTag(p.Link)) {
		err = fmt.Errorf("%w: number %d is a link %.40q from %.80q, want a type and the address of a revision", dag.ErrForm, e.Seq, p.Link, p.From)
	}
	return &Link{From: from, Type: p.Link, To: p.To, By: p.By, Seq: e.Seq, At: e.At}, err
}

func (c *Conflict) entry() history.Entry {
	s := conflictPrivate{Confidence: uint64(c.Confidence), Premises: literalsOf(c.Premises), Reason: c.Reason, Salt: c.Salt.String(), Statements: literalsOf(c.Statements), Text: c.Text, Written: c.Wording.of(slices.Concat(c.Statements, c.Premises))}
	s.From, s.Until = wireSpan(c.Span)
	private := canonical(s)
	p := conflictPublic{By: c.By, Digest: sha256.Sum256(private), Item: string(c.Item), Key: keyText(c.Key), Kind: c.Kind, Space: string(c.Space), Turns: c.Turns, Type: string(KindConflict), With: []string{}}
	for _, a := range c.With {
		p.With = append(p.With, a.String())
	}
	return history.Entry{Seq: c.Seq, Kind: KindConflict, At: c.At, Public: canonical(p), Private: private}
}

// ReadConflict reads a conflict.
func ReadConflict(e *history.Entry) (*Conflict, error) {
	var p conflictPublic
	if err := read(e.Public, &p); err != nil {
		return nil, err
	}
	c := &Conflict{Kind: p.Kind, By: p.By, Turns: p.Turns, Seq: e.Seq, At: e.At, Erased: e.Private == nil}
	var err error
	if c.Space, err = belief.ParseSpace(p.Space); err != nil {
		return nil, err
	}
	if c.Key, err = readKey(p.Key); err != nil {
		return nil, err
	}
	if p.Item != "" {
		if c.Item, err = belief.ParseItem(p.Item); err != nil {
			return nil, err
		}
	}
	for _, with := range p.With {
		a, err := belief.ParseAddress(with)
		if err != nil {
			return nil, err
		}
		c.With = append(c.With, a)
	}
	if c.Erased {
		return c, nil
	}
	var s conflictPrivate
	if err := read(e.Private, &s); err != nil {
		return nil, err
	}
	c.Statements, c.Premises, c.Span, c.Reason, c.Confidence = readLiterals(s.Statements), readLiterals(s.Premises), readSpan(s.From, s.Until), s.Reason, dag.PPM(s.Confidence)
	c.Text, c.Wording = s.Text, readWording(s.Written).saying(s.Text, c.Statements)
	c.Salt, err = dag.ParseSalt(s.Salt)
	return c, err
}

// errNotItsForm says that an entry differs from the one that the package would write.
var errNotItsForm = errors.New("it differs from the entry that this program would write")
