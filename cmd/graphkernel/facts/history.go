package facts

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
)

// A statementAsked asks for the history of a statement.
type statementAsked struct {
	Statement dag.Digest `json:"statement"`
	api.View
}

// A statementTold is the history of a statement up to a number.
type statementTold struct {
	Acts      []actTold  `json:"acts"`
	Believed  bool       `json:"believed"`
	Statement dag.Digest `json:"statement"`
}

// An actTold is an act with what ended it.
type actTold struct {
	api.KnowledgeAct
	EndedBy string `json:"ended_by,omitempty"`
	By      string `json:"superseded_by,omitempty"`
}

func knowledgeHistoryCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[statementAsked, statementTold]{
		Use:   "history STATEMENT",
		Short: "Show everything recorded about a statement, and until when it was believed",
		Long: `Lists what was recorded about a statement (64 hex digits), by sequence number: assertions, retractions, and
the statements that superseded it.

"until" is the number at which the assertion stopped giving the statement its confidence, and "ended_by" is
what ended that: confirmation (by a surer assertion), retraction or supersession (by the statement
"superseded_by"). They are absent while the assertion counts.`,
		Args: []string{"statement"}, Resolve: statement, Opens: cli.ToWrite, Ask: tellStatement,
		Hint: func(*statementAsked) string { return "; see: graphkernel knowledge list" },
		Print: func(w io.Writer, _ *statementAsked, out *statementTold) {
			for i := range out.Acts {
				l := &out.Acts[i]
				fmt.Fprintf(w, "%d  %s  %s  %s\n", l.Seq, l.At, l.Kind, does(&l.KnowledgeAct))
				if l.Until != 0 {
					fmt.Fprintf(w, "    until %d, by %s\n", l.Until, strings.TrimSpace(l.EndedBy+" "+l.By))
				}
			}
			if out.Believed {
				fmt.Fprintln(w, "it is believed")
			} else {
				fmt.Fprintln(w, "it is not believed")
			}
		},
	})
}

func tellStatement(ctx context.Context, s *cli.Session, in statementAsked) (out statementTold, err error) {
	at, err := viewed(ctx, s, in.AsOf)
	if err != nil {
		return out, err
	}
	list, err := s.History(ctx, in.Statement)
	if err != nil {
		return out, err
	}
	out.Statement = in.Statement
	for _, act := range list {
		if act.Seq > at {
			break
		}
		if act.Until > at {
			act.Until = 0
		}
		line := actTold{KnowledgeAct: act}
		if act.Until != 0 {
			if line.EndedBy, line.By, err = endedBy(s, ctx, in.Statement, uint64(act.Until)); err != nil {
				return out, err
			}
		}
		out.Believed = out.Believed || act.Version && act.Until == 0
		out.Acts = append(out.Acts, line)
	}
	if len(out.Acts) == 0 {
		err = fmt.Errorf("statement %s of tenant %s: %w as of %d", in.Statement, s.Tenant, store.ErrNotFound, in.AsOf)
	}
	return out, err
}

// viewed resolves an as-of number to the end of a change. For 0, the present, it returns dag.MaxSeq.
func viewed(ctx context.Context, s *cli.Session, asOf dag.Seq) (dag.Seq, error) {
	if asOf == 0 {
		return dag.MaxSeq, nil
	}
	return s.AsOf(ctx, asOf)
}

// endedBy says what the act with a number did to a statement that ended with it.
func endedBy(s *cli.Session, ctx context.Context, id knowledge.ID, seq uint64) (what, by string, err error) {
	page, err := s.Acts(ctx, dag.Seq(seq-1), 1)
	switch {
	case err != nil:
		return "", "", err
	case len(page.Acts) == 0 || uint64(page.Acts[0].Seq) != seq:
		return "", "", fmt.Errorf("number %d, which ended statement %s, is not an act; see: graphkernel fsck", seq, id)
	case page.Acts[0].Erased:
		return "erased assertion", "", nil
	case page.Acts[0].Kind == string(knowledge.Retract):
		return "retraction", "", nil
	case page.Acts[0].Statement.String() == id.String():
		return "confirmation", "", nil
	}
	return "supersession", page.Acts[0].Statement.String(), nil
}

// A changesAsked asks for acts.
type changesAsked struct {
	After dag.Seq `json:"after,omitempty" doc:"Only acts with a later number."`
	Limit int     `json:"limit,omitempty" is:"1..10000" default:"100" doc:"The most acts to list."`
	api.View
}

func knowledgeChangesCommand(a *cli.App) *cobra.Command {
	return cli.Asking(a, cli.Command[changesAsked, api.KnowledgeChanges]{
		Use:   "changes",
		Short: "List the acts recorded since a number: facts, retractions, aliases",
		Long: `Lists acts by sequence number. Their names are as they were asserted, whatever aliases say today.

"kind" is assert, retract, alias or unalias. An act that was erased with its turn has no names. If there are
more acts, pass "next" as --after to get the next page.`,
		Opens: cli.ToWrite, Holds: true,
		Ask: func(ctx context.Context, s *cli.Session, in changesAsked) (page api.KnowledgeChanges, err error) {
			at, err := viewed(ctx, s, in.AsOf)
			if err != nil {
				return page, err
			}
			if page, err = s.Acts(ctx, in.After, in.Limit); err == nil {
				err = endAt(ctx, s, &page, at)
			}
			return page, err
		},
		Print: func(w io.Writer, _ *changesAsked, page *api.KnowledgeChanges) {
			for i := range page.Acts {
				act := &page.Acts[i]
				fmt.Fprintf(w, "%d  %s  %s  %s\n", act.Seq, act.At, act.Kind, does(act))
			}
			if page.Next != "" {
				fmt.Fprintf(w, "the next page: --after %s\n", page.Next)
			}
		},
	})
}

// endAt cuts a page at a number, unless that is dag.MaxSeq.
func endAt(ctx context.Context, s *cli.Session, page *api.KnowledgeChanges, asOf dag.Seq) error {
	for n := len(page.Acts); n > 0 && page.Acts[n-1].Seq > asOf; n-- {
		page.Acts, page.Next = page.Acts[:n-1], ""
	}
	if page.Next == "" || asOf == dag.MaxSeq {
		return nil
	}
	further, err := s.Acts(ctx, page.Acts[len(page.Acts)-1].Seq, 1)
	if err == nil && (len(further.Acts) == 0 || further.Acts[0].Seq > asOf) {
		page.Next = ""
	}
	return err
}
