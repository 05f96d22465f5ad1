package segments

import (
	"fmt"

	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// TurnOf returns a stored turn in the form that an index accepts. It fails if the body is not in its form.
func TurnOf(r *store.Record) (retrieval.Turn, error) {
	t := retrieval.Turn{
		ID: r.Turn.ID, Conversation: r.Turn.Conversation, Seq: r.Seq, Role: r.Turn.Role, Salience: r.Turn.Salience, CreatedAt: r.Turn.CreatedAt, Leaf: r.Leaf, Withheld: r.Body == nil,
	}
	if r.Body == nil {
		return t, nil
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return t, fmt.Errorf("turn %s: %w", r.Turn.ID, err)
	}
	t.Author, t.Labels, t.Content = body.Author, retrieval.LabelsOf(body.Attrs), body.Content
	t.Says, t.Writes, t.Fails = extract.Says(&body), extract.Writes(&body), extract.Fails(&body)
	return t, nil
}
