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
	Arguments json.RawMessage // any JSON value; empty or null if the caller does not have them
}

// ErrCall is wrapped by errors for a call that cannot be judged and therefore must not be made.
var ErrCall = errors.New("not a tool call that can be judged")

// A Match is a rule that denies a call.
type Match struct {
	Rule   int    // the number of the rule, from 1
	Reason string // the reason that the rule states
	Where  string // in the arguments, such as edits[2].file_path; "" if the rule is for every call of the tool
}

// Decide returns the rules that deny a call, in their order, each with the first place that it matches, or none if the call
// passes. Its time is linear in the arguments for each rule. The error wraps ErrCall.
//
// A pattern is matched against each text, number and member name in the arguments after escapes are decoded, as the tool will
// read it. A text that is JSON itself, as some agents write the arguments of a call, is also read as JSON. A pattern is also
// matched against other spellings of a text that a program may read as the same: see spellings. A list of texts is also matched
// as one line, since it may hold the words of a command. If an object has a name twice, both members are matched, since
// programs differ in which one they use.
//
// A call without arguments is denied by a rule that matches every call of its tool. It passes if no rule is for its tool. It
// cannot be judged if a rule for the tool would look at the arguments.
func (d DenyRules) Decide(call Call) ([]Match, error) {
	rules, err := d.compile()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	if call.Tool == "" {
		return nil, fmt.Errorf("guard: %w: the call names no tool", ErrCall)
	}
	given := bytes.Trim(call.Arguments, " \t\r\n")
	none := len(given) == 0 || string(given) == "null"
	texts, err := textsOf(given)
	if err != nil {
		return nil, fmt.Errorf("guard: %w: the arguments of %.80q: %w", ErrCall, call.Tool, err)
	}
	var matches []Match
	unseen := 0 // number of the first rule that would look at the missing arguments
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
		return nil, fmt.Errorf("guard: %w: the call of %.80q comes without arguments, but rule %d examines arguments", ErrCall, call.Tool, unseen)
	}
	return matches, nil
}

// A text is a text, number or member name of a call's arguments, against which patterns are matched.
type text struct{ where, value string }

func (t *text) matches(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(spellings(t.value), pattern.MatchString)
}

// shells are the names of the tools that run a command line in a shell, in Claude Code, Codex CLI and Gemini CLI. A rule for
// one of them applies to all.
var shells = []string{"Bash", "shell", "local_shell", "exec_command", "container.exec", "run_shell_command"}

// namesOf returns the names that a rule may use for a tool.
func namesOf(tool string) []string {
	if slices.Contains(shells, tool) {
		return shells
	}
	return []string{tool}
}

// spellings returns a text and, if it differs, the text as a shell may read it: without a backslash at the end of a line, which
// joins two lines, and in compatibility form (NFKC) with every Unicode white space except line ends as a space.
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

// textsOf returns the texts, numbers and member names of a JSON value, in their order.
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

// whole reads one JSON value.
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

// within reads a text that is itself a JSON object, list or text. Each level of nesting doubles the escapes of a value, so
// there are few levels, and reading all of them takes time about linear in the text.
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

// maxDepth is the deepest nesting of arguments.
const maxDepth = 1000

// A walk reads a JSON value token by token, so it sees both members if an object has a name twice.
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
		var line []string // the texts of a list, which may be the words of a command
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
