package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// dump writes drafts for a person to compare: ids by their first group, parents
// with their kinds, attributes sorted, contents quoted.
func dump(drafts []dag.Draft) string {
	var out strings.Builder
	for i := range drafts {
		d := &drafts[i]
		fmt.Fprintf(&out, "%s in %s %s %q at %s\n", d.ID.String()[:8], d.Conversation.String()[:8], d.Role, d.Author, d.CreatedAt)
		for _, p := range d.Parents {
			fmt.Fprintf(&out, "  %s %s\n", p.Kind, p.ID.String()[:8])
		}
		for _, key := range slices.Sorted(maps.Keys(d.Attrs)) {
			fmt.Fprintf(&out, "  %s=%s\n", key, d.Attrs[key])
		}
		fmt.Fprintf(&out, "  %q\n", d.Content)
	}
	return out.String()
}
