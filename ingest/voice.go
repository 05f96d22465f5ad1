package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// VoiceOf says whose words a turn holds, as the rules marks/2 see it: the voice that the turn has if whoever
// brings it may speak for its author. It looks at the role, the author and the attributes alone, never at the
// text. Where the author is a person, the voice is a person's; attributes can only take it away. So importers
// decide from the structure of a record who the author is (docs/importers.md).
//
// A turn whose text is withheld has no author, and the voice of its role.
func VoiceOf(d *dag.Draft) dag.Voice {
	kind := authorKind(d)
	switch d.Role {
	case dag.RoleAssistant:
		return dag.VoiceAgent
	case dag.RoleTool:
		switch kind {
		case "human": // in the place of a result: a rejection with words, an answer, an approval
			return dag.VoicePerson
		case "system":
			return dag.VoiceHarness
		}
		return dag.VoiceTool
	case dag.RoleUser:
		switch {
		case kind == "agent":
			return dag.VoiceAgent
		case kind == "tool" || holdsResult(d):
			return dag.VoiceTool
		case kind == "system" || d.Attrs[attrCompact] != "":
			return dag.VoiceHarness
		}
		return dag.VoicePerson
	}
	return dag.VoiceHarness
}

// authorKind returns what an author is, which precedes the colon: human, agent, tool, system.
func authorKind(d *dag.Draft) string {
	kind, _, _ := strings.Cut(d.Author, ":")
	return kind
}

// holdsResult reports whether a tool's result is in a user's turn. Importers took it into one, with what a
// person said, when they divided no messages.
func holdsResult(d *dag.Draft) bool {
	return slices.Contains(strings.Split(d.Attrs[attrBlocks], ","), blockResult)
}
