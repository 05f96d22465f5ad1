package evidence_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/notary"
)

// logs are proofs that do not show what they should.
func (c *corpus) logs(files map[string][]byte, second *kernel.Issued, other *notary.Evidence) {
	p := files[proofFile]
	bare := with(files, attestFile, nil)
	c.add("proof_none_fail", evidence.NotInLog, "The trust file names a log, and there is no proof.", with(files, proofFile, nil), c.trustBoth(), c.secret)
	add := func(name string, o evidence.Outcome, why string, proof []byte) {
		c.add("proof_"+name, o, why, with(bare, proofFile, proof), c.trustLog(), "")
	}
	add("bent_fail", evidence.NotInLog, "A hash of the path was changed.", proofWith(p, func(p *ledger.Proof) { p.Path[1][5] ^= 1 }))
	add("short_fail", evidence.NotInLog, "The path lacks its last hash.", proofWith(p, func(p *ledger.Proof) { p.Path = p.Path[:len(p.Path)-1] }))
	add("long_fail", evidence.NotInLog, "The path has a hash too many.", proofWith(p, func(p *ledger.Proof) { p.Path = append(p.Path, p.Path[0]) }))
	add("index_fail", evidence.NotInLog, "The index is the neighbour's.", proofWith(p, func(p *ledger.Proof) { p.Index ^= 1 }))
	add("index_beyond_fail", evidence.NotInLog, "The index is beyond the log's size.", proofWith(p, func(p *ledger.Proof) { p.Index = 1 << 40 }))
	add("of_another_fail", evidence.NotInLog, "A good proof, of another slice.", other.Proof)
	add("leaf_swapped_fail", evidence.NotInLog, "The leaf of this bundle, and the path of another.", proofWith(other.Proof, func(o *ledger.Proof) { o.Leaf = must(ledger.ParseProof(p)).Leaf }))
	add("leaf_time_fail", evidence.NotInLog, "The leaf says another time: its hash is another.", proofWith(p, func(p *ledger.Proof) { p.Leaf = once(p.Leaf, "T03:00:00.", "T02:00:00.") }))
	add("leaf_of_key_fail", evidence.NotInLog, "A good proof of a leaf that is no slice.", must(c.kernel.Ledger().Prove(c.ctx(), tenant, 0)).Append(nil))
	add("two_lines", evidence.Verified, "A signature line of a key that nobody lists is passed over.", proofWith(p, func(p *ledger.Proof) {
		p.Checkpoint = append(p.Checkpoint, "— unknown.example AAAAAAAA\n"...)
	}))
	strangers := func(name string, o evidence.Outcome, why, at string) {
		signer, key := c.strangerLog()
		if at != origin {
			s, k, err := ledger.NewLogSigner(at, c.private(77))
			if err != nil {
				panic(err)
			}
			signer, key = s, k
		}
		fake := proofWith(p, func(p *ledger.Proof) {
			read := must(ledger.ReadCheckpoint(p.Checkpoint))
			p.Checkpoint = must(ledger.Checkpoint{Origin: at, Root: read.Root}.Sign(signer))
		})
		trust := c.trustLog()
		if at != origin {
			trust = fmt.Sprintf("log %s\nquorum none\n", key)
		}
		c.add("log_"+name, o, why, with(bare, proofFile, fake), trust, "")
	}
	strangers("stranger_fail", evidence.KeyUnknown, "The checkpoint is signed by another key of the same name.", origin)
	strangers("of_another_tenant_fail", evidence.KeyUnknown, "A trusted log, of another tenant.", "other.kernel.example")
	c.add("log_forged_fail", evidence.Tampered, "The root was changed under the log's signature.", with(bare, proofFile, proofWith(p, func(p *ledger.Proof) {
		read := must(ledger.ReadCheckpoint(p.Checkpoint))
		root := base64.StdEncoding.EncodeToString(read.Hash[:])
		read.Hash[0] ^= 1
		p.Checkpoint = once(p.Checkpoint, root, base64.StdEncoding.EncodeToString(read.Hash[:]))
	})), c.trustLog(), "")
	c.add("log_size_forged_fail", evidence.Tampered, "The size was changed under the log's signature.", with(bare, proofFile, firstOf(p, "\n"+sizeOf(p)+"\n", "\n1"+sizeOf(p)+"\n")), c.trustLog(), "")
	c.add("log_extension", evidence.Verified, "An extension line behind the root, under the signature.", with(bare, proofFile, c.extended(p)), c.trustLog(), "")
	c.add("statement_index_fail", evidence.NotInLog, "The attestation names another index than the proof.", with(files, attestFile, c.reseal(files[attestFile], func(s *attest.Statement) { s.Index++ })), c.trustBoth(), "")
	swapped := with(files, bundleFile, second.Bundle, attestFile, nil)
	c.add("bundle_swapped_fail", evidence.NotInLog, "A good bundle with the proof of another.", swapped, c.trustLog(), c.secret)
}

// extended signs a checkpoint with an extension line.
func (c *corpus) extended(proof []byte) []byte {
	return proofWith(proof, func(p *ledger.Proof) {
		read := must(ledger.ReadCheckpoint(p.Checkpoint))
		signer, key, err := c.id.Log(tenant)
		if err != nil {
			panic(err)
		}
		text := read.Text() + "an extension\n"
		sig := must(signer.Sign([]byte(text)))
		id := key.ID()
		p.Checkpoint = fmt.Appendf(nil, "%s\n— %s %s\n", text, origin, base64.StdEncoding.EncodeToString(append(id[:4:4], sig...)))
	})
}

