package notary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
	"github.com/graphkernel/graphkernel/token"
)

// TestEvidence attests slices whose turns have text, were erased, and never had any: a third
// party verifies them, and both ways to the envelope give the same bytes.
func TestEvidence(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			id := somebody(t)
			k := named(t, open(t, name), token.NewAuthority(ring(t, "k1")), id)
			ctx := t.Context()
			ids := chain(t, k, 9)
			if _, err := k.Turns().Erase(ctx, tenant, ids[4], "asked for"); err != nil {
				t.Fatal(err)
			}
			issued := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[8]}))
			signed := must(k.Ledger().Sign(ctx, tenant, issued, issued.Record))
			e := must(k.Ledger().Attest(ctx, tenant, issued.Bundle))
			if !bytes.Equal(signed.Envelope, e.Envelope) {
				t.Errorf("Sign gave\n%s, Attest\n%s", signed.Envelope, e.Envelope)
			}
			if !slices.Equal(e.Statement.Redacted, []attest.Redaction{{Turn: ids[4], Why: attest.Erased}}) {
				t.Errorf("redacted: %v", e.Statement.Redacted)
			}
			v := trusting(t, id).Judge(evidence.Files{Bundle: issued.Bundle, Attestation: e.Envelope, Proof: e.Proof})
			if v.Outcome != evidence.Verified || v.Inclusion == nil || v.Inclusion.Index != e.Statement.Index {
				t.Errorf("%s: %s, %+v", v.Outcome, v.Reason, v.Inclusion)
			}
			again := must(k.Ledger().Attest(ctx, tenant, issued.Bundle))
			if !bytes.Equal(again.Envelope, e.Envelope) {
				t.Error("attesting again gave another envelope")
			}
			recorded := must(k.Ledger().AttestRecorded(ctx, tenant, issued.Slice.Provenance.SliceID, nil))
			if !bytes.Equal(recorded.Envelope, e.Envelope) {
				t.Error("attesting from the record gave another envelope")
			}
		})
	}
}

func TestAttestRefuses(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	k := named(t, s, a, somebody(t))
	ids := chain(t, k, 3)
	issued := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[2]}))
	elsewhere := named(t, open(t, "memory"), a, somebody(t))
	for what, c := range map[string]struct {
		err  error
		want error
	}{
		"nobody":         {second(over(t, s, a).Ledger().Attest(ctx, tenant, issued.Bundle)), identity.ErrNone},
		"nobody's root":  {second(over(t, s, a).Ledger().Checkpoint(ctx, tenant)), identity.ErrNone},
		"never issued":   {second(elsewhere.Ledger().Attest(ctx, tenant, issued.Bundle)), store.ErrNotFound},
		"another tenant": {second(k.Ledger().Attest(ctx, "other", issued.Bundle)), token.ErrTenant},
		"beyond":         {second(k.Ledger().Prove(ctx, tenant, 99)), store.ErrNotFound},
		"another name":   {k.Ledger().ReplaceIdentity(must(identity.New(noise(8), "other.example", 0))), identity.ErrName},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
	}
}

// A misled store says of each entry of the record, when it is asked for, that its leaf is the one
// before.
type misled struct{ store.Store }

func (m misled) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := m.Store.Entries(ctx, tenant, p)
	for i := range list {
		if p.At != nil && p.Stream == history.Record {
			list[i].Seq--
		}
	}
	return list, err
}

// TestAttestDamaged has records that lead to leaves of other acts: no proof of them is given.
func TestAttestDamaged(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			id, a := somebody(t), token.NewAuthority(ring(t, "k1"))
			k := named(t, misled{open(t, name)}, a, id)
			ids := chain(t, k, 3)
			issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[2]}))
			if err := second(k.Ledger().Attest(t.Context(), tenant, issued.Bundle)); err == nil || !strings.Contains(err.Error(), "run graphkernel fsck") {
				t.Errorf("attested, %v", err)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// TestKeysAreAnnounced looks for the keys in the ledger, before what they signed.
func TestKeysAreAnnounced(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	a := token.NewAuthority(ring(t, "k1"))
	id := somebody(t)
	k := named(t, s, a, id)
	ids := chain(t, k, 4)
	must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[1]}))
	rotated := ring(t, "k1", "k2")
	a.Replace(must(rotated.Retire("k1", 5)))
	if err := k.Ledger().ReplaceIdentity(must(id.Rotate(noise(7), 6))); err != nil {
		t.Fatal(err)
	}
	must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[2]}))
	must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[3]}))
	var got []string
	for _, leaf := range must(history.Leaves(ctx, s, tenant, 0, 100)) {
		switch l := must(ledger.ParseLeaf(leaf, kinds.Leaves()...)).(type) {
		case *ledger.KeyLeaf:
			name := l.KeyID
			if l.Purpose == ledger.PurposeAttestation {
				name = "attestation"
			}
			got = append(got, fmt.Sprintf("%s %s", name, l.Event))
		case *issued.SliceLeaf:
			got = append(got, "slice by "+l.KeyID)
		case *registry.Leaf:
			got = append(got, string(l.ID))
		}
	}
	want := []string{
		"k1 created", "attestation created", string(policy.DefaultID), "slice by k1",
		"k1 retired", "k2 created", "attestation retired", "attestation created", "slice by k2", "slice by k2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the ledger holds %q, want %q", got, want)
	}
}

