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

// appendDetail appends the part of a key that is stored in addition to its leaf, as canonical JSON.
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

// readDetail reads the output of appendDetail into a key.
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
		return 0, errors.New("the detail differs from the one that this program would write")
	}
	return number, nil
}

// stateTimes is the number of bytes before the detail in a state.
const stateTimes = 16

// appendState appends the state of a key, which is the value of its term: the times of its creation and its revocation,
// eight bytes each, big-endian, and the detail of its creation.
func appendState(k *access.Key, detail []byte) []byte {
	b := make([]byte, 0, stateTimes+len(detail))
	b = binary.BigEndian.AppendUint64(b, uint64(k.CreatedAt))
	b = binary.BigEndian.AppendUint64(b, uint64(k.RevokedAt))
	return append(b, detail...)
}

// readState reads a term of indexID. Anything but a valid key is an error: a damaged key must not open anything.
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

// Kinds returns the kinds of creation and revocation.
func (Codec) Kinds() []history.Kind { return []history.Kind{Created, Revoked} }

// Stream returns the record.
func (Codec) Stream() history.Stream { return history.Record }

// Turns returns none: a key does not rest on turns.
func (Codec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt returns a change that adds entries from another store.
func (c Codec) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(c, entries), nil
}

// Fold begins the terms of a new key, or of the revocation of a key that is not yet revoked. Any other entry is an
// error.
func (Codec) Fold(tx *history.Tx, e *history.Entry) error {
	refuse := func(err error) error { return fmt.Errorf("%w: number %d of the record: %w", dag.ErrForm, e.Seq, err) }
	l, err := ledger.ParseLeaf(e.Public)
	if err != nil {
		return refuse(err)
	}
	event := map[history.Kind]ledger.KeyAct{Created: ledger.KeyCreated, Revoked: ledger.KeyRetired}[e.Kind]
	of, ok := l.(*ledger.KeyLeaf)
	if !ok || of.Purpose != ledger.PurposeAPI || of.Event != event || e.Kind == Revoked && len(e.Detail) > 0 {
		return refuse(fmt.Errorf("its leaf does not fit the kind %s", e.Kind))
	}
	before, there, err := tx.Newest(newest(of.KeyID))
	if err != nil {
		return err
	}
	if of.Tenant != tx.Tenant() || there != (e.Kind == Revoked) {
		return refuse(fmt.Errorf("the leaf of API key %s is of tenant %.80q, or does not fit what is recorded (key exists: %t)", of.KeyID, of.Tenant, there))
	}
	if e.Kind == Created {
		key := access.Key{Tenant: of.Tenant, ID: of.KeyID, CreatedAt: of.At}
		number, err := readDetail(&key, e.Detail)
		if err == nil {
			err = key.Check()
		}
		if err != nil {
			return refuse(fmt.Errorf("the API key %s: %w", of.KeyID, err))
		}
		tx.Begin(e, history.Term{Index: indexID, Key: []byte(key.ID), Value: appendState(&key, e.Detail)},
			history.Term{Index: indexNumber, Key: binary.BigEndian.AppendUint64(nil, number)})
		return nil
	}
	key, err := readState(tx.Tenant(), &before)
	if err != nil {
		return err
	}
	if key.RevokedAt != 0 || of.At == 0 {
		return refuse(fmt.Errorf("the API key %s was revoked at %d, and the entry revokes it again at %d", of.KeyID, key.RevokedAt, of.At))
	}
	key.RevokedAt = of.At
	tx.Begin(e, history.Term{Index: indexID, Key: before.Key, Value: appendState(&key, before.Value[stateTimes:])})
	return nil
}
