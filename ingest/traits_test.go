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

// TestAssign has a turn for each rule of docs/phases.md. A person says the words of a rejection, and answers questions of the agent.
func TestAssign(t *testing.T) {
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
		{"7", system, "<local-command-caveat>Caveat: these messages</local-command-caveat>", attrs("meta", "true"), dag.Exploration, 200_000},
		{"8", tool, rejectionToStop, attrs("tool", "Edit", "is_error", "true"), dag.Planning, 450_000},
		{"8", tool, "[tool_result error]\n[Request interrupted by user for tool use]", attrs("tool", "Task", "is_error", "true"), dag.Planning, 450_000},
		{"8", tool, "[tool_result]\nUser has approved your plan.", attrs("tool", "ExitPlanMode"), dag.Planning, 650_000},
		{"8", tool, "[tool_result]\nUser has answered your questions: \"Which?\"=\"Fix the bug\".", attrs("tool", "AskUserQuestion"), dag.Planning, 650_000},
		{"9", user, " \n", nil, dag.Exploration, 500_000},
		{"9", assistant, "\n\n", nil, dag.Exploration, 150_000},
		{"10", user, "Implement the following plan: it fails with an error.", nil, dag.Planning, 700_000},
		{"10", user, "ok, now please update it as here: error: the test fails", nil, dag.Planning, 700_000},
		{"11", user, "The tests fail.", nil, dag.Debugging, 700_000},
		{"11", user, "Please fix this issue", nil, dag.Debugging, 700_000},
		{"11", user, "the server doesn't seem to start", nil, dag.Debugging, 700_000},
		{"11", user, "also I didn't see the hook?", nil, dag.Debugging, 720_000},
		{"11", user, "it says:\n12:00:01 x\n12:00:02 y", nil, dag.Debugging, 700_000},
		{"11", user, "and this:\n{\"x\":1}", nil, dag.Debugging, 700_000},
		{"11", tool, rejectionToSay + "no, that is broken", attrs("tool", "Edit", "is_error", "true"), dag.Debugging, 700_000},
		{"12", user, "Where is it kept", nil, dag.Exploration, 720_000},
		{"12", user, "do we have tests?", nil, dag.Exploration, 720_000},
		{"12", user, "can you check whether it is kept?", nil, dag.Exploration, 720_000},
		{"12", user, "is there a log of it? 🫣", nil, dag.Exploration, 720_000},
		{"12", tool, rejectionToSay + "what does it do?", attrs("tool", "Edit", "is_error", "true"), dag.Exploration, 720_000},
		{"13", user, "can you also rename it?", nil, dag.Planning, 720_000},
		{"13", user, "just reset, can you link the two issues?", nil, dag.Planning, 720_000},
		{"13", user, "It must never block, always answer, and is important.", nil, dag.Planning, 760_000},
		{"13", user, "ok, thanks!", nil, dag.Planning, 620_000},
		{"13", user, "what we want is " + strings.Repeat("a list of things, ", 8), nil, dag.Planning, 700_000},
		{"13", tool, rejectionToSay + "let's do this in a pull request of its own", attrs("tool", "Edit", "is_error", "true"), dag.Planning, 700_000},
		{"14", system, "<system-reminder>\nThe hook says: [COMPILE ERROR]", attrs("meta", "true"), dag.Debugging, 150_000},
		{"15", system, "A skill is loaded: fix bugs.", attrs("meta", "true"), dag.Exploration, 150_000},
		{"15", system, "<system-reminder>\nA file was read.", attrs("meta", "true"), dag.Exploration, 150_000},
		{"16", system, "You help.", nil, dag.Planning, 300_000},
		{"17", tool, "[tool_result]\nok\n--- FAIL: TestX", attrs("tool", "Bash"), dag.Debugging, 450_000},
		{"17", tool, "[tool_result]\nok  \tpkg\nFAIL\n\nlast", attrs("tool", "Bash"), dag.Debugging, 450_000},
		{"17", tool, "[tool_result]\nok  \tpkg\n[test] ERROR task failed\n", attrs("tool", "Bash"), dag.Debugging, 450_000},
		{"17", tool, "[tool_result]\n== 1 failed, 2 passed in 0.1s ==", attrs("tool", "Bash"), dag.Debugging, 450_000},
		{"17", tool, "[tool_result error]\nExit code 1\nundefined: x", attrs("tool", "Bash", "is_error", "true"), dag.Debugging, 450_000},
		{"18", tool, "[tool_result]\nA nil map.", attrs("tool", "Task"), dag.Consolidation, 450_000},
		{"19", tool, "[tool_result]\nsaved", attrs("tool", "TodoWrite"), dag.Planning, 250_000},
		{"20", tool, "[tool_result]\nwritten", attrs("tool", "Edit"), dag.Synthesis, 250_000},
		{"20", tool, "[tool_result]\n[main abc1234] A flag\n 1 file changed, 2 insertions(+)", attrs("tool", "Bash"), dag.Synthesis, 250_000},
		{"20", tool, "[tool_result]\nhttps://forge.example/pull/1#comment-2\n", attrs("tool", "Bash"), dag.Synthesis, 250_000},
		{"17", tool, "[tool_result error]\n<tool_use_error>File has not been read yet.</tool_use_error>", attrs("tool", "Edit", "is_error", "true"), dag.Debugging, 450_000},
		{"21", tool, "[tool_result]\nok  \tpkg\t0.1s\nPASS", attrs("tool", "Bash"), dag.Exploration, 250_000},
		{"21", tool, "[tool_result]\n3 passed; 0 failed", attrs("tool", "Bash"), dag.Exploration, 250_000},
		{"21", tool, "[tool_result]\n[lint] no issues", attrs("tool", "Bash"), dag.Exploration, 250_000},
		{"17", tool, "[tool_result error]\nExit code 2\nUsage:\n  x [command]", attrs("tool", "Bash", "is_error", "true"), dag.Debugging, 450_000},
		{"21", tool, "[tool_result]\nerror: in the source that was read", attrs("tool", "Read"), dag.Exploration, 250_000},
		{"22", assistant, "[tool_use Task]\n{\"prompt\":\"p\",\"subagent_type\":\"Explore\"}", attrs("tool", "Task"), dag.Exploration, 500_000},
		{"23", assistant, "[tool_use Task]\n{\"prompt\":\"p\"}", attrs("tool", "Task"), dag.Planning, 500_000},
		{"23", assistant, "[tool_use TaskCreate]\n{}", attrs("tool", "TaskCreate"), dag.Planning, 450_000},
		{"23", assistant, "[tool_use TaskUpdate]\n{}", attrs("tool", "TaskUpdate"), dag.Planning, 350_000},
		{"24", assistant, "[tool_use Edit]\n{}", attrs("tool", "Edit,Bash"), dag.Synthesis, 500_000},
		{"24", assistant, "[tool_use Write]\n{\"content\":\"\",\"file_path\":\"/home/x/.claude/plans/calm-sea.md\"}", attrs("tool", "Write"), dag.Planning, 500_000},
		{"24", assistant, bash("cd x && go test ./..."), attrs("tool", "Bash"), dag.Debugging, 300_000},
		{"24", assistant, bash("git add . && git commit -m 'test'"), attrs("tool", "Bash"), dag.Synthesis, 450_000},
		{"24", assistant, bash(`git commit -m \"A flag\n\nAdd tests; test it\"`), attrs("tool", "Bash"), dag.Synthesis, 450_000},
		{"24", assistant, bash(`git commit -F - <<EOF\ntest it\nEOF`), attrs("tool", "Bash"), dag.Synthesis, 450_000},
		{"24", assistant, bash("grep -n test x_test.go"), attrs("tool", "Bash"), dag.Exploration, 300_000},
		{"24", assistant, bash("git log --oneline -5"), attrs("tool", "Bash"), dag.Exploration, 300_000},
		{"24", assistant, "[tool_use Read]\n{}", attrs("tool", "Read"), dag.Exploration, 300_000},
		{"25", assistant, "[thinking]\nThe user wants me to look at the bug.", attrs("blocks", "thinking"), dag.Exploration, 350_000},
		{"26", assistant, "[thinking]\nHm. The user wants the bug fixed.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"26", assistant, "[thinking]\nThe user says that it is fine.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"27", assistant, "[thinking]\nAll tests pass.", attrs("blocks", "thinking"), dag.Consolidation, 350_000},
		{"27", assistant, "[thinking]\nAll tests pass. Let me commit it.", attrs("blocks", "thinking"), dag.Synthesis, 350_000},
		{"28", assistant, "[thinking]\nThe bug is a nil map.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"28", assistant, "[thinking]\nThe user says the linter fails. Let me look.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"28", assistant, "[thinking]\nThe user is saying that it still doesn't start.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"28", assistant, "[thinking]\nTest one passes. Test two fails with an error.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"29", assistant, "[thinking]\nI need to:\n\n1. Add it\n2. Test it\n\nLet me read it first.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"29", assistant, "[thinking]\nThe plan is short.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"30", assistant, "[thinking]\nI need to see it. Let me also update the table.", attrs("blocks", "thinking"), dag.Synthesis, 350_000},
		{"30", assistant, "[thinking]\nLet me update the table that I'll frobnicate.", attrs("blocks", "thinking"), dag.Synthesis, 350_000},
		{"30", assistant, "[thinking]\nLet me write the plan.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"30", assistant, "[thinking]\nNow let me run the linter.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"30", assistant, "[thinking]\nLet me verify that it compiles.", attrs("blocks", "thinking"), dag.Debugging, 350_000},
		{"30", assistant, "[thinking]\nLet me verify the file.", attrs("blocks", "thinking"), dag.Exploration, 350_000},
		{"30", assistant, "[thinking]\nThe name is `bug.error`.", attrs("blocks", "thinking"), dag.Exploration, 350_000},
		{"30", assistant, "[thinking]\n" + long, attrs("blocks", "thinking"), dag.Exploration, 450_000},
		{"31", assistant, "API Error: 500", attrs("is_error", "true"), dag.Debugging, 350_000},
		{"32", assistant, "Done. " + long + "Shall I push?", nil, dag.Consolidation, 500_000},
		{"33", assistant, "It is a bug in the map, and the fix is one line. I would rather do it in a branch of its own than here.\n\nWant me to?", nil, dag.Planning, 450_000},
		{"34", assistant, "All green.", nil, dag.Consolidation, 350_000},
		{"34", assistant, "All tests pass. Now let me commit and push.", nil, dag.Synthesis, 350_000},
		{"35", assistant, "Let me look at the bugs in the error path of it, and at what else there is.", nil, dag.Exploration, 350_000},
		{"36", assistant, "Summary: " + long, nil, dag.Consolidation, 500_000},
		{"37", assistant, "The root of it is a race: a regression. " + long, nil, dag.Debugging, 500_000},
		{"38", assistant, "The comment says one thing and the function that it stands above does quite another. Let me correct that.", nil, dag.Synthesis, 450_000},
		{"38", assistant, long + "Let me see where it stands.", nil, dag.Exploration, 500_000},
		{"39", assistant, "My plan has three steps. " + long, nil, dag.Planning, 500_000},
		{"40", assistant, long, nil, dag.Synthesis, 500_000},
		{"40", assistant, "Let me see where it stands. " + long, nil, dag.Synthesis, 500_000},
	} {
		author := map[dag.Role]string{user: "human:user", assistant: "agent:a", tool: "tool:a", system: "system:a"}[tc.role]
		if tc.role == tool && (strings.Contains(tc.content, rejectedSaying) || strings.Contains(tc.content, "User has ")) {
			author = "human:user"
		} else if tc.rule == "8" {
			author = "system:a"
		}
		d := dag.Draft{Role: tc.role, Author: author, Content: tc.content, Attrs: tc.attrs}
		if err := Assign(&d); err != nil {
			t.Fatal(err)
		}
		if d.Phase != tc.phase || d.Salience != tc.salience || d.Attrs[AttrPhaseBy] != Rules || d.Attrs[AttrSalienceBy] != Rules {
			t.Errorf("rule %s: %s %q %v: got %s %s, want %s %s", tc.rule, tc.role, clip(tc.content), tc.attrs, d.Phase, d.Salience, tc.phase, tc.salience)
		}
	}
}

