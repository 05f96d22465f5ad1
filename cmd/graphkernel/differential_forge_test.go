package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A forge makes fresh evidence, and holds every key of those who signed it.
type forge struct {
	random    *rand.Rand
	now       time.Time
	id        identity.Identity
	secret    string // hex
	witnesses []ed25519.PrivateKey
	made      []specimen // of turns
	learned   []specimen // of facts
	assembled []specimen // of contexts
}

// signed is what a forge signs: the payload of an attestation, and the parts of a proof.
type signed struct {
	payload []byte
	leaf    []byte
}

// noise reads random numbers as bytes.
type noise struct{ random *rand.Rand }

func (n noise) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(n.random.Uint32())
	}
	return len(p), nil
}

const forgeName = "kernel.example"

func newForge(t *testing.T, random *rand.Rand) *forge {
	t.Helper()
	f := &forge{random: random, now: time.Date(2026, 3, 14, 3, 0, 0, random.IntN(1e9), time.UTC)}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	at, err := dag.TimeOf(f.now)
	check(err)
	f.id, err = identity.New(noise{random}, forgeName, at)
	check(err)
	secret, err := token.DrawSecret(noise{random})
	check(err)
	f.secret = secret.Reveal()
	ring, err := token.Keyring{}.Rotate("k1", secret, at)
	check(err)
	for range 3 {
		seed := make([]byte, ed25519.SeedSize)
		_, _ = noise{random}.Read(seed)
		f.witnesses = append(f.witnesses, ed25519.NewKeyFromSeed(seed))
	}
	var disk inmem.Disk
	k, err := kernel.Open(kernel.Config{
		Store: inmem.Open(&disk, inmem.Options{Seed: random.Uint64()}), Authority: token.NewAuthority(ring),
		Clock: func() time.Time { return f.now }, Rand: noise{random}, Identity: f.id,
	})
	check(err)
	check(f.fill(t.Context(), k, at))
	return f
}

// fill admits a random conversation and hands out evidence of it.
func (f *forge) fill(ctx context.Context, k *kernel.Kernel, at dag.Time) error {
	r := f.random
	turns := make([]dag.TurnID, 3+r.IntN(12))
	drafts := make([]dag.Draft, len(turns))
	for i := range turns {
		turns[i] = dag.ExternalTurnID("forge", fmt.Sprint(r.Uint64()))
		drafts[i] = dag.Draft{
			ID: turns[i], Conversation: dag.ExternalConversationID("forge", "talk"), Role: dag.Role(1 + r.IntN(4)), Author: "model:helper",
			Content: strangeText(r), CreatedAt: at + dag.Time(r.IntN(5)), Attrs: map[string]string{"tool": fmt.Sprint(r.IntN(9))},
		}
		for p := range min(i, r.IntN(3)) {
			drafts[i].Parents = append(drafts[i].Parents, dag.Parent{ID: turns[i-1-p], Kind: dag.Reply})
		}
	}
	if _, err := k.Turns().Admit(ctx, dag.DefaultTenant, drafts); err != nil {
		return err
	}
	p := policy.DefaultV1()
	p.MaxRadius, p.MaxNodes, p.SalienceWeight = r.IntN(6), 1+r.IntN(9), dag.PPM(r.IntN(1_000_001))
	const id = "forge@1"
	bound, err := policy.Bind(id, p)
	if err != nil {
		return err
	}
	if err := k.Policies().Register(ctx, dag.DefaultTenant, bound); err != nil {
		return err
	}
	if err := f.learn(ctx, k, turns); err != nil { // before a turn is erased, which facts cannot name then
		return err
	}
	if err := f.assemble(ctx, k, turns); err != nil {
		return err
	}
	for n := range 4 {
		if n == 2 {
			if _, err := k.Turns().Erase(ctx, dag.DefaultTenant, turns[r.IntN(len(turns))], "asked for"); err != nil {
				return err
			}
		}
		request := kernel.Request{Anchor: turns[r.IntN(len(turns))]}
		if n%2 == 0 {
			request.Policy = id
		}
		if err := f.handOut(ctx, k, request); err != nil {
			return err
		}
	}
	return nil
}

