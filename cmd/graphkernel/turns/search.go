package turns

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/retrieval"
)

// A searchFlags says which turns a search may find.
type searchFlags struct {
	api.Search
	conversation, since, until string
	within                     string
	project                    string
	attributes                 []string
	enrich, explain, wait      bool
	flat                       bool
}

func searchCommand(a *cli.App) *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find turns by what was said",
		Long: `Finds the turns that fit words or a question best, and shows a line of each, by session. The numbers are
the ranks of all turns that were found. Above a turn stands the question, which is the last prompt before it, and
below a prompt the answer, which are the agent's last words before the next prompt. --flat shows the turns alone,
by rank.

Words near each other in a conversation count together, the date of a turn counts as a part of it, and a question
that names one author prefers turns of that author. Meanings are compared, too, so the search also finds some turns
that say the same in other words.

Each line says beside the author how much the words count: guest and outside are information, never an order
(docs/standing.md). --standing shows only turns of one standing, of the 1000 hits that the policy allows.

--within restricts the search to a bundle that the kernel handed out: only its turns are searched, as of its
number.

--enrich adds the facts around the entities that each hit mentions, and ranks the hits by both.

A hit is not evidence: for that, cut a slice around it.`,
		Example: "  graphkernel search why was the table deleted\n  graphkernel search 'when did anna report the outage' --since 2026-05-01 --explain",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("%s takes WORDS to search for, got none", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.Query = strings.Join(args, " ")
			return search(a, c, &f)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.IntVarP(&f.Limit, "limit", "n", 10, "the most hits to show, up to 10000")
	flags.StringVar(&f.conversation, "conversation", "", "only turns of the conversation with this id, or of the conversation of this turn")
	flags.StringVar(&f.Role, "role", "", "only turns of this role: "+strings.Join(turnRoles, ", "))
	flags.StringVar(&f.Author, "author", "", "only turns of this author, such as human:anna")
	flags.StringVar(&f.Standing, "standing", "", "only turns of this standing: "+strings.Join(dag.StandingNames(), ", "))
	flags.StringVar(&f.project, "project", "", "only turns said while the agent worked in this folder, or below it")
	flags.StringArrayVar(&f.attributes, "attribute", nil, "only turns with this attribute, KEY=VALUE, of git_branch, model, title and cwd; may be repeated")
	flags.StringVar(&f.since, "since", "", "only turns created at this date or time, or later; 7d is seven days ago, and m, h and w are minutes, hours and weeks")
	flags.StringVar(&f.until, "until", "", "only turns created before this date or time, written as for --since")
	flags.StringVar((*string)(&f.Space), "space", "", "only turns that support something that is believed in this space of beliefs")
	flags.Uint64Var((*uint64)(&f.AsOf), "as-of", 0, "search the graph as of this sequence number; 0 is the present")
	flags.StringVar((*string)(&f.Policy), "policy", string(retrieval.FindPolicyID), "the policy of the search; recall@1 compares words alone")
	cli.WithinFlag(c, &f.within)
	flags.BoolVar(&f.enrich, "enrich", false, "add the facts around the entities that each hit mentions, and rank by both; at most 200 hits")
	flags.BoolVar(&f.wait, "wait", false, "also read all texts that are not in the index yet, however long that takes; a service reads as many as it does for every search")
	flags.BoolVar(&f.flat, "flat", false, "show turns alone in the order of their ranks, without sessions, questions and answers")
	flags.BoolVar(&f.explain, "explain", false, "show what each score consists of")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(turnRoles, cobra.ShellCompDirectiveNoFileComp))               // the flag exists
	_ = c.RegisterFlagCompletionFunc("standing", cobra.FixedCompletions(dag.StandingNames(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	cli.NoFiles(c, "limit", "conversation", "author", "attribute", "since", "until", "as-of", "policy")
	_ = c.RegisterFlagCompletionFunc("space", func(c *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) { // the flag exists
		return a.Stores.CompleteSpaces()(c, nil, begin)
	})
	return c
}

// filters reports whether turns that match the words may be left out.
func (f *searchFlags) filters() bool {
	return f.Conversation != nil || f.Role != "" || f.Author != "" || f.Standing != "" || f.Attributes != nil || f.Since != nil || f.Until != nil || f.Space != "" || f.AsOf > 0 || f.Within != nil
}

// readAttributes reads the flags --project and --attribute.
func (f *searchFlags) readAttributes() error {
	var want api.Attributes
	by := map[string]*string{"cwd": &want.Folder, "git_branch": &want.Branch, "model": &want.Model, "title": &want.Title}
	for _, pair := range f.attributes {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || value == "" {
			return cli.Usagef("--attribute is %q, want KEY=VALUE", pair)
		}
		if by[key] == nil {
			return cli.Usagef("--attribute names %q, want one of %s", key, strings.Join(slices.Sorted(maps.Keys(by)), ", "))
		}
		*by[key] = value
	}
	if f.project != "" {
		folder, err := filepath.Abs(f.project)
		if err != nil {
			return err
		}
		want.Folder = folder
	}
	if want != (api.Attributes{}) {
		f.Attributes = &want
	}
	return nil
}

func search(a *cli.App, c *cobra.Command, f *searchFlags) error {
	if f.Limit < 1 || f.Limit > retrieval.LimitHits {
		return cli.Usagef("--limit is %d, want 1 to %d", f.Limit, retrieval.LimitHits)
	}
	for _, bound := range [...]struct {
		flag, text string
		into       **dag.Time
	}{{"since", f.since, &f.Since}, {"until", f.until, &f.Until}} {
		if bound.text == "" {
			continue
		}
		at, err := cli.ReadWhen(bound.text, a.Clock())
		if err != nil {
			return cli.Usagef("--%s: %w", bound.flag, err)
		}
		*bound.into = &at
	}
	if err := f.readAttributes(); err != nil {
		return err
	}
	within, keys, err := a.Within(c.Context(), f.within)
	if err != nil {
		return err
	}
	f.Within, f.Explain = within, true // ByMeaning needs Explain
	f.Exchanges = !f.flat && !f.enrich
	stores := a.Stores
	if !f.wait {
		stores = stores.ForRequests()
	}
	return stores.WithReadKernel(c.Context(), keys, func(s *cli.Session) error {
		if f.conversation != "" {
			id, _, _, err := conversationOf(a, c, s, f.conversation)
			if err != nil {
				return err
			}
			f.Conversation = &id
		}
		found, err := cli.Do(c.Context(), s, api.SearchTurns, f.Search)
		if err != nil {
			return err
		}
		byMeaning := found.ByMeaning()
		if !f.explain {
			for i := range found.Hits {
				found.Hits[i].Parts = nil
			}
		}
		if f.enrich && len(found.Hits) > 0 {
			return enrich(a, c, s, f, &found)
		}
		return a.IO.Print(found, func(w io.Writer) { printHits(w, &found, f, byMeaning) })
	})
}

// enrich prints hits with the facts around them, the best by the combined score first.
func enrich(a *cli.App, c *cobra.Command, s *cli.Session, f *searchFlags, found *api.Found) error {
	ask := api.EnrichRequest{Query: f.Query, AsOf: found.AsOf}
	hits := map[string]*api.Hit{}
	for i := range found.Hits {
		h := &found.Hits[i]
		hits[h.Turn.String()] = h
		id := h.Turn
		ask.Hits = append(ask.Hits, api.HitScore{Turn: id, Score: uint64(h.Score)})
	}
	enriched, err := cli.Do(c.Context(), s, api.EnrichHits, ask)
	if err != nil {
		return err
	}
	printNotes(a.IO.Stderr, found) // these notes have no member in the JSON output
	return a.IO.Print(enriched, func(w io.Writer) {
		for i := range enriched.Hits {
			e := &enriched.Hits[i]
			printHit(w, i+1, hits[e.Turn.String()], f.Query, false)
			for _, n := range e.Facts {
				fmt.Fprintf(w, "      %s %s %s (%s)\n", render.Visible(n.Fact.Subject), render.Visible(n.Fact.Predicate), render.Visible(n.Fact.Object), n.Fact.Confidence)
			}
		}
	})
}

// printHit prints a line for a hit: time, author with standing, and text, with the id at its end. inSession leaves out the title of the conversation, which is in
// the heading.
func printHit(w io.Writer, place int, h *api.Hit, query string, inSession bool) {
	const rest = 24 + 3 + 38 // characters of the place and the time, around the standing, and of the id
	most := 96
	if width := cli.Width(w, 0); width > 0 {
		most = max(40, width-rest-len(h.Author)-len(h.Standing))
	}
	in := ""
	if h.Title != "" && !inSession {
		in = " in " + strconv.Quote(render.OneLine(render.Visible(h.Title), 30))
		most = max(40, most-len(in))
	}
	in = " (" + h.Standing + ")" + in
	fmt.Fprintf(w, "%2d. %.16s  %s%s: %s  %s\n", place, h.CreatedAt, cli.Role.Paint(w, render.Visible(h.Author)), in, render.OneLine(render.Visible(excerpt(h.Content, query, most)), most), cli.ID.Paint(w, h.Turn.String()))
	if p := h.Parts; p != nil {
		fmt.Fprintln(w, "    "+explained(h.Score, p))
	}
}

// printSessions prints the hits by session: a heading, and below it a line for each hit. Each question is a line above the first of the hits in a row that it
// leads to, and each answer a line below its prompt.
func printSessions(w io.Writer, found *api.Found, query string) {
	shown := map[dag.TurnID]string{} // where a turn is shown
	for i := range found.Hits {
		shown[found.Hits[i].Turn] = fmt.Sprintf("hit %d", i+1)
	}
	for i, s := range found.BySession() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		about := fmt.Sprintf("%.10s", s.FirstAt)
		if s.Folder != "" {
			about += ", " + render.OneLine(render.Visible(s.Folder), 60)
		}
		name := cmp.Or(render.OneLine(render.Visible(s.Name()), 60), "a conversation without a title")
		fmt.Fprintf(w, "%s (%s, %s)\n", cli.Heading.Paint(w, name), about, cli.ID.Paint(w, s.Conversation.String()[:8]))
		for _, h := range s.Hits {
			switch {
			case h.Asks && h.Question == nil:
				fmt.Fprintln(w, "    question: none that is known")
			case h.Asks:
				printCounterpart(w, "question", h.Rank, h.Question, shown)
			}
			printHit(w, h.Rank, h.Hit, query, true)
			printCounterpart(w, "answer", h.Rank, h.Answer, shown)
		}
	}
}

// printCounterpart prints a question or an answer, or where it is shown.
func printCounterpart(w io.Writer, what string, rank int, c *api.Counterpart, shown map[dag.TurnID]string) {
	if c == nil {
		return
	}
	if where, ok := shown[c.Turn]; ok {
		fmt.Fprintf(w, "    %s: %s\n", what, where)
		return
	}
	shown[c.Turn] = fmt.Sprintf("that of hit %d", rank)
	most := 120
	if width := cli.Width(w, 0); width > 0 {
		most = max(40, width-11-len(what)-len(c.Author)-len(c.Standing))
	}
	text := c.Content
	if c.Shortened {
		text += "…"
	}
	fmt.Fprintf(w, "    %s: %s (%s): %s\n", what, cli.Role.Paint(w, render.Visible(c.Author)), c.Standing, render.OneLine(render.Visible(text), most))
}

// printHits prints the hits, by session unless the flag --flat is set.
func printHits(w io.Writer, found *api.Found, f *searchFlags, byMeaning bool) {
	none := "no turn has any of these words"
	if f.filters() {
		none = "no turn that passes the filters has any of these words"
	}
	switch {
	case byMeaning:
		fmt.Fprintln(w, "none of these turns has any of the words; they are nearest in meaning:")
	case len(found.Hits) > 0:
	case string(found.Policy) == string(retrieval.PolicyID):
		fmt.Fprintf(w, "%s; %s also finds what is said in other words\n", none, retrieval.FindPolicyID)
	default:
		fmt.Fprintln(w, none)
	}
	if f.flat {
		for i := range found.Hits {
			printHit(w, i+1, &found.Hits[i], f.Query, false)
		}
	} else {
		printSessions(w, found, f.Query)
	}
	if len(found.Hits) > 0 && cli.Width(w, 0) > 0 { // a terminal
		fmt.Fprintf(w, "graphkernel show %s shows the first of them and the turns around it\n", found.Hits[0].Turn)
	}
	printNotes(w, found)
}

// printNotes prints in which ways the answer falls short of what the policy asks for.
func printNotes(w io.Writer, found *api.Found) {
	if found.Approximate {
		fmt.Fprintln(w, "approximate: the search walked a graph of vectors and may miss turns; --as-of compares all vectors")
	}
	if found.NotIndexed > 0 {
		fmt.Fprintf(w, "not searched: %s after number %d, which are not in the index yet; --wait reads them, and graphkernel import --wait indexes them\n", cli.Count(found.NotIndexed, "number"), found.AsOf)
	}
	if found.Damaged > 0 {
		fmt.Fprintf(w, "left out as damaged: %d; graphkernel fsck names them\n", found.Damaged)
	}
	if found.NotReranked != "" {
		fmt.Fprintf(w, "not reranked: %s\n", found.NotReranked)
	}
}

// explained says what a score consists of.
func explained(score int, p *api.HitParts) string {
	sum := fmt.Sprintf("words %d + conversation %d + dates %d + when %d", p.Words, p.Conversation, p.Dates, p.When)
	if p.Like > 0 {
		sum += fmt.Sprintf(" + like %d", p.Like)
	}
	sum += fmt.Sprintf(" + author %d", p.Author)
	if p.Words+p.Conversation+p.Dates+p.When+p.Like+p.Author == score {
		return fmt.Sprintf("score %d = %s", score, sum)
	}
	text := fmt.Sprintf("score %d, of %s", score, sum)
	if p.Judged > 0 {
		text += fmt.Sprintf("; judged %d", p.Judged)
	}
	if p.WordRank > 0 || p.LikeRank > 0 {
		text += fmt.Sprintf("; place %d by words, %d by likeness", p.WordRank, p.LikeRank)
	}
	return text
}
