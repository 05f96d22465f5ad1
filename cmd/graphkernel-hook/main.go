// Command graphkernel-hook is the program that an agent runs at each step of its work. It reads the event on standard input and leaves a mark in a
// spool:
//
//	graphkernel-hook claude-code SPOOL
//	graphkernel-hook claude-code SPOOL --context default
//	graphkernel-hook claude-code SPOOL --guard deny@1
//
// "graphkernel setup" writes these lines into the agent's settings. The program opens no store, so it ends within milliseconds; see package capture/hook. Its
// exit code is 0, even after an error, because the agent's work must not depend on the capture. With --guard, the exit code is 2 if the tool call cannot be
// judged; that blocks the call.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/graphkernel/graphkernel/capture/hook"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // if the agent has closed the pipe, the program must report that before it ends
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	p := hook.Program{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Self: self}
	os.Exit(p.Run())
}
