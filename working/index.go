package working

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Names of snapshots.
const (
	indexName = "working/index"
	sessions  = "working/session/"
)

// An Entry describes a session in an index, as it was when it changed last.
type Entry struct {
	Owner    string   `json:"owner"`
	Session  string   `json:"session"`
	Messages int      `json:"messages"`
	Bytes    int      `json:"bytes"`
	Until    dag.Time `json:"until"` // when all of the session has expired
}

// Name returns the name of the session.
func (e *Entry) Name() Name { return Name{e.Owner, e.Session} }

// An Index lists the sessions of a tenant, by owner and name.
type Index struct {
	Sessions []Entry `json:"sessions"`
}

// Live returns the sessions that have not expired.
func (x *Index) Live(now dag.Time) (list []Entry) {
	for i := range x.Sessions {
		if x.Sessions[i].Until > now {
			list = append(list, x.Sessions[i])
		}
	}
	return list
}

// set updates the entry of a session. It removes the entry of an empty session.
func (x *Index) set(b *Buffer) {
	e := Entry{b.Owner, b.Session, len(b.Messages), b.Size(), b.ends()}
	at, found := slices.BinarySearchFunc(x.Sessions, e, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Session, b.Session))
	})
	switch {
	case found && e.Until == 0:
		x.Sessions = slices.Delete(x.Sessions, at, at+1)
	case found:
		x.Sessions[at] = e
	case e.Until > 0:
		x.Sessions = slices.Insert(x.Sessions, at, e)
	}
}

// check returns ErrFull if a tenant exceeds its limits.
func (x *Index) check(l Limits) error {
	bytes := 0
	for i := range x.Sessions {
		bytes += x.Sessions[i].Bytes
	}
	if len(x.Sessions) > l.Sessions || bytes > l.TenantBytes {
		return fmt.Errorf("%w: the tenant would have %d sessions of %d bytes in all, at most %d sessions of %d bytes; consolidate or clear one, or wait until one expires", ErrFull, len(x.Sessions), bytes, l.Sessions, l.TenantBytes)
	}
	return nil
}

// An Update is a change of one session. Its results are those of the last call of Plan.
type Update struct {
	Name   Name // zero: only expired sessions are removed
	Limits Limits
	Now    dag.Time
	Erases bool // removed messages must not remain in a store's own files

	// Do changes the buffer, after its expired messages were removed. It may be called more than once, each time with the current buffer.
	Do func(b *Buffer) error

	Expired int // messages of the session that had expired
	Buffer  Buffer
}

func (n Name) snapshot() string { return sessions + n.digest() }

// Needs asks for the index and the session.
func (u *Update) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Snapshots = append(n.Snapshots, indexName)
		if u.Name != (Name{}) {
			n.Snapshots = append(n.Snapshots, u.Name.snapshot())
		}
	}
	return n
}

// Plan replaces the index and the session, and removes expired sessions.
func (u *Update) Plan(k *history.State) (*history.Plan, error) {
	x, err := parse[Index](indexName, k.Snapshots[indexName])
	if err != nil {
		return nil, err
	}
	p := &history.Plan{Erases: u.Erases}
	for _, e := range x.Sessions {
		if e.Until <= u.Now && e.Name() != u.Name {
			p.Snapshots = append(p.Snapshots, history.Snapshot{Name: e.Name().snapshot()})
		}
	}
	x.Sessions = slices.DeleteFunc(x.Sessions, func(e Entry) bool { return e.Until <= u.Now && e.Name() != u.Name })
	if u.Name != (Name{}) {
		b, err := parse[Buffer](u.Name.snapshot(), k.Snapshots[u.Name.snapshot()])
		if err != nil {
			return nil, err
		}
		b.Owner, b.Session = u.Name.Owner, u.Name.Session
		before := b.Size()
		u.Expired = b.Expire(u.Now)
		if err := u.Do(&b); err != nil {
			return nil, err
		}
		x.set(&b)
		if b.Size() > before || k.Snapshots[u.Name.snapshot()] == nil && b.ends() > 0 {
			if err := x.check(u.Limits); err != nil {
				return nil, err
			}
		}
		u.Buffer = b
		if err := replace(p, k, u.Name.snapshot(), &b, b.ends() == 0); err != nil {
			return nil, err
		}
	}
	return p, replace(p, k, indexName, &x, len(x.Sessions) == 0)
}

// replace adds a snapshot to a plan if its value has changed.
func replace(p *history.Plan, k *history.State, name string, v any, empty bool) error {
	var value []byte
	if !empty {
		var err error
		if value, err = json.Marshal(v); err != nil {
			return fmt.Errorf("working: %w", err)
		}
	}
	if string(value) != string(k.Snapshots[name]) {
		p.Snapshots = append(p.Snapshots, history.Snapshot{Name: name, Value: value})
	}
	return nil
}

func parse[T any](name string, value []byte) (v T, err error) {
	if len(value) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return v, fmt.Errorf("%w: the snapshot %q is damaged: %w", dag.ErrForm, name, err)
	}
	return v, nil
}
