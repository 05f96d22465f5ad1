package notary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
)

// A History records the last root that an identity signed, outside of the store. identity.History implements it.
type History interface {
	Last(origin ledger.Origin) (s identity.Signed, ok bool, err error)
	Change(origin ledger.Origin, change func(was identity.Signed, ok bool) identity.Signed) error
}

// ErrForked is wrapped when a tenant's ledger is not the history that the identity has signed, according to
// its History or to a witness. Nothing is issued or signed then until the owner decides.
var ErrForked = errors.New("the ledger is not the history that this identity has signed")

// historyEvery is the minimum time between two records of a signed root while a ledger grows.
const historyEvery = 10 * time.Second

// Roots are the roots that a kernel's identity has signed, by tenant.
type Roots struct {
	signatory *Signatory
	store     store.Store
	history   History // nil: no root is remembered
	clock     func() time.Time

	forked atomic.Bool // whether the ledger of any tenant has forked
	mu     sync.Mutex
	of     map[dag.Tenant]*signedHistory // guarded by mu
}

type signedHistory struct {
	fork    error     // ErrForked, or nil
	checked bool      // whether the store continues the recorded root
	saved   time.Time // when a root was recorded last
	size    uint64    // the size of that root; 0: none was recorded
}

// tenant returns a tenant's state. The caller holds mu.
func (r *Roots) tenant(name dag.Tenant) *signedHistory {
	s := r.of[name]
	if s == nil {
		if r.of == nil {
			r.of = map[dag.Tenant]*signedHistory{}
		}
		s = &signedHistory{}
		r.of[name] = s
	}
	return s
}

// MayIssue returns an error that wraps ErrForked if the tenant's ledger is known to have forked. It costs a load from
// memory while no tenant's ledger has.
func (r *Roots) MayIssue(tenant dag.Tenant) error {
	if !r.forked.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenant(tenant).fork
}

// fork records in memory that a tenant's ledger has forked, and returns the error, which wraps ErrForked.
func (r *Roots) fork(tenant dag.Tenant, reason string) error {
	err := fmt.Errorf("tenant %s: %w: %s; nothing is issued until its owner decides: restore the store that was signed, "+
		"give this store an identity of its own, or run graphkernel identity adopt if this history is meant to go on under the name", tenant, ErrForked, reason)
	r.mu.Lock()
	r.tenant(tenant).fork = err
	r.mu.Unlock()
	r.forked.Store(true)
	return err
}

// continues checks, once for each tenant, that the ledger continues the root that the identity signed last.
func (r *Roots) continues(ctx context.Context, tenant dag.Tenant) error {
	if r.history == nil || r.signatory.Identity().Name() == "" {
		return nil
	}
	r.mu.Lock()
	s := *r.tenant(tenant)
	r.mu.Unlock()
	if s.fork != nil || s.checked {
		return s.fork
	}
	last, ok, err := r.history.Last(r.signatory.Identity().Origin(tenant))
	if err != nil {
		return err
	}
	if ok {
		if err := Continues(ctx, r.store, tenant, last); errors.Is(err, ErrForked) {
			return r.fork(tenant, strings.TrimPrefix(err.Error(), ErrForked.Error()+": "))
		} else if err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tenant(tenant).checked = true
	return nil
}

// Continues returns an error that wraps ErrForked unless a store's ledger continues the root that was signed last. It
// makes and checks a proof of consistency.
func Continues(ctx context.Context, s store.Store, tenant dag.Tenant, last identity.Signed) error {
	if last.Forked != "" {
		return fmt.Errorf("%w: %s", ErrForked, last.Forked)
	}
	now, err := rootOf(ctx, s, tenant)
	if err != nil {
		return err
	}
	if now.Size < last.Root.Size {
		return fmt.Errorf("%w: it has %d leaves, and %d were signed", ErrForked, now.Size, last.Root.Size)
	}
	proof, err := now.ProveConsistency(ctx, last.Root.Size, hashes{s, tenant})
	if err != nil {
		return err
	}
	if err := now.CheckConsistency(last.Root, proof); err != nil {
		return fmt.Errorf("%w: of its %d leaves the first %d are not those that were signed", ErrForked, now.Size, last.Root.Size)
	}
	return nil
}

// remember records the root that is about to be signed: the first root before any signature leaves the kernel, later ones at most
// once in historyEvery, since they only serve to notice a store that was restored from an older copy.
func (r *Roots) remember(tenant dag.Tenant, root ledger.Root) error {
	if r.history == nil {
		return nil
	}
	now := r.clock()
	r.mu.Lock()
	s := r.tenant(tenant)
	due := root.Size > s.size && (s.size == 0 || now.Sub(s.saved) >= historyEvery || now.Before(s.saved))
	if due {
		s.size, s.saved = root.Size, now
	}
	r.mu.Unlock()
	if !due {
		return nil
	}
	return r.history.Change(r.signatory.Identity().Origin(tenant), func(was identity.Signed, ok bool) identity.Signed {
		if ok && (was.Root.Size >= root.Size || was.Forked != "") { // another process signed more, or saw a fork
			return was
		}
		return identity.Signed{Root: root}
	})
}

// bind records the root of a tenant's ledger before the first signature for the tenant.
func (r *Roots) bind(ctx context.Context, tenant dag.Tenant) error {
	if r.history == nil {
		return nil
	}
	r.mu.Lock()
	bound := r.tenant(tenant).size > 0
	r.mu.Unlock()
	if bound {
		return nil
	}
	root, err := rootOf(ctx, r.store, tenant)
	if err != nil {
		return err
	}
	return r.remember(tenant, root)
}

// heed records a fork, here and in the History, if a witness has cosigned another history, and returns its error.
func (r *Roots) heed(tenant dag.Tenant, root ledger.Root, refusals []witness.Refusal) error {
	for _, said := range refusals {
		if !errors.Is(said.Err, witness.ErrFork) {
			continue
		}
		reason := "the witness " + said.Error()
		if r.history != nil {
			err := r.history.Change(r.signatory.Identity().Origin(tenant), func(was identity.Signed, ok bool) identity.Signed {
				if !ok {
					was.Root = root
				}
				was.Forked = reason
				return was
			})
			if err != nil {
				return err
			}
		}
		return r.fork(tenant, reason)
	}
	return nil
}

// AdoptHistory makes a store's ledger the history that an identity continues, whatever the identity signed
// before. It returns the root that was signed before, nil if there was none, and the ledger's root.
func AdoptHistory(ctx context.Context, s store.Store, h History, id identity.Identity, tenant dag.Tenant) (was *identity.Signed, now ledger.Root, err error) {
	if now, err = rootOf(ctx, s, tenant); err != nil {
		return nil, now, err
	}
	err = h.Change(id.Origin(tenant), func(before identity.Signed, ok bool) identity.Signed {
		if ok {
			was = &before
		}
		return identity.Signed{Root: now}
	})
	return was, now, err
}
