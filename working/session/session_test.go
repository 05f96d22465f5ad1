package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/working"
	"github.com/graphkernel/graphkernel/working/session"
)

const tenant = kerneltest.Tenant

var stores, standing = kerneltest.Stores, kerneltest.Standing

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A bench is kernels over one store, with a clock that is driven by hand.
type bench struct {
	s   store.Store
	now time.Time
	mu  sync.Mutex // guards now
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) kernel(t testing.TB, seed byte, change ...func(*kernel.Config)) *kernel.Kernel {
	t.Helper()
	c := kernel.Config{Store: b.s, Authority: token.NewAuthority(kerneltest.Ring(t, "k1")), Rand: kerneltest.Noise(seed), Clock: b.clock}
	for _, f := range change {
		f(&c)
	}
	return must(kernel.Open(c))
}

// eachKeeper runs a test with working memory in each store, and in the process.
func eachKeeper(t *testing.T, fn func(t *testing.T, b *bench, k *kernel.Kernel)) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			b := &bench{s: open(t), now: standing()}
			fn(t, b, b.kernel(t, 1))
		})
	}
	t.Run("process", func(t *testing.T) {
		b := &bench{s: stores["memory"](t), now: standing()}
		fn(t, b, b.kernel(t, 1, func(c *kernel.Config) { c.WorkingInProcess = working.NewMemory(1 << 20) }))
	})
}

func by(ctx context.Context, role access.Role, id string) context.Context {
	return access.As(ctx, access.Identity{Tenant: tenant, Role: role, Subject: id})
}

const agentOne, agentTwo = "00000000000000a1", "00000000000000a2"

func saying(text string) api.NewMessage {
	return api.NewMessage{Role: dag.RoleUser, Author: "human:ada", Content: text}
}

func contents(held api.WorkingMessages) (all []string) {
	for _, m := range held.Messages {
		all = append(all, m.Content)
	}
	return all
}

// TestWorking goes through the life of a session: nothing of it is in the history, in an export, in a search or in a copy until it is
// consolidated, and then all of it is, once.
func TestWorking(t *testing.T) {
	eachKeeper(t, func(t *testing.T, b *bench, k *kernel.Kernel) {
		ctx := by(t.Context(), access.Agent, agentOne)
		n := working.Name{Owner: agentOne, Session: "run"}
		var texts []string
		for i := range 60 {
			put := must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying(fmt.Sprint("xylophone ", i))}}))
			texts = append(texts, fmt.Sprint("xylophone ", i))
			b.wait(time.Second)
			if want := max(0, min(1, i-49)); put.Dropped != want || put.Expired != 0 || put.Held != min(50, i+1) || put.Messages[0].Existing {
				t.Fatalf("%d: %+v", i, put)
			}
		}
		held := must(k.Working().Get(ctx, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session}))
		if !slices.Equal(contents(held), texts[10:]) {
			t.Errorf("held %q", contents(held))
		}
		nowhere := func() {
			t.Helper()
			var out bytes.Buffer
			must(k.Turns().Export(ctx, tenant, nil, &out))
			found := must(k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: "xylophone", Limit: 10}}))
			log := must(b.s.Log(ctx, tenant))
			if head := must(k.Turns().Head(ctx, tenant)); head != 0 || out.Len() > 0 || len(found.Hits) > 0 || log.Size() > 0 {
				t.Errorf("head %d, %d bytes exported, %d hits, %d leaves", head, out.Len(), len(found.Hits), log.Size())
			}
			copied := inmem.Open(&inmem.Disk{}, inmem.Options{})
			must(transfer.Copy(ctx, copied, b.s, transfer.Options{}))
			if list := must(copied.Snapshots(ctx, tenant, history.SnapshotPage{Limit: 9})); len(list) > 0 {
				t.Errorf("a copy has %v", list)
			}
		}
		nowhere()
		b.wait(time.Hour - 50*time.Second) // at this instant the first that is held expires
		if list := must(k.Working().Get(ctx, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session})); !slices.Equal(contents(list), texts[11:]) {
			t.Errorf("held %q", contents(list))
		}
		ids := []dag.TurnID{held.Messages[2].ID, held.Messages[5].ID}
		c := must(k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run", Messages: ids}))
		if !slices.Equal(c.Turns, ids) || c.Admitted != 2 || c.Held != 47 || c.Conversation != n.Conversation() {
			t.Errorf("%+v", c)
		}
		again := must(k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run", Messages: ids}))
		if !slices.Equal(again.Turns, ids) || again.Admitted != 0 || again.Existing != 2 || again.Held != 47 {
			t.Errorf("again: %+v", again)
		}
		rest := must(k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run"}))
		if rest.Admitted != 47 || rest.Held != 0 {
			t.Errorf("%+v", rest)
		}
		records := must(b.s.Turns(ctx, tenant, store.IDs(append(ids, rest.Turns...))))
		slices.SortFunc(records, func(a, b store.Record) int { return int(a.Seq) - int(b.Seq) })
		if len(records) != 49 || records[0].Turn.CreatedAt != held.Messages[2].At || records[0].Key != agentOne {
			t.Fatalf("%d turns, %+v", len(records), records[0])
		}
		for i := range records {
			if i > 0 && (len(records[i].Parents) != 1 || records[i].Parents[0].ID != records[i-1].Turn.ID) {
				t.Errorf("turn %d has the parents %+v", i, records[i].Parents)
			}
		}
		if found := must(k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: "xylophone", Limit: 100}})); len(found.Hits) != 49 {
			t.Errorf("%d hits", len(found.Hits))
		}
		if _, err := k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run", Messages: []dag.TurnID{held.Messages[0].ID}}); !errors.Is(err, session.ErrNoMessage) {
			t.Errorf("what expired: %v", err)
		}
		if report := must(fsck.Store(ctx, b.s, fsck.Options{})); !report.OK() {
			t.Errorf("%+v", report)
		}
	})
}

