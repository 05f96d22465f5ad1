// Package settings owns the record of which standing policy is in force: its entries, and reading and writing them in a history.
// Entries have numbers of the stream history.Known, so that a standing as of a number follows from the entries up to it.
package settings

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// Kind is the kind of the entries.
const Kind history.Kind = "standing/1"

// index maps the number of an entry, eight bytes, big-endian, to nothing: it lists the entries.
const index history.Index = 125

// Max is the maximum number of settings of a tenant. Beyond it, standing.DefaultID alone can be put in force, without Retroactive: whoever cannot set
// another policy can still go back.
const Max = 1_000

// Errors that callers branch on.
var (
	ErrTooMany = errors.New("the tenant has the largest possible number of settings of its standing policy")
	ErrChanged = errors.New("the standing policy in force is not the one that the request goes from")
)

// A Setting records that a policy was put in force.
type Setting struct {
	Seq         dag.Seq // its number in the stream history.Known; set by Put
	Policy      policy.ID
	Hash        dag.Digest // policy_params_hash
	Retroactive bool       // it also raises the standings of turns that were there
	At          dag.Time
	By          string // the caller, in the form of access.CheckCaller; "" if none was named
}

// Check returns dag.ErrForm for the first field that is malformed.
func (s *Setting) Check() error {
	if _, err := policy.ParseID(string(s.Policy)); err != nil {
		return err
	}
	if !s.At.Valid() {
		return fmt.Errorf("%w: standing policy %s was set at the time %d, want a time from 1970 to 9999", dag.ErrForm, s.Policy, s.At)
	}
	if s.By != "" {
		if err := access.CheckCaller(s.By); err != nil {
			return fmt.Errorf("%w: %.80q set standing policy %s: %w", dag.ErrForm, s.By, s.Policy, err)
		}
	}
	return nil
}

func (s *Setting) entry() history.Entry {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("at")
	w.String(s.At.String())
	if s.By != "" {
		w.Key("by")
		w.String(s.By)
	}
	w.Key("policy_id")
	w.String(string(s.Policy))
	w.Key("policy_params_hash")
	w.String(s.Hash.String())
	if s.Retroactive {
		w.Key("retroactive")
		w.Bool(true)
	}
	w.EndObject()
	return history.Entry{Seq: s.Seq, Kind: Kind, At: s.At, Public: w.Bytes}
}

// Read reads an entry of Kind. The error for bytes in any other spelling is dag.ErrForm.
func Read(entry *history.Entry) (Setting, error) {
	s := Setting{Seq: entry.Seq}
	doc, err := canon.Parse(entry.Public)
	if err == nil {
		c := canon.Open(doc)
		s.At = canon.Parsed(c.Field("at"), dag.ParseTime)
		if by := c.Optional("by"); by != nil {
			s.By = by.String()
		}
		s.Policy = canon.Parsed(c.Field("policy_id"), policy.ParseID)
		s.Hash = canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest)
		if retroactive := c.Optional("retroactive"); retroactive != nil {
			s.Retroactive = retroactive.Bool()
		}
		c.Close()
		err = c.Err()
	}
	if err == nil {
		err = s.Check()
	}
	if want := s.entry(); err == nil && !want.SameAlone(entry) {
		err = errors.New("it differs from the entry that this program would write")
	}
	if err != nil {
		return Setting{}, fmt.Errorf("%w: number %d, the setting of a standing policy: %w", dag.ErrForm, entry.Seq, err)
	}
	return s, nil
}

// A Base is a history through which settings are read and written.
type Base struct{ history.History }

// Follows returns an error that wraps ErrChanged and names the newest setting, if the number of that setting is not seen. The zero Setting is none.
func Follows(newest *Setting, seen dag.Seq) error {
	switch {
	case newest.Seq == seen:
		return nil
	case newest.Seq == 0:
		return fmt.Errorf("%w: it names setting %d, but nobody has made one, so %s is in force; nothing was changed", ErrChanged, seen, standing.DefaultID)
	}
	by := ""
	if newest.By != "" {
		by = ", by " + newest.By
	}
	return fmt.Errorf("%w: %s is in force since setting %d%s, hash %s, and the request goes from setting %d; nothing was changed", ErrChanged, newest.Policy, newest.Seq, by, newest.Hash, seen)
}

