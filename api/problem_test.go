package api_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestKinds makes sure that every code has a status and a title.
func TestKinds(t *testing.T) {
	src, err := os.ReadFile("problem.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`(?m)^\tCode\w+ +Code = "([a-z_]+)"$`).FindAllStringSubmatch(string(src), -1)
	if len(codes) < 20 || len(codes) != len(api.Kinds) {
		t.Errorf("%d codes, and %d kinds", len(codes), len(api.Kinds))
	}
	for _, m := range codes {
		if k := api.Kinds[api.Code(m[1])]; k.Status < 400 || k.Status > 599 || k.Title == "" {
			t.Errorf("%s: %+v", m[1], k)
		}
	}
}
