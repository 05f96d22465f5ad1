package cli

import "testing"

// TestApart cuts ids: to eight characters, or to as many as tell the most alike of them apart.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want int
	}{
		{nil, 8},
		{[]string{"1c1de000-0000-4000-8000-00000000000a"}, 8},
		{[]string{"1c1de000-0000", "1c1de000-0000"}, 8},
		{[]string{"1c1de000-0000", "2c1de000-0000"}, 8},
		{[]string{"1c1de000-0000", "2c1de000-0000", "1c1de000-0001"}, 13},
		{[]string{"1c1de000-0000", "1c1de000-1000", "2"}, 10},
	} {
		if got := Apart(c.ids); got != c.want {
			t.Errorf("%q: got %d, want %d", c.ids, got, c.want)
		}
	}
}
