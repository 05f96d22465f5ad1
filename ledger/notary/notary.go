// Package notary is the room of signatures for third parties. It announces the keys of a kernel in its tenants' ledgers, remembers which roots were signed,
// signs checkpoints and statements about bundles, and proves that they are in a ledger.
//
//	e, err := k.Ledger().Attest(ctx, tenant, issued.Bundle)
//	c, err := k.Ledger().Checkpoint(ctx, tenant)
//
// The kernel implements [Kernel].
package notary

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

// A Kernel has the methods of the kernel that the room needs. The room returns the kernel's errors.
type Kernel interface {
	// Observe is called before an operation; the function it returns is called after the operation.
	Observe(ctx context.Context, operation string) (context.Context, func(error))
	// Reading runs a function in the store's present epoch, and runs it again if the epoch ends meanwhile.
	Reading(fn func(*Announced) error) error
	// Remade finds the record of a bundle, the newest of a slice id or the one with a digest, and makes the bundle again.
	Remade(ctx context.Context, tenant dag.Tenant, id slice.SliceID, digest *dag.Digest) (*issued.Record, slice.Body, error)
}

// A Config configures a Notary. kernel.Config has the same fields.
type Config struct {
	Store           projection.Checked
	Authority       *token.Authority
	Clock           func() time.Time
	Identity        identity.Identity // the zero value: nothing is signed
	History         History           // nil: no root is remembered
	Fleeting        bool              // the keys are not written into ledgers
	Witnesses       *witness.Asker    // nil: no witness is asked
	CheckpointEvery time.Duration
}

// A Notary is the identity of a kernel, with the ledgers of its tenants.
type Notary struct {
	*Signatory
	*Roots
	*Log
	Attestor
}

// New returns the room of a kernel.
func New(k Kernel, c Config) *Notary {
	s := &Signatory{kernel: k, authority: c.Authority, fleeting: c.Fleeting, id: c.Identity}
	r := &Roots{signatory: s, store: c.Store, history: c.History, clock: c.Clock}
	l := &Log{
		store: c.Store, signatory: s, roots: r, clock: c.Clock, witnesses: c.Witnesses, every: c.CheckpointEvery,
		kept: bytelru.New[dag.Tenant, *cosigned](keptAnnounced),
	}
	return &Notary{s, r, l, Attestor{kernel: k, store: c.Store, signatory: s, roots: r, log: l}}
}

// A Signatory is the current identity of a kernel, with a version that counts replacements.
type Signatory struct {
	kernel    Kernel
	authority *token.Authority
	fleeting  bool

	mu      sync.Mutex
	id      identity.Identity // guarded by mu
	version uint64            // guarded by mu
}

func (s *Signatory) current() (identity.Identity, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.version
}

// Identity returns the current identity, or its zero value if there is none.
func (s *Signatory) Identity() identity.Identity {
	id, _ := s.current()
	return id
}

// ReplaceIdentity replaces the identity, for example after its attestation key was
// rotated. The new identity must have the same name and the same keys, except the attestation
// keys, because the name and the keys define the logs.
func (s *Signatory) ReplaceIdentity(id identity.Identity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.id; was.Name() != "" && !was.Succeeds(id) {
		return fmt.Errorf("%w: %s with other keys of its logs, not %s", identity.ErrName, id.Name(), was.Name())
	}
	s.id, s.version = id, s.version+1
	return nil
}
