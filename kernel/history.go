package kernel

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

// histories is the state of the histories that a kernel signs, by tenant.
type histories struct {
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
func (h *histories) tenant(name dag.Tenant) *signedHistory {
	s := h.of[name]
	if s == nil {
		if h.of == nil {
			h.of = map[dag.Tenant]*signedHistory{}
		}
		s = &signedHistory{}
		h.of[name] = s
	}
	return s
}

// mayIssue returns an error that wraps ErrForked if the tenant's ledger is known to have forked. It costs a load from
// memory while no tenant's ledger has.
func (k *engine) mayIssue(tenant dag.Tenant) error {
	if !k.histories.forked.Load() {
		return nil
	}
	k.histories.mu.Lock()
	defer k.histories.mu.Unlock()
	return k.histories.tenant(tenant).fork
}

// fork records in memory that a tenant's ledger has forked, and returns the error, which wraps ErrForked.
func (k *engine) fork(tenant dag.Tenant, reason string) error {
	err := fmt.Errorf("tenant %s: %w: %s; nothing is issued until its owner decides: restore the store that was signed, "+
		"give this store an identity of its own, or run graphkernel identity adopt if this history is meant to go on under the name", tenant, ErrForked, reason)
	k.histories.mu.Lock()
	k.histories.tenant(tenant).fork = err
	k.histories.mu.Unlock()
	k.histories.forked.Store(true)
	return err
}

// continues checks, once for each tenant, that the ledger continues the root that the identity signed last.
func (k *engine) continues(ctx context.Context, tenant dag.Tenant) error {
	if k.config.History == nil || k.ledger().Identity().Name() == "" {
		return nil
	}
	k.histories.mu.Lock()
	s := *k.histories.tenant(tenant)
	k.histories.mu.Unlock()
	if s.fork != nil || s.checked {
		return s.fork
	}
	last, ok, err := k.config.History.Last(k.ledger().Identity().Origin(tenant))
	if err != nil {
		return err
	}
	if ok {
		if err := Continues(ctx, k.store, tenant, last); errors.Is(err, ErrForked) {
			return k.fork(tenant, strings.TrimPrefix(err.Error(), ErrForked.Error()+": "))
		} else if err != nil {
			return err
		}
	}
	k.histories.mu.Lock()
	defer k.histories.mu.Unlock()
	k.histories.tenant(tenant).checked = true
	return nil
}

// Continues returns an error that wraps ErrForked unless a store's ledger continues the root that was signed last. It
// makes and checks a proof of consistency.
func Continues(ctx context.Context, s store.Store, tenant dag.Tenant, last identity.Signed) error {
	if last.Forked != "" {
		return fmt.Errorf("%w: %s", ErrForked, last.Forked)
	}
	t, err := s.Log(ctx, tenant)
	if err != nil {
		return err
	}
	now := ledger.Root{Size: t.Size(), Hash: t.Root()}
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
func (k *engine) remember(tenant dag.Tenant, root ledger.Root) error {
	if k.config.History == nil {
		return nil
	}
	now := k.clock()
	k.histories.mu.Lock()
	s := k.histories.tenant(tenant)
	due := root.Size > s.size && (s.size == 0 || now.Sub(s.saved) >= historyEvery || now.Before(s.saved))
	if due {
		s.size, s.saved = root.Size, now
	}
	k.histories.mu.Unlock()
	if !due {
		return nil
	}
	return k.config.History.Change(k.ledger().Identity().Origin(tenant), func(was identity.Signed, ok bool) identity.Signed {
		if ok && (was.Root.Size >= root.Size || was.Forked != "") { // another process signed more, or saw a fork
			return was
		}
		return identity.Signed{Root: root}
	})
}

// bind records the root of a tenant's ledger before the first signature for the tenant.
func (k *engine) bind(ctx context.Context, tenant dag.Tenant) error {
	if k.config.History == nil {
		return nil
	}
	k.histories.mu.Lock()
	bound := k.histories.tenant(tenant).size > 0
	k.histories.mu.Unlock()
	if bound {
		return nil
	}
	root, err := k.ledger().Root(ctx, tenant)
	if err != nil {
		return err
	}
	return k.remember(tenant, root)
}

// heed records a fork, here and in the History, if a witness has cosigned another history, and returns its error.
func (k *engine) heed(tenant dag.Tenant, root ledger.Root, refusals []witness.Refusal) error {
	for _, r := range refusals {
		if !errors.Is(r.Err, witness.ErrFork) {
			continue
		}
		reason := "the witness " + r.Error()
		if k.config.History != nil {
			err := k.config.History.Change(k.ledger().Identity().Origin(tenant), func(was identity.Signed, ok bool) identity.Signed {
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
		return k.fork(tenant, reason)
	}
	return nil
}

// AdoptHistory makes a store's ledger the history that an identity continues, whatever the identity signed
// before. It returns the root that was signed before, nil if there was none, and the ledger's root.
func AdoptHistory(ctx context.Context, s store.Store, h History, id identity.Identity, tenant dag.Tenant) (was *identity.Signed, now ledger.Root, err error) {
	t, err := s.Log(ctx, tenant)
	if err != nil {
		return nil, now, err
	}
	now = ledger.Root{Size: t.Size(), Hash: t.Root()}
	err = h.Change(id.Origin(tenant), func(before identity.Signed, ok bool) identity.Signed {
		if ok {
			was = &before
		}
		return identity.Signed{Root: now}
	})
	return was, now, err
}
