package ingest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
)

func attrs(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func TestAssignRules1(t *testing.T) {
	const user, assistant, tool, system = dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem
	long := strings.Repeat("All of it is in place. ", 20)
	for _, tc := range []struct {
		rule     string
		role     dag.Role
		content  string
		attrs    map[string]string
		phase    dag.Phase
		salience dag.PPM
	}{
		{"1", assistant, "We decided nothing.", attrs("compact", "summary"), dag.Consolidation, 750_000},
		{"1", system, "Conversation compacted", attrs("compact", "boundary"), dag.Consolidation, 100_000},
		{"2", user, "fix: a nil map", attrs("commit", "true"), dag.Debugging, 500_000},
		{"3", user, "Merge branch x", attrs("commit", "true", "merge", "true"), dag.Consolidation, 350_000},
		{"4", user, "Add a flag", attrs("commit", "true"), dag.Synthesis, 500_000},
		{"5", tool, "[tool_result error]\nno", attrs("tool", "Read", "is_error", "true"), dag.Debugging, 350_000},
		{"7", tool, "[tool_result]\nok\n--- FAIL: TestX", attrs("tool", "Bash"), dag.Debugging, 350_000},
		{"7", tool, "[tool_result]\nTypeError: x is undefined", nil, dag.Debugging, 350_000},
		{"7", tool, "[tool_result]\nExit code 2", attrs("tool", "Bash"), dag.Debugging, 350_000},
		{"10", tool, "[tool_result]\nExit code 0", attrs("tool", "Bash"), dag.Exploration, 250_000},
		{"10", tool, "[tool_result]\nerror: in the source that was read", attrs("tool", "Read"), dag.Exploration, 250_000},
		{"8", tool, "[tool_result]\nA nil map.", attrs("tool", "Task"), dag.Consolidation, 350_000},
		{"9", tool, "[tool_result]\nsaved", attrs("tool", "TodoWrite"), dag.Planning, 250_000},
		{"9", tool, "[tool_result]\nwritten", attrs("tool", "Edit"), dag.Synthesis, 250_000},
		{"11", user, "The tests fail with an error.", nil, dag.Debugging, 600_000},
		{"11", user, "There is a bug in it", nil, dag.Debugging, 600_000},
		{"11", user, "This is debugged", nil, dag.Planning, 600_000},
		{"12", user, "Please summarize it", nil, dag.Consolidation, 600_000},
		{"13", user, "Where is it kept", nil, dag.Exploration, 650_000},
		{"13", user, "And this one?\n", nil, dag.Exploration, 650_000},
		{"14", user, "It must never block, always answer, and is important.", nil, dag.Planning, 750_000},
		{"14", user, "ok, thanks!", nil, dag.Planning, 350_000},
		{"6", user, "", nil, dag.Exploration, 400_000},
		{"6", assistant, "\n\n", nil, dag.Exploration, 250_000},
		{"14", user, "[Request interrupted by user]", nil, dag.Planning, 400_000},
		{"15", system, "[COMPILE ERROR]\n1 error", attrs("meta", "true"), dag.Debugging, 250_000},
		{"16", system, "A skill is loaded.", attrs("meta", "true"), dag.Exploration, 150_000},
		{"17", system, "You help.", nil, dag.Planning, 300_000},
		{"18", assistant, "[tool_use TodoWrite]\n{}", attrs("tool", "TodoWrite"), dag.Planning, 600_000},
		{"18", assistant, "[tool_use Task]\n{}", attrs("tool", "Task"), dag.Planning, 550_000},
		{"19", assistant, "[tool_use Edit]\n{}", attrs("tool", "Edit,Bash"), dag.Synthesis, 550_000},
		{"19", assistant, "[tool_use book_flight]\n{}", attrs("tool", "book_flight"), dag.Synthesis, 550_000},
		{"20", assistant, "[tool_use mcp__db__get_rows]\n{}", attrs("tool", "mcp__db__get_rows"), dag.Exploration, 350_000},
		{"21", assistant, "[tool_use Bash]\n{\"command\":\"go test ./...\"}", attrs("tool", "Bash"), dag.Debugging, 450_000},
		{"22", assistant, "[tool_use Bash]\n{\"command\":\"git commit -m x\"}", attrs("tool", "Bash"), dag.Synthesis, 450_000},
		{"23", assistant, "[tool_use Bash]\n{\"command\":\"ls\"}", attrs("tool", "Bash"), dag.Exploration, 450_000},
		{"23", assistant, "[tool_use frobnicate]\n{}", attrs("tool", "frobnicate"), dag.Exploration, 450_000},
		{"24", assistant, "The root of it is a race: a regression.", nil, dag.Debugging, 450_000},
		{"25", assistant, "Summary: " + long, nil, dag.Consolidation, 550_000},
		{"26", assistant, "[thinking]\nHm.", attrs("blocks", "thinking"), dag.Planning, 350_000},
		{"26", assistant, "My plan is short.", nil, dag.Planning, 450_000},
		{"27", assistant, "Let me look at it.", nil, dag.Exploration, 450_000},
		{"28", assistant, "I'll do that.", nil, dag.Planning, 450_000},
		{"29", assistant, long + "```go\n```", nil, dag.Synthesis, 575_000},
	} {
		d := dag.Draft{Role: tc.role, Content: tc.content, Attrs: tc.attrs}
		if err := assign(&d, Rules1, Rules1); err != nil {
			t.Fatal(err)
		}
		if d.Phase != tc.phase || d.Salience != tc.salience || !d.HasSalience {
			t.Errorf("rule %s: %s %q %v: got %s %s, want %s %s", tc.rule, tc.role, clip(tc.content), tc.attrs, d.Phase, d.Salience, tc.phase, tc.salience)
		}
		if d.Attrs[AttrPhaseBy] != Rules1 || d.Attrs[AttrSalienceBy] != Rules1 || len(tc.attrs) > 0 && tc.attrs[AttrPhaseBy] != "" {
			t.Errorf("rule %s: attrs %v, given %v", tc.rule, d.Attrs, tc.attrs)
		}
	}
}

func TestAssignLeavesWhatIsThere(t *testing.T) {
	d := dag.Draft{Role: dag.RoleUser, Content: "There is a bug", Phase: dag.Synthesis}
	if err := Assign(&d); err != nil || d.Phase != dag.Synthesis || d.Attrs[AttrPhaseBy] != "" || d.Attrs[AttrSalienceBy] != Rules {
		t.Errorf("%v %+v", err, d)
	}
	before := d
	if err := Assign(&d); err != nil || cmp.Diff(before, d) != "" {
		t.Errorf("a second time: %v %+v", err, d)
	}
	d = dag.Draft{Role: dag.RoleUser, Salience: 0, HasSalience: true}
	if err := Assign(&d); err != nil || d.Salience != 0 || d.Phase != dag.Exploration || d.Attrs[AttrSalienceBy] != "" {
		t.Errorf("%v %+v", err, d)
	}
}

func TestAssignRefuses(t *testing.T) {
	full := map[string]string{}
	for i := range dag.MaxAttrs - 1 {
		full[fmt.Sprint("k", i)] = "v"
	}
	for name, d := range map[string]dag.Draft{
		"phase_by":    {Role: dag.RoleUser, Attrs: attrs(AttrPhaseBy, "someone")},
		"salience_by": {Role: dag.RoleUser, Phase: dag.Planning, Attrs: attrs(AttrSalienceBy, "rules/1")},
		"redacted":    {Role: dag.RoleUser, Phase: dag.Planning, Redacted: true},
		"full":        {Role: dag.RoleUser, Attrs: full},
	} {
		before := d
		if err := Assign(&d); !errors.Is(err, dag.ErrForm) || cmp.Diff(before, d) != "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	d := dag.Draft{Role: dag.RoleUser, Phase: dag.Planning, Attrs: full}
	if err := Assign(&d); err != nil || len(d.Attrs) != dag.MaxAttrs {
		t.Errorf("room for one: %v", err)
	}
}

// fixedCases returns a turn for every combination of roles, authors, attributes and
// contents below.
func fixedCases(each func(dag.Draft)) {
	words := append(strings.Fields("alpha BUG Error fixing summary overall plan step look must commit test revert Thanks ok é errorx"), "\x00")
	contents := []string{"", " \n", "?", "ok", "Thank you!", strings.Repeat("x", 400), strings.Repeat("word ", 1200) + "panic: at the end",
		strings.Repeat(" ", rulesHead-3) + "bugs", strings.Repeat(" ", rulesHead) + "xbug" + strings.Repeat(" ", rulesTail-3), strings.Repeat("b ", rulesHead/2-1) + "crashed " + strings.Repeat("c ", 3000) + " traceback",
		"Let me look", "I'll see", "error: x", "  FATAL: y", "ValueError: z", "exit code 0", "exit code 12", "```", "<command-name>/x", "why not", "[thinking]\nx"}
	for i, a := range words {
		contents = append(contents, a, a+" "+words[(i*7+3)%len(words)], a+", "+words[(i*5+1)%len(words)]+"; "+words[(i*3+2)%len(words)]+"?")
	}
	sets := []map[string]string{nil, attrs("compact", "summary"), attrs("compact", "boundary"), attrs("meta", "true"), attrs("is_error", "true"),
		attrs("commit", "true"), attrs("commit", "true", "merge", "true"), attrs("blocks", "thinking"), attrs("blocks", "text,tool_use")}
	for _, tool := range strings.Fields("Read Edit Bash TodoWrite Task mcp__x__list_y book-flight unknown Think,Read BASH") {
		sets = append(sets, attrs("tool", tool))
	}
	for role := dag.RoleSystem; role <= dag.RoleTool; role++ {
		for _, set := range sets {
			for _, content := range contents {
				each(dag.Draft{Role: role, Content: content, Attrs: set})
			}
		}
	}
}

// TestRulesAreFixed pins each table of rules with one digest over many cases. If
// it fails, the rules have changed, and turns that were admitted would get
// other values today: give the new table a new name.
func TestRulesAreFixed(t *testing.T) {
	digest := func(rules string, turns func(func(dag.Draft))) (string, int) {
		h, cases := sha256.New(), 0
		turns(func(d dag.Draft) {
			if err := assign(&d, rules, rules); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "%s %s\n", d.Phase, d.Salience)
			cases++
		})
		return fmt.Sprintf("%x", h.Sum(nil)), cases
	}
	for _, tc := range []struct {
		rules string
		turns func(func(dag.Draft))
		cases int
		want  string
	}{
		{Rules1, fixedCases, 4 * 19 * 75, "7d83ec789443868b22020ff723e9a7b9938a7b48a4da2ca0d28235563f949881"},
		{Rules2, fixedCases, 4 * 19 * 75, "b0b0c4b900742d14e5df69944468404156249e6981cc3c8378602794783f13d8"},
		{Rules2, fixedCases2, 4 * 2 * 23 * 1035, "405697b349a92be8847612ceaeb7d9653344561bf533eef1df373f419cc8bc96"},
		{Rules3, fixedCases, 4 * 19 * 75, "6c43b668b4ac14ddb77755ea2972394380ed65c6363978bd3312bb320fce6c2a"},
		{Rules4, fixedCases, 4 * 19 * 75, "6c43b668b4ac14ddb77755ea2972394380ed65c6363978bd3312bb320fce6c2a"},
		{Rules4, fixedCases4, 4 * 5 * 23 * 1035, "4eff05100f9c857d7e2330e87c869fda0b3944e78207912e88876bdfaf3f3c21"},
		{Rules3, fixedCases3, 4 * 5 * 23 * 1035, "ba50acc757359540ce3731e1a40f1c4d5919f06b9947bc6dd841a1f07606f22a"},
	} {
		if got, cases := digest(tc.rules, tc.turns); got != tc.want || cases != tc.cases {
			t.Errorf("%s, digest of %d cases, want %d:\n got %s\nwant %s", tc.rules, cases, tc.cases, got, tc.want)
		}
	}
}

func TestRulesVocabulary(t *testing.T) {
	if len(vocabulary) > maxVocabulary {
		t.Fatalf("%d words, room for %d", len(vocabulary), maxVocabulary)
	}
	for w := range vocabulary {
		if len(w) > maxWord || foldASCII(w) != w {
			t.Errorf("word %q is never found", w)
		}
	}
	for _, table := range []map[toolKind]string{toolNames, toolVerbs} {
		seen := map[string]bool{}
		for _, words := range table {
			for _, w := range strings.Fields(words) {
				if seen[w] {
					t.Errorf("tool %q stands twice", w)
				}
				seen[w] = true
			}
		}
	}
}

// TestRulesAreDocumented checks that docs/phases.md has every word that decides.
func TestRulesAreDocumented(t *testing.T) {
	doc := readDoc(t, "phases.md")
	lists := map[string]string{
		"openings": strings.Join(openings, ""), "questions": strings.Join(questions, ""), "failures": strings.Join(failurePrefixes, " "),
		"acknowledgement": strings.Join(ackWords, " "), "notices": strings.Join(notices, " "),
	}
	for _, g := range wordGroups {
		lists[g.name] = g.words
	}
	for kind := toolReads; kind <= toolDelegates; kind++ {
		lists[fmt.Sprint("tool names ", kind)] = toolNames[kind]
		lists[fmt.Sprint("tool verbs ", kind)] = toolVerbs[kind]
	}
	for _, phrases := range [][]string{intentOpenings[0], intentOpenings[1], farewells, finished, successes, stepWords, addresses, requestOpenings, interrogatives, troublePhrases,
		userWishes, userReports, testable, {plannable}, {checkable}, {lookers}, {intentFillers}, {requestVerbs}, {commandFillers}, politeOpenings, {politeFillers}, {leadingWords}, {answerVerbs}} {
		list := "`" + strings.Join(phrases, "`, `") + "`"
		if len(phrases) == 1 {
			list = "*" + strings.TrimSpace(phrases[0]) + "*"
		} else if !strings.ContainsAny(strings.Join(phrases, ""), " .") {
			list = "*" + strings.Join(phrases, " ") + "*"
		}
		if !strings.Contains(doc, list) {
			t.Errorf("docs/phases.md lacks the list\n%s", list)
		}
	}
	for _, table := range []map[intent]string{intentVerbs, commandVerbs} {
		for _, verbs := range table {
			if !strings.Contains(doc, "| "+verbs+" |") {
				t.Errorf("docs/phases.md lacks the cell\n| %s |", verbs)
			}
		}
	}
	for _, row := range troubles {
		cells := fmt.Sprintf("| %s | %d | |", row.words, row.weight)
		if row.person {
			cells = fmt.Sprintf("| %s | %d | yes |", row.words, row.weight)
		}
		if !strings.Contains(doc, cells) {
			t.Errorf("docs/phases.md lacks the row\n%s", cells)
		}
	}
	for name, words := range lists {
		for _, w := range strings.Fields(words) {
			if !strings.Contains(doc, w) {
				t.Errorf("docs/phases.md lacks %q of %s", w, name)
			}
		}
	}
	for _, g := range wordGroups {
		if !strings.Contains(doc, "| "+g.name+" | "+g.words+" |") {
			t.Errorf("docs/phases.md lacks the row\n| %s | %s |", g.name, g.words)
		}
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReasonsAreDocumented finds the words of both counts in the source and
// checks that docs/importers.md explains each.
func TestReasonsAreDocumented(t *testing.T) {
	doc := readDoc(t, "importers.md")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := []*regexp.Regexp{
		regexp.MustCompile(`\.(?:skip|skipOne|note|add)\("([a-z0-9_]+)"\)`),
		regexp.MustCompile(`\b(?:skip|note)[A-Z]\w*\s*=\s*"([a-z0-9_]+)"`),
		regexp.MustCompile(`t\.skip = "([a-z0-9_]+)"`),
		regexp.MustCompile(`skipLines\([^)]*"([a-z0-9_]+)"\)`),
		regexp.MustCompile(`(?m)^\s+return "([a-z0-9_]+)"$`),
		regexp.MustCompile(`(?:setAttr\(&?\w*\.?\w*, |attr[A-Z]\w* +=? *)"([a-z0-9_]+)"`),
	}
	words := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, re := range used {
			for _, m := range re.FindAllStringSubmatch(string(text), -1) {
				words[m[1]] = true
			}
		}
	}
	if len(words) < 50 {
		t.Errorf("only %d words found in the source", len(words))
	}
	for w := range words {
		if !strings.Contains(doc, "`"+w+"`") {
			t.Errorf("docs/importers.md lacks `%s`", w)
		}
	}
}
