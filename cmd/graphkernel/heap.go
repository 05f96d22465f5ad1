package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// collectLate lets the heap grow to 40 MB before the collector runs for the first time, and then has it run as Go does by itself. Most
// commands end before that; collecting took half of their time. GOGC in the environment is left alone.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(1000) // of 4 MB, Go's least heap
	mark := &struct{ _ [64]byte }{}
	runtime.AddCleanup(mark, func(percent int) { debug.SetGCPercent(percent) }, usual) // the first collection finds nothing that holds it
}
