package access_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// mint draws a key from a seed.
func mint(t testing.TB, seed byte, tenant dag.Tenant, role access.Role) (string, access.Key) {
	t.Helper()
	text, k, err := access.Mint(rand.NewChaCha8([32]byte{seed}), tenant, role, "for tests", 1_780_000_000_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return text, k
}

// opens parses a text and reports whether it opens a key.
func opens(text string, k *access.Key) bool {
	p, err := access.Parse(text)
	return err == nil && p.Opens(k)
}

// TestMintParse is the law of the two: what Mint gives, Parse takes apart, and it
// opens that key and no other.
func TestMintParse(t *testing.T) {
	type minted struct {
		text string
		key  access.Key
	}
	var all []minted
	for _, tenant := range []dag.Tenant{"default", "a", "0", dag.Tenant(strings.Repeat("x", 63))} {
		for _, role := range access.Roles {
			text, k := mint(t, byte(len(all)), tenant, role)
			all = append(all, minted{text, k})
		}
	}
	for i, a := range all {
		if err := a.key.Check(); err != nil {
			t.Error(err)
		}
		p, err := access.Parse(a.text)
		if err != nil {
			t.Fatalf("Parse of what Mint gave: %v", err)
		}
		if p.Tenant != a.key.Tenant || p.ID != a.key.ID {
			t.Errorf("Parse gave tenant %s, id %s, want %s, %s", p.Tenant, p.ID, a.key.Tenant, a.key.ID)
		}
		if want := (access.Identity{Tenant: a.key.Tenant, Role: a.key.Role, Subject: a.key.ID}); a.key.Identity() != want {
			t.Errorf("identity is %+v, want %+v", a.key.Identity(), want)
		}
		for j := range all {
			if got := p.Opens(&all[j].key); got != (i == j) {
				t.Errorf("key %d opens %d: %v", i, j, got)
			}
		}
	}
}

// TestMintForm shows one key from known randomness, and that it holds 32 bytes of
// it which are nowhere in the record.
func TestMintForm(t *testing.T) {
	drawn := make([]byte, 40)
	for i := range drawn {
		drawn[i] = byte(i + 1)
	}
	text, k, err := access.Mint(bytes.NewReader(drawn), "acme", access.Agent, "CI", 7)
	if err != nil {
		t.Fatal(err)
	}
	secret := hex.EncodeToString(drawn[8:])
	if want := "gk1.acme.0102030405060708." + secret; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if k.Note != "CI" || k.CreatedAt != 7 || k.RevokedAt != 0 || k.Role != access.Agent {
		t.Errorf("the record is %+v", k)
	}
	p, err := access.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprintf("%+v %#v", k, k), fmt.Sprintf("%+v %#v", p, p)} {
		if strings.Contains(shown, secret) || strings.Contains(shown, text) {
			t.Errorf("printing shows the secret: %s", shown)
		}
	}
}

// TestMintRefuses returns Mint what no key can have.
func TestMintRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		random io.Reader
		tenant dag.Tenant
		role   access.Role
		note   string
		now    dag.Time
		want   error
	}{
		{"no randomness", strings.NewReader("too short"), "t", access.Agent, "", 1, io.ErrUnexpectedEOF},
		{"no tenant", nil, "", access.Agent, "", 1, dag.ErrForm},
		{"a tenant with a point", nil, "a.b", access.Agent, "", 1, dag.ErrForm},
		{"no role", nil, "t", "", "", 1, dag.ErrForm},
		{"an unknown role", nil, "t", "root", "", 1, dag.ErrForm},
		{"a long note", nil, "t", access.Agent, strings.Repeat("x", access.MaxNote+1), 1, dag.ErrForm},
		{"a note that is no UTF-8", nil, "t", access.Agent, "\xff", 1, dag.ErrForm},
		{"a time before 1970", nil, "t", access.Agent, "", -1, dag.ErrForm},
	} {
		if c.random == nil {
			c.random = rand.NewChaCha8([32]byte{})
		}
		text, k, err := access.Mint(c.random, c.tenant, c.role, c.note, c.now)
		if !errors.Is(err, c.want) || text != "" || k != (access.Key{}) {
			t.Errorf("%s: got %q, %+v, %v, want %v", c.name, text, k, err, c.want)
		}
	}
	if _, _, err := access.Mint(rand.NewChaCha8([32]byte{}), "t", access.Agent, strings.Repeat("x", access.MaxNote), 0); err != nil {
		t.Errorf("the longest note: %v", err)
	}
}

