package kernel

import (
	"fmt"
	"maps"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
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
		if d.Attrs[dag.AttrBroughtBy] != "" || !inPersonsName(d) || who.SpeaksFor(d.Role, d.Author) {
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

// inPersonsName reports whether a draft has the voice of a person, or the place of a prompt and no program as author.
func inPersonsName(d *dag.Draft) bool {
	if ingest.VoiceOf(d) == dag.VoicePerson {
		return true
	}
	kind, _, _ := strings.Cut(d.Author, ":")
	return d.Role == dag.RoleUser && kind != "agent" && kind != "tool" && kind != "system"
}
