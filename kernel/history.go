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

// A History remembers what an identity signed, outside of the store. identity.History does.
type History interface {
	Last(origin ledger.Origin) (s identity.Signed, ok bool, err error)
	Change(origin ledger.Origin, change func(was identity.Signed, ok bool) identity.Signed) error
}

// ErrForked is wrapped when a tenant's ledger is not the history that the identity has signed, by its
// own memory or by what a witness says. Nothing is issued or signed then until the owner decides.
var ErrForked = errors.New("the ledger is not the history that this identity has signed")

// historyEvery is how often what was signed is written down while a ledger grows.
const historyEvery = 10 * time.Second

// histories is what a kernel knows of the histories that it signs.
type histories struct {
	forked atomic.Bool // some tenant's ledger has
	mu     sync.Mutex
	of     map[dag.Tenant]*signedHistory // guarded by mu
}

type signedHistory struct {
	fork    error     // ErrForked, or nil
	checked bool      // the store continues what was remembered
	saved   time.Time // when it was written down last
	size    uint64    // up to which
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

// mayIssue reports ErrForked if the tenant's ledger is known to have forked. It costs a load from
// memory as long as none has.
func (k *engine) mayIssue(tenant dag.Tenant) error {
	if !k.histories.forked.Load() {
		return nil
	}
	k.histories.mu.Lock()
	defer k.histories.mu.Unlock()
	return k.histories.tenant(tenant).fork
}

// fork notes that a tenant's ledger has forked, here and in the history.
func (k *engine) fork(tenant dag.Tenant, reason string) error {
	err := fmt.Errorf("tenant %s: %w: %s; nothing is issued until its owner decides: restore the store that was signed, "+
		"give this store an identity of its own, or run graphkernel identity adopt if this history is meant to go on under the name", tenant, ErrForked, reason)
	k.histories.mu.Lock()
	k.histories.tenant(tenant).fork = err
	k.histories.mu.Unlock()
	k.histories.forked.Store(true)
	return err
}

// continues checks, once for each tenant, that the ledger continues what the identity signed last.
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

// Continues reports ErrForked unless a store's ledger continues what was signed last. It takes a
// proof of consistency.
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

// remember writes down what is about to be signed: the first time before anything leaves, then at most
// every few seconds, since a longer history is only needed to notice a store that went back.
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

// bind remembers a history before the first thing of it is signed.
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

// heed takes note of witnesses that have cosigned another history.
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

// AdoptHistory makes a store's ledger the history that an identity continues, whatever it signed
// before. It returns what was signed before, and what the ledger is.
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
