package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/faultproxy"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// A network is a database, a way there that is always well, and one that is not.
type network struct {
	t      *testing.T
	proxy  *faultproxy.Proxy
	url    string      // through the proxy
	direct store.Store // past it
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	socket := pgstore.URL(t)
	u, err := url.Parse(socket)
	if err != nil {
		t.Fatal(err)
	}
	n := &network{t: t}
	if n.proxy, err = faultproxy.New("127.0.0.1:" + u.Query().Get("port")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.proxy.Close() })
	n.url = (&url.URL{Scheme: "postgres", User: u.User, Host: n.proxy.Address(), Path: u.Path, RawQuery: "sslmode=disable"}).String()
	n.direct, err = harness(socket).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.direct.Close() })
	return n
}

// open opens a store through the proxy.
func (n *network) open(o postgres.Options) *postgres.Store {
	n.t.Helper()
	s, err := postgres.Open(n.t.Context(), n.url, o)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		n.proxy.Cut() // the driver takes its leave of what hangs
		if err := s.Close(); err != nil {
			n.t.Error(err)
		}
	})
	return s
}

// check is fsck of the tenant.
func (n *network) check() {
	n.t.Helper()
	if err := storetest.Check(context.Background(), n.direct, storetest.Tenant); err != nil {
		n.t.Error(err)
	}
}

// settle waits until there is no more than one connection: the driver asks the server to
// give up what a broken one asked for, by a connection of its own.
func (n *network) settle() {
	for end := time.Now().Add(5 * time.Second); n.proxy.Counts().Open > 1 && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
}

// known reports whether an error is one that callers branch on when the database is out
// of reach.
func known(err error) bool {
	for _, known := range []error{store.ErrLost, store.ErrUncertain, store.ErrBusy, store.ErrUnwritable, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// TestDeadline loses the server at each step of a write, and before a read, while the
// caller waits for so long and no longer.
func TestDeadline(t *testing.T) {
	t.Parallel()
	const waits = 600 * time.Millisecond
	n := newNetwork(t)
	if _, err := n.direct.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 50, 0)}); err != nil {
		t.Fatal(err)
	}
	tried, uncertain := 0, 0
	for i, at := range []string{"", "turns", "entries", "head", "commit"} {
		for j, fault := range []faultproxy.Fault{faultproxy.HalfOpen(), {ToClient: faultproxy.Path{Swallow: true}}, {ToServer: faultproxy.Path{Swallow: true}}} {
			armed := false
			s := n.open(postgres.Options{Connections: 2, Step: func(step string) error {
				if armed && step == at {
					armed = false
					n.proxy.Set(fault)
				}
				return nil
			}})
			if armed = true; at == "" {
				n.proxy.Set(fault)
			}
			ctx, cancel := context.WithTimeout(t.Context(), waits)
			err := timed(t, "an erasure lost at "+at, waits+slack, func() error {
				_, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(1+3*i+j))
				return err
			})
			want := error(context.DeadlineExceeded)
			if at == "commit" && !armed {
				want = store.ErrUncertain
				uncertain++
			}
			if !errors.Is(err, want) {
				t.Errorf("lost at %q: %v, want %v", at, err, want)
			}
			cancel()
			if armed { // the time was up before the step
				n.proxy.Set(fault)
			}
			ctx, cancel = context.WithTimeout(t.Context(), waits)
			err = timed(t, "a look-up", waits+slack, func() error {
				_, err := s.Head(ctx, storetest.Tenant)
				return err
			})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a look-up: %v", err)
			}
			cancel()
			tried++
			n.proxy.Set(faultproxy.Pass())
			n.proxy.Cut()
		}
	}
	n.proxy.Set(faultproxy.HalfOpen())
	err := timed(t, "to open a store", 1500*time.Millisecond, func() error {
		_, err := postgres.Open(t.Context(), n.url, postgres.Options{Timeout: 300 * time.Millisecond})
		return err
	})
	if !errors.Is(err, store.ErrLost) {
		t.Errorf("to open a store gave %v", err)
	}
	if tried == 0 || uncertain == 0 {
		t.Errorf("%d losses were tried, %d of them of a commit", tried, uncertain)
	}
	n.check()
}

