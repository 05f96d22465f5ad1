package kernel

import (
	"context"
	"fmt"
	"maps"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

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
func (k *engine) countBrought(ctx context.Context, tenant dag.Tenant, marked []dag.TurnID, before bool) (n int, err error) {
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

// inPersonsName reports whether a draft has the voice of a person, or the role of a prompt and an author that is not a program.
func inPersonsName(d *dag.Draft) bool {
	if ingest.VoiceOf(d) == dag.VoicePerson {
		return true
	}
	return d.Role == dag.RoleUser && !ingest.ByProgram(d.Author)
}
