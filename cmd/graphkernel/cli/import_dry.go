package cli

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/token"
)

// TryImport reads everything that an import would read, looks up which turns are stored, and counts what the import would do. It stores nothing, makes no
// store, and needs only the permission to read. Admitted and Edges count the new turns and edges. Permissions to admit, and parents named in lines of the
// project's own format, are not checked.
func (st *Stores) TryImport(ctx context.Context, paths []string, opts ingest.Options) (admission.ImportReport, error) {
	try := func(s *Session) (admission.ImportReport, error) {
		t := &importTry{session: s, seen: map[dag.TurnID]bool{}, conversations: map[dag.ConversationID]bool{}}
		read, err := ingest.ReadAll(ctx, paths, opts, func(b *ingest.Batch) error { return t.count(ctx, b) })
		t.report.Read, t.report.Conversations = read, len(t.conversations)
		if s != nil {
			head, headErr := s.Head(ctx)
			t.report.Head = head
			err = errors.Join(err, headErr)
		}
		return t.report, err
	}
	var report admission.ImportReport
	err := st.WithIdleKernel(ctx, token.Keyring{}, func(s *Session) (err error) {
		report, err = try(s)
		return err
	})
	if errors.Is(err, ErrNoStore) { // then everything would be new
		return try(nil)
	}
	return report, err
}

// An importTry is a running TryImport.
type importTry struct {
	session       *Session // nil: nothing is stored
	seen          map[dag.TurnID]bool
	conversations map[dag.ConversationID]bool
	report        admission.ImportReport
}

func (t *importTry) count(ctx context.Context, b *ingest.Batch) error {
	ids := make([]dag.TurnID, len(b.Drafts))
	for i := range b.Drafts {
		ids[i] = b.Drafts[i].ID
		t.conversations[b.Drafts[i].Conversation] = true
	}
	stored := make(map[dag.TurnID]*Turn)
	if t.session != nil {
		here, err := t.session.LookUp(ctx, ids)
		if err != nil {
			return err
		}
		for i := range here {
			stored[here[i].ID] = &here[i]
		}
	}
	for i := range b.Drafts {
		d := &b.Drafts[i]
		switch was := stored[d.ID]; {
		case was != nil:
			countStored(&t.report, was, d, b.Places[i])
		case t.seen[d.ID]:
			t.report.Existing++
		default:
			t.seen[d.ID] = true
			t.report.Admitted++
			t.report.Edges += len(d.Parents)
		}
	}
	return nil
}
