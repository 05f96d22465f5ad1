// Command graphkernel-hook is what an agent runs at each step of its work. It reads the event on standard input and leaves a mark in a
// spool:
//
//	graphkernel-hook claude-code SPOOL
//
// "graphkernel setup" writes that line into the agent's settings. The program holds nothing of the kernel, so it starts
// within milliseconds; "graphkernel hook" does the same, and more, with the kernel at hand. Its exit code is 0 whatever
// happens, since an agent's work must not depend on what is captured of it.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/graphkernel/graphkernel/capture"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: graphkernel-hook AGENT SPOOL, as graphkernel setup writes it")
		return
	}
	agent, err := capture.ParseAgent(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "graphkernel-hook:", err)
		return
	}
	capture.Receive(capture.At(os.Args[2]), agent, os.Stdin, os.Stderr, time.Now())
}
