package extract

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pullNumbers finds what its expression does, in texts that mix the parts of names and numbers.
func TestPullNumbers(t *testing.T) {
	expression := regexp.MustCompile(`\b(?:PRs?|[Pp]ull [Rr]equests?) ?#([0-9]{1,9})\b`)
	parts := []string{"PR", "PRs", "pull request", "Pull Request", "pull Requests", "pull", " ", " ", "#", "#", "#7", "#12", "#123456789", "#1234567890", "s", "_", "x", "é", ".", "\n", "8"}
	rng := rand.New(rand.NewPCG(1, 2))
	matches := 0
	for range 50_000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		var want, got []string
		for _, m := range expression.FindAllStringSubmatch(b.String(), -1) {
			want = append(want, m[1])
		}
		pullNumbers(b.String(), func(number string) { got = append(got, number) })
		if !slices.Equal(got, want) {
			t.Fatalf("%q: found %q, want %q", b.String(), got, want)
		}
		matches += len(want)
	}
	if matches < 1000 {
		t.Fatalf("only %d numbers were there to find", matches)
	}
}
