package evidence_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// edges are the cases on which independent verifiers have disagreed. Each stands for a sentence of
// docs/evidence.md that tells them apart.
func (c *corpus) edges(files map[string][]byte, first *kernel.Issued) {
	c.keyEnds(files)
	c.names(files)
	c.tenants(files)
	c.versions(files)
	c.leaves(files)
	c.late(first, files)
	c.add("tampered_no_turns_fail", evidence.Tampered, "A bundle of no turns: its anchor is not in it.", map[string][]byte{bundleFile: c.without(files[bundleFile])}, "", c.secret)
	c.add("tampered_no_turns_edges_fail", evidence.Tampered, "A bundle of no turns, with edges and an order: no end of an edge is in it.", map[string][]byte{bundleFile: c.turnless(files[bundleFile])}, "", c.secret)
	step := map[string][]byte{nowFile: c.checkpoint(), oldFile: c.checkpoint()}
	many := func(n int) []byte { return ledger.FormatHashes(make([]ledger.Hash, n)) }
	c.add("consistency_many_fail", evidence.LogInconsistent, "A proof of consistency of 63 hashes, as many as there may be, between equal sizes.", with(step, stepFile, many(63)), c.trustLog(), "")
	c.add("malformed_consistency_many_fail", evidence.Malformed, "A proof of consistency of 64 hashes.", with(step, stepFile, many(64)), c.trustLog(), "")
	c.add("checkpoint_required_full_fail", evidence.Outcome("usage"), "The whole is asked for of a checkpoint, which has no texts: wrong usage.", map[string][]byte{nowFile: step[nowFile]}, c.trustLog(), "", "--require-full")
}

// keyEnds: an end is a time, and the earliest time is one.
func (c *corpus) keyEnds(files map[string][]byte) {
	trust := fmt.Sprintf("signer %s 1970-01-01T00:00:00.000000Z\nquorum none\n", c.signerKey())
	c.add("signer_ended_first_fail", evidence.KeyRetired, "The key ended at the earliest time that can be written: nothing that it signs counts.", with(files, proofFile, nil), trust, "")
	c.add("trust_without_quorum_fail", evidence.Outcome("usage"), "A trust file without a quorum line.", files, fmt.Sprintf("log %s\n", c.logKey()), "")
}

// names of keys and logs, and keys of members.
func (c *corpus) names(files map[string][]byte) {
	payload := c.payload(files[attestFile])
	strange := ledger.Key{Name: "clé.kernel.example", Alg: ledger.AlgEd25519, Public: c.logKey().Public}
	c.add("trust_name_beyond_ascii_fail", evidence.Outcome("usage"), "A trust file with a key whose name is not ASCII.", files, fmt.Sprintf("log %s\n%s", strange, c.trustLog()), "")
	for _, o := range []struct{ name, why, text string }{
		{"escape", "an escape sequence, which would act on a terminal", `\u001b[2JVERIFIED`},
		{"delete", "a DEL", "default.kernel.example\x7f"},
		{"c1", "a control character beyond ASCII", "default.kernel.example\u0085"},
		{"bidi", "a character that turns the direction of writing", "default.kernel.example\u202e"},
		{"long", "256 bytes", "default." + strings.Repeat("k", 248)},
	} {
		data := once(payload, `"origin":"`+origin+`"`, `"origin":"`+o.text+`"`)
		c.add("malformed_origin_"+o.name+"_fail", evidence.Malformed, "The statement's origin holds "+o.why+".", with(files, proofFile, nil, attestFile, c.sealText(data)), c.trustSigner(), "")
	}
	for _, k := range []struct{ name, why, member string }{
		{"beyond_ascii", "is not ASCII", `,"turns":8,"é":1}`},
		{"control", "holds a control character", `,"turns":8,"z\u0001":1}`},
		{"empty", "is empty", ``},
	} {
		data := once(payload, `,"turns":8}`, k.member)
		if k.name == "empty" {
			data = once(payload, `"predicate":{`, `"predicate":{"":1,`)
		}
		c.add("malformed_statement_key_"+k.name+"_fail", evidence.Malformed, "An unknown member of the predicate whose key "+k.why+".", with(files, proofFile, nil, attestFile, c.sealText(data)), c.trustSigner(), "")
	}
	policy := once(payload, `"salience_weight":0.3,`, ``)
	c.add("malformed_statement_policy_fail", evidence.Malformed, "The policy in the statement lacks a parameter: no default stands in for what was signed.", with(files, proofFile, nil, attestFile, c.sealText(policy)), c.trustSigner(), "")
}