// TestCheck spoils one field of a good record at a time.
func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(*access.Key){
		"tenant":     func(k *access.Key) { k.Tenant = "No Body" },
		"no id":      func(k *access.Key) { k.ID = "" },
		"short id":   func(k *access.Key) { k.ID = k.ID[1:] },
		"long id":    func(k *access.Key) { k.ID += "0" },
		"id":         func(k *access.Key) { k.ID = "A" + k.ID[1:] },
		"role":       func(k *access.Key) { k.Role = "Agent" },
		"note":       func(k *access.Key) { k.Note = "\xc3" },
		"created_at": func(k *access.Key) { k.CreatedAt = dag.MaxTime + 1 },
		"revoked_at": func(k *access.Key) { k.RevokedAt = -1 },
		"hash":       func(k *access.Key) { k.Hash = [32]byte{} },
	} {
		_, k := mint(t, 1, "t", access.Agent)
		if err := k.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(&k)
		if err := k.Check(); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: got %v, want dag.ErrForm", name, err)
		}
	}
}

// TestMangled changes every byte of a key's text to every other value, takes each
// out and puts one in. Nothing of that opens the key.
func TestMangled(t *testing.T) {
	text, k := mint(t, 1, "acme", access.Admin)
	if !opens(text, &k) {
		t.Fatal("the key does not open itself")
	}
	mangled := 0
	try := func(s string) {
		mangled++
		if opens(s, &k) {
			t.Errorf("%q opens the key of %q", s, text)
		}
	}
	for i := range len(text) {
		for b := range 256 {
			if byte(b) != text[i] {
				try(text[:i] + string([]byte{byte(b)}) + text[i+1:])
			}
			try(text[:i] + string([]byte{byte(b)}) + text[i:])
		}
		try(text[:i])
		try(text[:i] + text[i+1:])
	}
	try(strings.ToUpper(text))
	try(text + "\n")
	try(" " + text)
	try(text + "." + text)
	if mangled < 500*len(text) {
		t.Errorf("only %d texts were tried", mangled)
	}
}

// TestOpens spoils the record in the ways that must keep what was presented out.
func TestOpens(t *testing.T) {
	text, k := mint(t, 1, "acme", access.Admin)
	p, err := access.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Opens(&k) {
		t.Fatal("the key does not open itself")
	}
	for name, spoil := range map[string]func(*access.Key){
		"revoked":       func(k *access.Key) { k.RevokedAt = 1 },
		"of another":    func(k *access.Key) { k.Tenant = "other" },
		"another id":    func(k *access.Key) { k.ID = strings.Repeat("0", 16) },
		"another hash":  func(k *access.Key) { k.Hash[31] ^= 1 },
		"no hash":       func(k *access.Key) { k.Hash = [32]byte{} },
		"the zero Key":  func(k *access.Key) { *k = access.Key{} },
		"only the hash": func(k *access.Key) { *k = access.Key{Hash: k.Hash} },
	} {
		spoiled := k
		spoil(&spoiled)
		if p.Opens(&spoiled) {
			t.Errorf("%s: the key opens it", name)
		}
	}
	// Anyone who ignores the error of Parse holds the zero Presented.
	if (access.Presented{}).Opens(&access.Key{}) {
		t.Error("the zero Presented opens the zero Key")
	}
	if (access.Presented{}).Opens(&k) {
		t.Error("the zero Presented opens a key")
	}
}

