package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

type example struct {
	Count int
	Part  dag.PPM
	Scale dag.PPM
	On    bool
	Kind  string
	Inner struct{ A, B dag.PPM }
}

var examples = policy.Table[example]{
	Type: "example_v1", Default: example{Count: 3, Part: 250_000, Scale: 1_500_000, Kind: "red"},
	Fields: []policy.Field[example]{
		policy.Int("count", 1, 9, func(p *example) *int { return &p.Count }),
		policy.Fraction("part", dag.One, func(p *example) *dag.PPM { return &p.Part }),
		policy.Fraction("scale", 10*dag.One, func(p *example) *dag.PPM { return &p.Scale }),
		policy.Switch("on", func(p *example) *bool { return &p.On }),
		policy.Word("kind", func(p *example) *string { return &p.Kind }, "red", "green"),
		policy.Group("inner",
			policy.Fraction("a", dag.One, func(p *example) *dag.PPM { return &p.Inner.A }),
			policy.Fraction("b", dag.One, func(p *example) *dag.PPM { return &p.Inner.B })),
	},
	Further: func(p *example) error {
		if p.Inner.A > p.Inner.B {
			return policy.ErrRange
		}
		return nil
	},
}

func readExample(t *testing.T, text string, read func(*canon.Cursor) example) (example, error) {
	t.Helper()
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := canon.Open(doc)
	p := read(c)
	return p, c.Err()
}

func written(c *canon.Cursor) example   { return examples.Read(c, policy.Written) }
func whole(c *canon.Cursor) example     { return examples.ReadWhole(c) }
func canonical(c *canon.Cursor) example { return examples.Read(c, policy.Canonical) }

func TestTable(t *testing.T) {
	p, err := readExample(t, `{"type":"example_v1","count":4,"scale":2.25,"inner":{"b":0.5}}`, written)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"count":4,"inner":{"a_ppm":0,"b_ppm":500000},"kind":"red","on":false,"part_ppm":250000,"scale_ppm":2250000,"type":"example_v1"}`
	if got := string(examples.Canonical(p)); got != want {
		t.Errorf("canonical form\n%s, want\n%s", got, want)
	}
	if again, err := readExample(t, want, canonical); err != nil || again != p {
		t.Errorf("read back %+v, %v", again, err)
	}
	w := canon.NewWriter(nil)
	examples.AppendWire(w, p)
	wire := `{"count":4,"inner":{"a":0,"b":0.5},"kind":"red","on":false,"part":0.25,"scale":2.25,"type":"example_v1"}`
	if string(w.Bytes) != wire {
		t.Errorf("on the wire\n%s, want\n%s", w.Bytes, wire)
	}
	if again, err := readExample(t, wire, whole); err != nil || again != p {
		t.Errorf("read back %+v, %v", again, err)
	}
	for _, absent := range []string{`"count":4,`, `"a":0,`, `"on":false,`, `"scale":2.25,`} {
		if _, err := readExample(t, strings.Replace(wire, absent, "", 1), whole); err == nil {
			t.Errorf("a whole policy without %s was read", absent)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	for text, place := range map[string]string{
		`{"type":"example_v1","count":0}`:                    "count is 0",
		`{"type":"example_v1","count":10}`:                   "count",
		`{"type":"example_v1","part":1.5}`:                   "part",
		`{"type":"example_v1","scale":10.5}`:                 "scale is 10.5",
		`{"type":"example_v1","scale":5000}`:                 "scale",
		`{"type":"example_v1","scale":1.0000001}`:            "scale",
		`{"type":"example_v1","kind":"blue"}`:                "red, green",
		`{"type":"example_v1","inner":{"c":1}}`:              "inner",
		`{"type":"example_v1","inner":{"a":0.5}}`:            "",
		`{"type":"example_v2"}`:                              "type",
		`{"type":"example_v1","size":1}`:                     "size",
		`{"type":"example_v1","inner":{"a":0.5,"b":"much"}}`: "inner.b",
	} {
		doc, err := canon.Parse([]byte(text))
		if err == nil {
			c := canon.Open(doc)
			examples.Read(c, policy.Written)
			err = c.Err()
		}
		if err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: %v, want an error about %q", text, err, place)
		}
		if place == "" && !errors.Is(err, policy.ErrRange) {
			t.Errorf("%s: %v, want ErrRange", text, err)
		}
	}
}