// TestWorkingKeys holds that a key is one message, before it is a turn and afterwards.
func TestWorkingKeys(t *testing.T) {
	eachKeeper(t, func(t *testing.T, b *bench, k *kernel.Kernel) {
		ctx := by(t.Context(), access.Agent, agentOne)
		keyed := saying("once")
		keyed.Key = "k"
		first := must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{keyed, saying("between")}}))
		b.wait(time.Second)
		second := must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{keyed}}))
		if m := second.Messages[0]; !m.Existing || m.ID != first.Messages[0].ID || m.ExpiresAt != first.Messages[0].ExpiresAt || second.Held != 2 {
			t.Errorf("%+v", second)
		}
		other := keyed
		other.Content = "twice"
		differs := func() {
			t.Helper()
			if _, err := k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("x"), other}}); !errors.Is(err, working.ErrDiffers) || !strings.Contains(err.Error(), "messages[1]") {
				t.Errorf("%v", err)
			}
		}
		differs()
		must(k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run"}))
		differs()
		third := must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("new"), keyed}}))
		if !third.Messages[1].Turn || third.Messages[1].ID != first.Messages[0].ID || third.Messages[0].Turn || third.Held != 1 {
			t.Errorf("%+v", third)
		}
		must(k.Turns().Erase(by(t.Context(), access.Admin, agentTwo), tenant, first.Messages[0].ID, "asked for"))
		if put := must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{keyed}})); !put.Messages[0].Turn || put.Held != 1 {
			t.Errorf("what was erased is back: %+v", put)
		}
	})
}

// TestWorkingModel keeps a message of a model's and one of the key's, and consolidates both by the key: the first came in by a tool all the same.
func TestWorkingModel(t *testing.T) {
	eachKeeper(t, func(t *testing.T, b *bench, k *kernel.Kernel) {
		who := access.Identity{Tenant: tenant, Role: access.Agent, Subject: agentOne, Admits: access.Scope{SpeaksFor: "human:ada=owner"}}
		key := access.As(t.Context(), who)
		who.Model = true
		for i, ctx := range []context.Context{access.As(t.Context(), who), key} {
			must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying(fmt.Sprint("message ", i))}}))
			b.wait(time.Second)
		}
		made := must(k.Working().Consolidate(key, tenant, api.Consolidating{Session: "run"}))
		records := must(b.s.Turns(key, tenant, store.IDs(made.Turns)))
		slices.SortFunc(records, func(a, b store.Record) int { return int(a.Seq) - int(b.Seq) })
		if len(records) != 2 {
			t.Fatalf("%d turns", len(records))
		}
		for i, want := range []dag.Channel{dag.ChannelAgent, dag.ChannelAPI} {
			if got := records[i].Marks.Origin.Channel; got != want {
				t.Errorf("turn %d came in by %q, want %q", i, got, want)
			}
		}
	})
}