// TestHeadWhileBreaks loses the connection while the question for the head is on its way: it is
// asked again, and the work is not done again. A server that stays away is told of in time.
func TestHeadWhileBreaks(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	if _, err := n.direct.Append(t.Context(), storetest.Tenant, []store.Batch{storetest.Chain(1, 5, 0)}); err != nil {
		t.Fatal(err)
	}
	s := n.open(postgres.Options{Connections: 2, Timeout: chaosTimeout, Patience: chaosPatience})
	for range 3 { // the first prepares the statement
		worked := 0
		n.proxy.Set(faultproxy.Pass())
		head, err := s.HeadWhile(t.Context(), storetest.Tenant, func() { worked++ })
		if err != nil || head != 5 || worked != 1 {
			t.Errorf("the head is %d, %v, and the work was done %d times", head, err, worked)
		}
		n.proxy.Set(faultproxy.Fault{ToClient: faultproxy.Path{Swallow: true}})
		head, err = s.HeadWhile(t.Context(), storetest.Tenant, func() {
			worked++
			n.proxy.Set(faultproxy.Pass())
			n.proxy.Cut()
		})
		if err != nil || head != 5 || worked != 2 {
			t.Errorf("behind a cut the head is %d, %v, and the work was done %d times in all", head, err, worked)
		}
	}
	hasty := n.open(postgres.Options{Connections: 2, Timeout: chaosTimeout, Patience: -1})
	n.proxy.Set(faultproxy.HalfOpen())
	err := timed(t, "to ask a server that is away", chaosTimeout*9/8+slack/4, func() error {
		_, err := hasty.HeadWhile(t.Context(), storetest.Tenant, func() {})
		return err
	})
	if !errors.Is(err, store.ErrLost) {
		t.Errorf("a server that is away gave %v", err)
	}
	n.proxy.Set(faultproxy.Pass())
	n.proxy.Cut()
	n.check()
}

// Short times, as a test has them.
const (
	chaosTimeout  = 800 * time.Millisecond
	chaosPatience = 5 * time.Second
	slack         = 4 * time.Second // of a machine that has other work; what hangs, hangs for longer
)

// TestRecovery lets all connections of a pool hang, and the network heal: the next call
// is answered, though no connection ever says that it is dead.
func TestRecovery(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	s := n.open(postgres.Options{Connections: 8, Timeout: chaosTimeout, Patience: chaosPatience})
	for round, quiet := range []time.Duration{0, 1100 * time.Millisecond} {
		all := func(bound time.Duration, name string) (failed int) {
			var wait sync.WaitGroup
			var mu sync.Mutex
			for i := range 8 {
				wait.Go(func() {
					err := timed(t, name, bound, func() error {
						tenant := dag.Tenant(fmt.Sprintf("tenant-%d", i)) // writers of one would be in line with one connection
						_, err := s.Append(t.Context(), tenant, []store.Batch{{storetest.Arrival(1000*round+10*i+len(name), i, name)}})
						return err
					})
					if err != nil && !known(err) {
						t.Errorf("%s: %v", name, err)
					}
					if err != nil {
						mu.Lock()
						failed++
						mu.Unlock()
					}
				})
			}
			wait.Wait()
			return failed
		}
		if failed := all(chaosTimeout+chaosPatience+slack, "well"); failed > 0 {
			t.Errorf("%d calls failed before anything was wrong", failed)
		}
		n.proxy.Set(faultproxy.HalfOpen())
		if quiet == 0 {
			if failed := all(chaosTimeout+chaosPatience+slack, "half-open"); failed != 8 {
				t.Errorf("%d calls of 8 failed", failed)
			}
		} else {
			// Nobody asks while the network is broken: the connections die unseen.
			_, _ = s.Head(t.Context(), storetest.Tenant)
			time.Sleep(quiet)
		}
		n.proxy.Set(faultproxy.Pass())
		err := timed(t, "a look-up afterwards", chaosPatience, func() error {
			_, err := s.Head(t.Context(), storetest.Tenant)
			return err
		})
		if err != nil {
			t.Errorf("a look-up afterwards: %v", err)
		}
		for end := time.Now().Add(chaosPatience); all(chaosTimeout+chaosPatience+slack, "afterwards") > 0; {
			if time.Now().After(end) {
				t.Errorf("%v later writes still fail", chaosPatience)
				break
			}
		}
	}
	n.check()
}

