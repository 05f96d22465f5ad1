package ingest

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestVoiceOf has a turn for each line of the table in docs/phases.md.
func TestVoiceOf(t *testing.T) {
	const user, assistant, tool, system = dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem
	for _, tc := range []struct {
		role   dag.Role
		author string
		attrs  map[string]string
		want   dag.Voice
	}{
		{assistant, "agent:claude", nil, dag.VoiceAgent},
		{assistant, "human:user", nil, dag.VoiceAgent},
		{assistant, "agent:claude", attrs("compact", "summary"), dag.VoiceAgent},
		{assistant, "agent:renovate", attrs("commit", "true"), dag.VoiceAgent},
		{tool, "human:user", attrs("tool", "Edit", "is_error", "true"), dag.VoicePerson},
		{tool, "human:user", nil, dag.VoicePerson},
		{tool, "system:claude-code", nil, dag.VoiceHarness},
		{tool, "tool:Bash", nil, dag.VoiceTool},
		{tool, "tool:AskUserQuestion", attrs("tool", "AskUserQuestion"), dag.VoiceTool},
		{tool, "agent:claude", nil, dag.VoiceTool},
		{tool, "tool:git", attrs("commit", "true"), dag.VoiceTool},
		{tool, "human", nil, dag.VoicePerson},
		{tool, "humane:user", nil, dag.VoiceTool},
		{tool, "tool:git", attrs("compact", "summary"), dag.VoiceTool},
		{user, "agent:claude", nil, dag.VoiceAgent},
		{user, "tool:plugin:chat", nil, dag.VoiceTool},
		{user, "human:user", attrs("blocks", "tool_result,text"), dag.VoiceTool},
		{user, "human:user", attrs("blocks", "text,tool_result"), dag.VoiceTool},
		{user, "human:user", attrs("blocks", "web_tool_results"), dag.VoicePerson},
		{user, "system:claude-code", nil, dag.VoiceHarness},
		{user, "human:user", attrs("compact", "summary"), dag.VoiceHarness},
		{user, "human:user", nil, dag.VoicePerson},
		{user, "human:owner", attrs("commit", "true"), dag.VoicePerson},
		{user, "owner", nil, dag.VoicePerson},
		{system, "system:claude-code", attrs("meta", "true"), dag.VoiceHarness},
		{system, "human:user", nil, dag.VoiceHarness},
		// Without its text, a turn has no author, and the voice of its role.
		{user, "", nil, dag.VoicePerson},
		{assistant, "", nil, dag.VoiceAgent},
		{tool, "", nil, dag.VoiceTool},
		{system, "", nil, dag.VoiceHarness},
	} {
		if got := VoiceOf(&dag.Draft{Role: tc.role, Author: tc.author, Attrs: tc.attrs}); got != tc.want {
			t.Errorf("%s, by %q, with %v has the voice %s, want %s", tc.role, tc.author, tc.attrs, got, tc.want)
		}
	}
}

// TestVoiceLaws holds over all cases of the rules that no text has a say in a voice, that an attribute only takes a person's voice
// away, that nobody but a person has one, and that the rules see a person speak where there is the voice of one.
func TestVoiceLaws(t *testing.T) {
	cases, persons := 0, 0
	check := func(d dag.Draft) {
		voice := VoiceOf(&d)
		silent, bare := d, d
		silent.Content, bare.Attrs = "", nil
		if got := VoiceOf(&silent); got != voice {
			t.Fatalf("%+v has the voice %s, and without its text %s", d, voice, got)
		}
		cases++
		by := traitsOf(&d).by
		if voice != dag.VoicePerson {
			if by == byPerson || by == byYes {
				t.Fatalf("%+v has the voice %s, and a person speaks", d, voice)
			}
			return
		}
		persons++
		kind := authorKind(&d)
		switch {
		case VoiceOf(&bare) != dag.VoicePerson:
			t.Fatalf("%+v has a person's voice by an attribute", d)
		case kind == "agent" || kind == "tool" || kind == "system" || d.Role == dag.RoleTool && kind != "human":
			t.Fatalf("%+v has a person's voice", d)
		case by != byPerson && by != byYes && by != byCommit && by != byCommand && by != bySummary:
			t.Fatalf("%+v has a person's voice, and speaker %d", d, by)
		}
	}
	fixedCases(check)
	fixedCases2(check)
	if cases < 100_000 || persons < 10_000 {
		t.Errorf("%d cases, %d of persons", cases, persons)
	}
}
