package main

import (
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func BenchmarkSignedSlice(b *testing.B) {
	w, err := newWorld(20_000)
	if err != nil {
		b.Fatal(err)
	}
	secret, _ := token.DrawSecret(nil)
	ring, _ := token.Keyring{}.Import("k1", secret, 0)
	a := token.NewAuthority(ring)
	p, err := sized(256)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := slice.Cut(w.view, w.anchor, p, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := a.Seal(dag.DefaultTenant, s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	w, err := newWorld(20_000)
	if err != nil {
		b.Fatal(err)
	}
	secret, _ := token.DrawSecret(nil)
	ring, _ := token.Keyring{}.Import("k1", secret, 0)
	a := token.NewAuthority(ring)
	p, err := sized(256)
	if err != nil {
		b.Fatal(err)
	}
	s, err := slice.Cut(w.view, w.anchor, p, nil)
	if err != nil {
		b.Fatal(err)
	}
	seal, err := a.Seal(dag.DefaultTenant, s)
	if err != nil {
		b.Fatal(err)
	}
	bundle := slice.AppendBundle(nil, s, seal, func(i int) slice.EncodedTurn { return w.encoded[s.Turns[i].ID] })
	v := token.NewVerifier(a)
	b.ReportAllocs()
	for b.Loop() {
		if e, _ := v.Verify(bundle); !e.OK() {
			b.Fatal("not verified")
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	w, err := newWorld(20_000)
	if err != nil {
		b.Fatal(err)
	}
	p, err := sized(256)
	if err != nil {
		b.Fatal(err)
	}
	params, err := p.Slice()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := slice.Select(w.view, w.anchor, params, nil); err != nil {
			b.Fatal(err)
		}
	}
}
