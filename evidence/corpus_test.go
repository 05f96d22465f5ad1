package evidence_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

var update = flag.Bool("update", false, "write the files of cases in golden again")

// corpusFolder is where the cases for everybody's verifiers are.
const corpusFolder = "../golden/verify"

// A corpusCase is one folder of the corpus.
type corpusCase struct {
	name    string // ends in _fail unless the exit code is 0
	why     string
	files   map[string][]byte
	trust   string
	secret  string
	args    []string
	verdict string
	code    int
	fails   []string // the checks that fail, where that is written down
}

var codes = map[evidence.Outcome]int{
	evidence.Verified: 0, evidence.Tampered: 10, evidence.KeyUnknown: 11, evidence.KeyRetired: 12, evidence.NotInLog: 13,
	evidence.LogInconsistent: 14, evidence.QuorumNotMet: 15, evidence.Redacted: 16, evidence.Malformed: 20, evidence.UnknownVersion: 21,
	evidence.WellFormed: 11, "usage": 2,
}

type corpus struct {
	*world
	cases []corpusCase
}

func (c *corpus) add(name string, o evidence.Outcome, why string, files map[string][]byte, trust, secret string, args ...string) {
	c.cases = append(c.cases, corpusCase{name: name, why: why, files: files, trust: trust, secret: secret, args: args, verdict: string(o), code: codes[o]})
}

// sealed signs a header with the key of the corpus.
func (c *corpus) sealed(p *slice.Provenance) slice.Seal {
	return must(token.NewAuthority(keyring(c.secret)).SealProvenance(tenant, p))
}

// keyring holds one secret, "ID HEX".
func keyring(secret string) token.Keyring {
	id, hex, _ := strings.Cut(secret, " ")
	return must(token.Keyring{}.Rotate(token.KeyID(id), must(token.ParseSecret(hex)), 0))
}

// agreeHeader makes a header agree with the body, by what check says that it should be. question is the check of the question of which
// the anchor is the hash; "" if the anchor is a turn. Checks that are named are left as they are.
func agreeHeader(check func() []slice.Check, p *slice.Provenance, question slice.CheckID, but ...slice.CheckID) {
	for range 2 { // the slice's id is computed of the others
		for _, c := range check() {
			switch {
			case c.Status != slice.StatusFail || slices.Contains(but, c.ID):
			case c.ID == question:
				p.Anchor = must(dag.ParseTurnID(c.Expected))
			case c.ID == slice.CheckPolicyHash:
				p.PolicyParamsHash = must(dag.ParseDigest(c.Expected))
			case c.ID == slice.CheckSnapshot:
				p.GraphSnapshotHash = must(dag.ParseDigest(c.Expected))
			case c.ID == slice.CheckSliceID:
				p.SliceID = slice.SliceID(c.Expected)
			}
		}
	}
}

// with copies files with some of them changed; nil leaves one out.
func with(files map[string][]byte, changes ...any) map[string][]byte {
	files = maps.Clone(files)
	for i := 0; i < len(changes); i += 2 {
		name := changes[i].(string)
		if data, _ := changes[i+1].([]byte); data == nil {
			delete(files, name)
		} else {
			files[name] = data
		}
	}
	return files
}

// once replaces a text that occurs once in a file.
func once(data []byte, old, next string) []byte {
	if n := bytes.Count(data, []byte(old)); n != 1 {
		panic(fmt.Sprintf("%q stands %d times", old, n))
	}
	return bytes.Replace(data, []byte(old), []byte(next), 1)
}

// firstOf replaces the first of several.
func firstOf(data []byte, old, next string) []byte {
	if !bytes.Contains(data, []byte(old)) {
		panic(fmt.Sprintf("%q does not stand there", old))
	}
	return bytes.Replace(data, []byte(old), []byte(next), 1)
}

const (
	bundleFile = evidence.FileBundle
	partFile   = evidence.FileDisclosure
	attestFile = evidence.FileAttestation
	proofFile  = evidence.FileProof
	nowFile    = evidence.FileCheckpoint
	oldFile    = evidence.FileOldCheckpoint
	stepFile   = evidence.FileConsistency
)

// makeCorpus makes every case. It is the same each time.
func makeCorpus(t testing.TB) []corpusCase {
	w := newWorld(t)
	c := &corpus{world: w}
	first := w.slice(7)
	w.grow(250)
	second := w.slice(5)
	w.grow(10)
	w.now = w.now.Add(time.Hour)
	one := w.attest(first, 0, 1)
	other := w.attest(second, 0, 1, 2)
	files := map[string][]byte{bundleFile: first.Bundle, attestFile: one.Envelope, proofFile: one.Proof}
	c.whole(files)
	c.forms(files)
	c.bodies(files)
	c.signers(files, other)
	c.logs(files, second, other)
	c.witnessed(files, first)
	c.parts(files, first)
	c.times(files)
	c.roles(files, other)
	c.edges(files, first)
	c.histories()
	c.erased()
	c.deepTurns(files)
	c.add("version_facts_fail", evidence.UnknownVersion, "A bundle of facts of another version: unknown to those who know facts, and to those who know turns alone.", map[string][]byte{bundleFile: unknownFacts(t)}, "", c.secret)
	return append(append(c.cases, markedCorpus(t)...), countedCorpus(t)...)
}

