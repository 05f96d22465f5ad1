package storetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// A Write is a write of the fault table. Before writes what Do needs, Do is the write, and Done reports whether its whole
// effect is stored, or none of it; anything between is an error. Leaves are the sizes of the ledger before and after the write.
type Write struct {
	Name   string
	Leaves [2]uint64
	Before func(context.Context, store.Store) error
	Do     func(context.Context, store.Store) error
	Done   func(context.Context, store.Store) (bool, error)
}

// Writes returns one write of each kind. Each write goes through every step of its method.
// Back ends also use these writes to test their own faults, such as the end of the process.
func Writes() []Write {
	before := func(ctx context.Context, s store.Store) error {
		chain := Chain(1, 5, 0)
		chain[2] = Named(chain[2], "three")
		_, err := s.Append(ctx, Tenant, []store.Batch{chain})
		return err
	}
	appended := []store.Batch{
		{Named(Arrival(10, 1, "linked", 2, 5), "ten"), Arrival(11, 0, "more", 5)},
		Chain(20, 70, 2),
	}
	fresh := func(context.Context, store.Store) error { return nil }
	return []Write{
		{
			Name:   "Append",
			Before: before,
			Do: func(ctx context.Context, s store.Store) error {
				_, err := s.Append(ctx, Tenant, appended)
				return err
			},
			Done: turnsThere(appended),
		},
		{
			Name:   "Append of a new tenant",
			Before: fresh,
			Do:     before,
			Done:   turnsThere([]store.Batch{Chain(1, 5, 0)}),
		},
		{
			Name:   "Adopt",
			Leaves: [2]uint64{2, 2},
			Before: func(ctx context.Context, s store.Store) error {
				return errors.Join(before(ctx, s), PutErased(ctx, s, Tenant, adoption().Events))
			},
			Do:   adopt,
			Done: adopted,
		},
		{
			Name:   "Adopt of a new tenant",
			Before: fresh,
			Do: func(ctx context.Context, s store.Store) error {
				return tolerateGap(ctx, s, 5, Adopt(ctx, s, Tenant, Stretch{Records: Records(1, nil, Chain(1, 5, 0))}))
			},
			Done: turnsThere([]store.Batch{Chain(1, 5, 0)}),
		},
		{
			Name:   "Erase",
			Leaves: [2]uint64{0, 1},
			Before: before,
			Do: func(ctx context.Context, s store.Store) error {
				_, err := Erase(ctx, s, Tenant, Erasure(3))
				return err
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				records, err := s.Turns(ctx, Tenant, store.IDs{TurnID(3)})
				if err != nil || len(records) != 1 {
					return false, errors.Join(err, fmt.Errorf("%d turns", len(records)))
				}
				events, err := Events(ctx, s, Tenant, 0, 9)
				if err != nil || len(events) > 1 || (records[0].Body == nil) != (len(events) == 1) {
					return false, errors.Join(err, fmt.Errorf("%d events, body %.20q", len(events), records[0].Body))
				}
				return len(events) == 1, nil
			},
		},
		{
			Name:   "EraseTask",
			Leaves: [2]uint64{3, 3},
			Before: func(ctx context.Context, s store.Store) error {
				_, err := Bundles(s).Put(ctx, Tenant, []issued.Record{IssuedContext(1, 1), IssuedContext(2, 1), IssuedContext(3, 2)})
				return err
			},
			Do: func(ctx context.Context, s store.Store) error {
				_, err := Bundles(s).EraseTask(ctx, Tenant, TaskErasure(1))
				return err
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				list, err := Bundles(s).After(ctx, Tenant, 0, 9)
				erased, listed := Bundles(s).TaskErasures(ctx, Tenant, 0, 9)
				if err := errors.Join(err, listed); err != nil || len(list) != 3 || len(erased) > 1 || list[2].Question == "" {
					return false, errors.Join(err, fmt.Errorf("records %+v, erasures %+v", list, erased))
				}
				for i := range list[:2] {
					if (list[i].Question == "") != (len(erased) == 1) {
						return false, fmt.Errorf("%d erasures, and the request %q", len(erased), list[i].Question)
					}
				}
				return len(erased) == 1, nil
			},
		},
		{
			Name: "PutActs",
			Before: func(ctx context.Context, s store.Store) error {
				_, err := Facts(s).Learn(ctx, Tenant, []knowledge.Act{Assertion(1, 1, 2, 5, "user")}, 1)
				return err
			},
			Do: func(ctx context.Context, s store.Store) error {
				ending := Assertion(1, 1, 3, 5, "user")
				ending.Supersedes = []knowledge.ID{statementOf(Assertion(1, 1, 2, 5, "user"))}
				outcomes, err := Facts(s).Learn(ctx, Tenant, []knowledge.Act{Assertion(4, 1, 5, 5, "user"), ending}, 1)
				if errors.Is(err, knowledge.ErrNotBelieved) {
					return nil // it was kept before
				}
				if err == nil && len(outcomes) != 2 {
					err = fmt.Errorf("%d outcomes", len(outcomes))
				}
				return err
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				acts, err := Acts(ctx, s, Tenant, 0, 9)
				if err == nil && len(acts) != 1 && len(acts) != 3 {
					err = fmt.Errorf("%d acts", len(acts))
				}
				return len(acts) == 3, errors.Join(err, SameKnowledge(ctx, s, Tenant))
			},
		},
		{
			Name:   "PutPolicy",
			Leaves: [2]uint64{0, 1},
			Before: fresh,
			Do: func(ctx context.Context, s store.Store) error {
				return registry.Base{History: s}.Put(ctx, Tenant, Policy("p@1", 1))
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				r, err := registry.Base{History: s}.All(ctx, Tenant)
				return len(r.All()) == 1, err
			},
		},
		{
			Name:   "PutIssued",
			Leaves: [2]uint64{0, 1},
			Before: fresh,
			Do: func(ctx context.Context, s store.Store) error {
				i, err := PutIssued(ctx, s, Tenant, Issued(1, 1))
				if err == nil && i.Number != 1 {
					err = fmt.Errorf("number %d, want 1", i.Number)
				}
				return err
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				list, err := Bundles(s).After(ctx, Tenant, 0, 9)
				return len(list) == 1, err
			},
		},
		{
			Name:   "PutKey",
			Leaves: [2]uint64{1, 2},
			Before: func(ctx context.Context, s store.Store) error { return apikeys.Base{History: s}.Put(ctx, Key(2)) },
			Do:     putKey,
			Done:   keyThere,
		},
		{
			Name:   "PutKey of a new tenant",
			Leaves: [2]uint64{0, 1},
			Before: fresh,
			Do:     putKey,
			Done:   keyThere,
		},
		{
			Name:   "RevokeKey",
			Leaves: [2]uint64{1, 2},
			Before: func(ctx context.Context, s store.Store) error { return apikeys.Base{History: s}.Put(ctx, Key(1)) },
			Do: func(ctx context.Context, s store.Store) error {
				k, err := apikeys.Base{History: s}.Revoke(ctx, Tenant, Key(1).ID, RevokedAt(1))
				if err == nil && k.RevokedAt != RevokedAt(1) {
					err = fmt.Errorf("revoked at %d, want %d", k.RevokedAt, RevokedAt(1))
				}
				return err
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				k, err := apikeys.Base{History: s}.Get(ctx, Tenant, Key(1).ID)
				return k.RevokedAt == RevokedAt(1), err
			},
		},
		{
			Name:   "PutIssued of many",
			Leaves: [2]uint64{3, 73},
			Before: func(ctx context.Context, s store.Store) error {
				_, err := Bundles(s).Put(ctx, Tenant, manyIssued()[4:7])
				return err
			},
			Do: func(ctx context.Context, s store.Store) error {
				stand, err := Bundles(s).Put(ctx, Tenant, manyIssued())
				if err == nil && (stand[0].Number != 4 || stand[4].Number != 1 || stand[73] != stand[0]) {
					err = fmt.Errorf("numbers %d, %d and %d", stand[0].Number, stand[4].Number, stand[73].Number)
				}
				return err
			},
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				list, err := Bundles(s).After(ctx, Tenant, 0, 99)
				if err == nil && len(list) != 3 && len(list) != 73 {
					err = fmt.Errorf("%d records", len(list))
				}
				return len(list) == 73, err
			},
		},
		{
			Name:   "PutLeaves",
			Leaves: [2]uint64{250, 320},
			Before: func(ctx context.Context, s store.Store) error {
				_, err := PutLeaves(ctx, s, Tenant, Leaves(0, 250))
				return err
			},
			Do: func(ctx context.Context, s store.Store) error {
				at, err := PutLeaves(ctx, s, Tenant, Leaves(240, 80))
				if err == nil && (at[0] != 240 || at[79] != 319) {
					err = fmt.Errorf("the leaves stand from %d to %d", at[0], at[79])
				}
				return err
			},
			Done: leavesThere(320),
		},
		{
			Name:   "PutLeaves of a new tenant",
			Leaves: [2]uint64{0, 5},
			Before: fresh,
			Do: func(ctx context.Context, s store.Store) error {
				_, err := PutLeaves(ctx, s, Tenant, Leaves(0, 5))
				return err
			},
			Done: leavesThere(5),
		},
		{
			Name:   "Swap",
			Before: func(ctx context.Context, s store.Store) error { return s.Swap(ctx, Tenant, cellName, nil, cellRoot(7)) },
			Do:     swap,
			Done: func(ctx context.Context, s store.Store) (bool, error) {
				now, err := CellOf(ctx, s, Tenant, cellName)
				if err == nil && !bytes.Equal(now, cellRoot(7)) && !bytes.Equal(now, cellRoot(9)) {
					err = fmt.Errorf("the cell is %x", now)
				}
				return bytes.Equal(now, cellRoot(9)), err
			},
		},
		snapshotWrite(),
	}
}

