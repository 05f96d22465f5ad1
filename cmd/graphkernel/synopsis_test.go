package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
)

// synopsisOf matches a place in docs/cli.md for the lines of commands, including their subcommands. Names are separated by blanks, and have a hyphen for each
// blank; * is all commands that have no other place.
var synopsisOf = regexp.MustCompile(`(?s)(<!-- synopsis: ([a-z* -]+) -->\n)(.*?)(<!-- /synopsis -->)`)

// TestSynopses compares the lines that docs/cli.md has for commands with the commands. Each command that can be run is on the page once. With -update, it
// writes the lines.
func TestSynopses(t *testing.T) {
	t.Parallel()
	const file = "../../docs/cli.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]*cobra.Command{}
	lacking := map[*cobra.Command]bool{}
	root := testApp().Root()
	for _, c := range everyCommand(root) {
		of[strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), root.Name()+" "), " ", "-")] = c
		lacking[c] = c.HasParent() && c.Runnable() && !is(c.RunE, cli.ShowHelp) && c.Name() != "help"
	}
	lines := func(all []*cobra.Command) (text string) {
		for _, c := range all {
			if lacking[c] {
				text += synopsis(c)
			}
			delete(lacking, c)
		}
		return text
	}
	write := func(page []byte, others bool) []byte {
		return synopsisOf.ReplaceAllFunc(page, func(place []byte) []byte {
			parts := synopsisOf.FindSubmatch(place)
			names := string(parts[2])
			if others != (names == "*") {
				return place
			}
			text := "\n"
			if others {
				text += lines(everyCommand(root))
			} else {
				for name := range strings.FieldsSeq(names) {
					if of[name] == nil {
						t.Errorf("%s: a synopsis of %q, which is no command", file, name)
						continue
					}
					text += lines(everyCommand(of[name]))
				}
			}
			return append(append(parts[1], text+"\n"...), parts[4]...)
		})
	}
	made := write(write(page, false), true)
	for c, is := range lacking {
		if is {
			t.Errorf("%s has no synopsis of %s", file, c.CommandPath())
		}
	}
	switch {
	case t.Failed() || string(made) == string(page):
	case *update:
		if err := os.WriteFile(file, made, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the synopses of %s are not those of the commands; make generate writes them", file)
	}
}

// is reports whether a function that is declared is another.
func is(run, other func(*cobra.Command, []string) error) bool {
	return reflect.ValueOf(run).Pointer() == reflect.ValueOf(other).Pointer()
}

// synopsis is a command with its arguments and its own flags, wrapped. A flag that the arguments name is not repeated, and more than manyFlags are told as one.
func synopsis(c *cobra.Command) string {
	const width, manyFlags = 120, 24
	line := "    " + strings.ReplaceAll(strings.TrimSuffix(c.UseLine(), " [flags]"), "...", "…")
	var pieces []string
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		spelled := `--` + f.Name
		if f.Shorthand != "" {
			spelled += `|-` + f.Shorthand
		}
		if f.Hidden || f.Name == "help" || regexp.MustCompile(`[ |[](`+spelled+`)\b`).MatchString(line) {
			return
		}
		piece := "--" + f.Name
		if name := valueOf(f); name != "" {
			piece += " " + name
		}
		if !strings.HasSuffix(f.Usage, "(required)") {
			piece = "[" + piece + "]"
		}
		if kind := f.Value.Type(); strings.HasSuffix(kind, "Array") || strings.HasSuffix(kind, "Slice") {
			piece += "…"
		}
		pieces = append(pieces, piece)
	})
	if len(pieces) > manyFlags {
		pieces = []string{"[--SETTING VALUE]…"}
	}
	text := ""
	for _, piece := range pieces {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(piece) > width {
			text, line = text+line+"\n", "       "
		}
		line += " " + piece
	}
	return text + line + "\n"
}

// valueNames are what flags take that are no numbers: a flag that is not here takes what it is called.
var valueNames = map[string]string{
	"FILE": "out trust within batch attestation proof settings config aliases file", "FOLDER": "project state", "SEQ": "as-of after", "TIME": "since until valid-at",
	"POLICY": "context guard secrets", "TURN": "turns named evidence", "WORDS": "find search keywords topics", "TEXT": "reason title summary containing note",
	"NAME": "author owner source person name of", "ID": "conversation key skip id", "ANCHOR": "slice anchor", "KEY=VALUE": "attribute", "TYPE=TO": "link", "ADDRESS": "item addr", "STATEMENT": "supersedes facts",
	"PREMISE": "because", "N": "specificity confidence",
}

// valueOf names what a flag takes; empty: nothing.
func valueOf(f *pflag.Flag) string {
	for name, flags := range valueNames {
		if slices.Contains(strings.Fields(flags), f.Name) && f.Value.Type() != "bool" {
			return name
		}
	}
	switch f.Value.Type() {
	case "bool":
		return ""
	case "file":
		return "FILE"
	case "duration":
		return "DURATION"
	case "number", "int", "uint64":
		return "N"
	}
	words := strings.Split(f.Name, "-")
	return strings.ToUpper(words[len(words)-1])
}