// whole are cases in which all is well, or nothing was checked.
func (c *corpus) whole(files map[string][]byte) {
	bundle := map[string][]byte{bundleFile: files[bundleFile]}
	c.add("bundle_token", evidence.Verified, "A bundle, and the secret of its token.", bundle, "", c.secret)
	c.add("bundle_line_feed", evidence.Verified, "The file ends with a line feed, which is no part of the bundle.", with(bundle, bundleFile, append(bytes.Clone(bundle[bundleFile]), '\n')), "", c.secret)
	c.add("bundle_attested", evidence.Verified, "A trusted signer attested it; the trust file names no log.", with(files, proofFile, nil), c.trustSigner(), "")
	c.add("bundle_logged", evidence.Verified, "It is in a trusted log; the trust file names no signer.", with(files, attestFile, nil), c.trustLog(), "")
	c.add("everything", evidence.Verified, "Token, attestation, log and two of three witnesses.", files, c.trustAll(), c.secret)
	c.add("attestation_left_out", evidence.Verified, "With a log in the trust file the proof is needed, and an attestation is checked if it is there.", with(files, attestFile, nil), c.trustBoth(), "")
	c.add("nothing_to_check_fail", evidence.WellFormed, "Neither a secret nor a trust file: nothing is called verified without a signature.", files, "", "")
	c.add("trust_without_keys_fail", evidence.WellFormed, "A trust file that names neither a signer nor a log.", files, "quorum none\n", "")
	c.add("log_of_one", evidence.Verified, "A log with a single leaf: the path is empty.", c.single(files[bundleFile]), c.trustLog(), "")
}

// single puts a slice into a log of its own.
func (c *corpus) single(bundle []byte) map[string][]byte {
	leaf := c.leafOf(bundle)
	root := ledger.Root{Size: 1, Hash: ledger.LeafHash(leaf)}
	signer, _, err := c.id.Log(tenant)
	note := must(ledger.Checkpoint{Origin: origin, Root: root}.Sign(must(signer, err)))
	return map[string][]byte{bundleFile: bundle, proofFile: (&ledger.Proof{Leaf: leaf, Checkpoint: note}).Append(nil)}
}

func (c *corpus) leafOf(bundle []byte) []byte {
	b := parsed(bundle)
	l := issued.SliceLeaf{Tenant: tenant, Provenance: b.Provenance, AsOf: b.AsOf, KeyID: b.Seal.KeyID, Bundle: sum(bundle), At: c.time()}
	return l.Append(nil)
}

