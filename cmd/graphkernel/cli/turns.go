package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/llm"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// EachTurn calls fn with the turns of a conversation, by their numbers. body is nil if it is
// erased.
func (s *Session) EachTurn(ctx context.Context, id *dag.ConversationID, after dag.Seq, fn func(*store.Record, *dag.Body) error) error {
	const page, bytes = 1000, 16 << 20
	for more := true; more; {
		var records []store.Record
		var err error
		if records, more, err = s.Turns().After(ctx, s.Tenant, after, id, page, bytes); err != nil {
			return err
		}
		for i := range records {
			r := &records[i]
			after = r.Seq
			body, err := BodyOf(r)
			if err != nil {
				return err
			}
			if err := fn(r, body); err != nil {
				return err
			}
		}
	}
	return nil
}

// ParentsOf returns the parents of a record.
func ParentsOf(r *store.Record) []dag.Parent {
	parents := make([]dag.Parent, len(r.Parents))
	for i := range parents {
		parents[i] = dag.Parent{ID: r.Parents[i].ID, Kind: r.Parents[i].Kind}
	}
	return parents
}

// BodyOf parses a turn's body; nil: it is erased, or was withheld.
func BodyOf(r *store.Record) (*dag.Body, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return nil, fmt.Errorf("stored turn %s: %w", r.Turn.ID, err)
	}
	return &body, nil
}

// ShownIn returns the turns that still hold what models were shown of a turn: prompts, and the
// responses to them, which may repeat it.
func (s *Session) ShownIn(ctx context.Context, id dag.TurnID) ([]dag.TurnID, error) {
	r, err := s.Turns().Get(ctx, s.Tenant, id)
	if err != nil {
		return nil, err
	}
	holds := []dag.TurnID{}
	exchanges := llm.ConversationOf(r.Turn.Conversation)
	err = s.EachTurn(ctx, &exchanges, 0, func(r *store.Record, body *dag.Body) error {
		if !llm.IsExchange(body) {
			return nil
		}
		turns, err := llm.TurnsOf(body)
		if err == nil && slices.Contains(turns, id) { // else it is none that graphkernel wrote
			holds = append(holds, r.Turn.ID)
		}
		return nil
	})
	return holds, err
}

// Resolve finds the turn that a name on the command line stands for: its id, the beginning of it,
// or an external id.
func Resolve(c *cobra.Command, s *Session, name string) (dag.TurnID, error) {
	id, err := s.Turns().Resolve(c.Context(), s.Tenant, name)
	if errors.Is(err, store.ErrNotFound) {
		return id, fmt.Errorf("%w; see: graphkernel show", err)
	}
	return id, err
}

// AnchorHelp says how a turn is named.
const AnchorHelp = "A turn is named by its id, by a beginning of its id that no other shares, or by the\nid that another system gave it."
