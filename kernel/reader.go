package kernel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A Reader reads stored turns.
type Reader struct{ history projection.Checked }

// Operations lists the operations that read turns.
func (k Reader) Operations() []api.Answer {
	return []api.Answer{api.GetTurn.By(k.getTurn), api.ListTurns.By(k.listTurns), api.LookUpTurns.By(k.lookUpTurns)}
}

// Head returns a tenant's newest sequence number.
func (k Reader) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return k.history.Head(ctx, tenant)
}

// Get returns the record of one turn, or an error that wraps store.ErrNotFound.
func (k Reader) Get(ctx context.Context, tenant dag.Tenant, id dag.TurnID) (store.Record, error) {
	records, err := k.history.Turns(ctx, tenant, store.IDs{id})
	if err != nil {
		return store.Record{}, err
	}
	if len(records) == 0 {
		return store.Record{}, fmt.Errorf("turn %s of tenant %s: %w", id, tenant, store.ErrNotFound)
	}
	return records[0], nil
}

// errEnough ends a scan that has read enough records.
var errEnough = errors.New("enough")

// After returns up to limit records of turns numbered above after, ascending, and
// whether there are more. If conversation is not nil, it returns only turns of that conversation. It
// stops early after the record with which the texts exceed most bytes in total.
func (k Reader) After(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, limit, most int) (records []store.Record, more bool, err error) {
	records, _, more, err = k.By(ctx, tenant, TurnFilter{}, after, conversation, limit, most)
	return records, more, err
}

// mostLooked is the largest number of turns that one listing with a filter reads.
const mostLooked = 10_000

// A TurnFilter selects the turns of a listing. The zero value selects every turn.
type TurnFilter struct {
	Credential string   // the credential that brought the turns, see [access.Identity.Credential]; "": turns with any credential or without one
	Role       dag.Role // 0: any role
}

func (f TurnFilter) lets(r *store.Record) bool {
	return (f.Credential == "" || r.Key == f.Credential) && (f.Role == 0 || r.Turn.Role == f.Role)
}

