package turns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/token"
)

// An issuedCommand is the command slices or contexts: both list the same records of issued evidence.
type issuedCommand struct {
	name, one string
	kind      string // the only kind that it shows; "" for all
}

var (
	slicesOf   = issuedCommand{"slices", "slice", ""}
	contextsOf = issuedCommand{"contexts", "context", cli.KindContext}
)

// issuedKinds are the values of --kind.
var issuedKinds = []string{cli.KindSlice, cli.KindFacts, cli.KindContext}

func (of issuedCommand) command(a *cli.App) *cobra.Command {
	var f listFlags
	kind := of.kind
	c := &cobra.Command{
		Use:   of.name,
		Short: "List the " + of.name + " that were handed out, show one, or write it again",
		Args:  cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if kind != "" && !slices.Contains(issuedKinds, kind) {
				return cli.Usagef("--kind is %q, want %s", kind, strings.Join(issuedKinds, ", "))
			}
			return listIssued(a, c, of, kind, &f)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	if of.kind == "" {
		c.Long = `Lists what was handed out, the newest first: slices of turns, slices of facts, and contexts. Each line shows when
it was handed out, under which policy, how many turns (or facts) it holds, who asked for it first (the id of an API
key, jwt: and a subject, local or stdio), and what was asked for: the task of a context, the names that a slice of
facts starts from, or the text of the anchor of a slice.`
		c.Flags().StringVar(&kind, "kind", "", "only this kind: "+strings.Join(issuedKinds, ", "))
		_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(issuedKinds, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	} else {
		c.Long = "Lists the contexts that were handed out, the newest first. It is the same as graphkernel slices --kind context."
	}
	c.Flags().IntVarP(&f.limit, "limit", "n", 0, fmt.Sprintf("the most to list (default: %d; all with --output json)", listedByDefault))
	c.Flags().StringVar(&f.since, "since", "", "only what was handed out at this date or time, or later")
	cli.NoFiles(c, "limit", "since")
	c.AddCommand(of.show(a), of.get(a))
	return c
}

func (of issuedCommand) show(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a " + of.one + " that was handed out",
		Long: `Shows the record, and computes the bundle again to show what it holds. If text in it was erased, that is not
possible, and only the record is shown. ID is its id, or a beginning of at least 4 characters that no other shares.

With --output json the result is {"issued":RECORD,"bundle":BUNDLE,"gone":WHY}, without "bundle" or without "gone".`,
		Args:              cli.OneArg("ID"),
		RunE:              func(c *cobra.Command, args []string) error { return showIssued(a, c, of, args[0]) },
		ValidArgsFunction: a.Stores.CompleteIssued(of.kind),
	}
}

func (of issuedCommand) get(a *cli.App) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "get ID",
		Short: "Write a " + of.one + " again, as it was handed out",
		Long: `Computes the newest bundle of the id again, byte for byte as it was handed out, and writes it. Nothing is signed or
recorded. If text in it was erased, that is not possible, and the exit code is 1. ID is its id, or a beginning of
at least 4 characters that no other shares.

With --output json and -o, the result on standard output is {"slice_id","kind","file","bundle_sha256"}.`,
		Example:           "  graphkernel " + of.name + " get 012a7e26 -o again.json",
		Args:              cli.OneArg("ID"),
		RunE:              func(c *cobra.Command, args []string) error { return getIssued(a, c, of, args[0], out) },
		ValidArgsFunction: a.Stores.CompleteIssued(of.kind),
	}
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write (default: standard output)")
	return c
}

// find returns the record that a person names, which must be of the command's kind.
func (of issuedCommand) find(ctx context.Context, s *cli.Session, name string) (api.Issued, error) {
	i, err := cli.Issued(ctx, s, name)
	if kind := cli.KindOf(&i); err == nil && of.kind != "" && kind != of.kind {
		return i, cli.Usagef("%s is a slice and no context; see: graphkernel slices show %[1]s", i.SliceID)
	}
	return i, err
}

// A listedJSON is a line of the list.
type listedJSON struct {
	Kind string `json:"kind"`
	api.Issued
	said string // text of the anchor
}

func listIssued(a *cli.App, c *cobra.Command, of issuedCommand, kind string, f *listFlags) error {
	since, most, err := f.read(a, c)
	if err != nil {
		return err
	}
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		if err := s.HoldsTurns(c.Context()); err != nil {
			return err
		}
		list, more := []listedJSON{}, false
		q := api.SliceQuery{Kind: kind, Counted: true, Paging: api.Paging{Limit: min(cmp.Or(most+1, 100), 100)}}
		err := cli.EachIssued(c.Context(), s, q, func(i api.Issued) bool {
			if i.IssuedAt.String() < since.String() {
				return false // the remaining records are older
			}
			if more = most > 0 && len(list) == most; more {
				return false
			}
			list = append(list, listedJSON{Kind: cli.KindOf(&i), Issued: i})
			return true
		})
		if err != nil {
			return err
		}
		if a.IO.Output != "json" {
			if err := readAnchors(c.Context(), s, list); err != nil {
				return err
			}
		}
		return a.IO.Print(map[string]any{of.name: list}, func(w io.Writer) { printIssued(w, of, list, more) })
	})
}

