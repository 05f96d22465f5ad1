package extract

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// Says reports whether a turn says something: its text is not blank and does not consist of calls, results and reasoning alone.
func Says(b *dag.Body) bool {
	blocks := b.Attrs[attrBlocks]
	return strings.TrimSpace(b.Content) != "" && (blocks == "" || slices.Contains(strings.Split(blocks, ","), "text"))
}

// Writes reports whether a turn calls tools that write files, and no others, judging by their names.
func Writes(b *dag.Body) bool {
	if b.Attrs[attrTool] == "" || b.Attrs[attrBlocks] == blockResult {
		return false
	}
	for tool := range strings.SplitSeq(b.Attrs[attrTool], ",") {
		switch fileTools[tool] {
		case WroteFile, EditedFile, CreatedFile:
		default:
			return false
		}
	}
	return true
}

// Fails reports whether a turn is a result that its program marked as an error.
func Fails(b *dag.Body) bool { return b.Attrs[attrIsError] == "true" }