// forms are files that are not what they should be.
func (c *corpus) forms(files map[string][]byte) {
	b := files[bundleFile]
	text := func(name, why string, changed []byte) {
		c.add("malformed_"+name+"_fail", evidence.Malformed, why, map[string][]byte{bundleFile: changed}, "", c.secret)
	}
	text("space", "A space that canonical JSON does not have.", once(b, `{"anchor":`, `{ "anchor":`))
	text("key_twice", "A key that stands twice.", once(b, `{"anchor":`, `{"anchor":"`+c.turns[0].String()+`","anchor":`))
	text("key_order", "Keys out of order.", once(b, `"anchor":"`+c.turns[7].String()+`","as_of":8,`, `"as_of":8,"anchor":"`+c.turns[7].String()+`",`))
	text("null", "A null.", once(b, `"key_id":"k1"`, `"key_id":null`))
	text("float", "A number with an exponent.", firstOf(b, `"as_of":8`, `"as_of":8e0`))
	text("hex_case", "Hex in capitals.", once(b, `"token":"`+parsed(b).Seal.Token, `"token":"`+strings.ToUpper(parsed(b).Seal.Token)))
	text("surrogate", "A lone surrogate.", firstOf(b, `Done.`, `\ud800`))
	text("utf8", "A byte that is not UTF-8.", firstOf(b, `Done.`, "\xff"))
	text("escape", "A character that needs no escape, escaped.", firstOf(b, `Done.`, `\u0044one.`))
	text("trailing", "Something behind the end.", append(bytes.Clone(b), ' '))
	text("cut", "The end is missing.", b[:len(b)-1])
	text("array", "Not an object.", []byte("[]"))
	text("unknown_member", "A member that nobody knows.", once(b, `,"key_id":"k1"`, `,"key":1,"key_id":"k1"`))
	c.add("malformed_salience_digits_fail", evidence.Malformed, "A decimal with a trailing zero.", map[string][]byte{bundleFile: firstOf(b, `"salience_weight":0.3`, `"salience_weight":0.30`)}, "", c.secret)

	proof := func(name, why string, changed []byte) {
		c.add("malformed_proof_"+name+"_fail", evidence.Malformed, why, with(files, proofFile, changed), c.trustBoth(), "")
	}
	p := files[proofFile]
	proof("index", "An index with a leading zero.", firstOf(p, "\nindex ", "\nindex 0"))
	proof("no_leaf", "A proof without the leaf.", proofWith(p, func(p *ledger.Proof) { p.Leaf = nil }))
	proof("hash", "A hash that is too short.", once(p, p64(p), p64(p)[4:]))
	proof("huge", "A size above 2^48: it must be refused before anything is computed with it.", firstOf(p, "\n"+sizeOf(p)+"\n", "\n9223372036854775807\n"))
	proof("no_end", "The last signature line has no end.", p[:len(p)-1])
	c.add("malformed_attestation_base64_fail", evidence.Malformed, "Base64 with a line break in it.", with(files, attestFile, once(files[attestFile], `"payload":"`, `"payload":"\n`)), c.trustSigner(), "")
	c.add("malformed_attestation_type_fail", evidence.Malformed, "Another type of payload.", with(files, attestFile, once(files[attestFile], "vnd.in-toto+json", "vnd.in-toto+jsox")), c.trustSigner(), "")
	c.add("trust_time_form_fail", evidence.Outcome("usage"), "A bound that has not six digits: the trust file is malformed, and it is the verifier's own.", with(files, proofFile, nil), fmt.Sprintf("signer %s 2026-03-14T00:00:00Z\nquorum none\n", c.signerKey()), "")
	c.add("trust_low_order_fail", evidence.Outcome("usage"), "A trust file with a key of low order, under which anybody can sign.", files, fmt.Sprintf("log %s\nquorum none\n", ledger.Key{Name: origin, Alg: ledger.AlgEd25519, Public: [32]byte{1}}), "")
	c.add("trust_quorum_without_log_fail", evidence.Outcome("usage"), "A trust file with a quorum and no log whose checkpoints could be cosigned.", files, fmt.Sprintf("signer %s\nwitness w1 %s\nquorum w1\n", c.signerKey(), c.witnesses[0].Key()), "")
	c.add("malformed_proof_empty_line_fail", evidence.Malformed, "A second empty line in front of the signatures.", with(files, proofFile, proofWith(p, func(p *ledger.Proof) { p.Checkpoint = bytes.Replace(p.Checkpoint, []byte("\n\n"), []byte("\n\n\n"), 1) })), c.trustBoth(), "")
	c.add("malformed_proof_origin_fail", evidence.Malformed, "An origin with a plus sign, which no key's name has.", with(files, proofFile, firstOf(p, "\n"+origin+"\n", "\ndefault.kernel+example\n")), c.trustBoth(), "")
	c.add("trust_not_reduced_fail", evidence.Outcome("usage"), "A trust file with a key whose y is 2^255-16: a second spelling of 3.", files, fmt.Sprintf("log %s\nquorum none\n", ledger.Key{Name: origin, Alg: ledger.AlgEd25519, Public: [32]byte(append([]byte{0xf0}, append(bytes.Repeat([]byte{0xff}, 30), 0x7f)...))}), "")
	c.add("trust_two_quorums_fail", evidence.Outcome("usage"), "A trust file with two quorum lines.", files, c.trustLog()+"quorum none\n", "")
	c.add("trust_unknown_line_fail", evidence.Outcome("usage"), "A trust file with a line of a kind that is not known.", files, c.trustLog()+"notary x\n", "")
	c.add("trust_bad_hash_fail", evidence.Outcome("usage"), "A trust file with a key whose hash is not its own.", files, strings.Replace(c.trustLog(), fmt.Sprintf("+%08x+", c.logKey().Hash()), "+00000000+", 1), "")
	c.add("two_subjects_fail", evidence.Malformed, "A bundle and a disclosure in one folder.", with(files, partFile, must(parsed(b).Disclose(sum(b), c.turns[:1])).Append(nil)), c.trustBoth(), "")

	version := func(name, why string, f map[string][]byte) {
		c.add("version_"+name+"_fail", evidence.UnknownVersion, why, f, c.trustBoth(), c.secret)
	}
	version("bundle", "A bundle of another version.", with(files, bundleFile, once(b, `"gkp/1"`, `"gkp/2"`)))
	version("proof", "A proof of another version.", with(files, proofFile, once(p, "tlog-proof@v1", "tlog-proof@v2")))
	version("leaf", "A leaf of another version.", with(files, proofFile, proofWith(p, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, `"gkl/1"`, `"gkl/2"`) })))
	version("disclosure", "A disclosure of another version.", map[string][]byte{partFile: once(must(parsed(b).Disclose(sum(b), c.turns[:1])).Append(nil), `"gkd/1"`, `"gkd/2"`)})
	version("predicate", "A statement of another predicate type, signed by a trusted signer.", with(files, attestFile, c.sealText(once(c.payload(files[attestFile]), "slice/v1", "slice/v2"))))
}

// p64 returns the first hash of a proof's path.
func p64(proof []byte) string { return strings.Split(string(proof), "\n")[3] }

func sizeOf(proof []byte) string {
	return fmt.Sprint(must(ledger.ReadCheckpoint(must(ledger.ParseProof(proof)).Checkpoint)).Size)
}

func (c *corpus) payload(envelope []byte) []byte {
	payload, _, err := must(attest.ParseEnvelope(envelope)).Verify(func(string) (ledger.Key, bool) { return c.signerKey(), true })
	return must(payload, err)
}

// sealText signs any payload with the kernel's key.
func (c *corpus) sealText(payload []byte) []byte {
	return must(attest.Seal(payload, must(c.kernel.Ledger().Identity().Attestor(tenant))))
}

