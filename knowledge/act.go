package knowledge

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Kind says what an act does.
type Kind string

// The kinds of acts.
const (
	Assert  Kind = "assert"
	Retract Kind = "retract"
	Alias   Kind = "alias"
	Unalias Kind = "unalias"
)

// types maps each kind to its name in an act's canonical form, which includes a version.
var types = map[Kind]string{Assert: "fact/2", Retract: "retraction/2", Alias: "alias/2", Unalias: "alias_removal/2"}

// An Act changes a tenant's knowledge. The kind determines which fields count; the others are zero.
type Act struct {
	Kind Kind
	Salt dag.Salt // keeps the act's digest from being guessed from its content

	Fact       Fact // of Assert
	Supersedes []ID // of Assert: the believed statements that it ends; ascending

	Statement ID     // of Retract
	Reason    string // of Retract, or ""

	Alias, Canonical string         // of Alias and Unalias: the alias and the name that it stands for, or stood for; in the form of Rule
	Rule             normalize.Rule // of Alias and Unalias: the rule that formed the names
}

// A Recorded is an act with its sequence number.
type Recorded struct {
	Seq  dag.Seq
	At   dag.Time   // when it was recorded, by the recorder's clock
	Act  Act        // if Erased, only its Kind and, for an assertion, its evidence
	Leaf dag.Digest // Act.Leaf
	Did  Decision

	// Erased says that the act was erased with the turn that it was learned from. Its leaf remains.
	Erased bool

	// Until belongs to an assertion that began a version: the number before which the version counts,
	// dag.MaxSeq while it does. Else it is 0. Apart from erasure, it is the only field that ever changes.
	Until dag.Seq

	// Opened belongs to such an assertion, too: the number of the assertion that began the belief. Else it is 0.
	Opened dag.Seq
}

// A Version is a stretch of sequence numbers in which a statement is believed with one
// confidence.
type Version struct {
	Statement
	ID         ID
	Confidence dag.PPM
	Source     string     // source of the assertion that set the confidence
	Turn       dag.TurnID // evidence of that assertion; zero: it names none
	Since      dag.Seq    // number of that assertion
	Until      dag.Seq    // dag.MaxSeq: it is believed now
}

// Version returns the version that a recorded assertion began, and false if it began none.
func (r *Recorded) Version() (Version, bool) {
	if r.Act.Kind != Assert || r.Until == 0 {
		return Version{}, false
	}
	return r.version(r.Act.Fact.ID()), true
}

func (r *Recorded) version(id ID) Version {
	f := &r.Act.Fact
	return Version{Statement: f.Statement, ID: id, Confidence: f.Confidence, Source: f.Source, Turn: f.Turn, Since: r.Seq, Until: r.Until}
}

// Seen reports whether the version counts as of a sequence number.
func (v *Version) Seen(asOf dag.Seq) bool { return v.Since <= asOf && asOf < v.Until }

// About returns the statement that an act is about, and false for an act about an alias.
func (a *Act) About() (ID, bool) {
	switch a.Kind {
	case Assert:
		return a.Fact.ID(), true
	case Retract:
		return a.Statement, true
	}
	return ID{}, false
}

// Check refuses an act that is not in its form.
func (a *Act) Check() error {
	switch a.Kind {
	case Assert:
		return a.checkAssert()
	case Retract:
		if a.Statement == (ID{}) {
			return fmt.Errorf("%w: a retraction must name a statement", ErrForm)
		}
		return checkReason(a.Reason)
	case Alias, Unalias:
		for _, n := range [...]string{a.Alias, a.Canonical} {
			if name, err := a.Rule.Name(n); err != nil {
				return fmt.Errorf("%w: %w", ErrForm, err)
			} else if name != n {
				return fmt.Errorf("%w: %.80q is not a canonical name, want %.80q under %s", ErrForm, n, name, a.Rule)
			}
		}
		return nil
	}
	return fmt.Errorf("%w: an act of kind %.40q, want assert, retract, alias or unalias", ErrForm, a.Kind)
}

func (a *Act) checkAssert() error {
	if err := a.Fact.Check(); err != nil {
		return err
	}
	own := a.Fact.ID()
	for i := range a.Supersedes {
		if a.Supersedes[i] == own {
			return fmt.Errorf("%w: statement %s supersedes itself", ErrForm, own)
		}
		if i > 0 && compareIDs(&a.Supersedes[i-1], &a.Supersedes[i]) >= 0 {
			return fmt.Errorf("%w: the statements that %s supersedes must ascend, each once", ErrForm, own)
		}
	}
	return nil
}

