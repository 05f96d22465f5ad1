package interop_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// cosign returns the program that GKTEST_COSIGN names. With "required" it is the one in
// PATH, and without one the test fails; without the variable it is skipped.
func cosign(t *testing.T) string {
	t.Helper()
	switch path := os.Getenv("GKTEST_COSIGN"); path {
	case "":
		t.Skip("GKTEST_COSIGN is not set: the path of cosign v3.1.3, or required; see go install github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3")
		return ""
	case "required":
		found, err := exec.LookPath("cosign")
		if err != nil {
			t.Fatalf("GKTEST_COSIGN is required: %v", err)
		}
		return found
	default:
		return path
	}
}

// TestCosign exports a bundle for Sigstore from a log of 300 leaves and lets cosign
// verify it, offline.
func TestCosign(t *testing.T) {
	program := cosign(t)
	verified := 0
	issued(t, func(t *testing.T, data []byte, b *slice.Bundle, s *attest.Statement) {
		if verified > 0 && len(b.Redacted()) == 0 {
			return // the first bundle will do, and those with redacted turns
		}
		folder := t.TempDir()
		write := func(name string, data []byte) string {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		signer, key := sigstoreHand()
		e := must(attest.ParseEnvelope(must(attest.Seal(s.Append(nil), signer))))
		leaf := must(attest.SigstoreLeaf(e, key))
		l := numbered(200)
		l.append(leaf)
		for i := range 99 {
			l.append(fmt.Appendf(nil, "later %d", i))
		}
		checkpoint, log := l.checkpoint()
		entry := &attest.SigstoreEntry{
			Envelope: e, Key: key, Log: log, Index: 200, Checkpoint: checkpoint,
			Path: must(l.root(300).ProveInclusion(context.Background(), 200, l)),
		}
		export := must(attest.AppendSigstoreBundle(nil, entry))
		pub := write("pub.pem", []byte(key.PEM()))
		root := write("trusted_root.json", must(attest.AppendTrustedRoot(nil, log, must(dag.ParseTime(issuedAt)))))
		artifact, sigstore := write(s.Name(), data), write("slice.sigstore.json", export)

		verify := func(root, artifact, sigstore, predicate string) (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, program, "verify-blob-attestation", "--key", pub, "--bundle", sigstore,
				"--trusted-root", root, "--type", predicate, artifact)
			c.Env = append(os.Environ(), "HOME="+folder) // nobody's settings
			out, err := c.CombinedOutput()
			return string(out), err
		}
		if out, err := verify(root, artifact, sigstore, slice.Bundles.Forms[0].Predicate); err != nil || !strings.Contains(out, "Verified OK") {
			t.Fatalf("cosign does not verify: %v\n%s", err, out)
		}
		verified++
		otherLog := log
		otherLog.Public[0] ^= 1
		otherRoot := write("other_root.json", must(attest.AppendTrustedRoot(nil, otherLog, must(dag.ParseTime(issuedAt)))))
		for _, c := range []struct{ name, root, artifact, sigstore, predicate, says string }{
			{"another artifact", root, write("other.json", append([]byte(" "), data...)), sigstore, slice.Bundles.Forms[0].Predicate, "digests do not match"},
			{"a hash of the proof is 0", root, artifact, write("proof.json", breakProof(t, export, entry)), slice.Bundles.Forms[0].Predicate, "does not match"},
			{"another type", root, artifact, sigstore, "https://kernel.example/other", "predicate"},
			{"another log", otherRoot, artifact, sigstore, slice.Bundles.Forms[0].Predicate, "not enough verified log entries"},
		} {
			out, err := verify(c.root, c.artifact, c.sigstore, c.predicate)
			if err == nil || !strings.Contains(out, c.says) {
				t.Errorf("%s: %v, want a failure that says %q:\n%s", c.name, err, c.says, out)
			}
		}
	})
	if verified < 2 {
		t.Errorf("cosign verified %d bundles", verified)
	}
	t.Logf("cosign verified %d bundles", verified)
}

// breakProof replaces the first hash of the proof.
func breakProof(t *testing.T, export []byte, e *attest.SigstoreEntry) []byte {
	t.Helper()
	text := func(b []byte) []byte { return fmt.Appendf(nil, "%q", b64(b)) }
	bad := bytes.Replace(export, text(e.Path[0][:]), text(make([]byte, 32)), 1)
	if bytes.Equal(bad, export) {
		t.Fatal("no hash was replaced")
	}
	return bad
}
