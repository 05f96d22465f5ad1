// Package inmem keeps a store in memory, for tests. It is as awkward as the contract allows: lists without a defined order come in another
// order each time, an empty list is sometimes nil and sometimes not, everything that goes in or out is a copy, and a record is overwritten
// when the function of a Scan has returned. A program that works with it relies on nothing that the contract does not promise.
//
// The data is in a Disk, which outlives the store, so closing and reopening can be tested as with files:
//
//	var disk inmem.Disk
//	s := inmem.Open(&disk, inmem.Options{Seed: 1})
package inmem

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// A Disk contains the committed data. The zero Disk is empty. Any number of stores may be open on it at once, like several processes on one file.
type Disk struct {
	mu      sync.Mutex // guards everything below
	tenants map[dag.Tenant]*tenant
}

type tenant struct {
	head    dag.Seq
	records []*store.Record // by Seq
	byID    map[dag.TurnID]*store.Record
	log
	past
	cells map[string][]byte

	snapshots map[string][]byte
}

func (d *Disk) tenant(name dag.Tenant) *tenant {
	if t := d.tenants[name]; t != nil {
		return t
	}
	return &tenant{
		byID:  map[dag.TurnID]*store.Record{},
		cells: map[string][]byte{},

		snapshots: map[string][]byte{},
	}
}

// keep adds a tenant to the disk, once the tenant has data.
func (d *Disk) keep(name dag.Tenant, t *tenant) {
	if d.tenants == nil {
		d.tenants = map[dag.Tenant]*tenant{}
	}
	d.tenants[name] = t
}

// Options of a store.
type Options struct {
	// Seed determines the orders that the contract leaves open. The same seed and the same calls result in the same orders.
	Seed uint64

	// Step can make a write fail: it is called before each step of a write with the step's name, and
	// after the commit with "committed". An error before the commit discards the write; an error after
	// it keeps the whole write and breaks the store. Step must not call the store. Nil means no faults.
	Step func(step string) error

	// Heals lets the store continue after an error after the commit, as if it had only lost a connection: the write returns store.ErrUncertain.
	Heals bool
}

// A Store is a store.Store on a Disk.
type Store struct {
	disk  *Disk
	step  func(string) error
	heals bool

	// Guarded by disk.mu.
	rand   *rand.Rand
	closed bool
	broken error
}

var _ store.Store = (*Store)(nil)

// Open opens a store on a disk.
func Open(d *Disk, o Options) *Store {
	if o.Step == nil {
		o.Step = func(string) error { return nil }
	}
	return &Store{disk: d, step: o.Step, heals: o.Heals, rand: rand.New(rand.NewPCG(o.Seed, 0))}
}

// Epoch returns 0: no other server can replace the data.
func (s *Store) Epoch() uint64 { return 0 }

// Close makes every later call fail. The disk keeps its data.
func (s *Store) Close() error {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	s.closed = true
	return nil
}

// enter takes the disk's lock, which the caller must release. It returns an error without the lock if the store cannot be used.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.disk.mu.Lock()
	var err error
	switch {
	case s.closed:
		err = store.ErrClosed
	case s.broken != nil:
		err = fmt.Errorf("inmem: %w: %w", store.ErrBroken, s.broken)
	}
	if err != nil {
		s.disk.mu.Unlock()
	}
	return err
}

// commit calls Step for each step of a write, and then apply, which does it all at once. The caller holds the disk's lock.
func (s *Store) commit(ctx context.Context, apply func(), steps ...string) error {
	for _, name := range append(steps, "commit") {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.step(name); err != nil {
			return fmt.Errorf("inmem: at step %q: %w", name, err)
		}
	}
	apply()
	if err := s.step("committed"); err != nil {
		if s.heals {
			return fmt.Errorf("inmem: %w: %w", store.ErrUncertain, err)
		}
		s.broken = err
		return fmt.Errorf("inmem: %w: %w", store.ErrBroken, err)
	}
	return nil
}

// empty returns an empty list, which may or may not be nil.
func empty[T any](s *Store) []T {
	if s.rand.IntN(2) == 0 {
		return nil
	}
	return []T{}
}

func (s *Store) shuffle(records []store.Record) {
	s.rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
}

// clone returns a copy of a record that shares nothing with the original.
func clone(r *store.Record) store.Record {
	c := *r
	c.Body = slices.Clone(r.Body)
	c.Parents = slices.Clone(r.Parents)
	c.Marks.Things = slices.Clone(r.Marks.Things)
	return c
}
