package dag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
)

func attrsOf(n int) map[string]string {
	attrs := make(map[string]string, n)
	for i := range n {
		attrs[fmt.Sprintf("k%d", i)] = ""
	}
	return attrs
}

// TestBodyCheck is at each bound and just beyond it.
func TestBodyCheck(t *testing.T) {
	attr := func(key, value string) dag.Body { return dag.Body{Attrs: map[string]string{key: value}} }
	big := strings.Repeat("x", dag.MaxContent)
	for _, tc := range []struct {
		name string
		body dag.Body
		word string // that the refusal names; "" if there is none
	}{
		{"empty", dag.Body{}, ""},
		{"author at its limit", dag.Body{Author: strings.Repeat("~", 128)}, ""},
		{"author beyond it", dag.Body{Author: strings.Repeat("~", 129)}, "author"},
		{"author with a space", dag.Body{Author: "human: ines"}, ""},
		{"author with U+001F", dag.Body{Author: "a\x1f"}, "author"},
		{"author with DEL", dag.Body{Author: "a\x7f"}, "author"},
		{"author beyond ASCII", dag.Body{Author: "é"}, "author"},
		{"author with a NUL", dag.Body{Author: "\x00"}, "author"},
		{"author with a line feed", dag.Body{Author: "a\nb"}, "author"},
		{"content with every character below a space", dag.Body{Content: "\x00\x01\x1f\x7f\u2028\U0001F600"}, ""},
		{"content at its limit", dag.Body{Content: big}, ""},
		{"content beyond it", dag.Body{Content: big + "x"}, "content"},
		{"content that is not UTF-8", dag.Body{Content: "a\xff"}, "content"},
		{"content with a surrogate", dag.Body{Content: "\xed\xa0\x80"}, "content"},
		{"content with an overlong NUL", dag.Body{Content: "\xc0\x80"}, "content"},
		{"content cut within a character", dag.Body{Content: "\xe2\x82"}, "content"},
		{"32 attrs", dag.Body{Attrs: attrsOf(32)}, ""},
		{"33 attrs", dag.Body{Attrs: attrsOf(33)}, "33 attrs"},
		{"key at its limit", attr(strings.Repeat("z", 64), ""), ""},
		{"key beyond it", attr(strings.Repeat("z", 65), ""), "key"},
		{"key with all characters", attr("0_.-az9", ""), ""},
		{"empty key", attr("", ""), "key"},
		{"key that begins with a point", attr(".a", ""), "key"},
		{"key that begins with a dash", attr("-a", ""), "key"},
		{"key that begins with a low line", attr("_a", ""), "key"},
		{"key with a capital", attr("aB", ""), "key"},
		{"key with a space", attr("a b", ""), "key"},
		{"key with a quotation mark", attr(`a"`, ""), "key"},
		{"key beyond ASCII", attr("aé", ""), "key"},
		{"key with a line feed", attr("a\n", ""), "key"},
		{"value at its limit", attr("a", strings.Repeat("é", 512)), ""},
		{"value beyond it", attr("a", strings.Repeat("é", 512)+"x"), "1025 bytes"},
		{"value with U+001F", attr("a", "\x1f"), "control"},
		{"value with a tab", attr("a", "x\ty"), "control"},
		{"value with a NUL", attr("a", "\x00"), "control"},
		{"value with DEL", attr("a", "\x7f"), ""},
		{"value with U+0080", attr("a", "\u0080"), ""},
		{"value that is not UTF-8", attr("a", "\x80"), "UTF-8"},
	} {
		err := tc.body.Check()
		switch {
		case tc.word == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.word != "" && (!errors.Is(err, dag.ErrForm) || !strings.Contains(err.Error(), tc.word)):
			t.Errorf("%s: got %v, want ErrForm naming %q", tc.name, err, tc.word)
		}
	}
}

// TestBodyCheckNamesOne holds that of several bad attrs always the same one is named.
func TestBodyCheckNamesOne(t *testing.T) {
	body := dag.Body{Attrs: map[string]string{"D": "", "B": "", "C": "", "A": ""}}
	for range 20 {
		if err := body.Check(); err == nil || !strings.Contains(err.Error(), `"A"`) {
			t.Fatalf("got %v, want the first key named", err)
		}
	}
}

func TestTurnCheck(t *testing.T) {
	good := dag.Turn{ID: turnID(1), Conversation: conversationID(1), Role: dag.RoleUser, Phase: dag.Planning, Salience: dag.One, CreatedAt: dag.MaxTime}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		word   string
		change func(*dag.Turn)
	}{
		{"role", func(t *dag.Turn) { t.Role = 0 }},
		{"role", func(t *dag.Turn) { t.Role = dag.RoleTool + 1 }},
		{"phase", func(t *dag.Turn) { t.Phase = 0 }},
		{"phase", func(t *dag.Turn) { t.Phase = dag.Exploration + 1 }},
		{"salience", func(t *dag.Turn) { t.Salience = dag.One + 1 }},
		{"created", func(t *dag.Turn) { t.CreatedAt = -1 }},
		{"created", func(t *dag.Turn) { t.CreatedAt = dag.MaxTime + 1 }},
	} {
		turn := good
		tc.change(&turn)
		if err := turn.Check(); !errors.Is(err, dag.ErrForm) || !strings.Contains(err.Error(), tc.word) {
			t.Errorf("got %v, want ErrForm naming %q", err, tc.word)
		}
	}
}
