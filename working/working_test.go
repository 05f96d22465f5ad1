package working_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/working"
)

const tenant = dag.Tenant("t")

// A reference holds all that was ever put, and says what is held by going through it.
type reference struct {
	limits working.Limits
	put    []working.Message // that has not left, in order
}

func (r *reference) expire(now dag.Time) (gone int) {
	for i := 0; i < len(r.put); {
		if r.put[i].At+dag.Time(r.limits.Expires/time.Microsecond) <= now {
			r.put = append(r.put[:i:i], r.put[i+1:]...)
			gone++
		} else {
			i++
		}
	}
	return gone
}

func (r *reference) bytes() (n int) {
	for _, m := range r.put {
		n += m.Size()
	}
	return n
}

func (r *reference) add(now dag.Time, list []working.Message) (dropped int, err error) {
	fresh := &reference{limits: r.limits}
	have := map[dag.TurnID]string{}
	for _, m := range r.put {
		have[m.ID] = m.Content
	}
	for _, m := range list {
		content, there := have[m.ID]
		switch {
		case there && content != m.Content:
			return 0, working.ErrDiffers
		case !there:
			have[m.ID] = m.Content
			m.At = now
			fresh.put = append(fresh.put, m)
		}
	}
	if len(fresh.put) > r.limits.Messages || fresh.bytes() > r.limits.Bytes {
		return 0, working.ErrTooLarge
	}
	r.put = append(slices.Clone(r.put), fresh.put...)
	for len(r.put) > r.limits.Messages || r.bytes() > r.limits.Bytes {
		r.put = r.put[1:]
		dropped++
	}
	return dropped, nil
}

func same(t *testing.T, got, want []working.Message) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b working.Message) bool { return a.ID == b.ID && a.Content == b.Content && a.At == b.At }) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

// keepers are what may keep working memory.
func keepers() map[string]working.Keeper {
	return map[string]working.Keeper{"process": working.NewMemory(1 << 20), "store": inmem.Open(&inmem.Disk{}, inmem.Options{})}
}

