package evidence_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

const (
	tenant     = dag.DefaultTenant
	kernelName = "kernel.example"
	origin     = "default.kernel.example"
)

// A world is a kernel in which everything is always the same: time, keys, salts.
type world struct {
	t      testing.TB
	now    time.Time
	random *rand.ChaCha8
	id     identity.Identity
	secret string
	store  *inmem.Store
	open   func() *kernel.Kernel
	kernel *kernel.Kernel

	turns     []dag.TurnID
	witnesses []*ledger.Cosigner
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC), random: rand.NewChaCha8([32]byte{1})}
	var disk inmem.Disk
	w.store = inmem.Open(&disk, inmem.Options{Seed: 1})
	w.id = must(identity.New(w.random, kernelName, w.time()))
	secret := must(token.DrawSecret(w.random))
	w.secret = "k1 " + secret.Reveal()
	ring := must(token.Keyring{}.Rotate("k1", secret, w.time()))
	w.open = func() *kernel.Kernel {
		return must(kernel.Open(kernel.Config{
			Store: w.store, Authority: token.NewAuthority(ring), Clock: func() time.Time { return w.now }, Rand: w.random, Identity: w.id,
		}))
	}
	w.kernel = w.open()
	for i := range 3 {
		w.witnesses = append(w.witnesses, must(ledger.NewCosigner(fmt.Sprintf("w%d.example", i+1), w.private(byte(10+i)))))
	}
	w.hasKey(dag.DefaultTenant)
	w.talk()
	return w
}

// hasKey stores the key of a tenant's marks, so that the kernel draws none of the salts' randomness for it.
func (w *world) hasKey(tenant dag.Tenant) {
	w.t.Helper()
	key := sha256.Sum256([]byte("marks of " + tenant))
	if err := w.store.Swap(w.t.Context(), tenant, marks.Cell, nil, key[:]); err != nil {
		w.t.Fatal(err)
	}
}

