package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestProofs has proofs made, and refuses what there is none of.
func TestProofs(t *testing.T) {
	s := start(t)
	s.grow(tenantA, 300)
	admin := s.admin()
	first := s.expect(200, question{op: "getCheckpoint", key: admin})
	o, err := s.trust(tenantA).Open(first.body)
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []uint64{0, 1, 255, 256, o.Size - 1} {
		a := s.expect(200, question{op: "getProof", key: admin, query: url.Values{"index": {fmt.Sprint(index)}}})
		v := evidence.Judge{Trust: s.trust(tenantA)}.JudgeProof(a.body)
		if v.Outcome != evidence.Verified || v.Inclusion.Index != index {
			t.Errorf("leaf %d: got %+v", index, v)
		}
	}
	s.refused(404, "not_found", question{op: "getProof", key: admin, query: url.Values{"index": {fmt.Sprint(o.Size)}}})
	s.refused(404, "not_found", question{op: "getProof", key: admin, query: url.Values{"index": {"281474976710656"}}})
	for _, q := range []url.Values{nil, {"index": {"-1"}}, {"index": {"01"}}, {"index": {"281474976710657"}}, {"index": {"99999999999999999999"}}, {"index": {"x"}}} {
		s.refused(400, "invalid_request", question{op: "getProof", key: admin, query: q})
	}

	// Every step between some sizes, under the roots that the ledger had.
	roots := map[uint64]ledger.Root{}
	tree := ledger.Tree{}
	leaves, err := s.kernel.Ledger().Leaves(t.Context(), tenantA, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	roots[0] = ledger.Root{Hash: tree.Root()}
	for _, l := range leaves {
		if _, err := tree.Append(ledger.LeafHash(l), nil); err != nil {
			t.Fatal(err)
		}
		roots[tree.Size()] = ledger.Root{Size: tree.Size(), Hash: tree.Root()}
	}
	steps := 0
	sizes := []uint64{0, 1, 2, 3, 128, 255, 256, 257, 299, o.Size}
	for _, from := range sizes {
		for _, to := range sizes {
			q := question{op: "getConsistency", key: admin, query: url.Values{"from": {fmt.Sprint(from)}, "to": {fmt.Sprint(to)}}}
			if from > to {
				s.refused(400, "invalid_request", q)
				continue
			}
			proof, err := ledger.ParseHashes(s.expect(200, q).body)
			if err == nil {
				err = roots[to].CheckConsistency(roots[from], proof)
			}
			if err != nil {
				t.Errorf("from %d to %d: %v", from, to, err)
			}
			steps++
		}
	}
	if steps < 50 {
		t.Errorf("%d steps", steps)
	}
	s.refused(404, "not_found", question{op: "getConsistency", key: admin, query: url.Values{"from": {"1"}, "to": {fmt.Sprint(o.Size + 1)}}})
}

// TestEvidence has slices attested, by those who hold the bundle and those who do not, and
// has a third party judge what comes.
func TestEvidence(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 4)
	bundle, id := s.cut(s.admin(), 4)
	judge := func(bundle []byte, a *answer) (evidence.Verdict, api.Evidence) {
		t.Helper()
		var w api.Evidence
		a.decode(t, &w)
		return evidence.Judge{Trust: s.trust(tenantA)}.Judge(evidence.Files{Bundle: bundle, Attestation: w.Attestation, Proof: []byte(w.Proof)}), w
	}
	for _, q := range []question{
		{op: "attestBundle", key: s.keys[tenantA][access.Verifier], body: bundle},
		{op: "attestBundle", key: s.keys[tenantA][access.Agent], body: bundle},
		{op: "getEvidence", key: s.keys[tenantA][access.Auditor], path: map[string]string{"slice_id": id}},
		{op: "getEvidence", key: s.admin(), path: map[string]string{"slice_id": id}, query: url.Values{"bundle": {sha(bundle)}}},
	} {
		v, w := judge(bundle, s.expect(200, q))
		if v.Outcome != evidence.Verified || v.Inclusion == nil || v.Inclusion.Index != w.Index || w.Origin != "acme.kernel.example" || w.BundleSHA256.String() != sha(bundle) {
			t.Errorf("%s: got %+v, %+v", q.op, v, w)
		}
	}
	metrics := string(s.expect(200, question{op: "metrics"}).body)
	for _, want := range []string{"graphkernel_proofs_total 4", `graphkernel_cosignatures_total{result="refused"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}

	other, _ := s.cut(s.admin(), 3)
	for name, tc := range map[string]struct {
		status int
		code   string
		q      question
	}{
		"changed":          {404, "not_found", question{op: "attestBundle", body: bytes.Replace(bundle, []byte("turn 4"), []byte("turn 5"), 1)}},
		"no bundle":        {422, "malformed_bundle", question{op: "attestBundle", body: "{}"}},
		"nothing":          {400, "invalid_request", question{op: "attestBundle", body: ""}},
		"unknown version":  {422, "unknown_version", question{op: "attestBundle", body: bytes.Replace(bundle, []byte("gkp/3"), []byte("gkp/9"), 1)}},
		"unknown slice":    {404, "not_found", question{op: "getEvidence", path: map[string]string{"slice_id": "0123456789abcdef"}}},
		"another's bundle": {404, "not_found", question{op: "getEvidence", path: map[string]string{"slice_id": id}, query: url.Values{"bundle": {sha(other)}}}},
		"no digest":        {400, "invalid_request", question{op: "getEvidence", path: map[string]string{"slice_id": id}, query: url.Values{"bundle": {"x"}}}},
	} {
		tc.q.key = s.admin()
		if p := s.refused(tc.status, tc.code, tc.q); p.Detail == "" {
			t.Error(name)
		}
	}
	foreign := s.keys[tenantB][access.Admin]
	s.refused(404, "not_found", question{op: "attestBundle", key: foreign, body: bundle})
	s.refused(404, "not_found", question{op: "getEvidence", key: foreign, path: map[string]string{"slice_id": id}})

	// Once a text is erased, who has the bundle still gets evidence; who has not cannot.
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}, body: api.ErasureRequest{Reason: "asked for"}})
	p := s.refused(410, "erased", question{op: "getEvidence", key: s.admin(), path: map[string]string{"slice_id": id}})
	if !strings.Contains(p.Detail, "erased") {
		t.Error(p.Detail)
	}
	v, _ := judge(bundle, s.expect(200, question{op: "attestBundle", key: s.admin(), body: bundle}))
	if v.Outcome != evidence.Verified {
		t.Errorf("got %+v", v)
	}
	again, _ := s.cut(s.admin(), 4) // another bundle, with the same id
	v, _ = judge(again, s.expect(200, question{op: "getEvidence", key: s.admin(), path: map[string]string{"slice_id": id}}))
	if v.Outcome != evidence.Verified || len(v.Redacted) != 1 || v.Redacted[0].Why != evidence.WhyErased {
		t.Errorf("got %+v", v)
	}
	s.refused(410, "erased", question{op: "getEvidence", key: s.admin(), path: map[string]string{"slice_id": id}, query: url.Values{"bundle": {sha(bundle)}}})
}

func sha(b []byte) string { return dag.Digest(sha256.Sum256(b)).String() }

// TestKeyDocuments reads the keys that are shown: to nobody more than a tenant's own, and
// the same after a rotation.
func TestKeyDocuments(t *testing.T) {
	s := start(t, publicly("zulu", tenantA))
	type keys struct {
		Name        string
		Version     string
		Log         []string
		Attestation []struct{ ID, VKey, Created, Retired string }
		Sigstore    struct{ ID, PEM string }
	}
	read := func(q question) (k keys) {
		t.Helper()
		if err := json.Unmarshal(s.expect(200, q).body, &k); err != nil {
			t.Fatal(err)
		}
		for _, text := range k.Log {
			if _, err := ledger.ParseKey(text); err != nil {
				t.Error(err)
			}
		}
		return k
	}
	open := read(question{op: "wellKnownKeys"})
	if open.Name != "kernel.example" || open.Version != attest.KeysVersion || len(open.Log) != 2 || !strings.HasPrefix(open.Log[0], "acme.kernel.example+") || !strings.HasPrefix(open.Log[1], "zulu.") || len(open.Attestation) != 2 {
		t.Errorf("got %+v", open)
	}
	own := read(question{op: "getLogKeys", key: s.keys[tenantB][access.Auditor]})
	if len(own.Log) != 1 || !strings.HasPrefix(own.Log[0], "bravo.kernel.example+") || own.Log[0] != key(t, s.identity, tenantB) {
		t.Errorf("got %+v", own)
	}
	next, err := s.identity.Rotate(nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.kernel.Ledger().ReplaceIdentity(next); err != nil {
		t.Fatal(err)
	}
	rotated := read(question{op: "getLogKeys", key: s.admin()})
	if len(rotated.Attestation) != 2 || rotated.Attestation[0].Retired == "" || rotated.Attestation[1].Retired != "" || rotated.Attestation[0].VKey != open.Attestation[0].VKey {
		t.Errorf("got %+v", rotated)
	}
	var set struct {
		Keys []struct{ Alg, Crv, Kid, Kty, Use, X string }
	}
	if err := json.Unmarshal(s.expect(200, question{op: "wellKnownJWKS"}).body, &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Keys) != 5 || set.Keys[0].Kid != rotated.Attestation[0].ID || set.Keys[4].Alg != "ES256" {
		t.Errorf("got %+v", set)
	}
	for _, secret := range []string{"private", "\"d\""} {
		for _, op := range []string{"wellKnownKeys", "wellKnownJWKS"} {
			if strings.Contains(string(s.expect(200, question{op: op}).body), secret) {
				t.Errorf("%s holds %s", op, secret)
			}
		}
	}
}

func key(t *testing.T, id identity.Identity, tenant dag.Tenant) string {
	t.Helper()
	_, k, err := id.Log(tenant)
	if err != nil {
		t.Fatal(err)
	}
	return k.String()
}

// TestNoIdentity asks a kernel that is nobody for everything that needs a signature.
func TestNoIdentity(t *testing.T) {
	backing := inmem.Open(&inmem.Disk{}, inmem.Options{})
	s := startOver(t, backing, publicly(tenantA), func(c *server.Config) {
		nobody, err := kernel.Open(kernel.Config{Store: backing, Authority: token.NewAuthority(ringOf(t, "k1", 1)), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		c.Kernel = nobody
	})
	s.chain(s.admin(), 2)
	bundle, id := s.cut(s.admin(), 2)
	asked := 0
	for op, q := range s.questions(id, bundle) {
		if method, path, _ := s.find(op); strings.HasPrefix(path, "/log/") || op == "attestBundle" || op == "getEvidence" || op == "exportPersona" {
			q.op, q.key = op, s.admin()
			if p := s.refused(503, "no_identity", q); !strings.Contains(p.Detail, "graphkernel identity init") {
				t.Errorf("%s %s: %s", method, path, p.Detail)
			}
			asked++
		}
	}
	for _, q := range []question{
		{op: "getPublicCheckpoint", path: map[string]string{"tenant": "acme"}}, {op: "getPublicTile", path: map[string]string{"tenant": "acme", "tile": "0/000"}},
		{op: "wellKnownKeys"}, {op: "wellKnownJWKS"},
	} {
		s.refused(503, "no_identity", q)
		asked++
	}
	if asked != 13 {
		t.Errorf("asked %d times", asked)
	}
	if a := s.ask(question{op: "addCheckpoint", body: "x", media: "text/plain"}); a.status != 404 || string(a.body) != "this kernel is no witness\n" {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if now, err := s.kernel.Ledger().Root(t.Context(), "fresh"); err != nil || now.Size != 0 {
		t.Errorf("%d leaves of nobody, %v", now.Size, err)
	}
}
