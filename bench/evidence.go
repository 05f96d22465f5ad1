package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// boundJudged is for judging a bundle of 256 turns offline, with everything beside it.
const boundJudged = 3 * time.Millisecond

// judged is a bundle with all that convinces a third party.
type judged struct {
	files evidence.Files
	judge evidence.Judge
	keys  *token.Authority
}

// evidenceOf issues a slice from a store, after so many other leaves, and has witnesses
// cosign.
func evidenceOf(ctx context.Context, s store.Store, nodes int) (*judged, error) {
	g, err := conversations(max(1_000, 2*nodes), max(1_000, 2*nodes), nodes)
	if err != nil {
		return nil, err
	}
	if err := g.draw(func(some []dag.Draft) error { return admit(ctx, s, g.tenant, some) }); err != nil {
		return nil, err
	}
	j := &judged{}
	if j.keys, err = newAuthority(); err != nil {
		return nil, err
	}
	id, err := identity.New(nil, "bench.invalid", 0)
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: j.keys, Clock: time.Now, Identity: id})
	if err != nil {
		return nil, err
	}
	if err := k.Policies().Register(ctx, g.tenant, g.policy); err != nil {
		return nil, err
	}
	issued, err := k.Slices().Cut(ctx, g.tenant, kernel.Request{Anchor: g.anchors[0], Policy: g.policy.ID()})
	if err != nil {
		return nil, err
	}
	if n := len(issued.Slice.Turns); n != nodes {
		return nil, fmt.Errorf("the slice has %d turns, want %d", n, nodes)
	}
	e, err := k.Ledger().Attest(ctx, g.tenant, issued.Bundle)
	if err != nil {
		return nil, err
	}
	j.files = evidence.Files{Bundle: issued.Bundle, Attestation: e.Envelope}
	trust, err := id.Trust(g.tenant, "")
	if err != nil {
		return nil, err
	}
	proof, err := ledger.ParseProof(e.Proof)
	if err != nil {
		return nil, err
	}
	quorum := ""
	for _, name := range []string{"w1", "w2", "w3"} {
		other, err := identity.New(nil, name+".invalid", 0)
		if err != nil {
			return nil, err
		}
		w, err := other.Witness()
		if err != nil {
			return nil, err
		}
		c, err := ledger.ReadCheckpoint(proof.Checkpoint)
		if err != nil {
			return nil, err
		}
		line, err := w.Cosign(c, c.Text(), time.Now())
		if err != nil {
			return nil, err
		}
		proof.Checkpoint = append(proof.Checkpoint, line...)
		quorum += fmt.Sprintf("witness %s %s\n", name, w.Key())
	}
	j.files.Proof = proof.Append(nil)
	text := string(trust[:len(trust)-len("quorum none\n")]) + quorum + "group two 2 w1 w2 w3\nquorum two\n"
	if j.judge.Trust, err = ledger.ParseTrust([]byte(text)); err != nil {
		return nil, err
	}
	return j, nil
}

