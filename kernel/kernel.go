// Package kernel joins the parts into the engine that programs embed: it admits
// and erases turns, and it cuts, signs, verifies, replays and explains slices.
// It names no back end, no transport and no clock.
//
//	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now})
//	issued, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: id})
//	evidence, verdict := k.Slices().Verify(issued.Bundle)
//
// Selection runs in memory. The kernel caches the skeletons of conversations
// that slices were cut from, the cuts, and the encoded text of turns that were handed
// out; each cache is bounded in bytes. Before every use the kernel checks the caches
// against the store's head, with one look-up, so it never serves outdated data after
// another process has added or erased turns. A cold slice costs a constant number
// of queries for each conversation border that it crosses, a warm slice a single
// look-up.
package kernel

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/working"
)

// A Config configures a kernel.
type Config struct {
	Store     store.Store      // required; the kernel does not close it
	Authority *token.Authority // required; with an empty keyring nothing can be sliced
	Clock     func() time.Time // required: stamps events and issued slices, never a bundle
	Rand      io.Reader        // draws salts, keys and ids; nil is the system's randomness

	SkeletonBytes int // bound of the cached skeletons; 0 is 256 MiB
	TextBytes     int // bound of the cached turns with their texts; 0 is 32 MiB
	CutBytes      int // bound of the cached cuts, without text; 0 is 32 MiB
	FactBytes     int // bound of the cached edges between entities; 0 is 64 MiB
	WordBytes     int // bound of the cached word indexes; 0 is 256 MiB. The index used last stays, whatever its size

	// Embedders make vectors for policies that name their models by id, in addition to the table that ships. Each process makes the
	// vectors of all texts again when a policy first needs them.
	Embedders []embed.Embedder

	// GraphOver is the largest number of a tenant's vectors that every search compares with its query. If a tenant has more, a search that has neither
	// an as-of number nor a boundary walks a graph of the vectors and reports this in Found.Approximate. The graph is made in the background. 0 is 100 000.
	GraphOver int

	// IndexTexts is the largest number of texts that one request reads for the search index: segments.TextsOfRequest, or another number. If the index lacks more
	// texts, a search answers as of the number that the index reaches, and reports this in Found.NotIndexed; a request that needs the whole index,
	// such as a context, fails with projection.ErrIndexing. MakeIndex or KeepIndex then makes the index. 0 is no bound: a request reads all texts that it needs,
	// and stores the segments that it makes. Indexes that the store does not keep, and indexes with the analyzer none, have no bound.
	IndexTexts int

	// Rerankers are the cross-encoders that policies may name.
	Rerankers []find.Reranker

	// Screen is called with the turns of each admission by Admit, AdmitWith and AdmitInOrder, and with the messages of each session, before the kernel processes
	// them, and must not change them. Its error refuses all of them. Nil: turns are not screened. Import has its own options for screening.
	Screen func(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error

	// ScreenTexts is called with texts other than turns before they are recorded: the names, texts and reasons of each Learn, the names that a slice of facts
	// starts from, the task of a context, the texts of a statement or proof of beliefs, and the reason of a resolved conflict. Its error refuses all of them.
	// Nil: these texts are not screened.
	ScreenTexts func(ctx context.Context, tenant dag.Tenant, texts []dag.Text) error

	// ErasureSecret returns the secret with which the kernel recognises the text of erased turns when the text comes again under another id: at least
	// heldback.MinSecret bytes that are in no store. If there is no secret, it returns nil without an error, or with create makes and keeps a secret. It is called for
	// each erasure, and for admissions of tenants that have erased turns. Nil: no text is recognised.
	ErasureSecret func(create bool) ([]byte, error)

	// Working bounds working memory; the zero value of each limit is its default. WorkingInProcess keeps it in the memory of this process;
	// nil: working memory is kept in the store, where other processes see it.
	Working          working.Limits
	WorkingInProcess *working.Memory

	// Parallel bounds how many slices are computed at once; others wait in the order of
	// arrival. Selecting, hashing and encoding only use the processor: with more slices than
	// processors none is finished sooner, and some are finished much later. Store queries do
	// not count. 0 is the number of processors.
	Parallel int

	// Identity signs for third parties. Without one (the zero value), operations that need a
	// signature return identity.ErrNone. ReplaceIdentity replaces it.
	Identity identity.Identity

	// History remembers the roots that the identity signed. Nil: no root is remembered, and the
	// kernel does not notice a store whose ledger does not continue a signed root.
	History notary.History

	// Fleeting says that the keys exist during this run only. They are not written into
	// ledgers, where keys stay forever.
	Fleeting bool

	// Witnesses are asked to cosign checkpoints; nil: no witness is asked. CheckpointEvery is how
	// old a checkpoint may be before the witnesses are asked again; 0 is 10 seconds.
	Witnesses       *witness.Asker
	CheckpointEvery time.Duration

	// Observe is called before each operation with the operation's name; the function that it
	// returns is called after the operation with the error. The operation and its calls of the
	// store get the context that Observe returns, for tracing. Nil: nothing is traced.
	Observe func(ctx context.Context, operation string) (context.Context, func(error))
}

func unobserved(ctx context.Context, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

// A Kernel is the engine that programs embed. It is safe for use by many goroutines. Its
// facets have its methods; they share the kernel's state, and cost nothing to make.
type Kernel struct{ *engine }

// Turns returns the facet that admits, reads and erases turns.
func (k *Kernel) Turns() Turns { return k.turns() }

// Slices returns the facet that cuts, verifies, explains and replays slices of turns.
func (k *Kernel) Slices() Slices { return k.slices() }

// Policies returns the facet of the policies under which slices and facts are cut.
func (k *Kernel) Policies() Policies { return Policies(*k) }

// Keys returns the facet of the API keys that open a service.
func (k *Kernel) Keys() Keys { return Keys(*k) }

// Ledger returns the facet of the tenants' ledgers, and of signatures for third parties.
func (k *Kernel) Ledger() *notary.Notary { return k.notary }

// Policies are a kernel's policies.
type Policies struct{ *engine }

// An engine is the state that the facets of a kernel share.
type engine struct {
	config    Config // with defaults filled in
	store     projection.Checked
	authority *token.Authority
	verifier  *token.Verifier
	clock     func() time.Time
	observe   func(context.Context, string) (context.Context, func(error))
	records   Records

	random    random
	turnstile turnstile.Turnstile
	heads     projection.Heads
	kept      atomic.Pointer[cache]
	keyCache  *keys
	answers   map[string]api.Answer
	changes   changes
	indexing  projection.IndexQueue
	notary    *notary.Notary
}

// keptRecorded bounds the cached records of issued bundles.
const keptRecorded = 1 << 12

// Open returns a kernel over a store.
func Open(c Config) (*Kernel, error) {
	if c.Store == nil || c.Authority == nil || c.Clock == nil {
		return nil, errors.New("kernel: Config needs a Store, an Authority and a Clock")
	}
	if c.Rand == nil {
		c.Rand = bufio.NewReaderSize(rand.Reader, 4096) // one system call for many salts
	}
	c.SkeletonBytes = cmp.Or(c.SkeletonBytes, 256<<20)
	c.TextBytes = cmp.Or(c.TextBytes, 32<<20)
	c.CutBytes = cmp.Or(c.CutBytes, 32<<20)
	c.FactBytes = cmp.Or(c.FactBytes, 64<<20)
	c.GraphOver = cmp.Or(c.GraphOver, 100_000)
	c.WordBytes = cmp.Or(c.WordBytes, 256<<20)
	if c.Parallel <= 0 {
		c.Parallel = runtime.GOMAXPROCS(0)
	}
	c.CheckpointEvery = cmp.Or(c.CheckpointEvery, 10*time.Second)
	if c.Observe == nil {
		c.Observe = unobserved
	}
	if c.Screen == nil {
		c.Screen = func(context.Context, dag.Tenant, []dag.Draft) error { return nil }
	}
	c.Working = c.Working.Filled()
	if err := c.Working.Check(); err != nil {
		return nil, fmt.Errorf("kernel: Config.Working: %w", err)
	}
	apiKeys, err := newKeys()
	if err != nil {
		return nil, err
	}
	s := projection.Checked{Store: c.Store}
	k := &engine{
		config:    c,
		store:     s,
		authority: c.Authority,
		verifier:  token.NewVerifier(c.Authority),
		clock:     c.Clock,
		observe:   c.Observe,
		records:   Records{issued.Base{History: s}, erasures.Base{History: s}, s},
		random:    random{from: c.Rand},
		turnstile: make(turnstile.Turnstile, c.Parallel),
		keyCache:  apiKeys,
	}
	k.notary = notary.New(registrar{desk{k}}, notary.Config{
		Store: s, Authority: c.Authority, Clock: c.Clock, Identity: c.Identity, History: c.History, Fleeting: c.Fleeting,
		Witnesses: c.Witnesses, CheckpointEvery: c.CheckpointEvery,
	})
	k.kept.Store(k.newCache())
	whole := &Kernel{k}
	whole.answering()
	return whole, nil
}

// random is the randomness of a kernel, for use by many goroutines.
type random struct {
	mu   sync.Mutex
	from io.Reader // guarded by mu
}

// Read implements [io.Reader].
func (r *random) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from.Read(b)
}

// draw fills b.
func (r *random) draw(b []byte) error {
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("kernel: drawing at random: %w", err)
	}
	return nil
}

// now returns the time of Config.Clock, or an error if that is not a valid dag.Time.
func (k *engine) now() (dag.Time, error) {
	t, err := dag.TimeOf(k.clock())
	if err != nil {
		return 0, fmt.Errorf("kernel: the clock: %w", err)
	}
	return t, nil
}

// Stats are counts for monitoring a kernel.
type Stats struct {
	TokenHits, TokenMisses uint64 // good tokens found in the cache, and tokens not found there
	Graphs, Cuts, Texts    bytelru.Stats
}

// Stats returns the counts so far.
func (k *Kernel) Stats() Stats {
	hits, misses := k.authority.Looked()
	kept := k.kept.Load()
	return Stats{TokenHits: hits, TokenMisses: misses, Graphs: kept.graphs.Stats(), Cuts: kept.cuts.Stats(), Texts: kept.texts.Stats()}
}
