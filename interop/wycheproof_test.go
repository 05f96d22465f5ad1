package interop_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"

	"github.com/c2sp/wycheproof"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/mac"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// A vector is a test case of Wycheproof; each kind has some of the members.
type vector struct {
	ID            int `json:"tcId"`
	Comment       string
	Key, Msg, Tag hexBytes
	Sig           hexBytes
	Result        string
}

type vectorGroup struct {
	KeySize, TagSize int
	PublicKey        struct {
		PK hexBytes
	}
	Tests []vector
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func groups(t *testing.T, file string) []vectorGroup {
	t.Helper()
	data, err := fs.ReadFile(wycheproof.TestVectors, file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ TestGroups []vectorGroup }
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.TestGroups
}

// TestWycheproofEd25519 drives the verification of attestations.
func TestWycheproofEd25519(t *testing.T) {
	valid, invalid := 0, 0
	for _, g := range groups(t, "ed25519_test.json") {
		key := ledger.Key{Name: origin, Alg: ledger.AlgEd25519, Public: [32]byte(g.PublicKey.PK)}
		for _, v := range g.Tests {
			err := attest.CheckSignature(key, v.Msg, v.Sig)
			switch {
			case v.Result == "valid":
				if valid++; err != nil {
					t.Errorf("case %d (%s): %v", v.ID, v.Comment, err)
				}
			default:
				if invalid++; !errors.Is(err, ledger.ErrSignature) {
					t.Errorf("case %d (%s): %v, want ErrSignature", v.ID, v.Comment, err)
				}
			}
		}
	}
	if valid != 88 || invalid != 63 {
		t.Errorf("%d valid and %d invalid cases, the file has 88 and 63", valid, invalid)
	}
}

// TestWycheproofToken drives the tag of tokens with every case of 128 bits.
func TestWycheproofToken(t *testing.T) {
	valid, invalid := 0, 0
	for _, g := range groups(t, "hmac_sha256_test.json") {
		if g.TagSize != 8*len(mac.Tag{}) {
			continue
		}
		for _, v := range g.Tests {
			same := mac.Sum(v.Key, v.Msg).Equal(mac.Tag(v.Tag))
			if v.Result == "valid" {
				valid++
			} else {
				invalid++
			}
			if same != (v.Result == "valid") {
				t.Errorf("case %d (%s): the tag is said to be %s, and matches: %v", v.ID, v.Comment, v.Result, same)
			}
		}
	}
	if valid+invalid != 87 || valid == 0 || invalid == 0 {
		t.Errorf("%d valid and %d invalid cases, the file has 87 with tags of 128 bits", valid, invalid)
	}
	t.Logf("%d valid and %d invalid cases", valid, invalid)
}

// TestWycheproofHMAC drives the digest of bodies, which is written out and not that of
// crypto/hmac, with the cases whose key is as long as a salt. Tags of 128 bits are the first
// half of it.
func TestWycheproofHMAC(t *testing.T) {
	valid, invalid := 0, 0
	for _, g := range groups(t, "hmac_sha256_test.json") {
		for _, v := range g.Tests {
			if g.KeySize != 8*len(dag.Salt{}) {
				continue
			}
			digest := slice.DigestBody(v.Msg, dag.Salt(v.Key))
			same := bytes.Equal(digest[:g.TagSize/8], v.Tag)
			if v.Result == "valid" {
				valid++
			} else {
				invalid++
			}
			if same != (v.Result == "valid") {
				t.Errorf("case %d (%s), tag of %d bits: got %x, the case says %x is %s", v.ID, v.Comment, g.TagSize, digest, v.Tag, v.Result)
			}
		}
	}
	if valid != 6 {
		t.Errorf("%d valid cases with a key of 16 bytes, the file has 6", valid)
	}
	t.Logf("%d valid and %d invalid cases", valid, invalid)
}
