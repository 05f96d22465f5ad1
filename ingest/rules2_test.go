package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

const (
	rejection       = "[tool_result error]\n" + rejected + " The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file)."
	rejectionToSay  = rejection + " To tell you how to proceed, " + rejectedSaying
	rejectionToStop = rejection + " STOP what you are doing and wait for the user to tell you how to proceed."
)

// TestAssignRules2 has a turn for each rule of docs/phases.md.
func TestAssignRules2(t *testing.T) {
	const user, assistant, tool, system = dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem
	long := strings.Repeat("It stays where it is. ", 20)
	bash := func(command string) string { return `[tool_use Bash]` + "\n" + `{"command":"` + command + `"}` }
	for _, tc := range []struct {
		rule     string
		role     dag.Role
		content  string
		attrs    map[string]string
		phase    dag.Phase
		salience dag.PPM
	}{
		{"1", assistant, "We decided nothing.", attrs("compact", "summary"), dag.Consolidation, 650_000},
		{"1", system, "Conversation compacted", attrs("compact", "boundary"), dag.Consolidation, 100_000},
		{"2", user, "fix: a nil map", attrs("commit", "true"), dag.Debugging, 500_000},
		{"3", user, "Merge branch x", attrs("commit", "true", "merge", "true"), dag.Consolidation, 350_000},
		{"4", user, "Add a flag", attrs("commit", "true"), dag.Synthesis, 500_000},
		{"5", user, "[Request interrupted by user]", nil, dag.Planning, 200_000},
		{"6", user, "<command-name>/exit</command-name>", nil, dag.Consolidation, 200_000},
		{"6", system, "<local-command-stdout>Goodbye!</local-command-stdout>", attrs("meta", "true"), dag.Consolidation, 200_000},
		{"7", user, "<command-name>/model</command-name>", nil, dag.Exploration, 200_000},
		{"8", tool, rejectionToStop, attrs("tool", "Edit", "is_error", "true"), dag.Planning, 450_000},
		{"8", tool, "[tool_result]\nUser has approved your plan.", attrs("tool", "ExitPlanMode"), dag.Planning, 650_000},
		{"9", user, " \n", nil, dag.Exploration, 500_000},
		{"9", assistant, "\n\n", nil, dag.Exploration, 150_000},
		{"10", user, "Implement the following plan: it fails with an error.", nil, dag.Planning, 700_000},
		{"11", user, "The tests fail.", nil, dag.Debugging, 700_000},
		{"11", user, "Please fix this issue", nil, dag.Debugging, 700_000},
		{"11", tool, rejectionToSay + "no, that is broken", attrs("tool", "Edit", "is_error", "true"), dag.Debugging, 700_000},
		{"12", user, "Please summarize it", nil, dag.Consolidation, 700_000},
		{"13", user, "Where is it kept", nil, dag.Exploration, 720_000},
		{"13", user, "can you check whether it is kept?", nil, dag.Exploration, 720_000},
		{"13", tool, rejectionToSay + "what does it do?", attrs("tool", "Edit", "is_error", "true"), dag.Exploration, 720_000},
		{"14", user, "can you also rename it?", nil, dag.Planning, 720_000},
		{"14", user, "It must never block, always answer, and is important.", nil, dag.Planning, 760_000},
		{"14", user, "ok, thanks!", nil, dag.Planning, 620_000},
		{"14", user, "what we want is " + strings.Repeat("a list of things, ", 8), nil, dag.Planning, 700_000},
		{"14", tool, "[tool_result]\nUser has answered your questions: \"Which?\"=\"The second\".", attrs("tool", "AskUserQuestion"), dag.Planning, 700_000},
		{"14", tool, rejectionToSay + "let's do this in a pull request of its own", attrs("tool", "Edit", "is_error", "true"), dag.Planning, 700_000},
		{"14", user, "[tool_result]\n--- FAIL: x\n\nuse the other one", attrs("blocks", "tool_result,text"), dag.Planning, 700_000},
		{"15", system, "A skill is loaded: fix bugs.", attrs("meta", "true"), dag.Exploration, 150_000},
		{"16", system, "You help.", nil, dag.Planning, 300_000},
		{"17", tool, "[tool_result]\nok\n--- FAIL: TestX", attrs("tool", "Bash"), dag.Debugging, 450_000},
		{"17", tool, "[tool_result error]\nExit code 1\nundefined: x", attrs("tool", "Bash", "is_error", "true"), dag.Debugging, 450_000},
		{"18", tool, "[tool_result]\nA nil map.", attrs("tool", "Task"), dag.Consolidation, 450_000},
		{"19", tool, "[tool_result]\nsaved", attrs("tool", "TodoWrite"), dag.Planning, 250_000},
		{"20", tool, "[tool_result]\nwritten", attrs("tool", "Edit"), dag.Synthesis, 250_000},
		{"20", tool, "[tool_result]\n[main abc1234] A flag\n 1 file changed, 2 insertions(+)", attrs("tool", "Bash"), dag.Synthesis, 250_000},
		{"20", tool, "[tool_result error]\n<tool_use_error>File has not been read yet.</tool_use_error>", attrs("tool", "Edit", "is_error", "true"), dag.Synthesis, 250_000},
		{"21", tool, "[tool_result]\nok  \tpkg\t0.1s\nPASS", attrs("tool", "Bash"), dag.Exploration, 250_000},
		{"21", tool, "[tool_result error]\nExit code 2\nUsage:\n  x [command]", attrs("tool", "Bash", "is_error", "true"), dag.Exploration, 250_000},
		{"21", tool, "[tool_result]\nerror: in the source that was read", attrs("tool", "Read"), dag.Exploration, 250_000},
		{"22", assistant, "[tool_use Task]\n{\"prompt\":\"p\",\"subagent_type\":\"Explore\"}", attrs("tool", "Task"), dag.Exploration, 500_000},
		{"23", assistant, "[tool_use Task]\n{\"prompt\":\"p\"}", attrs("tool", "Task"), dag.Planning, 500_000},
		{"23", assistant, "[tool_use TaskCreate]\n{}", attrs("tool", "TaskCreate"), dag.Planning, 450_000},
		{"23", assistant, "[tool_use TaskUpdate]\n{}", attrs("tool", "TaskUpdate"), dag.Planning, 350_000},
		{"24", assistant, "[tool_use Edit]\n{}", attrs("tool", "Edit,Bash"), dag.Synthesis, 500_000},
		{"25", assistant, bash("cd x && go test ./..."), attrs("tool", "Bash"), dag.Debugging, 300_000},
		{"25", assistant, bash("git add . && git commit -m 'test'"), attrs("tool", "Bash"), dag.Synthesis, 450_000},
		{"25", assistant, bash("grep -n test x_test.go"), attrs("tool", "Bash"), dag.Debugging, 300_000}, // among the first three words
		{"26", assistant, bash("git log --oneline -5"), attrs("tool", "Bash"), dag.Exploration, 300_000},
		{"26", assistant, "[tool_use Read]\n{}", attrs("tool", "Read"), dag.Exploration, 300_000},
		{"27", assistant, "[thinking]\nHm. The user wants the bug fixed.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"28", assistant, "[thinking]\nAll tests pass.", attrs("blocks", "thinking"), dag.Consolidation, 350_000},
		{"29", assistant, "[thinking]\nThe bug is a nil map.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"30", assistant, "[thinking]\nI need to see it. Let me also update the table.", attrs("blocks", "thinking"), dag.Synthesis, 350_000},
		{"30", assistant, "[thinking]\nNow let me run the linter.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"31", assistant, "[thinking]\n" + long, attrs("blocks", "thinking"), dag.Exploration, 450_000},
		{"32", assistant, "API Error: 500", attrs("is_error", "true"), dag.Debugging, 350_000},
		{"33", assistant, "It is a bug in the map, and the fix is one line. I would rather do it in a branch of its own than here.\n\nWant me to?", nil, dag.Planning, 450_000},
		{"34", assistant, "Summary: " + long, nil, dag.Consolidation, 500_000},
		{"34", assistant, "Done. " + long, nil, dag.Consolidation, 500_000},
		{"35", assistant, "Let me look at the bugs in the error path of it, and at what else there is.", nil, dag.Exploration, 350_000},
		{"36", assistant, "The root of it is a race: a regression. " + long, nil, dag.Debugging, 500_000},
		{"37", assistant, "The comment says one thing and the function that it stands above does quite another. Let me correct that.", nil, dag.Synthesis, 450_000},
		{"38", assistant, "My plan has three steps. " + long, nil, dag.Planning, 500_000},
		{"39", assistant, long, nil, dag.Synthesis, 500_000},
	} {
		d := dag.Draft{Role: tc.role, Content: tc.content, Attrs: tc.attrs}
		if err := Assign(&d); err != nil {
			t.Fatal(err)
		}
		if d.Phase != tc.phase || d.Salience != tc.salience || d.Attrs[AttrPhaseBy] != Rules2 || d.Attrs[AttrSalienceBy] != Rules2 {
			t.Errorf("rule %s: %s %q %v: got %s %s, want %s %s", tc.rule, tc.role, clip(tc.content), tc.attrs, d.Phase, d.Salience, tc.phase, tc.salience)
		}
	}
}

// TestPersonWeighsMost checks what rules/2 are for: nothing that a program says
// weighs as much as what a person says, wherever that stands.
func TestPersonWeighsMost(t *testing.T) {
	person, program := dag.One, dag.PPM(0)
	fixedCases2(func(d dag.Draft) {
		if err := Assign(&d); err != nil {
			t.Fatal(err)
		}
		switch tr := traitsOf(&d); {
		case tr.by == byPerson && !tr.blank:
			person = min(person, d.Salience)
		case tr.by != byPerson && tr.by != byYes && tr.by != bySummary:
			program = max(program, d.Salience)
		}
	})
	if person < 600_000 || program >= 600_000 {
		t.Errorf("a person's words weigh at least %s, a program's at most %s", person, program)
	}
}

// fixedCases2 is fixedCases for what rules/2 look at besides.
func fixedCases2(each func(dag.Draft)) {
	words := slices.Concat(strings.Fields("alpha must never agreed plan step summary overall"), strings.Fields(troubles[0].words), strings.Fields(troubles[4].words), strings.Fields(troubles[6].words))
	var contents []string
	for _, openings := range intentOpenings {
		for i, o := range openings {
			for _, verb := range []string{"look", "test", "fix", "commit", "plan", "alpha", "also first run", "alpha run"} {
				contents = append(contents, "So: "+o+verb+" it.", words[i]+" "+o+verb)
			}
		}
	}
	for i, w := range words {
		contents = append(contents, w, w+" "+words[(i*5+2)%len(words)]+"?", w+" "+strings.Repeat("x ", 300), "[thinking]\n"+w+" "+words[(i*3+1)%len(words)])
	}
	for _, o := range requestOpenings {
		contents = append(contents, o+"rename it?", o+"also read it?", "x, "+o+"just fix it?")
	}
	for _, v := range userVerbs {
		contents = append(contents, "[thinking]\nThe user "+v+" it.")
	}
	contents = append(contents, farewells...)
	contents = append(contents, finished...)
	contents = append(contents, rejectionToStop, rejectionToSay+"no bug", rejectionToSay+"why?", "[tool_result error]\n<tool_use_error>x", "[tool_result error]\nExit code 1\nUsage: x",
		"[tool_result]\nTo x", "[tool_result]\n[x] 1 file changed, 2", "[tool_result]\n--- FAIL: x", "[tool_result]\nPASS\n\nyes, fix it", "[request interrupted by user", strings.Repeat("must never ", 300), "implement a bug",
		`[tool_use Task]{"subagent_type":"Explore"}`, " ")
	for _, c := range []string{"go test ./...", "x; git commit -m y", "git log | head", "mise run test:ci", "cd a && rm b", `a\ngo vet`, "echo test", "ls"} {
		contents = append(contents, `[tool_use Bash]`+"\n"+`{"command":"`+c+`","description":"test"}`)
	}
	sets := []map[string]string{nil, attrs("blocks", "thinking"), attrs("meta", "true"), attrs("is_error", "true"), attrs("blocks", "tool_result,text")}
	for _, name := range strings.Fields("Bash Edit Read Task TaskUpdate TaskCreate AskUserQuestion ExitPlanMode unknown") {
		sets = append(sets, attrs("tool", name), attrs("tool", name, "is_error", "true"))
	}
	for role := dag.RoleSystem; role <= dag.RoleTool; role++ {
		for _, author := range []string{"human:user", "agent:a"} {
			for _, set := range sets {
				for _, content := range contents {
					each(dag.Draft{Role: role, Author: author, Content: content, Attrs: set})
				}
			}
		}
	}
}
