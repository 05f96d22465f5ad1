package identity_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
)

func noise(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestKeys(t *testing.T) {
	id := must(identity.New(noise(1), "kernel.example", 5))
	message := []byte("a message")
	seen := map[[32]byte]string{}
	for _, tenant := range []dag.Tenant{"default", "acme"} {
		signer, log, err := id.Log(tenant)
		if err != nil || log.Name != string(tenant)+".kernel.example" || signer.Name() != log.Name {
			t.Fatalf("%v, %v", log, err)
		}
		if !ed25519.Verify(log.Public[:], message, must(signer.Sign(message))) {
			t.Error("the log's signature does not verify")
		}
		if again, key, err := id.Log(tenant); err != nil || key != log || !bytes.Equal(must(again.Sign(message)), must(signer.Sign(message))) {
			t.Error("the log has another key the second time")
		}
		if other, ok := seen[log.Public]; ok {
			t.Errorf("%s has the key of %s", log.Name, other)
		}
		seen[log.Public] = log.Name
		attestor := must(id.Attestor(tenant))
		if key := attestor.Key(); !ed25519.Verify(key.Public[:], message, must(attestor.Sign(message))) || attestor.KeyID() != key.HexID() || key.Name != log.Name {
			t.Error("the attestation's signature does not verify")
		}
		seen[attestor.Key().Public] = "attestation"
	}
	witness := must(id.Witness())
	if _, taken := seen[witness.Key().Public]; taken || witness.Key().Alg != ledger.AlgCosignature {
		t.Errorf("the witness has the key %v", witness.Key())
	}
	if len(seen) != 3 {
		t.Errorf("%d keys: %v", len(seen), seen)
	}
}

func TestRotate(t *testing.T) {
	first := must(identity.New(noise(1), "kernel.example", 5))
	second := must(first.Rotate(noise(2), 9))
	if len(first.Attestations("default")) != 1 || first.Attestations("default")[0].RetiredAt != nil {
		t.Error("rotating changed the original")
	}
	list := second.Attestations("default")
	if len(list) != 2 || list[0].Key != first.Attestations("default")[0].Key || list[0].RetiredAt == nil || *list[0].RetiredAt != 9 || list[1].CreatedAt != 9 || list[1].RetiredAt != nil {
		t.Fatalf("%+v", list)
	}
	if key := must(second.Attestor("default")).Key(); key != list[1].Key {
		t.Error("the old key signs")
	}
	if !first.Succeeds(second) || first.Succeeds(must(identity.New(noise(3), "kernel.example", 5))) || first.Succeeds(identity.Identity{}) || (identity.Identity{}).Succeeds(first) {
		t.Error("who may take whose place is wrong")
	}
	_, before, err := first.Log("default")
	_, after, err2 := second.Log("default")
	if err != nil || err2 != nil || before != after {
		t.Error("the log's key rotated")
	}
	trust := must(ledger.ParseTrust(must(second.Trust("default", "https://kernel.example/log"))))
	if len(trust.Signers) != 2 || *trust.Signers[0].Until != 9 || trust.Signers[1].Until != nil || trust.Logs[0].Key != after || trust.Logs[0].URL == "" {
		t.Errorf("%+v", trust)
	}
}

func TestNobody(t *testing.T) {
	var nobody identity.Identity
	for what, err := range map[string]error{
		"Log":      func() error { _, _, err := nobody.Log("default"); return err }(),
		"Attestor": func() error { _, err := nobody.Attestor("default"); return err }(),
		"Witness":  func() error { _, err := nobody.Witness(); return err }(),
		"Sigstore": func() error { _, err := nobody.Sigstore(); return err }(),
		"Rotate":   func() error { _, err := nobody.Rotate(nil, 0); return err }(),
		"Trust":    func() error { _, err := nobody.Trust("default", ""); return err }(),
		"Sign":     func() error { _, err := identity.Attestor{}.Sign(nil); return err }(),
	} {
		if !errors.Is(err, identity.ErrNone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, name := range []string{"", "Kernel.example", "kernel..example", "-kernel", "kernel-", "kernel example", "kernel/example", strings.Repeat("k", 181), "kérnel"} {
		if _, err := identity.New(noise(1), name, 0); !errors.Is(err, ledger.ErrForm) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := identity.New(bytes.NewReader([]byte("short")), "kernel.example", 0); err == nil {
		t.Error("keys were made of too little randomness")
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "identity.json")
	if _, err := identity.Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	made := must(identity.Change(path, func(_ identity.Identity, exists bool) (identity.Identity, error) {
		if exists {
			t.Error("there is a file")
		}
		return identity.New(noise(1), "kernel.example", 5)
	}))
	rotated := must(identity.Change(path, func(id identity.Identity, exists bool) (identity.Identity, error) {
		if !exists || fmt.Sprint(id.Attestations("default")) != fmt.Sprint(made.Attestations("default")) {
			t.Error("another identity was read")
		}
		return id.Rotate(noise(2), 6)
	}))
	loaded := must(identity.Load(path))
	for _, tenant := range []dag.Tenant{"default", "acme"} {
		if fmt.Sprint(loaded.Attestations(tenant)) != fmt.Sprint(rotated.Attestations(tenant)) {
			t.Error("the attestation keys are others")
		}
		if a, b := must(loaded.Trust(tenant, "")), must(rotated.Trust(tenant, "")); !bytes.Equal(a, b) {
			t.Errorf("%s, want %s", a, b)
		}
	}
	if !must(loaded.Sigstore()).Equal(must(rotated.Sigstore())) || must(loaded.Witness()).Key() != must(rotated.Witness()).Key() {
		t.Error("other keys are others")
	}
	info := must(os.Stat(path))
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Load(path); !errors.Is(err, identity.ErrFile) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	failed := errors.New("failed")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Change(path, func(id identity.Identity, _ bool) (identity.Identity, error) { return id, failed }); !errors.Is(err, failed) {
		t.Errorf("a change that fails: %v", err)
	}
	if again := must(identity.Load(path)); again.Name() != "kernel.example" {
		t.Error("a change that failed changed the file")
	}
}

// TestMangled changes every byte of a file: it is refused, or it is of other keys, and no
// error holds a secret.
func TestMangled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.json")
	must(identity.Change(path, func(identity.Identity, bool) (identity.Identity, error) {
		id := must(identity.New(noise(1), "kernel.example", 5))
		return id.Rotate(noise(2), 6)
	}))
	text := must(os.ReadFile(path))
	secrets := hexRuns(string(text))
	if len(secrets) != 5 {
		t.Fatalf("%d runs of hex", len(secrets))
	}
	refused := 0
	for i := range text {
		for _, b := range []byte{text[i] ^ 1, 'g', ' ', '"'} {
			bent := bytes.Clone(text)
			if bent[i] == b {
				continue
			}
			bent[i] = b
			_, err := identity.Parse(bent)
			if err == nil {
				continue
			}
			refused++
			if !errors.Is(err, identity.ErrFile) {
				t.Fatalf("byte %d as %q: %v", i, b, err)
			}
			for _, s := range secrets {
				if strings.Contains(err.Error(), s[:16]) || strings.Contains(err.Error(), s[len(s)-16:]) {
					t.Fatalf("byte %d as %q: the error shows a secret", i, b)
				}
			}
		}
	}
	if refused < len(text) {
		t.Errorf("%d refused", refused)
	}
}

// hexRuns finds the keys in a file.
func hexRuns(text string) (runs []string) {
	for part := range strings.SplitSeq(text, `"`) {
		if len(part) == 64 {
			runs = append(runs, part)
		}
	}
	return runs
}

func TestSecretsHide(t *testing.T) {
	id := must(identity.New(noise(1), "kernel.example", 5))
	path := filepath.Join(t.TempDir(), "identity.json")
	must(identity.Change(path, func(identity.Identity, bool) (identity.Identity, error) { return id, nil }))
	secrets := hexRuns(string(must(os.ReadFile(path))))
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		for _, v := range []any{id, &id, []identity.Identity{id}, must(id.Attestor("default"))} {
			shown := fmt.Sprintf(format, v)
			for _, s := range secrets {
				if strings.Contains(shown, s[:16]) {
					t.Errorf("%s shows a secret", format)
				}
			}
		}
	}
}

// TestAnnounced takes leaves of keys that sign, and of nothing else.
func TestAnnounced(t *testing.T) {
	good := ledger.KeyLeaf{Tenant: "acme", Purpose: ledger.PurposeToken, Event: ledger.KeyCreated, KeyID: "k1"}
	if of, err := identity.Announced().Check(good.Append(nil)); err != nil || of != "acme" {
		t.Errorf("%q, %v", of, err)
	}
	other := good
	other.Purpose = ledger.PurposeAPI
	erasure := ledger.ErasureLeaf{Tenant: "acme", Turn: dag.TurnID{1}, Seq: 1}
	for _, bad := range [][]byte{other.Append(nil), erasure.Append(nil), []byte("{}"), nil} {
		if of, err := identity.Announced().Check(bad); err == nil || of != "" {
			t.Errorf("%s: %q, %v", bad, of, err)
		}
	}
}
