package attest_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// pinned is the statement about meeting, written out by hand except for the three hashes,
// which the bundle shows.
func pinned() string {
	b := meeting()
	digest := digestOf(b)
	return `{"_type":"https://in-toto.io/Statement/v1","predicate":{` +
		`"anchorTurnId":"00000000-0000-4000-8000-000000000004","asOf":4,"edges":4,` +
		`"graphSnapshotHash":"` + b.Provenance.GraphSnapshotHash.String() + `","issuedAt":"2026-01-02T03:04:05.000006Z",` +
		`"ledger":{"index":61702,"origin":"default.kernel.example"},` +
		`"policy":{"distance_decay":0.9,"include_siblings":true,"max_nodes":256,"max_radius":10,"max_siblings":5,` +
		`"phase_weights":{"consolidation":0.6,"debugging":0.5,"exploration":0.3,"planning":0.9,"synthesis":1},` +
		`"salience_weight":0.3,"type":"slice_policy_v1"},"policyId":"default@1",` +
		`"policyParamsHash":"` + b.Provenance.PolicyParamsHash.String() + `",` +
		`"redacted":[{"turn":"00000000-0000-4000-8000-000000000002","why":"erased"}],` +
		`"schemaVersion":"gkp/1","sliceId":"` + string(b.Provenance.SliceID) + `","tenant":"default","tokenKeyId":"k1","turns":4},` +
		`"predicateType":"https://github.com/graphkernel/graphkernel/attestation/slice/v1",` +
		`"subject":[{"digest":{"sha256":"` + digest.String() + `"},"name":"slice-` + string(b.Provenance.SliceID) + `.json"}]}`
}

