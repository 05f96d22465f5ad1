package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A keyStore counts the look-ups of API keys, and lets something happen between
// one and its return.
type keyStore struct {
	store.Store
	asked     atomic.Int64
	meanwhile func()
	fail      error
}

func (s *keyStore) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := s.Store.Terms(ctx, tenant, ranges)
	if len(ranges) != 1 || !ranges[0].Last || access.CheckID(string(ranges[0].Prefix)) != nil {
		return lists, err
	}
	s.asked.Add(1)
	if s.meanwhile != nil {
		s.meanwhile()
	}
	if s.fail != nil {
		return nil, s.fail
	}
	return lists, err
}

// A handClock is set by hand.
type handClock struct{ at atomic.Int64 } // nanoseconds

func (c *handClock) now() time.Time          { return time.Unix(1_780_000_000, c.at.Load()) }
func (c *handClock) advance(d time.Duration) { c.at.Add(int64(d)) }

// guard opens a kernel with a clock that is set by hand and noise of its own.
func guard(t testing.TB, s store.Store, c *handClock, seed byte) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(token.Keyring{}), Rand: noise(seed), Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func createKey(t testing.TB, k *kernel.Kernel, tenant dag.Tenant, role access.Role) (string, access.Key) {
	t.Helper()
	text, key, err := k.Keys().Create(context.Background(), tenant, role, "for tests")
	if err != nil {
		t.Fatal(err)
	}
	return text, key
}

// TestWhoMakesKeys makes keys by every kind of caller, where keys are made: a caller with a scope makes none, and a standing is granted by a caller who may govern.
func TestWhoMakesKeys(t *testing.T) {
	k := guard(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), &handClock{}, 1)
	const id = "0123456789abcdef"
	admin := access.Identity{Tenant: tenant, Subject: id, Role: access.Admin}
	as := func(change func(*access.Identity)) access.Identity {
		who := admin
		change(&who)
		return who
	}
	for what, c := range map[string]struct {
		who           access.Identity
		plain, grants bool
	}{
		"a program":                   {access.Identity{}, true, true},
		"a person's command":          {as(func(i *access.Identity) { i.Subject = access.Local }), true, true},
		"an admin's key":              {admin, true, true},
		"a JWT of an admin":           {as(func(i *access.Identity) { i.Subject = "jwt:lead" }), true, true},
		"of listed roles":             {as(func(i *access.Identity) { i.Admits.Roles = "user" }), false, false},
		"of listed authors":           {as(func(i *access.Identity) { i.Admits.Authors = "agent:*" }), false, false},
		"that speaks for a person":    {as(func(i *access.Identity) { i.Admits.SpeaksFor = "human:lead" }), false, false},
		"that speaks for an owner":    {as(func(i *access.Identity) { i.Admits.SpeaksFor = "human:lead=owner" }), false, false},
		"of listed spaces":            {as(func(i *access.Identity) { i.Admits.Spaces = "acme/*" }), false, false},
		"a model with an admin's key": {as(func(i *access.Identity) { i.Model = true }), true, false},
		"an agent over stdio":         {as(func(i *access.Identity) { i.Subject = access.Stdio }), true, false},
	} {
		ctx := access.As(t.Context(), c.who)
		_, _, plain := k.Keys().Create(ctx, tenant, access.Agent, what)
		_, _, speaks := k.Keys().CreateScoped(ctx, tenant, access.Agent, access.Scope{SpeaksFor: "human:*"}, what)
		_, asked := kernel.Ask(ctx, k, tenant, api.CreateKey, api.NewAPIKey{Role: "agent"})
		_, _, grants := k.Keys().CreateScoped(ctx, tenant, access.Agent, access.Scope{SpeaksFor: "human:*=member"}, what)
		for _, made := range []struct {
			of   string
			err  error
			want bool
		}{{"a plain key", plain, c.plain}, {"a key that speaks", speaks, c.plain}, {"a key of an operation", asked, c.plain}, {"a key that grants", grants, c.grants}} {
			if made.want && made.err != nil || !made.want && !errors.Is(made.err, access.ErrMayNot) {
				t.Errorf("%s: %s: %v, want it made: %v", what, made.of, made.err, made.want)
			}
		}
	}
}

