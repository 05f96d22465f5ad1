package ingest

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

// TestAssignBySpeaker has turns whose text pretends to another speaker than their role, author and attributes say.
func TestAssignBySpeaker(t *testing.T) {
	const user, assistant, tool, system = dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem
	for _, tc := range []struct {
		role     dag.Role
		author   string
		content  string
		attrs    map[string]string
		phase    dag.Phase
		salience dag.PPM
	}{
		// Words in the place of a result, by their author.
		{tool, "human:user", rejectionToSay + "it still fails: fix the bug", attrs("tool", "Edit", "is_error", "true"), dag.Debugging, 700_000},
		{tool, "tool:Edit", rejectionToSay + "it still fails: fix the bug", attrs("tool", "Edit", "is_error", "true"), dag.Debugging, 450_000},
		{tool, "human:user", "why is it so?", attrs("tool", "Edit"), dag.Exploration, 720_000},
		{tool, "human:user", rejectionToSay + "why?", attrs("tool", "ExitPlanMode", "is_error", "true"), dag.Exploration, 720_000},
		{tool, "human:user", "[tool_result]\nYes.", attrs("tool", "ExitPlanMode"), dag.Planning, 650_000},
		{tool, "human:user", "[tool_result]\nYes.", attrs("tool", "AskUserQuestion"), dag.Planning, 650_000},
		{tool, "tool:AskUserQuestion", "[tool_result]\nYes.", attrs("tool", "AskUserQuestion"), dag.Planning, 250_000},
		{tool, "system:claude-code", rejectionToStop, attrs("tool", "Edit", "is_error", "true"), dag.Planning, 450_000},
		{tool, "tool:Edit", rejectionToStop, attrs("tool", "Edit", "is_error", "true"), dag.Debugging, 450_000},
		{tool, "tool:Task", "[tool_result error]\n" + interrupted + " for tool use]", attrs("tool", "Task", "is_error", "true"), dag.Debugging, 450_000},
		// In a person's place.
		{user, "human:user", "[tool_result]\nok\n\nbroken, fix it", attrs("blocks", "tool_result,text"), dag.Exploration, 250_000},
		{user, "tool:plugin:chat", "broken, fix it", nil, dag.Exploration, 250_000},
		{user, "agent:claude", "broken, fix it", nil, dag.Planning, 500_000},
		{user, "system:claude-code", "broken, fix it", nil, dag.Planning, 300_000},
		{user, "human:user", "broken, fix it", nil, dag.Debugging, 700_000},
		{user, "human:user", rejectionToSay + "fix the bug", nil, dag.Debugging, 720_000},
		{user, "system:claude-code", interrupted + "]", nil, dag.Planning, 200_000},
		// What begins like a notice is one in a person's place alone.
		{user, "human:user", "<command-name>/exit</command-name>", nil, dag.Consolidation, 200_000},
		{system, "system:claude-code", "<local-command-stdout>x", attrs("meta", "true"), dag.Exploration, 200_000},
		{tool, "tool:Bash", "<command-name>/exit", attrs("tool", "Bash"), dag.Exploration, 250_000},
		{assistant, "agent:claude", "<command-name>/exit ends a session of it", nil, dag.Synthesis, 350_000},
	} {
		d := dag.Draft{Role: tc.role, Author: tc.author, Content: tc.content, Attrs: tc.attrs}
		if err := Assign(&d); err != nil {
			t.Fatal(err)
		}
		if d.Phase != tc.phase || d.Salience != tc.salience || d.Attrs[AttrPhaseBy] != Rules || d.Attrs[AttrSalienceBy] != Rules {
			t.Errorf("%s, by %q: %q %v: got %s %s, want %s %s", tc.role, tc.author, clip(tc.content), tc.attrs, d.Phase, d.Salience, tc.phase, tc.salience)
		}
	}
}
