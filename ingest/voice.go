package ingest

import (
	"strings"

	"github.com/graphkernel/graphkernel/dag"
)

// VoiceOf says whose words a turn holds, as the rules marks/1 see it. It looks at the role, the
// author, the attributes and the beginning of the content alone. A turn whose text is withheld
// has the voice of its role.
func VoiceOf(d *dag.Draft) dag.Voice {
	t := &traits{features: outsideOf(d)}
	switch by, _ := t.whose(d); by {
	case byPerson, byCommit:
		return authorVoice(d)
	case byYes:
		return dag.VoicePerson
	case byAgent, byMind, byCall, byCaller, bySummary:
		return dag.VoiceAgent
	case byResult:
		return dag.VoiceTool
	case byCommand:
		return t.noticeVoice(d)
	}
	return dag.VoiceHarness // a system turn, a boundary, a rejection without a word
}

// authorVoice is for what stands where a person speaks: the author may say that somebody else does.
func authorVoice(d *dag.Draft) dag.Voice {
	switch kind, _, _ := strings.Cut(d.Author, ":"); kind {
	case "agent":
		return dag.VoiceAgent
	case "tool":
		if d.Role != dag.RoleTool { // the words of a person in a rejected result have the tool as their author
			return dag.VoiceTool
		}
	case "system":
		return dag.VoiceHarness
	}
	return dag.VoicePerson
}

// typed begin the notices that hold what a person typed.
var typed = []string{"<command-", "<bash-input"}

// noticeVoice is for what begins like a notice of a program.
func (t *traits) noticeVoice(d *dag.Draft) dag.Voice {
	switch {
	case d.Role == dag.RoleAssistant:
		return dag.VoiceAgent
	case d.Role == dag.RoleTool:
		return dag.VoiceTool
	case d.Role == dag.RoleUser && hasAnyPrefix(t.front, typed):
		return authorVoice(d)
	}
	return dag.VoiceHarness
}