func TestStatementBytes(t *testing.T) {
	if got, want := string(issued().Append(nil)), pinned(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestStatementRoundTrip(t *testing.T) {
	cases, err := golden.Cases()
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for i, c := range cases {
		if c.Expect.Bundle == "" {
			continue
		}
		made++
		b := must(slice.ParseBundle([]byte(c.Expect.Bundle)))
		why := func(id dag.TurnID) attest.Why { return []attest.Why{attest.Erased, attest.Withheld}[id[15]%2] }
		s := attest.NewStatement(b, digestOf(b), dag.MaxTime, uint64(i), origin, why)
		data := s.Append(nil)
		read, err := attest.ParseStatement(data)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if again := read.Append(nil); !bytes.Equal(again, data) {
			t.Errorf("%s: read and written again, it is\n%s\nnot\n%s", c.Name, again, data)
		}
		if withheld, err := read.Match(b, digestOf(b)); err != nil || len(withheld) > 0 {
			t.Errorf("%s: does not match its bundle: %v, %v", c.Name, withheld, err)
		}
	}
	if made < 20 {
		t.Errorf("only %d statements made", made)
	}
}

// TestStatementMangled changes each byte of a statement in several ways. What still parses
// must be written as it was read: then the change was one of a value.
func TestStatementMangled(t *testing.T) {
	good := issued().Append(nil)
	b := meeting()
	digest := digestOf(b)
	refused, differs := 0, 0
	for i := range good {
		for _, c := range []byte{good[i] ^ 1, good[i] ^ 0x20, ' ', '0', '"', 0, 0xff} {
			if c == good[i] {
				continue
			}
			bad := bytes.Clone(good)
			bad[i] = c
			s, err := attest.ParseStatement(bad)
			if err != nil {
				if !errors.Is(err, attest.ErrForm) && !errors.Is(err, attest.ErrVersion) {
					t.Errorf("byte %d as %q: %v is neither ErrForm nor ErrVersion", i, c, err)
				}
				refused++
				continue
			}
			if again := s.Append(nil); !bytes.Equal(again, bad) {
				t.Errorf("byte %d as %q: two spellings of one statement:\n%s\n%s", i, c, bad, again)
			}
			_, err = s.Match(b, digest)
			if mine := s.IssuedAt != issued().IssuedAt || s.Index != 61702 || s.Origin != origin; mine {
				continue // what the bundle does not say
			}
			if err == nil {
				t.Errorf("byte %d as %q: still matches:\n%s", i, c, bad)
			}
			differs++
		}
		if _, err := attest.ParseStatement(good[:i]); err == nil {
			t.Errorf("cut to %d bytes it is read", i)
		}
	}
	if refused < 1000 || differs < 100 {
		t.Errorf("%d refused, %d differ; both should be many", refused, differs)
	}
}

func TestParseStatementRefuses(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           error
	}{
		{"other type", "Statement/v1", "Statement/v2", attest.ErrVersion},
		{"other predicate", "slice/v1", "slice/v2", attest.ErrVersion},
		{"other schema", "gkp/1", "gkp/2", attest.ErrVersion},
		{"other policy type", "slice_policy_v1", "slice_policy_v2", attest.ErrVersion},
		{"no tenant", `"tenant":"default",`, ``, attest.ErrForm},
		{"no redacted", `"redacted":[{"turn":"00000000-0000-4000-8000-000000000002","why":"erased"}],`, ``, attest.ErrForm},
		{"other why", `"erased"`, `"lost"`, attest.ErrForm},
		{"member of the top", `{"_type"`, `{"A":1,"_type"`, attest.ErrForm},
		{"member of the ledger", `"origin":"default.kernel.example"`, `"origin":"default.kernel.example","z":1`, attest.ErrForm},
		{"member of the subject", `"name":"slice-`, `"mediaType":"","name":"slice-`, attest.ErrForm},
		{"member of a redaction", `"turn":"00000000-0000-4000-8000-000000000002",`, `"a":1,"turn":"00000000-0000-4000-8000-000000000002",`, attest.ErrForm},
		{"token key with a capital", `"tokenKeyId":"k1"`, `"tokenKeyId":"K1"`, attest.ErrForm},
		{"two digests", `{"sha256":`, `{"sha1":"00","sha256":`, attest.ErrForm},
		{"no subject", `"subject":[`, `"subject":[],"x":[`, attest.ErrForm},
		{"other name", `"name":"slice-`, `"name":"slice_`, attest.ErrForm},
		{"null", `"predicate":{`, `"predicate":{"a":null,`, attest.ErrForm},
		{"float", `"predicate":{`, `"predicate":{"a":1e3,`, attest.ErrForm},
		{"large integer", `"predicate":{`, `"predicate":{"a":9007199254740992,`, attest.ErrForm},
		{"larger integer", `"predicate":{`, `"predicate":{"a":18446744073709551617,`, attest.ErrForm},
		{"negative", `"predicate":{`, `"predicate":{"a":-1,`, attest.ErrForm},
		{"decimal with a 0", `"distance_decay":0.9,`, `"distance_decay":0.90,`, attest.ErrForm},
		{"space", `"asOf":4`, `"asOf": 4`, attest.ErrForm},
		{"escape", `"default@1"`, `"\u0064efault@1"`, attest.ErrForm},
		{"repeated", `"asOf":4`, `"asOf":4,"asOf":4`, attest.ErrForm},
		{"order", `"asOf":4,"edges":4`, `"edges":4,"asOf":4`, attest.ErrForm},
		{"index", `61702`, `9007199254740992`, attest.ErrForm},
		{"origin with a space", `"origin":"default.kernel`, `"origin":"default kernel`, attest.ErrForm},
		{"local time", `05.000006Z`, `05.000006+00:00`, attest.ErrForm},
		{"turn twice", `"redacted":[`, `"redacted":[{"turn":"00000000-0000-4000-8000-000000000002","why":"erased"},`, attest.ErrForm},
		{"key of other letters", `"predicate":{`, `"predicate":{"Ä":1,`, attest.ErrForm},
		{"empty key", `"predicate":{`, `"predicate":{"":1,`, attest.ErrForm},
	} {
		text := strings.Replace(pinned(), c.old, c.new, 1)
		if text == pinned() {
			t.Fatalf("%s: nothing replaced", c.name)
		}
		if _, err := attest.ParseStatement([]byte(text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestStatementMinorVersion(t *testing.T) {
	text := strings.Replace(pinned(), `"tokenKeyId":`, `"tier":{"a":[1,0.25,true,"b \" \\ é"]},"tokenKeyId":`, 1)
	s, err := attest.ParseStatement([]byte(text))
	if err != nil {
		t.Fatalf("a member of predicate that is not known: %v", err)
	}
	if got := string(s.Append(nil)); got != pinned() {
		t.Errorf("read past it: %s", got)
	}
}

func TestMatchDisclosure(t *testing.T) {
	s, b := issued(), meeting()
	shown := without(b, helping)
	withheld, err := s.Match(shown, digestOf(shown))
	if err != nil || len(withheld) != 1 || withheld[0].String() != helping {
		t.Errorf("got %v, %v; want turn %s withheld", withheld, err, helping)
	}
	for _, c := range shown.Check() {
		if c.Status != slice.StatusOK {
			t.Errorf("%s: %s", c.ID, c.Detail)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	whole, b := issued(), meeting()
	digest := digestOf(b)
	mismatch := func(name, member string, change func(b *slice.Bundle), digest dag.Digest) {
		t.Helper()
		changed := *b
		changed.Turns = append([]slice.BundleTurn(nil), b.Turns...)
		change(&changed)
		_, err := whole.Match(&changed, digest)
		var got *attest.MismatchError
		if !errors.As(err, &got) || got.Member != member {
			t.Errorf("%s: %v, want a difference in %s", name, err, member)
		}
	}
	other := dag.Digest{1}
	for _, d := range []dag.Digest{digest, other} {
		mismatch("anchor", "predicate.anchorTurnId", func(b *slice.Bundle) { b.Anchor[0] = 9 }, d)
		mismatch("anchor in the provenance", "predicate.anchorTurnId", func(b *slice.Bundle) { b.Provenance.Anchor[0] = 9 }, d)
		mismatch("as_of", "predicate.asOf", func(b *slice.Bundle) { b.AsOf++ }, d)
		mismatch("edges", "predicate.edges", func(b *slice.Bundle) { b.Edges = b.Edges[1:] }, d)
		mismatch("snapshot", "predicate.graphSnapshotHash", func(b *slice.Bundle) { b.Provenance.GraphSnapshotHash = other }, d)
		mismatch("policy", "predicate.policy", func(b *slice.Bundle) { p := b.Policy.(policy.SlicePolicyV1); p.Weights[dag.Planning]--; b.Policy = p }, d)
		mismatch("policy id", "predicate.policyId", func(b *slice.Bundle) { b.Provenance.PolicyID = policy.ID("default@2") }, d)
		mismatch("policy hash", "predicate.policyParamsHash", func(b *slice.Bundle) { b.Provenance.PolicyParamsHash = other }, d)
		mismatch("schema", "predicate.schemaVersion", func(b *slice.Bundle) { b.Provenance.SchemaVersion = "gkp/9" }, d)
		mismatch("slice id", "predicate.sliceId", func(b *slice.Bundle) { b.Provenance.SliceID = "0000000000000000" }, d)
		mismatch("tenant", "predicate.tenant", func(b *slice.Bundle) { b.Seal.Tenant = "other" }, d)
		mismatch("key", "predicate.tokenKeyId", func(b *slice.Bundle) { b.Seal.KeyID = "k2" }, d)
		mismatch("turns", "predicate.turns", func(b *slice.Bundle) { b.Turns = b.Turns[1:] }, d)
		mismatch("a text is back", "predicate.redacted", func(b *slice.Bundle) { b.Turns[1].Body = &dag.Body{} }, d)
	}
	mismatch("a text is gone, the digest is not", "predicate.redacted", func(b *slice.Bundle) { b.Turns[0].Body = nil }, digest)
	mismatch("one text is back and another gone", "predicate.redacted", func(b *slice.Bundle) { b.Turns[1].Body, b.Turns[0].Body = &dag.Body{}, nil }, other)
	mismatch("the digest alone", "subject[0].digest.sha256", func(*slice.Bundle) {}, other)
}

func FuzzParseStatement(f *testing.F) {
	f.Add([]byte(pinned()))
	f.Add([]byte(strings.Replace(pinned(), `"tokenKeyId":`, `"tier":{"a":[1,0.25]},"tokenKeyId":`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := attest.ParseStatement(data)
		if err != nil {
			if !errors.Is(err, attest.ErrForm) && !errors.Is(err, attest.ErrVersion) {
				t.Errorf("%v is neither ErrForm nor ErrVersion", err)
			}
			return
		}
		written := s.Append(nil)
		again, err := attest.ParseStatement(written)
		if err != nil {
			t.Fatalf("what was read is not read again: %v\n%s", err, written)
		}
		if !bytes.Equal(again.Append(nil), written) {
			t.Errorf("not stable: %s", written)
		}
		if len(written) > len(data) || len(written) == len(data) && !bytes.Equal(written, data) {
			t.Errorf("two spellings: %s and %s", data, written) // longer only by members that are not known
		}
	})
}
