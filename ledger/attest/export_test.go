package attest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

func TestProv(t *testing.T) {
	s, b := issued(), meeting()
	data := must(attest.AppendProv(nil, s, b))
	if !bytes.Equal(data, must(attest.AppendProv(nil, s, b))) {
		t.Error("again, it is other bytes")
	}
	var d map[string]map[string]json.RawMessage
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	for section, want := range map[string]int{
		"activity": 2, "agent": 4, "entity": 7, "hadMember": 4, "prefix": 3, "specializationOf": 1, "used": 4, "wasAssociatedWith": 1,
		"wasAttributedTo": 3, "wasDerivedFrom": 4, "wasGeneratedBy": 1, "wasInvalidatedBy": 1,
	} {
		if got := len(d[section]); got != want {
			t.Errorf("%d of %s, want %d", got, section, want)
		}
	}
	if len(d) != 12 {
		t.Errorf("%d sections, want 12", len(d))
	}
	for _, text := range []string{"rooms", "metres", b.Turns[0].Body.Salt.String()} {
		if strings.Contains(string(data), text) {
			t.Errorf("holds %q, which is text", text)
		}
	}
	for _, want := range []string{
		`"k:agent/agent%3Ahelper%202":{"prov:label":"agent:helper 2","prov:type":{"$":"prov:SoftwareAgent","type":"xsd:QName"}}`,
		`"k:agent/human%3Aguest":{"prov:label":"human:guest","prov:type":{"$":"prov:Person","type":"xsd:QName"}}`,
		`"prov:plan":"k:policy/default%401"`, `"gk:kind":"merge"`, `"gk:redacted":"erased"`,
		`"prov:type":[{"$":"gk:Slice","type":"xsd:QName"},{"$":"prov:Collection","type":"xsd:QName"}]`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("lacks %s:\n%s", want, data)
		}
	}
}

// Every id that a record names is declared.
func TestProvNamesNothingUndeclared(t *testing.T) {
	data := must(attest.AppendProv(nil, issued(), meeting()))
	var d map[string]map[string]map[string]any
	cut := regexp.MustCompile(`"prefix":\{[^}]*\},`)
	if err := json.Unmarshal(cut.ReplaceAll(data, nil), &d); err != nil {
		t.Fatal(err)
	}
	named := 0
	for section, records := range d {
		for id, record := range records {
			for key, value := range record {
				text, plain := value.(string)
				if !plain || !strings.HasPrefix(key, "prov:") || key == "prov:label" || key == "prov:time" {
					continue
				}
				named++
				if d["entity"][text] == nil && d["activity"][text] == nil && d["agent"][text] == nil {
					t.Errorf("%s %s: %s names %s, which is not there", section, id, key, text)
				}
			}
		}
	}
	if named < 30 {
		t.Errorf("only %d names", named)
	}
}

// TestExportsOfAll exports every bundle that ships with the project: authors come again,
// texts are missing for either reason, conversations are several.
func TestExportsOfAll(t *testing.T) {
	made, erasures, withheld := 0, 0, 0
	for _, c := range must(golden.Cases()) {
		if c.Expect.Bundle == "" {
			continue
		}
		made++
		b := must(slice.ParseBundle([]byte(c.Expect.Bundle)))
		for _, why := range []attest.Why{attest.Erased, attest.Withheld} {
			s := attest.NewStatement(b, digestOf(b), 0, 0, origin, func(dag.TurnID) attest.Why { return why })
			data := string(must(attest.AppendProv(nil, s, b)))
			want := 0
			if why == attest.Erased {
				want = len(b.Redacted())
				erasures += want
			} else {
				withheld += len(b.Redacted())
			}
			if got := strings.Count(data, `"gk:Erasure"`); got != want {
				t.Errorf("%s, %s: %d erasures, want %d", c.Name, why, got, want)
			}
			must(attest.AppendOpenLineage(nil, s, b))
		}
	}
	if made < 20 || erasures == 0 || withheld == 0 {
		t.Errorf("%d bundles, %d erasures, %d withheld", made, erasures, withheld)
	}
}

func TestProvDisclosure(t *testing.T) {
	shown := without(meeting(), helping)
	data := must(attest.AppendProv(nil, issued(), shown))
	if n := strings.Count(string(data), `"gk:redacted":"withheld"`); n != 1 {
		t.Errorf("%d turns are withheld, want 1", n)
	}
	if strings.Contains(string(data), "helper%202") {
		t.Error("names the author of a text that is withheld")
	}
}

// A turn without an author was said by nobody who could be named.
func TestProvNoAuthor(t *testing.T) {
	b := meeting()
	b.Turns[0].Body.Author = ""
	s := attest.NewStatement(b, digestOf(b), 0, 0, origin, whyErased)
	if data := string(must(attest.AppendProv(nil, s, b))); strings.Contains(data, `"k:agent/"`) || strings.Count(data, `"prov:agent":"k:agent/`) != 2 {
		t.Errorf("got %s", data)
	}
}

func TestExportsMatch(t *testing.T) {
	b := meeting()
	b.Seal.Tenant = "other"
	var mismatch *attest.MismatchError
	if _, err := attest.AppendProv(nil, issued(), b); !errors.As(err, &mismatch) {
		t.Errorf("PROV of another bundle: %v", err)
	}
	if _, err := attest.AppendOpenLineage(nil, issued(), b); !errors.As(err, &mismatch) {
		t.Errorf("OpenLineage of another bundle: %v", err)
	}
}

func TestOpenLineage(t *testing.T) {
	s, b := issued(), meeting()
	data := must(attest.AppendOpenLineage(nil, s, b))
	var e struct {
		EventTime, EventType, Producer, SchemaURL string
		Run                                       struct{ RunID string }
		Job                                       struct{ Name, Namespace string }
		Inputs                                    []struct {
			Name, Namespace string
			InputFacets     map[string]struct {
				Producer  string `json:"_producer"`
				SchemaURL string `json:"_schemaURL"`
				Turns     []string
			}
		}
		Outputs []struct {
			Name, Namespace string
			Facets          map[string]map[string]string
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	facet := e.Outputs[0].Facets["graphkernel_slice"]
	if e.EventTime != s.IssuedAt.String() || e.EventType != "COMPLETE" || e.Job.Name != "default@1" || e.Job.Namespace != "graphkernel://"+origin ||
		len(e.Inputs) != 1 || len(e.Inputs[0].InputFacets["graphkernel_turns"].Turns) != 4 || facet["sliceId"] != string(s.Provenance.SliceID) ||
		facet["anchorTurnId"] != closing || facet["_producer"] == "" || facet["_schemaURL"] == "" || len(facet) != 9 {
		t.Errorf("got %s", data)
	}
	if again := must(attest.AppendOpenLineage(nil, s, b)); !bytes.Equal(again, data) {
		t.Error("again, it is other bytes")
	}
	if _, err := dag.ParseTurnID(e.Run.RunID); err != nil || e.Run.RunID[14] != '5' {
		t.Errorf("run %s is no UUIDv5: %v", e.Run.RunID, err)
	}
	other := *s
	other.Subject[0]++
	if other.RunID() == s.RunID() {
		t.Error("two bundles have one run")
	}
	for _, text := range []string{"rooms", "guest"} {
		if strings.Contains(string(data), text) {
			t.Errorf("holds %q", text)
		}
	}
}

func ExampleAppendOpenLineage() {
	event, err := attest.AppendOpenLineage(nil, issued(), meeting())
	fmt.Println(strings.Contains(string(event), `"job":{"name":"default@1","namespace":"graphkernel://default.kernel.example"}`), err)
	// Output: true <nil>
}
