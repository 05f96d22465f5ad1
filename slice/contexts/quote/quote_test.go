package quote_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/quote"
)

// id returns the id of the nth turn.
func id(n int) dag.TurnID { return dag.ExternalTurnID("quote", fmt.Sprint(n)) }

// A course is a session that is written down: its turns begin with the newest.
type course struct {
	n int
	quote.Session
}

func (c *course) turn(content string, attrs map[string]string) quote.Turn {
	c.n++
	return quote.Turn{ID: id(c.n), Body: &dag.Body{Content: content, Attrs: attrs}}
}

func (c *course) asked(text string) { c.Prompts = append(c.Prompts, c.turn(text, nil)) }
func (c *course) said(text string)  { c.Said = append(c.Said, c.turn(text, nil)) }

// calls adds a call of a tool, which failed or not.
func (c *course) calls(tool, input string, failed bool) {
	use := fmt.Sprint("use", c.n)
	t := c.turn("[tool_use "+tool+"]\n"+input, map[string]string{"tool": tool, "blocks": "tool_use", "tool_use_id": use, "cwd": "/src/shop"})
	c.Calls = append(c.Calls, t)
	if failed {
		c.Failed = append(c.Failed, c.turn("[tool_result error]\nExit code 1", map[string]string{"tool": tool, "blocks": "tool_result", "tool_use_id": use}))
	}
}

// told returns the lines of sessions as text.
func told(sessions ...*course) []string { return toldOn("", sessions...) }

func toldOn(branch string, sessions ...*course) (lines []string) {
	var list []quote.Session
	texts := map[dag.TurnID]string{}
	for _, c := range sessions {
		list = append(list, c.Session)
		for _, t := range slices.Concat(c.Prompts, c.Said, c.Calls) {
			texts[t.ID] = t.Body.Content
		}
	}
	for _, l := range quote.Pick(list, branch) {
		for _, line := range l.Excerpt.Lines(texts[l.Turn]) {
			lines = append(lines, l.Excerpt.As.String()+": "+line)
		}
	}
	return lines
}