// bodies are bundles that were changed after they were signed.
func (c *corpus) bodies(files map[string][]byte) {
	b := files[bundleFile]
	change := func(name, why string, changed []byte) {
		c.add("tampered_"+name+"_fail", evidence.Tampered, why, map[string][]byte{bundleFile: changed}, "", c.secret)
	}
	edit := func(fn func(b *slice.Bundle)) []byte {
		p := parsed(b)
		fn(p)
		return p.Append(nil)
	}
	change("content", "A word was changed.", once(b, "Then turn it down.", "Then turn it up."))
	change("author", "Somebody else is said to have spoken.", firstOf(b, "model:helper", "model:admin"))
	change("role", "A tool's turn became a user's.", once(b, `"role":"tool"`, `"role":"user"`))
	change("salience", "A salience was raised.", edit(func(b *slice.Bundle) { b.Turns[0].Salience++ }))
	change("score", "A score does not follow from the policy.", edit(func(b *slice.Bundle) { b.Turns[1].Admission.Score++ }))
	change("reason", "A turn is said to have come from another.", edit(func(b *slice.Bundle) {
		for i := range b.Turns {
			if b.Turns[i].Admission.Via != slice.ViaAnchor && b.Turns[i].Admission.From != b.Turns[0].ID {
				b.Turns[i].Admission.From = b.Turns[0].ID
				return
			}
		}
	}))
	change("edge_kind", "A reply became a reference.", edit(func(b *slice.Bundle) { b.Edges[0].Kind = dag.Reference }))
	change("edge_gone", "An edge is missing.", edit(func(b *slice.Bundle) { b.Edges = b.Edges[1:] }))
	change("turn_gone", "A turn is missing.", edit(func(b *slice.Bundle) {
		gone := b.Turns[2].ID
		b.Turns = slices.Delete(b.Turns, 2, 3)
		b.Edges = slices.DeleteFunc(b.Edges, func(e dag.Edge) bool { return e.Parent == gone || e.Child == gone })
		b.Order = slices.DeleteFunc(b.Order, func(id dag.TurnID) bool { return id == gone })
	}))
	change("order", "Two turns changed places in the reading order.", edit(func(b *slice.Bundle) { b.Order[0], b.Order[1] = b.Order[1], b.Order[0] }))
	change("turns_unsorted", "The turns do not ascend.", edit(func(b *slice.Bundle) { b.Turns[0], b.Turns[1] = b.Turns[1], b.Turns[0] }))
	change("policy", "The policy is said to be another.", once(b, `"max_siblings":5`, `"max_siblings":6`))
	change("policy_hash", "The policy's hash is another.", once(b, `"policy_params_hash":"`+parsed(b).Provenance.PolicyParamsHash.String(), `"policy_params_hash":"`+sum(b).String()))
	change("snapshot", "The snapshot's hash is another.", once(b, `"graph_snapshot_hash":"`+parsed(b).Provenance.GraphSnapshotHash.String(), `"graph_snapshot_hash":"`+sum(b).String()))
	change("slice_id", "The slice's id is another.", once(b, `"slice_id":"`+string(parsed(b).Provenance.SliceID), `"slice_id":"0123456789abcdef`))
	change("anchor", "The anchor is another turn.", edit(func(b *slice.Bundle) { b.Anchor = b.Turns[0].ID }))
	change("tenant", "The evidence is said to be another tenant's.", once(b, `"tenant":"default"`, `"tenant":"other"`))
	change("token", "The token is another.", once(b, parsed(b).Seal.Token, "00112233445566778899aabbccddeeff"))
	c.add("tampered_header_fail", evidence.Tampered, "The header is whole and signed, and the turns under it were swapped: what the original system did not find.",
		map[string][]byte{bundleFile: edit(func(b *slice.Bundle) { b.Turns[3].Body, b.Turns[4].Body = b.Turns[4].Body, b.Turns[3].Body })}, "", c.secret)
	c.add("tampered_content_attested_fail", evidence.Tampered, "A word was changed, and there is no secret: the digests find it.", with(files, bundleFile, once(b, "Then turn it down.", "Then turn it up.")), c.trustAll(), "")
	c.add("tampered_as_of_fail", evidence.Tampered, "as_of is outside the token, not outside the attestation.", with(files, bundleFile, once(b, `"as_of":8`, `"as_of":9`)), c.trustBoth(), c.secret)
	c.add("as_of_token_only", evidence.Verified, "as_of is outside the token, which is all that is checked here.", map[string][]byte{bundleFile: once(b, `"as_of":8`, `"as_of":9`)}, "", c.secret)
	c.add("token_other_key_fail", evidence.KeyUnknown, "The secret given is of another key.", map[string][]byte{bundleFile: b}, "", "k2"+strings.TrimPrefix(c.secret, "k1"))
	c.add("token_other_secret_fail", evidence.Tampered, "The key's id is the same and the secret another: the token does not match.", map[string][]byte{bundleFile: b}, "", "k1 "+strings.Repeat("5c", 32))
}