// refusals collects the messages of refusals, which must all be the same.
type refusals map[string]bool

func (r refusals) refused(t *testing.T, k *kernel.Kernel, what, text string) {
	t.Helper()
	who, err := k.Keys().Authenticate(t.Context(), text)
	if !errors.Is(err, access.ErrKey) || errors.Is(err, store.ErrNotFound) || who != (access.Identity{}) {
		t.Errorf("%s: got %+v, %v, want access.ErrKey and nothing more", what, who, err)
		return
	}
	r[err.Error()] = true
	if len(r) > 1 {
		t.Errorf("%s: the refusals can be told apart: %v", what, r)
	}
}

func accepted(t *testing.T, k *kernel.Kernel, what, text string, key access.Key) {
	t.Helper()
	if who, err := k.Keys().Authenticate(t.Context(), text); err != nil || who != key.Identity() {
		t.Errorf("%s: got %+v, %v, want %+v", what, who, err, key.Identity())
	}
}

// otherSecret changes the last digit of a key's text, and otherID the last of its id.
func otherSecret(text string) string { return flipped(text, len(text)-1) }
func otherID(text string) string     { return flipped(text, len(text)-66) }

func flipped(text string, i int) string {
	digit := "0"
	if text[i] == '0' {
		digit = "1"
	}
	return text[:i] + digit + text[i+1:]
}

func TestAuthenticate(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			clock := &handClock{}
			k := guard(t, open(t), clock, 1)
			r := refusals{}
			var texts []string
			var made []access.Key
			for _, tenant := range []dag.Tenant{"acme", "default"} {
				for _, role := range access.Roles {
					text, key := createKey(t, k, tenant, role)
					if key.Tenant != tenant || key.Role != role || key.Note != "for tests" || key.RevokedAt != 0 {
						t.Errorf("the key is %+v", key)
					}
					texts, made = append(texts, text), append(made, key)
					clock.advance(time.Millisecond)
				}
			}
			for range 2 { // cold and warm
				for i, text := range texts {
					accepted(t, k, "a key that stands", text, made[i])
					r.refused(t, k, "another secret", otherSecret(text))
					r.refused(t, k, "another id", otherID(text))
					r.refused(t, k, "an unknown tenant", strings.Replace(text, string(made[i].Tenant), "nobody", 1))
					r.refused(t, k, "another tenant", strings.Replace(text, string(made[i].Tenant), "default-2", 1))
				}
			}
			if list, err := k.Keys().List(t.Context(), "acme"); err != nil || len(list) != 4 || list[3] != made[3] {
				t.Errorf("Keys gave %+v, %v", list, err)
			}
			if list, err := k.Keys().List(t.Context(), "nobody"); err != nil || len(list) != 0 {
				t.Errorf("asking made a tenant: %+v, %v", list, err)
			}

			gone, err := k.Keys().Revoke(t.Context(), "acme", made[1].ID)
			if err != nil || gone.RevokedAt == 0 {
				t.Fatalf("RevokeKey gave %+v, %v", gone, err)
			}
			r.refused(t, k, "a revoked key", texts[1])
			r.refused(t, k, "a revoked key again", texts[1])
			accepted(t, k, "the key beside it", texts[2], made[2])
			clock.advance(time.Hour)
			if again, err := k.Keys().Revoke(t.Context(), "acme", made[1].ID); err != nil || again != gone {
				t.Errorf("revoked again: %+v, %v, want %+v", again, err, gone)
			}
			if _, err := k.Keys().Revoke(t.Context(), "default", made[1].ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("another tenant's key was revoked: %v", err)
			}
			for _, text := range []string{"", "x", texts[0][1:], "gk1." + made[0].ID} {
				if who, err := k.Keys().Authenticate(t.Context(), text); !errors.Is(err, access.ErrKey) || who != (access.Identity{}) {
					t.Errorf("%q: got %+v, %v, want access.ErrKey", text, who, err)
				}
			}
		})
	}
}

