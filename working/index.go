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

// An Entry is what an index says of a session, as it was when it changed last.
type Entry struct {
	Owner    string   `json:"owner"`
	Session  string   `json:"session"`
	Messages int      `json:"messages"`
	Bytes    int      `json:"bytes"`
	Until    dag.Time `json:"until"` // when the last of it expires
}

// Name returns the name of the session.
func (e *Entry) Name() Name { return Name{e.Owner, e.Session} }

// An Index lists the sessions of a tenant, by owner and name.
type Index struct {
	Sessions []Entry `json:"sessions"`
}

// Live returns the sessions of which something has not expired.
func (x *Index) Live(now dag.Time) (list []Entry) {
	for i := range x.Sessions {
		if x.Sessions[i].Until > now {
			list = append(list, x.Sessions[i])
		}
	}
	return list
}

// set notes what a session has become.
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

// check reports ErrFull if a tenant has more than it may.
func (x *Index) check(l Limits) error {
	bytes := 0
	for i := range x.Sessions {
		bytes += x.Sessions[i].Bytes
	}
	if len(x.Sessions) > l.Sessions || bytes > l.TenantBytes {
		return fmt.Errorf("%w: the tenant would have %d sessions of %d bytes, at most %d of %d; consolidate or clear one, or wait until one expires", ErrFull, len(x.Sessions), bytes, l.Sessions, l.TenantBytes)
	}
	return nil
}

// An Update changes one session. Its results are those of the last plan.
type Update struct {
	Name   Name // zero: only what has expired goes
	Limits Limits
	Now    dag.Time
	Erases bool // what is taken away must not be left in a store's own files

	// Do changes the buffer, from which what has expired was taken away. It may be called again, each time with what is kept then.
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

// Plan replaces both, and drops sessions that have expired.
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

// replace adds a snapshot to a plan if its value is another than before.
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