// TestWorkingRefuses holds that what is refused leaves the session as it was.
func TestWorkingRefuses(t *testing.T) {
	b := &bench{s: stores["memory"](t), now: standing()}
	k := b.kernel(t, 1, func(c *kernel.Config) {
		c.Working = working.Limits{Messages: 3, Bytes: 1000, Sessions: 2}
		c.Screen = func(_ context.Context, _ dag.Tenant, drafts []dag.Draft) error {
			for i := range drafts {
				if strings.Contains(drafts[i].Content, "hunter2") {
					return fmt.Errorf("turns[%d]: %w", i, ingest.ErrSecret)
				}
			}
			return nil
		}
	})
	one, two := by(t.Context(), access.Agent, agentOne), by(t.Context(), access.Agent, agentTwo)
	auditor, admin := by(t.Context(), access.Auditor, "00000000000000a3"), by(t.Context(), access.Admin, "00000000000000a4")
	n := working.Name{Owner: agentOne, Session: "run"}
	must(k.Working().Put(one, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("kept")}}))
	scoped := access.As(t.Context(), access.Identity{Tenant: tenant, Role: access.Agent, Subject: agentOne, Admits: access.Scope{Authors: "model:*"}})
	system := saying("x")
	system.Role = dag.RoleSystem
	long := saying("x")
	long.Key = strings.Repeat("k", session.MaxMessageKey+1)
	bad := saying("x\xff")
	for name, c := range map[string]struct {
		ctx     context.Context
		session string
		list    []api.NewMessage
		want    error
	}{
		"a secret":     {one, "run", []api.NewMessage{saying("y"), saying("hunter2")}, ingest.ErrSecret},
		"an author":    {scoped, "run", []api.NewMessage{saying("y")}, access.ErrMayNot},
		"a role":       {one, "run", []api.NewMessage{saying("y"), system}, access.ErrMayNot},
		"a long key":   {one, "run", []api.NewMessage{long}, dag.ErrForm},
		"no UTF-8":     {one, "run", []api.NewMessage{saying("y"), bad}, dag.ErrForm},
		"a session":    {one, "r n", []api.NewMessage{saying("y")}, dag.ErrForm},
		"too long":     {one, "run", []api.NewMessage{saying(strings.Repeat("y", 1000))}, working.ErrTooLarge},
		"too many":     {one, "run", []api.NewMessage{saying("1"), saying("2"), saying("3"), saying("4")}, working.ErrTooLarge},
		"two of a key": {one, "run", []api.NewMessage{{Role: dag.RoleUser, Content: "1", Key: "k"}, {Role: dag.RoleUser, Content: "2", Key: "k"}}, working.ErrDiffers},
	} {
		if _, err := k.Working().Put(c.ctx, tenant, api.WorkingPut{Session: c.session, Messages: c.list}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if list := must(k.Working().Get(one, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session})); !slices.Equal(contents(list), []string{"kept"}) {
			t.Errorf("%s: held %q", name, contents(list))
		}
	}
	must(k.Working().Put(two, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("of two")}})) // another's session of the same name
	if _, err := k.Working().Put(two, tenant, api.WorkingPut{Session: "more", Messages: []api.NewMessage{saying("x")}}); !errors.Is(err, working.ErrFull) {
		t.Errorf("a third session: %v", err)
	}
	if _, err := k.Working().Get(two, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session}); !errors.Is(err, access.ErrMayNot) {
		t.Errorf("another agent reads: %v", err)
	}
	for _, ctx := range []context.Context{two, auditor} {
		if _, err := k.Working().Clear(ctx, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session}); !errors.Is(err, access.ErrMayNot) {
			t.Errorf("another clears: %v", err)
		}
	}
	if list := must(k.Working().Get(auditor, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session})); !slices.Equal(contents(list), []string{"kept"}) {
		t.Errorf("an auditor reads %q", contents(list))
	}
	if a, b := must(k.Working().List(two, tenant, struct{}{})), must(k.Working().List(auditor, tenant, struct{}{})); len(a.Sessions) != 1 || a.Sessions[0].Owner != agentTwo || len(b.Sessions) != 2 {
		t.Errorf("sessions %+v, %+v", a, b)
	}
	if c := must(k.Working().Consolidate(two, tenant, api.Consolidating{Session: "run"})); len(c.Turns) != 1 || must(k.Turns().Head(one, tenant)) != 1 {
		t.Errorf("%+v", c)
	}
	if cleared := must(k.Working().Clear(admin, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session})); cleared.Cleared != 1 {
		t.Errorf("%d cleared", cleared.Cleared)
	}
	if list := must(k.Working().Get(one, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session})); len(list.Messages) > 0 || must(k.Turns().Head(one, tenant)) != 1 {
		t.Errorf("held %q", contents(list))
	}
}

