package issued

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/slice"
)

// UndeliveredKind is the kind of the entries that record that an issued context did not reach the agent.
const UndeliveredKind history.Kind = "not-given/1"

// indexUndelivered maps the digest of a bundle to the entry.
const indexUndelivered history.Index = 124

// An Undelivered records that an issued context did not reach its recipient.
type Undelivered struct {
	Seq     dag.Seq // its number in the stream history.Known; set by PutUndelivered
	Context slice.SliceID
	Bundle  dag.Digest
	Reason  string // UTF-8
	At      dag.Time
	By      string // the caller who reported it, in the form of access.CheckCaller; "" if not recorded
}

// Check returns dag.ErrForm for the first field that is malformed.
func (u *Undelivered) Check() error {
	if _, err := sliceBytes(u.Context); err != nil {
		return fmt.Errorf("%w: the undelivered context %.80q: %w", dag.ErrForm, u.Context, err)
	}
	if !u.At.Valid() || !utf8.ValidString(u.Reason) {
		return fmt.Errorf("%w: the report that context %s was not delivered has the time %d and the reason %.40q; want a time from 1970 to 9999 and UTF-8", dag.ErrForm, u.Context, u.At, u.Reason)
	}
	if u.By != "" {
		if err := access.CheckCaller(u.By); err != nil {
			return fmt.Errorf("%w: %.80q reports that context %s was not delivered: %w", dag.ErrForm, u.By, u.Context, err)
		}
	}
	return nil
}

func (u *Undelivered) entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("at")
	w.String(u.At.String())
	w.Key("bundle")
	w.String(u.Bundle.String())
	if u.By != "" {
		w.Key("by")
		w.String(u.By)
	}
	w.Key("context")
	w.String(string(u.Context))
	w.Key("reason")
	w.String(u.Reason)
	w.EndObject()
	return history.Entry{Seq: u.Seq, Kind: UndeliveredKind, At: u.At, Public: w.Bytes}
}

// ReadUndelivered reads an entry of UndeliveredKind. The error for bytes in any other spelling is dag.ErrForm.
func ReadUndelivered(entry *history.Entry) (Undelivered, error) {
	u := Undelivered{Seq: entry.Seq}
	doc, err := canon.Parse(entry.Public)
	if err == nil {
		c := canon.Open(doc)
		u.At = canon.Parsed(c.Field("at"), dag.ParseTime)
		u.Bundle = canon.Parsed(c.Field("bundle"), dag.ParseDigest)
		if by := c.Optional("by"); by != nil {
			u.By = by.String()
		}
		u.Context = canon.Parsed(c.Field("context"), slice.ParseSliceID)
		u.Reason = c.Field("reason").String()
		c.Close()
		err = c.Err()
	}
	if err == nil {
		err = u.Check()
	}
	if want := u.entry(); err == nil && !want.SameAlone(entry) {
		err = errors.New("it differs from the entry that this program would write")
	}
	if err != nil {
		return Undelivered{}, fmt.Errorf("%w: number %d, the report of an undelivered context: %w", dag.ErrForm, entry.Seq, err)
	}
	return u, nil
}

func (u *Undelivered) key() history.Key {
	return history.Key{Index: indexUndelivered, Key: string(u.Bundle[:])}
}

// PutUndelivered records that a context did not reach its recipient, and returns the entry. Recording it again has no
// effect and returns the first entry.
func (b Base) PutUndelivered(ctx context.Context, tenant dag.Tenant, u Undelivered) (Undelivered, error) {
	if err := u.Check(); err != nil {
		return Undelivered{}, err
	}
	recorded := u
	err := b.Write(ctx, tenant, history.Deciding(UndeliveredCodec{}, func(tx *history.Tx) error {
		t, there, err := tx.Newest(u.key())
		if err == nil && !there {
			asked := u.entry()
			recorded.Seq, err = tx.Add(asked)
			return err
		}
		if err != nil {
			return err
		}
		entries, err := tx.Entries(history.Known, t.Since)
		if err == nil {
			recorded, err = ReadUndelivered(&entries[0])
		}
		return err
	}))
	if err != nil {
		return Undelivered{}, fmt.Errorf("record that context %s was not delivered: %w", u.Context, err)
	}
	return recorded, nil
}

// Undelivered returns the digests of the bundles that did not reach their recipients, with the numbers of the entries
// that record it.
func (b Base) Undelivered(ctx context.Context, tenant dag.Tenant) (map[dag.Digest]dag.Seq, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexUndelivered}})
	if err != nil || len(lists) != 1 || len(lists[0]) == 0 {
		return nil, err
	}
	found := make(map[dag.Digest]dag.Seq, len(lists[0]))
	for i := range lists[0] {
		t := &lists[0][i]
		if len(t.Key) != len(dag.Digest{}) {
			return nil, fmt.Errorf("%w: the digest of an undelivered context has %d bytes, want 32", ErrDamaged, len(t.Key))
		}
		found[dag.Digest(t.Key)] = t.Since
	}
	return found, nil
}

// UndeliveredCodec is the codec of contexts that did not reach their recipients.
type UndeliveredCodec struct{}

// Kinds returns UndeliveredKind.
func (UndeliveredCodec) Kinds() []history.Kind { return []history.Kind{UndeliveredKind} }

// Stream returns history.Known.
func (UndeliveredCodec) Stream() history.Stream { return history.Known }

// Turns returns none.
func (UndeliveredCodec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt returns a change that adds entries from another store.
func (c UndeliveredCodec) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(c, entries), nil
}

// Fold begins the term of a bundle that did not reach its recipient. A second entry for the same bundle is an error.
func (UndeliveredCodec) Fold(tx *history.Tx, e *history.Entry) error {
	u, err := ReadUndelivered(e)
	if err != nil {
		return err
	}
	if _, there, err := tx.Newest(u.key()); err != nil {
		return err
	} else if there {
		return fmt.Errorf("%w: number %d reports a second time that context %s was not delivered", dag.ErrForm, u.Seq, u.Context)
	}
	tx.Begin(e, history.Term{Index: indexUndelivered, Key: u.Bundle[:]})
	return nil
}
