package server_test

import (
	"bytes"
	"testing"

	"github.com/graphkernel/graphkernel/ledger/attest"
)

// TestManifestFile takes the answer that is a manifest for a file of one.
func TestManifestFile(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 3)
	a := s.expect(200, question{op: "atlasManifest", key: s.admin()})
	if m, err := attest.ParseManifest(bytes.TrimSuffix(a.body, []byte("\n"))); err != nil || m.AsOf != 3 || m.Digest() != m.SHA256 {
		t.Errorf("%+v, %v\n%s", m, err, a.body)
	}
}