// TestPick tells what happened in a session that is written down.
func TestPick(t *testing.T) {
	var c course
	c.said("# Done\n\nThe login form takes passwords of any length now. I also moved the check.\n\n1. one\n2. two")
	c.asked("yes")
	c.asked("Never store a password in the log, hash it instead.")
	c.calls("Write", `{"content":"x","file_path":"/src/shop/docs/login.md"}`, false)
	c.calls("Edit", `{"file_path":"/src/shop/login.go","old_string":"a"}`, true)
	c.calls("Edit", `{"file_path":"/src/shop/login.go","old_string":"a"}`, false)
	c.calls("Bash", `{"command":"cd /src/shop && go test ./login/...\necho done","description":"Run the tests"}`, true)
	c.calls("Bash", `{"command":"ls -la test"}`, false)
	c.calls("TodoWrite", `{"todos":[{"activeForm":"x","content":"Add a limit","status":"completed"},{"activeForm":"x","content":"Write \"the\" page","status":"pending"},{"content":"Ask for a review","status":"in_progress"}]}`, false)
	c.calls("Bash", `{"command":"go vet ./... && make lint 2>&1 | tail -20"}`, false)
	c.calls("Bash", `{"command":"go vet ./... && make lint | head"}`, false)
	c.calls("Bash", `{"command":"go test ./login -run TestLong"}`, false)
	c.calls("Bash", `{"command":"git add -A && git commit -m \"login: take long passwords\n\nThey were cut.\""}`, false)
	c.calls("Bash", `{"command":"git commit -m \"$(cat <<'EOF'\nlogin: move the check\n\nBody.\nEOF\n)\""}`, false)
	c.calls("Bash", `{"command":"git commit -m 'never made'"}`, true)
	c.calls("Edit", `{"file_path":"/src/shop/login.go","old_string":"b"}`, false)
	c.calls("Edit", `{"file_path":"/etc/hosts"}`, false)
	c.calls("TodoWrite", `{"todos":[{"content":"An older list","status":"pending"}]}`, false)
	c.asked("Why does the login form reject passwords of more than twenty characters?\nSee the log.")
	want := []string{
		"said: The login form takes passwords of any length now. I also moved the check.",
		"asked: Why does the login form reject passwords of more than twenty characters?",
		`todo: Write \"the\" page`, "todo: Ask for a review",
		"failed: go test ./login/...",
		"decided: Never store a password in the log, hash it instead.",
		"uncommitted: docs/login.md", "uncommitted: login.go",
		"committed: login: take long passwords…", "committed: login: move the check…",
		"passed: go vet ./... && make lint…",
	}
	if got := told(&c); !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestBranch tells of the newest session how it ended, and more if it was on the branch; and of others only if they were.
func TestBranch(t *testing.T) {
	on := func(n int, branch, word string) *course {
		c := &course{n: n}
		c.asked("Please mend the " + word + " of the shop today")
		c.Prompts[0].Body.Attrs = map[string]string{"git_branch": branch}
		c.said("The " + word + " works again, and its tests are green now.")
		c.calls("Write", `{"file_path":"/src/shop/`+word+`.go"}`, false)
		return c
	}
	cart, door, lamp, tree := on(0, "cart", "cart"), on(100, "main", "door"), on(200, "cart", "lamp"), on(300, "main", "tree")
	for branch, want := range map[string][]string{
		"":     {"said cart", "asked cart", "uncommitted cart", "said door", "said lamp"},
		"cart": {"said cart", "asked cart", "uncommitted cart", "said lamp"},
		"main": {"said door", "said tree"},
		"new":  nil,
	} {
		var got []string
		for _, l := range toldOn(branch, cart, door, lamp, tree) {
			as, text, _ := strings.Cut(l, ": ")
			for _, word := range []string{"cart", "door", "lamp", "tree"} {
				if strings.Contains(text, word) {
					got = append(got, as+" "+word)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("on %q it is told %q, want %q", branch, got, want)
		}
	}
}

// TestDecisions finds the sentences by which people decide, and no others.
func TestDecisions(t *testing.T) {
	for text, want := range map[string]string{
		"Use pnpm instead of npm here. Then run the tests.": "Use pnpm instead of npm here.",
		"Thanks! From now on keep the change log in German": "From now on keep the change log in German",
		"the tests fail\nplease don't mock the database":    "please don't mock the database",
		"No, the port is 8443 and not 8080":                 "",
		"nah let's roll back, they don't really need it":    "",
		"please never use the port 8080":                    "please never use the port 8080",
		"why do we use tabs instead of spaces?":             "",
		"could you rename it instead":                       "",
		"I don't know what this does":                       "",
		"run the tests":                                     "",
		"add a page for orders\nand never show the prices":  "",
		"never":              "",
		"/clear never again": "",
		"<command-name>never do this</command-name>":                     "",
		strings.Repeat("never again ", 400):                              "",
		strings.Repeat("It was pasted. ", 120) + "Never use it.":         "",
		"Never mend the door. " + strings.Repeat("It was pasted. ", 120): "Never mend the door.",
	} {
		var c course
		c.asked(text)
		got := ""
		for _, l := range told(&c) {
			if line, ok := strings.CutPrefix(l, "decided: "); ok {
				got = line
			}
		}
		if got != want {
			t.Errorf("of %.60q %q is decided, want %q", text, got, want)
		}
	}
}

// TestEndings finds the sentence that reports a result, and none that only announces work.
func TestEndings(t *testing.T) {
	for text, want := range map[string]string{
		"Let me write the tests of the form now. All of its tests pass with long words.": "said: All of its tests pass with long words.",
		"Now I will look at the door of the shop.":                                       "",
		"Done.": "",
		"# The door of the shop\n\n1. It is blue and it is open all day.\n\nThe door is painted and it is dry.": "said: The door is painted and it is dry.",
	} {
		var c course
		c.said(text)
		if got := strings.Join(told(&c), "; "); got != want {
			t.Errorf("of %q it is told %q, want %q", text, got, want)
		}
	}
}

// TestUndone leaves out files that were taken back after they were written, and not files that were written after that.
func TestUndone(t *testing.T) {
	var c course
	c.asked("Please mend the door of the shop today")
	c.calls("Edit", `{"file_path":"/src/shop/new.go"}`, false)
	c.calls("Bash", `{"command":"git checkout -- ."}`, false)
	c.calls("Edit", `{"file_path":"/src/shop/old.go"}`, false)
	if got, want := told(&c), []string{"uncommitted: new.go", "asked: Please mend the door of the shop today"}; !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("it is told %q, want %q", got, want)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// TestSpans holds that every span of random texts is a line's part that divides no character, and that no turn has two lines.
func TestSpans(t *testing.T) {
	runs := 20_000
	if testing.Short() {
		runs = 2_000
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	parts := []string{
		"never ", "é", "\n", " ", "git commit -m ", `\"`, `"`, "'", `\n`, "$(cat <<'EOF'", ". ", "[tool_use Bash]\n", "{", "}", `{"command":"`, `"todos":[`, `{"content":"x","status":"pending"}`, "😀", "\r\n", "#", "- ", "1. ", ":", "```", "|", "/src/shop/",
		`"file_path":"`, "go test", "plan", "\xc3\xa9", "don't ", ",", "]", strings.Repeat("long word ", 30), "\u200b", "\t",
	}
	random := func() string {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return b.String()
	}
	seen := map[contexts.Label]int{}
	for range runs {
		var list []quote.Session
		texts := map[dag.TurnID]string{}
		for range 1 + r.IntN(3) {
			var c course
			c.n = 1000 * len(list)
			for range r.IntN(5) {
				switch r.IntN(5) {
				case 0:
					c.asked(random())
				case 1:
					c.said(random())
				case 2:
					tool := []string{"Bash", "Edit", "TodoWrite", "update_plan"}[r.IntN(4)]
					c.calls(tool, random(), r.IntN(3) == 0)
				case 3:
					c.calls("TodoWrite", fmt.Sprintf(`{"todos":[{"content":%q,"status":"pending"},{"content":%q,"status":"completed"}]}`, random(), random()), false)
					c.calls("Edit", `{"file_path":"/src/shop/a.go"}`, false)
					c.calls("Bash", `{"command":"git commit -m 'x'"}`, false)
				default:
					c.calls([]string{"Bash", "Write"}[r.IntN(2)], fmt.Sprintf(`{"command":%q,"file_path":%q}`, random(), random()), r.IntN(3) == 0)
				}
			}
			for _, t := range slices.Concat(c.Prompts, c.Said, c.Calls) {
				texts[t.ID] = t.Body.Content
			}
			list = append(list, c.Session)
		}
		taken := map[dag.TurnID]bool{}
		for _, l := range quote.Pick(list, "") {
			text, ok := texts[l.Turn]
			if !ok || taken[l.Turn] {
				t.Fatalf("turn %s is not one of the sessions, or has two lines", l.Turn)
			}
			taken[l.Turn] = true
			seen[l.Excerpt.As]++
			last := 0
			for _, s := range l.Excerpt.Spans {
				if s[0] < last || s[1] <= s[0] || s[1] > len(text) || s[1]-s[0] > quote.MaxLine || strings.Contains(text[s[0]:s[1]], "\n") || !utf8.ValidString(text[s[0]:s[1]]) {
					t.Fatalf("%s has the span %v in %q", l.Excerpt.As, s, text)
				}
				last = s[1]
			}
			if shown := strings.Join(l.Excerpt.Lines(text), "\n"); l.Cost != contexts.Tokens(shown) || shown == "" {
				t.Fatalf("%q costs %d tokens", shown, l.Cost)
			}
		}
	}
	for as := range contexts.Labels {
		if seen[as] == 0 {
			t.Errorf("no line is labelled %s", as)
		}
	}
}

// TestRealSessions takes the lines of sessions of agents that others held. A path that is quoted is the end of one that the call touched, by the rules of package extract, a command
// is part of one that it ran, and every span is of a line.
func TestRealSessions(t *testing.T) {
	folder := cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "..", "..", "shared", "data"))
	paths, err := filepath.Glob(filepath.Join(folder, "*", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Skipf("SKIPPED: no sessions in %s; $GRAPHKERNEL_DATA names the folder of the data", folder)
	}
	seen := map[contexts.Label]int{}
	for _, path := range paths {
		drafts := map[dag.TurnID]*dag.Draft{}
		var s quote.Session
		_, err := ingest.Read(t.Context(), path, ingest.Options{}, func(b *ingest.Batch) error {
			for i := range b.Drafts {
				d := &b.Drafts[i]
				drafts[d.ID] = d
				body := &dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs}
				turn := []quote.Turn{{ID: d.ID, Body: body}}
				switch {
				case d.Role == dag.RoleUser && strings.HasPrefix(d.Author, "human:"):
					s.Prompts = append(turn, s.Prompts...)
				case d.Role == dag.RoleTool && extract.Fails(body):
					s.Failed = append(turn, s.Failed...)
				case d.Role == dag.RoleAssistant && extract.Says(body):
					s.Said = append(turn, s.Said...)
				case d.Role == dag.RoleAssistant:
					s.Calls = append(turn, s.Calls...)
				}
			}
			return nil
		})
		if err != nil {
			continue // of another kind
		}
		for _, l := range quote.Pick([]quote.Session{s}, "") {
			d := drafts[l.Turn]
			seen[l.Excerpt.As]++
			for _, span := range l.Excerpt.Spans {
				said := d.Content[span[0]:span[1]]
				switch l.Excerpt.As {
				case contexts.Uncommitted:
					if !slices.ContainsFunc(extract.TouchedByDraft(d), func(name string) bool { return strings.HasSuffix(strings.ToLower(name), strings.ToLower(said)) }) {
						t.Errorf("%s: %q is none of %q", l.Turn, said, extract.TouchedByDraft(d))
					}
				case contexts.Passed, contexts.Failed, contexts.Committed:
					if !strings.Contains(d.Content, "[tool_use ") || strings.Contains(said, `","`) || strings.HasPrefix(said, `"`) {
						t.Errorf("%s: %q is no part of a command of\n%s", l.Turn, said, d.Content)
					}
				default:
					if strings.Contains(said, "\n") || strings.TrimSpace(said) != said {
						t.Errorf("%s: %q", l.Turn, said)
					}
				}
			}
		}
	}
	for _, as := range []contexts.Label{contexts.Asked, contexts.Committed, contexts.Passed, contexts.Said, contexts.Uncommitted} {
		if seen[as] == 0 {
			t.Errorf("no line is labelled %s", as)
		}
	}
}