// verifying measures what a third party computes, beside the token alone.
func verifying(ctx context.Context, r *report, y *yard, nodes, rounds int) (err error) {
	y.made++
	s, err := y.storeOf(ctx, inSQLite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	j, err := evidenceOf(ctx, s, nodes)
	if err != nil {
		return err
	}
	judge := func(judge evidence.Judge) func(context.Context, int) error {
		return func(context.Context, int) error {
			if v := judge.Judge(j.files); v.Outcome != evidence.Verified {
				return fmt.Errorf("%s: %s", v.Outcome, v.Reason)
			}
			return nil
		}
	}
	both := j.judge
	both.Keys = j.keys
	form := &candidate{name: "reading the bundle", burst: 2, run: func(context.Context, int) error {
		_, err := slice.ParseBundle(j.files.Bundle)
		return err
	}}
	token := &candidate{name: "the token alone", burst: 2, run: judge(evidence.Judge{Keys: j.keys})}
	all := &candidate{name: "attestation, proof, three witnesses", burst: 2, run: judge(j.judge)}
	more := &candidate{name: "all of it", burst: 2, run: judge(both)}
	if err := inTurn(ctx, rounds, []*candidate{form, token, all, more}); err != nil {
		return err
	}
	var rows []row
	for _, c := range []*candidate{form, token, all, more} {
		line := rowOf(c, token)
		line.to = "the token alone"
		if c == all || c == more {
			line.bounds = []bound{atMost(c.sample.p50(), boundJudged)}
		}
		rows = append(rows, line)
	}
	r.table(fmt.Sprintf("Verifying a bundle of %d turns, %d bytes", nodes, len(j.files.Bundle)), rows)
	return nil
}

// appendedAtOnce is the records of one transaction.
const appendedAtOnce = 16

// appending compares writing records into an empty ledger and into a long one.
func appending(ctx context.Context, r *report, y *yard, leaves, rounds int) error {
	var all []*candidate
	var rows []row
	for _, kind := range y.kinds() {
		var empty *candidate
		for _, size := range []int{0, leaves} {
			y.made++
			s, err := y.storeOf(ctx, kind)
			if err != nil {
				return err
			}
			y.issuers = append(y.issuers, &issuer{kind: kind, close: s.Close})
			began := time.Now()
			if err := fill(ctx, s, size); err != nil {
				return err
			}
			if size > 0 {
				rows = append(rows, row{name: kind + ", issuing as many", rate: float64(size) / time.Since(began).Seconds(), unit: "records"})
			}
			c := &candidate{name: fmt.Sprintf("%s, %d records into %d leaves", kind, appendedAtOnce, size), burst: 4}
			c.run = func(ctx context.Context, i int) error {
				_, err := issued.Base{History: s}.Put(ctx, dag.DefaultTenant, recordsOf(i))
				return err
			}
			all = append(all, c)
			if empty == nil {
				empty = c
			}
		}
	}
	err := inTurn(ctx, rounds, all)
	for _, i := range y.issuers {
		err = errors.Join(err, i.close())
	}
	y.issuers = nil
	if err != nil {
		return err
	}
	for i, c := range all {
		line := rowOf(c, all[i&^1])
		line.to = "an empty one"
		if i%2 == 1 {
			line.bounds = []bound{{"≤ 1.1", line.ratio <= 1.1}}
		}
		rows = append(rows, line)
	}
	r.table(fmt.Sprintf("Appending to a ledger of %d leaves", leaves), rows)
	return nil
}

// fill issues so many records.
func fill(ctx context.Context, s store.Store, n int) error {
	const atOnce = 250
	for from := 0; from < n; from += atOnce {
		records := make([]issued.Record, 0, atOnce)
		for i := from; i < min(from+atOnce, n); i++ {
			records = append(records, *recordOf("fill", i))
		}
		if _, err := (issued.Base{History: s}).Put(ctx, dag.DefaultTenant, records); err != nil {
			return err
		}
	}
	return nil
}

func recordsOf(i int) []issued.Record {
	list := make([]issued.Record, appendedAtOnce)
	for n := range list {
		list[n] = *recordOf("append", i*appendedAtOnce+n)
	}
	return list
}

// recordOf makes up a record that is like no other.
func recordOf(kind string, i int) *issued.Record {
	digest := dag.Digest(sha256.Sum256(binary.BigEndian.AppendUint64([]byte(kind), uint64(i))))
	p := policy.DefaultV1()
	return &issued.Record{
		Provenance: slice.Provenance{
			SliceID: slice.SliceID(digest.String()[:16]), Anchor: dag.ExternalTurnID("bench", kind), PolicyID: policy.DefaultV1ID,
			PolicyParamsHash: p.Hash(), GraphSnapshotHash: digest, SchemaVersion: slice.SchemaVersion,
		},
		AsOf: dag.Seq(i + 1), KeyID: "bench", Token: digest.String()[:32], Bundle: digest, At: dag.Time(i),
	}
}
