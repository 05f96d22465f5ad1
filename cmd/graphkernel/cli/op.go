package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/token"
)

// A Command says how something is asked on the command line. A field of In is an argument, or else a flag, with the name, the
// purpose and the default that package api gives it; what is wrong with one, api.Read says.
type Command[In, Out any] struct {
	Use, Short, Long, Example string // Use names the arguments: SESSION, [TEXT] or ENTITY…

	Args     []string          // the JSON names of the fields that the arguments are, in order; the last may be a list
	Stdin    string            // the JSON name of a text that is read from standard input if it is not given
	Defaults map[string]string // of fields that the service has no default for
	Opens    purpose           // what the store is opened for
	Holds    bool              // a tenant that nothing was ever admitted for is refused

	Ask   func(ctx context.Context, s *Session, in In) (Out, error)
	Print func(w io.Writer, in *In, out *Out) // for people
}

// Op makes the command of an operation.
func Op[In, Out any](a *App, op view.Operation[In, Out], c Command[In, Out]) *cobra.Command {
	c.Ask = func(ctx context.Context, s *Session, in In) (Out, error) { return Do(ctx, s, op, in) }
	return Asking(a, c)
}

// Asking makes a command that asks in its own way.
func Asking[In, Out any](a *App, c Command[In, Out]) *cobra.Command {
	made := &cobra.Command{
		Use: c.Use, Short: c.Short, Example: c.Example, ValidArgsFunction: cobra.NoFileCompletions,
		Long: c.Long + "\n\nThe result, as JSON:\n\n" + Shape(reflect.TypeFor[Out]()),
		Args: argsOf(c.Use),
	}
	if len(c.Args) == 0 {
		made.Args = KnownCommand
	}
	given := map[string]*input{} // by the names of fields
	for _, f := range api.Fields(reflect.TypeFor[In]()) {
		name, hidden := flagOf(&f)
		if hidden {
			continue
		}
		v := &input{field: f, text: First(c.Defaults[f.Key], f.Tag.Get("default"))}
		if given[f.Key] = v; slices.Contains(c.Args, f.Key) {
			continue
		}
		flag := made.Flags().VarPF(v, name, "", purposeOf(&f, v.text))
		if flag.DefValue = v.text; f.Type.Kind() == reflect.Bool {
			flag.NoOptDefVal = "true"
		}
		complete := cobra.NoFileCompletions
		if of := f.OneOf(); len(of) > 0 {
			complete = cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)
		}
		_ = made.RegisterFlagCompletionFunc(name, complete) // the flag exists
	}
	made.RunE = func(cmd *cobra.Command, args []string) error {
		for i, text := range args {
			if v := given[c.Args[min(i, len(c.Args)-1)]]; v != nil {
				v.given = append(v.given, text)
			}
		}
		if v := given[c.Stdin]; v != nil && v.given == nil {
			text, err := io.ReadAll(io.LimitReader(a.IO.Stdin, maxStdin))
			if err != nil {
				return err
			}
			v.given = []string{strings.TrimSuffix(string(text), "\n")}
		}
		in, err := readGiven[In](made, given, c.Args)
		if err != nil {
			return err
		}
		return a.Stores.with(cmd.Context(), token.Keyring{}, c.Opens, func(s *Session) error {
			if c.Holds {
				if err := s.HoldsTurns(cmd.Context()); err != nil {
					return err
				}
			}
			out, err := c.Ask(cmd.Context(), s, in)
			if err != nil {
				return err
			}
			return a.IO.Print(out, func(w io.Writer) { c.Print(w, &in, &out) })
		})
	}
	return made
}

// maxStdin bounds a text that is read from standard input; what is longer is refused by the service.
const maxStdin = 2 << 20

// argsOf checks how many arguments there are by the words of a usage line.
func argsOf(use string) cobra.PositionalArgs {
	_, takes, _ := strings.Cut(use, " ")
	least, most := 0, 0
	for _, word := range strings.Fields(takes) {
		if most++; !strings.HasPrefix(word, "[") {
			least++
		}
		if strings.HasSuffix(word, "…") {
			most = 1 << 20
		}
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Usagef("%s takes %s, got %s", c.CommandPath(), takes, Count(len(args), "argument"))
		}
		return nil
	}
}

