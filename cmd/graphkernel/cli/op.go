package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/token"
)

// A Command describes a command of the program. Each field of In is an argument or a flag; its name, purpose and default come from the tags in package api.
// api.Read checks the values.
type Command[In, Out any] struct {
	Use, Short, Long, Example string // Use names the arguments: SESSION, [TEXT] or ENTITY…

	// These use the JSON names of fields:
	Args     []string            // the arguments, in order; the last may be a list
	Stdin    string              // a text that is read from standard input if it is not given
	Defaults map[string]string   // defaults for fields without a default in the service
	Letters  map[string]string   // one-letter names of flags
	Resolve  map[string]Resolver // given texts that are resolved to others; names of turns are always resolved

	Means map[string]func(text string) (string, error) // convert a given text to a value of the service

	Opens purpose // the purpose for which the store is opened
	Holds bool    // refuse a tenant for which nothing was ever admitted

	Check func(in *In) error // checks that api.Read does not make; nil: none
	Ask   func(ctx context.Context, s *Session, in In) (Out, error)
	Hint  func(in *In) string                 // what to do if something named does not exist
	Print func(w io.Writer, in *In, out *Out) // prints the answer for people
	Exit  func(out *Out) int                  // the exit code of an answer; nil: api.ExitOK

	Completes cobra.CompletionFunc // completes the arguments
}

// A Resolver returns the text that a given text stands for; place names the flag or argument.
type Resolver func(c *cobra.Command, s *Session, place, text string) (string, error)

// Op makes the command of an operation.
func Op[In, Out any](a *App, op api.Operation[In, Out], c Command[In, Out]) *cobra.Command {
	if c.Ask == nil {
		c.Ask = func(ctx context.Context, s *Session, in In) (Out, error) { return Do(ctx, s, op, in) }
	}
	return Asking(a, c)
}

// Asking makes a command with its own function Ask.
func Asking[In, Out any](a *App, c Command[In, Out]) *cobra.Command {
	made := &cobra.Command{
		Use: c.Use, Short: c.Short, Example: c.Example, ValidArgsFunction: cobra.NoFileCompletions,
		Long: c.Long + "\n\nThe result, as JSON:\n\n" + Shape(reflect.TypeFor[Out]()),
		Args: argsOf(c.Use),
	}
	if c.Opens == ToRead {
		made.Annotations = map[string]string{onlyReads: ""}
	}
	if c.Completes != nil {
		made.ValidArgsFunction = c.Completes
	}
	p := &inputs{app: a, command: made, args: c.Args}
	for _, f := range api.Fields(reflect.TypeFor[In]()) {
		name, hidden := flagOf(&f)
		if hidden {
			continue
		}
		v := &input{field: f, text: First(c.Defaults[f.Key], f.Tag.Get("default")), resolve: c.Resolve[f.Key], means: c.Means[f.Key]}
		if v.resolve == nil && (f.Tag.Get("is") == "TurnName" || f.Type == reflect.TypeFor[dag.TurnID]() || f.Type == reflect.TypeFor[*dag.TurnID]()) {
			v.resolve = func(c *cobra.Command, s *Session, _, text string) (string, error) {
				id, err := Resolve(a, c, s, text)
				return id.String(), err
			}
		}
		if p.fields = append(p.fields, v); slices.Contains(c.Args, f.Key) {
			continue
		}
		flag := made.Flags().VarPF(v, name, c.Letters[f.Key], purposeOf(&f, v.text))
		if flag.DefValue = v.text; f.Type.Kind() == reflect.Bool {
			flag.NoOptDefVal = "true"
		}
		complete := cobra.NoFileCompletions
		if of := f.OneOf(); len(of) > 0 {
			complete = cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp)
		}
		if f.Type != reflect.TypeFor[json.RawMessage]() {
			_ = made.RegisterFlagCompletionFunc(name, complete) // the flag exists
		}
	}
	made.RunE = func(cmd *cobra.Command, args []string) error {
		ring, err := p.gather(cmd.Context(), args, c.Stdin)
		if err != nil {
			return err
		}
		in, err := readGiven[In](p)
		if err == nil && c.Check != nil {
			err = Usage(c.Check(&in))
		}
		if err != nil { // this is reported before a store is opened
			return err
		}
		return a.Stores.with(cmd.Context(), ring, c.Opens, func(s *Session) error {
			if c.Holds {
				if err := s.HoldsTurns(cmd.Context()); err != nil {
					return err
				}
			}
			if err := p.resolve(cmd, s); err != nil {
				return err
			}
			in, err := readGiven[In](p)
			if err != nil {
				return err
			}
			out, err := c.Ask(cmd.Context(), s, in)
			if err != nil && c.Hint != nil && Is(err, api.CodeNotFound) {
				err = fmt.Errorf("%w%s", err, c.Hint(&in))
			}
			if err != nil {
				return err
			}
			err = a.IO.Print(out, func(w io.Writer) { c.Print(w, &in, &out) })
			if err == nil && c.Exit != nil {
				err = Finish(c.Exit(&out))
			}
			return err
		})
	}
	return made
}

