package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Call is a tool call that an agent is about to make.
type Call struct {
	Tool      string
	Arguments json.RawMessage // any JSON value; empty or null if whoever asks does not have them
}

// ErrCall is wrapped if a call cannot be judged, and so must not be made.
var ErrCall = errors.New("not a tool call that can be judged")

// A Match is a rule that denies a call.
type Match struct {
	Rule   int    // its number, from 1
	Reason string // the rule's
	Where  string // in the arguments, such as edits[2].file_path; "" if the rule is for every call of the tool
}

// Decide returns the rules that deny a call, in their order, each with the first place that it matches; none if the call passes. It takes time linear in the
// arguments, for each rule. The error wraps ErrCall.
//
// A pattern is matched against each text, number and name of a member in the arguments, as the tool will read it: escapes
// are decoded. A text that is JSON itself, as some agents write the arguments of a call, is also read as such. It is also matched against other spellings of a text that a program may read as the same: see spellings. A list of texts is matched as
// one line, too, since it may be the words of a command. A name that comes twice counts both times, since programs differ in which one they take.
//
// A call without arguments is denied by a rule that every call of its tool matches. It passes if no rule is for its tool, and cannot be judged if a rule for the tool would look
// at the arguments.
func (d DenyRules) Decide(call Call) ([]Match, error) {
	rules, err := d.compile()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	if call.Tool == "" {
		return nil, fmt.Errorf("guard: %w: it names no tool", ErrCall)
	}
	given := bytes.Trim(call.Arguments, " \t\r\n")
	none := len(given) == 0 || string(given) == "null"
	texts, err := textsOf(given)
	if err != nil {
		return nil, fmt.Errorf("guard: %w: the arguments of %.80q: %w", ErrCall, call.Tool, err)
	}
	var matches []Match
	unseen := 0 // the first rule that would look at arguments which are not there
	for i, r := range rules {
		if !slices.ContainsFunc(namesOf(call.Tool), r.tool.MatchString) {
			continue
		}
		if r.argument == nil {
			matches = append(matches, Match{Rule: i + 1, Reason: r.Reason})
			continue
		}
		if none && unseen == 0 {
			unseen = i + 1
		}
		for _, t := range texts {
			if t.matches(r.argument) {
				matches = append(matches, Match{Rule: i + 1, Reason: r.Reason, Where: t.where})
				break
			}
		}
	}
	if unseen > 0 && len(matches) == 0 {
		return nil, fmt.Errorf("guard: %w: the call of %.80q comes without arguments, and rule %d looks at them", ErrCall, call.Tool, unseen)
	}
	return matches, nil
}

// A text is something in a call's arguments that a pattern is matched against.
type text struct{ where, value string }

func (t *text) matches(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(spellings(t.value), pattern.MatchString)
}

// shells are the names of the tools that run a command line in a shell: of Claude Code, of Codex CLI and of Gemini CLI. A rule for one of them is for all.
var shells = []string{"Bash", "shell", "local_shell", "exec_command", "container.exec", "run_shell_command"}

// namesOf returns the names by which a rule may mean a tool.
func namesOf(tool string) []string {
	if slices.Contains(shells, tool) {
		return shells
	}
	return []string{tool}
}

// spellings returns a text, and if it differs the text as a shell may read it: without a backslash before the end of a line, which joins two lines, and in
// compatibility form (NFKC) with each white space of Unicode as a space, except for the ends of lines.
func spellings(value string) []string {
	read := norm.NFKC.String(strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(value))
	read = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) && r != '\n' && r != '\r' && r != '\t' {
			return ' '
		}
		return r
	}, read)
	if read == value {
		return []string{value}
	}
	return []string{value, read}
}

// textsOf returns the texts, numbers and names in a JSON value, in their order.
func textsOf(arguments []byte) ([]text, error) {
	if len(arguments) == 0 {
		return nil, nil
	}
	if !utf8.Valid(arguments) {
		return nil, errors.New("not UTF-8")
	}
	w := walk{}
	if err := w.whole(arguments, ""); err != nil {
		return nil, err
	}
	return w.texts, nil
}

// whole goes through one JSON value.
func (w *walk) whole(data []byte, where string) error {
	w.decoder = json.NewDecoder(bytes.NewReader(data))
	w.decoder.UseNumber()
	if err := w.value(where); err != nil {
		return err
	}
	if _, err := w.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

// within goes through a text that is a JSON object, list or text itself. The escapes of a value double with each level that it is written in, so the levels are
// few, and reading all of them takes time about linear in the text.
func (w *walk) within(text, where string) error {
	text = strings.Trim(text, " \t\r\n")
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) || !json.Valid([]byte(text)) {
		return nil
	}
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	outer := w.decoder
	err := w.whole([]byte(text), where)
	w.decoder = outer
	w.depth--
	return err
}

// maxDepth bounds how deep arguments are nested.
const maxDepth = 1000

// A walk goes through a JSON value token by token, which sees a name twice if it is there twice.
type walk struct {
	decoder *json.Decoder
	depth   int
	texts   []text
}

func (w *walk) value(where string) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case string:
		w.texts = append(w.texts, text{where, v})
		return w.within(v, where)
	case json.Number:
		w.texts = append(w.texts, text{where, v.String()})
	case json.Delim:
		if w.depth++; w.depth > maxDepth {
			return fmt.Errorf("nested deeper than %d", maxDepth)
		}
		var line []string // of a list of texts: the words of a command, perhaps
		for i := 0; w.decoder.More(); i++ {
			before := len(w.texts)
			within := where + "[" + strconv.Itoa(i) + "]"
			if v == '{' {
				name, err := w.decoder.Token()
				if err != nil {
					return err
				}
				within = name.(string) // the decoder accepts no other name
				if where != "" {
					within = where + "." + within
				}
				w.texts = append(w.texts, text{within, name.(string)})
			}
			if err := w.value(within); err != nil {
				return err
			}
			if v == '[' && len(w.texts) > before && w.texts[before].where == within {
				line = append(line, w.texts[before].value)
			}
		}
		if len(line) > 1 {
			w.texts = append(w.texts, text{where, strings.Join(line, " ")})
		}
		w.depth--
		_, err = w.decoder.Token() // the end
	}
	return err
}
