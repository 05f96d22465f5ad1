package heldback_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/heldback"
)

var secret = bytes.Repeat([]byte{7}, heldback.MinSecret)

func keyOf(t testing.TB, secret []byte, tenant dag.Tenant) heldback.Key {
	t.Helper()
	key, err := heldback.KeyOf(secret, tenant)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A wording is a text as somebody wrote it, with its normal form written out by hand. Two texts are the same if their normal forms are.
type wording struct{ written, normal string }

var (
	long63 = strings.Repeat("z", 63)
	long64 = strings.Repeat("y", 64)
)

// wordings has every length that matters, and texts that are the same in spite of case, spaces and Unicode form.
var wordings = []wording{
	{"", ""},
	{" \n\t\u00a0", ""},
	{"go on", "go on"},
	{"\n Go\u3000  ON ", "go on"},
	{"go  on.", "go on."},
	{"goon", "goon"},
	{"Caf\u00e9 \ufb01n", "caf\u00e9 fin"},
	{"cafe\u0301 fin", "caf\u00e9 fin"},
	{long63, long63},
	{long63 + "   ", long63}, // 66 bytes, of which 63 count
	{long64, long64},
	{"\t" + strings.ToUpper(long64), long64},
	{strings.Repeat("\ufb01", 32), strings.Repeat("fi", 32)},
}

// A said is a text in its place.
type said struct {
	wording
	role   dag.Role
	at     dag.Time
	before []wording
}

func (s *said) marks(k heldback.Key) []heldback.Mark {
	before := make([]heldback.Text, len(s.before))
	for i, w := range s.before {
		before[i] = k.Of(w.written)
	}
	return k.Marks(k.Of(s.written), s.role, s.at, before)
}

// rules is the decision as its documentation states it: the rules by which a copy is recognised as an erased text, in their order.
func rules(erased, copied *said) (list []heldback.Rule) {
	if erased.normal != copied.normal || erased.normal == "" {
		return nil
	}
	if erased.role == copied.role && erased.at == copied.at && erased.at != 0 {
		list = append(list, heldback.ByPlace)
	}
	if slices.ContainsFunc(erased.before, func(a wording) bool {
		return a.normal != "" && slices.ContainsFunc(copied.before, func(b wording) bool { return a.normal == b.normal })
	}) {
		list = append(list, heldback.ByReply)
	}
	if len(erased.normal) >= 64 {
		list = append(list, heldback.ByWords)
	}
	return list
}

// TestDecision compares every text in every place with every other one, with what the documentation says.
func TestDecision(t *testing.T) {
	k := keyOf(t, secret, "one")
	parents := [][]wording{nil, {wordings[0]}, {wordings[2]}, {wordings[3]}, {wordings[5]}, {wordings[10]}, {wordings[1], wordings[2]}, {wordings[3], wordings[2]}, {wordings[5], wordings[11]}}
	var all []said
	for _, w := range wordings {
		for _, role := range []dag.Role{dag.RoleUser, dag.RoleAssistant} {
			for _, at := range []dag.Time{0, 1, 2} {
				for _, before := range parents {
					all = append(all, said{w, role, at, before})
				}
			}
		}
	}
	marks := make([][]heldback.Mark, len(all))
	for i := range all {
		marks[i] = all[i].marks(k)
	}
	recognised, ways := 0, map[string]int{}
	for i := range all {
		digests := map[heldback.Digest]bool{}
		for _, m := range marks[i] {
			if digests[m.Digest] {
				t.Fatalf("%+v has the mark %v twice", all[i], m)
			}
			digests[m.Digest] = true
		}
		for j := range all {
			var got []heldback.Rule
			for _, m := range marks[j] {
				if digests[m.Digest] && !slices.Contains(got, m.Rule) { // a reply to two parents may have two marks of one rule
					got = append(got, m.Rule)
				}
			}
			want := rules(&all[i], &all[j])
			if !slices.Equal(got, want) {
				t.Fatalf("%+v was erased, and %+v comes: recognised by %q, want %q", all[i], all[j], got, want)
			}
			if len(want) > 0 {
				recognised++
			}
			ways[fmt.Sprint(want)]++
		}
	}
	if len(ways) != 8 || recognised < 10_000 || recognised > len(all)*len(all)/5 {
		t.Errorf("%d of %d pairs are recognised, in the ways %v: this test compares too little", recognised, len(all)*len(all), ways)
	}
	t.Logf("%d of %d pairs are recognised: %v", recognised, len(all)*len(all), ways)
}

// sum is what every digest is made of, written out again since stores keep digests for ever.
func sum(key []byte, domain string, parts ...string) heldback.Digest {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("graphkernel/held-back/1 " + domain + "\x00" + strings.Join(parts, "")))
	return heldback.Digest(h.Sum(nil)[:16])
}

