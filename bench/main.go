// Command bench measures the kernel beside what it is compared with, in one run,
// and prints times and ratios:
//
//	make bench
//	go -C bench run . -full -markdown
//	go -C bench run . -only warm -turns 20000 -cpuprofile cpu.out
//
// Machines are noisy, so a figure alone says little: each group runs its
// candidates in turn, round after round, and the ratios are what to trust. The
// graphs come from a fixed seed, and every database holds the same turns.
//
// What the kernel is compared with is in package plain: turns and edges in plain
// tables, and the selection in the program. Every answer of it must be the kernel's.
// PostgreSQL is a server of its own, started with the machine's programs; without
// them SQLite is measured alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	s := suite{length: 1_000, nodes: 256, memory: 20_000, hub: 10_000, leaves: 1_000_000, facts: 1_000_000, believed: []int{1_000, 10_000, 100_000}, items: baseItems, clients: []int{1, 4, 16}, each: time.Second}
	r := &report{out: os.Stdout}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	turns := flags.String("turns", "100000", "turns in the stores, several sizes with commas between")
	full := flags.Bool("full", false, "the sizes 100000 and 1000000, of turns and of statements that are believed")
	only := flags.String("only", "", "groups, with commas between: "+strings.Join(groups, ", "))
	profile := flags.String("cpuprofile", "", "write a CPU profile to this file; its label \"work\" names the candidate")
	flags.IntVar(&s.rounds, "rounds", 200, "rounds of each group; some take a part or a multiple of it")
	flags.IntVar(&s.facts, "facts", s.facts, "facts of the graph that is traversed")
	flags.BoolVar(&r.markdown, "markdown", false, "print Markdown")
	flags.StringVar(&s.irc, "irc", "", "a file of annotated messages (irc-ubuntu-gold.jsonl) that is measured too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *full {
		*turns = "100000,1000000"
		s.believed, s.many = append(s.believed, 1_000_000), 1_000_000
	}
	if s.sizes, err = parseSizes(*turns, s.length); err != nil {
		return err
	}
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	for _, name := range s.only {
		if !slices.Contains(groups, name) {
			return fmt.Errorf("there is no group %q; there are %s", name, strings.Join(groups, ", "))
		}
	}
	s.imported, s.crossing = min(s.sizes[0], 100_000), min(s.sizes[0], 50_000)
	s.searched = append([]int{10_000}, s.sizes...)
	folder, err := os.MkdirTemp("", "graphkernel-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // a profile that is cut short does not open
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	r.note("%s %s/%s, %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if err := s.run(ctx, r, folder); err != nil {
		return err
	}
	r.note("%d bounds held, %d missed", r.held, r.missed)
	return nil
}

func parseSizes(text string, length int) ([]int, error) {
	var sizes []int
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < length {
			return nil, fmt.Errorf("-turns %q: want numbers of at least %d", text, length)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}
