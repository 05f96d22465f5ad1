package api_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

func readAs[T any](t *testing.T, text string) (T, error) {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := canon.Open(v)
	return api.Read[T](c), c.Err()
}

// TestReadSpellings reads values in spellings that mean the same.
func TestReadSpellings(t *testing.T) {
	for _, text := range []string{
		`{"start":["ada"],"min_confidence":0.1,"valid_at":"1985-01-01T00:00:00Z","direction":"incoming","max_hops":8}`,
		`{"start":"ada","min_confidence":1e-1,"valid_at":"1985-01-01t01:00:00+01:00","direction":"incoming","max_hops":8}`,
		`{"max_hops":8,"direction":"incoming","valid_at":"1985-01-01","min_confidence":0.10,"start":["ada"]}`,
	} {
		got, err := readAs[api.TraverseRequest](t, text)
		want := api.TraverseRequest{Start: api.Names{"ada"}, Direction: "incoming", MaxHops: 8, MinConfidence: 100_000, ValidAt: new(dag.Time(473_385_600_000000))}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	id := "0b5e0000-0000-4000-8000-00000000000a"
	got, err := readAs[api.TurnByID](t, `{"id":"`+strings.ToUpper(id)+`"}`)
	if err != nil || got.ID.String() != id {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestReadFaults reads what does not fit. The fault names its place.
func TestReadFaults(t *testing.T) {
	for text, place := range map[string]string{
		`{}`:                                     "",
		`[]`:                                     "",
		`{"start":[]}`:                           "start",
		`{"start":["a","???"]}`:                  "start[1]",
		`{"start":"a","max_hops":9}`:             "max_hops",
		`{"start":"a","max_hops":0}`:             "max_hops",
		`{"start":"a","max_hops":1.0}`:           "max_hops",
		`{"start":"a","min_confidence":1e-7}`:    "min_confidence",
		`{"start":"a","min_confidence":"0.5"}`:   "min_confidence",
		`{"start":"a","direction":"up"}`:         "direction",
		`{"start":"a","valid_at":"1985"}`:        "valid_at",
		`{"start":"a","as_of":9007199254740992}`: "as_of",
		`{"start":"a","predicates":[""]}`:        "predicates[0]",
		`{"start":"a","predicates":"b"}`:         "predicates",
		`{"start":"a","extra":1}`:                "",
		`{"start":` + tooMany() + `}`:            "start",
	} {
		_, err := readAs[api.TraverseRequest](t, text)
		var fault *canon.FieldError
		if !errors.As(err, &fault) || fault.Path != place {
			t.Errorf("%.80s: got %v, want a fault at %q", text, err, place)
		}
	}
}

// TestReadText reads parameters: in the one spelling of each, and within the bounds of a field.
func TestReadText(t *testing.T) {
	fields := map[string]api.Field{}
	for _, of := range []reflect.Type{reflect.TypeFor[api.PathQuery](), reflect.TypeFor[api.TurnQuery](), reflect.TypeFor[api.SliceQuery](), reflect.TypeFor[api.LeafAt]()} {
		for _, f := range api.Fields(of) {
			fields[f.Key] = f
		}
	}
	for _, c := range []struct {
		key, text, fault string // "": none
	}{
		{"limit", "1000", ""}, {"limit", "1001", "1001, want an integer from 1 to 1000"}, {"limit", "+1", "written plainly"}, {"limit", "1.0", "written plainly"}, {"limit", "", "written plainly"},
		{"index", "281474976710656", ""}, {"index", "281474976710657", "want at most 281474976710656"}, {"index", "-1", "got -1"},
		{"newest", "true", ""}, {"newest", "false", ""}, {"newest", "1", "want true or false"},
		{"min_confidence", "0.5", ""}, {"min_confidence", "5e-1", ""}, {"min_confidence", ".5", "does not match"}, {"min_confidence", "1.5", "above 1"},
		{"predicates", "a,b", ""}, {"predicates", "a,", "nothing is left"}, {"predicates", "", "0 characters, want at least 1"}, {"predicates", strings.Repeat("é", 8193), "8193 characters, want at most 8192"},
		{"role", "tool", ""}, {"role", "Tool", `want user, assistant, system or tool, got "Tool"`},
		{"begins", "0A", ""}, {"begins", "x", `"x" does not match ^[0-9a-fA-F]{1,16}$`},
		{"from", "ada", ""}, {"from", "", "nothing is left"},
	} {
		f, known := fields[c.key]
		if !known {
			t.Fatalf("no field %s", c.key)
		}
		v, err := f.ReadText(c.text)
		if c.fault == "" && (err != nil || v.Kind == 0) || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s is %.20q: got %v, want %q", c.key, c.text, err, c.fault)
		}
	}
}

func tooMany() string {
	return `["` + strings.Repeat(`a","`, 64) + `a"]`
}
