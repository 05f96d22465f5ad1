package beliefs_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const space belief.Space = "acme/ops"

func literal(subject, predicate, object string) belief.Literal {
	return belief.Literal{Subject: subject, Predicate: predicate, Object: object}
}

func not(l belief.Literal) belief.Literal { return l.Negated() }

// holding makes a revision of the item with a number, of statements that rest on a turn each.
func holding(n int, statements ...journal.Stated) *journal.Revision {
	r := &journal.Revision{Item: must(belief.NewItem(space, fmt.Sprintf("i%d.fact", n))), Number: 1 + n%3, Current: true, Source: "manual", Confidence: dag.One, Salt: dag.Salt{byte(n)}, Title: "title"}
	for i, s := range statements {
		s.Rank = journal.Rank{Class: belief.Human}
		if s.Span == (belief.Span{}) {
			s.Span = belief.Always
		}
		s.Turns = []dag.TurnID{{byte(n + 1), byte(i)}}
		r.Statements = append(r.Statements, s)
	}
	return r
}

func leavesOf(parts []journal.Part) map[dag.TurnID]dag.Digest {
	leaves := map[dag.TurnID]dag.Digest{}
	for _, p := range parts {
		for _, t := range p.Stated().Turns {
			leaves[t] = dag.Digest{t[0], t[1], 7}
		}
	}
	return leaves
}

func bound(c belief.Constraints) policy.Registered {
	return must(policy.Bind("kinds@1", kinds.New(c, nil)))
}

func partsOf(list ...*journal.Revision) (parts []journal.Part) {
	for _, r := range list {
		for i := range r.Statements {
			parts = append(parts, journal.Part{Revision: r, At: i})
		}
	}
	return parts
}

// sample is evidence that takes three steps: a statement, what it excludes, and a rule over that.
func sample(t testing.TB) *beliefs.Bundle {
	t.Helper()
	parts := partsOf(
		holding(0, journal.Stated{Literal: literal("order", "state", "open")}),
		holding(1, journal.Stated{Literal: literal("shop", "has", "stock")}),
		holding(2, journal.Stated{Literal: literal("agent", "may", "ship"), Premises: []belief.Literal{not(literal("order", "state", "closed")), literal("shop", "has", "stock")}}),
	)
	q := beliefs.Question{Space: space, Literal: literal("agent", "may", "ship")}
	b := must(beliefs.New(q, bound(belief.Constraints{Functional: []string{"state"}}), 40, parts, leavesOf(parts)))
	b.Seal = slice.Seal{Tenant: "default", KeyID: "k1", Token: strings.Repeat("0", 32)}
	return b
}

func failed(checks []slice.Check) (ids []slice.CheckID) {
	for _, c := range checks {
		if c.Status == slice.StatusFail {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestEveryByte changes each byte of evidence once: it is malformed, of another version, or a check fails, unless what was changed is the seal, or what only the token and the
// ledger bind.
func TestEveryByte(t *testing.T) {
	data := sample(t).Append(nil)
	whole := must(beliefs.Parse(data))
	if ids := failed(whole.Check()); len(ids) > 0 || !bytes.Equal(whole.Append(nil), data) || !beliefs.Is(data) {
		t.Fatalf("unchanged: %s", ids)
	}
	seen := map[string]int{}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		b, err := beliefs.Parse(changed)
		if err != nil {
			if seen["unreadable"]++; !errors.Is(err, slice.ErrMalformed) && !errors.Is(err, slice.ErrVersion) {
				t.Errorf("byte %d: %v", i, err)
			}
			continue
		}
		ids := failed(b.Check())
		if len(ids) == 0 && b.Seal == whole.Seal && b.AsOf == whole.AsOf && b.Provenance.PolicyID == whole.Provenance.PolicyID {
			t.Errorf("byte %d of %q: nothing fails", i, data[max(0, i-20):i+1])
		}
		for _, id := range ids {
			seen[string(id)]++
		}
	}
	for _, id := range []slice.CheckID{beliefs.CheckEvidence, beliefs.CheckQuestion, beliefs.CheckSteps, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID} {
		if seen[string(id)] == 0 {
			t.Errorf("no change failed %s: %v", id, seen)
		}
	}
}

// TestForged changes what evidence says: the check of that name fails, whatever the header was made of.
func TestForged(t *testing.T) {
	for _, tc := range []struct {
		check slice.CheckID
		forge func(b *beliefs.Bundle)
	}{
		{slice.CheckCanonicalOrder, func(b *beliefs.Bundle) { slices.Reverse(b.Evidence) }},
		{slice.CheckCanonicalOrder, func(b *beliefs.Bundle) { b.Revisions[0], b.Revisions[1] = b.Revisions[1], b.Revisions[0] }},
		{beliefs.CheckBeliefs, func(b *beliefs.Bundle) { b.Question.Space = "acme/other" }},
		{beliefs.CheckBeliefs, func(b *beliefs.Bundle) { b.Steps = b.Steps[1:] }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Steps = nil }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Steps = b.Steps[:2] }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { slices.Reverse(b.Steps) }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Steps = append(b.Steps, b.Steps[2]) }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Question.Literal.Not = true }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Question.Literal.Object = "sell" }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Policy = kinds.DefaultV1() }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) { b.Revisions[0].Statements[0].Object = "closed" }},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) {
			b.Revisions[0].Statements[0].Span.Until = 9
			b.Revisions[1].Statements[0].Span.From = 9
		}},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) {
			b.Revisions[0].Statements[0].Span.From = 9
			b.Revisions[1].Statements[0].Span.Until = 9
		}},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) {
			b.Revisions[1].Statements = append(b.Revisions[1].Statements, journal.Stated{Literal: b.Question.Literal, Span: belief.Always})
			b.Steps = append(b.Steps, beliefs.Step{Revision: 1, Statement: 1})
		}},
		{beliefs.CheckSteps, func(b *beliefs.Bundle) {
			at := dag.Time(9)
			b.Question.ValidAt, b.Revisions[0].Statements[0].Span.Until = &at, at
		}},
		{beliefs.CheckEvidence, func(b *beliefs.Bundle) { b.Evidence = b.Evidence[1:] }},
		{beliefs.CheckEvidence, func(b *beliefs.Bundle) { b.Evidence[2].ID[15]++ }},
		{beliefs.CheckQuestion, func(b *beliefs.Bundle) { b.Provenance.Anchor[0] ^= 1 }},
		{slice.CheckSnapshot, func(b *beliefs.Bundle) { b.Evidence[0].Leaf[0] ^= 1 }},
		{slice.CheckSnapshot, func(b *beliefs.Bundle) { b.Revisions[0].Title = "another" }},
	} {
		b := sample(t)
		tc.forge(b)
		if got := failed(b.Check()); !slices.Contains(got, tc.check) {
			t.Errorf("%s: failed are %s", tc.check, got)
		}
	}
}