// signers are attestations that should not be believed.
func (c *corpus) signers(files map[string][]byte, other *notary.Evidence) {
	stranger, strangerKey := c.stranger()
	payload := c.payload(files[attestFile])
	c.add("attestation_stranger_fail", evidence.KeyUnknown, "Signed by a key that the trust file does not list.", with(files, attestFile, must(attest.Seal(payload, stranger))), c.trustSigner(), "")
	c.add("attestation_stranger_beside", evidence.Verified, "Signed by a stranger and by a trusted signer.", with(files, attestFile, must(attest.Seal(payload, stranger, must(c.id.Attestor(tenant))))), c.trustSigner(), "")
	c.add("attestation_none_fail", evidence.KeyUnknown, "The trust file names a signer and no log, and there is no attestation.", with(files, attestFile, nil), c.trustSigner(), "")
	c.add("attestation_none_token_fail", evidence.KeyUnknown, "A good token is no attestation.", with(files, attestFile, nil), c.trustSigner(), c.secret)
	c.add("attestation_unsigned_fail", evidence.KeyUnknown, "An envelope without signatures.", with(files, attestFile, must(attest.Seal(payload))), c.trustSigner(), "")
	c.add("attestation_wrong_keyid_fail", evidence.Tampered, "A stranger's signature under a trusted signer's key id.", with(files, attestFile, once(must(attest.Seal(payload, stranger)), strangerKey.HexID(), c.signerKey().HexID())), c.trustSigner(), "")
	c.add("attestation_other_payload_fail", evidence.Tampered, "The payload was changed under the signature.", with(files, attestFile, c.swapPayload(files[attestFile], once(payload, `"turns":8`, `"turns":7`))), c.trustSigner(), "")
	c.add("attestation_of_another_fail", evidence.Tampered, "A good attestation, of another bundle.", with(files, attestFile, other.Envelope), c.trustSigner(), "")
	for _, m := range []struct {
		name   string
		change func(*attest.Statement)
	}{
		{"as_of", func(s *attest.Statement) { s.AsOf++ }},
		{"edges", func(s *attest.Statement) { s.Counts[0].N++ }},
		{"turns", func(s *attest.Statement) { s.Counts[1].N++ }},
		{"policy_id", func(s *attest.Statement) { s.Provenance.PolicyID = "other@1" }},
		{"policy", func(s *attest.Statement) { p := policy.DefaultV1(); p.MaxNodes = 7; s.Policy = p }},
		{"snapshot", func(s *attest.Statement) { s.Provenance.GraphSnapshotHash[0] ^= 1 }},
		{"anchor", func(s *attest.Statement) { s.Provenance.Anchor = c.turns[0] }},
		{"token_key", func(s *attest.Statement) { s.TokenKeyID = "k2" }},
		{"digest", func(s *attest.Statement) { s.Subject[0] ^= 1 }},
		{"redacted", func(s *attest.Statement) { s.Redacted = []attest.Redaction{{Turn: c.turns[0], Why: attest.Withheld}} }},
	} {
		c.add("statement_"+m.name+"_fail", evidence.Tampered, "A trusted signer signed a statement whose "+m.name+" is not the bundle's.", with(files, attestFile, c.reseal(files[attestFile], m.change)), c.trustSigner(), "")
	}
	unknown := once(payload, `"turns":8}`, `"turns":8,"zone":"later"}`)
	c.add("statement_more", evidence.Verified, "A member of the predicate that a later version may have added.", with(files, attestFile, c.sealText(unknown)), c.trustSigner(), "")
	c.add("malformed_statement_unjudged_fail", evidence.Malformed, "A statement that lacks a member; the trust file names no signer, and forms are looked at all the same.", with(files, attestFile, c.sealText(once(payload, `,"turns":8}`, `}`))), c.trustLog(), "")
	c.add("malformed_statement_unsigned_fail", evidence.Malformed, "A statement that lacks a member, and nobody signed it.", with(files, attestFile, must(attest.Seal(once(payload, `,"turns":8}`, `}`)))), c.trustBoth(), "")
	c.add("checkpoint_beside_bundle_fail", evidence.Malformed, "A checkpoint beside a bundle.", with(files, nowFile, must(ledger.ParseProof(files[proofFile])).Checkpoint), c.trustBoth(), "")
	c.add("statement_less_fail", evidence.Malformed, "A member of the predicate is missing.", with(files, attestFile, c.sealText(once(payload, `,"turns":8}`, `}`))), c.trustSigner(), "")
	elsewhere := ledger.Key{Name: "other.kernel.example", Alg: ledger.AlgEd25519, Public: c.signerKey().Public}
	c.add("signer_of_another_tenant_fail", evidence.KeyUnknown, "The trust file lists the same key under another tenant's name.", files, fmt.Sprintf("signer %s\nquorum none\n", elsewhere), "")
	// Names of signers, beside the keys.
	named := func(name, at string) (attest.Signer, ledger.Key) {
		s, k, err := attest.NewSigner(name, c.private(44))
		if err != nil {
			panic(err)
		}
		st := must(attest.ParseStatement(payload))
		st.Origin = at
		files = with(files, attestFile, must(attest.Seal(st.Append(nil), s)))
		return s, k
	}
	whole := files
	_, key := named("default.elsewhere.example", origin)
	c.add("signer_of_another_name_fail", evidence.KeyUnknown, "A listed signer whose name is not the statement's origin.", files, fmt.Sprintf("signer %s\nquorum none\n", key), "")
	_, key = named("acme.kernel.example", "acme.kernel.example")
	c.add("signer_of_no_tenant_fail", evidence.KeyUnknown, "Another tenant's signer states, in its own name, something of this tenant.", files, fmt.Sprintf("signer %s\nquorum none\n", key), "")
	_, key = named("default.elsewhere.example", "default.elsewhere.example")
	c.add("statement_origin_fail", evidence.NotInLog, "The statement is of another log than the proof; both are trusted.", files, fmt.Sprintf("signer %s\n%s", key, c.trustLog()), "")
	files = whole
	rotated := c.id
	rotated = must(rotated.Rotate(c.random, c.time()))
	by := must(rotated.Attestor(tenant))
	c.add("attestation_rotated", evidence.Verified, "Two keys are trusted, and the newer one signed.", with(files, attestFile, must(attest.Seal(payload, by))), fmt.Sprintf("signer %s\n%s", c.signerKey(), fmt.Sprintf("signer %s\nquorum none\n", by.Key())), "")
}

// swapPayload puts another payload under the signatures of an envelope.
func (c *corpus) swapPayload(envelope, payload []byte) []byte {
	return once(envelope, base64.StdEncoding.EncodeToString(c.payload(envelope)), base64.StdEncoding.EncodeToString(payload))
}