// TestSignedKeysAreKnown rotates between a slice and its signature, and asks for a slice that is
// kept: whichever key signs is in the ledger before.
func TestSignedKeysAreKnown(t *testing.T) {
	ctx := t.Context()
	s := open(t, "memory")
	id := somebody(t)
	k := named(t, s, token.NewAuthority(ring(t, "k1")), id)
	ids := chain(t, k, 2)
	must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[1]}))
	for i := range 3 {
		id = must(id.Rotate(noise(byte(20+i)), dag.Time(6+i)))
		if err := k.Ledger().ReplaceIdentity(id); err != nil {
			t.Fatal(err)
		}
		issued := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[1]}))
		must(k.Ledger().Sign(ctx, tenant, issued, issued.Record))
		key := must(id.Attestor(tenant)).Key()
		leaf := ledger.KeyLeaf{Tenant: tenant, Purpose: ledger.PurposeAttestation, Event: ledger.KeyCreated, KeyID: key.HexID(), PublicKey: key.Public[:], At: dag.Time(6 + i)}
		leaves := must(history.Leaves(ctx, s, tenant, 0, 99))
		if !slices.ContainsFunc(leaves, func(l []byte) bool { return bytes.Equal(l, leaf.Append(nil)) }) {
			t.Errorf("rotation %d: the ledger is %q", i, leaves)
		}
	}
	if err := k.Ledger().ReplaceIdentity(must(identity.New(noise(30), "kernel.example", 0))); !errors.Is(err, identity.ErrName) {
		t.Errorf("another log's key under the same name: %v", err)
	}
	fleeting := must(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring(t, "k9")), Rand: noise(1), Clock: standing, Identity: id, Fleeting: true}))
	size := must(k.Ledger().Root(ctx, tenant)).Size
	must(fleeting.Ledger().Checkpoint(ctx, tenant))
	if now := must(k.Ledger().Root(ctx, tenant)).Size; now != size {
		t.Errorf("keys of one run made %d leaves", now-size)
	}
}

// An asked witness counts.
type askedWitness struct{ asked int }

func (w *askedWitness) RoundTrip(*http.Request) (*http.Response, error) {
	w.asked++
	return nil, errors.New("out of reach")
}

// TestWitnessesAreAskedSeldom asks for leaves that are not there, which must trouble nobody.
func TestWitnessesAreAskedSeldom(t *testing.T) {
	ctx := t.Context()
	w := &askedWitness{}
	other := must(must(identity.New(noise(4), "w.example", 0)).Witness())
	now := standing()
	k := must(kernel.Open(kernel.Config{
		Store: open(t, "memory"), Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: func() time.Time { return now }, Identity: somebody(t),
		Witnesses: witness.NewAsker(&http.Client{Transport: w}, []ledger.TrustedWitness{{Name: "w", Key: other.Key(), URL: "http://w.example"}}), CheckpointEvery: time.Minute,
	}))
	for range 5 {
		if c := must(k.Ledger().Checkpoint(ctx, tenant)); len(c.Refusals) != 1 {
			t.Fatalf("refusals: %v", c.Refusals)
		}
		if _, err := k.Ledger().Prove(ctx, tenant, 1<<40); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		must(k.Ledger().Prove(ctx, tenant, 0))
	}
	if w.asked != 1 {
		t.Errorf("asked %d times within a minute", w.asked)
	}
	now = now.Add(time.Minute)
	must(k.Ledger().Checkpoint(ctx, tenant))
	if w.asked != 2 {
		t.Errorf("asked %d times after it", w.asked)
	}
}

// TestCheckpoints asks witnesses no more often than it should, and for every proof that needs
// a newer checkpoint.
func TestCheckpoints(t *testing.T) {
	ctx := t.Context()
	now := standing()
	s := open(t, "memory")
	k := must(kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: func() time.Time { return now }, Identity: somebody(t),
	}))
	ids := chain(t, k, 4)
	first := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[0]}))
	c := must(k.Ledger().Checkpoint(ctx, tenant))
	if again := must(k.Ledger().Checkpoint(ctx, tenant)); !bytes.Equal(again.Note, c.Note) {
		t.Error("the same size was signed differently")
	}
	root := must(k.Ledger().Root(ctx, tenant))
	if root != c.Root {
		t.Errorf("the ledger is %v, the checkpoint %v", root, c.Root)
	}
	p := must(k.Ledger().Prove(ctx, tenant, must(k.Ledger().Located(ctx, tenant, first.Bundle))))
	if !bytes.Equal(p.Checkpoint, c.Note) {
		t.Error("the proof is under another checkpoint")
	}
}
