// Command eval measures what is chosen for an agent, beside simpler ways to choose it, on data that others wrote:
//
//	make eval
//	go -C eval run . -data folder -only LoCoMo
//
// It prints one table in Markdown. Each row is a measure, each column a [Strategy]; a strategy is asked only for what was
// said before the question. The same program and data give the same bytes. Data that are absent are an error, and their row says
// so. The command fails for each row in which a simple rule is better than the default policy. docs/evaluation.md says what each row counts, and what was seen.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	e := &Evaluation{strategies: strategies}
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	flags.StringVar(&e.data, "data", cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "shared", "data")), "the folder of the data")
	flags.StringVar(&e.own, "own", "testdata", "the folder of the budgets and questions that the project keeps")
	flags.BoolVar(&e.dev, "dev", false, "ask the halves that may be tuned on in place of those that are reported; LoCoMo is in both")
	only := flags.String("only", "", "one task: "+taskNames())
	ablate := flags.String("ablate", "", "ask the search or the context that people get, whole and without one part of its policy each, in place of all strategies: search or context")
	budgets := flags.Bool("budgets", false, "measure nothing; write the first budgets of sessions to the folder that the project keeps, as slices are today")
	briefs := flags.Bool("briefs", false, "measure nothing; print the lines of the briefs with which sessions would have begun, with the verdicts of readers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *ablate != "" {
		if e.strategies, err = ablations(*ablate); err != nil {
			return err
		}
	}
	if e.instance, err = newInstance(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.instance.close()) }()
	if *budgets {
		return e.keepBudgets(ctx)
	}
	if *briefs {
		return e.briefs(ctx, out)
	}
	var failed error
	done := 0
	for _, t := range tasks {
		if *only == "" || *only == t.name {
			failed = errors.Join(failed, e.run(ctx, t))
			done++
		}
	}
	if done == 0 {
		return fmt.Errorf("there is no task %q; there are %s", *only, taskNames())
	}
	return errors.Join(failed, e.behind(), e.table(out))
}

func taskNames() string {
	names := ""
	for _, t := range tasks {
		names += ", " + t.name
	}
	return names[2:]
}