// TestDigests computes each digest in another way.
func TestDigests(t *testing.T) {
	var turn dag.TurnID
	copy(turn[:], "turn of 16 bytes")
	for _, tenant := range []dag.Tenant{"one", "two"} {
		k := keyOf(t, secret, tenant)
		derived := sum(secret, "tenant", string(tenant))
		if k != heldback.Key(derived) {
			t.Fatalf("%s: another key", tenant)
		}
		key := derived[:]
		if got := k.Name(); got != sum(key, "name") {
			t.Errorf("%s: the key's name is %s", tenant, got)
		}
		if got := k.Salt(turn); got != dag.Salt(sum(key, "salt", string(turn[:]))) {
			t.Errorf("%s: the salt is %x", tenant, got)
		}
		text, before := sum(key, "text", long64), sum(key, "text", "go on")
		if got := k.Of(long64); got != (heldback.Text{Digest: text, Long: true}) {
			t.Errorf("%s: the text is %+v", tenant, got)
		}
		at := dag.Time(1_700_000_000_000_001)
		want := []heldback.Mark{
			{Rule: heldback.ByPlace, Digest: sum(key, "place", dag.RoleTool.String(), "\x00", string(binary.BigEndian.AppendUint64(nil, uint64(at))), string(text[:]))},
			{Rule: heldback.ByReply, Digest: sum(key, "reply", string(before[:]), string(text[:]))},
			{Rule: heldback.ByWords, Digest: sum(key, "words", string(text[:]))},
		}
		if got := k.Marks(k.Of(long64), dag.RoleTool, at, []heldback.Text{k.Of(" "), k.Of("go on"), k.Of("GO ON")}); !slices.Equal(got, want) {
			t.Errorf("%s: the marks are %v, want %v", tenant, got, want)
		}
	}
	if got := heldback.Digest([]byte("\x00\x01\xfe\xff0123456789ab")).String(); got != "0001feff303132333435363738396162" {
		t.Errorf("a digest is written %s", got)
	}
}