// TestPersonWeighsMost checks the purpose of the rules: nothing that a program says
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

// fixedCases2 is fixedCases for all that authors can be, and each word of every list in some.
func fixedCases2(each func(dag.Draft)) {
	fixedCasesBy(func(d dag.Draft) {
		each(d)
		if d.Author == "human:user" {
			d.Content += "? Could you also sort it?"
			each(d)
		}
	}, "human:user", "agent:a", "tool:a", "system:a", "a")
}

func fixedCasesBy(each func(dag.Draft), authors ...string) {
	const asked, answered, called = "[tool_result error]\n", "[tool_result]\n", "[tool_use X]\n"
	var contents []string
	add := func(format string, lists ...[]string) {
		for _, w := range slices.Concat(lists...) {
			contents = append(contents, strings.ReplaceAll(format, "*", w))
		}
	}
	var troubling, intended, run []string
	for _, row := range troubles {
		troubling = append(troubling, strings.Fields(row.words)...)
	}
	for i := toExplore; i <= toSum; i++ {
		intended = append(intended, strings.Fields(intentVerbs[i])...)
		run = append(run, strings.Fields(commandVerbs[i])...)
	}
	add("* of it", strings.Fields("must never plan step summary overall alpha"), troubling, troublePhrases, finished, farewells, interrogatives)
	add("it * it", troubling, troublePhrases, successes)
	add("that *, you know?", troubling, troublePhrases)
	add("Let me * it.", intended, []string{"alpha", "also first run", "alpha run"})
	add("Let me * commit it.", strings.Fields(intentFillers))
	add("Let me * the plan, or see that it compiles.", strings.Fields(plannable), strings.Fields(checkable))
	add("Let me verify that it *s.", testable)
	add("So: *look, or *alpha.", intentOpenings[0], intentOpenings[1])
	add("It passes. *commit it "+strings.Repeat("x ", 150), intentOpenings[0], finished)
	add("Tests pass. Let me * it.", intended)
	add("is it so? *rename it?", requestOpenings, interrogatives, addresses)
	add("*it still so?", interrogatives)
	add("can you * rename it?", strings.Fields(intentFillers))
	add("can you * it?", strings.Fields(requestVerbs))
	add("* it: the bug", strings.Fields(requestVerbs))
	add("* use it: the bug", strings.Fields(commandFillers))
	add("The user * me to look at it. It fails.", userWishes)
	add("The user * what is there.", userReports)
	add("The user is * the bug. They want it.", userReports, []string{"alpha"})
	add("it *:\n\n1. Let me look.", stepWords)
	add("it *:\n\n- bug", stepWords)
	add(called+`{"command":"* x","description":"test"}`, run, []string{"go test ./...", "x; git commit -m y", "git log | head", "mise run test:ci", "cd a && rm b", `a\ngo vet`, "echo test", `x \"test\"`, "x <<E;test"})
	add(called+`{"command":"* test x"}`, strings.Fields(lookers))
	add(called+"*", []string{`{"subagent_type":"Explore"}`, `{"file_path":"/a/plans/b.md"}`, `{"file_path":"PLAN.md"}`, `{"file_path":"a"}`})
	add(answered+"*", []string{"To x", "[x abc1234] y", "[x y] z", "x\nMerge made by", "https://x", "https://x y", "--- FAIL: x", "x\nFAIL\ny", "x ERROR y", "1 failed", "0 failed", "PASS\n\nyes, fix it", "12:00:00 12:00:01", "x\n{\"a\":1}"})
	add("*", []string{rejectionToStop, rejectionToSay + "no bug", rejectionToSay + "why?", asked + interrupted, asked + "<tool_use_error>x", asked + "Exit code 1\nUsage: x", interrupted, reminder + " error", reminder,
		strings.Repeat("must never ", 300), "a\u00a0bug", "`bug`", "why? 🤣", "why? a", " ", "[thinking]\na bug"})
	sets := []map[string]string{nil, attrs("blocks", "thinking"), attrs("meta", "true"), attrs("is_error", "true"), attrs("blocks", "tool_result,text")}
	for _, name := range strings.Fields("Bash Edit Read Task TaskUpdate TaskCreate AskUserQuestion ExitPlanMode unknown") {
		sets = append(sets, attrs("tool", name), attrs("tool", name, "is_error", "true"))
	}
	for role := dag.RoleSystem; role <= dag.RoleTool; role++ {
		for _, author := range authors {
			for _, set := range sets {
				for _, content := range contents {
					each(dag.Draft{Role: role, Author: author, Content: content, Attrs: set})
				}
			}
		}
	}
}
