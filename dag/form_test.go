package dag_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
)

// A notation is a pair of opposites: parse reads a text and writes it again.
type notation struct {
	name  string
	again func(string) (string, error) // format(parse(s))
	good  []string
	bad   []string
}

func notationOf[T any](name string, parse func(string) (T, error), format func(T) string, good, bad []string) notation {
	return notation{name, func(s string) (string, error) {
		v, err := parse(s)
		return format(v), err
	}, good, bad}
}

const (
	uuid1 = "a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02"
	uuid2 = "ffffffff-ffff-ffff-ffff-ffffffffffff"
	hex32 = "00112233445566778899aabbccddeeff"
)

var otherUUIDs = []string{
	"", "x", strings.ToUpper(uuid1), "{" + uuid1 + "}", "urn:uuid:" + uuid1, strings.ReplaceAll(uuid1, "-", ""),
	" " + uuid1, uuid1 + " ", uuid1 + "\n", uuid1[:35], uuid1 + "0", "[" + uuid1 + "]", "(" + uuid1 + ")",
	strings.Replace(uuid1, "-", "_", 1), "a7d3e2f01-c44-4e0a-9f0b-3d5f6e8a9b02", "00000000-0000-0000-0000-000000000000",
	strings.Replace(uuid1, "a", "A", 1), strings.Replace(uuid1, "a", "g", 1), strings.Replace(uuid1, "a", "а", 1),
}

var otherNames = []string{"", " ", "none", "0", "1", "null", "System", "SYSTEM", " system", "system ", "planning\n", "replies", "userr", "tooI"}

// notations are all pairs of opposites that have one spelling for each value.
var notations = []notation{
	notationOf("turn id", dag.ParseTurnID, dag.TurnID.String, []string{uuid1, uuid2}, otherUUIDs),
	notationOf("conversation id", dag.ParseConversationID, dag.ConversationID.String, []string{uuid1, uuid2}, otherUUIDs),
	notationOf("digest", dag.ParseDigest, dag.Digest.String, []string{hex32 + hex32, strings.Repeat("0", 64)},
		[]string{"", hex32, hex32 + hex32 + "00", hex32 + hex32[1:], strings.ToUpper(hex32 + hex32), hex32 + hex32[:31] + "g", hex32 + hex32[:30] + "é", "0x" + hex32 + hex32[2:]}),
	notationOf("salt", dag.ParseSalt, dag.Salt.String, []string{hex32},
		[]string{"", hex32 + "00", hex32[1:], strings.ToUpper(hex32), hex32[:31] + " ", hex32[:31] + "/", hex32[:31] + ":", hex32[:31] + "`", hex32[:31] + "g"}),
	notationOf("time", dag.ParseTime, dag.Time.String, []string{"1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z", "2024-02-29T12:30:00.000001Z"},
		[]string{
			"", "2024-02-29", "2024-02-29T12:30:00Z", "2024-02-29T12:30:00.0Z", "2024-02-29T12:30:00.0000000Z", "2024-02-29t12:30:00.000000Z",
			"2024-02-29T12:30:00.000000z", "2024-02-29T12:30:00.000000+00:00", "2024-02-29T13:30:00.000000+01:00", "2024-02-29T12:30:00,000000Z",
			"2023-02-29T12:30:00.000000Z", "2024-02-29T24:00:00.000000Z", "2024-02-29T12:60:00.000000Z", "2024-02-29T12:30:60.000000Z",
			"1969-12-31T23:59:59.999999Z", "10000-01-01T00:00:00.000000Z", "2024-02-29 12:30:00.000000Z", "2024-02-29T12:30:00.000000", "2024-2-29T12:30:00.000000Z",
		}),
	notationOf("tenant", dag.ParseTenant, func(t dag.Tenant) string { return string(t) },
		[]string{"default", "0", "a-", "a--b", strings.Repeat("z", 63)},
		[]string{"", "-a", "A", "a_b", "a.b", "a b", "a|b", "a\n", "é", strings.Repeat("z", 64)}),
	notationOf("role", dag.ParseRole, dag.Role.String, []string{"system", "user", "assistant", "tool"}, otherNames),
	notationOf("phase", dag.ParsePhase, dag.Phase.String, []string{"synthesis", "planning", "consolidation", "debugging", "exploration"}, append(otherNames, "system")),
	notationOf("edge kind", dag.ParseEdgeKind, dag.EdgeKind.String, []string{"reply", "spawn", "merge", "reference"}, append(otherNames, "system")),
}