// flagOf names the flag of a field; hidden: it has none.
func flagOf(f *api.Field) (name string, hidden bool) {
	name = First(f.Tag.Get("flag"), strings.ReplaceAll(f.Key, "_", "-"))
	return name, name == "-"
}

// purposeOf says what a flag is for, as flags do: without a capital and a full stop. otherwise is the default.
func purposeOf(f *api.Field, otherwise string) string {
	text := strings.TrimSuffix(First(f.Tag.Get("doc"), f.Tag.Get("tool")), ".")
	if len(text) > 1 && text[1] >= 'a' {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	if of := f.OneOf(); len(of) > 1 && !strings.Contains(text, of[0]) {
		text += ": " + strings.Join(of[:len(of)-1], ", ") + " or " + of[len(of)-1]
	}
	if f.Required && otherwise == "" {
		text += " (required)"
	}
	return text
}

// An input is a field as it is given on the command line.
type input struct {
	field api.Field
	text  string   // the default
	given []string // nil: it is not given
}

// String implements pflag.Value.
func (v *input) String() string {
	if v.given != nil {
		return strings.Join(v.given, " ")
	}
	return v.text
}

// Set implements pflag.Value.
func (v *input) Set(text string) error {
	if v.field.Type.Kind() != reflect.Slice {
		v.given = nil
	}
	v.given = append(v.given, text)
	return nil
}

// Type implements pflag.Value.
func (v *input) Type() string {
	switch one := v.field.Value(""); {
	case v.field.Type.Kind() == reflect.Bool:
		return "bool"
	case v.field.Type.Kind() == reflect.Slice:
		return "stringArray"
	case one.Kind == canon.Number:
		return "number"
	}
	return "string"
}

var _ pflag.Value = (*input)(nil)

// readGiven reads what is given as the service reads a request. A fault is one of the flag or argument that it is about.
func readGiven[In any](c *cobra.Command, given map[string]*input, args []string) (in In, err error) {
	whole := &canon.Value{Kind: canon.Object}
	for key, v := range given {
		texts := v.given
		if texts == nil && v.text != "" {
			texts = []string{v.text}
		}
		if texts != nil {
			whole.Members = append(whole.Members, canon.Member{Key: key, Value: v.field.Value(texts...)})
		}
		if texts == nil && v.field.Required {
			return in, Usagef("%s is required: %s", placeOf(c, v, args), strings.TrimSuffix(purposeOf(&v.field, v.text), " (required)"))
		}
	}
	at := canon.Open(whole)
	in = api.Read[In](at)
	var fault *canon.FieldError
	if !errors.As(at.Err(), &fault) {
		return in, nil
	}
	key, _, _ := strings.Cut(fault.Path, "[")
	if v := given[key]; v != nil {
		return in, Usage(fmt.Errorf("%s: %w", placeOf(c, v, args), fault.Err))
	}
	return in, Usage(fault)
}

// placeOf names a flag, or an argument as the usage line does.
func placeOf(c *cobra.Command, v *input, args []string) string {
	if i := slices.Index(args, v.field.Key); i >= 0 {
		return strings.Trim(strings.Fields(c.Use)[1+i], "[]…")
	}
	name, _ := flagOf(&v.field)
	return "--" + name
}

// Shape draws the members of a type in JSON, indented by two blanks.
func Shape(t reflect.Type) string {
	const width = 118
	var lines []string
	line := "  "
	for i, piece := range strings.SplitAfter(shapeOf(t, nil), ",") {
		if i > 0 && len(line)+len(piece) > width {
			lines, line = append(lines, line), "    "
		}
		line += piece
	}
	return strings.Join(append(lines, line), "\n")
}

func shapeOf(t reflect.Type, within []reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem(), within)
	case t.Kind() == reflect.Slice && api.ShapeOf(t) == "":
		return "[" + shapeOf(t.Elem(), within) + "]"
	case t.Kind() == reflect.Map:
		return "{NAME:" + shapeOf(t.Elem(), within) + "}"
	case t.Kind() != reflect.Struct || api.ShapeOf(t) != "":
		return "…"
	case slices.Contains(within, t):
		return "{…}"
	}
	var members []string
	for _, f := range api.Fields(t) {
		member := `"` + f.Key + `"`
		if of := shapeOf(f.Type, append(within, t)); of != "…" {
			member += ":" + of
		}
		members = append(members, member)
	}
	return "{" + strings.Join(members, ",") + "}"
}
