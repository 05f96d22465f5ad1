package turns

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/retention"
	"github.com/graphkernel/graphkernel/token"
)

// An erasedJSON is a turn that was erased, or would be.
type erasedJSON struct {
	ID      string `json:"id"`
	Seq     uint64 `json:"seq"`
	Author  string `json:"author,omitempty"`  // as it was before the erasure
	Content string `json:"content,omitempty"` // as it was before the erasure
}

// An erasedManyJSON is the result of erasing many turns.
type erasedManyJSON struct {
	Erased      int          `json:"erased"`
	Already     int          `json:"already"` // turns that already had no text
	Reason      string       `json:"reason,omitempty"`
	DryRun      bool         `json:"dry_run"`
	Turns       []erasedJSON `json:"turns"`
	ShownIn     []string     `json:"shown_in"`
	Contexts    []string     `json:"contexts"`
	Slices      []string     `json:"slices"`
	Transcripts []string     `json:"transcripts"`
	Unguarded   string       `json:"unguarded,omitempty"` // why copies are not held back
}

func eraseMany(a *cli.App, c *cobra.Command, f *eraseFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if c.Flags().Changed("from") != c.Flags().Changed("to") || f.from > f.to {
		return cli.Usagef("--from %d --to %d is no range of sequence numbers; give both, the smaller one first", f.from, f.to)
	}
	words := strings.Fields(strings.ToLower(f.search))
	if c.Flags().Changed("search") && len(words) == 0 {
		return cli.Usagef("--search needs a word: without one it would match every turn")
	}
	if c.Flags().Changed("author") && f.author == "" {
		return cli.Usagef("--author needs a name, such as human:anna")
	}
	if !f.dry && !f.yes && !a.IO.IsTerminal(a.IO.Stdin) {
		return cli.Usagef("erasing many turns cannot be undone, and standard input is no terminal to ask on; list the turns with --dry-run, then give --yes")
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		q, lets, err := f.which(a, c, s, words, a.Clock())
		if err != nil {
			return err
		}
		turns, already, err := f.find(c.Context(), s, q, lets)
		if err != nil {
			return err
		}
		if f.dry {
			return showErased(a, c.Context(), s, turns, f)
		}
		if len(turns) > 0 && !f.yes {
			if err := showErased(a, c.Context(), s, turns, f); err != nil {
				return err
			}
		}
		defer s.RemakeIndex(c.Context(), len(turns))
		return f.erase(a, c.Context(), s, turns, already)
	})
}

// which returns the query for the selected turns, and a function that reports whether a turn of the query is selected.
func (f *eraseFlags) which(a *cli.App, c *cobra.Command, s *cli.Session, words []string, now time.Time) (q api.TurnQuery, lets func(*cli.Turn) bool, err error) {
	switch {
	case c.Flags().Changed("conversation"):
		id, _, _, err := conversationOf(a, c, s, f.conversation)
		if err != nil {
			return q, nil, err
		}
		q.Conversation = &id
		return q, func(*cli.Turn) bool { return true }, nil
	case c.Flags().Changed("retention"):
		p, err := s.Policies.Get(c.Context(), policy.ID(f.retention))
		if err != nil {
			return q, nil, cli.UnknownPolicy(err)
		}
		rules, err := retention.RulesOf(p)
		if err != nil {
			return q, nil, err
		}
		at, err := dag.TimeOf(now)
		if err != nil {
			return q, nil, err
		}
		d := retention.NewDecider(rules)
		return q, func(t *cli.Turn) bool {
			return d.Expired(&retention.Turn{Role: t.Role, Author: t.Author, Folder: t.Attrs[ingest.AttrFolder], CreatedAt: t.CreatedAt}, at)
		}, nil
	case f.author != "":
		return q, func(t *cli.Turn) bool { return t.Author == f.author }, nil
	case len(words) > 0:
		return q, func(t *cli.Turn) bool {
			text := strings.ToLower(t.Author + "\n" + t.Content)
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		}, nil
	}
	if f.from > 1 {
		q.After = fmt.Sprint(f.from - 1)
	}
	return q, func(t *cli.Turn) bool { return uint64(t.Seq) >= f.from && uint64(t.Seq) <= f.to }, nil
}

// find returns the selected turns that have a text, by number, and the number of those without text.
func (f *eraseFlags) find(ctx context.Context, s *cli.Session, q api.TurnQuery, lets func(*cli.Turn) bool) (turns []cli.Turn, already int, err error) {
	err = s.EachTurn(ctx, q, func(t *cli.Turn) error {
		switch {
		case f.to > 0 && uint64(t.Seq) > f.to:
			return errPast
		case !lets(t):
		case t.Redacted:
			already++
		default:
			turns = append(turns, *t)
		}
		return nil
	})
	if err == errPast { //nolint:errorlint // it is not wrapped
		err = nil
	}
	return turns, already, err
}