// TestNotations holds the law of the package comment: what a parser accepts, its
// opposite writes back unchanged, and there is no second spelling.
func TestNotations(t *testing.T) {
	for _, n := range notations {
		t.Run(n.name, func(t *testing.T) {
			if len(n.good) == 0 || len(n.bad) == 0 {
				t.Fatal("no cases")
			}
			for _, s := range n.good {
				if got, err := n.again(s); err != nil || got != s {
					t.Errorf("%q: got %q, %v", s, got, err)
				}
			}
			for _, s := range n.bad {
				if got, err := n.again(s); !errors.Is(err, dag.ErrForm) {
					t.Errorf("%q: got %q, %v, want ErrForm", s, got, err)
				}
			}
		})
	}
}

// TestNotationsMangled puts every byte in every place of good texts, takes each
// byte out and doubles it. Whatever is still accepted is written back unchanged.
func TestNotationsMangled(t *testing.T) {
	for _, n := range notations {
		t.Run(n.name, func(t *testing.T) {
			refused := 0
			look := func(s string) {
				got, err := n.again(s)
				switch {
				case err != nil && !errors.Is(err, dag.ErrForm):
					t.Errorf("%q: %v is no ErrForm", s, err)
				case err != nil:
					refused++
				case got != s:
					t.Errorf("%q is accepted and written as %q", s, got)
				}
			}
			for _, s := range n.good {
				for i := range len(s) {
					look(s[:i] + s[i+1:])
					look(s[:i] + s[i:i+1] + s[i:])
					for b := range 256 {
						look(s[:i] + string([]byte{byte(b)}) + s[i+1:])
					}
				}
			}
			if refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}

// TestValues goes the other way round: every value's text is read as that value.
func TestValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := dag.TurnID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		if got, err := dag.ParseTurnID(id.String()); (err != nil || got != id) && id != (dag.TurnID{}) {
			t.Errorf("turn %s: got %s, %v", id, got, err)
		}
		if got := string(id.AppendText([]byte("x"))); got != "x"+id.String() {
			t.Errorf("AppendText: got %q, want %q", got, "x"+id.String())
		}
		conversation := dag.ConversationID(id)
		if got, err := dag.ParseConversationID(conversation.String()); (err != nil || got != conversation) && id != (dag.TurnID{}) {
			t.Errorf("conversation %s: got %s, %v", conversation, got, err)
		}
		if got := string(conversation.AppendText(nil)); got != id.String() {
			t.Errorf("AppendText: got %q, want %q", got, id)
		}
		digest := dag.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		if got, err := dag.ParseDigest(digest.String()); err != nil || got != digest {
			t.Errorf("digest %s: got %s, %v", digest, got, err)
		}
		salt := dag.Salt(digest[:16])
		if got, err := dag.ParseSalt(salt.String()); err != nil || got != salt {
			t.Errorf("salt %s: got %s, %v", salt, got, err)
		}
		when := dag.Time(rapid.Int64Range(0, int64(dag.MaxTime)).Draw(t, "time"))
		if got, err := dag.ParseTime(when.String()); err != nil || got != when {
			t.Errorf("time %s: got %s, %v", when, got, err)
		}
		if got := time.UnixMicro(int64(when)).UTC().Format("2006-01-02T15:04:05.000000Z07:00"); got != when.String() {
			t.Errorf("time: got %s, want %s", when, got)
		}
	})
}

// TestVocabulary walks all numbers of the enumerations.
func TestVocabulary(t *testing.T) {
	names := map[string]int{}
	for n := range 256 {
		for _, s := range []struct{ text, want string }{
			{dag.Role(n).String(), at([]string{"", "system", "user", "assistant", "tool"}, n)},
			{dag.Phase(n).String(), at([]string{"", "synthesis", "planning", "consolidation", "debugging", "exploration"}, n)},
			{dag.EdgeKind(n).String(), at([]string{"", "reply", "spawn", "merge", "reference"}, n)},
		} {
			if s.text != s.want {
				t.Errorf("%d: got %q, want %q", n, s.text, s.want)
			}
			names[s.text]++
		}
	}
	if len(names) != 1+4+5+4 {
		t.Errorf("%d names, want 13 and none", len(names))
	}
	if len(dag.Phases) != 5 {
		t.Errorf("%d phases", len(dag.Phases))
	}
	for i, p := range dag.Phases {
		if int(p) != i+1 {
			t.Errorf("Phases[%d] is %s", i, p)
		}
	}
}

