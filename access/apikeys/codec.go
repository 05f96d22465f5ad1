package apikeys

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
)

// appendDetail appends what is kept of a key beside its leaf: canonical JSON.
func appendDetail(dst []byte, k *access.Key, number uint64) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("authors")
	w.String(k.Admits.Authors)
	w.Key("hash")
	w.String(dag.Digest(k.Hash).String())
	w.Key("note")
	w.String(k.Note)
	w.Key("number")
	w.Uint(number)
	w.Key("role")
	w.String(string(k.Role))
	w.Key("roles")
	w.String(k.Admits.Roles)
	if k.Admits.Spaces != "" {
		w.Key("spaces")
		w.String(k.Admits.Spaces)
	}
	if k.Admits.SpeaksFor != "" {
		w.Key("speaks_for")
		w.String(k.Admits.SpeaksFor)
	}
	w.EndObject()
	return w.Bytes
}

// readDetail reads what appendDetail wrote into a key.
func readDetail(k *access.Key, detail []byte) (number uint64, err error) {
	doc, err := canon.Parse(detail)
	if err != nil {
		return 0, err
	}
	c := canon.Open(doc)
	k.Admits.Authors = c.Field("authors").String()
	k.Hash = canon.Parsed(c.Field("hash"), dag.ParseDigest)
	k.Note = c.Field("note").String()
	number = c.Field("number").Uint(Max)
	k.Role = canon.Parsed(c.Field("role"), access.ParseRole)
	k.Admits.Roles = c.Field("roles").String()
	if spaces := c.Optional("spaces"); spaces != nil {
		k.Admits.Spaces = spaces.String()
	}
	if speaks := c.Optional("speaks_for"); speaks != nil {
		k.Admits.SpeaksFor = speaks.String()
	}
	c.Close()
	if err := c.Err(); err != nil {
		return 0, err
	}
	if number == 0 || string(appendDetail(nil, k, number)) != string(detail) {
		return 0, errors.New("the detail is not as it would be written")
	}
	return number, nil
}

// stateTimes is how many bytes of a state come before the detail.
const stateTimes = 16

// appendState writes what a key is, as the value of a term: when it was made and when it was
// revoked, eight bytes each, big-endian, and the detail of its making.
func appendState(k *access.Key, detail []byte) []byte {
	b := make([]byte, 0, stateTimes+len(detail))
	b = binary.BigEndian.AppendUint64(b, uint64(k.CreatedAt))
	b = binary.BigEndian.AppendUint64(b, uint64(k.RevokedAt))
	return append(b, detail...)
}

// readState reads a term of indexID. What is no key is an error: what cannot be trusted must not
// open anything.
func readState(tenant dag.Tenant, t *history.Term) (access.Key, error) {
	k := access.Key{Tenant: tenant, ID: string(t.Key)}
	var err error
	if len(t.Value) < stateTimes {
		err = fmt.Errorf("%d bytes", len(t.Value))
	} else {
		k.CreatedAt, k.RevokedAt = dag.Time(binary.BigEndian.Uint64(t.Value)), dag.Time(binary.BigEndian.Uint64(t.Value[8:]))
		_, err = readDetail(&k, t.Value[stateTimes:])
	}
	if err == nil {
		err = k.Check()
	}
	if err != nil {
		return access.Key{}, fmt.Errorf("the record of an API key is damaged: %w", err)
	}
	return k, nil
}

// Codec is the codec of API keys.
type Codec struct{}

// Kinds are those of making and of revoking a key.
func (Codec) Kinds() []history.Kind { return []history.Kind{Created, Revoked} }

// Stream is the record.
func (Codec) Stream() history.Stream { return history.Record }

// Turns returns none: a key rests on nothing.
func (Codec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt makes a change of entries that another store has.
func (Codec) Adopt(entries []history.Entry) (history.Change, error) {
	a := &adoption{entries: entries, leaves: make([]*ledger.KeyLeaf, len(entries))}
	for i := range entries {
		e := &entries[i]
		l, err := ledger.ParseLeaf(e.Public)
		if err != nil {
			return nil, fmt.Errorf("%w: number %d of the record: %w", dag.ErrForm, e.Seq, err)
		}
		event := map[history.Kind]ledger.KeyAct{Created: ledger.KeyCreated, Revoked: ledger.KeyRetired}[e.Kind]
		key, ok := l.(*ledger.KeyLeaf)
		if !ok || key.Purpose != ledger.PurposeAPI || key.Event != event || e.Kind == Revoked && len(e.Detail) > 0 {
			return nil, fmt.Errorf("%w: number %d of the record, of kind %s, is not of that", dag.ErrForm, e.Seq, e.Kind)
		}
		a.leaves[i] = key
	}
	return a, nil
}

// An adoption is entries of another store on their way into the record.
type adoption struct {
	entries []history.Entry
	leaves  []*ledger.KeyLeaf
}

func (a *adoption) Needs(k *history.State) (n history.Needs) {
	if k.Round > 0 {
		return n
	}
	n.Size = true
	for _, l := range a.leaves {
		n.Newest = append(n.Newest, newest(l.KeyID))
	}
	return n
}

func (a *adoption) Plan(k *history.State) (*history.Plan, error) {
	p := &history.Plan{Records: a.entries}
	now := map[string]history.Term{}
	for i, l := range a.leaves {
		e := &a.entries[i]
		before, there := now[l.KeyID]
		if !there {
			before, there = k.Newest[newest(l.KeyID)]
		}
		refuse := func(err error) error {
			return fmt.Errorf("%w: number %d of the record, of the API key %s: %w", dag.ErrForm, e.Seq, l.KeyID, err)
		}
		if l.Tenant != k.Tenant || there != (e.Kind == Revoked) {
			return nil, refuse(fmt.Errorf("it is of tenant %.80q; the key was made before: %t", l.Tenant, there))
		}
		if e.Kind == Created {
			key := access.Key{Tenant: l.Tenant, ID: l.KeyID, CreatedAt: l.At}
			number, err := readDetail(&key, e.Detail)
			if err == nil {
				err = key.Check()
			}
			if err != nil {
				return nil, refuse(err)
			}
			terms := created(&key, number, e.Seq, e.Detail)
			now[l.KeyID], p.Begin = terms[0], append(p.Begin, terms...)
			continue
		}
		key, err := readState(k.Tenant, &before)
		if err != nil {
			return nil, err
		}
		if key.RevokedAt != 0 || l.At == 0 {
			return nil, refuse(fmt.Errorf("it was revoked at %d, and is at %d", key.RevokedAt, l.At))
		}
		key.RevokedAt = l.At
		t := revoked(&key, e.Seq, &before)
		now[l.KeyID], p.Begin = t, append(p.Begin, t)
	}
	return p, nil
}
