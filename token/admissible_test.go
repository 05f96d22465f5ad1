package token_test

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// meeting is the bundle of GKP/1, appendix A.8.
//
//go:embed testdata/meeting.json
var meeting []byte

func evidence(t *testing.T) token.Admissible {
	t.Helper()
	sum := sha256.Sum256(meeting)
	if got := hex.EncodeToString(sum[:]); got != "817012a9e7aed8902700c654ec031d3a6b9f3e453bafd78de398c0e21497d098" {
		t.Fatalf("testdata/meeting.json is another one: %s", got)
	}
	a, verdict := token.NewVerifier(token.NewAuthority(ringOf(t, "k1"))).Verify(meeting)
	if verdict.Outcome != token.Verified || !a.OK() {
		t.Fatalf("%s: %s", verdict.Outcome, verdict.Reason)
	}
	return a
}

// empty holds that a has no evidence, and returns none.
func empty(t *testing.T, how string, a token.Admissible) {
	t.Helper()
	if a.OK() || a.Provenance() != (slice.Provenance{}) || a.Tenant() != "" || a.KeyID() != "" || a.AsOf() != 0 || a.Turns() != nil || a.Edges() != nil || a.Bytes() != nil {
		t.Errorf("%s gives evidence", how)
	}
}

// Ways of holding an Admissible.
type (
	embeds  struct{ token.Admissible }
	pointed struct{ *token.Admissible }
	holds   struct {
		A    token.Admissible
		P    *token.Admissible
		List []token.Admissible
		Map  map[string]token.Admissible
		Two  [2]token.Admissible
	}
	named token.Admissible
)

func TestZeroAdmissible(t *testing.T) {
	var zero token.Admissible
	empty(t, "the zero value", zero)
	copied := zero
	empty(t, "a copy of it", copied)
	empty(t, "a literal", token.Admissible{})
	empty(t, "new", *new(token.Admissible))
	empty(t, "reflect.New", reflect.New(reflect.TypeFor[token.Admissible]()).Elem().Interface().(token.Admissible))
	empty(t, "reflect.Zero", reflect.Zero(reflect.TypeFor[token.Admissible]()).Interface().(token.Admissible))
	empty(t, "a conversion", token.Admissible(named{}))
	empty(t, "embedding", embeds{}.Admissible)
	empty(t, "an element", make([]token.Admissible, 3)[1])
	empty(t, "a map's nothing", map[string]token.Admissible{}["x"])
	empty(t, "a closed channel", <-func() chan token.Admissible { c := make(chan token.Admissible); close(c); return c }())
	// Reflection cannot reach inside either.
	full := evidence(t)
	closed(t, "Admissible", reflect.ValueOf(&zero).Elem(), reflect.ValueOf(full))
	empty(t, "reflection", zero)
}

// closed looks into a value and all structs within it for a field that could be set or read.
func closed(t *testing.T, path string, v, full reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		field, at := v.Field(i), path+"."+v.Type().Field(i).Name
		if field.CanSet() || field.CanInterface() {
			t.Errorf("%s can be reached", at)
		}
		func() {
			defer func() { _ = recover() }()
			field.Set(full.Field(i))
			t.Errorf("%s can be set", at)
		}()
		if field.Kind() == reflect.Struct {
			closed(t, at, field, full.Field(i))
		}
	}
}

// TestDecodersRefuse decodes texts of every kind into everything that holds an
// Admissible. None gives evidence.
func TestDecodersRefuse(t *testing.T) {
	quoted, err := json.Marshal(string(meeting))
	if err != nil {
		t.Fatal(err)
	}
	texts := [][]byte{
		meeting, quoted, []byte(`{}`), []byte(`null`), []byte(`true`), []byte(`"x"`), []byte(`{"evidence":{}}`), []byte(`{"Admissible":` + string(meeting) + `}`),
		[]byte(`{"A":` + string(meeting) + `,"P":{},"List":[{},` + string(meeting) + `],"Map":{"x":{}},"Two":[{},null]}`), []byte(`[{}]`), []byte(`{"A":{}}`), []byte(`{"P":{}}`),
		[]byte(`{"List":[{}]}`), []byte(`{"Map":{"x":{}}}`), []byte(`{"Two":[{},{}]}`), []byte(`{"A":null}`), []byte(`{"evidence":{"bundle":` + string(meeting) + `,"bytes":"e30="}}`),
	}
	refused := 0
	for _, text := range texts {
		var plain token.Admissible
		var in embeds
		var point pointed
		var held holds
		var list []token.Admissible
		for _, into := range []any{&plain, &in, &point, &held, &list} {
			if err := json.Unmarshal(text, into); errors.Is(err, token.ErrDecode) {
				refused++
			}
		}
		empty(t, "json", plain)
		empty(t, "json, embedded", in.Admissible)
		if point.Admissible != nil {
			empty(t, "json, embedded pointer", *point.Admissible)
		}
		empty(t, "json, field", held.A)
		if held.P != nil {
			empty(t, "json, pointer", *held.P)
		}
		for _, a := range slices.Concat(held.List, held.Two[:], list) {
			empty(t, "json, element", a)
		}
		for _, a := range held.Map {
			empty(t, "json, map", a)
		}
	}
	if refused < 10 {
		t.Errorf("%d texts were refused", refused)
	}
	var a token.Admissible
	for name, err := range map[string]error{
		"UnmarshalJSON": a.UnmarshalJSON(meeting), "UnmarshalText": a.UnmarshalText(meeting), "UnmarshalBinary": a.UnmarshalBinary(meeting), "GobDecode": a.GobDecode(meeting),
		"xml": xml.Unmarshal([]byte(`<a><evidence/></a>`), &a), "xml, attribute": xml.Unmarshal([]byte(`<h A="x"/>`), &struct {
			A *token.Admissible `xml:",attr"`
		}{&a}),
	} {
		if !errors.Is(err, token.ErrDecode) && name[:3] != "xml" {
			t.Errorf("%s: got %v, want ErrDecode", name, err)
		}
		empty(t, name, a)
	}
	var _ encoding.TextUnmarshaler = &a
}