// inputs are the fields of a request as they are given on the command line, in the order of the request: of several faults, the first is reported.
type inputs struct {
	app     *App
	command *cobra.Command
	args    []string // the fields that the arguments are
	fields  []*input
}

// field returns the input with a JSON name, or nil.
func (p *inputs) field(key string) *input {
	if i := slices.IndexFunc(p.fields, func(v *input) bool { return v.field.Key == key }); i >= 0 {
		return p.fields[i]
	}
	return nil
}

// gather reads the arguments, standard input and the files that flags name. It returns the keys that verify those files.
func (p *inputs) gather(ctx context.Context, args []string, stdin string) (ring token.Keyring, err error) {
	for i, text := range args {
		v := p.field(p.args[min(i, len(p.args)-1)])
		if v.given != nil && v.field.Type.Kind() == reflect.String { // words
			text = v.given[0] + " " + text
			v.given = nil
		}
		v.given = append(v.given, text)
	}
	for _, v := range p.fields {
		for i, text := range v.given {
			if v.means == nil {
				continue
			}
			if v.given[i], err = v.means(text); err != nil {
				return ring, Usagef("%s: %w", p.placeOf(v), err)
			}
		}
	}
	for _, v := range p.fields {
		switch {
		case v.field.Key == stdin && v.given == nil:
			text, err := io.ReadAll(io.LimitReader(p.app.IO.Stdin, maxStdin))
			if err != nil {
				return ring, err
			}
			v.given = []string{strings.TrimSuffix(string(text), "\n")}
		case v.given != nil && v.field.Type == reflect.TypeFor[json.RawMessage]():
			if v.raw, ring, err = p.app.Within(ctx, v.given[0]); err != nil {
				return ring, err
			}
		}
	}
	return ring, nil
}

// resolve replaces the given texts by those that they stand for.
func (p *inputs) resolve(c *cobra.Command, s *Session) (err error) {
	for _, v := range p.fields {
		if v.resolve == nil {
			continue
		}
		for i, text := range v.given {
			if v.given[i], err = v.resolve(c, s, p.placeOf(v), text); err != nil {
				return err
			}
		}
		v.resolve = nil
	}
	return nil
}

const onlyReads = "reads"

// OnlyReads reports whether a command made by Op opens the store only to read.
func OnlyReads(c *cobra.Command) bool {
	_, reads := c.Annotations[onlyReads]
	return reads
}

// maxStdin is the most bytes of a text that are read from standard input; the service refuses longer texts.
const maxStdin = 2 << 20

