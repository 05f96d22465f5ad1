package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// An archive is a file of lines in canonical JSON. The first line names the space, and each other line is an item with all of its
// revisions, as they are recorded:
//
//	{"form":"gkarchive/1","space":"acme/support","tenant":"default"}
//	{"item":"kref://acme/support/a.observation","revisions":[{"at":TIME,"private":{…},"public":{…},"seq":12},…]}
//
// The public half of a revision has the salted digest of the private half, which an erasure removes. After an item was archived, its deprecation
// remains; the reason of the deprecation contains the digest of the item's line.

// ArchiveForm is the value of the member form of an archive: its version.
const ArchiveForm = "gkarchive/1"

// Bounds of an archive.
const (
	MaxArchive  = 16 << 20 // bytes
	MaxArchived = 1000     // items
)

// ErrArchive is wrapped if bytes are not an archive, or if its revisions differ from the recorded ones.
var ErrArchive = errors.New("not an archive of the revisions that are recorded here")

// An Archive contains items of a space.
type Archive struct {
	Tenant dag.Tenant
	Space  belief.Space
	Items  []Archived
}

// An Archived is an item with the entries of its revisions, ascending.
type Archived struct {
	Item    belief.Item
	Entries []history.Entry
}

// Append appends the archive as a file.
func (a *Archive) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("form")
	w.String(ArchiveForm)
	w.Key("space")
	w.String(string(a.Space))
	w.Key("tenant")
	w.String(string(a.Tenant))
	w.EndObject()
	dst = append(w.Bytes, '\n')
	for i := range a.Items {
		dst = append(a.Items[i].Append(dst), '\n')
	}
	return dst
}

// Append appends the line of an item.
func (a *Archived) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("item")
	w.String(string(a.Item))
	w.Key("revisions")
	w.BeginArray()
	for i := range a.Entries {
		e := &a.Entries[i]
		w.BeginObject()
		w.Key("at")
		w.String(e.At.String())
		if e.Private != nil {
			w.Key("private")
			w.Raw(e.Private)
		}
		w.Key("public")
		w.Raw(e.Public)
		w.Key("seq")
		w.Uint(uint64(e.Seq))
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes
}

// Digest returns the SHA-256 of the item's line.
func (a *Archived) Digest() dag.Digest { return sha256.Sum256(a.Append(nil)) }

// ArchivedReason returns the reason of the deprecation of an archived item. digest is the digest of the item's line.
func ArchivedReason(digest dag.Digest) string { return "archived sha256:" + digest.String() }

// ParseArchive reads an archive that Append wrote. Anything else is ErrArchive, which names the line; so is a private half that does not
// match the digest in its public half.
func ParseArchive(data []byte) (*Archive, error) {
	if len(data) > MaxArchive {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrArchive, len(data), MaxArchive)
	}
	lines := strings.SplitAfter(string(data), "\n")
	if n := len(lines) - 1; n < 1 || lines[n] != "" || n > 1+MaxArchived {
		return nil, fmt.Errorf("%w: want one line for the space and at most %d lines for items, each with a line feed at its end", ErrArchive, MaxArchived)
	}
	a := &Archive{}
	for i, line := range lines[:len(lines)-1] {
		if err := a.line(i, []byte(strings.TrimSuffix(line, "\n"))); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrArchive, i+1, err)
		}
	}
	if !bytes.Equal(a.Append(make([]byte, 0, len(data))), data) {
		return nil, fmt.Errorf("%w: it is not in canonical form", ErrArchive)
	}
	return a, nil
}

func (a *Archive) line(at int, text []byte) error {
	doc, err := canon.Parse(text)
	if err != nil {
		return err
	}
	c := canon.Open(doc)
	if at == 0 {
		if form := c.Field("form"); form.String() != ArchiveForm {
			form.Failf("want %q", ArchiveForm)
		}
		a.Space, a.Tenant = canon.Parsed(c.Field("space"), belief.ParseSpace), canon.Parsed(c.Field("tenant"), dag.ParseTenant)
		c.Close()
		return c.Err()
	}
	item := Archived{Item: canon.Parsed(c.Field("item"), belief.ParseItem)}
	for n, r := range c.Field("revisions").Items() {
		e := history.Entry{Kind: KindRevision, At: canon.Parsed(r.Field("at"), dag.ParseTime), Seq: dag.Seq(r.Field("seq").Uint(uint64(dag.MaxSeq)))}
		raw := func(c *canon.Cursor) []byte { return slices.Clone(text[c.Value().Offset:c.Value().End]) }
		e.Public = raw(r.Field("public"))
		if private := r.Optional("private"); private != nil {
			e.Private = raw(private)
		}
		r.Close()
		if c.Err() != nil {
			return c.Err()
		}
		if err := isRevision(&e, item.Item, n+1); err != nil {
			r.Fail(err)
		}
		item.Entries = append(item.Entries, e)
	}
	c.Close()
	switch {
	case c.Err() != nil:
		return c.Err()
	case len(item.Entries) == 0 || item.Item.Space() != a.Space:
		return fmt.Errorf("%s has %d revisions, want at least 1 and an item of the space %s", item.Item, len(item.Entries), a.Space)
	case len(a.Items) > 0 && a.Items[len(a.Items)-1].Item >= item.Item:
		return errors.New("items must ascend, each once")
	}
	a.Items = append(a.Items, item)
	return nil
}

// isRevision refuses an entry that is not the numbered revision of an item in the form in which the package would write it.
func isRevision(e *history.Entry, of belief.Item, number int) error {
	read, err := check(e)
	if err != nil {
		return err
	}
	if r := read.(*Revision); r.Item != of || r.Number != number {
		return fmt.Errorf("it is revision %d of %s, want revision %d of %s", r.Number, r.Item, number, of)
	}
	return nil
}

// RevisionEntries returns the entries of the revisions of an item as of a number, ascending. It leaves out the wording, which stays in the
// store and is not archived. The error is ErrNoItem if there are no revisions.
func (b Items) RevisionEntries(ctx context.Context, tenant dag.Tenant, item belief.Item, asOf dag.Seq) (list []history.Entry, _ error) {
	err := b.collect(ctx, tenant, []history.Range{{Index: indexRevisions, Prefix: keyBytes(item.Key())}}, func(_ int, e *history.Entry) error {
		if e.Seq <= asOf {
			e.Private, _ = splitPrivate(e.Private)
			list = append(list, *e)
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: %s", ErrNoItem, item)
	}
	return list, err
}

// Lapsed returns the deprecation of a deprecated item; nil if the item is not deprecated.
func (b Items) Lapsed(ctx context.Context, tenant dag.Tenant, r *ItemRecord) (*Deprecation, error) {
	if !r.Deprecated {
		return nil, nil
	}
	last := slices.Max(r.lapses)
	entries, err := b.entriesAt(ctx, tenant, []dag.Seq{last})
	if err != nil {
		return nil, err
	}
	e := entries[last]
	return ReadDeprecation(&e)
}

// Touched returns the time of the last entry about an item. Uses, links and the uncounted entries do not count.
func (b Items) Touched(ctx context.Context, tenant dag.Tenant, r *ItemRecord, uncounted map[dag.Seq]bool) (last dag.Time, _ error) {
	entries, err := b.entriesAt(ctx, tenant, slices.DeleteFunc(r.moments(), func(seq dag.Seq) bool { return uncounted[seq] }))
	for _, e := range entries {
		last = max(last, e.At)
	}
	return last, err
}
