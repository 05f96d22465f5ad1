package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// testSecret is the one of GKP/1, appendix A.7.
const testSecret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func secretOf(t fataler, text string) token.Secret {
	t.Helper()
	s, err := token.ParseSecret(text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// numbered returns a secret of 32 equal bytes.
func numbered(t fataler, n int) token.Secret {
	t.Helper()
	return secretOf(t, strings.Repeat(fmt.Sprintf("%02x", n), 32))
}

func ringOf(t fataler, ids ...token.KeyID) token.Keyring {
	t.Helper()
	var r token.Keyring
	for i, id := range ids {
		secret := numbered(t, i+1)
		if i == 0 {
			secret = secretOf(t, testSecret)
		}
		var err error
		if r, err = r.Rotate(id, secret, dag.Time(i)); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return r
}

// provenance is that of GKP/1, appendix A.7.
func provenance(t fataler) slice.Provenance {
	t.Helper()
	anchor, err := dag.ParseTurnID("a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02")
	if err != nil {
		t.Fatalf("%v", err)
	}
	p := slice.Provenance{SliceID: "cd98f7ba78b64ce3", Anchor: anchor, PolicyID: "meeting@1", SchemaVersion: "gkp/1"}
	if err := dag.ParseHex(p.PolicyParamsHash[:], "cd3dee7994f066d2ae453cc74d6fba2c963d8873b76042befb0c1a6bdc79ee83"); err != nil {
		t.Fatalf("%v", err)
	}
	if err := dag.ParseHex(p.GraphSnapshotHash[:], "1a090e78ddc78d1e1f26d4e12181752d581727157f3499ed911d4b29c6fdf160"); err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

func TestSecretForms(t *testing.T) {
	if s := secretOf(t, testSecret); s.Reveal() != testSecret {
		t.Errorf("got %s", s.Reveal())
	}
	for _, bad := range []string{
		"", testSecret[:62], testSecret[:63], testSecret + "0", strings.ToUpper(testSecret), testSecret[:63] + "g", testSecret[:63] + "\n", " " + testSecret[1:], "0x" + testSecret[2:], strings.Repeat("é", 32),
	} {
		s, err := token.ParseSecret(bad)
		if !errors.Is(err, token.ErrSecret) || s.Reveal() != "" {
			t.Errorf("%d characters: got %v, want ErrSecret", len(bad), err)
		}
		if len(bad) > 16 && strings.Contains(fmt.Sprint(err), bad[8:24]) {
			t.Errorf("the error shows the text: %v", err)
		}
	}
	raw := bytes.Repeat([]byte{7}, token.MinSecret)
	s, err := token.NewSecret(raw)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw)
	if s.Reveal() != strings.Repeat("07", 32) {
		t.Error("a Secret shares the caller's bytes")
	}
	if _, err := token.NewSecret(raw[1:]); !errors.Is(err, token.ErrSecret) {
		t.Errorf("31 bytes: got %v, want ErrSecret", err)
	}
	if s, err := token.DrawSecret(bytes.NewReader(bytes.Repeat([]byte{9}, 32))); err != nil || s.Reveal() != strings.Repeat("09", 32) {
		t.Errorf("got %v", err)
	}
	if s, err := token.DrawSecret(bytes.NewReader(make([]byte, 31))); err == nil || s.Reveal() != "" {
		t.Error("a source that ends too early is taken")
	}
	one, err := token.DrawSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := token.DrawSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	if one.Reveal() == two.Reveal() || len(one.Reveal()) != 2*token.MinSecret {
		t.Error("the system's randomness repeats itself")
	}
}

// TestSecretHides prints, logs and encodes everything that holds a secret.
func TestSecretHides(t *testing.T) {
	raw := []byte("S3cr3t-S3cr3t-S3cr3t-S3cr3t-S3cr3t!")
	s, err := token.NewSecret(raw)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", s, 0)
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		Shown  token.Secret
		hidden token.Secret
		ring   token.Keyring
		Ring   token.Keyring
	}
	h := holder{s, s, ring, ring}
	a := token.NewAuthority(ring)
	traces := []string{
		string(raw[:8]), hex.EncodeToString(raw[:8]), strings.ToUpper(hex.EncodeToString(raw[:8])), base64.StdEncoding.EncodeToString(raw[:6]), base64.URLEncoding.EncodeToString(raw[:6]),
		"83 51 99 114 51 116", "83, 51, 99, 114", "0x53, 0x33, 0x63", "53 33 63 72", "0x53 0x33", "123 63 143", "1010011 110011", `\x53\x33`, "U+0053",
	}
	looked := 0
	look := func(how, text string) {
		looked++
		for _, trace := range traces {
			if strings.Contains(text, trace) {
				t.Errorf("%s shows %q: %.200s", how, trace, text)
				return
			}
		}
	}
	values := map[string]any{
		"Secret": s, "*Secret": &s, "[]Secret": []token.Secret{s}, "map": map[string]token.Secret{"k": s}, "Keyring": ring, "*Keyring": &ring, "[]Keyring": []token.Keyring{ring},
		"struct": h, "*struct": &h, "Keys": ring.Keys(), "Authority": a, "Verifier": token.NewVerifier(a), "error": fmt.Errorf("with %v", s), "any": []any{s, &s, ring},
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%o", "%b", "%c", "%U", "%T", "%p", "%w", "%80v", "%-5s"} {
			look(name+" "+verb, fmt.Sprintf(verb, v)) //nolint:govet // every verb on purpose
		}
		look(name+" Sprint", fmt.Sprint(v)+fmt.Sprintln(v))
		if text, err := json.Marshal(v); err == nil {
			look(name+" json", string(text))
		}
		var encoded bytes.Buffer
		if gob.NewEncoder(&encoded).Encode(v) == nil {
			look(name+" gob", encoded.String())
		}
		for _, handler := range []func(*bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var log bytes.Buffer
			slog.New(handler(&log)).Info("m", "v", v, slog.Group("g", "v", v))
			look(name+" slog", log.String())
		}
	}
	look("String", s.String()+s.GoString())
	if text, err := s.MarshalText(); err != nil {
		t.Error(err)
	} else {
		look("MarshalText", string(text))
	}
	if looked < 200 {
		t.Errorf("looked at %d texts", looked)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%c"} {
		if got := fmt.Sprintf(verb, s); got != "[secret]" {
			t.Errorf("%s: got %q", verb, got)
		}
	}
	// The other way round: the traces are the right ones.
	if !strings.Contains(fmt.Sprint(raw), traces[5]) || !strings.Contains(fmt.Sprintf("%#v", raw), traces[7]) || !strings.Contains(s.Reveal(), traces[1]) {
		t.Error("a secret that shows would not be found")
	}
}

// A modelKey is a key of the model.
type modelKey struct {
	id     token.KeyID
	state  token.State
	secret int
	added  dag.Time
	ended  dag.Time
}

// TestKeyringAgainstModel rotates, imports and retires at random and compares
// with a model. Older rings stay what they were.
func TestKeyringAgainstModel(t *testing.T) {
	p := provenance(t)
	done := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		var ring token.Keyring
		var model []modelKey
		seals := map[token.KeyID]slice.Seal{} // of every key that ever signed
		var before token.Keyring
		var beforeKeys []token.Key
		for now := range dag.Time(rapid.IntRange(8, 20).Draw(t, "steps")) {
			id := token.KeyID(rapid.SampledFrom([]string{"a", "b", "k1", "k2", "k3", "A", ""}).Draw(t, "id"))
			n := rapid.IntRange(0, 5).Draw(t, "secret")
			var secret token.Secret // 0: none at all
			if n > 0 {
				secret = numbered(t, n)
			}
			at := slices.IndexFunc(model, func(k modelKey) bool { return k.id == id })
			same := slices.ContainsFunc(model, func(k modelKey) bool { return k.secret == n && k.state != token.Retired })
			before, beforeKeys = ring, ring.Keys()
			op := rapid.SampledFrom([]string{"rotate", "import", "retire"}).Draw(t, "op")
			// A random id seldom names a key that can be retired, so most draws take one of the ring's.
			if op == "retire" && len(model) > 0 && rapid.IntRange(0, 3).Draw(t, "known") > 0 {
				id = rapid.SampledFrom(model).Draw(t, "key").id
				at = slices.IndexFunc(model, func(k modelKey) bool { return k.id == id })
			}
			var next token.Keyring
			var err, want error
			switch op {
			case "retire":
				next, err = ring.Retire(id, now)
				switch {
				case at < 0:
					want = token.ErrKeyUnknown
				case model[at].state == token.Retired:
					want = token.ErrKeyRetired
				case model[at].state == token.Signing:
					want = errAny
				default:
					model[at].state, model[at].ended, model[at].secret = token.Retired, now, 0
				}
			default:
				if op == "rotate" {
					next, err = ring.Rotate(id, secret, now)
				} else {
					next, err = ring.Import(id, secret, now)
				}
				switch {
				case id == "" || id == "A":
					want = dag.ErrForm
				case n == 0:
					want = token.ErrSecret
				case at >= 0 || same:
					want = token.ErrKeyExists
				case op == "import" && len(model) > 0:
					model = append(model, modelKey{id: id, state: token.Live, secret: n, added: now})
				default:
					for i := range model {
						if model[i].state == token.Signing {
							model[i].state = token.Live
						}
					}
					model = append(model, modelKey{id: id, state: token.Signing, secret: n, added: now})
				}
			}
			if (err != nil) != (want != nil) || want != nil && want != errAny && !errors.Is(err, want) {
				t.Fatalf("%s %q: got %v, want %v", op, id, err, want)
			}
			if err == nil {
				done[op]++
			} else if diff := cmp.Diff(ring.Keys(), next.Keys()); diff != "" {
				t.Fatalf("%s %q failed and changed the ring: %s", op, id, diff)
			}
			if diff := cmp.Diff(beforeKeys, before.Keys()); diff != "" {
				t.Fatalf("%s %q changed the ring it was called on: %s", op, id, diff)
			}
			ring = next
			checkRing(t, ring, model, p, seals)
		}
	})
	if done["rotate"] == 0 || done["import"] == 0 || done["retire"] == 0 {
		t.Errorf("what was done: %v", done)
	}
}

