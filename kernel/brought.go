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

// brought marks the drafts that a caller brings in the name of a person for whom the caller does not speak, by the
// attribute [dag.AttrBroughtBy]. Such a turn is admitted, and is data: no prompt, and nobody's word. A draft that has the
// attribute already keeps it. The maps of attributes are replaced, not written to.
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

// countBrought counts the turns that are stored with the mark, of those that came with it. A turn that was there before keeps what it is.
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

// inPersonsName reports whether a draft has the voice of a person, or the place of a prompt and no program as author.
func inPersonsName(d *dag.Draft) bool {
	if ingest.VoiceOf(d) == dag.VoicePerson {
		return true
	}
	return d.Role == dag.RoleUser && !ingest.ByProgram(d.Author)
}