// Put records a setting and returns it with its number. The error is ErrChanged if the newest setting is not the one with the number seen, where 0 means that
// there is none. Setting the policy that is in force again, without Retroactive, has no effect and returns the setting in force.
func (b Base) Put(ctx context.Context, tenant dag.Tenant, seen dag.Seq, s Setting) (Setting, error) {
	if err := s.Check(); err != nil {
		return Setting{}, err
	}
	var recorded Setting
	err := b.Write(ctx, tenant, history.Deciding(Codec{}, func(tx *history.Tx) error {
		all, err := tx.Terms(history.Range{Index: index})
		if err != nil {
			return err
		}
		var newest Setting
		if n := len(all); n > 0 {
			entries, err := tx.Entries(history.Known, all[n-1].Since)
			if err != nil {
				return err
			}
			if newest, err = stored(&entries[0]); err != nil {
				return err
			}
		}
		if err := Follows(&newest, seen); err != nil {
			return err
		}
		if newest.Policy == s.Policy && newest.Hash == s.Hash && !s.Retroactive {
			recorded = newest
			return nil
		}
		if len(all) >= Max && (s.Policy != standing.DefaultID || s.Retroactive) {
			return fmt.Errorf("tenant %s: %w, %d; the policy in force stays, and %s alone can be put in force in its place, without retroactive", tenant, ErrTooMany, Max, standing.DefaultID)
		}
		recorded = s
		recorded.Seq, err = tx.Add(s.entry())
		return err
	}))
	if err != nil {
		return Setting{}, fmt.Errorf("set standing policy %s: %w", s.Policy, err)
	}
	return recorded, nil
}

// stored reads an entry of a store, in which a malformed one is damage.
func stored(entry *history.Entry) (Setting, error) {
	s, err := Read(entry)
	if err != nil {
		err = fmt.Errorf("%w: %w", history.ErrDamaged, err)
	}
	return s, err
}

// Newest returns the newest setting of a tenant, the zero Setting if there is none. It reads one entry.
func (b Base) Newest(ctx context.Context, tenant dag.Tenant) (Setting, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: index, Last: true, Limit: 1}})
	if err != nil || len(lists) != 1 || len(lists[0]) == 0 {
		return Setting{}, err
	}
	entries, err := b.Entries(ctx, tenant, history.Page{At: []dag.Seq{lists[0][0].Since}})
	if err != nil {
		return Setting{}, err
	}
	if len(entries) != 1 {
		return Setting{}, fmt.Errorf("%w: setting %d of the standing policy is listed, but not stored", history.ErrDamaged, lists[0][0].Since)
	}
	return stored(&entries[0])
}

// All returns every setting of a tenant, by ascending number.
func (b Base) All(ctx context.Context, tenant dag.Tenant) ([]Setting, error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: index}})
	if err != nil || len(lists) != 1 || len(lists[0]) == 0 {
		return nil, err
	}
	numbers := make([]dag.Seq, len(lists[0]))
	for i := range lists[0] {
		numbers[i] = lists[0][i].Since
	}
	entries, err := b.Entries(ctx, tenant, history.Page{At: numbers})
	if err != nil {
		return nil, err
	}
	if len(entries) != len(numbers) {
		return nil, fmt.Errorf("%w: %d settings of the standing policy are listed, but %d are stored", history.ErrDamaged, len(numbers), len(entries))
	}
	all := make([]Setting, len(entries))
	for i := range entries {
		if all[i], err = stored(&entries[i]); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return cmp.Compare(a.Seq, b.Seq) })
	return all, nil
}

// Codec is the codec of settings.
type Codec struct{}

// Kinds returns Kind.
func (Codec) Kinds() []history.Kind { return []history.Kind{Kind} }

// Stream returns history.Known.
func (Codec) Stream() history.Stream { return history.Known }

// Turns returns none: a setting does not rest on turns.
func (Codec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt returns a change that adds settings from another store.
func (c Codec) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(c, entries), nil
}

// Fold lists the setting.
func (Codec) Fold(tx *history.Tx, e *history.Entry) error {
	s, err := Read(e)
	if err != nil {
		return err
	}
	tx.Begin(e, history.Term{Index: index, Key: binary.BigEndian.AppendUint64(nil, uint64(s.Seq))})
	return nil
}

// CourseOf returns the course of settings, which are by ascending number, after the policy of a tenant for which none was set. policyOf returns a policy of the
// tenant. The error for a setting whose hash is not that of its policy is history.ErrDamaged.
func CourseOf(all []Setting, policyOf func(policy.ID) (policy.Registered, error), names standing.Namer) (standing.Course, error) {
	course := make(standing.Course, 0, len(all)+1)
	add := func(id policy.ID, hash *dag.Digest, after dag.Seq, retroactive bool) error {
		p, err := policyOf(id)
		if err != nil {
			return err
		}
		if got := p.Hash(); hash != nil && got != *hash {
			return fmt.Errorf("%w: number %d puts %s with hash %s in force, but it is registered with %s", history.ErrDamaged, after, id, hash, got)
		}
		s, err := standing.Decides(p, names, after, retroactive)
		course = append(course, s)
		return err
	}
	if err := add(standing.DefaultID, nil, 0, false); err != nil {
		return nil, err
	}
	for i := range all {
		s := &all[i]
		if err := add(s.Policy, &s.Hash, s.Seq, s.Retroactive); err != nil {
			return nil, err
		}
	}
	return course, nil
}
