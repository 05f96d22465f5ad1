// Package interop_test holds what this project writes against what others wrote for the
// same specifications: their verifiers read ours, and their vectors go through our
// functions. It is a module of its own, so that nobody who uses the kernel gets its
// dependencies. It has tests and nothing else.
package interop_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// origin is that of the log in every test.
const origin = "default.kernel.example"

const issuedAt = "2026-01-02T03:04:05.000006Z"

// issued returns a statement for each bundle that ships with the project, and the bundle.
func issued(t *testing.T, each func(t *testing.T, data []byte, b *slice.Bundle, s *attest.Statement)) {
	t.Helper()
	cases := must(golden.Cases())
	made, redacted := 0, 0
	for i, c := range cases {
		if c.Expect.Bundle == "" {
			continue
		}
		b := must(slice.ParseBundle([]byte(c.Expect.Bundle)))
		made++
		redacted += len(b.Redacted())
		why := func(id dag.TurnID) attest.Why { return []attest.Why{attest.Erased, attest.Withheld}[id[15]%2] }
		data := b.Append(nil)
		s := attest.NewStatement(b, sha256.Sum256(data), must(dag.ParseTime(issuedAt)), uint64(i), origin, why)
		t.Run(c.Name, func(t *testing.T) { each(t, data, b, s) })
	}
	if made < 20 || redacted == 0 {
		t.Errorf("only %d bundles, with %d redacted turns", made, redacted)
	}
}

// attestationHand returns an attestation key, the same in every run.
func attestationHand(seed byte) (attest.Signer, ledger.Key) {
	s, key, err := attest.NewSigner(origin, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		panic(err)
	}
	return s, key
}

func sigstoreHand() (attest.Signer, attest.SigstoreKey) {
	s, key, err := attest.NewSigstoreSigner(must(ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{7}, 32))))
	if err != nil {
		panic(err)
	}
	return s, key
}

// A log is one in memory, with all its nodes and leaves. It is a ledger.Reader.
type log struct {
	tree   ledger.Tree
	leaves [][]byte
	roots  []ledger.Hash // by size
	nodes  [8][]ledger.Hash
}

func newLog() *log { return &log{roots: []ledger.Hash{ledger.EmptyRoot()}} }

func (l *log) append(leaf []byte) {
	for _, n := range must(l.tree.Append(ledger.LeafHash(leaf), nil)) {
		if uint64(len(l.nodes[n.Level])) != n.Index {
			panic(fmt.Sprintf("node %d of level %d comes when there are %d", n.Index, n.Level, len(l.nodes[n.Level])))
		}
		l.nodes[n.Level] = append(l.nodes[n.Level], n.Hash)
	}
	l.leaves = append(l.leaves, leaf)
	l.roots = append(l.roots, l.tree.Root())
}

// numbered returns a log of so many small leaves of different lengths.
func numbered(n int) *log {
	l := newLog()
	for i := range n {
		l.append(fmt.Appendf(nil, "leaf %d%s", i, "................"[i%16:]))
	}
	return l
}

func (l *log) root(size int) ledger.Root { return ledger.Root{Size: uint64(size), Hash: l.roots[size]} }

func (l *log) Hashes(_ context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	have := l.nodes[level]
	if from+uint64(n) > uint64(len(have)) {
		return nil, fmt.Errorf("hashes %d to %d of level %d, which has %d", from, from+uint64(n), level, len(have))
	}
	return have[from : from+uint64(n)], nil
}

// checkpoint signs the log as it is.
func (l *log) checkpoint() (signed []byte, key ledger.Key) {
	signer, key, err := ledger.NewLogSigner(origin, ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err != nil {
		panic(err)
	}
	return must(ledger.Checkpoint{Origin: origin, Root: l.root(len(l.leaves))}.Sign(signer)), key
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
