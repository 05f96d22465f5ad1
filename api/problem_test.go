package api_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestKinds makes sure that every code has a kind that is whole.
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
		k := api.Kinds[api.Code(m[1])]
		sent := k
		if k.Sent != "" {
			sent = api.Kinds[k.Sent]
		}
		switch {
		case k.Title == "", k.Exit == api.ExitOK, k.Status != 0 && (k.Status < 400 || k.Status > 599):
			t.Errorf("%s: %+v", m[1], k)
		case sent.Status != k.Status || sent.Sent != "":
			t.Errorf("%s is %+v, and is sent as %+v", m[1], k, sent)
		case k.Status == 0 && !k.Withheld:
			t.Errorf("%s is no answer of the service, and agents are told", m[1])
		}
	}
	if n := len(api.Problems()); n < 20 || n >= len(codes) {
		t.Errorf("the service answers with %d codes", n)
	}
}