// readAnchors reads the texts of the anchors of slices.
func readAnchors(ctx context.Context, s *cli.Session, list []listedJSON) error {
	of := map[string]*cli.Turn{}
	var ids []dag.TurnID
	for i := range list {
		if l := &list[i]; l.Kind == cli.KindSlice && of[l.Anchor.String()] == nil {
			id := l.Anchor
			of[l.Anchor.String()] = &cli.Turn{}
			ids = append(ids, id)
		}
	}
	turns, err := s.LookUp(ctx, ids)
	if err != nil {
		return err
	}
	for i := range turns {
		of[turns[i].ID.String()] = &turns[i]
	}
	for i := range list {
		if t := of[list[i].Anchor.String()]; t != nil {
			list[i].said = t.Content
		}
		if t := of[list[i].Anchor.String()]; t != nil && t.Redacted {
			list[i].said = render.NoText
		}
	}
	return nil
}

func printIssued(w io.Writer, of issuedCommand, list []listedJSON, more bool) {
	t := cli.NewTable(w, "id", "kind", "when", "policy", "holds", "asked by", "asked for")
	anchors := make([]string, len(list))
	for i := range list {
		anchors[i] = list[i].Anchor.String()
	}
	width := cli.Apart(anchors)
	for i := range list {
		l := &list[i]
		asked := cmp.Or(l.said, l.Asked)
		if l.Kind == cli.KindSlice {
			asked = anchors[i][:width] + " " + asked
		}
		t.AppendRow(table.Row{cli.ID.Paint(w, string(l.SliceID)), l.Kind, l.IssuedAt.String()[:16], l.PolicyID, l.Holds, asker(&l.Issued), render.OneLine(render.Visible(asked), 60)})
	}
	t.Render()
	if more {
		fmt.Fprintf(w, "the newest %d are listed; --limit lists more\n", len(list))
		return
	}
	if of.kind == "" {
		fmt.Fprintf(w, "%d handed out\n", len(list))
		return
	}
	fmt.Fprintln(w, cli.Count(len(list), of.one))
}

// asker shows the session of an agent for which a context was made, or else the caller.
func asker(i *api.Issued) string {
	if i.Recipient == nil {
		return askedBy(i.By)
	}
	who := render.OneLine(render.Visible(i.Recipient.Agent+" "+i.Recipient.Session), 22)
	if i.NotGiven != 0 {
		who += ", not given"
	}
	return who
}

// askedBy shows the caller, if it is recorded.
func askedBy(name string) string {
	return cmp.Or(render.Visible(name), "not recorded")
}

// An issuedJSON is one record in full.
type issuedJSON struct {
	Issued api.Issued      `json:"issued"`
	Bundle json.RawMessage `json:"bundle,omitempty"`
	Gone   string          `json:"gone,omitempty"`
}

func showIssued(a *cli.App, c *cobra.Command, of issuedCommand, name string) error {
	return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		i, err := of.find(c.Context(), s, name)
		if err != nil {
			return err
		}
		shown := issuedJSON{Issued: i}
		if shown.Bundle, err = cli.Again(c.Context(), s, &i); cli.Is(err, api.CodeErased) {
			shown.Gone = err.Error()
		} else if err != nil {
			return err
		}
		var holds func(w io.Writer)
		if shown.Bundle != nil {
			if holds, err = holding(&i, shown.Bundle); err != nil {
				return err
			}
		}
		return a.IO.Print(shown, func(w io.Writer) {
			line := func(what, format string, args ...any) {
				fmt.Fprintf(w, "%-12s  %s\n", what, fmt.Sprintf(format, args...))
			}
			line("id", "%s, a %s", cli.ID.Paint(w, string(i.SliceID)), map[string]string{cli.KindSlice: "slice of turns", cli.KindFacts: "slice of facts", cli.KindContext: "context"}[cli.KindOf(&i)])
			line("handed out", "%s, as number %d", i.IssuedAt, i.Number)
			if cli.KindOf(&i) == cli.KindSlice {
				line("anchor", "%s", i.Anchor)
			}
			line("asked by", "%s", askedBy(i.By))
			if to := i.Recipient; to != nil {
				line("made for", "%s session %s, at %s", render.Visible(to.Agent), render.Visible(to.Session), render.Visible(to.Event))
			}
			if len(i.Folders) > 0 {
				line("chosen from", "conversations held in %s", render.Visible(strings.Join(i.Folders, ", ")))
			}
			if i.NotGiven != 0 {
				line("not given", "it did not reach the session, as number %d says", i.NotGiven)
			}
			if i.Asked != "" {
				line("asked for", "%s", render.OneLine(render.Visible(i.Asked), cli.Width(w, 214)-14))
			}
			line("policy", "%s", i.PolicyID)
			line("as of", "%d", i.AsOf)
			line("key", "%s", i.KeyID)
			line("bundle", "SHA-256 %s", i.BundleSHA256)
			if shown.Gone != "" {
				fmt.Fprintf(w, "\n%s\n", render.Visible(shown.Gone))
				return
			}
			fmt.Fprintln(w)
			holds(w)
		})
	})
}

