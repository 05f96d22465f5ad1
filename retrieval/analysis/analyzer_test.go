package analysis_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"The cats were running, and ran": "cat run ran",
		"store/sqlite/write.go":          "store/sqlite/write.go store sqlite write go",
		"(see store/write.go).":          "see store/write.go store write go",
		"HTTPServer":                     "httpserver http server",
		"parseURLOf the x_y":             "parseurlof pars url x_y x y",
		"v1.26.3 go-cmp":                 "v1.26.3 v1 26 3 go-cmp go cmp",
		"don't stop\u2019s":              "stop",
		"caf\u00e9 cafe\u0301":           "café café",
		"東京 タワー":                         "東 京 タワー",
		"---- ... !!!":                   "",
		strings.Repeat("x", 65):          "",
	} {
		if got := strings.Join(analysis.English.Terms(nil, text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := analysis.None.Terms(nil, "The cats"); !slices.Equal(got, []string{"the", "cats"}) {
		t.Errorf("without stems: %q", got)
	}
}

// TestStemBegins holds that a term begins with the byte with which its word begins; coverage of a task rests on it.
func TestStemBegins(t *testing.T) {
	text, err := os.ReadFile("../embed/static/vocabulary.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for p := range analysis.Pieces(string(text)) {
		if term := analysis.English.Term(p); term != "" {
			seen++
			if term[0] != p.Text[0] {
				t.Errorf("%q has the term %q", p.Text, term)
			}
		}
	}
	if seen < 10_000 {
		t.Errorf("%d terms: too few to tell", seen)
	}
}