// TestChaos lets clients of a kernel work while the network breaks in every way, at
// random. Whatever they were told is so. On a slow machine one time may not be enough for
// clients to be told everything that they can be.
func TestChaos(t *testing.T) {
	t.Parallel()
	lasts := 8 * time.Second
	if testing.Short() {
		lasts = 4 * time.Second
	}
	told := map[string]int{}
	for range 8 {
		chaos(t, lasts, told)
		if t.Failed() || told["kept"] > 0 && told["lost"] > 0 && told["sliced"] > 0 && told["erased"] > 0 {
			return
		}
	}
	t.Errorf("clients heard %v, want some of each", told)
}

// chaos lets it happen once, and adds to what clients were told.
func chaos(t *testing.T, lasts time.Duration, told map[string]int) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	n := newNetwork(t)
	s := n.open(postgres.Options{Connections: 8, Timeout: chaosTimeout, Patience: chaosPatience})
	secret, err := token.NewSecret(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var work sync.WaitGroup
	clients := make([]*client, 6)
	for i := range clients {
		clients[i] = &client{t: t, k: k, number: i, rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		work.Go(func() {
			for ctx.Err() == nil {
				clients[i].act(t.Context())
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 99))
	one := faultproxy.Path{Swallow: true}
	faults := []func() faultproxy.Fault{
		faultproxy.Refuse, faultproxy.HalfOpen,
		func() faultproxy.Fault { return faultproxy.Fault{ToServer: one} },
		func() faultproxy.Fault { return faultproxy.Fault{ToClient: one} },
		func() faultproxy.Fault { return faultproxy.Delay(time.Duration(r.IntN(200)) * time.Millisecond) },
		func() faultproxy.Fault {
			return faultproxy.Slow(1+r.IntN(500), time.Duration(r.IntN(5))*time.Millisecond)
		},
	}
	for ctx.Err() == nil {
		n.proxy.Set(faults[r.IntN(len(faults))]())
		if r.IntN(2) == 0 {
			n.proxy.Cut()
		}
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		n.proxy.Set(faultproxy.Pass())
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		for range r.IntN(5) {
			n.proxy.CutAfter(faultproxy.Direction(r.IntN(2)), int64(r.IntN(5000)))
			time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
		}
	}
	work.Wait()
	n.proxy.Set(faultproxy.Pass())
	for _, d := range []faultproxy.Direction{faultproxy.ToServer, faultproxy.ToClient} {
		n.proxy.CutAfter(d, 1<<40)
	}
	healed := time.Now()
	for _, c := range clients { // the same store, not opened again
		for !c.admit(t.Context()) {
			if time.Since(healed) > chaosPatience+slack {
				t.Fatalf("%v after the faults writes still fail", time.Since(healed))
			}
		}
	}
	for _, c := range clients {
		c.verify(n.direct, told)
	}
	report, err := fsck.Store(t.Context(), n.direct, fsck.Options{})
	if err != nil || !report.OK() {
		t.Errorf("fsck: %v, %v, %+v", err, report.Err(), report.Counts)
	}
	t.Logf("clients heard %v; proxy %+v", told, n.proxy.Counts())
}

// A client uses a kernel and keeps in mind what it was told.
type client struct {
	t      *testing.T
	k      *kernel.Kernel
	rand   *rand.Rand
	number int

	calls                         int
	kept, lost, uncertain, erased []dag.TurnID
	sliced                        int
}

// call bounds a call in time, by its context or without, and sorts its error.
func (c *client) call(ctx context.Context, what string, fn func(context.Context) error) error {
	bound := chaosTimeout + chaosPatience + slack
	if c.rand.IntN(2) == 0 {
		waits := time.Duration(1+c.rand.IntN(500)) * time.Millisecond
		limited, cancel := context.WithTimeout(ctx, waits)
		defer cancel()
		ctx, bound = limited, waits+slack
	}
	err := timed(c.t, what, bound, func() error { return fn(ctx) })
	if err != nil && !known(err) {
		c.t.Errorf("%s: %v", what, err)
	}
	return err
}

func (c *client) act(ctx context.Context) {
	switch {
	case len(c.kept) == 0 || c.rand.IntN(3) > 0:
		c.admit(ctx)
	case c.rand.IntN(2) == 0:
		anchor := c.kept[c.rand.IntN(len(c.kept))]
		err := c.call(ctx, "slice", func(ctx context.Context) error {
			_, err := c.k.Slices().Cut(ctx, storetest.Tenant, kernel.Request{Anchor: anchor})
			return err
		})
		if err == nil {
			c.sliced++
		}
	default:
		id := c.kept[c.rand.IntN(len(c.kept))]
		err := c.call(ctx, "erase", func(ctx context.Context) error {
			_, err := c.k.Turns().Erase(ctx, storetest.Tenant, id, "asked")
			return err
		})
		if err == nil {
			c.erased = append(c.erased, id)
		}
	}
}

// admit admits one new turn, and reports whether it was told so.
func (c *client) admit(ctx context.Context) bool {
	c.calls++
	d := dag.Draft{
		ID:           dag.ExternalTurnID("chaos", fmt.Sprint(c.number, "/", c.calls)),
		Conversation: dag.ExternalConversationID("chaos", fmt.Sprint(c.number%3)),
		Role:         dag.RoleUser, CreatedAt: dag.Time(c.calls), Author: "human:user", Content: fmt.Sprintf("turn %d", c.calls),
	}
	if len(c.kept) > 0 {
		d.Parents = []dag.Parent{{ID: c.kept[len(c.kept)-1], Kind: dag.Reply}}
	}
	err := c.call(ctx, "admit", func(ctx context.Context) error {
		_, err := c.k.Turns().Admit(ctx, storetest.Tenant, []dag.Draft{d})
		return err
	})
	switch {
	case err == nil:
		c.kept = append(c.kept, d.ID)
	case errors.Is(err, store.ErrUncertain):
		c.uncertain = append(c.uncertain, d.ID)
	default:
		c.lost = append(c.lost, d.ID)
	}
	return err == nil
}

// verify compares what the client was told with what is there.
func (c *client) verify(s store.Store, told map[string]int) {
	c.t.Helper()
	there := func(ids []dag.TurnID) []store.Record {
		records, err := s.Turns(context.Background(), storetest.Tenant, store.IDs(ids))
		if err != nil {
			c.t.Error(err)
		}
		return records
	}
	if n := len(there(c.kept)); n != len(c.kept) {
		c.t.Errorf("of %d acknowledged turns %d are there", len(c.kept), n)
	}
	if n := len(there(c.lost)); n != 0 {
		c.t.Errorf("of %d lost turns %d are there", len(c.lost), n)
	}
	for _, r := range there(c.erased) {
		if r.Body != nil {
			c.t.Errorf("turn %s was erased, and has its body", r.Turn.ID)
		}
	}
	told["kept"] += len(c.kept)
	told["lost"] += len(c.lost)
	told["uncertain"] += len(c.uncertain)
	told["erased"] += len(c.erased)
	told["sliced"] += c.sliced
}
