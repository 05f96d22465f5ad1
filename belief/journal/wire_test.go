package journal

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestMembersAscend holds the members of every struct that is written against the order of canonical JSON, in which they are written.
func TestMembersAscend(t *testing.T) {
	for _, v := range []any{
		wireArtifact{}, wireLiteral{}, wireStated{}, wireRank{}, revisionPublic{}, revisionPrivate{}, tagPublic{}, deprecationPublic{}, spacePublic{}, linkPublic{}, conflictPublic{}, conflictPrivate{}, resolutionPublic{}, usePublic{},
	} {
		of := reflect.TypeOf(v)
		var names []string
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || name == "" {
				t.Errorf("%s: %s is no member of its own", of.Name(), f.Name)
			}
			names = append(names, name)
		}
		if !slices.IsSorted(names) || len(names) == 0 {
			t.Errorf("%s: its members do not ascend: %q", of.Name(), names)
		}
	}
}
