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

func tooMany() string {
	return `["` + strings.Repeat(`a","`, 64) + `a"]`
}
