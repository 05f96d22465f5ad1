// Command graphkernel is the provenance kernel on the command line: it imports
// conversations, cuts and signs slices of them, verifies and replays what was cut,
// explains why a turn is in a slice, and erases what must be forgotten.
//
// This package owns flags, wiring and what a person sees. It is the only place
// that names a storage back end. What it does it asks of package kernel.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	os.Exit(run())
}

func run() int {
	withoutCore() // before any key is read
	// A reader of the output that goes away must not end the program before it has
	// cleaned up: writing then fails like any other writing.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second interrupt ends the program at once
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	a := &app{
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		getenv:  os.Getenv,
		environ: os.Environ,
		clock:   time.Now,
		hangup:  hangup,
	}
	return a.run(ctx, os.Args[1:])
}
