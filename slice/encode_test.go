package slice

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

func BenchmarkEncodeTurn(b *testing.B) {
	body := AppendBody(nil, &dag.Body{Author: "agent:1", Content: string(bytes.Repeat([]byte("words and words "), 25)), Attrs: map[string]string{"phase_by": "rules/1"}})
	turn := dag.Turn{ID: dag.TurnID{1}, Role: dag.RoleUser, Phase: dag.Planning}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := EncodeTurn(&turn, body, dag.Salt{1}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDigestBody compares with the library, for every length up to some blocks, and
// lengths about that at which a buffer is let go.
func TestDigestBody(t *testing.T) {
	noise := rand.NewChaCha8([32]byte{1})
	text := make([]byte, 1<<16+200)
	_, _ = noise.Read(text)
	for n := 0; n < len(text); n++ {
		if n == 400 {
			n = 1<<16 - 200
		}
		var salt dag.Salt
		_, _ = noise.Read(salt[:])
		mac := hmac.New(sha256.New, salt[:])
		mac.Write(text[:n])
		if got := DigestBody(text[:n], salt); string(got[:]) != string(mac.Sum(nil)) {
			t.Fatalf("%d bytes have the digest %s", n, got)
		}
	}
}

func BenchmarkDigestBody(b *testing.B) {
	body, salt := make([]byte, 480), dag.Salt{1}
	b.Run("written out", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			DigestBody(body, salt)
		}
	})
	b.Run("crypto/hmac", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mac := hmac.New(sha256.New, salt[:])
			mac.Write(body)
			mac.Sum(nil)
		}
	})
}

// TestReading changes what it gave, and asks for what is not there.
func TestReading(t *testing.T) {
	one, two := dag.TurnID{1}, dag.TurnID{2}
	b := &Bundle{
		Turns: []BundleTurn{{Turn: dag.Turn{ID: one}}, {Turn: dag.Turn{ID: two}, Body: &dag.Body{Content: "said", Attrs: map[string]string{"a": "b"}}}},
		Order: []dag.TurnID{two, {3}, one},
	}
	turns := b.Reading()
	if len(turns) != 2 || turns[0].ID != two || turns[1].ID != one || turns[1].Body != nil {
		t.Fatalf("got %+v", turns)
	}
	turns[0].Body.Content, turns[0].Body.Attrs["a"] = "changed", "changed"
	if body := b.Turns[1].Body; body.Content != "said" || body.Attrs["a"] != "b" {
		t.Errorf("the bundle has %+v now", body)
	}
}