// learn returns random facts to the kernel and hands out evidence of them.
func (f *forge) learn(ctx context.Context, k *kernel.Kernel, turns []dag.TurnID) error {
	r := f.random
	names := []string{"Pump 4", "Tank B", "valve", "\U0001F600", "\ufa0e", "C++", "limit < 5", "file:/src/a.go"}
	name := func() string { return names[r.IntN(len(names))] }
	for range 4 + r.IntN(12) {
		fact, err := knowledge.NewFact(name(), []string{"feeds", "is near", "\ufa0e of"}[r.IntN(3)], name(), "user")
		if err != nil {
			return err
		}
		fact.Confidence = dag.PPM(r.IntN(1_000_001))
		if r.IntN(2) == 0 {
			fact.Turn = turns[r.IntN(len(turns))]
		}
		if r.IntN(4) == 0 {
			fact.From, fact.Until = dag.Time(r.IntN(5)), dag.Time(6+r.IntN(5))
		}
		if _, err := k.Facts().Learn(ctx, dag.DefaultTenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: fact}}); err != nil {
			return err
		}
	}
	alias := knowledge.Act{Kind: knowledge.Alias, Alias: "valve", Canonical: "tank-b"}
	if _, err := k.Facts().Learn(ctx, dag.DefaultTenant, []knowledge.Act{alias}); err != nil {
		return err
	}
	for range 4 {
		request := api.FactSliceRequest{Start: []string{name(), name()}}
		if at := dag.Time(r.IntN(12)); at < 9 {
			request.ValidAt = &at
		}
		issued, err := k.Facts().Slice(ctx, dag.DefaultTenant, request)
		if err != nil {
			return err
		}
		if err := f.handOutFacts(ctx, k, issued); err != nil {
			return err
		}
	}
	return nil
}

// handOutFacts makes a specimen of a slice of facts: whole, or a part of it.
func (f *forge) handOutFacts(ctx context.Context, k *kernel.Kernel, issued *kernel.IssuedFacts) error {
	s, err := f.attested(ctx, k, issued.Bundle)
	if err != nil {
		return err
	}
	r, b := f.random, issued.Facts
	if r.IntN(3) > 0 {
		show := facts.Choice{Question: r.IntN(3) == 0, Aliases: r.IntN(3) == 0, Reached: r.IntN(3) == 0}
		for i := range b.Facts {
			if r.IntN(2) == 0 {
				show.Facts = append(show.Facts, b.Facts[i].Fact.ID())
			}
		}
		for i := range b.Evidence {
			if r.IntN(2) == 0 {
				show.Evidence = append(show.Evidence, b.Evidence[i].ID)
			}
		}
		show.Question = show.Question || len(show.Facts)+len(show.Evidence) == 0
		part, err := b.Disclose(sha256.Sum256(issued.Bundle), show)
		if err != nil {
			return err
		}
		delete(s.files, evidence.FileBundle)
		s.files[evidence.FileDisclosure] = part.Append(nil)
	}
	s.name = fmt.Sprintf("fresh facts %d", len(f.learned))
	f.learned = append(f.learned, s)
	return nil
}

// attested is a specimen of a bundle that the kernel attests.
func (f *forge) attested(ctx context.Context, k *kernel.Kernel, bundle []byte) (s specimen, err error) {
	e, err := k.Ledger().Attest(ctx, dag.DefaultTenant, bundle)
	if err != nil {
		return s, err
	}
	proof, err := ledger.ParseProof(e.Proof)
	if err != nil {
		return s, err
	}
	checkpoint, err := ledger.ReadCheckpoint(proof.Checkpoint)
	if err != nil {
		return s, err
	}
	for w := range f.witnesses {
		proof.Checkpoint = append(proof.Checkpoint, f.cosignature(w, checkpoint.Text(), uint64(f.now.Unix()))...)
	}
	envelope, err := attest.ParseEnvelope(e.Envelope)
	if err != nil {
		return s, err
	}
	return specimen{
		files: map[string][]byte{evidence.FileBundle: bundle, evidence.FileAttestation: e.Envelope, evidence.FileProof: proof.Append(nil)},
		trust: f.trust(), keyID: "k1", secret: f.secret, forge: f, of: signed{payload: envelope.Unverified(), leaf: proof.Leaf},
	}, nil
}

// handOut makes a specimen of a slice: whole, with texts withheld, or with turns dropped.
func (f *forge) handOut(ctx context.Context, k *kernel.Kernel, request kernel.Request) error {
	issued, err := k.Slices().Cut(ctx, dag.DefaultTenant, request)
	if err != nil {
		return err
	}
	s, err := f.attested(ctx, k, issued.Bundle)
	if err != nil {
		return err
	}
	b, err := slice.ParseBundle(issued.Bundle)
	if err != nil {
		return err
	}
	shown := []dag.TurnID{b.Turns[f.random.IntN(len(b.Turns))].ID}
	switch f.random.IntN(3) {
	case 0:
		part, err := b.Withhold(shown)
		if err != nil {
			return err
		}
		s.files[evidence.FileBundle] = part.Append(nil)
	case 1:
		part, err := b.Disclose(sha256.Sum256(issued.Bundle), shown)
		if err != nil {
			return err
		}
		delete(s.files, evidence.FileBundle)
		s.files[evidence.FileDisclosure] = part.Append(nil)
	}
	s.name = fmt.Sprintf("fresh %d", len(f.made))
	f.made = append(f.made, s)
	return nil
}

func (f *forge) origin() string { return string(f.id.Origin(dag.DefaultTenant)) }