func TestCreateKeyRefuses(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		for _, c := range []struct {
			tenant dag.Tenant
			role   access.Role
			note   string
		}{{"No Body", access.Agent, ""}, {"acme", "root", ""}, {"acme", "", ""}, {"acme", access.Agent, strings.Repeat("x", access.MaxNote+1)}} {
			text, key, err := k.Keys().Create(t.Context(), c.tenant, c.role, c.note)
			if !errors.Is(err, dag.ErrForm) || text != "" || key != (access.Key{}) {
				t.Errorf("%+v: got %q, %+v, %v, want dag.ErrForm", c, text, key, err)
			}
		}
		if list, err := k.Keys().List(t.Context(), "acme"); err != nil || len(list) != 0 {
			t.Errorf("keys are left over: %+v, %v", list, err)
		}
	})
}

// TestCreateKeyNotStored makes sure that no key is shown that was not stored.
func TestCreateKeyNotStored(t *testing.T) {
	s := stores["memory"](t)
	k := guard(t, s, &handClock{}, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, key, err := k.Keys().Create(t.Context(), tenant, access.Agent, "")
	if !errors.Is(err, store.ErrClosed) || text != "" || key != (access.Key{}) {
		t.Errorf("got %q, %+v, %v, want ErrClosed", text, key, err)
	}
}

// TestSameIDOfTwoTenants returns two tenants keys of one id: each opens its own.
func TestSameIDOfTwoTenants(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s, clock := open(t), &handClock{}
			// The same noise draws the same id and secret.
			one, two := guard(t, s, clock, 1), guard(t, s, clock, 1)
			text1, key1 := createKey(t, one, "one", access.Admin)
			text2, key2 := createKey(t, two, "two", access.Verifier)
			if key1.ID != key2.ID || key1.Hash == key2.Hash {
				t.Fatalf("the keys are %+v and %+v: this test shows nothing", key1, key2)
			}
			for range 2 {
				accepted(t, one, "the first", text1, key1)
				accepted(t, one, "the second", text2, key2)
			}
			if _, err := one.Keys().Revoke(t.Context(), "one", key1.ID); err != nil {
				t.Fatal(err)
			}
			refusals{}.refused(t, one, "the revoked one", text1)
			accepted(t, one, "the other", text2, key2)
		})
	}
}

// TestRevokedElsewhere revokes a key through another kernel on the same store: it
// holds here for KeyAge and no longer.
func TestRevokedElsewhere(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s, clock := &keyStore{Store: open(t)}, &handClock{}
			here, there := guard(t, s, clock, 1), guard(t, s, clock, 2)
			text, key := createKey(t, here, tenant, access.Agent)
			accepted(t, here, "at first", text, key)
			if _, err := there.Keys().Revoke(t.Context(), tenant, key.ID); err != nil {
				t.Fatal(err)
			}
			r := refusals{}
			r.refused(t, there, "where it was revoked", text)
			clock.advance(kernel.KeyAge - 1)
			asked := s.asked.Load()
			accepted(t, here, "just before KeyAge", text, key)
			if s.asked.Load() != asked {
				t.Error("the store was asked before KeyAge had passed")
			}
			clock.advance(1)
			r.refused(t, here, "after KeyAge", text)
		})
	}
}

