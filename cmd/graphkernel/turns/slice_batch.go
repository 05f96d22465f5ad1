package turns

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bom"
	"github.com/graphkernel/graphkernel/policy"
)

// Limits of a batch.
const (
	longestBatch = 16 << 20
	mostWorkers  = 64
)

// A batchFlags says which slices are cut, and how many at once.
type batchFlags struct {
	file    string
	workers int
}

func (b *batchFlags) check(c *cobra.Command, args int, flags *cutFlags, format string) error {
	switch {
	case args > 0 || flags.find != "":
		return cli.Usagef("%s takes one ANCHOR, or words with --find, or a file with --batch", c.CommandPath())
	case format != "bundle":
		return cli.Usagef("--format is %q, but --batch writes only bundles", format)
	case b.workers < 0 || b.workers > mostWorkers:
		return cli.Usagef("--workers is %d, want 0 to %d", b.workers, mostWorkers)
	}
	return nil
}

// An anchorLine is a line of a batch.
type anchorLine struct {
	number int
	name   string
}

// lines reads the names of anchors. Empty lines are skipped.
func (b *batchFlags) lines(ctx context.Context, a *cli.App) (list []anchorLine, err error) {
	text, err := a.IO.ReadText(ctx, b.file, longestBatch)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(bom.Trim(text)), "\n") {
		if name := strings.TrimSpace(line); name != "" {
			list = append(list, anchorLine{i + 1, name})
		}
	}
	if len(list) == 0 {
		return nil, cli.Usagef("--batch: %s names no anchor; want one a line", b.file)
	}
	return list, nil
}

type batchJSON struct {
	Slices int    `json:"slices"`
	File   string `json:"file"`
	AsOf   uint64 `json:"as_of"`
}

// cut writes a bundle for each anchor, in their order.
func (b *batchFlags) cut(a *cli.App, c *cobra.Command, flags cutFlags, out string) error {
	if err := a.IO.ForPrograms(out, "a batch of bundles"); err != nil {
		return err
	}
	anchors, err := b.lines(c.Context(), a)
	if err != nil {
		return err
	}
	ring, err := a.Signing.RingToSign()
	if err != nil {
		return err
	}
	err = a.IO.WriteTo(out, func(w io.Writer) error {
		return a.Stores.WithKernel(c.Context(), ring, func(s *cli.Session) error {
			if err := flags.settle(c.Context(), s); err != nil {
				return err
			}
			return b.each(c.Context(), len(anchors), func(ctx context.Context, i int) (bundle client.Bundle, err error) {
				id, err := cli.Resolve(a, c, s, anchors[i].name)
				if err == nil {
					bundle, err = s.Slices.Cut(ctx, client.Request{Anchor: id, Policy: policy.ID(flags.policy), AsOf: dag.Seq(flags.asOf)})
				}
				if err != nil {
					err = fmt.Errorf("line %d of %s, anchor %.80q: %w", anchors[i].number, b.file, anchors[i].name, cli.UnknownPolicy(err))
				}
				return bundle, err
			}, func(bundle client.Bundle) error {
				return a.IO.WriteDocument(w, slices.Concat(bundle.Bytes, []byte("\n")))
			})
		})
	})
	if err != nil {
		return err
	}
	a.IO.Note("%s", cli.Count(len(anchors), "slice"))
	if a.IO.Output != "json" || cli.ToStdout(out) {
		return nil
	}
	return a.IO.PrintJSON(batchJSON{Slices: len(anchors), File: out, AsOf: flags.asOf})
}

// settle checks the policy, and uses the present number for all slices, unless each slice is cut as of its anchor's own number.
func (f *cutFlags) settle(ctx context.Context, s *cli.Session) error {
	if _, err := cli.PolicyFor[policy.SlicePolicy](ctx, s, f.policy, policy.SliceTypes); err != nil {
		return err
	}
	if f.asOf > 0 {
		at, err := s.AsOf(ctx, dag.Seq(f.asOf))
		f.asOf = uint64(at)
		return err
	}
	p, err := s.Policies.Get(ctx, policy.ID(f.policy))
	if err != nil {
		return err
	}
	params, err := p.Slice()
	if err != nil || params.Walk().Direction == policy.Past {
		return err
	}
	head, err := s.Head(ctx)
	f.asOf = uint64(head)
	return err
}

// each cuts slices, several at once, and writes them in order. Only a few wait to be written, so memory does not grow with their number. It returns the error
// of the first slice, in order, that failed.
func (b *batchFlags) each(ctx context.Context, n int, cut func(ctx context.Context, i int) (client.Bundle, error), write func(client.Bundle) error) error {
	workers := b.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	type result struct {
		bundle client.Bundle
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make([]chan result, n)
	for i := range results {
		results[i] = make(chan result, 1)
	}
	work := make(chan int)
	room := make(chan struct{}, 4*workers) // slices that are cut but not written yet
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	for range min(workers, n) {
		wait.Go(func() {
			for i := range work {
				bundle, err := cut(ctx, i)
				results[i] <- result{bundle, err}
			}
		})
	}
	wait.Go(func() {
		defer close(work)
		for i := range n {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case work <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for i := range results {
		select {
		case r := <-results[i]:
			if r.err != nil {
				return r.err
			}
			if err := write(r.bundle); err != nil {
				return err
			}
			<-room
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
