package persona

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Parse reads a document that Append wrote. Anything else is ErrForm, which names the place, and another version is ErrVersion.
func Parse(data []byte) (*Document, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrForm, len(data), MaxBytes)
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if v := doc.Get("form"); v != nil && v.Kind == canon.String && v.Text != Form {
		return nil, fmt.Errorf("%w: form is %.40q, want %q", ErrVersion, v.Text, Form)
	}
	c := canon.Open(doc)
	d := read(c)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if !bytes.Equal(d.Append(make([]byte, 0, len(data))), data) {
		return nil, fmt.Errorf("%w: it is not in canonical form", ErrForm)
	}
	return d, nil
}

func read(c *canon.Cursor) *Document {
	d := &Document{}
	if v := c.Field("form"); v.String() != Form {
		v.Failf("want %q", Form)
	}
	origin := c.Field("origin")
	d.Origin = Origin{
		AsOf: dag.Seq(origin.Field("as_of").Uint(uint64(dag.MaxSeq))), At: canon.Parsed(origin.Field("at"), dag.ParseTime), Kernel: origin.Field("kernel").String(),
		Space: canon.Parsed(origin.Field("space"), belief.ParseSpace), Tenant: canon.Parsed(origin.Field("tenant"), dag.ParseTenant),
	}
	origin.Close()
	items := bounded(c.Field("items"), MaxItems)
	for i, at := range items {
		d.Items = append(d.Items, readItem(at, ID(i)))
	}
	for i, at := range bounded(c.Field("links"), MaxLinks) {
		l := Link{From: readID(at.Field("from"), len(items)), Type: at.Field("type").String(), To: readID(at.Field("to"), len(items))}
		at.Close()
		if !belief.IsTag(l.Type) {
			at.Failf("type: %.40q, want [a-z][a-z0-9_-]{0,31}", l.Type)
		}
		if i > 0 && d.Links[i-1].compare(l) >= 0 {
			at.Failf("links must ascend by from, type and to, each once")
		}
		d.Links = append(d.Links, l)
	}
	c.Close()
	return d
}

func bounded(c *canon.Cursor, most int) []*canon.Cursor {
	items := c.Items()
	if len(items) > most {
		c.Failf("there are %d items, at most %d", len(items), most)
		return nil
	}
	return items
}

func readID(c *canon.Cursor, items int) int {
	said := c.String()
	n, err := strconv.Atoi(strings.TrimPrefix(said, "item-"))
	if err != nil || n < 1 || n > items || ID(n-1) != said {
		c.Failf("%.40q does not name one of the %d items", said, items)
		return 0
	}
	return n - 1
}

func readItem(c *canon.Cursor, id string) (i Item) {
	if at := c.Field("id"); at.String() != id {
		at.Failf("want %q", id)
	}
	i = Item{
		Kind: c.Field("kind").String(), Confidence: dag.PPM(c.Field("confidence").Uint(uint64(dag.One))), Source: c.Field("source").String(),
		Text: optional(c, "text"), Title: optional(c, "title"), Summary: optional(c, "summary"), Keywords: words(c, "keywords"), Topics: words(c, "topics"),
	}
	for _, at := range bounded(c.Field("statements"), journal.MaxStatements) {
		i.Statements = append(i.Statements, readStatement(at))
	}
	c.Close()
	if c.Err() == nil {
		if err := i.Check(); err != nil {
			c.Fail(err)
		}
	}
	return i
}

func optional(c *canon.Cursor, key string) string {
	if at := c.Optional(key); at != nil {
		return at.String()
	}
	return ""
}

func words(c *canon.Cursor, key string) (list []string) {
	if at := c.Optional(key); at != nil {
		for _, word := range bounded(at, journal.MaxWords) {
			list = append(list, word.String())
		}
	}
	return list
}

func readStatement(c *canon.Cursor) (s Statement) {
	s = Statement{Literal: readLiteral(c), Span: belief.Always}
	if at := c.Optional("premises"); at != nil {
		for _, p := range bounded(at, journal.MaxPremises) {
			s.Premises = append(s.Premises, readLiteral(p))
			p.Close()
		}
	}
	for _, end := range []struct {
		key string
		to  *dag.Time
	}{{"valid_from", &s.Span.From}, {"valid_until", &s.Span.Until}} {
		if at := c.Optional(end.key); at != nil {
			*end.to = canon.Parsed(at, dag.ParseTime)
		}
	}
	c.Close()
	return s
}

func readLiteral(c *canon.Cursor) belief.Literal {
	l := belief.Literal{Subject: c.Field("subject").String(), Predicate: c.Field("predicate").String(), Object: c.Field("object").String()}
	if at := c.Optional("not"); at != nil {
		l.Not = at.Bool()
	}
	return l
}

// Check refuses an exported item that could not be a revision of an item of its kind.
func (i *Item) Check() error {
	r := journal.Revision{Number: 1, Text: i.Text, Title: i.Title, Summary: i.Summary, Keywords: i.Keywords, Topics: i.Topics, Confidence: i.Confidence, Source: i.Source}
	for _, s := range i.Statements {
		r.Statements = append(r.Statements, journal.Stated{Literal: s.Literal, Premises: s.Premises, Span: s.Span, Rank: journal.Rank{Class: belief.Inferred}})
	}
	switch {
	case !belief.IsTag(i.Kind):
		return fmt.Errorf("%w: the kind %.40q, want [a-z][a-z0-9_-]{0,31}", belief.ErrForm, i.Kind)
	case len(i.Statements) == 0:
		return fmt.Errorf("%w: the item states nothing", belief.ErrForm)
	}
	return r.Check()
}
