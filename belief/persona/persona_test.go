package persona_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/persona"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
)

func signer(t *testing.T) (attest.Signer, ledger.Key) {
	t.Helper()
	s, key, err := attest.NewSigner("default.kernel.example", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s, key
}

// random is a document with all that one may hold.
func random(r *rand.Rand) *persona.Document {
	d := &persona.Document{Origin: persona.Origin{Kernel: "default.kernel.example", Tenant: "default", Space: "acme/desk", AsOf: dag.Seq(r.IntN(1000)), At: dag.Time(r.Int64N(1 << 50))}}
	text := func() string { return []string{"", "a \"text\"\n", "Ümläut ", "\u2028"}[r.IntN(4)] }
	for i := range r.IntN(5) {
		item := persona.Item{Kind: []string{"fact", "hard_rule"}[r.IntN(2)], Confidence: dag.PPM(r.IntN(1_000_001)), Source: []string{"manual", "llm:m"}[r.IntN(2)], Title: text(), Summary: text()}
		for range r.IntN(3) {
			item.Keywords, item.Topics = append(item.Keywords, text()), append(item.Topics, text())
		}
		for n := range 1 + r.IntN(3) {
			s := persona.Statement{Literal: belief.Literal{Subject: fmt.Sprint("s", i), Predicate: "is", Object: fmt.Sprint("o", n), Not: r.IntN(2) == 0}, Span: belief.Always}
			if r.IntN(2) == 0 {
				s.Premises = []belief.Literal{{Subject: "a", Predicate: "is", Object: "b", Not: r.IntN(2) == 0}, {Subject: "c", Predicate: "is", Object: "d"}}
			}
			if r.IntN(2) == 0 {
				s.Span = belief.Span{From: dag.Time(1 + r.IntN(9)), Until: dag.Time(10 + r.IntN(9))}
			}
			item.Statements = append(item.Statements, s)
		}
		d.Items = append(d.Items, item)
	}
	for range r.IntN(4) {
		if n := len(d.Items); n > 0 {
			d.Links = append(d.Links, persona.Link{From: r.IntN(n), Type: []string{"depends_on", "abstracted_to"}[r.IntN(2)], To: r.IntN(n)})
		}
	}
	d.Sort()
	return d
}

// TestOneSpelling: what is written is read as it was, signed or not, and a document with a byte changed is refused or is another document in its only spelling.
func TestOneSpelling(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	s, key := signer(t)
	refused := 0
	for range 200 {
		d := random(r)
		data := d.Append(nil)
		again, err := persona.Parse(data)
		if err != nil || !bytes.Equal(again.Append(nil), data) {
			t.Fatalf("%s: %v", data, err)
		}
		envelope, digest, err := persona.Seal(d, s)
		if err != nil {
			t.Fatal(err)
		}
		if opened, of, err := persona.Open(envelope, []ledger.Key{key}); err != nil || of != digest || !bytes.Equal(opened.Append(nil), data) {
			t.Fatalf("%s: %v", envelope, err)
		}
		bad := bytes.Clone(data)
		at := r.IntN(len(bad))
		bad[at] ^= byte(1 + r.IntN(255))
		other, err := persona.Parse(bad)
		switch {
		case err == nil && !bytes.Equal(other.Append(nil), bad):
			t.Fatalf("%s has another spelling", bad)
		case err != nil && !errors.Is(err, persona.ErrForm) && !errors.Is(err, persona.ErrVersion):
			t.Fatalf("%s: %v", bad, err)
		case err != nil:
			refused++
		}
	}
	if refused < 100 {
		t.Errorf("%d refused", refused)
	}
}

// TestBounds refuses what does not fit.
func TestBounds(t *testing.T) {
	s, _ := signer(t)
	item := persona.Item{Kind: "fact", Source: "manual", Summary: strings.Repeat("x", 60_000), Statements: []persona.Statement{{Literal: belief.Literal{Subject: "a", Predicate: "is", Object: "b"}, Span: belief.Always}}}
	d := random(rand.New(rand.NewPCG(1, 1)))
	d.Items, d.Links = nil, nil
	for range 99 {
		d.Items = append(d.Items, item)
	}
	if envelope, _, err := persona.Seal(d, s); err != nil || len(envelope) > attest.MaxEnvelope {
		t.Errorf("what fits: %v", err)
	}
	d.Items = append(d.Items, item)
	if _, _, err := persona.Seal(d, s); !errors.Is(err, persona.ErrTooLarge) {
		t.Errorf("too many bytes: %v", err)
	}
	item.Summary = ""
	for d.Items = nil; len(d.Items) <= persona.MaxItems; {
		d.Items = append(d.Items, item)
	}
	if _, _, err := persona.Seal(d, s); !errors.Is(err, persona.ErrTooLarge) {
		t.Errorf("too many items: %v", err)
	}
	if _, err := persona.Parse(d.Append(nil)); !errors.Is(err, persona.ErrForm) || !strings.Contains(err.Error(), "items: there are 5001 items") {
		t.Errorf("too many items: %v", err)
	}
}