// Leaf returns the SHA-256 of a zero byte and the act's public half: the hash of a leaf of
// a Merkle tree (RFC 6962), like that of a turn. It does not change when the act is erased.
func (a *Act) Leaf() dag.Digest { return leafOf(a.AppendPublic(nil)) }

func leafOf(public []byte) dag.Digest { return (&history.Entry{Public: public}).Leaf() }

// AppendPublic appends the half of the act that is never erased: canonical JSON with its
// type, the SHA-256 of its canonical form, salt included, and the turn that is its evidence.
func (a *Act) AppendPublic(dst []byte) []byte {
	return a.appendPublic(dst, sha256.Sum256(a.Append(nil)))
}

func (a *Act) appendPublic(dst []byte, digest dag.Digest) []byte {
	var buf [40]byte
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("digest")
	w.Hex(digest[:])
	if a.Fact.Turn != (dag.TurnID{}) {
		w.Key("turn")
		w.Text(a.Fact.Turn.AppendText(buf[:0]))
	}
	a.writeType(w)
	w.EndObject()
	return w.Bytes
}

// readPublic parses the output of AppendPublic. It returns the digest, and an act with only its kind and its evidence.
func readPublic(data []byte) (a Act, digest dag.Digest, err error) {
	err = canon.Within(data, 16, func(c *canon.Cursor) error {
		digest = canon.Parsed(c.Field("digest"), dag.ParseDigest)
		if t := c.Optional("turn"); t != nil {
			a.Fact.Turn = canon.Parsed(t, dag.ParseTurnID)
		}
		a.Kind = readKind(c)
		c.Close()
		return c.Err()
	})
	if err == nil && string(a.appendPublic(nil, digest)) != string(data) {
		err = fmt.Errorf("%w: not the canonical spelling", ErrForm)
	}
	return a, digest, err
}

// Content returns the SHA-256 of the act's canonical form with a salt of zeros. Acts that say the same have the same Content.
func (a *Act) Content() dag.Digest {
	same := *a
	same.Salt = dag.Salt{}
	return sha256.Sum256(same.Append(nil))
}

// Append appends the act's canonical form, which Parse reads.
func (a *Act) Append(dst []byte) []byte {
	dst, _ = a.append(dst)
	return dst
}

// append is like Append, and also returns the position of the salt's first digit.
func (a *Act) append(dst []byte) (_ []byte, salt int) {
	w := canon.NewWriter(dst)
	w.BeginObject()
	switch a.Kind {
	case Assert:
		salt = a.writeFact(w)
	case Retract:
		if a.Reason != "" {
			w.Key("reason")
			w.String(a.Reason)
		}
		salt = a.writeSalt(w)
		w.Key("statement")
		w.Hex(a.Statement[:])
		a.writeType(w)
	default:
		w.Key("alias")
		w.String(a.Alias)
		w.Key("canonical")
		w.String(a.Canonical)
		writeRule(w, a.Rule)
		salt = a.writeSalt(w)
		a.writeType(w)
	}
	w.EndObject()
	return w.Bytes, salt
}

func (a *Act) writeSalt(w *canon.Writer) (at int) {
	w.Key("salt")
	at = len(w.Bytes) + 1 // after the quote
	w.Hex(a.Salt[:])
	return at
}

func (a *Act) writeType(w *canon.Writer) {
	w.Key("type")
	w.String(types[a.Kind])
}

// writeRule writes the rule that formed an act's names; normalize/1 is left out.
func writeRule(w *canon.Writer, r normalize.Rule) {
	if r != normalize.V1 {
		w.Key("normalize")
		w.String(r.String())
	}
}

func readRule(c *canon.Cursor) normalize.Rule {
	if f := c.Optional("normalize"); f != nil {
		return canon.Parsed(f, normalize.ParseRule)
	}
	return normalize.V1
}