// By is After for the turns that a filter selects. last is the number of the last turn
// that was read, 0 if there was none: the next page begins after it. With a filter, at most
// 10 000 turns are read.
func (k Reader) By(ctx context.Context, tenant dag.Tenant, only TurnFilter, after dag.Seq, conversation *dag.ConversationID, limit, most int) (records []store.Record, last dag.Seq, more bool, err error) {
	size, looked := 0, 0
	err = k.history.Scan(ctx, tenant, after, conversation, func(r *store.Record) error {
		if len(records) >= limit || size > most || only != (TurnFilter{}) && looked == mostLooked {
			more = true
			return errEnough
		}
		looked++
		last = r.Seq
		if !only.lets(r) {
			return nil
		}
		size += len(r.Body)
		records = append(records, *r)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, false, err
	}
	return records, last, more, nil
}

// pageBytes is about how many bytes of text a page of turns has, unless a service has its own limit.
const pageBytes = 16 << 20

func (k Reader) getTurn(ctx context.Context, tenant dag.Tenant, in api.TurnByID) (w api.StoredTurn, err error) {
	record, err := k.Get(ctx, tenant, in.ID)
	if err != nil {
		return w, err
	}
	return Stored(&record)
}

// Page lists a page of turns; bytes is about how much text it has at most. found reports whether any turn was
// read, also if the filter selected none.
func (k Reader) Page(ctx context.Context, tenant dag.Tenant, in api.TurnQuery, bytes int) (w api.StoredTurns, found bool, err error) {
	after, err := in.Number()
	if err != nil {
		return w, false, err
	}
	only := TurnFilter{Credential: in.Key}
	if in.Key != "" {
		if err := access.CheckCredential(in.Key); err != nil {
			return w, false, &api.Fault{Place: "query parameter key", Err: err}
		}
	}
	if in.Role != "" {
		if only.Role, err = dag.ParseRole(in.Role); err != nil {
			return w, false, &api.Fault{Place: "query parameter role", Err: err}
		}
	}
	records, last, more, err := k.By(ctx, tenant, only, dag.Seq(after), in.Conversation, in.Size(), bytes)
	if err != nil {
		return w, false, err
	}
	if more {
		w.Next = api.Next(uint64(last))
	}
	w.Turns, err = stored(records)
	return w, last != 0, err
}

func (k Reader) listTurns(ctx context.Context, tenant dag.Tenant, in api.TurnQuery) (api.StoredTurns, error) {
	w, _, err := k.Page(ctx, tenant, in, pageBytes)
	return w, err
}

// PageOf lists a page of a conversation's turns; bytes is about how much text it has at most.
func (k Reader) PageOf(ctx context.Context, tenant dag.Tenant, in api.ConversationByID, bytes int) (w api.ConversationTurns, err error) {
	page, found, err := k.Page(ctx, tenant, api.TurnQuery{Conversation: &in.ID, Key: in.Key, Paging: in.Paging}, bytes)
	if err == nil && !found && in.After == "" {
		err = fmt.Errorf("conversation %s: %w", in.ID, store.ErrNotFound)
	}
	return api.ConversationTurns{Conversation: in.ID, Turns: page.Turns, Next: page.Next}, err
}

// LookUp returns the turns of in.IDs that are stored. bytes is the most text that they may have; more is a fault with api.CodeTooLarge.
func (k Reader) LookUp(ctx context.Context, tenant dag.Tenant, in api.TurnIDs, bytes int) (w api.StoredTurns, err error) {
	var records []store.Record
	for _, id := range in.IDs {
		r, err := k.Get(ctx, tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return w, err
		}
		if bytes -= len(r.Body); bytes < 0 {
			return w, api.Faultf(api.CodeTooLarge, "ids", "the turns hold more text than an answer may; ask for fewer at once")
		}
		records = append(records, r)
	}
	w.Turns, err = stored(records)
	return w, err
}

func (k Reader) lookUpTurns(ctx context.Context, tenant dag.Tenant, in api.TurnIDs) (api.StoredTurns, error) {
	return k.LookUp(ctx, tenant, in, math.MaxInt)
}

func stored(records []store.Record) (list []api.StoredTurn, err error) {
	list = make([]api.StoredTurn, len(records))
	for i := range records {
		if list[i], err = Stored(&records[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Stored returns the record of a turn in the form of the service's answers.
func Stored(r *store.Record) (api.StoredTurn, error) {
	line, err := AppendRecord(nil, r)
	if err != nil {
		return api.StoredTurn{}, err
	}
	return api.StoredTurn{
		Seq: r.Seq, BodyDigest: r.Turn.BodyDigest, Leaf: r.Leaf, Redacted: r.Body == nil, Key: r.Key, Turn: line,
	}, nil
}

// TurnEvent returns the event of an admitted turn.
func TurnEvent(r *store.Record) api.TurnEvent {
	return api.TurnEvent{
		Seq: uint64(r.Seq), AsOf: r.Seq, ID: r.Turn.ID.String(), Conversation: r.Turn.Conversation.String(), Role: r.Turn.Role.String(), CreatedAt: r.Turn.CreatedAt.String(),
	}
}

// An ExportReport is the outcome of an export.
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
func (k Reader) Export(ctx context.Context, tenant dag.Tenant, conversation *dag.ConversationID, to io.Writer) (ExportReport, error) {
	var r ExportReport
	out := bufio.NewWriterSize(to, 1<<16)
	var line []byte
	err := k.history.Scan(ctx, tenant, 0, conversation, func(rec *store.Record) error {
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
func (k Reader) Each(ctx context.Context, tenant dag.Tenant, conversation dag.ConversationID, fn func(dag.Seq, *dag.Draft) error) error {
	return k.history.Scan(ctx, tenant, 0, &conversation, func(rec *store.Record) error {
		d, err := draft(rec)
		if err != nil {
			return err
		}
		return fn(rec.Seq, &d)
	})
}