// TestRandomHistories puts, consolidates, clears and waits at random, in several sessions, beside the reference. The clock is driven by
// hand, and stands at the very instant of an expiry as often as not.
func TestRandomHistories(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	seen := map[string]int{}
	for seed := range uint64(60) {
		for name, k := range keepers() {
			r := rand.New(rand.NewPCG(seed, 1))
			l := working.Limits{Messages: 1 + r.IntN(6), Bytes: 200 + r.IntN(600), Expires: time.Duration(1+r.IntN(50)) * time.Second, Sessions: 3, TenantBytes: 1 << 20}
			refs := map[working.Name]*reference{}
			now := dag.Time(1_780_000_000_000_000)
			for step := range 150 {
				n := working.Name{Owner: []string{"a", "b"}[r.IntN(2)], Session: []string{"x", "y"}[r.IntN(2)]}
				ref := refs[n]
				if ref == nil {
					ref = &reference{limits: l}
					refs[n] = ref
				}
				if now += dag.Time(r.IntN(5_000_000)); len(ref.put) > 0 && r.IntN(3) == 0 {
					now = max(now, ref.put[0].At+dag.Time(l.Expires/time.Microsecond)-dag.Time(r.IntN(2)))
				}
				live := 0 // of other sessions
				for other, o := range refs {
					o.expire(now)
					if other != n && len(o.put) > 0 {
						live++
					}
				}
				u := &working.Update{Name: n, Limits: l, Now: now}
				var want error
				var dropped, refDropped int
				before := slices.Clone(ref.put)
				switch r.IntN(6) {
				case 0: // some leave
					var ids []dag.TurnID
					for _, m := range ref.put {
						if r.IntN(2) == 0 {
							ids = append(ids, m.ID)
						}
					}
					ref.put = slices.DeleteFunc(slices.Clone(ref.put), func(m working.Message) bool { return slices.Contains(ids, m.ID) })
					u.Do = func(b *working.Buffer) error { b.Take(ids); return nil }
				case 1:
					ref.put = nil
					u.Erases = true
					u.Do = func(b *working.Buffer) error { b.Messages = nil; return nil }
				default:
					var list []working.Message
					for range 1 + r.IntN(4) {
						key := fmt.Sprint(r.IntN(12))
						list = append(list, working.Message{ID: n.ID(key), Role: dag.RoleUser, Content: strings.Repeat(fmt.Sprint(r.IntN(40)/39), 20*(1+len(key)))})
					}
					refDropped, want = ref.add(now, list)
					if want == nil && live >= l.Sessions && len(before) == 0 {
						want, ref.put = working.ErrFull, before
					}
					u.Do = func(b *working.Buffer) (err error) { _, dropped, err = b.Put(l, now, list); return err }
				}
				err := k.Write(t.Context(), tenant, u)
				if !errors.Is(err, want) || want == nil && err != nil {
					t.Fatalf("%s, seed %d, step %d: %v, want %v", name, seed, step, err, want)
				}
				seen[fmt.Sprint(want)]++
				if want == nil {
					if dropped != refDropped {
						t.Fatalf("%s, seed %d, step %d: %d dropped, want %d", name, seed, step, dropped, refDropped)
					}
					seen["dropped"] += dropped
					seen["expired"] += u.Expired
				}
				for n, ref := range refs {
					b, err := working.Read(t.Context(), k, tenant, n)
					if err != nil {
						t.Fatal(err)
					}
					same(t, b.Live(now), ref.put)
				}
				x, err := working.ReadIndex(t.Context(), k, tenant)
				if err != nil {
					t.Fatal(err)
				}
				held := 0
				for _, ref := range refs {
					if len(ref.put) > 0 {
						held++
					}
				}
				if len(x.Live(now)) != held {
					t.Fatalf("%s, seed %d, step %d: the index has %d sessions, want %d", name, seed, step, len(x.Live(now)), held)
				}
			}
			// When all has expired, nothing is left of it.
			if err := k.Write(t.Context(), tenant, &working.Update{Limits: l, Now: now + dag.Time(time.Hour/time.Microsecond)}); err != nil {
				t.Fatal(err)
			}
			if list, err := k.Snapshots(t.Context(), tenant, history.SnapshotPage{Limit: 100}); err != nil || len(list) > 0 {
				t.Fatalf("%s: %v, %v", name, list, err)
			}
			if m, ok := k.(*working.Memory); ok && m.Size() != 0 {
				t.Fatalf("%d bytes are left", m.Size())
			}
		}
	}
	for _, what := range []string{"dropped", "expired", "<nil>", working.ErrDiffers.Error(), working.ErrTooLarge.Error(), working.ErrFull.Error()} {
		if seen[what] < 20 {
			t.Errorf("%s was seen %d times", what, seen[what])
		}
	}
}

func put(k working.Keeper, l working.Limits, tenant dag.Tenant, n working.Name, now dag.Time, content string) error {
	m := working.Message{ID: n.ID(content), Role: dag.RoleUser, Content: content}
	return k.Write(context.Background(), tenant, &working.Update{Name: n, Limits: l, Now: now, Do: func(b *working.Buffer) error {
		_, _, err := b.Put(l, now, []working.Message{m})
		return err
	}})
}

// TestExpiry holds that a message is there a microsecond before it expires, and gone at the instant.
func TestExpiry(t *testing.T) {
	l := working.Limits{}.Filled()
	if l.Messages != 50 || l.Expires != time.Hour || l.Check() != nil {
		t.Errorf("defaults %+v", l)
	}
	n := working.Name{Session: "s"}
	for _, k := range keepers() {
		const now = dag.Time(5)
		if err := put(k, l, tenant, n, now, "x"); err != nil {
			t.Fatal(err)
		}
		b, err := working.Read(t.Context(), k, tenant, n)
		if err != nil || len(b.Live(now+3_600_000_000-1)) != 1 || len(b.Live(now+3_600_000_000)) != 0 {
			t.Errorf("%+v, %v", b, err)
		}
	}
}

