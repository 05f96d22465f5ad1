package journal

import (
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// TestArtifacts writes revisions with artifacts and reads them, and refuses each artifact that is out of its form in one way.
func TestArtifacts(t *testing.T) {
	good := func() []belief.Artifact {
		return []belief.Artifact{
			{Name: "a", Location: "/srv/a b,é.pdf", MediaType: "application/pdf", Size: 0, SHA256: dag.Digest{1}},
			{Name: "b-2.x_y", Location: strings.Repeat("x", MaxLocation), MediaType: "application/vnd.x+json", Size: MaxSize},
		}
	}
	revision := func(list []belief.Artifact) *Revision {
		return &Revision{Item: "kref://acme/s/x.fact", Number: 1, Current: true, Source: "manual", Confidence: dag.One, Artifacts: list, Seq: 7}
	}
	for _, list := range [][]belief.Artifact{nil, good()[:1], good()} {
		e := revision(list).entry()
		read, err := check(&e)
		if err != nil {
			t.Fatalf("%d artifacts: %v", len(list), err)
		}
		if got := read.(*Revision); !slices.Equal(got.Artifacts, list) {
			t.Errorf("read %+v, wrote %+v", got.Artifacts, list)
		}
	}
	for name, change := range map[string]func(l []belief.Artifact) []belief.Artifact{
		"no name":                  func(l []belief.Artifact) []belief.Artifact { l[0].Name = ""; return l },
		"a name in upper case":     func(l []belief.Artifact) []belief.Artifact { l[0].Name = "A"; return l },
		"no location":              func(l []belief.Artifact) []belief.Artifact { l[0].Location = ""; return l },
		"a long location":          func(l []belief.Artifact) []belief.Artifact { l[1].Location += "x"; return l },
		"a location of lines":      func(l []belief.Artifact) []belief.Artifact { l[0].Location = "a\nb"; return l },
		"a location not UTF-8":     func(l []belief.Artifact) []belief.Artifact { l[0].Location = "\xff"; return l },
		"no media type":            func(l []belief.Artifact) []belief.Artifact { l[0].MediaType = ""; return l },
		"a media type's beginning": func(l []belief.Artifact) []belief.Artifact { l[0].MediaType = "text/"; return l },
		"a parameter":              func(l []belief.Artifact) []belief.Artifact { l[0].MediaType = "text/plain; charset=utf-8"; return l },
		"a negative size":          func(l []belief.Artifact) []belief.Artifact { l[0].Size = -1; return l },
		"a size beyond JSON":       func(l []belief.Artifact) []belief.Artifact { l[0].Size = MaxSize + 1; return l },
		"names descending":         func(l []belief.Artifact) []belief.Artifact { l[0], l[1] = l[1], l[0]; return l },
		"a name twice":             func(l []belief.Artifact) []belief.Artifact { l[0].Name = l[1].Name; return l },
		"too many": func(l []belief.Artifact) []belief.Artifact {
			for i := range MaxArtifacts - 1 {
				l = append(l, belief.Artifact{Name: "c" + strings.Repeat("c", i), Location: "x", MediaType: "a/b"})
			}
			return l
		},
	} {
		if err := revision(change(good())).Check(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestArtifactAddress reads addresses of artifacts in their only spelling.
func TestArtifactAddress(t *testing.T) {
	for _, s := range []string{"kref://acme/s/x.fact?a=plan.pdf", "kref://acme/s/x.fact?r=2&a=plan.pdf", "kref://acme/s/x.fact?t=published&seq=9&a=0"} {
		if a, err := belief.ParseAddress(s); err != nil || a.Artifact == "" || a.String() != s {
			t.Errorf("%s: %+v, %v", s, a, err)
		}
	}
	for _, s := range []string{"?a=", "?a=A", "?a=x&r=2", "?a=x&a=x", "?r=2&a=x&seq=9", "?r=2&a=x/y"} {
		if a, err := belief.ParseAddress("kref://acme/s/x.fact" + s); err == nil {
			t.Errorf("%s was taken: %+v", s, a)
		}
	}
}
