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
		s, err := slice.Cut(w.view, w.anchor, p)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := a.Seal(dag.DefaultTenant, s); err != nil {
			b.Fatal(err)
		}
	}
}