// parts are disclosures, honest and not.
func (c *corpus) parts(files map[string][]byte, first *kernel.Issued) {
	whole := parsed(first.Bundle)
	shown := []dag.TurnID{c.turns[3], c.turns[5]}
	part := must(whole.Withhold(shown))
	withheld := with(files, bundleFile, part.Append(nil))
	c.add("withheld", evidence.Verified, "The texts of six turns were withheld; the attestation is that of the whole.", withheld, c.trustAll(), c.secret)
	c.add("withheld_token", evidence.Verified, "A bundle with texts withheld, and the secret of its token.", map[string][]byte{bundleFile: part.Append(nil)}, "", c.secret)
	c.add("withheld_full_fail", evidence.Redacted, "Texts were withheld, and the whole was asked for.", withheld, c.trustAll(), "", "--require-full")
	c.add("withheld_tampered_fail", evidence.Tampered, "A text that is shown was changed.", with(withheld, bundleFile, once(part.Append(nil), "1200 turns", "2400 turns")), c.trustAll(), "")
	c.add("withheld_log_only_fail", evidence.NotInLog, "Without the attestation nothing ties a bundle with texts withheld to the leaf's digest.", with(withheld, attestFile, nil), c.trustLog(), "")

	d := must(part.Disclose(sum(first.Bundle), append(shown, c.turns[6])))
	dropped := with(files, bundleFile, nil, partFile, d.Append(nil))
	c.add("dropped", evidence.Verified, "Two turns with text, one without, five dropped.", dropped, c.trustAll(), c.secret)
	c.add("dropped_token", evidence.Verified, "A disclosure, and the secret of its token.", map[string][]byte{partFile: d.Append(nil)}, "", c.secret)
	c.add("dropped_log_only", evidence.Verified, "A disclosure names the digest of the whole, which the leaf has.", with(dropped, attestFile, nil), c.trustLog(), "")
	c.add("dropped_full_fail", evidence.Redacted, "Turns were dropped, and the whole was asked for.", dropped, c.trustAll(), "", "--require-full")
	spoken := must(whole.Disclose(sum(first.Bundle), shown))
	c.add("dropped_spoken_full_fail", evidence.Redacted, "Every turn that is shown has its text, others were dropped, and the whole was asked for.", with(dropped, partFile, spoken.Append(nil)), c.trustAll(), "", "--require-full")
	c.add("dropped_unattested_fail", evidence.KeyUnknown, "A disclosure without the attestation, which alone says how many turns there are; the trust file names a signer.", with(dropped, attestFile, nil), c.trustAll(), "")
	forged := must(parseTurns(must(whole.Disclose(sum(first.Bundle), c.firstTurns(whole, 4))).Append(nil)))
	setCounts(forged, 4, len(whole.Turns)+len(whole.Edges)-4)
	c.add("dropped_count_unattested", evidence.Verified, "A disclosure that claims to be the whole: without an attestation its counts are claims, and said to be.", with(dropped, partFile, forged.Append(nil), attestFile, nil), c.trustLog(), "")
	c.add("dropped_count_unattested_full_fail", evidence.Redacted, "The same, and the whole was asked for: nobody can say that it is.", with(dropped, partFile, forged.Append(nil), attestFile, nil), c.trustLog(), "", "--require-full")
	c.add("dropped_count_forged_fail", evidence.Tampered, "The same with the attestation.", with(dropped, partFile, forged.Append(nil)), c.trustAll(), "")
	edit := func(name string, o evidence.Outcome, why string, change func(*slice.Disclosure)) {
		d := must(parseTurns(d.Append(nil)))
		change(d)
		c.add("dropped_"+name+"_fail", o, why, with(dropped, partFile, d.Append(nil)), c.trustAll(), "")
	}
	edit("text", evidence.Tampered, "A text was changed.", func(d *slice.Disclosure) {
		for i := range d.Shown {
			if t := d.Shown[i].Leaf.(*slice.ShownTurn); t.Body != nil {
				t.Body.Content += "!"
				return
			}
		}
	})
	edit("role", evidence.Tampered, "A role was changed: the leaf is another.", func(d *slice.Disclosure) { d.Shown[0].Leaf.(*slice.ShownTurn).Role = dag.RoleSystem })
	edit("path", evidence.Tampered, "A hash of a path was changed.", func(d *slice.Disclosure) { d.Shown[0].Path[0][0] ^= 1 })
	edit("path_swapped", evidence.Tampered, "Two turns have each other's paths.", func(d *slice.Disclosure) { d.Shown[0].Path, d.Shown[1].Path = d.Shown[1].Path, d.Shown[0].Path })
	edit("index", evidence.Tampered, "An index is beyond the turns.", func(d *slice.Disclosure) { d.Shown[len(d.Shown)-1].Index = int(d.Count("turns")) })
	edit("count", evidence.Tampered, "The slice is said to have fewer turns; the attestation knows.", func(d *slice.Disclosure) { setCounts(d, int(d.Count("turns"))-1, int(d.Count("edges"))+1) })
	edit("policy", evidence.Tampered, "Another policy is shown.", func(d *slice.Disclosure) {
		p := d.Policy.(policy.SlicePolicyV1)
		p.MaxNodes = 9
		d.Policy = p
	})
	edit("digest", evidence.Tampered, "It is said to be a part of another bundle.", func(d *slice.Disclosure) { d.Bundle[0] ^= 1 })
	edit("as_of", evidence.Tampered, "as_of was changed.", func(d *slice.Disclosure) { d.AsOf++ })
	edit("order", evidence.Tampered, "The turns do not ascend.", func(d *slice.Disclosure) { d.Shown[0], d.Shown[1] = d.Shown[1], d.Shown[0] })
	c.add("dropped_empty_fail", evidence.Malformed, "A disclosure that shows nothing.", with(dropped, partFile, c.noTurns(d)), c.trustAll(), "")
}