func at(names []string, n int) string {
	if n < len(names) {
		return names[n]
	}
	return ""
}

// TestCompare holds that ids are ordered as their texts are.
func TestCompare(t *testing.T) {
	signs := map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfN(rapid.ByteRange(0, 1), 16, 16)
		a, b := dag.TurnID(few.Draw(t, "a")), dag.TurnID(few.Draw(t, "b"))
		for _, pair := range [][2]dag.TurnID{{a, b}, {b, a}, {a, a}} {
			a, b := pair[0], pair[1]
			want := strings.Compare(a.String(), b.String())
			signs[want]++
			if got := a.Compare(b); got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
			if got := dag.ConversationID(a).Compare(dag.ConversationID(b)); got != want {
				t.Errorf("conversations %s and %s: got %d, want %d", a, b, got, want)
			}
		}
	})
	if len(signs) != 3 {
		t.Errorf("met only %v", signs)
	}
}

func TestExternalID(t *testing.T) {
	// The example of GKP/1, section 2.7.
	const want = "ee9eeba4-b942-5132-9cdb-9247789ffe40"
	if got := dag.ExternalTurnID("chatgpt", "msg_0017").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := dag.ExternalConversationID("chatgpt", "msg_0017").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := dag.ExternalTurnID("chatgpt", "msg_0018").String(); got == want {
		t.Error("another name gives the same id")
	}
}

// TestPPM walks all fractions.
func TestPPM(t *testing.T) {
	seen := 0
	for p := dag.PPM(0); p <= dag.One; p++ {
		s := p.String()
		if got, err := dag.ParsePPM(s); err != nil || got != p {
			t.Fatalf("%d is written %q and read as %d, %v", uint32(p), s, uint32(got), err)
		}
		if s != plain(p) {
			t.Fatalf("%d is written %q, want %q", uint32(p), s, plain(p))
		}
		seen++
	}
	if seen != 1_000_001 {
		t.Errorf("%d fractions", seen)
	}
}

// plain writes all six digits and takes away the zeros at the end.
func plain(p dag.PPM) string {
	digits := []byte("0.000000")
	digits[0] += byte(p / dag.One)
	for i, n := len(digits)-1, p%dag.One; i > 1; i, n = i-1, n/10 {
		digits[i] += byte(n % 10)
	}
	for digits[len(digits)-1] == '0' && len(digits) > 2 {
		digits = digits[:len(digits)-1]
	}
	return strings.TrimSuffix(string(digits), ".")
}

// TestPPMAsNumber compares with the way in which RFC 8785 writes the number.
func TestPPMAsNumber(t *testing.T) {
	for p := dag.PPM(0); p <= dag.One; p += 61 {
		want, err := jcs.NumberToJSON(float64(p) / 1e6)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.String(); got != want {
			t.Fatalf("%d: got %q, want %q", uint32(p), got, want)
		}
	}
}

func TestParsePPM(t *testing.T) {
	for _, tc := range []struct {
		text string
		want dag.PPM
	}{
		// Trailing zeros are tolerated: people write them.
		{"0", 0}, {"1", 1_000_000}, {"0.0", 0}, {"0.000000", 0}, {"1.0", 1_000_000}, {"1.000000", 1_000_000},
		{"0.5", 500_000}, {"0.50", 500_000}, {"0.000001", 1}, {"0.999999", 999_999}, {"0.100000", 100_000}, {"0.123456", 123_456},
	} {
		if got, err := dag.ParsePPM(tc.text); err != nil || got != tc.want {
			t.Errorf("%q: got %d, %v, want %d", tc.text, uint32(got), err, uint32(tc.want))
		}
	}
	for _, s := range []string{
		"", ".", "0.", "1.", ".5", "00", "00.5", "01", "2", "10", "1.000001", "1.1", "1.0000000", "0.0000000", "0.1234567",
		"+0", "-0", "-0.5", "+0.5", "0.-1", "0.+1", "5e-1", "0.5e0", "1e0", "1E0", "0x1", "0,5", " 0", "0 ", "0.5 ", "0.5\n", "0. 5",
		"0.5.0", "0..5", "NaN", "Inf", "٠", "0.٥", "0_1", "0.1_0", "null", "1/2", strings.Repeat("0", 1000), "0." + strings.Repeat("0", 1000),
		"0.00000:", "0.00000/",
	} {
		if got, err := dag.ParsePPM(s); !errors.Is(err, dag.ErrForm) || got != 0 {
			t.Errorf("%q: got %d, %v, want 0 and ErrForm", s, uint32(got), err)
		}
	}
}

