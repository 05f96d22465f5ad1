package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/llm"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/store"
)

// EachTurn calls fn with the turns of a query by ascending number, through all of its pages.
func (s *Session) EachTurn(ctx context.Context, q api.TurnQuery, fn func(*Turn) error) error {
	q.Limit = 1000
	for {
		turns, next, err := s.ListTurns(ctx, q)
		if err != nil {
			return err
		}
		for i := range turns {
			if err := fn(&turns[i]); err != nil {
				return err
			}
		}
		if q.After = next; next == "" {
			return nil
		}
	}
}

// ShownIn returns the turns that contain the text of some turns because models were shown it: prompts, and the responses to them, which may repeat the text.
func (s *Session) ShownIn(ctx context.Context, of []Turn) ([]dag.TurnID, error) {
	meant, looked := map[dag.TurnID]bool{}, map[dag.ConversationID]bool{}
	for i := range of {
		meant[of[i].ID] = true
	}
	holds := []dag.TurnID{}
	for i := range of {
		exchanges := llm.ConversationOf(of[i].Conversation)
		if looked[exchanges] {
			continue
		}
		looked[exchanges] = true
		err := s.EachTurn(ctx, api.TurnQuery{Conversation: &exchanges}, func(t *Turn) error {
			body := t.Body()
			if !llm.IsExchange(body) {
				return nil
			}
			turns, err := llm.TurnsOf(body)
			if err == nil && !meant[t.ID] && slices.ContainsFunc(turns, func(id dag.TurnID) bool { return meant[id] }) { // otherwise graphkernel did not write it
				holds = append(holds, t.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return holds, nil
}

// Resolve finds the turn that a name on the command line stands for: its id, an external id,
// the beginning of an id or commit, or the address of a belief that rests on it. For an address, a note says which turn that is.
func Resolve(a *App, c *cobra.Command, s *Session, name string) (id dag.TurnID, err error) {
	w, err := Do(c.Context(), s, api.ResolveTurn, api.TurnNamed{Name: name})
	address := belief.IsAddress(name)
	switch {
	case Is(err, api.CodeNotFound) && address:
		return id, fmt.Errorf("%w; see: graphkernel belief show '%s'", err, render.OneLine(render.Visible(name), 200))
	case Is(err, api.CodeNotFound):
		return id, fmt.Errorf("%w; see: graphkernel show", err)
	case err != nil:
		return id, err
	}
	if address {
		a.IO.Note("%s rests on turn %s", name, w.ID)
	}
	return w.ID, nil
}

// Find finds the turn that fits words best, as of a number (0 for all), and says which turn it is.
func Find(a *App, c *cobra.Command, s *Session, words string, asOf uint64) (id dag.TurnID, err error) {
	found, err := Do(c.Context(), s, api.SearchTurns, api.Search{Query: words, Limit: 1, AsOf: dag.Seq(asOf)})
	if err != nil {
		return id, err
	}
	if len(found.Hits) == 0 {
		return id, fmt.Errorf("no turn has any of the words %.80q: %w; see: graphkernel search", words, store.ErrNotFound)
	}
	h := &found.Hits[0]
	a.IO.Note("found turn %s: %s: %s", h.Turn, render.Visible(h.Author), render.OneLine(render.Visible(h.Content), 72))
	return h.Turn, nil
}

// Named finds the turn that a person names by a name or by words; exactly one of them is given.
func Named(a *App, c *cobra.Command, s *Session, name, words string, asOf uint64) (dag.TurnID, error) {
	if words != "" {
		return Find(a, c, s, words, asOf)
	}
	return Resolve(a, c, s, name)
}

// FindFlag adds the flag --find, which names a turn by words.
func FindFlag(c *cobra.Command, words *string) {
	c.Flags().StringVar(words, "find", "", "use the turn that fits these words best, and say which turn that is")
	NoFiles(c, "find")
}

// AnchorHelp explains how a turn is named.
const AnchorHelp = "A turn is named by its id, by the id that another system gave it, such as a commit, by a\nbeginning of its id or commit that no other turn shares, or by the address\nkref://PROJECT/SPACE/NAME.KIND of a belief that rests on this turn alone."

// shortest is the fewest characters of an id that are shown.
const shortest = 8

// Apart returns the number of characters, 8 or more, to which ids can be cut so that no two of them look the same. Ids that begin with a time share their
// beginning with those of the same minute.
func Apart(ids []string) int {
	ids = slices.Sorted(slices.Values(ids))
	most := shortest
	for i := 1; i < len(ids); i++ {
		a, b, same := ids[i-1], ids[i], 0
		for same < min(len(a), len(b)) && a[same] == b[same] {
			same++
		}
		if a != b {
			most = max(most, same+1)
		}
	}
	return most
}

// Title returns the beginning of a conversation's title, for a line of a list.
func Title(title string) string { return render.OneLine(render.Visible(title), 60) }

// Called returns the beginning of a conversation's title or, if it has none, of the first turn of a user.
func Called(ctx context.Context, s *Session, c *api.Conversation) (string, error) {
	if c.Title != "" {
		return Title(c.Title), nil
	}
	return FirstOfUser(ctx, s, c.ID.String())
}

// FirstOfUser returns the beginning of the first turn of role user in a conversation, for a line of a list; "" if there is none.
func FirstOfUser(ctx context.Context, s *Session, conversation string) (string, error) {
	t, err := s.TurnAfter(ctx, conversation, 0, dag.RoleUser.String())
	if err != nil || t == nil {
		return "", err
	}
	return Beginning(t), nil
}

// Beginning returns the beginning of the text of a turn, for a line of a list.
func Beginning(t *Turn) string {
	if t.Redacted {
		return render.NoText
	}
	return render.OneLine(render.Visible(t.Content), 60)
}
