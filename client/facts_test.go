package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// known returns a client of a service that knows something, and a slice of it.
func known(t testing.TB) (*client.Client, client.FactBundle) {
	t.Helper()
	c := serve(t, server.Limits{}).client(t, "default", access.Admin, client.Options{})
	cutOf(t, c)
	must(c.Facts().LearnAll(t.Context(), api.Knowledge{Facts: []api.NewFact{
		{Subject: "Ada Lovelace", Predicate: "wrote", Object: "Note G", Turn: ids[0].String()}, {Subject: "Note G", Predicate: "about", Object: "numbers"},
	}}))
	return c, must(c.Facts().Slice(t.Context(), api.FactSliceRequest{Start: []string{"Ada Lovelace", "ADA lovelace"}}))
}

func TestFactSlice(t *testing.T) {
	ctx := t.Context()
	c, b := known(t)
	if len(b.Claim.Reached) != 2 || len(b.Claim.Evidence) != 1 || b.Claim.Evidence[0].ID != ids[0] {
		t.Fatalf("got %s", b.Bytes)
	}
	again := must(c.Facts().Slice(ctx, api.FactSliceRequest{Start: []string{"ada-lovelace"}, Policy: "facts@1", AsOf: b.Claim.AsOf}))
	if !bytes.Equal(again.Bytes, b.Bytes) {
		t.Errorf("got %s", again.Bytes)
	}
	v, verdict, err := c.Facts().Verify(ctx, b.Bytes)
	if err != nil || !v.OK() || verdict.Outcome != "verified" || !bytes.Equal(v.Bytes(), b.Bytes) || v.KeyID() != "k1" || v.Tenant() != "default" || v.AsOf() != b.Claim.AsOf || v.Provenance() != b.Claim.Provenance {
		t.Fatalf("%+v, %v", verdict, err)
	}
	// What it returns are copies.
	facts, reached := v.Facts(), v.Reached()
	claim := v.Claim()
	if claim.Provenance != v.Provenance() || claim.Cut != knowledge.Whole || len(claim.Question.Start) != 1 {
		t.Errorf("claim %+v", claim)
	}
	claim.Question.Start[0], claim.Evidence[0].Leaf[0] = "changed", claim.Evidence[0].Leaf[0]+1
	if diff := cmp.Diff(*b.Claim, v.Claim()); diff != "" {
		t.Errorf("the evidence changed: %s", diff)
	}
	facts[0].Fact.Object, reached[0].Path[0].Entity = "changed", "changed"
	v.Bytes()[0] = 'x'
	if diff := cmp.Diff(b.Claim.Facts, v.Facts()) + cmp.Diff(b.Claim.Reached, v.Reached()); diff != "" || v.Bytes()[0] == 'x' {
		t.Errorf("the evidence changed: %s", diff)
	}
	var decoded client.VerifiedFacts
	if err := json.Unmarshal(b.Bytes, &decoded); !errors.Is(err, client.ErrDecode) || decoded.OK() {
		t.Errorf("decoded: %v", err)
	}
	if _, err := json.Marshal(v); !errors.Is(err, client.ErrDecode) {
		t.Errorf("encoded: %v", err)
	}
	changed := bytes.Replace(b.Bytes, []byte(`"confidence":1`), []byte(`"confidence":0`), 1)
	if v, verdict, err := c.Facts().Verify(ctx, changed); err != nil || v.OK() || verdict.Outcome != "tampered" {
		t.Errorf("changed: %+v, %v", verdict, err)
	}
	var zero client.VerifiedFacts
	if zero.OK() || zero.Facts() != nil || zero.Reached() != nil || zero.Bytes() != nil || zero.AsOf() != 0 || zero.KeyID() != "" || zero.Tenant() != "" {
		t.Error("the zero value holds something")
	}
	// Evidence of one kind is not taken for the other.
	if _, _, err := c.Slices().Verify(ctx, b.Bytes); !errors.Is(err, client.ErrKind) {
		t.Errorf("facts as turns: %v", err)
	}
	turns := must(c.Slices().Cut(ctx, client.Request{Anchor: ids[3]}))
	if _, _, err := c.Facts().Verify(ctx, turns.Bytes); !errors.Is(err, client.ErrKind) {
		t.Errorf("turns as facts: %v", err)
	}
	for want, r := range map[api.Code]api.FactSliceRequest{
		api.CodePolicyUnknown: {Start: []string{"a"}, Policy: "none@1"},
		api.CodeInvalid:       {Start: []string{"a"}, Policy: "default@1"},
		api.CodeBeyondHead:    {Start: []string{"a"}, AsOf: 1 << 40},
	} {
		if _, err := c.Facts().Slice(ctx, r); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %s", r, err, want)
		}
	}
}

// TestFactSliceLies changes a true answer in every way that a client must notice.
func TestFactSliceLies(t *testing.T) {
	_, b := known(t)
	at := dag.Time(7)
	request := api.FactSliceRequest{Start: []string{"Ada Lovelace"}}
	honest := func() *told {
		return &told{header: map[string]string{
			"Content-Type": "application/json", "ETag": `"` + b.SHA256.String() + `"`, "Slice-Id": string(b.Claim.Provenance.SliceID),
		}, body: bytes.Clone(b.Bytes)}
	}
	changed := func(change func(*facts.Bundle)) func(*told) {
		return func(a *told) {
			claim := must(facts.Parse(a.body))
			change(claim)
			a.body = claim.Append(nil)
			a.header["ETag"] = `"` + digest(a.body) + `"`
		}
	}
	if _, err := fake(t, client.Options{}, honest().ServeHTTP).Facts().Slice(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		lie     func(*told)
		request api.FactSliceRequest
	}{
		"another digest":     {func(a *told) { a.header["ETag"] = `"` + digest(nil) + `"` }, request},
		"another slice":      {func(a *told) { a.header["Slice-Id"] = "0123456789abcdef" }, request},
		"a changed fact":     {changed(func(b *facts.Bundle) { b.Facts[0].Fact.Confidence-- }), request},
		"a changed leaf":     {changed(func(b *facts.Bundle) { b.Evidence[0].Leaf[0]++ }), request},
		"a changed cut":      {changed(func(b *facts.Bundle) { b.Cut = knowledge.CutWork }), request},
		"no bundle":          {func(a *told) { a.body = []byte("{}"); a.header["ETag"] = `"` + digest(a.body) + `"` }, request},
		"another question":   {func(*told) {}, api.FactSliceRequest{Start: []string{"Note G"}}},
		"another time":       {func(*told) {}, api.FactSliceRequest{Start: request.Start, ValidAt: &at}},
		"another policy":     {func(*told) {}, api.FactSliceRequest{Start: request.Start, Policy: "facts@2"}},
		"another number":     {func(*told) {}, api.FactSliceRequest{Start: request.Start, AsOf: 1}},
		"one entity of two":  {func(*told) {}, api.FactSliceRequest{Start: []string{"Ada Lovelace", "Note G"}}},
		"a name that is not": {func(*told) {}, api.FactSliceRequest{Start: []string{"?"}}},
	} {
		a := honest()
		tc.lie(a)
		if got, err := fake(t, client.Options{}, a.ServeHTTP).Facts().Slice(t.Context(), tc.request); !errors.Is(err, client.ErrAnswer) || got.Bytes != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