// TestParseTellsNoSecret parses texts that are nearly keys: no error holds the
// secret, or as much as eight digits of it.
func TestParseTellsNoSecret(t *testing.T) {
	text, k := mint(t, 3, "acme", access.Agent)
	secret := text[strings.LastIndex(text, ".")+1:]
	refused := 0
	for _, s := range []string{
		"", ".", "...", secret, text[1:], "x" + text, text + "x", text + text, text + strings.Repeat("0", 500), strings.ToUpper(text),
		strings.Replace(text, ".", "", 1), strings.Replace(text, "gk1", "gk2", 1), strings.Replace(text, "acme", "Acme", 1),
		strings.Replace(text, k.ID, secret, 1), strings.Replace(text, k.ID, k.ID[1:], 1), strings.Replace(text, "acme", secret[:40], 1) + "0",
		text[:len(text)-1], text[:len(text)-1] + "g", "gk1.acme." + secret, "gk1." + secret + "." + k.ID, text + "\n",
		strings.Replace(text, secret, strings.ToUpper(secret), 1), strings.Replace(text, k.ID, strings.ToUpper(k.ID), 1), // second spellings
	} {
		p, err := access.Parse(s)
		if !errors.Is(err, access.ErrKey) || p != (access.Presented{}) {
			t.Errorf("Parse(%q) gave %+v, %v, want ErrKey", s, p, err)
			continue
		}
		refused++
		tells(t, err, secret)
		tells(t, access.CheckID(s), secret)
	}
	if refused < 20 {
		t.Errorf("only %d texts were refused", refused)
	}
}

// tells fails the test if an error holds eight digits of the secret in a row.
func tells(t *testing.T, err error, secret string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	for i := range len(secret) - 8 {
		if strings.Contains(strings.ToLower(err.Error()), secret[i:i+8]) {
			t.Errorf("the error tells the secret: %v", err)
			return
		}
	}
}

// TestParseKeepsNoText makes sure that the parts do not lie in the memory of the
// text, which anyone who keeps them would keep with its secret.
func TestParseKeepsNoText(t *testing.T) {
	text, _ := mint(t, 4, "acme", access.Agent)
	p, err := access.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	first := uintptr(unsafe.Pointer(unsafe.StringData(text)))
	for _, part := range []string{string(p.Tenant), p.ID} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(part))); at >= first && at < first+uintptr(len(text)) {
			t.Errorf("%q lies within the text", part)
		}
	}
}

// FuzzParse makes sure that there is one spelling: what parses is what its parts
// and its last 64 characters spell, and its error tells nothing.
func FuzzParse(f *testing.F) {
	good, k := mint(f, 5, "acme", access.Agent)
	for _, s := range []string{"", good, good + ".", strings.ToUpper(good), "gk1.a." + k.ID + ".", "gk1...", "gk2" + good[3:]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := access.Parse(s)
		if err != nil {
			if !errors.Is(err, access.ErrKey) || p != (access.Presented{}) {
				t.Fatalf("got %+v, %v, want ErrKey", p, err)
			}
			if len(s) > 40 && strings.Contains(err.Error(), s[len(s)-20:]) {
				t.Fatalf("the error holds the text: %v", err)
			}
			return
		}
		if _, err := dag.ParseTenant(string(p.Tenant)); err != nil {
			t.Fatal(err)
		}
		if err := access.CheckID(p.ID); err != nil {
			t.Fatal(err)
		}
		if again := fmt.Sprintf("gk1.%s.%s.%s", p.Tenant, p.ID, s[max(0, len(s)-64):]); again != s {
			t.Fatalf("%q was read as %q", s, again)
		}
		if s != strings.ToLower(s) {
			t.Fatalf("%q has capital letters", s)
		}
		if p.Opens(&k) != (s == good) {
			t.Fatalf("%q opens the key of %q: %v", s, good, s != good)
		}
		if p.Opens(&access.Key{}) {
			t.Fatalf("%q opens the zero Key", s)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text, k := mint(b, 6, "acme", access.Agent)
	b.ReportAllocs()
	for b.Loop() {
		if !opens(text, &k) {
			b.Fatal("does not open")
		}
	}
}
