package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/graphkernel/graphkernel/bench/plain"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// An unlogged store writes down what is issued in one plain table and keeps no ledger: what issuing
// costs without, and the reading of a leaf for each record.
type unlogged struct {
	store.Store
	records plain.Records
}

func (u unlogged) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	nothing := func(n *history.Needs, k *history.State) error {
		k.Ranges = append(k.Ranges, make([][]history.Term, len(n.Ranges))...)
		return nil
	}
	known, err := history.Know(c, tenant, 0, nothing)
	if err != nil {
		return err
	}
	p, err := c.Plan(known)
	if err != nil {
		return err
	}
	records := make([]plain.Record, len(p.Records))
	for i := range records {
		if p.Records[i].Kind != issued.Kind {
			return u.Store.Write(ctx, tenant, c)
		}
		at, _, err := issued.Read(&p.Records[i])
		if err != nil {
			return err
		}
		of := &at.Provenance
		records[i] = plain.Record{
			Bundle: at.Bundle[:], Anchor: of.Anchor[:], PolicyHash: of.PolicyParamsHash[:], Snapshot: of.GraphSnapshotHash[:],
			Slice: string(of.SliceID), Policy: string(of.PolicyID), KeyID: at.KeyID, Token: at.Token, AsOf: int64(at.AsOf), At: int64(at.At),
		}
	}
	return u.records.Put(ctx, records)
}

// An issuer is a store of its own, in which every slice is issued for the first time.
type issuer struct {
	kind   string
	kernel *kernel.Kernel
	close  func() error
}

// issueBound is how many times as long issuing may take with a ledger and a signature.
const issueBound = 1.5

// issueTurns is the size of the graph that slices are issued from.
const issueTurns = 20_000

// issues compares issuing with and without a ledger, by many clients at once. Each way has
// a store of its own with the same turns; each slice is of an anchor that was not asked
// for before.
func issues(ctx context.Context, r *report, y *yard, turns, length, nodes, clients int, each time.Duration) (err error) {
	g, err := conversations(min(turns, issueTurns), length, nodes)
	if err != nil {
		return err
	}
	var ways []*crowd
	defer func() {
		for _, w := range y.issuers {
			err = errors.Join(err, w.close())
		}
		y.issuers = nil
	}()
	for _, way := range []struct {
		name                  string
		logged, signed, proof bool
	}{
		{"no ledger, token", false, false, false}, {"ledger, token", true, false, false}, {"ledger, token, signature", true, true, false},
		{"ledger, token, signature, proof", true, true, true},
	} {
		for _, kind := range y.kinds() {
			i, err := y.issuer(ctx, kind, way.logged, g)
			if err != nil {
				return err
			}
			ways = append(ways, &crowd{clients: clients, candidate: &candidate{name: kind + ", " + way.name, run: func(ctx context.Context, n int) error {
				if n >= len(g.fresh) {
					return fmt.Errorf("only %d anchors were not seen before", len(g.fresh))
				}
				issued, err := i.kernel.Slices().Cut(ctx, g.tenant, kernel.Request{Anchor: g.fresh[n], Policy: g.policy.ID()})
				if err == nil && way.proof {
					_, err = i.kernel.Ledger().Attest(ctx, g.tenant, issued.Bundle)
				} else if err == nil && way.signed {
					_, err = i.kernel.Ledger().Sign(ctx, g.tenant, issued, issued.Record)
				}
				return err
			}}})
		}
	}
	if len(g.fresh) == 0 {
		return errors.New("no anchors")
	}
	const rounds = 4
	offset := 0
	for range rounds {
		for _, w := range ways {
			if err := w.from(ctx, offset, each/rounds, len(g.fresh)/rounds); err != nil {
				return err
			}
		}
		offset += len(g.fresh) / rounds
	}
	kinds := len(y.kinds())
	var rows []row
	for i, w := range ways {
		without := ways[i%kinds]
		rate := func(c *crowd) float64 { return float64(len(c.sample)) / c.ran.Seconds() }
		line := row{name: w.name, p50: w.sample.p50(), p99: w.sample.p99(), rate: rate(w), unit: "slices", ratio: rate(without) / rate(w), to: "no ledger"}
		if i >= kinds && i < len(ways)-kinds { // a proof is made when somebody asks for it
			line.bounds = []bound{{fmt.Sprintf("≤ %.1f", issueBound), line.ratio <= issueBound}}
		}
		rows = append(rows, line)
	}
	r.table(fmt.Sprintf("Issuing slices of %d turns, %d clients", nodes, clients), rows)
	return nil
}

func (y *yard) kinds() []string {
	if y.server == nil {
		return []string{inSQLite}
	}
	return []string{inSQLite, inPostgres}
}

// issuer makes a store with the graph in it.
func (y *yard) issuer(ctx context.Context, kind string, logged bool, g *graph) (*issuer, error) {
	y.made++
	s, err := y.storeOf(ctx, kind)
	if err != nil {
		return nil, err
	}
	i := &issuer{kind: kind, close: s.Close}
	y.issuers = append(y.issuers, i)
	if err := g.draw(func(some []dag.Draft) error { return admit(ctx, s, g.tenant, some) }); err != nil {
		return nil, err
	}
	backing := s
	if !logged {
		records, err := y.records(ctx, kind)
		if err != nil {
			return nil, err
		}
		i.close = func() error { return errors.Join(s.Close(), records.Close()) }
		backing = unlogged{s, records}
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	id, err := identity.New(nil, "bench.invalid", 0)
	if err != nil {
		return nil, err
	}
	i.kernel, err = kernel.Open(kernel.Config{Store: backing, Authority: authority, Clock: time.Now, Identity: id})
	if err != nil {
		return nil, err
	}
	if err := i.kernel.Policies().Register(ctx, g.tenant, g.policy); err != nil {
		return nil, err
	}
	for _, primer := range g.primers {
		if _, err := i.kernel.Slices().Preview(ctx, g.tenant, kernel.Request{Anchor: primer, Policy: g.policy.ID()}); err != nil {
			return nil, err
		}
	}
	return i, nil
}

func (y *yard) records(ctx context.Context, kind string) (plain.Records, error) {
	if kind == inSQLite {
		return plain.SQLiteRecords(ctx, filepath.Join(y.folder, fmt.Sprintf("records%d.db", y.made)))
	}
	name := fmt.Sprintf("records%d", y.made)
	if err := y.server.CreateDatabase(ctx, name, ""); err != nil {
		return nil, err
	}
	return plain.PostgresRecords(ctx, y.server.SocketURL(name))
}