// The names of cells whose form package kinds knows begin with cellPrefix. cellRoot returns the value of such a cell: the root of a log of n leaves.
const (
	cellPrefix = "cosigned/"
	cellName   = cellPrefix + "log"
)

func cellRoot(n uint64) []byte {
	return append(binary.BigEndian.AppendUint64(nil, n), make([]byte, 32)...)
}

// swap ignores the error of a write that was kept the first time.
func swap(ctx context.Context, s store.Store) error {
	err := s.Swap(ctx, Tenant, cellName, cellRoot(7), cellRoot(9))
	if !errors.Is(err, store.ErrMoved) {
		return err
	}
	if now, asked := CellOf(ctx, s, Tenant, cellName); asked != nil || !bytes.Equal(now, cellRoot(9)) {
		return errors.Join(err, asked)
	}
	return nil
}

// adoption returns a stretch after the five turns that precede each write: two
// turns, the erasures of one of them and of a stored turn, and seventy more turns.
func adoption() Stretch {
	return Stretch{
		Records: slices.Concat(
			Records(6, Chain(1, 5, 0), store.Batch{Named(Arrival(10, 1, "linked", 2, 5), "ten"), Arrival(11, 0, "more", 5)}),
			Records(10, nil, Chain(20, 70, 2)),
		),
		Events: []erasures.Erasure{Erased(8, 3), Erased(9, 11)},
	}
}