// errAny stands for an error that callers do not branch on.
var errAny = errors.New("any error")

// checkRing compares a ring with the model: its list, who signs, and whose tokens
// verify.
func checkRing(t *rapid.T, ring token.Keyring, model []modelKey, p slice.Provenance, seals map[token.KeyID]slice.Seal) {
	t.Helper()
	var keys []token.Key
	signer, signers := token.KeyID(""), 0
	for _, k := range model {
		keys = append(keys, token.Key{ID: k.id, State: k.state, CreatedAt: k.added, RetiredAt: k.ended})
		if k.state == token.Signing {
			signer = k.id
			signers++
		}
	}
	if len(model) > 0 && signers != 1 {
		t.Fatalf("the model has %d signers", signers)
	}
	if got := ring.Keys(); !slices.Equal(got, keys) {
		t.Fatalf("-want +got:\n%s", cmp.Diff(keys, got))
	}
	if got, err := ring.Signer(); got != signer || (err != nil) != (signers == 0) || err != nil && !errors.Is(err, token.ErrNoKey) {
		t.Fatalf("signer: got %q, %v, want %q", got, err, signer)
	}
	a := token.NewAuthority(ring)
	seal, err := a.Seal(dag.DefaultTenant, &slice.Slice{Provenance: p})
	if signers == 0 {
		if !errors.Is(err, token.ErrNoKey) || seal != (slice.Seal{}) {
			t.Fatalf("an empty ring seals: %+v, %v", seal, err)
		}
	} else if err != nil || seal.KeyID != string(signer) {
		t.Fatalf("got %+v, %v", seal, err)
	} else {
		seals[signer] = seal
	}
	for id, seal := range seals {
		err := a.Check(&p, seal)
		at := slices.IndexFunc(model, func(k modelKey) bool { return k.id == id })
		if retired := model[at].state == token.Retired; retired != errors.Is(err, token.ErrKeyRetired) || !retired && err != nil {
			t.Fatalf("a token of %q (%s): %v", id, model[at].state, err)
		}
	}
	if id := ring.NextID(); slices.ContainsFunc(model, func(k modelKey) bool { return k.id == id }) {
		t.Fatalf("NextID proposes %q, which was used", id)
	}
	text, err := ring.Retire("unknown", 0)
	if err == nil || len(text.Keys()) != len(keys) {
		t.Fatalf("retiring a key that nobody knows: %v", err)
	}
}