// TestDerive makes evidence of random beliefs. There is some if and only if the literal follows from them; all its checks pass; it uses no more than it needs; and
// a step left out is found.
func TestDerive(t *testing.T) {
	const rounds = 6_000
	derived, ruled, negated := 0, 0, 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 18))
		some := func() belief.Literal {
			l := literal("s", fmt.Sprintf("p%d", r.IntN(3)), fmt.Sprintf("o%d", r.IntN(2)))
			l.Not = r.IntN(3) == 0
			return l
		}
		c := belief.Constraints{}
		if r.IntN(2) == 0 {
			c.Functional = []string{"p0"}
		}
		if r.IntN(2) == 0 {
			c.Exclusive = []belief.Exclusion{{Predicate: "p1", Objects: []string{"o0", "o1"}}}
		}
		var base belief.Base
		var parts []journal.Part
		for i := range 3 + r.IntN(6) {
			s := journal.Stated{Literal: some()}
			for range max(0, r.IntN(4)-1) {
				s.Premises = append(s.Premises, some())
			}
			slices.SortFunc(s.Premises, belief.Literal.Compare)
			s.Premises = slices.Compact(s.Premises)
			if len(s.Premises) == 0 {
				s.Premises = nil
			}
			if r.IntN(5) == 0 {
				s.Span = belief.Span{From: dag.Time(1 + r.IntN(3)), Until: dag.Time(4 + r.IntN(3))}
			}
			part := journal.Part{Revision: holding(i, s)}
			parts = append(parts, part)
			e := part.Stated()
			base = append(base, belief.Element{Literal: e.Literal, Premises: e.Premises, Span: e.Span, Rank: belief.Rank{ID: dag.Digest{byte(i)}}})
		}
		q := beliefs.Question{Space: space, Literal: some()}
		in := belief.Always
		if r.IntN(2) == 0 {
			at := dag.Time(r.IntN(8))
			q.ValidAt, in = &at, belief.Span{From: at, Until: at + 1}
		}
		var support []journal.Part
		for _, i := range belief.Support(&c, base, q.Literal, in) {
			support = append(support, parts[i])
		}
		b, err := beliefs.New(q, bound(c), 9, support, leavesOf(parts))
		if follows := belief.Support(&c, base, q.Literal, in) != nil; follows != (err == nil) || err != nil && !errors.Is(err, beliefs.ErrNotDerived) {
			t.Fatalf("seed %d: %s follows: %t, and %v", seed, q.Literal, follows, err)
		}
		if err != nil {
			continue
		}
		if ids := failed(b.Check()); len(ids) > 0 || len(b.Steps) != len(support) {
			t.Fatalf("seed %d: %s fail, %d steps of %d elements", seed, ids, len(b.Steps), len(support))
		}
		derived++
		if len(b.Steps) > 1 {
			ruled++
		}
		if q.Literal.Not {
			negated++
		}
		for i := range b.Steps {
			fewer := *b
			fewer.Steps = slices.Delete(slices.Clone(b.Steps), i, i+1)
			if !slices.Contains(failed(fewer.Check()), beliefs.CheckSteps) {
				t.Fatalf("seed %d: step %d of %d is not missed", seed, i, len(b.Steps))
			}
		}
	}
	if derived < rounds/5 || ruled < rounds/50 || negated < rounds/20 {
		t.Errorf("%d derived, %d by rules, %d negations: too few to tell", derived, ruled, negated)
	}
}
