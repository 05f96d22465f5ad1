package kinds_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/said"
	"github.com/graphkernel/graphkernel/policy"
)

// parsed reads a policy as people hand it in.
func parsed(document string) (kinds.Policy, error) {
	r, err := policy.Forms{kinds.Form}.ParseRegistration([]byte(`{"policy_id":"mine@1","policy":` + document + `}`))
	if err != nil {
		return kinds.Policy{}, err
	}
	return kinds.Of(r)
}

// shuffled is a policy said in another order, with parts of it twice.
func shuffled(r *rand.Rand, c belief.Constraints, list []kinds.Kind) kinds.Policy {
	twice := func(s []string) []string {
		s = append(slices.Clone(s), s[r.IntN(len(s))])
		r.Shuffle(len(s), func(i, k int) { s[i], s[k] = s[k], s[i] })
		return s
	}
	other := belief.Constraints{Functional: twice(c.Functional)}
	for _, e := range append(slices.Clone(c.Exclusive), c.Exclusive[r.IntN(len(c.Exclusive))]) {
		other.Exclusive = append(other.Exclusive, belief.Exclusion{Predicate: e.Predicate, Objects: twice(e.Objects)})
	}
	r.Shuffle(len(other.Exclusive), func(i, k int) { other.Exclusive[i], other.Exclusive[k] = other.Exclusive[k], other.Exclusive[i] })
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	before := fmt.Sprint(other, list)
	p := kinds.New(other, list)
	if after := fmt.Sprint(other, list); after != before {
		panic("New changed what it was given: " + before + " to " + after)
	}
	return p
}

// TestOnePolicyOneHash says random policies in other orders and reads them back: the parameters and the hash are the same. One kind changed in one field has another hash.
func TestOnePolicyOneHash(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for n := range 300 {
		var c belief.Constraints
		for i := range 2 + r.IntN(5) {
			c.Functional = append(c.Functional, fmt.Sprint("predicate-", i))
			c.Exclusive = append(c.Exclusive, belief.Exclusion{Predicate: fmt.Sprint("is-", i/2), Objects: []string{"blue", fmt.Sprint("green-", i), "red"}})
		}
		var list []kinds.Kind
		for i := range 1 + r.IntN(9) {
			list = append(list, kinds.Kind{
				Name: fmt.Sprint("kind", i), Level: r.IntN(kinds.MaxLevel + 1), Always: r.IntN(2) == 0, Hard: r.IntN(2) == 0, Exports: r.IntN(2) == 0,
				Entrenched: []kinds.Criterion{kinds.ByEvent, kinds.ByEvidence, kinds.ByConfidence}[r.IntN(3)], HalfLife: r.IntN(3) * r.IntN(kinds.MaxDays/2),
			})
		}
		p := kinds.New(c, list)
		if err := p.Check(); err != nil {
			t.Fatalf("case %d: %v", n, err)
		}
		if !slices.Equal(p.Kinds(), list) || !reflect.DeepEqual(*p.Constraints(), c) {
			t.Fatalf("case %d: %+v and %+v are read, want %+v and %+v", n, p.Kinds(), p.Constraints(), list, c)
		}
		if other := shuffled(r, c, list); other != p || other.Hash() != p.Hash() {
			t.Fatalf("case %d: in another order it is %s, want %s", n, other.Canonical(), p.Canonical())
		}
		if read, err := parsed(string(p.Canonical())); err != nil || read != p || !bytes.Equal(read.Canonical(), p.Canonical()) {
			t.Fatalf("case %d: %s is read as %s, %v", n, p.Canonical(), read.Canonical(), err)
		}
		for field, change := range map[string]func(k *kinds.Kind){
			"name": func(k *kinds.Kind) { k.Name += "x" }, "level": func(k *kinds.Kind) { k.Level ^= 1 }, "always": func(k *kinds.Kind) { k.Always = !k.Always },
			"hard": func(k *kinds.Kind) { k.Hard = !k.Hard }, "exports": func(k *kinds.Kind) { k.Exports = !k.Exports }, "half-life": func(k *kinds.Kind) { k.HalfLife++ },
		} {
			changed := slices.Clone(list)
			change(&changed[r.IntN(len(changed))])
			if kinds.New(c, changed).Hash() == p.Hash() {
				t.Fatalf("case %d: with another %s it has the same hash", n, field)
			}
		}
	}
}