// errPast ends a listing when all further turns have greater numbers.
var errPast = fmt.Errorf("past the last number")

// showErased lists the turns to erase and, unless this is a dry run, asks for confirmation.
func showErased(a *cli.App, ctx context.Context, s *cli.Session, turns []cli.Turn, f *eraseFlags) error {
	const most = 20
	list := func(w io.Writer, turns []cli.Turn) {
		ids := make([]string, len(turns))
		for i := range turns {
			ids[i] = turns[i].ID.String()
		}
		width := cli.Apart(ids)
		for i := range turns {
			t := &turns[i]
			text := render.OneLine(render.Visible(t.Content), max(20, cli.Width(w, 120)-50))
			if t.Redacted {
				text = render.NoText
			}
			fmt.Fprintf(w, "%8d  %s  %.16s  %s: %s\n", t.Seq, cli.ID.Paint(w, t.ID.String()[:width]), t.CreatedAt.String(), cli.Role.Paint(w, render.Visible(t.Author)), text)
		}
	}
	if f.dry {
		left, err := leftOf(ctx, a, s, turns, "; before you erase more, graphkernel show TURN lists them for a turn")
		if err != nil {
			return err
		}
		j := erasedManyJSON{DryRun: true, Turns: []erasedJSON{}, ShownIn: []string{}, Contexts: left.contexts, Slices: left.slices, Transcripts: left.all()}
		for i := range turns {
			j.Turns = append(j.Turns, erasedJSON{turns[i].ID.String(), uint64(turns[i].Seq), turns[i].Author, turns[i].Content})
		}
		return a.IO.Print(j, func(w io.Writer) {
			list(w, turns)
			left.print(w)
			fmt.Fprintf(w, "%s would be erased; nothing was\n", cli.Count(len(turns), "turn"))
		})
	}
	list(a.IO.Stderr, turns[:min(len(turns), most)])
	if more := len(turns) - most; more > 0 {
		fmt.Fprintf(a.IO.Stderr, "and %d more; --dry-run lists all of them\n", more)
	}
	return a.IO.Agree(fmt.Sprintf("Erase the text of %s for good? It does not come back.", cli.Count(len(turns), "turn")), "nothing was erased")
}

// erase erases turns one after the other.
func (f *eraseFlags) erase(a *cli.App, ctx context.Context, s *cli.Session, turns []cli.Turn, already int) error {
	j := erasedManyJSON{Already: already, Reason: f.reason, Turns: []erasedJSON{}, ShownIn: []string{}}
	left, err := leftOf(ctx, a, s, turns, "") // when it is shown, it is too late for advice
	if err != nil {
		return err
	}
	bar := a.IO.Counting("erasing")
	defer bar.Stop()
	for i := range turns {
		e, err := s.EraseTurn(ctx, turns[i].ID, f.reason)
		if cli.Is(err, api.CodeInvalid) {
			return cli.Usagef("--reason: %w", err)
		} else if err != nil {
			return fmt.Errorf("%d of %s are erased, but turn %s is not: %w; erasing again continues from there", j.Erased, cli.Count(len(turns), "turn"), turns[i].ID, err)
		}
		j.Erased++
		j.Unguarded = cli.First(j.Unguarded, e.Unguarded)
		j.Turns = append(j.Turns, erasedJSON{ID: turns[i].ID.String(), Seq: uint64(turns[i].Seq)})
		bar.Update(int64(j.Erased), int64(len(turns)))
	}
	bar.Stop()
	shown, err := s.ShownIn(ctx, turns)
	if err != nil {
		return fmt.Errorf("%s are erased, but turns that quote their text to a model could not be searched for: %w", cli.Count(j.Erased, "turn"), err)
	}
	j.ShownIn, j.Contexts, j.Slices, j.Transcripts = cli.Texts(shown), left.contexts, left.slices, left.all()
	return a.IO.Print(j, func(w io.Writer) {
		fmt.Fprintf(w, "%s erased", cli.Count(j.Erased, "turn"))
		if already > 0 {
			fmt.Fprintf(w, "; %d had no text any more", already)
		}
		fmt.Fprintln(w)
		printUnguarded(w, j.Unguarded)
		if j.Erased > 0 {
			fmt.Fprint(w, inBackups)
		}
		printShownIn(w, shown)
		left.print(w)
	})
}