// tenants: whose tenant the first label of an origin must be.
func (c *corpus) tenants(files map[string][]byte) {
	attested := with(files, proofFile, nil)
	other := once(files[bundleFile], `"tenant":"default"`, `"tenant":"other"`)
	c.add("tenant_of_bundle_attested_fail", evidence.Tampered, "The bundle names another tenant than the statement, whose signer signs for the statement's.", with(attested, bundleFile, other), c.trustSigner(), "")
	c.add("tenant_of_bundle_logged_fail", evidence.KeyUnknown, "The bundle names another tenant than the log's origin, and there is no attestation.", with(files, bundleFile, other, attestFile, nil), c.trustLog(), "")
	c.add("tenant_of_bundle_both_fail", evidence.Tampered, "The bundle names another tenant than the statement and the log: the statement is judged first.", with(files, bundleFile, other), c.trustBoth(), "")
	c.add("tenant_of_statement_fail", evidence.KeyUnknown, "The statement names a tenant that is not the first label of its origin: no key of that origin signs for it.", with(attested, attestFile, c.reseal(files[attestFile], func(s *attest.Statement) { s.Tenant = "other" })), c.trustSigner(), "")

	forged := func(p *ledger.Proof) { p.Checkpoint = firstOf(p.Checkpoint, origin+"\n", "other.kernel.example\n") }
	elsewhere := ledger.Key{Name: "other.kernel.example", Alg: ledger.AlgEd25519, Public: c.logKey().Public}
	signs := proofWith(files[proofFile], func(p *ledger.Proof) {
		id := elsewhere.ID()
		forged(p)
		p.Checkpoint = fmt.Appendf(p.Checkpoint, "— %s %s\n", elsewhere.Name, base64.StdEncoding.EncodeToString(append(id[:4:4], make([]byte, 64)...)))
	})
	c.add("tenant_of_log_forged_fail", evidence.KeyUnknown, "A checkpoint of another tenant's log, whose signature does not verify either: whose log it is comes first.", with(files, attestFile, nil, proofFile, signs), fmt.Sprintf("log %s\nquorum none\n", elsewhere), "")

	// A signature under a listed key id must verify before the payload's origin is believed.
	_, key, err := attest.NewSigner("default.elsewhere.example", c.private(44))
	must(key, err)
	payload := c.payload(files[attestFile])
	signature := func(id, sig string) string { return fmt.Sprintf(`{"keyid":"%s","sig":"%s"}`, id, sig) }
	bad := base64.StdEncoding.EncodeToString(make([]byte, ed25519.SignatureSize))
	beside := once(must(attest.Seal(payload, must(c.id.Attestor(tenant)))), `"signatures":[`, `"signatures":[`+signature(key.HexID(), bad)+`,`)
	trust := fmt.Sprintf("signer %s\nsigner %s\nquorum none\n", c.signerKey(), key)
	c.add("attestation_bad_other_name_fail", evidence.Tampered, "Under a listed key id of another origin stands a signature that does not verify.", with(attested, attestFile, once(must(attest.Seal(payload, must(c.id.Attestor(tenant)))), c.signerKey().HexID(), key.HexID())), trust, "")
	c.add("attestation_bad_beside_good_fail", evidence.Tampered, "A good signature, and one under a listed key id of another origin that does not verify.", with(attested, attestFile, beside), trust, "")
}

// versions: a malformed file takes precedence over one of an unknown version, whichever is read first.
func (c *corpus) versions(files map[string][]byte) {
	b, p := files[bundleFile], files[proofFile]
	later, bent := once(b, `"gkp/1"`, `"gkp/2"`), firstOf(p, "\nindex ", "\nindex 0")
	c.add("malformed_beside_version_fail", evidence.Malformed, "The bundle is of another version, and the proof is malformed.", with(files, bundleFile, later, proofFile, bent), c.trustBoth(), "")
	c.add("malformed_beside_leaf_version_fail", evidence.Malformed, "The bundle is malformed, and the proof's leaf is of another version.", with(files, bundleFile, b[:len(b)-1], proofFile, c.leaf(p, `"gkl/1"`, `"gkl/2"`)), c.trustBoth(), "")
	c.add("version_proof_headless_fail", evidence.UnknownVersion, "A proof of another version, and no checkpoint: a later version may have another form.", with(files, proofFile, []byte("c2sp.org/tlog-proof@v11\n")), c.trustBoth(), "")
	c.add("malformed_proof_hash_version_fail", evidence.Malformed, "A leaf of another version, and a hash that is none: the proof is read before its leaf.", with(files, proofFile, once(c.leaf(p, `"gkl/1"`, `"gkl/2"`), p64(p), p64(p)[4:])), c.trustBoth(), "")
	c.add("malformed_version_key_fail", evidence.Malformed, "A bundle of another version with a key that no version has: keys are printable ASCII.", with(files, bundleFile, once(later, `{"anchor":`, `{"\u0007":1,"anchor":`)), c.trustBoth(), "")
	c.add("malformed_proof_control_fail", evidence.Malformed, "The first line of a proof, of another version, ends in a carriage return: a proof is text without control characters.", with(files, proofFile, once(p, "tlog-proof@v1\n", "tlog-proof@v2\r\n")), c.trustBoth(), "")
	c.add("version_leaf_bent_fail", evidence.UnknownVersion, "A leaf of another version that lacks a member: a later version may.", with(files, proofFile, c.leaf(c.leaf(p, `"gkl/1"`, `"gkl/2"`), `"key_id":"k1",`, ``)), c.trustBoth(), "")
	c.add("version_leaf_schema_fail", evidence.UnknownVersion, "A leaf of a slice of another schema version.", with(files, proofFile, c.leaf(p, `"gkp/1"`, `"gkp/2"`)), c.trustBoth(), "")
}