// holding reads a bundle, and returns a function that prints its content.
func holding(i *api.Issued, bundle []byte) (func(w io.Writer), error) {
	said := func(w io.Writer, width int, id dag.TurnID, author, text, why string) {
		fmt.Fprintf(w, "  %s %s: %s\n", cli.ID.Paint(w, id.String()[:width]), cli.Role.Paint(w, render.Visible(author)), render.OneLine(render.Visible(text), max(20, cli.Width(w, 100)-30)))
		if why != "" {
			fmt.Fprintf(w, "           %s\n", cli.Faint.Paint(w, why))
		}
	}
	switch cli.KindOf(i) {
	case cli.KindContext:
		b, err := contexts.Parse(bundle)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer) {
			fmt.Fprintf(w, "%s, %s and %s of %s, %d of %s\n", cli.Count(len(b.Turns), "turn"), cli.Count(len(b.Facts), "fact"), cli.Count(len(b.Beliefs), "belief"), cli.Count(len(b.Candidates), "candidate"),
				b.Spent(), cli.Count(b.Request.Budget, "token"))
			ids := make([]string, len(b.Turns))
			for i := range b.Turns {
				ids[i] = b.Turns[i].ID.String()
			}
			width := cli.Apart(ids)
			for i := range b.Turns {
				said(w, width, b.Turns[i].ID, b.Turns[i].Body.Author, b.Turns[i].Body.Content, "")
			}
			printFacts(w, b.Facts)
			if missing := b.Sufficiency().Missing; len(missing) > 0 {
				fmt.Fprintf(w, "words of the task that no chosen text has: %s\n", render.OneLine(render.Visible(strings.Join(missing, ", ")), 200))
			}
		}, nil
	case cli.KindFacts:
		b, err := facts.Parse(bundle)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer) {
			fmt.Fprintf(w, "%s of %s\n", cli.Count(len(b.Facts), "fact"), counted(len(b.Reached), "entity", "entities"))
			printFacts(w, b.Facts)
		}, nil
	}
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return nil, err
	}
	at := map[dag.TurnID]*slice.BundleTurn{}
	for i := range b.Turns {
		at[b.Turns[i].ID] = &b.Turns[i]
	}
	if len(b.Order) != len(b.Turns) {
		return nil, errors.New("the reading order of the bundle names other turns than the bundle holds")
	}
	return func(w io.Writer) {
		fmt.Fprintf(w, "%s, %s\n", cli.Count(len(b.Turns), "turn"), cli.Count(len(b.Edges), "edge"))
		width := cli.Apart(cli.Texts(b.Order))
		for _, id := range b.Order {
			t := at[id]
			author, text := t.Role.String(), render.NoText
			if t.Body != nil {
				author, text = t.Body.Author, t.Body.Content
			}
			said(w, width, id, author, text, fmt.Sprintf("score %s, %s", render.Score(t.Admission.Score), render.Reason(&t.Admission)))
		}
	}, nil
}

func printFacts(w io.Writer, list []knowledge.Act) {
	for i := range list {
		f := &list[i].Fact
		fmt.Fprintf(w, "  %s %s %s (%s)\n", render.Visible(f.Subject), render.Visible(f.Predicate), render.Visible(f.Object), f.Confidence)
	}
}

// counted is like cli.Count for nouns with an irregular plural.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func getIssued(a *cli.App, c *cobra.Command, of issuedCommand, name, out string) error {
	if err := a.IO.ForPrograms(out, "a bundle"); err != nil {
		return err
	}
	var i api.Issued
	err := a.IO.WriteTo(out, func(w io.Writer) error {
		return a.Stores.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) (err error) {
			if i, err = of.find(c.Context(), s, name); err != nil {
				return err
			}
			bundle, err := cli.Again(c.Context(), s, &i)
			if err != nil {
				return err
			}
			return a.IO.WriteDocument(w, bundle)
		})
	})
	if err != nil || a.IO.Output != "json" || cli.ToStdout(out) {
		return err
	}
	return a.IO.PrintJSON(map[string]string{"slice_id": string(i.SliceID), "kind": cli.KindOf(&i), "file": out, "bundle_sha256": i.BundleSHA256.String()})
}
