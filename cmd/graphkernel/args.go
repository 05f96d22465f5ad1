package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, got %q", c.CommandPath(), args[0])
	}
	return nil
}

func oneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one %s, got %d arguments", c.CommandPath(), name, len(args))
		}
		return nil
	}
}

func atMostOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes one %s at most, got %d arguments", c.CommandPath(), name, len(args))
		}
		return nil
	}
}

// knownCommand refuses arguments of a command that only has subcommands.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	c.SuggestionsMinimumDistance = 2 // letters
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return usagef("%s has no command %q%s", c.CommandPath(), args[0], hint)
}

// noFiles keeps shells from completing the names of files for flags.
func noFiles(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := c.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions); err != nil {
			panic("graphkernel: " + err.Error()) // no such flag
		}
	}
}