// drawsKey has the kernel draw a key of marks at the next admission, in place of the one that is stored.
func (w *world) drawsKey(tenant dag.Tenant) {
	w.t.Helper()
	for _, c := range must(w.store.Cells(w.t.Context(), tenant, marks.Cell)) {
		if err := w.store.Swap(w.t.Context(), tenant, c.Name, c.Value, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	w.kernel = w.open()
}

// must is for what cannot fail in a world that works; a panic fails the test as well.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) time() dag.Time { return must(dag.TimeOf(w.now)) }

func (w *world) private(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

// talk admits a conversation in which a helper is asked, and a tool answers, with a side
// branch and texts that are hard to encode.
func (w *world) talk() {
	conversation := dag.ExternalConversationID("corpus", "talk")
	texts := []struct {
		role    dag.Role
		author  string
		content string
		parents []int
		attrs   map[string]string

		phase    dag.Phase // by the first rules, so that the corpus does not change with the rules for new turns
		salience dag.PPM
	}{
		{dag.RoleSystem, "kernel:prompt", "Answer from what the tools say.", nil, nil, dag.Planning, 300_000},
		{dag.RoleUser, "human:guest", "Is the pump in room 4 on?", []int{0}, nil, dag.Exploration, 650_000},
		{dag.RoleAssistant, "model:helper", "I will ask its controller.", []int{1}, map[string]string{"tool": "pump.read"}, dag.Exploration, 450_000},
		{dag.RoleTool, "tool:pump", "{\"on\":true,\"rpm\":1200}", []int{2}, nil, dag.Exploration, 250_000},
		{dag.RoleUser, "human:guest", "Übrigens: \u0000 \"quoted\" \\ \u2028 \U0001F600", []int{1}, map[string]string{"lang": "de"}, dag.Planning, 600_000},
		{dag.RoleAssistant, "model:helper", "It is on, at 1200 turns a minute.", []int{3, 4}, nil, dag.Synthesis, 450_000},
		{dag.RoleUser, "human:guest", "Then turn it down.", []int{5}, nil, dag.Planning, 600_000},
		{dag.RoleAssistant, "model:helper", "Done.", []int{6}, nil, dag.Synthesis, 450_000},
	}
	drafts := make([]dag.Draft, len(texts))
	for i, x := range texts {
		id := dag.ExternalTurnID("corpus", fmt.Sprint(i))
		w.turns = append(w.turns, id)
		drafts[i] = dag.Draft{
			ID: id, Conversation: conversation, Role: x.role, Author: x.author, Content: x.content, Phase: x.phase, Salience: x.salience, HasSalience: true,
			Attrs: map[string]string{ingest.AttrPhaseBy: "rules/1", ingest.AttrSalienceBy: "rules/1"}, CreatedAt: w.time() + dag.Time(i)*1_000_000,
		}
		maps.Copy(drafts[i].Attrs, x.attrs)
		for _, p := range x.parents {
			drafts[i].Parents = append(drafts[i].Parents, dag.Parent{ID: w.turns[p], Kind: dag.Reply})
		}
	}
	must(w.kernel.Turns().Admit(w.ctx(), tenant, drafts))
}

func (w *world) ctx() context.Context { return context.Background() }

// slice issues a slice of GKP/1 around a turn.
func (w *world) slice(anchor int) *kernel.Issued {
	return must(w.kernel.Slices().Cut(w.ctx(), tenant, kernel.Request{Anchor: w.turns[anchor], Policy: policy.DefaultV1ID}))
}

// grow adds leaves of other acts to the ledger.
func (w *world) grow(n int) {
	var leaves [][]byte
	for range n {
		var hash dag.Digest
		_, _ = w.random.Read(hash[:])
		l := ledger.KeyLeaf{Tenant: tenant, Purpose: ledger.PurposeAPI, Event: ledger.KeyCreated, KeyID: hash.String()[:16], At: w.time()}
		leaves = append(leaves, l.Append(nil))
	}
	must(storetest.Raw().Put(w.ctx(), w.store, tenant, leaves))
}

// attest returns the evidence of a slice, under a checkpoint that witnesses cosigned.
func (w *world) attest(i *kernel.Issued, witnesses ...int) *notary.Evidence {
	return w.attested(i.Bundle, witnesses...)
}

// attested is attest for a bundle of any kind.
func (w *world) attested(bundle []byte, witnesses ...int) *notary.Evidence {
	e := must(w.kernel.Ledger().Attest(w.ctx(), tenant, bundle))
	p := must(ledger.ParseProof(e.Proof))
	p.Checkpoint = w.cosign(p.Checkpoint, w.now, witnesses...)
	e.Proof = p.Append(nil)
	return e
}

func (w *world) cosign(checkpoint []byte, at time.Time, witnesses ...int) []byte {
	for _, n := range witnesses {
		by := w.witnesses[n]
		c := must(ledger.ReadCheckpoint(checkpoint))
		line := must(by.Cosign(c, c.Text(), at))
		more, _, err := ledger.AddSignatures(checkpoint, line, []ledger.Key{by.Key()})
		checkpoint = must(more, err)
	}
	return checkpoint
}

func (w *world) checkpoint() []byte {
	return must(w.kernel.Ledger().Checkpoint(w.ctx(), tenant)).Note
}

func (w *world) logKey() ledger.Key {
	_, key, err := w.id.Log(tenant)
	return must(key, err)
}

// signerKey is the attestation key in place.
func (w *world) signerKey() ledger.Key {
	return must(w.kernel.Ledger().Identity().Attestor(tenant)).Key()
}

// stranger signs as the origin with a key that nobody trusts.
func (w *world) stranger() (attest.Signer, ledger.Key) {
	s, k, err := attest.NewSigner(origin, w.private(66))
	if err != nil {
		panic(err)
	}
	return s, k
}

func (w *world) strangerLog() (note.Signer, ledger.Key) {
	s, k, err := ledger.NewLogSigner(origin, w.private(77))
	if err != nil {
		panic(err)
	}
	return s, k
}

// Trust files, by what they ask for.
func (w *world) trustSigner() string { return fmt.Sprintf("signer %s\nquorum none\n", w.signerKey()) }
func (w *world) trustLog() string    { return fmt.Sprintf("log %s\nquorum none\n", w.logKey()) }
func (w *world) trustBoth() string {
	return fmt.Sprintf("signer %s\nlog %s\nquorum none\n", w.signerKey(), w.logKey())
}

func (w *world) trustAll() string {
	text := fmt.Sprintf("# two of three witnesses\nsigner %s\nlog %s https://log.example/log\n", w.signerKey(), w.logKey())
	for i, x := range w.witnesses {
		text += fmt.Sprintf("witness w%d %s\n", i+1, x.Key())
	}
	return text + "group two 2 w1 w2 w3\nquorum two\n"
}

func parsed(data []byte) *slice.Bundle { return must(slice.ParseBundle(data)) }

func sum(data []byte) dag.Digest { return sha256.Sum256(data) }

// reseal signs a changed statement with the kernel's own key.
func (w *world) reseal(envelope []byte, change func(*attest.Statement)) []byte {
	e := must(attest.ParseEnvelope(envelope))
	payload, _, err := e.Verify(func(string) (ledger.Key, bool) { return w.signerKey(), true })
	s := must(attest.ParseStatement(must(payload, err)))
	change(s)
	return must(attest.Seal(s.Append(nil), must(w.kernel.Ledger().Identity().Attestor(tenant))))
}

// proof changes a proof.
func proofWith(proof []byte, change func(*ledger.Proof)) []byte {
	p := must(ledger.ParseProof(proof))
	change(p)
	return p.Append(nil)
}
