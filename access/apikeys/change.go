package apikeys

import (
	"encoding/binary"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

func newest(id string) history.Key { return history.Key{Index: indexID, Key: id} }

// stored returns what a key is by now, nil if there is none.
func stored(k *history.State, id string) (*access.Key, error) {
	t, ok := k.Newest[newest(id)]
	if !ok {
		return nil, nil
	}
	key, err := readState(k.Tenant, &t)
	return &key, err
}

// A creation is a key on its way into the record.
type creation struct{ key access.Key }

func (c *creation) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Size, n.Newest = true, []history.Key{newest(c.key.ID)}
		n.Ranges = []history.Range{{Index: indexNumber, Last: true, Limit: 1}}
	}
	return n
}

func (c *creation) Plan(k *history.State) (*history.Plan, error) {
	there, err := stored(k, c.key.ID)
	if err != nil {
		return nil, err
	}
	if there != nil {
		there.RevokedAt = 0
		if *there != c.key {
			return nil, fmt.Errorf("API key %s of tenant %s: %w", c.key.ID, c.key.Tenant, ErrExists)
		}
		return &history.Plan{}, nil
	}
	number := uint64(1)
	if last := k.Ranges[0]; len(last) > 0 {
		before, err := readNumber(&last[0])
		if err != nil {
			return nil, err
		}
		number = before + 1
	}
	if number > Max {
		return nil, fmt.Errorf("tenant %s: %w", c.key.Tenant, ErrTooMany)
	}
	detail := appendDetail(nil, &c.key, number)
	e := history.Entry{Seq: k.Size + 1, Kind: Created, Public: leaf(&c.key, ledger.KeyCreated), Detail: detail}
	return &history.Plan{Records: []history.Entry{e}, Begin: created(&c.key, number, e.Seq, detail)}, nil
}

// created are the terms of a new key.
func created(key *access.Key, number uint64, since dag.Seq, detail []byte) []history.Term {
	return []history.Term{
		{Index: indexID, Key: []byte(key.ID), Since: since, Until: history.Forever, Value: appendState(key, detail)},
		{Index: indexNumber, Key: binary.BigEndian.AppendUint64(nil, number), Since: since, Until: history.Forever},
	}
}

func readNumber(t *history.Term) (uint64, error) {
	if len(t.Key) != 8 {
		return 0, fmt.Errorf("%w: an API key with the number %x", history.ErrDamaged, t.Key)
	}
	return binary.BigEndian.Uint64(t.Key), nil
}

// A revocation is one on its way into the record.
type revocation struct {
	id  string
	at  dag.Time
	key access.Key // as it is in the end, by the last plan
}

func (c *revocation) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Size, n.Newest = true, []history.Key{newest(c.id)}
	}
	return n
}

func (c *revocation) Plan(k *history.State) (*history.Plan, error) {
	there, err := stored(k, c.id)
	if err != nil {
		return nil, err
	}
	if there == nil {
		return nil, fmt.Errorf("API key: %w", store.ErrNotFound)
	}
	if c.key = *there; c.key.RevokedAt != 0 {
		return &history.Plan{}, nil
	}
	c.key.RevokedAt = c.at
	e := history.Entry{Seq: k.Size + 1, Kind: Revoked, Public: leaf(&c.key, ledger.KeyRetired)}
	t := k.Newest[newest(c.id)]
	return &history.Plan{Records: []history.Entry{e}, Begin: []history.Term{revoked(&c.key, e.Seq, &t)}}, nil
}

// revoked is the term of a revocation, after the one that was the newest before.
func revoked(key *access.Key, since dag.Seq, before *history.Term) history.Term {
	return history.Term{Index: indexID, Key: []byte(key.ID), Since: since, Until: history.Forever, Value: appendState(key, before.Value[stateTimes:])}
}
