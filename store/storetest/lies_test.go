package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// A liar is a store that says of another what is not so. Only one of its methods lies.
type liar struct {
	store.Store
	mu    sync.Mutex
	calls int

	append    func(l *liar, ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error)
	adopt     func(l *liar, ctx context.Context, tenant dag.Tenant, s store.Stretch) error
	tenants   func([]dag.Tenant) []dag.Tenant
	head      func(l *liar, head dag.Seq) dag.Seq
	turns     func(l *liar, records []store.Record) []store.Record
	placed    func(records []store.Record) []store.Record
	segment   func(*store.Segment)
	scan      func(r *store.Record) bool
	match     func(ids []dag.TurnID) []dag.TurnID
	external  func(ids []dag.TurnID) []dag.TurnID
	listed    func([]store.Conversation)
	write     func(l *liar, ctx context.Context, tenant dag.Tenant, c history.Change) error
	entries   func(p history.Page, list []history.Entry) []history.Entry
	terms     func(ranges []history.Range, lists [][]history.Term)
	log       func(l *liar, tree ledger.Tree) ledger.Tree
	logHashes func([]ledger.Hash) []ledger.Hash
	swap      func(l *liar, ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error
	cells     func([]history.Cell) []history.Cell
	snapshots func([]history.Snapshot) []history.Snapshot
	close     func(l *liar) error
}

func (l *liar) call() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	return l.calls
}

func (l *liar) Append(ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error) {
	if l.append != nil {
		return l.append(l, ctx, tenant, b)
	}
	return l.Store.Append(ctx, tenant, b)
}

func (l *liar) Adopt(ctx context.Context, tenant dag.Tenant, s store.Stretch) error {
	if l.adopt != nil {
		return l.adopt(l, ctx, tenant, s)
	}
	return l.Store.Adopt(ctx, tenant, s)
}

func (l *liar) Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error) {
	list, err := l.Store.Tenants(ctx, after, limit)
	if l.tenants != nil {
		list = l.tenants(list)
	}
	return list, err
}

func (l *liar) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	head, err := l.Store.Head(ctx, tenant)
	if l.head != nil && err == nil {
		head = l.head(l, head)
	}
	return head, err
}

func (l *liar) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	list, err := l.Store.Turns(ctx, tenant, of)
	switch _, places := of.(store.Places); {
	case places && l.placed != nil:
		list = l.placed(list)
	case !places && l.turns != nil:
		list = l.turns(l, list)
	}
	return list, err
}

func (l *liar) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	s, err := l.Store.Segment(ctx, tenant, parts)
	if l.segment != nil {
		l.segment(&s)
	}
	return s, err
}

func (l *liar) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, c *dag.ConversationID, fn func(*store.Record) error) error {
	return l.Store.Scan(ctx, tenant, after, c, func(r *store.Record) error {
		if l.scan != nil && !l.scan(r) {
			return nil
		}
		return fn(r)
	})
}

func (l *liar) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) ([]dag.TurnID, error) {
	list, err := l.Store.Find(ctx, tenant, name, limit)
	switch _, prefix := name.(store.Prefix); {
	case prefix && l.match != nil:
		list = l.match(list)
	case !prefix && l.external != nil:
		list = l.external(list)
	}
	return list, err
}

func (l *liar) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]store.Conversation, error) {
	list, err := l.Store.Conversations(ctx, tenant, after, limit)
	if l.listed != nil {
		l.listed(list)
	}
	return list, err
}

func (l *liar) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if l.write != nil {
		return l.write(l, ctx, tenant, c)
	}
	return l.Store.Write(ctx, tenant, c)
}

func (l *liar) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := l.Store.Entries(ctx, tenant, p)
	if l.entries != nil {
		list = l.entries(p, list)
	}
	return list, err
}

func (l *liar) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := l.Store.Terms(ctx, tenant, ranges)
	if l.terms != nil && err == nil {
		l.terms(ranges, lists)
	}
	return lists, err
}

func (l *liar) Log(ctx context.Context, tenant dag.Tenant) (ledger.Tree, error) {
	tree, err := l.Store.Log(ctx, tenant)
	if l.log != nil && err == nil {
		tree = l.log(l, tree)
	}
	return tree, err
}

func (l *liar) LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error) {
	list, err := l.Store.LogHashes(ctx, tenant, level, from, n)
	if l.logHashes != nil {
		list = l.logHashes(list)
	}
	return list, err
}

func (l *liar) Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error {
	if l.swap != nil {
		return l.swap(l, ctx, tenant, name, old, next)
	}
	return l.Store.Swap(ctx, tenant, name, old, next)
}