// TestKeys has the keys of two tenants, of two secrets, and all digests under them: each one is another, also from domain to domain.
func TestKeys(t *testing.T) {
	digests := map[heldback.Digest]string{}
	add := func(d heldback.Digest, what string) {
		if was, twice := digests[d]; twice {
			t.Errorf("%s and %s have the digest %s", was, what, d)
		}
		digests[d] = what
	}
	other := bytes.Clone(secret)
	other[len(other)-1]++
	for name, secret := range map[string][]byte{"secret": secret, "other secret": other, "longer secret": append(bytes.Clone(secret), 0, 1)} {
		for _, tenant := range []dag.Tenant{"one", "two", "on", "onee"} {
			k := keyOf(t, secret, tenant)
			where := name + " of " + string(tenant)
			add(heldback.Digest(k), where+": the key")
			add(k.Name(), where+": its name")
			for n := range 3 {
				add(heldback.Digest(k.Salt(dag.TurnID{byte(n)})), fmt.Sprint(where, ": salt ", n))
			}
			texts := map[string]bool{}
			for _, w := range wordings {
				text := k.Of(w.written)
				if text.None() != (w.normal == "") || text.Long != (len(w.normal) >= heldback.MinWords) {
					t.Errorf("%q is %+v", w.written, text)
				}
				if text.None() || texts[w.normal] {
					continue
				}
				texts[w.normal] = true
				add(text.Digest, fmt.Sprintf("%s: text %q", where, w.normal))
				for _, role := range []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem} {
					for at := range dag.Time(3) {
						for _, m := range k.Marks(heldback.Text{Digest: text.Digest}, role, at, nil) {
							add(m.Digest, fmt.Sprintf("%s: %s of %q, %s, %d", where, m.Rule, w.normal, role, at))
						}
					}
				}
				for _, m := range k.Marks(text, dag.RoleUser, 0, []heldback.Text{k.Of("go on"), k.Of(long63), k.Of("goon")}) {
					add(m.Digest, fmt.Sprintf("%s: %s of %q", where, m.Rule, w.normal))
				}
			}
		}
	}
	if len(digests) < 800 {
		t.Errorf("%d digests", len(digests))
	}
	for n := range heldback.MinSecret {
		if k, err := heldback.KeyOf(secret[:n], "one"); err == nil || k != (heldback.Key{}) || !strings.Contains(err.Error(), fmt.Sprint(n, " bytes")) {
			t.Errorf("a secret of %d bytes: %x, %v", n, k, err)
		}
	}
}

// respell writes a text otherwise: other spaces, other composition, and the other case of letters that have one counterpart.
func respell(r *rand.Rand, text string) string {
	for range 3 {
		switch r.IntN(4) {
		case 0:
			spaces := []string{"  ", "\n", "\t \r", "\u00a0", "\u3000", "\u2003"}
			text = spaces[r.IntN(len(spaces))] + strings.ReplaceAll(text, " ", spaces[r.IntN(len(spaces))]) + spaces[r.IntN(len(spaces))]
		case 1:
			text = []norm.Form{norm.NFC, norm.NFD}[r.IntN(2)].String(text)
		case 2:
			text = strings.Map(func(c rune) rune {
				if unicode.IsLetter(c) && r.IntN(2) == 0 {
					return unicode.ToUpper(c)
				}
				return c
			}, text)
		case 3:
			text = strings.Map(func(c rune) rune { // full width
				if c > ' ' && c <= '~' && r.IntN(2) == 0 {
					return c + 0xfee0
				}
				return c
			}, text)
		}
	}
	return text
}

// TestNormalForm writes random texts in other ways: they stay the same text. With one letter changed, left out or set twice they are another one.
func TestNormalForm(t *testing.T) {
	k := keyOf(t, secret, "one")
	r := rand.New(rand.NewPCG(5, 34))
	letters := []rune("aber zöé.,1 йд 漢字 ñ-_")
	for n := range 20_000 {
		text := make([]rune, 1+r.IntN(90))
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		written := "x" + string(text) + "x"
		is := k.Of(written)
		if again := respell(r, written); k.Of(again) != is {
			t.Fatalf("case %d: %q and %q are different texts", n, written, again)
		}
		at := 1 + r.IntN(len(text))
		changed := []rune(written)
		changed[at] = 'q'
		for _, other := range []string{string(changed), written + "x", "q" + written, strings.Replace(written, "x", "", 1)} {
			if k.Of(other).Digest == is.Digest {
				t.Fatalf("case %d: %q and %q are the same text", n, written, other)
			}
		}
		if size := len(strings.Join(strings.Fields(norm.NFC.String(written)), " ")); is.Long != (size >= 64) {
			t.Fatalf("case %d: %q, %d bytes, is long: %t", n, written, size, is.Long)
		}
	}
}