// witnessed are cases of cosignatures.
func (c *corpus) witnessed(files map[string][]byte, first *kernel.Issued) {
	at := func(witnesses ...int) map[string][]byte {
		return with(files, proofFile, c.attest(first, witnesses...).Proof)
	}
	c.add("witnesses_all", evidence.Verified, "All three cosigned, two are needed.", at(0, 1, 2), c.trustAll(), "")
	c.add("witnesses_none_fail", evidence.QuorumNotMet, "Nobody cosigned.", at(), c.trustAll(), "")
	c.add("witnesses_one_fail", evidence.QuorumNotMet, "One of three cosigned, two are needed.", at(2), c.trustAll(), "")
	twice := proofWith(at(0)[proofFile], func(p *ledger.Proof) {
		read := must(ledger.ReadCheckpoint(p.Checkpoint))
		p.Checkpoint = append(p.Checkpoint, must(c.witnesses[0].Cosign(read, read.Text(), c.now.Add(time.Minute)))...)
	})
	c.add("witnesses_twice_fail", evidence.QuorumNotMet, "One witness cosigned twice and counts once.", with(files, proofFile, twice), c.trustAll(), "")
	forged := proofWith(at(0, 1)[proofFile], func(p *ledger.Proof) {
		read := must(ledger.ReadCheckpoint(p.Checkpoint))
		read.Hash[0] ^= 1
		p.Checkpoint = append(p.Checkpoint, must(c.witnesses[2].Cosign(read, read.Text(), c.now))...)
	})
	c.add("witnesses_forged_fail", evidence.QuorumNotMet, "Two cosigned, and the line of the third does not verify.", with(files, proofFile, forged), c.trustAll(), "")
	moved := proofWith(at(0)[proofFile], func(p *ledger.Proof) {
		read := must(ledger.ReadCheckpoint(p.Checkpoint))
		line := string(must(c.witnesses[1].Cosign(read, read.Text(), c.now)))
		fields := strings.Fields(line)
		sig := must(base64.StdEncoding.DecodeString(fields[2]))
		sig[11]++ // the last byte of the time
		p.Checkpoint = append(p.Checkpoint, fmt.Sprintf("— %s %s\n", fields[1], base64.StdEncoding.EncodeToString(sig))...)
	})
	c.add("witnesses_time_forged_fail", evidence.QuorumNotMet, "The time of a cosignature was changed.", with(files, proofFile, moved), c.trustAll(), "")
	// respelt sets a bit of a signature line's last digit that is no part of the signature.
	respelt := func(name string) []byte {
		return proofWith(at(0, 1)[proofFile], func(p *ledger.Proof) {
			from := bytes.Index(p.Checkpoint, []byte("— "+name+" "))
			line := p.Checkpoint[from:]
			line = bytes.TrimRight(line[:bytes.IndexByte(line, '\n')], "=")
			const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
			p.Checkpoint[from+len(line)-1] = digits[strings.IndexByte(digits, line[len(line)-1])|1]
		})
	}
	c.add("malformed_log_line_fail", evidence.Malformed, "The log's signature line in another spelling of base64.", with(files, proofFile, respelt(origin)), c.trustAll(), "")
	c.add("malformed_witness_line_fail", evidence.Malformed, "A cosignature in another spelling of base64, by which its time could be lost.", with(files, proofFile, respelt("w1.example")), c.trustAll(), "")
	second := func(name string) []byte {
		return proofWith(at(0, 1)[proofFile], func(p *ledger.Proof) {
			from := bytes.Index(p.Checkpoint, []byte("— "+name+" "))
			line := p.Checkpoint[from:]
			fields := strings.Fields(string(line[:bytes.IndexByte(line, '\n')]))
			sig := must(base64.StdEncoding.DecodeString(fields[2]))
			sig[len(sig)-1] ^= 1
			p.Checkpoint = fmt.Appendf(p.Checkpoint, "— %s %s\n", name, base64.StdEncoding.EncodeToString(sig))
		})
	}
	c.add("log_second_line_fail", evidence.Tampered, "A second line of the log that does not verify, beside one that does.", with(files, proofFile, second(origin)), c.trustAll(), "")
	c.add("witnesses_second_line_fail", evidence.QuorumNotMet, "A second line of a witness that does not verify, beside one that does.", with(files, proofFile, second("w1.example")), c.trustAll(), "")
	asLog := fmt.Sprintf("log %s\nwitness w1 %s\nquorum w1\n", c.logKey(), ledger.Key{Name: origin, Alg: ledger.AlgCosignature, Public: c.logKey().Public})
	c.add("witness_is_the_log_fail", evidence.QuorumNotMet, "The log's own signature is no cosignature.", with(files, attestFile, nil), asLog, "")
	groups := strings.Replace(c.trustAll(), "group two 2 w1 w2 w3\nquorum two\n", "group one any w1 w3\ngroup both all one w2\nquorum both\n", 1)
	c.add("witnesses_groups", evidence.Verified, "A group of groups.", at(1, 2), groups, "")
	c.add("witnesses_groups_fail", evidence.QuorumNotMet, "A group of groups that lacks one.", at(0, 2), groups, "")
}
