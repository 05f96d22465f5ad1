package ingest

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// VoiceOf returns the voice of a turn by the rules marks/2, assuming that the credential that admits the turn may speak for its
// author. The voice depends on role, author and attributes, never on the text. A turn has a person's voice only if its author
// is a person, and attributes can only remove that voice. Importers determine the author from the structure of a record
// (docs/importers.md).
//
// A turn in a person's name, admitted by a credential that does not speak for that person (see [dag.AttrBroughtBy]), has the
// voice of a tool.
//
// A turn with a withheld text has no author, and the voice of its role.
func VoiceOf(d *dag.Draft) dag.Voice {
	if d.Attrs[dag.AttrBroughtBy] != "" {
		return dag.VoiceTool
	}
	kind := authorKind(d)
	switch d.Role {
	case dag.RoleAssistant:
		return dag.VoiceAgent
	case dag.RoleTool:
		switch kind {
		case "human": // a rejection with words, an answer, an approval
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

// authorKind returns the part of an author before the colon: human, agent, tool or system.
func authorKind(d *dag.Draft) string {
	kind, _, _ := strings.Cut(d.Author, ":")
	return kind
}

// ByProgram reports whether an author is an agent, a tool, or the program around an agent.
func ByProgram(author string) bool {
	kind, _, _ := strings.Cut(author, ":")
	return kind == "agent" || kind == "tool" || kind == "system"
}

// holdsResult reports whether a user's turn contains a tool's result. Importers made such turns before they split messages by
// author.
func holdsResult(d *dag.Draft) bool {
	return slices.Contains(strings.Split(d.Attrs[attrBlocks], ","), blockResult)
}
