package static

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/retrieval/embed"
)

// TestGolden compares pieces and vectors with those of the tokenizer that came with the model, and of distil.py.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		Pieces []string
		Vector []int8
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 20 {
		t.Fatalf("%d cases", len(cases))
	}
	lines := strings.Split(pieces, "\n")
	for _, c := range cases {
		var found []string
		Load().parts().vocabulary.rows(c.Text, func(row int32) { found = append(found, lines[row]) })
		if !slices.Equal(found, c.Pieces) {
			t.Errorf("%q has the pieces %q, want %q", c.Text, found, c.Pieces)
		}
		vectors, err := Load().Embed(t.Context(), []string{c.Text})
		if err != nil || !slices.Equal(vectors[0], c.Vector) {
			t.Errorf("%q is %v, %v; want %v", c.Text, vectors, err, c.Vector)
		}
	}
}

// TestModel holds which table ships. A table that is not this one needs another id.
func TestModel(t *testing.T) {
	m := Load().Model()
	const digest = "1cb8ba547eba56df4a48a0eae2cbdc39dca9fc307ae0fc25a92f07dae42a61af"
	if m.ID != embed.StaticID || m.Dimensions != 128 || m.Digest.String() != digest {
		t.Errorf("the model is %+v, want %s", m, digest)
	}
	if want := m.Dimensions * strings.Count(pieces, "\n"); len(table) != want {
		t.Errorf("the table has %d bytes, want %d", len(table), want)
	}
}

// TestMeaning holds that texts of like meaning are nearer to each other than others, without a word in common.
func TestMeaning(t *testing.T) {
	texts := []string{"the puppy was ill", "a sick dog", "quarterly tax revenue"}
	v, err := Load().Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	dot := func(a, b []int8) (sum int) {
		for i := range a {
			sum += int(a[i]) * int(b[i])
		}
		return sum
	}
	if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < far+embed.RMS*embed.RMS*len(v[0])/4 {
		t.Errorf("%q is as near to %q, %d, as to %q, %d", texts[0], texts[1], near, texts[2], far)
	}
}
