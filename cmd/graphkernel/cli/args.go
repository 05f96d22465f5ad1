package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphkernel/graphkernel/dag"
)

// NoArgs refuses arguments.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no argument, got %q", c.CommandPath(), args[0])
	}
	return nil
}

// OneArg accepts exactly one argument; name is its name in the error.
func OneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s takes one %s, got %s", c.CommandPath(), name, Count(len(args), "argument"))
		}
		return nil
	}
}

// AtMostOneArg accepts one argument or none; name is its name in the error.
func AtMostOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usagef("%s takes one %s at most, got %s", c.CommandPath(), name, Count(len(args), "argument"))
		}
		return nil
	}
}

// ShowHelp is the function of a command that only has subcommands.
func ShowHelp(c *cobra.Command, _ []string) error { return c.Help() }

// KnownCommand refuses arguments of a command that only has subcommands.
func KnownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	c.SuggestionsMinimumDistance = 2 // letters
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return Usagef("%s has no command %q%s", c.CommandPath(), args[0], hint)
}

// NoFiles keeps shells from completing the names of files for flags.
func NoFiles(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions); err != nil {
			panic("graphkernel: " + err.Error()) // no such flag
		}
	}
}

// flagError rewords an error about a flag for which the library shows an error of Go.
func flagError(err error) error {
	var of *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &of) {
		return err
	}
	f := of.GetFlag()
	want := map[string]string{
		"uint64": "a whole number from 0 on", "int": "a whole number", "bool": "true or false", "duration": "a duration such as 90s or 1h",
	}[f.Value.Type()]
	switch {
	case want == "":
		return err
	case errors.As(err, &number) && errors.Is(number.Err, strconv.ErrRange):
		return fmt.Errorf("--%s is %.40q, which is out of range; want %s", f.Name, of.GetValue(), want)
	}
	return fmt.Errorf("--%s is %.40q, want %s", f.Name, of.GetValue(), want)
}

// exclusive matches cobra's error for flags that exclude each other, and takes the flags that were given.
var exclusive = regexp.MustCompile(`; \[([^\]]+)\] were all set$`)

// groupError makes the error of flags that exclude each other one that names them.
func groupError(err error) error {
	if err == nil {
		return nil
	}
	given := exclusive.FindStringSubmatch(err.Error())
	if given == nil {
		return Usage(err)
	}
	return Usagef("give one of --%s, not all", strings.ReplaceAll(given[1], " ", " and --"))
}

// TimeOrNone returns the text of a time, or "" for the zero time.
func TimeOrNone(t dag.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// First returns the first text that is not empty, or "".
func First(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
