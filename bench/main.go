// Command bench measures the kernel beside what it is compared with, in one run,
// and prints times and ratios:
//
//	make bench
//
// Machines are noisy, so a figure alone says little: each group runs its
// candidates in turn, round after round, and the ratios are what to trust. The
// graphs come from a fixed seed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	turns := flag.Int("turns", 100_000, "turns in the store that is opened and imported into")
	rounds := flag.Int("rounds", 2_000, "rounds of each measurement in memory")
	flag.Parse()
	fmt.Printf("%s %s/%s, %d CPUs\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if err := run(context.Background(), *turns, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, turns, rounds int) error {
	for _, group := range []func() error{
		func() error { return inMemory(os.Stdout, rounds) },
		func() error { return onDisk(ctx, os.Stdout, turns) },
	} {
		if err := group(); err != nil {
			return err
		}
	}
	return nil
}