// TestKeptKeyDoesNotAge makes sure that a key that is used all the time is looked
// up again all the same, and that one from a later time than now is not trusted.
func TestKeptKeyDoesNotAge(t *testing.T) {
	s, clock := &keyStore{Store: stores["memory"](t)}, &handClock{}
	k := guard(t, s, clock, 1)
	text, key := createKey(t, k, tenant, access.Agent)
	for range 101 {
		accepted(t, k, "in use", text, key)
		clock.advance(kernel.KeyAge / 10)
	}
	if asked := s.asked.Load(); asked != 11 {
		t.Errorf("the store was asked %d times in ten times KeyAge, want 11", asked)
	}
	clock.advance(-time.Hour)
	accepted(t, k, "an hour earlier", text, key)
	if asked := s.asked.Load(); asked != 12 {
		t.Errorf("with the clock set back the store was asked %d times, want 12", asked)
	}
}

// TestOnePathForAllThatIsWrong counts look-ups: whatever is wrong with a key,
// kept or not, there is one.
func TestOnePathForAllThatIsWrong(t *testing.T) {
	s := &keyStore{Store: stores["memory"](t)}
	k := guard(t, s, &handClock{}, 1)
	text, key := createKey(t, k, tenant, access.Agent)
	old, oldKey := createKey(t, k, tenant, access.Agent)
	if _, err := k.Keys().Revoke(t.Context(), tenant, oldKey.ID); err != nil {
		t.Fatal(err)
	}
	accepted(t, k, "so that it is kept", text, key)
	r := refusals{}
	for range 3 {
		for what, wrong := range map[string]string{
			"another secret": otherSecret(text), "another id": otherID(text), "revoked": old,
			"another tenant": strings.Replace(text, string(tenant), "nobody", 1),
		} {
			before := s.asked.Load()
			r.refused(t, k, what, wrong)
			if n := s.asked.Load() - before; n != 1 {
				t.Errorf("%s: the store was asked %d times, want once", what, n)
			}
		}
	}
	before := s.asked.Load()
	accepted(t, k, "the right one", text, key)
	if s.asked.Load() != before {
		t.Error("the right one was not kept")
	}
}

// TestInventedKeys presents more keys that do not exist than a kernel keeps. They
// push nothing out.
func TestInventedKeys(t *testing.T) {
	s := &keyStore{Store: stores["memory"](t)}
	k := guard(t, s, &handClock{}, 1)
	text, key := createKey(t, k, tenant, access.Agent)
	accepted(t, k, "at first", text, key)
	for n := range 11_000 {
		invented := fmt.Sprintf("gk1.%s.%016x.%064x", tenant, n, n)
		if _, err := k.Keys().Authenticate(t.Context(), invented); !errors.Is(err, access.ErrKey) {
			t.Fatalf("%s: %v", invented, err)
		}
	}
	if asked := s.asked.Load(); asked != 11_001 {
		t.Errorf("the store was asked %d times", asked)
	}
	accepted(t, k, "afterwards", text, key)
	if asked := s.asked.Load(); asked != 11_001 {
		t.Errorf("the real key was pushed out")
	}
}

// TestRevokedInMidLookUp revokes a key after it was read and before it is kept.
func TestRevokedInMidLookUp(t *testing.T) {
	s := &keyStore{Store: stores["memory"](t)}
	k := guard(t, s, &handClock{}, 1)
	text, key := createKey(t, k, tenant, access.Agent)
	s.meanwhile = func() {
		s.meanwhile = nil
		if _, err := k.Keys().Revoke(t.Context(), tenant, key.ID); err != nil {
			t.Error(err)
		}
	}
	accepted(t, k, "both at once", text, key)
	if s.meanwhile != nil {
		t.Fatal("nothing happened meanwhile")
	}
	refusals{}.refused(t, k, "afterwards", text)
}

// TestRevocationReportedAsFailed lets the commit of a revocation fail after it was
// kept: the key must end here all the same.
func TestRevocationReportedAsFailed(t *testing.T) {
	var disk inmem.Disk
	lost := errors.New("lost")
	failing := false
	s := inmem.Open(&disk, inmem.Options{Step: func(step string) error {
		if failing && step == "committed" {
			return lost
		}
		return nil
	}})
	k := guard(t, s, &handClock{}, 1)
	text, key := createKey(t, k, tenant, access.Agent)
	accepted(t, k, "at first", text, key)
	failing = true
	if got, err := k.Keys().Revoke(t.Context(), tenant, key.ID); !errors.Is(err, lost) || got != (access.Key{}) {
		t.Fatalf("RevokeKey gave %+v, %v, want the fault", got, err)
	}
	if who, err := k.Keys().Authenticate(t.Context(), text); err == nil {
		t.Errorf("the key still opens: %+v", who)
	}
}

