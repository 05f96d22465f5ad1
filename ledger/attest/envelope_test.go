package attest_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
)

// The vector of DSSE v1.0, protocol.
func TestPAEVector(t *testing.T) {
	const want = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	if got := string(attest.PAE("http://example.com/HelloWorld", []byte("hello world"))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(attest.PAE("", nil)); got != "DSSEv1 0  0 " {
		t.Errorf("of nothing: %q", got)
	}
}

func TestSealVerify(t *testing.T) {
	first, firstKey := hand(0)
	second, secondKey := hand(1)
	payload := issued().Append(nil)
	data := must(attest.Seal(payload, first, second, first))
	if !bytes.Equal(data, must(attest.Seal(payload, first, second, first))) {
		t.Error("signing again gives other bytes")
	}
	e := must(attest.ParseEnvelope(data))
	if !bytes.Equal(e.Append(nil), data) {
		t.Error("read and written again, it is other bytes")
	}
	for _, c := range []struct {
		keys []ledger.Key
		want []string
	}{
		{[]ledger.Key{firstKey}, []string{firstKey.HexID()}},
		{[]ledger.Key{secondKey}, []string{secondKey.HexID()}},
		{[]ledger.Key{secondKey, firstKey}, []string{firstKey.HexID(), secondKey.HexID()}},
	} {
		got, ids, err := e.Verify(trusting(c.keys...))
		if err != nil || !bytes.Equal(got, payload) || strings.Join(ids, " ") != strings.Join(c.want, " ") {
			t.Errorf("with %d keys: %q by %v, %v; want the payload by %v", len(c.keys), got, ids, err, c.want)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	first, firstKey := hand(0)
	second, secondKey := hand(1)
	_, thirdKey := hand(2)
	e := must(attest.ParseEnvelope(must(attest.Seal(issued().Append(nil), first, second))))
	if payload, ids, err := e.Verify(trusting(thirdKey)); !errors.Is(err, attest.ErrKeyUnknown) || payload != nil || ids != nil {
		t.Errorf("no known key: %q, %v, %v; want ErrKeyUnknown", payload, ids, err)
	}
	none := must(attest.ParseEnvelope(must(attest.Seal(issued().Append(nil)))))
	if _, _, err := none.Verify(trusting(firstKey)); !errors.Is(err, attest.ErrKeyUnknown) {
		t.Errorf("no signature: %v, want ErrKeyUnknown", err)
	}
	// A good signature beside it does not make up for one that is bad.
	bad := must(attest.ParseEnvelope(must(attest.Seal(issued().Append(nil), first, impostor{secondKey.HexID(), first}))))
	if payload, _, err := bad.Verify(trusting(firstKey, secondKey)); !errors.Is(err, ledger.ErrSignature) || payload != nil {
		t.Errorf("one bad signature: %q, %v; want ErrSignature", payload, err)
	}
	if _, _, err := bad.Verify(trusting(firstKey)); err != nil {
		t.Errorf("a bad signature by a key that is not known: %v", err)
	}
	for _, short := range []int{0, 63, 65} {
		cut := must(attest.ParseEnvelope(must(attest.Seal(issued().Append(nil), sized{firstKey.HexID(), short}))))
		if _, _, err := cut.Verify(trusting(firstKey)); !errors.Is(err, ledger.ErrSignature) {
			t.Errorf("a signature of %d bytes: %v, want ErrSignature", short, err)
		}
	}
	named := must(attest.ParseEnvelope(must(attest.Seal(issued().Append(nil), impostor{secondKey.HexID(), first}))))
	if _, _, err := named.Verify(func(string) (ledger.Key, bool) { return firstKey, true }); !errors.Is(err, attest.ErrForm) {
		t.Errorf("a key of another id was used: %v, want ErrForm", err)
	}
	witness := firstKey
	witness.Alg = ledger.AlgCosignature
	if err := attest.CheckSignature(witness, []byte("x"), must(first.Sign([]byte("x")))); !errors.Is(err, attest.ErrForm) {
		t.Errorf("a witness's key was used: %v, want ErrForm", err)
	}
}

// An impostor signs with its own key under another's id.
type impostor struct {
	id string
	attest.Signer
}

func (i impostor) KeyID() string { return i.id }

// A sized signer gives so many zeros.
type sized struct {
	id string
	n  int
}

func (s sized) KeyID() string               { return s.id }
func (s sized) Sign([]byte) ([]byte, error) { return make([]byte, s.n), nil }

// A broken signer has no key any more.
type broken struct{ sized }

func (broken) Sign([]byte) ([]byte, error) { return nil, errors.New("the card is gone") }

func TestSealRefuses(t *testing.T) {
	if _, err := attest.Seal([]byte("x"), broken{sized{"k", 0}}); err == nil || !strings.Contains(err.Error(), "the card is gone") {
		t.Errorf("signing failed and the error is %v", err)
	}
	many := make([]attest.Signer, attest.MaxSignatures+1)
	for i := range many {
		many[i] = sized{fmt.Sprint(i), 64}
	}
	if _, err := attest.Seal([]byte("x"), many...); !errors.Is(err, attest.ErrForm) {
		t.Errorf("17 signatures: %v, want ErrForm", err)
	}
	full := must(attest.Seal([]byte("x"), many[1:]...))
	if _, err := attest.ParseEnvelope(full); err != nil {
		t.Errorf("16 signatures: %v", err)
	}
	if _, err := attest.Seal(make([]byte, attest.MaxEnvelope)); !errors.Is(err, attest.ErrForm) {
		t.Errorf("an envelope that is too large: %v, want ErrForm", err)
	}
	if _, err := attest.ParseEnvelope(make([]byte, attest.MaxEnvelope+1)); !errors.Is(err, attest.ErrForm) {
		t.Errorf("bytes that are too many: %v, want ErrForm", err)
	}
}

// TestEnvelopeMangled changes every byte. None of what comes out may be both read and
// verified: whatever is outside the signature has one spelling.
func TestEnvelopeMangled(t *testing.T) {
	s, key := hand(0)
	good := must(attest.Seal(issued().Append(nil), s))
	form, unknown, signature := 0, 0, 0
	for i := range good {
		for _, c := range []byte{good[i] ^ 1, good[i] ^ 2, good[i] ^ 0x20, '\n', '-', '_', '=', 'A', 'B', '0', 0, 0xff} {
			if c == good[i] {
				continue
			}
			bad := bytes.Clone(good)
			bad[i] = c
			e, err := attest.ParseEnvelope(bad)
			if err != nil {
				if !errors.Is(err, attest.ErrForm) {
					t.Errorf("byte %d as %q: %v, want ErrForm", i, c, err)
				}
				form++
				continue
			}
			switch _, _, err := e.Verify(trusting(key)); {
			case errors.Is(err, attest.ErrKeyUnknown):
				unknown++
			case errors.Is(err, ledger.ErrSignature):
				signature++
			default:
				t.Errorf("byte %d as %q: %v", i, c, err)
			}
		}
		if _, err := attest.ParseEnvelope(good[:i]); err == nil {
			t.Errorf("cut to %d bytes it is read", i)
		}
	}
	if form < 1000 || unknown < 100 || signature < 1000 {
		t.Errorf("%d malformed, %d of unknown keys, %d bad signatures; all should be many", form, unknown, signature)
	}
}

func TestParseEnvelopeRefuses(t *testing.T) {
	s, _ := hand(0)
	good := string(must(attest.Seal([]byte("payload!"), s))) // 8 bytes: padded
	for _, c := range []struct{ name, old, new string }{
		{"other type", "in-toto+json", "in-toto"},
		{"unpadded", "cGF5bG9hZCE=", "cGF5bG9hZCE"},
		{"bits behind the end", "cGF5bG9hZCE=", "cGF5bG9hZCF="},
		{"line break", "cGF5bG9hZCE=", `cGF5\nbG9hZCE=`},
		{"carriage return", "cGF5bG9hZCE=", `cGF5\rbG9hZCE=`},
		{"space", `"payload":`, `"payload": `},
		{"newline at the end", `]}`, "]}\n"},
		{"unknown member", `{"payload"`, `{"a":1,"payload"`},
		{"unknown member of a signature", `{"keyid"`, `{"a":1,"keyid"`},
		{"no keyid", `"keyid":`, `"keyie":`},
		{"null", `"signatures":[`, `"signatures":[null,`},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%s: nothing replaced", c.name)
		}
		if _, err := attest.ParseEnvelope([]byte(text)); !errors.Is(err, attest.ErrForm) {
			t.Errorf("%s: %v, want ErrForm", c.name, err)
		}
	}
	var list []string
	for range attest.MaxSignatures + 1 {
		list = append(list, `{"keyid":"","sig":""}`)
	}
	many := `{"payload":"","payloadType":"application/vnd.in-toto+json","signatures":[` + strings.Join(list, ",") + `]}`
	if _, err := attest.ParseEnvelope([]byte(many)); !errors.Is(err, attest.ErrForm) {
		t.Errorf("17 signatures: %v, want ErrForm", err)
	}
	many = strings.Replace(many, list[0]+",", "", 1)
	if _, err := attest.ParseEnvelope([]byte(many)); err != nil {
		t.Errorf("16 signatures: %v", err)
	}
}

// The payload that Verify gives is the reader's own.
func TestVerifyCopies(t *testing.T) {
	s, key := hand(0)
	e := must(attest.ParseEnvelope(must(attest.Seal([]byte("payload"), s))))
	payload, _, err := e.Verify(trusting(key))
	if err != nil {
		t.Fatal(err)
	}
	payload[0] = 'P'
	if again, _, err := e.Verify(trusting(key)); err != nil || string(again) != "payload" {
		t.Errorf("changed from outside: %q, %v", again, err)
	}
}

func FuzzParseEnvelope(f *testing.F) {
	s, key := hand(0)
	f.Add(must(attest.Seal(issued().Append(nil), s)))
	f.Add(must(attest.Seal(nil)))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := attest.ParseEnvelope(data)
		if err != nil {
			if !errors.Is(err, attest.ErrForm) {
				t.Errorf("%v, want ErrForm", err)
			}
			return
		}
		if !bytes.Equal(e.Append(nil), data) {
			t.Errorf("two spellings: %q and %q", data, e.Append(nil))
		}
		payload, _, err := e.Verify(trusting(key))
		if err == nil && !strings.Contains(string(data), base64.StdEncoding.EncodeToString(payload)) {
			t.Error("verified what is not there")
		}
	})
}

func ExampleSeal() {
	signer, key := hand(0)
	b := meeting()
	envelope, err := attest.Seal(issued().Append(nil), signer)
	if err != nil {
		fmt.Println(err)
		return
	}

	read, err := attest.ParseEnvelope(envelope)
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, by, err := read.Verify(trusting(key)) // keys come from a trust file, never with the evidence
	if err != nil {
		fmt.Println(err)
		return
	}
	statement, err := attest.ParseStatement(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	withheld, err := statement.Match(b, digestOf(b))
	fmt.Println("signed by", by[0][:8], "at", statement.IssuedAt)
	fmt.Println("texts withheld since:", len(withheld), "difference:", err)
	_, err = statement.Match(without(b, closing), digestOf(b))
	fmt.Println(err)
	// Output:
	// signed by 46a0068d at 2026-01-02T03:04:05.000006Z
	// texts withheld since: 0 difference: <nil>
	// predicate.redacted: the statement says nothing of turn 00000000-0000-4000-8000-000000000004, the bundle that it is redacted
}