// trust returns a trust file that needs two of three witnesses, one, or none.
func (f *forge) trust() []byte {
	attestor, err := f.id.Attestor(dag.DefaultTenant)
	_, log, err2 := f.id.Log(dag.DefaultTenant)
	if err != nil || err2 != nil {
		panic(fmt.Sprint(err, err2))
	}
	text := fmt.Sprintf("signer %s%s\nlog %s\n", attestor.Key(), f.until(), log)
	for w := range f.witnesses {
		text += fmt.Sprintf("witness w%d %s\n", w, f.witnessKey(w))
	}
	return []byte(text + []string{"quorum none\n", "quorum w1\n", "group two 2 w0 w1 w2\nquorum two\n"}[f.random.IntN(3)])
}

// until returns the end of a key, or none.
func (f *forge) until() string {
	return []string{
		"", "", " 1970-01-01T00:00:00.000000Z", " 1970-01-01T00:00:00.000001Z", " 9999-12-31T23:59:59.999999Z",
		" " + dag.Time(f.now.UnixMicro()).String(), " " + dag.Time(f.now.Truncate(time.Second).UnixMicro()).String(),
	}[f.random.IntN(7)]
}

func (f *forge) witnessKey(w int) ledger.Key {
	return ledger.Key{
		Name: fmt.Sprintf("w%d.example", w), Alg: ledger.AlgCosignature, Public: [32]byte(f.witnesses[w].Public().(ed25519.PublicKey)),
	}
}

// cosignature signs a checkpoint's text as a witness, at any time.
func (f *forge) cosignature(w int, text string, seconds uint64) []byte {
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", seconds, text)
	sig := append(binary.BigEndian.AppendUint64(nil, seconds), ed25519.Sign(f.witnesses[w], []byte(message))...)
	key := f.witnessKey(w)
	id := key.ID()
	return fmt.Appendf(nil, "— %s %s\n", key.Name, base64.StdEncoding.EncodeToString(append(id[:4:4], sig...)))
}

// note signs any text as the log and as the witnesses, at times that a witness may not say.
func (f *forge) note(text string) []byte {
	signer, key, err := f.id.Log(dag.DefaultTenant)
	if err != nil {
		panic(err)
	}
	sig, err := signer.Sign([]byte(text))
	if err != nil {
		panic(err)
	}
	id := key.ID()
	n := fmt.Appendf(nil, "%s\n— %s %s\n", text, key.Name, base64.StdEncoding.EncodeToString(append(id[:4:4], sig...)))
	times := []uint64{uint64(f.now.Unix()), uint64(f.now.Unix()) + 1, 0, 1<<63 - 1, 1 << 63, 1<<64 - 1, 253402300799, 253402300800}
	for w := range f.random.IntN(4) {
		n = append(n, f.cosignature(w, text, times[f.random.IntN(len(times))])...)
	}
	return n
}

// logged proves a leaf in a log of two, under a checkpoint whose text change may change.
func (f *forge) logged(leaf []byte, change func(string) string) []byte {
	other := ledger.LeafHash([]byte("{}"))
	root := tlog.NodeHash(ledger.LeafHash(leaf), other)
	text := change(fmt.Sprintf("%s\n2\n%s\n", f.origin(), base64.StdEncoding.EncodeToString(root[:])))
	p := ledger.Proof{Leaf: leaf, Index: 0, Path: []ledger.Hash{other}, Checkpoint: f.note(text)}
	return p.Append(nil)
}

// signAnew changes something under a signature, and signs it again.
func (f *forge) signAnew(r *rand.Rand, s *specimen) (how string) {
	keep := func(text string) string { return text }
	switch r.IntN(5) {
	case 0, 1:
		payload, how := mutateJSON(r, s.of.payload)
		attestor, err := f.id.Attestor(dag.DefaultTenant)
		if err != nil {
			panic(err)
		}
		envelope, err := attest.Seal(payload, attestor)
		if err != nil {
			panic(err)
		}
		s.files[evidence.FileAttestation] = envelope
		if r.IntN(2) == 0 {
			delete(s.files, evidence.FileProof)
			s.trust = onlySigners(s.trust)
		}
		return "a statement signed anew: " + how
	case 2:
		leaf, how := mutateJSON(r, s.of.leaf)
		s.files[evidence.FileProof] = f.logged(leaf, keep)
		delete(s.files, evidence.FileAttestation)
		return "a leaf logged anew: " + how
	case 3:
		how := ""
		s.files[evidence.FileProof] = f.logged(s.of.leaf, func(text string) string {
			changed, h := mutateText(r, []byte(text))
			how = h
			return string(bytes.ToValidUTF8(changed, []byte("?")))
		})
		delete(s.files, evidence.FileAttestation)
		return "a checkpoint signed anew: " + how
	default:
		s.files[evidence.FileProof] = f.logged(s.of.leaf, keep)
		delete(s.files, evidence.FileAttestation)
		return "a checkpoint cosigned at strange times"
	}
}

func onlySigners(trust []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(trust)) {
		if strings.HasPrefix(line, "signer ") {
			b.WriteString(line)
		}
	}
	return []byte(b.String() + "quorum none\n")
}