// argsOf checks the number of arguments against a usage line.
func argsOf(use string) cobra.PositionalArgs {
	_, takes, some := strings.Cut(use, " ")
	if !some {
		return KnownCommand
	}
	least, most := 0, 0
	for _, word := range strings.Fields(takes) {
		if most++; !strings.HasPrefix(word, "[") {
			least++
		}
		if strings.HasSuffix(strings.TrimSuffix(word, "]"), "…") {
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

// flagOf returns the name of a field's flag; hidden means that it has no flag.
func flagOf(f *api.Field) (name string, hidden bool) {
	name, _, _ = strings.Cut(f.Tag.Get("flag"), ": ")
	name = First(name, strings.ReplaceAll(f.Key, "_", "-"))
	return name, name == "-"
}

// purposeOf returns the purpose of a flag in the style of flags: without a capital and a full stop. otherwise is the default.
func purposeOf(f *api.Field, otherwise string) string {
	_, said, _ := strings.Cut(f.Tag.Get("flag"), ": ")
	text := strings.TrimSuffix(First(said, f.Tag.Get("doc"), f.Tag.Get("tool")), ".")
	if len(text) > 1 && !unicode.IsUpper(rune(text[1])) {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	if of := f.OneOf(); len(of) > 1 && !strings.Contains(text, of[0]) {
		text = strings.TrimPrefix(text+": "+strings.Join(of[:len(of)-1], ", ")+" or "+of[len(of)-1], ": ")
	}
	if least, most, _ := strings.Cut(f.Tag.Get("is"), ".."); most != "" {
		text += ", " + least + " to " + most
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
	given []string // nil if it is not given

	raw     json.RawMessage // content of the given file
	resolve Resolver        // nil if it is resolved, or stands for itself
	means   func(text string) (string, error)
}

// value returns the JSON of the given texts; an unresolved text is replaced by a stand-in.
func (v *input) value(texts []string) canon.Value {
	if stand, ok := standIns[v.field.Type]; ok && v.resolve != nil {
		texts = []string{stand}
	}
	return v.field.Value(texts...)
}

// standIns are valid values that are used instead of texts that are not resolved yet.
var standIns = map[reflect.Type]string{
	reflect.TypeFor[dag.TurnID](): dag.TurnID{1}.String(), reflect.TypeFor[*dag.TurnID](): dag.TurnID{1}.String(),
	reflect.TypeFor[dag.Digest](): dag.Digest{1}.String(), reflect.TypeFor[*dag.Digest](): dag.Digest{1}.String(),
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
	if v.field.Type == reflect.TypeFor[[]dag.Digest]() { // no digest has a comma
		v.given = append(v.given, strings.Split(text, ",")...)
		return nil
	}
	if v.field.Type.Kind() != reflect.Slice {
		v.given = nil
	}
	v.given = append(v.given, text)
	return nil
}

// Type implements pflag.Value.
func (v *input) Type() string {
	switch one := v.field.Value(""); {
	case v.field.Type == reflect.TypeFor[json.RawMessage]():
		return "file"
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

// readGiven reads the given values as the service reads a request. A fault names the flag or argument that it is about.
func readGiven[In any](p *inputs) (in In, err error) {
	whole := &canon.Value{Kind: canon.Object}
	for _, v := range p.fields {
		key, texts := v.field.Key, v.given
		if texts == nil && v.text != "" {
			texts = []string{v.text}
		}
		switch {
		case slices.ContainsFunc(v.given, isBlank) && !slices.Contains(p.args, key): // it would look as if it were not given
			return in, Usagef("%s is empty: leave it out, or give a value", p.placeOf(v))
		case texts == nil && v.field.Required:
			return in, Usagef("%s is required: %s", p.placeOf(v), strings.TrimSuffix(purposeOf(&v.field, v.text), " (required)"))
		case texts != nil && v.raw == nil:
			whole.Members = append(whole.Members, canon.Member{Key: key, Value: v.value(texts)})
		}
	}
	at := canon.Open(whole)
	in = api.Read[In](at)
	for _, v := range p.fields {
		if v.raw != nil {
			reflect.ValueOf(&in).Elem().FieldByIndex(v.field.Index).SetBytes(v.raw)
		}
	}
	var fault *canon.FieldError
	if !errors.As(at.Err(), &fault) {
		return in, nil
	}
	key, _, _ := strings.Cut(fault.Path, "[")
	if v := p.field(key); v != nil {
		return in, Usage(fmt.Errorf("%s: %w", p.placeOf(v), fault.Err))
	}
	return in, Usage(fault)
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// placeOf returns the name of a flag, or of an argument as in the usage line.
func (p *inputs) placeOf(v *input) string {
	if i := slices.Index(p.args, v.field.Key); i >= 0 {
		word, _, _ := strings.Cut(strings.Fields(p.command.Use)[1+i], "|")
		return strings.Trim(word, "[]…")
	}
	name, _ := flagOf(&v.field)
	return "--" + name
}

// Shape draws the members of a type in JSON, indented by two blanks. The members of a type that occurs again are left out.
func Shape(t reflect.Type) string {
	const width = 118
	var lines []string
	line := "  "
	for i, piece := range strings.SplitAfter(shapeOf(t, map[reflect.Type]bool{}), ",") {
		if i > 0 && len(line)+len(piece) > width {
			lines, line = append(lines, line), "    "
		}
		line += piece
	}
	return strings.Join(append(lines, line), "\n")
}

func shapeOf(t reflect.Type, drawn map[reflect.Type]bool) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem(), drawn)
	case t.Kind() == reflect.Slice && api.ShapeOf(t) == "":
		return "[" + shapeOf(t.Elem(), drawn) + "]"
	case t.Kind() == reflect.Map:
		return "{NAME:" + shapeOf(t.Elem(), drawn) + "}"
	case t.Kind() != reflect.Struct || api.ShapeOf(t) != "":
		return "…"
	case drawn[t]:
		return "{…}"
	}
	drawn[t] = true
	var members []string
	for _, f := range api.Fields(t) {
		member := `"` + f.Key + `"`
		if of := shapeOf(f.Type, drawn); of != "…" {
			member += ":" + of
		}
		members = append(members, member)
	}
	return "{" + strings.Join(members, ",") + "}"
}
