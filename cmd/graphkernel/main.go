// Command graphkernel is the provenance kernel on the command line: it imports conversations, cuts and signs slices of them, verifies and replays the slices,
// explains why a turn is in a slice, and erases texts that must be forgotten.
//
// This package owns the process: its streams, its signals and the list of its commands, which
// are in the packages below it, one for each family.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/audit"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/beliefs"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/demo"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/memories"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/overview"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/service"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/signing"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/storage"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/turns"
)

func main() {
	os.Exit(run())
}

func run() int {
	withoutCore() // before any key is read
	collectLate()
	// If the reader of the output goes away, the program must still clean up before it ends: writing then fails like any other write.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second interrupt ends the program at once
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	a := cli.New(cli.Config{
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Getenv:   os.Getenv,
		Environ:  os.Environ,
		Clock:    time.Now,
		Hangup:   hangup,
		Commands: commands,
		Places:   service.Places,
	})
	return a.Run(ctx, os.Args[1:])
}

// commands makes every command of the program.
func commands(a *cli.App) []*cobra.Command {
	return slices.Concat(
		overview.Commands(a), turns.Commands(a), capture.Commands(a), facts.Commands(a), beliefs.Commands(a), memories.Commands(a), audit.Commands(a), signing.Commands(a), service.Commands(a), storage.Commands(a),
		[]*cobra.Command{demo.DemoCommand(a), a.VersionCommand(), a.ManCommand()},
	)
}
