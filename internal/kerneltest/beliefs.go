package kerneltest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
)

// Space is the space of beliefs that the tests use.
const Space belief.Space = "acme/desk"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Believing creates the space. The functional predicates have one object for each subject.
func Believing(t testing.TB, k *kernel.Kernel, functional ...string) {
	t.Helper()
	p := must(policy.Bind("desk@1", kinds.New(belief.Constraints{Functional: functional}, nil)))
	if err := k.Policies().Register(t.Context(), Tenant, p); err != nil {
		t.Fatal(err)
	}
	must(k.Beliefs().SetSpace(t.Context(), Tenant, api.NewSpace{Space: Space, Policy: "desk@1"}))
}

// Asking returns a request about one statement.
func Asking(op journal.Operator, subject, predicate, object string) space.Operation {
	return space.Operation{Operator: op, BeliefRequest: api.BeliefRequest{Space: Space, Statements: []belief.Literal{{Subject: subject, Predicate: predicate, Object: object}}}}
}

// Stated lists the statements that a kernel believes as of a sequence number, as text.
func Stated(t testing.TB, k *kernel.Kernel, asOf dag.Seq) (list []string) {
	t.Helper()
	for _, h := range must(k.Beliefs().Held(t.Context(), Tenant, Space, asOf, nil)).Held {
		list = append(list, h.Stated().Literal.String())
	}
	slices.Sort(list)
	return list
}

// Soundly checks the history with fsck.
func Soundly(t testing.TB, s store.Store) {
	t.Helper()
	r := must(fsck.Tenant(t.Context(), s, Tenant, fsck.Options{}))
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// Projected checks that the facts asserted by beliefs are exactly the statements that a kernel believes, with the same times
// and confidence, and that each turn they name still has its text.
func Projected(t testing.TB, k *kernel.Kernel) {
	t.Helper()
	var want, got []string
	for _, h := range must(k.Beliefs().Held(t.Context(), Tenant, Space, 0, nil)).Held {
		if s := h.Stated(); !s.Not && s.Premises == nil {
			want = append(want, fmt.Sprint(h.Revision.Item.Path(), " ", s.Literal, s.Span.From, s.Span.Until, h.Revision.Confidence))
		}
	}
	for _, f := range must(k.Facts().List(t.Context(), Tenant, api.FactQuery{Paging: api.Paging{Limit: 1000}})).Facts {
		item, held := strings.CutPrefix(f.Source, "belief:")
		if !held {
			continue
		}
		item, _, _ = strings.Cut(item, "?")
		l := belief.Literal{Subject: f.Stated().Subject, Predicate: f.Predicate, Object: f.Stated().Object}
		got = append(got, fmt.Sprint(item, " ", l, f.ValidFrom, cmp.Or(f.ValidUntil, knowledge.Forever), f.Confidence))
		if f.Turn != (dag.TurnID{}) && must(k.Turns().Erasure(t.Context(), Tenant, f.Turn)) != nil {
			t.Errorf("fact %d names turn %s, which was erased", f.Since, f.Turn)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the facts %q, and believed is %q", got, want)
	}
}