// TestStoreErrorIsNoRefusal makes sure that a store that cannot answer is not
// taken for one that says no.
func TestStoreErrorIsNoRefusal(t *testing.T) {
	s := &keyStore{Store: stores["memory"](t)}
	k := guard(t, s, &handClock{}, 1)
	text, key := createKey(t, k, tenant, access.Agent)
	s.fail = fmt.Errorf("test: %w", store.ErrBroken)
	if who, err := k.Keys().Authenticate(t.Context(), text); err == nil || err != s.fail || errors.Is(err, access.ErrKey) || who != (access.Identity{}) {
		t.Errorf("got %+v, %v, want the store's error as it is", who, err)
	}
	s.fail = nil
	accepted(t, k, "once the store answers", text, key)
}

// TestAuthenticateAtOnce makes, uses and revokes keys from many sides. From the
// return of RevokeKey on nobody takes the key.
func TestAuthenticateAtOnce(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			k := guard(t, open(t), &handClock{}, 1)
			ctx := t.Context()
			const sides, rounds = 4, 10
			var all sync.WaitGroup
			for range sides {
				all.Go(func() {
					for range rounds {
						text, key, err := k.Keys().Create(ctx, tenant, access.Agent, "")
						if err != nil {
							t.Error(err)
							return
						}
						var users sync.WaitGroup
						var revoked atomic.Bool
						taken, refused := atomic.Int64{}, atomic.Int64{}
						for range 3 {
							users.Go(func() {
								for ; refused.Load() < 3; time.Sleep(50 * time.Microsecond) { // who revokes needs the processor, too
									before := revoked.Load()
									who, err := k.Keys().Authenticate(ctx, text)
									switch {
									case err == nil && (before || who != key.Identity()):
										t.Errorf("taken after the revocation (%v), or as %+v", before, who)
										return
									case err == nil:
										taken.Add(1)
									case errors.Is(err, access.ErrKey):
										refused.Add(1)
									default:
										t.Error(err)
										return
									}
								}
							})
						}
						for taken.Load() == 0 && !t.Failed() {
							time.Sleep(time.Microsecond)
						}
						if _, err := k.Keys().Revoke(ctx, tenant, key.ID); err != nil {
							t.Error(err)
						}
						if _, err := k.Keys().Authenticate(ctx, text); !errors.Is(err, access.ErrKey) {
							t.Errorf("just after the revocation: %v, want %v", err, access.ErrKey)
						}
						revoked.Store(true)
						users.Wait()
					}
				})
			}
			all.Wait()
			if list, err := k.Keys().List(ctx, tenant); err != nil || len(list) != sides*rounds {
				t.Errorf("%d keys, %v, want %d", len(list), err, sides*rounds)
			}
		})
	}
}

// BenchmarkAuthenticate takes a key that is kept, one that must be looked up, and
// one that does not exist.
func BenchmarkAuthenticate(b *testing.B) {
	for _, kind := range []string{"warm", "cold", "unknown"} {
		b.Run(kind, func(b *testing.B) {
			clock := &handClock{}
			k := guard(b, stores["sqlite"](b), clock, 1)
			text, _ := createKey(b, k, tenant, access.Agent)
			if kind == "unknown" {
				text = otherID(text)
			}
			b.ReportAllocs()
			for b.Loop() {
				if kind == "cold" {
					clock.advance(kernel.KeyAge)
				}
				if _, err := k.Keys().Authenticate(context.Background(), text); (err == nil) != (kind != "unknown") {
					b.Fatal(err)
				}
			}
		})
	}
}
