package marks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ingest/marks"
)

func TestOf(t *testing.T) {
	for _, tc := range []struct {
		draft dag.Draft
		voice dag.Voice
		cost  uint32
		names []string
	}{
		{dag.Draft{Role: dag.RoleUser}, dag.VoicePerson, 0, nil},
		{dag.Draft{Role: dag.RoleUser, Content: "1"}, dag.VoicePerson, 1, nil},
		{dag.Draft{Role: dag.RoleUser, Content: "1234"}, dag.VoicePerson, 1, nil},
		{dag.Draft{Role: dag.RoleUser, Content: "☕12"}, dag.VoicePerson, 2, nil},
		{dag.Draft{Role: dag.RoleTool, Content: strings.Repeat("x", dag.MaxContent)}, dag.VoiceTool, dag.MaxCost, nil},
		{dag.Draft{Role: dag.RoleTool, Redacted: true}, dag.VoiceTool, 0, nil},
		{dag.Draft{Role: dag.RoleAssistant, Content: "[tool_use Read]\n{\"path\":\"a\"}", Attrs: map[string]string{"blocks": "tool_use", "tool": "Read"}}, dag.VoiceAgent, 7, []string{"file:a"}},
	} {
		m, names := marks.Of(&tc.draft)
		if m.Origin != (dag.Origin{}) {
			t.Errorf("%.40q: a draft does not know how it came in, but got %+v", tc.draft.Content, m.Origin)
		}
		m.Origin.Channel = dag.ChannelLines
		want := dag.Marks{Rules: dag.Marks2, Voice: tc.voice, Cost: tc.cost, Origin: m.Origin}
		if !m.Equal(&want) || !slices.Equal(names, tc.names) || m.Check() != nil {
			t.Errorf("%.40q: got %+v, %q, want %+v, %q", tc.draft.Content, m, names, want, tc.names)
		}
	}
}

// TestThings computes them by another hand: of the first 16 names, in an order that says nothing of theirs.
func TestThings(t *testing.T) {
	key := marks.Key{31: 1}
	names := []string{"file:a", "file:b", "file:a"}
	for n := range 20 {
		names = append(names, fmt.Sprintf("file:%d", n))
	}
	var want []dag.Thing
	for _, name := range append([]string{}, names[:16]...) {
		h := hmac.New(sha256.New, key[:])
		h.Write([]byte(name))
		thing := dag.Thing(h.Sum(nil)[:16])
		if !slices.Contains(want, thing) {
			want = append(want, thing)
		}
	}
	slices.SortFunc(want, func(a, b dag.Thing) int { return strings.Compare(a.String(), b.String()) })
	if got := key.Things(names); !slices.Equal(got, want) || len(got) != 15 || dag.CheckThings(got) != nil {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := key.Things(nil); got != nil {
		t.Errorf("of no names: %v", got)
	}
	if other := (marks.Key{31: 2}).Things(names[:1]); other[0] == key.Things(names[:1])[0] {
		t.Error("two keys give one thing")
	}
}

// TestNames computes things of more names than are cached, under two keys by turns. Each thing is the current key's, and a cached name is not computed again.
func TestNames(t *testing.T) {
	var names marks.Names
	for round := range 3 {
		key := marks.Key{31: byte(1 + round%2)}
		names.Under(key)
		for n := range 12_000 {
			name := fmt.Sprint("human:", n)
			if got := names.Author(name); n%1000 == 0 && (got != key.Author(name) || got != names.Author(name)) {
				t.Fatalf("round %d: author %s is %s", round, name, got)
			}
			if got := names.Credential(name); n%1000 == 0 && (got != key.Credential(name) || got == names.Author(name)) {
				t.Fatalf("round %d: credential %s is %s", round, name, got)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { names.Author("human:11999"); names.Credential("human:11999") }); n > 0 {
		t.Errorf("names that are known take %v allocations", n)
	}
}

func TestCellCodec(t *testing.T) {
	codec := marks.CellCodec{}
	cell := func(first byte) *history.Cell {
		return &history.Cell{Name: marks.Cell, Value: append([]byte{first}, make([]byte, 31)...)}
	}
	for name, c := range map[string]*history.Cell{
		"short": {Name: marks.Cell, Value: []byte{1}}, "none": {Name: marks.Cell}, "zero": cell(0), "of another name": {Name: marks.Cell + "s", Value: cell(1).Value},
	} {
		if err := codec.Check(c); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := codec.Check(cell(1)); err != nil {
		t.Error(err)
	}
	for name, tc := range map[string]struct {
		old, next *history.Cell
		ok        bool
	}{
		"the first": {nil, cell(1), true}, "the same": {cell(1), cell(1), true}, "another": {cell(1), cell(2), false}, "taken away": {cell(1), nil, false}, "neither": {nil, nil, true},
	} {
		if err := codec.Follows(tc.old, tc.next); (err == nil) != tc.ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
