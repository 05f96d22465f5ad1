// Package kernel joins the parts into the engine that programs embed: it admits
// turns, cuts and signs slices, verifies and replays them, explains them, and
// erases what must be forgotten. It names no back end, no transport and no clock.
//
//	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now})
//	issued, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: id})
//	evidence, verdict := k.Slices().Verify(issued.Bundle)
//
// Selection runs in memory. The kernel keeps the skeletons of conversations
// that slices were cut from, the cuts, and the encoded text of turns that were handed
// out, each bounded in bytes. What is kept is checked against the store's head before
// every use, with one look-up, so that a kernel never serves as the latest what
// another process has added to or erased. A cold slice costs a constant number
// of queries for each conversation border that it crosses, a warm one a single
// look-up.
package kernel

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/working"
)

// A Config says what a kernel works with.
type Config struct {
	Store     store.Store      // required; the kernel does not close it
	Authority *token.Authority // required; may hold an empty keyring, then nothing can be sliced
	Clock     func() time.Time // required: stamps events and issued slices, never a bundle
	Rand      io.Reader        // draws salts and API keys; nil is the system's randomness

	SkeletonBytes int // bound of the skeletons kept; 0 is 256 MiB
	TextBytes     int // bound of the turns kept with their texts; 0 is 32 MiB
	CutBytes      int // bound of the finished cuts kept, without text; 0 is 32 MiB
	FactBytes     int // bound of the edges between entities kept; 0 is 64 MiB
	WordBytes     int // bound of the indexes of words kept; 0 is 256 MiB, and the one that was asked last stays, whatever its size

	// Embedders make vectors for policies that ask for them by the id of the model, beside the table that ships. Vectors are made again by each
	// process, of all texts, when a policy first asks.
	Embedders []embed.Embedder

	// GraphOver is how many vectors of a tenant every search compares with its query. If there are more, a search of the whole present that
	// is not held within evidence walks a graph of them, which is made in the background, and says so. 0 is 100 000.
	GraphOver int

	// IndexTexts is how many texts one request reads at most for the index by which turns are found: segments.TextsOfRequest, or another number. If more of them are lacking, a search answers as of the
	// number that the index reaches, and says so; what needs the whole index, as a context does, is refused with projection.ErrIndexing. Then MakeIndex or KeepIndex makes the index. 0 is no
	// bound: a request reads all that it needs, and keeps what it makes. Indexes that no store keeps, and those of the analyzer none, have no bound.
	IndexTexts int

	// Rerankers are the cross-encoders that policies may name.
	Rerankers []Reranker

	// Screen is shown the turns of each admission by Admit, AdmitWith and AdmitInOrder before anything else is done with them, and must not change
	// them. Its error refuses all of them. Nil: nobody looks. What Import reads is screened by its own options.
	Screen func(ctx context.Context, tenant dag.Tenant, drafts []dag.Draft) error

	// ScreenTexts is shown what is kept beside turns before it is recorded: the names, texts and reasons of each Learn, the names that a slice of facts starts
	// from, and the task of a context. Its error refuses all of it. Nil: nobody looks.
	ScreenTexts func(ctx context.Context, tenant dag.Tenant, texts []dag.Text) error

	// ErasureSecret returns the secret under which the text of erased turns is recognised when it comes again under another id: at least
	// heldback.MinSecret bytes that are in no store. Nil without an error means that there is none; with create one is made and kept then. It is called for
	// each erasure, and for admissions of tenants that erased something. Nil: no text is recognised.
	ErasureSecret func(create bool) ([]byte, error)

	// Working bounds working memory; the zero value of each limit is its default. WorkingInProcess keeps it in the memory of this process;
	// nil: it is kept in the store, where other processes see it.
	Working          working.Limits
	WorkingInProcess *working.Memory

	// Parallel bounds how many slices are computed at once; others wait in the order of
	// arrival. Selecting, hashing and encoding are nothing but computing: more at once than
	// there are processors end no sooner, and some of them much later. The store is asked
	// outside of it. 0 is the number of processors.
	Parallel int

	// Identity signs for third parties; the zero value is none, and what would need a
	// signature is identity.ErrNone then. ReplaceIdentity puts another in place.
	Identity identity.Identity

	// History remembers what the identity signed; nil: nothing is remembered, and a store that does
	// not continue it is not noticed.
	History History

	// Fleeting says that the keys are of this run alone, and are gone afterwards: they are not
	// written into ledgers, where keys stand for good.
	Fleeting bool

	// Witnesses are asked to cosign checkpoints; nil: none are. CheckpointEvery is how old a
	// checkpoint may be before they are asked again; 0 is 10 seconds.
	Witnesses       *witness.Asker
	CheckpointEvery time.Duration

	// Observe is called before each operation with its name, and what it returns is
	// called after it with the error. The operation, and its calls of the store, get
	// Observe's context: where traces hook in. Nil: nothing is traced.
	Observe func(ctx context.Context, operation string) (context.Context, func(error))
}

