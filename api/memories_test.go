package api_test

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
)

// TestAround names the spaces of a context for a project: its own, the general one and those that are of no project. Without a project that has memories it is all.
func TestAround(t *testing.T) {
	for _, c := range []struct{ has, want []belief.Space }{
		{nil, nil},
		{[]belief.Space{"acme/desk", "projects/general"}, nil},
		{[]belief.Space{"acme/desk", "projects/a", "projects/general"}, []belief.Space{"acme/desk", "projects/a", "projects/general"}},
		{[]belief.Space{"acme/desk", "projects/b", "projects/general"}, []belief.Space{"acme/desk", "projects/general"}},
		{[]belief.Space{"projects/a", "projects/b"}, []belief.Space{"projects/a"}},
		{[]belief.Space{"projects/b"}, []belief.Space{"projects/a"}},
	} {
		var all api.Spaces
		for _, space := range c.has {
			all.Spaces = append(all.Spaces, api.Space{Space: space})
		}
		if got := all.Around("projects/a"); !slices.Equal(got, c.want) {
			t.Errorf("of %q it is %q, want %q", c.has, got, c.want)
		}
	}
	var many api.Spaces
	for c := 'a'; c <= 'q'; c++ { // more than a request may name
		many.Spaces = append(many.Spaces, api.Space{Space: belief.Space("acme/" + string(c))})
	}
	many.Spaces = append(many.Spaces, api.Space{Space: "projects/a"})
	if got := many.Around("projects/a"); got != nil {
		t.Errorf("%q", got)
	}
}