func (c *corpus) firstTurns(b *slice.Bundle, n int) (ids []dag.TurnID) {
	for i := range n {
		ids = append(ids, b.Turns[i].ID)
	}
	return ids
}

func parseTurns(data []byte) (*slice.Disclosure, error) {
	return slice.ParseDisclosure(data, slice.TurnDisclosures...)
}

func setCounts(d *slice.Disclosure, turns, edges int) {
	d.Counts = []slice.Count{{Name: "edges", N: uint64(edges)}, {Name: "turns", N: uint64(turns)}}
}

func (c *corpus) noTurns(d *slice.Disclosure) []byte {
	data := d.Append(nil)
	from, to := bytes.Index(data, []byte(`"turns":[`)), bytes.Index(data, []byte(`],"type":"disclosure"`))
	return slices.Concat(data[:from], []byte(`"turns":[`), data[to:])
}

// times are cases of keys that have an end.
func (c *corpus) times(files map[string][]byte) {
	trust := func(until, rest string) string { return fmt.Sprintf("signer %s %s\n%s", c.signerKey(), until, rest) }
	all := strings.SplitN(c.trustAll(), "\n", 3)[2]
	c.add("signer_within", evidence.Verified, "The claimed time is before the key's end.", with(files, proofFile, nil), trust("2026-03-14T03:00:00.000000Z", "quorum none\n"), "")
	c.add("signer_too_late_fail", evidence.KeyRetired, "The statement claims a time after the key's end.", with(files, proofFile, nil), trust("2026-03-14T02:59:59.999999Z", "quorum none\n"), "")
	c.add("signer_witnessed_within", evidence.Verified, "The witnesses saw it before the key's end.", files, trust("2026-03-14T04:00:00.000000Z", all), "")
	c.add("signer_witnessed_late_fail", evidence.KeyRetired, "The statement claims a time before the key's end, and the witnesses saw it half an hour after.", files, trust("2026-03-14T03:30:00.000000Z", all), "")
	c.add("signer_not_witnessed", evidence.Verified, "The key has ended, nobody asks for witnesses, and the statement claims an earlier time: that is what is left to go by.", files, trust("2026-03-14T03:30:00.000000Z", c.trustLog()), "")
}

// roles are cases of what a trust file does not list.
func (c *corpus) roles(files map[string][]byte, other *notary.Evidence) {
	c.add("no_signer_listed", evidence.Verified, "The attestation is of another bundle; the trust file names no signer, so nobody can judge it.", with(files, attestFile, other.Envelope), c.trustLog(), "")
	c.add("no_log_listed", evidence.Verified, "The proof is of another bundle; the trust file names no log, so nobody can judge it.", with(files, proofFile, other.Proof), c.trustSigner(), "")
	forged := proofWith(files[proofFile], func(p *ledger.Proof) {
		read := must(ledger.ReadCheckpoint(p.Checkpoint))
		read.Hash[0] ^= 1
		p.Checkpoint = append(p.Checkpoint, must(c.witnesses[2].Cosign(read, read.Text(), c.now))...)
	})
	listed := c.trustBoth()[:strings.Index(c.trustBoth(), "quorum")] + fmt.Sprintf("witness w3 %s\nquorum none\n", c.witnesses[2].Key())
	c.add("no_quorum_asked", evidence.Verified, "A listed witness's line does not verify, under quorum none: nobody asked for it.", with(files, proofFile, forged), listed, "")
	payload := c.payload(files[attestFile])
	second, key, err := attest.NewSigner(origin, c.private(55))
	must(second, err)
	both := must(attest.Seal(payload, must(c.id.Attestor(tenant)), second))
	late := fmt.Sprintf("signer %s 2026-03-14T02:00:00.000000Z\n", c.signerKey())
	c.add("two_signers_one_in_time", evidence.Verified, "Two listed signers; one signed after its end, the other has no bounds.", with(files, attestFile, both, proofFile, nil), late+fmt.Sprintf("signer %s\nquorum none\n", key), "")
	c.add("two_signers_none_in_time_fail", evidence.KeyRetired, "Two listed signers, and both signed after their end.", with(files, attestFile, both, proofFile, nil), late+fmt.Sprintf("signer %s 2026-03-14T01:00:00.000000Z\nquorum none\n", key), "")
	c.add("two_tenants_listed", evidence.Verified, "The trust file lists one signer for two tenants.", with(files, proofFile, nil), fmt.Sprintf("signer %s\nsigner %s\nquorum none\n", c.signerKey(), ledger.Key{Name: "other.kernel.example", Alg: ledger.AlgEd25519, Public: c.signerKey().Public}), "")
}

