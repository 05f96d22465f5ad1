package attest_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// claims is a bundle of facts from the corpus, and the statement about it.
func claims(t testing.TB) (*facts.Bundle, *attest.Statement) {
	t.Helper()
	for _, c := range must(golden.EvidenceCases(golden.Facts)) {
		if c.Name == "good_sample" {
			b := must(facts.Parse(c.Evidence()["bundle.json"]))
			return b, attest.NewStatement(b, sha256.Sum256(b.Append(nil)), dag.MaxTime, 61702, origin, whyErased)
		}
	}
	t.Fatal("the corpus has no case good_sample")
	return nil, nil
}

// TestFactsStatement writes the statement out by hand, except for what the bundle shows.
func TestFactsStatement(t *testing.T) {
	b, s := claims(t)
	p := &b.Provenance
	want := `{"_type":"https://in-toto.io/Statement/v1","predicate":{"aliases":1,"anchorTurnId":"` + p.Anchor.String() + `","asOf":25,"evidence":4,"facts":8,` +
		`"graphSnapshotHash":"` + p.GraphSnapshotHash.String() + `","issuedAt":"9999-12-31T23:59:59.999999Z","ledger":{"index":61702,"origin":"default.kernel.example"},` +
		`"policy":{"direction":"both","max_hops":3,"max_results":100,"min_confidence":0,"predicates":[],"type":"fact_policy_v1"},"policyId":"facts@1",` +
		`"policyParamsHash":"` + p.PolicyParamsHash.String() + `","reached":8,"schemaVersion":"gkf/2","sliceId":"` + string(p.SliceID) + `","tenant":"default","tokenKeyId":"k1"},` +
		`"predicateType":"https://github.com/graphkernel/graphkernel/attestation/facts/v1",` +
		`"subject":[{"digest":{"sha256":"` + s.Subject.String() + `"},"name":"slice-` + string(p.SliceID) + `.json"}]}`
	got := string(s.Append(nil))
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	read := must(attest.ParseStatement([]byte(want)))
	if withheld, err := read.Match(b, s.Subject); err != nil || withheld != nil {
		t.Errorf("read again it does not match its bundle: %v, %v", withheld, err)
	}
}

// TestFactsMangled changes each byte of a statement of facts. What is still read is written as it was
// read, and does not match, unless the bundle does not say it.
func TestFactsMangled(t *testing.T) {
	b, s := claims(t)
	good := s.Append(nil)
	differs := 0
	for i := range good {
		for _, c := range []byte{good[i] ^ 1, good[i] ^ 0x20, '0', '"'} {
			bad := bytes.Clone(good)
			bad[i] = c
			read, err := attest.ParseStatement(bad)
			switch {
			case bytes.Equal(bad, good):
			case err != nil && !errors.Is(err, attest.ErrForm) && !errors.Is(err, attest.ErrVersion):
				t.Errorf("byte %d as %q: %v is neither ErrForm nor ErrVersion", i, c, err)
			case err != nil:
			case !bytes.Equal(read.Append(nil), bad):
				t.Errorf("byte %d as %q: two spellings of one statement: %s", i, c, bad)
			case read.IssuedAt != s.IssuedAt || read.Index != s.Index || read.Origin != s.Origin:
			default:
				differs++
				if _, err := read.Match(b, s.Subject); err == nil {
					t.Errorf("byte %d as %q: still matches: %s", i, c, bad)
				}
			}
		}
	}
	if differs < 100 {
		t.Errorf("only %d statements were read and differ", differs)
	}
}

// TestKindsApart holds that a statement matches no bundle of another kind, and that the versions of one kind
// are unknown in the other.
func TestKindsApart(t *testing.T) {
	b, s := claims(t)
	apart := func(_ []dag.TurnID, err error) {
		t.Helper()
		var m *attest.MismatchError
		if !errors.As(err, &m) || m.Member != "predicateType" {
			t.Errorf("%v, want a difference in predicateType", err)
		}
	}
	apart(issued().Match(b, s.Subject))
	apart(s.Match(meeting(), s.Subject))
	for _, swap := range [][2]string{
		{facts.Bundles.Forms[0].Predicate, slice.Bundles.Forms[0].Predicate}, {`"gkf/2"`, `"gkp/1"`}, {`"fact_policy_v1"`, `"slice_policy_v1"`}, {"facts/v1", "facts/v2"},
	} {
		text := strings.Replace(string(s.Append(nil)), swap[0], swap[1], 1)
		if _, err := attest.ParseStatement([]byte(text)); !errors.Is(err, attest.ErrVersion) {
			t.Errorf("%s: %v", swap[1], err)
		}
	}
}
