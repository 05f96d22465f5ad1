package audit

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// A whoJSON says in three lines who asked, what the agent saw or may have been influenced by, and whether the evidence is genuine.
type whoJSON struct {
	Asked     *askedJSON `json:"asked,omitempty"`
	Nobody    string     `json:"nobody,omitempty"`    // why no person is named
	Seen      string     `json:"seen,omitempty"`      // only for a context: how many turns the agent was shown; for a context that was issued late, also when it was handed out
	Influence string     `json:"influence,omitempty"` // for other evidence, instead of Seen
	Genuine   string     `json:"genuine"`
}

// influence returns the sentence about the turns that a policy admitted, for evidence without the texts that the agent was shown; count names their number.
func influence(count string) string {
	return "may have been influenced by " + count + ", but the context that it was shown is not here"
}

// An askedJSON is the person's turn that the anchor of a bundle is, or goes back to within the bundle.
type askedJSON struct {
	Turn   string `json:"turn"`
	Author string `json:"author"`
	At     string `json:"at"`
	Text   string `json:"text"`
	Last   string `json:"last,omitempty"` // why this turn was chosen, if the evidence has no edges to follow
}

// readWho adds the three lines to the verdict. If the text may not be shown, they name nobody.
func (v *verdictJSON) readWho(f *evidence.Files, path string) error {
	w := &whoJSON{Genuine: strings.ReplaceAll(v.Verdict, "_", " ")}
	v.Who = w
	if v.Reason != "" {
		w.Genuine += ": " + render.Visible(v.Reason)
	}
	doubt, ok := v.readable()
	if !ok {
		w.Nobody = "the bundle is not believed, because the verdict is " + strings.ReplaceAll(v.Verdict, "_", " ")
		return nil
	}
	if doubt != "" {
		w.Genuine += "; " + doubt
	}
	if err := w.read(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if p := v.Provenance; p != nil && f.Bundle == nil && slice.IsContext(p.SchemaVersion) {
		w.Seen, w.Influence = "the context, of which parts are here", ""
	}
	if p := v.Provenance; p != nil && f.Bundle != nil {
		view := fmt.Sprintf(" (under policy %s, when the store held %s)", p.PolicyID, cli.Count(int(v.AsOf), "entry"))
		if w.Seen != "" {
			w.Seen += view
		} else {
			w.Influence += view
		}
	}
	switch {
	case w.Seen == "" || f.Bundle == nil && v.late == "":
	case v.late != "":
		w.Seen = v.late + ", with " + w.Seen
	case v.Ledger == nil:
		w.Seen += "; the bundle does not say when it was handed out, its proof and --trust do"
	}
	if missing := v.missing(); missing != "" {
		w.Genuine += ", but not whole: " + missing
	}
	return nil
}

// read finds, in verified evidence, the person who asked, and what the agent saw or may have been influenced by.
func (w *whoJSON) read(f *evidence.Files) error {
	if f.Bundle == nil {
		w.Nobody, w.Influence = "a disclosure does not say, because it has only parts of a bundle", influence("what the bundle held")
		return nil
	}
	body, err := kinds.Parse(f.Bundle)
	if err != nil {
		return err
	}
	switch b := body.(type) {
	case *facts.Bundle:
		w.Influence = influence(cli.Count(len(b.Facts), "fact"))
	case *beliefs.Bundle:
		w.Influence = influence(cli.Count(len(b.Revisions), "revision") + " of beliefs")
	case *contexts.Bundle:
		w.ofContext(b)
		return nil
	case *slice.Bundle:
		w.ofSlice(b)
		return nil
	default:
		w.Influence = influence(kinds.Of(f.Bundle).Noun)
	}
	w.Nobody = kinds.Of(f.Bundle).Noun + " names no turn that it continues"
	return nil
}

// ofSlice goes from the anchor, edge by edge, to the nearest turn of a person; of several nearest turns, to the newest.
func (w *whoJSON) ofSlice(b *slice.Bundle) {
	w.Influence = influence(cli.Count(len(b.Turns)-1, "turn") + " other than the anchor") // the anchor did not influence itself
	turns, parents := map[dag.TurnID]*slice.BundleTurn{}, map[dag.TurnID][]dag.TurnID{}
	for i := range b.Turns {
		turns[b.Turns[i].ID] = &b.Turns[i]
	}
	for _, e := range b.Edges {
		parents[e.Child] = append(parents[e.Child], e.Parent)
	}
	seen := map[dag.TurnID]bool{b.Anchor: true}
	for level := []dag.TurnID{b.Anchor}; len(level) > 0; {
		var asked *slice.BundleTurn
		var next []dag.TurnID
		for _, id := range level {
			if t := turns[id]; t != nil && byPerson(&t.Turn, t.Body) && (asked == nil || cmp.Or(cmp.Compare(t.CreatedAt, asked.CreatedAt), t.ID.Compare(asked.ID)) > 0) {
				asked = t
			}
			for _, p := range parents[id] {
				if !seen[p] {
					seen[p], next = true, append(next, p)
				}
			}
		}
		if asked != nil {
			w.name(&asked.Turn, asked.Body)
			return
		}
		level = next
	}
	w.Nobody = "no turn among the ancestors of its anchor was said by a person"
}

// ofContext uses the anchor, or the last turn of a person before it in its conversation: a context has no edges.
func (w *whoJSON) ofContext(b *contexts.Bundle) {
	w.Seen = cli.Count(len(b.Turns), "turn") + ", " + cli.Count(len(b.Facts), "fact") + " and " + cli.Count(len(b.Beliefs), "belief")
	if b.Request.Anchor == nil {
		w.Nobody = "the context has no anchor, so no turn of it is the request"
		return
	}
	numbers := map[string]dag.Seq{}
	for i := range b.Candidates {
		numbers[b.Candidates[i].ID] = b.Candidates[i].Seq
	}
	var anchor, asked *contexts.ChosenTurn
	for i := range b.Turns {
		if b.Turns[i].ID == *b.Request.Anchor {
			anchor = &b.Turns[i]
		}
	}
	if anchor == nil {
		w.Nobody = "the anchor " + render.Short(*b.Request.Anchor) + " is not among the turns that the context holds"
		return
	}
	at := numbers[anchor.ID.String()]
	for i := range b.Turns {
		t := &b.Turns[i]
		if n := numbers[t.ID.String()]; t.Conversation == anchor.Conversation && n <= at && byPerson(&t.Turn, &t.Body) && (asked == nil || n > numbers[asked.ID.String()]) {
			asked = t
		}
	}
	if asked == nil {
		w.Nobody = "no turn in it up to its anchor was said by a person"
		return
	}
	w.name(&asked.Turn, &asked.Body)
	if asked != anchor {
		w.Asked.Last = "the last person who spoke in the conversation of the anchor, up to it"
	}
}

// byPerson reports whether a person said a turn. If the turn has no text, only its role is known.
func byPerson(t *dag.Turn, body *dag.Body) bool {
	d := dag.Draft{Role: t.Role}
	if body != nil {
		d.Author, d.Attrs = body.Author, body.Attrs
	}
	return ingest.VoiceOf(&d) == dag.VoicePerson
}

// whoText is the most characters of the person's turn that are shown.
const whoText = 120

func (w *whoJSON) name(t *dag.Turn, body *dag.Body) {
	w.Asked = &askedJSON{Turn: t.ID.String(), At: t.CreatedAt.String()}
	if body != nil {
		w.Asked.Author, w.Asked.Text = body.Author, body.Content
	}
}

// printWho prints the three lines.
func (v *verdictJSON) printWho(out io.Writer) {
	w := v.Who
	asked := "nobody is named: " + w.Nobody
	if a := w.Asked; a != nil {
		author, text := "a person, whom the evidence does not name,", noText(v.why(a.Turn))
		if a.Author != "" {
			author, text = render.Visible(a.Author), render.OneLine(a.Text, whoText)
		}
		asked = fmt.Sprintf("%s at %s, turn %s: %s", author, a.At, a.Turn[:8], text)
		if a.Last != "" {
			asked += " (" + a.Last + ")"
		}
	}
	of, agent := "the agent saw", w.Seen
	switch {
	case w.Seen == "":
		of, agent = "the agent", cmp.Or(w.Influence, "not said")
	case v.late != "": // who acted on its newest turn cannot have seen it
		of = "handed out"
	}
	fmt.Fprintf(out, "asked by       %s\n%-13s  %s\ngenuine        %s\n", asked, of, agent, w.Genuine)
	for _, n := range v.Notes {
		fmt.Fprintf(out, "note           %s\n", n)
	}
}