// TestEncodersRefuse holds that evidence does not leave as something that could
// be decoded, and that a stream from elsewhere does not come in.
func TestEncodersRefuse(t *testing.T) {
	full := evidence(t)
	for name, v := range map[string]any{"value": full, "pointer": &full, "embedded": embeds{full}, "field": holds{A: full}, "zero": token.Admissible{}, "list": []token.Admissible{full}} {
		if text, err := json.Marshal(v); !errors.Is(err, token.ErrDecode) {
			t.Errorf("json, %s: got %.40s, %v, want ErrDecode", name, text, err)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(v); !errors.Is(err, token.ErrDecode) {
			t.Errorf("gob, %s: got %d bytes, %v, want ErrDecode", name, b.Len(), err)
		}
	}
	for name, err := range map[string]error{
		"MarshalText": second(full.MarshalText()), "MarshalBinary": second(full.MarshalBinary()), "MarshalJSON": second(full.MarshalJSON()), "GobEncode": second(full.GobEncode()),
	} {
		if !errors.Is(err, token.ErrDecode) {
			t.Errorf("%s: got %v, want ErrDecode", name, err)
		}
	}
	// A type that says the same of itself in gob, and encodes.
	var stream bytes.Buffer
	if err := gob.NewEncoder(&stream).Encode(holdsImpostor{impostor{1}}); err != nil {
		t.Fatal(err)
	}
	var into struct{ A token.Admissible }
	if err := gob.NewDecoder(&stream).Decode(&into); !errors.Is(err, token.ErrDecode) {
		t.Errorf("gob: got %v, want ErrDecode", err)
	}
	empty(t, "gob", into.A)
}

func second(_ []byte, err error) error { return err }

type (
	impostor      struct{ n int } // gob leaves zero values out
	holdsImpostor struct{ A impostor }
)

func (impostor) GobEncode() ([]byte, error) { return meeting, nil }

// TestDecodingOverEvidence holds that a failed decoding does not take evidence
// away and put other evidence there.
func TestDecodingOverEvidence(t *testing.T) {
	a := evidence(t)
	want := a.Bytes()
	if err := json.Unmarshal([]byte(`{}`), &a); !errors.Is(err, token.ErrDecode) {
		t.Errorf("got %v", err)
	}
	if !a.OK() || !bytes.Equal(a.Bytes(), want) {
		t.Error("the evidence changed")
	}
}

// TestAdmissibleCopies changes all that evidence gives, the bytes that were
// verified and the verdict. The evidence stays what it was.
func TestAdmissibleCopies(t *testing.T) {
	data := slices.Clone(meeting)
	a, verdict := token.NewVerifier(token.NewAuthority(ringOf(t, "k1"))).Verify(data)
	copied := a
	type all struct {
		Provenance slice.Provenance
		Tenant     dag.Tenant
		KeyID      string
		AsOf       dag.Seq
		Turns      []slice.BundleTurn
		Edges      []dag.Edge
		Bytes      []byte
	}
	read := func(a token.Admissible) all {
		return all{a.Provenance(), a.Tenant(), a.KeyID(), a.AsOf(), a.Turns(), a.Edges(), a.Bytes()}
	}
	want := read(evidence(t))
	if len(want.Turns) != 3 || len(want.Edges) != 2 || want.AsOf != 4 || want.Tenant != "default" || want.KeyID != "k1" || string(want.Bytes) != string(meeting) {
		t.Fatalf("got %+v", want)
	}
	// In reading order: A, C, B.
	for i, text := range []string{"Where shall we meet?\nNot the \"old\" place.", "The harbour?", "Café Nord, 19:00 ☕"} {
		if got := want.Turns[i].Body.Content; got != text {
			t.Errorf("turn %d: got %q, want %q", i, got, text)
		}
	}
	check := func(what string) {
		t.Helper()
		for _, a := range []token.Admissible{a, copied} {
			if diff := cmp.Diff(want, read(a)); diff != "" {
				t.Errorf("%s changed the evidence: -want +got:\n%s", what, diff)
			}
		}
	}
	check("nothing")
	clear(data)
	check("the bytes that were verified")
	clear(a.Bytes())
	check("Bytes")
	turns := a.Turns()
	for i := range turns {
		turns[i].Body.Content, turns[i].Body.Author, turns[i].Body.Salt = "changed", "changed", dag.Salt{}
		turns[i].Body.Attrs["changed"] = "changed"
		delete(turns[i].Body.Attrs, "lang")
		turns[i].Role, turns[i].Admission.Score = dag.RoleSystem, 0
	}
	slices.Reverse(turns)
	check("Turns")
	edges := a.Edges()
	edges[0].Kind = dag.Merge
	clear(edges)
	check("Edges")
	p := a.Provenance()
	p.GraphSnapshotHash[0] ^= 1
	check("Provenance")
	for i := range verdict.Checks {
		verdict.Checks[i].Status = slice.StatusFail
	}
	verdict.Outcome, verdict.Claim = token.Tampered, token.Claim{}
	clear(verdict.Redacted)
	check("the verdict")
}

// TestVerdictRedacted changes the list of redacted turns.
func TestVerdictRedacted(t *testing.T) {
	b, err := slice.ParseBundle(meeting)
	if err != nil {
		t.Fatal(err)
	}
	b.Turns[1].Body = nil
	a, verdict := token.NewVerifier(token.NewAuthority(ringOf(t, "k1"))).Verify(b.Append(nil))
	if !a.OK() || !slices.Equal(verdict.Redacted, []dag.TurnID{b.Turns[1].ID}) || verdict.Claim.Turns != 3 || verdict.Claim.AsOf != 4 || verdict.Claim.Provenance != b.Provenance || verdict.Claim.Seal != b.Seal {
		t.Fatalf("got %+v", verdict)
	}
	clear(verdict.Redacted)
	if turns := a.Turns(); turns[0].Body != nil || turns[0].ID != b.Turns[1].ID || turns[1].Body == nil {
		t.Error("the evidence shows another redaction")
	}
}

// TestVerifyOutcomes holds what a verifier without the right key says, and that
// it returns no evidence.
func TestVerifyOutcomes(t *testing.T) {
	two := ringOf(t, "k1", "k2")
	retired, err := two.Retire("k1", 0)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := token.Keyring{}.Rotate("k1", numbered(t, 9), 0)
	if err != nil {
		t.Fatal(err)
	}
	tampered := bytes.Replace(meeting, []byte("harbour"), []byte("station"), 1)
	for _, tc := range []struct {
		name string
		ring token.Keyring
		data []byte
		want token.Outcome
	}{
		{"good", two, meeting, token.Verified},
		{"no keys", token.Keyring{}, meeting, token.KeyUnknown},
		{"retired", retired, meeting, token.KeyRetired},
		{"another secret", wrong, meeting, token.Tampered},
		{"tampered", two, tampered, token.Tampered},
		{"tampered, no keys", token.Keyring{}, tampered, token.Tampered},
		{"tampered, retired", retired, tampered, token.Tampered},
		{"nothing", two, nil, token.Malformed},
		{"half", two, meeting[:1000], token.Malformed},
		{"later", two, bytes.Replace(meeting, []byte("gkp/1"), []byte("gkp/9"), 1), token.UnknownVersion},
	} {
		a, verdict := token.NewVerifier(token.NewAuthority(tc.ring)).Verify(tc.data)
		if verdict.Outcome != tc.want || (verdict.Reason == "") != (tc.want == token.Verified) {
			t.Errorf("%s: got %s (%s), want %s", tc.name, verdict.Outcome, verdict.Reason, tc.want)
		}
		if len(verdict.Checks) != 11 {
			t.Errorf("%s: %d checks", tc.name, len(verdict.Checks))
		}
		if tc.want == token.Verified {
			continue
		}
		empty(t, tc.name, a)
		if last := verdict.Checks[10]; last.ID != slice.CheckToken || last.Status == slice.StatusOK && tc.name != "tampered" {
			t.Errorf("%s: the token is %s", tc.name, last.Status)
		}
	}
}
