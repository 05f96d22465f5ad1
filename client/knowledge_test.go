package client_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
)

// callKnowledge calls every operation on knowledge. It records seven acts.
func callKnowledge(t *testing.T, c *client.Client) {
	ctx := t.Context()
	fact := api.NewFact{Subject: "Ada Lovelace", Predicate: "wrote", Object: "Note G", Confidence: new(dag.PPM(750_000)), Source: "user", Turn: ids[0].String()}
	first := must(c.Facts().Learn(ctx, fact)) // 1
	if first.Result != "asserted" {
		t.Fatalf("got %+v", first)
	}
	if again := must(c.Facts().Learn(ctx, fact)); again.Result != "existing" || again.Statement != first.Statement {
		t.Errorf("got %+v", again)
	}
	if b := must(c.Facts().Slice(ctx, api.FactSliceRequest{Start: []string{"ADA Lovelace"}})); len(b.Claim.Facts) != 1 {
		t.Errorf("got %s", b.Bytes)
	}
	absent := strings.Repeat("ab", 32)
	never := must(dag.ParseDigest(absent))
	out := must(c.Facts().LearnAll(ctx, api.Knowledge{ // 2, 3
		Retractions: []api.Retraction{{Statement: never, Reason: "never was"}},
		Facts:       []api.NewFact{{Subject: "Note G", Predicate: "about", Object: "Bernoulli numbers"}, {Subject: "Countess", Predicate: "lived in", Object: "London"}},
	}))
	if out.Retractions[0].Result != "absent" || out.Facts[1].Result != "asserted" {
		t.Errorf("got %+v", out)
	}
	note := `{"subject":"Note G","predicate":"about","object":"Bernoulli numbers"}` + "\n"
	if out := must(c.Facts().LearnLines(ctx, strings.NewReader(`{"statement":"`+absent+`"}`+"\n"+note))); len(out.Retractions) != 1 || out.Retractions[0].Result != "absent" || len(out.Facts) != 1 || out.Facts[0].Result != "existing" {
		t.Errorf("got %+v", out)
	}
	var p *client.Problem
	if _, err := c.Facts().LearnLines(ctx, strings.NewReader(note+"{}\n")); !errors.As(err, &p) || !strings.HasPrefix(p.Place, "line 2") {
		t.Errorf("got %v", err)
	}
	if a := must(c.Facts().AddAliases(ctx, []api.Alias{{Alias: "Countess", Canonical: "ADA lovelace"}, {Alias: "100%41 x", Canonical: "Note G"}})); a.Added != 2 { // 4, 5
		t.Errorf("got %+v", a)
	}
	if list := collect(t, c.Facts().Aliases(ctx, 0)); len(list) != 2 || list[1] != (api.Alias{Alias: "countess", Canonical: "ada-lovelace"}) {
		t.Errorf("got %+v", list)
	}
	if o := must(client.Do(ctx, c, api.RemoveAlias, api.AliasNamed{Alias: "100%41 x"})); o.Result != "unaliased" { // 6
		t.Errorf("got %+v", o)
	}
	now := dag.Time(1_780_000_000_000_000)
	facts := collect(t, c.Facts().All(ctx, api.FactFilter{Entity: "countess", MinConfidence: 500_000, ValidAt: &now}, 0))
	if len(facts) != 2 || facts[0].Turn.String() != ids[0].String() || facts[0].Confidence.String() != "0.75" || len(facts[0].Evidence) != 1 {
		t.Errorf("got %+v", facts)
	}
	statement := must(dag.ParseDigest(first.Statement.String()))
	if list := collect(t, c.Facts().All(ctx, api.FactFilter{Turn: ids[0].String(), Source: "user", Predicate: "Wrote", Object: "note g", Subject: "ada lovelace", Statement: &statement}, dag.Seq(first.Seq))); len(list) != 1 {
		t.Errorf("got %+v", list)
	}
	w := must(client.Do(ctx, c, api.TraverseKnowledge, api.TraverseRequest{Start: []string{"Countess"}, MaxHops: 2, Direction: "outgoing"}))
	if len(w.Reached) != 3 || w.Reached[0].Entity != "london" {
		t.Errorf("got %+v", w)
	}
	w = must(client.Do(ctx, c, api.FindPaths, api.PathQuery{From: "countess", To: "bernoulli numbers", Count: 2, MaxHops: 4, Predicates: []string{"wrote", "about"}, MinConfidence: 700_000}))
	if len(w.Reached) != 1 || w.Reached[0].Hops != 2 {
		t.Errorf("got %+v", w)
	}
	if n := must(client.Do(ctx, c, api.CountKnowledge, api.KnowledgeCount{})); n.Facts != 3 || n.Aliases != 1 || n.Entities != 4 {
		t.Errorf("got %+v", n)
	}
	g := must(client.Do(ctx, c, api.DrawKnowledge, api.Drawing{Entity: "Countess", MaxHops: 1, MaxResults: 10}))
	if !slices.ContainsFunc(g.Nodes, func(n api.D3Node) bool { return n.ID == "london" }) {
		t.Errorf("got %+v", g)
	}
	if r := must(c.Facts().Retract(ctx, api.FactFilter{Entity: "london"}, "", true)); r.Total != 1 || !r.DryRun {
		t.Errorf("got %+v", r)
	}
	if r := must(c.Facts().Retract(ctx, api.FactFilter{Entity: "london"}, "she moved", false)); r.Total != 1 || r.DryRun { // 7
		t.Errorf("got %+v", r)
	}
	changes := must(client.Do(ctx, c, api.KnowledgeSince, api.Paging{After: strconv.FormatUint(uint64(first.Seq), 10), Limit: 100}))
	if len(changes.Acts) != 6 || changes.Next != "" || changes.Acts[5].Reason != "she moved" {
		t.Errorf("got %+v", changes)
	}
	ended := must(dag.ParseDigest(changes.Acts[5].Statement.String()))
	if h := collect(t, c.Facts().History(ctx, ended)); len(h) != 2 || h[1].Kind != "retract" {
		t.Errorf("got %+v", h)
	}

	fact.Turn = dag.TurnID{9}.String()
	for want, f := range map[error]func() error{
		api.CodeEvidence: func() error { _, err := c.Facts().Learn(ctx, fact); return err },
		api.CodeNotBelieved: func() error {
			_, err := c.Facts().Learn(ctx, api.NewFact{Subject: "a", Predicate: "b", Object: "c", Supersedes: []dag.Digest{never}})
			return err
		},
		api.CodeAlias: func() error {
			_, err := c.Facts().AddAliases(ctx, []api.Alias{{Alias: "countess", Canonical: "grace hopper"}})
			return err
		},
		api.CodeInvalid: func() error { _, err := c.Facts().Retract(ctx, api.FactFilter{}, "", false); return err },
		api.CodeBeyondHead: func() error {
			_, err := client.Do(ctx, c, api.CountKnowledge, api.KnowledgeCount{View: api.View{AsOf: 1 << 40}})
			return err
		},
	} {
		if err := f(); !errors.Is(err, want) {
			t.Errorf("want %v, got %v", want, err)
		}
	}
	for name, err := range map[string]error{
		"fact":     errOf(c.Facts().Learn(ctx, api.NewFact{Subject: "\xff", Predicate: "b", Object: "c"})),
		"batch":    errOf(c.Facts().LearnAll(ctx, api.Knowledge{Facts: []api.NewFact{{Subject: "a", Predicate: "\xff", Object: "c"}}})),
		"reason":   errOf(c.Facts().LearnAll(ctx, api.Knowledge{Retractions: []api.Retraction{{Statement: never, Reason: "\xff"}}})),
		"alias":    errOf(c.Facts().AddAliases(ctx, []api.Alias{{Alias: "a", Canonical: "\xff"}})),
		"traverse": errOf(client.Do(ctx, c, api.TraverseKnowledge, api.TraverseRequest{Start: []string{"\xff"}})),
	} {
		if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := client.Do(ctx, c, api.RemoveAlias, api.AliasNamed{Alias: ".."}); err == nil {
		t.Error("an alias that leads elsewhere was sent")
	}
}

func errOf[A any](_ A, err error) error { return err }
