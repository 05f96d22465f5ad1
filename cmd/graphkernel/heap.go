package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// late is a percentage of 4 MB, Go's least heap: the collector runs for the first time at 40 MB.
const late = 1000

// collectLate delays the first run of the garbage collector; afterwards it runs as usual, or as a command has set it meanwhile. Most commands end before
// that; collecting took half of their time. GOGC in the environment is respected.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(late)
	mark := &struct{ _ [64]byte }{}
	runtime.AddCleanup(mark, func(usual int) { // the first run finds that mark is unreachable
		if set := debug.SetGCPercent(usual); set != late {
			debug.SetGCPercent(set)
		}
	}, usual)
}
