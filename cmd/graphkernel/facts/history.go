package facts

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

func knowledgeHistoryCommand(a *cli.App) *cobra.Command {
	var asOf uint64
	c := &cobra.Command{
		Use:   "history STATEMENT",
		Short: "Tell all that was said of a statement, and until when it was believed",
		Long: `Lists what was recorded about a statement (64 hex digits), by sequence number: assertions,
retractions, and by what it was superseded. The result, as JSON:

  {"statement","believed","acts":[{"seq","at","kind",…,"until","ended_by","superseded_by"}]}

until is the number before which the assertion gave the statement its confidence, ended_by
what ended that: confirmation (a surer one), retraction or supersession (by the statement
superseded_by). They are absent while it counts.`,
		Args: cli.OneArg("STATEMENT"),
		RunE: func(c *cobra.Command, args []string) error { return factHistory(a, c, args[0], asOf) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	asOfFlag(c, &asOf)
	return c
}

type historyJSON struct {
	actJSON
	Until   uint64 `json:"until,omitempty"`
	EndedBy string `json:"ended_by,omitempty"`
	By      string `json:"superseded_by,omitempty"`
}

func factHistory(a *cli.App, c *cobra.Command, text string, asOf uint64) error {
	id, err := statementOf("STATEMENT", text)
	if err != nil {
		return err
	}
	return a.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		acts, err := historyAsOf(s, c.Context(), id, dag.Seq(asOf))
		if err != nil {
			return err
		}
		lines := []historyJSON{}
		believed := false
		for i := range acts {
			r := &acts[i]
			line := historyJSON{actJSON: actLine(r)}
			if r.Until == dag.MaxSeq {
				believed = true
			} else if r.Until != 0 {
				line.Until = uint64(r.Until)
				if line.EndedBy, line.By, err = endedBy(s, c.Context(), id, r.Until); err != nil {
					return err
				}
			}
			lines = append(lines, line)
		}
		return a.Print(map[string]any{"statement": id.String(), "believed": believed, "acts": lines}, func(w io.Writer) {
			for i := range acts {
				fmt.Fprintf(w, "%d  %s  %s  %s\n", acts[i].Seq, acts[i].At, acts[i].Act.Kind, does(&acts[i]))
				if l := &lines[i]; l.Until != 0 {
					fmt.Fprintf(w, "    until %d, by %s%s\n", l.Until, l.EndedBy, prefixed(" ", l.By))
				}
			}
			if believed {
				fmt.Fprintln(w, "it is believed")
			} else {
				fmt.Fprintln(w, "it is not believed")
			}
		})
	})
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// historyAsOf returns what was said of a statement up to a number; 0 is the present.
func historyAsOf(s *cli.Session, ctx context.Context, id knowledge.ID, asOf dag.Seq) ([]knowledge.Recorded, error) {
	head, err := s.Turns().Head(ctx, s.Tenant)
	if err != nil {
		return nil, err
	}
	if asOf > head {
		return nil, fmt.Errorf("%w: %d, and the head of tenant %s is %d", kernel.ErrBeyondHead, asOf, s.Tenant, head)
	}
	acts, err := s.Facts().History(ctx, s.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("%w; see: graphkernel knowledge list", err)
	}
	if err != nil || asOf == 0 {
		return acts, err
	}
	var until []knowledge.Recorded
	for _, r := range acts {
		if r.Seq > asOf {
			break
		}
		if r.Until > asOf {
			r.Until = dag.MaxSeq
		}
		until = append(until, r)
	}
	if len(until) == 0 {
		return nil, fmt.Errorf("statement %s of tenant %s: %w as of %d", id, s.Tenant, store.ErrNotFound, asOf)
	}
	return until, nil
}

// endedBy says what the act of a number was to a statement that ended with it.
func endedBy(s *cli.Session, ctx context.Context, id knowledge.ID, seq dag.Seq) (what, by string, err error) {
	acts, err := s.Facts().Acts(ctx, s.Tenant, seq-1, 1)
	switch {
	case err != nil:
		return "", "", err
	case len(acts) == 0 || acts[0].Seq != seq:
		return "", "", fmt.Errorf("number %d, with which statement %s ended, is no act; see: graphkernel fsck", seq, id)
	case acts[0].Act.Kind == knowledge.Retract:
		return "retraction", "", nil
	case acts[0].Act.Fact.ID() == id:
		return "confirmation", "", nil
	}
	return "supersession", acts[0].Act.Fact.ID().String(), nil
}

func knowledgeChangesCommand(a *cli.App) *cobra.Command {
	var after, asOf uint64
	var limit int
	c := &cobra.Command{
		Use:   "changes",
		Short: "List what was recorded since a number: facts, retractions, aliases",
		Long: `Lists acts by sequence number. Their names are as they were asserted, whatever aliases say
today. The result, as JSON:

  {"changes":[{"seq","at","kind","statement","subject","predicate","object","valid_from",
    "valid_until","written":{…},"confidence","source","turn","slice","supersedes":[STATEMENT],
    "reason","alias","canonical"}],"next"}

kind is assert, retract, alias or unalias. Where there are more, next is the --after of the
next page.`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return listChanges(a, c, dag.Seq(after), dag.Seq(asOf), limit)
		},
	}
	c.Flags().Uint64Var(&after, "after", 0, "acts with a later number")
	c.Flags().IntVar(&limit, "limit", 100, fmt.Sprintf("how many at most, up to %d", mostChanges))
	asOfFlag(c, &asOf)
	cli.NoFiles(c, "after", "limit")
	return c
}

const mostChanges = 10_000

func listChanges(a *cli.App, c *cobra.Command, after, asOf dag.Seq, limit int) error {
	if limit < 1 || limit > mostChanges {
		return cli.Usagef("--limit is %d, want 1 to %d", limit, mostChanges)
	}
	return a.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		if head, err := s.Turns().Head(c.Context(), s.Tenant); err != nil {
			return err
		} else if asOf > head {
			return fmt.Errorf("%w: %d, and the head of tenant %s is %d", kernel.ErrBeyondHead, asOf, s.Tenant, head)
		}
		acts, err := s.Facts().Acts(c.Context(), s.Tenant, after, limit+1)
		if err != nil {
			return err
		}
		for asOf != 0 && len(acts) > 0 && acts[len(acts)-1].Seq > asOf {
			acts = acts[:len(acts)-1]
		}
		result := map[string]any{}
		next := dag.Seq(0)
		if len(acts) > limit {
			acts = acts[:limit]
			next = acts[limit-1].Seq
			result["next"] = uint64(next)
		}
		lines := []actJSON{}
		for i := range acts {
			lines = append(lines, actLine(&acts[i]))
		}
		result["changes"] = lines
		return a.Print(result, func(w io.Writer) {
			for i := range acts {
				fmt.Fprintf(w, "%d  %s  %s  %s\n", acts[i].Seq, acts[i].At, acts[i].Act.Kind, does(&acts[i]))
			}
			if next != 0 {
				fmt.Fprintf(w, "there are more: --after %d\n", next)
			}
		})
	})
}