func (l *liar) Cells(ctx context.Context, tenant dag.Tenant, prefix string) ([]history.Cell, error) {
	list, err := l.Store.Cells(ctx, tenant, prefix)
	if l.cells != nil {
		list = l.cells(list)
	}
	return list, err
}

func (l *liar) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error) {
	list, err := l.Store.Snapshots(ctx, tenant, p)
	if l.snapshots != nil {
		list = l.snapshots(list)
	}
	return list, err
}

func (l *liar) Close() error {
	if l.close != nil {
		return l.close(l)
	}
	return l.Store.Close()
}

func reversed[T any](list []T) []T { slices.Reverse(list); return list }

func less[T any](list []T) []T { return list[:max(len(list)-1, 0)] }

// lies are what the suite must notice. Each makes a store of its own for each time that one is
// opened.
var lies = map[string]func() *liar{
	"admits what was overtaken": func() *liar {
		return &liar{append: func(l *liar, ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error) {
			for _, batch := range b {
				for i := range batch {
					batch[i].Unless = nil
				}
			}
			return l.Store.Append(ctx, tenant, b)
		}}
	},
	"loses a write": func() *liar {
		return &liar{append: func(l *liar, ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error) {
			head, err := l.Store.Head(ctx, tenant)
			if n := l.call(); err != nil || n%3 > 0 || len(b) == 0 {
				return l.Store.Append(ctx, tenant, b)
			}
			return store.Receipt{Admitted: len(b[0]), Head: head + dag.Seq(len(b[0]))}, nil
		}}
	},
	"writes half of it": func() *liar {
		return &liar{append: func(l *liar, ctx context.Context, tenant dag.Tenant, b []store.Batch) (r store.Receipt, err error) {
			for i := range b { // one transaction for each batch
				one, err := l.Store.Append(ctx, tenant, b[i:i+1])
				if err != nil {
					return store.Receipt{}, err
				}
				r.Admitted, r.Existing, r.Edges, r.Head = r.Admitted+one.Admitted, r.Existing+one.Existing, r.Edges+one.Edges, one.Head
			}
			if len(b) == 0 {
				return l.Store.Append(ctx, tenant, b)
			}
			return r, nil
		}}
	},
	"writes though it is cancelled": func() *liar {
		return &liar{append: func(l *liar, ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error) {
			return l.Store.Append(context.WithoutCancel(ctx), tenant, b)
		}}
	},
	"miscounts": func() *liar {
		return &liar{append: func(l *liar, ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error) {
			r, err := l.Store.Append(ctx, tenant, b)
			r.Edges = max(r.Edges, 1)
			return r, err
		}}
	},
	"takes over what leaves a gap": func() *liar {
		return &liar{adopt: func(l *liar, ctx context.Context, tenant dag.Tenant, s store.Stretch) error {
			if err := l.Store.Adopt(ctx, tenant, s); !errors.Is(err, store.ErrGap) {
				return err
			}
			return nil
		}}
	},
	"takes over without entries": func() *liar {
		return &liar{adopt: func(l *liar, ctx context.Context, tenant dag.Tenant, s store.Stretch) error {
			if s.Change != nil && len(s.Records) == 0 {
				return nil
			}
			return l.Store.Adopt(ctx, tenant, s)
		}}
	},
	"tenants in disorder":   func() *liar { return &liar{tenants: reversed[dag.Tenant]} },
	"a head too many":       func() *liar { return &liar{head: func(_ *liar, h dag.Seq) dag.Seq { return h + 1 }} },
	"a head of before":      func() *liar { return &liar{head: func(_ *liar, h dag.Seq) dag.Seq { return max(h, 1) - 1 }} },
	"one turn less":         func() *liar { return &liar{turns: func(_ *liar, r []store.Record) []store.Record { return less(r) }} },
	"turns in other places": func() *liar { return &liar{placed: less[store.Record]} },
	"a turn of another phase": func() *liar {
		return &liar{turns: func(_ *liar, r []store.Record) []store.Record {
			for i := range r {
				r[i].Turn.Phase ^= 1
			}
			return r
		}}
	},
	"hands out shared memory": func() *liar {
		bodies := map[dag.Digest][]byte{}
		return &liar{turns: func(l *liar, r []store.Record) []store.Record {
			l.mu.Lock()
			defer l.mu.Unlock()
			for i := range r {
				if r[i].Body == nil {
					continue
				}
				if shared, ok := bodies[r[i].Turn.BodyDigest]; ok {
					r[i].Body = shared
				}
				bodies[r[i].Turn.BodyDigest] = r[i].Body
			}
			return r
		}}
	},
	"forgets the key": func() *liar {
		return &liar{scan: func(r *store.Record) bool { r.Key = ""; return true }}
	},
	"a segment without links": func() *liar { return &liar{segment: func(s *store.Segment) { s.Links = nil }} },
	"a segment in disorder":   func() *liar { return &liar{segment: func(s *store.Segment) { slices.Reverse(s.Turns) }} },
	"a segment of before":     func() *liar { return &liar{segment: func(s *store.Segment) { s.Head = max(s.Head, 1) - 1 }} },
	"a scan that skips":       func() *liar { return &liar{scan: func(r *store.Record) bool { return r.Seq%5 != 4 }} },
	"matches one less":        func() *liar { return &liar{match: less[dag.TurnID]} },
	"names one less":          func() *liar { return &liar{external: less[dag.TurnID]} },
	"conversations, too long": func() *liar {
		return &liar{listed: func(list []store.Conversation) {
			for i := range list {
				list[i].Turns++
			}
		}}
	},
	"erases nothing": func() *liar {
		return &liar{write: func(l *liar, ctx context.Context, tenant dag.Tenant, c history.Change) error {
			return l.Store.Write(ctx, tenant, sparing{c})
		}}
	},
	"loses a change": func() *liar {
		return &liar{write: func(l *liar, ctx context.Context, tenant dag.Tenant, c history.Change) error {
			if l.call()%3 == 0 {
				known := &history.State{}
				_, err := c.Plan(known)
				return err
			}
			return l.Store.Write(ctx, tenant, c)
		}}
	},
	"plans without knowing": func() *liar {
		return &liar{write: func(l *liar, ctx context.Context, tenant dag.Tenant, c history.Change) error {
			return l.Store.Write(ctx, tenant, ignorant{c})
		}}
	},
	"entries in disorder": func() *liar {
		return &liar{entries: func(_ history.Page, list []history.Entry) []history.Entry { return reversed(list) }}
	},
	"an entry too many": func() *liar {
		return &liar{entries: func(p history.Page, list []history.Entry) []history.Entry {
			if p.At != nil && len(list) > 0 {
				list = append(list, list[len(list)-1])
			}
			return list
		}}
	},
	"another entry": func() *liar {
		return &liar{entries: func(_ history.Page, list []history.Entry) []history.Entry {
			for i := range list {
				list[i].At++
			}
			return list
		}}
	},
	"terms in disorder": func() *liar {
		return &liar{terms: func(_ []history.Range, lists [][]history.Term) {
			for i := range lists {
				slices.Reverse(lists[i])
			}
		}}
	},
	"a term less": func() *liar {
		return &liar{terms: func(_ []history.Range, lists [][]history.Term) {
			for i := range lists {
				lists[i] = less(lists[i])
			}
		}}
	},
	"terms that never end": func() *liar {
		return &liar{terms: func(_ []history.Range, lists [][]history.Term) {
			for i := range lists {
				for k := range lists[i] {
					lists[i][k].Until = history.Forever
				}
			}
		}}
	},
	"terms of other values": func() *liar {
		return &liar{terms: func(_ []history.Range, lists [][]history.Term) {
			for i := range lists {
				for k := range lists[i] {
					if v := bytes.Clone(lists[i][k].Value); len(v) > 0 {
						v[len(v)-1] ^= 1
						lists[i][k].Value = v
					}
				}
			}
		}}
	},
	"a record less": func() *liar {
		return &liar{entries: func(p history.Page, list []history.Entry) []history.Entry {
			if p.Stream == history.Record {
				return less(list)
			}
			return list
		}}
	},
	"another detail": func() *liar {
		return &liar{entries: func(_ history.Page, list []history.Entry) []history.Entry {
			for i := range list {
				if d := bytes.Clone(list[i].Detail); len(d) > 0 {
					d[0] ^= 1
					list[i].Detail = d
				}
			}
			return list
		}}
	},
	"the first terms for the last": func() *liar {
		return &liar{terms: func(ranges []history.Range, lists [][]history.Term) {
			for i := range lists {
				if ranges[i].Last {
					slices.Reverse(lists[i])
				}
			}
		}}
	},
	"another size of the record": func() *liar {
		return &liar{write: func(l *liar, ctx context.Context, tenant dag.Tenant, c history.Change) error {
			return l.Store.Write(ctx, tenant, sized{c})
		}}
	},
	"no private halves": func() *liar {
		return &liar{entries: func(_ history.Page, list []history.Entry) []history.Entry {
			for i := range list {
				list[i].Private = nil
			}
			return list
		}}
	},
	"an empty log": func() *liar { return &liar{log: func(*liar, ledger.Tree) ledger.Tree { return ledger.Tree{} }} },
	"other hashes": func() *liar {
		return &liar{logHashes: func(list []ledger.Hash) []ledger.Hash {
			for i := range list {
				list[i][5] ^= 1
			}
			return list
		}}
	},
	"turns that change does not know": func() *liar {
		return &liar{write: func(l *liar, ctx context.Context, tenant dag.Tenant, c history.Change) error {
			return l.Store.Write(ctx, tenant, forgetful{c})
		}}
	},
	"leaves in disorder": func() *liar {
		return &liar{entries: func(p history.Page, list []history.Entry) []history.Entry {
			if p.Stream == history.Record && p.At == nil {
				return reversed(list)
			}
			return list
		}}
	},
	"cells in disorder":       func() *liar { return &liar{cells: reversed[history.Cell]} },
	"snapshots in disorder":   func() *liar { return &liar{snapshots: reversed[history.Snapshot]} },
	"a snapshot less":         func() *liar { return &liar{snapshots: less[history.Snapshot]} },
	"a cell less":             func() *liar { return &liar{cells: less[history.Cell]} },
	"open after it is closed": func() *liar { return &liar{close: func(*liar) error { return nil }} },
	"a cell that is replaced whatever it is": func() *liar {
		return &liar{swap: func(l *liar, ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error {
			now, err := storetest.CellOf(ctx, l.Store, tenant, name)
			if err != nil {
				return err
			}
			return l.Store.Swap(ctx, tenant, name, now, next)
		}}
	},
}

// A sparing change takes no bodies away.
type sparing struct{ history.Change }

func (s sparing) Plan(k *history.State) (*history.Plan, error) {
	p, err := s.Change.Plan(k)
	if err == nil {
		own := *p
		own.Bodies, p = nil, &own
	}
	return p, err
}

// A forgetful change knows no turns.
type forgetful struct{ history.Change }

func (f forgetful) Plan(k *history.State) (*history.Plan, error) {
	own := *k
	own.Turns = nil
	return f.Change.Plan(&own)
}

// A sized change is told that the record has one entry more.
type sized struct{ history.Change }

func (s sized) Plan(k *history.State) (*history.Plan, error) {
	more := *k
	if more.Size++; k.Size == 0 {
		return s.Change.Plan(k)
	}
	return s.Change.Plan(&more)
}

// An ignorant change needs to know nothing.
type ignorant struct{ history.Change }

func (ignorant) Needs(*history.State) history.Needs { return history.Needs{} }

// lieVariable names the lie that TestLie tells.
const lieVariable = "GKTEST_LIE"

// TestLie runs the suite on a store that lies as the variable says. It is run by TestLies.
func TestLie(t *testing.T) {
	name := os.Getenv(lieVariable)
	if name == "" {
		t.Skip("TestLies runs it")
	}
	fresh := func(*testing.T) storetest.Harness {
		disk, opened := new(inmem.Disk), uint64(0)
		return storetest.Harness{Open: func(step func(string) error) (store.Store, error) {
			opened++
			s := inmem.Open(disk, inmem.Options{Seed: opened, Step: step})
			if name == "none" {
				return &liar{Store: s}, nil
			}
			l := lies[name]()
			l.Store = s
			return l, nil
		}}
	}
	storetest.Run(t, fresh)
	storetest.RunLarge(t, fresh)
}

// TestLies runs the suite, in a process of its own, on a store that tells the truth through the
// same wrapper, which passes, and then on each that lies, which must fail.
func TestLies(t *testing.T) {
	if race.Enabled {
		t.Skip("its processes are not watched")
	}
	run := func(lie string) (string, error) {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLie$", "-test.failfast", "-test.short", "-test.timeout=2m")
		c.Env = append(os.Environ(), lieVariable+"="+lie)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run("none"); err != nil {
		t.Fatalf("the truth: %v\n%s", err, out)
	}
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for _, lie := range slices.Sorted(maps.Keys(lies)) {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			out, err := run(lie)
			var exit *exec.ExitError
			switch {
			case err == nil:
				t.Errorf("a store that lies passes the suite: %s", lie)
			case !errors.As(err, &exit) || !strings.Contains(out, "--- FAIL: TestLie/") || strings.Contains(out, "panic: test timed out"):
				t.Errorf("%s: %v\n%s", lie, err, out)
			default:
				t.Log(lie, "is noticed by", firstFailure(out))
			}
		})
	}
	all.Wait()
	if len(lies) < 40 {
		t.Errorf("only %d lies", len(lies))
	}
}

func firstFailure(out string) string {
	_, rest, _ := strings.Cut(out, "--- FAIL: TestLie/")
	name, _, _ := strings.Cut(rest, " ")
	return fmt.Sprintf("%q", name)
}
