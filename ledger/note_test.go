package ledger_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/graphkernel/graphkernel/ledger"
)

func private(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

const origin = "default.kernel.example"

func logOf(t testing.TB, n byte) (note.Signer, ledger.Key) {
	t.Helper()
	s, k, err := ledger.NewLogSigner(origin, private(n))
	if err != nil {
		t.Fatal(err)
	}
	return s, k
}

func cosigner(t testing.TB, name string, n byte) *ledger.Cosigner {
	t.Helper()
	c, err := ledger.NewCosigner(name, private(n))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func signed(t testing.TB, by byte, size int) ([]byte, ledger.Checkpoint) {
	t.Helper()
	s, _ := logOf(t, by)
	c := ledger.Checkpoint{Origin: origin, Root: build(t, size).root(size)}
	n, err := c.Sign(s)
	if err != nil {
		t.Fatal(err)
	}
	return n, c
}

func cosign(t testing.TB, n []byte, at time.Time, by ...*ledger.Cosigner) []byte {
	t.Helper()
	c, err := ledger.ReadCheckpoint(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range by {
		line, err := w.Cosign(c, c.Text(), at)
		if err != nil {
			t.Fatal(err)
		}
		more, added, err := ledger.AddSignatures(n, line, []ledger.Key{w.Key()})
		if err != nil || !slices.Equal(added, []ledger.Key{w.Key()}) {
			t.Fatalf("added %v, %v", added, err)
		}
		n = more
	}
	return n
}

func trust(t testing.TB, format string, args ...any) *ledger.Trust {
	t.Helper()
	tr, err := ledger.ParseTrust(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestCheckpoint(t *testing.T) {
	n, c := signed(t, 1, 7)
	_, key := logOf(t, 1)
	opened, err := trust(t, "log %s\nquorum none\n", key).Open(n)
	if err != nil || opened.Checkpoint != c || opened.Log != key {
		t.Fatalf("got %+v, %v", opened, err)
	}
	if at, err := opened.Quorum(time.Time{}); err != nil || !at.IsZero() {
		t.Fatalf("quorum none: %v, %v", at, err)
	}
	again, err := c.Sign(first(logOf(t, 1)))
	if err != nil || !bytes.Equal(again, n) {
		t.Fatal("signing again gave other bytes")
	}
	// The library's own verifier reads it.
	v, err := note.NewVerifier(key.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := note.Open(n, note.VerifierList(v)); err != nil {
		t.Fatal(err)
	}
	other, err := ledger.Checkpoint{Origin: "other.kernel.example", Root: c.Root}.Sign(first(logOf(t, 1)))
	if !errors.Is(err, ledger.ErrOrigin) {
		t.Fatalf("a log signed for another origin: %q, %v", other, err)
	}
}

func first[A, B any](a A, _ B) A { return a }

// TestCheckpointMangled changes every byte of a checkpoint: none is believed.
func TestCheckpointMangled(t *testing.T) {
	n, c := signed(t, 1, 7)
	_, key := logOf(t, 1)
	tr := trust(t, "log %s\nquorum none\n", key)
	tried := 0
	for i := range n {
		for _, b := range []byte{n[i] ^ 1, n[i] ^ 0x20, ' ', '\n', 0, 0xff} {
			if b == n[i] {
				continue
			}
			bent := bytes.Clone(n)
			bent[i] = b
			tried++
			if o, err := tr.Open(bent); err == nil {
				t.Fatalf("byte %d as %q was believed: %+v", i, b, o.Checkpoint)
			}
		}
		if _, err := tr.Open(n[:i]); err == nil {
			t.Fatalf("the first %d bytes were believed", i)
		}
	}
	if tried < 5*len(n) {
		t.Fatalf("%d changes tried", tried)
	}
	for _, what := range []string{"%s\n07\n%s\n", "%s\n+7\n%s\n", "%s\n281474976710657\n%s\n", "%s\n18446744073709551616\n%s\n", "%s\n-1\n%s\n"} {
		text := fmt.Sprintf(what, c.Origin, base64.StdEncoding.EncodeToString(c.Hash[:]))
		bent, err := note.Sign(&note.Note{Text: text}, first(logOf(t, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Open(bent); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%q: %v", text, err)
		}
	}
	extended, err := note.Sign(&note.Note{Text: c.Text() + "an extension\n"}, first(logOf(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if o, err := tr.Open(extended); err != nil || o.Checkpoint != c {
		t.Errorf("an extension line: %v", err)
	}
}

func TestWhoSigned(t *testing.T) {
	_, a := logOf(t, 1)
	_, b := logOf(t, 2)
	byA, _ := signed(t, 1, 7)
	tr := trust(t, "log %s\nquorum none\n", b)
	if _, err := tr.Open(byA); !errors.Is(err, ledger.ErrOrigin) {
		t.Errorf("signed by an unknown key: %v", err)
	}
	both := trust(t, "log %s\nlog %s\nquorum none\n", a, b)
	if o, err := both.Open(byA); err != nil || o.Log != a {
		t.Errorf("signed by one of two: %v", err)
	}
	// A line of a known key that does not verify, beside one that does.
	lines := strings.SplitAfter(string(byA), "\n")
	forged := lines[len(lines)-2]
	s, key := logOf(t, 2)
	sig, err := s.Sign([]byte("another text"))
	if err != nil {
		t.Fatal(err)
	}
	hash := key.ID()
	line := "— " + origin + " " + base64.StdEncoding.EncodeToString(append(hash[:4:4], sig...)) + "\n"
	if _, err := both.Open([]byte(string(byA) + line)); !errors.Is(err, ledger.ErrSignature) {
		t.Errorf("a forged line beside a good one: %v", err)
	}
	if _, err := trust(t, "log %s\nquorum none\n", a).Open([]byte(string(byA) + line)); err != nil {
		t.Errorf("a line of an unknown key: %v", err)
	}
	_ = forged
}

func TestWitnesses(t *testing.T) {
	_, key := logOf(t, 1)
	w := []*ledger.Cosigner{cosigner(t, "w0.example", 10), cosigner(t, "w1.example", 11), cosigner(t, "w2.example", 12)}
	header := fmt.Sprintf("log %s\nwitness a %s\nwitness b %s https://b.example\nwitness c %s\n", key, w[0].Key(), w[1].Key(), w[2].Key())
	n, c := signed(t, 1, 7)
	for _, group := range []struct {
		text string
		met  func(a, b, c bool) bool
	}{
		{"quorum none\n", func(_, _, _ bool) bool { return true }},
		{"quorum b\n", func(_, b, _ bool) bool { return b }},
		{"group g any a b c\nquorum g\n", func(a, b, c bool) bool { return a || b || c }},
		{"group g all a b c\nquorum g\n", func(a, b, c bool) bool { return a && b && c }},
		{"group g 2 a b c\nquorum g\n", func(a, b, c bool) bool { return a && b || b && c || a && c }},
		{"group g any a b\ngroup h all g c\nquorum h\n", func(a, b, c bool) bool { return (a || b) && c }},
	} {
		tr := trust(t, "%s", header+group.text)
		for set := range 8 {
			var by []*ledger.Cosigner
			for i := range w {
				if set>>i&1 == 1 {
					by = append(by, w[i])
				}
			}
			opened, err := tr.Open(cosign(t, n, noon, by...))
			if err != nil {
				t.Fatal(err)
			}
			want := group.met(set&1 == 1, set&2 == 2, set&4 == 4)
			at, err := opened.Quorum(time.Time{})
			if (err == nil) != want || err != nil && !errors.Is(err, ledger.ErrQuorum) {
				t.Errorf("%s with witnesses %03b: %v", group.text, set, err)
			}
			if err == nil && tr.Quorum() && !at.Equal(noon) {
				t.Errorf("%s with witnesses %03b: met at %v", group.text, set, at)
			}
			if tr.Quorum() {
				if _, err := opened.Quorum(noon.Add(time.Second)); !errors.Is(err, ledger.ErrQuorum) {
					t.Errorf("%s: cosignatures that are too old: %v", group.text, err)
				}
			}
		}
	}
	// The time of a quorum is that of the cosignature that completes it.
	two := trust(t, "%s", header+"group g 2 a b c\nquorum g\n")
	late := cosign(t, cosign(t, cosign(t, n, noon.Add(2*time.Hour), w[2]), noon, w[0]), noon.Add(time.Hour), w[1])
	opened, err := two.Open(late)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := opened.Quorum(time.Time{}); err != nil || !at.Equal(noon.Add(time.Hour)) {
		t.Errorf("quorum at %v, %v", at, err)
	}
	if at, err := opened.Quorum(noon.Add(time.Minute)); err != nil || !at.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("quorum of later ones at %v, %v", at, err)
	}
	// A cosignature is of the very checkpoint and time.
	line, err := w[0].Cosign(c, c.Text(), noon)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := signed(t, 1, 8)
	if _, added, err := ledger.AddSignatures(other, line, []ledger.Key{w[0].Key()}); err != nil || added != nil {
		t.Errorf("a cosignature of another checkpoint was added: %v, %v", added, err)
	}
	forged, err := trust(t, "%s", header+"group g any a b c\nquorum g\n").Open(append(cosign(t, other, noon, w[1]), line...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forged.Quorum(time.Time{}); !errors.Is(err, ledger.ErrQuorum) {
		t.Errorf("a forged cosignature beside a good one: %v", err)
	}
	if _, added, err := ledger.AddSignatures(late, line, []ledger.Key{w[0].Key()}); err != nil || added != nil {
		t.Errorf("a second line of one witness was added: %v, %v", added, err)
	}
	if _, err := w[0].Cosign(c, other2(t), noon); err == nil {
		t.Error("a witness cosigned a text that is not the checkpoint's")
	}
}

func other2(t *testing.T) string {
	n, _ := signed(t, 1, 8)
	text, err := ledger.CheckpointText(n)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestKeys changes every byte of a vkey: none is read.
func TestKeys(t *testing.T) {
	_, k := logOf(t, 1)
	text := k.String()
	if again, err := ledger.ParseKey(text); err != nil || again != k {
		t.Fatalf("%v, %v", again, err)
	}
	for i := range text {
		for _, b := range []byte{text[i] ^ 1, text[i] ^ 0x20, '+', ' '} {
			bent := []byte(text)
			if bent[i] == b {
				continue
			}
			bent[i] = b
			if k, err := ledger.ParseKey(string(bent)); err == nil {
				t.Fatalf("byte %d as %q was read as %v", i, b, k)
			}
		}
	}
	if len(k.HexID()) != 64 || !strings.HasPrefix(k.HexID(), fmt.Sprintf("%08x", k.Hash())) {
		t.Errorf("id %s, hash %08x", k.HexID(), k.Hash())
	}
}

// TestLowOrder holds the list against what it is for: under the identity one signature
// verifies for every message.
func TestLowOrder(t *testing.T) {
	identity := make([]byte, 32)
	identity[0] = 1
	forged := append(append([]byte{}, identity...), make([]byte, 32)...) // R is the identity, S is 0
	for _, message := range []string{"a", "another message"} {
		if !ed25519.Verify(identity, []byte(message), forged) {
			t.Fatal("the library refuses the identity as a key; is the list still needed?")
		}
	}
	lowest := []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	}
	for _, text := range lowest {
		point, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, sign := range []byte{0, 0x80} {
			k := ledger.Key{Name: origin, Alg: ledger.AlgEd25519, Public: [32]byte(point)}
			k.Public[31] |= sign
			if err := k.Check(); !errors.Is(err, ledger.ErrForm) {
				t.Errorf("%x: %v", k.Public, err)
			}
			if _, err := ledger.ParseKey(k.String()); !errors.Is(err, ledger.ErrForm) {
				t.Errorf("vkey of %x: %v", k.Public, err)
			}
		}
	}
}

// TestOneSpelling returns signature lines another spelling, and a second line beside a good
// one: what is verified must be what is read, all of it.
func TestOneSpelling(t *testing.T) {
	_, key := logOf(t, 1)
	w := cosigner(t, "w.example", 10)
	n, _ := signed(t, 1, 7)
	n = cosign(t, n, noon, w)
	tr := trust(t, "log %s\nwitness w %s\nquorum w\n", key, w.Key())
	for _, name := range []string{origin, "w.example"} {
		at := bytes.Index(n, []byte("— "+name+" "))
		end := at + bytes.IndexByte(n[at:], '\n')
		digits := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		last := bytes.TrimRight(n[at:end], "=")
		i := at + len(last) - 1
		if len(last) == end-at {
			continue // no bits are left over
		}
		bent := bytes.Clone(n)
		bent[i] = digits[strings.IndexByte(digits, n[i])|1]
		if o, err := tr.Open(bent); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%s with another spelling: %+v, %v", name, o, err)
		}
		line := bytes.Clone(n[at : end+1])
		line[len(line)-10] ^= 1
		o, err := tr.Open(append(bytes.Clone(n), line...))
		if err == nil {
			_, err = o.Quorum(time.Time{})
		}
		if !errors.Is(err, ledger.ErrSignature) && !errors.Is(err, ledger.ErrQuorum) && !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%s with a second line: %v", name, err)
		}
	}
	if _, err := tr.Open(bytes.Replace(n, []byte("\n\n"), []byte("\n\n\n"), 1)); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("a second empty line: %v", err)
	}
	if _, err := ledger.ParseTrust(fmt.Appendf(nil, "witness w %s\nquorum w\n", w.Key())); !errors.Is(err, ledger.ErrTrust) {
		t.Errorf("a quorum without a log: %v", err)
	}
}

func TestTrustFaults(t *testing.T) {
	_, a := logOf(t, 1)
	_, b := logOf(t, 2)
	w := cosigner(t, "w.example", 10).Key()
	x := cosigner(t, "x.example", 11).Key()
	good := fmt.Sprintf("# a comment\n\n\tlog  %s\thttps://log.example\nsigner %s 2026-01-01T00:00:00.000000Z\nwitness w %s\ngroup g 1 w\nquorum g\n", a, b, w)
	tr, err := ledger.ParseTrust([]byte(good))
	if err != nil || len(tr.Logs) != 1 || tr.Logs[0].URL != "https://log.example" || len(tr.Signers) != 1 || tr.Signers[0].Until == nil || len(tr.Witnesses) != 1 {
		t.Fatalf("%+v, %v", tr, err)
	}
	for _, bad := range []string{
		"",
		"log " + a.String() + "\n",   // no quorum
		"quorum none\nquorum none\n", // two
		"quorum w\n",                 // not defined
		"quorum w\nwitness w " + w.String() + "\n",                      // not defined above
		"log " + w.String() + "\nquorum none\n",                         // a witness as a log
		"witness w " + a.String() + "\nquorum none\n",                   // a log as a witness
		"log " + a.String() + "\nlog " + a.String() + "\nquorum none\n", // twice
		"witness w " + w.String() + "\nwitness v " + w.String() + "\nquorum none\n",
		"witness w " + w.String() + "\nwitness w " + x.String() + "\nquorum none\n", // one name
		"witness none " + w.String() + "\nquorum none\n",
		"witness w " + w.String() + "\ngroup g 0 w\nquorum g\n",
		"witness w " + w.String() + "\ngroup g 2 w\nquorum g\n",
		"witness w " + w.String() + "\ngroup g 01 w\nquorum g\n",
		"witness w " + w.String() + "\ngroup g any w w\nquorum g\n",
		"witness w " + w.String() + "\ngroup g any w\ngroup h any w g\nquorum h\n",
		"witness w " + w.String() + "\ngroup g any none\nquorum g\n",
		"witness w " + w.String() + "\ngroup g any\nquorum g\n",
		"group g any g\nquorum g\n",
		"signer " + a.String() + " yesterday\nquorum none\n",
		"trusted " + a.String() + "\nquorum none\n",
		"log " + a.String() + " u v\nquorum none\n",
		"log\nquorum none\n",
		"quorum none\x00\n",
		"quorum none\r\n",
		strings.Repeat("#\n", 1024) + "quorum none\n",
	} {
		if _, err := ledger.ParseTrust([]byte(bad)); !errors.Is(err, ledger.ErrTrust) {
			t.Errorf("%.200q was read: %v", bad, err)
		}
	}
}

func TestProofFile(t *testing.T) {
	b := build(t, 13)
	n, c := signed(t, 1, 13)
	path, err := c.ProveInclusion(t.Context(), 5, b)
	if err != nil {
		t.Fatal(err)
	}
	p := &ledger.Proof{Leaf: leafOf(5), Index: 5, Path: path, Checkpoint: n}
	text := p.Append(nil)
	again, err := ledger.ParseProof(text)
	if err != nil || !bytes.Equal(again.Append(nil), text) || !bytes.Equal(again.Leaf, p.Leaf) || again.Index != 5 || !slices.Equal(again.Path, path) {
		t.Fatalf("%+v, %v", again, err)
	}
	_, key := logOf(t, 1)
	tr := trust(t, "log %s\nquorum none\n", key)
	believed := func(text []byte) bool {
		p, err := ledger.ParseProof(text)
		if err != nil {
			return false
		}
		o, err := tr.Open(p.Checkpoint)
		return err == nil && o.CheckInclusion(p.Index, ledger.LeafHash(p.Leaf), p.Path) == nil
	}
	if !believed(text) {
		t.Fatal("the proof is not believed")
	}
	for i := range text {
		for _, c := range []byte{text[i] ^ 1, text[i] ^ 0x20, '\n', ' '} {
			bent := bytes.Clone(text)
			bent[i] = c
			if c != text[i] && believed(bent) {
				t.Fatalf("byte %d as %q was believed", i, c)
			}
		}
	}
	for _, bad := range []string{"", "c2sp.org/tlog-proof@v1\n", "c2sp.org/tlog-proof@v1\nindex 1\n" + strings.Repeat(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n", 64) + "\n" + string(n)} {
		if _, err := ledger.ParseProof([]byte(bad)); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
	if _, err := ledger.ParseProof(bytes.Replace(text, []byte("@v1"), []byte("@v2"), 1)); !errors.Is(err, ledger.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

func TestAddCheckpoint(t *testing.T) {
	b := build(t, 13)
	n, c := signed(t, 1, 13)
	proof, err := c.ProveConsistency(t.Context(), 6, b)
	if err != nil {
		t.Fatal(err)
	}
	a := &ledger.AddCheckpoint{Old: 6, Proof: proof, Checkpoint: n}
	again, err := ledger.ParseAddCheckpoint(a.Append(nil))
	if err != nil || again.Old != 6 || !slices.Equal(again.Proof, proof) || !bytes.Equal(again.Checkpoint, n) {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, bad := range []string{"", "old 6", "old 06\n\n" + string(n), "6\n\n" + string(n), "old 6\nxx\n\n" + string(n), "old -1\n\n" + string(n)} {
		if _, err := ledger.ParseAddCheckpoint([]byte(bad)); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	hashes, err := ledger.ParseHashes(ledger.FormatHashes(proof))
	if err != nil || !slices.Equal(hashes, proof) {
		t.Fatalf("%v, %v", hashes, err)
	}
	if none, err := ledger.ParseHashes(nil); err != nil || none != nil {
		t.Fatalf("no hashes: %v, %v", none, err)
	}
}

func FuzzParsers(f *testing.F) {
	n, _ := signed(f, 1, 3)
	f.Add(n)
	f.Add((&ledger.Proof{Leaf: leafOf(1), Checkpoint: n}).Append(nil))
	f.Add((&ledger.AddCheckpoint{Checkpoint: n}).Append(nil))
	_, k := logOf(f, 1)
	f.Add([]byte(k.String()))
	f.Add(fmt.Appendf(nil, "log %s\nquorum none\n", k))
	tr := trust(f, "log %s\nquorum none\n", k)
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := ledger.ParseProof(data); err == nil && !bytes.Equal(p.Append(nil), data) {
			t.Fatalf("a proof has two spellings: %q and %q", data, p.Append(nil))
		}
		if a, err := ledger.ParseAddCheckpoint(data); err == nil && !bytes.Equal(a.Append(nil), data) {
			t.Fatalf("a request has two spellings")
		}
		if k, err := ledger.ParseKey(string(data)); err == nil && k.String() != string(data) {
			t.Fatalf("a key has two spellings")
		}
		if h, err := ledger.ParseHashes(data); err == nil && !bytes.Equal(ledger.FormatHashes(h), data) {
			t.Fatalf("hashes have two spellings")
		}
		_, _ = ledger.ParseTrust(data)
		_, _ = tr.Open(data)
		if l, err := ledger.ParseLeaf(data, forms()...); err == nil && !bytes.Equal(l.Append(nil), data) {
			t.Fatalf("a leaf has two spellings")
		}
	})
}