func adopt(ctx context.Context, s store.Store) error {
	return tolerateGap(ctx, s, 79, s.Adopt(ctx, Tenant, adoption().Store()))
}

// tolerateGap ignores the error of an Adopt that was kept the first time.
func tolerateGap(ctx context.Context, s store.Store, last dag.Seq, err error) error {
	if !errors.Is(err, store.ErrGap) {
		return err
	}
	if head, headErr := s.Head(ctx, Tenant); headErr != nil || head != last {
		return errors.Join(err, headErr)
	}
	return nil
}

// adopted reports whether the whole adoption is stored.
func adopted(ctx context.Context, s store.Store) (bool, error) {
	there, err := turnsThere([]store.Batch{{Arrival(10, 1, ""), Arrival(11, 0, "")}, Chain(20, 70, 2)})(ctx, s)
	if err != nil {
		return false, err
	}
	events, err := Events(ctx, s, Tenant, 0, 9)
	if err != nil {
		return false, err
	}
	if want := adoption().Events; there != (len(events) > 0) || there && !sameList(events, want) {
		return false, fmt.Errorf("the turns are there: %v; events %v", there, events)
	}
	records, err := s.Turns(ctx, Tenant, store.IDs{TurnID(3), TurnID(11)})
	for _, r := range records {
		if (r.Body == nil) != there {
			return false, fmt.Errorf("the turns are there: %v; the body of %s is %.20q", there, r.Turn.ID, r.Body)
		}
	}
	return there, err
}

func putKey(ctx context.Context, s store.Store) error {
	return apikeys.Base{History: s}.Put(ctx, Key(1))
}

// keyThere reports whether the key is stored, both by itself and in the list.
func keyThere(ctx context.Context, s store.Store) (bool, error) {
	list, err := apikeys.Base{History: s}.All(ctx, Tenant)
	if err != nil {
		return false, err
	}
	listed := slices.Contains(list, Key(1))
	k, err := apikeys.Base{History: s}.Get(ctx, Tenant, Key(1).ID)
	if errors.Is(err, store.ErrNotFound) && !listed {
		return false, nil
	}
	if err == nil && (k != Key(1) || !listed) {
		err = fmt.Errorf("got %+v, listed is %v", k, listed)
	}
	return listed, err
}

// turnsThere returns a function that reports whether all turns are stored; if only some are, that is an error.
func turnsThere(batches []store.Batch) func(context.Context, store.Store) (bool, error) {
	var ids []dag.TurnID
	for _, b := range batches {
		for _, a := range b {
			ids = append(ids, a.Turn.ID)
		}
	}
	return func(ctx context.Context, s store.Store) (bool, error) {
		records, err := s.Turns(ctx, Tenant, store.IDs(ids))
		if err == nil && len(records) != 0 && len(records) != len(ids) {
			err = fmt.Errorf("%d of %d turns are there", len(records), len(ids))
		}
		return len(records) > 0, err
	}
}

func statementOf(a knowledge.Act) knowledge.ID { return a.Fact.ID() }
