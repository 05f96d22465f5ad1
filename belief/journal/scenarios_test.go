package journal_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/normalize"
)

// A scenario is a sequence of operations on items that have one value each, and what must be so afterwards. Items are named by words, and
// a value is the object of a functional predicate.
type scenario struct {
	ID    string       `json:"id"`
	Given []step       `json:"given"`
	Edges []edge       `json:"given_edges"`
	When  []step       `json:"when"`
	Then  []scenarioIs `json:"then"`
}

type step struct {
	Op    string `json:"op"`
	Item  string `json:"item"`
	Value string `json:"value"`
}

type edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
}

type scenarioIs struct {
	Check     string `json:"check"`
	Item      string `json:"item"`
	Is        any    `json:"is"`
	IsNot     any    `json:"is_not"`
	From      string `json:"from"`
	To        string `json:"to"`
	Kind      string `json:"kind"`
	AtLeast   int    `json:"at_least"`
	Direction string `json:"direction"`
}

// own are a few of ours, so that the runner is tried where no others are at hand.
const own = `
{"id":"a value takes the place of another","given":[{"item":"colour","value":"blue"}],"when":[{"op":"revise","item":"colour","value":"red"}],"then":[{"check":"current_value","item":"colour","is":"red"},{"check":"revisions","item":"colour","is":2}]}
{"id":"the same value makes a new revision","given":[{"item":"colour","value":"blue"}],"when":[{"op":"revise","item":"colour","value":"blue"}],"then":[{"check":"current_value","item":"colour","is":"blue"},{"check":"revisions","item":"colour","is":2}]}
{"id":"others are not touched","given":[{"item":"colour","value":"blue"},{"item":"town","value":"Oslo"}],"when":[{"op":"revise","item":"colour","value":"red"}],"then":[{"check":"current_value","item":"town","is":"Oslo"},{"check":"revisions","item":"town","is":1},{"check":"items_in_space","is":2}]}
{"id":"what depends stays","given":[{"item":"base","value":"x"},{"item":"on-top","value":"y"}],"given_edges":[{"from":"on-top","to":"base","kind":"DEPENDS_ON"}],"when":[{"op":"contract","item":"base"}],"then":[{"check":"deprecated","item":"base","is":true},{"check":"deprecated","item":"on-top","is":false},{"check":"current_value","item":"on-top","is":"y"}]}
{"id":"what was given up can come back","given":[{"item":"colour","value":"blue"}],"when":[{"op":"contract","item":"colour"},{"op":"restore","item":"colour"}],"then":[{"check":"deprecated","item":"colour","is":false},{"check":"current_value","item":"colour","is":"blue"}]}
{"id":"an edge stays with the revision that it is from","given":[{"item":"a","value":"x"},{"item":"b","value":"y"}],"given_edges":[{"from":"b","to":"a","kind":"DERIVED_FROM"}],"when":[{"op":"revise","item":"b","value":"z"}],"then":[{"check":"edge_at_current_revision","item":"a","kind":"DERIVED_FROM","direction":"either","at_least":1},{"check":"no_edge_between","from":"a","to":"b","kind":"DERIVED_FROM"}]}
`

// TestScenarios runs our scenarios, and those of the file that GKTEST_AGM names, such as the published suite of 49.
func TestScenarios(t *testing.T) {
	text := own
	if path := os.Getenv("GKTEST_AGM"); path != "" {
		more, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text += string(more)
	}
	ran := 0
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if lines.Text() == "" {
			continue
		}
		var s scenario
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		ran++
		t.Run(s.ID, func(t *testing.T) { s.run(t) })
	}
	t.Logf("%d scenarios", ran)
	if ran < 6 {
		t.Errorf("%d scenarios", ran)
	}
}

// name is the canonical name of what a scenario names.
func name(t *testing.T, written string) string {
	n, err := normalize.Name(written)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *scenario) run(t *testing.T) {
	d := newDesk(t)
	c := &belief.Constraints{Functional: []string{"value"}}
	item := func(name string) belief.Item {
		i, err := belief.NewItem(space, strings.ToLower(name)+".fact")
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	act := func(a journal.Act) {
		a.At, a.Policy, a.Constraints = 9999, kindsV, c
		if done, err := d.Do(t.Context(), tenant, a); err != nil || done.Result != journal.Changed {
			t.Fatalf("%+v: %+v, %v", a, done, err)
		}
	}
	believe := func(op journal.Operator, of step) {
		r := d.request(op, belief.Literal{Subject: name(t, of.Item), Predicate: "value", Object: name(t, of.Value)})
		r.Item, r.Constraints = item(of.Item), c
		if o := d.do(r); o.Result != journal.Changed {
			t.Fatalf("%s %+v: %+v", op, of, o)
		}
	}
	current := func(name string) *journal.Revision { return d.item(item(name)).Tagged(journal.Current) }
	address := func(name string) belief.Address {
		return belief.Address{Item: item(name), Revision: current(name).Number}
	}
	for _, g := range s.Given {
		believe(journal.Revise, g)
	}
	for _, e := range s.Edges {
		if _, err := d.AddLink(t.Context(), tenant, journal.Link{From: address(e.From), Type: strings.ToLower(e.Kind), To: address(e.To).String(), At: 9999}); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range s.When {
		switch w.Op {
		case "revise":
			believe(journal.Revise, w)
		case "expand":
			believe(journal.Expand, w)
		case "contract":
			act(journal.Act{Item: item(w.Item), Deprecates: true})
		case "restore":
			act(journal.Act{Item: item(w.Item)})
		default:
			t.Fatalf("the operation %q is not known", w.Op)
		}
	}
	links := func(from, to string, kind string) (n int) {
		for _, r := range d.item(item(to)).Revisions {
			list, err := d.Dependents(t.Context(), tenant, belief.Address{Item: item(to), Revision: r.Number}, 1, d.head())
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range list {
				if l.Type == strings.ToLower(kind) && l.From.Item == item(from) {
					n++
				}
			}
		}
		return n
	}
	for _, then := range s.Then {
		var got any
		want := then.Is
		switch then.Check {
		case "current_value":
			if got = current(then.Item).Statements[0].Object; then.IsNot != nil {
				if got == name(t, fmt.Sprint(then.IsNot)) {
					t.Errorf("%+v: got %v", then, got)
				}
				continue
			}
			want = name(t, fmt.Sprint(want))
		case "revisions":
			got = float64(len(d.item(item(then.Item)).Revisions))
		case "items_in_space":
			names, err := d.Names(t.Context(), tenant, space, "", 1000, d.head())
			if err != nil {
				t.Fatal(err)
			}
			got = float64(len(names))
		case "deprecated":
			got = d.item(item(then.Item)).Deprecated
		case "no_edge_between":
			got, want = links(then.From, then.To, then.Kind), 0
		case "edge_at_current_revision":
			n := 0
			if r := current(then.Item); then.Kind == "DERIVED_FROM" && r.Supersedes != 0 { // which it is derived from
				n++
			}
			for _, other := range s.Given {
				n += links(then.Item, other.Item, then.Kind) + links(other.Item, then.Item, then.Kind)
			}
			if n < then.AtLeast {
				t.Errorf("%s has %d edges %s, want at least %d", then.Item, n, then.Kind, then.AtLeast)
			}
			continue
		default:
			t.Fatalf("the check %q is not known", then.Check)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: got %v", then, got)
		}
	}
	if conflict, ok := belief.Consistent(c, d.elements()); !ok {
		t.Errorf("the base contradicts itself: %v", conflict)
	}
}
