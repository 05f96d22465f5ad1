package ledger_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// forms are those of the leaves that other packages own.
func forms() []ledger.Form { return append(issued.Forms(), registry.Form()) }

func leaves() []ledger.Leaf {
	turn := dag.ExternalTurnID("test", "1")
	p := policy.DefaultV1()
	api := ledger.KeyLeaf{Tenant: "acme", Purpose: ledger.PurposeAPI, Event: ledger.KeyRetired, KeyID: "0123456789abcdef", At: 4}
	return []ledger.Leaf{
		&issued.SliceLeaf{Tenant: "default", AsOf: 7, KeyID: "k1", Bundle: dag.Digest{1}, At: 5, Provenance: slice.Provenance{
			SliceID: "0123456789abcdef", Anchor: turn, PolicyID: policy.DefaultV1ID, PolicyParamsHash: p.Hash(), GraphSnapshotHash: dag.Digest{2}, SchemaVersion: slice.SchemaVersion,
		}},
		&issued.AskedLeaf{Kind: "facts", Tenant: "default", PolicyID: policy.DefaultV1ID, PolicyParamsHash: p.Hash(), AsOf: 8, KeyID: "k1", Bundle: dag.Digest{3}, At: 7},
		&registry.Leaf{Tenant: "default", ID: policy.DefaultV1ID, Hash: p.Hash()},
		&ledger.ErasureLeaf{Tenant: "default", Turn: turn, Seq: 9, At: 6},
		&ledger.KeyLeaf{Tenant: "default", Purpose: ledger.PurposeAttestation, Event: ledger.KeyCreated, KeyID: strings.Repeat("0f", 32), PublicKey: bytes.Repeat([]byte{7}, 32), At: 1},
		&ledger.KeyLeaf{Tenant: "default", Purpose: ledger.PurposeToken, Event: ledger.KeyRetired, KeyID: "k1", At: 2},
		&api,
	}
}

// TestLeaves writes the forms out, since they are for ever.
func TestLeaves(t *testing.T) {
	want := []string{
		`{"as_of":7,"at":"1970-01-01T00:00:00.000005Z","bundle":"0100000000000000000000000000000000000000000000000000000000000000","key_id":"k1",` +
			`"provenance":{"anchor_turn_id":"` + dag.ExternalTurnID("test", "1").String() + `","graph_snapshot_hash":"0200000000000000000000000000000000000000000000000000000000000000",` +
			`"policy_id":"default@1","policy_params_hash":"9e8faff5ecefe4e8da8969955e8e79d5cff489c67d3be43e41de14d6c2f125de","schema_version":"gkp/1","slice_id":"0123456789abcdef"},` +
			`"tenant":"default","type":"slice","version":"gkl/1"}`,
		`{"as_of":8,"at":"1970-01-01T00:00:00.000007Z","bundle":"0300000000000000000000000000000000000000000000000000000000000000","key_id":"k1",` +
			`"policy_id":"default@1","policy_params_hash":"9e8faff5ecefe4e8da8969955e8e79d5cff489c67d3be43e41de14d6c2f125de","tenant":"default","type":"facts","version":"gkl/1"}`,
		`{"policy_id":"default@1","policy_params_hash":"9e8faff5ecefe4e8da8969955e8e79d5cff489c67d3be43e41de14d6c2f125de","tenant":"default","type":"policy","version":"gkl/1"}`,
		`{"at":"1970-01-01T00:00:00.000006Z","seq":9,"tenant":"default","turn":"` + dag.ExternalTurnID("test", "1").String() + `","type":"erasure","version":"gkl/1"}`,
		`{"at":"1970-01-01T00:00:00.000001Z","event":"created","key_id":"` + strings.Repeat("0f", 32) + `","public_key":"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=","purpose":"attestation","tenant":"default","type":"key","version":"gkl/1"}`,
		`{"at":"1970-01-01T00:00:00.000002Z","event":"retired","key_id":"k1","purpose":"token","tenant":"default","type":"key","version":"gkl/1"}`,
		`{"at":"1970-01-01T00:00:00.000004Z","event":"retired","key_id":"0123456789abcdef","purpose":"api","tenant":"acme","type":"key","version":"gkl/1"}`,
	}
	for i, l := range leaves() {
		text := l.Append(nil)
		if string(text) != want[i] {
			t.Errorf("leaf %d is\n%s, want\n%s", i, text, want[i])
		}
		again, err := ledger.ParseLeaf(text, forms()...)
		if err != nil || string(again.Append(nil)) != string(text) {
			t.Errorf("leaf %d again: %v", i, err)
		}
		if reflect.TypeOf(again) != reflect.TypeOf(l) {
			t.Errorf("leaf %d is read as %T, want %T", i, again, l)
		}
	}
}

// TestLeavesMangled changes every byte: nothing that is read is read as something that
// would be written otherwise.
func TestLeavesMangled(t *testing.T) {
	refused := 0
	for _, l := range leaves() {
		text := l.Append(nil)
		for i := range text {
			for _, b := range []byte{text[i] ^ 1, ' ', '"', '}', 0} {
				bent := bytes.Clone(text)
				if bent[i] == b {
					continue
				}
				bent[i] = b
				again, err := ledger.ParseLeaf(bent, forms()...)
				if err != nil {
					refused++
					if !errors.Is(err, ledger.ErrForm) {
						t.Fatalf("byte %d as %q: %v", i, b, err)
					}
				} else if !bytes.Equal(again.Append(nil), bent) {
					t.Fatalf("byte %d as %q has another spelling", i, b)
				}
			}
		}
		if _, err := ledger.ParseLeaf(text[:len(text)-1], forms()...); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("cut short: %v", err)
		}
	}
	if refused < 1_000 {
		t.Errorf("%d refused", refused)
	}
}

func TestForeignLeaves(t *testing.T) {
	for _, good := range []string{`{}`, `{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{}}`, `{"type":"later","version":"gkl/1"}`} {
		l, err := ledger.ParseLeaf([]byte(good), forms()...)
		if f, ok := l.(ledger.Foreign); err != nil || !ok || f.Version != nil {
			t.Errorf("%s: %T, %v", good, l, err)
		}
	}
	l, err := ledger.ParseLeaf([]byte(`{"type":"slice","version":"gkl/2"}`), forms()...)
	if f, ok := l.(ledger.Foreign); err != nil || !ok || !errors.Is(f.Version, ledger.ErrVersion) {
		t.Errorf("a later version: %T, %v", l, err)
	}
	for _, bad := range []string{"", `[]`, `"x"`, `{ "type":"later"}`, `{"b":1,"a":2}`, `{"a":null}`, `{"a":1.5}`, `{"a":1,"a":2}`, `{"a":"\u0041"}`, strings.Repeat(" ", ledger.MaxLeaf+1)} {
		if _, err := ledger.ParseLeaf([]byte(bad), forms()...); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
}
