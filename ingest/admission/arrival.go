package admission

import (
	"context"
	"fmt"
	"maps"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Arrival completes a draft: it fills in absent values, checks the form of every value, and
// computes the digest and the marks. draw draws the salt. The marks lack the origin, and the things whose names are returned.
func Arrival(d *dag.Draft, draw func([]byte) error) (a store.Arrival, names Names, err error) {
	if d.Redacted {
		a, err = withheld(d)
		return a, names, err
	}
	if err := ingest.Assign(d); err != nil {
		return store.Arrival{}, names, fmt.Errorf("turn %s: %w", d.ID, err)
	}
	body := dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}
	if err := body.Check(); err != nil {
		return store.Arrival{}, names, fmt.Errorf("turn %s: %w", d.ID, err)
	}
	a = store.Arrival{
		Turn:     turnOf(d),
		Parents:  d.Parents,
		Body:     slice.AppendBody(make([]byte, 0, len(d.Content)+len(d.Content)/16+len(d.Author)+64*len(d.Attrs)+64), &body),
		External: d.Attrs[dag.AttrExternalID],
	}
	if d.Salt != nil {
		a.Salt = *d.Salt
	} else {
		a.SaltDrawn = true
		if err := draw(a.Salt[:]); err != nil {
			return store.Arrival{}, names, err
		}
	}
	a.Turn.BodyDigest = slice.DigestBody(a.Body, a.Salt)
	a.Marks, names.touched = marks.Of(d)
	if inPersonsName(d) || d.Attrs[dag.AttrBroughtBy] != "" {
		names.author = d.Author
	}
	return a, names, a.Turn.Check()
}

// Names are the names that the marks of an arrival identify by things.
type Names struct {
	touched    []string
	author     string // of a turn in a person's name; else ""
	credential string // that brings the turn, or ""
}

func withheld(d *dag.Draft) (store.Arrival, error) {
	if d.Phase == 0 || !d.HasSalience {
		return store.Arrival{}, fmt.Errorf("turn %s: %w: a redacted turn needs its phase and salience, since no text is left to assign them by", d.ID, dag.ErrForm)
	}
	a := store.Arrival{Turn: turnOf(d), Parents: d.Parents}
	a.Turn.BodyDigest = d.BodyDigest
	a.Marks, _ = marks.Of(d)
	return a, a.Turn.Check()
}

func turnOf(d *dag.Draft) dag.Turn {
	return dag.Turn{ID: d.ID, Conversation: d.Conversation, Role: d.Role, Phase: d.Phase, Salience: d.Salience, CreatedAt: d.CreatedAt}
}

// brought sets the attribute [dag.AttrBroughtBy] of each draft in the name of a person for whom the caller does not
// speak. Such a turn is admitted as data: it is not a prompt, and nobody's statement. A draft that has the
// attribute already keeps it. brought replaces the maps of attributes and does not write to them.
func brought(who access.Identity, drafts []dag.Draft) error {
	if who.SpeaksForAll() {
		return nil
	}
	by := who.Bringer()
	for i := range drafts {
		d := &drafts[i]
		if d.Attrs[dag.AttrBroughtBy] != "" || !inPersonsName(d) || who.SpeaksFor(d.Author) {
			continue
		}
		if d.Redacted {
			return fmt.Errorf("turns[%d]: %w: turn %s has no text, and its author is not one for whom this key speaks", i, dag.ErrForm, d.ID)
		}
		if len(d.Attrs) >= dag.MaxAttrs {
			return fmt.Errorf("turns[%d]: %w: turn %s has %d attrs, and saying who brought it adds one, at most %d", i, dag.ErrForm, d.ID, len(d.Attrs), dag.MaxAttrs)
		}
		attrs := maps.Clone(d.Attrs)
		if attrs == nil {
			attrs = make(map[string]string, 1)
		}
		attrs[dag.AttrBroughtBy] = by
		d.Attrs = attrs
	}
	return nil
}

// countBrought counts the marked turns of an admission that are stored with the mark. A turn that was stored before may be without it. before is false if
// no turn of the admission was.
func (k Admissions) countBrought(ctx context.Context, tenant dag.Tenant, marked []dag.TurnID, before bool) (n int, err error) {
	if !before || len(marked) == 0 {
		return len(marked), nil
	}
	records, err := k.store.Store.Turns(ctx, tenant, store.IDs(marked))
	for i := range records {
		if body, err := slice.ParseBody(records[i].Body); err == nil && body.Brought() {
			n++
		}
	}
	return n, err
}

// originOf returns the origin of a draft that a caller submits, without the things that name its author and its key.
func originOf(who access.Identity, d *dag.Draft) dag.Origin {
	by := who.Channel()
	if d.Channel == dag.ChannelAgent || d.Channel != 0 && !by.Credentialed() {
		by = d.Channel
	}
	o := dag.Origin{Channel: by}
	switch {
	case d.Attrs[dag.AttrBroughtBy] != "":
		if saidByPerson(d) {
			o.Grant = dag.GrantRefused
		}
	case !by.Credentialed():
	case inPersonsName(d):
		o.Grant = who.Grant(d.Author)
	case d.Role == dag.RoleSystem && who.Role.May(access.SpeakForOperator) && by == dag.ChannelAPI:
		o.Grant = dag.GrantOperator
	}
	return o
}

// saidByPerson reports whether a draft would be in a person's name without the attribute that says who brought it.
func saidByPerson(d *dag.Draft) bool {
	plain := *d
	plain.Attrs = maps.Clone(d.Attrs)
	delete(plain.Attrs, dag.AttrBroughtBy)
	return inPersonsName(&plain)
}

// inPersonsName reports whether a draft has the voice of a person, or the role of a prompt and an author that is not a program.
func inPersonsName(d *dag.Draft) bool {
	if ingest.VoiceOf(d) == dag.VoicePerson {
		return true
	}
	return d.Role == dag.RoleUser && !ingest.ByProgram(d.Author)
}
