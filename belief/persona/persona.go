// Package persona owns the file in which a part of a space's beliefs is exported: the persona, gkpersona/1. It is pure.
//
// A persona is one object in canonical JSON (RFC 8785):
//
//	{"form":"gkpersona/1",
//	 "items":[{"confidence":900000,"id":"item-1","kind":"fact","source":"manual","statements":[{"object":"e-mail","predicate":"prefers","subject":"p1"}],"title":"Channel"}],
//	 "links":[{"from":"item-1","to":"item-2","type":"depends_on"}],
//	 "origin":{"as_of":812,"at":"2026-03-01T00:00:00.000000Z","kernel":"default.kernel.example","space":"acme/support","tenant":"default"}}
//
// It is signed as the payload of an envelope of the type attest.PersonaType. Package belief/rules decides which items leave, and under
// which names.
package persona

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Form is the value of the member form of a persona: its version.
const Form = "gkpersona/1"

// Bounds of a document.
const (
	MaxBytes = 6_000_000 // a larger document would not fit into an envelope
	MaxItems = 5_000
	MaxLinks = 20_000
)

var (
	// ErrForm is wrapped if bytes are not a persona.
	ErrForm = errors.New("not a persona")
	// ErrVersion is wrapped if a persona has another version.
	ErrVersion = errors.New("this program does not know the version of the persona")
	// ErrTooLarge is wrapped if a persona does not fit into a document.
	ErrTooLarge = errors.New("the persona is too large")
)

// A Document is a persona.
type Document struct {
	Origin Origin
	Items  []Item // their ids are item-1, item-2, …
	Links  []Link // ascending by from, type and to
}

// An Origin says where a persona comes from.
type Origin struct {
	Kernel string // the name that the key signs as
	Tenant dag.Tenant
	Space  belief.Space
	AsOf   dag.Seq
	At     dag.Time
}

// An Item is one exported item.
type Item struct {
	Kind       string
	Confidence dag.PPM
	Source     string
	Text       string // what was said; "": only its statements were
	Title      string
	Summary    string
	Keywords   []string
	Topics     []string
	Statements []Statement
}

// A Statement is a literal, or a rule if it has premises.
type Statement struct {
	belief.Literal
	Premises []belief.Literal // ascending
	Span     belief.Span
}

// A Link is a typed edge between two items of the document.
type Link struct {
	From int // an index in Items
	Type string
	To   int
}

// ID returns the id of the item at an index.
func ID(at int) string { return "item-" + strconv.Itoa(at+1) }

// Append appends the canonical form.
func (d *Document) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("form")
	w.String(Form)
	w.Key("items")
	w.BeginArray()
	for i := range d.Items {
		d.Items[i].write(w, ID(i))
	}
	w.EndArray()
	w.Key("links")
	w.BeginArray()
	for _, l := range d.Links {
		w.BeginObject()
		w.Key("from")
		w.String(ID(l.From))
		w.Key("to")
		w.String(ID(l.To))
		w.Key("type")
		w.String(l.Type)
		w.EndObject()
	}
	w.EndArray()
	w.Key("origin")
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(d.Origin.AsOf))
	w.Key("at")
	w.String(d.Origin.At.String())
	w.Key("kernel")
	w.String(d.Origin.Kernel)
	w.Key("space")
	w.String(string(d.Origin.Space))
	w.Key("tenant")
	w.String(string(d.Origin.Tenant))
	w.EndObject()
	w.EndObject()
	return w.Bytes
}

func (i *Item) write(w *canon.Writer, id string) {
	w.BeginObject()
	w.Key("confidence")
	w.Uint(uint64(i.Confidence))
	w.Key("id")
	w.String(id)
	texts(w, "keywords", i.Keywords)
	w.Key("kind")
	w.String(i.Kind)
	w.Key("source")
	w.String(i.Source)
	w.Key("statements")
	w.BeginArray()
	for n := range i.Statements {
		i.Statements[n].write(w)
	}
	w.EndArray()
	text(w, "summary", i.Summary)
	text(w, "text", i.Text)
	text(w, "title", i.Title)
	texts(w, "topics", i.Topics)
	w.EndObject()
}

func text(w *canon.Writer, key, s string) {
	if s != "" {
		w.Key(key)
		w.String(s)
	}
}

func texts(w *canon.Writer, key string, list []string) {
	if len(list) == 0 {
		return
	}
	w.Key(key)
	w.BeginArray()
	for _, s := range list {
		w.String(s)
	}
	w.EndArray()
}

func (s *Statement) write(w *canon.Writer) {
	w.BeginObject()
	writeNames(w, s.Literal, func() {
		if len(s.Premises) == 0 {
			return
		}
		w.Key("premises")
		w.BeginArray()
		for _, p := range s.Premises {
			w.BeginObject()
			writeNames(w, p, func() {})
			w.EndObject()
		}
		w.EndArray()
	})
	if s.Span.From != belief.Always.From {
		w.Key("valid_from")
		w.String(s.Span.From.String())
	}
	if s.Span.Until != belief.Always.Until {
		w.Key("valid_until")
		w.String(s.Span.Until.String())
	}
	w.EndObject()
}

// writeNames writes the members of a literal. between writes the members whose names sort between predicate and subject.
func writeNames(w *canon.Writer, l belief.Literal, between func()) {
	if l.Not {
		w.Key("not")
		w.Bool(true)
	}
	w.Key("object")
	w.String(l.Object)
	w.Key("predicate")
	w.String(l.Predicate)
	between()
	w.Key("subject")
	w.String(l.Subject)
}

// Sort sorts the links and removes duplicates.
func (d *Document) Sort() {
	slices.SortFunc(d.Links, Link.compare)
	d.Links = slices.Compact(d.Links)
}

func (l Link) compare(o Link) int {
	return cmp.Or(cmp.Compare(l.From, o.From), strings.Compare(l.Type, o.Type), cmp.Compare(l.To, o.To))
}
