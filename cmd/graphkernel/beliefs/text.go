package beliefs

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/render"
)

// Widths of texts that are shown in a line.
const (
	widestName   = 60
	widestObject = 120
	widestText   = 200
)

// erased is shown instead of the content of a revision or a proposal that was erased.
const erased = "(erased with the turns that it rested on)"

func oneLine(s string, most int) string { return render.OneLine(s, most) }

// said returns a statement as it was written, in a line; a long name ends in an ellipsis.
func said(s api.WrittenStatement) string {
	if text := s.Said(); text != "" {
		return oneLine(text, widestText)
	}
	w := s.Words()
	return denied(s) + oneLine(w.Subject, widestName) + " —" + oneLine(w.Predicate, widestName) + "→ " + oneLine(w.Object, widestObject)
}

func denied(s api.WrittenStatement) string {
	if s.Not {
		return "not "
	}
	return ""
}

// isCut reports whether said shortens a statement.
func isCut(s api.WrittenStatement) bool {
	if text := s.Said(); text != "" {
		return text != oneLine(text, widestText)
	}
	w := s.Words()
	return w.Subject != oneLine(w.Subject, widestName) || w.Predicate != oneLine(w.Predicate, widestName) || w.Object != oneLine(w.Object, widestObject)
}

// cutHint prints how to show shortened statements in full.
func cutHint(w io.Writer, cut bool) {
	if cut {
		fmt.Fprintln(w, "some texts are cut to a line; see one whole with: graphkernel belief show ADDRESS")
	}
}

// whole returns a statement with its full text: in one line if it fits, otherwise with the lines of the object below it, each indented.
func whole(s api.WrittenStatement, indent string) string {
	if !isCut(s) {
		return said(s)
	}
	if text := s.Said(); text != "" {
		return strings.ReplaceAll(render.Visible(text), "\n", "\n"+indent+"  ")
	}
	w := s.Words()
	text := render.Visible(w.Object)
	if strings.ContainsAny(text, "\n\t") || len(text) > widestText {
		text = "\n" + indent + "  " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ")
	} else {
		text = " " + text
	}
	return denied(s) + visibleLine(w.Subject) + " —" + visibleLine(w.Predicate) + "→" + text
}

// visibleLine returns a text in one line, however long.
func visibleLine(s string) string { return oneLine(s, len(s)) }

// saidAll returns statements in a line.
func saidAll(list []api.WrittenStatement, between string) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = said(s)
	}
	return strings.Join(texts, between)
}

// because says from which premises a statement follows; "" if it is stated.
func because(premises []api.WrittenStatement) string {
	if len(premises) == 0 {
		return ""
	}
	return ", because " + saidAll(premises, " and ")
}

// holds says when a statement holds; "" if always.
func holds(from, until *dag.Time) string {
	text := ""
	if from != nil {
		text = from.String()
	}
	if from != nil || until != nil {
		text += "–"
	}
	if until != nil {
		text += until.String()
	}
	return text
}

// address returns the address of a revision of an item.
func address(item string, revision int) string {
	return oneLine(item, len(item)) + "?r=" + strconv.Itoa(revision)
}

// by says who did something; "" if unknown.
func by(who string) string {
	if who == "" {
		return ""
	}
	return ", by " + oneLine(who, widestText)
}

// reason returns the given reason after a colon, or "" if there is none.
func reason(text string) string {
	if text == "" {
		return ""
	}
	return ": " + oneLine(text, widestText)
}

// spaceOf checks the name of a space.
func spaceOf(text string) error {
	if _, err := belief.ParseSpace(text); err != nil {
		return cli.Usagef("SPACE: %w", err)
	}
	return nil
}

// spaceHint says what to do if there is no such space.
func spaceHint(space string, asOf uint64) string {
	if asOf != 0 {
		return fmt.Sprintf(" as of %d; see what there is now: graphkernel belief", asOf)
	}
	return "; make it with: graphkernel belief space " + space
}

// hinted adds to an error what to do if something does not exist.
func hinted(err error, hint string) error {
	if cli.Is(err, api.CodeNotFound) && hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// spaceAnd accepts a space, and after it as many arguments as names has words.
func spaceAnd(names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1+len(strings.Fields(names)) {
			return cli.Usagef("%s takes %s, got %d arguments", c.CommandPath(), strings.TrimSpace("SPACE "+names), len(args))
		}
		return spaceOf(args[0])
	}
}

// isName refuses a text that cannot be a name.
func isName(what, text string) error {
	if _, err := normalize.Name(text); err != nil {
		return cli.Usagef("%s: %w", what, err)
	}
	return nil
}

// statementOf reads a statement from its three names.
func statementOf(what string, names []string, not bool) (s api.BeliefStatement, err error) {
	for i, part := range [...]string{"SUBJECT", "PREDICATE", "OBJECT"} {
		if err := isName(what+part, names[i]); err != nil {
			return s, err
		}
	}
	return api.BeliefStatement{Subject: names[0], Predicate: names[1], Object: names[2], Not: not}, nil
}

// statementsOf reads statements from arguments, three names each.
func statementsOf(c *cobra.Command, args []string, not bool) (list []api.BeliefStatement, _ error) {
	if len(args) == 0 || len(args)%3 != 0 {
		return nil, cli.Usagef("%s takes SPACE and three names for each statement, SUBJECT PREDICATE OBJECT, got %s; put a name of several words in quotes", c.CommandPath(), cli.Count(len(args), "name"))
	}
	for names := range slices.Chunk(args, 3) {
		s, err := statementOf("", names, not)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// premiseOf reads a statement from one text: three names, in double quotes where they have spaces, and "not" before them if it is denied.
func premiseOf(text string) (s api.BeliefStatement, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = ' '
	r.TrimLeadingSpace = true
	lines, err := r.ReadAll()
	if err != nil || len(lines) != 1 {
		return s, cli.Usagef("--because is %.200q; put names of several words in double quotes: --because '\"Ada Lovelace\" lives-in London'", text)
	}
	names := lines[0]
	if n := len(names); n > 0 && names[n-1] == "" { // after a space at the end
		names = names[:n-1]
	}
	not := len(names) == 4 && strings.EqualFold(names[0], "not")
	if not {
		names = names[1:]
	}
	if len(names) != 3 {
		return s, cli.Usagef("--because is %.200q, which has %s; want SUBJECT PREDICATE OBJECT or not SUBJECT PREDICATE OBJECT, with names of several words in double quotes", text, cli.Count(len(names), "name"))
	}
	return statementOf("--because: ", names, not)
}

// timeOf reads the time in a flag; nil if the flag is empty.
func timeOf(flag, text string) (*dag.Time, error) {
	if text == "" {
		return nil, nil
	}
	t, err := knowledge.ReadTime(text)
	if err != nil {
		return nil, cli.Usagef("--%s: %w", flag, err)
	}
	return &t, nil
}