// TestDefault holds the policies that every tenant begins with: the first has this hash for ever, and is what a document says that leaves everything
// out; the second limits the slots of texts beside it.
func TestDefault(t *testing.T) {
	p := kinds.DefaultV1()
	if newer := kinds.Default(); !slices.Equal(newer.Constraints().Functional, said.Functional()) || !slices.Equal(newer.Kinds(), p.Kinds()) || len(newer.Constraints().Exclusive) > 0 {
		t.Errorf("beliefs@2 is %s", newer.Canonical())
	}
	if err := p.Check(); err != nil || p.Hash().String() != "6313a95ceb1db06340e9a140e0240eeedea7b6f86e7db570d161b818f4be4577" {
		t.Errorf("beliefs@1 has the hash %s, %v", p.Hash(), err)
	}
	if empty, err := parsed(`{"type":"kind_policy_v1"}`); err != nil || empty != p {
		t.Errorf("a document that leaves everything out is %s, %v", empty.Canonical(), err)
	}
	if none, err := parsed(`{"type":"kind_policy_v1","kinds":[]}`); err != nil || len(none.Kinds()) != 0 {
		t.Errorf("a policy without a kind has %v, %v", none.Kinds(), err)
	}
	var binding []string
	for _, k := range p.Kinds() {
		if k.Binds() {
			binding = append(binding, k.Name)
		}
		if err := p.Allow(k.Name); err != nil || p.Kind(k.Name) != k {
			t.Errorf("%s: %v, %+v", k.Name, err, p.Kind(k.Name))
		}
	}
	if !slices.Equal(binding, []string{"hard_rule", "instruction"}) {
		t.Errorf("%q bind", binding)
	}
	if k := p.Kind("other"); k != (kinds.Kind{Name: "other", Level: 1, Entrenched: kinds.ByEvent}) {
		t.Errorf("a kind that is not listed is %+v", k)
	}
	for name, want := range map[string]string{"hard_rul": "did you mean hard_rule?", "prefrence": "did you mean preference?", "completely-other": "completely-other"} {
		err := p.Allow(name)
		if !errors.Is(err, belief.ErrKind) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "did you mean") != strings.Contains(want, "did you mean") || !strings.Contains(err.Error(), "episodic") {
			t.Errorf("%s: %v, want %s and the kinds", name, err, want)
		}
	}
	if err := (kinds.Policy{}).Check(); !errors.Is(err, policy.ErrRange) {
		t.Errorf("no parameters: %v", err)
	}
}

// TestBounds reads documents at each bound and beyond it.
func TestBounds(t *testing.T) {
	list := func(n int, item string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	document := func(members string) string { return `{"type":"kind_policy_v1",` + members + `}` }
	for what, c := range map[string]struct{ good, bad, says string }{
		"kinds":        {`"kinds":` + list(kinds.MaxKinds, `{"name":"k#"}`), `"kinds":` + list(kinds.MaxKinds+1, `{"name":"k#"}`), "kinds: there are 257"},
		"functional":   {`"functional":` + list(kinds.MaxPredicates, `"p #"`), `"functional":` + list(kinds.MaxPredicates+1, `"p #"`), "1025 functional"},
		"exclusive":    {`"exclusive":` + list(kinds.MaxPredicates, `{"predicate":"p #","objects":["a","b"]}`), `"exclusive":` + list(kinds.MaxPredicates+1, `{"predicate":"p #","objects":["a","b"]}`), "1025 exclusive"},
		"objects":      {`"exclusive":[{"predicate":"p","objects":` + list(kinds.MaxObjects, `"o #"`) + `}]`, `"exclusive":[{"predicate":"p","objects":` + list(kinds.MaxObjects+1, `"o #"`) + `}]`, "257 different"},
		"one object":   {`"exclusive":[{"predicate":"p","objects":["a","b"]}]`, `"exclusive":[{"predicate":"p","objects":["a"," A "]}]`, "1 different"},
		"level":        {`"kinds":[{"name":"k","level":9}]`, `"kinds":[{"name":"k","level":10}]`, "level"},
		"half-life":    {`"kinds":[{"name":"k","half_life_days":36500}]`, `"kinds":[{"name":"k","half_life_days":36501}]`, "half_life_days"},
		"name":         {`"kinds":[{"name":"k_-9"}]`, `"kinds":[{"name":"K"}]`, `"K"`},
		"name's bytes": {`"kinds":[{"name":"` + strings.Repeat("k", 32) + `"}]`, `"kinds":[{"name":"` + strings.Repeat("k", 33) + `"}]`, "name"},
		"name twice":   {`"kinds":[{"name":"a"},{"name":"b"}]`, `"kinds":[{"name":"a"},{"name":"b"},{"name":"a","level":2}]`, "twice"},
		"entrenched":   {`"kinds":[{"name":"k","entrenched_by":"evidence"}]`, `"kinds":[{"name":"k","entrenched_by":"strength"}]`, "strength"},
		"members":      {`"kinds":[{"name":"k","hard":true}]`, `"kinds":[{"name":"k","hard":true,"soft":true}]`, "soft"},
		"a boolean":    {`"kinds":[{"name":"k","always":false}]`, `"kinds":[{"name":"k","always":1}]`, "always"},
		"no name":      {`"kinds":[{"name":"k"}]`, `"kinds":[{"level":1}]`, "name"},
		"other":        {`"functional":["p"]`, `"functionals":["p"]`, "functionals"},
	} {
		if p, err := parsed(document(c.good)); err != nil || p.Check() != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := parsed(document(c.bad)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error with %s", what, err, c.says)
		}
	}
	if _, err := parsed(`{"type":"kind_policy_v2"}`); !errors.Is(err, policy.ErrType) {
		t.Errorf("another type: %v", err)
	}
}