func unobserved(ctx context.Context, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

// A Kernel is the engine that programs embed. It is safe for use by many goroutines. What it
// does is found in its facets; they share all that it knows, and cost nothing to make.
type Kernel struct{ *engine }

// Turns returns the facet of turns: they are admitted, read and erased.
func (k *Kernel) Turns() Turns { return Turns(*k) }

// Slices returns the facet of slices of turns: they are cut, verified, explained and replayed.
func (k *Kernel) Slices() Slices { return Slices(*k) }

// Policies returns the facet of the policies that slices and facts are cut under.
func (k *Kernel) Policies() Policies { return Policies(*k) }

// Facts returns the facet of what is known beside the turns, and of signed slices of it.
func (k *Kernel) Facts() Facts { return Facts(*k) }

// Keys returns the facet of the API keys that open a service.
func (k *Kernel) Keys() Keys { return Keys(*k) }

// Ledger returns the facet of the tenant's log, and of what is signed for third parties.
func (k *Kernel) Ledger() Ledger { return Ledger(*k) }

// Turns are a kernel's turns.
type Turns struct{ *engine }

// Slices are a kernel's slices of turns.
type Slices struct{ *engine }

// Policies are a kernel's policies.
type Policies struct{ *engine }

// Facts are a kernel's facts.
type Facts struct{ *engine }

// Keys are a kernel's API keys.
type Keys struct{ *engine }

// Ledger is a kernel's log, with the identity that signs it.
type Ledger struct{ *engine }

func (k *engine) turns() Turns   { return Turns{k} }
func (k *engine) slices() Slices { return Slices{k} }
func (k *engine) keys() Keys     { return Keys{k} }
func (k *engine) facts() Facts   { return Facts{k} }
func (k *engine) ledger() Ledger { return Ledger{k} }

// An engine is what the facets share.
type engine struct {
	config    Config // with nothing left to its default
	store     projection.Checked
	authority *token.Authority
	verifier  *token.Verifier
	clock     func() time.Time
	observe   func(context.Context, string) (context.Context, func(error))

	random    sync.Mutex // guards salts
	salts     io.Reader
	turnstile turnstile.Turnstile
	heads     projection.Heads
	kept      atomic.Pointer[cache]
	keyCache  *keys
	answers   map[string]api.Answer
	changes   changes
	indexing  projection.IndexQueue

	identity    replaceable
	checkpoints checkpoints
	histories   histories
}

// keptRecorded bounds the records of bundles that are kept.
const keptRecorded = 1 << 12

// Open returns a kernel over a store.
func Open(c Config) (*Kernel, error) {
	if c.Store == nil || c.Authority == nil || c.Clock == nil {
		return nil, errors.New("kernel: Config needs a Store, an Authority and a Clock")
	}
	if c.Rand == nil {
		c.Rand = bufio.NewReaderSize(rand.Reader, 4096) // a system call for many salts
	}
	if c.SkeletonBytes == 0 {
		c.SkeletonBytes = 256 << 20
	}
	if c.TextBytes == 0 {
		c.TextBytes = 32 << 20
	}
	if c.CutBytes == 0 {
		c.CutBytes = 32 << 20
	}
	if c.FactBytes == 0 {
		c.FactBytes = 64 << 20
	}
	if c.GraphOver == 0 {
		c.GraphOver = 100_000
	}
	if c.WordBytes == 0 {
		c.WordBytes = 256 << 20
	}
	if c.Parallel <= 0 {
		c.Parallel = runtime.GOMAXPROCS(0)
	}
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = 10 * time.Second
	}
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
	k := &engine{
		config:    c,
		store:     projection.Checked{Store: c.Store},
		authority: c.Authority,
		verifier:  token.NewVerifier(c.Authority),
		clock:     c.Clock,
		observe:   c.Observe,
		salts:     c.Rand,
		turnstile: make(turnstile.Turnstile, c.Parallel),
		keyCache:  apiKeys,
	}
	k.identity.id = c.Identity
	if k.checkpoints.kept, err = lru.New[dag.Tenant, *cosigned](keptAnnounced); err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	k.kept.Store(k.newCache())
	whole := &Kernel{k}
	whole.answering()
	return whole, nil
}

// now stamps with the clock that was handed in.
func (k *engine) now() (dag.Time, error) {
	t, err := dag.TimeOf(k.clock())
	if err != nil {
		return 0, fmt.Errorf("kernel: the clock: %w", err)
	}
	return t, nil
}

// Head returns a tenant's newest sequence number.
func (k Turns) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return k.store.Head(ctx, tenant)
}

// Conversations lists up to limit conversations with ids above after, ascending.
func (k Turns) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]store.Conversation, error) {
	return k.store.Conversations(ctx, tenant, after, limit)
}
