package attest_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
)

// The curve of Ed25519, -x² + y² = 1 + d·x²·y² over the integers modulo p (RFC 8032,
// section 5.1), written out with math/big so that the encodings of low order are derived
// and not copied.
var (
	fieldP = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	curveD = mod(new(big.Int).Mul(big.NewInt(-121665), inverse(big.NewInt(121666))))
	one    = big.NewInt(1)
)

type point struct{ x, y *big.Int }

func mod(a *big.Int) *big.Int     { return a.Mod(a, fieldP) }
func mul(a, b *big.Int) *big.Int  { return mod(new(big.Int).Mul(a, b)) }
func inverse(a *big.Int) *big.Int { return new(big.Int).ModInverse(mod(new(big.Int).Set(a)), fieldP) }
func (a point) same(b point) bool { return a.x.Cmp(b.x) == 0 && a.y.Cmp(b.y) == 0 }
func (a point) plus(b point) (c point) {
	dxy := mul(curveD, mul(mul(a.x, b.x), mul(a.y, b.y)))
	c.x = mul(new(big.Int).Add(mul(a.x, b.y), mul(b.x, a.y)), inverse(new(big.Int).Add(one, dxy)))
	c.y = mul(new(big.Int).Add(mul(a.y, b.y), mul(a.x, b.x)), inverse(new(big.Int).Sub(one, dxy)))
	return c
}

// decode reads an encoding as leniently as any decoder: y may be p or more, and the sign
// of x = 0 may be 1.
func decode(b [32]byte) (point, bool) {
	sign := b[31] >> 7
	b[31] &= 0x7f
	slices.Reverse(b[:])
	y := mod(new(big.Int).SetBytes(b[:]))
	yy := mul(y, y)
	xx := mul(new(big.Int).Sub(yy, one), inverse(new(big.Int).Add(mul(curveD, yy), one)))
	x := new(big.Int).ModSqrt(xx, fieldP)
	if x == nil {
		return point{}, false
	}
	if x.Bit(0) != uint(sign) {
		x = mod(new(big.Int).Neg(x))
	}
	return point{x, y}, true
}

// encodings returns every encoding that decodes to a point.
func encodings(q point) (list [][32]byte) {
	for y := new(big.Int).Set(q.y); y.BitLen() <= 255; y = new(big.Int).Add(y, fieldP) {
		for _, sign := range []byte{0, 0x80} {
			var b [32]byte
			y.FillBytes(b[:])
			slices.Reverse(b[:])
			b[31] |= sign
			if got, ok := decode(b); ok && got.same(q) {
				list = append(list, b)
			}
		}
	}
	return list
}

// lowOrderEncodings derives the fourteen: all encodings of the eight points P with 8P = 0.
func lowOrderEncodings(t *testing.T) (list [][32]byte) {
	t.Helper()
	zero := point{new(big.Int), one}
	eightfold := func(q point) point { q = q.plus(q); q = q.plus(q); return q.plus(q) }
	// Eight times the order of the base point's subgroup kills every point, so that order
	// times a point is one of low order; which of the eight depends on the point.
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	var found []point
	for n := uint32(2); len(found) < 8; n++ {
		var b [32]byte
		binary.LittleEndian.PutUint32(b[:], n)
		q, ok := decode(b)
		if !ok {
			continue
		}
		sum := zero
		for i := order.BitLen() - 1; i >= 0; i-- {
			sum = sum.plus(sum)
			if order.Bit(i) == 1 {
				sum = sum.plus(q)
			}
		}
		if !eightfold(sum).same(zero) {
			t.Fatalf("8·L·P is not 0 for y = %d", n)
		}
		if !slices.ContainsFunc(found, sum.same) {
			found = append(found, sum)
		}
	}
	for _, q := range found {
		list = append(list, encodings(q)...)
	}
	if len(list) != 14 {
		t.Fatalf("%d encodings of low order, C2SP/CCTV lists 14", len(list))
	}
	return list
}

func TestLowOrderKeysRefused(t *testing.T) {
	for _, b := range lowOrderEncodings(t) {
		key := ledger.Key{Name: origin, Alg: ledger.AlgEd25519, Public: b}
		if err := key.Check(); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%x: %v, want ErrForm", b, err)
		}
		if _, err := ledger.ParseKey(key.String()); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("vkey %s: %v, want ErrForm", key, err)
		}
		// A trust file refuses them, and so does the last place before the signature.
		e := must(attest.ParseEnvelope(must(attest.Seal([]byte("x"), sized{key.HexID(), 64}))))
		if _, _, err := e.Verify(func(string) (ledger.Key, bool) { return key, true }); err == nil || errors.Is(err, ledger.ErrSignature) {
			t.Errorf("%x as the trusted key: %v, want it refused", b, err)
		}
	}
}

// TestLowOrderKeysForge shows why: crypto/ed25519 accepts a signature that was made
// without any secret under each of these keys, and under the identity one and the same
// signature for every message.
func TestLowOrderKeysForge(t *testing.T) {
	list := lowOrderEncodings(t)
	identity := [32]byte{1}
	one := append(identity[:], make([]byte, 32)...) // R is the identity, S is 0
	for _, message := range []string{"", "a", "DSSEv1 28 application/vnd.in-toto+json 2 {}"} {
		if !ed25519.Verify(identity[:], []byte(message), one) {
			t.Errorf("the forged signature of %q does not verify under the identity", message)
		}
	}
	for _, key := range list {
		forged := false
		for n := byte(0); n < 200 && !forged; n++ {
			for _, r := range list {
				forged = forged || ed25519.Verify(key[:], []byte{n}, append(r[:], make([]byte, 32)...))
			}
		}
		if !forged {
			t.Errorf("no message of 200 has a forged signature under %x", key)
		}
	}
}

func TestNewSigner(t *testing.T) {
	if _, _, err := attest.NewSigner(origin, make([]byte, 31)); !errors.Is(err, attest.ErrForm) {
		t.Errorf("a short key: %v, want ErrForm", err)
	}
	if _, _, err := attest.NewSigner("a+b", ed25519.NewKeyFromSeed(make([]byte, 32))); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("a name with +: %v, want ErrForm", err)
	}
	s, key := hand(0)
	if s.KeyID() != key.HexID() {
		t.Errorf("the signer's id is %s, the key's %s", s.KeyID(), key.HexID())
	}
}