func TestZeroKeyring(t *testing.T) {
	var ring token.Keyring
	a := token.NewAuthority(ring)
	p := provenance(t)
	if seal, err := a.Seal(dag.DefaultTenant, &slice.Slice{Provenance: p}); !errors.Is(err, token.ErrNoKey) || seal != (slice.Seal{}) {
		t.Errorf("Seal: %+v, %v", seal, err)
	}
	if err := a.Check(&p, slice.Seal{Tenant: dag.DefaultTenant, KeyID: "k1", Token: "8d252dd735e8909f9eaaf5ff17d823a1"}); !errors.Is(err, token.ErrKeyUnknown) {
		t.Errorf("Check: %v", err)
	}
	if len(ring.Keys()) != 0 || ring.NextID() != "k1" {
		t.Errorf("%d keys, next %q", len(ring.Keys()), ring.NextID())
	}
}

// TestNextID holds that the id proposed is good and was never used, whatever
// ids were imported.
func TestNextID(t *testing.T) {
	for _, ids := range [][]token.KeyID{
		{"k1"}, {"k1", "k2"}, {"k9"}, {"other"}, {"k007"}, {"7"}, {"k"}, {"k-1"}, {"k1", "k3"}, {"k2147483647"}, {"k4294967296"}, {"k9223372036854775806"}, {"k9223372036854775807"},
		{"k9223372036854775807", "k-9223372036854775808"}, {"k18446744073709551615"}, {"k99999999999999999999999"}, {"kk1"}, {"k-9223372036854775808"},
	} {
		ring := ringOf(t, ids...)
		for range 3 {
			id := ring.NextID()
			if _, err := token.ParseKeyID(string(id)); err != nil || !strings.HasPrefix(string(id), "k") || strings.Contains(string(id), "-") {
				t.Errorf("%v: %q is no good id: %v", ids, id, err)
			}
			next, err := ring.Rotate(id, numbered(t, 100+len(ring.Keys())), 0)
			if err != nil {
				t.Errorf("%v: %q: %v", ids, id, err)
				break
			}
			ring = next
		}
	}
	if got := ringOf(t, "k1", "k2", "other").NextID(); got != "k3" {
		t.Errorf("got %q, want k3", got)
	}
}

func TestParseKeyID(t *testing.T) {
	for _, s := range []string{"k1", "0", "a-b", strings.Repeat("k", 63)} {
		if id, err := token.ParseKeyID(s); err != nil || string(id) != s {
			t.Errorf("%q: got %q, %v", s, id, err)
		}
	}
	for _, s := range []string{"", "-k", "K1", "k_1", "k.1", "k 1", "k|1", "k\n", strings.Repeat("k", 64), "é"} {
		if id, err := token.ParseKeyID(s); !errors.Is(err, dag.ErrForm) || id != "" {
			t.Errorf("%q: got %q, %v, want ErrForm", s, id, err)
		}
	}
}

func TestParseToken(t *testing.T) {
	const good = "8d252dd735e8909f9eaaf5ff17d823a1"
	if got, err := token.ParseToken(good); err != nil || got.String() != good {
		t.Errorf("got %s, %v", got, err)
	}
	for _, s := range []string{"", good[1:], good + "0", strings.ToUpper(good), good[:31] + "g", good[:31] + " "} {
		if got, err := token.ParseToken(s); !errors.Is(err, dag.ErrForm) || got != (token.Token{}) {
			t.Errorf("%q: got %s, %v, want ErrForm", s, got, err)
		}
	}
}
