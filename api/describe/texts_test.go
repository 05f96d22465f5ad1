package describe

import (
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestTextOfOperation takes the text of an operation from its declaration or from operations.md, and from neither if both have one: they could differ.
func TestTextOfOperation(t *testing.T) {
	texts := readTexts()
	if len(texts.operations) == 0 {
		t.Fatal("operations.md has no operation")
	}
	for name, tc := range map[string]struct {
		spec api.Spec
		want string // the summary; "" for none
	}{
		"in operations.md": {api.Spec{ID: "getTurn"}, "Read one turn"},
		"declared":         {api.Spec{ID: "new", Says: "Count turns\n\nAll of them.", Curl: "curl $URL"}, "Count turns"},
		"in both":          {api.Spec{ID: "getTurn", Says: "Read a turn"}, ""},
		"nowhere":          {api.Spec{ID: "new"}, ""},
	} {
		got := texts.of(&tc.spec)
		switch {
		case got == nil && tc.want != "", got != nil && got.summary != tc.want:
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		case name == "declared" && (got.text != "All of them." || got.curl != "curl $URL\n" || got.answers["200"] == ""):
			t.Errorf("%s: %+v", name, got)
		}
		if tc.want != "" {
			continue
		}
		if _, err := Document([]*api.Spec{&tc.spec}); err == nil {
			t.Errorf("%s: it is described", name)
		}
	}
}

// TestOperationOnOneLine tells a model what an operation is for, from either place.
func TestOperationOnOneLine(t *testing.T) {
	if got := Operation(&api.Spec{ID: "new", Says: "Count turns\n\nAll\nof them."}); got != "Count turns. All of them." {
		t.Errorf("declared: %q", got)
	}
	if got := Operation(&api.Spec{ID: "unknown"}); got != "" {
		t.Errorf("unknown: %q", got)
	}
}
