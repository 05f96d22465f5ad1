package knowledge

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/normalize"
)

// Forever is the Until of a statement without an end. Such a statement holds at every instant from From on, Forever included.
const Forever = dag.MaxTime

// Bounds of the fields of a fact.
const (
	MaxSource  = 128               // bytes of a source
	MaxWritten = normalize.MaxName // bytes of a name as it was written, except the name of a text
	MaxText    = normalize.MaxText // bytes of a text
	MaxReason  = 1024              // bytes of a reason
)

// ErrForm is wrapped by every error about the form of an act.
var ErrForm = errors.New("malformed fact")

// An ID names a statement: the SHA-256 of its canonical form.
type ID = dag.Digest

// A Statement is a triple and the time for which it holds. It is comparable.
type Statement struct {
	Subject, Predicate, Object string // in the form of normalize.Name, or of an earlier rule

	// It holds from From on and before Until. The zero From is 1970, where the
	// times of GKP/1 begin; Until is Forever if there is no end. From < Until.
	From, Until dag.Time
}

// ID returns the statement's name.
func (s *Statement) ID() ID {
	w := canon.NewWriter(make([]byte, 0, 256))
	w.BeginObject()
	w.Key("object")
	w.String(s.Object)
	w.Key("predicate")
	w.String(s.Predicate)
	w.Key("subject")
	w.String(s.Subject)
	w.Key("type")
	w.String("statement/1")
	s.writeTimes(w)
	w.EndObject()
	return sha256.Sum256(w.Bytes)
}

// writeTimes writes the last members of an object. It leaves out a zero From and an Until of Forever.
func (s *Statement) writeTimes(w *canon.Writer) {
	if s.From != 0 {
		w.Key("valid_from")
		w.String(s.From.String())
	}
	if s.Until != Forever {
		w.Key("valid_until")
		w.String(s.Until.String())
	}
}

// Holds reports whether the statement holds at an instant.
func (s *Statement) Holds(at dag.Time) bool {
	return s.From <= at && (at < s.Until || s.Until == Forever)
}

// Check refuses a statement that is not in its form.
func (s *Statement) Check() error {
	for _, n := range [...]struct{ what, name string }{{"subject", s.Subject}, {"predicate", s.Predicate}, {"object", s.Object}} {
		if name, err := normalize.Name(n.name); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrForm, n.what, err)
		} else if name != n.name {
			return fmt.Errorf("%w: %s %.80q is not a canonical name, want %.80q", ErrForm, n.what, n.name, name)
		}
	}
	if !s.From.Valid() || !s.Until.Valid() || s.From >= s.Until {
		return fmt.Errorf("%w: it holds from %s until before %s, want an end after the beginning", ErrForm, s.From, s.Until)
	}
	return nil
}

// Written contains the spellings of a fact's names. A spelling is "" if it is the canonical name. For the name of a text it is the text.
type Written struct {
	Subject   string `json:"subject,omitempty"`
	Predicate string `json:"predicate,omitempty"`
	Object    string `json:"object,omitempty"`
}

// A Fact is an assertion of a statement.
type Fact struct {
	Statement
	Rule       normalize.Rule // the rule that formed the names
	Written    Written
	Confidence dag.PPM
	Source     string     // who says so: printable ASCII, such as "user", "extract/1", "llm:MODEL"
	Turn       dag.TurnID // the evidence; zero: none is named
	Slice      string     // the id of the slice that it was learned from; "": none
}

// NewFact returns a fact with confidence 1 and without an end, given names as they are written.
func NewFact(subject, predicate, object, source string) (Fact, error) {
	f := Fact{Statement: Statement{Until: Forever}, Rule: normalize.Newest, Confidence: dag.One, Source: source}
	written := [...]string{subject, predicate, object}
	for i, n := range f.names() {
		name, err := normalize.Name(written[i])
		if err != nil {
			return Fact{}, fmt.Errorf("%w: %s: %w", ErrForm, n.what, err)
		}
		*n.name, *n.written = name, Spelling(written[i], name)
	}
	return f, f.Check()
}

// Spelling returns the stored form of a name as it was written: "" if that is the canonical name. Spelled is its inverse.
func Spelling(written, name string) string {
	if written == name {
		return ""
	}
	if normalize.IsText(name) {
		_, written, _ = normalize.Split(written)
	}
	return written
}

// Spelled returns a name as it was written, given its canonical form and the result of Spelling.
func Spelled(name, spelling string) string {
	if spelling == "" && name != normalize.EmptyText {
		return name
	}
	return spelling
}

// NewText returns a fact whose object is a text.
func NewText(subject, predicate, text, source string) (Fact, error) {
	name, err := normalize.Text(text)
	if err != nil {
		return Fact{}, fmt.Errorf("%w: object: %w", ErrForm, err)
	}
	f, err := NewFact(subject, predicate, name, source)
	if err != nil {
		return Fact{}, err
	}
	f.Written.Object = text
	return f, f.Check()
}

// A nameOf is one of the three names of a fact.
type nameOf struct {
	what          string
	name, written *string
}

func (f *Fact) names() [3]nameOf {
	return [3]nameOf{{"subject", &f.Subject, &f.Written.Subject}, {"predicate", &f.Predicate, &f.Written.Predicate}, {"object", &f.Object, &f.Written.Object}}
}

// Spelled returns the names as they were written.
func (f *Fact) Spelled() (subject, predicate, object string) {
	var spelled [3]string
	for i, n := range f.names() {
		spelled[i] = Spelled(*n.name, *n.written)
	}
	return spelled[0], spelled[1], spelled[2]
}

// Check refuses a fact that is not in its form.
func (f *Fact) Check() error {
	if err := f.Statement.Check(); err != nil {
		return err
	}
	for _, n := range f.names() {
		if f.Rule != normalize.Newest && !f.Rule.IsName(*n.name) {
			return fmt.Errorf("%w: %s %.80q is not a name under the rule %s", ErrForm, n.what, *n.name, f.Rule)
		}
		if *n.written == "" {
			continue
		}
		form, most := f.Rule.Name, MaxWritten
		if normalize.IsText(*n.name) {
			form, most = normalize.Text, MaxText
		}
		if name, err := form(*n.written); err != nil || name != *n.name || *n.written == *n.name || len(*n.written) > most {
			return fmt.Errorf("%w: %s %.80q has the written form %.80q of %d bytes; want a different spelling of the same name with at most %d bytes", ErrForm, n.what, *n.name, *n.written, len(*n.written), most)
		}
	}
	if f.Confidence > dag.One {
		return fmt.Errorf("%w: confidence %d ppm, at most %d", ErrForm, f.Confidence, dag.One)
	}
	if err := checkSource(f.Source); err != nil {
		return err
	}
	if f.Slice != "" {
		var id [8]byte
		if err := dag.ParseHex(id[:], f.Slice); err != nil {
			return fmt.Errorf("%w: slice: %w", ErrForm, err)
		}
	}
	return nil
}

func checkSource(s string) error {
	if s == "" || len(s) > MaxSource || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%w: source %.140q, want 1 to %d printable ASCII characters without spaces", ErrForm, s, MaxSource)
	}
	return nil
}

func checkReason(s string) error {
	if len(s) > MaxReason || !utf8.ValidString(s) {
		return fmt.Errorf("%w: a reason of %d bytes, want UTF-8 of at most %d", ErrForm, len(s), MaxReason)
	}
	return nil
}

// compareIDs orders statements by their digests.
func compareIDs(a, b *ID) int { return bytes.Compare(a[:], b[:]) }
