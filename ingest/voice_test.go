package ingest

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestVoiceOf has a turn for each line of the table in docs/phases.md.
func TestVoiceOf(t *testing.T) {
	const user, assistant, tool, system = dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem
	for _, tc := range []struct {
		role    dag.Role
		author  string
		content string
		attrs   map[string]string
		want    dag.Voice
	}{
		{user, "human:user", "Rename it.", nil, dag.VoicePerson},
		{user, "", "Rename it.", nil, dag.VoicePerson},
		{user, "agent:claude", "Look for callers.", nil, dag.VoiceAgent},
		{user, "tool:ci", "The build failed.", nil, dag.VoiceTool},
		{user, "system:cron", "Begin.", nil, dag.VoiceHarness},
		{user, "human:ada", "fix: a nil map", attrs("commit", "true"), dag.VoicePerson},
		{assistant, "agent:renovate", "update", attrs("commit", "true"), dag.VoiceAgent},
		{user, "human:user", "<command-name>/commit</command-name>", nil, dag.VoicePerson},
		{user, "human:user", "<bash-input>ls</bash-input>", nil, dag.VoicePerson},
		{user, "human:user", "[Request interrupted by user]", nil, dag.VoiceHarness},
		{user, "human:user", "<bash-stdout>a.go</bash-stdout>", nil, dag.VoiceHarness},
		{system, "system:claude-code", "<local-command-stdout>bye</local-command-stdout>", attrs("meta", "true"), dag.VoiceHarness},
		{system, "system:claude-code", "Be brief.", nil, dag.VoiceHarness},
		{system, "system:claude-code", "Conversation compacted", attrs("compact", "boundary"), dag.VoiceHarness},
		{assistant, "agent:claude", "We decided to rename it.", attrs("compact", "summary"), dag.VoiceAgent},
		{assistant, "agent:claude", "Done.", nil, dag.VoiceAgent},
		{assistant, "agent:claude", "[thinking]\nHm.", attrs("blocks", "thinking"), dag.VoiceAgent},
		{assistant, "agent:claude", "[tool_use Bash]\n{}", attrs("blocks", "tool_use", "tool", "Bash"), dag.VoiceAgent},
		{assistant, "agent:claude", "<command-name> is how one types it", nil, dag.VoiceAgent},
		{tool, "tool:Bash", "[tool_result]\nok", attrs("tool", "Bash"), dag.VoiceTool},
		{tool, "tool:Bash", "<command-name>", attrs("tool", "Bash"), dag.VoiceTool},
		{tool, "tool:Edit", rejectionToSay + "no, the other file", attrs("tool", "Edit", "is_error", "true"), dag.VoicePerson},
		{tool, "tool:Edit", rejectionToStop, attrs("tool", "Edit", "is_error", "true"), dag.VoiceHarness},
		{tool, "tool:Task", "[tool_result error]\n[Request interrupted by user for tool use]", attrs("tool", "Task", "is_error", "true"), dag.VoiceHarness},
		{tool, "tool:AskUserQuestion", "[tool_result]\nUser has answered your questions: \"Which?\"=\"This\".", attrs("tool", "AskUserQuestion"), dag.VoicePerson},
		{tool, "tool:ExitPlanMode", "[tool_result]\nUser has approved your plan.", attrs("tool", "ExitPlanMode"), dag.VoicePerson},
		{user, "human:user", "[tool_result]\nok\n\nand now the tests", attrs("blocks", "tool_result,text"), dag.VoicePerson},
		// Without its text, a turn has the voice of its role.
		{user, "", "", nil, dag.VoicePerson},
		{assistant, "", "", nil, dag.VoiceAgent},
		{tool, "", "", nil, dag.VoiceTool},
		{system, "", "", nil, dag.VoiceHarness},
	} {
		d := &dag.Draft{Role: tc.role, Author: tc.author, Content: tc.content, Attrs: tc.attrs}
		if got := VoiceOf(d); got != tc.want {
			t.Errorf("%s, by %q: %q has the voice %s, want %s", tc.role, tc.author, tc.content, got, tc.want)
		}
	}
}