// TestParsePPMRandom compares with a reader that goes by a regular expression.
func TestParsePPMRandom(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[01]?[0-2]?\.?[0-9]{0,7}[ e.]?`).Draw(t, "text")
		got, err := dag.ParsePPM(s)
		want, ok := slowPPM(s)
		if ok != (err == nil) || uint32(got) != want {
			t.Errorf("%q: got %d, %v, want %d, %t", s, uint32(got), err, want, ok)
		}
		if ok {
			accepted++
		} else {
			refused++
		}
	})
	if !testing.Short() && (accepted == 0 || refused == 0) { // the short form draws too few for all of them
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

func slowPPM(s string) (uint32, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	if strings.Count(s, ".") > 1 || strings.HasSuffix(s, ".") || len(frac) > 6 || strings.Trim(frac, "0123456789") != "" {
		return 0, false
	}
	var n uint32
	if _, err := fmt.Sscanf((frac + "000000")[:6], "%d", &n); err != nil {
		return 0, false
	}
	switch {
	case whole == "0":
		return n, true
	case whole == "1" && n == 0:
		return 1_000_000, true
	}
	return 0, false
}

func TestReadTime(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z"},
		{"2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000Z"},
		{"2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000006Z"},
		{"2026-01-02T03:04:05.0000069999Z", "2026-01-02T03:04:05.000006Z"}, // cut off, not rounded
		{"2026-01-02T03:04:05.999999999Z", "2026-01-02T03:04:05.999999Z"},
		{"2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000000Z"},
		{"2026-01-02T03:04:05-00:30", "2026-01-02T03:34:05.000000Z"},
		{"2026-01-02t03:04:05z", "2026-01-02T03:04:05.000000Z"},
		{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"},
		{"1969-12-31T23:00:00-01:00", "1970-01-01T00:00:00.000000Z"},
		{"9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999999Z"},
	} {
		got, err := dag.ReadTime(tc.text)
		if err != nil || got.String() != tc.want {
			t.Errorf("%q: got %s, %v, want %s", tc.text, got, err, tc.want)
		}
	}
	for _, s := range []string{
		"", "now", "1767322445", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02T03:04Z", "2026-01-02T3:04:05Z",
		"2026-01-02T03:04:60Z", "2026-01-02T24:00:00Z", "2026-13-02T03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02T03:04:05,5Z",
		"2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+0200", "2026-01-02T03:04:05+02", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+02:60",
		"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.9999999Z", "1970-01-01T00:30:00+01:00", "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59-00:01", "10000-01-01T00:00:00Z", "-2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z ", " 2026-01-02T03:04:05Z", "20260102T030405Z",
	} {
		if got, err := dag.ReadTime(s); !errors.Is(err, dag.ErrForm) || got != 0 {
			t.Errorf("%q: got %s, %v, want ErrForm", s, got, err)
		}
	}
}

func TestTimeOf(t *testing.T) {
	east, west := time.FixedZone("", 3600), time.FixedZone("", -3600)
	for _, tc := range []struct {
		in   time.Time
		want dag.Time
		ok   bool
	}{
		{time.Unix(0, 0), 0, true},
		{time.Unix(0, 999), 0, true},
		{time.Unix(0, -1), 0, false},
		{time.Unix(1, 1_999), 1_000_001, true},
		{time.Date(1970, 1, 1, 0, 30, 0, 0, east), 0, false},
		{time.Date(1969, 12, 31, 23, 0, 0, 0, west), 0, true},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), dag.MaxTime, true},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 0, false},
		{time.Date(9999, 12, 31, 23, 0, 0, 0, west), 0, false},
		// The year that counts is the one in UTC.
		{time.Date(10000, 1, 1, 0, 59, 59, 999_999_000, east), dag.MaxTime, true},
		{time.Time{}, 0, false},
		{time.Unix(1<<60, 0), 0, false},
		{time.Unix(-1<<60, 0), 0, false},
		{time.Unix(18446744073710, 0), 0, false}, // 2^64 microseconds: wraps around
	} {
		got, err := dag.TimeOf(tc.in)
		if got != tc.want || (err == nil) != tc.ok || err != nil && !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: got %d, %v, want %d, %t", tc.in, int64(got), err, int64(tc.want), tc.ok)
		}
	}
	if dag.Time(-1).Valid() || !dag.Time(0).Valid() || !dag.MaxTime.Valid() || (dag.MaxTime + 1).Valid() {
		t.Error("Valid does not keep to the years 1970 to 9999")
	}
}

// TestParseHexLeavesAlone holds that a refused text writes nothing.
func TestParseHexLeavesAlone(t *testing.T) {
	for _, s := range []string{"", "0011", "00112g", "00112G", "0011221"} {
		dst := []byte{1, 2, 3}
		if err := dag.ParseHex(dst, s); !errors.Is(err, dag.ErrForm) || string(dst) != "\x01\x02\x03" {
			t.Errorf("%q: got %v, % x", s, err, dst)
		}
	}
}

// TestMessagesAreShort holds that a refused text of any length is cut in the message.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for _, n := range notations {
		if _, err := n.again(long); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s: the message has %d bytes", n.name, len(fmt.Sprint(err)))
		}
	}
	if _, err := dag.ParsePPM(long); err == nil || len(err.Error()) > 300 {
		t.Error("ppm: the message is long, or there is none")
	}
}

// TestReadPPM compares with exact rational arithmetic, on numbers of every shape.
func TestReadPPM(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 5))
	million := big.NewRat(1_000_000, 1)
	shapes := []string{"%d", "%d.%d", "%de-%d", "%d.%de%d", "%d.%dE-%d", "0.%06de+%d", "%d00000e-%d", "0.0%de%d", "%de%d000000000000000000"}
	read, refused := 0, 0
	for range 200_000 {
		shape := shapes[r.IntN(len(shapes))]
		args := make([]any, strings.Count(shape, "%"))
		for i := range args {
			args[i] = r.IntN([]int{2, 10, 100, 1_000_000}[r.IntN(4)]) % []int{11, 1_000_001}[r.IntN(2)]
		}
		s := fmt.Sprintf(shape, args...)
		if e := strings.IndexAny(s, "eE"); e >= 0 && len(s)-e > 4 {
			continue // too large for the reference
		}
		if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
			continue // no number of JSON
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("the reference does not read %q", s)
		}
		want.Mul(want, million)
		fits := want.IsInt() && want.Num().IsUint64() && want.Num().Uint64() <= uint64(dag.One)
		got, err := dag.ReadPPM(s)
		if (err == nil) != fits || fits && uint64(got) != want.Num().Uint64() {
			t.Fatalf("%q: got %d, %v, want %s millionths", s, got, err, want.RatString())
		}
		if fits {
			read++
		} else {
			refused++
		}
	}
	if read < 1000 || refused < 1000 {
		t.Errorf("%d read, %d refused", read, refused)
	}
	for p := dag.PPM(0); p <= dag.One; p += 37 {
		for _, s := range []string{p.String(), strconv.FormatFloat(float64(p)/1e6, 'e', -1, 64), strconv.FormatFloat(float64(p)/1e6, 'g', -1, 64)} {
			if got, err := dag.ReadPPM(s); err != nil || got != p {
				t.Fatalf("%q: got %d, %v, want %d", s, got, err, p)
			}
		}
	}
	for _, s := range []string{"", "e", "1e", "1e+", "e1", ".5", "5.", "00.1", "01", "+1", "-1", "-0", "1e-1e-1", "0x1", "1_0", "1.5", "2", "1e1", "1e-7", "0.0000001", "1e99999999999999999999", "1e-99999999999999999999", "NaN", " 1"} {
		if got, err := dag.ReadPPM(s); !errors.Is(err, dag.ErrForm) || got != 0 {
			t.Errorf("%q: got %d, %v", s, got, err)
		}
	}
	for s, want := range map[string]dag.PPM{"1e-06": 1, "1E0": dag.One, "0e5": 0, "0.0e-99999999999999999999": 0, "1000000e-6": dag.One, "0.5000000000": 500_000, "2.5e-1": 250_000} {
		if got, err := dag.ReadPPM(s); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", s, got, err, want)
		}
	}
}