// leaves of the right type, and of others.
func (c *corpus) leaves(files map[string][]byte) {
	p := files[proofFile]
	c.add("malformed_leaf_no_version_fail", evidence.Malformed, "A leaf of a slice without its version.", with(files, proofFile, c.leaf(p, `,"version":"gkl/1"`, ``)), c.trustBoth(), "")
	c.add("malformed_leaf_other_key_fail", evidence.Malformed, "A leaf of a slice with another member in place of its version.", with(files, proofFile, c.leaf(p, `"version"`, `"vbrsion"`)), c.trustBoth(), "")
	c.add("malformed_leaf_less_fail", evidence.Malformed, "A leaf of a slice that lacks a member.", with(files, proofFile, c.leaf(p, `"key_id":"k1",`, ``)), c.trustBoth(), "")
	c.add("leaf_of_another_type_fail", evidence.NotInLog, "A leaf of another type, with members that such a leaf does not have: it is not read, and does not match.", with(files, proofFile, proofWith(p, func(p *ledger.Proof) { p.Leaf = []byte(`{"type":"policy","version":"gkl/1"}`) })), c.trustBoth(), "")
	c.add("malformed_proof_index_high_fail", evidence.Malformed, "An index above 2^48.", with(files, proofFile, proofWith(p, func(p *ledger.Proof) { p.Index = 1<<48 + 1 })), c.trustBoth(), "")
}

func (c *corpus) leaf(proof []byte, old, next string) []byte {
	return proofWith(proof, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, old, next) })
}

// late: cosignatures whose time cannot be written as a time.
func (c *corpus) late(first *kernel.Issued, files map[string][]byte) {
	cosigned := func(seconds uint64) []byte {
		return proofWith(c.attest(first, 0).Proof, func(p *ledger.Proof) {
			read := must(ledger.ReadCheckpoint(p.Checkpoint))
			key := c.witnesses[1].Key()
			text := fmt.Sprintf("cosignature/v1\ntime %d\n%s", seconds, read.Text())
			sig := binary.BigEndian.AppendUint64(nil, seconds)
			sig = append(sig, ed25519.Sign(c.private(11), []byte(text))...)
			id := key.ID()
			p.Checkpoint = fmt.Appendf(p.Checkpoint, "— %s %s\n", key.Name, base64.StdEncoding.EncodeToString(append(id[:4:4], sig...)))
		})
	}
	c.add("witnesses_last_second", evidence.Verified, "A witness cosigned in the last second of the year 9999.", with(files, proofFile, cosigned(253402300799)), c.trustAll(), "")
	c.add("witnesses_beyond_time_fail", evidence.QuorumNotMet, "A witness signed a time beyond the year 9999, which no time can say: the cosignature does not verify.", with(files, proofFile, cosigned(253402300800)), c.trustAll(), "")
}

// turnless returns the bundle without its turns, and with its edges.
func (c *corpus) turnless(bundle []byte) []byte {
	b := parsed(bundle)
	b.Turns = []slice.BundleTurn{}
	return bytes.Clone(b.Append(nil))
}

// without returns the bundle without its turns and edges.
func (c *corpus) without(bundle []byte) []byte {
	b := parsed(bundle)
	b.Turns, b.Edges, b.Order = []slice.BundleTurn{}, []dag.Edge{}, []dag.TurnID{}
	return bytes.Clone(b.Append(nil))
}
