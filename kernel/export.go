package kernel

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// An ExportReport counts what an export wrote.
type ExportReport struct {
	Turns    int
	Redacted int // turns written without text
	Outside  int // parents that are not in the export
	Head     dag.Seq
}

// Export writes turns in the order of their admission, one line each, in the
// project's own format, salts included, so that importing them elsewhere makes the same
// turns, leaves and slices. If conversation is not nil, only its turns are
// written; their parents in other conversations are counted, and must be stored before such a file
// is imported. Erasures are not written; erased turns
// are, without text. Erasures have sequence numbers, so a turn that was
// admitted after an erasure gets a smaller number elsewhere, and a bundle that was cut after an erasure
// replays only here.
func (k Turns) Export(ctx context.Context, tenant dag.Tenant, conversation *dag.ConversationID, to io.Writer) (ExportReport, error) {
	var r ExportReport
	out := bufio.NewWriterSize(to, 1<<16)
	var line []byte
	err := k.store.Scan(ctx, tenant, 0, conversation, func(rec *store.Record) error {
		d, err := draft(rec)
		if err != nil {
			return err
		}
		if line, err = ingest.AppendLine(line[:0], &d); err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("kernel: export: %w", err)
		}
		r.Turns++
		r.Head = rec.Seq
		if d.Redacted {
			r.Redacted++
		}
		for _, p := range rec.Parents {
			if conversation != nil && p.Conversation != *conversation {
				r.Outside++
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	if err := out.Flush(); err != nil {
		return r, fmt.Errorf("kernel: export: %w", err)
	}
	return r, nil
}

// AppendRecord appends a stored turn as a line of the project's own format,
// without the line feed. Importing the line makes the same turn.
func AppendRecord(dst []byte, r *store.Record) ([]byte, error) {
	d, err := draft(r)
	if err != nil {
		return dst, err
	}
	line, err := ingest.AppendLine(dst, &d)
	if err != nil {
		return dst, err
	}
	return line[:len(line)-1], nil
}

// draft returns the draft whose admission makes the same turn as a stored one.
func draft(r *store.Record) (dag.Draft, error) {
	t := &r.Turn
	d := dag.Draft{
		ID: t.ID, Conversation: t.Conversation, Role: t.Role, Phase: t.Phase, Salience: t.Salience, HasSalience: true, CreatedAt: t.CreatedAt,
		Parents: make([]dag.Parent, len(r.Parents)),
	}
	for i, p := range r.Parents {
		d.Parents[i] = dag.Parent{ID: p.ID, Kind: p.Kind}
	}
	if r.Body == nil {
		d.Redacted, d.BodyDigest = true, t.BodyDigest
		return d, nil
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return dag.Draft{}, fmt.Errorf("kernel: stored turn %s: %w", t.ID, err)
	}
	salt := r.Salt
	d.Author, d.Content, d.Attrs, d.Salt = body.Author, body.Content, body.Attrs, &salt
	return d, nil
}

// Each calls fn with the turns of a conversation in the order of admission.
func (k Turns) Each(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, fn func(dag.Seq, *dag.Draft) error) error {
	return k.store.Scan(ctx, tenant, 0, &conversation, func(rec *store.Record) error {
		d, err := draft(rec)
		if err != nil {
			return err
		}
		return fn(rec.Seq, &d)
	})
}