// TestBounds holds that what is kept of a tenant and of a process is bounded, that nothing is changed where a bound would be passed, and
// that what gives room lets others in.
func TestBounds(t *testing.T) {
	l := working.Limits{Messages: 3, Bytes: 1000, Sessions: 10, TenantBytes: 1500}.Filled()
	one, two := working.Name{Session: "one"}, working.Name{Session: "two"}
	for name, k := range keepers() {
		if err := errors.Join(put(k, l, tenant, one, 1, strings.Repeat("a", 900)), put(k, l, "other", two, 1, strings.Repeat("a", 900))); err != nil {
			t.Fatal(err)
		}
		if err := put(k, l, tenant, two, 1, strings.Repeat("b", 900)); !errors.Is(err, working.ErrFull) {
			t.Errorf("%s: %v, want ErrFull", name, err)
		}
		if b, err := working.Read(t.Context(), k, tenant, two); err != nil || len(b.Messages) > 0 {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
		if err := put(k, l, tenant, one, 2, strings.Repeat("b", 900)); err != nil { // the other drops out
			t.Errorf("%s: %v", name, err)
		}
		if err := put(k, l, tenant, two, 2+dag.Time(l.Expires/time.Microsecond), strings.Repeat("b", 900)); err != nil { // the first expired
			t.Errorf("%s: %v", name, err)
		}
	}
	m := working.NewMemory(3000)
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = put(m, l, dag.Tenant(fmt.Sprint("t", i)), one, 1, strings.Repeat("a", 400))
		if m.Size() > 3000 {
			t.Fatalf("%d bytes", m.Size())
		}
	}
	size := m.Size()
	if !errors.Is(err, working.ErrFull) || size < 1000 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	if list, err := m.Tenants(t.Context(), "", 100); err != nil || len(list) < 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, bad := range []working.Limits{{Messages: -1}, {Messages: working.MaxMessages + 1}, {Bytes: -5}, {Sessions: working.MaxSessions + 1}, {TenantBytes: -1}, {Expires: -1}, {Expires: 1}, {Expires: 1e6 * time.Hour}} {
		if err := bad.Filled().Check(); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "a b", "a/b", "é", "a\n", strings.Repeat("x", working.MaxSession+1)} {
		if err := (working.Name{Session: bad}).Check(); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestDamage holds that a snapshot that is not in its form is an error, and not an empty session.
func TestDamage(t *testing.T) {
	for name, k := range keepers() {
		n := working.Name{Session: "s"}
		l := working.Limits{}.Filled()
		if err := put(k, l, tenant, n, 1, "x"); err != nil {
			t.Fatal(err)
		}
		list, err := k.Snapshots(t.Context(), tenant, history.SnapshotPage{Limit: 10})
		if err != nil || len(list) != 2 {
			t.Fatalf("%v, %v", list, err)
		}
		for i := range list {
			list[i].Value = list[i].Value[1:]
		}
		if err := k.Write(t.Context(), tenant, damage(list)); err != nil {
			t.Fatal(err)
		}
		if err := put(k, l, tenant, n, 1, "y"); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := working.Read(t.Context(), k, tenant, n); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type damage []history.Snapshot

func (d damage) Needs(*history.State) history.Needs         { return history.Needs{} }
func (d damage) Plan(*history.State) (*history.Plan, error) { return &history.Plan{Snapshots: d}, nil }

// TestHolding finds the session of each message, among more sessions than are read at once.
func TestHolding(t *testing.T) {
	l := working.Limits{}.Filled()
	for name, k := range keepers() {
		for i := range 30 {
			if err := put(k, l, tenant, working.Name{Owner: "o", Session: fmt.Sprint("s", i)}, 1, "x"); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 30 {
			want := working.Name{Owner: "o", Session: fmt.Sprint("s", i)}
			if n, ok, err := working.Holding(t.Context(), k, tenant, want.ID("x")); n != want || !ok || err != nil {
				t.Errorf("%s: %+v, %v, %v, want %+v", name, n, ok, err, want)
			}
		}
		if n, ok, err := working.Holding(t.Context(), k, tenant, dag.TurnID{1}); ok || err != nil {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
	}
}