// histories are checkpoints, and steps from one to the next.
func (c *corpus) histories() {
	old := c.checkpoint()
	was := must(ledger.ReadCheckpoint(old))
	c.grow(40)
	now := c.checkpoint()
	is := must(ledger.ReadCheckpoint(now))
	proof := must(c.kernel.Ledger().ProveConsistency(c.ctx(), tenant, was.Size, is.Root))
	signer, _, err := c.id.Log(tenant)
	must(signer, err)
	sign := func(r ledger.Root) []byte { return must(ledger.Checkpoint{Origin: origin, Root: r}.Sign(signer)) }
	step := map[string][]byte{nowFile: now, oldFile: old, stepFile: ledger.FormatHashes(proof)}
	trust := c.trustLog()
	c.add("checkpoint", evidence.Verified, "A checkpoint of a trusted log.", map[string][]byte{nowFile: now}, trust, "")
	c.add("checkpoint_unknown_fail", evidence.WellFormed, "A checkpoint, and nobody to trust.", map[string][]byte{nowFile: now}, "", "")
	strange, _ := c.strangerLog()
	c.add("checkpoint_stranger_fail", evidence.KeyUnknown, "A checkpoint signed by another key of the same name.", map[string][]byte{nowFile: must(is.Sign(strange))}, trust, "")
	c.add("consistency", evidence.Verified, "The log grew.", step, trust, "")
	c.add("consistency_same", evidence.Verified, "The log did not grow.", map[string][]byte{nowFile: now, oldFile: now}, trust, "")
	c.add("consistency_empty", evidence.Verified, "The log was empty.", map[string][]byte{nowFile: now, oldFile: sign(ledger.Root{Hash: ledger.EmptyRoot()})}, trust, "")
	c.add("consistency_smaller_fail", evidence.LogInconsistent, "The log shrank.", map[string][]byte{nowFile: old, oldFile: now}, trust, "")
	fork := is.Root
	fork.Hash[3] ^= 1
	c.add("consistency_split_fail", evidence.LogInconsistent, "One size, two roots, both signed: a split view.", map[string][]byte{nowFile: sign(fork), oldFile: now}, trust, "")
	c.add("consistency_rewritten_fail", evidence.LogInconsistent, "The log grew from another history.", with(step, nowFile, sign(fork)), trust, "")
	bent := slices.Clone(proof)
	bent[0][0] ^= 1
	c.add("consistency_bent_fail", evidence.LogInconsistent, "The proof was changed.", with(step, stepFile, ledger.FormatHashes(bent)), trust, "")
	c.add("consistency_none_fail", evidence.LogInconsistent, "The proof is missing.", with(step, stepFile, nil), trust, "")
	c.add("consistency_too_much_fail", evidence.LogInconsistent, "A proof where none is needed.", map[string][]byte{nowFile: now, oldFile: now, stepFile: ledger.FormatHashes(proof[:1])}, trust, "")
	c.add("consistency_form_fail", evidence.Malformed, "The proof's last line has no end.", with(step, stepFile, bytes.TrimSuffix(ledger.FormatHashes(proof), []byte("\n"))), trust, "")
	c.add("consistency_old_stranger_fail", evidence.KeyUnknown, "The old checkpoint is signed by a stranger.", with(step, oldFile, must(was.Sign(strange))), trust, "")
	c.add("consistency_without_old_fail", evidence.Malformed, "A proof of consistency, and no old checkpoint.", with(step, oldFile, nil), trust, "")
	elsewhere, elsewhereKey, err := ledger.NewLogSigner("other.kernel.example", c.private(78))
	must(elsewhere, err)
	c.add("consistency_other_origin_fail", evidence.KeyUnknown, "The old checkpoint is of another log, which is trusted, too.", with(step, oldFile, must(ledger.Checkpoint{Origin: "other.kernel.example", Root: was.Root}.Sign(elsewhere))), fmt.Sprintf("log %s\n%s", elsewhereKey, trust), "")
	c.add("checkpoint_with_attestation_fail", evidence.Malformed, "An attestation beside a checkpoint.", map[string][]byte{nowFile: now, attestFile: []byte("{}")}, trust, "")
	witnessed := map[string][]byte{nowFile: c.cosign(now, c.now, 0, 2)}
	c.add("checkpoint_witnessed", evidence.Verified, "A checkpoint with a quorum.", witnessed, c.trustAll(), "")
	c.add("checkpoint_witnessed_fail", evidence.QuorumNotMet, "A checkpoint without a quorum.", map[string][]byte{nowFile: now}, c.trustAll(), "")
}

// erased is a slice that was issued after a text was erased.
func (c *corpus) erased() {
	must(c.kernel.Turns().Erase(c.ctx(), tenant, c.turns[4], "asked for"))
	issued := c.slice(7)
	e := c.attest(issued, 1, 2)
	files := map[string][]byte{bundleFile: issued.Bundle, attestFile: e.Envelope, proofFile: e.Proof}
	c.add("erased", evidence.Verified, "One text was erased before the slice was issued; the statement says so.", files, c.trustAll(), c.secret)
	c.add("erased_full_fail", evidence.Redacted, "One text was erased, and the whole was asked for.", files, c.trustAll(), "", "--require-full")
	part := must(parsed(issued.Bundle).Withhold([]dag.TurnID{c.turns[7]}))
	c.add("erased_and_withheld", evidence.Verified, "One text was erased, and others withheld later: they are told apart.", with(files, bundleFile, part.Append(nil)), c.trustAll(), "")
	back := c.reseal(e.Envelope, func(s *attest.Statement) {
		s.Redacted = append(s.Redacted, attest.Redaction{Turn: c.turns[7], Why: attest.Erased})
		slices.SortFunc(s.Redacted, func(a, b attest.Redaction) int { return a.Turn.Compare(b.Turn) })
	})
	c.add("erased_and_shown_fail", evidence.Tampered, "The statement says that a text was erased, and it is shown.", with(files, attestFile, back), c.trustAll(), "")
}