func (a *Act) writeFact(w *canon.Writer) (salt int) {
	f := &a.Fact
	text := func(key, s string) {
		w.Key(key)
		w.String(s)
	}
	var buf [40]byte
	w.Key("confidence")
	w.Raw(f.Confidence.AppendDecimal(buf[:0]))
	writeRule(w, f.Rule)
	text("object", f.Object)
	text("predicate", f.Predicate)
	salt = a.writeSalt(w)
	if f.Slice != "" {
		text("slice", f.Slice)
	}
	text("source", f.Source)
	text("subject", f.Subject)
	if len(a.Supersedes) > 0 {
		w.Key("supersedes")
		w.BeginArray()
		for i := range a.Supersedes {
			w.Hex(a.Supersedes[i][:])
		}
		w.EndArray()
	}
	if f.Turn != (dag.TurnID{}) {
		w.Key("turn")
		w.Text(f.Turn.AppendText(buf[:0]))
	}
	a.writeType(w)
	f.writeTimes(w)
	if f.Written != (Written{}) {
		w.Key("written")
		w.BeginObject()
		for _, n := range [...]struct{ key, text string }{{"object", f.Written.Object}, {"predicate", f.Written.Predicate}, {"subject", f.Written.Subject}} {
			if n.text != "" {
				text(n.key, n.text)
			}
		}
		w.EndObject()
	}
	return salt
}

// Parse parses the output of Append, and refuses anything else.
func Parse(data []byte) (a Act, err error) {
	err = canon.Within(data, len(data)/4+16, func(c *canon.Cursor) error {
		a = ReadAct(c)
		return c.Err()
	})
	if err == nil && string(a.Append(nil)) != string(data) {
		err = fmt.Errorf("%w: not the canonical spelling", ErrForm)
	}
	if err != nil {
		return Act{}, fmt.Errorf("act: %w", err)
	}
	return a, nil
}

// ReadAct reads an act in a document. It accepts other spellings of what Append writes: a strict reader writes the document again and compares.
func ReadAct(c *canon.Cursor) (a Act) {
	a.Kind = readKind(c)
	a.Salt = canon.Parsed(c.Field("salt"), dag.ParseSalt)
	switch a.Kind {
	case Assert:
		readFact(c, &a)
	case Retract:
		a.Statement = canon.Parsed(c.Field("statement"), dag.ParseDigest)
		a.Reason = optional(c, "reason")
	case Alias, Unalias:
		a.Alias, a.Canonical, a.Rule = c.Field("alias").String(), c.Field("canonical").String(), readRule(c)
	}
	c.Close()
	if err := a.Check(); err != nil && c.Err() == nil {
		c.Fail(err)
	}
	return a
}

func readKind(c *canon.Cursor) Kind {
	name := c.Field("type").String()
	for k, t := range types {
		if t == name {
			return k
		}
	}
	c.Failf("type %.40q is not known", name)
	return ""
}

func readFact(c *canon.Cursor, a *Act) {
	f := &a.Fact
	f.Rule = readRule(c)
	f.Subject, f.Predicate, f.Object = c.Field("subject").String(), c.Field("predicate").String(), c.Field("object").String()
	f.Confidence = canon.ParsedNumber(c.Field("confidence"), dag.ParsePPM)
	f.Source, f.Slice = c.Field("source").String(), optional(c, "slice")
	f.Until = Forever
	if t := c.Optional("turn"); t != nil {
		f.Turn = canon.Parsed(t, dag.ParseTurnID)
	}
	if t := c.Optional("valid_from"); t != nil {
		f.From = canon.Parsed(t, dag.ParseTime)
	}
	if t := c.Optional("valid_until"); t != nil {
		f.Until = canon.Parsed(t, dag.ParseTime)
	}
	if s := c.Optional("supersedes"); s != nil {
		for _, id := range s.Items() {
			a.Supersedes = append(a.Supersedes, canon.Parsed(id, dag.ParseDigest))
		}
	}
	if w := c.Optional("written"); w != nil {
		f.Written = Written{Subject: optional(w, "subject"), Predicate: optional(w, "predicate"), Object: optional(w, "object")}
		w.Close()
	}
}

func optional(c *canon.Cursor, key string) string {
	if f := c.Optional(key); f != nil {
		return f.String()
	}
	return ""
}

// SortIDs sorts the ids of statements and removes duplicates, as Act.Supersedes requires.
func SortIDs(ids []ID) []ID {
	slices.SortFunc(ids, func(a, b ID) int { return compareIDs(&a, &b) })
	return slices.Compact(ids)
}
