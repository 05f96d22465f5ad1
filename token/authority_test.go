package token_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// TestPinnedToken is GKP/1, appendix A.7.
func TestPinnedToken(t *testing.T) {
	a := token.NewAuthority(ringOf(t, "k1"))
	p := provenance(t)
	seal, err := a.Seal(dag.DefaultTenant, &slice.Slice{Provenance: p})
	want := slice.Seal{Tenant: "default", KeyID: "k1", Token: "8d252dd735e8909f9eaaf5ff17d823a1"}
	if err != nil || seal != want {
		t.Errorf("got %+v, %v, want %+v", seal, err, want)
	}
	if err := a.Check(&p, want); err != nil {
		t.Error(err)
	}
}

// pinnedUnder returns the seal of appendix A.7 as if it were of another key.
func pinnedUnder(id token.KeyID) slice.Seal {
	return slice.Seal{Tenant: dag.DefaultTenant, KeyID: string(id), Token: "8d252dd735e8909f9eaaf5ff17d823a1"}
}

// slowToken is section 8.2 of GKP/1, HKDF written out.
func slowToken(secret []byte, tenant, key, text string) string {
	mac := func(key []byte, message string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(message))
		return h.Sum(nil)
	}
	prk := mac(make([]byte, 32), string(secret))
	return hex.EncodeToString(mac(mac(prk, "graphkernel:token:v2:"+tenant+":"+key+"\x01"), text)[:16])
}

func TestTokenAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 32, 100).Draw(t, "secret")
		label := rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,62}`)
		tenant, id := label.Draw(t, "tenant"), label.Draw(t, "key")
		p := provenance(t)
		p.SliceID = slice.SliceID(rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "slice id"))
		p.GraphSnapshotHash[0] = rapid.Byte().Draw(t, "hash")
		secret, err := token.NewSecret(raw)
		if err != nil {
			t.Fatal(err)
		}
		ring, err := token.Keyring{}.Rotate(token.KeyID(id), secret, 0)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		seal, err := token.NewAuthority(ring).Seal(dag.Tenant(tenant), &slice.Slice{Provenance: p})
		if want := slowToken(raw, tenant, id, text); err != nil || seal.Token != want {
			t.Errorf("got %+v, %v, want %s", seal, err, want)
		}
	})
}

// TestSeparation holds that a token of one tenant, key or slice is good for no other.
func TestSeparation(t *testing.T) {
	// Names that would run into each other without the colons' being excluded.
	tenants := []dag.Tenant{"default", "a", "a-b", "ab", "b", "k1"}
	a := token.NewAuthority(ringOf(t, "k1"))
	p := provenance(t)
	seen := map[string]string{}
	for _, tenant := range tenants {
		for n, id := range []token.KeyID{"k1", "a", "b", "a-b"} {
			ring, err := token.Keyring{}.Rotate(id, secretOf(t, testSecret), 0)
			if err != nil {
				t.Fatal(err)
			}
			own := token.NewAuthority(ring)
			seal, err := own.Seal(tenant, &slice.Slice{Provenance: p})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s/%s", tenant, id)
			if other, again := seen[seal.Token]; again {
				t.Errorf("%s and %s share a token", name, other)
			}
			seen[seal.Token] = name
			for _, other := range tenants {
				moved := seal
				moved.Tenant = other
				if err := own.Check(&p, moved); (err == nil) != (other == tenant) || err != nil && !errors.Is(err, token.ErrToken) {
					t.Errorf("a token of %s as one of %s: %v", name, other, err)
				}
			}
			if n == 0 {
				continue
			}
			// The same secret under another name is another key.
			seal.KeyID = "k1"
			if err := a.Check(&p, seal); !errors.Is(err, token.ErrToken) {
				t.Errorf("a token of %s as one of k1: %v", name, err)
			}
		}
	}
	if len(seen) != 24 {
		t.Errorf("%d tokens", len(seen))
	}
}

// TestCheckRefuses alters each thing that a check looks at, with cold and warm
// caches.
func TestCheckRefuses(t *testing.T) {
	p := provenance(t)
	good := slice.Seal{Tenant: "default", KeyID: "k1", Token: "8d252dd735e8909f9eaaf5ff17d823a1"}
	for _, warm := range []bool{false, true} {
		a := token.NewAuthority(ringOf(t, "k1"))
		for name, tc := range map[string]struct {
			change func(*slice.Provenance, *slice.Seal)
			want   error
		}{
			"slice id":        {func(p *slice.Provenance, _ *slice.Seal) { p.SliceID = "cd98f7ba78b64ce4" }, token.ErrToken},
			"anchor":          {func(p *slice.Provenance, _ *slice.Seal) { p.Anchor[0] ^= 1 }, token.ErrToken},
			"policy id":       {func(p *slice.Provenance, _ *slice.Seal) { p.PolicyID = "meeting@2" }, token.ErrToken},
			"params hash":     {func(p *slice.Provenance, _ *slice.Seal) { p.PolicyParamsHash[31] ^= 1 }, token.ErrToken},
			"snapshot hash":   {func(p *slice.Provenance, _ *slice.Seal) { p.GraphSnapshotHash[31] ^= 1 }, token.ErrToken},
			"schema version":  {func(p *slice.Provenance, _ *slice.Seal) { p.SchemaVersion = "gkp/9" }, slice.ErrVersion},
			"no slice id":     {func(p *slice.Provenance, _ *slice.Seal) { p.SliceID = "" }, dag.ErrForm},
			"no anchor":       {func(p *slice.Provenance, _ *slice.Seal) { p.Anchor = dag.TurnID{} }, dag.ErrForm},
			"no policy id":    {func(p *slice.Provenance, _ *slice.Seal) { p.PolicyID = "" }, dag.ErrForm},
			"no version":      {func(p *slice.Provenance, _ *slice.Seal) { p.SchemaVersion = "" }, slice.ErrVersion},
			"a | in the name": {func(p *slice.Provenance, _ *slice.Seal) { p.PolicyID = "a|b@1" }, dag.ErrForm},
			"no provenance":   {func(p *slice.Provenance, _ *slice.Seal) { *p = slice.Provenance{} }, dag.ErrForm},
			"tenant":          {func(_ *slice.Provenance, s *slice.Seal) { s.Tenant = "other" }, token.ErrToken},
			"no tenant":       {func(_ *slice.Provenance, s *slice.Seal) { s.Tenant = "" }, dag.ErrForm},
			"tenant, form":    {func(_ *slice.Provenance, s *slice.Seal) { s.Tenant = "default\n" }, dag.ErrForm},
			"key":             {func(_ *slice.Provenance, s *slice.Seal) { s.KeyID = "k2" }, token.ErrKeyUnknown},
			"no key":          {func(_ *slice.Provenance, s *slice.Seal) { s.KeyID = "" }, dag.ErrForm},
			"no token":        {func(_ *slice.Provenance, s *slice.Seal) { s.Token = "" }, dag.ErrForm},
			"half a token":    {func(_ *slice.Provenance, s *slice.Seal) { s.Token = s.Token[:16] }, dag.ErrForm},
			"longer token":    {func(_ *slice.Provenance, s *slice.Seal) { s.Token += "ff17d823a18416890ac39311cfd2204521" }, dag.ErrForm},
			"capital token":   {func(_ *slice.Provenance, s *slice.Seal) { s.Token = strings.ToUpper(s.Token) }, dag.ErrForm},
			"zero token":      {func(_ *slice.Provenance, s *slice.Seal) { s.Token = strings.Repeat("0", 32) }, token.ErrToken},
			"first digit":     {func(_ *slice.Provenance, s *slice.Seal) { s.Token = "9" + s.Token[1:] }, token.ErrToken},
			"last digit":      {func(_ *slice.Provenance, s *slice.Seal) { s.Token = s.Token[:31] + "0" }, token.ErrToken},
			"no seal":         {func(_ *slice.Provenance, s *slice.Seal) { *s = slice.Seal{} }, dag.ErrForm},
		} {
			if warm {
				if err := a.Check(&p, good); err != nil {
					t.Fatal(err)
				}
			}
			q, seal := p, good
			tc.change(&q, &seal)
			for range 2 {
				if err := a.Check(&q, seal); !errors.Is(err, tc.want) {
					t.Errorf("%s, warm %t: got %v, want %v", name, warm, err, tc.want)
				}
			}
		}
	}
}

func TestSealRefuses(t *testing.T) {
	a := token.NewAuthority(ringOf(t, "k1"))
	p := provenance(t)
	for _, tenant := range []dag.Tenant{"", "Default", "a:b", "a|b", "-a"} {
		if seal, err := a.Seal(tenant, &slice.Slice{Provenance: p}); !errors.Is(err, dag.ErrForm) || seal != (slice.Seal{}) {
			t.Errorf("tenant %q: got %+v, %v", tenant, seal, err)
		}
	}
	p.SliceID = ""
	if seal, err := a.Seal(dag.DefaultTenant, &slice.Slice{Provenance: p}); !errors.Is(err, dag.ErrForm) || seal != (slice.Seal{}) {
		t.Errorf("no slice id: got %+v, %v", seal, err)
	}
}

// TestReplaceRetiresAtOnce holds that a token which was found good, and whose key
// was derived, is refused as soon as Replace has returned.
func TestReplaceRetiresAtOnce(t *testing.T) {
	old := ringOf(t, "k1", "k2")
	a := token.NewAuthority(old)
	p := provenance(t)
	seal := slice.Seal{Tenant: "default", KeyID: "k1", Token: "8d252dd735e8909f9eaaf5ff17d823a1"}
	for range 3 {
		if err := a.Check(&p, seal); err != nil {
			t.Fatal(err)
		}
	}
	retired, err := old.Retire("k1", 5)
	if err != nil {
		t.Fatal(err)
	}
	a.Replace(retired)
	if err := a.Check(&p, seal); !errors.Is(err, token.ErrKeyRetired) {
		t.Errorf("after Replace: got %v, want ErrKeyRetired", err)
	}
	if got := a.Keyring().Keys()[0].State; got != token.Retired {
		t.Errorf("the ring in place has k1 %s", got)
	}
	// Another secret under the same id is no longer that key.
	other, err := token.Keyring{}.Rotate("k1", numbered(t, 99), 0)
	if err != nil {
		t.Fatal(err)
	}
	a.Replace(old)
	if err := a.Check(&p, seal); err != nil {
		t.Fatal(err)
	}
	a.Replace(other)
	if err := a.Check(&p, seal); !errors.Is(err, token.ErrToken) {
		t.Errorf("under another secret: got %v, want ErrToken", err)
	}
	a.Replace(token.Keyring{})
	if err := a.Check(&p, seal); !errors.Is(err, token.ErrKeyUnknown) {
		t.Errorf("under no keys: got %v, want ErrKeyUnknown", err)
	}
}

// TestAuthorityConcurrent seals, checks and replaces at once. What is sealed by a
// ring that had its key retired afterwards is refused from then on.
func TestAuthorityConcurrent(t *testing.T) {
	ring := ringOf(t, "k1")
	a := token.NewAuthority(ring)
	p := provenance(t)
	var wg sync.WaitGroup
	good := make([]int, 4)
	for n := range good {
		wg.Go(func() {
			for i := range 300 {
				tenant := dag.Tenant(fmt.Sprintf("t-%d", i%7))
				seal, err := a.Seal(tenant, &slice.Slice{Provenance: p})
				if err != nil {
					t.Errorf("Seal: %v", err)
					return
				}
				err = a.Check(&p, seal)
				if err != nil && !errors.Is(err, token.ErrKeyRetired) {
					t.Errorf("Check: %v", err)
					return
				}
				if err == nil {
					good[n]++
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 60 {
			signer, err := ring.Signer()
			if err != nil {
				t.Errorf("Signer: %v", err)
				return
			}
			seal, err := a.Seal(dag.DefaultTenant, &slice.Slice{Provenance: p})
			if err != nil || seal.KeyID != string(signer) {
				t.Errorf("sealed with %q, %v, want %q", seal.KeyID, err, signer)
				return
			}
			if ring, err = ring.Rotate(ring.NextID(), numbered(t, i+2), 0); err != nil {
				t.Errorf("Rotate: %v", err)
				return
			}
			a.Replace(ring)
			if err := a.Check(&p, seal); err != nil {
				t.Errorf("a live key: %v", err)
			}
			if ring, err = ring.Retire(signer, 0); err != nil {
				t.Errorf("Retire: %v", err)
				return
			}
			a.Replace(ring)
			if err := a.Check(&p, seal); !errors.Is(err, token.ErrKeyRetired) {
				t.Errorf("after Replace had returned: got %v, want ErrKeyRetired", err)
			}
		}
	})
	wg.Wait()
	for n := range good {
		if good[n] == 0 {
			t.Errorf("goroutine %d found no token good", n)
		}
	}
	if got := len(ring.Keys()); got != 61 {
		t.Errorf("%d keys, want 61", got)
	}
}

// TestSecret holds that a secret is of its purpose and of the key that signs, and of nothing that a process drew.
func TestSecret(t *testing.T) {
	secret := func(purpose string, ids ...token.KeyID) string {
		s, err := token.NewAuthority(ringOf(t, ids...)).Secret(purpose)
		if err != nil || len(s) != 32 {
			t.Fatalf("%d bytes, %v", len(s), err)
		}
		return string(s)
	}
	first := secret("a", "k1")
	if secret("a", "k1") != first {
		t.Error("another process has another secret")
	}
	for name, other := range map[string]string{"purpose": secret("b", "k1"), "key": secret("a", "k1", "k2")} {
		if other == first {
			t.Errorf("another %s has the same secret", name)
		}
	}
	if _, err := token.NewAuthority(token.Keyring{}).Secret("a"); err == nil {
		t.Error("nothing signs, and there is a secret")
	}
}
