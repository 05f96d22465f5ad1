package facts

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
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

// A historyJSON says of an act what ended it.
type historyJSON struct {
	api.KnowledgeAct
	EndedBy string `json:"ended_by,omitempty"`
	By      string `json:"superseded_by,omitempty"`
}

func factHistory(a *cli.App, c *cobra.Command, text string, asOf uint64) error {
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		id, err := statementNamed(c.Context(), s, "STATEMENT", text)
		if err != nil {
			return err
		}
		acts, err := historyAsOf(s, c.Context(), id, asOf)
		if err != nil {
			return err
		}
		lines := []historyJSON{}
		believed := false
		for _, act := range acts {
			line := historyJSON{KnowledgeAct: act}
			if act.Version && act.Until == 0 {
				believed = true
			} else if act.Until != 0 {
				if line.EndedBy, line.By, err = endedBy(s, c.Context(), id, uint64(act.Until)); err != nil {
					return err
				}
			}
			lines = append(lines, line)
		}
		return a.IO.Print(map[string]any{"statement": id.String(), "believed": believed, "acts": lines}, func(w io.Writer) {
			for i := range lines {
				l := &lines[i]
				fmt.Fprintf(w, "%d  %s  %s  %s\n", l.Seq, l.At, l.Kind, does(&l.KnowledgeAct))
				if l.Until != 0 {
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
func historyAsOf(s *cli.Session, ctx context.Context, id knowledge.ID, asOf uint64) (acts []api.KnowledgeAct, err error) {
	if asOf, err = viewed(ctx, s, asOf); err != nil {
		return nil, err
	}
	list, err := s.History(ctx, id)
	if cli.Is(err, api.CodeNotFound) {
		return nil, fmt.Errorf("%w; see: graphkernel knowledge list", err)
	} else if err != nil {
		return nil, err
	}
	for _, act := range list {
		if asOf != 0 && uint64(act.Seq) > asOf {
			break
		}
		if asOf != 0 && uint64(act.Until) > asOf {
			act.Until = 0
		}
		acts = append(acts, act)
	}
	if len(acts) == 0 {
		return nil, fmt.Errorf("statement %s of tenant %s: %w as of %d", id, s.Tenant, store.ErrNotFound, asOf)
	}
	return acts, nil
}

// viewed resolves an as-of number to the end of a change. For 0, the present, it returns 0.
func viewed(ctx context.Context, s *cli.Session, asOf uint64) (uint64, error) {
	if asOf == 0 {
		return 0, nil
	}
	at, err := s.AsOf(ctx, dag.Seq(asOf))
	return uint64(at), err
}

// endedBy says what the act of a number was to a statement that ended with it.
func endedBy(s *cli.Session, ctx context.Context, id knowledge.ID, seq uint64) (what, by string, err error) {
	page, err := s.Acts(ctx, dag.Seq(seq-1), 1)
	switch {
	case err != nil:
		return "", "", err
	case len(page.Acts) == 0 || uint64(page.Acts[0].Seq) != seq:
		return "", "", fmt.Errorf("number %d, with which statement %s ended, is no act; see: graphkernel fsck", seq, id)
	case page.Acts[0].Erased:
		return "erased assertion", "", nil
	case page.Acts[0].Kind == string(knowledge.Retract):
		return "retraction", "", nil
	case page.Acts[0].Statement.String() == id.String():
		return "confirmation", "", nil
	}
	return "supersession", page.Acts[0].Statement.String(), nil
}

func knowledgeChangesCommand(a *cli.App) *cobra.Command {
	var after, asOf uint64
	var limit int
	c := &cobra.Command{
		Use:   "changes",
		Short: "List what was recorded since a number: facts, retractions, aliases",
		Long: `Lists acts by sequence number. Their names are as they were asserted, whatever aliases say
today. The result, as JSON:

  {"acts":[{"seq","at","kind","leaf","statement","subject","predicate","object","written":{…},
    "confidence","source","turn","slice","valid_from","valid_until","supersedes":[STATEMENT],
    "version","until","reason","alias","canonical","erased"}],"next"}

kind is assert, retract, alias or unalias. Of what was erased with its turn there are no names. Where there are more, next is the --after of the
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
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		at, err := viewed(c.Context(), s, uint64(asOf))
		if err != nil {
			return err
		}
		page, err := s.Acts(c.Context(), after, limit)
		if err != nil {
			return err
		}
		if err := endAt(c.Context(), s, &page, dag.Seq(at)); err != nil {
			return err
		}
		return a.IO.Print(page, func(w io.Writer) {
			for i := range page.Acts {
				act := &page.Acts[i]
				fmt.Fprintf(w, "%d  %s  %s  %s\n", act.Seq, act.At, act.Kind, does(act))
			}
			if page.Next != "" {
				fmt.Fprintf(w, "there are more: --after %s\n", page.Next)
			}
		})
	})
}

// endAt ends a page at a number, if that is not 0.
func endAt(ctx context.Context, s *cli.Session, page *api.KnowledgeChanges, asOf dag.Seq) error {
	if asOf == 0 {
		return nil
	}
	for n := len(page.Acts); n > 0 && page.Acts[n-1].Seq > asOf; n-- {
		page.Acts, page.Next = page.Acts[:n-1], ""
	}
	if page.Next == "" {
		return nil
	}
	further, err := s.Acts(ctx, dag.Seq(page.Acts[len(page.Acts)-1].Seq), 1)
	if err == nil && (len(further.Acts) == 0 || uint64(further.Acts[0].Seq) > uint64(asOf)) {
		page.Next = ""
	}
	return err
}
