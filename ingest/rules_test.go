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

// TestRulesAreFixed pins the rules with digests over many cases. If
// it fails, the rules have changed, and turns that were admitted would get
// other values today: give the new table a new name.
func TestRulesAreFixed(t *testing.T) {
	digest := func(turns func(func(dag.Draft))) (string, int) {
		h, cases := sha256.New(), 0
		turns(func(d dag.Draft) {
			if err := Assign(&d); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "%s %s\n", d.Phase, d.Salience)
			cases++
		})
		return fmt.Sprintf("%x", h.Sum(nil)), cases
	}
	for _, tc := range []struct {
		turns func(func(dag.Draft))
		cases int
		want  string
	}{
		{fixedCases, 4 * 19 * 75, "6c43b668b4ac14ddb77755ea2972394380ed65c6363978bd3312bb320fce6c2a"},
		{fixedCases2, 4 * 6 * 23 * 1035, "557dbcd9e22ec7f1826642b36215a5e8ff957f72c471a2c9295dc56e62d81e89"},
	} {
		if got, cases := digest(tc.turns); got != tc.want || cases != tc.cases {
			t.Errorf("digest of %d cases, want %d:\n got %s\nwant %s", cases, tc.cases, got, tc.want)
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