// TestWorkingTogether lets two processes put into one session, and consolidate it, at once: nothing is lost, and nothing is there twice.
func TestWorkingTogether(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			b := &bench{s: open(t), now: standing()}
			big := func(c *kernel.Config) { c.Working = working.Limits{Messages: 1000} }
			kernels := []*kernel.Kernel{b.kernel(t, 1, big), b.kernel(t, 2, big)}
			ctx := by(t.Context(), access.Agent, agentOne)
			const sides, each = 4, 12
			var all sync.WaitGroup
			for side := range sides {
				all.Go(func() {
					for i := range each {
						s := saying(fmt.Sprint(side, " ", i))
						if i%2 == 0 {
							s.Key = fmt.Sprint(i) // of all sides
							s.Content = s.Key
						}
						if _, err := kernels[side%2].Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{s}}); err != nil {
							t.Error(err)
						}
						if i%4 == 3 {
							if _, err := kernels[side%2].Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run"}); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			all.Wait()
			must(kernels[0].Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run"}))
			got := said(t, b.s)
			var want []string
			for i := range each {
				for side := range sides {
					if i%2 == 1 {
						want = append(want, fmt.Sprint(side, " ", i))
					} else if side == 0 {
						want = append(want, fmt.Sprint(i))
					}
				}
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("turns %q, want %q", got, want)
			}
			if list := must(kernels[1].Working().Get(ctx, tenant, api.WorkingQuery{Owner: agentOne, Session: "run"})); len(list.Messages) > 0 {
				t.Errorf("held %q", contents(list))
			}
		})
	}
}

// said lists what all turns say, sorted.
func said(t *testing.T, s store.Store) (list []string) {
	t.Helper()
	var out bytes.Buffer
	err := s.Scan(t.Context(), tenant, 0, nil, func(r *store.Record) error {
		line, err := kernel.AppendRecord(nil, r)
		out.Write(line)
		d := must(ingest.ReadLine(line))
		list = append(list, d.Content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// TestWorkingOvertaken lets another process consolidate all messages while one of them is about to be admitted without the one before it. That
// message is a turn then, with the parent that the other gave it, and both calls name it.
func TestWorkingOvertaken(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := &kerneltest.Racing{Store: open(t)}
			b := &bench{s: s, now: standing()}
			k, other := b.kernel(t, 1), b.kernel(t, 2)
			ctx := by(t.Context(), access.Agent, agentOne)
			put := must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("first"), saying("second")}}))
			first, second := put.Messages[0].ID, put.Messages[1].ID
			var all api.Consolidated
			s.Before = func() { all = must(other.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run"})) }
			one := must(k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run", Messages: []dag.TurnID{second}}))
			if !slices.Equal(one.Turns, []dag.TurnID{second}) || one.Admitted != 0 || one.Existing != 1 || all.Admitted != 2 {
				t.Errorf("%+v, and all: %+v", one, all)
			}
			if r := must(k.Turns().Get(ctx, tenant, second)); len(r.Parents) != 1 || r.Parents[0].ID != first {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A failing store fails some of its writes, before or after they are done.
type failing struct {
	store.Store
	r      *rand.Rand
	failed int
}

var errFails = errors.New("the store fails")

func (s *failing) fails(do func() error) error {
	switch s.r.IntN(3) {
	case 0:
		s.failed++
		return errFails
	case 1:
		s.failed++
		if err := do(); err != nil {
			return err
		}
		return errFails
	}
	return do()
}

func (s *failing) Append(ctx context.Context, tenant dag.Tenant, b []store.Batch) (r store.Receipt, err error) {
	err = s.fails(func() error { r, err = s.Store.Append(ctx, tenant, b); return err })
	return r, err
}

func (s *failing) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	return s.fails(func() error { return s.Store.Write(ctx, tenant, c) })
}

// TestWorkingInterrupted repeats what a store failed at, before it was done or after, until it succeeds, and chooses other messages each time. No
// message is lost, none is a turn twice, and what was not consolidated is held.
func TestWorkingInterrupted(t *testing.T) {
	failed := 0
	for seed := range uint64(120) {
		inner := inmem.Open(&inmem.Disk{}, inmem.Options{})
		r := rand.New(rand.NewPCG(seed, 7))
		s := &failing{Store: inner, r: r}
		b := &bench{s: s, now: standing()}
		k := b.kernel(t, byte(seed))
		ctx := by(t.Context(), access.Agent, agentOne)
		var want []string
		for i := range 6 {
			m := saying(fmt.Sprint("m", i))
			m.Key = fmt.Sprint(i)
			want = append(want, m.Content)
			for {
				_, err := k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{m}})
				if err == nil {
					break
				}
				if !errors.Is(err, errFails) {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			b.wait(time.Second)
		}
		n := working.Name{Owner: agentOne, Session: "run"}
		for {
			list := must(k.Working().Get(ctx, tenant, api.WorkingQuery{Owner: n.Owner, Session: n.Session}))
			both := append(contents(list), said(t, inner)...)
			slices.Sort(both)
			if !slices.Equal(slices.Compact(both), want) {
				t.Fatalf("seed %d: held and in the history %q, want %q", seed, both, want)
			}
			if len(list.Messages) == 0 {
				break
			}
			var ids []dag.TurnID
			for i := range list.Messages {
				if r.IntN(2) == 0 {
					ids = append(ids, list.Messages[i].ID)
				}
			}
			before := len(list.Messages)
			c, err := k.Working().Consolidate(ctx, tenant, api.Consolidating{Session: "run", Messages: ids})
			if err != nil && !errors.Is(err, errFails) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err == nil && ids != nil && (!slices.Equal(c.Turns, ids) || c.Held != before-len(ids)) {
				t.Fatalf("seed %d: %+v, asked for %v of %d", seed, c, ids, before)
			}
		}
		if got := said(t, inner); !slices.Equal(got, want) {
			t.Fatalf("seed %d: turns %q", seed, got)
		}
		failed += s.failed
	}
	if failed < 500 {
		t.Errorf("only %d writes failed", failed)
	}
}

// TestWorkingSwept holds that what has expired leaves the store, of tenants too that nobody asks for any more, and that a process that is full makes
// room of it.
func TestWorkingSwept(t *testing.T) {
	eachKeeper(t, func(t *testing.T, b *bench, k *kernel.Kernel) {
		ctx := by(t.Context(), access.Agent, agentOne)
		var left func() int
		if _, err := k.Working().Put(ctx, "gone", api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("x")}}); err != nil {
			t.Fatal(err)
		}
		b.wait(30 * time.Minute)
		must(k.Working().Put(ctx, tenant, api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying("x")}}))
		left = func() (n int) {
			for _, tenant := range []dag.Tenant{"gone", tenant} {
				n += len(must(b.s.Snapshots(ctx, tenant, history.SnapshotPage{Limit: 9})))
			}
			return n
		}
		inStore := left() > 0
		b.wait(30 * time.Minute)
		if err := k.Working().Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := left(); inStore && n != 2 {
			t.Errorf("%d snapshots, want those of one session", n)
		}
		if len(must(k.Working().List(ctx, "gone", struct{}{})).Sessions) != 0 || len(must(k.Working().List(ctx, tenant, struct{}{})).Sessions) != 1 {
			t.Error("the sessions are others")
		}
	})
	m := working.NewMemory(2000)
	b := &bench{s: stores["memory"](t), now: standing()}
	k := b.kernel(t, 1, func(c *kernel.Config) { c.WorkingInProcess = m })
	must(k.Working().Put(t.Context(), "one", api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying(strings.Repeat("x", 1000))}}))
	if _, err := k.Working().Put(t.Context(), "two", api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying(strings.Repeat("x", 1000))}}); !errors.Is(err, working.ErrFull) {
		t.Errorf("%v, want ErrFull", err)
	}
	b.wait(time.Hour)
	if _, err := k.Working().Put(t.Context(), "two", api.WorkingPut{Session: "run", Messages: []api.NewMessage{saying(strings.Repeat("x", 1000))}}); err != nil {
		t.Error(err)
	}
}
